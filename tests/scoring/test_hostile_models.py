"""Test that no engine runs a checkpoint's own code, whatever standard input answers."""

import json
import subprocess
import sys

import pytest

from support.hostile import make_hostile

# A second lock behind the refusal of the model: an engine's class trusts no code.
ENGINES = """
import importlib, json, sys
from pathlib import Path
from blimpworks.campaign.engines import generators, scorers
from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import read_description

def attempt(make):
    try:
        make()
    except (UserError, ValueError, OSError, AttributeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return "loaded"

said = {}
generation = GenerationJobOptions(max_tokens=4)
for architecture, place in json.loads(sys.argv[1]).items():
    checkpoint = Path(place)
    described = read_description(checkpoint)
    addresses = {"score": scorers()["transformers", architecture].address}
    if architecture == "causal":
        addresses["answer"] = generators()["transformers"]
    for what, address in addresses.items():
        module, _, name = address.partition(":")
        options = generation if what == "answer" else ScoringOptions()
        kind = getattr(importlib.import_module(module), name)
        said[f"{what} {architecture}"] = attempt(lambda: kind(checkpoint, described, options))
print("=" + json.dumps(said))
"""


@pytest.fixture(scope="module")
def hostile(trained, tmp_path_factory):
    """Make hostile checkpoints by architecture; return them and the file that their code writes."""
    root = tmp_path_factory.mktemp("hostile")
    names, mark = ("causal", "masked", "encoder-decoder"), root / "mark"
    return {name: make_hostile(trained(name), root / name, mark) for name in names}, mark


def run(*arguments, **how):
    """Run a process of Python that reads yes as often as it asks."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], input=50 * "y\n", capture_output=True, text=True,
        check=False, timeout=120, **how,
    )  # fmt: skip


def test_the_code_would_be_run_by_who_trusts_it(hostile):
    checkpoints, mark = hostile
    code = "import sys, transformers as t; t.AutoConfig.from_pretrained(sys.argv[1])"
    done = run("-c", code, checkpoints["causal"].parent)
    assert "Do you wish to run the custom code?" in done.stdout
    assert mark.exists()
    mark.unlink()


@pytest.mark.slow
def test_no_engine_runs_code_of_a_checkpoint(hostile):
    checkpoints, mark = hostile
    places = {name: str(path) for name, path in checkpoints.items()}
    done = run("-c", ENGINES, json.dumps(places))
    assert done.returncode == 0, done.stderr
    assert "Do you wish" not in done.stdout
    assert not mark.exists()
    said = json.loads(done.stdout.splitlines()[-1].removeprefix("="))
    assert len(said) == 4
    assert "loaded" not in said.values()
