"""From hidden states to log-probabilities, for models that transformers runs."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from blimpworks.errors import UserError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
Head = Callable[[torch.Tensor], torch.Tensor]
ROWS = {"cpu": 128, "cuda": 1024}
"""Rows whose logits over the whole vocabulary exist at one time, by type of device.

A CPU is fastest while they stay in its cache, a GPU while it has enough to do.
"""


def find_dtype(checkpoint: Path, name: str) -> torch.dtype:
    """The number format ``name`` of a checkpoint. Raises UserError for an unknown one."""
    if name not in DTYPES:
        raise UserError(f"{checkpoint}: dtype is {name!r}; expected {', '.join(DTYPES)}.")
    return DTYPES[name]


def versions() -> str:
    """Versions of the libraries that make ids and log-probabilities."""
    names = ("transformers", "tokenizers", "torch")
    return " ".join(f"{name} {version(name)}" for name in names)


def device_name(device: torch.device) -> str:
    """``cpu``, or what the GPU is called: models of GPU round differently."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def target_logprobs(
    hidden: torch.Tensor,
    head: Head,
    target: torch.Tensor,
    parent: torch.Tensor | None = None,
) -> torch.Tensor:
    """Log-probability of ``target`` [edges] under softmax(head(``hidden`` [rows, width])).

    ``parent`` [edges], never falling, is the row that each target follows from; without it
    there is one target for each row. Works in float32 and in chunks of rows, so that the
    table of rows by vocabulary never exists as a whole, and goes over a row once, however
    many targets it has. ``parent`` is on the CPU, the others on the device of the model.
    """
    if parent is None:
        parent = torch.arange(len(target))
    step = ROWS[hidden.device.type]
    starts = torch.arange(0, len(hidden), step)
    bounds = [*torch.searchsorted(parent, starts).tolist(), len(parent)]
    row = parent.to(hidden.device) % step
    logprobs = torch.empty(len(target), dtype=torch.float32, device=hidden.device)
    for a, edges in zip(starts.tolist(), map(slice, bounds, bounds[1:]), strict=True):
        normal = head(hidden[a : a + step]).log_softmax(1, dtype=torch.float32)
        logprobs[edges] = normal[row[edges], target[edges]]
    return logprobs


class _Outputs(BaseModelOutputWithPastAndCrossAttentions):
    """Hidden states, and None for whatever else a model wants to hand on."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class _Given(torch.nn.Module):
    """Stands in a model for its inner part, and returns the embeddings that it is given."""

    def forward(self, *_: Any, inputs_embeds: torch.Tensor, **__: Any) -> _Outputs:
        """Return ``inputs_embeds`` as hidden states."""
        return _Outputs(last_hidden_state=inputs_embeds)


def _as_embeddings(hidden: torch.Tensor) -> dict[str, Any]:
    return {"inputs_embeds": hidden}


def split_model(
    model: PreTrainedModel,
    part: str | None = None,
    arguments: Callable[[torch.Tensor], dict[str, Any]] = _as_embeddings,
) -> tuple[torch.nn.Module, Head]:
    """A model's inner part, and what turns its hidden states into logits.

    The part is the base of a causal or masked model, unless ``part`` names another. The head
    maps [rows, width] to [rows, vocabulary] by the model's own code after that part,
    whatever that does (scaling, soft capping); ``arguments`` are those of the model, from
    hidden states [1, rows, width], with which they reach the part as its embeddings.
    ``model`` is no use afterwards.
    """
    name = part or model.base_model_prefix
    inner: torch.nn.Module = model.get_submodule(name)
    model.set_submodule(name, _Given())

    def head(hidden: torch.Tensor) -> torch.Tensor:
        """Logits [rows, vocabulary] of hidden states [rows, width]."""
        logits: torch.Tensor = model(**arguments(hidden[None]), use_cache=False).logits[0]
        return logits

    return inner, head
