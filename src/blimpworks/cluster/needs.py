"""Estimate the GPUs, memory and time that scoring jobs need, before they run.

``Setup.needs`` chooses GPUs for a model, and ``Setup.seconds`` estimates the time. A ``Setup`` has
the model's row in the catalogue, its engine and number format, and the site (a cluster's nodes).
``expected_items`` and ``expected_work`` count the sentences and tokens that a job scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import Engine, find_engine
from blimpworks.campaign.methods import regional
from blimpworks.campaign.paper import SENTENCE, Benchmark
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.scoring_jobs import CampaignSelection, ScoringJob, items_table
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
"""Largest number of positions whose logits a GPU holds at once, in engines that run no server
(``hub_loading.LOGIT_ROWS``)."""
WEIGHTS_FACTOR = 1.02
"""Memory of weights on the GPU relative to their file: padding, buffers, alignment."""
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
    gb_per_gpu: float = 0.0
    """GB that the job needs on each GPU; 0 without GPUs, and for trainings."""

    @property
    def spare_gb(self) -> float:
        """Memory of each GPU that remains free [GB]; negative when the model does not fit."""
        return self.gpu_kind.memory_gb - self.gb_per_gpu if self.gpu_kind else 0.0

    @property
    def fits(self) -> bool:
        """Whether GPUs and host have enough memory."""
        gpu = self.gpu_kind
        host_fits = gpu is None or self.memory_mb <= gpu.host_memory_gb * 1000
        return self.spare_gb >= 0 and host_fits

    @property
    def gres(self) -> str:
        """Name of the GPUs for SLURM, such as ``gpu:a100:2``; empty without GPUs."""
        if self.gpu_kind is None:
            return ""
        return ":".join(filter(None, ("gpu", self.gpu_kind.name, str(self.gpus))))


class Memory(NamedTuple):
    """GPU memory for scoring with a model, in GB."""

    weights: float
    cache: float
    """Keys and values of the longest text."""
    logits: float
    """Logits, which each GPU has in full."""
    share: float
    """Share of each GPU's memory (0 to 1) that the engine may use for everything but logits."""

    def per_gpu(self, gpus: int) -> float:
        """Return the GB that each GPU must have if ``gpus`` GPUs share the weights."""
        managed = (self.weights * WEIGHTS_FACTOR + self.cache) / gpus + CONTEXT_GB
        # Two limits hold: one for the memory that the engine manages, one for all memory.
        return max(managed / self.share, (managed + self.logits) / REACHABLE)

    def explain(self) -> str:
        """Return the calculation as a phrase for messages."""
        return (
            f"weights {self.weights:.1f} GB × {WEIGHTS_FACTOR} + keys and values {self.cache:.1f} "
            f"GB, spread over its GPUs, and on each GPU {CONTEXT_GB} GB for the engine, all in "
            f"{self.share:.0%} of the GPU's memory; in addition {self.logits:.1f} GB for logits"
        )


class Speed(NamedTuple):
    """Scoring speed of a job."""

    tokens_per_second: float
    source: Literal["measured", "stated"]
    """measured: taken from the site's file; stated: computed from peak, utilisation and size, or
    stated for the engine."""


FLOAT32_SPEED = 1 / 16
"""Peak speed of a GPU in float32 relative to bfloat16 (data sheets: A100 1/16, H100 1/15)."""
ASSUMED_BILLIONS = 0.005
"""Billions of parameters assumed for a model of unstated size; models trained here have few."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A model with the engine, number format, settings and cluster that it is scored with."""

    row: ModelRow
    engine: Engine
    dtype: str
    """Number format of the weights."""
    site: Site | None = None
    """Cluster; None for this machine."""
    options: ScoringOptions = field(default_factory=ScoringOptions)

    @property
    def weights_gb(self) -> float:
        """Size of the weights in GB; 0 if unknown."""
        return (self.row.parameters or 0) * BYTES[self.dtype]

    @property
    def _site_needs(self) -> ModelNeeds:
        return (self.site or Site()).models.get(self.row.name, ModelNeeds())

    @property
    def _stated_gb(self) -> float | None:
        return self._site_needs.memory_gb or self.row.gpu_memory_gb

    def memory(self) -> Memory:
        """Estimate the GPU memory for scoring with the model.

        - Weights: parameters × bytes of the format.
        - Keys and values of one text: 143 KB × (billions of parameters)^(2/3) for each token. A
          token has 2 × layers × width numbers of 2 bytes (OLMo 2 7B 0.52 MB, 13B 0.82 MB). Models
          with grouped attention heads need less.
        - Logits, held three times: in the model's format, in float32, and as the result of a
          comparison (1 byte). vLLM 0.11 to 0.32 holds them for one text, outside of the memory that
          it manages (``GPUModelRunner._get_prompt_logprobs_dict``). Other engines hold them for
          1,024 positions.
        """
        # Settings of the engine's server; None for engines that load the model in their process.
        serving, number_bytes = self.engine.serving(self.options), BYTES[self.dtype]
        cached_tokens = serving.longest if serving else self.options.batch_tokens
        # GB; the 143 KB hold for numbers of 2 bytes.
        cache_per_token = 143e-6 * (self.row.parameters or 0) ** (2 / 3) * number_bytes / 2
        positions = min(serving.longest, serving.batched_tokens) if serving else LOGIT_ROWS
        return Memory(
            weights=self.weights_gb,
            cache=cache_per_token * cached_tokens,
            logits=positions * VOCABULARY * (number_bytes + 4 + 1) / 1e9,
            share=serving.gpu_memory if serving else REACHABLE,
        )

    def host_memory_mb(self, gpus: int) -> int:
        """Estimate the MB of the host's memory for a job.

        Python, libraries and sentences take 4,000, and each GPU's process as much. vLLM's server
        maps weights file by file (5 GB at most); other engines load all weights, in two formats.
        """
        has_server = gpus > 0 and self.engine.serves
        loading_gb = min(self.weights_gb, 5.0) * gpus if has_server else self.weights_gb * 2
        return 4000 + 4000 * gpus + round(loading_gb * 1000)

    def needs(self, step: int = 0) -> Needs:
        """Choose the resources of a job that scores with the model.

        The job gets the fewest GPUs of one node that the model fits on, of the kind with the least
        spare memory. The table of models or the site's file may state the fewest GPUs, and the
        memory. Without a site or GPUs, and with some engines, the model runs on the CPU. ``step``:
        number of earlier attempts that ran out of GPU memory; for each, choose the next placement
        with more free memory, if there is one. Raises UserError, with the calculation, for a model
        that fits nowhere.
        """
        site, stated_gpus = self.site, self._site_needs.gpus
        if stated_gpus is None:
            stated_gpus = self.row.gpus
        if site is None or not site.gpus or not self.engine.gpu or stated_gpus == 0:
            return self._needs_on_cpu()
        possible = self._placements(site, fewest=stated_gpus or 1)
        fitting = [needs for needs in possible if needs.fits]
        if not fitting:
            raise UserError(self._refusal(site, possible))
        # Few GPUs are better, then little spare memory.
        fitting.sort(key=lambda needs: (needs.gpus, needs.spare_gb))
        best = fitting[0]
        for _ in range(step):
            best = next((needs for needs in fitting if needs.spare_gb > best.spare_gb), best)
        return best

    def _needs_on_cpu(self) -> Needs:
        site, memory_mb, weights = self.site, self.host_memory_mb(0), self.weights_gb
        if site is not None and memory_mb > site.cpu.memory_gb * 1000:
            raise UserError(
                f"model {self.row.name!r} runs on the CPU and needs {memory_mb / 1000:.0f} GB of "
                f"memory (weights {weights:.1f} GB), but nodes of cpu in the site's file have "
                f"{site.cpu.memory_gb:g} GB; add GPUs to the site's file, or leave the model "
                "out of the campaign."
            )
        serving = self.engine.serving(self.options)
        return Needs(None, 0, serving.threads if serving else 1, memory_mb, weights)

    def _placements(self, site: Site, fewest: int) -> list[Needs]:
        """Return the needs on each kind and number of GPUs that settings allow, fitting or not."""
        serving, memory, stated_gb = (
            self.engine.serving(self.options),
            self.memory(),
            self._stated_gb,
        )
        if not serving:  # engines without a server use only the first GPU
            numbers = [1]
        elif serving.tensor_parallel is not None:
            numbers = [serving.tensor_parallel]
        else:
            numbers = [number for number in sorted({fewest, *GPU_NUMBERS}) if number >= fewest]
        placements = []
        for gpu, number in product(site.gpus, numbers):
            if self._site_needs.kind in (None, gpu.label) and number <= gpu.per_node:
                gb_per_gpu = stated_gb / number if stated_gb else memory.per_gpu(number)
                host_mb, cores = self.host_memory_mb(number), gpu.cores_per_gpu * number
                placements.append(Needs(gpu, number, cores, host_mb, self.weights_gb, gb_per_gpu))
        return placements

    def _refusal(self, site: Site, possible: Sequence[Needs]) -> str:
        """Explain why the model fits on none of the ``possible`` placements, and what to do."""
        name, stated_gb = self.row.name, self._stated_gb
        largest = max(site.gpus, key=lambda gpu: (gpu.memory_gb * gpu.per_node, gpu.memory_gb))
        node = f"{largest.per_node} × {largest.label} ({largest.memory_gb:g} GB each)"
        best = max(possible, key=lambda needs: needs.spare_gb, default=None)
        if best is None or best.gpu_kind is None:  # the settings allow no placement
            return (
                f"model {name!r} cannot be placed: no node has enough GPUs that it may have; the "
                f"largest has {node}. Change gpus or kind of models.{name} in the site's file, "
                "gpus in the table of models, or scoring.vllm.tensor_parallel of the campaign."
            )
        gpu = best.gpu_kind
        stated = f"{stated_gb:g} GB are stated for all GPUs" if stated_gb else ""
        reason = stated or self.memory().explain()
        if best.spare_gb >= 0:  # the GPUs have enough
            reason += f"; the host needs more memory than its {gpu.host_memory_gb:g} GB"
        return (
            f"model {name!r} fits no configured GPU: on {best.gpus} × {gpu.label} it needs "
            f"{best.gb_per_gpu:.1f} GB of each, which has {gpu.memory_gb:g} ({reason}). The "
            f"largest node has {node}. Add a larger kind to gpus in the site's file, leave the "
            f"model out of the campaign, or state models.{name}.memory_gb if you know it."
        )

    def speed(self, needs: Needs) -> Speed:
        """Estimate the tokens per second of the model on the resources ``needs``.

        - If the site's file has a measured speed of the model, return it.
        - If the engine states a speed (KenLM does), return that.
        - Else a token takes 2 operations per parameter, times ``Engine.computed`` (LSTMs compute
          prefixes once). GPUs reach utilisation × peak speed, and CPUs a fixed speed per core. The
          host limits the speed of small models. A masked model computes a whole sentence for each
          scored token.
        """
        measured, stated = self._site_needs.tokens_per_second, self.engine.tokens_per_second
        if measured is not None:
            return Speed(measured, "measured")
        if stated is not None:
            return Speed(stated, "stated")
        site = self.site or Site()
        if needs.gpu_kind is None:
            teraflops = needs.cores * self.engine.core_teraflops
        else:
            relative_speed = FLOAT32_SPEED if self.dtype == "float32" else 1
            teraflops = site.utilisation * needs.gpu_kind.teraflops * needs.gpus * relative_speed
        operations = 2e9 * (self.row.parameters or ASSUMED_BILLIONS)
        possible = teraflops * 1e12 / operations / self.engine.computed
        if self.row.architecture == "masked":
            possible /= SENTENCE
        return Speed(min(possible, site.host_tokens_per_second), "stated")

    def seconds(self, tokens: float, needs: Needs) -> float:
        """Estimate the seconds to start the engine, load weights and score ``tokens``."""
        site = self.site or Site()
        load = site.start_seconds + self.weights_gb / site.load_gb_per_second
        return load + tokens / self.speed(needs).tokens_per_second


def setup_of(selection: CampaignSelection, model: str, site: Site | None) -> Setup:
    """Return a model's setup in a campaign. Raises UserError for an unknown engine."""
    engine, dtype = find_engine(selection.engine_of(model)), selection.dtype_of(model)
    row, options = selection.catalogue.models[model], selection.campaign.scoring
    return Setup(row, engine, dtype, site, options)


REGION_TOKENS = 2.0
"""Tokens of a critical region, which is one word in most pairs."""
GENERATION_COST = 4.0
"""Cost of a generated token relative to a scored one (an assumption): a model generates tokens one
by one."""


class Expectation(NamedTuple):
    """Expected rows and tokens of an items table, which has pairs or prompts of one language."""

    pairs: int
    """Rows of the table: pairs or prompts."""
    tokens: float
    """Scored tokens of a sentence; for a prompt, the cost of reading it and writing the longest
    answer, in scored tokens."""
    texts: int = 2
    """Texts of a row: two for a pair, one for a prompt. A text of several rows counts in each row,
    though it is scored once."""


def scores_regions(campaign: Campaign, row: ModelRow, benchmark: Benchmark) -> bool:
    """Return whether a model scores only critical regions, the words in which two sentences differ.

    Masked models do, if the benchmark's methods need no more. Other models have to read the words
    before the region, and score them too.
    """
    return row.architecture == "masked" and regional(benchmark.methods(campaign, "masked"))


def expected_items(selection: CampaignSelection, job: ScoringJob) -> dict[Path, Expectation]:
    """Return the expected content of each items table of a scoring job, keyed by its path."""
    campaign, row = selection.campaign, selection.catalogue.models[job.model]
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
        number = benchmark.expected_units(campaign, selection.catalogue, lang)
        number = min(number, campaign.limit or number)
        expectations[items_table(campaign, name, lang)] = Expectation(number, tokens, texts)
    return expectations


class Work(NamedTuple):
    """Numbers of sentences and of their tokens, scored or to be scored."""

    sentences: int
    tokens: int

    @property
    def mean(self) -> float | None:
        """Mean tokens of a sentence; None without sentences."""
        return self.tokens / self.sentences if self.sentences else None


@lru_cache(maxsize=4096)
def _count_rows(path: str, _changed: int) -> int:
    # The time of the last change is a key of the cache, so a changed file is read again.
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
