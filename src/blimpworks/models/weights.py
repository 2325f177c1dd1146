"""Find a model's weights in its folder, and what changes them, by JSON and heads alone.

Models with their own code beside them, which libraries would run, are refused; it is never run.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from blimpworks.campaign.engines import engines
from blimpworks.errors import UserError, reading
from blimpworks.files import load_json

# Weights only as safetensors (a pickle can run code), and never a repository's own code.
TRANSFORMERS_FILES = ("*.safetensors", "*.json", "*.model", "*.jinja", "merges.txt", "vocab.txt")
NGRAM_FILES = ("model.bin", "vocabulary.txt")
REMEDY = "Name another directory, or download the model again."
CONFIGURATIONS = (
    "config.json",
    "config.*.json",
    *(f"{part}_config.json" for part in ("tokenizer", "generation", "audio_tokenizer")),
    *(f"{part}_config.json" for part in ("processor", "preprocessor", "video_preprocessor")),
)
"""Files in which transformers looks for classes of a model, tokenizer or processor.

The second pattern is for single versions of transformers. Other files may hold anything.
"""
PROGRAMS = ("*.py", "custom_generate/*.py")
"""Files that transformers would import."""
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
REPEATED = "consolidated*"
"""Files of Mistral's and Meta's own layouts, which repeat the weights."""
SHARD = re.compile(r"-of-0*(\d+)\.safetensors$")
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
ADAPTERS = ("adapter_config.json", "adapter_model.*")
SETTINGS = ("quantization_config", "compression_config", "quantization")
"""Fields for quantisation in configurations; the last is MLX's."""
QUANTISED = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
"""Files with the quantisation of ModelOpt, AutoGPTQ and AutoAWQ."""


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read a model's JSON file, called ``what`` in messages. Raises UserError for a bad one."""
    with reading(path, what, REMEDY):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__} in place of fields")
    return content


def values_of(content: Any, key: str) -> Iterator[Any]:
    """Yield the values of ``key`` in a configuration, and in nested ones."""
    if isinstance(content, dict):
        yield content.get(key)
        content = [*content.values()]
    if isinstance(content, list):
        yield from chain.from_iterable(values_of(element, key) for element in content)


def refuse_named_code(files: Iterable[Path], where: str | None = None) -> None:
    """Raise UserError, about ``where``, if a configuration names code (``auto_map``)."""
    for path in files:
        if not any(map(path.match, CONFIGURATIONS)):
            continue
        if any(values_of(read_json(path, "a model's configuration"), "auto_map")):
            raise UserError(
                f"{f'{where}: {path.name}' if where else path} names code of its own (auto_map), "
                "which is never run; name a model that transformers has itself, or, if its own "
                "class for it computes the same, a copy without auto_map."
            )


def refuse_own_code(folder: Path) -> None:
    """Raise UserError if a model's directory has or names Python files."""
    program = min(chain.from_iterable(map(folder.glob, PROGRAMS)), default=None)
    if program is not None:
        raise UserError(
            f"{program} is code of its own beside a model, which is never run; expected weights, "
            "configuration and tokenizer. Move it away, or name a model that transformers has "
            "itself."
        )
    refuse_named_code(sorted(folder.glob("*.json")))


class _Index(BaseModel):
    """The fields read of an index of several weight files."""

    weight_map: dict[str, str]
    """File of each tensor."""


def is_of_transformers(path: Path) -> bool:
    """Whether a file may form a model in Hugging Face's layout."""
    return any(fnmatch(path.name, pattern) for pattern in TRANSFORMERS_FILES)


def is_weights(path: Path) -> bool:
    """Whether a file holds weights that are read."""
    return path.suffix == ".safetensors"


def gigabytes(files: Iterable[Path]) -> float:
    """Return the total size of some files [GB]."""
    return sum(path.stat().st_size for path in files) / 1e9


def files_of_index(path: Path) -> set[str]:
    """Return the weight files that an index names. Raises UserError for a broken index."""
    with reading(path, "an index of weights (weight_map)", "Download the model again."):
        return {*_Index.model_validate(load_json(path.read_bytes())).weight_map.values()}


def check_shards(index: Path, names: Collection[str], where: str) -> None:
    """Raise UserError if a file that an index names is not among ``names``."""
    lacking = files_of_index(index) - {*names}
    if lacking:
        raise UserError(
            f"{where} lacks {min(lacking)}, which its index names ({index.name}); add the file, "
            "or download the model again."
        )


def refuse_adapter(names: Iterable[str], where: str) -> None:
    """Raise UserError for an adapter among the files ``names`` of a model called ``where``."""
    for name in sorted(names):
        if any(fnmatch(name, adapter) for adapter in ADAPTERS):
            raise UserError(
                f"{where} has an adapter of PEFT ({name}), which is not applied here; expected "
                "whole weights. Name a directory with the adapter alone, which is merged into its "
                "base, or one without the adapter."
            )


def model_files(files: Iterable[Path], where: str) -> list[Path]:
    """Return a folder's files that form a model in Hugging Face's layout.

    Each weight is there once: in ``model.safetensors``, which transformers prefers, else in the
    index's files, else in all safetensors. The weights may be absent. Raises UserError for a broken
    index, and for a missing part of the files.
    """
    kept = {
        path.name: path
        for path in sorted(files)
        if is_of_transformers(path) and not fnmatch(path.name, REPEATED)
    }
    weights = {name for name, path in kept.items() if is_weights(path)}
    if INDEX in kept:
        check_shards(kept[INDEX], weights, where)
        indexed = files_of_index(kept[INDEX])
        weights = {WHOLE} if WHOLE in weights else indexed
        # vLLM goes by the index, so one of other weights must not lie beside these.
        weights |= {INDEX} if indexed == weights else set()
    elif WHOLE in weights:
        weights = {WHOLE}
    elif (shard_match := SHARD.search(max(weights, default=""))) and int(shard_match[1]) > len(
        weights
    ):
        raise UserError(
            f"{where} has {len(weights)} of the {shard_match[1]} files of weights of which "
            f"{shard_match.string} is one; add the others, or download the model again."
        )
    return [path for name, path in kept.items() if ".safetensors" not in name or name in weights]


def weight_files(folder: Path) -> list[Path]:
    """Return a model's safetensors files. Raises UserError for pickled or missing weights."""
    present = [path for path in folder.iterdir() if path.is_file()]
    files = [path for path in model_files(present, str(folder)) if is_weights(path)]
    if files:
        return files
    pickled = next((path for path in sorted(present) if path.suffix in PICKLED), None)
    if pickled is not None:
        raise UserError(
            f"{pickled} has pickled weights, which are refused because reading them can run code; "
            f"convert them: blimpworks convert-weights {folder} NEW-DIRECTORY."
        )
    raise UserError(
        f"{folder} has no *.safetensors; expected a model's weights ({WHOLE} or its shards, not "
        f"{REPEATED}). Name another directory."
    )


def sizes(head: Mapping[str, Any]) -> Counter[str]:
    """Count numbers by format from the head of a safetensors file."""
    counts: Counter[str] = Counter()
    for name, tensor in head.items():
        if name != "__metadata__":
            counts[tensor["dtype"]] += prod(tensor["shape"])
    return counts


def total(files: Iterable[Path]) -> Counter[str]:
    """Count numbers by format in safetensors files. Raises UserError for other files."""
    counts: Counter[str] = Counter()
    for path in files:
        expected = reading(path, "a safetensors file", "Download the model again.")
        with expected, path.open("rb") as handle:
            size = int.from_bytes(handle.read(8), "little")
            if not 0 < size <= path.stat().st_size - 8:
                raise ValueError("its head does not fit into it")
            counts += sizes(json.loads(handle.read(size)))
    return counts


def quantisation_of(folder: Path) -> str:
    """Return a model's quantisation and its file; empty if none. Raises UserError for bad JSON."""
    path = folder / "config.json"
    config = read_json(path, "a model's configuration") if path.exists() else {}
    for fields in filter(None, chain.from_iterable(values_of(config, key) for key in SETTINGS)):
        if not isinstance(fields, dict):
            raise UserError(f"{path}: a quantisation is {fields!r}; expected fields. {REMEDY}")
        packed = {"load_in_4bit", "load_in_8bit"} & fields.keys()
        method = fields.get("quant_method") or ("bitsandbytes" if packed else "no method is named")
        return f"{path.name}: {method}"
    return next((name for name in QUANTISED if (folder / name).exists()), "")


def parameters_of(folder: Path, counts: Mapping[str, int]) -> int | None:
    """Count parameters, without integers, by format; None if packed. Raises UserError."""
    if quantisation_of(folder):
        return None
    return sum(n for name, n in counts.items() if name.startswith(("F", "BF"))) or None


def refuse_quantised(quantisation: str, where: str) -> None:
    """Raise UserError for quantised weights, for engines that do not run them.

    transformers lacks some methods, and turns others into plain weights on some machines alone.
    """
    if quantisation:
        able = " or ".join(name for name, engine in engines().items() if engine.quantised)
        raise UserError(
            f"{where} has quantised weights ({quantisation}), which only {able} scores; name the "
            "model that they were made of, or, if it is causal, run it on a GPU with that engine."
        )
