"""Our own grammars: what they generate is a set of minimal pairs, of the sizes that we print."""

import re
from pathlib import Path

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.clams.items.build import focus_of
from blimpworks.papers.clams.items.grammar.generator import generate
from blimpworks.papers.clams.items.grammar.model import common_beside, read_grammar
from blimpworks.papers.clams.items.grammar.preview import remarks
from support import grammar_kit as kit
from support.paths import REPOSITORY

GRAMMARS = [p for p in sorted(REPOSITORY.glob("config/grammars/*/*.avg")) if p.stem != "common"]
LANGUAGES = ("eng", "ita")


def of_file(path):
    return f"{path.parent.name}-{path.stem}"


PAGE = (REPOSITORY / "docs" / "grammars.md").read_text(encoding="utf-8")


def printed_sizes():
    """Lines by language and case, from the page's table."""
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \|", PAGE, flags=re.MULTILINE)
    return {
        (lang, case): int(size.replace(",", ""))
        for case, *sizes in rows
        for lang, size in zip(LANGUAGES, sizes, strict=True)
    }


def varied_words(grammar):
    """The first words of the alternatives that are varied, as ``laugh/laughs``."""
    for item in grammar.vary:
        right, wrong = grammar.named(item.target.name)
        for forms in zip(right.alternatives, wrong.alternatives, strict=True):
            yield "/".join(sorted(form.text.split()[0] for form in forms))


def test_the_page_prints_the_size_of_each_set():
    assert printed_sizes().keys() == {(path.parent.name, path.stem) for path in GRAMMARS}


@pytest.mark.parametrize("path", GRAMMARS, ids=of_file)
def test_a_grammar_makes_distinct_pairs_that_differ_in_the_varied_verb(path):
    grammar = read_grammar(path, common_beside(path), "corrected")
    assert [*remarks(grammar, "corrected")] == []
    sets = [*generate(grammar, "corrected")]
    assert {len(each) for each in sets} == {2}
    assert 2 * len(sets) == printed_sizes()[path.parent.name, path.stem]
    assert len({*sets}) == len({good for good, _ in sets}) == len(sets)
    assert {focus_of(pair) for pair in sets} == {*varied_words(grammar)}
    assert {good for good, _ in sets}.isdisjoint(bad for _, bad in sets)


BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
CHANGES = (
    ("N[s] V[s]", "N[s] V[3,s]"),
    ("are old", "are old | are big"),
    ("V[p] bark | are old\n", ""),
    ("V[]", "V[x]"),
    ("N[s] V[s]", "N[s] V[3, s]"),
    ("is old", "is old # a comment"),
    ("N[p] dogs", "N[p dogs"),
)


def test_the_page_shows_what_its_first_grammar_generates(tmp_path):
    path = tmp_path / "simple.avg"
    path.write_text(BLOCKS[0], encoding="utf-8")
    lines = kit.lines(path)
    assert "".join(lines[:8]) == BLOCKS[1]
    assert len(lines) == 16


def test_the_page_shows_how_mistakes_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = next(block for block in BLOCKS if "; expected " in block).splitlines()
    messages = []
    for old, new in CHANGES:
        text = BLOCKS[0].replace("S[] the N[p] V[p]", "#") if not new else BLOCKS[0]
        Path("simple.avg").write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(UserError) as caught:
            kit.lines(Path("simple.avg"))
        messages.append(str(caught.value))
    assert messages == printed
