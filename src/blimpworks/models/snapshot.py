"""Save snapshots of a training run, which resumes from them to the same final bytes."""

import logging
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from blimpworks.files import atomic

log = logging.getLogger(__name__)

NAME = "snapshot.safetensors"
Tensors = dict[str, torch.Tensor]
Optimisers = Sequence[torch.optim.Optimizer]
"""Optimisers of a model, among which its parameters are divided."""


def _kept(optimisers: Optimisers) -> dict[torch.nn.Parameter, Tensors]:
    return {
        parameter: optimiser.state[parameter]
        for optimiser in optimisers
        for group in optimiser.param_groups
        for parameter in group["params"]
    }


def save_snapshot(
    directory: Path,
    run: str,
    step: int,
    model: torch.nn.Module,
    optimisers: Optimisers,
    state: Tensors,
) -> None:
    """Write the state after ``step`` optimiser steps into ``directory``, whole or not at all.

    ``run`` is the digest of all that decides the run. ``state`` is what else the next step needs.
    """
    metadata = {"run": run, "step": str(step)}
    with atomic(directory / NAME) as temporary:
        tensors = {"rng": torch.get_rng_state()}
        if any(parameter.is_cuda for parameter in model.parameters()):
            tensors["rng_cuda"] = torch.cuda.get_rng_state()
        tensors |= {f"state.{name}": value for name, value in state.items()}
        kept = _kept(optimisers)
        for name, parameter in model.named_parameters():
            tensors[f"model.{name}"] = parameter.data
            for key, value in kept[parameter].items():
                tensors[f"optimiser.{key}.{name}"] = value
        save_file(tensors, temporary, metadata=metadata)


def load_snapshot(
    directory: Path, run: str, model: torch.nn.Module, optimisers: Optimisers
) -> tuple[int, Tensors]:
    """Restore a snapshot of ``run`` into ``model`` and ``optimisers``; return step and state.

    Returns step 0, with nothing changed, if there is none, or it is broken or of another run.
    """
    path = directory / NAME
    if not path.exists():
        return 0, {}
    try:
        with safe_open(path, framework="pt") as stored:
            metadata = stored.metadata()
            if metadata["run"] != run:
                log.info("%s is of another run (recipe, seed or text changed): from scratch", path)
                return 0, {}
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    except SafetensorError as error:
        log.warning("%s is unreadable (%s): training starts from scratch", path, error)
        return 0, {}
    weights, held = _below("model.", tensors), _below("optimiser.", tensors)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    # A parameter without state (plain SGD) keeps having none.
    parameters, kept = dict(model.named_parameters()), _kept(optimisers)
    for key, tensor in held.items():
        what, _, name = key.partition(".")
        # Counts of steps stay on the CPU.
        device = parameters[name].device if tensor.dim() else tensor.device
        kept[parameters[name]][what] = tensor.to(device)
    torch.set_rng_state(tensors["rng"])
    if "rng_cuda" in tensors:
        torch.cuda.set_rng_state(tensors["rng_cuda"])
    return int(metadata["step"]), _below("state.", tensors)


def _below(prefix: str, tensors: Tensors) -> Tensors:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
