"""Whether models fit into this machine's memory, before anything is loaded."""

from collections.abc import Sequence
from dataclasses import dataclass

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cluster.needs import memory_of
from blimpworks.errors import UserError
from blimpworks.evaluation.machine import Machine, this_machine
from blimpworks.evaluation.resolved import ResolvedModel, size_text

WORKING_GB = {"transformers": 1.5, "lstm": 1.5, "kenlm": 0.5, "vllm": 6.0}
"""Memory beside the weights, without a GPU. Python and its libraries take up to 1 GB, logits of
128 positions over 262,144 pieces 0.4 GB; vLLM sets 4 GB aside for keys and values besides."""


@dataclass(frozen=True, slots=True)
class _Need:
    """Memory that a model takes, and what there is of it."""

    weights: float
    working: float
    there: float | None
    place: str

    @property
    def total(self) -> float:
        """Weights and what the engine works with [GB]."""
        return self.weights + self.working

    @property
    def fits(self) -> bool:
        """Whether that is there; unknown memory counts as enough."""
        return self.there is None or self.total <= self.there


def _need(model: ResolvedModel, machine: Machine) -> _Need:
    """What a model takes: on one GPU where the engine has one, else of the machine's memory."""
    row = model.row
    if row.engine == "vllm" and machine.gpus_gb:
        memory = memory_of(row, row.engine, row.dtype, ScoringOptions())
        total = memory._replace(weights=model.weights_gb).of_each(1)
        working = total - model.weights_gb
        return _Need(model.weights_gb, working, max(machine.gpus_gb), "of the GPU's memory")
    return _Need(model.weights_gb, WORKING_GB[row.engine], machine.memory_gb, "of memory")


def _remedies(model: ResolvedModel, need: _Need) -> str:
    """What to do about a model that does not fit."""
    ways = []
    half = need.weights / 2 + need.working
    has_choice = model.row.dtype == "float32" and model.row.engine in ("transformers", "vllm")
    if has_choice and need.there and half <= need.there:
        ways.append(f"--dtype bfloat16 ({half:.1f} GB)")
    if model.row.engine == "vllm":
        ways.append("--engine transformers, in the machine's memory")
    return ", ".join([*ways, "--profile slurm on a cluster, or a smaller model"])


def check_memory(models: Sequence[ResolvedModel], machine: Machine | None = None) -> list[str]:
    """A line on the memory that each model takes, its engine being chosen.

    That is its weights, in the format that it is run in, and what its engine works with
    (``WORKING_GB``; on a GPU what plans for clusters count). ``machine`` is this one unless
    given.

    Raises UserError for a model that cannot fit, with what to do.
    """
    machine = machine or this_machine()
    lines = []
    for model in models:
        need = _need(model, machine)
        weights = size_text(need.weights) if need.weights else "of a size not known yet"
        total = (
            f"{need.total:.1f} GB {need.place}: weights {weights} in {model.row.dtype}, "
            f"{need.working:.1f} GB to work with"
        )
        if not need.fits:
            raise UserError(
                f"model {model.row.name!r} needs {total}; {need.there:.1f} GB are free here. "
                f"Choose {_remedies(model, need)}."
            )
        free = "" if need.there is None else f" ({need.there:.1f} GB are free)"
        lines.append(f"{model.row.label} needs {total}{free}.")
    return lines
