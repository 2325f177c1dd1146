"""Terminals whose encoding lacks characters: no command ends in a traceback."""

import io
import os
import re
import subprocess
import sys

import pytest

from blimpworks.cli import write_any_character
from support.card_kit import write_evaluation
from support.paths import REPOSITORY

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
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, **environment},
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
