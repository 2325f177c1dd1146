"""Respell scripts and diacritics: one spelling for a language's treebanks and UniMorph tables.

Source: MultiBLiMP 1.0, section 3.2 and appendix A.1. The column ``special`` of
``config/languages.tsv`` names the treatments of a language; "published:" before a name restricts it
to the authors' way, "corrected:" to ours.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

import pyarrow as pa
import pyarrow.compute as pc
from unidecode import unidecode

from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.settings import corrected as is_corrected
from blimpworks.tables import TOKENS, read_table

WORDS = ("form", "lemma")
CANTILLATION = "\u0591-\u05af"
PUNCTUATION = "\u05be\u05c0\u05c3"
"""Maqaf, paseq and sof pasuq."""
PERSIAN_MARKS = "\u064b-\u0655\u0670"
"""Vowel signs, nunation, doubling, and the hamza above that writes the ezafe."""
UYGHUR_LATIN = str.maketrans(
    dict(zip("اەبپتجدرزسفقكگلمنھوۇۆۈۋېىي،؛؟", "aebptjdrzsfqkglmnhouöüwëiy,;?", strict=True))
    | {"چ": "ch", "خ": "x", "ژ": "zh", "ش": "sh", "غ": "gh", "ڭ": "ng", "ئ": ""}
)
"""Uyghur's letters in UD's own transliteration."""


def _delete(characters: str) -> Callable[[str], str]:
    pattern = re.compile(f"[{characters}]")
    return lambda text: pattern.sub("", text)


def _to_devanagari(text: str) -> str:
    # Loading it takes a fifth of a second that only Sanskrit is worth.
    from indic_transliteration import sanscript  # type: ignore[import-untyped]

    return str(sanscript.transliterate(text, sanscript.IAST, sanscript.DEVANAGARI))


@dataclass(frozen=True, slots=True)
class Treatment:
    """A change of spelling, and the columns to change."""

    convert: Callable[[str], str]
    tokens: tuple[str, ...] = WORDS
    """Columns of a ``tokens`` table."""
    unimorph: tuple[str, ...] = ()
    """Columns of a UniMorph table, of ``WORDS``."""
    given: tuple[tuple[str, str], ...] = ()
    """Columns that a MISC attribute spells better, where a word has it: (column, attribute)."""


TREATMENTS = {
    "unidecode": Treatment(unidecode, unimorph=WORDS),
    # Of several forms in one cell the first counts.
    "first_comma": Treatment(lambda text: text.split(", ")[0], tokens=(), unimorph=("form",)),
    "uyghur_translit": Treatment(
        lambda text: text.translate(UYGHUR_LATIN),
        given=(("form", "Translit"), ("lemma", "LTranslit")),
    ),
    "iast_devanagari": Treatment(_to_devanagari),
    "strip_cantillation": Treatment(_delete(CANTILLATION)),
    "strip_cantillation_and_punctuation": Treatment(_delete(CANTILLATION + PUNCTUATION)),
    "strip_colons": Treatment(lambda text: re.sub(r"(?<=\w):(?=\w)", "", text)),
    # Relations lose theirs as well, so that no nsubj:outer is recognised any more.
    "strip_colons_everywhere": Treatment(_delete(":"), tokens=(*WORDS, "deprel")),
    "strip_persian_marks": Treatment(
        lambda text: re.sub(f"[{PERSIAN_MARKS}]", "", normalize("NFC", text)), unimorph=WORDS
    ),
}


def read_tokens(
    path: Path, columns: Sequence[str], special: Sequence[str], options: MultiblimpOptions
) -> pa.Table:
    """Read ``tokens``, with ``misc`` if ``special``, in the agreed spelling of the language."""
    needed = list(dict.fromkeys([*columns, "misc"])) if special else columns
    table = read_table(TOKENS, path, needed)
    return normalise_tokens(table, special, corrected=is_corrected(options, "scripts"))


def normalise_tokens(table: pa.Table, special: Sequence[str], corrected: bool = False) -> pa.Table:
    """Respell ``tokens`` (with ``misc``) as in appendix A.1; UserError for unknown treatments."""
    for treatment in treatments(tuple(special), corrected):
        attributes = dict(treatment.given)
        for column in treatment.tokens:
            if column not in table.column_names:
                continue
            texts = table[column].cast(pa.string())
            spelt = {None: None} | {
                text: treatment.convert(text) for text in texts.drop_null().unique().to_pylist()
            }
            values = pa.chunked_array([[spelt[text] for text in texts.to_pylist()]], pa.string())
            if column in attributes:
                # Null where a word lacks the attribute or leaves it empty.
                pattern = rf"(?:^|\|){attributes[column]}=(?P<value>[^|]+)"
                attribute = pc.extract_regex(table["misc"].cast(pa.string()), pattern)
                values = pc.coalesce(pc.struct_field(attribute, "value"), values)
            at = table.schema.get_field_index(column)
            table = table.set_column(at, table.field(at), values.cast(table.field(at).type))
    return table


def normalise_unimorph(
    lemma: str, form: str, special: Sequence[str], *, corrected: bool = False
) -> tuple[str, str]:
    """Respell lemma and form of a UniMorph row (section 3.2), before forms with spaces go."""
    for treatment in treatments(tuple(special), corrected):
        if "lemma" in treatment.unimorph:
            lemma = treatment.convert(lemma)
        if "form" in treatment.unimorph:
            form = treatment.convert(form)
    return lemma, form


@lru_cache
def treatments(special: tuple[str, ...], corrected: bool) -> tuple[Treatment, ...]:
    """List the treatments that ``special`` names, in order. Raises UserError for an unknown one."""
    other_prefix = "published:" if corrected else "corrected:"
    chosen = []
    for entry in special:
        name = entry.removeprefix("published:").removeprefix("corrected:")
        if name not in TREATMENTS:
            raise UserError(
                f"a language's 'special' treatment is '{entry}', expected one of "
                f"{', '.join(TREATMENTS)}, perhaps after 'published:' or 'corrected:'; "
                "correct the column 'special' of the table of languages."
            )
        if not entry.startswith(other_prefix):
            chosen.append(TREATMENTS[name])
    return tuple(chosen)
