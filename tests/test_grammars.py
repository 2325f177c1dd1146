"""Attribute-varying grammars: what they generate, and how a mistake in one is told."""

import json
import re
import tracemalloc
from collections import Counter
from itertools import islice
from textwrap import dedent

import grammar_kit as kit
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from blimpworks.clams.grammar.generator import count_template, generate, generate_sets, lines_of
from blimpworks.clams.grammar.parser import read_grammar
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.provenance.record import sidecar_path


@pytest.fixture
def write(tmp_path):
    def make(text, name="case.avg"):
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8", newline="")
        return path

    return make


def told(lines):
    """Lines as ``T sentence`` and ``F sentence``."""
    return [f"{line[0]} {line.rstrip().partition('	')[2]}" for line in lines]


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
    found = told(kit.lines(write(PERSONS.format(vary="V[]"))))
    assert found == ["T they are here", "F they was here", "F they wast here", "F they were here"]


def test_a_vary_item_keeps_to_the_attribute_sets_that_share_its_attributes(write):
    path = write(PERSONS.format(vary="V[p]"))
    assert told(kit.lines(path, "corrected")) == ["T they are here", "F they were here"]


def test_the_published_program_repeats_the_grammatical_sentence_of_a_vary_item_with_attributes(
    write,
):
    found = told(kit.lines(write(PERSONS.format(vary="V[p]"))))
    assert found == ["T they are here", "F they were here", "F they are here"]


def test_vary_items_are_alternatives_to_each_other(write):
    path = write("vary: V[1]; V[s]\nS[] V[1,s]\nV[1,s] a\nV[2,s] b\nV[1,p] c\nV[2,p] d\n")
    assert told(kit.lines(path, "corrected")) == ["T a", "F b", "F c"]


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
    assert told(kit.lines(path))[:8] == [
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
    assert told(kit.lines(write(TWO_SLOTS))) == ["T he is", "F he are", "T they is", "F they are"]


def test_corrected_calls_a_sentence_grammatical_all_of_whose_varied_slots_are(write):
    found = told(kit.lines(write(TWO_SLOTS), "corrected"))
    assert found == ["T he is", "F he are", "F they is", "F they are"]


def test_common_rules_come_first_and_a_repeated_left_hand_side_adds_alternatives(write):
    common = write("N[] he\nV[s] is\nV[p] are\n", "common.avg")
    case = write("vary: V[]\nS[] N[] V[s]\nN[] she | it\n")
    found = told(kit.lines(case, common=common))
    assert found == ["T he is", "F he are", "T she is", "F she are", "T it is", "F it are"]


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
    assert told(kit.lines(write(text))) == ["T he is", "F he are"]


def test_templates_may_be_alternatives_of_one_line(write):
    path = write("vary: V[]\nS[] he V[s] | they V[p]\nV[s] is\nV[p] are\n")
    assert told(kit.lines(path)) == ["T he is", "F he are", "T they are", "F they is"]


def huge(write):
    words = " | ".join(f"w{number}" for number in range(100))
    slots = "".join(f"N{number}[] {words}\n" for number in range(6))
    names = " ".join(f"N{number}[]" for number in range(6))
    return read_grammar(
        write(f"vary: V[]\nS[] {names} V[s]\n{slots}V[s] is\nV[p] are\n"), None, "published"
    )


def test_a_trillion_sets_are_generated_one_by_one_in_little_memory(write):
    grammar = huge(write)
    assert count_template(grammar, grammar.templates[0], "published") == (10**12, 2 * 10**12)
    tracemalloc.start()
    try:
        assert sum(1 for _ in islice(generate(grammar, "published"), 30_000)) == 30_000
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


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
    found = kit.lines(write(source(*given_grammar)))
    wanted = kit.expand(*given_grammar, "published")
    assert found == [f"{flag}\t{sentence}\n" for flag, sentence in wanted]


@each_grammar
@given(grammars())
def test_corrected_gives_the_lines_of_lists_ordered_by_set(write, given_grammar):
    found = kit.lines(write(source(*given_grammar)), "corrected")
    wanted = kit.expand(*given_grammar, "corrected")
    assert Counter(found) == Counter(f"{flag}\t{sentence}\n" for flag, sentence in wanted)
    right = [sentence for flag, sentence in wanted if flag]
    assert [line[5:-1] for line in found if line.startswith("True")] == right


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


# --- mistakes

GOOD = "vary: V[]\nS[] the N[s] V[3,s]\nN[s] man\nV[3,s] sings\nV[3,p] sing\n"


def mistake(read):
    with pytest.raises(UserError) as caught:
        read()
    return str(caught.value)


MISTAKES = [
    ("Verbs\n" + GOOD, "1:1", "'Verbs' at the start of a line, which is no rule"),
    (GOOD + "  N man | men\n", "6:3", "'N' at the start of a line, which is no rule"),
    (GOOD + "N[p man\n", "6:2", "a bracket that is not closed"),
    (GOOD.replace("V[3,s]\n", "V[3,s\n"), "2:15", "a bracket that is not closed"),
    (GOOD + "N[p] men] \n", "6:9", "a closing bracket that nothing opens"),
    (GOOD + "N[p]men\n", "6:1", "'N[p]men', where something follows the closing bracket"),
    (GOOD + "[p] men\n", "6:1", "[p] without a name"),
    (GOOD + "N[p,] men\n", "6:1", "N[p,], where an attribute is empty"),
    (GOOD + "N[p]\n", "6:5", "nothing after N[p]"),
    (GOOD + "N[p] men | | women\n", "6:12", "an empty alternative of N[p]"),
    (GOOD + "N[p] men |  \n", "6:11", "an empty alternative of N[p]"),
    (GOOD + "N[p] | men\n", "6:6", "an empty alternative of N[p]"),
    (GOOD + "N[p] → men\n", "6:6", "'→' after N[p]; expected the first word"),
    (GOOD.replace("vary:", "vary"), "1:5", "no colon after vary; expected vary: and a name"),
    (GOOD.replace("V[]\n", "\n"), "1:6", "nothing to vary"),
    (GOOD.replace("V[]\n", "V\n"), "1:7", "'V' in the vary statement"),
    (GOOD.replace("V[]\n", "V[] N[]\n"), "1:6", "'V[] N[]' in the vary statement"),
    (GOOD + "vary: N[]\n", "6:1", "a second vary statement; expected a single one, which is at"),
    (GOOD.replace("vary: V[]", ""), "1:1", "no vary statement"),
    (GOOD.replace("S[]", "X[]"), "2:9", "a reference to N[s] in an alternative of X[]"),
    ("vary: V[]\nV[s] is\nV[p] are\n", "1:1", "no template"),
    (GOOD.replace("S[]", "S[3]"), "2:1", "a template with attributes, S[3]"),
    (GOOD + "S[] and S[]\n", "6:9", "S[] in a template, which would be recursion"),
    (
        GOOD.replace("V[3,s]\n", "V[1,s]\n"),
        "2:14",
        "V[1,s] in a template, which no rule defines; expected one of the attribute sets that V is "
        "defined with: V[3,s] and V[3,p]; correct it, or define it by a line",
    ),
    (
        GOOD.replace("the N[s]", "the NN[s]"),
        "2:9",
        "NN[s] in a template, which no rule defines; expected a name that a rule defines, such as "
        "N; correct it",
    ),
    (
        GOOD.replace("vary: V", "vary: Verb"),
        "1:7",
        "Verb[] in the vary statement, which no rule defines; expected a name that a rule defines",
    ),
    (
        GOOD.replace("V[]", "V[1]"),
        "1:7",
        "V[1] in the vary statement, whose attributes no V has; expected attributes of V[3,s] and",
    ),
    (GOOD + "S[] the N[s]\n", "6:5", "a template in which nothing varies"),
    (GOOD.replace("V[]", "N[]"), "2:9", "N[s], which is varied but has nothing to vary with"),
    (GOOD.replace("V[3,p] sing", ""), "2:14", "V[3,s], which is varied but has nothing to vary"),
    (
        GOOD + "V[3,p] are\n",
        "5:1",
        "2 alternatives of V[3,p]; expected 1, as many as V[3,s] has at ",
    ),
]


@pytest.mark.parametrize(("text", "place", "found"), MISTAKES)
def test_a_mistake_is_told_with_its_place_what_was_expected_and_what_to_do(
    write, text, place, found
):
    path = write(text)
    sentence = mistake(lambda: kit.lines(path))
    assert sentence.startswith(f"{path}:{place}: found {found}")
    assert re.fullmatch(r"[^\n]+; expected [^\n]+; [^\n]+\.", sentence)


def test_the_grammar_of_which_the_mistakes_are_made_has_none(write):
    assert told(kit.lines(write(GOOD))) == ["T the man sings", "F the man sing"]


def test_a_mistake_in_common_rules_is_told_with_their_file(write):
    common = write("N[s] man\nN[p\n", "common.avg")
    sentence = mistake(lambda: kit.lines(write(GOOD), common=common))
    assert sentence.startswith(f"{common}:2:2: found a bracket that is not closed")


def test_only_corrected_refuses_a_vary_item_of_a_single_attribute_set(write):
    path = write(GOOD.replace("V[]", "V[3,s]"))
    assert told(kit.lines(path)) == ["T the man sings", "F the man sings"]
    sentence = mistake(lambda: kit.lines(path, "corrected"))
    assert "V[3,s], which is varied but has nothing to vary with" in sentence


def test_a_file_that_is_not_utf_8_is_told_by_line_and_column(tmp_path):
    path = tmp_path / "case.avg"
    path.write_bytes("N[s] père\nN[p] p".encode() + "è".encode("latin-1"))
    sentence = mistake(lambda: kit.lines(path))
    assert sentence.startswith(f"{path}:2:7: found the byte 0xe8, which is not UTF-8")


def test_a_grammar_that_does_not_exist_is_told(tmp_path):
    assert "is not a file" in mistake(lambda: kit.lines(tmp_path / "case.avg"))


# --- commands


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_sets_are_written_as_released_with_a_record(write, tmp_path):
    common, one = write("V[s] is\nV[p] are\n", "common.avg"), write("vary: V[]\nS[] he V[s]\n")
    two = write("vary: V[]\nS[] they V[p]\n", "two.avg")
    outputs = tmp_path / "sets" / "one.txt", tmp_path / "sets" / "two.txt"
    written = [f"--output={path}" for path in outputs]
    done = run("generate-sets", one, two, "--common", common, *written, "--variant=published")
    assert done.exit_code == 0, done.output
    assert outputs[0].read_bytes() == b"True\the is\nFalse\the are\n"
    assert outputs[1].read_bytes() == b"True\tthey are\nFalse\tthey is\n"
    record = json.loads(sidecar_path(outputs[0]).read_text(encoding="utf-8"))
    assert [each["path"] for each in record["inputs"]] == [*map(str, (common, one, two))]
    assert record["params"] == {"variant": "published", "common": True}
    assert record["notes"] == {"lines": {str(path): 2 for path in outputs}}


def test_nothing_is_written_if_one_of_the_grammars_has_a_mistake(write, tmp_path):
    paths = write(GOOD), write(GOOD + "N[p\n", "bad.avg")
    outputs = tmp_path / "good.txt", tmp_path / "bad.txt"
    sentence = mistake(lambda: generate_sets(paths, None, outputs, "published"))
    assert "bad.avg:6:2" in sentence
    assert not any(path.exists() for path in outputs)


def test_outputs_must_be_as_many_as_grammars(write, tmp_path):
    sentence = mistake(lambda: generate_sets([write(GOOD)], None, [], "published"))
    assert sentence.startswith("0 outputs for 1 grammars; expected as many")


def test_no_output_overwrites_a_grammar_or_another_output(write, tmp_path):
    one, two, output = write(GOOD), write(GOOD, "two.avg"), tmp_path / "a.txt"
    for outputs in ([output, output], [output, one]):
        sentence = mistake(lambda o=outputs: generate_sets([one, two], None, o, "published"))
        assert sentence.startswith(f"{outputs[1]} is an output and also another file")
    assert one.read_text(encoding="utf-8") == GOOD
    assert not output.exists()


def test_authors_see_sizes_first_sets_and_missing_words(write):
    write("N[s] man | woman\n", "common.avg")
    case = write("vary: V[]\nS[] the N[s] V[s]\nV[s] sings\nV[p] sing\n")
    words = write("the\nman\nsings\n", "words.txt")
    done = run("try-grammar", case, "--show=1", "--vocabulary", words)
    assert done.exit_code == 0, done.output
    head, *body = done.output.splitlines()
    assert head == f"{case}, after {case.with_name('common.avg')}"
    assert body == [
        "1 template, 2 minimal sets, 4 lines; varied: V[]",
        "",
        "line 2: S[] the N[s] V[s]",
        "  2 sets, 4 lines",
        "    the man sings",
        "  * the man sing",
        "    …",
        "",
        "2 of 5 words are not in the vocabulary: woman sing",
    ]


def test_authors_are_told_of_forms_that_do_not_differ_and_of_alternatives_that_come_twice(write):
    case = write("vary: V[]\nS[] N[] V[s]\nN[] he | it | he\nV[s] put | is\nV[p] put | are\n")
    output = run("try-grammar", case).output
    assert f"{case}:3:15: 'he' comes twice in N[]: so do all sentences with it" in output
    assert f"{case}:5:6: 'put' is the same for V[s] and V[p]" in output


def test_a_vocabulary_of_several_words_a_line_is_refused(write):
    case, words = write(GOOD), write("the\ntwo words\n", "words.txt")
    error = run("try-grammar", case, "--vocabulary", words).exception
    assert isinstance(error, UserError)
    assert str(error).startswith(f"{words}:2:1: found 'two words'; expected one word")


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
