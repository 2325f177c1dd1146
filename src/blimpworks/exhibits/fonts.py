"""Find installed fonts for scripts that the house font lacks, such as Arabic and Devanagari.

``font_for`` gets the texts of a figure and returns a font family. Where a font lacks a letter,
matplotlib would draw a box without warning.
"""

import logging
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from matplotlib import font_manager

from blimpworks.records.job import current_job
from blimpworks.yaml_files import read_yaml

log = logging.getLogger(__name__)

HOUSE = ("DejaVu Sans",)
"""Fonts of all figures."""
SCRIPTS = read_yaml(Path(__file__).with_name("fonts.yaml"), "fonts by script")
"""Font families and Debian packages of fonts, by script."""
PREFERRED: dict[str, list[str]] = SCRIPTS["preferred"]
"""Font families to try first, by script: {"ARABIC": ["Amiri", …], …}."""
WANTED = "fonts_to_install"
"""Key in a job's provenance record, for Debian packages of the fonts that the job lacked."""
NORMAL = "normal"
BOXES = "Last Resort"
"""Beginning of the names of fonts that draw the same box for every letter."""


def letters_of(texts: Iterable[str]) -> frozenset[int]:
    """Return the code points that a font must have, without white space and control characters."""
    letters = {letter for text in texts for letter in text}
    return frozenset(ord(c) for c in letters if unicodedata.category(c)[0] not in ("C", "Z"))


def script_of(letters: Iterable[int]) -> str:
    """Return the most frequent script of code points, by their Unicode names, such as "ARABIC".

    If some letters are of a script in ``PREFERRED``, only scripts in ``PREFERRED`` are counted.
    """
    scripts = [unicodedata.name(chr(letter), "").split(" ")[0] for letter in sorted(letters)]
    candidates = [name for name in scripts if name in PREFERRED] or scripts
    return max(candidates, key=candidates.count, default="")


@lru_cache(maxsize=512)
def _letters_in(path: str) -> frozenset[int]:
    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def font_for(texts: Iterable[str]) -> str | None:
    """Return an installed font family with all letters of the texts; or log a warning, and None.

    Families of ``PREFERRED`` are tried first, then DejaVu Sans, then others by name.
    """
    letters = letters_of(texts)
    script = script_of(letters)
    ranks = {family: rank for rank, family in enumerate((*PREFERRED.get(script, ()), *HOUSE))}
    for is_second_try in (False, True):
        if is_second_try:
            # Add fonts that were installed after matplotlib made its list of fonts.
            font_files = {font.fname for font in font_manager.fontManager.ttflist}
            for path in font_manager.findSystemFonts():
                if path not in font_files and Path(path).suffix.lower() in (".ttf", ".otf"):
                    try:
                        font_manager.fontManager.addfont(path)
                    except (OSError, RuntimeError, ValueError) as error:
                        log.debug("%s: %s", path, error)
        upright = [
            font
            for font in font_manager.fontManager.ttflist
            if not font.name.startswith(BOXES)
            and font.style == NORMAL
            and font.weight in (400, NORMAL, "regular", "book")
        ]
        upright.sort(key=lambda font: (ranks.get(font.name, len(ranks)), font.name))
        for font in upright:
            if letters <= _letters_in(font.fname):
                return str(font.name)
    package = SCRIPTS["packages"].get(script, SCRIPTS["otherwise"])
    log.warning(
        "no installed font has all letters of this figure (%s); its words are numbered instead. "
        "To see them, install one, on Debian %s, and build the figure again.",
        script.lower(),
        package,
    )
    if job := current_job():
        job.note(**{WANTED: sorted({*job.extra.get(WANTED, ()), package})})
    return None


def families_for(letters: Iterable[int]) -> tuple[list[str], frozenset[int]]:
    """Return an installed font family for each script, and the letters that no font has."""
    letters_by_script: dict[str, set[int]] = {}
    for letter in letters:
        letters_by_script.setdefault(script_of([letter]), set()).add(letter)
    families: list[str] = []
    absent: set[int] = set()
    for _, script_letters in sorted(letters_by_script.items()):
        family = font_for(["".join(map(chr, sorted(script_letters)))])
        if family is None:
            absent |= script_letters
        elif family not in families:
            families.append(family)
    return families, frozenset(absent)


def has_bold(family: str) -> bool:
    """Return whether a font family has a bold font among those that matplotlib lists."""
    return any(
        font.name == family and font.weight in (600, 700, "semibold", "bold")
        for font in font_manager.fontManager.ttflist
    )
