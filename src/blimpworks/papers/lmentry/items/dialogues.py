"""Dialogues to train a small model on that follows instructions in the benchmark's form.

They are made of prompts with other arguments than the benchmark's: drawn with another seed, and
where the benchmark asks the same all the same, asked of a varied argument. Where many answers
are right, a simple rule makes one.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.lmentry.items.arguments import Pool, answer_to, vary
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.prompt_tables import PROMPTS
from blimpworks.tables import read_table

TRIES = 20
"""How often a new prompt is looked for before a template has had enough."""
QUOTED = 3
"""Number of the template whose answers of one word stand in quotation marks: judges and readers
of answers meet more than one form."""
UNQUOTED = ("any_words_from_category", "all_words_from_category", "bigger_number", "smaller_number")
"""Tasks whose answers never do."""
FIELDS = ("lang", "phenomenon", "template", "prompt", "answer", "arguments")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A system prompt, a prompt and its answer."""

    system: str
    prompt: str
    answer: str

    def line(self) -> str:
        """The dialogue as a line of JSON."""
        fields = {"system": self.system, "prompt": self.prompt, "answer": self.answer}
        return json.dumps(fields, ensure_ascii=False)


def read_prompts(paths: Sequence[Path]) -> list[Row]:
    """Rows of PROMPTS tables, their arguments read.

    Raises UserError when a table is missing or malformed.
    """
    rows = chain.from_iterable(read_table(PROMPTS, path, FIELDS).to_pylist() for path in paths)
    return [row | {"arguments": json.loads(row["arguments"])} for row in rows]


def _grouped(rows: list[Row]) -> dict[tuple[str, str, int], list[Row]]:
    """Rows of each language, task and template; subsets of tasks ask the same and are left out."""
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row["phenomenon"] in TASKS:
            groups[row["lang"], row["phenomenon"], row["template"]].append(row)
    return groups


def _candidates(rows: list[Row], pool: Pool, draw: random.Random) -> Iterator[Row | None]:
    """The rows as they are, then again and again with varied arguments; None where that fails."""
    yield from rows
    while True:
        yield vary(draw.choice(rows), pool, draw)


def _form(task: str, template: int, answer: str) -> str:
    """An answer as a template has it: in quotation marks, or bare."""
    if template == QUOTED and task not in UNQUOTED and " " not in answer:
        return f'"{answer}"'
    return answer


def _of_template(
    rows: list[Row], taken: set[str], pool: Pool, draw: random.Random, most: int
) -> Iterator[tuple[str, str]]:
    """At most ``most`` prompts of one task and template, none ``taken``, with their answers.

    They are added to ``taken``. Fewer where nothing new is found in ``TRIES`` tries in a row.
    """
    count = missed = 0
    for number, candidate in enumerate(_candidates(rows, pool, draw)):
        if count == most or missed == TRIES:
            return
        known = candidate is not None and candidate["prompt"] in taken
        row = vary(candidate, pool, draw) if candidate and known else candidate
        answer = answer_to(row, pool, draw) if row and row["prompt"] not in taken else None
        if row is None or answer is None:
            missed += number >= len(rows)
            continue
        count, missed = count + 1, 0
        taken.add(row["prompt"])
        yield row["prompt"], _form(row["phenomenon"], row["template"], answer)


def make_dialogues(
    practice: list[Row], benchmark: list[Row], systems: dict[str, str], seed: int, most: int
) -> Iterator[Dialogue]:
    """Dialogues of ``practice``, at most ``most`` of each language, task and template.

    ``benchmark`` has the rows whose prompts are left out, ``systems`` the system prompt of each
    language. Repeats for the same ``seed``.
    """
    yield from _make(practice, {row["prompt"] for row in benchmark}, systems, seed, most)


def _make(
    practice: list[Row], taken: set[str], systems: dict[str, str], seed: int, most: int
) -> Iterator[Dialogue]:
    """As ``make_dialogues``; prompts that are made are added to ``taken``."""
    groups = _grouped(practice)
    langs = {row["lang"] for row in practice}
    pools = {lang: Pool.of(row for row in practice if row["lang"] == lang) for lang in langs}
    for (lang, task, template), rows in groups.items():
        draw = random.Random(f"{seed} {lang} {task} {template}")
        draw.shuffle(rows)
        for prompt, answer in _of_template(rows, taken, pools[lang], draw, most):
            yield Dialogue(systems[lang], prompt, answer)


def build_dialogues(
    practice: Sequence[Path],
    benchmark: Sequence[Path],
    packs: Sequence[Path],
    output: Path,
    *,
    seed: int,
    per_template: int,
) -> dict[str, int]:
    """Write the dialogues of some languages as JSON Lines; returns counts.

    ``practice`` and ``benchmark`` are PROMPTS tables, of a language each, ``packs`` the
    languages' packs. One language's prompts are in memory at a time.
    Raises UserError when one is missing or malformed, a language has no pack, or nothing is left.
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
            rows = _practice(path, systems)
            prompts += len(rows)
            for dialogue in _make(rows, taken, systems, seed, per_template):
                file.write(f"{dialogue.line()}\n")
                written += 1
        if not written:
            raise UserError(
                f"{practice[0]}: each of the {prompts} prompts is one of the benchmark's; build "
                "them with another seed."
            )
    return {"prompts": prompts, "dialogues": written}


def _practice(path: Path, systems: dict[str, str]) -> list[Row]:
    """Prompts to practise on. Raises UserError where their language has no system prompt."""
    rows = read_prompts([path])
    if missing := {row["lang"] for row in rows} - {*systems}:
        raise UserError(
            f"{path}: there are prompts in {', '.join(sorted(missing))}, but of the packs "
            f"given none is of that language; give its file of config/lmentry/languages."
        )
    return rows
