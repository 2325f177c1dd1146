"""Convert a model's pickled weights to safetensors, without running code in the pickles."""

import json
import pickle
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from blimpworks.errors import UserError
from blimpworks.files import whole_directory
from blimpworks.models import checkpoint

if TYPE_CHECKING:
    import torch

WHOLE, INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
"""File with all weights; index of a model in several files, with the file of each weight."""
NO_WEIGHTS = ("training_args.bin", checkpoint.REPEATED)
"""Patterns of .bin files that contain no weights, or only copies of them."""


def _read_pickled(path: Path) -> "dict[str, torch.Tensor]":
    """Read a pickled file's tensors without running code. Raises UserError for other content."""
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise UserError(
            f"{path} holds more than tensors, or is damaged, so it is not read; expected a model's "
            "weights. Get the model as safetensors from whoever made it."
        ) from error
    is_mapping = isinstance(state, dict)
    if not is_mapping or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise UserError(
            f"{path} holds more than tensors by name; expected a model's weights alone. Move it "
            "away if it has none, such as the state of an optimiser."
        )
    # save_file refuses tensors that share memory, such as tied embeddings.
    return {name: value.contiguous().clone() for name, value in state.items()}


def _pickled_files(folder: Path) -> list[Path]:
    """Return the files with a model's pickled weights, as transformers chooses them."""
    present = {
        path.name: path
        for path in folder.iterdir()
        if path.suffix in checkpoint.PICKLED and not any(map(path.match, NO_WEIGHTS))
    }
    names, index = {*present}, folder / INDEX
    if index.exists():
        names = checkpoint.files_of_index(index, present, str(folder))
    if WHOLE in present:
        names = {WHOLE}
    return [present[name] for name in sorted(names)]


def convert_weights(folder: Path, output: Path) -> int:
    """Copy a model with pickled weights to ``output``, as safetensors; return the tensors' number.

    Raises UserError for missing or incomplete weights, other content, or an existing ``output``.
    """
    from safetensors.torch import save_file

    checkpoint.refuse_own_code(folder)
    checkpoint.refuse_adapter((path.name for path in folder.iterdir()), str(folder))
    weights = _pickled_files(folder)
    if not weights:
        raise UserError(
            f"{folder} has no pickled weights ({', '.join(checkpoint.PICKLED)}) to convert."
        )
    if output.exists():
        raise UserError(f"{output} exists; expected a new directory. Name another one.")
    file_of_tensor: dict[str, str] = {}
    with whole_directory(output) as made:
        for number, path in enumerate(weights, start=1):
            name = "model.safetensors"
            if len(weights) > 1:
                name = f"model-{number:05}-of-{len(weights):05}.safetensors"
            tensors = _read_pickled(path)
            if repeated := sorted(tensors.keys() & file_of_tensor.keys()):
                raise UserError(
                    f"{path} has the weight {repeated[0]!r}, and so has an earlier file; expected "
                    "each weight once. Move away the files that are copies."
                )
            save_file(tensors, made / name, metadata={"format": "pt"})
            file_of_tensor |= dict.fromkeys(tensors, name)
        if len(weights) > 1:
            index = json.dumps({"metadata": {}, "weight_map": file_of_tensor})
            (made / checkpoint.INDEX).write_text(index)

        for path in folder.iterdir():
            is_of_weights = checkpoint.is_weights(path) or path.name.endswith(".index.json")
            if path.is_file() and checkpoint.is_transformers_file(path) and not is_of_weights:
                shutil.copyfile(path, made / path.name)
    return len(file_of_tensor)
