"""Titles, captions and headings of exhibits that are stored as data."""

import ast
from importlib import import_module
from itertools import chain
from pathlib import Path
from string import Formatter

import pytest

from blimpworks.campaign.registry import papers
from blimpworks.exhibits.descriptions import Descriptions

ROOMS = sorted(
    {
        spec.function.split(":")[0].rpartition(".")[0]
        for p in papers().values()
        for spec in p.exhibits
    }
)


def described(room: str) -> Descriptions:
    """The descriptions of a room's exhibits."""
    descriptions: Descriptions = import_module(room).describe
    return descriptions


def calls(room: str) -> list[tuple[set[str], set[str]]]:
    """Keys that each call of ``describe`` may have, where it names them, and its values' names."""
    modules = Path(str(import_module(room).__file__)).parent.glob("*.py")
    nodes = chain.from_iterable(ast.walk(ast.parse(path.read_text())) for path in modules)
    return [
        (
            {n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)},
            {str(keyword.arg) for keyword in node.keywords},
        )
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "describe"
    ]


def names_in(entry: dict[str, str]) -> set[str]:
    """Names in braces of all texts of a description."""
    return {name for text in entry.values() for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("room", ROOMS)
def test_calls_give_the_values_that_their_texts_need(room: str) -> None:
    entries = described(room).entries
    for keys, values in calls(room):
        needed = set().union(*(names_in(entries[key]) for key in keys))
        # Values that a function gives, by "**", have no names here.
        rest = needed - values if "None" in values else set()
        assert not keys or needed - rest == values - {"None"}, keys


@pytest.mark.parametrize("room", ROOMS)
def test_no_description_is_left_over(room: str) -> None:
    modules = Path(str(import_module(room).__file__)).parent.glob("*.py")
    nodes = chain.from_iterable(ast.walk(ast.parse(path.read_text())) for path in modules)
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert {*described(room).entries} <= texts


def test_values_stand_in_title_and_caption(tmp_path: Path) -> None:
    path = tmp_path / "descriptions.yaml"
    path.write_text(
        "t:\n  title: Of {what}\n  row_title: Row\n  caption: >-\n    {n:,}\n    pairs\n"
    )
    describe = Descriptions(path)
    expected = {"title": "Of it", "caption": "1,000 pairs", "row_title": "Row"}
    assert describe("t", what="it", n=1000) == expected
    with pytest.raises(KeyError, match="what"):
        describe("t", n=1000)
