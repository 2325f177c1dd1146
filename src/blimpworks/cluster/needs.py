"""Needs of scoring with a model: GPUs of a kind, cores and memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import GpuKind, ModelNeeds, Site
from blimpworks.errors import UserError

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of a number, by format."""
ON_CPU = frozenset({"kenlm", "lstm"})
"""Engines that are given no GPU: their models are too small to gain by one."""
SIZES = (1, 2, 4, 8)
"""GPUs that a model can be spread over: they must divide its attention heads."""
VOCABULARY = 262_144
"""Entries of the largest vocabulary in the catalogue (Gemma 3), taken for every model."""
ROWS = 1024
"""Positions whose logits the engine transformers has at one time on a GPU (``logits.ROWS``)."""
MARGIN = 1.02
"""Weights on the GPU to weights in the file: padded vocabularies, buffers, alignment."""
CONTEXT_GB = 1.5
"""Of each GPU: CUDA's context, communication buffers, the hidden states of a pass."""
REACHABLE = 0.97
"""Share of a GPU's stated memory that a process can have: the driver keeps some."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a job that scores with a model asks for."""

    kind: GpuKind | None
    """Kind of its GPUs; None without any."""
    gpus: int
    cores: int
    memory_mb: int
    """Memory of the host, in MB."""
    weights_gb: float
    """0 where the number of parameters is not known: a small model that is trained here."""
    needed_gb: float
    """On all its GPUs together; 0 without any."""

    @property
    def tensor_parallel(self) -> int:
        """GPUs that the weights are spread over, at least 1."""
        return self.gpus or 1

    @property
    def gres(self) -> str:
        """SLURM's name for the GPUs (``gpu:a100:2``, ``gpu:2``); empty without any."""
        if self.kind is None:
            return ""
        return ":".join(filter(None, ("gpu", self.kind.name, str(self.gpus))))


class Memory(NamedTuple):
    """Memory of GPUs that scoring takes, in GB."""

    weights: float
    cache: float
    """Keys and values of the longest text."""
    logits: float
    """GB of logits on each GPU, not divided among them."""
    share: float
    """Of each GPU that the engine may take for all but logits."""

    def of_each(self, gpus: int) -> float:
        """GB that each of ``gpus`` GPUs must have."""
        held = (self.weights * MARGIN + self.cache) / gpus + CONTEXT_GB
        return max(held / self.share, (held + self.logits) / REACHABLE)

    def arithmetic(self) -> str:
        """The sum in words."""
        return (
            f"weights {self.weights:.1f} GB × {MARGIN} + keys and values {self.cache:.1f} GB, "
            f"spread over its GPUs, and on each {CONTEXT_GB} GB for the engine, in "
            f"{self.share:.0%} of its memory; beside that {self.logits:.1f} GB for logits"
        )


class Option(NamedTuple):
    """So many GPUs of a kind, and the GB of each that a model takes."""

    kind: GpuKind
    gpus: int
    each_gb: float

    @property
    def room_gb(self) -> float:
        """Memory of each GPU that is left over; negative where the model does not fit."""
        return self.kind.memory_gb - self.each_gb

    def cost(self) -> tuple[int, float]:
        """Rank options: fewest GPUs first, then least memory left over."""
        return self.gpus, self.room_gb


def weights_gb(row: ModelRow, dtype: str) -> float:
    """GB of a model's weights; 0 where the number of parameters is not known.

    Raises UserError for an unknown number format.
    """
    if dtype not in BYTES:
        raise UserError(
            f"model {row.name!r} has dtype {dtype!r}, expected one of {', '.join(BYTES)}; "
            "correct its row in the table of models."
        )
    return (row.parameters or 0) * BYTES[dtype]


def memory_of(row: ModelRow, engine: str, dtype: str, options: ScoringOptions) -> Memory:
    """Memory that scoring with a model takes on GPUs.

    Weights are parameters × bytes of the format. Keys and values are those of one text of
    ``longest`` tokens, at 143 KB × (billions of parameters)^(2/3) per token: a token has
    2 × layers × width numbers of 2 bytes where each attention head has its own (OLMo 2 7B
    0.52 MB, 13B 0.82 MB), layers and width each grow with the cube root of the parameters, and
    models whose heads share them need less. Logits over the vocabulary exist in the model's
    format, in float32 and as a comparison (1 byte): in vLLM 0.11 to 0.32 for one text at a time
    (``GPUModelRunner._get_prompt_logprobs_dict``) or 1,024 positions, and outside of the share
    of memory that it manages; in the engine transformers for 1,024 positions.
    """
    weights = weights_gb(row, dtype)
    served = engine == "vllm"
    per_token = 143e-6 * (row.parameters or 0) ** (2 / 3) * BYTES[dtype] / 2
    rows = min(options.vllm.longest, options.vllm.batched_tokens) if served else ROWS
    return Memory(
        weights=weights,
        cache=per_token * (options.vllm.longest if served else options.batch_tokens),
        logits=rows * VOCABULARY * (BYTES[dtype] + 4 + 1) / 1e9,
        share=options.vllm.gpu_memory if served else REACHABLE,
    )


def host_memory_mb(weights: float, engine: str, gpus: int) -> int:
    """MB of the host's memory for a job.

    4,000 for Python with its libraries and the sentences, and on GPUs as much for each GPU's
    process. vLLM maps weights into memory that the system can take back, file by file (5 GB at
    most); transformers has them whole before they move to the GPU, and in two formats.
    """
    mapped = engine == "vllm" and gpus
    loading = min(weights, 5.0) * gpus if mapped else weights * 2
    return 4000 + 4000 * gpus + round(loading * 1000)


def _options(
    row: ModelRow, engine: str, memory: Memory, site: Site, scoring: ScoringOptions
) -> list[Option]:
    """List each way to place a model, whether it fits or not."""
    needs = site.models.get(row.name, ModelNeeds())
    stated_gb = needs.memory_gb or row.gpu_memory_gb
    least = (needs.gpus if needs.gpus is not None else row.gpus) or 1
    fixed = scoring.vllm.tensor_parallel
    options = []
    for kind in site.gpus:
        if needs.kind not in (None, kind.label):
            continue
        if engine != "vllm":  # transformers uses the first GPU
            sizes = [1]
        elif fixed is not None:
            sizes = [fixed] if fixed <= kind.per_node else []
        else:
            sizes = [n for n in sorted({least, *SIZES}) if least <= n <= kind.per_node]
        for gpus in sizes:
            each_gb = stated_gb / gpus if stated_gb else memory.of_each(gpus)
            options.append(Option(kind, gpus, each_gb))
    return options


def _refusal(row: ModelRow, memory: Memory, options: Sequence[Option], site: Site) -> str:
    """Say why a model fits nowhere, and what to do."""
    largest = max(site.gpus, key=lambda kind: (kind.memory_gb * kind.per_node, kind.memory_gb))
    node = f"{largest.per_node} × {largest.label} ({largest.memory_gb:g} GB each)"
    if not options:
        return (
            f"model {row.name!r} cannot be placed: no kind of GPU that it may have comes in the "
            f"number it must have; the largest node of the site has {node}. Change gpus or kind "
            f"of models.{row.name} in the site's file, gpus in the table of models, or "
            "scoring.vllm.tensor_parallel of the campaign."
        )
    best = max(options, key=lambda option: option.room_gb)
    stated_gb = site.models.get(row.name, ModelNeeds()).memory_gb or row.gpu_memory_gb
    sum_ = f"{stated_gb:g} GB are stated for all together" if stated_gb else memory.arithmetic()
    if best.room_gb >= 0:
        sum_ += f"; the host needs more memory than its {best.kind.host_memory_gb:g} GB"
    return (
        f"model {row.name!r} fits no configured GPU: on {best.gpus} × {best.kind.label} it needs "
        f"{best.each_gb:.1f} GB of each, which has {best.kind.memory_gb:g} ({sum_}). The largest "
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
    """Find what a job needs that scores with the model ``row`` by ``engine`` in ``dtype``.

    GPUs of one node of ``site``: the fewest that the model fits on, then those of whose memory
    least is left over. ``step`` is how often GPU memory ran out: each asks for more room (more
    GPUs, or larger ones), as long as there is. The table of models or the site may state GPUs
    and memory, see ``memory_of`` for what is derived. Without a site, or GPUs in it, models run
    on the CPU; n-gram models and LSTMs always do.

    Raises UserError for a model that fits nowhere, with the sum.
    """
    scoring = options or ScoringOptions()
    stated = site.models.get(row.name, ModelNeeds()).gpus if site else None
    no_gpus = (row.gpus if stated is None else stated) == 0
    if site is None or not site.gpus or engine in ON_CPU or no_gpus:
        weights = weights_gb(row, dtype)
        memory_mb = host_memory_mb(weights, engine, 0)
        if site is not None and memory_mb > site.cpu.memory_gb * 1000:
            raise UserError(
                f"model {row.name!r} runs on the CPU and needs {memory_mb / 1000:.0f} GB of memory "
                f"(weights {weights:.1f} GB), but nodes of cpu in the site's file have "
                f"{site.cpu.memory_gb:g} GB; add GPUs to the site's file, or leave the model out "
                "of the campaign."
            )
        cores = scoring.vllm.threads if engine == "vllm" else 1
        return Needs(None, 0, cores, memory_mb, weights, 0.0)
    memory = memory_of(row, engine, dtype, scoring)
    every = _options(row, engine, memory, site, scoring)
    fitting = [
        option
        for option in every
        if option.room_gb >= 0
        and host_memory_mb(memory.weights, engine, option.gpus) <= option.kind.host_memory_gb * 1000
    ]
    if not fitting:
        raise UserError(_refusal(row, memory, every, site))
    best = min(fitting, key=Option.cost)
    for _ in range(step):
        roomier = [option for option in fitting if option.room_gb > best.room_gb]
        best = min(roomier, key=Option.cost, default=best)
    return Needs(
        kind=best.kind,
        gpus=best.gpus,
        cores=best.kind.cores_per_gpu * best.gpus,
        memory_mb=host_memory_mb(memory.weights, engine, best.gpus),
        weights_gb=memory.weights,
        needed_gb=best.each_gb * best.gpus,
    )
