"""Models that lie in a directory or a file of this machine, as the workflow knows them."""

import hashlib
from pathlib import Path


def is_local(address: str) -> bool:
    """Whether an address of a model is a path of this machine, and no name of the hub."""
    return address.startswith(("/", "./", "../", "~"))


def state_of(place: Path) -> str:
    """Digest of names, sizes and time stamps of a model's files: whether it was changed."""
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    states = (f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files if p.is_file())
    return hashlib.blake2b("\n".join(states).encode(), digest_size=8).hexdigest()
