"""Read attribute-varying grammars of the tests, and the released ones."""

import lzma

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.clams.items.grammar.generator import generate, lines_of
from blimpworks.papers.clams.items.grammar.model import read_grammar

LANGUAGES = ("de", "fr", "he", "ru")
GOOD = "vary: V[]\nS[] the N[s] V[3,s]\nN[s] man\nV[3,s] sings\nV[3,p] sing\n"
"""A grammar without a mistake."""


def write(directory, text, name="case.avg"):
    path = directory / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def flagged(lines):
    """Return lines as ``T sentence`` and ``F sentence``."""
    return [f"{line[0]} {line.rstrip().partition('	')[2]}" for line in lines]


def mistake(read):
    with pytest.raises(UserError) as caught:
        read()
    return str(caught.value)


def lines(path, variant="published", common=None):
    return [*lines_of(generate(read_grammar(path, common, variant)))]


def released(mirror, directory, lang):
    """Unpack a language's grammars; return the paths of common.avg and of the others by name."""
    paths = sorted((mirror / "clams" / f"{lang}_replication").glob("*.avg.xz"))
    directory.mkdir(parents=True, exist_ok=True)
    unpacked = {}
    for path in paths:
        unpacked[path.stem] = directory / path.stem
        unpacked[path.stem].write_bytes(lzma.decompress(path.read_bytes()))
    return unpacked.pop("common.avg"), [unpacked[name] for name in sorted(unpacked)]
