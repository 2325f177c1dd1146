"""Replace characters that the terminal's encoding lacks."""

import codecs
import io
import locale
import os
import sys

SUBSTITUTES = str.maketrans(
    {"−": "-", "–": "-", "…": "...", "→": "->", "←": "<-", "▶": ">", "✓": "+", "✗": "x"}
)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement of characters: another sign, or their code points."""
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end].translate(SUBSTITUTES)
    return signs.encode("ascii", "backslashreplace").decode("ascii"), error.end


def write_any_character() -> None:
    """Let this process write any character to its terminal, and its children UTF-8.

    In a locale of another encoding, the process restarts in Python's UTF-8 mode: files, arguments
    and output of children do not depend on the terminal.
    """
    if locale.getpreferredencoding(False).lower() != "utf-8" and not sys.flags.utf8_mode:
        os.environ.setdefault("PYTHONIOENCODING", sys.stdout.encoding)
        if os.environ.get("PYTHONUTF8") != "1":
            os.environ["PYTHONUTF8"] = "1"
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606  (the same command again)
    os.environ["PYTHONIOENCODING"] = "utf-8"
    codecs.register_error("substitute", _substitute)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="substitute")
