"""Define exceptions with messages for users, and turn readers' errors into them."""

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
WORD = re.compile(r"([^\s/]{80})[^\s/]+")
"""A word of more than 80 characters that is not a path."""
LIST = re.compile(r"((?:[^\s,]+, ){6})((?:[^\s,]+, ){3,})")
"""A list of more than nine words with commas between them."""
LONGEST_SENTENCE = 999
"""Characters of a sentence, without its paths, above which its middle is left out."""
PATH = re.compile(r"\S*/\S*")
QUOTATION = re.compile(r"(?<!\w)(['\"])((?:(?!\1).){80})(?:(?!\1).)+\1(?!\w)")
"""A quoted value of more than 80 characters."""
BROKEN = (csv.Error, EOFError, lzma.LZMAError, zlib.error, NotImplementedError, OverflowError)
"""Errors that readers of files raise, besides ValueError and OSError."""
NO_FILE = {
    errno.EISDIR: "is a directory",
    errno.ENOTDIR: "lies below what is no directory",
    errno.EACCES: "may not be read",
    errno.EPERM: "may not be read",
    errno.ENAMETOOLONG: "has too long a name",
    errno.ELOOP: "is a link to itself",
}


def shortened(sentence: str) -> str:
    """Shorten long words, quoted values and lists in a long sentence, and then its middle.

    >>> len(shortened(f"a.tsv:1: 'x{'x' * 1000}' is no code; correct it."))
    116
    """
    if len(sentence) > LONGEST_UNSHORTENED:
        sentence = WORD.sub(r"\1…", QUOTATION.sub(r"\1\2…\1", sentence))
        # Of a list, the first six words, the number of the next ones, and the last word.
        sentence = LIST.sub(lambda m: f"{m[1]}… ({m[2].count(', ')} more), ", sentence)
    if len(PATH.sub("", sentence)) > LONGEST_SENTENCE:
        kept_length = LONGEST_SENTENCE // 3
        sentence = f"{sentence[: LONGEST_SENTENCE - kept_length - 3]} … {sentence[-kept_length:]}"
    return sentence


def few(names: Sequence[str], most: int) -> str:
    """Return at most so many names, and the number of others, as "a, b and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


class UserError(Exception):
    """Bad input, described in one sentence.

    The message says what was found, where (``file:line``, key or row), what was expected and what
    to do. The command line prints it without a stack trace; each of several faults has a line.
    """

    def __init__(self, message: str) -> None:
        """Set the message, shortened and without NUL characters."""
        lines = message.replace("\0", "\\0").split("\n")
        super().__init__("\n".join(map(shortened, lines)))


class TransientError(UserError):
    """A fault that may be gone at the next attempt, such as a slow server.

    The command line prints the message and exits with 1.
    """


class OutOfTime(Exception):
    """The job stopped, without losing results, because its allocation is nearly over.

    The message says how far it came. The command line prints it and exits with 75 (try again).
    """


def find(values: Mapping[str, Value], name: str, noun: str, remedy: str = "") -> Value:
    """Return the value of a name, such as that of an engine (``noun``).

    Raises UserError, with all names and the sentence ``remedy``, for an unknown name.
    """
    if name not in values:
        names = ", ".join(values) or "none"
        message = f"{noun} {name!r} is unknown; expected one of {names}. {remedy}"
        raise UserError(message.strip())
    return values[name]


def fault_of(error: Exception) -> str:
    """Return a description of a file's fault: the first wrong field, or the error's message."""
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
    """Raise UserError for any error of a block that reads a file.

    The file is missing, unreadable, or not what was ``expected``: readers of text, JSON, Parquet
    and settings then raise a ValueError or one of ``BROKEN``, perhaps with the line (``lineno``).
    ``remedy`` is a sentence on what the user should do.
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
        # Arrow's errors have no number; other numbers, as of a full disk, are no fault of the file.
        if error.errno is not None and error.errno not in NO_FILE:
            raise
        fault = f" {NO_FILE[error.errno]}" if error.errno else f": {fault_of(error)}"
        raise UserError(f"{path}{fault}; expected {expected}. {remedy}") from error
    except (ValueError, RecursionError, *BROKEN) as error:
        line = getattr(error, "lineno", None)
        position = f"{path}" if line is None else f"{path}:{line}"
        raise UserError(f"{position}: {fault_of(error)}; expected {expected}. {remedy}") from error
