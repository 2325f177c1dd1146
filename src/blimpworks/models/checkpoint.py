"""Check the files of a model's directory, and describe and seal it by a ``checkpoint.json``.

``seal`` writes ``checkpoint.json`` last, with the SHA-256 of every other file. A directory that has
a ``checkpoint.json`` is therefore complete. ``read_checkpoint`` verifies the files. The SHA-256 of
``checkpoint.json`` itself identifies the model::

    {"name": "gpt2", "scope": "eng", "architecture": "causal", "dtype": "float32",
     "first_token": "bos", "source": {"kind": "retrieved", "hf_id": "gpt2", "revision": "607a…"},
     "files": {"config.json": "3f2e…", "model.safetensors": "248d…", …}}
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from hashlib import sha256
from itertools import chain
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from blimpworks.campaign.engines import engines
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError, reading
from blimpworks.files import expand, load_json, sha256_of, write_text
from blimpworks.strict import Strict, Within

# Weights only as safetensors (a pickle can run code), and never a repository's own code.
TRANSFORMERS_FILES = ("*.safetensors", "*.json", "*.model", "*.jinja", "merges.txt", "vocab.txt")
NGRAM_FILES = ("model.bin", "vocabulary.txt")  # KenLM's binary, and its words
OTHER_FILES = "Name another directory, or download the model again."  # a remedy, for messages
CONFIGURATIONS = (
    "config.json", "config.*.json", "tokenizer_config.json", "generation_config.json",
    "audio_tokenizer_config.json", "processor_config.json", "preprocessor_config.json",
    "video_preprocessor_config.json",
)  # fmt: skip
"""Files in which transformers looks up the class of a model, tokenizer or processor.
``config.*.json`` is a configuration for one version of transformers."""
PROGRAMS = ("*.py", "custom_generate/*.py")
"""Patterns of files that transformers would import."""
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
"""File with all weights; file that says which of several files has which weight."""
REPEATED = "consolidated*"
"""Pattern of files in Mistral's and Meta's layouts, which contain the same weights again."""
SHARD = re.compile(r"-of-0*(\d+)\.safetensors$")  # model-00001-of-00002.safetensors
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")  # suffixes of files that may contain code
ADAPTERS = ("adapter_config.json", "adapter_model.*")  # patterns of PEFT's files
QUANTISATION = ("quantization_config", "compression_config", "quantization")
"""Fields of configurations that describe a quantisation; ``quantization`` is MLX's."""
QUANTISED = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
"""Files in which ModelOpt, AutoGPTQ and AutoAWQ describe a quantisation."""


def read_json(path: Path, description: str) -> dict[str, Any]:
    """Read a model's JSON file. Raises UserError for one that is no ``description``."""
    with reading(path, description, OTHER_FILES):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__} in place of fields")
    return content


def values_of(content: Any, key: str) -> Iterator[Any]:
    """Yield the value of ``key``, or None, for a configuration and each mapping at any depth in it.

    With the key ``rope_type``, ``{"rope_type": "a", "vision": {"rope_type": "b"}}`` yields a and b.
    """
    if isinstance(content, dict):
        yield content.get(key)
        content = [*content.values()]
    if isinstance(content, list):
        yield from chain.from_iterable(values_of(element, key) for element in content)


def refuse_named_code(files: Iterable[Path], where: str | None = None) -> None:
    """Raise UserError if a configuration names code (``auto_map``) of a model called ``where``."""
    for path in files:
        if not any(map(path.match, CONFIGURATIONS)):
            continue
        if any(values_of(read_json(path, "a model's configuration"), "auto_map")):
            raise UserError(
                f"{f'{where}: {path.name}' if where else path} names code of its own (auto_map), "
                "which is never run; name a model that transformers has itself. If transformers "
                "has a class that computes the same, name a copy without auto_map."
            )


def refuse_own_code(folder: Path) -> None:
    """Raise UserError if a model's directory has Python files, or a configuration names code."""
    program = min(chain.from_iterable(map(folder.glob, PROGRAMS)), default=None)
    if program is not None:
        raise UserError(
            f"{program} is code of its own beside a model, which is never run; expected weights, "
            "configuration and tokenizer. Move it away, or name a model that transformers has "
            "itself."
        )
    refuse_named_code(sorted(folder.glob("*.json")))


class _Index(BaseModel):
    """Index of a model's weights, with the one field that is read: the file of each tensor."""

    weight_map: dict[str, str]


def is_transformers_file(path: Path) -> bool:
    """Return whether a model in Hugging Face's layout may have a file with this name."""
    return any(fnmatch(path.name, pattern) for pattern in TRANSFORMERS_FILES)


def is_weights(path: Path) -> bool:
    """Return whether a file holds weights in the format that is read, safetensors."""
    return path.suffix == ".safetensors"


def gigabytes(files: Iterable[Path]) -> float:
    """Return the total size of files [GB]."""
    return sum(path.stat().st_size for path in files) / 1e9


def files_of_index(path: Path, present: Collection[str], where: str) -> set[str]:
    """Return the weight files that an index names.

    Raises UserError for a broken index, and if ``present`` lacks a file of the model ``where``.
    """
    with reading(path, "an index of weights (weight_map)", "Download the model again."):
        names = {*_Index.model_validate(load_json(path.read_bytes())).weight_map.values()}
    if missing := names - {*present}:
        raise UserError(
            f"{where} lacks {min(missing)}, which its index names ({path.name}); add the file, "
            "or download the model again."
        )
    return names


def refuse_adapter(names: Iterable[str], where: str) -> None:
    """Raise UserError if an adapter is among the files ``names`` of a model called ``where``."""
    for name in sorted(names):
        if any(fnmatch(name, adapter) for adapter in ADAPTERS):
            raise UserError(
                f"{where} has an adapter of PEFT ({name}), which is not applied here; expected "
                "whole weights. Name a directory with the adapter alone, which is merged into its "
                "base, or one without the adapter."
            )


def model_files(files: Iterable[Path], where: str) -> list[Path]:
    """Return the files among a folder's ``files`` that form a model in Hugging Face's layout.

    Each weight is taken once: from ``model.safetensors``, which transformers prefers, else from the
    files that the index names, else from all safetensors files. A folder without weights is no
    error. Raises UserError for a broken index, and if only some files of the weights are present.
    """
    by_name = {
        path.name: path
        for path in sorted(files)
        if is_transformers_file(path) and not fnmatch(path.name, REPEATED)
    }
    weights = {name for name, path in by_name.items() if is_weights(path)}
    if INDEX in by_name:
        indexed = files_of_index(by_name[INDEX], weights, where)
        weights = {WHOLE} if WHOLE in weights else indexed
        # vLLM loads all files that an index names, so keep it only if it names the chosen files.
        weights |= {INDEX} if indexed == weights else set()
    elif WHOLE in weights:
        weights = {WHOLE}
    else:
        # Each shard's name has the number of shards: model-00001-of-00002.safetensors.
        shard = SHARD.search(max(weights, default=""))
        if shard and int(shard[1]) > len(weights):
            raise UserError(
                f"{where} has {len(weights)} of the {shard[1]} files of weights of which "
                f"{shard.string} is one; add the others, or download the model again."
            )
    return [path for name, path in by_name.items() if ".safetensors" not in name or name in weights]


def no_weights(files: Iterable[Path], where: str, folder: Path, hf_id: str = "") -> UserError:
    """Return the error for a model without safetensors, and the way to convert pickled weights.

    ``files`` are all files of the model, which the message calls ``where``. The model is in
    ``folder``, or can be downloaded there from the hub's repository ``hf_id``.
    """
    fault = "no *.safetensors"
    if pickled := min((path.name for path in files if path.suffix in PICKLED), default=None):
        fault = f"pickled weights, which are refused because reading them can run code ({pickled})"
    download = f"hf download {hf_id} --local-dir {folder}, then " if hf_id else ""
    return UserError(
        f"{where} has {fault}; expected a model's weights ({WHOLE} or its shards, not {REPEATED}). "
        f"Name another model or revision, or convert pickled weights: {download}blimpworks "
        f"convert-weights {folder} NEW-DIRECTORY, and name that directory."
    )


def weight_files(folder: Path) -> list[Path]:
    """Return a model's safetensors files. Raises UserError for pickled or missing weights."""
    present = [path for path in folder.iterdir() if path.is_file()]
    files = [path for path in model_files(present, str(folder)) if is_weights(path)]
    if not files:
        raise no_weights(present, str(folder), folder)
    return files


def count_numbers(files: Iterable[Path]) -> Counter[str]:
    """Count weights by number format in safetensors files (``BF16``). UserError for a bad file."""
    counts: Counter[str] = Counter()
    for path in files:
        errors = reading(path, "a safetensors file", "Download the model again.")
        with errors, path.open("rb") as handle:
            # 8 bytes with the length of the head, then the head: JSON with each tensor's shape.
            size = int.from_bytes(handle.read(8), "little")
            if not 0 < size <= path.stat().st_size - 8:
                raise ValueError("its head does not fit into it")
            for name, tensor in json.loads(handle.read(size)).items():
                if name != "__metadata__":
                    counts[tensor["dtype"]] += prod(tensor["shape"])
    return counts


def quantisation_of(folder: Path) -> str:
    """Return how weights are quantised, such as ``config.json: gptq``; empty if they are not.

    Raises UserError for a configuration that is no JSON or has a malformed quantisation.
    """
    path = folder / "config.json"
    config = read_json(path, "a model's configuration") if path.exists() else {}
    quantisations = chain.from_iterable(values_of(config, key) for key in QUANTISATION)
    for fields in filter(None, quantisations):
        if not isinstance(fields, dict):
            raise UserError(f"{path}: a quantisation is {fields!r}; expected fields. {OTHER_FILES}")
        # Early versions of bitsandbytes named no method, but have these fields.
        early = {"load_in_4bit", "load_in_8bit"} & fields.keys()
        method = fields.get("quant_method") or ("bitsandbytes" if early else "no method is named")
        return f"{path.name}: {method}"
    return next((name for name in QUANTISED if (folder / name).exists()), "")


def refuse_quantised(quantisation: str, where: str) -> None:
    """Raise UserError for quantised weights; ``quantisation`` is from ``quantisation_of``."""
    if quantisation:
        able = " or ".join(name for name, engine in engines().items() if engine.quantised)
        raise UserError(
            f"{where} has quantised weights ({quantisation}), which only {able} scores; name the "
            "model that they were made of, or, if it is causal, run it on a GPU with that engine."
        )


FILE_NAME = "checkpoint.json"
SCRATCH = ".scratch-"
"""Prefix of the names of hidden folders that training fills and then removes."""
REMEDY = "Train or retrieve the model again."  # for messages on changed files
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Trained(Strict):
    """Source of a model that was trained here: all that decides its weights."""

    kind: Literal["trained"] = "trained"
    recipe: str  # name in the campaign's settings
    settings: dict[str, Any]  # the fields of the recipe
    seed: int | None
    """Seed of initialisation and batch order; None where nothing is random."""
    text_sha256: Sha256


class Retrieved(Strict):
    """Source of a model from the Hugging Face hub."""

    kind: Literal["retrieved"] = "retrieved"
    hf_id: str
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    """Commit of the repository, as 40 hexadecimal digits."""


class Copied(Strict):
    """Source of a model from a local directory or n-gram file."""

    kind: Literal["copied"] = "copied"
    directory: str
    """Name of the directory or file, without its path."""
    sha256: Sha256 | Literal[""] = ""
    """Digest of the names and SHA-256 of the model's files."""


class Converted(Strict):
    """Source of a model that was converted here from a GGUF file, or from a base and an adapter."""

    kind: Literal["converted"] = "converted"
    address: str
    """Address of the file on the hub or in packages; the name of a local file."""
    file: str
    sha256: Sha256
    """SHA-256 of the file, or of the adapter's weights."""
    note: str
    """Format and quantisation, or the adapter's base."""

    @property
    def described(self) -> str:
        """Sentence about the source for readers of a report card."""
        return f"Converted from {self.file} ({self.note}), SHA-256 {self.sha256}."


class Description(Strict):
    """Name of a model, and all that decides how it is scored beside its files."""

    name: str
    scope: str
    """ISO 639-3 code of a monolingual model; ``multi`` for a multilingual model."""
    architecture: str
    """Name of the architecture, such as ``causal`` or ``ngram``."""
    dtype: str
    """Number format in which the model is scored."""
    first_token: FirstToken
    """Policy for the tokens before a sentence's first token; see ``models.facts``."""


class Checkpoint(Description):
    """Content of ``checkpoint.json``."""

    source: Annotated[Trained | Retrieved | Copied | Converted, Field(discriminator="kind")]
    files: dict[Within, Sha256] = Field(default_factory=dict)
    """SHA-256 of each file in the directory, by relative path."""


def trained_checkpoint(
    name: str, scope: str, architecture: str, source: Trained, first_token: FirstToken = "bos"
) -> Checkpoint:
    """Describe a model that was trained here, in float32."""
    return Checkpoint(
        name=name,
        scope=scope,
        architecture=architecture,
        dtype="float32",
        first_token=first_token,
        source=source,
    )


def clear(directory: Path) -> None:
    """Remove an earlier model from a directory. Raises UserError if it has any other file."""
    directory.mkdir(parents=True, exist_ok=True)
    scratch = list(directory.glob(f"{SCRATCH}*"))
    present = [p for p in expand([directory]) if not set(scratch) & set(p.parents)]
    for path in present:
        is_model_file = is_transformers_file(path) or path.name in NGRAM_FILES
        if path.parent != directory or not is_model_file:
            raise UserError(
                f"{path} is no file of a retrieved model or of a model trained here, and a "
                "checkpoint needs a directory of its own; move it away or choose another output."
            )
    # The seal is removed first: without it the directory is no checkpoint.
    for path in sorted(present, key=lambda p: p.name != FILE_NAME):
        path.unlink()
    for folder in scratch:
        shutil.rmtree(folder)


def seal(checkpoint: Path, description: Checkpoint) -> Checkpoint:
    """Write ``checkpoint``, the ``checkpoint.json`` of a directory with all other files.

    Returns ``description`` with the directory's files, without hidden files and earlier provenance
    records. The digest of a ``Copied`` source is that of these files. UserError for Python code.
    """
    directory = checkpoint.parent
    refuse_own_code(directory)
    # Leave out an earlier checkpoint.json, and its records (checkpoint.json.prov.…).
    sealed_files = [p for p in expand([directory]) if p.name.partition(".prov.")[0] != FILE_NAME]
    files = {p.relative_to(directory).as_posix(): sha256_of(p) for p in sealed_files}
    source = description.source
    if isinstance(source, Copied):
        lines = "\n".join(f"{name} {digest}" for name, digest in files.items())
        source = Copied(directory=source.directory, sha256=sha256(lines.encode()).hexdigest())
    sealed = description.model_copy(update={"files": files, "source": source})
    text = json.dumps(sealed.model_dump(), indent=1, ensure_ascii=False, sort_keys=True)
    write_text(checkpoint, text + "\n")
    return sealed


def read_description(checkpoint: Path) -> Checkpoint:
    """Read a ``checkpoint.json``, without its files. Raises UserError if it is missing or bad."""
    with reading(checkpoint, "a model's checkpoint.json", REMEDY):
        return Checkpoint.model_validate_json(checkpoint.read_bytes())


def read_checkpoint(checkpoint: Path) -> Checkpoint:
    """Read a ``checkpoint.json`` and verify its files. Raises UserError for a bad file."""
    described = read_description(checkpoint)
    verify_files(checkpoint, described.files, REMEDY)
    return described


def verify_files(seal: Path, files: Mapping[str, str], remedy: str) -> None:
    """Raise UserError, which ends with ``remedy``, if a file beside ``seal`` lacks its SHA-256."""
    for name, expected in files.items():
        path = seal.parent / name
        digest = sha256_of(path) if path.is_file() else "missing"
        if digest != expected:
            raise UserError(
                f"{path} is {digest[:12]}, but {seal} expects SHA-256 {expected[:12]}…. {remedy}"
            )
