"""Compare the scores of one model by several engines, number formats or first tokens.

``measure_parity`` gets a model (a checkpoint), minimal pairs, and names of variants: engines with
settings, such as ``vllm:bfloat16``. All variants score the same sample of pairs. The scores of each
are compared with those of a reference variant: by token, by sentence, and by decision (which
sentence of a pair is more likely). The results are tables, and a page in Markdown.
"""

import hashlib
import logging
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blimpworks.analysis import scoring_variants
from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.statistics import mcnemar_p
from blimpworks.campaign.engines import choose_engine
from blimpworks.campaign.methods import Method, find_method
from blimpworks.campaign.settings.scoring import NearTies
from blimpworks.errors import UserError
from blimpworks.files import sha256_of, write_text
from blimpworks.items import SIDES
from blimpworks.judging.judge import align_scores, margins, side_of
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.models.facts import first_token_of
from blimpworks.tables import INT, ITEMS, LONG, PARITY, SCORES, read_table, write_rows, write_table

log = logging.getLogger(__name__)

EXACT_BELOW = 2**31
"""Number of pairs below which McNemar's test is exact; every sample has fewer."""
MISSING_NUMBER = "–"
NOTES = Path(__file__).with_name("parity_notes.md").read_text(encoding="utf-8")
"""Explanations at the end of the page."""
Row = Mapping[str, Any]


def sample_items(items: Sequence[Path], count: int, output: Path) -> str:
    """Write a sample of ``items`` to ``output``; return the SHA-256 of its ids and sentences.

    The sample are the ``count`` items with the lowest hashes of their ids, so that a larger sample
    contains a smaller one. Raises UserError for a missing table, and for two pairs with one id.
    """
    tables = [read_table(ITEMS, path, ITEMS.names) for path in items]
    all_rows = pa.concat_tables([t.unify_dictionaries() for t in tables]).combine_chunks()
    # The first row of each item: tables may share items.
    _ids, first_rows = np.unique(all_rows["item_id"].to_numpy(), return_index=True)
    distinct = all_rows.take(pa.array(first_rows))
    pairs: dict[str, Row] = {}
    for table, path in zip(tables, items, strict=True):
        for row in table.select(["item_id", *SIDES]).to_pylist():
            if row != pairs.setdefault(row["item_id"], row):
                raise UserError(
                    f"{path}: item {row['item_id']} is another pair in another table; compare "
                    "the benchmarks separately."
                )
    digests = [hashlib.blake2b(i.encode()).digest() for i in distinct["item_id"].to_pylist()]
    order = sorted(range(len(digests)), key=digests.__getitem__)[:count]
    chosen = distinct.take(pa.array(order, pa.int64()))
    write_table(chosen, ITEMS, output)
    lines = ("\t".join(row.values()) for row in chosen.select(["item_id", *SIDES]).to_pylist())
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


class Compared(NamedTuple):
    """A variant's scores of the sample; ``items`` and ``scores`` are tables in the same order."""

    variant: scoring_variants.Variant
    dtype: str
    first_token: str
    items: pa.Table
    scores: pa.Table
    engine: str
    """Key of the engine: name, version and settings."""
    seconds: float | None
    """Duration of scoring; None unless all sentences were scored at once."""
    start: str = ""
    """Description of the token before the first one; empty if the engine has no choice."""


def _largest_and_mean(differences: Sequence[NDArray[Any]], name: str) -> dict[str, float | None]:
    """Return {name_max, name_mean} of the absolute ``differences`` that are not NaN."""
    absolute = np.abs(np.concatenate(differences))
    absolute = absolute[~np.isnan(absolute)]
    if not len(absolute):
        return {f"{name}_max": None, f"{name}_mean": None}
    return {f"{name}_max": float(absolute.max()), f"{name}_mean": float(absolute.mean())}


def score_differences(variant: Compared, reference: Compared) -> dict[str, Any]:
    """Compare two variants' log-probabilities, in nats, by token and by sentence.

    ``unmatched`` counts tokens that only one variant scores (such as the first under ``skip``).
    """
    by_token, by_sentence = [np.empty(0)], []
    unmatched = tokens = 0
    for side in SIDES:
        tested, base = (side_of(v.items, v.scores, side) for v in (variant, reference))
        # Match tokens by position, in sentences that both variants split into equally many tokens.
        # ``row`` has the number of each token's sentence.
        same_length = np.equal(pc.list_value_length(tested.ids), pc.list_value_length(base.ids))
        in_tested, in_base = same_length[tested.row], same_length[base.row]  # [tokens]
        values, base_values = tested.value[in_tested], base.value[in_base]
        is_same_token = tested.id[in_tested] == base.id[in_base]
        by_token.append(np.where(is_same_token, values - base_values, np.nan))
        only_one_scores = np.isnan(values) != np.isnan(base_values)
        unmatched += int((~is_same_token | only_one_scores).sum())
        unmatched += int((~in_tested).sum())
        tokens += int((~np.isnan(tested.value)).sum())
        column = f"logprob_{side}"
        sums = variant.scores[column].to_numpy(zero_copy_only=False)
        by_sentence.append(sums - reference.scores[column].to_numpy(zero_copy_only=False))
    return {
        "tokens": tokens,
        "unmatched": unmatched,
        **_largest_and_mean(by_token, "token"),
        **_largest_and_mean(by_sentence, "sentence"),
    }


def decision_differences(
    method: Method, variant: Compared, reference: Compared, near: NearTies
) -> dict[str, Any]:
    """Count decisions that differ between two variants (flips), and compute accuracies.

    A tie is a wrong decision. A near tie has a margin below the threshold ``near`` for the
    variant's engine and number format. ``flips_beyond`` are flips that are near ties in neither.
    """

    def margins_of(scored: Compared) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the margins [pairs], and whether each is a near tie."""
        good, bad = (side_of(scored.items, scored.scores, side) for side in SIDES)
        # The threshold is for sums, and a margin may be a sum divided by length.
        values, divisor = margins(method, good, bad)
        return values, np.abs(values) * divisor < near.of(scored.variant.engine, scored.dtype)

    tested, is_near = margins_of(variant)
    base, is_near_in_base = margins_of(reference)
    both = ~np.isnan(tested) & ~np.isnan(base)
    n = int(both.sum())
    right, right_in_base = (tested > 0) & both, (base > 0) & both
    flipped = right != right_in_base
    flips, correct = int(flipped.sum()), int(right.sum())
    facts: dict[str, Any] = {
        "n": n,
        "skipped": len(tested) - n,
        "flips": flips,
        "flips_beyond": int((flipped & ~is_near & ~is_near_in_base).sum()),
        "ties": int(((tested == 0) & both).sum()),
        "near_ties": int((is_near & both).sum()),
        "near_tie": near.of(variant.variant.engine, variant.dtype),
        "correct": correct,
        **_largest_and_mean([np.where(both, tested - base, np.nan)], "margin"),
    }
    if n:
        only_tested = int((right & ~right_in_base).sum())
        only_base = int((right_in_base & ~right).sum())
        facts["p"] = mcnemar_p(only_tested, only_base, EXACT_BELOW)
        facts["accuracy"], facts["flip_rate"] = correct / n, flips / n
        facts["low"], facts["high"] = wilson(correct, n)
        facts["flip_low"], facts["flip_high"] = wilson(flips, n)
    return facts


def measure_parity(
    checkpoint: Path,
    items: Sequence[Path],
    output: Path,
    *,
    variants: Sequence[str],
    reference: str,
    methods: Sequence[str],
    count: int,
    settings: Mapping[str, Any],
    pythons: Mapping[str, str],
    trusted: Sequence[str] = (),
) -> dict[str, Any]:
    """Score a sample of ``items`` by several variants, and write how the scores differ.

    The directory ``output`` receives the sample, each variant's scores, and ``parity.parquet``,
    ``parity.csv`` and ``parity.md`` with a row per method and variant, the reference first. If a
    variant cannot score the model, its row states the reason. ``settings``: settings of scoring
    that all variants share. ``trusted``: digests of the model's own code that may run. Returns the
    sample's size and SHA-256, and the engine keys of the variants.

    Raises UserError for unknown variants or methods, an impossible reference, and failed scoring.
    """
    # The reference first, and no variant twice.
    names = dict.fromkeys([reference, *scoring_variants.expand_starts(variants, checkpoint)])
    chosen = [scoring_variants.parse_variant(name) for name in names]
    parsed = [find_method(name) for name in methods]

    sample = output / "sample.parquet"
    digest = sample_items(items, count, sample)
    rows, described = read_table(ITEMS, sample), read_checkpoint(checkpoint)
    compared: dict[str, Compared] = {}
    impossible: dict[str, str] = {}
    for variant in chosen:
        log.info("%s: scoring %d pairs", variant.name, len(rows))
        try:
            scored, engine_key, seconds = scoring_variants.score_variant(
                variant, sample, checkpoint, output, settings, pythons, trusted
            )
        except scoring_variants.Impossible as error:
            log.info("%s: not possible: %s", variant.name, error)
            reason = str(error).removeprefix(f"{checkpoint}: ")
            if variant.name == reference:
                raise UserError(
                    f"the reference {reference!r} is not possible: {reason}; choose another."
                ) from error
            impossible[variant.name] = reason
            continue
        # {"dtype": …, "first_token": …} with which the engine ran.
        used = choose_engine(variant.engine, described, variant.options(settings)).settings
        policy = used["first_token"]
        if policy == "likeliest":
            # The engine's key has the start that was chosen: "…|likeliest|…start <s>".
            policy = engine_key.rpartition("|likeliest|")[2].partition("start ")[2]
        folder, architecture = checkpoint.parent, described.architecture
        compared[variant.name] = Compared(
            variant,
            **used | {"first_token": policy},
            start=first_token_of(folder, architecture, str(folder), policy)[1],
            items=rows,
            scores=align_scores(rows, read_table(SCORES, scored), scored),
            engine=engine_key,
            seconds=seconds,
        )

    first, near = compared[reference], chosen[0].options(settings).near_tie
    scores = {name: score_differences(result, first) for name, result in compared.items()}
    table: list[dict[str, Any]] = []
    for method in parsed:
        for name in names:
            row = {"variant": name, "method": method.name}
            if name in impossible:
                table.append({**row, "impossible": impossible[name]})
                continue
            result = compared[name]
            row |= {"dtype": result.dtype, "first_token": result.first_token, "start": result.start}
            decisions = decision_differences(method, result, first, near)
            table.append({**row, **scores[name], **decisions})

    write_rows(table, PARITY, output / "parity.parquet")
    # Counts stay integers although impossible variants have none.
    counts = [name for name, column_type in PARITY.columns if column_type in (INT, LONG)]
    frame = pd.DataFrame(table, columns=PARITY.names).astype(dict.fromkeys(counts, "Int64"))
    write_text(output / "parity.csv", frame.to_csv(index=False, lineterminator="\n"))
    durations = {name: result.seconds for name, result in compared.items()}
    write_text(output / "parity.md", markdown_page(table, checkpoint, digest, durations))
    engines = {name: result.engine for name, result in compared.items()}
    return {"pairs": len(rows), "sample_sha256": digest, "engines": engines}


def _number(value: float | None, form: str = ".1e") -> str:
    if value is None:
        return MISSING_NUMBER
    return "0" if value == 0 else format(value, form)


def _interval(row: Row, rate: str, low: str, high: str) -> str:
    if row.get(rate) is None:
        return MISSING_NUMBER
    return f"{100 * row[rate]:.2f} % [{100 * row[low]:.2f}, {100 * row[high]:.2f}]"


def _escaped(text: str) -> str:
    return re.sub(r"([*<|])", r"\\\1", text)  # as in the token <|endoftext|>


def _markdown(rows: Sequence[Mapping[str, str]], text_columns: int) -> str:
    """Return a Markdown table; the first ``text_columns`` are aligned left, others right."""
    frame = pd.DataFrame(rows).fillna(MISSING_NUMBER).map(_escaped)
    align = ["left"] * text_columns + ["right"] * (frame.shape[1] - text_columns)
    text: str = frame.to_markdown(index=False, colalign=align, disable_numparse=True)
    return text


def markdown_page(
    table: Sequence[Row], checkpoint: Path, digest: str, seconds: Mapping[str, float | None]
) -> str:
    """Return a Markdown page with a table of scores, and a table of decisions per method.

    ``table`` has the rows of ``measure_parity``; ``seconds`` are durations of scoring, by variant.
    """
    described = read_checkpoint(checkpoint)
    pairs = table[0]["n"] + table[0]["skipped"]
    methods = {name: [*rows] for name, rows in groupby(table, key=lambda row: row["method"])}
    scores, reasons = [], []
    # Differences of scores are the same for all methods.
    for row in methods[table[0]["method"]]:
        if row.get("impossible"):
            scores.append({"variant": row["variant"], "format": "not possible"})
            reason = " ".join(row["impossible"].split()).rstrip(".")
            reasons.append(_escaped(f"- {row['variant']} is not possible: {reason}."))
            continue
        duration = seconds.get(row["variant"])
        scores.append(
            {
                "variant": row["variant"],
                "format": row["dtype"],
                "first token": row["first_token"],
                "tokens": f"{row['tokens']:,}",
                "unmatched": f"{row['unmatched']:,}",
                "token: largest": _number(row["token_max"]),
                "token: mean": _number(row["token_mean"]),
                "sentence: largest": _number(row["sentence_max"]),
                "sentence: mean": _number(row["sentence_mean"]),
                "tokens/s": f"{row['tokens'] / duration:,.0f}" if duration else MISSING_NUMBER,
            }
        )
    sections = [
        f"# Parity of {described.name} ({described.scope})",
        f"Checkpoint {sha256_of(checkpoint)[:12]}…, {pairs:,} pairs (sample {digest[:12]}…), "
        f"reference {_escaped(table[0]['variant'])}.",
        "## Scores",
        _markdown(scores, 3),
        *(["\n".join(reasons)] if reasons else []),
    ]
    for method, rows in methods.items():
        decisions = [
            {
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
            for row in rows
            if not row.get("impossible")
        ]
        sections += [f"## Decisions by {method}", _markdown(decisions, 1)]
    return "\n\n".join([*sections, NOTES])
