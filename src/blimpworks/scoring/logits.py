"""Turn hidden states into log-probabilities, for models in transformers."""

from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from blimpworks.errors import UserError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
TOLERANCE = {torch.float32: 1e-4, torch.float16: 0.05, torch.bfloat16: 0.25}
"""Most that rounding moves a log-probability between two ways through a model [nats]."""
Head = Callable[[torch.Tensor], torch.Tensor]
FOREIGN = (
    AttributeError, TypeError, ValueError, RuntimeError, IndexError, KeyError, AssertionError,
    NotImplementedError, ImportError, ZeroDivisionError,
)  # fmt: skip
"""Errors of a model's own code on input that it was not made for."""
ROWS = {"cpu": 128, "cuda": 1024}
"""Rows whose logits exist at one time, by device.

A CPU is fastest while they stay in its cache, a GPU while it has enough to do.
"""
BLOCK = 2048
"""Words of a large vocabulary whose logits a CPU computes at one time, to keep them cached."""
LARGE = 65_536
"""Words above which a vocabulary is large."""


def find_dtype(checkpoint: Path, name: str) -> torch.dtype:
    """Return the number format ``name``. Raises UserError for an unknown one."""
    if name not in DTYPES:
        raise UserError(f"{checkpoint}: dtype is {name!r}; expected {', '.join(DTYPES)}.")
    return DTYPES[name]


def versions() -> str:
    """Return versions of the libraries behind ids and log-probabilities."""
    names = ("transformers", "tokenizers", "torch")
    return " ".join(f"{name} {version(name)}" for name in names)


def target_logprobs(
    hidden: torch.Tensor,
    head: Head | None,
    target: torch.Tensor,
    parent: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the log-probability of ``target`` [edges] under softmax(head(``hidden``)).

    ``hidden`` is [rows, width]; without ``head`` it has the logits. ``parent`` [edges], never
    falling and on the CPU, is each target's row; by default one target a row. Works in float32 on
    chunks of rows, each row once, so that the whole table of rows by vocabulary never exists. On a
    CPU, one linear layer to a large vocabulary is computed in blocks of its words.
    """
    if parent is None:
        parent = torch.arange(len(target))
    step = ROWS[hidden.device.type]
    starts = torch.arange(0, len(hidden), step)
    bounds = [*torch.searchsorted(parent, starts).tolist(), len(parent)]
    row = parent.to(hidden.device) % step
    on_cpu = hidden.device.type == "cpu"
    linear = head if on_cpu and isinstance(head, torch.nn.Linear) else None
    logprobs = torch.empty(len(target), dtype=torch.float32, device=hidden.device)
    for a, edges in zip(starts.tolist(), map(slice, bounds, bounds[1:]), strict=True):
        rows = hidden[a : a + step]
        if linear and linear.out_features > LARGE:
            logprobs[edges] = _in_blocks(rows, linear, row[edges], target[edges])
        else:
            normal = (head(rows) if head else rows).log_softmax(1, dtype=torch.float32)
            logprobs[edges] = normal[row[edges], target[edges]]
    # NaN stands for a token that is not scored; a computed one would be taken for that.
    return logprobs.masked_fill_(logprobs.isnan(), torch.inf)


def _in_blocks(
    rows: torch.Tensor, head: torch.nn.Linear, row: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    """Return log-probabilities of ``target`` [edges] after ``row`` [edges] of ``rows``."""
    chosen = torch.empty(len(target), dtype=torch.float32)
    sums = []
    for a in range(0, head.out_features, BLOCK):
        bias = None if head.bias is None else head.bias[a : a + BLOCK]
        logits = torch.nn.functional.linear(rows, head.weight[a : a + BLOCK], bias).float()
        inside = ((target >= a) & (target < a + BLOCK)).nonzero()[:, 0]
        chosen[inside] = logits[row[inside], target[inside] - a]
        sums.append(logits.logsumexp(1))
    return chosen - torch.stack(sums).logsumexp(0)[row]


class _Outputs(BaseModelOutputWithPastAndCrossAttentions):
    """Hidden states, and None for any other output."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class _HandsOn(torch.nn.Module):
    """Replaces a model's inner part, and returns the embeddings that it gets."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.__dict__["inner"] = [inner]  # in a list, so that it is no submodule

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["inner"][0], name)

    def forward(self, *_: Any, inputs_embeds: torch.Tensor, **__: Any) -> _Outputs:
        return _Outputs(last_hidden_state=inputs_embeds)


def split_model(
    model: PreTrainedModel,
    inner: torch.nn.Module,
    run: Callable[[], torch.Tensor],
    logits: torch.Tensor,
    arguments: Callable[[torch.Tensor], dict[str, Any]] = lambda hidden: {"inputs_embeds": hidden},
) -> Head | None:
    """Split a model before its head and return the head; None, and no change, if impossible.

    The head maps [rows, width] to [rows, vocabulary] by the model's own code after its part
    ``inner`` (with scaling, soft capping), or the model's last layer alone where both agree to the
    bit. ``arguments`` turn hidden states [1, rows, width] into the model's arguments that reach the
    part as embeddings. ``run`` computes the part's hidden states [rows, width] of the input behind
    ``logits`` [rows, vocabulary]. The head must reproduce these.
    """

    def head(hidden: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = model(**arguments(hidden[None]), use_cache=False).logits[0]
        return result

    name = next((name for name, module in model.named_modules() if module is inner), "")
    if not name:
        return None
    try:
        hidden = run()
        model.set_submodule(name, _HandsOn(inner))
        ours = head(hidden)
        same = ours.shape == logits.shape and torch.allclose(ours, logits, rtol=1e-2, atol=1e-2)
    except FOREIGN:
        same = False
    if not same:
        model.set_submodule(name, inner)
        return None
    with suppress(*FOREIGN):
        last = model.get_output_embeddings()  # type: ignore[no-untyped-call]
        if type(last) is torch.nn.Linear and torch.equal(last(hidden[None])[0], ours):
            return last
    return head
