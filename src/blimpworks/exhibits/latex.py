"""Tables in LaTeX, for a page of one column or two."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from blimpworks.exhibits.exhibit import Exhibit
from blimpworks.exhibits.sheets import ABSENT, Sheet, in_notation, sheets
from blimpworks.exhibits.texts import isolated, one_line

SCRIPTS = r"""% Many scripts: compile with LuaLaTeX or XeLaTeX and fonts that have them (Noto).
% With babel, in the preamble: \usepackage[bidi=basic]{babel} \babelprovide[import]{urdu}
% \babelfont[urdu]{rm}{Amiri} \newcommand{\righttoleft}[1]{\foreignlanguage{urdu}{#1}}
\providecommand{\righttoleft}[1]{\ifdefined\textdir{\textdir TRT #1}\else
  \ifdefined\TeXXeTstate{\TeXXeTstate=1\beginR #1\endR}\else#1\fi\fi}
"""
# Rows of a LaTeX table that a page holds; columns that it holds in small type, and that one of two
# columns of a page holds.
LONG, WIDE, NARROW = 50, 7, 4
TEXT_COMMANDS = {
    "\\": "backslash",
    "~": "asciitilde",
    "^": "asciicircum",
    "|": "bar",
    "<": "less",
    ">": "greater",
    "␣": "visiblespace",
}
LATEX_ESCAPES = (
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {sign: rf"\text{name}{{}}" for sign, name in TEXT_COMMANDS.items()}
    | {"−": "$-$", "²": r"\textsuperscript{2}", "β": r"$\beta$", ABSENT: "--"}
    | {chr(ord("₀") + digit): f"$_{digit}$" for digit in range(10)}
)
DECIMAL = re.compile(
    r"""(?P<bold>\\textbf\{)?(?P<minus>\$-\$)?(?P<whole>\d+)(?:\.(?P<decimals>\d+))?(?(bold)\})"""
)
NO_NUMBER = {"", LATEX_ESCAPES[ABSENT]}
DECIMALS = r"\sisetup{mode=text,detect-weight,group-minimum-digits=99}"
"""Setup of siunitx: numbers in the table's own type, bold where printed so."""


def _latex(text: str) -> str:
    return "".join(LATEX_ESCAPES.get(character, character) for character in one_line(text))


def _decimal_column(texts: Iterable[str]) -> str | None:
    """Return a siunitx column if all texts are numbers and some have decimals, else None."""
    printed = [text for text in texts if text not in NO_NUMBER]
    numbers = [number for text in printed if (number := DECIMAL.fullmatch(text))]
    decimals = max((len(n["decimals"] or "") for n in numbers), default=0)
    if not decimals or len(numbers) < len(printed):
        return None
    sign = "-" if any(n["minus"] for n in numbers) else ""
    return f"S[table-format={sign}{max(len(n['whole']) for n in numbers)}.{decimals}]"


def _latex_row(texts: Sequence[str], alignments: Sequence[str]) -> str:
    r"""Write a line of a table; ``{}`` keeps a bracket or star from the ``\\\\`` before it."""
    cells = []
    # A section may have fewer columns than the table.
    for text, alignment in zip(texts, alignments, strict=False):
        cell = text
        if alignment.startswith("S"):
            # A column aligned at the point; what is no number stands in braces.
            cell = text and f"{{{text}}}"
            if number := DECIMAL.fullmatch(text):
                weight = r"\bfseries " if number["bold"] else ""
                minus = "-" if number["minus"] else ""
                point = f".{number['decimals']}" if number["decimals"] else ""
                cell = f"{weight}{minus}{number['whole']}{point}"
        elif alignment.startswith(">"):
            # Lines of running text may end within names like ``anaphor_gender``.
            cell = text.replace(r"\_", r"\_\allowbreak{}")
        cells.append(cell)
    line = " & ".join(cells)
    return (f"{{}}{line}" if line.startswith(("[", "*")) else line) + r" \\"


def _latex_body(printed_sheets: Sequence[Sheet], alignments: Sequence[str]) -> list[str]:
    lines = [r"\toprule"]
    for number, sheet in enumerate(printed_sheets):
        lines += [r"\midrule"] if number else []
        if sheet.headed and any(column.upper for column in sheet.columns):
            # Upper headings span their columns, with a rule below.
            cells, rules, at = [], [], 1
            for upper, group in groupby(sheet.columns, key=lambda column: column.upper):
                span = len(list(group))
                spanning = rf"\multicolumn{{{span}}}{{c}}{{{upper}}}"
                cells.append(spanning if upper else "& " * (span - 1))
                rules += [rf"\cmidrule(lr){{{at}-{at + span - 1}}}"] if upper else []
                at += span
            lines += [" & ".join(cells) + r" \\", "".join(rules)]
        if sheet.headed:
            lower = [column.lower for column in sheet.columns]
            lines += [_latex_row(lower, alignments), r"\midrule"]
        lines += [_latex_row([e.text for e in entries], alignments) for entries in sheet.body]
    return [*lines, r"\bottomrule"]


def latex_text(exhibit: Exhibit) -> str:
    """Write the table as LaTeX for a page of one column or two, in parts of ``LONG`` rows.

    It needs ``booktabs``, ``array``, ``siunitx`` and ``adjustbox``. (``longtable`` fails in two
    columns.)
    """

    def escape(text: str) -> str:
        escaped = _latex(text)
        return isolated(escaped, r"\righttoleft{", "}") if exhibit.textual else escaped

    printed_sheets = in_notation(sheets(exhibit), escape, r"\textbf{{{}}}".format)
    widest = max((sheet.columns for sheet in printed_sheets), key=len)
    caption = f"{_latex(exhibit.title)}. {_latex(exhibit.caption)}"
    broad = len(widest) > NARROW or any(column.width for column in widest)
    # How the columns of a table are aligned: decimal numbers at the point.
    alignments = []
    for column_number, column in enumerate(widest):
        if column.width:
            alignments.append(rf">{{\raggedright\arraybackslash}}p{{{column.width:g}\linewidth}}")
        elif column.right:
            texts = (
                entries[column_number].text
                for sheet in printed_sheets
                for entries in sheet.body
                if entries[column_number:]
            )
            alignments.append(_decimal_column(texts) or "r")
        else:
            alignments.append("l")

    # A table or ``table*`` for each part, no larger than its place, with a caption below it.
    name, width = ("table*", r"\textwidth") if broad else ("table", r"\columnwidth")
    size = r"\small" if len(alignments) <= WIDE else r"\footnotesize\setlength{\tabcolsep}{3pt}"
    decimals = [DECIMALS] if any(a.startswith("S") for a in alignments) else []
    sheet_groups = list(_parts(printed_sheets))
    lines = []
    for number, sheet_group in enumerate(sheet_groups, start=1):
        lines += [rf"\begin{{{name}}}", r"\centering" + size, *decimals]
        lines += [rf"\begin{{adjustbox}}{{max width={width},max totalheight=0.8\textheight}}"]
        lines += [rf"\begin{{tabular}}{{{''.join(alignments)}}}"]
        lines += _latex_body(sheet_group, alignments)
        lines += [r"\end{tabular}", r"\end{adjustbox}"]
        continued = rf"\par\smallskip (continued: part {number} of {len(sheet_groups)})"
        lines += [rf"\caption{{{caption}}}" if number == 1 else continued, rf"\end{{{name}}}"]
    return (SCRIPTS if exhibit.textual else "") + "\n".join(lines) + "\n"


def _parts(printed_sheets: Sequence[Sheet]) -> Iterator[list[Sheet]]:
    """Split sections into parts of at most ``LONG`` rows, each with headings."""
    sheet_group: list[Sheet] = []
    room = LONG
    for sheet in printed_sheets:
        rows = sheet.body
        while len(rows) > room:
            if room:
                headed = sheet.headed or not sheet_group
                sheet_group.append(replace(sheet, body=rows[:room], headed=headed))
            yield sheet_group
            sheet_group, rows, room = [], rows[room:], LONG
        sheet_group.append(replace(sheet, body=rows, headed=sheet.headed or not sheet_group))
        room -= len(rows)
    yield sheet_group
