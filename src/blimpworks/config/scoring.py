"""Settings of scoring: how sentences become log-probabilities."""

from typing import Literal

from pydantic import Field

from blimpworks.config.base import Positive, Strict

EngineName = Literal["vllm", "transformers", "kenlm", "lstm"]
Dtype = Literal["float32", "bfloat16", "float16"]


class ScoringOptions(Strict):
    """How sentences become log-probabilities."""

    shard: int = Field(1000, ge=1, le=1000)
    """Sentences per shard; a killed job loses at most one shard."""
    batch_tokens: Positive = 8192
    """Tokens per forward pass, padding included."""
    near_tie: float = Field(1e-3, ge=0)
    """A margin smaller than this, in nats, is counted as a near tie."""
    jobs: Literal["model", "language"] = "model"
    """One job scores all languages of a checkpoint with one load; or many small jobs, one for
    each language, each with a load of its own."""
    sharing: Literal["auto", "always", "never"] = "auto"
    """Compute prefixes that sentences share once (causal models of the transformers engine):
    where the measured overlap pays, always, or never."""
    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the one that the catalogue gives each model, or one for all."""
    first_token: Literal["model", "bos", "eos", "skip"] = "model"
    """What conditions the first token: as the catalogue says for each model, or one for all."""
