"""Whatever ends `blimpworks evaluate` ends what it has started, in good order."""

import signal
import subprocess
import sys

import pytest

CHILD = "import time; print('ready', flush=True); time.sleep(60)"
SCRIPT = f"""
import subprocess, sys
from blimpworks.evaluation.run import interrupts_passed_on

with interrupts_passed_on() as interrupts:
    child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], process_group=0)
    interrupts.follow(child)
    child.wait()
print(interrupts.caught, child.returncode)
"""


def start(*before):
    command = [*before, sys.executable, "-c", SCRIPT]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_interrupts_what_was_started(number):
    process = start("env", "--default-signal=INT,TERM,HUP")
    process.send_signal(number)
    assert process.communicate()[0] == f"True {-signal.SIGINT}\n"
    assert process.returncode == 0


@pytest.mark.slow
def test_in_the_background_of_a_shell_interrupts_do_nothing_and_ending_it_ends_all():
    process = start("env", "--default-signal=TERM", "--ignore-signal=INT")
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.terminate()
    assert process.communicate()[0] == f"True {-signal.SIGINT}\n"
    assert process.returncode == 0


@pytest.mark.slow
def test_with_nohup_a_closed_terminal_ends_nothing():
    process = start("nohup")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.terminate()
    assert process.communicate()[0] == f"True {-signal.SIGINT}\n"
    assert process.returncode == 0
