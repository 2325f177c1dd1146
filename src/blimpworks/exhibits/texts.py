"""Texts: those of figures mean what they say; which way one is written."""

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to import, and tables need none of it
    from matplotlib.figure import Figure

TICKS = 100
"""More numbers than a logarithmic axis has."""
BREAKS = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")


def language_tag(lang: str) -> str:
    """Write a language (ISO 639-3) as HTML has it (BCP 47).

    >>> language_tag("zho"), language_tag("aln")
    ('zh', 'aln')
    """
    # Few commands need it, and it takes a while to import.
    import langcodes

    return str(langcodes.standardize_tag(lang))


def is_rtl(text: str) -> bool:
    """Whether most letters of a text are written from right to left."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")


def one_line(text: str) -> str:
    """Write a text with a space in place of each end of a line."""
    return BREAKS.sub(" ", text)


def isolated(text: str, before: str, after: str) -> str:
    """Put a text within two marks if it is written from right to left, so that it stands alone."""
    kinds = (unicodedata.bidirectional(c) for c in text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return text if first == "L" else f"{before}{text}{after}"


def take_literally(figure: "Figure") -> None:
    """Have all texts of a figure mean what they say: a label with two ``$`` is no formula.

    But for the numbers of logarithmic axes, whose powers matplotlib writes as formulas. It makes
    texts of axes as it needs them, when it draws, so these get theirs before.
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
