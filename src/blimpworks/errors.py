"""The exceptions that a user is meant to read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class UserError(Exception):
    """Bad input, told in one sentence.

    The message says what was found, where (``file:line``, key or row), what was
    expected and what to do. The command line prints it without a stack trace.
    """


class OutOfTime(Exception):
    """Work was stopped where nothing is lost, because the allocation is nearly over.

    The message says how far it is. The command line prints it and exits with 75 (try again).
    """


def _fault(error: ValueError) -> str:
    """What is wrong with a file: of fields the first that is wrong, else what a reader says."""
    fields: Any = getattr(error, "errors", None)
    if not callable(fields):
        return " ".join(str(error).split())
    first = fields()[0]
    key = ".".join(map(str, first["loc"]))
    return f"{key}: {first['msg'].lower()}" if key else str(first["msg"].lower())


@contextmanager
def reading(path: Path, expected: str, remedy: str) -> Iterator[None]:
    """A block that reads a file; what goes wrong in it is told in one sentence.

    Raises UserError where the file does not exist, or is not what was ``expected``: what reads
    text, JSON, Parquet and settings raises a ValueError then. ``remedy`` says what to do.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected {expected}. {remedy}") from error
    except UnicodeDecodeError as error:
        where = f"{error.reason} at byte {error.start}"
        raise UserError(
            f"{path} is not in UTF-8 ({where}); expected {expected}. {remedy}"
        ) from error
    except ValueError as error:
        raise UserError(f"{path}: {_fault(error)}; expected {expected}. {remedy}") from error
