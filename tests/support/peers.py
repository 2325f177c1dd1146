"""Sentence log-probabilities as minicons and lm-evaluation-harness compute them."""

import numpy as np
import pytest

pytest.importorskip("minicons", reason="minicons is not installed (envs/dev.in)")
pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed (envs/dev.in)")

BATCH = 16


def summed(logprobs):
    return logprobs.sum(0).item()


def minicons(directory, texts, **options):
    from minicons.scorer import IncrementalLMScorer

    model = IncrementalLMScorer(str(directory), "cpu")
    scores = []
    for start in range(0, len(texts), BATCH):
        scores += model.sequence_score(texts[start : start + BATCH], **options)
    return np.array(scores)


def harness(directory):
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=str(directory), device="cpu", batch_size=BATCH, dtype="float32")


def loglikelihoods(model, texts):
    from lm_eval.api.instance import Instance

    requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]
    return np.array([total for total, _ in model.loglikelihood(requests, disable_tqdm=True)])
