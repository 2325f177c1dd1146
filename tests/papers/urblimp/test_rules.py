"""What becomes of a match, by rules of a few lines; and rule files that are malformed."""

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.attested import Attested
from blimpworks.papers.urblimp.items.pairs import Maker
from blimpworks.papers.urblimp.items.rules import read_declaration
from support.urblimp_kit import (
    RULES,
    build,
    check_counts,
    check_items,
    outcomes,
    tree,
    urdu,
    write_rules,
)

GIRL = tree(
    "لڑکی/NOUN/3/nsubj/Gender=Fem|Number=Sing|lemma=لڑکی گھر/NOUN/3/obl آتی/VERB/0/root/lemma=آنا "
    "نہیں/PART/3/advmod تھی/AUX/3/aux/lemma=تھا ۔/PUNCT/3/punct"
)
SMALL = {
    "inflection": {
        "paradigms": {
            "verb": {
                "upos": ["VERB"],
                "stem": ["نا$", ""],
                "cells": {"Gender=Fem": ["تی"], "Gender=Masc": ["تا"]},
            },
            "past": {
                "upos": ["AUX"],
                "stem": [".*", ""],
                "cells": {"Gender=Fem": ["تھی"], "Gender=Masc": ["تھا"]},
            },
        }
    },
    "tables": {"homes": {"گھر": "مکان"}, "same": {"گھر": "گھر"}, "was": {"تھی": "تھا"}},
    "orthography": {"closing": "۔"},
}
KNOWN = tree("آتا/VERB/0/root تھا/AUX/1/aux مکان/NOUN/1/obl")
ATTESTED = "the treebank has it beside the same words"


def delete(word):
    return {"delete": word}


def inflect(word, gender="other", **more):
    return {"inflect": word, "to": {"Gender": gender}, **more}


def replace(word, by):
    return {"replace": word, "by": by}


def move(word, after, **more):
    return {"move": word, "after": after, **more}


def add(name, after, agreeing="V", paradigm="past"):
    return {"add": paradigm, "name": name, "after": after, "agreeing": agreeing}


def outcome(tmp_path, sentence=GIRL, beside=(KNOWN,), **rule):
    result = outcomes(tmp_path / "rules", sentence, language=SMALL, beside=beside, **rule)
    assert len(result) == 1
    return result[0]


def test_a_word_is_put_into_another_form(tmp_path):
    result = outcome(tmp_path, pattern="V [upos=AUX]", change=[inflect("V")])
    assert (result.reason, result.change, result.constructed) == ("", "replacement", False)
    assert result.good == "لڑکی گھر آتی نہیں تھی۔"
    assert result.bad == "لڑکی گھر آتی نہیں تھا۔"


def test_a_word_is_left_out_and_the_space_with_it(tmp_path):
    result = outcome(tmp_path, pattern="N [form=گھر]", change=[delete("N")])
    assert (result.reason, result.change) == ("", "deletion")
    assert result.bad == "لڑکی آتی نہیں تھی۔"


def test_the_last_word_before_the_stop_can_be_left_out(tmp_path):
    result = outcome(tmp_path, pattern="N [form=تھی]", change=[delete("N")])
    assert result.bad == "لڑکی گھر آتی نہیں۔"


def test_a_word_is_moved_behind_a_complex(tmp_path):
    result = outcome(
        tmp_path, pattern="V -[obl]-> N", change=[move("N", "V", along=["aux", "advmod"])]
    )
    assert (result.reason, result.change) == ("", "move")
    assert result.bad == "لڑکی آتی نہیں تھی گھر۔"


def test_both_sentences_are_prepared_and_the_pair_says_so(tmp_path):
    result = outcome(
        tmp_path,
        pattern="V [upos=VERB]; V -[obl]-> N; V -[aux]-> A",
        prepare=[replace("N", "homes")],
        change=[inflect("A", "Masc")],
    )
    assert (result.reason, result.constructed) == ("", True)
    assert (result.good, result.bad) == ("لڑکی مکان آتی نہیں تھی۔", "لڑکی مکان آتی نہیں تھا۔")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (
            {"pattern": "V [upos=VERB]", "without": ["V -[obl]-> N"], "change": [delete("V")]},
            "excluded by the rule",
        ),
        (
            {"pattern": "V [upos=VERB]", "change": [inflect("V", along=["aux"])]},
            "differs in several places",
        ),
        ({"pattern": "N [form=لڑکی]", "change": [inflect("N")]}, "no form by rule"),
        (
            {"pattern": "V [upos=VERB]", "change": [{"inflect": "V", "to": {"Number": "Plur"}}]},
            "no form by rule",
        ),
        ({"pattern": "N [form=لڑکی]", "change": [replace("N", "homes")]}, "not in the table"),
        ({"pattern": "N [form=گھر]", "change": [replace("N", "same")]}, "no form by rule"),
        ({"pattern": "V -[obl]-> N", "change": [move("N", "S")]}, None),
    ],
)
def test_a_match_that_gives_no_pair_says_why(tmp_path, rule, reason):
    if reason is None:
        with pytest.raises(UserError, match="after has 'S', expected a word of the pattern: V, N"):
            outcome(tmp_path, **rule)
    else:
        assert outcome(tmp_path, **rule).reason == reason


def test_a_form_that_is_attested_nowhere_makes_no_pair(tmp_path):
    rule = {"pattern": "V [upos=VERB]", "change": [inflect("V", "Masc")]}
    assert outcome(tmp_path, **rule).reason == ""
    assert outcome(tmp_path, beside=(), **rule).reason == "not in the lexicon"


def test_a_sentence_of_the_treebank_is_no_bad_one(tmp_path):
    twin = tree(
        "لڑکی/NOUN/3/nsubj گھر/NOUN/3/obl آتی/VERB/0/root نہیں/PART/3/advmod تھا/AUX/3/aux "
        "۔/PUNCT/3/punct"
    )
    rule = {"pattern": "A [upos=AUX]", "change": [inflect("A", "Masc")]}
    assert outcome(tmp_path, beside=(twin,), **rule).reason == "a sentence of the treebank"


@pytest.mark.parametrize(
    ("context", "neighbour", "licensed"),
    [
        (["next"], "تھا/AUX/0/root ۔/PUNCT/1/punct", True),
        (["next"], "تھا/AUX/0/root وہ/PRON/1/nsubj", False),
        (["previous"], "نہیں/PART/2/advmod تھا/AUX/0/root", True),
        (["previous", "next"], "نہیں/PART/2/advmod تھا/AUX/0/root", False),
        (["previous", "next"], "نہیں/PART/2/advmod تھا/AUX/0/root ۔/PUNCT/2/punct", True),
        ([], "نہیں/PART/2/advmod تھا/AUX/0/root ۔/PUNCT/2/punct", False),
    ],
)
def test_a_form_that_the_treebank_has_beside_the_same_words_is_licensed(
    tmp_path, context, neighbour, licensed
):
    result = outcome(
        tmp_path,
        beside=(tree(neighbour),),
        pattern="A [upos=AUX]",
        change=[inflect("A", "Masc")],
        context=context,
    )
    assert result.reason == (ATTESTED if licensed else "")


@pytest.mark.parametrize(
    ("neighbours", "reason"),
    [
        ("آتا/VERB/0/root تھا/AUX/1/aux ۔/PUNCT/1/punct", "beside the same words"),
        ("آتا/VERB/0/root وہ/PRON/1/nsubj تھا/AUX/1/aux ۔/PUNCT/1/punct", ""),
    ],
)
def test_a_pair_is_licensed_only_if_all_its_new_forms_are(tmp_path, neighbours, reason):
    result = outcome(
        tmp_path,
        sentence=tree(
            "وہ/PRON/2/nsubj آتی/VERB/0/root/lemma=آنا تھی/AUX/2/aux/lemma=تھا ۔/PUNCT/2/p"
        ),
        beside=(tree(neighbours),),
        pattern="V [upos=VERB]",
        change=[inflect("V", "Masc", along=["aux"])],
        context=["next"],
    )
    assert result.bad == "وہ آتا تھا۔"
    assert result.reason.endswith(reason)
    assert bool(result.reason) == bool(reason)


def test_a_verb_changes_with_the_auxiliaries_behind_it_alone(tmp_path):
    result = outcome(
        tmp_path,
        sentence=tree("تھی/AUX/2/aux/lemma=تھا آتی/VERB/0/root/lemma=آنا وہ/PRON/2/nsubj"),
        pattern="V [upos=VERB]",
        change=[inflect("V", "Masc", along=["aux"])],
    )
    assert result.bad == "تھی آتا وہ"


TABLES = {
    **SMALL,
    "tables": {
        "apart": {"گھر": "مکان کو"},
        "bare": {"مکان کو": "مکان"},
        "fused": {"تھی": "تھا نہیں"},
        "homes": {"گھر": "مکان"},
        "was": {"تھی": "تھا"},
    },
}
HOME = tree("مکان/NOUN/3/obl کو/ADP/1/case آتا/VERB/0/root تھا/AUX/3/aux")


@pytest.mark.parametrize(
    ("rule", "bad", "change"),
    [
        (
            {"prepare": [replace("N", "apart")], "change": [replace("N", "bare")]},
            "لڑکی مکان آتی نہیں تھی۔",
            "deletion",
        ),
        ({"change": [replace("A", "fused")]}, "لڑکی گھر آتی نہیں تھا نہیں۔", "replacement"),
        ({"change": [add("P", "V")]}, "لڑکی گھر آتی تھی نہیں تھی۔", "replacement"),
        ({"change": [move("N", "A"), delete("V")]}, "لڑکی نہیں تھی گھر۔", "deletion"),
        ({"change": [move("N", "A"), replace("A", "was")]}, "لڑکی آتی نہیں تھا گھر۔", "move"),
        (
            {"prepare": [move("N", "A")], "change": [replace("A", "was")]},
            "لڑکی آتی نہیں تھا گھر۔",
            "replacement",
        ),
        (
            {"prepare": [delete("N")], "change": [replace("A", "was")]},
            "لڑکی آتی نہیں تھا۔",
            "replacement",
        ),
    ],
)
def test_the_kind_of_change_is_told_by_the_two_sentences(tmp_path, rule, bad, change):
    pattern = "V [upos=VERB]; V -[obl]-> N; V -[aux]-> A"
    (result,) = outcomes(
        tmp_path / "rules", GIRL, language=TABLES, beside=(HOME,), pattern=pattern, **rule
    )
    assert (result.reason, result.bad, result.change) == ("", bad, change)


def test_a_match_that_is_excluded_has_no_change(tmp_path):
    rule = {"without": ["V -[obl]-> N"], "change": [delete("V")]}
    assert outcome(tmp_path, pattern="V [upos=VERB]", **rule).change == ""


@pytest.mark.parametrize("context", [["next"], ["previous"], ["previous", "next"]])
@pytest.mark.parametrize("change", [delete("N"), move("N", "V")])
def test_words_that_are_left_out_or_moved_are_not_licensed_by_neighbours(tmp_path, change, context):
    result = outcome(tmp_path, pattern="V -[obl]-> N", change=[change], context=context)
    assert result.reason == ""


@pytest.mark.parametrize(
    "before",
    [delete("N"), add("P", "N"), move("N", "A"), move("N", "V")],
    ids=["left out", "added", "moved behind", "moved before"],
)
@pytest.mark.parametrize("beside", ["گھر/NOUN/0/root", "۔/PUNCT/0/root", "نہیں/PART/0/root"])
@pytest.mark.parametrize("step", ["prepare", "change"])
def test_neighbours_are_those_in_the_bad_sentence_whatever_else_changed_before(
    tmp_path, before, beside, step
):
    rule = {"prepare": [], "change": [replace("A", "was")]}
    rule[step] = [before, *rule[step]]
    (result,) = outcomes(
        tmp_path / "rules",
        GIRL,
        language=TABLES,
        beside=(
            tree(f"آتی/VERB/2/x تھا/AUX/0/root {beside}"),
            tree("گھر/X/0/root تھی/AUX/1/x آتی/X/1/x"),
        ),
        pattern="V [upos=VERB]; V -[obl]-> N; V -[aux]-> A",
        context=["next"],
        **rule,
    )
    changed = result.bad.replace("۔", " ۔").split()
    follows = changed[changed.index("تھا") + 1]
    # A word that is added is a new one too; the treebank has it beside what follows it here.
    licensed = beside.startswith(f"{follows}/")
    assert result.reason == (ATTESTED if licensed else "")


@pytest.mark.parametrize("along", [["aux"], ["advmod", "aux"]])
@pytest.mark.parametrize(
    "change", [[move("A", "V")], [delete("A"), move("N", "V")], [delete("A"), inflect("V", "Masc")]]
)
def test_an_operation_on_a_word_that_was_left_out_is_refused_by_rule_and_sentence(
    tmp_path, change, along
):
    *_, last = change
    rule = {"change": [*change[:-1], {**last, "along": along}], "name": "mine"}
    message = r"^rule 'mine' changes a word, .* that it leaves out .*; expected a word that stays"
    with pytest.raises(UserError, match=message):
        outcome(tmp_path, pattern="V [upos=VERB]; V -[aux]-> A; V -[obl]-> N", **rule)


def test_a_rule_that_fails_in_a_sentence_is_told_with_its_file(tmp_path):
    rule = {
        "pattern": 'V [form="دوڑتا"]; V -> E; E [upos=PUNCT]',
        "change": [delete("E"), inflect("V", "Fem", along=["punct"])],
    }
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    with pytest.raises(UserError, match=r"honorific\.yaml: rule 'plain' changes a word"):
        build(tmp_path, rules=folder)


def test_each_match_of_a_rule_is_an_outcome(tmp_path):
    rule = {"pattern": "N [upos=NOUN]", "change": [delete("N")]}
    result = outcomes(tmp_path / "rules", GIRL, language=SMALL, **rule)
    assert [o.bad for o in result] == ["گھر آتی نہیں تھی۔", "لڑکی آتی نہیں تھی۔"]


def test_a_word_takes_the_values_of_another_word(tmp_path):
    result = outcome(
        tmp_path,
        pattern="A [upos=AUX]; M [upos=PRON]",
        sentence=tree("وہ/PRON/2/nsubj/Gender=Masc آتی/VERB/0/root تھی/AUX/2/aux/lemma=تھا"),
        change=[inflect("A", "=M")],
    )
    assert result.bad == "وہ آتی تھا"


@pytest.mark.parametrize(("gender", "reason"), [("Fem", ""), ("Masc", "does not agree as it is")])
def test_a_word_that_does_not_agree_as_it_is_makes_no_pair(tmp_path, gender, reason):
    result = outcome(
        tmp_path,
        pattern="A [upos=AUX]; M [upos=PRON]",
        sentence=tree(f"وہ/PRON/2/nsubj/Gender={gender} آتی/VERB/0/root تھی/AUX/2/aux/lemma=تھا"),
        change=[inflect("A", agreeing="M")],
    )
    assert result.reason == reason


@pytest.mark.parametrize("unless", [{"Gender": "Masc"}, {"Gender": "Fem"}])
def test_a_form_that_the_place_asks_for_is_licensed(tmp_path, unless):
    change = inflect("A", "Masc", unless=unless)
    result = outcome(tmp_path, pattern="A [upos=AUX]", change=[change])
    licensed = unless == {"Gender": "Masc"}
    assert result.reason == ("the new form is licensed too" if licensed else "")


def test_a_word_is_added_that_agrees_and_can_be_changed(tmp_path):
    result = outcome(
        tmp_path,
        sentence=tree("آتی/VERB/0/root/lemma=آنا ۔/PUNCT/1/punct"),
        pattern="V [upos=VERB]",
        prepare=[add("A", "V")],
        change=[replace("A", "was")],
    )
    assert (result.good, result.bad) == ("آتی تھی۔", "آتی تھا۔")
    assert (result.reason, result.constructed) == ("", True)


def test_rules_of_one_variant_are_left_out_of_the_other(tmp_path):
    rules = [
        {"name": name, "variant": name, "pattern": f"V [form={form}]", "change": [delete("V")]}
        for name, form in (("published", "دوڑتا"), ("corrected", "ہنستا"))
    ]
    folder = write_rules(tmp_path / "rules", about="x", rules=rules)
    for name, word in (("published", "دوڑتا"), ("corrected", "ہنستا")):
        built = build(tmp_path, rules=folder, variant=name)
        assert {(item["rule"], item["focus_good"].split()[0]) for item in built.items} == {
            (name, word)
        }


TEXT = "وہ روز کام کرتا رہا ہے۔\nیہ كتاب اچھی ہے۔\n"


def test_rules_that_need_no_edges_read_plain_text_too(tmp_path):
    rule = {
        "source": "text",
        "pattern": 'A [form="رہا"]; T [form="ہے"|"تھا"]; A < T',
        "change": [delete("A")],
    }
    language = {"orthography": SMALL["orthography"]}
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[rule])
    (tmp_path / "more.txt").write_text(TEXT, encoding="utf-8")
    result = build(tmp_path, rules=folder, texts=[tmp_path / "more.txt"])
    of_text = [item for item in result.items if item["file"] == "more.txt"]
    assert [(i["good"], i["bad"], i["treebank"], i["line"], i["sent_id"]) for i in of_text] == [
        ("وہ روز کام کرتا رہا ہے۔", "وہ روز کام کرتا ہے۔", None, 1, "1")
    ]
    check_items(result)
    check_counts(result)
    rules = [{**rule, "source": "treebank", "change": [delete("T")]}]
    write_rules(folder, language=language, about="x", rules=[*rules, {**rule, "name": "text"}])
    again = build(tmp_path, rules=folder, texts=[tmp_path / "more.txt"])
    assert {i["rule"] for i in again.items if i["file"] == "more.txt"} == {"text"}


# Malformed rule files.

GOOD_RULE = {"pattern": "V [upos=VERB]", "change": [delete("V")]}
TWO_WORDS = {"pattern": "V [upos=VERB]; V -[obj]-> O"}


def refusal(tmp_path, **declaration):
    """The message about a rule file that is malformed."""
    folder = write_rules(tmp_path / "rules", **{"about": "x", **declaration})
    with pytest.raises(UserError) as raised:
        read_declaration(folder / "honorific.yaml", urdu())
    message = str(raised.value)
    assert message.startswith(f"{folder / 'honorific.yaml'}: ")
    assert "\n" not in message
    assert not message.endswith("..")
    return message.removeprefix(f"{folder / 'honorific.yaml'}: ")


KEYS = "delete, inflect, replace, add, move"


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            {"remove": "V"},
            f"0' is {{'remove': 'V'}}: expected an operation with one of the keys {KEYS}.",
        ),
        ({}, f"0' is {{}}: expected an operation with one of the keys {KEYS}."),
        ("V", f"0' is 'V': expected an operation with one of the keys {KEYS}."),
        (None, f"0' is None: expected an operation with one of the keys {KEYS}."),
        ({"inflect": "V"}, "0' is {'inflect': 'V'}: inflect lacks to, expected inflect, to."),
        (
            {"add": "past", "after": "V"},
            "0' is {'add': 'past', 'after': 'V'}: add lacks name, agreeing, expected add, name, "
            "after, agreeing.",
        ),
        ({"move": "V"}, "0' is {'move': 'V'}: move lacks after, expected move, after."),
        ({"delete": "V", "alon": ["aux"]}, "0.alon' is not a setting; did you mean 'along'?"),
        ({"delete": 3}, "0.delete' is 3: input should be a valid string."),
        ({"inflect": "V", "to": "Fem"}, "0.to' is 'Fem': input should be a valid dictionary."),
    ],
)
@pytest.mark.parametrize("step", ["prepare", "change"])
def test_a_malformed_operation_is_told_in_one_sentence(tmp_path, operation, message, step):
    result = refusal(tmp_path, rules=[{**GOOD_RULE, step: [operation]}])
    assert result == f"key 'rules.0.{step}.{message}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            [delete("O"), move("V", "O")],
            "after has 'O', which an operation before leaves out; expected a word that stays.",
        ),
        ([delete("O"), delete("O")], "delete has 'O', which an operation before leaves out"),
        ([delete("O"), inflect("V", "=O")], "to has '=O', which an operation before leaves out"),
        ([move("V", "V")], "move and after are both 'V', expected different words."),
        (
            [add("V", "V")],
            "name has 'V', expected another than those of the words that there are: V, O.",
        ),
        (
            2 * [add("P", "V")],
            "name has 'P', expected another than those of the words that there are: V, O, P.",
        ),
    ],
)
def test_an_operation_must_be_on_words_that_are_there(tmp_path, change, message):
    result = refusal(tmp_path, rules=[{**TWO_WORDS, "change": change}])
    assert result.startswith("key 'rules.0' is ")
    assert message in result


def test_a_word_that_both_sentences_have_left_out_is_not_there_to_be_changed(tmp_path):
    rule = {**TWO_WORDS, "prepare": [delete("O")], "change": [delete("O")]}
    assert "delete has 'O', which an operation before" in refusal(tmp_path, rules=[rule])


def test_a_pattern_that_must_not_hold_is_about_a_word_of_the_rule(tmp_path):
    rule = {**GOOD_RULE, "without": ["V -> O", "S [upos=NOUN]; S < T"]}
    message = "without.1 has S, T, expected a word of the pattern among them: V."
    assert message in refusal(tmp_path, rules=[rule])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (3, "is 3: expected a pattern as text, such as V [upos=VERB]; V -[nsubj]-> S."),
        (["V"], "is ['V']: expected a pattern as text, such as V [upos=VERB]; V -[nsubj]-> S."),
        ("V [", "separated by semicolons."),
        ("", "is '': pattern is empty; expected clauses such as V [upos=VERB]"),
        ('V [form=re"("]', 'expected one as RE2 reads it, such as re".+ے".'),
    ],
)
@pytest.mark.parametrize("key", ["pattern", "without"])
def test_a_malformed_pattern_is_told_in_one_sentence(tmp_path, pattern, message, key):
    rule = {**GOOD_RULE, key: pattern if key == "pattern" else [pattern]}
    result = refusal(tmp_path, rules=[rule])
    assert result.startswith(f"key 'rules.0.{key}{'.0' if key == 'without' else ''}' is ")
    assert message in result


def test_a_number_stands_in_a_pattern_without_quotes(tmp_path):
    rule = {**GOOD_RULE, "pattern": "V [Person=3]"}
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    read_declaration(folder / "honorific.yaml", urdu())


@pytest.mark.parametrize(
    ("rules", "key"), [([], "rules"), ([{**GOOD_RULE, "change": []}], "rules.0.change")]
)
def test_a_list_of_nothing_is_refused_by_its_key(tmp_path, rules, key):
    assert refusal(tmp_path, rules=rules) == f"key '{key}' is []: expected a list of one or more."


def test_rules_that_are_wrong_are_not_said_to_be_missing(tmp_path):
    result = refusal(tmp_path, rules=[{**GOOD_RULE, "source": "web"}])
    assert result.startswith("key 'rules.0.source' is 'web': ")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"pattern": "V [upos=VERB", "change": [delete("V")]}, "pattern is malformed at line"),
        ({"pattern": "V [upos=VERB]", "change": []}, "change"),
        ({"pattern": "V [upos=VERB]"}, "change"),
        ({"change": [delete("V")]}, "pattern"),
        ({**GOOD_RULE, "change": [delete("X")]}, "delete has 'X', expected a word of"),
        (
            {**GOOD_RULE, "change": [inflect("X")]},
            "inflect has 'X', expected a word of the pattern: V",
        ),
        (
            {**GOOD_RULE, "change": [inflect("V", "=X")]},
            "to has '=X', expected = and a word of the pattern: V",
        ),
        ({**GOOD_RULE, "variant": "ours"}, "variant"),
        ({**GOOD_RULE, "without": ["V ->"]}, "pattern is malformed at line 1"),
        ({**GOOD_RULE, "change": [{"remove": "V"}]}, "change"),
        ({**GOOD_RULE, "kontext": []}, "kontext"),
        ({**GOOD_RULE, "context": ["after"]}, "context"),
        ({**GOOD_RULE, "source": "web"}, "source"),
        ({**GOOD_RULE, "change": [replace("V", "x")]}, "rule 'plain' names 'x', which"),
    ],
)
def test_a_malformed_rule_is_refused_in_a_line_with_file_and_key(tmp_path, rule, message):
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    with pytest.raises(UserError) as raised:
        read_declaration(folder / "honorific.yaml", urdu().model_copy(update={"tables": {}}))
    assert message in str(raised.value)
    assert "honorific.yaml" in str(raised.value)


def test_a_closed_class_that_the_language_lacks_is_named_with_those_that_it_has(tmp_path):
    add = {"add": "article", "name": "A", "after": "V", "agreeing": "V"}
    folder = write_rules(tmp_path / "rules", about="x", rules=[{**GOOD_RULE, "change": [add]}])
    with pytest.raises(UserError, match=r"names 'article', which .*language.yaml does not have; e"):
        read_declaration(folder / "honorific.yaml", urdu())


def test_rules_of_a_paradigm_have_different_names(tmp_path):
    first, second = ({**GOOD_RULE, "name": name} for name in ("one", "two"))
    message = "names must not be repeated, but rules.1.name and rules.2.name are both 'two' "
    assert message in refusal(tmp_path, rules=[first, second, second])
    assert "rules.0.name and rules.1.name are both 'plain'" in refusal(
        tmp_path, rules=[GOOD_RULE, GOOD_RULE]
    )


def test_a_file_that_is_called_after_no_paradigm_is_refused(tmp_path):
    folder = write_rules(tmp_path / "rules", paradigm="honour", about="x", rules=[GOOD_RULE])
    with pytest.raises(UserError, match=r"honour.yaml is called after no paradigm; expected one o"):
        read_declaration(folder / "honour.yaml", urdu())


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ({"orthography": {"spellings": [["(x", ""]]}}, "'(x' is no regular expression"),
        ({"inflection": {"paradigms": {"v": {"cells": {"A": ["x"]}}}}}, "is malformed at 'A'"),
        ({"tables": {"x": ["y"]}}, "tables.x"),
        ({"table": {}}, "table"),
    ],
)
def test_a_malformed_language_pack_is_refused_with_its_key(tmp_path, language, message):
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[GOOD_RULE])
    with pytest.raises(UserError) as raised:
        build(tmp_path, rules=folder)
    assert message in str(raised.value)
    assert "language.yaml" in str(raised.value)


def test_a_missing_language_pack_is_refused(tmp_path):
    (tmp_path / "rules").mkdir()
    with pytest.raises(UserError, match=r"language\.yaml"):
        build(tmp_path, rules=tmp_path / "rules")


def test_rules_without_a_single_pair_are_refused(tmp_path):
    rule = {**GOOD_RULE, "pattern": "V [upos=SYM]"}
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    with pytest.raises(UserError, match=r"no rule gives a pair of .*; expected some\."):
        build(tmp_path, rules=folder)
    assert not (tmp_path / "items").exists()


FAULTS = [
    {"pattern": "V [upos=VERB]; V -[nsubj]-> S"},
    {"pattern": "V [upos=VERB]", "without": ["V -[nsubj]-> S"]},
    {"sentences": {"ur_own-ud-test.conllu": ["aspect-1", "don-1"]}},
]


@pytest.mark.parametrize("fault", FAULTS)
def test_corrected_makes_no_pair_of_a_faulty_sentence_and_counts_it(tmp_path, fault):
    rule = {"pattern": "P [upos=PUNCT]", "change": [delete("P")]}
    language = {"faults": [{"about": "it limps", **fault}]}
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[rule])
    published, corrected = (
        build(tmp_path, rules=folder, variant=variant) for variant in ("published", "corrected")
    )
    check_counts(corrected)
    reason = "faulty in the treebank: it limps"
    faulty = [row["good"] for row in corrected.rejected if row["reason"] == reason]
    assert faulty
    assert reason not in {row["reason"] for row in published.rejected}
    sound = [item["good"] for item in published.items if item["good"] not in faulty]
    assert [item["good"] for item in corrected.items] == sound


def test_a_faulty_sentence_that_its_file_lacks_is_refused(tmp_path):
    rule = {"pattern": "P [upos=PUNCT]", "change": [delete("P")]}
    sentences = {"ur_own-ud-test.conllu": ["none"], "other.conllu": ["any"]}
    language = {"faults": [{"about": "it limps", "sentences": sentences}]}
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[rule])
    with pytest.raises(UserError, match=r"name 'none', which ur_own-ud-test\.conllu does not have"):
        build(tmp_path, rules=folder, variant="corrected")


@pytest.mark.parametrize("nouns", [0, 1, 2])
@pytest.mark.parametrize(("variant", "kept"), [("published", 1), ("corrected", 0)])
def test_a_demonstrative_may_go_with_a_coordination_whose_last_noun_is_marked(variant, kept, nouns):
    names = ["شمالی/PROPN", "نئی/PROPN"][:nouns]
    head = nouns + 2
    before = [f"{name}/{head}/compound" for name in names]
    verb = head + 5
    sentence = tree(
        " ".join(
            [
                f"اسے/PRON/{verb}/nsubj",
                *before,
                f"کوریا/PROPN/{verb}/obj",
                f"اور/CCONJ/{head + 2}/cc",
                f"ہندوستان/PROPN/{head}/conj",
                f"سے/ADP/{head + 2}/case",
                f"مقابلہ/NOUN/{verb}/compound",
                "کرنا/VERB/0/root",
            ]
        )
    )
    pack = urdu()
    declared = read_declaration(RULES / "experiencer_subject.yaml", pack).of_variant(variant)
    maker = Maker(pack, Attested([sentence, tree("اس/PRON/0/root")], pack.orthography))
    made = [o for rule in declared for o in maker.outcomes(rule, sentence) if not o.reason]
    assert len(made) == kept
