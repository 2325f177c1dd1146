"""Define exceptions with messages for users, and turn errors of file readers into them.

Code that finds bad input raises ``UserError``, whose sentence the command line prints. Code that
reads a file does so in a block ``with reading(…)``, whose errors name path, line and remedy.
"""

import csv
import errno
import lzma
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

Value = TypeVar("Value")

LONGEST_UNSHORTENED = 299
"""Characters of a sentence above which its long words, quoted values and lists are shortened."""
LONG_WORD = re.compile(r"([^\s/]{80})[^\s/]+")
"""A word of more than 80 characters that is not a path."""
LONG_LIST = re.compile(r"((?:[^\s,]+, ){6})((?:[^\s,]+, ){3,})")
"""A list of more than nine words: in group 1 the first six, in group 2 the others but the last."""
LONGEST_SENTENCE = 999
"""Characters of a sentence, without its paths, above which its middle is cut out."""
PATH = re.compile(r"\S*/\S*")
LONG_QUOTATION = re.compile(r"(?<!\w)(['\"])((?:(?!\1).){80})(?:(?!\1).)+\1(?!\w)")
"""A quoted value of more than 80 characters."""
BROKEN = (csv.Error, EOFError, lzma.LZMAError, zlib.error, NotImplementedError, OverflowError)
"""Errors that readers of files raise, besides ValueError and OSError."""
PATH_FAULTS = {
    errno.EISDIR: "is a directory",
    errno.ENOTDIR: "is below a file, not a directory",
    errno.EACCES: "may not be read",
    errno.EPERM: "may not be read",
    errno.ENAMETOOLONG: "has too long a name",
    errno.ELOOP: "is a link to itself",
}
"""Description of a path that cannot be read, by number of the OSError."""


def shortened(sentence: str) -> str:
    """Shorten long words, quoted values and lists in a long sentence; then cut out its middle.

    >>> len(shortened(f"a.tsv:1: 'x{'x' * 1000}' is no code; correct it."))
    116
    """
    if len(sentence) > LONGEST_UNSHORTENED:
        sentence = LONG_WORD.sub(r"\1…", LONG_QUOTATION.sub(r"\1\2…\1", sentence))
        # A list keeps its first six words, the number of left out words, and its last word.
        sentence = LONG_LIST.sub(lambda m: f"{m[1]}… ({m[2].count(', ')} more), ", sentence)
    if len(PATH.sub("", sentence)) > LONGEST_SENTENCE:
        end_length = LONGEST_SENTENCE // 3
        start_length = LONGEST_SENTENCE - end_length - len(" … ")
        sentence = f"{sentence[:start_length]} … {sentence[-end_length:]}"
    return sentence


def few(names: Sequence[str], most: int) -> str:
    """Join at most ``most`` names, and add the number of further names: "a, b and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


class UserError(Exception):
    """Bad input, described in one sentence.

    The message says what was found, where (``file:line``, key or row), what was expected and what
    to do. If there are several faults, each has a line of the message. The command line prints it
    without a stack trace.
    """

    def __init__(self, message: str) -> None:
        """Set the message, shortened and without NUL characters."""
        lines = message.replace("\0", "\\0").split("\n")
        super().__init__("\n".join(map(shortened, lines)))


class TransientError(UserError):
    """A fault that may not occur at the next attempt, such as a slow server; exit code 1."""


class OutOfTime(Exception):
    """The job stopped, without losing results, because its time on the cluster is nearly over.

    The message says how many sentences have scores. The command line exits with 75 (try again).
    """


def find(values: Mapping[str, Value], name: str, noun: str, remedy: str = "") -> Value:
    """Return ``values[name]``. Raises UserError, which lists all names, if there is no such name.

    ``noun``: the message's word for a name, such as "engine"; ``remedy``: its last sentence.
    """
    if name not in values:
        names = ", ".join(values) or "none"
        message = f"{noun} {name!r} is unknown; expected one of {names}. {remedy}"
        raise UserError(message.strip())
    return values[name]


def fault_of(error: Exception) -> str:
    """Return an error's message in one line; for an error of pydantic, about the first field."""
    if isinstance(error, RecursionError):
        return "values are nested too deeply"
    fields: Any = getattr(error, "errors", None)
    if not callable(fields):
        return " ".join(str(error).split())
    first = fields()[0]
    key = ".".join(map(str, first["loc"]))
    return f"{key}: {first['msg'].lower()}" if key else str(first["msg"].lower())


@contextmanager
def reading(path: Path, expected: str, remedy: str) -> Iterator[None]:
    """Turn errors of a block that reads the file ``path`` into UserError.

    Errors are OSErrors for a missing or unreadable file. For a broken file, readers of text, JSON,
    Parquet and settings raise a ValueError or one of ``BROKEN``. The message has the error's line,
    if it has one (``lineno``), what was ``expected``, and a ``remedy``: what the user should do.
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
    except OSError as error:
        # Arrow's errors have no number. Numbers that are not in PATH_FAULTS, such as that of a full
        # disk, say nothing of this file.
        if error.errno is not None and error.errno not in PATH_FAULTS:
            raise
        fault = f" {PATH_FAULTS[error.errno]}" if error.errno else f": {fault_of(error)}"
        raise UserError(f"{path}{fault}; expected {expected}. {remedy}") from error
    except (ValueError, RecursionError, *BROKEN) as error:
        line = getattr(error, "lineno", None)
        position = f"{path}" if line is None else f"{path}:{line}"
        raise UserError(f"{position}: {fault_of(error)}; expected {expected}. {remedy}") from error
