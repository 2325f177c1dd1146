"""Attribute-varying grammars: what they generate, in which order and how much of it."""

import re
import time
import tracemalloc
from collections import Counter
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.papers.clams.items.grammar.generator import (
    count_template,
    generate,
    generate_sets,
    lines_of,
)
from blimpworks.papers.clams.items.grammar.parser import read_grammar
from support import grammar_kit as kit
from support.grammar_kit import flagged

PERSONS = """\
vary: {vary}
S[] they V[3,p] here
V[1,s] was
V[2,s] wast
V[2,p] were
V[3,p] are
"""


# --- what is generated


def test_every_other_attribute_set_of_a_varied_name_is_ungrammatical(write):
    lines = flagged(kit.lines(write(PERSONS.format(vary="V[]"))))
    assert lines == ["T they are here", "F they was here", "F they wast here", "F they were here"]


def test_a_vary_item_keeps_to_the_attribute_sets_that_share_its_attributes(write):
    path = write(PERSONS.format(vary="V[p]"))
    assert flagged(kit.lines(path, "corrected")) == ["T they are here", "F they were here"]


def test_the_published_program_repeats_the_grammatical_sentence_of_a_vary_item_with_attributes(
    write,
):
    lines = flagged(kit.lines(write(PERSONS.format(vary="V[p]"))))
    assert lines == ["T they are here", "F they were here", "F they are here"]


def test_vary_items_are_alternatives_to_each_other(write):
    path = write("vary: V[1]; V[s]\nS[] V[1,s]\nV[1,s] a\nV[2,s] b\nV[1,p] c\nV[2,p] d\n")
    assert flagged(kit.lines(path, "corrected")) == ["T a", "F b", "F c"]


def test_the_first_slot_varies_fastest_and_alternatives_stay_aligned(write):
    path = write(
        """\
        vary: V[]
        S[] N[s] V[s] Adv[]
        N[s] he | she
        Adv[] now | again and again
        V[s] is | sings
        V[p] are | sing
        """
    )
    assert flagged(kit.lines(path))[:8] == [
        "T he is now",
        "F he are now",
        "T he sings now",
        "F he sing now",
        "T she is now",
        "F she are now",
        "T she sings now",
        "F she sing now",
    ]
    assert len(kit.lines(path)) == 2 * 2 * 2 * 2


TWO_SLOTS = """\
vary: N[]; V[]
S[] N[s] V[s]
N[s] he
N[p] they
V[s] is
V[p] are
"""


def test_published_calls_a_sentence_grammatical_whose_last_varied_slot_is(write):
    assert flagged(kit.lines(write(TWO_SLOTS))) == [
        "T he is",
        "F he are",
        "T they is",
        "F they are",
    ]


def test_corrected_calls_a_sentence_grammatical_all_of_whose_varied_slots_are(write):
    lines = flagged(kit.lines(write(TWO_SLOTS), "corrected"))
    assert lines == ["T he is", "F he are", "F they is", "F they are"]


def test_common_rules_come_first_and_a_repeated_left_hand_side_adds_alternatives(write):
    common = write("N[] he\nV[s] is\nV[p] are\n", "common.avg")
    case = write("vary: V[]\nS[] N[] V[s]\nN[] she | it\n")
    lines = flagged(kit.lines(case, common=common))
    assert lines == ["T he is", "F he are", "T she is", "F she are", "T it is", "F it are"]


@pytest.mark.parametrize(
    "text",
    [
        "vary: V[]\r\nS[] he V[3,s]\r\nV[s,3] is \r\nV[3,p]  are\r\n",
        "# be\n\n  vary : V[ ]\n\tS[] he V[ s , 3 ]\nV[3,s]\tis\nV[3,p] are",
        "\ufeffvary: V[]\nS[] he V[third person,s]\nV[s,third person] is\nV[p] are\n",
        "S[] he V[]\nV[] is\nV[p] are\nvary: V[]\n",
    ],
)
def test_order_of_attributes_blanks_line_ends_and_comments_do_not_count(write, text):
    assert flagged(kit.lines(write(text))) == ["T he is", "F he are"]


def test_templates_may_be_alternatives_of_one_line(write):
    path = write("vary: V[]\nS[] he V[s] | they V[p]\nV[s] is\nV[p] are\n")
    assert flagged(kit.lines(path)) == ["T he is", "F he are", "T they are", "F they is"]


def huge(write):
    words = " | ".join(f"w{number}" for number in range(100))
    slots = "".join(f"N{number}[] {words}\n" for number in range(6))
    names = " ".join(f"N{number}[]" for number in range(6))
    return read_grammar(
        write(f"vary: V[]\nS[] {names} V[s]\n{slots}V[s] is\nV[p] are\n"), None, "published"
    )


@pytest.mark.slow
def test_a_trillion_sets_are_generated_one_by_one_in_little_memory(write):
    grammar = huge(write)
    assert count_template(grammar, grammar.templates[0], "published") == (10**12, 2 * 10**12)
    tracemalloc.start()
    try:
        assert sum(1 for _ in islice(generate(grammar, "published"), 30_000)) == 30_000
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("variant", ["published", "corrected"])
@pytest.mark.parametrize("slots", [12, 1000])
def test_a_grammar_that_makes_too_much_is_refused_before_it_makes_anything(write, slots, variant):
    rules = "".join(f"V[{form}] a{form} | b{form}\n" for form in ("s", "p", "d"))
    path = write(f"vary: V[]\nS[] V[s] he\nS[] {'V[s] ' * slots}\n{rules}")
    output, start = path.with_name("sets.txt"), time.process_time()
    with pytest.raises(UserError, match=r"avg:3:\d+: found templates whose slots together make"):
        generate_sets([path], None, [output], variant)
    assert time.process_time() - start < 3
    assert not output.exists()


# --- any grammar

NAMES = ("A", "B", "C")
SETS = (frozenset("s"), frozenset("p"), frozenset("sx"))


@st.composite
def grammars(draw):
    """Templates, rules and vary items as ``grammar_kit.expand`` has them."""
    counts = {name: draw(st.integers(1, 3)) for name in NAMES}
    rules = {
        (name, attributes): [f"{name}{''.join(sorted(attributes))}{k}" for k in range(counts[name])]
        for name in NAMES
        for attributes in SETS
    }
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    vary = [(name, draw(st.sampled_from([frozenset(), frozenset("s")]))) for name in names]
    varied = [key for key in rules if any(key[0] == n and a <= key[1] for n, a in vary)]
    part = st.one_of(st.sampled_from(["and", "the"]), st.sampled_from([*rules]))
    templates = []
    for _ in range(draw(st.integers(1, 2))):
        parts = draw(st.lists(part, max_size=3))
        parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from(varied)))
        templates.append(parts)
    return templates, rules, vary


def source(templates, rules, vary):
    """The same as the text of a grammar."""

    def name(key):
        return f"{key[0]}[{','.join(sorted(key[1]))}]"

    lines = [f"vary: {'; '.join(map(name, vary))}"]
    lines += [
        f"S[] {' '.join(p if isinstance(p, str) else name(p) for p in parts)}"
        for parts in templates
    ]
    lines += [f"{name(key)} {' | '.join(words)}" for key, words in rules.items()]
    return "\n".join(lines)


each_grammar = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
variants = st.sampled_from(["published", "corrected"])


@each_grammar
@given(grammars())
def test_streaming_gives_what_lists_give(write, given_grammar):
    lines = kit.lines(write(source(*given_grammar)))
    expected = kit.expand(*given_grammar, "published")
    assert lines == [f"{flag}\t{sentence}\n" for flag, sentence in expected]


@each_grammar
@given(grammars())
def test_corrected_gives_the_lines_of_lists_ordered_by_set(write, given_grammar):
    lines = kit.lines(write(source(*given_grammar)), "corrected")
    expected = kit.expand(*given_grammar, "corrected")
    assert Counter(lines) == Counter(f"{flag}\t{sentence}\n" for flag, sentence in expected)
    right = [sentence for flag, sentence in expected if flag]
    assert [line[5:-1] for line in lines if line.startswith("True")] == right


@each_grammar
@given(grammars(), variants)
def test_the_number_of_lines_is_the_product_of_the_slots(write, given_grammar, variant):
    grammar = read_grammar(write(source(*given_grammar)), None, variant)
    counts = [count_template(grammar, template, variant) for template in grammar.templates]
    sets = [*generate(grammar, variant)]
    lines = len([*lines_of(sets)])
    assert (len(sets), lines) == tuple(map(sum, zip(*counts, strict=True)))
    assert lines == len(kit.expand(*given_grammar, variant))


def lemmas(sentence):
    """The words without what their attributes add: name and position of the alternative."""
    return re.sub(r"\b([ABC])[spx]+(\d)", r"\1\2", sentence)


@each_grammar
@given(grammars(), variants)
def test_each_ungrammatical_sentence_is_of_the_words_of_the_grammatical_one_before_it(
    write, given_grammar, variant
):
    for good, *bad in generate(read_grammar(write(source(*given_grammar)), None, variant), variant):
        assert bad
        assert {lemmas(sentence) for sentence in bad} == {lemmas(good)}
        assert variant == "published" or good not in bad


# --- the release


@pytest.mark.mirror
@pytest.mark.parametrize("lang", kit.LANGUAGES)
def test_released_grammars_generate_the_released_sets_byte_for_byte(lang, mirror, tmp_path):
    common, cases = kit.released(mirror, tmp_path, lang)
    outputs = [path.with_suffix(".txt") for path in cases]
    assert len(cases) == 7
    generate_sets(cases, common, outputs, "published")
    for path in outputs:
        assert path.read_bytes() == kit.released_set(mirror, lang, path.stem), path.name


@pytest.mark.mirror
def test_released_grammars_have_nothing_to_correct(mirror, tmp_path):
    common, cases = kit.released(mirror, tmp_path, "he")
    for path in cases:
        assert kit.lines(path, "corrected", common) == kit.lines(path, "published", common)
