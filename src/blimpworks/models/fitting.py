"""Train networks by one loop; a killed run continues, and ends with the same weights to the byte.

``fit`` is the loop. A ``Course`` computes learning rate and loss of each step; ``lstm`` and
``transformer`` define one each. A *snapshot* is the file from which a killed run continues.
"""

import hashlib
import json
import logging
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tqdm import tqdm

from blimpworks.campaign.settings.training import HOW_MANY, LstmRecipe, NetworkRecipe
from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of
from blimpworks.models.checkpoint import Trained

log = logging.getLogger(__name__)
SNAPSHOT = "snapshot.safetensors"  # file name
Tensors = dict[str, torch.Tensor]
Optimisers = Sequence[torch.optim.Optimizer]
"""Optimisers of a model; each parameter belongs to one of them."""


@contextmanager
def single_thread() -> Iterator[None]:
    """Run a block with torch on one CPU thread.

    Sums of floats depend on how threads divide them, so the number of threads is fixed. On a busy
    machine, two threads that wait for each other are also many times slower than one.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def device_name(device: torch.device) -> str:
    """Return ``cpu`` or the GPU's model; models of GPU round differently."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _optimiser_states(optimisers: Optimisers) -> dict[torch.nn.Parameter, Tensors]:
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
    """Write all that decides the steps after ``step`` into ``directory``.

    ``run`` is a digest of all that decides the weights; ``state`` is what ``Course.state`` returns.
    """
    with atomic(directory / SNAPSHOT) as temporary:
        tensors = {"rng": torch.get_rng_state()}
        if any(parameter.is_cuda for parameter in model.parameters()):
            tensors["rng_cuda"] = torch.cuda.get_rng_state()
        tensors |= {f"state.{name}": value for name, value in state.items()}
        optimiser_states = _optimiser_states(optimisers)
        for name, parameter in model.named_parameters():
            tensors[f"model.{name}"] = parameter.data
            for key, value in optimiser_states[parameter].items():
                tensors[f"optimiser.{key}.{name}"] = value
        save_file(tensors, temporary, metadata={"run": run, "step": str(step)})


def load_snapshot(
    directory: Path, run: str, model: torch.nn.Module, optimisers: Optimisers
) -> tuple[int, Tensors]:
    """Restore the snapshot of ``run``; return its steps and state, or 0 and {} if there is none."""
    path = directory / SNAPSHOT
    if not path.exists():
        return 0, {}
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            if metadata["run"] != run:
                log.info("%s is of another run (recipe, seed or text changed): from scratch", path)
                return 0, {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        log.warning("%s is unreadable (%s): training starts from scratch", path, error)
        return 0, {}
    weights, moments = _with_prefix("model.", tensors), _with_prefix("optimiser.", tensors)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    # Keys such as exp_avg.layer.0.weight: field and name of the parameter. Plain SGD has none.
    parameters, optimiser_states = dict(model.named_parameters()), _optimiser_states(optimisers)
    for key, tensor in moments.items():
        field, _, name = key.partition(".")
        # Tensors without a dimension are counts of steps, which stay on the CPU.
        device = parameters[name].device if tensor.dim() else tensor.device
        optimiser_states[parameters[name]][field] = tensor.to(device)
    torch.set_rng_state(tensors["rng"])
    if "rng_cuda" in tensors:
        torch.cuda.set_rng_state(tensors["rng_cuda"])
    return int(metadata["step"]), _with_prefix("state.", tensors)


def _with_prefix(prefix: str, tensors: Tensors) -> Tensors:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


# Constants of torch.optim.Muon.
MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of Newton-Schulz steps, for x, x³ and x⁵
ITERATIONS = 5  # number of Newton-Schulz steps
STEP_SIZE = 0.2
"""Root mean square of AdamW's steps at a learning rate of one. Muon's steps are scaled to
it, so that one rate suits both. (Unscaled, an orthogonal matrix [m, n] has 1 / max(m, n) ** 0.5.)
"""
LEAST_NORM = 1e-7  # against division by zero


def orthogonalised(matrix: torch.Tensor) -> torch.Tensor:
    """Return ``matrix`` [m, n] with singular values near one, by Newton-Schulz iteration."""
    # A tall matrix is transposed, because the Gram matrix of a wide one is smaller.
    is_wide = matrix.size(0) <= matrix.size(1)
    result = matrix if is_wide else matrix.T
    result = result / result.norm().clamp(min=LEAST_NORM)
    linear, cubic, quintic = COEFFICIENTS
    # Each iteration replaces a singular value x by a polynomial of x.
    for _ in range(ITERATIONS):
        gram = result @ result.T
        higher = torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        result = torch.addmm(result, higher, result, beta=linear)
    return result if is_wide else result.T


class Muon(torch.optim.Optimizer):
    """Muon optimiser for matrices, with steps of AdamW's size and decoupled weight decay.

    Like ``torch.optim.Muon`` with ``match_rms_adamw``, but in float32. PyTorch rounds to bfloat16,
    which is many times slower on processors without that format.
    """

    def __init__(self, matrices: Iterable[torch.nn.Parameter], *, weight_decay: float) -> None:
        """Take the matrices; the loop sets the groups' ``lr`` before each step."""
        super().__init__(matrices, {"lr": 0.0, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Change each matrix that has a gradient; ``closure`` is not used."""
        for group in self.param_groups:
            rate, decay = group["lr"], group["weight_decay"]
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(matrix)
                momentum = state["momentum_buffer"]
                momentum.lerp_(matrix.grad, 1 - MOMENTUM)
                direction = orthogonalised(matrix.grad.lerp(momentum, MOMENTUM))
                matrix.mul_(1 - rate * decay)
                matrix.add_(direction, alpha=-rate * STEP_SIZE * max(matrix.shape) ** 0.5)


class DivergedError(ArithmeticError):
    """Error for a loss that is no finite number; its text states the loss and the step."""


class Course(ABC):
    """Training of one network, step by step, for ``fit``."""

    model: torch.nn.Module
    optimisers: Optimisers
    steps: int
    """Number of steps of the complete training."""
    clip: float
    """Largest norm of the gradient."""

    @abstractmethod
    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0; called once before its loss.

        A course may compute a validation loss here, on which its rate depends (``lstm``). Raises
        DivergedError if that is no finite number.
        """

    @abstractmethod
    def loss(self, step: int) -> torch.Tensor:
        """Return the mean loss per token of a step's batch, a scalar tensor [nats]."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return all that the next step needs besides model, optimisers and random state."""
        return {}

    def restore(self, state: dict[str, torch.Tensor]) -> None:  # noqa: B027
        """Restore the state of an earlier run, as returned by ``state``."""

    def finish(self) -> None:  # noqa: B027
        """Put the final weights into ``model`` after the last step. Raises errors as ``rate``."""


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Run torch with a seed, deterministic kernels and one CPU thread, so that results repeat."""
    # cuBLAS reads this variable when it starts. Results of LSTMs repeat with :16:8 or :4096:2.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    mode_before = torch.get_deterministic_debug_mode()
    # use_deterministic_algorithms does the same, but imports torch's compiler for a second.
    torch.set_deterministic_debug_mode("error")
    torch.manual_seed(seed)
    try:
        with single_thread():
            yield
    finally:
        torch.set_deterministic_debug_mode(mode_before)


def training_device() -> torch.device:
    """Return the GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def scratch_of(directory: Path) -> Path:
    """Return the folder for snapshots of a model that is trained into ``directory``."""
    return directory.with_name(f".{directory.name}.training")


def training_of(
    recipe_name: str, recipe: NetworkRecipe | LstmRecipe, seed: int, text: Path
) -> Trained:
    """Describe the training of one model on ``text``.

    Settings that only decide how many models a recipe trains (``HOW_MANY``) are left out.
    """
    return Trained(
        recipe=recipe_name,
        settings=recipe.model_dump(exclude=HOW_MANY),
        seed=seed,
        text_sha256=sha256_of(text),
    )


def fit(course: Course, source: Trained, scratch: Path, every: int) -> None:
    """Train ``course.model`` in place, from the last snapshot of the same run if there is one.

    Every ``every`` steps a snapshot is written into ``scratch``. UserError if a loss is not finite.
    """
    model, optimisers = course.model, course.optimisers
    # A run is identified by all that decides the weights.
    versions = f"torch {torch.__version__} on {device_name(next(model.parameters()).device)}"
    settings = json.dumps(source.model_dump(), sort_keys=True)
    run = hashlib.sha256(f"{versions}\n{settings}".encode()).hexdigest()
    first_step, state = load_snapshot(scratch, run, model, optimisers)
    if first_step:
        course.restore(state)

    model.train()
    bar = tqdm(total=course.steps, initial=first_step, unit="step", desc="training", mininterval=5)
    try:
        with bar:
            for step in range(first_step, course.steps):
                rate = course.rate(step)
                for optimiser in optimisers:
                    for group in optimiser.param_groups:
                        group["lr"] = rate
                loss = course.loss(step)
                model.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(model.parameters(), course.clip)
                for optimiser in optimisers:
                    optimiser.step()
                loss_value = loss.item()
                if not math.isfinite(loss_value):
                    raise DivergedError(
                        f"the loss is {loss_value} at step {step + 1:,} of {course.steps:,}"
                    )
                bar.set_postfix(loss=f"{loss_value:.3f}", refresh=False)
                bar.update()
                if (step + 1) % every == 0:
                    save_snapshot(scratch, run, step + 1, model, optimisers, course.state())
        course.finish()
    except DivergedError as error:
        raise UserError(
            f"the training diverged: {error}; lower learning_rate (of an LSTM perhaps clip) in "
            f"recipe {source.recipe!r}."
        ) from error
