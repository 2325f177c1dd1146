"""The report card in a terminal, 80 columns wide and readable without colours."""

from collections.abc import Iterator, Sequence
from textwrap import fill

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blimpworks.evaluation import show
from blimpworks.evaluation.card import (
    ALL,
    MEAN,
    Accuracy,
    Benchmark,
    Card,
    Ranked,
    Ranking,
    Row,
)
from blimpworks.evaluation.console import INDENT, WIDTH, plain_table, print_heading, say, shorten
from blimpworks.evaluation.terminal_items import print_worst, print_wrong

MOST_LANGUAGES = 12
"""Languages that are listed; of more these with the lowest accuracies."""
NEIGHBOURS = 2
"""Printed models that are shown above and below ours."""
WITH_TIES, WITHOUT_TIES = 2, 3
"""Models side by side, with a column of ties and without."""


# Accuracies


def _parts(accuracy: Accuracy) -> list[str]:
    bounds = show.interval(accuracy["low"], accuracy["high"])
    return [show.percent(accuracy["accuracy"]), bounds, show.ties(accuracy)]


def _columns_of(accuracies: Sequence[Accuracy | None], heading: str, *, ties: bool) -> list[str]:
    """Heading and cells of a model's column: accuracy, interval and ties under one another."""
    absent = ["–", "", ""]
    rows = [absent if each is None else _parts(each) for each in accuracies]
    parts = [row[: 3 if ties else 2] for row in (["acc", "95 %", "ties"], *rows)]
    widths = [max(map(len, column)) for column in zip(*parts, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)) for row in parts]
    label = shorten(heading, len(lines[0])).rjust(len(lines[0]))
    return [f"{label}\n{lines[0]}", *lines[1:]]


def _accuracy_table(
    card: Card, rows: Sequence[tuple[str, Row]], models: Sequence[str], *, ties: bool, head: str
) -> Table:
    """Accuracies of some models side by side, with rows by their labels."""
    each = [[row["models"].get(model) for model in models] for _, row in rows]
    counts = [["\nn", *(show.counts(row, models) for _, row in rows)]]
    if any(row["skipped"] for _, row in rows):
        counts.append(["\nskipped", *(show.skips(row, models) for _, row in rows)])
    columns = [
        _columns_of([own[i] for own in each], _label(card, model), ties=ties)
        for i, model in enumerate(models)
    ]
    columns = [*counts, *columns]
    widths = (max(len(line) for cell in each for line in cell.split("\n")) for each in columns)
    room = WIDTH - sum(2 + width for width in widths)
    labels = [f"\n{head}", *(fill(label, room, subsequent_indent=" ") for label, _ in rows)]
    table = plain_table(*(column[0] for column in (labels, *columns)))
    for cells in list(zip(labels, *columns, strict=True))[1:]:
        table.add_row(*cells)
    return table


def _total_rows(card: Card, benchmark: Benchmark) -> tuple[list[tuple[str, Row]], int]:
    """Rows of all languages and of each, or of the lowest ones; and how many are left out."""
    rows = show.totals(benchmark)
    whole = [row for row in rows if row["lang"] in (ALL, MEAN)]
    single = [row for row in rows if row["lang"] not in (ALL, MEAN)]
    if len(single) > MOST_LANGUAGES:
        single = sorted(single, key=_lowest)[:MOST_LANGUAGES]
    labels = [(show.language(row["lang"], card["languages"]), row) for row in (*whole, *single)]
    return labels, len(rows) - len(whole) - len(single)


def _lowest(row: Row) -> float:
    return min((each["accuracy"] for each in row["models"].values()), default=1.0)


def _print_accuracies(console: Console, card: Card, benchmark: Benchmark) -> None:
    models = [*benchmark["methods"]]
    ties = len(models) <= WITH_TIES
    rows, left_out = _total_rows(card, benchmark)
    skipped = show.skipped_lines(benchmark, card)
    if not any(row["models"] for _, row in rows):
        for line in skipped or ["No item was judged."]:
            say(console, line)
        return
    details = [(row["label"], row) for row in show.phenomena(benchmark, rows[0][1]["lang"])]
    for names in show.chunks(models, WITH_TIES if ties or skipped else WITHOUT_TIES):
        print_heading(console, "Accuracy in %, with 95 % intervals")
        console.print(_accuracy_table(card, rows, names, ties=ties, head="language"))
        if details:
            console.print()
            console.print(_accuracy_table(card, details, names, ties=ties, head="phenomenon"))
    for line in skipped:
        say(console, line)
    for line in show.written_lines(benchmark, card):
        say(console, line)
    for line in _accuracy_notes(card, benchmark, left_out, ties=ties):
        say(console, line, style="dim")


def _accuracy_notes(
    card: Card, benchmark: Benchmark, left_out: int, *, ties: bool
) -> Iterator[str]:
    if warning := show.unlike_languages(benchmark):
        yield warning
    if left_out:
        yield f"{left_out} more languages, with higher accuracies, are on the page."
    if ties:
        yield "ties: equal log-probabilities / near ties, which rounding could turn."
    else:
        row = show.totals(benchmark)[0]
        each = (f"{_label(card, m)} {show.ties(a)}" for m, a in row["models"].items())
        yield f"Ties / near ties: {', '.join(each)}."
    if unknown := show.unknown_words(benchmark, card["models"]):
        yield unknown
    if line := show.baseline_line(benchmark):
        yield line
    if benchmark["chance"] is not None:
        yield f"Guessing gets {show.percent(benchmark['chance'])} %."


def _label(card: Card, model: str) -> str:
    return card["models"][model]["label"]


# Beside print


def _near(ranking: Ranking) -> list[int]:
    """Positions that are shown: the best, ours, and their neighbours."""
    shown = {0}
    for at in show.ours(ranking):
        shown |= {*range(at - NEIGHBOURS, at + NEIGHBOURS + 1)}
    return sorted(at for at in shown if 0 <= at < len(ranking["places"]))


def _place(place: Ranked) -> list[Text]:
    style = "bold" if place["ours"] else ""
    mark = "▶ " if place["ours"] else "  "
    cells = (
        str(place["rank"]),
        mark + shorten(place["label"], 34),
        show.size(place["parameters"]),
        show.percent(place["accuracy"]),
        show.interval(place["low"], place["high"]),
        f"{place['n']:,}" if place["n"] else "",
    )
    return [Text(cell, style=style) for cell in cells]


def _print_ranking(console: Console, card: Card, benchmark: Benchmark) -> None:
    first, *others = benchmark["rankings"]
    print_heading(
        console,
        f"Among the {sum(not p['ours'] for p in first['places'])} models in print: "
        f"{show.language(first['lang'], card['languages'])}",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading, side in (
        ("", "right"),
        ("  model", "left"),
        ("size", "right"),
        ("acc", "right"),
        ("95 %", "right"),
        ("n", "right"),
    ):
        table.add_column(heading, justify=side, no_wrap=True)  # type: ignore[arg-type]
    last = -1
    for at in _near(first):
        if at > last + 1:
            table.add_row("", "  …")
        table.add_row(*_place(first["places"][at]))
        last = at
    if last < len(first["places"]) - 1:
        table.add_row("", "  …")
    console.print(table)
    for note in first["notes"]:
        say(console, note, style="dim")
    if others:
        say(console, _by_language(card, others))


def _by_language(card: Card, rankings: Sequence[Ranking]) -> str:
    """The ranks of our models by language, as one paragraph."""
    parts = []
    for ranking in rankings[:MOST_LANGUAGES]:
        places = [ranking["places"][at] for at in show.ours(ranking)]
        ranks = ", ".join(f"{p['rank']}" for p in places)
        name = show.language(ranking["lang"], card["languages"])
        parts.append(f"{name} {ranks} of {len(ranking['places'])}")
    more = len(rankings) - len(parts)
    end = f"; {more} more on the page." if more else "."
    return "Ranks by language: " + "; ".join(parts) + end


# Differences


def _print_tests(console: Console, card: Card, benchmark: Benchmark) -> None:
    print_heading(console, "Paired tests (McNemar)")
    table = plain_table(
        "language", "models A and B", "n", "only A", "only B", "p", "Holm", numbers=2
    )
    tests = benchmark["tests"]
    shown = sorted(tests, key=lambda t: t["adjusted"])[:MOST_LANGUAGES]
    for test in tests if len(tests) <= MOST_LANGUAGES else shown:
        numbers = (f"{test[key]:,}" for key in ("n", "only_a", "only_b"))
        pair = f"{shorten(_label(card, test['a']), 11)} | {shorten(_label(card, test['b']), 11)}"
        lang = shorten(show.language(test["lang"], card["languages"]), 14)
        p_values = (show.p_value(test["p"]), show.p_value(test["adjusted"]))
        style = "bold" if test["adjusted"] < 0.05 else ""
        table.add_row(lang, pair, *numbers, *p_values, style=style)
    console.print(table)
    more = (
        f" {len(tests) - MOST_LANGUAGES} more on the page." if len(tests) > MOST_LANGUAGES else ""
    )
    say(
        console,
        f"only A: right for A alone. Holm: p corrected for the card's {card['tests']} tests.{more}",
        style="dim",
    )
    if line := show.not_tested(benchmark, card):
        say(console, line)


def _print_gaps(console: Console, card: Card, benchmark: Benchmark) -> None:
    classes = benchmark["size_classes"]
    if not classes:
        return
    print_heading(console, "Most behind printed models of its size (within a factor of 3)")
    for model, each in classes.items():
        peers = f" beside {', '.join(each['models'])}" if each["models"] else ""
        note = f": {each['note']}" if each["note"] else ""
        say(console, f"{_label(card, model)}{peers}{note}")
        table = plain_table("", "acc", "print", "difference")
        for gap in each["gaps"]:
            numbers = (show.percent(gap["accuracy"]), show.percent(gap["printed"]))
            table.add_row(shorten(gap["label"], 40), *numbers, show.points(gap["difference"]))
        if each["gaps"]:
            console.print(Padding(table, (0, 0, 0, INDENT)))


def _print_sensitivity(console: Console, card: Card, benchmark: Benchmark) -> None:
    print_heading(console, "What conditions the first token")
    table = plain_table(
        "model", "language", "first token", "n", "acc", "95 %", "flips", "beyond", numbers=3
    )
    for model, rows in benchmark["sensitivity"].items():
        for row in rows:
            mark = " (used)" if row["own"] else ""
            table.add_row(
                shorten(_label(card, model), 16),
                shorten(show.language(row["lang"], card["languages"]), 14),
                row["first_token"] + mark,
                f"{row['n']:,}",
                show.percent(row["accuracy"]),
                show.interval(row["low"], row["high"]),
                f"{row['flips']:,}",
                f"{row['flips_beyond']:,}",
            )
    console.print(table)
    if line := show.not_sampled(benchmark, card):
        say(console, line)
    say(
        console,
        "flips: decisions that differ from the evaluation's; beyond: that rounding "
        "does not explain.",
        style="dim",
    )


# The whole


def _print_head(console: Console, card: Card) -> None:
    console.rule(Text("Report card", style="bold"), style="none", characters="─", align="left")
    say(console, show.heading(card), style="bold")
    for model in card["models"].values():
        source = f" ({model['hf_id']})" if model["hf_id"] else ""
        say(console, f"{model['label']}{source}: {', '.join(show.model_facts(model))}.")
        if show.checked(model):
            say(console, show.checked(model), style="dim")
        for sentence in filter(None, (model["better_start"], model["note"])):
            say(console, sentence)
    date = card["date"][:16].replace("T", " ")
    moment = f" {date} UTC" if date else ""
    commit = f", commit {card['commit'][:12]}" if card["commit"] else ""
    say(console, f"{card['campaign']}:{moment} by blimpworks {card['version']}{commit}.")


def _print_benchmark(console: Console, card: Card, benchmark: Benchmark) -> None:
    console.print()
    console.rule(Text(benchmark["label"], style="bold"), style="none", characters="─", align="left")
    say(console, f"{benchmark['citation']} {benchmark['address']}".rstrip(), style="dim")
    say(console, show.items_line(benchmark, card["limit"]))
    if benchmark["data"]:
        say(console, f"Items: {benchmark['data']}.")
    say(console, f"Judged by {show.methods_line(benchmark, card['models'])}.")
    _print_accuracies(console, card, benchmark)
    if benchmark["rankings"]:
        _print_ranking(console, card, benchmark)
    if benchmark["tests"]:
        _print_tests(console, card, benchmark)
    _print_gaps(console, card, benchmark)
    if any(benchmark["sensitivity"].values()):
        _print_sensitivity(console, card, benchmark)
    print_worst(console, card, benchmark)
    print_wrong(console, card, benchmark)


def print_card(card: Card, console: Console) -> None:
    """Print a report card, in lines of at most 80 columns."""
    width = console.size.width
    console.width = min(width, WIDTH)
    try:
        _print_head(console, card)
        for benchmark in card["benchmarks"]:
            _print_benchmark(console, card, benchmark)
        console.print()
        for path in card["files"]:
            console.print(path, soft_wrap=True, highlight=False, markup=False)
        console.print(card["rerun"], soft_wrap=True, highlight=False, markup=False)
    finally:
        console.width = width
