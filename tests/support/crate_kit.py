"""Build a small real results tree to export, and validate its crate without a network."""

import io
import json
import re
from contextvars import copy_context
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from rocrate_validator import models, services
from typer.testing import CliRunner
from urllib3 import HTTPResponse

from blimpworks.cli import app
from blimpworks.commands.declare import find_command
from blimpworks.exhibits.formulas import select_rows
from blimpworks.records.job import Job, record_arguments
from support import tiny
from support.paths import DATA, REPOSITORY

CONTEXT = DATA / "ro-crate-1.1-context.json"
CONTEXT_URL = "https://w3id.org/ro/crate/1.1/context"
PAIRS = [
    ("the dog sees.", "dog the sees."),
    ("the bird finds the cat.", "the bird finds cat the."),
    ("the nurse hears the dog!", "nurse the hears the dog!"),
    ("the água sees.", "água the sees."),
]
LABELS = {"languages": {"eng": "English"}, "models": {"grams": "3-gram"}}
LABELS |= {"method": "full_sentence", "facts": {"table_models": ["grams"]}}


def run(*arguments):
    """Run a command line in this process; return what it prints."""
    words = [str(argument) for argument in arguments]

    def invoke():
        record_arguments(words)
        return CliRunner().invoke(app, words, catch_exceptions=False)

    return copy_context().run(invoke).output


def write_campaign(path, results, **settings):
    """Write a campaign file for results in ``results``, with the repository's catalogue."""
    catalogue = {name: str(REPOSITORY / f"config/{name}.tsv") for name in ("languages", "models")}
    demo = REPOSITORY / "config/demo"
    catalogue |= {name: str(demo / f"{name}.tsv") for name in ("treebanks", "sources")}
    campaign = {"campaign": path.stem, "description": "Four pairs and a 3-gram model."}
    campaign |= {"pathvars": {"results": results}, "catalogue": catalogue, "models": []}
    campaign |= {"benchmarks": ["multiblimp"], "languages": ["eng"]}
    path.write_text(yaml.safe_dump(campaign | settings))
    return path


def evaluate(results, model, checkpoint, engine, *methods):
    """Write scores, judgements and accuracies of a model on the English pairs of ``results``."""
    items = results / "items/multiblimp/eng.parquet"
    scores = results / f"scores/multiblimp/{model}/eng.parquet"
    judged = results / "judgements/multiblimp"
    store = results / "store" / model
    words = tiny.score_words(items, checkpoint, engine, store)
    run(*words)
    run("collect-scores", "--items", items, *words[-4:], "--output", scores)
    decisions = [f"--method={method}" for method in methods]
    decisions += ["--ties", "wrong", "--near-tie", 0.001]
    paths = ("--items", items, "--scores", scores, "--output", judged / model / "eng.parquet")
    run("judge", *paths, *decisions)
    accuracies = results / "accuracies/multiblimp.parquet"
    models = ("--models", json.dumps({model: ["eng"]}), "--benchmark", "multiblimp")
    run("compute-accuracies", judged, *models, "--output", accuracies)
    return accuracies


def build_results(results):
    """Write one model's items, scores, judgements, accuracies and Table 5 as the workflow would."""
    checkpoint = tiny.make_ngram(tiny.write_corpus(Path("text.txt")), Path("model/checkpoint.json"))
    items = results / "items/multiblimp/eng.parquet"
    sampled = find_command("sample_items")
    with Job(sampled, inputs=[Path("text.txt")], outputs=[items], params={"seed": 1}):
        tiny.write_items(items, PAIRS, paradigm=["SG", "SG", "PL", "PL"])
    accuracies = evaluate(results, "grams", checkpoint, "kenlm", "full_sentence")
    files = [results / f"exhibits/multiblimp/table5.{suffix}" for suffix in ("csv", "md", "tex")]
    tables = (f"--input=accuracies={accuracies}", f"--input=items={items}")
    cells = ("--cells", results / "exhibits/multiblimp/table5.cells.parquet")
    named = (*cells, *tables, "--labels", json.dumps(LABELS))
    run("build-exhibit", "multiblimp/table5", *files, *named)


def seed_cache(path):
    """Write an HTTP cache that holds the RO-Crate context, as the validator would fetch it."""

    class FromFile(HTTPAdapter):
        def send(self, request, **_):
            body = io.BytesIO(CONTEXT.read_bytes())
            headers = {"Content-Type": "application/ld+json"}
            raw = HTTPResponse(body, status=200, headers=headers, preload_content=False)
            return self.build_response(request, raw)

    with CachedSession(cache_name=str(path), backend="sqlite", expire_after=-1) as session:
        session.mount("https://w3id.org/", FromFile())
        session.get(CONTEXT_URL)
    return path


def verdict(crate, cache, profile="provenance-run-crate"):
    """Return messages of the validator's findings at its required level."""
    where = {"rocrate_uri": str(crate), "cache_path": str(cache), "offline": True}
    required = models.Severity.REQUIRED
    settings = models.ValidationSettings(
        profile_identifier=profile, requirement_severity=required, **where
    )
    return [issue.message for issue in services.validate(settings).get_issues()]


def differing_cells(crate):
    """Return cells of a crate that differ from the value of their formula's code on their rows."""
    texts = re.split(
        r"^## (.+)\n\n```python\n", (crate / "formulas.md").read_text("utf-8"), flags=re.M
    )
    formulas = {}
    for name, code in zip(texts[1::2], texts[2::2], strict=True):
        scope = {}
        exec(code.rpartition("```")[0], scope)
        formulas[name] = scope["formula"]
    place = ["paper", "form", "exhibit", "source"]
    sources = read(crate / "sources.csv").groupby(place, sort=False)["file"]
    files = {key: tuple(names) for key, names in sources}

    @cache
    def table(names, words):
        parts = [read(crate / name, dtype=dict.fromkeys(words, str)) for name in names]
        return pd.concat(parts, ignore_index=True)

    @cache
    def chosen(names, words, column, condition):
        frame = table(names, words)
        return np.isin(frame.index, select_rows(frame, {column: json.loads(condition)}).index)

    differing = []
    for cell in read(crate / "cells.csv", dtype={"row": str, "column": str}).to_dict("records"):
        where = {
            column: json.dumps(wanted) for column, wanted in json.loads(cell["filter"]).items()
        }
        tables = files[tuple(cell[name] for name in place)]
        words = tuple(column for column, condition in where.items() if '"' in condition)
        rows = table(tables, words)
        for column, condition in where.items():
            kept = chosen(tables, words, column, condition)
            rows = rows[kept[rows.index]]
        value = formulas[cell["formula"]](rows)
        if value != pytest.approx(cell["value"], rel=1e-9, abs=1e-9):
            differing.append([cell[name] for name in (*place[:3], "row", "column")])
    return differing


def read(path, **options):
    return pd.read_csv(path, keep_default_na=False, na_values=[""], **options)
