"""Typeset tables with LaTeX on a page of the ACL's: two columns of 7.7 cm."""

import os
import re
import shutil
import subprocess
from pathlib import Path

PROGRAM = shutil.which("xelatex")
NEEDED = ("adjustbox.sty", "booktabs.sty", "fontspec.sty", "siunitx.sty", "ucharclasses.sty")
FONTS = ("DejaVu Serif", "Amiri", "Lohit Devanagari")
TOLERANCE = 1.0
"""Points by which a line may exceed its column."""
OVERFULL = re.compile(r"Overfull \\hbox \(([\d.]+)pt too wide\)")
PREAMBLE = r"""\documentclass[11pt,a4paper,twocolumn]{article}
\usepackage[a4paper,textwidth=16cm,textheight=24.7cm,columnsep=0.6cm]{geometry}
\usepackage{array,booktabs,siunitx,adjustbox,fontspec}
\usepackage[Arabics,Devanagari]{ucharclasses}
\setmainfont{DejaVu Serif}[Scale=0.85]
\newfontfamily\arabicfont{Amiri}[Script=Arabic]
\newfontfamily\devanagarifont{Lohit Devanagari}[Script=Devanagari]
\setTransitionsForArabics{\begingroup\arabicfont}{\endgroup}
\setTransitionTo{Devanagari}{\begingroup\devanagarifont}
\setTransitionFrom{Devanagari}{\endgroup}
\begin{document}
"""


def lacking() -> str:
    """Return what this machine lacks to typeset tables, with Debian's packages; "" if nothing."""
    if PROGRAM is None:
        return "needs XeLaTeX: texlive-xetex, -latex-extra and -science of Debian"
    missing = [name for name in NEEDED if not _output("kpsewhich", name)]
    missing += [name for name in FONTS if not _output("fc-list", name)]
    return f"needs {', '.join(missing)}" if missing else ""


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def overfull_lines(tables: list[Path], folder: Path) -> dict[str, float]:
    """Return points by which tables exceed their page; raise if one doesn't compile."""
    parts = [f"\\typeout{{TABLE {path}}}\n\\input{{{path}}}\n\\clearpage\n" for path in tables]
    source = folder / "tables.tex"
    source.write_text(f"{PREAMBLE}{''.join(parts)}\\end{{document}}\n", encoding="utf-8")
    command = [str(PROGRAM), "-interaction=nonstopmode", "-halt-on-error", source.name]
    # Keeps LaTeX from breaking long lines of the log.
    environment = os.environ | {"max_print_line": "1000"}
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, env=environment)
    log = source.with_suffix(".log").read_text("utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    wide = {}
    for part in log.split("TABLE ")[1:]:
        widest = max(map(float, OVERFULL.findall(part)), default=0.0)
        if widest > TOLERANCE:
            wide[part.split("\n", 1)[0]] = widest
    return wide
