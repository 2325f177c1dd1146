"""Annotation sheets: a random part of a campaign's answers, for people to judge.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and appendix A.6: 1,000 random
predictions of each task, over random models.
"""

import json
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.annotation.spreadsheet import write_sheet
from blimpworks.errors import UserError
from blimpworks.generation.reasoning import strip_reasoning
from blimpworks.papers.lmentry.items.packs import Pack, read_pack
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.papers.lmentry.tables import SHEET_KEY
from blimpworks.papers.lmentry.tasks import ALL_WORDS, ANY_WORDS, SUBJECTS, is_yes, task_of
from blimpworks.prompt_tables import ANSWERS, PROMPTS
from blimpworks.scoring.shards import OK
from blimpworks.tables import read_table, write_frame

ID, TASK, CORRECT = "id", "task", "correct"
COLUMNS = (ID, "lang", TASK, "prompt", "gold", "answer", CORRECT, "note")


def _digest(*parts: object, size: int) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=size).hexdigest()


def gold_of(answer: str | None, arguments: str | None) -> str:
    """The gold answer; where many are right, what the prompt is about, such as ``word: cat``."""
    if answer is not None:
        return answer
    known = json.loads(arguments or "{}")
    return next((f"{name}: {known[name]}" for name in SUBJECTS if known.get(name)), "")


def _gold_and_note(row: Mapping[Hashable, Any], pack: Pack) -> tuple[str | None, str]:
    """The gold answer to what a published template asks, and a note where that is another task.

    Empty where the arguments do not tell the answer to the other task.
    """
    task = task_of(row["phenomenon"])
    other = pack.answers.asks.get(f"{task}.{row['template']}") if pack.answers else None
    if other is None:
        return row["gold"], ""
    known, note = json.loads(row["arguments"] or "{}"), f"the prompt asks for {other}"
    if other not in (ANY_WORDS, ALL_WORDS) or pack.yes_no is None or "num_distractors" not in known:
        return "", note
    yes, no = pack.yes_no
    return yes if is_yes(other, known) else no, note


def _prompts(path: Path, pack: Pack | None) -> pd.DataFrame:
    """Prompts with their gold answers; ``pack`` is that of published ones."""
    columns = ["item_id", "phenomenon", "template", "prompt", "answer", "arguments"]
    frame: pd.DataFrame = read_table(PROMPTS, path, columns).to_pandas()
    frame = frame.astype({"phenomenon": str}).rename(columns={"answer": "gold"}).assign(note="")
    if pack is not None and len(frame):
        golds = [_gold_and_note(row, pack) for row in frame.to_dict("records")]
        frame["gold"], frame["note"] = [gold for gold, _ in golds], [note for _, note in golds]
    return frame


def _answers(path: Path) -> pd.DataFrame:
    frame: pd.DataFrame = read_table(
        ANSWERS, path, ["item_id", "status", "text", "opened"]
    ).to_pandas()
    return frame[frame["status"] == OK].drop(columns="status")


def _first(rows: pd.DataFrame, per_task: int) -> pd.DataFrame:
    """The rows of each task that come first in the draw."""
    return rows.sort_values(["phenomenon", "rank"]).groupby("phenomenon", sort=False).head(per_task)


def draw(
    lang: str, prompts: pd.DataFrame, answers: Mapping[str, Path], options: SheetOptions
) -> pd.DataFrame:
    """The same number of random answers of each task, over all models; a task that has fewer, all.

    An answer's place in the draw depends on the seed, its model and its prompt alone: a larger
    sheet has all rows of a smaller one. One model's answers are in memory at a time.
    """
    drawn = pd.DataFrame()
    for model, path in answers.items():
        answered = prompts.merge(_answers(path), on="item_id")
        keys = [_digest(options.seed, lang, model, i, size=8) for i in answered["item_id"]]
        drawn = pd.concat([drawn, answered.assign(model=model, lang=lang, rank=keys)])
        drawn = _first(drawn, options.per_task)
    return drawn


def _with_identifiers(drawn: pd.DataFrame) -> pd.DataFrame:
    """What the sheet and its key say of the answers drawn.

    An identifier knows the answer, so that one that is no longer the model's is not found; its
    letter keeps spreadsheets from reading it as a number.
    """
    answers = [
        strip_reasoning(text or "", opened=bool(opened)).strip()
        for text, opened in zip(drawn["text"], drawn["opened"], strict=True)
    ]
    known = zip(drawn["lang"], drawn["model"], drawn["item_id"], answers, strict=True)
    golds = zip(drawn["gold"].astype(object), drawn["arguments"], strict=True)
    return drawn.assign(
        answer=answers,
        gold=[gold_of(None if pd.isna(gold) else gold, known) for gold, known in golds],
        row=["r" + _digest(*each, size=8) for each in known],
    )


def write_annotation_sheet(
    lang: str,
    prompts: Path,
    answers: Mapping[str, Path],
    sheet: Path,
    key: Path,
    options: SheetOptions,
    pack: Path | None = None,
) -> int:
    """Write the sheet of a language, and its key; return the number of rows.

    ``answers`` are the answers tables by model. The sheet says neither which model answered nor
    what the rules made of it. ``pack`` is the language pack where the prompts are the published
    ones: some of its templates ask for another task than theirs, and the sheet has the gold answer
    to what they ask. Raises UserError for tables that are missing or of another schema,
    and where nothing is answered.
    """
    drawn = draw(lang, _prompts(prompts, read_pack(pack) if pack else None), answers, options)
    if drawn.empty:
        raise UserError(
            f"{lang}: no prompt of {prompts} is answered by any of {len(answers)} models; "
            "expected at least one. Let the models answer first."
        )
    sampled = _with_identifiers(drawn)
    rows = sampled.rename(columns={"row": ID, "phenomenon": TASK}).assign(**{CORRECT: ""})
    write_frame(sampled, SHEET_KEY, key)
    write_sheet(sheet, COLUMNS, rows[[*COLUMNS]].astype(str).to_dict("records"))
    return len(rows)
