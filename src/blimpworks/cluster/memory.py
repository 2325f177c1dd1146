"""Whether the kernel killed a process of this job because memory ran out."""

import re
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def _directories() -> list[Path]:
    """Control groups of this process that count memory, from its own up to its job's."""
    directories: list[Path] = []
    for line in MEMBERSHIP.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory") or "memory" in controllers.split(","):
            base = CGROUPS / "memory" if controllers else CGROUPS
            own = base / path.lstrip("/")
            # Above a job's group lie those of the whole node, which count other people's too.
            job = [p for p in own.parents if any(part.startswith("job_") for part in p.parts)]
            directories += [own, *job]
    return directories


def count_kills() -> int:
    """Processes of this process's control groups that were killed when memory ran out.

    The files are those of the kernel's cgroups v1 (``memory.oom_control``) and v2
    (``memory.events``); 0 where there are none. Only a difference says something.
    """
    try:
        directories = _directories()
    except OSError:
        return 0
    counts = [0]
    for directory in directories:
        for name in ("memory.oom_control", "memory.events"):
            try:
                text = (directory / name).read_text(encoding="utf-8")
            except OSError:
                continue
            counts += map(int, re.findall(r"^oom_kill (\d+)$", text, flags=re.MULTILINE))
    return sum(counts)
