"""Read the columns and types of MultiBLiMP's tables, each from a file in ``schemas``."""

from collections.abc import Mapping
from pathlib import Path

from blimpworks.tables import FUNNEL, ITEMS, read_schema, write_rows

# Numbers of words are CoNLL-U ids. `construction`: sv (subject and verb) or sp (subject and
# participle). `inflected`: the word that agrees. In sv this is the leftmost auxiliary or copula
# (`kind` aux), else the verb (verb); in sp the participle (ptcp). `replaced`: the word whose form
# the pair exchanges. `feats_of`: the word that `feats` are taken from. `order`: SV or VS.
# `distance`: words, negative for VS. `between`: possible attractors.
CANDIDATES = read_schema(__file__, "schemas/candidates.tsv")
AGREEMENT = read_schema(__file__, "schemas/agreement.tsv")
BOTH_TYPES = "both"
"""Verb type in the agreement table if auxiliaries and verbs are counted together."""
# Counts of all combinations of values; `agreement` sums them up.
AGREEMENT_COUNTS = read_schema(__file__, "schemas/agreement_counts.tsv")
# Text of a language in a web corpus. `codes`: the language's codes there, null if it has no text.
# `rank`: 1 is the least frequent. `resources`: low, mid or high.
FREQUENCIES = read_schema(__file__, "schemas/frequencies.tsv")
# A word has a form and a CoNLL-U id. `inflected_*`: the word that agrees, as annotated and
# completed from its subject. `verb`: the head of the subject. `replaced_id`: the word whose form
# the pair exchanges. `label`: + ~ or ? for each value of `grammatical`. `values`: all values of the
# pair ("3 -> 1|2"), whatever its condition. `attractor_values`: values of the agreement feature on
# the words between. `weight`: relative weight in the draw of the condition, null before the draw.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)
# `released_file`, `released_line`: file below the data set's root, and line from 1.
RELEASED_SCHEMA = read_schema(__file__, "schemas/released_items.tsv", ITEM_SCHEMA)


def write_funnel(path: Path, lang: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Write a ``funnel`` table from numbers of pairs, keyed by stage and then by reason."""
    rows = []
    for stage, numbers in counts.items():
        for reason, n in numbers.items():
            rows.append({"lang": lang, "stage": stage, "reason": reason, "n": n})
    write_rows(rows, FUNNEL, path)
