"""The exceptions that a user is meant to read."""

import csv
import errno
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST = 299
"""Characters of a sentence, from which on values that it repeats are cut."""
WORD = re.compile(r"([^\s/]{80})[^\s/]+")
"""One that is no path, of more than 80 characters."""
LIST = re.compile(r"((?:[^\s,]+, ){6})((?:[^\s,]+, ){3,})")
"""Words with commas between them, more than nine."""
MOST = 999
"""Characters of a sentence, from which on its middle is cut; paths don't count."""
PATH = re.compile(r"\S*/\S*")
QUOTATION = re.compile(r"(?<!\w)(['\"])((?:(?!\1).){80})(?:(?!\1).)+\1(?!\w)")
"""A value that a sentence repeats, with more than 80 characters."""
BROKEN = (csv.Error, EOFError, lzma.LZMAError, zlib.error, NotImplementedError, OverflowError)
"""What readers raise beside ValueError and OSError."""
NO_FILE = {
    errno.EISDIR: "is a directory",
    errno.ENOTDIR: "lies below what is no directory",
    errno.EACCES: "may not be read",
    errno.EPERM: "may not be read",
    errno.ENAMETOOLONG: "has too long a name",
    errno.ELOOP: "is a link to itself",
}


def shortened(sentence: str) -> str:
    """A sentence without long words, long values in quotes and long lists, if it is long itself.

    And without its middle, if need be.

    >>> len(shortened(f"a.tsv:1: 'x{'x' * 1000}' is no code; correct it."))
    116
    """
    if len(sentence) > LONGEST:
        sentence = WORD.sub(r"\1…", QUOTATION.sub(r"\1\2…\1", sentence))
        # The first words of a list, and how many more it has before its last.
        sentence = LIST.sub(lambda m: f"{m[1]}… ({m[2].count(', ')} more), ", sentence)
    if len(PATH.sub("", sentence)) > MOST:
        rest = MOST // 3
        sentence = f"{sentence[: MOST - rest - 3]} … {sentence[-rest:]}"
    return sentence


class UserError(Exception):
    """Bad input, told in one sentence.

    The message says what was found, where (``file:line``, key or row), what was
    expected and what to do. The command line prints it without a stack trace. Where several
    things are wrong it has a line for each. What is too long to be read is cut.
    """

    def __init__(self, message: str) -> None:
        """``message`` is shortened, each of its lines, and has no signs that are not printed."""
        lines = message.replace("\0", "\\0").split("\n")
        super().__init__("\n".join(map(shortened, lines)))


class TransientError(UserError):
    """A fault that may be gone when the same is tried again, such as a server that was too slow.

    The command line prints it as the word of an attempt, and exits with 1.
    """


class OutOfTime(Exception):
    """Work was stopped where nothing is lost, because the allocation is nearly over.

    The message says how far it is. The command line prints it and exits with 75 (try again).
    """


def fault_of(error: Exception) -> str:
    """What is wrong with a file: of fields the first that is wrong, else what a reader says."""
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
    """A block that reads a file; what goes wrong in it is told in one sentence.

    Raises UserError where the file does not exist or cannot be read, or is not what was
    ``expected``: what reads text, JSON, Parquet and settings raises a ValueError then, or one of
    ``BROKEN``; its line is the error's ``lineno``. ``remedy`` says what to do.
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
        # What Arrow raises has no number; a full disk is no fault of the file.
        if error.errno is not None and error.errno not in NO_FILE:
            raise
        fault = f" {NO_FILE[error.errno]}" if error.errno else f": {fault_of(error)}"
        raise UserError(f"{path}{fault}; expected {expected}. {remedy}") from error
    except (ValueError, RecursionError, *BROKEN) as error:
        line = getattr(error, "lineno", None)
        place = f"{path}" if line is None else f"{path}:{line}"
        raise UserError(f"{place}: {fault_of(error)}; expected {expected}. {remedy}") from error
