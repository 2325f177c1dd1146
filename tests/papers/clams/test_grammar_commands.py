"""The commands on attribute-varying grammars: generating sets, and looking before that."""

import json
from pathlib import Path

import pytest

from blimpworks.errors import UserError
from blimpworks.files import sidecar_path
from blimpworks.papers.clams.items.grammar.generator import generate_sets
from support import grammar_kit as kit
from support.commands import run
from support.grammar_kit import GOOD, mistake

BE = "V[s] is\nV[p] are\n"


def record_of(output):
    return json.loads(sidecar_path(output).read_text(encoding="utf-8"))


def inputs_of(output):
    return [Path(each["path"]) for each in record_of(output)["inputs"]]


def test_sets_are_written_as_released_with_a_record(write, tmp_path):
    common, first = write(BE, "common.avg"), write("vary: V[]\nS[] he V[s]\n")
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
    texts = [BE, "V[s] sings\nV[p] sing\n"]
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
    first, second, output = write(GOOD), write(GOOD, "two.avg"), tmp_path / "a.txt"
    for outputs in ([output, output], [output, first]):
        sentence = mistake(lambda o=outputs: generate_sets([first, second], None, o, "published"))
        assert sentence.startswith(f"{outputs[1]} is an output and also another file")
    assert first.read_text(encoding="utf-8") == GOOD
    assert not output.exists()


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
    # grammar, file, its remarks
    (
        "vary: V[]\nS[] N[] V[s]\nN[] he | it | he\nV[s] put | is\nV[p] put | are\n",
        "vp_coord.avg",
        [
            ":3:15: 'he' comes twice in N[]: so do all sentences with it",
            ":5:6: 'put' is the same for V[s] and V[p]: sentences with it come as True and as "
            "False",
        ],
    ),
    (
        "vary: V[]\nS[] the N[s] V[s]\nV[s] is\nV[p] are\nN[p] cats | dogs\nNN[s] dog\n",
        "vp_coord.avg",
        [
            ":5:6: no template uses N[p], and no wrong sentence has it",
            ":6:1: no template uses NN[s], and no wrong sentence has it",
        ],
    ),
    (
        "vary: V[]\nS[] he A[] V[s]\nA[] | now\nV[s] is\nV[p] are | be\n",
        "vp_coord.avg",
        [
            ":3:1: an alternative of A[] is empty",
            ":5:12: 'be' of V[p] replaces nothing, as V[s] has fewer alternatives",
        ],
    ),
    (
        GOOD,
        "simple_agreement.avg",
        [
            ": simple_agreement is none of CLAMS's paradigms (is simple_agrmt meant?): the set "
            "will be scored as agreement, but no exhibit shows it"
        ],
    ),
    *((GOOD, name, []) for name in ("simple_npi_anim.avg", "sent_comp.avg", "prep_inanim.avg")),
]


def remarks_of(text, write, *options, name="vp_coord.avg"):
    """The last lines of what is told of a grammar, after its templates."""
    case = write(text, name)
    told = run("try-grammar", case, "--show=0", *options)
    return told.replace(f"{case}", name).rpartition("\n\n")[2].splitlines()


@pytest.mark.parametrize(("text", "name", "remarks"), REMARKS)
def test_authors_are_told_what_is_seldom_meant(write, text, name, remarks):
    # Of common rules, each grammar uses some.
    write("N[s] boy\nN[p] men\nM[] now\n", "common.avg")
    told = remarks_of(text, write, name=name)
    assert [line for line in told if line.startswith(name)] == [name + each for each in remarks]


@pytest.mark.parametrize(
    ("grammar", "place", "beginning", "end"),
    [
        ("vary: V[x]\nS[] he V[s,x]\n", "1:7", "V[x] in the vary", "--variant corrected does not"),
        (
            "vary: V[ ]\nvary: N[x]\nS[] N[s] V[s,x]\nN[s] he\nN[x] x\n",
            "3:5",
            "N[s] falls under no item of the vary statement",
            "--variant corrected keeps it as it is",
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
