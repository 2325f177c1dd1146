"""The readers of CoNLL-U by their names, and sentences in CoNLL-U for hypothesis."""

import io

from hypothesis import strategies as st

from blimpworks.linguistics.treebanks.conllu import parse_conllu
from blimpworks.linguistics.treebanks.reference import parse_with_conllu


def by_sentence(data, *options):
    return parse_with_conllu(io.BytesIO(data), *options)


READERS = {"columnar": parse_conllu, "conllu": by_sentence}

# By itself conllu strips lines and splits at double spaces, so neither occurs in these fields.
character = st.characters(exclude_categories=["C", "Z"])
value = st.text(character, min_size=1, max_size=6)
spaced = st.lists(value, min_size=1, max_size=2).map(" ".join)
name = st.from_regex(r"[A-Z][A-Za-z0-9]{0,4}", fullmatch=True)
plain = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="=|_"), min_size=1)
pairs = st.dictionaries(name, plain, max_size=3).map(
    lambda values: "|".join(f"{k}={v}" for k, v in values.items()) or "_"
)
misc = st.one_of(pairs, st.sampled_from(["SpaceAfter=No", "A=b|SpaceAfter=No", "SpaceAfter=Nope"]))
comment = st.one_of(
    st.builds("# {} = {}".format, st.sampled_from(["sent_id", "text", "text_en"]), spaced),
    st.builds("#{}".format, st.sampled_from(["", " newpar", "text=a", " sent_id =", " text =  "])),
)


@st.composite
def generated_sentence(draw, spaced=spaced, misc=misc, comment=comment, pairs=pairs):
    words = draw(st.integers(1, 5))
    order = draw(st.permutations(range(1, words + 1)))
    # Each word hangs from one before it in some order, so that heads are a tree.
    heads = {word: draw(st.sampled_from(order[:at])) if at else 0 for at, word in enumerate(order)}
    lines = draw(st.lists(comment, max_size=4))

    def row(number, head):
        upos, xpos = draw(st.sampled_from(["NOUN", "_"])), draw(st.one_of(value, st.just("_")))
        fields = [number, draw(spaced), draw(spaced), upos, xpos, draw(pairs), head]
        deps = "_" if head == "_" else f"{head}:dep"
        lines.append("\t".join([*fields, draw(st.sampled_from(["dep", "_"])), deps, draw(misc)]))

    for position in range(words + 1):
        if position:
            row(str(position), str(heads[position]))
        if draw(st.booleans()):
            row(f"{position}.1", "_")
        if position < words and draw(st.booleans()):
            row(f"{position + 1}-{draw(st.integers(position + 1, words))}", "_")
    return "\n".join(lines) + "\n"
