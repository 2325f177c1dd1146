"""The help shows people what is for them, each command with an example that can be typed."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from blimpworks.cli import ELSEWHERE, PANELS, command_line
from blimpworks.commands.registry import declared_commands

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
