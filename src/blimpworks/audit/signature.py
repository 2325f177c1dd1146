"""Signatures of a results tree's root hash with an SSH key.

OpenSSH's ``ssh-keygen -Y`` makes them; a file of allowed signers names trusted keys, as for git.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.files import write_text

NAMESPACE = "blimpworks"
"""Purpose of the signature, so that signatures for other purposes do not count."""


def hash_file(results: Path) -> Path:
    """Return the file beside a results tree with its root hash; its signature ends in ``.sig``."""
    return results.resolve().with_suffix(results.suffix + ".root")


def _ssh_keygen(arguments: Sequence[str | Path], text: bytes = b"") -> str:
    """Return the output of ``ssh-keygen -Y``. Raises UserError where it fails or is missing."""
    command = ["ssh-keygen", "-Y", *map(str, arguments)]
    try:
        done = subprocess.run(command, input=text, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"ssh-keygen could not be run ({error}); install OpenSSH's.") from error
    if done.returncode:
        reason = " ".join((done.stderr or done.stdout).decode(errors="replace").split())
        raise UserError(f"ssh-keygen -Y {arguments[0]}: {reason[:200]}.")
    return done.stdout.decode(errors="replace").strip()


def sign(results: Path, root_hash: str, key: Path) -> Path:
    """Sign a root hash by an SSH key; return the signature. Raises UserError where that fails."""
    path = hash_file(results)
    write_text(path, f"{root_hash}\n")
    signature = path.with_name(f"{path.name}.sig")
    signature.unlink(missing_ok=True)
    _ssh_keygen(["sign", "-f", key, "-n", NAMESPACE, path])
    return signature


def signer(results: Path, root_hash: str, allowed: Path) -> str:
    """Return who of the ``allowed`` signed this root hash. Raises UserError where nobody has."""
    path = hash_file(results)
    signature = path.with_name(f"{path.name}.sig")
    for needed in (signature, allowed):
        if not needed.is_file():
            raise UserError(f"{needed} does not exist; expected it to check a signature.")
    names = _ssh_keygen(["find-principals", "-s", signature, "-f", allowed]).splitlines()
    options: list[str | Path] = ["-f", allowed, "-I", names[0], "-n", NAMESPACE, "-s", signature]
    _ssh_keygen(["verify", *options], f"{root_hash}\n".encode())
    return names[0]
