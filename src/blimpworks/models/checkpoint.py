"""Describe and seal a directory of model files by its ``checkpoint.json``.

``checkpoint.json`` is written last and names every other file with its SHA-256, so that the
directory is known to be whole. Its own SHA-256 identifies the model wherever results are kept.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError, reading
from blimpworks.files import expand, sha256_of, write_text
from blimpworks.models.weights import NGRAM_FILES, is_of_transformers, refuse_own_code
from blimpworks.strict import Strict, Within

FILE_NAME = "checkpoint.json"
SCRATCH = ".scratch-"
"""Prefix of hidden folders that training fills and then removes."""
REMEDY = "Train or retrieve the model again."
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Trained(Strict):
    """Source of a model trained here: everything that decides its weights."""

    kind: Literal["trained"] = "trained"
    recipe: str
    settings: dict[str, Any]
    """The recipe itself."""
    seed: int | None
    """Seed of initialisation and batch order; None where nothing is random."""
    text_sha256: Sha256


class Retrieved(Strict):
    """Source of a model from the Hugging Face hub."""

    kind: Literal["retrieved"] = "retrieved"
    hf_id: str
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    """Retrieved commit."""


class Copied(Strict):
    """Source of a model from a directory or n-gram file of this machine."""

    kind: Literal["copied"] = "copied"
    directory: str
    """Name of the directory or file, without its path."""
    sha256: Sha256 | Literal[""] = ""
    """Digest of the names and SHA-256 of its files."""


class Converted(Strict):
    """Source of a model made here of a GGUF file, or of a base and an adapter."""

    kind: Literal["converted"] = "converted"
    address: str
    """Name on the hub or in packages, with the file's; a name alone for one of this machine."""
    file: str
    """Name of the file or the adapter."""
    sha256: Sha256
    """SHA-256 of the file, or of the adapter's weights."""
    note: str
    """Format and quantisation, or the adapter's base."""

    @property
    def described(self) -> str:
        """Sentence on it for readers of a report card."""
        return f"Converted from {self.file} ({self.note}), SHA-256 {self.sha256}."


class Checkpoint(Strict):
    """Content of ``checkpoint.json``."""

    name: str
    scope: str
    """ISO 639-3 code of a monolingual model, ``multi`` for a multilingual one."""
    architecture: str
    """Name of the architecture, such as ``causal`` or ``ngram``."""
    dtype: str
    """Number format for scoring."""
    first_token: FirstToken
    """Policy for what conditions a sentence's first token."""
    source: Annotated[Trained | Retrieved | Copied | Converted, Field(discriminator="kind")]
    files: dict[Within, Sha256] = Field(default_factory=dict)
    """SHA-256 of each file of the directory, by relative path."""


def trained_checkpoint(
    name: str, scope: str, architecture: str, source: Trained, first_token: FirstToken = "bos"
) -> Checkpoint:
    """Describe a model trained here, in float32."""
    return Checkpoint(
        name=name,
        scope=scope,
        architecture=architecture,
        dtype="float32",
        first_token=first_token,
        source=source,
    )


def clear(directory: Path) -> None:
    """Empty a directory of an earlier model. Raises UserError for a file that is no part of it."""
    directory.mkdir(parents=True, exist_ok=True)
    scratch = list(directory.glob(f"{SCRATCH}*"))
    present = [p for p in expand([directory]) if not set(scratch) & set(p.parents)]
    for path in present:
        named = is_of_transformers(path) or path.name in NGRAM_FILES
        if path.parent != directory or not named:
            raise UserError(
                f"{path} is no part of a retrieved model or of one trained here, and a "
                "checkpoint needs a directory of its own; move it away or choose another output."
            )
    # The seal goes first: what follows is no checkpoint until it is sealed again.
    for path in sorted(present, key=lambda p: p.name != FILE_NAME):
        path.unlink()
    for folder in scratch:
        shutil.rmtree(folder)


def seal(checkpoint: Path, description: Checkpoint) -> Checkpoint:
    """Write ``checkpoint``, the ``checkpoint.json`` of a directory whose files are complete.

    Only ``files`` of ``description`` is replaced, by the directory's files (without hidden files
    and earlier provenance records). Returns the description. Raises UserError for a model with its
    own code.
    """
    directory = checkpoint.parent
    refuse_own_code(directory)
    inside = [p for p in expand([directory]) if p.name.partition(".prov.")[0] != FILE_NAME]
    files = {p.relative_to(directory).as_posix(): sha256_of(p) for p in inside}
    sealed = description.model_copy(update={"files": files})
    text = json.dumps(sealed.model_dump(), indent=1, ensure_ascii=False, sort_keys=True)
    write_text(checkpoint, text + "\n")
    return sealed


def read_description(checkpoint: Path) -> Checkpoint:
    """Read a ``checkpoint.json``, but not its files. Raises UserError for a missing or bad one."""
    with reading(checkpoint, "a model's checkpoint.json", REMEDY):
        return Checkpoint.model_validate_json(checkpoint.read_bytes())


def read_checkpoint(checkpoint: Path) -> Checkpoint:
    """Read a ``checkpoint.json`` and verify its files. Raises UserError for missing or bad ones."""
    described = read_description(checkpoint)
    verify_files(checkpoint, described.files, REMEDY)
    return described


def verify_files(seal: Path, files: Mapping[str, str], remedy: str) -> None:
    """Compare files beside ``seal`` with their SHA-256. Raises UserError, with the ``remedy``."""
    for name, expected in files.items():
        path = seal.parent / name
        digest = sha256_of(path) if path.is_file() else "missing"
        if digest != expected:
            raise UserError(
                f"{path} is {digest[:12]}, but {seal} expects SHA-256 {expected[:12]}…. {remedy}"
            )
