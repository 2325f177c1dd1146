"""Find fonts for scripts that the house font lacks (Urdu, Devanagari, …).

Matplotlib shapes and reorders text, but draws boxes without warning where a font lacks letters.
"""

import logging
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from matplotlib import font_manager

from blimpworks.records.job import current_job

log = logging.getLogger(__name__)

PREFERRED = {
    "ARABIC": (
        "Noto Naskh Arabic",
        "Noto Nastaliq Urdu",
        "Amiri",
        "Scheherazade New",
        "Scheherazade",
    ),
    "DEVANAGARI": ("Noto Sans Devanagari", "Lohit Devanagari"),
}
"""Families to try first, by the first word of the letters' Unicode names."""
CJK = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH")
"""First words of the Unicode names of Chinese, Japanese and Korean letters."""
PACKAGES = dict.fromkeys(CJK, "fonts-noto-cjk")
PACKAGES |= {"ARABIC": "fonts-hosny-amiri", "DEVANAGARI": "fonts-lohit-deva"}
"""Debian packages of fonts (small ones), by the same words."""
OTHERWISE = "fonts-noto-core"
"""Debian package of fonts for all other scripts, such as Khmer, Tamil and Thai."""
WANTED = "fonts_to_install"
"""Note of a job: Debian packages of the fonts that it lacked."""
PLAIN = "normal"
BOXES = "Last Resort"
"""Start of the names of fonts with the same box for every letter."""


def letters_of(texts: Iterable[str]) -> frozenset[int]:
    """Return the code points that a font must have: all but white space and controls."""
    letters = {letter for text in texts for letter in text}
    return frozenset(
        ord(letter) for letter in letters if unicodedata.category(letter)[0] not in ("C", "Z")
    )


def script_of(letters: Iterable[int]) -> str:
    """Return the most frequent script of some letters, as in their Unicode names: "ARABIC"."""
    scripts = [unicodedata.name(chr(letter), "").split(" ")[0] for letter in sorted(letters)]
    preferred_scripts = [name for name in scripts if name in PREFERRED]
    return max(
        preferred_scripts,
        key=preferred_scripts.count,
        default=max(scripts, key=scripts.count, default=""),
    )


@lru_cache(maxsize=512)
def _charmap(path: str) -> frozenset[int]:
    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def font_for(texts: Iterable[str], default: str = "DejaVu Sans") -> str | None:
    """Find an installed family with all letters of some texts; else warn and return None."""
    letters = letters_of(texts)
    script = script_of(letters)
    ranks = {family: rank for rank, family in enumerate((*PREFERRED.get(script, ()), default))}
    for is_second_try in (False, True):
        if is_second_try:
            # Make matplotlib know fonts that were installed since it last listed them.
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
            and font.style == PLAIN
            and font.weight in (400, PLAIN, "regular", "book")
        ]
        for font in sorted(upright, key=lambda font: (ranks.get(font.name, len(ranks)), font.name)):
            if letters <= _charmap(font.fname):
                return str(font.name)
    package = PACKAGES.get(script, OTHERWISE)
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
    """Find an installed family for each script of some letters, and the letters that none has."""
    by_script: dict[str, set[int]] = {}
    for letter in letters:
        by_script.setdefault(script_of([letter]), set()).add(letter)
    families, absent = dict[str, None](), set[int]()
    for _, script_letters in sorted(by_script.items()):
        family = font_for(["".join(map(chr, sorted(script_letters)))])
        if family is None:
            absent |= script_letters
        else:
            families[family] = None
    return [*families], frozenset(absent)


def has_bold(family: str) -> bool:
    """Whether a family that matplotlib knows has a bold font."""
    return any(
        font.name == family and font.weight in (600, 700, "semibold", "bold")
        for font in font_manager.fontManager.ttflist
    )
