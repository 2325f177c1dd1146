"""Make UrBLiMP campaigns: scores of a causal and a masked model, and simulated models."""

import math
from zlib import crc32

import numpy as np

from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.exhibits.exhibit import Labels
from blimpworks.items import regions_of
from blimpworks.judging.judge import Rules, judge
from blimpworks.papers.urblimp.analysis import compare_lengths
from blimpworks.papers.urblimp.exhibits.evaluation import GEMMA, GEMMA_TUNED
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.urblimp.tables import ITEM_SCHEMA, RULE_COUNTS
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, Evaluation, write_rows

OBJECT, PRONOUN, ORDER = "dative_object_noun", "oblique_pronoun", "word_order"
METHODS = {"ngram-5": "perplexity", "masked-small": "pseudo_perplexity"}
URDU = {
    (OBJECT, "deletion"): [
        ("علی نے احمد کو کتاب دی۔", "علی نے احمد کتاب دی۔"),
        ("اس نے سارا کو بلایا۔", "اس نے سارا بلایا۔"),
        ("ہم نے بچے کو دیکھا۔", "ہم نے بچے دیکھا۔"),
    ],
    (PRONOUN, "replacement"): [("اس کو دیکھو۔", "وہ کو دیکھو۔"), ("مجھ پر ہنسو۔", "میں پر ہنسو۔")],
    (ORDER, "move"): [("جو لڑکا آیا وہ گیا۔", "جو آیا وہ گیا لڑکا۔")],
}
HINDI = {(OBJECT, "deletion"): [("राम ने सीता को किताब दी।", "राम ने सीता किताब दी।")]}
COSTS = {"کو": 1.0, "को": 1.0, "وہ": 9.0, "میں": 9.0}
"""Surprisals of words in bits; other words have 6."""
REASONS = ("excluded by the rule", "not in the table", "no form by rule", "something new")
BASE = {"parameters": None, "tuning": "base"}
FACTS = {"urblimp_models": {name: BASE | {"family": name} for name in METHODS}}
FACTS |= {"urblimp_left_to_right": ["ngram-5"]}
NAMES = {"ngram-5": "5-gram", "masked-small": "Masked"}
LABELS = Labels({"urd": "Urdu", "hin": "Hindi"}, NAMES, "perplexity", FACTS)


def items_of(lang, pairs):
    for (paradigm, change), sentences in pairs.items():
        for number, (good, bad) in enumerate(sentences, start=1):
            spans = regions_of(good, bad)
            yield {
                **{"item_id": f"{lang}-{paradigm}-{number}", "lang": lang, "paradigm": paradigm},
                **{"phenomenon": PHENOMENON_OF[paradigm], "good": good, "bad": bad},
                **spans._asdict(),
                **{"treebank": "T", "file": "t.conllu", "sent_id": str(number), "rule": "plain"},
                **{"change": change, "constructed": number == 2, "line": 10 * number},
                "focus_good": good[spans.good_start : spans.good_end],
                "focus_bad": bad[spans.bad_start : spans.bad_end],
            }


def side_scores(text, side):
    """Return columns of one token per word, and one of no surprisal for the end."""
    words = text.split()
    ends = [len(" ".join(words[: at + 1])) for at in range(len(words))]
    logprobs = [-COSTS.get(word, 6.0) * math.log(2) for word in words]
    return {
        f"logprob_{side}": sum(logprobs),
        f"tokens_{side}": len(words) + 1,
        f"{side}_ids": [*(crc32(word.encode()) >> 1 for word in words), 0],
        f"{side}_logprobs": [*logprobs, 0.0],
        f"{side}_ends": [*ends, len(text)],
    }


def counts_of(lang, items):
    for paradigm in dict.fromkeys(item["paradigm"] for item in items):
        keys = {"lang": lang, "phenomenon": PHENOMENON_OF[paradigm], "paradigm": paradigm}
        kept = sum(item["paradigm"] == paradigm for item in items)
        yield {**keys, "rule": "plain", "outcome": "kept", "reason": "", "n": kept}
        for n, reason in enumerate(REASONS, start=1):
            yield {**keys, "rule": "plain", "outcome": "rejected", "reason": reason, "n": n}
        yield {**keys, "rule": "second", "outcome": "rejected", "reason": REASONS[0], "n": 5}


def campaign(root, languages, printed):
    """Write tables of a campaign with pairs by language; return paths by kind."""
    tables, evaluations = {"items": [], "rules": [], "printed": printed}, []
    for lang, pairs in languages.items():
        rows = [*items_of(lang, pairs)]
        items, rules = (root / kind / f"{lang}.parquet" for kind in ("items", "rules"))
        write_rows(rows, ITEM_SCHEMA, items)
        write_rows([*counts_of(lang, rows)], RULE_COUNTS, rules)
        tables["items"].append(items)
        tables["rules"].append(rules)
        sides = [
            (row["item_id"], *(side_scores(row[s], s) for s in ("good", "bad"))) for row in rows
        ]
        scored = [{"item_id": name, "status": "ok"} | good | bad for name, good, bad in sides]
        for model, method in METHODS.items():
            scores, judged = (root / kind / model / f"{lang}.parquet" for kind in ("s", "j"))
            write_rows(scored, SCORES, scores)
            judge(items, scores, judged, Rules((method, "full_sentence"), ("wrong",), 0.0))
            evaluations.append(Evaluation(model, lang, items, scores, judged))
    names = ("lengths", "surprisals", "accuracies")
    *compared, accuracies = (root / f"{name}.parquet" for name in names)
    compare_lengths(evaluations, "wrong", *compared)
    judged = [(one.model, one.lang, one.judgements) for one in evaluations]
    compute_accuracies(judged, "urblimp", accuracies)
    made = dict(zip(names, ([path] for path in (*compared, accuracies)), strict=True))
    return tables | made | {"judgements": [path for *_, path in judged]}


# Simulated models, each right with its own probability

METHOD = "perplexity"
N = 20
SKILL = dict(zip(GEMMA, (0.6, 0.7, 0.8, 0.9), strict=True)) | {
    **dict(zip(GEMMA_TUNED, (0.5, 0.65, 0.75, 0.85), strict=True)),
    "llama-3-70b": 0.95,
    "deepseek-r1-distill-llama-70b": 0.88,
    "ours": 0.55,
}
MODEL_FACTS = {
    name: BASE
    | {"family": name.split("-")[0], "tuning": "chat" if name.endswith("-it") else "base"}
    for name in SKILL
}
MODEL_FACTS["ours"]["parameters"] = 1.5
MODEL_LABELS = Labels(
    {"urd": "Urdu"}, {name: name.title() for name in SKILL}, METHOD, {"urblimp_models": MODEL_FACTS}
)


def simulate(root, skill, paradigms=PARADIGMS):
    """Write items, and judgements of models that are right with a known probability."""
    items = [
        {"item_id": f"{paradigm}-{number:02}", "lang": "urd", "paradigm": paradigm}
        | {"phenomenon": PHENOMENON_OF[paradigm], "good": "وہ بولا", "bad": "وہ بولی"}
        for paradigm in paradigms
        for number in range(N)
    ]
    write_rows(items, ITEMS, root / "urd.parquet")
    judged = []
    for seed, (model, probability) in enumerate(skill.items()):
        right = np.random.default_rng(seed).random(len(items)) < probability
        verdict = {"tie": False, "near_tie": False, "method": METHOD}
        rows = [pair | verdict | {"correct": r} for pair, r in zip(items, right * 1.0, strict=True)]
        judged.append((model, "urd", root / model / "urd.parquet"))
        write_rows(rows, JUDGEMENTS, judged[-1][2])
    compute_accuracies(judged, "urblimp", root / "accuracies.parquet")
    paths = {"items": [root / "urd.parquet"], "judgements": [path for *_, path in judged]}
    return paths | {"accuracies": [root / "accuracies.parquet"]}


def cell(exhibit, row, column):
    (chosen,) = [c for c in exhibit.cells if (c.row, c.column) == (row, column)]
    return chosen
