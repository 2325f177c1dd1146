"""Tables of UrBLiMP's human validation; see ``blimpworks.tables``."""

from blimpworks.tables import BOOL, FLOAT, INT, LABEL, STRING, declare

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
