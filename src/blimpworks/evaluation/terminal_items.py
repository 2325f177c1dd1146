"""Worst items and wrong answers of a report card in a terminal."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from blimpworks.evaluation import show
from blimpworks.evaluation.card import Benchmark, Card, WorstItem, WrongAnswer
from blimpworks.evaluation.console import INDENT, WIDTH, beginning, print_heading, say
from blimpworks.scoring.words import Column, Word

SHOWN_ITEMS = 3
"""Worst items of each model; the page has more."""


def _lines(columns: Sequence[Column], signs: Sequence[str], width: int) -> Iterator[Text]:
    """Words of the sides over their log-probabilities, in as many stripes as it takes."""
    stripe: list[tuple[Column, int]] = []
    used = 0
    for column in columns:
        texts = [_marked(column, word) for word in column["words"]]
        values = [show.nats(word["logprob"], 1) if word else "" for word in column["words"]]
        wide = max(cell_len(text) for text in (*texts, *values)) + 1
        wide = min(wide, width)
        if stripe and used + wide > width:
            yield from _stripe(stripe, signs)
            stripe, used = [], 0
        stripe.append((column, wide))
        used += wide
    if stripe:
        yield from _stripe(stripe, signs)


def _marked(column: Column, word: Word | None) -> str:
    """A word, in brackets where the sides differ, so that it is seen without colours too."""
    text = word["text"] if word else ""
    return f"[{text}]" if column["differs"] and word else text


def _stripe(stripe: Sequence[tuple[Column, int]], signs: Sequence[str]) -> Iterator[Text]:
    for side, sign in enumerate(signs):
        words, values = Text(f"{sign} "), Text("  ")
        for column, wide in stripe:
            word = column["words"][side]
            text = _marked(column, word)
            number = show.nats(word["logprob"], 1) if word else ""
            style = "bold" if column["differs"] else ""
            words.append(text, style=style)
            words.append(" " * (wide - cell_len(text)))
            values.append(number.ljust(wide), style="dim")
        yield words
        yield values


def _phenomenon(benchmark: Benchmark, item: WorstItem | WrongAnswer) -> str:
    return benchmark["phenomena"].get(item["phenomenon"], item["phenomenon"])


def _print_item(
    console: Console, card: Card, benchmark: Benchmark, number: int, item: WorstItem
) -> None:
    lang = show.language(item["lang"], card["languages"])
    place = f"{lang}, {_phenomenon(benchmark, item)}, margin {show.nats(item['margin'])}"
    say(console, f"{number}. {place}")
    signs = [show.WORST_SIDES.get(side["name"], "·") for side in item["sides"]]
    for sign, side in zip(signs, item["sides"], strict=True):
        name = "" if side["name"] in show.WORST_SIDES else f"{side['name']}: "
        say(console, f"{sign} {name}{side['text']}  ({show.nats(side['logprob'])})", indent=INDENT)
    groups = [signs] if len(item["blocks"]) == 1 else [[sign] for sign in signs]
    for block, own in zip(item["blocks"], groups, strict=True):
        for line in _lines(block, own, WIDTH - 3 * INDENT):
            line.rstrip()
            console.print(Padding(line, (0, 0, 0, 2 * INDENT), expand=False), no_wrap=True)


def print_worst(console: Console, card: Card, benchmark: Benchmark) -> None:
    """Print the worst items of each model: sentences, and words with log-probabilities."""
    for model, items in benchmark["worst"].items():
        if not items:
            continue
        print_heading(
            console,
            f"Worst items of {card['models'][model]['label']}: {min(SHOWN_ITEMS, len(items))} "
            f"of {len(items)} on the page",
        )
        for number, item in enumerate(items[:SHOWN_ITEMS], start=1):
            _print_item(console, card, benchmark, number, item)


def print_wrong(console: Console, card: Card, benchmark: Benchmark) -> None:
    """Print wrong answers of each model, with their prompts."""
    for model, answers in benchmark["wrong"].items():
        if not answers:
            continue
        print_heading(
            console,
            f"Wrong answers of {card['models'][model]['label']}: "
            f"{min(SHOWN_ITEMS, len(answers))} of {len(answers)} on the page",
        )
        for number, each in enumerate(answers[:SHOWN_ITEMS], start=1):
            lang = show.language(each["lang"], card["languages"])
            say(console, f"{number}. {lang}, {_phenomenon(benchmark, each)}")
            say(console, f"asked:    {beginning(_one_line(each['prompt']), 200)}", indent=INDENT)
            if each["expected"]:
                say(
                    console,
                    f"expected: {beginning(_one_line(each['expected']), 99)}",
                    indent=INDENT,
                )
            text = each["answer"] if each["status"] == "ok" else f"({each['status']})"
            say(console, f"answer:   {beginning(_one_line(text), 200)}", indent=INDENT)


def _one_line(text: str) -> str:
    return " ".join(text.split())
