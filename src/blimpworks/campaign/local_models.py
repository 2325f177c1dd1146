"""Models that lie in a directory or a file of this machine, as the workflow knows them."""

import hashlib
import re
from pathlib import Path

HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
"""Id of a model on the Hugging Face hub."""


def is_local(address: str) -> bool:
    """Whether an address of a model is a path of this machine, and no name of the hub."""
    return address.startswith(("/", "./", "../", "~"))


def local_path(text: str) -> str:
    """A path of this machine. Raises ValueError for what does not begin as one."""
    if is_local(text):
        return text
    raise ValueError("expected a path (beginning with /, ./, ../ or ~)")


def model_address(text: str) -> str:
    """An id of the hub or a path, perhaps with {lang} or {script} in it, or nothing.

    Raises ValueError for what can be neither.
    """
    example = text.replace("{lang}", "deu").replace("{script}", "latn")
    if not text or is_local(text) or HUB_ID.fullmatch(example):
        return text
    raise ValueError(
        "expected an id of the hub (OWNER/NAME) or a path (beginning with /, ./, ../ or ~)"
    )


def in_cache(folder: Path | None, hf_id: str) -> bool:
    """Whether a cache of the hub's client, if there is one, has files of a model."""
    name = hf_id.replace("/", "--")
    return bool(folder and name) and Path(folder or "", f"models--{name}", "snapshots").is_dir()


def state_of(place: Path) -> str:
    """Digest of names, sizes and time stamps of a model's files: whether it was changed."""
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    states = (f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files if p.is_file())
    return hashlib.blake2b("\n".join(states).encode(), digest_size=8).hexdigest()
