"""Test MultiBLiMP's released items: reading, refusals, and that they are the same pairs."""

import csv
from pathlib import Path

import pytest

from blimpworks.campaign.catalogue import LanguageRow, SourceRow, load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.registry import check_papers
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items import released
from blimpworks.papers.multiblimp.paper import RELEASED_ITEMS
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.tables import ITEM_SCHEMA
from blimpworks.retrieval.pinning import is_fixed
from blimpworks.tables import ITEMS, read_table, write_rows
from support.commands import run
from support.treebank_kit import FIN, UNIMORPH

REVISION = "de923efa8d2483d6b13364ee68e65308e990a991"
# A verb before and after its subject, an auxiliary, one as first word, a capitalised verb,
# attractors, quotation marks, and a word without a space after it.
TREES = (
    f"""
1 " " PUNCT _ 8 punct SpaceAfter=No
2 Dogs dog NOUN Case=Nom|Number=Plur 8 nsubj
3 near near ADP _ 5 case
4 the the DET _ 5 det
5 cat cat NOUN Number=Sing 2 nmod
6 and and CCONJ _ 7 cc
7 often often ADV _ 8 advmod
8 sing sing VERB {FIN}|Number=Plur 0 root SpaceAfter=No
9 " " PUNCT _ 8 punct
""",
    f"""
1 Sing sing VERB {FIN}|Number=Plur 0 root
2 dogs dog NOUN Case=Nom|Number=Plur 1 nsubj
3 ! ! PUNCT _ 1 punct
""",
    """
1 There there ADV _ 4 advmod
2 are be AUX Mood=Ind|Number=Plur|VerbForm=Fin 4 aux
3 dogs dog NOUN Number=Plur 4 nsubj
4 singing sing VERB VerbForm=ScoringJob 0 root
""",
    """
1 are be AUX Mood=Ind|Number=Plur|VerbForm=Fin 3 aux
2 dogs dog NOUN Number=Plur 3 nsubj
3 singing sing VERB VerbForm=ScoringJob 0 root
""",
)


@pytest.fixture
def regenerated(treebank):
    """Sample a language's items; return the directory of their table."""
    built = treebank(*TREES * 12)
    built.pairs_with(f"{UNIMORPH}\nsing Sings V;IND;PRS;3;SG\nsing Sing V;IND;PRS;3;PL")
    return built.sample()


@pytest.fixture
def exported(regenerated, tmp_path):
    """Write the same items as a file of the released layout."""
    path = tmp_path / "released" / "xyz" / "data.tsv"
    released.export_items(regenerated, path)
    return path


@pytest.fixture
def change(exported):
    """Return a function that rewrites the cells of a row (from 0) and returns the file."""

    def rewrite(row=0, **cells):
        with exported.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle, delimiter="\t"))
        rows[row] |= cells
        with exported.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, rows[0], delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return exported

    return rewrite


def read(path, lang="xyz", phenomena=("sv#",), **settings):
    output = path.with_name("items.parquet")
    options = MultiblimpOptions(phenomena=phenomena)
    released.build_released_items(path, lang, output, options, **settings)
    return read_table(ITEMS, output).to_pylist()


def test_exported_items_are_read_as_the_rows_they_were(regenerated, exported):
    items = read(exported)
    kept = [{name: item[name] for name in ITEM_SCHEMA.names} for item in items]
    assert kept == read_table(ITEMS, regenerated).to_pylist()
    assert {item["inflected"] for item in kept} == {"verb", "aux"}
    assert {item["order"] for item in kept} == {"SV", "VS"}
    assert any(item["attractor_values"] for item in kept)
    assert any(item["good_form"] == "Sing" and item["bad_form"] == "Sings" for item in kept)
    assert any(item["inflected_id"] != item["replaced_id"] for item in kept)
    assert any('"' in item["good"] for item in kept)


def test_a_language_without_items_keeps_no_file_of_an_earlier_export(exported, tmp_path):
    write_rows([], ITEM_SCHEMA, tmp_path / "none.parquet")
    assert released.export_items(tmp_path / "none.parquet", exported) == 0
    assert not exported.exists()


def test_an_item_knows_its_line_of_the_released_file_and_the_revision(exported):
    items = read(exported, revision=REVISION)
    lines = exported.read_text(encoding="utf-8").splitlines()
    for item in items:
        (cells,) = csv.reader([lines[item["released_line"] - 1]], delimiter="\t")
        assert cells[0] == item["good"]
        assert (item["released_file"], item["revision"]) == ("xyz/data.tsv", REVISION)


def test_a_row_may_take_several_lines_of_the_file(change):
    path = change(0, child_upos="NOUN\n")
    first, second, *_ = read(path)
    assert (first["released_line"], second["released_line"]) == (2, 4)


def test_what_the_release_says_in_its_own_ways_is_understood(change):
    words = [
        {"id": 5, "form": "cat", "feats": {"Number": "Sing", "lemma": "cat"}, "misc": None},
        {"id": 6, "form": "x", "feats": {"Number": ["Plur", "Dual"]}, "deps": [("obl", 7)]},
    ]
    origin = {"source": "a.xml", "sent_id": "a\\1", "text": "it's", "treebank": "UD_X-Y/x.conllu"}
    path = change(
        feature_vals="DU|PL -> SG",
        verb_idx="7.0",
        attractors=str(words),
        num_attractors="2",
        num_congruent_attractors="1",
        metadata=str(origin),
    )
    item = read(path)[0]
    assert (item["values"], item["grammatical"]) == ("DU|PL -> SG", "PL")
    assert item["verb_id"] == 8
    assert (item["attractors"], item["attractor_values"]) == (2, ["SG", "PLUR,DUAL"])
    assert (item["treebank"], item["file"]) == ("UD_X-Y", "x.conllu")
    assert item["sent_id"] == "a\\1"


@pytest.mark.parametrize(
    ("sen", "wrong_sen", "head", "swap_head", "forms"),
    [
        # pandas took the prefix for a missing cell.
        ("None of them sings", "None sing them sings", "of", "sing", (5, "of", "sing")),
        # A form that replaces a capitalised one is capitalised.
        ("McDo said", "Mcdonald said", "McDo", "McDonald", (0, "McDo", "Mcdonald")),
    ],
)
def test_forms_and_place_are_seen_in_the_sentences(change, sen, wrong_sen, head, swap_head, forms):
    cells = {"sen": sen, "wrong_sen": wrong_sen, "prefix": "", "child": ""}
    item = read(change(head=head, swap_head=swap_head, **cells))[0]
    assert (item["good_start"], item["good_form"], item["bad_form"]) == forms


def test_a_pair_of_two_conditions_stands_twice_with_one_id(change, exported):
    with exported.open(encoding="utf-8", newline="") as handle:
        row = next(csv.DictReader(handle, delimiter="\t"))
    path = change(1, **row | {"feature_vals": "PL -> SG|DU", "ungrammatical_feature": "DU"})
    first, second, *_ = read(path)
    assert first["item_id"] == second["item_id"]
    assert first["paradigm"] != second["paradigm"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"wo": "OV"}, "wo is 'OV': input should be 'SV' or 'VS'"),
        ({"phenomenon": "SV-T"}, "phenomenon is 'SV-T': input should be 'SV-#'"),
        ({"agreement_certainty": ""}, "agreement_certainty is ''"),
        ({"verb_idx": "7.5"}, "verb_idx is '7.5'"),
        ({"child_features": "{'Number'"}, "no python literal"),
        ({"child_features": "'Number'"}, "no mapping of features"),
        ({"metadata": "{'sent_id': '1'}"}, "metadata.treebank"),
        ({"metadata": "{'treebank': 'UD_X'}"}, "metadata.treebank is 'UD_X'"),
        ({"sample_weight": "nan?"}, "sample_weight is 'nan?'"),
        ({"wo": "VS", "distance": "1"}, "wo is not the order that distance has"),
        ({"grammatical_feature": "DU"}, "feature_vals lacks grammatical_feature"),
        ({"ungrammatical_feature": "DU"}, "feature_vals lacks ungrammatical_feature"),
        ({"inflect_item": "ptcp"}, "inflect_item is not of phenomenon"),
        ({"inflect_item": "aux", "cop_idx": ""}, "an auxiliary agrees, but cop_idx is empty"),
        ({"num_attractors": "9"}, "num_attractors is not how many there are"),
        ({"num_congruent_attractors": "9"}, "more congruent attractors than attractors"),
        ({"swap_head": "sang"}, "wrong_sen is not sen with swap_head in place of the word"),
        ({"sen": "x", "wrong_sen": "x"}, "both sentences are the same; expected"),
        ({"lang": "deu"}, "lang is 'deu'; expected 'xyz', as the directory is called"),
    ],
)
def test_a_wrong_cell_is_refused_by_file_and_line(change, cells, message):
    path = change(1, **cells)
    with pytest.raises(UserError) as refused:
        read(path)
    refusal = str(refused.value)
    assert refusal.startswith(f"{path}:3: ")
    assert message.lower() in refusal.lower()
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda text: text.replace("swap_head", "swapped", 1), "1: there is no column swap_head"),
        (lambda text: text.replace("\n", "\tx\n", 2).replace("\tx", "", 1), "2: 37 cells, but 36"),
        (lambda text: text.rstrip(), r"\d+: the line has no end, so the file may be cut short"),
        (lambda text: text.replace("\n", "\n\n", 1), "2: 0 cells, but 36 headings"),
        (lambda text: text.partition("\n")[0] + "\nshe\tsings\n", "2: 2 cells, but 36 headings"),
        (lambda text: text.partition("\n")[0] + '\n"she\tsings\n', "2: unexpected end of data"),
    ],
)
def test_a_damaged_file_is_refused_by_line(exported, damage, fault):
    exported.write_text(damage(exported.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(UserError, match=rf"data.tsv:{fault}.*; expected"):
        read(exported)


def test_a_file_that_is_missing_or_in_another_encoding_is_refused(exported):
    with pytest.raises(UserError, match=r"nothing/data.tsv does not exist; expected a released"):
        read(exported.parent.with_name("nothing") / "data.tsv")
    exported.write_bytes(exported.read_bytes() + b"\xff")
    with pytest.raises(UserError, match="is not in UTF-8"):
        read(exported)


def test_a_file_of_the_hub_has_as_many_pairs_as_the_paper_says(exported):
    n = len(read(exported))
    assert len(read(exported, pairs=n)) == n
    with pytest.raises(UserError, match=rf"has {n} pairs; expected the {n + 1} of the paper's"):
        read(exported, pairs=n + 1)


def check(**settings):
    base = {"campaign": "x", "languages": ["deu", "eng"], "models": []}
    chosen = check_campaign(base | settings, "x.yaml")
    check_papers(chosen, load_catalogue(chosen))


RELEASED = {"items": "released"}
DEMO = {name: f"config/demo/{name}.tsv" for name in ("sources", "treebanks")}


@pytest.mark.parametrize(
    ("multiblimp", "others", "message"),
    [
        ({"items": "mixed"}, {}, "key 'multiblimp.items' is 'mixed': input should be"),
        ({"released": "here"}, {}, "released is 'here', but items is 'regenerated', which reads"),
        (RELEASED | {"released": 5}, {}, "key 'multiblimp.released' is 5: "),
        (RELEASED | {"relaesed": "hub"}, {}, "key 'multiblimp.relaesed' is not a setting"),
        (RELEASED, {"catalogue": DEMO}, "config/demo/sources.tsv has no row of kind"),
        (RELEASED, {"unpinned": "skip", "checksums": "sha256"}, "'deu' (multiblimp/deu/data.tsv)"),
        ({"exhibits": {"figure2_language": "English"}}, {}, "multiblimp.exhibits.figure2_language"),
        ({"exhibits": {"figure2_pair": "the first"}}, {}, "multiblimp.exhibits.figure2_pair"),
        ({"exhibits": {"figure2_language": "cym"}}, {}, "figure2_language is 'cym', expected"),
    ],
)
def test_a_wrong_setting_is_told_in_one_sentence(multiblimp, others, message):
    with pytest.raises(UserError) as refused:
        check(multiblimp=multiblimp, **others)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_directory_must_exist_and_have_a_file_of_each_language(tmp_path):
    settings = {"items": "released", "released": str(tmp_path / "x")}
    with pytest.raises(UserError, match=r"/x', which is no directory; expected 'hub', or a dir"):
        check(multiblimp=settings)
    (tmp_path / "x/deu").mkdir(parents=True)
    (tmp_path / "x/deu/data.tsv").touch()
    with pytest.raises(UserError, match=r"x/eng/data.tsv does not exist; add it, or take 'eng'"):
        check(multiblimp=settings)


def test_every_language_has_a_released_file_at_one_fixed_commit():
    rows = [r for r in read_rows(SourceRow, Path("config/sources.tsv")) if r.kind == RELEASED_ITEMS]
    languages = read_rows(LanguageRow, Path("config/languages.tsv"))
    assert [row.lang for row in rows] == [row.lang for row in languages if not row.papers]
    for row in rows:
        assert (row.version, row.name) == (REVISION, f"multiblimp/{row.lang}/data.tsv")
        assert is_fixed(row.url)
        assert row.url.endswith(f"/resolve/{REVISION}/{row.lang}/data.tsv")


PREFIX = '"Dogs near the cat and often'
ROW = {
    **{"verb": "sing", "verb_idx": "7", "cop": "", "cop_idx": "", "child": "Dogs"},
    **{"head": "sing", "head_idx": "7", "prefix": PREFIX, "wrong_sen": f'{PREFIX} sings"'},
    **{"child_features": "{'Case': 'Nom', 'Number': 'Plur', 'lemma': 'dog'}", "child_upos": "NOUN"},
    **{"metadata": "{'sent_id': 's1', 'treebank': 'UD_X-Test/x-test.conllu'}"},
    **{"attractors": "[{'feats': {'Number': 'Sing'}}]", "has_attractors": "True"},
}
NAMED = (ROW["metadata"], ROW["wrong_sen"])
# Columns of all files at revision de923efa8d24, in this order.
RELEASED_COLUMNS = (
    "sen verb verb_idx cop cop_idx child child_idx child_features child_upos head head_idx "
    "head_features head_upos distance attractors metadata swap_head feature_vals prefix wrong_sen "
    "congruent_attractors incongruent_attractors num_attractors num_congruent_attractors "
    "num_incongruent_attractors has_attractors only_has_congruent_attractors "
    "only_has_incongruent_attractors sample_weight phenomenon lang grammatical_feature "
    "ungrammatical_feature wo inflect_item agreement_certainty"
)


def test_a_pair_is_a_row_of_the_released_columns(exported):
    with exported.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    (row,) = (row for row in rows if (row["metadata"], row["wrong_sen"]) == NAMED)
    assert {name: row[name] for name in ROW} == ROW
    assert " ".join(row) == RELEASED_COLUMNS


def test_attractors_are_words_with_their_value_as_the_treebank_spells_it(regenerated):
    item = read_table(ITEMS, regenerated).to_pylist()[0] | {"attractor_values": ["SG", "PL"]}
    row = released.released_row(item)
    singular, plural = {"feats": {"Number": "Sing"}}, {"feats": {"Number": "Plur"}}
    assert row["attractors"] == [singular, plural]
    assert (row["congruent_attractors"], row["incongruent_attractors"]) == ([plural], [singular])
    assert (row["num_attractors"], row["has_attractors"]) == (2, True)
    assert not row["only_has_congruent_attractors"]
    assert not row["only_has_incongruent_attractors"]
    two_values = released.released_row(item | {"attractor_values": ["PLUR,DUAL"]})
    assert two_values["attractors"] == [{"feats": {"Number": "Plur,Dual"}}]


def test_pairs_that_were_not_drawn_and_a_directory_without_items_are_refused(regenerated, tmp_path):
    with pytest.raises(UserError, match="pairs that were not drawn; expected the sampled items"):
        released.export_items(tmp_path / "pairs", tmp_path / "data.tsv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="has no item tables"):
        run("export", "multiblimp", tmp_path / "empty", tmp_path)
