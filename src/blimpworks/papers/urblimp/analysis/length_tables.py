"""Tables of what sentences of unequal length do to decisions; see ``urblimp.lengths``."""

from blimpworks.tables import FLOAT, INT, LABEL, STRING, declare

# Pairs of one kind of change that a model has scored. unequal: their two sentences have different
# numbers of tokens; by_token, by_sum: right by the mean and by the sum of the log-probabilities,
# ties counted as the campaign counts them; differently: decided differently by the two.
LENGTHS = declare(
    "lengths",
    model=LABEL,
    lang=LABEL,
    phenomenon=LABEL,
    paradigm=LABEL,
    change=LABEL,
    n=INT,
    unequal=INT,
    by_token=FLOAT,
    by_sum=FLOAT,
    differently=INT,
)
# Words of the pair of each model and language that is shown: side is good or bad, position counts
# the words of that sentence from 1, word is null for the end of the text; bits: surprisal of its
# tokens in sum.
SURPRISALS = declare(
    "surprisals",
    model=LABEL,
    lang=LABEL,
    paradigm=LABEL,
    item_id=STRING,
    side=LABEL,
    position=INT,
    word=STRING,
    tokens=INT,
    bits=FLOAT,
)
