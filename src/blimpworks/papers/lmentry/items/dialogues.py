"""Make dialogues in the benchmark's form, to train a small model to follow instructions.

``build_dialogues`` writes JSON Lines, each with a system prompt, a prompt and a right answer:

    {"system": "...", "prompt": "Write a word that ends with 't'.", "answer": "cat"}

The prompts' arguments differ from the benchmark's: they are drawn with another seed, and varied in
tasks that allow it. Answers are right by the tasks' definitions (Moroni and others 2025, Table 1).
If many answers are right, a simple rule makes one, such as a sentence with one word replaced.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.tasks import LETTERS, TASKS
from blimpworks.tables import PROMPTS, read_table

FRAMES = 12
"""Number of the shortest sentences that become answers: a prompt's word replaces one word."""
MARKS = "\"'“”«»„‘’,.:;?!¿¡()…"
"""Characters at the ends of a word that are not part of it."""
LETTER_COUNTS = (1, 2, 3)
"""Possible numbers of letters in a varied prompt about a letter."""
Row = dict[str, Any]
SENTENCES = ("sentence_containing", "sentence_not_containing", "starts_with_word", "ends_with_word")
MANY_ANSWERS = (*LETTERS, *SENTENCES)
"""Tasks with many right answers."""
FROM_SENTENCES = ("first_word", "last_word", "word_after", "word_before")
VARIED = (*FROM_SENTENCES, "first_letter", "last_letter", *MANY_ANSWERS, "homophones")
"""Tasks in whose prompts the argument can be replaced by another argument."""


class Pool:
    """Vocabulary and sentences of the prompts of a language."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Collect words and sentences from the arguments of prompts."""
        distinct_words, sentences = set[str](), set[str]()
        for row in rows:
            arguments = row["arguments"]
            if sentence := arguments.get("sentence"):
                sentences.add(sentence)
            distinct_words |= {arguments[key] for key in ("word", "query") if arguments.get(key)}
        distinct_words |= {word.strip(MARKS) for sentence in sentences for word in sentence.split()}
        vocabulary = [word for word in distinct_words if word.isalpha() and len(word) > 1]
        self.vocabulary = sorted(vocabulary, key=lambda word: (len(word), word))
        # Words of the shortest sentences, without their full stop.
        shortest_first = sorted(sentences, key=lambda sentence: (len(sentence), sentence))
        frames = [sentence.rstrip(".").split() for sentence in shortest_first]
        self.frames = [frame for frame in frames if len(frame) > 2][:FRAMES]


def answer_to(row: Row, pool: Pool, draw: random.Random) -> str | None:
    """Return a right answer to a prompt; None for a task without a rule for it."""
    task, arguments = row["phenomenon"], row["arguments"]
    if row["answer"] is not None:
        return str(row["answer"])
    if task in LETTERS:
        # The shortest right word that is longer than the letters.
        letters = arguments["letter"].lower()
        longer = (word for word in pool.vocabulary if len(word) > max(2, len(letters)))
        return next((word for word in longer if LETTERS[task](word.lower(), letters)), None)
    if task not in SENTENCES:
        return None
    frames, word = pool.frames, arguments["word"]
    if task == "sentence_not_containing":
        frames = [f for f in frames if word.lower() not in " ".join(f).lower()]
    if not frames:
        return None
    frame = list(draw.choice(frames))
    if task != "sentence_not_containing":
        # The word replaces one of the frame's words.
        word_positions = {"starts_with_word": 0, "ends_with_word": -1}
        frame[word_positions.get(task, len(frame) // 2)] = word
    return f"{' '.join(frame)}."


Variation = tuple[str, str, str | None]
"""Name and new value of a prompt's argument; and the new gold answer, None if many are right."""


def _part_of_sentence(row: Row, draw: random.Random) -> Variation | None:
    """Return a part of the sentence that contains the words in question; None if impossible."""
    task, arguments = row["phenomenon"], row["arguments"]
    sentence_words = arguments["sentence"].split()
    bare = [word.strip(MARKS) for word in sentence_words]
    last, query = len(sentence_words) - 1, arguments.get("query")
    if query is None:
        start = draw.randint(0, last // 2)
        end = draw.randint(start + last // 2, last)
        answer_index = start if task == "first_word" else end
    else:
        if bare.count(query) != 1:
            return None
        query_index = bare.index(query)
        answer_index = query_index + (1 if task == "word_after" else -1)
        if not 0 <= answer_index <= last:
            return None
        start = draw.randint(0, min(query_index, answer_index))
        end = draw.randint(max(query_index, answer_index), last)
    phrase, answer = " ".join(sentence_words[start : end + 1]).strip(",;:"), bare[answer_index]
    return ("sentence", phrase, answer) if answer and end > start else None


def _variation(row: Row, pool: Pool, draw: random.Random) -> Variation | None:
    """Return another argument for a task of ``VARIED``; None if impossible."""
    task, arguments = row["phenomenon"], row["arguments"]
    if task in FROM_SENTENCES:
        return _part_of_sentence(row, draw)
    word = draw.choice(pool.vocabulary)
    if task in LETTERS:
        # Neighbouring letters of some word; a single letter is in upper case.
        size = draw.choice(LETTER_COUNTS)
        start = draw.randint(0, max(0, len(word) - size))
        if task in ("starts_with_letter", "ends_with_letter"):
            start = 0 if task == "starts_with_letter" else max(0, len(word) - size)
        letters = word[start : start + size]
        return "letter", letters.upper() if size == 1 else letters.lower(), None
    if task == "homophones":
        is_right = word in (arguments["query"], arguments["answer"])
        return None if is_right else ("distractor", word, row["answer"])
    return "word", word, {"first_letter": word[0], "last_letter": word[-1]}.get(task)


def vary(row: Row, pool: Pool, draw: random.Random) -> Row | None:
    """Return a row with another argument in its prompt, and its answer; None if impossible."""
    if row["phenomenon"] not in VARIED or not pool.vocabulary:
        return None
    variation = _variation(row, pool, draw)
    if variation is None:
        return None
    name, value, answer = variation
    # The argument in the prompt, with the marks around it.
    argument = row["arguments"].get(name)
    match = argument and re.search(rf"[\"'“„«]{re.escape(argument)}[\"'”“»]", row["prompt"])
    if not match:
        return None
    quoted = match[0]
    prompt = row["prompt"].replace(quoted, f"{quoted[0]}{value}{quoted[-1]}", 1)
    return row | {"prompt": prompt, "answer": answer, "arguments": row["arguments"] | {name: value}}


TRIES = 20
"""Number of successive failures after which a template gets no more prompts."""
QUOTED = 3
"""Number of the template with quoted one-word answers, so that forms of answers vary."""
UNQUOTED = ("any_words_from_category", "all_words_from_category", "bigger_number", "smaller_number")
"""Tasks whose answers are never quoted."""
PROMPT_COLUMNS = ("lang", "phenomenon", "template", "prompt", "answer", "arguments")


def make_dialogues(
    practice: list[Row], taken: set[str], systems: dict[str, str], seed: int, most: int
) -> Iterator[dict[str, str]]:
    """Yield at most ``most`` dialogues of each language, task and template from ``practice``.

    Prompts in ``taken`` are left out, and new prompts are added to it. ``systems`` has the system
    prompt of each language. The same ``seed`` makes the same dialogues.
    """
    # Subsets of tasks ask the same as their tasks.
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in practice:
        if row["phenomenon"] in TASKS:
            groups[row["lang"], row["phenomenon"], row["template"]].append(row)
    langs = {row["lang"] for row in practice}
    pools = {lang: Pool(row for row in practice if row["lang"] == lang) for lang in langs}
    for (lang, task, template), rows in groups.items():
        draw, pool = random.Random(f"{seed} {lang} {task} {template}"), pools[lang]
        draw.shuffle(rows)
        made = failures = 0
        for number in count():
            if made == most or failures == TRIES:
                break
            # First take the prompts themselves, then varied prompts. Only the latter may run out.
            is_varied = number >= len(rows)
            item = vary(draw.choice(rows), pool, draw) if is_varied else rows[number]
            if item and item["prompt"] in taken:
                item = vary(item, pool, draw)
            answer = answer_to(item, pool, draw) if item and item["prompt"] not in taken else None
            if item is None or answer is None:
                failures += is_varied
                continue
            made, failures = made + 1, 0
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
    taken: set[str] = set()
    for path in benchmark:
        taken.update(read_table(PROMPTS, path, ["prompt"])["prompt"].to_pylist())
    prompts = written = 0
    with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for path in practice:
            rows = read_table(PROMPTS, path, PROMPT_COLUMNS).to_pylist()
            for row in rows:
                row["arguments"] = json.loads(row["arguments"])
            if missing := {row["lang"] for row in rows} - {*systems}:
                raise UserError(
                    f"{path} has prompts in {', '.join(sorted(missing))}, for which no language "
                    "pack is named; expected one for each language. Name its file of "
                    "config/lmentry/languages."
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
