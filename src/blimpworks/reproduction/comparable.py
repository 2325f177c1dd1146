"""Whether a measured number is about what the printed one is about: model, languages, items."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from blimpworks.campaign.comparability import Basis

MODELS = ("model", "model_a", "model_b")
"""Columns of filters that name models; rows that have one are of evaluations."""
EVALUATED = (*MODELS, "method")
Cell = Mapping[str, Any]


def _languages(where: Mapping[str, Any]) -> list[str] | None:
    """The languages that a cell is over; None where its filter names none."""
    languages = where.get("lang")
    return [languages] if isinstance(languages, str) else languages


def _share(own: set[str], in_print: set[str]) -> str:
    """How many of the printed languages are among our own; "" where they are the same."""
    if not own or not in_print or own == in_print:
        return ""
    others = len(own - in_print)
    more = f" and {others} {'other' if others == 1 else 'others'}" if others else ""
    return f"{len(own & in_print)} of {len(in_print)} languages{more}"


def _other_languages(
    where: Mapping[str, Any], printed: Mapping[str, Any], basis: Basis, legible: Collection[str]
) -> str:
    """How the languages differ: a cell of one language is about that which its place names.

    A mean whose languages print does not list is over all or an unknown part of the paper's: ours
    is over the same if the campaign has them all.
    """
    if isinstance(where.get("lang"), str):
        return ""
    if listed := _languages(printed):
        return _share({*(_languages(where) or basis["languages"])}, {*listed})
    own = basis["languages"] or _languages(where) or []
    return _share({*own}, {*(basis["paper_languages"] or legible)})


def _of_languages(reasons: Mapping[str, str], languages: Sequence[str]) -> str:
    """The reasons of some languages, in short."""
    texts = list(dict.fromkeys(reasons[lang] for lang in languages if lang in reasons))
    return f"{texts[0]} and others" if len(texts) > 1 else "".join(texts)


def differences(cell: Cell, printed: Cell | None, basis: Basis, legible: Collection[str]) -> str:
    """What sets a measured cell apart from the printed number that it stands for; "" if nothing.

    ``printed`` is the cell of the published form in the same place, if it has one;
    ``legible`` are the languages that our copy of the paper has accuracies of.
    """
    where = json.loads(cell["filter"])
    of_print = json.loads(printed["filter"]) if printed else {}
    evaluated = not {*where}.isdisjoint(EVALUATED)
    languages = _languages(where) or basis["languages"]
    reasons = [_other_languages(where, of_print, basis, legible)]
    reasons.append(_of_languages(basis["data"], languages))
    if evaluated:
        models = [name for column in MODELS for name in _several(where.get(column))]
        reasons.append("; ".join(dict.fromkeys(filter(None, map(basis["models"].get, models)))))
        reasons += [_of_languages(basis["items"], languages), basis["method"]]
    known = list(dict.fromkeys(filter(None, reasons)))
    if evaluated and not known and printed is not None:
        known += filter(None, [_other_number(cell["n"], printed["n"], basis["unit"])])
    return "; ".join(known)


def _several(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def _other_number(n: int | None, in_print: int | None, unit: str) -> str:
    """That another number of pairs or prompts was decided."""
    return f"{n:,} {unit}s, not {in_print:,}" if n and in_print and n != in_print else ""
