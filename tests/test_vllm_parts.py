"""The parts of the engine vllm that need no vLLM."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import vllm_kit
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.scoring import vllm_supervisor
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.vllm_batches import score_batches
from blimpworks.scoring.vllm_server import telling_line


@given(st.lists(st.sampled_from(["good", "refused", "out_of_memory"])), st.integers(1, 9))
def test_only_the_prompt_that_is_to_blame_is_marked(kinds, size):
    lost = iter(range(1))

    def attempt(batches):
        outcomes = []
        for batch in batches:
            troubles = [kinds[number] for (number,) in batch if kinds[number] != "good"]
            # Whoever computes is gone once: what was under way comes again.
            gone = "lost" if next(lost, None) is not None else None
            rows = [np.array([number], dtype=np.float32) for (number,) in batch]
            outcomes.append(gone or (troubles[0] if troubles else rows))
        return outcomes

    found = score_batches([[i] for i in range(len(kinds))], size, attempt)
    for number, (kind, row) in enumerate(zip(kinds, found, strict=True)):
        assert row == (number if kind == "good" else kind)


LOG = """
(EngineCore pid=7) ERROR 01-01 [core.py:1] EngineCore failed to start.
(EngineCore pid=7) ERROR 01-01 [core.py:1] Traceback (most recent call last):
(EngineCore pid=7) ERROR 01-01 [core.py:1] safetensors.SafetensorError: header too large
(APIServer pid=6) Traceback (most recent call last):
(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above.
"""


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (LOG, "safetensors.SafetensorError: header too large"),
        ("starting\nKilled\n", "Killed"),
        ("", "it wrote nothing"),
        (
            "OSError: [Errno 98] Address already in use",
            "OSError: [Errno 98] Address already in use",
        ),
    ],
)
def test_the_cause_is_told_not_its_consequence(log, line):
    assert telling_line(log) == line


# A server that ignores requests to end, with a child.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("up", flush=True)
time.sleep(600)
"""
ASKER = """
import subprocess, sys, time
subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
time.sleep(600)
"""


@pytest.fixture
def supervised():
    """A process that asked for a stubborn server, and the numbers of all under it."""
    command = [sys.executable, "-P", vllm_supervisor.__file__, sys.executable, "-c", STUBBORN]
    asker = subprocess.Popen([sys.executable, "-c", ASKER, *command], stdout=subprocess.PIPE)
    assert asker.stdout.readline() == b"up\n"
    yield asker, vllm_kit.wait_for(lambda: len(f := vllm_kit.family(asker.pid)) == 3 and f)
    asker.kill()
    asker.wait()
    asker.stdout.close()


@pytest.mark.slow
def test_no_server_outlives_a_killed_job(supervised):
    asker, family = supervised
    os.kill(asker.pid, signal.SIGKILL)
    vllm_kit.wait_for(lambda: not vllm_kit.living(family), seconds=30)


def test_a_server_that_ends_takes_its_children_along():
    child = "import subprocess; subprocess.Popen(['sleep', '601']); raise SystemExit(3)"
    command = [sys.executable, "-P", vllm_supervisor.__file__, sys.executable, "-c", child]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as supervisor:
        assert supervisor.wait(vllm_supervisor.GRACE) == 3
    assert "sleep 601" not in vllm_kit.commands().values()


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is here")
def test_without_vllm_the_remedy_is_told(tmp_path):
    checkpoint = vllm_kit.make_model(tmp_path)
    with pytest.raises(UserError, match="make vllm"):
        load_engine(checkpoint, "vllm", vllm_kit.OPTIONS)
