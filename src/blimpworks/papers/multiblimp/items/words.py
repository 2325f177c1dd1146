"""Read words of treebanks and UniMorph tables: their features, their spelling, unwanted words.

All stages that make items call this module. Source: MultiBLiMP 1.0, sections 3.2, 4.1 and 5,
appendix A.1, and the authors' code.

Features: UniMorph has tags ("V;PRS;3;SG"), treebanks have names and values ("Number=Sing").
``parse_tags`` and ``to_unimorph`` turn both into Universal Dependencies' names with UniMorph's
values, such as "Number=SG". The tag inventory is the UniMorph schema's, with additions of its
tables. The authors chose the grouping of tags, the map of values and the assumed values.

Spelling: ``special`` in ``config/languages.tsv`` names a language's treatments (``TREATMENTS``).
"published:" or "corrected:" before a name restricts it to that variant.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from unidecode import unidecode

from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.tables import TOKENS, read_table

Bundle = tuple[tuple[str, str], ...]
"""Names and values of features, sorted by name: (("Number", "SG"), ("Person", "3"))."""
UNDEFINED = "UNDEFINED"
"""Value of an agreement feature that a lexicon row leaves open: its form has all values."""
AGREEMENT_FEATURES = ("Number", "Person", "Gender")
ASSUMED = {"Degree": "BASE", "Mood": "IND", "Voice": "ACT"}
ASSUMED |= dict.fromkeys(AGREEMENT_FEATURES, UNDEFINED)
"""Values of features that a lexicon row does not state: "V;PRS" is indicative, of any number."""
_VALUES = read_cells(Path(__file__).with_name("values.tsv"))
UD_TO_UNIMORPH = {row["ud"]: row["unimorph"] for row in _VALUES}
READ_AS_MISSING = frozenset(
    "#N/A #NA -NaN -nan <NA> N/A NA NULL NaN None n/a nan null".split()  # noqa: SIM905
)
"""Words that pandas, with which the authors read their tables, takes for missing cells."""
_FROM_UNIMORPH = {unimorph: ud for ud, unimorph in UD_TO_UNIMORPH.items()}
TAG_FEATURES = {
    tag: row["feature"]
    for row in read_cells(Path(__file__).with_name("unimorph_tags.tsv"))
    for tag in row["tags"].split()
}
"""Feature of each UniMorph tag, such as Number of SG; "pos" for parts of speech."""


@cache
def to_unimorph(value: str) -> str:
    """Return a UD feature value in UniMorph's spelling."""
    return UD_TO_UNIMORPH.get(value, value.upper())


def from_unimorph(value: str) -> str:
    """Return a UniMorph value in UD's spelling; "FEM,MASC" names two values: "Fem,Masc"."""
    names = value.split(",")
    return ",".join(_FROM_UNIMORPH.get(name, name.capitalize()) for name in names)


@lru_cache(maxsize=1 << 16)
def parse_feats(feats: str | None) -> dict[str, str]:
    """Parse CoNLL-U FEATS ("A=b|C=d", or None). Callers share the result and must not change it."""
    return dict(pair.split("=", 1) for pair in feats.split("|")) if feats else {}


def alternatives(value: str) -> frozenset[str]:
    """Return the UniMorph values of a UD value; "Fem,Masc" names two."""
    return frozenset(map(to_unimorph, value.split(",")))


def render(features: Iterable[tuple[str, str]]) -> str:
    """Write features as in the lexicon table: "Mood=IND|Number=SG"."""
    return "|".join(f"{name}={value}" for name, value in sorted(features))


def _split_tags(tags: str) -> list[str]:
    """Split UniMorph's ``;``-separated tags, in any variant of its notation."""
    # "NOM(3,SG)" becomes "3;SG", without the case of the argument, and "{1/3}" becomes "1+3".
    tags = re.sub(r"[A-Z]+\(([^()]*)\)", lambda m: m.group(1).replace(",", ";"), tags)
    tags = re.sub(r"[{}]", "", tags).replace("/", "+").replace(",", "+")
    tags = re.sub(r"V\.(PTCP|PCTP)", "V;V.PTCP", tags)
    names: list[str] = []
    for text in tags.split(";"):
        tag = _restore_case(text.strip())
        # "V.PTCP" is one tag; any other dot is between two tags.
        names += [tag] if tag in TAG_FEATURES else tag.split(".")
    # Restore the case again, because tags between dots were not apart before.
    return [_restore_case(name) for name in names if name]


def _restore_case(tags: str) -> str:
    """Write tags joined by ``+`` as in the inventory: "sg" becomes "SG", "Coll" stays."""
    names = tags.split("+")
    for position, tag in enumerate(names):
        if tag not in TAG_FEATURES and tag.upper() in TAG_FEATURES:
            names[position] = tag.upper()
    return "+".join(names)


@cache
def has_unknown_tags(tags: str) -> bool:
    """Tell whether a UniMorph tag string has a tag that ``parse_tags`` does not know."""
    return any(name not in TAG_FEATURES for tag in _split_tags(tags) for name in tag.split("+"))


@cache
def parse_tags(tags: str) -> tuple[tuple[str, Bundle], ...]:
    """Parse a UniMorph tag string: part of speech and features, one pair for each reading.

    "V;PRS;SG" is (("V", (("Number", "SG"), ("Tense", "PRS"))),). "V;PRS;1+2;SG" has two readings,
    and so has a string in which two tags are values of one feature, such as "SG;PL". Unknown tags
    are left out. The part of speech is "" if no tag has it.
    """
    values_by_feature: dict[str, list[str]] = {}
    for tag in _split_tags(tags):
        values = tag.split("+")
        feature = TAG_FEATURES.get(values[0])
        if feature is not None:
            values_by_feature.setdefault(feature, []).extend(values)
    names = sorted(values_by_feature)
    readings = []
    for chosen in product(*(dict.fromkeys(values_by_feature[name]) for name in names)):
        features = dict(zip(names, chosen, strict=True))
        readings.append((features.pop("pos", ""), tuple(sorted(features.items()))))
    return tuple(dict.fromkeys(readings))


PARTICIPLE = "ptcp"
"""Value of the items' column ``kind`` if a participle agrees, else "verb" or "aux"."""

STATED_AS = {"Number": ("Number[subj]", "Number"), "Person": ("Person",), "Gender": ("Gender",)}
"""{agreement feature: features of lexicon rows that can state it}; ``load_lexicon`` takes one.
Number[subj] is the number of a verb's subject, in languages whose verbs also agree with objects."""
CONDITIONS = {("eng", "sv#"): {"Tense": "Pres", "Person": "3"}}
"""UD features that a word must have to show a phenomenon, keyed by language and phenomenon. English
verbs have a number in the present third person only: *sings*, *sing*."""


class Phenomenon(NamedTuple):
    """A kind of agreement, such as "svP" of verbs in person."""

    name: str
    construction: str
    """sv (subject and verb) or sp (subject and participle)."""
    feature: str

    def meets_conditions(self, lang: str, features: Mapping[str, str]) -> bool:
        """Tell whether a word with these features can show the phenomenon in a language."""
        return CONDITIONS.get((lang, self.name), {}).items() <= features.items()


PHENOMENA = {
    f"{construction}{sign}": Phenomenon(f"{construction}{sign}", construction, feature)
    for construction in ("sv", "sp")
    for sign, feature in (("#", "Number"), ("G", "Gender"), ("P", "Person"))
}


# Spelling

WORD_COLUMNS = ("form", "lemma")
CANTILLATION = "\u0591-\u05af"
PUNCTUATION = "\u05be\u05c0\u05c3"
"""Maqaf, paseq and sof pasuq."""
PERSIAN_MARKS = "\u064b-\u0655\u0670"
"""Vowel signs, nunation, doubling, and the hamza above that writes the ezafe."""
UYGHUR_LATIN = str.maketrans(
    dict(zip("اەبپتجدرزسفقكگلمنھوۇۆۈۋېىي،؛؟", "aebptjdrzsfqkglmnhouöüwëiy,;?", strict=True))
    | {"چ": "ch", "خ": "x", "ژ": "zh", "ش": "sh", "غ": "gh", "ڭ": "ng", "ئ": ""}
)
"""Latin spelling of Uyghur's letters, as UD transliterates them."""


def _delete(characters: str) -> Callable[[str], str]:
    pattern = re.compile(f"[{characters}]")
    return lambda text: pattern.sub("", text)


def _to_devanagari(text: str) -> str:
    # Slow to import, and only Sanskrit needs it.
    from indic_transliteration import sanscript  # type: ignore[import-untyped]

    return str(sanscript.transliterate(text, sanscript.IAST, sanscript.DEVANAGARI))


@dataclass(frozen=True, slots=True)
class Treatment:
    """A change of spelling, and the columns that it changes."""

    convert: Callable[[str], str]
    tokens: tuple[str, ...] = WORD_COLUMNS
    """Columns of a ``tokens`` table."""
    unimorph: tuple[str, ...] = ()
    """Columns of a UniMorph table, of ``WORD_COLUMNS``."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """MISC attribute with a better spelling, keyed by column; other words are converted."""


TREATMENTS = {
    "unidecode": Treatment(unidecode, unimorph=WORD_COLUMNS),
    # Takes the first of several forms in one cell.
    "first_comma": Treatment(lambda text: text.split(", ")[0], tokens=(), unimorph=("form",)),
    "uyghur_translit": Treatment(
        lambda text: text.translate(UYGHUR_LATIN),
        attributes={"form": "Translit", "lemma": "LTranslit"},
    ),
    "iast_devanagari": Treatment(_to_devanagari),
    "strip_cantillation": Treatment(_delete(CANTILLATION)),
    "strip_cantillation_and_punctuation": Treatment(_delete(CANTILLATION + PUNCTUATION)),
    "strip_colons": Treatment(lambda text: re.sub(r"(?<=\w):(?=\w)", "", text)),
    # As in the authors' code, relations lose their colons too, so that nsubj:outer is unknown.
    "strip_colons_everywhere": Treatment(_delete(":"), tokens=(*WORD_COLUMNS, "deprel")),
    "strip_persian_marks": Treatment(
        lambda text: re.sub(f"[{PERSIAN_MARKS}]", "", normalize("NFC", text)), unimorph=WORD_COLUMNS
    ),
}


def read_tokens(
    path: Path, columns: Sequence[str], special: Sequence[str], options: MultiblimpOptions
) -> pa.Table:
    """Read columns of ``tokens``, respelt by ``special`` treatments, which also need ``misc``."""
    needed = list(dict.fromkeys([*columns, "misc"])) if special else columns
    table = read_table(TOKENS, path, needed)
    return normalise_tokens(table, special, corrected_scripts=corrected(options, "scripts"))


def normalise_tokens(
    table: pa.Table, special: Sequence[str], corrected_scripts: bool = False
) -> pa.Table:
    """Respell ``tokens`` (with ``misc``) as in appendix A.1. UserError for an unknown treatment."""
    for treatment in treatments(tuple(special), corrected_scripts):
        for column in treatment.tokens:
            if column not in table.column_names:
                continue
            texts = table[column].cast(pa.string())
            respelt: dict[str | None, str | None] = {None: None}
            for text in texts.drop_null().unique().to_pylist():
                respelt[text] = treatment.convert(text)
            values = pa.chunked_array([[respelt[text] for text in texts.to_pylist()]], pa.string())
            if column in treatment.attributes:
                # Null where a word lacks the attribute or leaves it empty.
                pattern = rf"(?:^|\|){treatment.attributes[column]}=(?P<value>[^|]+)"
                attribute = pc.extract_regex(table["misc"].cast(pa.string()), pattern)
                values = pc.coalesce(pc.struct_field(attribute, "value"), values)
            index = table.schema.get_field_index(column)
            column_field = table.field(index)
            table = table.set_column(index, column_field, values.cast(column_field.type))
    return table


def normalise_unimorph(
    lemma: str, form: str, special: Sequence[str], *, corrected_scripts: bool = False
) -> tuple[str, str]:
    """Respell lemma and form of a UniMorph row (section 3.2)."""
    for treatment in treatments(tuple(special), corrected_scripts):
        if "lemma" in treatment.unimorph:
            lemma = treatment.convert(lemma)
        if "form" in treatment.unimorph:
            form = treatment.convert(form)
    return lemma, form


@lru_cache
def treatments(special: tuple[str, ...], corrected_scripts: bool) -> tuple[Treatment, ...]:
    """List the treatments that ``special`` names, in order. Raises UserError for an unknown one."""
    prefix_of_other_variant = "published:" if corrected_scripts else "corrected:"
    chosen = []
    for entry in special:
        name = entry.removeprefix("published:").removeprefix("corrected:")
        if name not in TREATMENTS:
            raise UserError(
                f"a language's 'special' treatment is '{entry}', expected one of "
                f"{', '.join(TREATMENTS)}, perhaps after 'published:' or 'corrected:'; "
                "correct the column 'special' of the table of languages."
            )
        if not entry.startswith(prefix_of_other_variant):
            chosen.append(TREATMENTS[name])
    return tuple(chosen)


# Letter case

DOTLESS_I = frozenset({"aze", "azj", "crh", "gag", "ota", "tur"})
"""Languages in which "I" is the capital of "ı", and "İ" that of "i"."""


def lower_case(word: str, lang: str) -> str:
    """Write a word in lower case; "İ" becomes "i" in any language, without a second dot."""
    word = word.replace("I\u0307", "İ")
    return (word.replace("I", "ı") if lang in DOTLESS_I else word).replace("İ", "i").lower()


def upper_case(word: str, lang: str) -> str:
    """Write a word in upper case, by the language's rules."""
    return (word.replace("i", "İ") if lang in DOTLESS_I else word).upper()


# Words to leave out

RowMask = npt.NDArray[np.bool_]
UNWANTED_FEATS = r"(^|\|)(Typo=Yes($|\|)|(Style|Foreign)=)"
"""Matches FEATS such as "Number=Sing|Typo=Yes" and "Foreign=Yes"."""
UNWANTED_MISC = r"(^|\|)([^=|]*Correct[^=|]*|(Lang|OrigLang)=[^|]*)"
"""Matches MISC such as "SpaceAfter=No|CorrectForm=sings" and "Lang=en"."""


def unwanted_rows(tokens: pa.Table, options: MultiblimpOptions) -> dict[str, RowMask]:
    """Mark rows of ``tokens`` to leave out: slips, typos, words of other languages and styles.

    Returns {reason: mask of the rows}. Slips are words that the speaker corrects (reparandum). Rows
    of multiword ranges are marked too, because they have the columns deprel, feats and misc.
    """
    deprel, feats, misc = (tokens[name].cast(pa.string()) for name in ("deprel", "feats", "misc"))
    reasons = {
        "reparandum": pc.equal(deprel, "reparandum"),
        "typo, style or foreign": pc.match_substring_regex(feats, UNWANTED_FEATS),
    }
    # This reason is in the authors' code, not in the paper.
    if not corrected(options, "marked_sentences"):
        reasons["corrected or code-switched"] = pc.match_substring_regex(misc, UNWANTED_MISC)
    return {reason: np.asarray(mask.fill_null(False)) for reason, mask in reasons.items()}
