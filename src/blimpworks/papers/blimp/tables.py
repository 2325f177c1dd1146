"""Tables of BLiMP: items, pairs in bins, and ratings; see ``blimpworks.tables``."""

from blimpworks.tables import ITEMS, read_schema

# prefix_methods: those that the pair can be judged by (see judging.judge); identical: twice the
# same sentence, so that no model can tell them apart.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)
# Pairs of a model in bins by one factor: `least` to `most` is what its values span there, `mean`
# their mean.
BINS = read_schema(__file__, "schemas/bins.tsv")
# A person's choice between the sentences of a pair, or an attention check. line counts from 1 in
# the released file; slot is the place in the assignment, pair a number within the paradigm,
# answer the side that was chosen. excluded: why it is left out, null if by no criterion;
# published, corrected: whether the variant counts it.
RATINGS = read_schema(__file__, "schemas/ratings.tsv")
