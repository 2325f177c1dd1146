"""Schemas of BLiMP's tables of items, bins and ratings; see ``blimpworks.tables``."""

from blimpworks.tables import ITEMS, read_schema

# prefix_methods: methods that can judge the pair (see judging.judge); identical: whether the pair
# is twice the same sentence, so that no model can be right.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)
# Pairs of a model in bins of a factor: least, most and mean are those of its values in the bin.
BINS = read_schema(__file__, "schemas/bins.tsv")
# A person's choice between the sentences of a pair, or an attention check. line: line of the
# released file, from 1; slot: position in the assignment; pair: number within the paradigm; answer:
# number of the chosen sentence; excluded: why the rating is left out, null if it is not; published,
# corrected: whether the variant counts the rating.
RATINGS = read_schema(__file__, "schemas/ratings.tsv")
