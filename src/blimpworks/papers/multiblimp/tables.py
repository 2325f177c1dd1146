"""Tables of MultiBLiMP."""

from collections.abc import Mapping
from pathlib import Path

from blimpworks.tables import FUNNEL, ITEMS, read_schema, write_rows

# Words are given by their CoNLL-U ids. construction: sv (subject and verb) or sp (subject
# and participle). `inflected` is the word whose form agrees: in sv the leftmost auxiliary or
# copula (`kind` aux), else the verb (verb); in sp the participle (ptcp). `replaced` is where
# the pair puts the other form, `feats_of` the word that `feats` are taken from. order: SV or
# VS; distance in words, negative for VS. `between`: words that could be attractors.
CANDIDATES = read_schema(__file__, "schemas/candidates.tsv")
AGREEMENT = read_schema(__file__, "schemas/agreement.tsv")
BOTH_TYPES = "both"
"""Verb type in the agreement table where auxiliaries and verbs are counted together."""
# Every combination of values that was counted, agreeing or not; `agreement` sums these up.
AGREEMENT_COUNTS = read_schema(__file__, "schemas/agreement_counts.tsv")
# Text of a language in a web corpus; `codes` are those it stands under there, null if none.
# rank: 1 is the least frequent; resources: low, mid or high.
FREQUENCIES = read_schema(__file__, "schemas/frequencies.tsv")
# Words are given by their form and CoNLL-U id. `inflected_*` is the word whose form agrees,
# as annotated and completed from its subject; `verb` the head of the subject; `replaced_id`
# where the other form stands. label: + ~ ? for each value of `grammatical`. `values`: all that
# the pair allows ("3 -> 1|2"), whatever condition it is drawn in. `attractor_values`: the
# agreement feature's values on the words between. `weight`: relative weight in the draw of
# its condition; null before it.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)
# Where the release has the pair: file below the data set's root, line from 1.
RELEASED_SCHEMA = read_schema(__file__, "schemas/released_items.tsv", ITEM_SCHEMA)


def write_funnel(path: Path, lang: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Write a rule's ``funnel`` table from ``counts`` by stage and reason."""
    rows = [
        {"lang": lang, "stage": stage, "reason": reason, "n": n}
        for stage, reasons in counts.items()
        for reason, n in reasons.items()
    ]
    write_rows(rows, FUNNEL, path)
