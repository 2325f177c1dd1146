"""Explanations as a page that opens in a browser, from a file and without a network."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from blimpworks.audit.aligned import Token, align, shown_number, shown_piece
from blimpworks.audit.explain import Explanation
from blimpworks.audit.explain_text import item_lines, sections, sentence
from blimpworks.files import write_text

HERE = Path(__file__).parent
TEMPLATE = "explained.html.jinja"
SIGNS = {"+": "good", "-": "bad"}


def _piece(token: Token | None) -> dict[str, Any]:
    critical = token is not None and token["critical"]
    piece = shown_piece(token)
    # The terminal marks a critical piece with an asterisk.
    piece = piece.removesuffix("*") if critical else piece
    return {"piece": piece, "number": shown_number(token), "critical": critical}


def _item(item: dict[str, Any]) -> dict[str, Any]:
    """An item with its pieces in pairs, if it has two sentences, and the rest of it in lines."""
    if not {"good", "bad"} <= item.keys():
        return {"pairs": [], "rest": item_lines([item])}
    sides = {side: item.pop(side) for side in ("good", "bad")}
    heading, *rest = item_lines([item])
    pairs = align(sides["good"]["tokens"], sides["bad"]["tokens"])
    return {
        "heading": heading,
        "sentences": [sentence(sign, sides[side]) for sign, side in SIGNS.items()],
        "pairs": [(_piece(good), _piece(bad)) for good, bad in pairs],
        "rest": [line.strip() for line in rest],
    }


def write_page(explanation: Explanation, path: Path) -> None:
    """Write the explanation to ``path``, with all of the ancestry."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True)
    parts: dict[str, Any] = {**sections(explanation, whole=True)}
    parts["items"] = [_item({**item}) for item in explanation.items]
    products = len([*explanation.tree.walk()]) if explanation.tree else 0
    write_text(path, environment.get_template(TEMPLATE).render(parts, products=products))
