"""Run a command, and end it and all its children when the calling process has ended.

The caller has the other end of standard input, which is closed when its process ends. This script
imports the standard library alone, to start quickly.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

GRACE = 8.0
"""Time for the command to end before it is killed [s]."""
PR_SET_CHILD_SUBREAPER = 36  # number of an option of Linux's prctl


def _reap() -> bool:
    """Take the exit statuses of children that have ended; return whether others still run."""
    with contextlib.suppress(ChildProcessError):
        while True:
            number, _ = os.waitpid(-1, os.WNOHANG)
            if not number:
                return True
    return False


def end_group(group: int, grace: float = GRACE) -> None:
    """End a process group: terminate it, wait up to ``grace`` seconds, kill it, wait."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, number)
        until = time.monotonic() + grace
        while time.monotonic() < until:
            if not _reap():
                return
            time.sleep(0.02)


def _await_end_of_input() -> None:
    while os.read(0, 1):  # not sys.stdin, which this thread would lock at the end
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main(command: list[str]) -> int:
    """Run ``command`` in its own process group; return its exit status, as a shell states it."""
    # This process becomes the parent of orphans, so that it can wait for their end.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def end(number: int, frame: FrameType | None) -> None:
        end_group(server.pid)
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_await_end_of_input, daemon=True).start()
    status = server.wait()
    end_group(server.pid)
    return status if status >= 0 else 128 - status  # signal 9 is the status -9, 137 in a shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
