"""The models of an evaluation among those that the benchmark's paper prints accuracies of."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.evaluation.card import MEAN, Gap, Ranked, Ranking, SizeClass
from blimpworks.evaluation.facts import BenchmarkFacts, Facts, PrintedModel
from blimpworks.evaluation.measured import mean_of, names_of, phenomenon_label, read_accuracies
from blimpworks.evaluation.show import size as size_text
from blimpworks.parquet import count_rows
from blimpworks.tables import ACCURACIES

FACTOR = 3
"""Models of a size: those with at least a third and at most three times as many parameters."""
MOST_GAPS = 5
Cell = tuple[str, str]
"""Phenomenon and paradigm."""
PLACE = ["phenomenon", "paradigm"]
NAMELESS: PrintedModel = {"label": "", "parameters": None}


def printed_accuracies(benchmark: BenchmarkFacts) -> pd.DataFrame:
    """The accuracies that the benchmark's paper prints; no rows where it prints none.

    Raises UserError when the table is missing or broken.
    """
    path = benchmark["printed"]
    return read_accuracies(Path(path)) if path else pd.DataFrame(columns=ACCURACIES.names)


def _places(rows: pd.DataFrame) -> set[Cell]:
    return set(zip(rows["phenomenon"], rows["paradigm"], strict=True))


def shared_cells(printed: pd.DataFrame, own: pd.DataFrame) -> list[Cell]:
    """What both tables, of one language, have accuracies of, at the coarsest level of print.

    That is the whole, or else all phenomena, or else all paradigms: no item counts twice.
    """
    places, ours = _places(printed), _places(own)
    phenomena = {place for place in places if place[1] == ALL and place[0] != ALL}
    for level in ({(ALL, ALL)} & places, phenomena):
        if level & ours:
            return sorted(level & ours)
    return sorted(place for place in places & ours if place[1] != ALL)


@dataclass(frozen=True)
class Compared:
    """Accuracies of one language, printed ones and ours, of the same phenomena or paradigms."""

    cells: list[Cell]
    printed: pd.DataFrame
    """One row for each model that print has all cells of: accuracy, low, high, n, skipped."""
    own: pd.DataFrame
    incomplete: list[str]
    """Models that lack some of the cells."""


def _over_cells(rows: pd.DataFrame, cells: Collection[Cell]) -> tuple[pd.DataFrame, list[str]]:
    """The mean over some cells of each model that has them all; models that lack some."""
    kept = rows.set_index(PLACE)
    kept = kept[kept.index.isin([*cells])]
    means, incomplete = {}, []
    for model, each in kept.groupby("model", sort=False):
        if len(each) < len(cells):
            incomplete.append(str(model))
            continue
        exact = each["low"].notna().all() and each["n"].notna().all()
        means[str(model)] = (
            mean_of(each)
            if exact and len(each) > 1
            else {
                "accuracy": each["accuracy"].mean(),
                "low": each["low"].mean(skipna=False) if len(each) == 1 else None,
                "high": each["high"].mean(skipna=False) if len(each) == 1 else None,
                "n": each["n"].sum(min_count=len(each)),
                "skipped": each["skipped"].sum(),
            }
        )
    columns = ["accuracy", "low", "high", "n", "skipped"]
    return pd.DataFrame.from_dict(means, orient="index", columns=columns), incomplete


def compare_print(printed: pd.DataFrame, own: pd.DataFrame) -> Compared | None:
    """Printed accuracies and ours of one language; None where they have nothing in common."""
    cells = shared_cells(printed, own)
    if not cells:
        return None
    of_print, incomplete = _over_cells(printed, cells)
    ours, lacking = _over_cells(own, cells)
    return Compared(cells, of_print, ours, [*incomplete, *lacking])


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _ranked(rows: pd.DataFrame, facts: Facts, *, ours: bool) -> list[Ranked]:
    """Models of a table, not yet ranked."""
    places: list[Ranked] = []
    for model, row in rows.iterrows():
        name = str(model)
        known = facts["models"] if ours else facts["printed"]
        each = known.get(name, NAMELESS)
        n = _number(row["n"])
        places.append(
            {
                "rank": 0,
                "model": name,
                "label": each["label"] or name.replace("_", " "),
                "ours": ours,
                "accuracy": float(row["accuracy"]),
                "low": _number(row["low"]),
                "high": _number(row["high"]),
                "n": None if n is None else round(n),
                "parameters": each["parameters"],
            }
        )
    return places


def rank(places: Sequence[Ranked]) -> list[Ranked]:
    """Models ranked by accuracy, to a tenth of a percent as most papers print them.

    Equal ones share the better rank; of these ours come last.
    """
    shown = [round(place["accuracy"], 3) for place in places]
    ranks = [1 + sum(other > value for other in shown) for value in shown]
    ranked: list[Ranked] = [
        {**place, "rank": number} for place, number in zip(places, ranks, strict=True)
    ]
    return sorted(ranked, key=lambda place: (place["rank"], place["ours"], place["label"]))


def _numbers(frame: pd.DataFrame) -> str:
    """How many items accuracies are over: ``1,000`` or ``900 to 1,000``; empty if not known."""
    counts = sorted({int(n) for n in frame["n"].dropna()})
    if not counts:
        return ""
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _is_sample(benchmark: BenchmarkFacts, lang: str) -> bool:
    """Whether models were run on some of the items of a language alone, or of any of all."""
    return any(
        count_rows(Path(whole)) > count_rows(Path(benchmark["items"][code]))
        for code, whole in benchmark["whole"].items()
        if lang in (code, MEAN)
    )


def _notes(lang: str, each: Compared, benchmark: BenchmarkFacts, facts: Facts) -> list[str]:
    """In which ways the printed numbers are not of the same items as ours."""
    unit = f"{benchmark['noun']}s"
    notes = []
    if not benchmark["own_items"]:
        notes.append("Print is over the paper's own items; ours are other items of its kind.")
    same = {*each.printed["n"].dropna()} == {*each.own["n"]}
    sampled = _is_sample(benchmark, lang)
    sample = f", a sample (limit: {facts['limit']:,} a language)" if sampled else ""
    if same and not sample:
        notes.append(f"Print and ours are over the same number of {unit}: {_numbers(each.own)}.")
    else:
        end = "" if sample else "; they are not the same items"
        ours = f"{_numbers(each.own)}{sample}{end}"
        count = _numbers(each.printed)
        print_is = f"Print is over {count} {unit}" if count else f"Print does not number its {unit}"
        notes.append(f"{print_is}, ours are over {ours}.")
    lost = each.own["skipped"][each.own["skipped"] > 0]
    if len(lost):
        counts = (f"{facts['models'][str(m)]['label']} {n:,.0f}" for m, n in lost.items())
        notes.append(f"Not in our n, because they were skipped: {', '.join(counts)}.")
    if benchmark["data"]:
        notes.append(f"Our items: {benchmark['data'].rstrip('.')}.")
    if len(each.cells) > 1:
        kind = "phenomena" if each.cells[0][1] == ALL else "paradigms"
        notes.append(f"Means over the {len(each.cells)} {kind} that print and we have.")
    if each.incomplete:
        every = {**facts["printed"], **facts["models"]}
        names = (every.get(name, NAMELESS)["label"] or name for name in each.incomplete)
        notes.append(f"Left out, because some of the numbers are missing: {', '.join(names)}.")
    return notes


def _ranking(
    lang: str, each: Compared, benchmark: BenchmarkFacts, facts: Facts, more: Sequence[str] = ()
) -> Ranking:
    places = [
        *_ranked(each.printed, facts, ours=False),
        *_ranked(each.own, facts, ours=True),
    ]
    notes = [*more, *_notes(lang, each, benchmark, facts)]
    return {"lang": lang, "places": rank(places), "notes": notes}


def _over_languages(each: Mapping[str, Compared]) -> Compared:
    """The means over languages of models that have them all."""

    def mean(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Means of the models that are in each frame, row by row."""
        every = pd.concat(frames)
        counts = every.groupby(level=0, sort=False).size()
        complete = [str(name) for name in counts.index[counts == len(frames)]]
        rows = {name: every.loc[[name]] for name in complete}
        means = {
            name: mean_of(own.assign(ties=0, near_ties=0))
            if own[["low", "n"]].notna().all(axis=None)
            else {"accuracy": own["accuracy"].mean(), "low": None, "high": None, "n": None}
            | {"skipped": own["skipped"].sum()}
            for name, own in rows.items()
        }
        columns = ["accuracy", "low", "high", "n", "skipped"]
        return pd.DataFrame.from_dict(means, orient="index", columns=columns)

    printed, own = ([getattr(c, side) for c in each.values()] for side in ("printed", "own"))
    known = dict.fromkeys(str(name) for frame in (*printed, *own) for name in frame.index)
    means, ours = mean(printed), mean(own)
    kept = {*means.index, *ours.index}
    return Compared([(ALL, ALL)], means, ours, [name for name in known if name not in kept])


def rankings(
    benchmark: BenchmarkFacts, facts: Facts, accuracies: pd.DataFrame, printed: pd.DataFrame
) -> list[Ranking]:
    """Our models among the printed ones, in the mean of languages and in each of them.

    ``accuracies`` are ours by the main methods, down to paradigms.
    """
    compared = {}
    for lang in benchmark["items"]:
        pair = (frame[frame["lang"] == lang] for frame in (printed, accuracies))
        each = compare_print(*pair)
        if each is not None and len(each.printed) and len(each.own):
            compared[lang] = each
    ranked = [_ranking(lang, each, benchmark, facts) for lang, each in compared.items()]
    if len(compared) < 2:
        return ranked
    whole = _over_languages(compared)
    if not len(whole.printed) or not len(whole.own):
        return ranked
    of = f"Means over the {len(compared)} languages that print and we have."
    return [_ranking(MEAN, whole, benchmark, facts, [of]), *ranked]


# Where a model is behind others of its size


def _gaps(
    own: pd.DataFrame, printed: pd.DataFrame, names: Mapping[str, str], languages: Mapping[str, str]
) -> list[Gap]:
    """Differences to the mean of printed models, by phenomenon, or else by language."""
    by = ["lang", *PLACE]
    peers = printed.groupby(by)["accuracy"].mean()
    ours = own.set_index(by)["accuracy"]
    both = pd.DataFrame({"accuracy": ours, "printed": peers}).dropna().reset_index()
    # Print has paradigms, phenomena or wholes; of a phenomenon its own number comes first.
    parts = both[both["phenomenon"] != ALL]
    whole = parts["paradigm"] == ALL
    named = {*zip(parts.loc[whole, "lang"], parts.loc[whole, "phenomenon"], strict=True)}
    covered = [pair in named for pair in zip(parts["lang"], parts["phenomenon"], strict=True)]
    parts = parts[whole | ~pd.Series(covered, index=parts.index, dtype=bool)]
    column, rows = ("phenomenon", parts) if len(parts) else ("lang", both)
    means = rows.groupby(column)[["accuracy", "printed"]].mean()
    labels = names if column == "phenomenon" else languages
    return [
        {
            "label": phenomenon_label(str(key), labels),
            "accuracy": float(row["accuracy"]),
            "printed": float(row["printed"]),
            "difference": float(row["accuracy"] - row["printed"]),
        }
        for key, row in means.iterrows()
    ]


def size_class(
    model: str, facts: Facts, own: pd.DataFrame, printed: pd.DataFrame, names: Mapping[str, str]
) -> SizeClass:
    """The printed models of a model's size, and the at most five places where it is most behind.

    ``own`` are the model's accuracies by its main method, down to paradigms. A place is a
    phenomenon, or a language where print has no phenomena; of several languages (or of paradigms)
    it is the mean of those that both have.
    """
    size = facts["models"][model]["parameters"]
    if size is None:
        return {"models": [], "gaps": [], "note": "How many parameters it has is not known."}
    known = {name: facts["printed"].get(name, NAMELESS) for name in dict.fromkeys(printed["model"])}
    peers = [
        name
        for name, each in known.items()
        if each["parameters"]
        and size / FACTOR <= each["parameters"] <= size * FACTOR
        and name != model
    ]
    if not peers:
        note = (
            f"Print has no other model of its size ({size_text(size)} parameters, within a factor "
            f"of {FACTOR})."
        )
        return {"models": [], "gaps": [], "note": note}
    gaps = _gaps(own, printed[printed["model"].isin(peers)], names, facts["languages"])
    behind = sorted((gap for gap in gaps if gap["difference"] < 0), key=lambda g: g["difference"])
    note = "" if behind else "It is behind them nowhere." if gaps else "They share no phenomenon."
    labels = [known[name]["label"] or name for name in peers]
    return {"models": labels, "gaps": behind[:MOST_GAPS], "note": note}


def size_classes(
    benchmark: BenchmarkFacts, facts: Facts, accuracies: pd.DataFrame, printed: pd.DataFrame
) -> dict[str, SizeClass]:
    """``size_class`` of each model; empty where the paper prints no accuracies."""
    if printed.empty:
        return {}
    names = names_of(benchmark)
    return {
        model: size_class(model, facts, accuracies[accuracies["model"] == model], printed, names)
        for model in benchmark["languages"]
    }
