"""Define the tables of people's judgements; their columns are in ``schemas``."""

from blimpworks.tables import read_schema

# What a validation sheet keeps from who fills it in. row: of the sheet; list: its name; place
# counts from 1 down the list; part: practice, pair or check (attention). Of a check, item_id is
# the pair whose grammatical sentence it has.
VALIDATION_KEY = read_schema(__file__, "schemas/validation_key.tsv")
# A participant's choice between the sentences of a pair: of those who are counted, without practice
# and checks. place is that in the list.
VALIDATION_RATINGS = read_schema(__file__, "schemas/validation_ratings.tsv")
# n: pairs that the participant has judged; checks: attention checks on the list, whether they are
# answered or not; left_out: too few of these were passed, so that none of the pairs counts.
VALIDATION_PARTICIPANTS = read_schema(__file__, "schemas/validation_participants.tsv")
