"""Our sentence scores beside those of minicons and lm-evaluation-harness, and where they part."""

import json

import numpy as np
import pytest

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.scoring.engine import load_engine
from support import peers, tiny

TEXTS = tiny.sentences(60, seed=5)
CLOSE = 1e-4
HARNESS_TASKS = {
    # Fields and delimiters of the harness' own templates.
    "blimp": {},
    "multiblimp": {"target_delimiter": ""},
}


@pytest.fixture(scope="module")
def checkpoint(trained):
    return trained("causal")


def totals(checkpoint, texts=TEXTS, first="bos"):
    engine = load_engine(checkpoint, "transformers", ScoringOptions(first_token=first))
    return np.array([np.nansum(row, dtype=float) for row in engine.logprobs(engine.encode(texts))])


def decisions(values):
    return (values[::2] > values[1::2]).tolist()


def minicons(checkpoint, **options):
    return peers.minicons(checkpoint.parent, TEXTS, **options)


def test_minicons_with_bos_gives_the_same_scores_and_decisions(checkpoint):
    ours, theirs = totals(checkpoint), minicons(checkpoint, reduction=peers.summed, bos_token=True)
    np.testing.assert_allclose(theirs, ours, atol=CLOSE)
    assert decisions(theirs) == decisions(ours)


def test_minicons_by_default_leaves_the_first_token_unscored(checkpoint):
    theirs = minicons(checkpoint, reduction=peers.summed)
    np.testing.assert_allclose(theirs, totals(checkpoint, first="skip"), atol=CLOSE)
    # It lacks the first token, and the second is not conditioned on BOS.
    assert (np.abs(theirs - totals(checkpoint)) > 0.1).all()


def test_the_harness_gives_the_same_scores_and_decisions(checkpoint):
    ours, theirs = totals(checkpoint), peers.loglikelihoods(peers.harness(checkpoint.parent), TEXTS)
    np.testing.assert_allclose(theirs, ours, atol=CLOSE)
    assert decisions(theirs) == decisions(ours)


def evaluate(model, name, directory, pairs):
    """Scores of all choices and the accuracy, by the harness' evaluator."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    data = directory / "data.jsonl"
    lines = [json.dumps({"good": good, "bad": bad}) for good, bad in pairs]
    data.write_text("\n".join(lines), encoding="utf-8")
    where = {"data_files": {"test": str(data)}, "cache_dir": str(directory / "cache")}
    task = {"task": f"local_{name}", "dataset_path": "json", "dataset_kwargs": where}
    task |= {"output_type": "multiple_choice", "test_split": "test", "doc_to_text": ""}
    task |= {"doc_to_target": 0, "doc_to_choice": "{{[good, bad]}}", **HARNESS_TASKS[name]}
    metric = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
    tasks, manager = [task | {"metric_list": [metric]}], TaskManager(include_defaults=False)
    result = simple_evaluate(model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0)
    samples = result["samples"][f"local_{name}"]
    samples.sort(key=lambda sample: sample["doc_id"])
    scores = [choice[0] for sample in samples for choice in sample["filtered_resps"]]
    return np.array(scores), result["results"][f"local_{name}"]["acc,none"]


@pytest.mark.slow
@pytest.mark.parametrize("name", HARNESS_TASKS)
def test_the_harness_puts_a_space_before_sentences_of_blimp(checkpoint, tmp_path, name):
    pairs = list(zip(TEXTS[::2], TEXTS[1::2], strict=True))
    theirs, accuracy = evaluate(peers.harness(checkpoint.parent), name, tmp_path, pairs)
    ours, spaced = totals(checkpoint), totals(checkpoint, [f" {text}" for text in TEXTS])
    equal = spaced if name == "blimp" else ours
    np.testing.assert_allclose(theirs, equal, atol=CLOSE)
    assert accuracy == pytest.approx(np.mean(decisions(equal)))
    assert (np.abs(spaced - ours) > 0.01).any()
