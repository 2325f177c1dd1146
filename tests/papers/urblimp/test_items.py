"""Items of UrBLiMP: the pairs of our own treebank, and what holds of all items anyway."""

import unicodedata
from collections import Counter

import pytest

from blimpworks.errors import UserError
from blimpworks.linguistics.orthography import INVISIBLE, ZWNJ
from blimpworks.papers.urblimp.items.build import KEPT
from blimpworks.papers.urblimp.items.trees import read_trees
from blimpworks.papers.urblimp.phenomena import PARADIGMS
from support.urblimp_kit import (
    HINDI,
    LETTERS,
    OWN,
    OWN_HINDI,
    build,
    check_items,
    golden,
    tables_of,
    unpacked,
    urdu,
    write_rules,
)
from support.urblimp_kit import check_counts as check_matches

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


@pytest.mark.slow
@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['paradigm']}-{row['sent_id']}")
def test_a_sentence_gives_the_pair_that_was_written_by_hand(own, hindi, row):
    own = {"urd": own, "hin": hindi}[row["lang"]]
    expected = [(row["good"], row["bad"])] if row["good"] else []
    assert pairs(own, row["paradigm"], row["sent_id"]) == expected, row["reason"]


# Whatever the rules.


def words(item):
    return item["good"].split(" "), item["bad"].split(" ")


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
    """Counts of what matched; and rules without a match, each with one row that says so."""
    none = [row for row in built.counts if row["n"] == 0]
    others = [row for row in built.counts if row["n"] > 0]
    assert all((row["outcome"], row["reason"]) == (KEPT, "") for row in none)
    rules = Counter((row["paradigm"], row["rule"]) for row in none)
    assert max(rules.values(), default=1) == 1
    assert not rules.keys() & {(row["paradigm"], row["rule"]) for row in others}
    check_matches(built._replace(counts=others))


def codes(built):
    """All code points of the sentences."""
    return {code for item in built.items for side in ("good", "bad") for code in item[side]}


def check_codes(built):
    """No look-alikes, no marks that aren't seen, everything composed."""
    result = codes(built)
    assert not result & {*urdu().orthography.characters, *map(chr, INVISIBLE), ZWNJ, "_"}
    assert not {c for c in result if unicodedata.category(c) in ("Mn", "Cf", "Co", "Cn")}
    assert all(unicodedata.is_normalized("NFC", i[s]) for i in built.items for s in ("good", "bad"))


def sentences_of(folder, treebanks):
    """The sentences as they are shown, by file and sentence."""
    spelled = urdu().orthography
    return {
        (tree.file, tree.sent_id): spelled.joined((w.form, w.space) for w in tree.words)
        for tree in read_trees(*tables_of(folder, treebanks), spelled)
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


def test_a_rule_without_a_match_is_counted_with_none_in_its_place(tmp_path):
    change = [{"delete": "V"}]
    forms = {"first": "نہیں۔", "second": "دوڑتا", "third": "۔۔"}
    rules = [
        {"name": name, "pattern": f'V [form="{form}"]', "change": change}
        for name, form in forms.items()
    ]
    built = build(tmp_path, rules=write_rules(tmp_path / "rules", about="x", rules=rules))
    result = {row["rule"]: (row["outcome"], row["reason"], row["n"]) for row in built.counts}
    assert result["first"] == result["third"] == (KEPT, "", 0)
    assert result["second"] == (KEPT, "", len(built.items))
    assert {item["rule"] for item in built.items} == {"second"}
    check_counts(built)


@pytest.mark.parametrize("name", ["aspects.yaml", "aspect.yml", "aspect.yaml~", "old"])
def test_a_file_among_the_rules_that_nothing_reads_is_refused(tmp_path, name):
    rule = {"pattern": "V [upos=VERB]", "change": [{"delete": "V"}]}
    folder = write_rules(tmp_path / "rules", about="x", rules=[rule])
    (folder / name).touch()
    with pytest.raises(UserError, match=rf"{name} is neither .* called after a paradigm"):
        build(tmp_path, rules=folder)


@pytest.mark.parametrize("code", ["xx", "no code"])
def test_a_code_that_wordfreq_does_not_know_is_refused_with_those_that_it_knows(tmp_path, code):
    language = {"attestation": {"wordfreq": code}}
    rule = {"pattern": "V [upos=VERB]", "change": [{"delete": "V"}]}
    folder = write_rules(tmp_path / "rules", language=language, about="x", rules=[rule])
    message = rf"'attestation\.wordfreq' is '{code}', .*; expected one of ar, .*, or null"
    with pytest.raises(UserError, match=message):
        build(tmp_path, rules=folder)


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_pairs_of_a_paradigm_are_kept_evenly(own, tmp_path, most):
    capped = build(tmp_path, per_paradigm=most)
    check_counts(capped)
    for paradigm, n in own.kept.items():
        assert capped.kept[paradigm] == min(n, most)
        all_of_it = [item for item in own.items if item["paradigm"] == paradigm]
        chosen = [item for item in capped.items if item["paradigm"] == paradigm]
        assert chosen == [all_of_it[i * n // min(n, most)] for i in range(min(n, most))]
        beyond = [r["reason"] for r in capped.rejected if r["paradigm"] == paradigm]
        assert beyond.count("beyond per_paradigm") == n - len(chosen)


def test_udtb_gives_each_paradigm_pairs(udtb):
    assert udtb.kept.keys() == PARADIGMS.keys()
    assert min(udtb.kept.values()) >= 4
    assert sum(udtb.kept.values()) >= 1300
