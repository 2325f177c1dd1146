"""Texts in figures and tables: literal signs, line breaks and direction of writing."""

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to import, and tables need none of it
    from matplotlib.figure import Figure

TICKS = 100
"""Number of ticks of an axis to create before drawing."""
BREAKS = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")


def language_tag(lang: str) -> str:
    """Return the BCP 47 tag, as in HTML, of a language (ISO 639-3).

    >>> language_tag("zho"), language_tag("aln")
    ('zh', 'aln')
    """
    # Few commands need it, and it takes a while to import.
    import langcodes

    return str(langcodes.standardize_tag(lang))


def is_rtl(text: str) -> bool:
    """Return whether most letters of a text are written from right to left, for its alignment."""
    directions = [unicodedata.bidirectional(letter) for letter in text]
    return directions.count("R") + directions.count("AL") > directions.count("L")


def one_line(text: str) -> str:
    """Replace each line break, with the space around it, by one space."""
    return BREAKS.sub(" ", text)


def isolated(text: str, before: str, after: str) -> str:
    """Put a text between two marks if its first letter, which Unicode goes by, is right-to-left."""
    directions = (unicodedata.bidirectional(c) for c in text)
    first = next((direction for direction in directions if direction in ("L", "R", "AL")), "L")
    return text if first == "L" else f"{before}{text}{after}"


def take_literally(figure: "Figure") -> None:
    """Show all texts of a figure literally: a label with two ``$`` is no formula.

    matplotlib writes powers on logarithmic axes as formulas, and makes ticks' labels only when it
    draws. So make ``TICKS`` of them now, and let them be formulas.
    """
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter

    for text in figure.findobj(Text):
        text.set_parse_math(False)
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatter):
            for tick in (*axis.get_major_ticks(TICKS), *axis.get_minor_ticks(TICKS)):
                tick.label1.set_parse_math(True)
                tick.label2.set_parse_math(True)
