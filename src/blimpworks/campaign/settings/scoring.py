"""Settings of scoring: how sentences become log-probabilities."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from blimpworks.campaign.settings.base import Positive
from blimpworks.strict import Strict

EngineName = Literal["vllm", "transformers", "kenlm", "lstm"]
Dtype = Literal["float32", "bfloat16", "float16"]
POLICIES = ("bos", "eos", "tokenizer", "likeliest", "skip")
"""What can condition the first token, beside any one token (``token:TEXT``)."""
FirstToken = Annotated[str, Field(pattern=rf"^({'|'.join(POLICIES)}|token:.+)$")]


class NearTies(Strict):
    """How far rounding moves the difference of two sentences' log-probabilities, in nats.

    By number format, and by engine where one is known to be quieter or noisier.
    docs/scoring.md says what was measured. Another engine, batch or machine can turn a
    decision whose margin is smaller.
    """

    float32: float = Field(1e-3, ge=0)
    """Of models run in float32."""
    bfloat16: float = Field(0.25, ge=0)
    """Of models run in bfloat16."""
    float16: float = Field(0.03, ge=0)
    """Of models run in float16."""
    engines: dict[EngineName, dict[Dtype, Annotated[float, Field(ge=0)]]] = Field(
        default={"kenlm": {"float32": 0.0}}
    )
    """Of an engine, by number format, in place of the above: ``{vllm: {bfloat16: 0.4}}``."""

    def of(self, engine: str, dtype: str) -> float:
        """Threshold of an engine that runs a model in a number format."""
        exceptions: Mapping[str, Mapping[str, float]] = cast(Any, self.engines)
        threshold: float = exceptions.get(engine, {}).get(dtype, getattr(self, dtype))
        return threshold


class MaskedOptions(Strict):
    """Scoring with masked models."""

    pll: Literal["original", "within_word_l2r"] = "original"
    """Pseudo-log-likelihood: mask one token at a time, or with it the later tokens of its
    word, which would give it away."""


class Seq2seqOptions(Strict):
    """Scoring with encoder-decoders."""

    form: Literal["masked", "target", "copy"] = "masked"
    """Guess one token at a time where a sentinel stands for it, as in training; or make the
    whole sentence the decoder's output, for an empty text in the encoder (target) or for the
    sentence itself (copy)."""


class VllmOptions(Strict):
    """How vLLM runs models.

    Only ``longest``, ``batched_tokens``, ``threads`` and ``tensor_parallel`` can move numbers;
    the rest says where and how fast they are computed. With one exception: on a GPU a server
    makes its batches as requests come in, so last digits differ from run to run, and a job
    that was killed is not completed to the same bytes. Choose ``mode: in_process`` there
    where that matters.
    """

    build: Literal["cuda", "cpu"] = "cuda"
    """Environment that ``--sdm conda`` makes for vLLM; without, it is what ``.vllm`` holds."""
    mode: Literal["served", "in_process"] = "served"
    """A server that is started for the job, or vLLM inside the job's own process."""
    host: Literal["loopback", "node"] = "loopback"
    """Address that the server listens on: 127.0.0.1, or that of the node's name."""
    longest: Positive = 2048
    """Tokens of the longest text, where the model has room for it; more are too long. Bounds
    memory for models whose context is far longer than any sentence."""
    batched_tokens: Positive = 8192
    """Most tokens of a forward pass."""
    prompts: int = Field(50, ge=1, le=1024)
    """Sentences of a request to the server."""
    in_flight: Positive = 8
    """Requests that are under way at one time."""
    threads: Positive = 1
    """Threads that compute, where there is no GPU."""
    kv_cache_mib: Positive = 1024
    """Memory for keys and values, in MiB, where there is no GPU."""
    gpu_memory: float = Field(0.9, gt=0, le=1)
    """Share of each GPU's memory that vLLM may take."""
    tensor_parallel: Positive | None = None
    """GPUs that the model is spread over; None for all that the job sees."""
    start_timeout: Positive = 1800
    """Seconds that the server may take until it answers."""
    answer_timeout: Positive = 600
    """Seconds that one request may take."""
    restarts: int = Field(2, ge=0)
    """How many sentences in a row a server may die of, each sent alone, before the job ends
    because the fault is hardly theirs. Once it has scored one, it must still score that one,
    and then may die of any number; these are marked."""


class ScoringOptions(Strict):
    """How sentences become log-probabilities."""

    shard: int = Field(1000, ge=1, le=1000)
    """Sentences per shard; a killed job loses one at most, or two if it has several threads."""
    batch_tokens: Positive = 8192
    """Tokens per forward pass, padding included."""
    near_tie: NearTies = NearTies()
    """Margins smaller than this, in nats, are counted as near ties."""
    jobs: Literal["model", "language"] = "model"
    """One job scores all languages of a checkpoint with one load; or many small jobs, one for
    each language, each with a load of its own."""
    retry_failed: bool = False
    """When a job runs again, try once more what failed: out of memory, because the engine
    refused it, or with a score that was no number. (Delete its manifest to make it run.)"""
    sharing: Literal["auto", "always", "never"] = "auto"
    """Compute prefixes that sentences share once (LSTMs, and causal models of the transformers
    engine): where the measured overlap pays, always, or never."""
    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the one that the catalogue gives each model, or one for all that have the
    choice (n-gram models and LSTMs run in float32)."""
    first_token: Literal["model"] | FirstToken = "model"
    """What conditions the first token: as the catalogue says for each model, or one for all that
    have the choice (n-gram, masked and encoder-decoder models have none, LSTMs no ``bos``)."""
    masked: MaskedOptions = MaskedOptions()
    seq2seq: Seq2seqOptions = Seq2seqOptions()
    vllm: VllmOptions = VllmOptions()
    """How the engine vllm runs models."""


class ParityOptions(Strict):
    """The parity report: in which ways a model is scored, beside the reference."""

    reference: str | None = None
    """What the variants are compared with; None for what suits a model's architecture: full
    precision by transformers, each sentence by itself, or the one engine there is."""
    variants: tuple[str, ...] | None = None
    """Ways to score beside the campaign's own: engines with settings behind colons, such as a
    number format, what conditions the first token, or any setting of scoring
    (``transformers:batch_tokens=1024``, ``vllm``). None for what suits a model's architecture;
    what a model cannot have, the report says."""
    pairs: Positive = 1000
    """Most pairs that are compared: always the same ones of an items table."""
