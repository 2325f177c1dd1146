"""Schemas of the tables that only UrBLiMP has; see ``blimpworks.tables``."""

from blimpworks.tables import ITEMS, read_schema

# change: deletion, replacement or move; constructed: whether the grammatical sentence differs from
# the treebank's; focus_good and focus_bad: the differing parts.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)
KEPT, DROPPED = "kept", "rejected"
"""Outcomes of matches: with a pair, and without one."""
# Numbers of each rule's matches by outcome and reason.
RULE_COUNTS = read_schema(__file__, "schemas/rule_counts.tsv")
# Matches without a pair, with the sentences that were made before the match was rejected.
REJECTED = read_schema(__file__, "schemas/rejected.tsv")
# Numbers of a model's scored pairs, by kind of change. unequal: with different numbers of tokens;
# by_token, by_sum: right by mean and by sum of log-probabilities, ties as the campaign counts them;
# differently: decided differently by the two.
LENGTHS = read_schema(__file__, "schemas/lengths.tsv")
# Words of the pair shown of each model and language. side: good or bad; position: from 1, in
# that sentence; word: null for the end of the text; bits: sum of its tokens' surprisal.
SURPRISALS = read_schema(__file__, "schemas/surprisals.tsv")
