"""Exhibits of MultiBLiMP 1.0 (Jumelet, Weissweiler, Nivre and Bisazza 2025)."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import ACCURACY, COUNT, ENOUGH_PAIRS, LANGUAGES, TOTAL
from blimpworks.exhibits.style import (
    BLUE,
    COLUMN_INCHES,
    ORANGE,
    PAGE_INCHES,
    house_style,
    new_figure,
)
from blimpworks.tables import ACCURACIES, FUNNEL, ITEMS, read_table

CERTAIN = ("+", "~")
CONSTRUCTIONS = {"sv": "S-Verb", "sp": "S-Participle"}
FEATURES = {"#": ("NUMBER", ("SG", "PL", "DU"))}
ORDERS = {"SV": ("SV",), "VS": ("VS",), "BOTH": ("SV", "VS")}
Tables = Mapping[str, Sequence[Path]]


def _items(paths: Sequence[Path], columns: Sequence[str]) -> pd.DataFrame:
    frames: list[pd.DataFrame] = [
        read_table(ITEMS, path, columns).to_pandas().astype(str) for path in paths
    ]
    return pd.concat(frames, ignore_index=True)


def _condition_cells(
    pairs: pd.DataFrame, row: str, column: str, where: Mapping[str, object]
) -> list[Cell]:
    """Languages with enough pairs, and those with enough pairs of certain agreement."""
    certain = pairs[pairs["label"].isin(CERTAIN)]
    sizes = [
        int((frame["lang"].value_counts() >= ENOUGH_PAIRS).sum()) for frame in (pairs, certain)
    ]
    text = f"{sizes[0]} ({sizes[1]})"
    sure = {**where, "label": list(CERTAIN)}
    return [
        Cell(row, column, sizes[0], text, LANGUAGES, "items", where, n=len(pairs)),
        Cell(
            row,
            f"{column} certain",
            sizes[1],
            str(sizes[1]),
            LANGUAGES,
            "items",
            sure,
            n=len(certain),
            printed=False,
        ),
    ]


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: languages with at least ten pairs per condition, certain ones apart."""
    pairs = _items(tables["items"], ["lang", "phenomenon", "grammatical", "order", "label"])
    cells: list[Cell] = []
    for (kind, construction), (sign, (feature, values)) in product(
        CONSTRUCTIONS.items(), FEATURES.items()
    ):
        phenomenon = f"{kind}{sign}"
        chosen = pairs[pairs["phenomenon"] == phenomenon]
        if chosen.empty:
            continue
        row = f"{feature} {construction}"
        present = {*chosen["grammatical"], "Total"}
        for value, order in product((*values, "Total"), ORDERS):
            if (order == "BOTH" and value != "Total") or value not in present:
                continue
            where: dict[str, object] = {"phenomenon": phenomenon, "order": list(ORDERS[order])}
            inside = chosen[chosen["order"].isin(ORDERS[order])]
            if value != "Total":
                where["grammatical"] = value
                inside = inside[inside["grammatical"] == value]
            cells += _condition_cells(inside, row, f"{value} {order}", where)
    return Exhibit(
        "Languages with at least ten pairs per agreement condition",
        f"Number of the campaign's {len(labels.languages)} languages with at least "
        f"{ENOUGH_PAIRS} items, by value on the subject and word order (SV: subject before "
        "verb); in brackets, those with as many items whose agreement is certain.",
        cells,
        row_title="Agreement",
    )


def _accuracy_cell(row: pd.Series, labels: Labels, pairs: int) -> Cell:
    """Accuracy in percent; starred when the model has not judged all of the ``pairs``."""
    percent = 100 * row["accuracy"]
    return Cell(
        labels.languages[row["lang"]],
        labels.models[row["model"]],
        percent,
        f"{percent:.1f}" + ("*" if row["n"] < pairs else ""),
        ACCURACY,
        "judgements",
        {
            "benchmark": "multiblimp",
            "lang": row["lang"],
            "model": row["model"],
            "method": labels.method,
        },
        n=int(row["n"]),
        low=100 * row["low"],
        high=100 * row["high"],
    )


def _best(cells: Sequence[Cell]) -> set[tuple[str, str]]:
    """The best cell of each row, as printed; all of them when they tie."""
    top: dict[str, float] = {}
    for cell in cells:
        top[cell.row] = max(top.get(cell.row, 0.0), round(cell.value, 1))
    return {(cell.row, cell.column) for cell in cells if round(cell.value, 1) == top[cell.row]}


def table5(tables: Tables, labels: Labels) -> Exhibit:
    """Table 5: accuracy of each model on each language, over all its pairs."""
    found = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    overall = found[(found["phenomenon"] == "all") & (found["paradigm"] == "all")]
    overall = overall[overall["lang"].isin(labels.languages) & overall["model"].isin(labels.models)]
    overall = overall[overall["method"] == labels.method]
    if overall.empty:
        raise UserError(
            f"{tables['accuracies'][0]} has no accuracies by method {labels.method!r} of the "
            "campaign's models and languages; judge with that method and summarise again."
        )
    ranks = {name: rank for rank, name in enumerate((*labels.languages, *labels.models))}
    overall = overall.sort_values(
        ["lang", "model"], key=lambda column: column.astype(str).map(ranks)
    )
    sizes = overall.astype({"lang": str}).groupby("lang", sort=False)["n"].max()
    cells = [_accuracy_cell(row, labels, sizes[row["lang"]]) for _, row in overall.iterrows()]
    starred = "; * some pairs are longer than the model's context and are left out"
    starred = starred if any(cell.text.endswith("*") for cell in cells) else ""
    return Exhibit(
        "Accuracy per language and model",
        "Percentage of minimal pairs whose grammatical sentence is the more probable; n: "
        f"pairs; best of each row in bold{starred}. The cells file has 95 % Wilson intervals.",
        cells,
        row_title="Language",
        stub={labels.languages[lang]: {"ISO": lang, "n": str(n)} for lang, n in sizes.items()},
        bold=_best(cells),
    )


def _count_cells(pairs: pd.DataFrame, labels: Labels) -> list[Cell]:
    cells: list[Cell] = []
    for lang, name in labels.languages.items():
        inside = pairs[pairs["lang"] == lang]
        for kind, marks in (("certain", CERTAIN), ("uncertain", ("?",))):
            n = int(inside["label"].isin(marks).sum())
            where = {"lang": lang, "label": list(marks)}
            cells.append(Cell(name, kind, n, str(n), COUNT, "items", where, n=n))
    return cells


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 3: minimal pairs per language on a log scale, certain and uncertain."""
    cells = _count_cells(_items(tables["items"], ["lang", "label"]), labels)
    counts = pd.DataFrame(
        [(cell.row, cell.column, cell.value) for cell in cells], columns=["row", "column", "n"]
    ).pivot(index="row", columns="column", values="n")
    counts = counts.assign(total=counts.sum(axis=1))
    counts = counts[counts["total"] > 0].sort_values(["total", "certain"], ascending=False)
    with house_style():
        width = min(PAGE_INCHES, max(COLUMN_INCHES, 0.16 * len(counts) + 1))
        figure = new_figure(width, 2.4)
        axes = figure.subplots()
        positions = range(len(counts))
        for shift, kind, colour in ((-0.2, "certain", BLUE), (0.2, "uncertain", ORANGE)):
            axes.bar([p + shift for p in positions], counts[kind], 0.4, color=colour, label=kind)
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.8)
        axes.set_ylabel("minimal pairs (log scale)")
        axes.set_xticks(list(positions), counts.index)
        if len(counts) > 4:
            for name in axes.get_xticklabels():
                name.set(rotation=45, ha="right", rotation_mode="anchor")
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.7, len(counts) - 0.3)
        axes.grid(axis="x", visible=False)
        axes.legend(title="agreement", ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    return Exhibit(
        "Minimal pairs per language",
        "Pairs per language after sampling, by whether the binomial tests are certain that "
        "the language agrees in the pair's condition; languages without pairs are left out.",
        cells,
        row_title="Language",
        figure=figure,
    )


def funnel(tables: Tables, labels: Labels) -> Exhibit:
    """What each stage of generation kept and dropped; not an exhibit of the paper."""
    frames = [read_table(FUNNEL, path).to_pandas() for path in tables["funnel"]]
    counts = pd.concat(
        [frame.astype({"reason": str, "stage": str, "lang": str}) for frame in frames]
    )
    cells = [
        Cell(
            f"{row['stage']}: {row['reason']}",
            labels.languages[row["lang"]],
            row["n"],
            str(row["n"]),
            TOTAL,
            "funnel",
            {"lang": row["lang"], "stage": row["stage"], "reason": row["reason"]},
            n=int(row["n"]),
        )
        for _, row in counts.iterrows()
    ]
    return Exhibit(
        "Pair generation, stage by stage",
        "Counts after each stage; rows with a dash count what a filter dropped.",
        cells,
        row_title="Stage",
    )
