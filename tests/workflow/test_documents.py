"""Test that commands in documents can be typed: they parse, targets exist, and quick ones run."""

import re
import shlex
import zipfile
from pathlib import Path

import pytest

from support.checkout import DEMO, output_of
from support.commands import parse
from support.paths import REPOSITORY

BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
PLACEHOLDER = re.compile(r"[…\[]|\b(?:MODEL|OWNER|COMMIT|NAME|CAMPAIGN|ID)\b")
"""Placeholders for the reader's names: a line with one cannot be typed as it is."""
CLUSTER = "--profile slurm"
"""Option of commands that tests/workflow/test_slurm.py runs on a real SLURM."""
NO_NETWORK = {"BLIMPWORKS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}


def commands_in(path: Path) -> list[str]:
    """Return command lines in a document's blocks, joined, without prompts and remarks."""
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    typed = [text for language, text in blocks if language in ("", "sh", "console")]
    lines = "\n".join(typed).replace("\\\n", " ").splitlines()
    bare = (re.sub(r"\s{2,}#.*", "", line).strip().removeprefix("$ ") for line in lines)
    started = (line.replace("python -m blimpworks", "blimpworks") for line in bare)
    return [line for line in started if re.match(r"(blimpworks|snakemake|make) [^=:]", line)]


DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
COMMANDS = dict.fromkeys(line for path in DOCUMENTS for line in commands_in(path))
TYPED = [line for line in COMMANDS if not PLACEHOLDER.search(line)]
OURS = [line for line in TYPED if line.startswith("blimpworks ")]
REPORTED = "--report "
"""Option with which Snakemake collects existing files and plans nothing."""
SNAKEMAKE = [line for line in TYPED if line.startswith("snakemake ")]
PLANNED = [line for line in SNAKEMAKE if CLUSTER not in line and REPORTED not in line]
MADE = [line for line in TYPED if line.startswith("make ")]
QUICK = [
    line
    for line in OURS
    if re.search(r"explain results/demo/|check results/demo|\btry-|evaluate --list", line)
    and "words.txt" not in line
]


def test_the_documents_have_commands_of_all_kinds():
    assert len(COMMANDS) > 40
    assert min(map(len, (OURS, PLANNED, MADE, QUICK))) >= 3


@pytest.mark.parametrize("line", OURS)
def test_a_command_is_one_that_there_is_with_these_options(line):
    parse(line.removeprefix("blimpworks "))


@pytest.mark.parametrize("line", MADE)
def test_a_target_of_make_is_one_that_there_is(line):
    targets = re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert line.split()[1] in targets


@pytest.mark.long
@pytest.mark.xdist_group("bare")
@pytest.mark.parametrize("line", PLANNED)
def test_what_snakemake_is_told_to_make_can_be_planned(bare, line):
    words = shlex.split(line)[1:]
    campaign = bare.path / words[words.index("--configfile") + 1]
    if not campaign.exists():
        assert campaign.name == "mine.yaml"  # the reader's
        return
    done = bare.run("snakemake", "-n", "--quiet", "all", *words, **NO_NETWORK)
    assert done.returncode == 0, output_of(done)


@pytest.mark.long
@pytest.mark.xdist_group("workflow")
def test_snakemakes_own_report_is_made_as_documented(scratch):
    scratch.make("all", "published", "reproduction")
    [line] = [line for line in SNAKEMAKE if REPORTED in line]
    done = scratch.run(*shlex.split(line), **NO_NETWORK)
    assert done.returncode == 0, output_of(done)
    assert "report/report.html" in zipfile.ZipFile(scratch.path / "report.zip").namelist()


@pytest.mark.xdist_group("workflow")
@pytest.mark.parametrize("line", QUICK)
def test_a_quick_command_runs(built, line):
    done = built.run(*shlex.split(line), **NO_NETWORK)
    assert done.returncode == 0, output_of(done)
    assert done.stdout


@pytest.mark.xdist_group("bare")
def test_the_graph_of_the_demos_rules_is_the_documented_one(bare):
    options = ("--rulegraph", "mermaid-js", "all", "report", "-F")
    drawn = output_of(bare.snakemake(*options, campaign=DEMO))
    rules = dict(re.findall(r"(id\d+)\[(\w+)\]", drawn))
    edges = {(rules[a], rules[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", drawn)}
    text = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (\w[\w &]*) --> (\w+)$", text, re.MULTILINE)
    assert {(above, rule) for many, rule in lines for above in many.split(" & ")} == edges
