"""Estimate the GPUs, memory and time that scoring jobs need, before they run.

``needs_of`` chooses the GPUs for a model. ``expected_items`` and ``expected_work`` count the
sentences and tokens that a job scores; ``speed_of`` and ``score_seconds`` estimate its time. All
use a model's row in the catalogue (parameters, format) and the site, a cluster's kinds of GPU.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.methods import regional
from blimpworks.campaign.paper import SENTENCE, Benchmark
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.scoring_jobs import ScoringJob, expected_items_of, items_table
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import GpuKind, ModelNeeds, Site
from blimpworks.errors import UserError

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of one number in each number format."""
GPU_NUMBERS = (1, 2, 4, 8)
"""Possible numbers of GPUs for one model: they must divide its attention heads."""
VOCABULARY = 262_144
"""Vocabulary size assumed for every model: the catalogue's largest, that of Gemma 3."""
LOGIT_ROWS = 1024
"""Text positions with logits on a GPU at a time, without a server (``hub_loading.LOGIT_ROWS``)."""
MARGIN = 1.02
"""Size of weights on the GPU relative to the file: padded vocabularies, buffers, alignment."""
CONTEXT_GB = 1.5
"""GB of each GPU for CUDA's context, communication buffers and hidden states."""
REACHABLE = 0.97
"""Share of a GPU's stated memory that a process can use: the driver keeps some."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Resources of a scoring job."""

    gpu_kind: GpuKind | None
    """Kind of GPU; None without GPUs."""
    gpus: int
    cores: int
    memory_mb: int
    """MB of the host's memory."""
    weights_gb: float
    """GB of the weights; 0 if unknown, as for small models that the campaign trains."""
    needed_gb: float
    """Needed GB on all GPUs together; 0 without GPUs."""

    @property
    def gres(self) -> str:
        """Return SLURM's name of the GPUs, such as ``gpu:a100:2``; empty without GPUs."""
        if self.gpu_kind is None:
            return ""
        return ":".join(filter(None, ("gpu", self.gpu_kind.name, str(self.gpus))))


class Memory(NamedTuple):
    """GPU memory for scoring with a model, in GB."""

    weights: float
    cache: float
    """Keys and values of the longest text."""
    logits: float
    """Logits on each GPU; the GPUs do not share them."""
    share: float
    """Share of each GPU's memory (0 to 1) that the engine may use for everything but logits."""

    def per_gpu(self, gpus: int) -> float:
        """Return the GB that each GPU must have if ``gpus`` GPUs share the weights."""
        managed = (self.weights * MARGIN + self.cache) / gpus + CONTEXT_GB
        return max(managed / self.share, (managed + self.logits) / REACHABLE)

    def explain(self) -> str:
        """Return the calculation as text, for messages."""
        return (
            f"weights {self.weights:.1f} GB × {MARGIN} + keys and values {self.cache:.1f} GB, "
            f"spread over its GPUs, and on each {CONTEXT_GB} GB for the engine, in "
            f"{self.share:.0%} of its memory; beside that {self.logits:.1f} GB for logits"
        )


class Placement(NamedTuple):
    """A way to run a model: a number of GPUs of one kind, and the memory needed on each."""

    gpu_kind: GpuKind
    gpus: int
    each_gb: float

    @property
    def spare_gb(self) -> float:
        """Memory of each GPU that remains free [GB]; negative when the model does not fit."""
        return self.gpu_kind.memory_gb - self.each_gb

    def cost(self) -> tuple[int, float]:
        """Return the key for choosing: few GPUs are better, then little spare memory."""
        return self.gpus, self.spare_gb


def weights_gb(row: ModelRow, dtype: str) -> float:
    """Return the GB of the weights; 0 if unknown. Raises UserError for an unknown ``dtype``."""
    if dtype not in BYTES:
        raise UserError(
            f"model {row.name!r} has dtype {dtype!r}, expected one of {', '.join(BYTES)}; "
            "correct its row in the table of models."
        )
    return (row.parameters or 0) * BYTES[dtype]


def memory_of(row: ModelRow, engine: str, dtype: str, options: ScoringOptions) -> Memory:
    """Estimate the GPU memory for scoring with a model.

    - Weights: parameters × bytes of the format.
    - Keys and values of one text: 143 KB × (billions of parameters)^(2/3) for each token. A token
      has 2 × layers × width numbers of 2 bytes (OLMo 2 7B 0.52 MB, 13B 0.82 MB). Models with
      grouped attention heads need less.
    - Logits: in the model's format, in float32 and as a comparison (1 byte). vLLM 0.11 to 0.32
      holds them for one text (``GPUModelRunner._get_prompt_logprobs_dict``), outside of the memory
      that it manages; other engines hold them for 1,024 positions.
    """
    weights = weights_gb(row, dtype)
    serving = find_engine(engine).serving(options)
    cached_tokens = serving.longest if serving else options.batch_tokens
    cache_per_token = 143e-6 * (row.parameters or 0) ** (2 / 3) * BYTES[dtype] / 2
    positions = min(serving.longest, serving.batched_tokens) if serving else LOGIT_ROWS
    return Memory(
        weights=weights,
        cache=cache_per_token * cached_tokens,
        logits=positions * VOCABULARY * (BYTES[dtype] + 4 + 1) / 1e9,
        share=serving.gpu_memory if serving else REACHABLE,
    )


def host_memory_mb(weights: float, engine: str, gpus: int) -> int:
    """Estimate the MB of the host's memory for a job.

    4,000 for Python, libraries and sentences, and as much for each GPU's process. vLLM's server
    maps weights file by file (5 GB at most); other engines load all weights, in two formats.
    """
    loading = min(weights, 5.0) * gpus if gpus and find_engine(engine).serves else weights * 2
    return 4000 + 4000 * gpus + round(loading * 1000)


def _refusal(row: ModelRow, memory: Memory, possible: Sequence[Placement], site: Site) -> str:
    """Explain why a model fits on none of the ``possible`` placements, and what to do."""
    largest = max(site.gpus, key=lambda gpu: (gpu.memory_gb * gpu.per_node, gpu.memory_gb))
    node = f"{largest.per_node} × {largest.label} ({largest.memory_gb:g} GB each)"
    if not possible:
        return (
            f"model {row.name!r} cannot be placed: no kind of GPU that it may have comes in the "
            f"number it must have; the largest node of the site has {node}. Change gpus or kind "
            f"of models.{row.name} in the site's file, gpus in the table of models, or "
            "scoring.vllm.tensor_parallel of the campaign."
        )
    best = max(possible, key=lambda placement: placement.spare_gb)
    gpu = best.gpu_kind
    stated_gb = site.models.get(row.name, ModelNeeds()).memory_gb or row.gpu_memory_gb
    reason = f"{stated_gb:g} GB are stated for all together" if stated_gb else memory.explain()
    if best.spare_gb >= 0:
        reason += f"; the host needs more memory than its {gpu.host_memory_gb:g} GB"
    return (
        f"model {row.name!r} fits no configured GPU: on {best.gpus} × {gpu.label} it needs "
        f"{best.each_gb:.1f} GB of each, which has {gpu.memory_gb:g} ({reason}). The largest "
        f"node of the site has {node}. Add a larger kind to gpus in the site's file, leave the "
        f"model out of the campaign, or state models.{row.name}.memory_gb if you know better."
    )


def needs_of(
    row: ModelRow,
    engine: str,
    dtype: str,
    site: Site | None,
    step: int = 0,
    *,
    options: ScoringOptions | None = None,
) -> Needs:
    """Choose the resources of a job that scores with the model ``row``.

    The job gets the fewest GPUs of one node that the model fits on, of the kind with the least
    memory to spare. The table of models or the site's file may state GPUs and memory instead.
    Without a site or GPUs, and with some engines, the model runs on the CPU. ``dtype``: number
    format of the weights. ``step``: number of earlier attempts that ran out of GPU memory; for
    each, choose the next placement with more free memory, if there is one. Raises UserError, with
    the calculation, for a model that fits nowhere.
    """
    scoring, engine_row = options or ScoringOptions(), find_engine(engine)
    serving = engine_row.serving(scoring)
    stated = site.models.get(row.name, ModelNeeds()) if site else ModelNeeds()
    stated_gpus = row.gpus if stated.gpus is None else stated.gpus
    if site is None or not site.gpus or not engine_row.gpu or stated_gpus == 0:
        weights = weights_gb(row, dtype)
        memory_mb = host_memory_mb(weights, engine, 0)
        if site is not None and memory_mb > site.cpu.memory_gb * 1000:
            raise UserError(
                f"model {row.name!r} runs on the CPU and needs {memory_mb / 1000:.0f} GB of memory "
                f"(weights {weights:.1f} GB), but nodes of cpu in the site's file have "
                f"{site.cpu.memory_gb:g} GB; add GPUs to the site's file, or leave the model out "
                "of the campaign."
            )
        return Needs(None, 0, serving.threads if serving else 1, memory_mb, weights, 0.0)
    # List all placements that the settings allow, whether the model fits or not.
    memory = memory_of(row, engine, dtype, scoring)
    stated_gb = stated.memory_gb or row.gpu_memory_gb
    fewest = stated_gpus or 1
    numbers = [number for number in sorted({fewest, *GPU_NUMBERS}) if number >= fewest]
    if not serving:  # engines without a server use only the first GPU
        numbers = [1]
    elif serving.tensor_parallel is not None:
        numbers = [serving.tensor_parallel]
    possible = [
        Placement(gpu, number, stated_gb / number if stated_gb else memory.per_gpu(number))
        for gpu in site.gpus
        if stated.kind in (None, gpu.label)
        for number in numbers
        if number <= gpu.per_node
    ]
    # Keep placements with enough memory, and choose among them.
    fitting = []
    for placement in possible:
        host_mb = host_memory_mb(memory.weights, engine, placement.gpus)
        if placement.spare_gb >= 0 and host_mb <= placement.gpu_kind.host_memory_gb * 1000:
            fitting.append(placement)
    if not fitting:
        raise UserError(_refusal(row, memory, possible, site))
    best = min(fitting, key=Placement.cost)
    for _ in range(step):
        roomier = [placement for placement in fitting if placement.spare_gb > best.spare_gb]
        best = min(roomier, key=Placement.cost, default=best)
    return Needs(
        gpu_kind=best.gpu_kind,
        gpus=best.gpus,
        cores=best.gpu_kind.cores_per_gpu * best.gpus,
        memory_mb=host_memory_mb(memory.weights, engine, best.gpus),
        weights_gb=memory.weights,
        needed_gb=best.each_gb * best.gpus,
    )


REGION_TOKENS = 2.0
"""Tokens of a critical region, which is one word in most pairs."""
GENERATION_COST = 4.0
"""Cost of a generated token relative to a scored one (an assumption): a model generates tokens one
by one."""


class Expectation(NamedTuple):
    """Expected content of an items table: the minimal pairs or prompts of one language."""

    pairs: int
    """Rows of the table: pairs or prompts."""
    tokens: float
    """Scored tokens of a sentence; for a prompt, the cost of reading it and writing the longest
    answer, in scored tokens."""
    texts: int = 2
    """Texts of a row: two for a pair, one for a prompt. A text that is in several rows is counted
    in each of them, though it is scored once."""


def scores_regions(campaign: Campaign, row: ModelRow, benchmark: Benchmark) -> bool:
    """Return whether a model scores only the critical regions: a masked one may need no more."""
    return row.architecture == "masked" and regional(benchmark.methods(campaign, "masked"))


def expected_items(
    campaign: Campaign, catalogue: Catalogue, job: ScoringJob
) -> dict[Path, Expectation]:
    """Return the expected content of each items table of a scoring job, keyed by its path."""
    row = catalogue.models[job.model]
    expectations = {}
    for name, lang in job.sets:
        benchmark = find_benchmark(name)
        tokens, texts = benchmark.tokens, 2
        if benchmark.generation is not None:
            # Assume that each answer reaches the limit.
            tokens += GENERATION_COST * benchmark.generation.options(campaign).max_tokens
            texts = 1
        elif scores_regions(campaign, row, benchmark):
            tokens = REGION_TOKENS
        number = expected_items_of(campaign, catalogue, name, lang)
        expectations[items_table(campaign, name, lang)] = Expectation(number, tokens, texts)
    return expectations


FLOAT32 = 1 / 16
"""Peak speed of a GPU in float32 relative to bfloat16 (data sheets: A100 1/16, H100 1/15)."""
SMALLEST = 0.005
"""Billions of parameters assumed for a model of unstated size, which the campaign trains."""


class Work(NamedTuple):
    """Numbers of sentences and of their tokens, scored or to be scored."""

    sentences: int
    tokens: int

    @property
    def mean(self) -> float | None:
        """Mean tokens of a sentence; None without sentences."""
        return self.tokens / self.sentences if self.sentences else None


class Speed(NamedTuple):
    """Scoring speed of a job."""

    tokens_per_second: float
    source: Literal["measured", "stated"]
    """measured: taken from the site's file; stated: computed from peak, utilisation and size."""


@lru_cache(maxsize=4096)
def _count_rows(path: str, _changed: int) -> int:
    # Slow to import: the workflow imports this module at each start, but rarely counts rows.
    import pyarrow.parquet as pq

    count: int = pq.read_metadata(path).num_rows
    return count


def count_pairs(items: Path) -> int | None:
    """Count the rows of an items table by its metadata; None when it is missing or damaged."""
    try:
        return _count_rows(str(items), items.stat().st_mtime_ns)
    except (OSError, ValueError):  # Arrow raises ValueError for a damaged file
        return None


def expected_work(items: Mapping[Path, Expectation]) -> Work:
    """Add up the sentences and tokens of items tables; count the rows of tables that exist."""
    sentences, tokens = 0, 0.0
    for path, expected in items.items():
        count = count_pairs(path)
        texts = expected.texts * (expected.pairs if count is None else count)
        sentences += texts
        tokens += texts * expected.tokens
    return Work(sentences, round(tokens))


def speed_of(row: ModelRow, engine: str, dtype: str, needs: Needs, site: Site | None) -> Speed:
    """Estimate the tokens per second of a model, run in ``dtype`` on the resources ``needs``.

    - If the site's file has a measurement for the model, return it.
    - If the engine states a speed (KenLM does), return that.
    - Else a token takes 2 operations per parameter, or the share of them that the engine computes.
      GPUs reach utilisation × peak speed, and CPUs a fixed speed per core. The host limits the
      speed of small models. A masked model computes a whole sentence for each scored token.
    """
    site = site or Site()
    measured = site.models.get(row.name, ModelNeeds()).tokens_per_second
    if measured is not None:
        return Speed(measured, "measured")
    engine_row = find_engine(engine)
    if engine_row.tokens_per_second is not None:
        return Speed(engine_row.tokens_per_second, "stated")
    if needs.gpu_kind is None:
        teraflops = needs.cores * engine_row.core_teraflops
    else:
        slower = FLOAT32 if dtype == "float32" else 1
        teraflops = site.utilisation * needs.gpu_kind.teraflops * needs.gpus * slower
    possible = teraflops * 1e12 / (2e9 * (row.parameters or SMALLEST)) / engine_row.computed
    if row.architecture == "masked":
        possible /= SENTENCE
    return Speed(min(possible, site.host_tokens_per_second), "stated")


def score_seconds(tokens: float, weights_gb: float, speed: Speed, site: Site | None) -> float:
    """Estimate the seconds to start an engine, load weights and score ``tokens``."""
    site = site or Site()
    load = site.start_seconds + weights_gb / site.load_gb_per_second
    return load + tokens / speed.tokens_per_second
