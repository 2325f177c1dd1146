"""The models of an evaluation among those that the benchmark's paper prints accuracies of."""

import math
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)
class Compared:
    """Accuracies of one language, printed ones and ours, of the same phenomena or paradigms."""

    cells: list[Cell]
    printed: pd.DataFrame
    """One row for each model that print has all cells of: accuracy, low, high, n, skipped."""
    own: pd.DataFrame
    incomplete: list[str]
    """Models that lack some of the cells."""


def _means(rows: pd.DataFrame, count: int) -> tuple[pd.DataFrame, list[str]]:
    """The mean of each model that has ``count`` rows; models that have fewer.

    Without an interval where a row has none, and without n where a row has none.
    """
    means, incomplete = {}, []
    for model, own in rows.groupby("model", sort=False):
        if len(own) < count:
            incomplete.append(str(model))
        elif len(own) > 1 and own[["low", "n"]].notna().all(axis=None):
            means[str(model)] = {**mean_of(own.assign(ties=0, near_ties=0))}
        else:
            means[str(model)] = {
                "accuracy": own["accuracy"].mean(),
                "low": own["low"].iloc[0] if len(own) == 1 else None,
                "high": own["high"].iloc[0] if len(own) == 1 else None,
                "n": own["n"].sum(min_count=len(own)),
                "skipped": own["skipped"].sum(),
            }
    columns = ["accuracy", "low", "high", "n", "skipped"]
    frame = pd.DataFrame.from_dict(means, orient="index", columns=columns)
    return frame.rename_axis("model"), incomplete


def compare_print(printed: pd.DataFrame, own: pd.DataFrame) -> Compared | None:
    """Printed accuracies and ours of one language; None where they have nothing in common.

    They are compared at the coarsest level of print: of the whole, or else of all phenomena, or
    else of all paradigms. So no item counts twice.
    """
    in_print, ours = (
        set(zip(rows["phenomenon"], rows["paradigm"], strict=True)) for rows in (printed, own)
    )
    shared = in_print & ours
    levels = (
        {cell for cell in shared if cell == (ALL, ALL)},
        {cell for cell in shared if cell[1] == ALL and cell[0] != ALL},
        {cell for cell in shared if cell[1] != ALL},
    )
    cells = sorted(next(filter(None, levels), ()))
    if not cells:
        return None
    means: list[pd.DataFrame] = []
    incomplete: list[str] = []
    for rows in (printed, own):
        kept = rows.set_index(PLACE)
        kept = kept[kept.index.isin(cells)]
        mean, lacking = _means(kept, len(cells))
        means.append(mean)
        incomplete += lacking
    return Compared(cells, means[0], means[1], incomplete)


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


def _notes(lang: str, each: Compared, benchmark: BenchmarkFacts, facts: Facts) -> list[str]:
    """In which ways the printed numbers are not of the same items as ours."""
    unit = f"{benchmark['noun']}s"
    notes = []
    if not benchmark["own_items"]:
        notes.append("Print is over the paper's own items; ours are other items of its kind.")
    same = {*each.printed["n"].dropna()} == {*each.own["n"]}
    sampled = any(
        count_rows(Path(path)) > count_rows(Path(benchmark["items"][code]))
        for code, path in benchmark["whole"].items()
        if lang in (code, MEAN)
    )
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


def _over_languages(languages: Sequence[Compared]) -> Compared:
    """The means over languages of models that have them all."""
    means: list[pd.DataFrame] = []
    fewer: list[str] = []
    for frames in ([each.printed for each in languages], [each.own for each in languages]):
        rows = pd.concat(frames)
        # An accuracy without an interval is not of a number of items that adds up.
        mean, lacking = _means(rows.assign(n=rows["n"].where(rows["low"].notna())), len(frames))
        means.append(mean)
        fewer += lacking
    complete = {name for mean in means for name in mean.index}
    incomplete = [name for name in dict.fromkeys(fewer) if name not in complete]
    return Compared([(ALL, ALL)], means[0], means[1], incomplete)


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
    whole = _over_languages([*compared.values()])
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
