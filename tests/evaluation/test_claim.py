"""An evaluation is run by one process at a time."""

import os
import subprocess
import sys

import pytest

from blimpworks.errors import UserError
from blimpworks.evaluation.claim import claimed


def test_a_second_process_is_refused_until_the_first_is_done(tmp_path):
    folder = tmp_path / "new" / "evaluation"
    with claimed(folder):
        refused = pytest.raises(UserError, match="another process is running the evaluation in ")
        with refused, claimed(folder):
            pass
    with claimed(folder):
        assert folder.is_dir()


def test_a_child_that_has_the_descriptor_keeps_others_out(tmp_path):
    with claimed(tmp_path) as lock:
        waits = [sys.executable, "-c", "input()"]
        child = subprocess.Popen(waits, stdin=subprocess.PIPE, pass_fds=[lock])
    with pytest.raises(UserError), claimed(tmp_path):
        pass
    child.communicate(b"\n")
    with claimed(tmp_path):
        pass


def test_other_disks_than_can_lock_keep_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr("fcntl.flock", refuse)
    with claimed(tmp_path) as lock:
        assert os.fstat(lock)


def refuse(*_):
    raise OSError(95, "operation not supported")
