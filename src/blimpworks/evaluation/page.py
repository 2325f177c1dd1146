"""The report card as one page of HTML that needs no other file."""

from pathlib import Path

import langcodes
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from blimpworks.evaluation import show
from blimpworks.evaluation.card import ALL, MEAN, Accuracy, Benchmark, Card, Row
from blimpworks.files import write_text

FOLDER = Path(__file__).parent
# Named in full, so that a record's digest of the code covers them.
TEMPLATE, STYLE = "assets/card.html.jinja", "assets/card.css"


def _bar(accuracy: Accuracy, chance: float | None) -> str:
    """CSS variables of the bar that shows an accuracy and its interval, in percent."""
    shares = {"a": accuracy["accuracy"], "l": accuracy["low"], "h": accuracy["high"]}
    if chance is not None:
        shares["c"] = chance
    return ";".join(f"--{name}:{100 * share:.2f}%" for name, share in shares.items())


def _detailed(benchmark: Benchmark) -> list[tuple[str, list[Row]]]:
    """Languages, all together first, that have several phenomena, with these."""
    languages = dict.fromkeys([ALL, *(row["lang"] for row in benchmark["rows"])])
    phenomena = [(lang, show.phenomena(benchmark, lang)) for lang in languages if lang != MEAN]
    return [(lang, rows) for lang, rows in phenomena if any(row["models"] for row in rows)]


def page_of(card: Card) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tag"] = langcodes.standardize_tag
    for name in ("percent", "points", "nats", "p_value", "ties", "size"):
        environment.filters[name] = getattr(show, name)
    return environment.get_template(TEMPLATE).render(
        card=card,
        show=show,
        bar=_bar,
        detailed=_detailed,
        name_of=lambda code: show.language(code, card["languages"]),
        label=lambda model: card["models"][model]["label"],
        # A file of ours, without a word of anybody else.
        style=Markup((FOLDER / STYLE).read_text(encoding="utf-8")),  # noqa: S704
    )


def write_page(card: Card, path: Path) -> None:
    """Write the report card as one file of HTML."""
    write_text(path, page_of(card))
