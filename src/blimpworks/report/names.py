"""Name languages, models, phenomena and exhibits."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.registry import find_paper, load
from blimpworks.reproduction.printed import Place
from blimpworks.reproduction.published import Paper

FEW = 8
"""A number about more languages (or models) than this is about none in particular."""
COLUMNS = {
    "lang": ("lang",),
    "model": ("model", "model_a", "model_b"),
    "phenomenon": ("phenomenon", "paradigm"),
}
"""Columns of filters by kind of name."""
EXHIBITS = {"table": "Table", "fig": "Figure", "figure": "Figure"}
"""Papers' words for exhibits, by the beginning of exhibits' names."""


@dataclass
class Names:
    """Printed names by kind (lang, model, phenomenon) and key, and the names used so far."""

    known: Mapping[str, Mapping[str, str]]
    met: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, key: str) -> str:
        """Return the name of a language, model or phenomenon; any other key is its own."""
        return next((names[key] for names in self.known.values() if key in names), key)

    def _keys(self, kind: str, where: Mapping[str, Any], place: Place | None) -> Iterator[str]:
        for column in COLUMNS[kind]:
            selected = where.get(column, [])
            yield from selected if isinstance(selected, list) else [selected]
        key_parts = (*(place[1:] if place else ()), where.get("row"), where.get("column"))
        yield from (key for key in key_parts if isinstance(key, str) and key in self.known[kind])

    def about(self, where: Mapping[str, Any], place: Place | None) -> dict[str, str]:
        """Return attributes on a number's subject, but none that repeats its printed keys."""
        attributes = {}
        for column_kind in COLUMNS:
            keys = dict.fromkeys(k for k in self._keys(column_kind, where, place) if k and k != ALL)
            if 0 < len(keys) <= FEW:
                value = " ".join(str(key).replace(" ", "_") for key in keys)
                if place is None or value not in place[1:]:
                    attributes[f"data-{column_kind}"] = value
                names = self.met.setdefault(column_kind, {})
                for key in keys:
                    name = self.known[column_kind].get(key, str(key).replace("_", " "))
                    names[str(key).replace(" ", "_")] = name
        return attributes


def names_from(languages: Mapping[str, str], models: Mapping[str, str], printed: Paper) -> Names:
    """Return the names of a catalogue's languages and models, and of a paper's phenomena."""
    table = printed.tables["accuracies"].table
    keys = dict.fromkeys([*table["phenomenon"], *table["paradigm"]])
    phenomena = {str(key): str(key).replace("_", " ") for key in keys if key and key != ALL}
    if address := find_paper(printed.name).names:
        phenomena |= cast(Mapping[str, str], load(address))
    return Names({"lang": languages, "model": models, "phenomenon": phenomena})


def exhibit_label(name: str) -> str:
    """Return the paper's name of an exhibit (``tableb2``: "Table B.2"); "" for ours."""
    if name.startswith("text"):
        sections = [f"{s[0]}.{s[1:]}".rstrip(".") for s in re.findall(r"\d+", name)]
        return f"In the text ({', '.join(sections)})" if sections else "In the text"
    match = re.fullmatch(r"(table|figure|fig)_?([a-z]?)(\d+)([a-z]?)", name)
    if not match:
        return ""
    exhibit_kind, letter, number, panel = match.groups()
    return f"{EXHIBITS[exhibit_kind]} {letter.upper()}{'.' if letter else ''}{number}{panel}"
