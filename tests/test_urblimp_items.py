"""Items of UrBLiMP: the pairs of our own treebank, and what holds of all items anyway."""

import unicodedata
from collections import Counter

import pytest
from urblimp_kit import (
    HINDI,
    LETTERS,
    OWN,
    OWN_HINDI,
    RULES,
    build,
    golden,
    outcomes,
    tables_of,
    tree,
    unpacked,
    urdu,
    write_rules,
)

from blimpworks.errors import UserError
from blimpworks.urblimp.items import BEYOND, KEPT
from blimpworks.urblimp.orthography import INVISIBLE, ZWNJ
from blimpworks.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.urblimp.rules import read_declaration
from blimpworks.urblimp.trees import read_trees

GOLDEN = golden()
TRAINED = "ur_own-ud-train.conllu"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """What the rules make of our own treebank."""
    return build(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def hindi(tmp_path_factory):
    """What the rules of Hindi make of our own treebank."""
    folder = tmp_path_factory.mktemp("hindi")
    return build(folder, rules=HINDI, treebanks=(OWN_HINDI,), lang="hin")


@pytest.fixture(scope="module")
def udtb(tmp_path_factory, mirror):
    """What the rules make of the parts of UD_Urdu-UDTB that the mirror has."""
    folder = tmp_path_factory.mktemp("udtb")
    source = mirror / "ud/r2.15/UD_Urdu-UDTB"
    if not source.is_dir():
        pytest.skip(f"the mirror has no treebank of Urdu at {source}")
    return build(folder, treebanks=unpacked(source, folder))


def pairs(built, paradigm, sent_id):
    return [
        (item["good"], item["bad"])
        for item in built.items
        if (item["paradigm"], item["sent_id"]) == (paradigm, sent_id)
    ]


# Pairs written by hand.


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['paradigm']}-{row['sent_id']}")
def test_a_sentence_gives_the_pair_that_was_written_by_hand(own, hindi, row):
    own = {"urd": own, "hin": hindi}[row["lang"]]
    expected = [(row["good"], row["bad"])] if row["good"] else []
    assert pairs(own, row["paradigm"], row["sent_id"]) == expected, row["reason"]


def test_each_paradigm_has_two_pairs_and_a_sentence_without_one_by_hand():
    made = Counter((row["paradigm"], bool(row["good"])) for row in GOLDEN if row["lang"] == "urd")
    for paradigm in PARADIGMS:
        assert made[paradigm, True] >= 2
        assert made[paradigm, False] >= 1
    assert all(bool(row["reason"]) != bool(row["good"]) for row in GOLDEN)


def test_pairs_by_hand_are_of_sentences_that_the_treebank_has(tmp_path):
    trees = read_trees(*tables_of(tmp_path, (OWN, OWN_HINDI)), urdu().orthography)
    assert {row["sent_id"] for row in GOLDEN} <= {tree.sent_id for tree in trees}


def test_every_paradigm_of_the_paper_has_rules():
    assert {path.stem for path in RULES.glob("*.yaml")} == {*PARADIGMS, "language"}


# Whatever the rules.


def words(item):
    return item["good"].split(" "), item["bad"].split(" ")


def check_items(built):
    """What every item must have."""
    ids = [item["item_id"] for item in built.items]
    assert len(set(ids)) == len(ids) > 0
    pairs = Counter((item["paradigm"], item["good"], item["bad"]) for item in built.items)
    assert max(pairs.values()) == 1
    for item in built.items:
        assert item["good"] != item["bad"]
        assert item["phenomenon"] == PHENOMENON_OF[item["paradigm"]]
        assert item["change"] in ("replacement", "deletion", "move")
        assert "  " not in item["good"] + item["bad"]
        for side in ("good", "bad"):
            assert item[side] == item[side].strip()
            span = item[side][item[f"{side}_start"] : item[f"{side}_end"]]
            assert span
            assert span == item[f"focus_{side}"]


def check_changes(built):
    """What the kind of change says of the two sentences."""
    for item in built.items:
        good, bad = words(item)
        before, after = item["good_start"], len(item["good"]) - item["good_end"]
        assert item["good"][:before] == item["bad"][: item["bad_start"]]
        assert item["bad_end"] == len(item["bad"]) - after
        assert item["good"][item["good_end"] :] == item["bad"][item["bad_end"] :]
        if item["change"] == "move":
            assert Counter("".join(good)) == Counter("".join(bad))
        elif item["change"] == "deletion":
            assert len(good) - len(bad) == 1
            left = iter(good)
            assert all(word in left for word in bad)


def check_counts(built):
    """Kept and rejected are all that matched, and all of them are told."""
    kept, dropped = Counter(), Counter()
    for row in built.counts:
        assert row["n"] > 0
        assert (row["outcome"] == KEPT) == (row["reason"] == "")
        assert row["phenomenon"] == PHENOMENON_OF[row["paradigm"]]
        key = row["paradigm"], row["rule"]
        (kept if row["outcome"] == KEPT else dropped)[*key, row["reason"]] += row["n"]
    assert kept == Counter((i["paradigm"], i["rule"], "") for i in built.items)
    assert dropped == Counter((r["paradigm"], r["rule"], r["reason"]) for r in built.rejected)
    told = Counter(item["paradigm"] for item in built.items)
    assert built.told == dict(told)


def codes(built):
    """All code points of the sentences."""
    return {code for item in built.items for side in ("good", "bad") for code in item[side]}


def check_codes(built):
    """No look-alikes, no marks that aren't seen, everything composed."""
    found = codes(built)
    assert not found & {*urdu().orthography.characters, *map(chr, INVISIBLE), ZWNJ, "_"}
    assert not {c for c in found if unicodedata.category(c) in ("Mn", "Cf", "Co", "Cn")}
    assert all(unicodedata.is_normalized("NFC", i[s]) for i in built.items for s in ("good", "bad"))


def sentences_of(folder, treebanks):
    """The sentences as they are shown, by file and sentence."""
    spelled = urdu().orthography
    return {
        (found.file, found.sent_id): spelled.joined((w.form, w.space) for w in found.words)
        for found in read_trees(*tables_of(folder, treebanks), spelled)
    }


def check_origins(built, sentences):
    """A good sentence is the treebank's own unless it says that it is constructed."""
    for item in built.items:
        source = sentences[item["file"], item["sent_id"]]
        assert (item["good"] == source) != item["constructed"], item["item_id"]
        assert item["bad"] not in sentences.values()


@pytest.mark.parametrize("check", [check_items, check_changes, check_counts])
def test_all_items_of_our_treebanks_hold(own, hindi, check):
    check(own)
    check(hindi)


@pytest.mark.parametrize(
    "check",
    [check_items, check_changes, check_counts, check_codes],
)
def test_all_items_of_udtb_hold(udtb, check):
    check(udtb)


def test_items_of_our_treebank_have_no_code_points_but_urdus(own):
    check_codes(own)
    assert codes(own) <= {*LETTERS, *" ۔؟"}


def test_good_sentences_are_the_treebanks_own_unless_constructed(own, tmp_path):
    check_origins(own, sentences_of(tmp_path, (OWN,)))


def test_good_sentences_of_udtb_are_its_own_unless_constructed(udtb, tmp_path, mirror):
    files = unpacked(mirror / "ud/r2.15/UD_Urdu-UDTB", tmp_path)
    check_origins(udtb, sentences_of(tmp_path, files))


def test_a_replacement_changes_one_stretch_and_nothing_but_auxiliaries_within(own):
    # The dative of pronouns is taken apart into two words, of which the second goes.
    replaced = [i for i in own.items if i["change"] == "replacement" and i["rule"] != "fused"]
    for item in replaced:
        good, bad = words(item)
        assert len(good) == len(bad)
        changed = [
            place for place, pair in enumerate(zip(good, bad, strict=True)) if len({*pair}) > 1
        ]
        assert changed[-1] - changed[0] <= 3
    assert replaced


def test_items_stand_in_the_order_of_the_papers_paradigms(own):
    order = list(PARADIGMS)
    places = [order.index(item["paradigm"]) for item in own.items]
    assert places == sorted(places)


def test_rules_that_matched_are_those_that_are_declared(own, udtb):
    declared = {
        (path.stem, rule.name)
        for path in RULES.glob("*.yaml")
        if path.stem in PARADIGMS
        for rule in read_declaration(path, urdu()).rules
    }
    for built in (own, udtb):
        assert {(row["paradigm"], row["rule"]) for row in built.counts} <= declared


def test_the_same_treebank_gives_the_same_bytes(own, tmp_path):
    again = build(tmp_path)
    assert again == own


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_pairs_of_a_paradigm_are_kept_evenly(own, tmp_path, most):
    capped = build(tmp_path, per_paradigm=most)
    check_counts(capped)
    for paradigm, n in own.told.items():
        assert capped.told[paradigm] == min(n, most)
        all_of_it = [item for item in own.items if item["paradigm"] == paradigm]
        chosen = [item for item in capped.items if item["paradigm"] == paradigm]
        assert chosen == [all_of_it[i * n // min(n, most)] for i in range(min(n, most))]
        beyond = [r for r in capped.rejected if (r["paradigm"], r["reason"]) == (paradigm, BEYOND)]
        assert len(beyond) == n - len(chosen)


@pytest.fixture(scope="module")
def two_files(tmp_path_factory):
    """Our treebank in two files, every second sentence in each."""
    folder = tmp_path_factory.mktemp("two")
    sentences = OWN.read_text(encoding="utf-8").strip().split("\n\n")
    names = OWN.name, TRAINED
    for part, name in enumerate(names):
        (folder / name).write_text("\n\n".join(sentences[part::2]) + "\n\n", encoding="utf-8")
    return folder, [folder / name for name in names]


def test_pairs_are_made_of_the_files_that_are_named(two_files):
    folder, files = two_files
    found = build(folder, treebanks=files, files=(TRAINED,))
    assert {item["file"] for item in found.items} == {TRAINED}
    rest = build(folder, treebanks=files, files=(OWN.name,))
    assert {item["file"] for item in rest.items} == {OWN.name}
    both = build(folder, treebanks=files)
    assert {i["item_id"] for i in both.items} == {i["item_id"] for i in [*found.items, *rest.items]}


def test_files_of_other_languages_leave_a_language_all_of_its_own(two_files):
    folder, files = two_files
    named = build(folder, treebanks=files, files=("hi_own-ud-test.conllu",))
    assert named == build(folder, treebanks=files)


# With UD_Urdu-UDTB: paradigms that must not run dry.

AT_LEAST = {
    "aspect": 40,
    "dative_object_noun": 30,
    "dative_object_pronoun": 20,
    "ergativity_perfective_verb": 250,
    "ergativity_dom": 20,
    "ergativity_verb_object_agreement": 15,
    "experiencer_subject": 8,
    "honorific": 5,
    "noun_adjective_agreement": 50,
    "oblique_adjective": 15,
    "oblique_plural_noun": 90,
    "oblique_pronoun": 250,
    "oblique_singular_noun": 45,
    "oblique_verb": 170,
    "participial_relatives": 8,
    "subject_verb_gender": 70,
    "subject_verb_number": 70,
    "subject_verb_person": 50,
    "word_order": 4,
}


def test_udtb_gives_each_paradigm_pairs(udtb):
    print(udtb.told)
    short = {p: (udtb.told.get(p, 0), least) for p, least in AT_LEAST.items()}
    assert {p: found for p, found in short.items() if found[0] < found[1]} == {}
    assert AT_LEAST.keys() == PARADIGMS.keys()
    assert sum(udtb.told.values()) >= 1300


# What becomes of a match, by rules of a few lines.

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


def outcome(tmp_path, sentence=GIRL, beside=(KNOWN,), **rule):
    found = outcomes(tmp_path / "rules", sentence, language=SMALL, beside=beside, **rule)
    assert len(found) == 1
    return found[0]


def test_a_word_is_put_into_another_form(tmp_path):
    found = outcome(
        tmp_path, pattern="V [upos=AUX]", change=[{"inflect": "V", "to": {"Gender": "other"}}]
    )
    assert (found.reason, found.change, found.constructed) == ("", "replacement", False)
    assert found.good == "لڑکی گھر آتی نہیں تھی۔"
    assert found.bad == "لڑکی گھر آتی نہیں تھا۔"


def test_a_word_is_left_out_and_the_space_with_it(tmp_path):
    found = outcome(tmp_path, pattern="N [form=گھر]", change=[{"delete": "N"}])
    assert (found.reason, found.change) == ("", "deletion")
    assert found.bad == "لڑکی آتی نہیں تھی۔"


def test_the_last_word_before_the_stop_can_be_left_out(tmp_path):
    found = outcome(tmp_path, pattern="N [form=تھی]", change=[{"delete": "N"}])
    assert found.bad == "لڑکی گھر آتی نہیں۔"


def test_a_word_is_moved_behind_a_complex(tmp_path):
    found = outcome(
        tmp_path,
        pattern="V -[obl]-> N",
        change=[{"move": "N", "after": "V", "along": ["aux", "advmod"]}],
    )
    assert (found.reason, found.change) == ("", "move")
    assert found.bad == "لڑکی آتی نہیں تھی گھر۔"


def test_both_sentences_are_prepared_and_the_pair_says_so(tmp_path):
    found = outcome(
        tmp_path,
        pattern="V [upos=VERB]; V -[obl]-> N; V -[aux]-> A",
        prepare=[{"replace": "N", "by": "homes"}],
        change=[{"inflect": "A", "to": {"Gender": "Masc"}}],
    )
    assert (found.reason, found.constructed) == ("", True)
    assert (found.good, found.bad) == ("لڑکی مکان آتی نہیں تھی۔", "لڑکی مکان آتی نہیں تھا۔")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (
            {
                "pattern": "V [upos=VERB]",
                "without": ["V -[obl]-> N"],
                "change": [{"delete": "V"}],
            },
            "excluded by the rule",
        ),
        (
            {
                "pattern": "V [upos=VERB]",
                "change": [{"inflect": "V", "to": {"Gender": "other"}, "along": ["aux"]}],
            },
            "differs in several places",
        ),
        (
            {"pattern": "N [form=لڑکی]", "change": [{"inflect": "N", "to": {"Gender": "other"}}]},
            "no form by rule",
        ),
        (
            {"pattern": "V [upos=VERB]", "change": [{"inflect": "V", "to": {"Number": "Plur"}}]},
            "no form by rule",
        ),
        (
            {"pattern": "N [form=لڑکی]", "change": [{"replace": "N", "by": "homes"}]},
            "not in the table",
        ),
        (
            {"pattern": "N [form=گھر]", "change": [{"replace": "N", "by": "same"}]},
            "no form by rule",
        ),
        (
            {"pattern": "V -[obl]-> N", "change": [{"move": "N", "after": "S"}]},
            None,
        ),
    ],
)
def test_a_match_that_gives_no_pair_says_why(tmp_path, rule, reason):
    if reason is None:
        with pytest.raises(UserError, match="after has 'S', expected a word of the pattern: V, N"):
            outcome(tmp_path, **rule)
    else:
        assert outcome(tmp_path, **rule).reason == reason


def test_a_form_that_is_attested_nowhere_makes_no_pair(tmp_path):
    rule = {"pattern": "V [upos=VERB]", "change": [{"inflect": "V", "to": {"Gender": "Masc"}}]}
    assert outcome(tmp_path, **rule).reason == ""
    assert outcome(tmp_path, beside=(), **rule).reason == "not in the lexicon"


def test_a_sentence_of_the_treebank_is_no_bad_one(tmp_path):
    twin = tree(
        "لڑکی/NOUN/3/nsubj گھر/NOUN/3/obl آتی/VERB/0/root نہیں/PART/3/advmod تھا/AUX/3/aux "
        "۔/PUNCT/3/punct"
    )
    rule = {"pattern": "A [upos=AUX]", "change": [{"inflect": "A", "to": {"Gender": "Masc"}}]}
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
    found = outcome(
        tmp_path,
        beside=(tree(neighbour),),
        pattern="A [upos=AUX]",
        change=[{"inflect": "A", "to": {"Gender": "Masc"}}],
        context=context,
    )
    assert found.reason == ("the treebank has it beside the same words" if licensed else "")


@pytest.mark.parametrize(
    ("neighbours", "reason"),
    [
        ("آتا/VERB/0/root تھا/AUX/1/aux ۔/PUNCT/1/punct", "beside the same words"),
        ("آتا/VERB/0/root وہ/PRON/1/nsubj تھا/AUX/1/aux ۔/PUNCT/1/punct", ""),
    ],
)
def test_a_pair_is_licensed_only_if_all_its_new_forms_are(tmp_path, neighbours, reason):
    found = outcome(
        tmp_path,
        sentence=tree(
            "وہ/PRON/2/nsubj آتی/VERB/0/root/lemma=آنا تھی/AUX/2/aux/lemma=تھا ۔/PUNCT/2/p"
        ),
        beside=(tree(neighbours),),
        pattern="V [upos=VERB]",
        change=[{"inflect": "V", "to": {"Gender": "Masc"}, "along": ["aux"]}],
        context=["next"],
    )
    assert found.bad == "وہ آتا تھا۔"
    assert found.reason.endswith(reason)
    assert bool(found.reason) == bool(reason)


def test_a_verb_changes_with_the_auxiliaries_behind_it_alone(tmp_path):
    found = outcome(
        tmp_path,
        sentence=tree("تھی/AUX/2/aux/lemma=تھا آتی/VERB/0/root/lemma=آنا وہ/PRON/2/nsubj"),
        pattern="V [upos=VERB]",
        change=[{"inflect": "V", "to": {"Gender": "Masc"}, "along": ["aux"]}],
    )
    assert found.bad == "تھی آتا وہ"


def test_each_match_of_a_rule_is_an_outcome(tmp_path):
    rule = {"pattern": "N [upos=NOUN]", "change": [{"delete": "N"}]}
    found = outcomes(tmp_path / "rules", GIRL, language=SMALL, **rule)
    assert [o.bad for o in found] == ["گھر آتی نہیں تھی۔", "لڑکی آتی نہیں تھی۔"]


def test_a_word_takes_the_values_of_another_word(tmp_path):
    found = outcome(
        tmp_path,
        pattern="A [upos=AUX]; M [upos=PRON]",
        sentence=tree("وہ/PRON/2/nsubj/Gender=Masc آتی/VERB/0/root تھی/AUX/2/aux/lemma=تھا"),
        change=[{"inflect": "A", "to": {"Gender": "=M"}}],
    )
    assert found.bad == "وہ آتی تھا"


@pytest.mark.parametrize(("gender", "reason"), [("Fem", ""), ("Masc", "does not agree as it is")])
def test_a_word_that_does_not_agree_as_it_is_makes_no_pair(tmp_path, gender, reason):
    found = outcome(
        tmp_path,
        pattern="A [upos=AUX]; M [upos=PRON]",
        sentence=tree(f"وہ/PRON/2/nsubj/Gender={gender} آتی/VERB/0/root تھی/AUX/2/aux/lemma=تھا"),
        change=[{"inflect": "A", "to": {"Gender": "other"}, "agreeing": "M"}],
    )
    assert found.reason == reason


@pytest.mark.parametrize("unless", [{"Gender": "Masc"}, {"Gender": "Fem"}])
def test_a_form_that_the_place_asks_for_is_licensed(tmp_path, unless):
    change = {"inflect": "A", "to": {"Gender": "Masc"}, "unless": unless}
    found = outcome(tmp_path, pattern="A [upos=AUX]", change=[change])
    licensed = unless == {"Gender": "Masc"}
    assert found.reason == ("the new form is licensed too" if licensed else "")


def test_a_word_is_added_that_agrees_and_can_be_changed(tmp_path):
    found = outcome(
        tmp_path,
        sentence=tree("آتی/VERB/0/root/lemma=آنا ۔/PUNCT/1/punct"),
        pattern="V [upos=VERB]",
        prepare=[{"add": "past", "name": "A", "after": "V", "agreeing": "V"}],
        change=[{"replace": "A", "by": "was"}],
    )
    assert (found.good, found.bad) == ("آتی تھی۔", "آتی تھا۔")
    assert (found.reason, found.constructed) == ("", True)


def test_rules_of_one_variant_are_left_out_of_the_other(tmp_path):
    rules = [
        {"name": name, "variant": name, "pattern": f"V [form={form}]", "change": [{"delete": "V"}]}
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
        "change": [{"delete": "A"}],
    }
    language = {"orthography": SMALL["orthography"]}
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[rule])
    (tmp_path / "more.txt").write_text(TEXT, encoding="utf-8")
    found = build(tmp_path, rules=folder, texts=[tmp_path / "more.txt"])
    of_text = [item for item in found.items if item["file"] == "more.txt"]
    assert [(i["good"], i["bad"], i["treebank"], i["line"], i["sent_id"]) for i in of_text] == [
        ("وہ روز کام کرتا رہا ہے۔", "وہ روز کام کرتا ہے۔", None, 1, "1")
    ]
    check_items(found)
    check_counts(found)
    rules = [{**rule, "source": "treebank", "change": [{"delete": "T"}]}]
    write_rules(folder, language=language, about="x", rules=[*rules, {**rule, "name": "text"}])
    again = build(tmp_path, rules=folder, texts=[tmp_path / "more.txt"])
    assert {i["rule"] for i in again.items if i["file"] == "more.txt"} == {"text"}


# Malformed rule files.

GOOD_RULE = {"pattern": "V [upos=VERB]", "change": [{"delete": "V"}]}


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"pattern": "V [upos=VERB", "change": [{"delete": "V"}]}, "pattern is malformed at line"),
        ({"pattern": "V [upos=VERB]", "change": []}, "change"),
        ({"pattern": "V [upos=VERB]"}, "change"),
        ({"change": [{"delete": "V"}]}, "pattern"),
        ({**GOOD_RULE, "change": [{"delete": "X"}]}, "delete has 'X', expected a word of"),
        (
            {**GOOD_RULE, "change": [{"inflect": "X", "to": {"Gender": "other"}}]},
            "inflect has 'X', expected a word of the pattern: V",
        ),
        (
            {**GOOD_RULE, "change": [{"inflect": "V", "to": {"Gender": "=X"}}]},
            "to has '=X', expected = and a word of the pattern: V",
        ),
        ({**GOOD_RULE, "variant": "ours"}, "variant"),
        ({**GOOD_RULE, "without": ["V ->"]}, "pattern is malformed at line 1"),
        ({**GOOD_RULE, "change": [{"remove": "V"}]}, "change"),
        ({**GOOD_RULE, "kontext": []}, "kontext"),
        ({**GOOD_RULE, "context": ["after"]}, "context"),
        ({**GOOD_RULE, "source": "web"}, "source"),
        ({**GOOD_RULE, "change": [{"replace": "V", "by": "x"}]}, "rule 'plain' names 'x', which"),
    ],
)
def test_a_malformed_rule_is_refused_in_a_line_with_file_and_key(tmp_path, rule, told):
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    with pytest.raises(UserError) as raised:
        read_declaration(folder / "honorific.yaml", urdu().model_copy(update={"tables": {}}))
    assert told in str(raised.value)
    assert "honorific.yaml" in str(raised.value)


def test_a_closed_class_that_the_language_lacks_is_named_with_those_that_it_has(tmp_path):
    add = {"add": "article", "name": "A", "after": "V", "agreeing": "V"}
    folder = write_rules(tmp_path / "rules", about="x", rules=[{**GOOD_RULE, "change": [add]}])
    with pytest.raises(UserError, match=r"names 'article', which .*language.yaml does not have; e"):
        read_declaration(folder / "honorific.yaml", urdu())


def test_rules_of_a_paradigm_have_different_names(tmp_path):
    folder = write_rules(tmp_path / "rules", about="x", rules=[GOOD_RULE, GOOD_RULE])
    with pytest.raises(UserError, match="names must not be repeated"):
        read_declaration(folder / "honorific.yaml", urdu())


def test_a_file_that_is_called_after_no_paradigm_is_refused(tmp_path):
    folder = write_rules(tmp_path / "rules", paradigm="honour", about="x", rules=[GOOD_RULE])
    with pytest.raises(UserError, match=r"honour.yaml is called after no paradigm; expected one o"):
        read_declaration(folder / "honour.yaml", urdu())


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ({"orthography": {"spellings": [["(x", ""]]}}, "'(x' is no regular expression"),
        ({"inflection": {"paradigms": {"v": {"cells": {"A": ["x"]}}}}}, "is malformed at 'A'"),
        ({"tables": {"x": ["y"]}}, "tables.x"),
        ({"table": {}}, "table"),
    ],
)
def test_a_malformed_language_pack_is_refused_with_its_key(tmp_path, language, told):
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[GOOD_RULE])
    with pytest.raises(UserError) as raised:
        build(tmp_path, rules=folder)
    assert told in str(raised.value)
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
