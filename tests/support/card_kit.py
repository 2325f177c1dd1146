"""Write a small evaluation for the report card: two models, two languages, fixed verdicts."""

import math
from pathlib import Path

from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.campaign.settings.base import TiePolicy
from blimpworks.commands.declare import find_command
from blimpworks.evaluation.card import model_table, sensitivity_table
from blimpworks.judging.judge import Rules, judge
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.records.job import Job
from blimpworks.tables import ACCURACIES, ITEMS, PARITY, write_rows, write_table
from support import judging_kit, tiny

WRONG: TiePolicy = "wrong"
# Margins of the pairs: right above 0, a tie at 0.
MARGINS = {
    "eng": {"small": [2, 3, 1, -1, 2, 4, -5, 0], "large": [2, 3, 1, 1, 2, 4, 5, -2]},
    "deu": {"small": [1, 1, -3, -4], "large": [1, 1, 3, 4]},
}
PHENOMENA = {"eng": ["number"] * 4 + ["person"] * 4, "deu": ["number"] * 4}
SIZES = {"small": 1.0, "large": 7.0}
PRINTED_SIZES = {"tiny": 0.5, "peer": 2.0, "huge": 70.0}
SENTENCES = {
    "eng": ("the dog {}sees", "the dog {}see"),
    "deu": ("der Hund {}läuft", "der Hund {}laufen"),
}


def sentences(lang):
    return [
        tuple(side.format(f"{number} ") for side in SENTENCES[lang])
        for number in range(len(PHENOMENA[lang]))
    ]


def tokens(text, total):
    """Return log-probabilities and ends of a sentence's words; all but the last have -1."""
    ends = [i for i, sign in enumerate(text) if sign == " "]
    return [(-1.0, end) for end in ends] + [(total + len(ends), len(text))]


def benchmark(root, **changes):
    languages = [*MARGINS]
    own = {"label": "Pairs", "citation": "Somebody (2020). Pairs.", "data": ""}
    own |= {"address": "https://example.org/pairs", "unit": "pair", "noun": "pair"}
    own |= {"mcnemar": "published", "chance": 0.5, "own_items": True, "all_items": {}}
    own |= {"methods": {model: ["full_sentence"] for model in SIZES}, "sensitivity": {}}
    own |= {"languages": dict.fromkeys(SIZES, languages), "printed": "", "names": ""}
    own |= {"items": {lang: f"{root}/items/pairs/{lang}.parquet" for lang in languages}}
    return own | {"accuracies": f"{root}/accuracies/pairs.parquet"} | changes


def facts(root, **changes):
    """Return facts on the evaluation; ``changes`` are fields of its benchmark."""
    models = {}
    for name, size in SIZES.items():
        about = {"label": f"{name.title()} model", "hf_id": f"org/{name}", "parameters": size}
        about |= {"architecture": "causal", "engine": "transformers", "dtype": "float32"}
        about |= {"first_token": "bos", "tuning": "base", "note": "", "manifests": []}
        checkpoint = f"{root}/models/{name}/multi/checkpoint.json"
        models[name] = about | {"checkpoint": checkpoint, "checkpoints": 1}
    own = {"campaign": "try", "description": "", "configfile": "try.yaml", "results": str(root)}
    own |= {"limit": None, "worst": 10, "languages": {"eng": "English", "deu": "German"}}
    printed = {name: {"label": name.title(), "parameters": s} for name, s in PRINTED_SIZES.items()}
    return own | {
        "models": models,
        "benchmarks": {"pairs": benchmark(root, **changes)},
        "printed": printed,
        "suite": None,
        "curves": False,
    }


def write_evaluation(root, texts=sentences, margins_of=MARGINS, ratings=None):
    """Write items, scores, judgements and accuracies; a status in place of a margin is no score."""
    judgements = []
    for lang, models in margins_of.items():
        pairs = texts(lang)
        n = len(pairs)
        items = root / f"items/pairs/{lang}.parquet"
        table = tiny.items_table(pairs, phenomenon=PHENOMENA[lang], lang=[lang] * n)
        if ratings:
            table = table.append_column("rating", [list(map(float, ratings[lang]))])
        write_table(table, ITEMS, items)
        for model, margins in models.items():
            statuses = {i: each for i, each in enumerate(margins) if isinstance(each, str)}
            rows = [
                (tokens(good, -20.0), tokens(bad, -20.0 - margin))
                if i not in statuses
                else ([(math.nan, len(good))], [(math.nan, len(bad))])
                for i, ((good, bad), margin) in enumerate(zip(pairs, margins, strict=True))
            ]
            scores = Path(model_table(root, "scores", "pairs", lang, model))
            judging_kit.write_scores(scores, rows, statuses)
            judged = Path(model_table(root, "judgements", "pairs", lang, model))
            command = find_command("judge")
            with Job(command, inputs=[items, scores], outputs=[judged], params={}):
                judge(items, scores, judged, Rules(["full_sentence"], [WRONG], 0.01))
            judgements.append((model, lang, judged))
    compute_accuracies(judgements, "pairs", root / "accuracies/pairs.parquet")
    for model in SIZES:
        write_checkpoint(root / f"models/{model}/multi/checkpoint.json", model)
    return root


def write_checkpoint(path, name):
    source = {"kind": "retrieved", "hf_id": f"org/{name}", "revision": "ab" * 20}
    facts = {"architecture": "causal", "dtype": "float32", "first_token": "bos"}
    described = Checkpoint(name=name, scope="multi", source=source, **facts)
    path.parent.mkdir(parents=True)
    path.write_text(described.model_dump_json(), encoding="utf-8")


def write_printed(root, rows, n=100):
    """Write printed accuracies: (model, lang, phenomenon, paradigm, accuracy) of each row."""
    path = root / "accuracies/printed/pairs.parquet"
    table = [
        dict(zip(("model", "lang", "phenomenon", "paradigm", "accuracy"), row, strict=True))
        | {"benchmark": "pairs", "method": "printed", "n": n, "low": row[4], "high": row[4]}
        for row in rows
    ]
    write_rows(table, ACCURACIES, path)
    return str(path)


def write_sensitivity(root, model, lang, rows, skipped=0):
    """Write the sensitivity to first tokens: rows of (first token, flips, accuracy), on 8 pairs."""
    table = [
        {"variant": f"transformers:{first}", "first_token": first, "dtype": "float32"}
        | {"method": "full_sentence", "n": 8, "skipped": 0, "flips": flips, "flips_beyond": flips}
        | {"accuracy": accuracy, "low": accuracy, "high": accuracy}
        for first, flips, accuracy in rows
    ]
    table[-1] |= {"n": 8 - skipped, "skipped": skipped}
    write_rows(table, PARITY, Path(sensitivity_table(str(root), "pairs", lang, model)))
