"""Find the checkpoints of a training run, and draw their results over the course of training.

``checkpoints_of("runs/a", "chck_*M")`` lists them, and ``draw_curves`` makes the report card's
figure. A checkpoint is a folder, or a branch of a repository on the Hugging Face hub. Its name says
how long it was trained: ``chck_20M`` after 20 million words.
"""

import math
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from blimpworks.campaign.addresses import is_local
from blimpworks.errors import UserError
from blimpworks.evaluation.card import SuiteTable
from blimpworks.exhibits.exhibit import Cell, Exhibit
from blimpworks.exhibits.formulas import UNWEIGHTED

SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9}
NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+(?![A-Z]))?)(?:([KMB])(?![A-Z]))?", re.IGNORECASE)
"""Number and unit in a name: 3000, 1.5e4, 20M. A unit before a letter is none: 20Mb is 20."""
AMBIGUOUS = re.compile(r"(?<!\d)\d{1,3}(?:[_,]\d{3})+(?![\dKMB.])", re.IGNORECASE)
"""Digits such as 1_500, which may be one number (1500) or two (1 and 500)."""


def training_of(name: str) -> float | None:
    """Return the last number in a checkpoint's name: 2e7 for "chck_20M"; None without one."""
    numbers = NUMBER.findall(name)
    if not numbers:
        return None
    digits, unit = numbers[-1]
    return float(digits) * SCALES[unit.upper()]


def checkpoints_of(model: str, pattern: str) -> list[str]:
    """Return a model's checkpoints, as MODEL/FOLDER or MODEL@BRANCH, in the order of training.

    The names of checkpoints match the shell ``pattern``, such as ``chck_*M``. Raises UserError if
    the hub has no such repository, or no name matches. It also does so if a matching name has no
    number, or if two names have the same last number.
    """
    path = Path(model).expanduser()
    # ``is_local`` is for "./model"; a directory may also be named without "./".
    if is_local(model) or path.is_dir():
        folders = path.iterdir() if path.is_dir() else ()
        names = [folder.name for folder in folders if folder.is_dir()]
        prefix = f"{model.rstrip('/')}/"
    else:
        from huggingface_hub import HfApi

        from blimpworks.models.hub import explained_errors, with_retries

        with explained_errors(model, "main"):
            references = with_retries(lambda: HfApi().list_repo_refs(model))
        names, prefix = [branch.name for branch in references.branches], f"{model}@"
    matching = sorted(name for name in names if fnmatchcase(name, pattern))
    if not matching:
        listed = ", ".join(sorted(names)[:8]) or "none"
        raise UserError(
            f"{model} has no checkpoint whose name fits {pattern!r}; it has {listed}. Correct the "
            "model, or --checkpoints."
        )
    names_by_training: dict[float, str] = {}
    for name in matching:
        training = training_of(name)
        if training is None:
            raise UserError(
                f"{model}: the name of checkpoint {name!r} has no number, which says how long it "
                "was trained (such as chck_10M); choose others by --checkpoints."
            )
        if ambiguous := AMBIGUOUS.search(name):
            raise UserError(
                f"{model}: the name of checkpoint {name!r} has {ambiguous[0]}, which may be one "
                "number or two; rename the checkpoint, or choose others by --checkpoints."
            )
        earlier = names_by_training.setdefault(training, name)
        if earlier != name:
            raise UserError(
                f"{model}: checkpoints {earlier!r} and {name!r} have the same last number in their "
                "names, so it does not say how long they were trained; choose others by "
                "--checkpoints."
            )
    return [f"{prefix}{name}" for _, name in sorted(names_by_training.items())]


def draw_curves(suite: SuiteTable, labels: Mapping[str, str]) -> Exhibit:
    """Return a figure with a panel for each task: the number over training, with 95 % intervals.

    ``labels``: {model: label, in which the checkpoint's name is}. Dashed lines are printed numbers.
    """
    from blimpworks.exhibits import style

    axis_labels = {"accuracy": "accuracy in %", "variance": "variance explained in %"}
    # The measure "acquisition" is one number of the whole run, so it has no curve. If the suite has
    # no other tasks, the number is drawn all the same, as a point.
    rows = [row for row in suite["rows"] if row["measure"] != "acquisition"] or suite["rows"]
    columns = min(3, math.ceil(len(rows) ** 0.5))
    lines = math.ceil(len(rows) / columns)
    cells: list[Cell] = []
    with style.house_style():
        width, height = 0.75 * style.COLUMN_INCHES, 0.62 * style.COLUMN_INCHES  # of a panel
        figure = style.new_figure(width * columns, height * lines)
        grid = figure.subplots(lines, columns, sharex=True, squeeze=False)
        for panel, row in zip(grid.flat, rows, strict=False):
            scale = 100 if row["measure"] in axis_labels else 1
            points = []  # (training, value, low, high)
            for model, result in row["models"].items():
                label, trained = labels[model], training_of(labels[model])
                if trained is None or result["value"] is None:
                    continue
                value, low, high = (scale * result[key] for key in ("value", "low", "high"))
                points.append((trained, value, low, high))
                text = f"{value:.1f}" if row["measure"] == "accuracy" else f"{value:.2f}"
                cells.append(Cell(row["label"], label, value, text, UNWEIGHTED, "accuracies", {}))
            if points:
                lengths, values, lows, highs = zip(*sorted(points), strict=True)
                panel.fill_between(lengths, lows, highs, color=style.PALETTE[0], alpha=0.2, lw=0)
                panel.plot(lengths, values, "o-", color=style.PALETTE[0], ms=3, lw=1.2)
            for name, printed in row["printed"].items():
                panel.axhline(printed, color=style.GREY, lw=0.8, ls="--")
                panel.annotate(
                    name, (0, printed), (2, 1), xycoords=("axes fraction", "data"),
                    textcoords="offset points", size=style.SMALL, color=style.GREY,
                )  # fmt: skip
            if not points:
                panel.text(
                    0.5, 0.5, "no numbers", transform=panel.transAxes, ha="center", va="center"
                )  # fmt: skip
            # Logarithmic, but linear below the first positive number, as a checkpoint may be at 0.
            positive = [length for length, *_ in points if length > 0]
            panel.set_xscale("symlog", linthresh=min(positive, default=1.0))
            panel.tick_params(labelbottom=True)
            panel.set_title(row["label"], loc="left")
            panel.set_ylabel(axis_labels.get(row["measure"], "correlation"))
        for panel in grid.flat[len(rows) :]:
            panel.remove()
        figure.supxlabel("Training, as in the checkpoints' names", size=8)
    caption = "Results by checkpoint with 95 % intervals; dashed: printed numbers of other models."
    return Exhibit(f"{suite['label']} by checkpoint", caption, cells, figure=figure)
