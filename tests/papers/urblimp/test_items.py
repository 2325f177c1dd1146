"""Test UrBLiMP's items: pairs of our own treebank, and properties of all items."""

import unicodedata
from collections import Counter

import pytest

from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.linguistics.orthography import INVISIBLE, ZWNJ
from blimpworks.papers.urblimp.items.patterns import read_trees
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.urblimp.tables import KEPT
from support import urblimp_kit

GOLDEN = read_cells(urblimp_kit.OWN_DATA / "pairs.tsv")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    return urblimp_kit.build(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def hindi(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hindi")
    return urblimp_kit.build(
        folder, rules=urblimp_kit.HINDI, treebanks=(urblimp_kit.OWN_HINDI,), lang="hin"
    )


@pytest.mark.slow
@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['paradigm']}-{row['sent_id']}")
def test_a_sentence_gives_the_pair_that_was_written_by_hand(own, hindi, row):
    place = row["paradigm"], row["sent_id"]
    items = {"urd": own, "hin": hindi}[row["lang"]].items
    made = [(i["good"], i["bad"]) for i in items if (i["paradigm"], i["sent_id"]) == place]
    assert made == ([(row["good"], row["bad"])] if row["good"] else []), row["reason"]


def check(built):
    """Check properties of every item, and the relation of its sentences by type of change."""
    assert len({item["item_id"] for item in built.items}) == len(built.items) > 0
    assert len({(i["paradigm"], i["good"], i["bad"]) for i in built.items}) == len(built.items)
    for item in built.items:
        assert item["phenomenon"] == PHENOMENON_OF[item["paradigm"]]
        around = []
        for side in ("good", "bad"):
            text, start, end = item[side], item[f"{side}_start"], item[f"{side}_end"]
            assert text == " ".join(text.split())
            assert text[start:end] == item[f"focus_{side}"] != ""
            around.append((text[:start], text[end:]))
        assert around[0] == around[1]
        good, bad = item["good"].split(" "), item["bad"].split(" ")
        if item["change"] == "move":
            assert Counter("".join(good)) == Counter("".join(bad))
        elif item["change"] == "deletion":
            assert len(good) - len(bad) == 1
            left = iter(good)
            assert all(word in left for word in bad)
        else:
            assert item["change"] == "replacement"
    urblimp_kit.check_counts(built)


def check_codes(built):
    """Check that sentences have no look-alikes or invisible marks; return their code points."""
    sentences = [item[side] for item in built.items for side in ("good", "bad")]
    codes = {*"".join(sentences)}
    assert not codes & {*urblimp_kit.urdu().orthography.characters, *map(chr, INVISIBLE), ZWNJ, "_"}
    assert not {c for c in codes if unicodedata.category(c) in ("Mn", "Cf", "Co", "Cn")}
    assert all(unicodedata.is_normalized("NFC", sentence) for sentence in sentences)
    return codes


def check_origins(built, folder, treebanks):
    """Check that a good sentence is the treebank's unless it is marked as constructed."""
    spelled = urblimp_kit.urdu().orthography
    sentences = {
        (tree.file, tree.sent_id): spelled.joined((w.form, w.space) for w in tree.words)
        for tree in read_trees(*urblimp_kit.tables_of(folder, treebanks), spelled)
    }
    for item in built.items:
        source = sentences[item["file"], item["sent_id"]]
        assert (item["good"] == source) != item["constructed"], item["item_id"]
        assert item["bad"] not in sentences.values()


def test_all_items_of_our_treebanks_hold(own, hindi, tmp_path):
    check(own)
    check(hindi)
    assert check_codes(own) <= {*urblimp_kit.LETTERS, *" ۔؟"}
    check_origins(own, tmp_path, (urblimp_kit.OWN,))


def test_all_items_of_udtb_hold_and_each_paradigm_has_some(tmp_path, mirror):
    """The items come from the parts of UD_Urdu-UDTB that the mirror has."""
    treebanks = urblimp_kit.unpacked(mirror / "ud/r2.15/UD_Urdu-UDTB", tmp_path)
    udtb = urblimp_kit.build(tmp_path, treebanks=treebanks)
    check(udtb)
    check_codes(udtb)
    check_origins(udtb, tmp_path, treebanks)
    assert udtb.kept.keys() == PARADIGMS.keys()
    assert min(udtb.kept.values()) >= 4
    assert sum(udtb.kept.values()) >= 1300


def test_a_rule_without_a_match_is_counted_with_none_in_its_place(tmp_path):
    forms = {"first": "نہیں۔", "second": "دوڑتا", "third": "۔۔"}
    rules = [
        {"name": name, "pattern": f'V [form="{form}"]', "change": [{"delete": "V"}]}
        for name, form in forms.items()
    ]
    folder = urblimp_kit.write_rules(tmp_path / "rules", about="x", rules=rules)
    built = urblimp_kit.build(tmp_path, rules=folder)
    result = {row["rule"]: (row["outcome"], row["reason"], row["n"]) for row in built.counts}
    assert result["first"] == result["third"] == (KEPT, "", 0)
    assert result["second"] == (KEPT, "", len(built.items))
    assert {item["rule"] for item in built.items} == {"second"}
    urblimp_kit.check_counts(built)


@pytest.mark.parametrize("name", ["aspects.yaml", "aspect.yml", "aspect.yaml~", "old"])
def test_a_file_among_the_rules_that_nothing_reads_is_refused(tmp_path, name):
    rule = {"pattern": "V [upos=VERB]", "change": [{"delete": "V"}]}
    folder = urblimp_kit.write_rules(tmp_path / "rules", about="x", rules=[rule])
    (folder / name).touch()
    with pytest.raises(UserError, match=rf"{name} is neither .* called like a paradigm"):
        urblimp_kit.build(tmp_path, rules=folder)


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_pairs_of_a_paradigm_are_kept_evenly(own, tmp_path, most):
    capped = urblimp_kit.build(tmp_path, per_paradigm=most)
    urblimp_kit.check_counts(capped)
    for paradigm, n in own.kept.items():
        assert capped.kept[paradigm] == min(n, most)
        all_of_it = [item for item in own.items if item["paradigm"] == paradigm]
        chosen = [item for item in capped.items if item["paradigm"] == paradigm]
        assert chosen == [all_of_it[i * n // min(n, most)] for i in range(min(n, most))]
        beyond = [r["reason"] for r in capped.rejected if r["paradigm"] == paradigm]
        assert beyond.count("beyond per_paradigm") == n - len(chosen)
