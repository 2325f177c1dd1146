"""Tables of prompts and of what models write; see ``tables``."""

from blimpworks.tables import BOOL, INT, LABEL, STRING, declare

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
