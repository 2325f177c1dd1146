"""Read the annotated resources of a language: words, categories, rhymes, homophones, sentences.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2 and appendix A.3.

``read_resources`` takes the JSON and CSV files of a language, as the authors release them. Words
are JSON objects such as {"cat": {"pos": "NOUN"}}; categories and rhymes are named lists of words.

Released files have faults, which ``cleaned`` removes: a placeholder in place of a sentence
(German); words with white space or a control character; repeated words and sentences; distractors
that are one of the two homophones. Files that are not named below are not read, such as Korean
homophones in two encodings, and verbs, which no task uses.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError, reading
from blimpworks.files import load_json, text_of

WORDS, RHYMES, HOMOPHONES = "lmentry_words.json", "rhyme_groups.json", "homophones.csv"
SENTENCES = "simple_sentences.csv"
CATEGORIES, NOUNS = "words_by_category.json", "nouns_by_category.json"
ONE_LIST = "nouns-by-category.json"
"""The single file that English has in place of ``CATEGORIES`` and ``NOUNS``."""
FORMS = ("plurals.json", "verbs_ing.json")
UNAMBIGUOUS = "phonetically_unambiguous_words.json"
SOUND_ALIKE = ("word", "homophone")  # columns of two words that sound alike
DISTRACTORS = ("easy1", "easy2", "semantic1", "semantic2")
"""Columns of words that do not sound like these: easy ones, and words of related meaning."""
HOMOPHONE_COLUMNS = (*SOUND_ALIKE, *DISTRACTORS)
PLACEHOLDERS = frozenset({"german sentence"})
Groups = Mapping[str, Sequence[str]]
"""Words of each category or rhyme group, by its name."""
Words = Mapping[str, Mapping[str, Any]]
"""Annotation of words: ``pos`` (part of speech; in English a list), CEFR ``levels`` (English)."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one language."""

    lexicon: Words
    categories: Groups
    """Words of all parts of speech by category."""
    nouns: Groups
    """Nouns by category."""
    rhymes: Groups
    homophones: Sequence[Mapping[str, str]]
    """Two words that sound alike, and distractors, by ``HOMOPHONE_COLUMNS``."""
    sentences: Sequence[str]
    forms: Words = field(default_factory=dict)
    """Inflected words (English plurals and -ing forms)."""
    unambiguous: Sequence[str] = ()
    """Words with one pronunciation (English)."""


def read_resources(files: Sequence[Path]) -> Resources:
    """Read the resources from their files. Raises UserError for a missing or malformed file."""
    path_of = {path.name: path for path in files}
    categories, nouns = (ONE_LIST, ONE_LIST) if ONE_LIST in path_of else (CATEGORIES, NOUNS)
    for name in (WORDS, categories, nouns, RHYMES, SENTENCES):
        if name not in path_of:
            raise UserError(
                f"{name} is missing among {', '.join(sorted(path_of)) or 'no files'}; expected a "
                "language's resources of Multi-LMentry, which docs/adding_lmentry.md describes."
            )
    forms = [_words(path_of[name]) for name in FORMS if name in path_of]
    return Resources(
        lexicon=_words(path_of[WORDS]),
        categories=_groups(path_of[categories]),
        nouns=_groups(path_of[nouns]),
        rhymes=_groups(path_of[RHYMES]),
        homophones=_rows(path_of[HOMOPHONES], HOMOPHONE_COLUMNS) if HOMOPHONES in path_of else [],
        sentences=[row["sentence"] for row in _rows(path_of[SENTENCES], ["sentence"])],
        forms={word: facts for form in forms for word, facts in form.items()},
        unambiguous=[*_words(path_of[UNAMBIGUOUS])] if UNAMBIGUOUS in path_of else [],
    )


def _mapping(path: Path) -> dict[str, Any]:
    with reading(path, "a resource of Multi-LMentry, a JSON object", "Correct it."):
        content = load_json(text_of(path, "utf-8-sig"))
    if not isinstance(content, dict) or not content:
        raise UserError(f"{path} holds no members; expected a JSON object.")
    return content


def _words(path: Path) -> Words:
    annotated = _mapping(path)
    for word, facts in annotated.items():
        if not word or not isinstance(facts, dict) or "pos" not in facts:
            raise UserError(
                f"{path}: {word!r} is {facts!r}; expected a word with an object such as "
                '{"pos": "NOUN"}.'
            )
    return annotated


def _groups(path: Path) -> dict[str, list[str]]:
    groups = _mapping(path)
    for name, members in groups.items():
        if not isinstance(members, list) or not all(isinstance(m, str) and m for m in members):
            raise UserError(f"{path}: {name!r} is {members!r:.60}; expected a list of words.")
    return groups


def _rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    with reading(path, f"a table of {', '.join(columns)}", "Correct it."):
        # With or without a byte order mark.
        reader = csv.DictReader(io.StringIO(text_of(path, "utf-8-sig"), newline=""))
        reader.fieldnames = [name.lower() for name in reader.fieldnames or []]
        missing = [name for name in columns if name not in reader.fieldnames]
        if missing:
            raise UserError(
                f"{path}:1: no column {missing[0]!r} among {', '.join(reader.fieldnames):.100}; "
                f"expected {', '.join(columns)}."
            )
        rows = []
        for row in reader:
            empty = [name for name in columns if not row[name]]
            if empty:
                raise UserError(f"{path}:{reader.line_num}: {empty[0]} is empty; fill it in.")
            rows.append({name: row[name] for name in columns})
        return rows


def _tidy(word: str) -> str:
    return "".join(c for c in word if c.isprintable()).strip()


def cleaned(resources: Resources) -> Resources:
    """Return resources without the faults that the module's docstring lists."""

    def words_of(table: Words) -> Words:
        return {_tidy(word): facts for word, facts in table.items()}

    def groups_of(groups: Groups) -> dict[str, list[str]]:
        return {name: [*dict.fromkeys(map(_tidy, members))] for name, members in groups.items()}

    homophones = []
    for row in resources.homophones:
        tidy_row = {name: _tidy(word) for name, word in row.items()}
        alike = [tidy_row[name] for name in SOUND_ALIKE]
        for name in DISTRACTORS:
            if tidy_row[name] in alike:
                del tidy_row[name]
        homophones.append(tidy_row)
    return replace(
        resources,
        lexicon=words_of(resources.lexicon),
        forms=words_of(resources.forms),
        categories=groups_of(resources.categories),
        nouns=groups_of(resources.nouns),
        rhymes=groups_of(resources.rhymes),
        homophones=homophones,
        sentences=[s for s in dict.fromkeys(resources.sentences) if s not in PLACEHOLDERS],
    )
