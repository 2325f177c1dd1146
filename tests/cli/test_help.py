"""The help shows people what is for them, in any terminal."""

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from blimpworks.cli import ELSEWHERE, PANELS, command_line, write_any_character
from blimpworks.commands.registry import declared_commands
from support.card_kit import write_evaluation
from support.paths import REPOSITORY

FOR_PEOPLE = {name: each for name, each in declared_commands().items() if each.panel}
BY_WORKFLOW = [each for each in declared_commands().values() if each.by_workflow]


def help_of(*words):
    return CliRunner().invoke(command_line(), [*words, "--help"], env={"COLUMNS": "100"}).output


def test_the_help_lists_commands_for_people_below_headings():
    text = help_of()
    assert all(heading in text for heading in (*filter(None, PANELS), ELSEWHERE))
    assert all(f" {each.words[-1]} " in text for each in FOR_PEOPLE.values())
    assert not any(f" {each.words[-1]} " in text for each in BY_WORKFLOW)
    text = help_of("workflow")
    assert len(BY_WORKFLOW) > 50
    assert all(f" {each.words[-1]} " in text for each in BY_WORKFLOW)


@pytest.mark.parametrize("name", FOR_PEOPLE)
def test_a_command_for_people_has_an_example_that_can_be_typed(name):
    example = FOR_PEOPLE[name].example
    words = shlex.split(example)
    command = typer.main.get_command(command_line())
    with command.make_context("blimpworks", [], resilient_parsing=True) as context:
        called, own, rest = command.resolve_command(context, words)
        own.make_context(called, rest, parent=context)
    assert f"Example: blimpworks {example}" in " ".join(help_of(words[0]).split())


@pytest.mark.parametrize("words", [["workflow", "judge"], ["judge"]])
def test_a_command_of_the_workflow_is_called_with_or_without_the_word(words):
    command = [sys.executable, "-m", "blimpworks", *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Judge for each item" in done.stdout


def test_shells_can_complete_commands():
    asked = {"_BLIMPWORKS_COMPLETE": "complete_bash", "COMP_WORDS": "blimpworks ex"}
    done = subprocess.run(
        [Path(sys.executable).with_name("blimpworks")],
        env=os.environ | asked | {"COMP_CWORD": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["explain", "export"]


# Terminals whose encoding lacks characters

DEMO = "--configfile=config/demo/config.yaml"
LATIN, ASCII = {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii:strict"}
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLACE = "TREE"
"""Stands for the results of an evaluation."""
COMMANDS = [
    (LATIN, ["--help"], 0),
    (PLAIN, ["evaluate", "--help"], 0),
    (LATIN, ["evaluate", "--list", "--data=embedded"], 0),
    (PLAIN, ["evaluate", "modèle–1"], 2),
    (LATIN, ["compare", PLACE, PLACE, "--models", "large", "small"], 0),
    (PLAIN, ["compare", PLACE, PLACE, "--models", "large", "small"], 0),
    (LATIN, ["explain", "results/–/ü.csv"], 2),
    (LATIN, ["check", "results/–"], 2),
    (LATIN, ["status", DEMO], 0),
    # Without KenLM's programs the plan says so.
    (ASCII, ["plan", DEMO], None),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_evaluation(tmp_path_factory.mktemp("évaluation–") / "results")


@pytest.mark.parametrize(("environment", "words", "code"), COMMANDS)
def test_no_command_ends_in_a_traceback(tree, environment, words, code):
    arguments = [str(tree) if word == PLACE else word for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "blimpworks", *arguments],
        **{"cwd": REPOSITORY, "env": os.environ | environment, "capture_output": True},
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr
    assert code in (None, done.returncode), done.stderr
    if "compare" in words:
        assert re.search(rb"eng +87.5 +62.5 +-25.0", done.stdout)
        assert b"right in A alone: margin 5.00 -> -5.00" in done.stdout


def test_signs_that_an_encoding_lacks_have_others_and_letters_their_code_points():
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="substitute")
    write_any_character()
    terminal.write("−3.4 59.1–70.0 é ▶ ✓ ✗ … → ø ظ \udcff")
    terminal.flush()
    assert terminal.buffer.getvalue().decode("latin-1") == (
        "-3.4 59.1-70.0 é > + x ... -> ø \\u0638 \\udcff"
    )
