"""The parity report as files for people: CSV and a Markdown page."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.files import sha256_of, write_text
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.tables import INT, LONG, PARITY

ABSENT = "–"
NOTES = """\
Differences are absolute, in nats. A flip is a pair that one of the two gets right and the other
wrong; p is that of McNemar's exact test; brackets hold Wilson's 95 % interval. Near ties have a
margin below what rounding can move by the variant's engine and in its number format; flips beyond
them are none in either variant. Tokens that only one of the two scores (such as the first under
skip) count as unmatched: they are left out of the tokens' differences, not of the sentences'.
Tokens per second are those of a job that scores all of them, loading included."""
Row = Mapping[str, Any]


def _number(value: float | None, form: str = ".1e") -> str:
    return ABSENT if value is None else "0" if value == 0 else format(value, form)


def _interval(row: Row, rate: str, low: str, high: str) -> str:
    if row.get(rate) is None:
        return ABSENT
    return f"{100 * row[rate]:.2f} % [{100 * row[low]:.2f}, {100 * row[high]:.2f}]"


def _scores(row: Row, seconds: float | None) -> dict[str, str]:
    """One line of the table of scores."""
    if row.get("impossible"):
        return {"variant": row["variant"], "format": "not possible"}
    return {
        "variant": row["variant"],
        "format": row["dtype"],
        "first token": row["first_token"],
        "tokens": f"{row['tokens']:,}",
        "unmatched": f"{row['unmatched']:,}",
        "token: largest": _number(row["token_max"]),
        "token: mean": _number(row["token_mean"]),
        "sentence: largest": _number(row["sentence_max"]),
        "sentence: mean": _number(row["sentence_mean"]),
        "tokens/s": ABSENT if not seconds else f"{row['tokens'] / seconds:,.0f}",
    }


def _impossible(row: Row) -> str:
    """The reason why a variant has no numbers, as one line of Markdown."""
    reason = re.sub(r"([*<])", r"\\\1", " ".join(row["impossible"].split()).rstrip("."))
    return f"{row['variant']} is not possible: {reason}."


def _decisions(row: Row) -> dict[str, str]:
    return {
        "variant": row["variant"],
        "margin: largest": _number(row["margin_max"]),
        "margin: mean": _number(row["margin_mean"]),
        "flips": str(row["flips"]),
        "flip rate": _interval(row, "flip_rate", "flip_low", "flip_high"),
        "beyond near ties": str(row["flips_beyond"]),
        "p": _number(row.get("p"), ".3g"),
        "ties": str(row["ties"]),
        "near ties": str(row["near_ties"]),
        "accuracy": _interval(row, "accuracy", "low", "high"),
        "skipped": str(row["skipped"]),
    }


def _markdown(lines: Sequence[Mapping[str, str]], left: int) -> str:
    """A Markdown table whose first ``left`` columns are texts."""
    frame = pd.DataFrame(list(lines)).fillna(ABSENT)
    align = ["left"] * left + ["right"] * (frame.shape[1] - left)
    text: str = frame.to_markdown(index=False, colalign=align, disable_numparse=True)
    return text


def markdown_page(
    table: Sequence[Row], *, checkpoint: Path, digest: str, seconds: Mapping[str, float | None]
) -> str:
    """The report as a Markdown page: a table of scores, and one of decisions per method."""
    described = read_checkpoint(checkpoint)
    pairs = table[0]["n"] + table[0]["skipped"]
    methods = {k: list(rows) for k, rows in groupby(table, key=lambda row: row["method"])}
    once = next(iter(methods.values()))
    parts = [
        f"# Parity of {described.name} ({described.scope})",
        f"Checkpoint {sha256_of(checkpoint)[:12]}…, {pairs:,} pairs (sample {digest[:12]}…), "
        f"reference {table[0]['variant']}.",
        "## Scores",
        _markdown([_scores(row, seconds.get(row["variant"])) for row in once], 3),
    ]
    reasons = [f"- {_impossible(row)}" for row in once if row.get("impossible")]
    parts += ["\n".join(reasons)] if reasons else []
    for method, rows in methods.items():
        scored = [_decisions(row) for row in rows if not row.get("impossible")]
        parts += [f"## Decisions by {method}", _markdown(scored, 1)]
    return "\n\n".join([*parts, NOTES]) + "\n"


def write_report(
    table: Sequence[Row],
    output: Path,
    *,
    checkpoint: Path,
    digest: str,
    seconds: Mapping[str, float | None],
) -> None:
    """Write ``parity.csv`` at full precision and ``parity.md`` into directory ``output``."""
    frame = pd.DataFrame(list(table), columns=PARITY.names)
    # Counts stay whole beside a variant that has none.
    counts = [name for name, kind in PARITY.columns if kind in (INT, LONG)]
    frame = frame.astype(dict.fromkeys(counts, "Int64"))
    write_text(output / "parity.csv", frame.to_csv(index=False, lineterminator="\n"))
    page = markdown_page(table, checkpoint=checkpoint, digest=digest, seconds=seconds)
    write_text(output / "parity.md", page)
