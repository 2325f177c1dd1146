"""Run the training loop of every network trained here: repeatable and resumable."""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Protocol

import torch
from tqdm import tqdm

from blimpworks.campaign.settings.training import HOW_MANY, LstmRecipe, NetworkRecipe
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import Trained
from blimpworks.models.snapshot import load_snapshot, save_snapshot
from blimpworks.models.threads import single_thread


class DivergedError(ArithmeticError):
    """A loss is no finite number, so the weights are none either; says which and when."""


class Course(Protocol):
    """Steps of the training of one kind of network."""

    steps: int
    """Number of optimiser steps."""
    clip: float
    """Largest norm of the gradient."""

    @property
    def model(self) -> torch.nn.Module:
        """Network in training."""
        ...

    @property
    def optimisers(self) -> Sequence[torch.optim.Optimizer]:
        """Optimisers, among which the parameters are divided."""
        ...

    def rate(self, step: int) -> float:
        """Return the learning rate of a step (from 0); called once, before its loss.

        Raises DivergedError when it depends on something that is no number.
        """
        ...

    def loss(self, step: int) -> torch.Tensor:
        """Return the mean loss per token of a step's batch [], in nats."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return what the next step needs besides model, optimiser and random numbers."""
        ...

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Restore such a state."""
        ...

    def finish(self) -> None:
        """Leave the final weights in ``model``. Raises DivergedError as ``rate`` does."""
        ...


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Run torch repeatably: seeded, deterministic kernels, one thread.

    Results on a GPU repeat on others of its kind.
    """
    # CUDA's libraries read it when they start; LSTMs need this value or :4096:2 to repeat.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    before = torch.get_deterministic_debug_mode()
    # As use_deterministic_algorithms, which also imports torch's compiler: more than a second.
    torch.set_deterministic_debug_mode("error")
    torch.manual_seed(seed)
    try:
        with single_thread():
            yield
    finally:
        torch.set_deterministic_debug_mode(before)


def training_device() -> torch.device:
    """Return the GPU, if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_label(device: torch.device) -> str:
    """Return ``cpu`` or the GPU's kind, since kinds of GPU round differently."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def scratch_of(directory: Path) -> Path:
    """Return the folder of the snapshots of a model that is trained into ``directory``."""
    return directory.with_name(f".{directory.name}.training")


def training_of(
    recipe_name: str, recipe: NetworkRecipe | LstmRecipe, seed: int, text: Path
) -> Trained:
    """Describe a training on ``text``, without the recipe's number of models."""
    return Trained(
        recipe=recipe_name,
        settings=recipe.model_dump(exclude=HOW_MANY),
        seed=seed,
        text_sha256=sha256_of(text),
    )


def fit(course: Course, source: Trained, scratch: Path, every: int) -> None:
    """Train ``course.model`` in place, from the last snapshot of this run if there is one.

    Every ``every`` steps a snapshot goes into ``scratch``. Raises UserError as soon as a loss is no
    finite number.
    """
    model, optimisers = course.model, course.optimisers
    # All that decides the weights identifies a run.
    versions = f"torch {torch.__version__} on {device_label(next(model.parameters()).device)}"
    settings = json.dumps(source.model_dump(), sort_keys=True)
    run = hashlib.sha256(f"{versions}\n{settings}".encode()).hexdigest()
    done, state = load_snapshot(scratch, run, model, optimisers)
    if done:
        course.restore(state)
    model.train()
    bar = tqdm(
        total=course.steps, initial=done, unit="step", desc="training", mininterval=5, leave=True
    )
    try:
        with bar:
            for step in range(done, course.steps):
                rate = course.rate(step)
                for group in chain.from_iterable(each.param_groups for each in optimisers):
                    group["lr"] = rate
                loss = course.loss(step)
                model.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(model.parameters(), course.clip)
                for optimiser in optimisers:
                    optimiser.step()
                value = loss.item()
                if not math.isfinite(value):
                    raise DivergedError(
                        f"the loss is {value} at step {step + 1:,} of {course.steps:,}"
                    )
                bar.set_postfix(loss=f"{value:.3f}", refresh=False)
                bar.update()
                if (step + 1) % every == 0:
                    save_snapshot(scratch, run, step + 1, model, optimisers, course.state())
        course.finish()
    except DivergedError as error:
        raise UserError(
            f"the training diverged: {error}; lower learning_rate (of an LSTM perhaps clip) in "
            f"recipe {source.recipe!r}."
        ) from error
