"""Make dialogues that train a small model to follow instructions in the benchmark's form.

Prompts have other arguments than the benchmark's: drawn with another seed, and varied where that
makes no difference. Answers are right by the tasks' definitions (Moroni and others 2025, Table 1),
no more: of many right ones a simple rule makes one, and sentences are those of prompts with a word
put in.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.tasks import LETTERS, TASKS
from blimpworks.tables import PROMPTS, read_table

FRAMES = 12
MARKS = "\"'“”«»„‘’,.:;?!¿¡()…"
"""Characters that are no part of a word at its ends."""
PARTS = (1, 2, 3)
"""Numbers of letters that a prompt asks for instead of one."""
Row = dict[str, Any]
SENTENCES = ("sentence_containing", "sentence_not_containing", "starts_with_word", "ends_with_word")
OPEN_ANSWERS = (*LETTERS, *SENTENCES)
"""Tasks with many right answers."""
FROM_SENTENCES = ("first_word", "last_word", "word_after", "word_before")
VARIED = (*FROM_SENTENCES, "first_letter", "last_letter", *OPEN_ANSWERS, "homophones")


@dataclass(frozen=True, slots=True)
class Pool:
    """Words and sentences in the prompts of a language."""

    words: tuple[str, ...]
    """Single words of letters, short ones first."""
    frames: tuple[tuple[str, ...], ...]
    """Words of short sentences, without their full stop."""

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Pool":
        """Collect words and sentences from arguments of prompts."""
        word_set, sentences = set[str](), set[str]()
        for row in rows:
            arguments = row["arguments"]
            if text := arguments.get("sentence"):
                sentences.add(text)
            word_set.update(arguments[role] for role in ("word", "query") if arguments.get(role))
        word_set.update(word.strip(MARKS) for text in sentences for word in text.split())
        usable = (word for word in word_set if word.isalpha() and len(word) > 1)
        split = (tuple(t.rstrip(".").split()) for t in sorted(sentences, key=lambda t: (len(t), t)))
        frames = [frame for frame in split if len(frame) > 2][:FRAMES]
        return cls(tuple(sorted(usable, key=lambda word: (len(word), word))), tuple(frames))


def answer_to(row: Row, pool: Pool, draw: random.Random) -> str | None:
    """Return a right answer to a prompt, or None without a rule for one."""
    task, arguments = row["phenomenon"], row["arguments"]
    if row["answer"] is not None:
        return str(row["answer"])
    if task in LETTERS:
        # The shortest word of more than the letters that fits them.
        letters = arguments["letter"].lower()
        longer = (word for word in pool.words if len(word) > max(2, len(letters)))
        return next((word for word in longer if LETTERS[task](word.lower(), letters)), None)
    if task not in SENTENCES:
        return None
    frames, word = pool.frames, arguments["word"]
    if task == "sentence_not_containing":
        frames = tuple(f for f in frames if word.lower() not in " ".join(f).lower())
    if not frames:
        return None
    frame = list(draw.choice(frames))
    if task != "sentence_not_containing":
        # The word stands in the place of one of the frame.
        word_positions = {"starts_with_word": 0, "ends_with_word": -1}
        frame[word_positions.get(task, len(frame) // 2)] = word
    return f"{' '.join(frame)}."


def _variation(row: Row, pool: Pool, draw: random.Random) -> tuple[str, str, str | None] | None:
    """Return another argument for a task of ``VARIED``: role, value, an only answer; or None."""
    task, arguments = row["phenomenon"], row["arguments"]
    if task in FROM_SENTENCES:
        # A part of the sentence, with the words that are asked about.
        sentence_words = arguments["sentence"].split()
        bare = [word.strip(MARKS) for word in sentence_words]
        first, last = 0, len(sentence_words) - 1
        if (query := arguments.get("query")) is not None:
            if bare.count(query) != 1:
                return None
            at = bare.index(query)
            first, last = (at, at + 1) if task == "word_after" else (at - 1, at)
            if first < 0 or last == len(sentence_words):
                return None
            start, end = draw.randint(0, first), draw.randint(last, len(sentence_words) - 1)
        else:
            start = draw.randint(0, last // 2)
            end = draw.randint(start + last // 2, last)
        answers = {"first_word": start, "last_word": end, "word_after": last, "word_before": first}
        answer = bare[answers[task]]
        phrase = " ".join(sentence_words[start : end + 1]).strip(",;:")
        return ("sentence", phrase, answer) if answer and end > start else None
    word = draw.choice(pool.words)
    if task in LETTERS:
        # Letters that follow one another in some word; one letter is asked for in upper case.
        size = draw.choice(PARTS)
        start = draw.randint(0, max(0, len(word) - size))
        if task in ("starts_with_letter", "ends_with_letter"):
            start = 0 if task == "starts_with_letter" else max(0, len(word) - size)
        letters = word[start : start + size]
        return "letter", letters.upper() if size == 1 else letters.lower(), None
    if task == "homophones":
        taken = word in (arguments["query"], arguments["answer"])
        return None if taken else ("distractor", word, row["answer"])
    return "word", word, {"first_letter": word[0], "last_letter": word[-1]}.get(task)


def vary(row: Row, pool: Pool, draw: random.Random) -> Row | None:
    """Return a row with another argument in its prompt, and its answer; None if impossible."""
    has_words = row["phenomenon"] in VARIED and pool.words
    variation = _variation(row, pool, draw) if has_words else None
    if variation is None:
        return None
    role, value, answer = variation
    # The argument as it stands in the prompt, with the marks around it.
    argument = row["arguments"].get(role)
    match = argument and re.search(rf"[\"'“„«]{re.escape(argument)}[\"'”“»]", row["prompt"])
    if not match:
        return None
    quoted = match[0]
    prompt = row["prompt"].replace(quoted, f"{quoted[0]}{value}{quoted[-1]}", 1)
    arguments = row["arguments"] | {role: value}
    return row | {"prompt": prompt, "answer": answer, "arguments": arguments}


TRIES = 20
"""Failed tries in a row after which a template has enough prompts."""
QUOTED = 3
"""Template whose one-word answers are quoted, so that judges and readers meet several forms."""
UNQUOTED = ("any_words_from_category", "all_words_from_category", "bigger_number", "smaller_number")
"""Tasks whose answers are never quoted."""
FIELDS = ("lang", "phenomenon", "template", "prompt", "answer", "arguments")


def make_dialogues(
    practice: list[Row], taken: set[str], systems: dict[str, str], seed: int, most: int
) -> Iterator[dict[str, str]]:
    """Make at most ``most`` dialogues of each language, task and template from ``practice``.

    Prompts in ``taken`` are left out; new ones are added to it. ``systems``: system prompt by
    language. The same ``seed`` makes the same dialogues.
    """
    # Subsets of tasks ask the same and are left out.
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in practice:
        if row["phenomenon"] in TASKS:
            groups[row["lang"], row["phenomenon"], row["template"]].append(row)
    langs = {row["lang"] for row in practice}
    pools = {lang: Pool.of(row for row in practice if row["lang"] == lang) for lang in langs}
    for (lang, task, template), rows in groups.items():
        draw, pool = random.Random(f"{seed} {lang} {task} {template}"), pools[lang]
        draw.shuffle(rows)
        made = missed = 0
        for number in count():
            if made == most or missed == TRIES:
                break
            item = rows[number] if number < len(rows) else vary(draw.choice(rows), pool, draw)
            if item and item["prompt"] in taken:
                item = vary(item, pool, draw)
            answer = answer_to(item, pool, draw) if item and item["prompt"] not in taken else None
            if item is None or answer is None:
                missed += number >= len(rows)
                continue
            made, missed = made + 1, 0
            taken.add(item["prompt"])
            if template == QUOTED and task not in UNQUOTED and " " not in answer:
                answer = f'"{answer}"'
            yield {"system": systems[lang], "prompt": item["prompt"], "answer": answer}


def build_dialogues(
    practice: Sequence[Path],
    benchmark: Sequence[Path],
    packs: Sequence[Path],
    output: Path,
    *,
    seed: int,
    per_template: int,
) -> dict[str, int]:
    """Write the dialogues of some languages as JSON Lines; return counts.

    ``practice`` and ``benchmark``: PROMPTS tables, one a language; ``packs``: the languages' packs.
    One language's prompts are in memory at a time.
    """
    systems = {pack.lang: pack.system for pack in map(read_pack, packs)}
    taken = {
        prompt
        for path in benchmark
        for prompt in read_table(PROMPTS, path, ["prompt"])["prompt"].to_pylist()
    }
    prompts = written = 0
    with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for path in practice:
            rows = read_table(PROMPTS, path, FIELDS).to_pylist()
            for row in rows:
                row["arguments"] = json.loads(row["arguments"])
            if missing := {row["lang"] for row in rows} - {*systems}:
                raise UserError(
                    f"{path}: there are prompts in {', '.join(sorted(missing))}, but of the packs "
                    f"given none is of that language; give its file of config/lmentry/languages."
                )
            prompts += len(rows)
            for dialogue in make_dialogues(rows, taken, systems, seed, per_template):
                file.write(f"{json.dumps(dialogue, ensure_ascii=False)}\n")
                written += 1
        if not written:
            raise UserError(
                f"{practice[0]}: each of the {prompts} prompts is one of the benchmark's; build "
                "them with another seed."
            )
    return {"prompts": prompts, "dialogues": written}
