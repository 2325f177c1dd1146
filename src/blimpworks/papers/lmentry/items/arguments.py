"""Other arguments for a prompt, and answers that are right: for training dialogues.

Answers are right as the tasks define it (Moroni and others 2025, Table 1), no more: sentences
are those of the prompts with a word put in.
"""

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

FRAMES = 12
"""How many of the shortest sentences new ones are made of."""
MARKS = "\"'“”«»„‘’,.:;?!¿¡()…"
"""What is no part of a word at its ends."""
PARTS = (1, 2, 3)
"""Letters in what a prompt asks for in place of one letter."""
Row = dict[str, Any]
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pool:
    """What the prompts of a language are about."""

    words: tuple[str, ...]
    """Single words of letters, short ones first."""
    frames: tuple[tuple[str, ...], ...]
    """Words of short sentences, without their full stop."""

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Pool":
        """Words and sentences that are arguments of some prompts."""
        words, sentences = set[str](), set[str]()
        for row in rows:
            arguments = row["arguments"]
            if text := arguments.get("sentence"):
                sentences.add(text)
            words.update(arguments[role] for role in ("word", "query") if arguments.get(role))
        words.update(word.strip(MARKS) for text in sentences for word in text.split())
        usable = sorted((w for w in words if w.isalpha() and len(w) > 1), key=_short)
        split = (tuple(text.rstrip(".").split()) for text in sorted(sentences, key=_short))
        frames = [frame for frame in split if len(frame) > 2][:FRAMES]
        return cls(tuple(usable), tuple(frames))


Maker = Callable[[Arguments, Pool, random.Random], str | None]
"""Makes an answer from arguments; None where it cannot."""


def _short(text: str) -> tuple[int, str]:
    return len(text), text


def _sentence(words: Iterable[str]) -> str:
    return f"{' '.join(words)}."


def _with_word(place: int | None) -> Maker:
    """A frame with the word in a place: the first, the last, or (None) the middle."""

    def make(arguments: Arguments, pool: Pool, draw: random.Random) -> str | None:
        """Put the word into a frame; None where there is no frame."""
        if not pool.frames:
            return None
        words = list(draw.choice(pool.frames))
        words[len(words) // 2 if place is None else place] = arguments["word"]
        return _sentence(words)

    return make


def _without_word(arguments: Arguments, pool: Pool, draw: random.Random) -> str | None:
    word = arguments["word"].lower()
    frames = [f for f in pool.frames if word not in " ".join(f).lower()]
    return _sentence(draw.choice(frames)) if frames else None


def _shortest(fits: Callable[[str, str], bool]) -> Maker:
    """The shortest word of more than the letters that fits them."""

    def make(arguments: Arguments, pool: Pool, draw: random.Random) -> str | None:
        """Return the first word that fits the letters; None where none does."""
        letters = arguments["letter"].lower()
        longer = (word for word in pool.words if len(word) > max(2, len(letters)))
        return next((word for word in longer if fits(word.lower(), letters)), None)

    return make


OPEN_ANSWERS: dict[str, Maker] = {
    "sentence_containing": _with_word(None),
    "sentence_not_containing": _without_word,
    "starts_with_word": _with_word(0),
    "ends_with_word": _with_word(-1),
    "word_containing": _shortest(lambda word, part: part in word),
    "word_not_containing": _shortest(lambda word, part: part not in word),
    "starts_with_letter": _shortest(lambda word, part: word.startswith(part)),
    "ends_with_letter": _shortest(lambda word, part: word.endswith(part)),
}
"""Tasks of which many answers are right, and what makes one."""


def answer_to(row: Row, pool: Pool, draw: random.Random) -> str | None:
    """A right answer to a prompt; None where there is no rule to make one."""
    if row["answer"] is not None:
        return str(row["answer"])
    make = OPEN_ANSWERS.get(row["phenomenon"])
    return make(row["arguments"], pool, draw) if make else None


def _cut(row: Row, pool: Pool, draw: random.Random) -> tuple[Arguments, str | None] | None:
    """A part of the sentence, with the words that are asked about."""
    task, arguments = row["phenomenon"], row["arguments"]
    words = arguments["sentence"].split()
    bare = [word.strip(MARKS) for word in words]
    first, last = 0, len(words) - 1
    if (query := arguments.get("query")) is not None:
        if bare.count(query) != 1:
            return None
        place = bare.index(query)
        first, last = (place, place + 1) if task == "word_after" else (place - 1, place)
        if first < 0 or last == len(words):
            return None
        start, end = draw.randint(0, first), draw.randint(last, len(words) - 1)
    else:
        start = draw.randint(0, last // 2)
        end = draw.randint(start + last // 2, last)
    answers = {"first_word": start, "last_word": end, "word_after": last, "word_before": first}
    answer = bare[answers[task]]
    part = " ".join(words[start : end + 1]).strip(",;:")
    return ({"sentence": part}, answer) if answer and end > start else None


def _other_word(row: Row, pool: Pool, draw: random.Random) -> tuple[Arguments, str | None]:
    word = draw.choice(pool.words)
    answers = {"first_letter": word[0], "last_letter": word[-1]}
    return {"word": word}, answers.get(row["phenomenon"])


def _other_letters(row: Row, pool: Pool, draw: random.Random) -> tuple[Arguments, None]:
    """Letters that follow one another in some word; one letter is asked for in upper case."""
    word, size = draw.choice(pool.words), draw.choice(PARTS)
    start = draw.randint(0, max(0, len(word) - size))
    if row["phenomenon"] in ("starts_with_letter", "ends_with_letter"):
        start = 0 if row["phenomenon"] == "starts_with_letter" else max(0, len(word) - size)
    part = word[start : start + size]
    return {"letter": part.upper() if size == 1 else part.lower()}, None


def _other_distractor(
    row: Row, pool: Pool, draw: random.Random
) -> tuple[Arguments, str | None] | None:
    word, arguments = draw.choice(pool.words), row["arguments"]
    known = {arguments["query"], arguments["answer"]}
    return None if word in known else ({"distractor": word}, row["answer"])


Varied = Callable[[Row, Pool, random.Random], tuple[Arguments, str | None] | None]
VARIED: dict[str, Varied] = {
    **dict.fromkeys(("first_word", "last_word", "word_after", "word_before"), _cut),
    **dict.fromkeys(("first_letter", "last_letter"), _other_word),
    **dict.fromkeys((task for task in OPEN_ANSWERS if task.startswith("sentence")), _other_word),
    **dict.fromkeys(("starts_with_word", "ends_with_word"), _other_word),
    **dict.fromkeys(("word_containing", "word_not_containing"), _other_letters),
    **dict.fromkeys(("starts_with_letter", "ends_with_letter"), _other_letters),
    "homophones": _other_distractor,
}
"""How a prompt of a task is asked of another argument."""


def _quoted(prompt: str, argument: str | None) -> str | None:
    """An argument as it stands in a prompt, with the marks around it; None where it doesn't."""
    match = re.search(rf"[\"'“„«]{re.escape(argument)}[\"'”“»]", prompt) if argument else None
    return match.group() if match else None


def vary(row: Row, pool: Pool, draw: random.Random) -> Row | None:
    """The prompt of a row with another argument, and its answer; None where that cannot be."""
    change = VARIED.get(row["phenomenon"])
    variation = change(row, pool, draw) if change and pool.words else None
    if variation is None:
        return None
    new, answer = variation
    prompt = row["prompt"]
    for role, value in new.items():
        known = _quoted(prompt, row["arguments"].get(role))
        if known is None:
            return None
        prompt = prompt.replace(known, f"{known[0]}{value}{known[-1]}", 1)
    return row | {"prompt": prompt, "answer": answer, "arguments": row["arguments"] | new}
