"""The columns that MultiBLiMP adds to the items of every benchmark."""

import pyarrow as pa

from blimpworks.tables import FLOAT, INT, ITEMS, LABEL, STRING

# Words are given by their form and CoNLL-U id. `inflected_*` is the word whose form agrees,
# as annotated and completed from its subject; `verb` the head of the subject; `replaced_id`
# where the other form stands. label: + ~ ? for each value of `grammatical`. `values`: all that
# the pair allows ("3 -> 1|2"), whatever condition it is drawn in. `attractor_values`: the
# agreement feature's values on the words between. `weight`: relative weight in the draw of
# its condition; null before it.
ITEM_SCHEMA = pa.schema(
    [
        *ITEMS.arrow(),
        ("grammatical", LABEL),
        ("ungrammatical", LABEL),
        ("order", LABEL),
        ("inflected", LABEL),
        ("label", LABEL),
        ("values", LABEL),
        ("subject", STRING),
        ("subject_id", INT),
        ("subject_lemma", STRING),
        ("subject_upos", LABEL),
        ("subject_feats", STRING),
        ("verb", STRING),
        ("verb_id", INT),
        ("inflected_form", STRING),
        ("inflected_id", INT),
        ("inflected_lemma", STRING),
        ("inflected_upos", LABEL),
        ("inflected_feats", STRING),
        ("replaced_id", INT),
        ("good_form", STRING),
        ("bad_form", STRING),
        ("distance", INT),
        ("attractors", INT),
        ("congruent_attractors", INT),
        ("attractor_values", pa.list_(STRING)),
        ("weight", FLOAT),
    ]
)
