"""Print the report card in a terminal, 80 columns wide and readable without colours."""

from collections.abc import Sequence
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blimpworks.evaluation import show
from blimpworks.evaluation.card import ALL, MEAN, Benchmark, Card, Record, Row
from blimpworks.scoring.words import Column

WIDTH = 80
INDENT = 2
MOST_LANGUAGES = 12
"""Most languages listed; if there are more, those with the lowest accuracies."""
NEIGHBOURS = 2
"""Printed models shown above and below ours."""
WITH_TIES, WITHOUT_TIES = 2, 3
"""Models side by side, with a column of ties and without."""
SHOWN_ITEMS = 3
"""Worst items and wrong answers of each model; the page has more."""


# Paragraphs, tables and texts that are cut


def say(console: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    """Print a paragraph without interpreting markup."""
    content = Text(text, style=style, overflow="fold")
    console.print(Padding(content, (0, 0, 0, indent), expand=False))


def _print_heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def plain_table(*headings: str, numbers: int = 1, gap: tuple[int, int] = (2, 0)) -> Table:
    """Return a table without lines; ``gap`` is the number of spaces after and before columns."""
    padding = (0, gap[0], 0, gap[1])
    table = Table(box=None, pad_edge=False, padding=padding, header_style="bold")
    for position, heading in enumerate(headings):
        if position < numbers:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    return table


def _shorten(text: str, width: int) -> str:
    """Cut a text to at most ``width`` cells, with … in its middle."""
    middle = (len(text) + 1) // 2
    first_half, right = text[:middle], text[middle:]
    while cell_len(first_half) + cell_len(right) > (
        width if first_half + right == text else width - 1
    ):
        first_half, right = (
            (first_half[:-1], right) if len(first_half) >= len(right) else (first_half, right[1:])
        )
    return text if first_half + right == text else f"{first_half.rstrip()}…{right.lstrip()}"


def _beginning(text: str, width: int) -> str:
    """Cut a text to one line of at most ``width`` cells, with … at its end."""
    text = " ".join(text.split())
    if cell_len(text) <= width:
        return text
    while cell_len(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"


# Accuracies


def _accuracy_table(
    card: Card, rows: Sequence[tuple[str, Row]], models: Sequence[str], *, ties: bool, head: str
) -> Table:
    """Return a table with a column per model of its aligned accuracies, intervals and ties."""
    columns = [["\nn", *(show.counts(row, models) for _, row in rows)]]
    if any(row["skipped"] for _, row in rows):
        columns.append(["\nskipped", *(show.skips(row, models) for _, row in rows)])
    for model in models:
        cells: list[tuple[str, ...]] = [("acc", "95 %", "ties")]
        for _, row in rows:
            if accuracy := row["models"].get(model):
                interval = show.interval(accuracy["low"], accuracy["high"])
                cells.append((show.percent(accuracy["accuracy"]), interval, show.ties(accuracy)))
            else:
                cells.append(("–", "", ""))
        if not ties:
            cells = [cell[:2] for cell in cells]
        widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
        aligned = ["  ".join(map(str.rjust, cell, widths)) for cell in cells]
        width = len(aligned[0])
        label = _shorten(card["models"][model]["label"], width).rjust(width)
        columns.append([f"{label}\n{aligned[0]}", *aligned[1:]])
    widths = [max(len(line) for cell in column for line in cell.split("\n")) for column in columns]
    room = WIDTH - sum(2 + width for width in widths)
    labels = [f"\n{head}", *(fill(label, room, subsequent_indent=" ") for label, _ in rows)]
    table = plain_table(labels[0], *(column[0] for column in columns))
    for line in list(zip(labels, *columns, strict=True))[1:]:
        table.add_row(*line)
    return table


def _print_accuracies(console: Console, card: Card, benchmark: Benchmark) -> None:
    totals = show.totals(benchmark)
    together = [row for row in totals if row["lang"] in (ALL, MEAN)]
    language_rows = [row for row in totals if row["lang"] not in (ALL, MEAN)]
    left_out = max(0, len(language_rows) - MOST_LANGUAGES)
    if left_out:
        language_rows.sort(
            key=lambda row: min((a["accuracy"] for a in row["models"].values()), default=1.0)
        )
    rows = [
        (show.language(row["lang"], card["languages"]), row)
        for row in (*together, *language_rows[:MOST_LANGUAGES])
    ]
    skipped = show.skipped_lines(benchmark, card)
    if not any(row["models"] for _, row in rows):
        for line in skipped or ["No item was judged."]:
            say(console, line)
        return
    models = [*benchmark["methods"]]
    ties = len(models) <= WITH_TIES
    phenomena = [(row["label"], row) for row in show.phenomena(benchmark, rows[0][1]["lang"])]
    count = WITH_TIES if ties or skipped else WITHOUT_TIES
    for start in range(0, len(models), count):
        side_by_side = models[start : start + count]
        _print_heading(console, "Accuracy in %, with 95 % intervals")
        console.print(_accuracy_table(card, rows, side_by_side, ties=ties, head="language"))
        if phenomena:
            console.print()
            table = _accuracy_table(card, phenomena, side_by_side, ties=ties, head="phenomenon")
            console.print(table)
    for line in (*skipped, *show.written_lines(benchmark, card)):
        say(console, line)
    of_models = ", ".join(
        f"{card['models'][model]['label']} {show.ties(accuracy)}"
        for model, accuracy in totals[0]["models"].items()
    )
    chance = benchmark["chance"]
    notes = [
        show.unlike_languages(benchmark),
        f"{left_out} more languages, with higher accuracies, are on the page." if left_out else "",
        "ties: equal log-probabilities / near ties, which rounding could turn."
        if ties
        else f"Ties / near ties: {of_models}.",
        show.unknown_words(benchmark, card["models"]),
        show.baseline_line(benchmark),
        "" if chance is None else f"Guessing gets {show.percent(chance)} %.",
    ]
    for note in filter(None, notes):
        say(console, note, style="dim")


# Beside print


def _print_rankings(console: Console, card: Card, rankings: Sequence[Record]) -> None:
    """Print the first ranking's best model, ours and their neighbours; of others our ranks."""
    first, *by_language = rankings
    entries, names = first["places"], card["languages"]
    printed = sum(not entry["ours"] for entry in entries)
    title = show.language(first["lang"], names)
    _print_heading(console, f"Among the {printed} models in print: {title}")
    table = plain_table("", "  model", "size", "acc", "95 %", "n", numbers=0)
    table.columns[1].justify = "left"
    near = {0}
    for position in show.ours(first):
        near |= {*range(position - NEIGHBOURS, position + NEIGHBOURS + 1)}
    is_gap = False
    for position, entry in enumerate(entries):
        if position not in near:
            if not is_gap:
                table.add_row("", "  …")
            is_gap = True
            continue
        is_gap = False
        cells = (
            str(entry["rank"]),
            ("▶ " if entry["ours"] else "  ") + _shorten(entry["label"], 34),
            show.size(entry["parameters"]),
            show.percent(entry["accuracy"]),
            show.interval(entry["low"], entry["high"]),
            f"{entry['n']:,}" if entry["n"] else "",
        )
        table.add_row(*(Text(cell, style="bold" if entry["ours"] else "") for cell in cells))
    console.print(table)
    for note in first["notes"]:
        say(console, note, style="dim")
    if by_language:
        ranks = [
            f"{show.language(ranking['lang'], names)} {show.ranks(ranking)}"
            for ranking in by_language[:MOST_LANGUAGES]
        ]
        more = len(by_language) - len(ranks)
        end = f"; {more} more on the page." if more else "."
        say(console, f"Ranks by language: {'; '.join(ranks)}{end}")


# Differences between models and between first tokens


def _print_tests(console: Console, card: Card, benchmark: Benchmark) -> None:
    _print_heading(console, "Paired tests (McNemar)")
    headings = ("language", "models A and B", "n", "only A", "only B", "p", "Holm")
    table = plain_table(*headings, numbers=2)
    tests = benchmark["tests"]
    more = len(tests) - MOST_LANGUAGES
    if more > 0:
        tests = sorted(tests, key=lambda test: test["adjusted"])[:MOST_LANGUAGES]
    for test in tests:
        labels = (_shorten(card["models"][test[side]]["label"], 11) for side in ("a", "b"))
        table.add_row(
            _shorten(show.language(test["lang"], card["languages"]), 14),
            " | ".join(labels),
            *(f"{test[key]:,}" for key in ("n", "only_a", "only_b")),
            show.p_value(test["p"]),
            show.p_value(test["adjusted"]),
            style="bold" if test["adjusted"] < 0.05 else "",
        )
    console.print(table)
    hidden = f" {more} more on the page." if more > 0 else ""
    holm = f"Holm: p corrected for the card's {card['tests']} tests."
    say(console, f"only A: right for A alone. {holm}{hidden}", style="dim")
    if line := show.not_tested(benchmark, card):
        say(console, line)


def _print_sensitivity(console: Console, card: Card, benchmark: Benchmark) -> None:
    _print_heading(console, "What conditions the first token")
    headings = ("model", "language", "first token", "n", "acc", "95 %", "flips", "beyond")
    table = plain_table(*headings, numbers=3)
    for model, rows in benchmark["sensitivity"].items():
        for row in rows:
            table.add_row(
                _shorten(card["models"][model]["label"], 16),
                _shorten(show.language(row["lang"], card["languages"]), 14),
                row["first_token"] + (" (used)" if row["own"] else ""),
                f"{row['n']:,}",
                show.percent(row["accuracy"]),
                show.interval(row["low"], row["high"]),
                f"{row['flips']:,}",
                f"{row['flips_beyond']:,}",
            )
    console.print(table)
    if line := show.not_sampled(benchmark, card):
        say(console, line)
    meaning = "flips: decisions that differ from the evaluation's; beyond: that rounding "
    say(console, f"{meaning}does not explain.", style="dim")


# Items


def _print_block(console: Console, columns: Sequence[Column], signs: Sequence[str]) -> None:
    """Print words over their log-probabilities; words that differ are in brackets."""
    room = WIDTH - 3 * INDENT
    stripes: list[list[tuple[Column, list[str], list[str], int]]] = []
    used = room
    for column in columns:
        texts = [word["text"] if word else "" for word in column["words"]]
        if column["differs"]:
            texts = [f"[{word['text']}]" if word else "" for word in column["words"]]
        values = [show.nats(word["logprob"], 1) if word else "" for word in column["words"]]
        width = min(room, 1 + max(cell_len(text) for text in (*texts, *values)))
        if used + width > room:
            stripes.append([])
            used = 0
        stripes[-1].append((column, texts, values, width))
        used += width
    for stripe in stripes:
        for side, sign in enumerate(signs):
            label, numbers = Text(f"{sign} "), Text("  ")
            for column, texts, values, width in stripe:
                label.append(texts[side], style="bold" if column["differs"] else "")
                label.append(" " * (width - cell_len(texts[side])))
                numbers.append(values[side].ljust(width), style="dim")
            for line in (label, numbers):
                line.rstrip()
                console.print(Padding(line, (0, 0, 0, 2 * INDENT), expand=False), no_wrap=True)


def _print_worst(console: Console, item: Record) -> None:
    signs = [show.WORST_SIDES.get(side["name"], "·") for side in item["sides"]]
    for sign, side in zip(signs, item["sides"], strict=True):
        name = "" if side["name"] in show.WORST_SIDES else f"{side['name']}: "
        say(console, f"{sign} {name}{side['text']}  ({show.nats(side['logprob'])})", indent=INDENT)
    groups = [signs] if len(item["blocks"]) == 1 else [[sign] for sign in signs]
    for block, group in zip(item["blocks"], groups, strict=True):
        _print_block(console, block, group)


def _print_items(console: Console, card: Card, benchmark: Benchmark) -> None:
    names = benchmark["phenomena"]
    for model, items in benchmark["worst"].items():
        shown_items = items[:SHOWN_ITEMS]
        if shown_items:
            label, count = card["models"][model]["label"], f"{len(shown_items)} of {len(items)}"
            _print_heading(console, f"Worst items of {label}: {count} on the page")
        for number, item in enumerate(shown_items, start=1):
            lang = show.language(item["lang"], card["languages"])
            phenomenon = names.get(item["phenomenon"], item["phenomenon"])
            say(console, f"{number}. {lang}, {phenomenon}, margin {show.nats(item['margin'])}")
            _print_worst(console, item)
    for model, answers in benchmark["wrong"].items():
        wrong = answers[:SHOWN_ITEMS]
        if wrong:
            label, count = card["models"][model]["label"], f"{len(wrong)} of {len(answers)}"
            _print_heading(console, f"Wrong answers of {label}: {count} on the page")
        for number, answer in enumerate(wrong, start=1):
            lang = show.language(answer["lang"], card["languages"])
            phenomenon = names.get(answer["phenomenon"], answer["phenomenon"])
            say(console, f"{number}. {lang}, {phenomenon}")
            say(console, f"asked:    {_beginning(answer['prompt'], 200)}", indent=INDENT)
            if answer["expected"]:
                say(console, f"expected: {_beginning(answer['expected'], 99)}", indent=INDENT)
            text = answer["answer"] if answer["status"] == "ok" else f"({answer['status']})"
            say(console, f"answer:   {_beginning(text, 200)}", indent=INDENT)


# The card


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
        _print_rankings(console, card, benchmark["rankings"])
    if benchmark["tests"]:
        _print_tests(console, card, benchmark)
    if benchmark["size_classes"]:
        _print_heading(console, "Most behind printed models of its size (within a factor of 3)")
        for model, size_class in benchmark["size_classes"].items():
            peers = f" beside {', '.join(size_class['models'])}" if size_class["models"] else ""
            note = f": {size_class['note']}" if size_class["note"] else ""
            say(console, f"{card['models'][model]['label']}{peers}{note}")
            table = plain_table("", "acc", "print", "difference")
            for gap in size_class["gaps"]:
                numbers = (show.percent(gap["accuracy"]), show.percent(gap["printed"]))
                table.add_row(_shorten(gap["label"], 40), *numbers, show.points(gap["difference"]))
            if size_class["gaps"]:
                console.print(Padding(table, (0, 0, 0, INDENT)))
    if any(benchmark["sensitivity"].values()):
        _print_sensitivity(console, card, benchmark)
    _print_items(console, card, benchmark)


def print_card(card: Card, console: Console) -> None:
    """Print a report card, in lines of at most 80 columns."""
    width = console.size.width
    console.width = min(width, WIDTH)
    try:
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
        for benchmark in card["benchmarks"]:
            _print_benchmark(console, card, benchmark)
        console.print()
        for line in (*card["files"], card["rerun"]):
            console.print(line, soft_wrap=True, highlight=False, markup=False)
    finally:
        console.width = width
