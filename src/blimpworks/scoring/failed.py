"""What stands in place of a manifest where scoring was given up."""

from pathlib import Path

from pydantic import ValidationError

from blimpworks.errors import UserError
from blimpworks.strict import Strict


class Failed(Strict):
    """Scoring with a model failed for good, as one of several in a job."""

    failed: str
    """Why scoring failed, in a sentence."""
    log: str
    """Path of the log that says more."""


def refuse_failed(manifest: Path) -> None:
    """Raise UserError when ``manifest`` says that scoring was given up.

    It is removed then, so that Snakemake, which knows the file and not what it says, scores
    again when it is run again.
    """
    try:
        failure = Failed.model_validate_json(manifest.read_bytes())
    except (ValidationError, FileNotFoundError):
        return
    manifest.unlink(missing_ok=True)
    raise UserError(
        f"{manifest}: scoring failed, see {failure.log}: {failure.failed} "
        "Correct that and run the same snakemake command again: only this model is scored again."
    )
