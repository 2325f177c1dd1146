"""What the tests of the engine vllm share."""

import os
import time
from pathlib import Path

from blimpworks.campaign.settings.scoring import ScoringOptions, VllmOptions
from support import tiny
from support.paths import REPOSITORY

PYTHON = REPOSITORY / ".vllm" / "bin" / "python"
# vLLM's attention on CPUs takes heads of a width of 32 or more.
RECIPE = tiny.RECIPE.model_copy(update={"hidden": 64})
VLLM = VllmOptions(kv_cache_mib=128, prompts=20, start_timeout=300, answer_timeout=120)
OPTIONS = ScoringOptions(shard=100, vllm=VLLM)
IN_PROCESS = OPTIONS.model_copy(update={"vllm": VLLM.model_copy(update={"mode": "in_process"})})
ODD = ["कुत्ता sees água", "🙂🙃 ok", "x", "", "  two  spaces "]


def make_model(directory):
    """A transformer trained on the spot, that vLLM can run."""
    corpus = tiny.write_corpus(directory / "text.txt")
    return tiny.make_transformer(corpus, directory / "model" / "checkpoint.json", recipe=RECIPE)


def commands():
    """Command line of each living process, by number."""
    lines = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
            if state != "Z":
                lines[int(entry.name)] = line
    return lines


def family(root):
    """Numbers of the living descendants of process ``root``."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    members, more = set(), {root}
    while more:
        members |= more
        more = {child for child, parent in parents.items() if parent in more} - members
    return members - {root}


def living(numbers):
    """Those of some processes that live."""
    return set(numbers) & set(commands())


def wait_for(condition, seconds=600):
    """The first true value of ``condition``; fails after ``seconds``."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def environment():
    """Environment of a command that the tests run."""
    return os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}
