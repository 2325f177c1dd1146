"""Test that a command's one declaration determines how it runs, is recorded, digested and shown."""

import inspect
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.engines import scorers
from blimpworks.campaign.registry import exhibits
from blimpworks.cli import ELSEWHERE, PANELS, _supervise, command_line, write_any_character
from blimpworks.cluster import attempt
from blimpworks.commands import declare
from blimpworks.commands.declare import Declared, Use, code_of, command, declared_commands
from blimpworks.commands.options import of_language, option, written
from blimpworks.errors import UserError
from blimpworks.records.job import Command, Planned, planning
from blimpworks.scoring.progress import ATTEMPT
from support.card_kit import write_evaluation
from support.commands import parse
from support.paths import REPOSITORY

BODILESS = {name: command for name, command in declared_commands().items() if command.calls}


@pytest.fixture
def declared(monkeypatch):
    """Remove commands that a test declares when it ends."""
    monkeypatch.setattr("blimpworks.commands.declare.DECLARED", {})


def planned(command: Declared, **arguments):
    with planning() as jobs, pytest.raises(Planned):
        command.callback(**arguments)
    return jobs[0]


@pytest.mark.parametrize("name", BODILESS)
def test_a_command_without_a_body_has_all_that_its_function_needs(name):
    command = BODILESS[name]
    uses = {each: Use() for each in command.uses}
    given = declare.library_arguments(command, dict.fromkeys(uses, None) | _texts(command))
    inspect.signature(resolve_name(command.calls)).bind(**given)
    assert command.callback.__doc__


def _texts(command):
    """Return texts for arguments that the command converts before it calls the library."""
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


@pytest.mark.parametrize("name", ["judge", "judge_designs", "judge_sentences"])
def test_judging_needs_a_table_of_scores_for_each_of_items(name, tmp_path):
    paths = {
        word: [tmp_path / f"{word}{n}.parquet" for n in range(count)]
        for word, count in (("items", 2), ("scores", 1), ("output", 2))
    }
    rules = {"method": ["full_sentence"], "ties": ["wrong"], "near_tie": 0.0, "unknown": None}
    with pytest.raises(UserError, match="2 --items and 1 --scores; expected one for each"):
        declared_commands()[name].callback(**paths, **rules)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("pair", ["a.txt", "=a.txt", "deu="])
def test_a_file_of_a_language_needs_both(pair):
    assert of_language("deu=a=b.txt") == ("deu", Path("a=b.txt"))
    with pytest.raises(UserError, match="expected LANG=PATH, such as"):
        of_language(pair)


def test_two_commands_cannot_have_one_name(declared):
    @command()
    def same():
        pass

    with pytest.raises(ValueError, match="two commands are called 'same'"):
        command(name="same")(lambda: None)


def test_engines_and_exhibits_have_code_of_their_own_and_groups_words():
    names = {f"score {engine} {architecture}" for engine, architecture in scorers()}
    names |= {f"build_exhibit {key}" for key in exhibits()}
    assert all(map(declare.find_command, names))
    assert declare.find_command("score kenlm ngram").code == code_of("score", "kenlm", "ngram")
    assert declared_commands()["export_multiblimp"].words == ("export", "multiblimp")
    assert declared_commands()["build_lexicon"].words == ("build-lexicon",)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("score --log a.log --manifest m.json", 7),
        ("score --log=a.log --manifest=m.json --give-up", 0),
        ("answer --manifest m.json --give-up --log a.log x.parquet", 0),
        ("score --log=a.log --give-up --no-give-up --manifest=m.json", 7),
        ("score --manifest=m.json", None),
        ("score --manifest=m.json --log", None),
        ("judge --log=a.log", None),
    ],
)
def test_scoring_with_a_log_is_supervised_however_its_options_are_written(words, code, monkeypatch):
    started = []
    monkeypatch.delenv(ATTEMPT, raising=False)
    monkeypatch.setattr(attempt, "run_attempt", lambda *call: started.append(call) or 7)
    monkeypatch.setattr(attempt, "give_up", lambda *call: started.append(call) or 0)
    arguments = words.split()
    if code is None:
        _supervise(arguments)
        assert started == []
        return
    with pytest.raises(SystemExit) as ended:
        _supervise(arguments)
    assert ended.value.code == code
    command, log = started[0]
    assert (command[3:], log) == (arguments, Path("a.log"))
    assert started[1:] == [(7, Path("m.json"), Path("a.log"))] * (code == 0)


def test_a_job_reads_nothing_from_standard_input(tmp_path):
    """A question of a library gets no answer; a command without a record may read input."""
    code = """
import os, sys
from blimpworks.cli import _prepare
for command in sys.argv[1:]:
    if os.fork() == 0:
        _prepare(command.split())
        os.write(1, os.read(0, 4) or b"no\\n")
        os._exit(0)
    os.wait()
"""
    commands = ["score x", "retrieve-model x", "collect-scores", "evaluate gpt2", "explain x"]
    python = [sys.executable, "-c", code, *commands]
    done = subprocess.run(python, input=b"yes\n" * 2, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["no", "no", "no", "yes", "yes"]


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
    parse(example)
    assert f"Example: blimpworks {example}" in " ".join(help_of(example.split()[0]).split())


def test_a_command_of_the_workflow_is_called_without_the_word_too():
    assert "Judge for each item" in help_of("workflow", "judge")
    command = [sys.executable, "-m", "blimpworks", "judge", "--help"]
    assert "Judge for each item" in subprocess.check_output(command, text=True)


def test_shells_can_complete_commands():
    asked = {"_BLIMPWORKS_COMPLETE": "complete_bash", "COMP_WORDS": "blimpworks ex"}
    asked["COMP_CWORD"] = "1"
    program, environment = Path(sys.executable).with_name("blimpworks"), os.environ | asked
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["explain", "export"]


# Terminals whose encoding lacks characters

DEMO = "--configfile=config/demo/config.yaml"
LATIN, ASCII = {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii:strict"}
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLACE = "TREE"
"""Stands for the results of an evaluation."""
COMMANDS = [
    (PLAIN, ["evaluate", "--help"], 0),
    (LATIN, ["evaluate", "--list", "--data=embedded"], 0),
    (PLAIN, ["evaluate", "modèle–1"], 2),
    (PLAIN, ["compare", PLACE, PLACE, "--models", "large", "small"], 0),
    (LATIN, ["explain", "results/–/ü.csv"], 2),
    (ASCII, ["status", DEMO], 0),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_evaluation(tmp_path_factory.mktemp("évaluation–") / "results")


@pytest.mark.parametrize(("environment", "words", "code"), COMMANDS)
def test_no_command_ends_in_a_traceback(tree, environment, words, code):
    arguments = [str(tree) if word == PLACE else word for word in words]
    command = [sys.executable, "-m", "blimpworks", *arguments]
    where = {"cwd": REPOSITORY, "env": os.environ | environment}
    done = subprocess.run(command, **where, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, done.stderr
    if "compare" in words:
        assert re.search(rb"eng +87.5 +62.5 +-25.0", done.stdout)
        assert b"right in A alone: margin 5.00 -> -5.00" in done.stdout


def test_signs_that_an_encoding_lacks_have_others_and_letters_their_code_points():
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="substitute")
    write_any_character()
    terminal.write("−3.4 59.1–70.0 é ▶ ✓ ✗ … → ø ظ \udcff")
    terminal.flush()
    shown = terminal.buffer.getvalue().decode("latin-1")
    assert shown == "-3.4 59.1-70.0 é > + x ... -> ø \\u0638 \\udcff"
