"""Convert pickled weights to safetensors, in a new directory."""

import json
import pickle
import shutil
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from blimpworks.errors import UserError
from blimpworks.models.checkpoint import TRANSFORMERS_FILES
from blimpworks.models.own_code import refuse_own_code
from blimpworks.models.weights import INDEX, PICKLED, REPEATED, check_shards, refuse_adapter

if TYPE_CHECKING:
    import torch

PICKLED_INDEX = "pytorch_model.bin.index.json"
NO_WEIGHTS = ("training_args.bin", REPEATED)
"""Patterns of .bin files that are not, or only repeat, weights."""


def _tensors(path: Path) -> "dict[str, torch.Tensor]":
    """Read a pickled file's tensors without running code. Raises UserError for other content."""
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise UserError(
            f"{path} holds more than tensors, or is damaged, so it is not read; expected a model's "
            "weights. Get the model as safetensors from whoever made it."
        ) from error
    tensors = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
    if len(tensors) < len(state):
        raise UserError(f"{path} holds more than tensors; expected a model's weights alone.")
    # save_file refuses tensors that share memory, such as tied embeddings.
    return {name: value.contiguous().clone() for name, value in tensors.items()}


def convert_weights(folder: Path, output: Path) -> int:
    """Convert pickled weights; return the number of tensors. Raises UserError for all else."""
    from safetensors.torch import save_file

    refuse_own_code(folder)
    refuse_adapter((path.name for path in folder.iterdir()), str(folder))
    files = sorted(path for path in folder.glob("*") if path.suffix in PICKLED)
    weights = [path for path in files if not any(map(path.match, NO_WEIGHTS))]
    if (folder / PICKLED_INDEX).exists():
        check_shards(folder / PICKLED_INDEX, {path.name for path in weights}, str(folder))
    if not weights:
        raise UserError(f"{folder} has no pickled weights ({', '.join(PICKLED)}) to convert.")
    if output.exists():
        raise UserError(f"{output} exists; expected a new directory. Name another one.")
    output.mkdir(parents=True)
    file_of_tensor: dict[str, str] = {}
    for number, path in enumerate(weights, start=1):
        name = f"model-{number:05}-of-{len(weights):05}.safetensors"
        name = name if len(weights) > 1 else "model.safetensors"
        tensors = _tensors(path)
        save_file(tensors, output / name, metadata={"format": "pt"})
        file_of_tensor |= dict.fromkeys(tensors, name)
    if len(weights) > 1:
        (output / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": file_of_tensor}))
    for path in folder.iterdir():
        kept = any(fnmatch(path.name, pattern) for pattern in TRANSFORMERS_FILES)
        if path.is_file() and kept and not path.name.endswith(".index.json"):
            shutil.copyfile(path, output / path.name)
    return len(file_of_tensor)
