"""Tables of UrBLiMP alone: its items, what lengths do to decisions, and human validation."""

from blimpworks.tables import BOOL, FLOAT, INT, ITEMS, LABEL, STRING, declare, extend

# rule: of the paradigm's; change: deletion, replacement or move; constructed: whether the
# grammatical sentence is not the treebank's own; focus_good and focus_bad: what differs.
ITEM_SCHEMA = extend(
    ITEMS,
    rule=LABEL,
    change=LABEL,
    constructed=BOOL,
    focus_good=STRING,
    focus_bad=STRING,
    line=INT,
)
# What became of the matches of each rule: outcome is kept or rejected, with the reason.
RULE_COUNTS = declare(
    "rule_counts",
    lang=LABEL,
    phenomenon=LABEL,
    paradigm=LABEL,
    rule=LABEL,
    outcome=LABEL,
    reason=STRING,
    n=INT,
)
# The matches that gave no pair, with the sentences as far as they were made.
REJECTED = declare(
    "rejected",
    lang=LABEL,
    paradigm=LABEL,
    rule=LABEL,
    reason=STRING,
    good=STRING,
    bad=STRING,
    treebank=LABEL,
    file=LABEL,
    sent_id=STRING,
    line=INT,
)
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
# What a validation sheet keeps from who fills it in. row: of the sheet; list: its name; place
# counts from 1 down the list; part: practice, pair or check (attention). Of a check, item_id is
# the pair whose grammatical sentence it has.
VALIDATION_KEY = declare(
    "validation_key",
    row=STRING,
    lang=LABEL,
    list=LABEL,
    place=INT,
    part=LABEL,
    item_id=STRING,
    phenomenon=LABEL,
    paradigm=LABEL,
    first=STRING,
    second=STRING,
    first_is_good=BOOL,
)
# A participant's choice between the sentences of a pair: of those who are counted, without practice
# and checks. place is that in the list.
VALIDATION_RATINGS = declare(
    "validation_ratings",
    participant=STRING,
    item_id=STRING,
    paradigm=LABEL,
    phenomenon=LABEL,
    first_is_good=BOOL,
    chose_good=BOOL,
    place=INT,
)
# n: pairs that the participant has judged; checks: attention checks on the list, whether they are
# answered or not; left_out: too few of these were passed, so that none of the pairs counts.
VALIDATION_PARTICIPANTS = declare(
    "validation_participants",
    participant=STRING,
    n=INT,
    correct=INT,
    accuracy=FLOAT,
    low=FLOAT,
    high=FLOAT,
    checks=INT,
    passed=INT,
    left_out=BOOL,
)
