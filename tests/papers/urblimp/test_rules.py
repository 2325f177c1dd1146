"""Test the outcome of a match by short rules, and malformed rule files."""

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.rules import read_declaration
from support.treebank_kit import conllu
from support.urblimp_kit import build, check_counts, outcomes, tree, urdu, write_rules

GIRL = tree(
    "لڑکی/NOUN/3/nsubj/Gender=Fem|Number=Sing|lemma=لڑکی گھر/NOUN/3/obl آتی/VERB/0/root/lemma=آنا "
    "نہیں/PART/3/advmod تھی/AUX/3/aux/lemma=تھا ۔/PUNCT/3/punct"
)
STEMS = {
    "verb": {"upos": ["VERB"], "stem": ["نا$", ""]},
    "past": {"upos": ["AUX"], "stem": [".*", ""]},
}
CELLS = {
    "verb": {"Gender=Fem": ["تی"], "Gender=Masc": ["تا"]},
    "past": {"Gender=Fem": ["تھی"], "Gender=Masc": ["تھا"]},
}
WORDS = {"homes": {"گھر": "مکان"}, "was": {"تھی": "تھا"}}
SMALL = {
    "inflection": {"paradigms": {name: STEMS[name] | {"cells": CELLS[name]} for name in CELLS}},
    "tables": WORDS | {"same": {"گھر": "گھر"}},
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


VERB, AUX, OBJECT = "V [upos=VERB]", "A [upos=AUX]", "V -[obl]-> N"
PAST = inflect("A", "Masc")
FINAL = "نہیں/PART/2/advmod تھا/AUX/0/root ۔/PUNCT/2/punct"
TWIN = (
    "لڑکی/NOUN/3/nsubj گھر/NOUN/3/obl آتی/VERB/0/root نہیں/PART/3/advmod تھا/AUX/3/aux "
    "۔/PUNCT/3/punct"
)
REASONS = [
    # pattern, change, other keys of the rule, treebank, reason; "" for a pair
    (VERB, delete("V"), {"without": [OBJECT]}, None, "excluded by the rule"),
    (VERB, inflect("V", along=["aux"]), {}, None, "differs in several places"),
    ("N [form=لڑکی]", inflect("N"), {}, None, "no form by rule"),
    ("N [form=گھر]", replace("N", "same"), {}, None, "no form by rule"),
    ("N [form=لڑکی]", replace("N", "homes"), {}, None, "not in the table"),
    (AUX, inflect("A", unless={"Gender": "Masc"}), {}, None, "the new form is licensed too"),
    (AUX, inflect("A", unless={"Gender": "Fem"}), {}, None, ""),
    (VERB, inflect("V", "Masc"), {}, None, ""),
    (VERB, inflect("V", "Masc"), {}, "گھر/NOUN/0/root", "not in the lexicon"),
    (AUX, PAST, {}, TWIN, "a sentence of the treebank"),
    # neighbours of the new form
    (AUX, PAST, {"context": ["next"]}, "تھا/AUX/0/root ۔/PUNCT/1/punct", ATTESTED),
    (AUX, PAST, {"context": ["next"]}, "تھا/AUX/0/root وہ/PRON/1/nsubj", ""),
    (AUX, PAST, {"context": ["previous"]}, "نہیں/PART/2/advmod تھا/AUX/0/root", ATTESTED),
    (AUX, PAST, {"context": ["previous", "next"]}, "نہیں/PART/2/advmod تھا/AUX/0/root", ""),
    (AUX, PAST, {"context": ["previous", "next"]}, FINAL, ATTESTED),
    (AUX, PAST, {}, FINAL, ""),
    # deleted or moved words
    (OBJECT, delete("N"), {"context": ["previous", "next"]}, None, ""),
    (OBJECT, move("N", "V"), {"context": ["previous", "next"]}, None, ""),
]


@pytest.mark.parametrize(("pattern", "change", "more", "known", "reason"), REASONS)
def test_a_match_that_gives_no_pair_says_why(tmp_path, pattern, change, more, known, reason):
    beside = tree(known) if known else KNOWN
    rule = {"pattern": pattern, "change": [change], **more}
    assert outcome(tmp_path, beside=(beside,), **rule).reason == reason


TABLES = SMALL | {"tables": WORDS | {"apart": {"گھر": "مکان کو"}, "bare": {"مکان کو": "مکان"}}}
HOME = tree("مکان/NOUN/3/obl کو/ADP/1/case آتا/VERB/0/root تھا/AUX/3/aux")


WHOLE = "V [upos=VERB]; V -[obl]-> N; V -[aux]-> A"
APART = {"prepare": [replace("N", "apart")], "change": [replace("N", "bare")]}
ALONG = {"change": [move("N", "V", along=["aux", "advmod"])]}
MOVED = {"prepare": [move("N", "A")], "change": [replace("A", "was")]}


@pytest.mark.parametrize(
    ("rule", "bad", "change"),
    [
        (APART, "لڑکی مکان آتی نہیں تھی۔", "deletion"),
        ({"change": [inflect("A")]}, "لڑکی گھر آتی نہیں تھا۔", "replacement"),
        ({"change": [delete("A")]}, "لڑکی گھر آتی نہیں۔", "deletion"),
        (ALONG, "لڑکی آتی نہیں تھی گھر۔", "move"),
        ({"change": [add("P", "V")]}, "لڑکی گھر آتی تھی نہیں تھی۔", "replacement"),
        ({"change": [move("N", "A"), delete("V")]}, "لڑکی نہیں تھی گھر۔", "deletion"),
        ({"change": [move("N", "A"), replace("A", "was")]}, "لڑکی آتی نہیں تھا گھر۔", "move"),
        (MOVED, "لڑکی آتی نہیں تھا گھر۔", "replacement"),
    ],
)
def test_the_kind_of_change_is_told_by_the_two_sentences(tmp_path, rule, bad, change):
    made = {"language": TABLES, "beside": (HOME,), "pattern": WHOLE}
    (result,) = outcomes(tmp_path / "rules", GIRL, **made, **rule)
    assert (result.reason, result.bad, result.change) == ("", bad, change)


@pytest.mark.parametrize(
    ("before", "follows"),
    [(delete("N"), "۔"), (add("P", "N"), "۔"), (move("N", "A"), "گھر")],
    ids=["left out", "added", "moved"],
)
@pytest.mark.parametrize("step", ["prepare", "change"])
def test_neighbours_are_those_after_all_changes(tmp_path, before, follows, step):
    rule = {"prepare": [], "change": [replace("A", "was")]}
    rule[step] = [before, *rule[step]]
    for beside in ("گھر", "۔", "نہیں"):
        text = f"آتی/VERB/2/x تھا/AUX/0/root {beside}/X/2/x"
        texts = text, "گھر/X/0/root تھی/AUX/1/x آتی/X/1/x"
        made = {"language": TABLES, "beside": map(tree, texts), "pattern": WHOLE}
        (result,) = outcomes(tmp_path / "rules", GIRL, context=["next"], **made, **rule)
        assert result.reason == (ATTESTED if beside == follows else "")


@pytest.mark.parametrize(
    "change", [[move("A", "V")], [delete("A"), move("N", "V")], [delete("A"), inflect("V", "Masc")]]
)
def test_an_operation_on_a_word_that_was_left_out_is_refused_by_rule_and_sentence(tmp_path, change):
    *_, last = change
    rule = {"change": [*change[:-1], {**last, "along": ["advmod", "aux"]}], "name": "mine"}
    message = r"^rule 'mine' changes a word, .* that it deletes .*; expected a word that stays"
    with pytest.raises(UserError, match=message):
        outcome(tmp_path, pattern=WHOLE, **rule)


@pytest.mark.parametrize(
    ("gender", "change", "bad", "reason"),
    [
        ("Masc", inflect("A", "=M"), "وہ آتی تھا", ""),
        ("Fem", inflect("A", agreeing="M"), "وہ آتی تھا", ""),
        ("Masc", inflect("A", agreeing="M"), "وہ آتی تھی", "does not agree as it is"),
    ],
)
def test_a_word_takes_values_of_another_or_agrees_with_it(tmp_path, gender, change, bad, reason):
    sentence = tree(f"وہ/PRON/2/nsubj/Gender={gender} آتی/VERB/0/root تھی/AUX/2/aux/lemma=تھا")
    result = outcome(tmp_path, sentence, pattern=f"{AUX}; M [upos=PRON]", change=[change])
    assert (result.bad, result.reason) == (bad, reason)


def test_both_sentences_are_prepared_and_the_pair_says_so(tmp_path):
    # The added word agrees and can be changed.
    short = tree("آتی/VERB/0/root/lemma=آنا ۔/PUNCT/1/punct")
    rule = {"pattern": VERB, "prepare": [add("A", "V")], "change": [replace("A", "was")]}
    result = outcome(tmp_path, short, **rule)
    assert (result.good, result.bad, result.reason) == ("آتی تھی۔", "آتی تھا۔", "")
    assert result.constructed


@pytest.mark.parametrize(("beside", "reason"), [("", ATTESTED), ("وہ/PRON/1/nsubj ", "")])
def test_a_pair_is_licensed_only_if_all_its_new_forms_are(tmp_path, beside, reason):
    sentence = "وہ/PRON/2/nsubj آتی/VERB/0/root/lemma=آنا تھی/AUX/2/aux/lemma=تھا ۔/PUNCT/2/p"
    known = tree(f"آتا/VERB/0/root {beside}تھا/AUX/1/aux ۔/PUNCT/1/punct")
    rule = {"pattern": VERB, "change": [inflect("V", "Masc", along=["aux"])], "context": ["next"]}
    result = outcome(tmp_path, tree(sentence), (known,), **rule)
    assert (result.bad, result.reason) == ("وہ آتا تھا۔", reason)


def test_rules_of_one_variant_are_left_out_of_the_other(tmp_path):
    rules = [
        {"name": name, "variant": name, "pattern": f"V [form={form}]", "change": [delete("V")]}
        for name, form in (("published", "دوڑتا"), ("corrected", "ہنستا"))
    ]
    folder = write_rules(tmp_path / "rules", about="x", rules=rules)
    for name, word in (("published", "دوڑتا"), ("corrected", "ہنستا")):
        built = build(tmp_path, rules=folder, variant=name)
        found = {(item["rule"], item["focus_good"].split()[0]) for item in built.items}
        assert found == {(name, word)}


def test_rules_that_need_no_edges_read_plain_text_too(tmp_path):
    pattern = 'A [form="رہا"]; T [form="ہے"|"تھا"]; A < T'
    rule = {"source": "text", "pattern": pattern, "change": [delete("A")]}
    language = {"orthography": SMALL["orthography"]}
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[rule])
    (tmp_path / "more.txt").write_text("وہ روز کام کرتا رہا ہے۔\nیہ كتاب اچھی ہے۔\n", "utf-8")
    result = build(tmp_path, rules=folder, texts=[tmp_path / "more.txt"])
    of_text = [item for item in result.items if item["file"] == "more.txt"]
    assert [(i["good"], i["bad"], i["treebank"], i["line"], i["sent_id"]) for i in of_text] == [
        ("وہ روز کام کرتا رہا ہے۔", "وہ روز کام کرتا ہے۔", None, 1, "1")
    ]
    check_counts(result)


def test_no_pair_is_made_of_words_that_share_a_token_and_they_are_counted(tmp_path):
    noun = "2 vin vin NOUN _ 0 root"
    article = "1 le le DET _ 2 det"
    contracted = "1-2 du _ _ _ _ _\n1 de de ADP _ 3 case\n2 le le DET _ 3 det"
    treebank = tmp_path / "fr_own-ud-test.conllu"
    sentences = f"{contracted}\n3{noun[1:]}", f"{article}\n{noun}"
    treebank.write_text(conllu(*sentences), "utf-8")
    rule = {"pattern": "D [upos=DET]", "change": [delete("D")]}
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    built = build(tmp_path, rules=folder, treebanks=[treebank])
    assert [(item["good"], item["bad"]) for item in built.items] == [("le vin", "vin")]
    [rejected] = built.rejected
    assert rejected["reason"] == "in a sentence with a token of several words"
    check_counts(built)


RULE = {"pattern": "V [upos=VERB]; V -[obj]-> O", "change": [delete("V")]}
GOOD_RULE = {"pattern": "V [upos=VERB]", "change": [delete("V")]}
KEYS = "expected an operation with one of the keys delete, inflect, replace, add, move."
PATTERN = "expected a pattern as text, such as V [upos=VERB]; V -[nsubj]-> S."


@pytest.mark.parametrize(
    ("fields", "key", "message"),
    [
        ({"change": [{"remove": "V"}]}, "rules.0.change.0", f"is {{'remove': 'V'}}: {KEYS}"),
        ({"change": ["V"]}, "rules.0.change.0", f"is 'V': {KEYS}"),
        ({"change": [{"delete": "V"}, {"move": "V"}]}, "rules.0.change.1.after", "is missing; add"),
        ({"change": [{"delete": "V", "alon": []}]}, "rules.0.change.0.alon", "you mean 'along'?"),
        ({"change": []}, "rules.0.change", "is []: list should have at least 1 item"),
        ({"change": [delete("X")]}, "rules.0", "delete has 'X', expected a word of the pattern: V"),
        ({"change": [inflect("V", "=X")]}, "rules.0", "to has '=X', expected = and a word of the"),
        ({"change": [delete("O"), move("V", "O")]}, "rules.0", "after has 'O', which an operation"),
        ({"change": [add("P", "V"), inflect("P")]}, "rules.0", "'P', which an operation before ad"),
        ({"change": [move("V", "V")]}, "rules.0", "move and after are both 'V', expected"),
        ({"change": [add("V", "V")]}, "rules.0", "name has 'V', expected a name that no other"),
        ({"without": ["V -> O", "S < T"]}, "rules.0", "without.1 has S, T, expected a word of"),
        ({"source": "text"}, "rules.0", "is text, but a pattern has ->, upos, which plain text"),
        ({"pattern": 3}, "rules.0.pattern", f"is 3: {PATTERN}"),
        ({"without": ["V ["]}, "rules.0.without.0", "separated by semicolons."),
        ({"pattern": ""}, "rules.0.pattern", "is '': pattern is empty; expected clauses such as V"),
        ({"pattern": 'V [form=re"("]'}, "rules.0.pattern", "expected one as RE2 reads it, such as"),
        ({"variant": "ours"}, "rules.0.variant", "is 'ours': "),
        ({"change": [replace("V", "x")]}, None, "rule 'plain' names 'x', which "),
        ({"change": [add("A", "V", "V", "article")]}, None, "names 'article', which "),
        ({"change": [inflect("V", unless={"Case": "Ac"})]}, None, "has unless {'Case': 'Ac'}, but"),
    ],
)
def test_a_malformed_rule_is_refused_in_a_sentence_by_file_and_key(tmp_path, fields, key, message):
    folder = write_rules(tmp_path / "rules", about="x", rules=[{**RULE, **fields}])
    with pytest.raises(UserError) as raised:
        read_declaration(folder / "honorific.yaml", urdu().model_copy(update={"tables": {}}))
    told = str(raised.value)
    assert told.startswith(f"{folder / 'honorific.yaml'}: " + (f"key '{key}' " if key else ""))
    assert message in told
    assert "\n" not in told
    assert not told.endswith("..")


NO_CELL = {"v": {"cells": {"A": []}}}
UNKNOWN_CELL = {
    "paradigms": {"v": {"cells": {"A=b": []}}},
    "governments": [{"paradigm": "v", "cells": ["A=c"]}],
}
FAULTY = {"ur_own-ud-test.conllu": ["none"], "other.conllu": ["any"]}
ABSENT = {"about": "it limps", "sentences": FAULTY}
WORDFREQ = "'attestation.wordfreq' is '{}', for which wordfreq has no list; expected one"


@pytest.mark.parametrize(
    ("rules", "language", "message"),
    [
        ([], {}, "key 'rules' is []: list should have at least 1 item"),
        ([GOOD_RULE] * 2, {}, "rules.0.name and rules.1.name are both 'plain'"),
        ([GOOD_RULE], {"orthography": {"spellings": [["(x", ""]]}}, "'(x' is no"),
        ([GOOD_RULE], {"inflection": {"paradigms": NO_CELL}}, "malformed at 'A'"),
        ([GOOD_RULE], {"inflection": UNKNOWN_CELL}, "governments name 'A=c'; expected features"),
        ([GOOD_RULE], {"table": {}}, "key 'table' is not a setting"),
        ([GOOD_RULE], {"attestation": {"wordfreq": "xx"}}, WORDFREQ.format("xx")),
        ([GOOD_RULE], {"attestation": {"wordfreq": "no code"}}, WORDFREQ.format("no code")),
        ([{**GOOD_RULE, "pattern": "V [upos=SYM]"}], {}, "; expected some."),
        ([GOOD_RULE], {"faults": [{"about": "x", "without": ["V -> O"]}]}, "there is no pattern"),
        ([GOOD_RULE], {"faults": [ABSENT]}, "'none', which ur_own-ud-test.conllu does not have"),
    ],
)
def test_malformed_rules_and_packs_are_refused(tmp_path, rules, language, message):
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=rules)
    with pytest.raises(UserError) as raised:
        build(tmp_path, rules=folder, variant="corrected")
    assert message in str(raised.value)
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
