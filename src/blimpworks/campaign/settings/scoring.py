"""Settings of scoring and generation."""

from collections.abc import Callable, Collection
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.engines import POLICIES, ROWS, architectures, engines
from blimpworks.campaign.settings.base import Positive
from blimpworks.strict import Strict


def _one_of(known: Callable[[], Collection[str]]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in known():
            raise ValueError(f"expected one of {', '.join(known())}")
        return name

    return AfterValidator(check)


# Editors are shown those of this package.
EngineName = Annotated[str, _one_of(engines), Field(examples=[row.name for row in ROWS])]
Architecture = Annotated[
    str,
    _one_of(architectures),
    Field(examples=[*dict.fromkeys(a for r in ROWS for a in r.scorers)]),
]
Dtype = Literal["float32", "bfloat16", "float16"]
FirstToken = Annotated[str, Field(pattern=rf"^({'|'.join(POLICIES)}|token:.+)$")]


class NearTies(Strict):
    """Effect of rounding on the difference of two sentences' log-probabilities, in nats.

    By number format, and by engine where one is known to differ (measured in docs/scoring.md).
    Another engine, batch or machine can change a decision with a smaller margin.
    """

    float32: float = Field(1e-3, ge=0)
    """Threshold for models run in float32 [nats]."""
    bfloat16: float = Field(0.25, ge=0)
    """Threshold for models run in bfloat16 [nats]."""
    float16: float = Field(0.03, ge=0)
    """Threshold for models run in float16 [nats]."""
    engines: dict[EngineName, dict[Dtype, Annotated[float, Field(ge=0)]]] = Field(default={})
    """Engines' thresholds by number format, in place of the above: ``{vllm: {bfloat16: 0.4}}``.

    KenLM's is 0 in float32."""

    def of(self, engine: str, dtype: str) -> float:
        exceptions = dict[str, float](engines()[engine].near_tie) | self.engines.get(engine, {})
        threshold: float = exceptions.get(dtype, getattr(self, dtype))
        return threshold


class MaskedOptions(Strict):
    """Scoring with masked models."""

    pll: Literal["original", "within_word_l2r"] = "original"
    """Pseudo-log-likelihood: mask one token at a time, or with it the later tokens of its word,
    which would reveal it."""


class Seq2seqOptions(Strict):
    """Scoring with encoder-decoders."""

    form: Literal["masked", "target", "copy"] = "masked"
    """masked: predict one token at a time in place of a sentinel, as in training.

    Or make the sentence the decoder's output, with an empty text (target) or the sentence itself
    (copy) in the encoder.
    """


class VllmOptions(Strict):
    """Settings of vLLM.

    Only ``longest``, ``batched_tokens``, ``threads`` and ``tensor_parallel`` can change numbers.
    One exception: on a GPU a server makes batches as requests arrive. Last digits then differ from
    run to run, and a killed job does not end with the same bytes; ``mode: in_process`` avoids that.
    """

    build: Literal["cuda", "cpu"] = "cuda"
    """Environment that ``--sdm conda`` makes for vLLM; without it, ``.vllm`` decides."""
    mode: Literal["served", "in_process"] = "served"
    """A server started for the job, or vLLM in the job's own process."""
    host: Literal["loopback", "node"] = "loopback"
    """Address that the server listens on: 127.0.0.1, or that of the node's name."""
    longest: Positive = 2048
    """Tokens of the longest text, if the model has room for it; longer ones are refused.

    It bounds memory for models with a long context.
    """
    batched_tokens: Positive = 8192
    """Most tokens of a forward pass."""
    prompts: int = Field(50, ge=1, le=1024)
    """Sentences of a request to the server."""
    in_flight: Positive = 8
    """Requests in flight at one time."""
    threads: Positive = 1
    """Threads for computing without a GPU."""
    kv_cache_mib: Positive = 1024
    """Memory for keys and values without a GPU, in MiB."""
    gpu_memory: float = Field(0.9, gt=0, le=1)
    """Share of each GPU's memory for vLLM."""
    tensor_parallel: Positive | None = None
    """GPUs that the model is spread over; None for all GPUs of the job."""
    start_timeout: Positive = 1800
    """Most seconds until the server answers."""
    answer_timeout: Positive = 600
    """Most seconds of one request."""
    restarts: int = Field(2, ge=0)
    """Number of successive sentences, each sent alone, that a server may die of before the job
    ends. Once it has scored a sentence and still scores that one, it may die of any number; these
    are marked."""


class ScoringOptions(Strict):
    """Computation of log-probabilities of sentences."""

    shard: int = Field(1000, ge=1, le=1000)
    """Sentences per shard; a killed job loses at most one shard, or two with several threads."""
    batch_tokens: Positive = 8192
    """Tokens per forward pass, with padding."""
    near_tie: NearTies = NearTies()
    """Smaller margins, in nats, count as near ties."""
    jobs: Literal["model", "language"] = "model"
    """One job for all languages of a checkpoint, which is loaded once; or one job per language."""
    retry_failed: bool = False
    """Score failed sentences again when a job runs again: out of memory, refused by the engine, or
    with a score that was no number. (Delete the job's manifest to run it.)"""
    sharing: Literal["auto", "always", "never"] = "auto"
    """Compute shared prefixes of sentences once (LSTMs, and causal models of transformers): where
    the measured overlap pays, always, or never."""
    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the catalogue's for each model, or one for all that have the choice (n-gram
    models and LSTMs run in float32)."""
    first_token: Literal["model"] | FirstToken = "model"
    """Condition of the first token: the catalogue's for each model, or one for all that have the
    choice (n-gram, masked and encoder-decoder models have none, LSTMs no ``bos``)."""
    masked: MaskedOptions = MaskedOptions()
    seq2seq: Seq2seqOptions = Seq2seqOptions()
    vllm: VllmOptions = VllmOptions()
    """Settings of the engine vllm."""


class ParityOptions(Strict):
    """The parity report: variants of a model's scoring, compared with the reference."""

    reference: str | None = None
    """Reference; None for the architecture's: full precision by transformers, each sentence by
    itself, or the only engine."""
    variants: tuple[str, ...] | None = None
    """Variants besides the campaign's own scoring: engines with settings after colons, such as a
    number format, a condition of the first token, or any setting of scoring
    (``transformers:batch_tokens=1024``, ``vllm``). None for the architecture's; impossible ones are
    named in the report."""
    pairs: Positive = 1000
    """Most pairs that are compared: always the same of an items table."""


class GenerationOptions(Strict):
    """Generation of answers: greedy, each prompt once."""

    max_tokens: Positive = 128
    """Most tokens of an answer."""
    system: bool = True
    """Send the language's system prompt to models with a chat template."""
    chat: Literal["template", "raw"] = "template"
    """Put prompts into the model's chat template, if it has one, or send them unchanged."""
    batch: Positive = 64
    """Prompts in one batch of the transformers engine."""
    in_flight: Positive = 64
    """Prompts in flight at one time where vLLM serves the model."""
    shard: int = Field(1000, ge=1, le=1000)
    """Answers per shard; a killed job loses at most one shard."""
    retry_failed: bool = False
    """Ask failed prompts again when a job runs again."""


class GenerationJobOptions(GenerationOptions):
    """Settings of a job that answers."""

    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the catalogue's for each model, or another."""
    vllm: VllmOptions = VllmOptions()
    """Settings of the engine vllm."""
