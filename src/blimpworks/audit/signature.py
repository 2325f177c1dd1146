"""Sign the hash of a results tree's records with an SSH key (``sign``), and find who signed it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.files import write_text

NAMESPACE = "blimpworks"
"""Purpose of a signature, so that signatures for other purposes do not count."""


def hash_file(results: Path) -> Path:
    """Return the path of the root hash beside a results tree; the signature adds ``.sig``."""
    return results.resolve().with_suffix(results.suffix + ".root")


def _ssh_keygen(arguments: Sequence[str | Path], text: bytes = b"") -> str:
    """Return the output of ``ssh-keygen -Y``. Raises UserError where it fails or is missing."""
    command = ["ssh-keygen", "-Y", *map(str, arguments)]
    try:
        result = subprocess.run(command, input=text, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"ssh-keygen could not be run ({error}); install OpenSSH's.") from error
    if result.returncode:
        reason = " ".join((result.stderr or result.stdout).decode(errors="replace").split())
        raise UserError(f"ssh-keygen -Y {arguments[0]}: {reason[:200]}.")
    return result.stdout.decode(errors="replace").strip()


def sign(results: Path, root_hash: str, key: Path) -> Path:
    """Sign a root hash with an SSH key; return the signature's path. Raises UserError on failure.

    The signature is made by ``ssh-keygen -Y`` of OpenSSH, like git's signatures with SSH keys.
    """
    path = hash_file(results)
    write_text(path, f"{root_hash}\n")
    signature = path.with_name(f"{path.name}.sig")
    signature.unlink(missing_ok=True)
    _ssh_keygen(["sign", "-f", key, "-n", NAMESPACE, path])
    return signature


def signer(results: Path, root_hash: str, allowed: Path) -> str:
    """Return the name of the signer of a root hash. Raises UserError without a valid signature.

    ``allowed``: OpenSSH's file of allowed signers.
    """
    path = hash_file(results)
    signature = path.with_name(f"{path.name}.sig")
    for needed in (signature, allowed):
        if not needed.is_file():
            raise UserError(f"{needed} does not exist; expected it to check a signature.")
    names = _ssh_keygen(["find-principals", "-s", signature, "-f", allowed]).splitlines()
    options: list[str | Path] = ["-f", allowed, "-I", names[0], "-n", NAMESPACE, "-s", signature]
    _ssh_keygen(["verify", *options], f"{root_hash}\n".encode())
    return names[0]
