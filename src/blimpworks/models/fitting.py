"""The training loop of every network trained here: repeatable and resumable."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import torch
from tqdm import tqdm

from blimpworks.models.checkpoint import Trained
from blimpworks.models.snapshot import load_snapshot, save_snapshot
from blimpworks.models.threads import one_thread


class Course(Protocol):
    """What a kind of network does in the steps of its training."""

    steps: int
    """Number of optimiser steps."""
    clip: float
    """Largest norm of the gradient."""

    @property
    def model(self) -> torch.nn.Module:
        """What is trained."""
        ...

    @property
    def optimiser(self) -> torch.optim.Optimizer:
        """Of its parameters."""
        ...

    def rate(self, step: int) -> float:
        """Learning rate of step ``step`` (from 0); asked for once, before its loss."""
        ...

    def loss(self, step: int) -> torch.Tensor:
        """Mean loss per token of a step's batch [], in nats."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """What the next step depends on besides model, optimiser and random numbers."""
        ...

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Take up such a state."""
        ...

    def finish(self) -> None:
        """Leave in ``model`` what is to be kept."""
        ...


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Run torch so that results repeat: seeded, deterministic kernels, one thread."""
    strict = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        with one_thread():
            yield
    finally:
        torch.use_deterministic_algorithms(strict)


def scratch_of(directory: Path) -> Path:
    """Where the snapshots of a model that is trained into ``directory`` lie meanwhile."""
    return directory.with_name(f".{directory.name}.training")


def run_digest(source: Trained) -> str:
    """Identity of a training run: all that decides the weights, the version of torch included."""
    versions = f"torch {torch.__version__}"
    settings = json.dumps(source.model_dump(), sort_keys=True)
    return hashlib.sha256(f"{versions}\n{settings}".encode()).hexdigest()


def _step(course: Course, step: int) -> float:
    """One optimiser step; returns the loss."""
    rate = course.rate(step)
    for group in course.optimiser.param_groups:
        group["lr"] = rate
    loss = course.loss(step)
    course.optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(course.model.parameters(), course.clip)
    course.optimiser.step()
    return loss.item()


def fit(course: Course, source: Trained, scratch: Path, every: int) -> None:
    """Train ``course.model`` in place, from the last snapshot of this run if there is one.

    Every ``every`` steps a snapshot goes into the directory ``scratch``.
    """
    run = run_digest(source)
    done, state = load_snapshot(scratch, run, course.model, course.optimiser)
    if done:
        course.restore(state)
    course.model.train()
    bar = tqdm(
        total=course.steps, initial=done, unit="step", desc="training", mininterval=5, leave=True
    )
    with bar:
        for step in range(done, course.steps):
            loss = _step(course, step)
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            bar.update()
            if (step + 1) % every == 0:
                save_snapshot(
                    scratch, run, step + 1, course.model, course.optimiser, course.state()
                )
    course.finish()
