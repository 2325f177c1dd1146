"""Names of languages, models, phenomena and exhibits, and which of them a number is about."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.registry import find_paper, load
from blimpworks.report.evidence import Place
from blimpworks.reproduction.published import Paper

FEW = 8
"""A number about more languages (or models) than this is about none in particular."""
COLUMNS = {
    "lang": ("lang",),
    "model": ("model", "model_a", "model_b"),
    "phenomenon": ("phenomenon", "paradigm"),
}
"""Columns of tables that say what a number is about, by kind."""
EXHIBITS = {"table": "Table", "fig": "Figure", "figure": "Figure"}
"""What papers call their exhibits, by how names of exhibits begin."""


@dataclass
class Names:
    """Printed names by kind (lang, model, phenomenon) and key, and those that were met."""

    known: Mapping[str, Mapping[str, str]]
    met: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, key: str) -> str:
        """The name of a language, model or phenomenon; any other key is its own."""
        return next((names[key] for names in self.known.values() if key in names), key)

    def _keys(self, kind: str, where: Mapping[str, Any], place: Place | None) -> Iterator[str]:
        for column in COLUMNS[kind]:
            selected = where.get(column, [])
            yield from selected if isinstance(selected, list) else [selected]
        parts = (*(place[1:] if place else ()), where.get("row"), where.get("column"))
        yield from (key for key in parts if isinstance(key, str) and key in self.known[kind])

    def about(self, where: Mapping[str, Any], place: Place | None) -> dict[str, str]:
        """Attributes that say what a number is about, from its filter and its printed keys.

        One that would repeat a printed key is left out: report.js reads that from ``data-row``
        and ``data-column``, and a page of 11,000 numbers is a quarter smaller for it.
        """
        attributes = {}
        for kind in COLUMNS:
            keys = dict.fromkeys(k for k in self._keys(kind, where, place) if k and k != ALL)
            if 0 < len(keys) <= FEW:
                value = " ".join(str(key).replace(" ", "_") for key in keys)
                if place is None or value not in place[1:]:
                    attributes[f"data-{kind}"] = value
                known = self.met.setdefault(kind, {})
                for key in keys:
                    name = self.known[kind].get(key, str(key).replace("_", " "))
                    known[str(key).replace(" ", "_")] = name
        return attributes


def names_from(languages: Mapping[str, str], models: Mapping[str, str], printed: Paper) -> Names:
    """Names of a catalogue's languages and models, and of phenomena that a paper prints."""
    table = printed.tables["accuracies"].table
    keys = dict.fromkeys([*table["phenomenon"], *table["paradigm"]])
    phenomena = {str(key): str(key).replace("_", " ") for key in keys if key and key != ALL}
    if address := find_paper(printed.name).names:
        phenomena |= cast(Mapping[str, str], load(address))
    return Names({"lang": languages, "model": models, "phenomenon": phenomena})


def exhibit_label(name: str) -> str:
    """The paper's name of an exhibit: ``tableb2`` is "Table B.2"; empty for one that no paper has.

    Statistics of running text are called "In the text", with sections where they are known.
    """
    if name.startswith("text"):
        sections = [f"{s[0]}.{s[1:]}".rstrip(".") for s in re.findall(r"\d+", name)]
        return f"In the text ({', '.join(sections)})" if sections else "In the text"
    match = re.fullmatch(r"(table|figure|fig)_?([a-z]?)(\d+)([a-z]?)", name)
    if not match:
        return ""
    kind, letter, number, part = match.groups()
    return f"{EXHIBITS[kind]} {letter.upper()}{'.' if letter else ''}{number}{part}"
