"""Models in a directory or file of this machine."""

import hashlib
import re
from pathlib import Path

HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
"""Id of a model on the Hugging Face hub."""


def is_local(address: str) -> bool:
    """Return whether a model's address is a path of this machine."""
    return address.startswith(("/", "./", "../", "~"))


def local_path(text: str) -> str:
    """Return a path of this machine. Raises ValueError for other text."""
    if is_local(text):
        return text
    raise ValueError("expected a path (beginning with /, ./, ../ or ~)")


def model_address(text: str) -> str:
    """Return an id of the hub or a path, perhaps with {lang} or {script}, or empty text.

    Raises ValueError for other text.
    """
    example = text.replace("{lang}", "deu").replace("{script}", "latn")
    if not text or is_local(text) or HUB_ID.fullmatch(example):
        return text
    raise ValueError(
        "expected an id of the hub (OWNER/NAME) or a path (beginning with /, ./, ../ or ~)"
    )


def in_cache(folder: Path | None, hf_id: str) -> bool:
    """Return whether a cache of the hub's client, if any, has files of a model."""
    name = hf_id.replace("/", "--")
    return bool(folder and name) and Path(folder or "", f"models--{name}", "snapshots").is_dir()


def state_of(place: Path) -> str:
    """Return a digest of names, sizes and time stamps of a model's files, to notice changes."""
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    states = (f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files if p.is_file())
    return hashlib.blake2b("\n".join(states).encode(), digest_size=8).hexdigest()
