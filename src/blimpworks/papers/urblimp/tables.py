"""Tables of UrBLiMP alone."""

from blimpworks.tables import ITEMS, read_schema

# rule: of the paradigm's; change: deletion, replacement or move; constructed: whether the
# grammatical sentence is not the treebank's own; focus_good and focus_bad: what differs.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)
# What became of the matches of each rule: outcome is kept or rejected, with the reason.
RULE_COUNTS = read_schema(__file__, "schemas/rule_counts.tsv")
# The matches that gave no pair, with the sentences as far as they were made.
REJECTED = read_schema(__file__, "schemas/rejected.tsv")
# Pairs of one kind of change that a model has scored. unequal: their two sentences have different
# numbers of tokens; by_token, by_sum: right by the mean and by the sum of the log-probabilities,
# ties counted as the campaign counts them; differently: decided differently by the two.
LENGTHS = read_schema(__file__, "schemas/lengths.tsv")
# Words of the pair of each model and language that is shown: side is good or bad, position counts
# the words of that sentence from 1, word is null for the end of the text; bits: surprisal of its
# tokens in sum.
SURPRISALS = read_schema(__file__, "schemas/surprisals.tsv")
