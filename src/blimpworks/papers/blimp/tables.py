"""Tables of BLiMP's analyses: pairs in bins, and people's ratings; see ``tables``."""

from blimpworks.tables import BOOL, FLOAT, INT, LABEL, STRING, declare

# Pairs of a model in bins by one factor: `least` to `most` is what its values span there, `mean`
# their mean.
BINS = declare(
    "bins",
    model=LABEL,
    lang=LABEL,
    method=LABEL,
    factor=LABEL,
    bin=INT,
    least=FLOAT,
    most=FLOAT,
    mean=FLOAT,
    correct=FLOAT,
    n=INT,
    accuracy=FLOAT,
    low=FLOAT,
    high=FLOAT,
)
# A person's choice between the sentences of a pair, or an attention check. line counts from 1 in
# the released file; slot is the place in the assignment, pair a number within the paradigm,
# answer the side that was chosen. excluded: why it is left out, null if by no criterion;
# published, corrected: whether the variant counts it.
RATINGS = declare(
    "ratings",
    line=INT,
    assignment=STRING,
    worker=STRING,
    slot=INT,
    phenomenon=LABEL,
    paradigm=LABEL,
    pair=INT,
    good=STRING,
    bad=STRING,
    answer=INT,
    correct=FLOAT,
    excluded=LABEL,
    published=BOOL,
    corrected=BOOL,
)
