"""Print the report card (``card.Card``) in a terminal, 80 columns wide, readable without colours.

``print_card`` prints all sections; the HTML page has the rows that do not fit.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blimpworks.evaluation import show
from blimpworks.evaluation.card import MEAN, Benchmark, Card, Record, Row, SuiteTable
from blimpworks.items import ALL
from blimpworks.scoring.tokens import AlignedWords

LINE_WIDTH, NARROWEST_LINE = 80, 60
"""Widest and narrowest lines [characters]; a narrower terminal wraps them."""
INDENT = 2
MOST_LANGUAGES = 12
"""Most languages, or paired tests, to list: those with the lowest accuracies, or p-values."""
NEIGHBOURS = 2
"""Number of models to show above and below each of ours in a ranking."""
MOST_MODELS_WITH_TIES, MOST_MODELS_WITHOUT_TIES = 2, 3
"""Most models side by side, with and without a column of ties."""
NARROWEST_LABEL = 10
"""Least width for the labels of rows beside several models [characters]."""
MOST_COLUMNS = 6
"""Most columns of numbers in a suite's table."""
MOST_ITEMS = 3
"""Most worst items or wrong answers of a model to show."""


def say(console: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    """Print a paragraph; square brackets in its text are no markup."""
    content = Text(text, style=style, overflow="fold")
    console.print(Padding(content, (0, 0, 0, indent), expand=False))


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: int = 1,
    bold: Container[int] = (),
    gap: tuple[int, int] = (2, 0),
) -> Table:
    """Return a table without rules: ``texts`` columns of text, then columns of numbers.

    ``bold`` are indices of rows; ``gap`` is the number of spaces after and before columns.
    """
    padding = (0, gap[0], 0, gap[1])
    lines = Table(box=None, pad_edge=False, padding=padding, header_style="bold")
    for position, heading in enumerate(headings):
        if position < texts:
            lines.add_column(heading, overflow="fold")
        else:
            lines.add_column(heading, justify="right", no_wrap=True)
    for position, row in enumerate(rows):
        style = "bold" if position in bold else ""
        lines.add_row(*(Text(cell, style=style) for cell in row))
    return lines


def _shorten(text: str, width: int) -> str:
    """Cut a text to at most ``width`` terminal cells, with … in the middle."""
    if cell_len(text) <= width:
        return text
    middle = (len(text) + 1) // 2
    start, end = text[:middle], text[middle:]
    while cell_len(start) + cell_len(end) > width - 1:
        start, end = (start[:-1], end) if len(start) >= len(end) else (start, end[1:])
    return f"{start.rstrip()}…{end.lstrip()}"


def _beginning(text: str, width: int) -> str:
    """Cut a text to one line of at most ``width`` terminal cells, with … at the end."""
    text = " ".join(text.split())
    if cell_len(text) <= width:
        return text
    # Not by rich's set_cell_size, which drops combining marks of the last letter.
    while cell_len(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"


class _Terminal:
    """Prints a card on a console; methods after the helpers print the section of their name."""

    def __init__(self, card: Card, console: Console) -> None:
        self.card, self.console, self.text = card, console, show.CardText(card)

    def say(self, text: str, style: str = "", indent: int = 0) -> None:
        say(self.console, text, style=style, indent=indent)

    def head(self, text: str) -> None:
        self.console.print()
        self.console.print(Text(text, style="bold"))

    def label(self, model: str, width: int) -> str:
        return _shorten(self.text.label(model), width)

    def language(self, code: str) -> str:
        return _shorten(self.text.language(code), 14)

    def accuracy_tables(
        self, rows: Sequence[tuple[str, Row]], models: Sequence[str], head: str, *, ties: bool
    ) -> Iterator[Table]:
        """Yield a table with a column for each model: accuracy, interval and perhaps ties.

        Where the columns leave no space for the labels of rows, yield a table for each model.
        """
        # The table by columns: lists of a heading (two lines) and cells. They become rows below.
        columns = [["\nn", *(show.counts(row, models) for _, row in rows)]]
        if any(row["skipped"] for _, row in rows):
            columns.append(["\nskipped", *(show.counts(row, models, "skipped") for _, row in rows)])
        for model in models:
            cells: list[tuple[str, ...]] = [("acc", "95 %", "ties")]
            for _, row in rows:
                if accuracy := row["models"].get(model):
                    interval = show.interval(accuracy["low"], accuracy["high"])
                    share = show.percent(accuracy["accuracy"])
                    cells.append((share, interval, show.ties(accuracy)))
                else:
                    cells.append(("–", "", ""))
            cells = cells if ties else [cell[:2] for cell in cells]
            # One column has the two or three numbers of a model, aligned among themselves.
            widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
            heading, *numbers = ["  ".join(map(str.rjust, cell, widths)) for cell in cells]
            width = len(heading)
            columns.append([f"{self.label(model, width):>{width}}\n{heading}", *numbers])
        # Labels are wrapped in the width that the columns of numbers leave.
        used = sum(2 + max(map(len, "\n".join(column).split("\n"))) for column in columns)
        label_width = max(1, self.console.width - used)
        if len(models) > 1 and label_width < NARROWEST_LABEL:
            for model in models:
                yield from self.accuracy_tables(rows, [model], head, ties=ties)
            return
        labels = (fill(label, label_width, subsequent_indent=" ") for label, _ in rows)
        headings, *cells_of_rows = zip([f"\n{head}", *labels], *columns, strict=True)
        yield table(headings, cells_of_rows)

    def accuracies(self, benchmark: Benchmark) -> None:
        totals = show.totals(benchmark)
        summary_rows = [row for row in totals if row["lang"] in (ALL, MEAN)]
        language_rows = [row for row in totals if row["lang"] not in (ALL, MEAN)]
        left_out = max(0, len(language_rows) - MOST_LANGUAGES)
        if left_out:  # the lowest accuracies are printed; languages without any come last
            language_rows.sort(
                key=lambda row: min((a["accuracy"] for a in row["models"].values()), default=1.0)
            )
        rows_to_print = [*summary_rows, *language_rows[:MOST_LANGUAGES]]
        rows = [(self.text.language(row["lang"]), row) for row in rows_to_print]
        skipped = self.text.skipped_lines(benchmark)
        if not any(row["models"] for _, row in rows):
            for line in skipped or ["No item was judged."]:
                self.say(line)
            return
        models = [*benchmark["methods"]]
        ties = len(models) <= MOST_MODELS_WITH_TIES
        first_lang = rows_to_print[0]["lang"]
        phenomena = [(row["label"], row) for row in show.phenomena(benchmark, first_lang)]
        most = MOST_MODELS_WITH_TIES if ties or skipped else MOST_MODELS_WITHOUT_TIES
        for start in range(0, len(models), most):
            side_by_side = models[start : start + most]
            self.head("Accuracy in %, with 95 % intervals")
            self.console.print(*self.accuracy_tables(rows, side_by_side, "language", ties=ties))
            if phenomena:
                self.console.print()
                tables = self.accuracy_tables(phenomena, side_by_side, "phenomenon", ties=ties)
                self.console.print(*tables)
        for line in (*skipped, *self.text.written_lines(benchmark)):
            self.say(line)
        ties_of_models = ", ".join(
            f"{self.text.label(model)} {show.ties(accuracy)}"
            for model, accuracy in totals[0]["models"].items()
        )
        chance = benchmark["chance"]
        shares = totals[0]["baselines"].items()
        baselines = ", ".join(f"{name} {show.percent(share)}" for name, share in shares)
        notes = [show.unlike_languages(benchmark)]
        if left_out:
            notes.append(
                f"{left_out} more languages, with higher or no accuracies, are on the page."
            )
        if ties:
            notes.append("ties: equal log-probabilities / near ties, which rounding could turn.")
        else:
            notes.append(f"Ties / near ties: {ties_of_models}.")
        notes.append(self.text.unknown_words(benchmark))
        notes.append(f"Baselines (%): {baselines}." if baselines else "")
        notes.append("" if chance is None else f"Guessing gets {show.percent(chance)} %.")
        for note in filter(None, notes):
            self.say(note, "dim")

    def rankings(self, rankings: Sequence[Record]) -> None:
        """Print the first ranking near our models, and our ranks in the other rankings."""
        first, *other_rankings = rankings
        ranked = first["places"]
        printed = sum(not row["ours"] for row in ranked)
        self.head(f"Among the {printed} models in print: {self.text.language(first['lang'])}")
        positions_to_show = {0}  # of the best model, of ours, and of the models around ours
        for position, row in enumerate(ranked):
            if row["ours"]:
                positions_to_show |= {*range(position - NEIGHBOURS, position + NEIGHBOURS + 1)}
        lines: list[tuple[str, ...]] = []
        for position, row in enumerate(ranked):
            if position in positions_to_show:
                label = f"{'▶' if row['ours'] else ' '} {_shorten(row['label'], 34)}"
                model = (str(row["rank"]), label, show.size(row["parameters"]))
                interval = show.interval(row["low"], row["high"])
                n = f"{row['n']:,}" if row["n"] else ""
                lines.append((*model, show.percent(row["accuracy"]), interval, n))
            elif position - 1 in positions_to_show:  # the first row that is left out
                lines.append(("", "  …", "", "", "", ""))
        bold = {i for i, line in enumerate(lines) if line[1].startswith("▶")}
        headings = ("", "  model", "size", "acc", "95 %", "n")
        shown_table = table(headings, lines, texts=0, bold=bold)
        shown_table.columns[1].justify = "left"
        self.console.print(shown_table)
        for note in first["notes"]:
            self.say(note, "dim")
        if other_rankings:
            ranks = [
                f"{self.text.language(ranking['lang'])} {show.ranks(ranking)}"
                for ranking in other_rankings[:MOST_LANGUAGES]
            ]
            more = len(other_rankings) - len(ranks)
            end = f"; {more} more on the page." if more else "."
            self.say(f"Ranks by language: {'; '.join(ranks)}{end}")

    def tests(self, benchmark: Benchmark) -> None:
        self.head("Paired tests (McNemar)")
        tests = benchmark["tests"]
        more = len(tests) - MOST_LANGUAGES
        if more > 0:
            tests = sorted(tests, key=lambda test: test["adjusted"])[:MOST_LANGUAGES]
        rows = []
        for test in tests:
            models = " | ".join(self.label(test[side], 11) for side in ("a", "b"))
            counts = (f"{test[key]:,}" for key in ("n", "only_a", "only_b"))
            p_values = (show.p_value(test[key]) for key in ("p", "adjusted"))
            rows.append((self.language(test["lang"]), models, *counts, *p_values))
        headings = ("language", "models A and B", "n", "only A", "only B", "p", "Holm")
        bold = {i for i, test in enumerate(tests) if test["adjusted"] < 0.05}
        self.console.print(table(headings, rows, texts=2, bold=bold))
        hidden = f" {more} more on the page." if more > 0 else ""
        holm = f"Holm: p corrected for the card's {self.card['tests']} tests."
        self.say(f"only A: right for A alone. {holm}{hidden}", "dim")
        if line := self.text.not_tested(benchmark):
            self.say(line)

    def size_classes(self, benchmark: Benchmark) -> None:
        self.head("Largest gaps to printed models of similar size (a third to 3 times)")
        for model, size_class in benchmark["size_classes"].items():
            peers = f" beside {', '.join(size_class['models'])}" if size_class["models"] else ""
            note = f": {size_class['note']}" if size_class["note"] else ""
            self.say(f"{self.text.label(model)}{peers}{note}")
            rows = []
            for gap in size_class["gaps"]:
                shares = (show.percent(gap[key]) for key in ("accuracy", "printed"))
                rows.append((_shorten(gap["label"], 40), *shares, show.points(gap["difference"])))
            if rows:
                lines = table(("", "acc", "print", "difference"), rows)
                self.console.print(Padding(lines, (0, 0, 0, INDENT)))

    def sensitivity(self, benchmark: Benchmark) -> None:
        self.head("Accuracy by start of texts")
        rows = []
        for model, rows_of_model in benchmark["sensitivity"].items():
            for row in rows_of_model:
                first_token = row["first_token"] + (" (used)" if row["own"] else "")
                accuracy = (show.percent(row["accuracy"]), show.interval(row["low"], row["high"]))
                n, *flips = (f"{row[key]:,}" for key in ("n", "flips", "flips_beyond"))
                names = (self.label(model, 16), self.language(row["lang"]), first_token)
                rows.append((*names, n, *accuracy, *flips))
        headings = ("model", "language", "first token", "n", "acc", "95 %", "flips", "beyond")
        self.console.print(table(headings, rows, texts=3))
        if line := self.text.skipped_in_sensitivity(benchmark):
            self.say(line)
        flips_note = "flips: decisions that differ from the evaluation's"
        self.say(f"{flips_note}; beyond: flips that rounding does not explain.", "dim")

    def block(self, columns: Sequence[AlignedWords], signs: Sequence[str]) -> None:
        """Print aligned words above their log-probabilities; differing words are in brackets."""
        line_width = self.console.width - 3 * INDENT
        # Lines of columns: (words, texts to print, log-probabilities to print, width).
        lines: list[list[tuple[AlignedWords, list[str], list[str], int]]] = []
        used = line_width  # as if a line were full, so that the first column begins a line
        for column in columns:
            form = "[{}]" if column["differs"] else "{}"
            texts = [form.format(word["text"]) if word else "" for word in column["words"]]
            logprobs = [show.nats(word["logprob"], 1) if word else "" for word in column["words"]]
            width = min(line_width, 1 + max(cell_len(text) for text in (*texts, *logprobs)))
            if used + width > line_width:
                lines.append([])
                used = 0
            lines[-1].append((column, texts, logprobs, width))
            used += width
        for columns_of_line in lines:
            for side, sign in enumerate(signs):
                texts_line, numbers = Text(f"{sign} "), Text("  ")
                for column, texts, logprobs, width in columns_of_line:
                    texts_line.append(texts[side], style="bold" if column["differs"] else "")
                    texts_line.append(" " * (width - cell_len(texts[side])))
                    numbers.append(logprobs[side].ljust(width), style="dim")
                for line in (texts_line, numbers):
                    line.rstrip()
                    padded = Padding(line, (0, 0, 0, 2 * INDENT), expand=False)
                    self.console.print(padded, no_wrap=True)

    def items(self, benchmark: Benchmark) -> None:
        lists = [("Worst items", model, items) for model, items in benchmark["worst"].items()]
        lists += [("Wrong answers", model, items) for model, items in benchmark["wrong"].items()]
        for heading, model, items in lists:
            if items:
                count = f"{len(items[:MOST_ITEMS])} of the {len(items)}"
                self.head(f"{heading} of {self.text.label(model)}: {count} on the page")
            for number, item in enumerate(items[:MOST_ITEMS], start=1):
                phenomenon = benchmark["phenomena"].get(item["phenomenon"], item["phenomenon"])
                title = f"{number}. {self.text.language(item['lang'])}, {phenomenon}"
                if heading == "Worst items":
                    self.say(f"{title}, margin {show.nats(item['margin'])}")
                    self.worst(item)
                    continue
                self.say(title)
                self.say(f"asked:    {_beginning(item['prompt'], 200)}", indent=INDENT)
                if item["expected"]:
                    self.say(f"expected: {_beginning(item['expected'], 99)}", indent=INDENT)
                answer = item["answer"] if item["status"] == "ok" else f"({item['status']})"
                self.say(f"answer:   {_beginning(answer, 200)}", indent=INDENT)

    def worst(self, item: Record) -> None:
        signs = [show.WORST_SIDES.get(side["name"], "·") for side in item["sides"]]
        for sign, side in zip(signs, item["sides"], strict=True):
            name = "" if side["name"] in show.WORST_SIDES else f"{side['name']}: "
            line = f"{sign} {name}{side['text']}  ({show.nats(side['logprob'])})"
            self.say(line, indent=INDENT)
        # A single block has the words of both sides of a pair; otherwise a side has one block.
        signs_of_blocks = [signs] if len(item["blocks"]) == 1 else [[sign] for sign in signs]
        for block, signs_of_block in zip(item["blocks"], signs_of_blocks, strict=True):
            self.block(block, signs_of_block)

    def benchmark(self, benchmark: Benchmark) -> None:
        self.console.print()
        self.rule(benchmark["label"])
        self.say(f"{benchmark['citation']} {benchmark['address']}".rstrip(), "dim")
        self.say(self.text.items_line(benchmark))
        if benchmark["data"]:
            self.say(f"Items: {benchmark['data']}.")
        self.say(f"Judged by {self.text.methods_line(benchmark)}.")
        self.accuracies(benchmark)
        if benchmark["rankings"]:
            self.rankings(benchmark["rankings"])
        if benchmark["tests"]:
            self.tests(benchmark)
        if benchmark["size_classes"]:
            self.size_classes(benchmark)
        if any(benchmark["sensitivity"].values()):
            self.sensitivity(benchmark)
        self.items(benchmark)

    def suite(self, suite: SuiteTable) -> None:
        """Print a suite's table: a column for each model and for each printed one."""
        self.console.print()
        self.rule(suite["label"])
        headings, lines = self.text.suite_table(suite)
        # Columns that do not fit beside the others follow in a table below.
        for first in range(1, len(headings), MOST_COLUMNS):
            rows = [[line[0], *line[first : first + MOST_COLUMNS]] for line in (headings, *lines)]
            block = table(rows[0], rows[1:])
            for column in block.columns:
                column.no_wrap = False  # Long names of models would leave no space for the tasks.
            self.console.print(block)
        for note in self.text.suite_notes(suite):
            self.say(note, "dim")

    def rule(self, title: str) -> None:
        heading = Text(title, style="bold")
        self.console.rule(heading, style="none", characters="─", align="left")


def print_card(card: Card, console: Console) -> None:
    """Print a report card in 60 to 80 columns, which the console is set to."""
    console.width = max(NARROWEST_LINE, min(console.size.width, LINE_WIDTH))
    page = _Terminal(card, console)
    page.rule("Report card")
    page.say(page.text.heading, "bold")
    for model in card["models"].values():
        source = f" ({model['hf_id']})" if model["hf_id"] else ""
        facts = (
            model["architecture"],
            "chat" if model["tuning"] == "chat" else "",
            f"{show.size(model['parameters'])} parameters" if model["parameters"] else "",
            model["dtype"],
            f"first token {model['start'] or model['first_token']}",
            f"engine: {model['engine']}",
            f"{model['checkpoints']} checkpoints" if model["checkpoints"] > 1 else "",
            f"revision {model['revision'][:12]}" if model["revision"] else "",
        )
        page.say(f"{model['label']}{source}: {', '.join(filter(None, facts))}.")
        if show.checked(model):
            page.say(show.checked(model), "dim")
        for sentence in filter(None, (model["better_start"], model["note"])):
            page.say(sentence)
    date = card["date"][:16].replace("T", " ")
    moment = f" {date} UTC" if date else ""
    commit = f", commit {card['commit'][:12]}" if card["commit"] else ""
    page.say(f"{card['campaign']}:{moment} by blimpworks {card['version']}{commit}.")
    for benchmark in card["benchmarks"]:
        page.benchmark(benchmark)
    # Last, where a terminal shows it without scrolling.
    if suite := card.get("suite"):
        page.suite(suite)
    console.print()
    for line in (*card["files"], card["rerun"]):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
