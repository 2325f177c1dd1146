"""Tables of UrBLiMP alone."""

import pyarrow as pa

from blimpworks.tables import BOOL, INT, ITEMS, LABEL, STRING, declare

# rule: of the paradigm's; change: deletion, replacement or move; constructed: whether the
# grammatical sentence is not the treebank's own; focus_good and focus_bad: what differs.
ITEM_SCHEMA = pa.schema(
    [
        *ITEMS.arrow(),
        ("rule", LABEL),
        ("change", LABEL),
        ("constructed", BOOL),
        ("focus_good", STRING),
        ("focus_bad", STRING),
        ("line", INT),
    ]
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
