"""Test an engine of another distribution, which needs nothing but docs/adding_engine.md."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pyarrow.parquet as pq
import pytest

from support import tiny
from support.paths import REPOSITORY

PROGRAM = """
import json, sys
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.cluster.needs import Setup
from blimpworks.commands.declare import code_of
from blimpworks.evaluation.machine import Machine, check_memory, choose_engine
from blimpworks.records.digest import number_digest
from blimpworks.scoring.tokens import rounding_of
digests = [code_of("score", "kenlm", "ngram"), code_of("collect_scores")]
if sys.argv[1:]:
    campaign = check_campaign(json.loads(sys.argv[1]), "x")
    [row] = load_catalogue(campaign).models.values()
    setup = Setup(row, find_engine("lengths"), "float32")
    assert setup.speed(setup.needs()).tokens_per_second > 0
    assert choose_engine(row.model_copy(update={"recipe": ""}), "lengths").engine == "lengths"
    assert choose_engine(row.model_copy(update={"recipe": ""})).engine == "kenlm"
    assert campaign.scoring.near_tie.of("lengths", "float32") == rounding_of("lengths 1.0|") == 0.0
    digests.append(code_of("score", "lengths", "ngram"))
print(json.dumps(digests))
"""


@pytest.fixture
def installed(tmp_path):
    """Make a site directory with the package, as pip would install it."""
    text = (REPOSITORY / "docs/adding_engine.md").read_text(encoding="utf-8")
    project, row, engine = re.findall(r"```(?:toml|python)\n(.*?)```", text, re.S)
    declared = tomllib.loads(project)["project"]
    site, name = tmp_path / "site", declared["name"]
    package, info = site / name, site / f"{name}-{declared['version']}.dist-info"
    for folder in (package, info):
        folder.mkdir(parents=True)
    for file, code in {"__init__.py": "", "row.py": row, "engine.py": engine}.items():
        (package / file).write_text(code)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {declared['version']}\n")
    [(group, entries)] = declared["entry-points"].items()
    lines = [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return site


def python(*arguments, site=None):
    paths = [str(site or ""), str(REPOSITORY / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


@pytest.fixture
def scored(trained, tmp_path, installed):
    """Score with that engine; return the folder of the scores and the command."""
    items = tiny.write_items(tmp_path / "items.parquet", [("the dog sees", "the dogs sees")])
    words = tiny.score_words(items, trained("ngram"), "lengths", tmp_path)
    command = ("-m", "blimpworks", *words)
    done = python(*command, site=installed)
    assert done.returncode == 0, done.stderr
    collect = ("-m", "blimpworks", "collect-scores", "--items", items, *words[-4:])
    done = python(*collect, "--output", tmp_path / "scores.parquet", site=installed)
    assert done.returncode == 0, done.stderr
    return tmp_path, command


def test_an_engine_of_the_documentation_scores(scored, installed):
    root, command = scored
    [row] = pq.read_table(root / "scores.parquet").to_pylist()
    assert (row["logprob_good"], row["logprob_bad"], row["rounding"]) == (-10.0, -11.0, 0.0)
    key = json.loads((root / "manifest.json").read_bytes())["engine"]
    # Its own code is part of the key, and of the command's record.
    module = installed / "lengths/engine.py"
    module.write_text(module.read_text().replace("[-encoded", "[-2 * encoded"))
    assert python(*command, site=installed).returncode == 0
    assert json.loads((root / "manifest.json").read_bytes())["engine"] != key
    done = python(*command)
    assert "command 'score lengths ngram' is unknown; expected one of" in done.stderr


def test_all_that_asks_for_engines_knows_it_and_no_other_changes(installed):
    recipes = {"recipes": {"ngram": {"kind": "ngram", "order": 5}}}
    campaign = {"campaign": "x", "models": ["ngram-5"], "training": recipes}
    campaign["engines"] = {"kenlm": "lengths"}
    done = python("-c", PROGRAM, json.dumps(campaign), site=installed)
    assert done.returncode == 0, done.stderr
    with_it, without = json.loads(done.stdout), json.loads(python("-c", PROGRAM).stdout)
    assert with_it[:2] == without
    assert with_it[2] not in without


@pytest.mark.parametrize("row", ["ENGINE = 1", "import nowhere"])
def test_a_row_that_is_none_is_one_sentence(installed, row):
    (installed / "lengths/row.py").write_text(row + "\n")
    program = "from blimpworks.campaign.engines import engines; engines()"
    done = python("-c", program, site=installed)
    assert "UserError: engine 'lengths': lengths.row:ENGINE is" in done.stderr
