"""Commands are declared once: what is declared is what runs, is recorded and digested."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from blimpworks.campaign.engines import scorers
from blimpworks.campaign.exhibits import exhibits
from blimpworks.commands.declare import Declared, Use, command, library_arguments, library_function
from blimpworks.commands.options import option, written
from blimpworks.commands.registry import code_of, declared_commands, find_command, recorded_commands
from blimpworks.errors import UserError
from blimpworks.records.job import Command, Planned, planning

BODILESS = {name: command for name, command in declared_commands().items() if command.calls}


@pytest.fixture
def declared(monkeypatch):
    """Commands that a test declares are gone after it."""
    monkeypatch.setattr("blimpworks.commands.declare.DECLARED", {})


def planned(command: Declared, **arguments):
    with planning() as jobs, pytest.raises(Planned):
        command.callback(**arguments)
    return jobs[0]


@pytest.mark.parametrize("name", BODILESS)
def test_a_command_without_a_body_has_all_that_its_function_needs(name):
    command = BODILESS[name]
    uses = {each: Use() for each in command.uses}
    given = library_arguments(command, dict.fromkeys(uses, None) | _texts(command))
    inspect.signature(library_function(command)).bind(**given)
    assert command.callback.__doc__


def _texts(command):
    """Arguments that are converted on their way to the library need a value that can be."""
    known = {"judgements": "", "models": "{}", "special": "", "untested": "", "answers": []}
    known |= {"resources": [], "method": "", "results": Path(), "benchmark": ""}
    return {name: value for name, value in known.items() if name in command.uses}


def test_paths_are_inputs_written_ones_outputs_and_the_rest_is_recorded(declared):
    @command(recorded="blimpworks.files:sha256_of")
    def try_this(
        table: Path = option("Read."),
        more: list[Path] = option("Read too.", default=list),
        seed: int = option("Recorded."),
        output: Path = written("Written."),
        other: Path | None = option("Read, if given.", default=None),
    ):
        raise AssertionError("a planned job does not run")

    job = planned(try_this, table=Path("a"), more=[Path("b")], seed=3, output=Path("c"), other=None)
    assert (job.inputs, job.outputs) == ([Path("a"), Path("b")], [Path("c")])
    assert job.params == {"seed": 3}
    assert job.command == Command("try_this", ("blimpworks.files:sha256_of",))


def test_what_a_body_returns_is_noted(declared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    @command(recorded="blimpworks.files:sha256_of")
    def count_lines(output: Path = written("Written.")):
        output.write_text("a line\n")
        return {"lines": 1}

    count_lines.callback(output=Path("out.txt"))
    assert json.loads(Path("out.txt.prov.json").read_text())["notes"] == {"lines": 1}


def test_two_commands_cannot_have_one_name(declared):
    @command()
    def same():
        pass

    with pytest.raises(ValueError, match="two commands are called 'same'"):
        command(name="same")(lambda: None)


def test_engines_and_exhibits_have_code_of_their_own_and_groups_words():
    names = {f"score {engine} {architecture}" for engine, architecture in scorers()}
    names |= {f"build_exhibit {key}" for key in exhibits()}
    assert names <= recorded_commands().keys()
    assert find_command("score kenlm ngram").code == code_of("score", "kenlm", "ngram")
    assert declared_commands()["export_multiblimp"].words == ("export", "multiblimp")
    assert declared_commands()["build_lexicon"].words == ("build-lexicon",)


@pytest.mark.parametrize("name", ["rewrite", "score vllm ngram", "score", "pin"])
def test_of_what_is_no_command_there_is_no_code(name):
    assert find_command(name) is None
    with pytest.raises((KeyError, UserError)):
        code_of(*name.split())


def test_a_job_reads_nothing_from_standard_input(tmp_path):
    """What libraries ask there gets no answer; a command that keeps no record may read it."""
    code = """
import os, sys
from blimpworks.cli import _commands
_commands(sys.argv[1:])
print(os.read(0, 9))
"""
    for words, read in {
        ("score", "x"): b"",
        ("retrieve-model", "x"): b"",
        ("collect-scores",): b"",
        ("evaluate", "gpt2"): b"yes\n",
        ("explain", "x"): b"yes\n",
    }.items():
        done = subprocess.run(
            [sys.executable, "-c", code, *words], input=b"yes\n", capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == repr(read), words
