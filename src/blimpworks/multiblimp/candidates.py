"""Subject-verb candidates of a treebank: which words could agree, before any lexicon.

Source: MultiBLiMP 1.0, section 4.1. Works on whole columns: a word's row is its sentence's
first row plus its id minus one, so heads and dependents are index arithmetic.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.config import MultiblimpOptions, TreebankOptions
from blimpworks.multiblimp.decisions import corrected
from blimpworks.multiblimp.features import parse_feats
from blimpworks.multiblimp.funnel import write_funnel
from blimpworks.multiblimp.unwanted import Mask, Strings, marked, unwanted_rows
from blimpworks.tables import CANDIDATES, TOKENS, read_table, write_table

Rows = npt.NDArray[np.int64]

SUBJECT_CLASSES = {"NOUN", "PRON"}
VERB_CLASSES = {"VERB", "AUX"}
TOKEN_COLUMNS = ("sentence", "word", "head", "form", "lemma", "upos", "feats", "deprel", "misc")


@dataclass(frozen=True)
class Words:
    """The syntactic words of a treebank as columns; rows in sentence and word order."""

    sentence: Rows
    word: Rows
    head: Rows
    """Row of the head; -1 for a root."""
    form: Strings
    lemma: Strings
    upos: Strings
    feats: Strings
    deprel: Strings
    """Empty where the treebank has none."""


def load_words(tokens: pa.Table) -> Words:
    """Words of a ``tokens`` table; multiword ranges and empty nodes are left out."""
    table = tokens.filter(pc.is_valid(tokens["word"])).combine_chunks()
    sentence = table["sentence"].to_numpy().astype(np.int64)
    word = table["word"].to_numpy().astype(np.int64)
    head = table["head"].fill_null(0).to_numpy().astype(np.int64)
    first = np.arange(len(word)) - (word - 1)
    text = {
        name: table[name].cast(pa.string()).to_numpy(zero_copy_only=False)
        for name in ("form", "lemma", "upos", "feats")
    }
    deprel = table["deprel"].cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False)
    return Words(sentence, word, np.where(head > 0, first + head - 1, -1), **text, deprel=deprel)


def unwanted_sentences(tokens: pa.Table, longest: int) -> dict[str, set[int]]:
    """Sentences that yield no candidates, by reason.

    Speech repairs, typos, foreign or stylistically marked words, corrected and
    code-switched words, and more than ``longest`` words.
    """
    too_long = np.asarray(pc.greater(tokens["word"], longest).fill_null(False))
    reasons = {**unwanted_rows(tokens), "too long": too_long}
    sentence = tokens["sentence"].to_numpy()
    return {reason: set(sentence[rows].tolist()) for reason, rows in reasons.items()}


def _heads_of(words: Words, dependents: Mask) -> Mask:
    """Words that have one of the marked words as a dependent."""
    found = np.zeros(len(words.head), bool)
    heads = words.head[dependents]
    found[heads[heads >= 0]] = True
    return found


def _leftmost_auxiliary(words: Words) -> Rows:
    """For each word the row of its first auxiliary or copula; -1 if it has none."""
    is_auxiliary = marked(words.deprel, lambda d: d == "cop" or d.startswith("aux"))
    rows = np.flatnonzero(is_auxiliary & (words.head >= 0))
    found = np.full(len(words.head), -1)
    found[words.head[rows[::-1]]] = rows[::-1]
    return found


def _filters(words: Words, subjects: Rows, heads: Rows) -> dict[str, Mask]:
    """For each filter, in the order it is applied, which subject edges it drops."""
    conjoined = _heads_of(words, words.deprel == "conj")
    expletive = _heads_of(
        words,
        marked(words.deprel, lambda d: "expl" in d or "csubj:outer" in d or "nsubj:outer" in d),
    )
    return {
        "conjoined subject": conjoined[subjects],
        "expletive or outer subject": expletive[heads],
        "subject is not a noun or pronoun": ~np.isin(words.upos[subjects], [*SUBJECT_CLASSES]),
        "head is not a verb": ~np.isin(words.upos[heads], [*VERB_CLASSES]),
    }


def _is_finite(feats: str | None) -> bool:
    return parse_feats(feats).get("VerbForm") == "Fin"


def _attractors(words: Words, left: int, right: int, feature: str, whole_window: bool) -> list[str]:
    """Values of ``feature`` on the words between two rows.

    The authors' window ends one word early; ``whole_window`` looks at all of it.
    """
    window = range(left + 1, right if whole_window else right - 1)
    found = (parse_feats(words.feats[row]).get(feature) for row in window)
    return [value for value in found if value is not None]


def _table(words: Words, subjects: Rows, options: MultiblimpOptions) -> pa.Table:
    """The ``candidates`` table of the remaining subject edges."""
    verbs = words.head[subjects]
    auxiliaries = _leftmost_auxiliary(words)[verbs]
    has_auxiliary = auxiliaries >= 0
    inflected = np.where(has_auxiliary, auxiliaries, verbs)
    first = has_auxiliary & (words.word[inflected] == 1)
    misplaced = first & (not corrected(options, "first_word_auxiliary"))
    replaced = np.where(misplaced, verbs, inflected)
    distance = replaced - subjects
    bare = has_auxiliary & marked(words.feats[inflected], lambda feats: feats is None)
    whole = corrected(options, "attractor_window")
    ends = zip(np.minimum(subjects, replaced), np.maximum(subjects, replaced), strict=True)
    return pa.table(
        {
            "phenomenon": ["sv#"] * len(subjects),
            "sentence": words.sentence[subjects],
            "subject": words.word[subjects],
            "verb": words.word[verbs],
            "inflected": words.word[inflected],
            "replaced": words.word[replaced],
            "kind": np.where(has_auxiliary, "aux", "verb").astype(object),
            "order": np.where(distance > 0, "SV", "VS").astype(object),
            "distance": distance,
            "subject_form": words.form[subjects],
            "subject_upos": words.upos[subjects],
            "subject_feats": words.feats[subjects],
            "form": words.form[inflected],
            "lemma": words.lemma[inflected],
            "feats": np.where(bare, words.feats[verbs], words.feats[inflected]),
            "inflected_is_verb": ~has_auxiliary | bare,
            "attractors": pa.array(
                [_attractors(words, int(a), int(b), "Number", whole) for a, b in ends],
                pa.list_(pa.string()),
            ),
        }
    )


def find_candidates(
    tokens: Path,
    lang: str,
    output: Path,
    funnel: Path,
    options: MultiblimpOptions,
    treebanks: TreebankOptions,
) -> dict[str, int]:
    """Write the ``candidates`` of a language and how many each filter dropped.

    Returns the funnel's counts. Raises UserError when the token table can't be read.
    """
    table = read_table(TOKENS, tokens, TOKEN_COLUMNS)
    words = load_words(table)
    counts = {"sentences": len(np.unique(words.sentence)), "words": len(words.word)}
    unwanted = unwanted_sentences(table, treebanks.max_words)
    subjects = np.flatnonzero((words.deprel == "nsubj") & (words.head >= 0))
    counts["subjects"] = len(subjects)
    for reason, sentences in unwanted.items():
        keep = ~np.isin(words.sentence[subjects], [*sentences])
        counts[f"- {reason}"] = int((~keep).sum())
        subjects = subjects[keep]
    keep = np.ones(len(subjects), bool)
    for reason, drop in _filters(words, subjects, words.head[subjects]).items():
        counts[f"- {reason}"] = int((keep & drop).sum())
        keep &= ~drop
    found = _table(words, subjects[keep], options)
    finite = marked(found["feats"].to_numpy(), _is_finite)
    if corrected(options, "finiteness"):
        found = found.filter(pa.array(finite))
    counts["- not finite"] = int(keep.sum()) - len(found)
    counts["candidates"] = len(found)
    write_table(found, CANDIDATES, output)
    write_funnel(funnel, lang, "candidates", counts)
    return counts
