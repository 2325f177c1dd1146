"""Tables of Multi-LMentry: counts, verdicts and annotations; see ``blimpworks.tables``."""

from blimpworks.tables import FLOAT, INT, LABEL, STRING, declare

# How many prompts the release's settings give a task or subset: nominal of each of its templates,
# prompts of all. basis: `settings` (declarations and language pack), or `resources` where these
# decide.
PROMPT_COUNTS = declare(
    "prompt_counts",
    lang=LABEL,
    phenomenon=LABEL,
    templates=INT,
    nominal=INT,
    prompts=INT,
    basis=LABEL,
)
# The verdicts of both methods on the same answers. reason is `all`: n answers were judged, nominal
# prompts there are by the settings, published and corrected are the right ones by each method; or
# why a verdict changes (`verdicts.REASONS`): published are then the answers that are right by the
# published rules alone, corrected those that are so by the corrected ones alone. n and nominal are
# repeated in each row, and each reason has one, so that means over rows are means over tasks.
VERDICTS = declare(
    "verdicts",
    lang=LABEL,
    model=LABEL,
    phenomenon=LABEL,
    reason=LABEL,
    n=INT,
    nominal=INT,
    published=INT,
    corrected=INT,
)
# What an annotation sheet keeps from its annotators. row: of the sheet; answer: as the sheet shows
# it.
SHEET_KEY = declare(
    "sheet_key",
    row=STRING,
    lang=LABEL,
    model=LABEL,
    item_id=STRING,
    phenomenon=LABEL,
    prompt=STRING,
    answer=STRING,
)
# Two judges of the same answers: method is `published` or `corrected`, or another annotator.
# phenomenon is a task, a subset, or `all`. n: answers that both have judged; accuracy: equal ÷ n,
# with Wilson's 95 % interval; kappa: Cohen's, null where it is not defined (one of the judges says
# the same of every answer). right: answers that each of the two calls right.
ANNOTATION_AGREEMENT = declare(
    "annotation_agreement",
    lang=LABEL,
    phenomenon=LABEL,
    method=LABEL,
    annotator=LABEL,
    n=INT,
    equal=INT,
    accuracy=FLOAT,
    low=FLOAT,
    high=FLOAT,
    kappa=FLOAT,
    kappa_low=FLOAT,
    kappa_high=FLOAT,
    right_method=INT,
    right_annotator=INT,
)
