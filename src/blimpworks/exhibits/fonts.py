"""Fonts for what the house font lacks: Urdu, Devanagari and other scripts in figures.

Matplotlib shapes and reorders text by itself, but says nothing of a font that has not all letters
before it draws boxes. Here a font is looked up that has them, among those that are installed.
"""

import logging
import unicodedata
from collections.abc import Iterable, Iterator
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
"""Families to take first, by the first word of the letters' Unicode names."""
CJK = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH")
"""First words of the names of letters that fonts for Chinese, Japanese and Korean have."""
PACKAGES = {
    **{"ARABIC": "fonts-hosny-amiri", "DEVANAGARI": "fonts-lohit-deva"},
    **dict.fromkeys(CJK, "fonts-noto-cjk"),
}
"""Debian's packages of fonts, by the same; small ones where there are some."""
OTHERWISE = "fonts-noto-core"
"""Debian's package of fonts for all other scripts, such as Khmer, Tamil and Thai."""
WANTED = "fonts_to_install"
"""Note of a job that lacked fonts: the packages that have them."""
PLAIN = "normal"
BOXES = "Last Resort"
"""How fonts begin that have every letter, each as the same box."""


def letters_of(texts: Iterable[str]) -> frozenset[int]:
    """Code points of some texts that a font must have: all but white space and control signs."""
    letters = {letter for text in texts for letter in text}
    return frozenset(
        ord(letter) for letter in letters if unicodedata.category(letter)[0] not in ("C", "Z")
    )


def script_of(letters: Iterable[int]) -> str:
    """The script most of some letters are in, as Unicode's names have it: "ARABIC"."""
    scripts = [unicodedata.name(chr(letter), "").split(" ")[0] for letter in sorted(letters)]
    known = [name for name in scripts if name in PREFERRED]
    return max(known, key=known.count, default=max(scripts, key=scripts.count, default=""))


@lru_cache(maxsize=512)
def _charmap(path: str) -> frozenset[int]:
    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def _known(families: Iterable[str]) -> Iterator[font_manager.FontEntry]:
    """Upright fonts of normal weight that matplotlib knows: of these families first."""
    plain = [
        font
        for font in font_manager.fontManager.ttflist
        if not font.name.startswith(BOXES)
        and font.style == PLAIN
        and font.weight in (400, PLAIN, "regular", "book")
    ]
    ranked = {family: rank for rank, family in enumerate(families)}
    yield from sorted(plain, key=lambda font: (ranked.get(font.name, len(ranked)), font.name))


def font_for(texts: Iterable[str], default: str = "DejaVu Sans") -> str | None:
    """Find an installed family that has all letters of some texts; else warn, and None."""
    letters = letters_of(texts)
    script = script_of(letters)
    for again in (False, True):
        if again:
            # Make matplotlib know fonts that were installed since it last listed them.
            known = {font.fname for font in font_manager.fontManager.ttflist}
            for path in font_manager.findSystemFonts():
                if path not in known and Path(path).suffix.lower() in (".ttf", ".otf"):
                    try:
                        font_manager.fontManager.addfont(path)
                    except (OSError, RuntimeError, ValueError) as error:
                        log.debug("%s: %s", path, error)
        for font in _known((*PREFERRED.get(script, ()), default)):
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
    """Find installed families for some letters, one for each script, and letters that none has."""
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
