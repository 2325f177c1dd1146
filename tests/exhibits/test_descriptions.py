"""Titles, captions and headings of exhibits that are stored as data."""

import ast
from importlib import import_module
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


@pytest.mark.parametrize("room", ROOMS)
def test_calls_give_the_values_that_their_texts_need_and_no_description_is_left_over(
    room: str,
) -> None:
    module = import_module(room)
    entries = module.describe.entries
    paths = Path(str(module.__file__)).parent.glob("*.py")
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    assert {*entries} <= {node.value for node in nodes if isinstance(node, ast.Constant)}
    for node in nodes:
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "describe"):
            continue
        keys = {n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)}
        texts = [text for key in keys for text in entries[key].values()]
        needed = {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}
        values = {keyword.arg for keyword in node.keywords}
        # Values that a function gives, by "**", have no names here.
        rest = needed - values if None in values else set()
        assert not keys or needed - rest == values - {None}, keys


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
