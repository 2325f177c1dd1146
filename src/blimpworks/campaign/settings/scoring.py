"""Declare a campaign's settings for scoring (``ScoringOptions``) and for generating answers."""

from collections.abc import Callable, Collection
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.engines import ENGINE_ROWS, POLICIES, architectures, engines
from blimpworks.campaign.settings.base import Positive
from blimpworks.strict import Strict


def _one_of(names: Callable[[], Collection[str]]) -> AfterValidator:
    # ``names`` is called late, because other packages may register further engines.
    def check_name(name: str) -> str:
        if name not in names():
            raise ValueError(f"expected one of {', '.join(names())}")
        return name

    return AfterValidator(check_name)


# The schemas, which editors read, have the engines of this package as examples.
EngineName = Annotated[str, _one_of(engines), Field(examples=[row.name for row in ENGINE_ROWS])]
Architecture = Annotated[
    str,
    _one_of(architectures),
    Field(examples=[*dict.fromkeys(a for r in ENGINE_ROWS for a in r.scorers)]),
]
Dtype = Literal["float32", "bfloat16", "float16"]
FirstToken = Annotated[str, Field(pattern=rf"^({'|'.join(POLICIES)}|token:.+)$")]


class NearTies(Strict):
    """Largest effect of rounding on the difference of two sentences' log-probabilities, in nats.

    There is a threshold for each number format, with exceptions for some engines (measured in
    docs/ties.md). Another engine, batch or machine can change a decision with a smaller margin.
    """

    float32: float = Field(1e-3, ge=0)
    """Threshold for models run in float32 [nats]."""
    bfloat16: float = Field(0.25, ge=0)
    """Threshold for models run in bfloat16 [nats]."""
    float16: float = Field(0.03, ge=0)
    """Threshold for models run in float16 [nats]."""
    engines: dict[EngineName, dict[Dtype, Annotated[float, Field(ge=0)]]] = Field(default={})
    """Thresholds of engines by number format: {vllm: {bfloat16: 0.4}}. KenLM's is 0 in float32."""

    def of(self, engine: str, dtype: str) -> float:
        exceptions = dict[str, float](engines()[engine].near_tie) | self.engines.get(engine, {})
        threshold: float = exceptions.get(dtype, getattr(self, dtype))
        return threshold


class MaskedOptions(Strict):
    """Scoring with masked models."""

    pll: Literal["original", "within_word_l2r", "next_token"] = "original"
    """Pseudo-log-likelihood. original: mask one token at a time. within_word_l2r: also mask the
    later tokens of its word, which would reveal it.

    next_token: mask one token, and predict it at the previous position, for models that were
    trained by masked next-token prediction."""


class Seq2seqOptions(Strict):
    """Scoring with encoder-decoders."""

    form: Literal["masked", "target", "copy", "masked_after_bos", "continued"] = "masked"
    """masked: predict one token at a time in place of a sentinel, as in training.

    target, copy: predict the sentence in the decoder. The encoder gets an empty text (target), or
    the sentence itself (copy).

    masked_after_bos, continued: the decoder's first id is the tokenizer's start symbol, and the
    mask is the tokenizer's mask, or else the sentinel. Predict one token at a time in place of the
    mask (masked_after_bos). Or predict the region in the decoder, while the encoder gets the text
    before the region and a mask (continued)."""


class VllmOptions(Strict):
    """Settings of vLLM.

    Only ``longest``, ``batched_tokens``, ``threads`` and ``tensor_parallel`` can change numbers.
    On a GPU, a server's batches also depend on when requests arrive. Last digits then differ from
    run to run, and after a job was killed. ``mode: in_process`` avoids that.
    """

    build: Literal["cuda", "cpu"] = "cuda"
    """Build of vLLM that Snakemake's ``--sdm conda`` installs; without it, ``.vllm`` is used."""
    mode: Literal["served", "in_process"] = "served"
    """A server that the job starts, or vLLM in the process of the job."""
    host: Literal["loopback", "node"] = "loopback"
    """Address at which the server listens: 127.0.0.1, or the address of the node's name."""
    longest: Positive = 2048
    """Most tokens of a text, to limit memory (at most the context); longer texts are refused."""
    batched_tokens: Positive = 8192
    """Most tokens of a forward pass."""
    prompts: int = Field(50, ge=1, le=1024)
    """Sentences of a request to the server."""
    in_flight: Positive = 8
    """Most requests that the server has not yet answered."""
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
    """Number of sentences in a row, each sent alone, that may crash the server before the job ends.
    If the restarted server still scores a sentence that it scored before, the job goes on, and
    marks the sentences that crashed the server."""


class ScoringOptions(Strict):
    """Computation of log-probabilities of sentences."""

    shard: int = Field(1000, ge=1, le=1000)
    """Sentences per shard; a killed job loses at most one shard, or two with several threads."""
    batch_tokens: Positive = 8192
    """Tokens per forward pass, with padding."""
    near_tie: NearTies = NearTies()
    """Thresholds: pairs with smaller margins, in nats, are near ties."""
    jobs: Literal["model", "language"] = "model"
    """One job for all languages of a checkpoint, which loads it once; or one job per language."""
    retry_failed: bool = False
    """Score failed sentences again when a job runs again. They ran out of memory, were refused by
    the engine, or had a score that was no number. (Delete the job's manifest to run it again.)"""
    sharing: Literal["auto", "always", "never"] = "auto"
    """Compute shared prefixes of sentences once (LSTMs, and causal models of transformers): if the
    measured overlap makes it faster, always, or never."""
    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: that of the model's row in the catalogue (model), or one for all models that
    have the choice (n-gram models and LSTMs run in float32)."""
    first_token: Literal["model"] | FirstToken = "model"
    """Start: that of the model's row in the catalogue (model), or one for all models that have the
    choice. N-gram, masked and encoder-decoder models have none, LSTMs have no ``bos``."""
    masked: MaskedOptions = MaskedOptions()
    seq2seq: Seq2seqOptions = Seq2seqOptions()
    vllm: VllmOptions = VllmOptions()
    """Settings of the engine vllm."""


class ParityOptions(Strict):
    """The parity report: variants of a model's scoring, compared with the reference."""

    reference: str | None = None
    """Variant that others are compared with. null: transformers in full precision, which scores
    each sentence separately, or the only engine of the architecture."""
    variants: tuple[str, ...] | None = None
    """Variants besides the campaign's scoring: engines with settings after colons, such as a number
    format, a start, or any setting of scoring (``transformers:batch_tokens=1024``, ``vllm``). null:
    variants that suit the architecture. The report names impossible variants."""
    pairs: Positive = 1000
    """Most pairs that are compared; each run has the same sample of an items table."""


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
    """Most prompts that vLLM's server has not yet answered."""
    shard: int = Field(1000, ge=1, le=1000)
    """Answers per shard; a killed job loses at most one shard."""
    retry_failed: bool = False
    """Ask failed prompts again when a job runs again."""


class GenerationJobOptions(GenerationOptions):
    """Settings of a job that generates answers."""

    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: that of the model's row in the catalogue (model), or another."""
    vllm: VllmOptions = VllmOptions()
    """Settings of the engine vllm."""
