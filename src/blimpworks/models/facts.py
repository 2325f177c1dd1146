"""What a model's own files say of it: architecture, number format, size, how sentences begin.

Nothing is loaded but JSON, the heads of safetensors files, and the tokenizer; code that lies beside
a model is never run.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError, reading
from blimpworks.models.checkpoint import FILE_NAME, FirstToken, read_description

HEADS = {
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",
    "ForMaskedLM": "masked",
    "ForConditionalGeneration": "encoder-decoder",
    "ForSeq2SeqLM": "encoder-decoder",
}
"""Architectures by the end of the class that a configuration names."""
FORMATS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
"""Number formats by their names in safetensors files."""
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
ENGINES = {"ngram": "kenlm", "lstm": "lstm"}
"""Engines that score architectures which transformers does not have."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model before it is loaded."""

    architecture: str
    """causal, masked, encoder-decoder, ngram or lstm."""
    engine: str
    dtype: str
    """Number format of its weights, in which it is run."""
    first_token: FirstToken
    """What conditions the first token of a sentence."""
    parameters: int | None
    """Number of parameters; None where there are none to count."""
    chat: bool
    """Whether it has a chat template."""
    scope: str
    """Language of a model for one; ``multi`` for all others."""

    @property
    def weights_gb(self) -> float:
        """Size of its weights in memory [GB]."""
        return (self.parameters or 0) * BYTES.get(self.dtype, 4) / 1e9


def _read_json(path: Path, what: str) -> dict[str, Any]:
    with reading(path, what, "Name another directory, or download the model again."):
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def tensors(path: Path) -> Iterator[Mapping[str, Any]]:
    """Format and shape of each tensor of a safetensors file, from its head.

    Raises UserError for a file that is none.
    """
    expected = reading(path, "a safetensors file", "Download the model again.")
    with expected, path.open("rb") as handle:
        size = int.from_bytes(handle.read(8), "little")
        if not 0 < size <= path.stat().st_size - 8:
            raise ValueError("its head does not fit into it")
        head = json.loads(handle.read(size))
    for name, tensor in head.items():
        if name != "__metadata__":
            yield tensor


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model. Raises UserError where weights are pickled, or absent."""
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return files
    pickled = next((p for p in sorted(folder.iterdir()) if p.suffix in PICKLED), None)
    if pickled is not None:
        raise UserError(
            f"{pickled} has pickled weights, which are refused because reading them can run code; "
            f"convert them: blimpworks convert-weights {folder} NEW-DIRECTORY."
        )
    raise UserError(
        f"{folder} has no *.safetensors; expected a model's weights. Name another directory."
    )


def _architecture(config: Mapping[str, Any], path: Path) -> str:
    """Architecture by the class that the configuration names. Raises UserError for another."""
    if "auto_map" in config:
        raise UserError(
            f"{path} names code of its own (auto_map), which is never run; name a model that "
            "transformers has itself."
        )
    classes = config.get("architectures") or []
    kinds = (kind for name in classes for end, kind in HEADS.items() if name.endswith(end))
    kind = next(kinds, None)
    if kind is None:
        raise UserError(
            f"{path}: architectures is {classes}; expected a language model "
            f"({', '.join(f'…{end}' for end in HEADS)}). Name another model."
        )
    return kind


def _first_token(folder: Path, architecture: str) -> FirstToken:
    """Symbol before the first word: that of the tokenizer, else the one that ends sentences."""
    if architecture != "causal":
        return "bos"
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    if tokenizer.bos_token_id is not None:
        return "bos"
    return "eos" if tokenizer.eos_token_id is not None else "skip"


def _has_chat_template(folder: Path) -> bool:
    path = folder / "tokenizer_config.json"
    if (folder / "chat_template.jinja").exists():
        return True
    return path.exists() and "chat_template" in _read_json(path, "a tokenizer's settings")


def _sealed(folder: Path) -> ModelFacts:
    """Facts of a checkpoint that this package has sealed."""
    described = read_description(folder / FILE_NAME)
    files = sorted(folder.glob("*.safetensors"))
    return ModelFacts(
        architecture=described.architecture,
        engine=ENGINES.get(described.architecture, "transformers"),
        dtype=described.dtype,
        first_token=described.first_token,
        parameters=_count(files) if files else None,
        chat=_has_chat_template(folder),
        scope=described.scope,
    )


def _count(files: list[Path]) -> int:
    return sum(prod(tensor["shape"]) for path in files for tensor in tensors(path))


def facts_of(folder: Path) -> ModelFacts:
    """What the files of a model's directory say of it: Hugging Face's layout, or a checkpoint's.

    Raises UserError for a directory that holds no language model, weights that are pickled, or a
    model that needs code of its own.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is no directory; expected a model in Hugging Face's layout.")
    if (folder / FILE_NAME).exists():
        return _sealed(folder)
    path = folder / "config.json"
    architecture = _architecture(_read_json(path, "a model's configuration"), path)
    files = weight_files(folder)
    formats = {tensor["dtype"] for file in files for tensor in tensors(file)}
    return ModelFacts(
        architecture=architecture,
        engine="transformers",
        dtype=next((FORMATS[name] for name in FORMATS if name in formats), "float32"),
        first_token=_first_token(folder, architecture),
        parameters=_count(files),
        chat=_has_chat_template(folder),
        scope="multi",
    )
