"""Find the subjects and verbs of a treebank that could agree (MultiBLiMP 1.0, section 4.1).

``find_candidates`` reads a language's table of tokens. It writes the candidates, and the funnel:
counts of left out subjects by reason. A candidate is a subject with the word that agrees with it,
in one of two constructions:

    sv  subject and finite verb, or its auxiliary     She *has* sung.
    sp  subject and participle                        Elle est *partie*.

The verb of a subject is its head in the dependency tree; auxiliaries depend on the verb (aux) or on
a noun or adjective (cop). Columns are numpy arrays with a row for each word. A word's row is its
sentence's first row plus its CoNLL-U id minus one. A mask is an array of truth values by row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.items import words
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import CANDIDATES, write_funnel
from blimpworks.tables import write_table

RowNumbers = npt.NDArray[np.int64]
"""Numbers of rows; -1 for none."""
Strings = npt.NDArray[np.object_]
VERB_CLASSES = ["VERB", "AUX"]
TOKEN_COLUMNS = ("sentence", "word", "head", "form", "lemma", "upos", "feats", "deprel", "misc")


@dataclass(frozen=True)
class TreebankWords:
    """Columns of a treebank's syntactic words, in order of sentences and words."""

    sentence: RowNumbers
    word: RowNumbers
    head: RowNumbers
    """Row of the head; -1 for a root."""
    form: Strings
    lemma: Strings
    upos: Strings
    feats: Strings
    deprel: Strings
    """Empty where the treebank has none."""


def load_words(tokens: pa.Table) -> TreebankWords:
    """Load the words of a ``tokens`` table, without multiword ranges and empty nodes."""
    table = tokens.filter(pc.is_valid(tokens["word"])).combine_chunks()
    names = ("sentence", "word", "head")
    numbers = (table[name].fill_null(0).to_numpy().astype(np.int64) for name in names)
    texts = (table[name].cast(pa.string()) for name in ("form", "lemma", "upos", "feats"))
    deprel = table["deprel"].cast(pa.string()).fill_null("")
    sentence, word, head = numbers
    first_of_sentence = np.arange(len(word)) - (word - 1)
    head_rows = np.where(head > 0, first_of_sentence + head - 1, -1)
    strings = (column.to_numpy(zero_copy_only=False) for column in (*texts, deprel))
    return TreebankWords(sentence, word, head_rows, *strings)


def check_each(values: Strings, predicate: Callable[[Any], bool]) -> words.RowMask:
    """Return a mask of the values that have a property; each distinct value is checked once."""
    return np.fromiter(map(cache(predicate), values), bool, len(values))


def _heads_of(nodes: TreebankWords, dependents: words.RowMask) -> words.RowMask:
    """Return a mask of the words that are heads of ``dependents``."""
    mask = np.zeros(len(nodes.head), bool)
    heads = nodes.head[dependents]
    mask[heads[heads >= 0]] = True
    return mask


def _auxiliary(nodes: TreebankWords, allowed: words.RowMask, last: bool = False) -> RowNumbers:
    """Return for each word the row of its first (or last) allowed auxiliary or copula; -1: none."""
    is_auxiliary = check_each(nodes.deprel, lambda name: name == "cop" or name.startswith("aux"))
    rows = np.flatnonzero(is_auxiliary & allowed & (nodes.head >= 0))
    auxiliaries = np.full(len(nodes.head), -1)
    # Of several auxiliaries of a head, the last assignment stays. For the first one, go backwards.
    rows = rows if last else rows[::-1]
    auxiliaries[nodes.head[rows]] = rows
    return auxiliaries


def _is_finite(feats: str | None) -> bool:
    features = words.parse_feats(feats)
    # Many treebanks give only the mood, which implies a finite form.
    return features.get("VerbForm", "Fin" if "Mood" in features else None) == "Fin"


def _table(
    nodes: TreebankWords,
    construction: str,
    subjects: RowNumbers,
    inflected: RowNumbers,
    replaced: RowNumbers,
    word_type: Strings,
    options: MultiblimpOptions,
) -> pa.Table:
    """Make the table of candidates of one ``construction``, with a row for each subject.

    ``subjects``, ``inflected`` and ``replaced`` are rows of words. ``inflected`` is the word that
    agrees; ``word_type`` is verb, aux or ptcp. ``replaced`` is the word that gets another form. As
    published, the two differ if the auxiliary begins the sentence.
    """
    verbs = nodes.head[subjects]
    distance = replaced - subjects
    # An agreeing word without features, such as an auxiliary, gets those of the verb.
    lacks_feats = check_each(nodes.feats, lambda feats: feats is None)
    feats_of = np.where(lacks_feats[inflected], verbs, inflected)

    # Attractors are words between subject and verb: words with a feature of agreement, and verbs
    # with any feature.
    agreeing = frozenset(words.AGREEMENT_FEATURES)
    attracting = check_each(nodes.feats, lambda f: not agreeing.isdisjoint(words.parse_feats(f)))
    attracting |= np.isin(nodes.upos, VERB_CLASSES) & ~lacks_feats
    starts, ends = np.minimum(subjects, replaced), np.maximum(subjects, replaced)
    if not corrected(options, "attractor_window"):
        # As published, the word before the later of the two is no attractor.
        ends = ends - 1
    attractors = [
        np.arange(start + 1, end)[attracting[start + 1 : end]]
        for start, end in zip(starts, ends, strict=True)
    ]
    return pa.table(
        {
            "construction": [construction] * len(subjects),
            "sentence": nodes.sentence[subjects],
            "subject": nodes.word[subjects],
            "verb": nodes.word[verbs],
            "inflected": nodes.word[inflected],
            "replaced": nodes.word[replaced],
            "kind": word_type,
            "order": np.where(distance > 0, "SV", "VS").astype(object),
            "distance": distance,
            "subject_form": nodes.form[subjects],
            "subject_lemma": nodes.lemma[subjects],
            "subject_upos": nodes.upos[subjects],
            "subject_feats": nodes.feats[subjects],
            "verb_form": nodes.form[verbs],
            "form": nodes.form[inflected],
            "lemma": nodes.lemma[inflected],
            "upos": nodes.upos[inflected],
            "feats": nodes.feats[feats_of],
            "feats_of": nodes.word[feats_of],
            "between": [nodes.word[rows] for rows in attractors],
            "between_feats": [nodes.feats[rows] for rows in attractors],
        },
        schema=CANDIDATES.arrow(),
    )


def _possible_subjects(
    table: pa.Table,
    nodes: TreebankWords,
    max_words: int,
    options: MultiblimpOptions,
    counts: dict[str, int],
) -> RowNumbers:
    """Return the rows of subjects that could agree; count the others in ``counts`` by reason."""
    subjects = np.flatnonzero((nodes.deprel == "nsubj") & (nodes.head >= 0))
    counts["subjects"] = len(subjects)

    # Leave out sentences with an unwanted word, or with too many words.
    too_long = np.asarray(pc.greater(table["word"], max_words).fill_null(False))
    unwanted = {**words.unwanted_rows(table, options), "too long": too_long}
    sentence = table["sentence"].to_numpy()
    for reason, rows in unwanted.items():
        keep = ~np.isin(nodes.sentence[subjects], sentence[rows])
        counts[f"- {reason}"] = int((~keep).sum())
        subjects = subjects[keep]

    # Leave out subjects that may not agree, such as "a cat and a dog", or "men" in "there are men".
    # Each is counted for the first reason.
    heads = nodes.head[subjects]
    odd_relations = ("expl", "csubj:outer", "nsubj:outer")
    odd_mask = check_each(nodes.deprel, lambda name: any(text in name for text in odd_relations))
    drops = {
        "conjoined subject": _heads_of(nodes, nodes.deprel == "conj")[subjects],
        "expletive or outer subject": _heads_of(nodes, odd_mask)[heads],
        "subject is not a noun or pronoun": ~np.isin(nodes.upos[subjects], ["NOUN", "PRON"]),
        "head is not a verb": ~np.isin(nodes.upos[heads], VERB_CLASSES),
    }
    keep = np.ones(len(subjects), bool)
    for reason, drop in drops.items():
        counts[f"- {reason}"] = int((keep & drop).sum())
        keep &= ~drop
    return subjects[keep]


def find_candidates(
    tokens: Path,
    lang: str,
    special: Sequence[str],
    output: Path,
    funnel: Path,
    options: MultiblimpOptions,
    treebanks: TreebankOptions,
) -> dict[str, int]:
    """Write the ``candidates`` of a language and the funnel; return its counts keyed by reason.

    ``special`` names the treatments of the language's spelling (``words.TREATMENTS``).
    """
    table = words.read_tokens(tokens, TOKEN_COLUMNS, special, options)
    nodes = load_words(table)
    counts = {"sentences": len(np.unique(nodes.sentence)), "words": len(nodes.word)}
    subjects = _possible_subjects(table, nodes, treebanks.max_words, options, counts)
    heads = nodes.head[subjects]

    # Subject and finite verb (sv). If the verb has an auxiliary, the auxiliary agrees.
    finite = check_each(nodes.feats, _is_finite)
    all_words = np.ones(len(nodes.head), bool)
    only_finite = corrected(options, "finiteness")
    auxiliaries = _auxiliary(nodes, finite if only_finite else all_words)[heads]
    has_auxiliary = auxiliaries >= 0
    inflected = np.where(has_auxiliary, auxiliaries, heads)
    replaced = inflected
    if not corrected(options, "first_word_auxiliary"):
        # As published, the verb is replaced where the auxiliary begins the sentence.
        replaced = np.where(has_auxiliary & (nodes.word[inflected] == 1), heads, inflected)
    word_type = np.where(has_auxiliary, "aux", "verb").astype(object)
    kept = finite[inflected] if only_finite else np.ones(len(subjects), bool)  # mask of subjects
    verbal = _table(
        nodes, "sv", subjects[kept], inflected[kept], replaced[kept], word_type[kept], options
    )
    counts["- not finite"] = len(subjects) - len(verbal)

    # Subject and participle (sp). Beside some auxiliaries, as in French *elle a chanté*, the
    # participle does not agree with the subject.
    participles = check_each(nodes.feats, lambda f: words.parse_feats(f).get("VerbForm") == "Part")
    inflects = ((nodes.upos == "VERB") & participles)[heads]
    if corrected(options, "participle_auxiliaries"):
        rows_of_file = read_cells(Path(__file__).with_name("participle_auxiliaries.tsv"))
        lemmas = [row["lemma"] for row in rows_of_file if row["lang"] == lang]
        last_rows = _auxiliary(nodes, all_words, last=True)[heads]
        has_lemma = np.isin(nodes.lemma, lemmas)[last_rows]
        uninflected = inflects & (last_rows >= 0) & has_lemma
        counts["- participle beside an auxiliary that has no agreement"] = int(uninflected.sum())
        inflects &= ~uninflected
    verbs = heads[inflects]
    word_type = np.full(len(verbs), words.PARTICIPLE, object)
    participial = _table(nodes, "sp", subjects[inflects], verbs, verbs, word_type, options)

    counts["subject-verb candidates"] = len(verbal)
    counts["subject-participle candidates"] = len(participial)
    write_table(pa.concat_tables([verbal, participial]), CANDIDATES, output)
    write_funnel(funnel, lang, {"candidates": counts})
    return counts
