"""The report card as one page of HTML that needs no other file."""

from pathlib import Path
from typing import Any

import langcodes
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from blimpworks.evaluation import show
from blimpworks.evaluation.card import ALL, MEAN, Accuracy, Benchmark, Card, Row
from blimpworks.files import write_text

ASSETS = Path(__file__).parent / "assets"
TEMPLATE, STYLE = "assets/card.html.jinja", "assets/card.css"


def _bar(accuracy: Accuracy, chance: float | None) -> str:
    """CSS variables of the bar that shows an accuracy and its interval, in percent."""
    shares = {"a": accuracy["accuracy"], "l": accuracy["low"], "h": accuracy["high"]}
    if chance is not None:
        shares["c"] = chance
    return ";".join(f"--{name}:{100 * share:.2f}%" for name, share in shares.items())


def _languages(benchmark: Benchmark) -> list[str]:
    """Languages of a benchmark, by what its rows are of."""
    languages = dict.fromkeys(row["lang"] for row in benchmark["rows"])
    return [lang for lang in languages if lang not in (ALL, MEAN)]


def _detailed(benchmark: Benchmark) -> list[tuple[str, list[Row]]]:
    """Languages, all together first, that have several phenomena, with these."""
    languages = [ALL, *_languages(benchmark)]
    each = ((lang, show.phenomena(benchmark, lang)) for lang in languages)
    return [(lang, rows) for lang, rows in each if any(row["models"] for row in rows)]


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ASSETS.parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tag"] = langcodes.standardize_tag
    environment.filters |= {
        name: getattr(show, name)
        for name in ("percent", "points", "nats", "p_value", "ties", "size")
    }
    return environment


def _context(card: Card) -> dict[str, Any]:
    return {
        "card": card,
        "show": show,
        "bar": _bar,
        "detailed": _detailed,
        "languages": _languages,
        "name_of": lambda code: show.language(code, card["languages"]),
        "label": lambda model: card["models"][model]["label"],
        # A file of ours, without a word of anybody else.
        "style": Markup((ASSETS.parent / STYLE).read_text(encoding="utf-8")),  # noqa: S704
    }


def page_of(card: Card) -> str:
    """The page as HTML."""
    return _environment().get_template(TEMPLATE).render(**_context(card))


def write_page(card: Card, path: Path) -> None:
    """Write the report card as one file of HTML."""
    write_text(path, page_of(card))
