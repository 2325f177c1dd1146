"""Define the tables of Multi-LMentry: counts, verdicts and annotations."""

from blimpworks.tables import read_schema

# How many prompts the release's settings give a task or subset: nominal of each of its templates,
# prompts of all. basis: `settings` (declarations and language pack), or `resources` where these
# decide.
PROMPT_COUNTS = read_schema(__file__, "schemas/prompt_counts.tsv")
# The verdicts of both methods on the same answers. reason is `all`: n answers were judged, nominal
# prompts there are by the settings, published and corrected are the right ones by each method; or
# why a verdict changes (`verdicts.REASONS`): published are then the answers that are right by the
# published rules alone, corrected those that are so by the corrected ones alone. n and nominal are
# repeated in each row, and each reason has one, so that means over rows are means over tasks; so
# are cut (answers that the limit of tokens ended) and echoes (those that repeat their prompt and
# say nothing else), null where judgements do not say it.
VERDICTS = read_schema(__file__, "schemas/verdicts.tsv")
# What an annotation sheet keeps from its annotators. row: of the sheet; answer: as the sheet shows
# it.
SHEET_KEY = read_schema(__file__, "schemas/sheet_key.tsv")
# Two judges of the same answers: method is `published` or `corrected`, or another annotator.
# phenomenon is a task, a subset, or `all`. n: answers that both have judged; accuracy: equal ÷ n,
# with Wilson's 95 % interval; kappa: Cohen's, null where it is not defined (one of the judges says
# the same of every answer). right: answers that each of the two calls right.
ANNOTATION_AGREEMENT = read_schema(__file__, "schemas/annotation_agreement.tsv")
