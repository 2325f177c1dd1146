"""Define the tables of Multi-LMentry; the columns and their types are in ``schemas/``."""

from blimpworks.tables import read_schema

# Number of prompts of each task and subset by the release's settings. nominal: prompts of each
# template; prompts: of all templates. basis: what the number follows from, `settings` (declarations
# and language pack) or also the annotated `resources`.
PROMPT_COUNTS = read_schema(__file__, "schemas/prompt_counts.tsv")
# The verdicts of two methods on the same answers: for each model, language and task a row for each
# reason in `verdicts.CAUSES`, and one for `all`. published, corrected: number of answers that are
# right by that method; in the row of a reason those that are right by that method only, for that
# reason. The other counts are the same in all rows of a task, so that means over rows are means
# over tasks. n: judged answers; nominal: prompts by the settings; cut: answers that the limit of
# tokens ended; echoes: answers that only repeat their prompt; both null if judgements lack them.
VERDICTS = read_schema(__file__, "schemas/verdicts.tsv")
# What an annotation sheet hides from its annotators. row: id in the sheet; answer: as in the sheet.
SHEET_KEY = read_schema(__file__, "schemas/sheet_key.tsv")
# Agreement of two judges of the same answers: an annotator with a method or with another annotator
# (column method). phenomenon: task, subset, or `all`. n: answers that both have judged; accuracy:
# equal ÷ n, with Wilson's 95 % interval; kappa: Cohen's, null if one judge gives all answers the
# same label; right_method, right_annotator: answers that either judge calls right.
ANNOTATION_AGREEMENT = read_schema(__file__, "schemas/annotation_agreement.tsv")
