"""Make the lexicon of a language from UniMorph's tables and from its treebanks.

``build_lexicon`` writes a table with an entry (a row) for each reading of a word form:

    lemma  form   pos  features                      source    frequency
    sing   sings  V    Mood=IND|Number=SG|Person=3   ud        12

The source of entries from treebanks is called ud; only these have a frequency.
Source: MultiBLiMP 1.0, section 3, and the method notes that it cites.

Patches, the rows of ``unimorph_patches.tsv``, correct UniMorph's tables first, in order, as the
authors did (method notes, 2.5; the paper does not mention it). ``table`` names the file to correct;
if it is empty, all files of the language are corrected. ``kind`` is one of:

- ``tags``, ``tags_everywhere``: replace the first, or every, match of ``pattern`` in the tags;
- ``drop``: leave out lines that match ``pattern``;
- ``lemma_as_form``: repeat rows whose tags match, with the lemma as form and other tags;
- ``add``: add a row, "lemma|form|tags".

Tables that replace or extend others (Finnish, Karelian, Kazakh, Livvi, Uzbek, Veps) are rows of
``config/sources.tsv``. A patch that a later issue of a table makes superfluous changes nothing.
"""

import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.papers.multiblimp.items import words
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.strict import Strict
from blimpworks.tables import LEXICON, write_table


class LexiconEntry(NamedTuple):
    """A reading of a word form."""

    lemma: str
    form: str
    pos: str
    features: str
    """Features and values, sorted and joined by "|"."""


POS_OF_UPOS = {"VERB": "V", "AUX": "V", "NOUN": "N"} | {n: n for n in ("PRON", "ADJ", "DET", "ADV")}
"""Part of speech in the lexicon, keyed by that of treebanks; others have no entries."""
WORD_COLUMNS = ("word", "lemma", "form", "upos", "feats", "deprel", "misc")
UnimorphRow = tuple[str, str, str]
"""Lemma, form and tags of a UniMorph table: ("sing", "sings", "V;PRS;3;SG")."""
PATCHES_FILE = Path(__file__).with_name("unimorph_patches.tsv")
DROPPED = "\t\t"
"""Line that replaces a line to leave out; it has neither lemma nor form."""
PLAIN_WORD = re.compile(r"[a-z]+")


class Patch(Strict):
    """One row of the table of patches."""

    lang: str
    table: str
    kind: Literal["tags", "tags_everywhere", "drop", "lemma_as_form", "add"]
    pattern: re.Pattern[str]
    replacement: str
    why: str


@cache
def patches_of(lang: str) -> tuple[Patch, ...]:
    """List the patches of a language in order. Raises UserError for a patch of unknown kind."""
    return tuple(patch for patch in read_rows(Patch, PATCHES_FILE) if patch.lang == lang)


def patch_line(line: str, lang: str, table: str) -> str:
    """Correct the tags of one line of ``table``; return ``DROPPED`` for a line to leave out."""
    for patch in patches_of(lang):
        if patch.table not in ("", table.removesuffix(".xz")):
            continue
        if patch.kind == "drop":
            if patch.pattern.search(line):
                return DROPPED
        elif patch.kind in ("tags", "tags_everywhere") and line.count("\t") >= 2:
            lemma, form, tags = line.split("\t", 2)
            count = 1 if patch.kind == "tags" else 0
            tags = patch.pattern.sub(patch.replacement, tags, count=count)
            line = f"{lemma}\t{form}\t{tags}"
    return line


def patch_rows(rows: Iterable[UnimorphRow], lang: str) -> Iterator[UnimorphRow]:
    """Yield the rows of a language's tables, and the rows that patches add if there is a table."""
    patches = patches_of(lang)
    repeated = [patch for patch in patches if patch.kind == "lemma_as_form"]
    has_rows = False
    for row in rows:
        has_rows = True
        yield row
        lemma, form, tags = row
        for patch in repeated:
            # If the form is a plain word, also yield the lemma's last letters a to z as a form.
            ending = re.search(r"[a-z]+$", lemma)
            if ending and patch.pattern.search(tags) and PLAIN_WORD.fullmatch(form):
                yield lemma, ending[0], patch.pattern.sub(patch.replacement, tags, count=1)
    if has_rows:
        for patch in patches:
            if patch.kind == "add":
                lemma, form, tags = patch.replacement.split("|")
                yield lemma, form, tags


COLUMN_COUNT = 3
"""Columns of a UniMorph table; a table of segmentations has a fourth."""


def read_unimorph(
    path: Path, lang: str, special: Sequence[str], options: MultiblimpOptions, odd: Counter[str]
) -> Iterator[UnimorphRow]:
    """Yield lemma, form and tags of each line of a UniMorph table, patched for ``lang``.

    Skips lines with a blank form or lemma. After the ``special`` treatments of spelling, it also
    skips forms with a space, because pairs replace single words. A table of segmentations separates
    its tags by "|" too. The numbers of skipped and odd lines are added to ``odd``, keyed by fault.
    Raises UserError for a line with fewer than three columns, and for a file that is not UTF-8.
    """
    has_segments = path.name.removesuffix(".xz").endswith(".segmentations")
    most_columns = COLUMN_COUNT + 1 if has_segments else COLUMN_COUNT
    respell = corrected(options, "scripts")
    with reading(path, "a UniMorph table", "Pin another version."):
        content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        lines = content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    odd["without_line_end"] += bool(lines[-1])
    filled_lines = [line for line in lines if line.strip()]
    odd["repeated"] += len(filled_lines) - len({*filled_lines})
    odd["in_no_table"] += not filled_lines

    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        patched = patch_line(line, lang, path.name)
        fields = patched.split("\t")
        if len(fields) < COLUMN_COUNT:
            raise UserError(
                f"{path}:{number}: found {len(fields)} tab-separated columns, expected "
                "lemma, form, tags. Correct the line or pin another version."
            )
        lemma, form, tags = fields[:COLUMN_COUNT]
        if special:
            lemma, form = words.normalise_unimorph(lemma, form, special, corrected_scripts=respell)
        odd["with_more_columns"] += len(fields) > most_columns
        odd["without_tags"] += not tags.strip() and patched != DROPPED
        if patched == DROPPED:
            odd["patched_out"] += 1
        elif not (lemma and form):
            odd["blank"] += 1
        elif " " in form:
            odd["several_words"] += 1
        else:
            tags = tags.replace("|", ";") if has_segments else tags
            odd["with_unknown_tags"] += words.has_unknown_tags(tags)
            yield lemma, form, tags


def unimorph_entries(
    paths: Iterable[Path],
    lang: str,
    special: Sequence[str],
    options: MultiblimpOptions,
    odd: Counter[str],
) -> list[LexiconEntry]:
    """List the distinct entries of UniMorph tables in order; ``odd`` as in ``read_unimorph``."""
    rows = (row for path in paths for row in read_unimorph(path, lang, special, options, odd))
    entries = (
        LexiconEntry(lemma, form, pos, words.render(features))
        for lemma, form, tags in patch_rows(rows, lang)
        for pos, features in words.parse_tags(tags)
    )
    return list(dict.fromkeys(entries))


def _complete_features(feats: str) -> dict[str, str]:
    """Parse FEATS; unmarked finite verbs are indicative and active, and a mood implies finite."""
    features = dict(words.parse_feats(feats))
    if features.get("VerbForm") == "Fin":
        features.setdefault("Mood", "Ind")
    if "Mood" in features:
        features.setdefault("VerbForm", "Fin")
    if features.get("VerbForm") == "Fin":
        features.setdefault("Voice", "Act")
    return features


def ud_entries(tokens: pa.Table, lang: str, options: MultiblimpOptions) -> dict[LexiconEntry, int]:
    """Return {entry: frequency} of a treebank's words in lower case, without rare entries.

    An entry is rare beside a far more frequent form of its lemma and features. As published, it is
    also rare beside far more frequent features of its form (``LexiconOptions``).
    """
    is_clean = pa.array(~np.logical_or.reduce([*words.unwanted_rows(tokens, options).values()]))
    has_entry = pc.and_(pc.is_valid(tokens["word"]), pc.is_valid(tokens["feats"]))
    columns = ["lemma", "form", "upos", "feats"]
    occurrences = (
        tokens.filter(pc.and_(has_entry, is_clean))
        .select(columns)
        .cast(pa.schema([(name, pa.string()) for name in columns]))
        .group_by(columns, use_threads=False)
        .aggregate([([], "count_all")])
    )

    # As published, Turkish "İ" becomes "i" with a second dot.
    by_language = corrected(options, "letter_case")
    lower_case = partial(words.lower_case, lang=lang) if by_language else str.lower
    counts: Counter[LexiconEntry] = Counter()
    # {entry: its text in the authors' file, which is sorted by these texts}
    authors_texts: dict[LexiconEntry, str] = {}
    cells = (occurrences[name].to_pylist() for name in (*columns, "count_all"))
    for lemma, form, upos, feats, count in zip(*cells, strict=True):
        pos = POS_OF_UPOS.get(upos or "")
        if pos is None or "_" in lemma:
            continue
        ud_features = _complete_features(feats)
        features = [
            (name, "+".join(map(words.to_unimorph, value.split(","))))
            for name, value in ud_features.items()
        ]
        entry = LexiconEntry(lower_case(lemma), lower_case(form), pos, words.render(features))
        counts[entry] += count
        texts = [f"{name}_{value}" for name, value in sorted(ud_features.items())]
        authors_texts[entry] = ";".join([pos, *texts])

    # Drop entries beside a far more frequent entry that differs only in its form.
    highest: Counter[LexiconEntry] = Counter()  # {entry without its form: frequency}
    for entry, count in counts.items():
        any_form = entry._replace(form="")
        highest[any_form] = max(highest[any_form], count)
    ratio = options.lexicon.form_ratio
    dropped = {e for e, count in counts.items() if highest[e._replace(form="")] / count > ratio}
    if not corrected(options, "rare_readings"):
        dropped |= _rare_bundles(counts, options.lexicon.bundle_ratio)
    kept = [entry for entry in counts if entry not in dropped]
    if kept and not corrected(options, "first_entry"):
        # The authors write the entries sorted, and their reader takes the first for a header.
        kept.remove(min(kept, key=lambda entry: (entry.lemma, entry.form, authors_texts[entry])))
    return {entry: counts[entry] for entry in kept if " " not in entry.form}


def _rare_bundles(counts: Counter[LexiconEntry], ratio: float) -> set[LexiconEntry]:
    """Find entries that occur once and are similar to the commonest entry of their form.

    Similar entries have parts of speech with the same first letter (such as ADJ and ADV), and
    differ by at most two tags. The commonest entry must be more than ``ratio`` times as frequent.
    """
    entries_by_form: dict[tuple[str, str], list[LexiconEntry]] = defaultdict(list)
    for entry in counts:
        entries_by_form[entry.lemma, entry.form].append(entry)
    rare: set[LexiconEntry] = set()
    for entries in entries_by_form.values():
        commonest = max(entries, key=counts.__getitem__)
        common_tags = {commonest.pos, *commonest.features.split("|")}
        for entry in entries:
            is_rare = counts[entry] == 1 and counts[commonest] > ratio
            differing = common_tags ^ {entry.pos, *entry.features.split("|")}
            if is_rare and entry.pos[0] == commonest.pos[0] and len(differing) <= 2:
                rare.add(entry)
    return rare


def build_lexicon(
    tokens: Path,
    unimorph: list[Path],
    lang: str,
    special: Sequence[str],
    output: Path,
    options: MultiblimpOptions,
) -> dict[str, int]:
    """Write the lexicon of a language; return the numbers of entries by source, and of odd lines.

    For example ``{"unimorph": 115, "ud": 2010, "lines_blank": 3}``. ``special`` names the
    treatments of the language's spelling (``words.TREATMENTS``).
    """
    token_words = words.read_tokens(tokens, WORD_COLUMNS, special, options)
    from_ud = ud_entries(token_words, lang, options)
    odd: Counter[str] = Counter()
    from_unimorph = unimorph_entries(unimorph, lang, special, options, odd)
    if not corrected(options, "missing_words"):
        missing = words.READ_AS_MISSING
        from_unimorph = [entry for entry in from_unimorph if missing.isdisjoint(entry[:2])]
        from_ud = {e: count for e, count in from_ud.items() if missing.isdisjoint(e[:2])}
    rows = [
        *((*entry, "unimorph", None) for entry in from_unimorph),
        *((*entry, "ud", frequency) for entry, frequency in from_ud.items()),
    ]
    names = ("lemma", "form", "pos", "features", "source", "frequency")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    write_table(pa.table(columns, schema=LEXICON.arrow()), LEXICON, output)
    lines = {f"lines_{why}": count for why, count in sorted(odd.items()) if count}
    return {"unimorph": len(from_unimorph), "ud": len(from_ud), **lines}
