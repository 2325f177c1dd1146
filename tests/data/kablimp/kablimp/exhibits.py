"""Table 1 and Figure 1 of KabLiMP."""

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.tables import ACCURACIES
from kablimp.formulas import mean_percent

PARADIGMS = {"singular": "Singular", "plural": "Plural", "mean": "Mean"}


def _cells(tables: Tables, labels: Labels) -> list[Cell]:
    rows = read_plain(ACCURACIES, tables["accuracies"][0])
    rows = rows[(rows["phenomenon"] == "agreement") & (rows["paradigm"] != ALL)]
    cells = []
    for model in dict.fromkeys(rows["model"]):
        for paradigm, name in PARADIGMS.items():
            where = {"model": model, "phenomenon": "agreement", "method": labels.method}
            where["paradigm"] = [*PARADIGMS][:-1] if paradigm == "mean" else paradigm
            formula = mean_percent
            value = formula.select(rows, where)
            cells.append(
                Cell(
                    labels.models.get(model, model),
                    name,
                    value,
                    f"{value:.1f}",
                    formula.sentence,
                    "accuracies",
                    where,
                    stands_for=(paradigm, model),
                )
            )
    return cells
