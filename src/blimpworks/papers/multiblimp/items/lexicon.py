"""The lexicon of a language: UniMorph's tables and the one read off the treebanks.

Source: MultiBLiMP 1.0, section 3; details of both in the method notes it cites.
"""

import lzma
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import UserError, reading
from blimpworks.papers.multiblimp.items.features import (
    READ_AS_MISSING,
    parse_feats,
    parse_tags,
    render,
    to_unimorph,
)
from blimpworks.papers.multiblimp.items.orthography import normalise_unimorph, read_tokens
from blimpworks.papers.multiblimp.items.patches import DROPPED, patch_line, patch_rows
from blimpworks.papers.multiblimp.items.unwanted import unwanted_rows
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.tables import LEXICON, write_table

Entry = tuple[str, str, str, str]
"""Lemma, form, part of speech, rendered features."""

POS_OF_UPOS = {
    "VERB": "V",
    "AUX": "V",
    "NOUN": "N",
    "PRON": "PRON",
    "ADJ": "ADJ",
    "DET": "DET",
    "ADV": "ADV",
}

WORD_COLUMNS = ("word", "lemma", "form", "upos", "feats", "deprel", "misc")


COLUMNS = 3
"""Of a UniMorph table; one of segmentations has them as the fourth."""


def read_unimorph(
    path: Path,
    lang: str,
    special: Sequence[str],
    options: MultiblimpOptions,
    odd: Counter[str] | None = None,
) -> Iterator[tuple[str, str, str]]:
    """Lemma, form and tags of each line of a UniMorph table, patched for ``lang``.

    Lines with a blank form or lemma are skipped, as are forms that have a space after the
    ``special`` treatments (the pipeline replaces single words). A table of segmentations
    separates its tags by "|" too. ``odd`` counts what is skipped, and lines that are not as
    others are. Raises UserError for a line with fewer than three columns, or a file that is
    not UTF-8.
    """
    segmented = path.suffix == ".segmentations"
    ours = corrected(options, "scripts")
    odd = Counter() if odd is None else odd
    lines = _lines(path)
    odd["without_line_end"] += bool(lines[-1])
    filled = [line for line in lines if line.strip()]
    odd["repeated"] += len(filled) - len({*filled})
    odd["in_no_table"] += not filled
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        patched = patch_line(line, lang, path.name)
        fields = patched.split("\t")
        if len(fields) < COLUMNS:
            raise UserError(
                f"{path}:{number}: found {len(fields)} tab-separated columns, expected "
                "lemma, form, tags. Correct the line or pin another version."
            )
        lemma, form, tags = fields[:COLUMNS]
        if special:
            lemma, form = normalise_unimorph(lemma, form, special, corrected=ours)
        odd["with_more_columns"] += len(fields) > COLUMNS + segmented
        odd["without_tags"] += not tags.strip() and patched != DROPPED
        if patched == DROPPED:
            odd["patched_out"] += 1
        elif not (lemma and form):
            odd["blank"] += 1
        elif " " in form:
            odd["several_words"] += 1
        else:
            yield lemma, form, tags.replace("|", ";") if segmented else tags


def _lines(path: Path) -> list[str]:
    with reading(path, "a UniMorph table", "Pin another version."):
        content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        return content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")


def unimorph_entries(
    paths: Iterable[Path],
    lang: str,
    special: Sequence[str],
    options: MultiblimpOptions,
    odd: Counter[str] | None = None,
) -> list[Entry]:
    """List distinct entries of UniMorph tables in order; ``odd`` counts odd lines."""
    rows = (row for path in paths for row in read_unimorph(path, lang, special, options, odd))
    entries = (
        (lemma, form, pos, render(features))
        for lemma, form, tags in patch_rows(rows, lang)
        for pos, features in parse_tags(tags)
    )
    return list(dict.fromkeys(entries))


def _count_words(
    tokens: pa.Table, options: MultiblimpOptions
) -> Iterator[tuple[str, str, str, str, int]]:
    """Lemma, form, upos, feats and number of occurrences of words that can be entries."""
    clean = pa.array(~np.logical_or.reduce([*unwanted_rows(tokens, options).values()]))
    has_entry = pc.and_(pc.is_valid(tokens["word"]), pc.is_valid(tokens["feats"]))
    words = tokens.filter(pc.and_(has_entry, clean)).select(["lemma", "form", "upos", "feats"])
    counts = (
        words.cast(pa.schema([(name, pa.string()) for name in words.column_names]))
        .group_by(words.column_names, use_threads=False)
        .aggregate([([], "count_all")])
    )
    columns = [counts[name].to_pylist() for name in (*words.column_names, "count_all")]
    return zip(*columns, strict=True)


def ud_entries(tokens: pa.Table, options: MultiblimpOptions) -> dict[Entry, int]:
    """Read entries and frequencies off a treebank, lower-cased, after both filters."""
    counts: Counter[Entry] = Counter()
    spelt: dict[Entry, str] = {}
    for lemma, form, upos, feats, count in _count_words(tokens, options):
        pos = POS_OF_UPOS.get(upos or "")
        if pos is None or "_" in lemma:
            continue
        # UD features with the finiteness, mood and voice that a verb form implies, in turn.
        known = dict(parse_feats(feats))
        if known.get("VerbForm") == "Fin":
            known.setdefault("Mood", "Ind")
        if "Mood" in known:
            known.setdefault("VerbForm", "Fin")
        if known.get("VerbForm") == "Fin":
            known.setdefault("Voice", "Act")
        features = [
            (name, "+".join(to_unimorph(part) for part in value.split(",")))
            for name, value in known.items()
        ]
        entry = (lemma.lower(), form.lower(), pos, render(features))
        counts[entry] += count
        spelt[entry] = ";".join(
            [pos, *(f"{name}_{value}" for name, value in sorted(known.items()))]
        )
    dropped = _rare_forms(counts, options.lexicon.form_ratio)
    if not corrected(options, "rare_readings"):
        dropped |= _rare_bundles(counts, options.lexicon.bundle_ratio)
    kept = [entry for entry in counts if entry not in dropped]
    if kept and not corrected(options, "first_entry"):
        # The authors write the entries sorted, and their reader takes the first for a header.
        kept.remove(min(kept, key=lambda entry: (entry[0], entry[1], spelt[entry])))
    return {entry: counts[entry] for entry in kept if " " not in entry[1]}


def _rare_forms(counts: Counter[Entry], ratio: float) -> set[Entry]:
    """Entries whose lemma and features have a form more than ``ratio`` times as frequent."""
    best: dict[tuple[str, str, str], int] = defaultdict(int)
    for (lemma, _, pos, features), count in counts.items():
        key = (lemma, pos, features)
        best[key] = max(best[key], count)
    return {e for e, count in counts.items() if best[e[0], e[2], e[3]] / count > ratio}


def _rare_bundles(counts: Counter[Entry], ratio: float) -> set[Entry]:
    """Hapaxes that differ by at most two tags from a far more frequent reading of the form."""
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in counts:
        groups[entry[0], entry[1]].append(entry)
    dropped: set[Entry] = set()
    for entries in groups.values():
        top = max(entries, key=lambda e: counts[e])
        for entry in entries:
            tags, top_tags = ([e[2], *e[3].split("|")] for e in (entry, top))
            rare = counts[entry] == 1 and counts[top] / counts[entry] > ratio
            if rare and entry[2][0] == top[2][0] and len({*tags} ^ {*top_tags}) <= 2:
                dropped.add(entry)
    return dropped


def _reads_as_missing(entry: Entry) -> bool:
    return not READ_AS_MISSING.isdisjoint(entry[:2])


def build_lexicon(
    tokens: Path,
    unimorph: list[Path],
    lang: str,
    special: Sequence[str],
    output: Path,
    options: MultiblimpOptions,
) -> dict[str, int]:
    """Write the ``lexicon`` of a language; return entries by source and odd lines by fault."""
    words = read_tokens(tokens, WORD_COLUMNS, special, options)
    from_ud = ud_entries(words, options)
    odd: Counter[str] = Counter()
    from_unimorph = unimorph_entries(unimorph, lang, special, options, odd)
    if not corrected(options, "missing_words"):
        from_unimorph = [entry for entry in from_unimorph if not _reads_as_missing(entry)]
        from_ud = {e: n for e, n in from_ud.items() if not _reads_as_missing(e)}
    rows = [
        *((*entry, "unimorph", None) for entry in from_unimorph),
        *((*entry, "ud", frequency) for entry, frequency in from_ud.items()),
    ]
    names = ("lemma", "form", "pos", "features", "source", "frequency")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    write_table(pa.table(columns, schema=LEXICON.arrow()), LEXICON, output)
    lines = {f"lines_{why}": count for why, count in sorted(odd.items()) if count}
    return {"unimorph": len(from_unimorph), "ud": len(from_ud), **lines}
