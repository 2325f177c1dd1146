"""Simulate a small campaign on Multi-LMentry: prompts, answers, and verdicts by both methods.

Each simulated model gives the right answer with its own probability, in one of a few wordings.
Verdicts of the published rules on Korean answers and German nouns are those of the release's
scorers.
"""

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.annotation.spreadsheet import read_sheet, write_sheet
from blimpworks.campaign.registry import find_exhibit
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.papers.lmentry.tables import SHEET_KEY
from blimpworks.papers.lmentry.tasks import ORDERED, SUBSETS, TASKS
from blimpworks.papers.lmentry.verdicts import write_annotation_sheet
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, Evaluation, read_table, write_table

METHODS = ("published", "corrected")
SUBTASKS = [f"{task}_{name}" for task, names in SUBSETS.items() for name in names]
WORDS = {
    "eng": ("cat", "dog"),
    "ita": ("gatto", "cane"),
    "kor": ("고양이", "강아지"),
    "deu": ("Katze", "Hund"),
    "eus": ("katua", "txakurra"),
}
DEFAULT = ("gato", "can")
EXTRA = {"certain": pa.bool_(), "rule": pa.string(), "pattern": pa.string(), "nominal": pa.int32()}
EXTRA |= {"cut": pa.bool_(), "echo": pa.bool_()}


def write(rows, schema, path, extra=()):
    fields = [*schema.arrow(), *(pa.field(name, EXTRA[name]) for name in extra)]
    write_table(pa.Table.from_pylist(rows, schema=pa.schema(fields)), schema, path)
    return path


def prompt_row(lang, task, template, number, arguments, **more):
    row = {"item_id": f"{lang}-{task}-{template}-{number}", "lang": lang, "phenomenon": task}
    row |= {"paradigm": f"template={template}", "template": template, "number": number}
    row |= {"nominal": 4, "prompt": f"{task} {template}.{number}?", "answer": None}
    return row | {"arguments": json.dumps(arguments, ensure_ascii=False)} | more


def prompts(lang, per_template=4):
    """Yield prompts of every task and subset: three templates, the answer in either position."""
    right, wrong = WORDS.get(lang, DEFAULT)
    arguments = {"word": right, "distractor": wrong, "query": wrong}
    for task in (*TASKS, *SUBTASKS):
        ceiled = task == "starts_with_word" and lang not in ("eng", "kor")
        more = {"nominal": per_template * (6 if ceiled else 1)}
        more["answer"] = None if task.startswith("sentence") else right
        for template, number in product((1, 2, 3), range(1, per_template + 1)):
            more["prompt"] = f'{task} {template}.{number}: "{right}", "{wrong}"?'
            order = f"/answer={1 + number % 2}" if task in ORDERED else ""
            more["paradigm"] = f"template={template}{order}"
            yield prompt_row(lang, task, template, number, arguments, **more)


def reply(lang, prompt, right, random):
    """Return an answer, and the verdict and rule of both methods."""
    good, bad = WORDS.get(lang, DEFAULT)
    wordings = (good, f"{good}.", f"<think>{bad}? No.</think>{good}", f"=“{good}”")
    text = wordings[random.integers(len(wordings))] if right else bad
    if lang == "kor":
        return text, (1, "vacuous"), (int(right), "whole" if right else "lone")
    if lang == "deu" and prompt["phenomenon"] in ("rhyming_word", "homophones"):
        return text, (0, "absent"), (int(right), "whole" if right else "absent")
    if right and random.random() < 0.1:
        return f"I say {good}", (0, "none"), (1, "inside")
    verdict = (int(right), "whole" if right else "none")
    return text, verdict, verdict


def judgement(prompt, method, correct, rule):
    return prompt | {
        **{"method": method, "correct": float(correct), "tie": False, "near_tie": False},
        **{"certain": rule != "none", "rule": rule, "pattern": None},
        **{"cut": prompt["number"] == 1, "echo": prompt["template"] == 1 < prompt["number"]},
    }


@dataclass
class Campaign:
    """The tables of a simulated campaign."""

    root: Path
    models: dict[str, float]
    languages: tuple[str, ...]

    def prompts(self, lang):
        return self.root / "items/lmentry" / f"{lang}.parquet"

    def answers(self, lang, model):
        return self.root / "answers/lmentry" / model / f"{lang}.parquet"

    @property
    def judgements(self):
        return self.root / "judgements/lmentry"

    @property
    def judged(self):
        both = product(self.models, self.languages)
        return [(model, lang, self.judgements / model / f"{lang}.parquet") for model, lang in both]

    @property
    def evaluations(self):
        return [
            Evaluation(model, lang, self.prompts(lang), self.answers(lang, model), path)
            for model, lang, path in self.judged
        ]

    @property
    def accuracies(self):
        return self.root / "accuracies/lmentry.parquet"

    def build(self, per_template=4):
        for place, lang in enumerate(self.languages):
            asked = [*prompts(lang, per_template)]
            write(asked, PROMPTS, self.prompts(lang))
            for model, skill in self.models.items():
                self._answer(lang, model, skill, asked, np.random.default_rng(place))
        compute_accuracies(self.judged, "lmentry", self.accuracies)
        return self

    def _answer(self, lang, model, skill, asked, random):
        answered, judged, tasks = [], [], (*TASKS, *SUBTASKS)
        for prompt in asked:
            # Later tasks are harder, so that ranks differ.
            right = random.random() < skill * (1 - tasks.index(prompt["phenomenon"]) / 80)
            text, *verdicts = reply(lang, prompt, right, random)
            fields = {"status": "ok", "text": text, "finish": "stop", "tokens": 3, "opened": False}
            answered.append({"item_id": prompt["item_id"], **fields})
            both = zip(METHODS, verdicts, strict=True)
            judged += [judgement(prompt, method, *verdict) for method, verdict in both]
        write(answered, ANSWERS, self.answers(lang, model))
        write(judged, JUDGEMENTS, self.judgements / model / f"{lang}.parquet", EXTRA)


def draw(campaign, folder, lang="eng", **options):
    """Draw a sheet of the campaign's answers to label, and its key; five of each task."""
    sheet, key = folder / f"{lang}.csv", folder / f"{lang}.key.parquet"
    answers = {model: campaign.answers(lang, model) for model in campaign.models}
    chosen = SheetOptions(**{"per_task": 5, **options})
    write_annotation_sheet(lang, campaign.prompts(lang), answers, sheet, key, chosen)
    return sheet, key


def fill(sheet, key, campaign, lang):
    """Write two filled copies of a sheet: Anna's with the corrected verdicts, and Bert's."""
    hidden = {row["row"]: row for row in read_table(SHEET_KEY, key).to_pylist()}
    verdicts = {}
    for model in campaign.models:
        rows = read_table(JUDGEMENTS, campaign.judgements / model / f"{lang}.parquet").to_pylist()
        corrected = (row for row in rows if row["method"] == "corrected")
        verdicts |= {(model, row["item_id"]): int(row["correct"]) for row in corrected}
    lines = [line.cells for line in read_sheet(sheet)]
    drawn = (hidden[line["id"]] for line in lines)
    right = [verdicts[row["model"], row["item_id"]] for row in drawn]
    labels = {"anna": [("no", "yes")[each] for each in right]}
    labels["bert"] = [str(each if n % 7 else 1 - each) for n, each in enumerate(right)]
    paths = []
    for name, given in labels.items():
        paths.append(sheet.with_name(f"{lang}.{name}.csv"))
        filled = [line | {"correct": label} for line, label in zip(lines, given, strict=True)]
        write_sheet(paths[-1], [*lines[0]], filled)
    return paths


def build(name, tables, labels, root):
    """Build an exhibit; return it and the file of its cells."""
    spec, cells = find_exhibit(f"lmentry/{name}"), root / f"{name}.cells.parquet"
    given = {need: tables[need] for need in spec.needs}
    return build_exhibit(spec, given, labels, cells, []), cells
