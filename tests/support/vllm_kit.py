import time

import psutil

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
    corpus = tiny.write_corpus(directory / "text.txt")
    return tiny.make_transformer(corpus, directory / "model" / "checkpoint.json", recipe=RECIPE)


def commands():
    processes = psutil.process_iter(["status", "cmdline"])
    living = (each for each in processes if each.info["status"] != psutil.STATUS_ZOMBIE)
    return {each.pid: " ".join(each.info["cmdline"] or ()) for each in living}


def family(root):
    return {each.pid for each in psutil.Process(root).children(recursive=True)}


def living(numbers):
    return set(numbers) & set(commands())


def wait_for(condition, seconds=600):
    """Return the first true value of ``condition``; fail after ``seconds``."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("waited in vain")
