"""Tables of BLiMP's analyses: pairs in bins, and people's ratings; see ``tables``."""

from blimpworks.tables import read_schema

# Pairs of a model in bins by one factor: `least` to `most` is what its values span there, `mean`
# their mean.
BINS = read_schema(__file__, "schemas/bins.tsv")
# A person's choice between the sentences of a pair, or an attention check. line counts from 1 in
# the released file; slot is the place in the assignment, pair a number within the paradigm,
# answer the side that was chosen. excluded: why it is left out, null if by no criterion;
# published, corrected: whether the variant counts it.
RATINGS = read_schema(__file__, "schemas/ratings.tsv")
