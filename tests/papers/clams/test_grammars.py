"""Test attribute-varying grammars: their sentences, messages, commands, and ours."""

import json
import lzma
import re
import time
from functools import partial
from pathlib import Path

import pytest

from blimpworks.errors import UserError
from blimpworks.files import sidecar_path
from blimpworks.papers.clams.items.build import focus_of
from blimpworks.papers.clams.items.grammar import generator
from blimpworks.papers.clams.items.grammar.generator import generate, generate_sets, remarks
from blimpworks.papers.clams.items.grammar.model import common_beside, read_grammar
from support import grammar_kit as kit
from support.commands import run
from support.grammar_kit import GOOD, flagged, mistake
from support.paths import REPOSITORY


@pytest.fixture
def write(tmp_path):
    return partial(kit.write, tmp_path)


BE = "V[1,s] am\nV[3,s] is\nV[1,p] are\nV[3,p] be\n"
"""Forms of four attribute sets, as the lines of sentences show."""
V = "V[s] is\nV[p] are\n"

CASES = [
    # grammar, lines of published (equal to those of the authors' program), of corrected
    (f"vary: V[]\nS[] I V[1,s]\n{BE}", "T I am; F I is; F I are; F I be", "="),
    (f"vary: V[1]\nS[] I V[1,s]\n{BE}", "T I am; F I am; F I are", "T I am; F I are"),
    (f"vary: V[1]; V[1]\nS[] V[1,s]\n{BE}", "T am; F am; F are", "T am; F are"),
    (f"vary: V[3,p]\nS[] V[3,p]\n{BE}", "T be; F be", "nothing to vary with"),
    # several items of a name: all of each, or those that match one or the other
    (
        f"vary: V[1]; V[s]\nS[] V[1,s]\n{BE}",
        "T am; F am; F are; T am; F am; F is",
        "T am; F is; F are",
    ),
    (f"vary: V[1]; V[s]\nS[] V[1,p]\n{BE}", "T are; F am; F are", "T are; F am"),
    (f"vary: V[]; V[1]\nS[] V[1,s]\n{BE}", "T am; F is; F are; F be", "="),
    (f"vary: V[1]; V[1,s]\nS[] V[1,s]\n{BE}", "labels its sentences by chance", "T am; F are"),
    # slots of a varied name that match no item
    (f"vary: V[1]\nS[] V[3,s] x V[1,s]\n{BE}", "T x am; F x am; F x are", "T is x am; F is x are"),
    (f"vary: V[1]\nS[] I V[1,s] he V[3,s]\n{BE}", "", "T I am he is; F I are he is"),
    (
        f"vary: V[1]\nS[] V[1,s] | V[1,s] V[3,p]\n{BE}",
        *("T am; F am; F are", "T am; F are; T am be; F are be"),
    ),
    (f"vary: V[1]\nS[] V[3,s] he\n{BE}", "in which nothing varies", "in which nothing varies"),
    # several varied slots, by two vary statements
    (
        f"vary: N[]\nvary: V[]\nS[] N[s] V[s]\nN[s] he\nN[p] they\n{V}",
        "T he is; F he are; T they is; F they are",
        "T he is; F he are; F they is; F they are",
    ),
    # alternatives: templates, empty ones, more of them than the right form has
    (f"vary: V[]\nS[] he V[s] | they V[p]\n{V}", "T he is; F he are; T they are; F they is", "="),
    (f"vary: V[]\nS[] a A[] V[s]\nA[] | x\n{V}", "T a is; F a are; T a x is; F a x are", "="),
    (f"vary: V[]\nS[] A[] V[s]\nA[] x ||\n{V}", "T x is; F x are; T is; F are; T is; F are", "="),
    ("vary: V[]\nS[] a V[s] x\nV[s] | is\nV[p] are |\n", "T a x; F a are x; T a is x; F a x", "="),
    ("vary: V[]\nS[] he V[s]\nV[s] is\nV[p] are | be\n", "T he is; F he are", "2 alternatives of"),
    ("vary: V[]\nS[] he V[s]\nV[s] is | be\nV[p] are\n", "1 alternative of", "1 alternative of"),
]


@pytest.mark.parametrize(("text", "published", "corrected"), CASES)
def test_what_a_grammar_generates_or_why_it_is_refused(write, text, published, corrected):
    path = write(text)
    expected = {"published": published, "corrected": published if corrected == "=" else corrected}
    for variant, lines in expected.items():
        told = ""
        try:
            found = flagged(kit.lines(path, variant))
        except UserError as error:
            told = str(error)
        if told:
            assert lines
            assert lines in told
            continue
        assert "; ".join(found) == lines
        grammar = read_grammar(path, None, variant)
        counts = [generator.count_template(grammar, template) for template in grammar.templates]
        sets = sum(line.startswith("T") for line in found)
        assert [*map(sum, zip(*counts, strict=True))] == [sets, len(found)]


def test_the_first_slot_varies_fastest_and_alternatives_stay_aligned(write):
    slots = "S[] N[s] V[s] Adv[]\nN[s] he | she\nAdv[] now | again and again\n"
    path = write(f"vary: V[]\n{slots}V[s] is | sings\nV[p] are | sing\n")
    first = "T he is now; F he are now; T he sings now; F he sing now; "
    second = "T she is now; F she are now; T she sings now; F she sing now"
    assert "; ".join(flagged(kit.lines(path))[:8]) == first + second
    assert len(kit.lines(path)) == 2 * 2 * 2 * 2


def test_common_rules_come_first_and_a_repeated_left_hand_side_adds_alternatives(write):
    common = write("N[] he\nV[s] is\nV[p] are\n", "common.avg")
    case = write("vary: V[]\nS[] N[] V[s]\nN[] she | it\n")
    lines = flagged(kit.lines(case, common=common))
    assert lines == ["T he is", "F he are", "T she is", "F she are", "T it is", "F it are"]


@pytest.mark.parametrize(
    "text",
    [
        "vary: V[]\r\nS[] he V[3,s]\r\nV[s,3] is \r\nV[3,p]  are\r\n",
        "# be\n\n  vary : V[ ]\n\tS[]  he  V[s,3]\nV[3,s]\tis\nV[3,p] are",
        "\ufeffvary: V[ ]; V[ s ] \nS[] he V[3rd,s]\nV[s,3rd] is\nV[p] are\n",
        "S[] he V[]\nV[] is\nV[p] are\nvary: V[]\n",
    ],
)
def test_order_of_attributes_blanks_line_ends_and_comments_do_not_count(write, text):
    assert flagged(kit.lines(write(text))) == ["T he is", "F he are"]


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


@pytest.mark.mirror
@pytest.mark.parametrize("lang", kit.LANGUAGES)
def test_released_grammars_generate_the_released_sets_byte_for_byte(lang, mirror, tmp_path):
    common, cases = kit.released(mirror, tmp_path, lang)
    outputs = [path.with_suffix(".txt") for path in cases]
    assert len(cases) == 7
    generate_sets(cases, common, outputs, "published")
    for path in outputs:
        packed = mirror / f"clams/{lang}_evalset/{path.stem}.txt.xz"
        assert path.read_bytes() == lzma.decompress(packed.read_bytes()), path.name


@pytest.mark.mirror
def test_released_grammars_have_nothing_to_correct(mirror, tmp_path):
    common, cases = kit.released(mirror, tmp_path, "he")
    for path in cases:
        assert kit.lines(path, "corrected", common) == kit.lines(path, "published", common)


UNDEFINED = "which no rule defines; expected "
MISTAKES = [
    # The page below has further messages.
    ("Verbs\n" + GOOD, "1:1", "'Verbs' at the start of a line, which is no rule"),
    (GOOD + "N[p] men] \n", "6:9", "a closing bracket that nothing opens"),
    (GOOD + "N[p]men\n", "6:1", "'N[p]men', where something follows the closing bracket"),
    (GOOD + "[p] men\n", "6:1", "[p] without a name"),
    (GOOD + "N[p,] men\n", "6:1", "N[p,], where an attribute is empty"),
    (GOOD + "N[p]\n", "6:5", "nothing after N[p]"),
    (GOOD + "S[] he V[3,s] | | he V[3,p]\n", "6:17", "an empty template; expected words"),
    (GOOD + "N[p] → men\n", "6:6", "'→' after N[p]; expected the first word"),
    (GOOD.replace("vary:", "vary"), "1:5", "no colon after vary; expected vary: and a name"),
    (GOOD.replace("V[]\n", "\n"), "1:6", "nothing to vary"),
    (GOOD.replace("V[]\n", "V\n"), "1:7", "'V' in the vary statement"),
    (GOOD.replace("vary: V[]", ""), "1:1", "no vary statement"),
    (GOOD.replace("S[]", "X[]"), "2:9", "a reference to N[s] in an alternative of X[]"),
    ("vary: V[]\nV[s] is\nV[p] are\n", "1:1", "no template"),
    (GOOD.replace("S[]", "S[3]"), "2:1", "a template with attributes, S[3]"),
    (GOOD + "S[] and S[]\n", "6:9", "S[] in a template, which would be recursion"),
    (GOOD.replace("the N[s]", "the NN[s]"), "2:9", f"NN[s] in a template, {UNDEFINED}a name that"),
    (GOOD.replace("vary: V", "vary: Vb"), "1:7", f"Vb[] in the vary statement, {UNDEFINED}a name"),
    (GOOD + "S[] the N[s]\n", "6:5", "a template in which nothing varies"),
]


@pytest.mark.parametrize(("text", "place", "words"), MISTAKES)
def test_a_mistake_is_told_with_place_what_was_expected_and_what_to_do(write, text, place, words):
    path = write(text)
    sentence = mistake(lambda: kit.lines(path))
    assert sentence.startswith(f"{path}:{place}: found {words}")
    assert re.fullmatch(r"[^\n]+; expected [^\n]+; [^\n]+\.", sentence)


def test_common_rules_have_no_sets_of_their_own(write):
    common = write("N[s] man\n", "common.avg")
    sentence = mistake(lambda: kit.lines(common))
    assert sentence.startswith(
        f"{common}:1:1: found no template, as common.avg is read with each of"
    )


def test_only_corrected_refuses_a_vary_item_of_a_single_attribute_set(write):
    path = write(GOOD.replace("V[]", "V[3,s]"))
    assert flagged(kit.lines(path)) == ["T the man sings", "F the man sings"]
    sentence = mistake(lambda: kit.lines(path, "corrected"))
    assert "V[3,s], which is varied but has nothing to vary with" in sentence


def test_a_file_that_is_not_utf_8_is_told_by_line_and_column(tmp_path):
    path = tmp_path / "case.avg"
    path.write_bytes("N[s] père\nN[p] p".encode() + "è".encode("latin-1"))
    sentence = mistake(lambda: kit.lines(path))
    assert sentence.startswith(f"{path}:2:7: found the byte 0xe8, which is not UTF-8")


GRAMMARS = [p for p in sorted(REPOSITORY.glob("config/grammars/*/*.avg")) if p.stem != "common"]
LANGUAGES = ("eng", "ita")


PAGE = (REPOSITORY / "docs" / "grammars.md").read_text(encoding="utf-8")


def printed_sizes():
    """Return numbers of lines by language and case, from the page's table."""
    page = (REPOSITORY / "docs" / "clams_grammars.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \|", page, flags=re.MULTILINE)
    return {
        (lang, case): int(size.replace(",", ""))
        for case, *sizes in rows
        for lang, size in zip(LANGUAGES, sizes, strict=True)
    }


def varied_words(grammar):
    """Yield the first words of the varied alternatives, as ``laugh/laughs``."""
    for item in grammar.vary:
        right, wrong = grammar.named(item.target.name)
        for forms in zip(right.alternatives, wrong.alternatives, strict=True):
            yield "/".join(sorted(form.text.split()[0] for form in forms))


def test_the_page_prints_the_size_of_each_set():
    assert printed_sizes().keys() == {(path.parent.name, path.stem) for path in GRAMMARS}


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_grammar_makes_distinct_pairs_that_differ_in_the_varied_verb(path):
    grammar = read_grammar(path, common_beside(path), "corrected")
    assert [*remarks(grammar)] == []
    sets = [*generate(grammar)]
    assert {len(each) for each in sets} == {2}
    assert 2 * len(sets) == printed_sizes()[path.parent.name, path.stem]
    assert len({*sets}) == len({good for good, _ in sets}) == len(sets)
    assert {focus_of(pair) for pair in sets} == {*varied_words(grammar)}
    assert {good for good, _ in sets}.isdisjoint(bad for _, bad in sets)


BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
CHANGES = (
    ("N[s] V[s]", "N[s] V[3,s]", None),
    ("are old", "are old | are big", None),
    (
        "V[p] bark | are old\n",
        "",
        "simple.avg:4:14: found V[s], which is varied but has nothing to vary with; expected "
        "another attribute set of V that falls under the vary statement; define one, or write V[] "
        "in the vary statement.",
    ),
    (
        "V[]",
        "V[x]",
        "simple.avg:2:7: found V[x] in the vary statement, whose attributes no V has; expected "
        "attributes of V[s] and V[p]; correct them, or write V[] to vary all.",
    ),
    (
        "N[s] V[s]",
        "N[s] V[3, s]",
        "simple.avg:4:14: found V[3, s], which has a blank in its brackets; expected none, as the "
        "authors' program cuts rules and templates at blanks; delete it, as in V[3,s].",
    ),
    (
        "is old",
        "is old # a comment",
        "simple.avg:10:21: found a # inside a line; expected words, as only lines that begin with "
        "# are comments; move the comment to a line of its own.",
    ),
    (
        "N[p] dogs",
        "N[p dogs",
        "simple.avg:8:2: found a bracket that is not closed; expected ] after the attributes, "
        "before any other bracket or |; close it, as in V[3,s].",
    ),
)
"""Text of the page's first grammar, its replacement, and the message, None for the page's own."""


def test_the_page_shows_what_its_first_grammar_generates(tmp_path):
    path = tmp_path / "simple.avg"
    path.write_text(BLOCKS[0], encoding="utf-8")
    lines = kit.lines(path)
    assert "".join(lines[:8]) == BLOCKS[1]
    assert len(lines) == 16


def test_mistakes_are_told_as_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = next(block for block in BLOCKS if "; expected " in block).splitlines()
    messages = []
    for old, new, _ in CHANGES:
        text = BLOCKS[0].replace("S[] the N[p] V[p]", "#") if not new else BLOCKS[0]
        Path("simple.avg").write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(UserError) as caught:
            kit.lines(Path("simple.avg"))
        messages.append(str(caught.value))
    told = [message for _, _, message in CHANGES if message]
    assert messages == [*printed, *told]


def record_of(output):
    return json.loads(sidecar_path(output).read_text(encoding="utf-8"))


def inputs_of(output):
    return [Path(each["path"]) for each in record_of(output)["inputs"]]


def test_sets_are_written_as_released_with_a_record(write, tmp_path):
    common, first = write(V, "common.avg"), write("vary: V[]\nS[] he V[s]\n")
    second = write("vary: V[]\nS[] they V[p]\n", "two.avg")
    outputs = tmp_path / "sets" / "one.txt", tmp_path / "sets" / "two.txt"
    written = [f"--output={path}" for path in outputs]
    run("generate-sets", first, second, *written, "--variant=published")
    assert outputs[0].read_bytes() == b"True\the is\nFalse\the are\n"
    assert outputs[1].read_bytes() == b"True\tthey are\nFalse\tthey is\n"
    assert inputs_of(outputs[0]) == [common, first, second]
    record = record_of(outputs[0])
    assert record["params"] == {"variant": "published", "common": True}
    assert record["notes"] == {"lines": {str(path): 2 for path in outputs}}


def test_each_grammar_is_read_after_the_common_rules_beside_it_unless_others_are_given(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    texts = [V, "V[s] sings\nV[p] sing\n"]
    commons = [kit.write(*each, "common.avg") for each in zip(folders, texts, strict=True)]
    cases = [kit.write(folder, "vary: V[]\nS[] he V[s]\n") for folder in folders]
    outputs = [tmp_path / "one.txt", tmp_path / "two.txt"]
    written = [f"--output={path}" for path in outputs]
    first = commons[:1]
    for more, verbs, read in (([], ["is", "sings"], commons), (first, ["is"] * 2, first)):
        common = [f"--common={path}" for path in more]
        run("generate-sets", *cases, *written, *common, "--variant=published")
        first_lines = [path.read_text(encoding="utf-8").splitlines()[0] for path in outputs]
        assert first_lines == [f"True\the {verb}" for verb in verbs]
        assert inputs_of(outputs[0]) == [*read, *cases]


def test_nothing_is_written_for_a_mistake_or_outputs_that_do_not_fit(write, tmp_path):
    first, second, bad = write(GOOD), write(GOOD, "two.avg"), write(GOOD + "N[p\n", "bad.avg")
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    for grammars, outputs, said in (
        ([first, bad], [one, two], f"{bad}:6:2"),
        ([first], [], "0 outputs for 1 grammars; expected as many"),
        ([first, second], [one, one], f"{one} is an output and also another file"),
        ([first, second], [one, first], f"{first} is an output and also another file"),
    ):
        read = partial(generate_sets, grammars, None, outputs, "published")
        assert mistake(read).startswith(said)
    assert first.read_text(encoding="utf-8") == GOOD
    assert not one.exists()


def test_authors_see_sizes_first_sets_and_missing_words(write):
    write("N[s] man | woman\n", "common.avg")
    case = write("vary: V[]\nS[] the N[s] V[s]\nV[s] sings\nV[p] sing\n", "vp_coord.avg")
    words = write("the\nman\nsings\n", "words.txt")
    told = run("try-grammar", case, "--show=1", "--vocabulary", words)
    head, *body = told.splitlines()
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


REMARKS = [
    # file, grammar, beginnings of its remarks
    (
        *("vp_coord", "vary: V[]\nS[] N[] V[s]\nN[] he | it | he\nV[s] put | is\nV[p] put | are\n"),
        ["3:15: 'he' comes twice in N[]: ", "5:6: 'put' is the same for V[s] and V[p]: "],
    ),
    (
        *("vp_coord", f"vary: V[]\nS[] the N[s] V[s]\n{V}N[p] cats | dogs\nNN[s] dog\n"),
        ["5:6: no template uses N[p], and no", "6:1: no template uses NN[s], and no"],
    ),
    (
        *("vp_coord", "vary: V[]\nS[] he A[] V[s]\nA[] | now\nV[s] is\nV[p] are | be\n"),
        ["3:1: an alternative of A[] is empty", "5:12: 'be' of V[p] replaces nothing, as V[s]"],
    ),
    ("simple_agreement", GOOD, [" simple_agreement is none of CLAMS's paradigms (is simple_agrmt"]),
    *((name, GOOD, []) for name in ("simple_npi_anim", "sent_comp", "prep_inanim")),
]


def remarks_of(text, write, *options, name="vp_coord.avg"):
    """Return try-grammar's last lines on a grammar, after its templates."""
    case = write(text, name)
    told = run("try-grammar", case, "--show=0", *options)
    return told.replace(f"{case}", name).rpartition("\n\n")[2].splitlines()


@pytest.mark.parametrize(("name", "text", "remarks"), REMARKS)
def test_authors_are_told_what_is_seldom_meant(write, name, text, remarks):
    # Each grammar uses some of the common rules.
    write("N[s] boy\nN[p] men\nM[] now\n", "common.avg")
    told = remarks_of(text, write, name=f"{name}.avg")
    told = [line.removeprefix(f"{name}.avg:") for line in told if line.startswith(f"{name}.avg")]
    assert [line[: len(each)] for line, each in zip(told, remarks, strict=True)] == remarks


@pytest.mark.parametrize(
    ("grammar", "place", "beginning", "end"),
    [
        ("vary: V[x]\nS[] he V[s,x]\n", "1:7", "V[x] in the vary", "--variant corrected does not"),
        (
            *("vary: V[ ]\nvary: N[x]\nS[] N[s] V[s,x]\nN[s] he\nN[x] x\n", "3:5"),
            *("N[s] falls under no item of the vary", "--variant corrected keeps it as it is"),
        ),
    ],
)
def test_authors_are_told_what_only_the_published_one_does(write, grammar, place, beginning, end):
    text = f"{grammar}V[s,x] is\nV[p,x] are\n"
    (told,) = [remark for remark in remarks_of(text, write) if "published" in remark]
    assert told.startswith(f"vp_coord.avg:{place}: {beginning}")
    assert told.endswith(end)
    assert "published" not in "".join(remarks_of(text, write, "--variant=corrected"))


def test_a_vocabulary_of_several_words_a_line_is_refused(write):
    case, words = write(GOOD), write("the\ntwo words\n", "words.txt")
    with pytest.raises(UserError, match=rf"^{words}:2:1: found 'two words'; expected one word"):
        run("try-grammar", case, "--vocabulary", words)
