"""Tables of Multi-LMentry: prompts and answers; see ``blimpworks.tables``."""

from blimpworks.tables import BOOL, FLOAT, INT, LABEL, STRING, declare

# phenomenon: a task or one of its subsets; paradigm: `template=1`, and where one of two
# arguments is right, which: `template=1/answer=2`. number counts the prompts of a template from
# 1, nominal is how many the release's settings say it has. arguments: JSON object of what the
# templates and the judge want to know: word, sentence, letter, query, words, category, answer,
# distractor …; answer is the gold answer, null where many are right.
PROMPTS = declare(
    "prompts",
    item_id=STRING,
    lang=LABEL,
    phenomenon=LABEL,
    paradigm=LABEL,
    template=INT,
    number=INT,
    nominal=INT,
    prompt=STRING,
    answer=STRING,
    arguments=STRING,
)
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
# text is the whole of what the model wrote, reasoning included; status: `ok`, or why there is
# no text. finish: `stop`, or `length` where it ran into the limit. tokens: that it wrote.
# opened: whether the chat template had begun reasoning (`<think>`), so that text begins inside it.
ANSWERS = declare(
    "answers",
    item_id=STRING,
    status=LABEL,
    text=STRING,
    finish=LABEL,
    tokens=INT,
    opened=BOOL,
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
