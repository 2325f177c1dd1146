"""Items in the released layout: what loaders made for the data set find."""

import csv
from ast import literal_eval

import pytest
from typer.testing import CliRunner

from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items.released import export_items, released_row
from blimpworks.papers.multiblimp.items.sampling import sample_items
from blimpworks.tables import ITEMS, read_table
from support.treebank_kit import FIN, UNIMORPH

TREE = f"""
1 The the DET _ 2 det
2 dogs dog NOUN Case=Nom|Number=Plur 6 nsubj
3 near near ADP _ 5 case
4 the the DET _ 5 det
5 cat cat NOUN Number=Sing 2 nmod
6 often sing VERB {FIN}|Number=Plur 0 root
7 . . PUNCT _ 6 punct
"""
ROW = {
    "sen": "The dogs near the cat sing .",
    "wrong_sen": "The dogs near the cat sings .",
    "prefix": "The dogs near the cat",
    "verb": "sing",
    "verb_idx": "5",
    "cop": "",
    "cop_idx": "",
    "child": "dogs",
    "child_idx": "1",
    "child_features": "{'Case': 'Nom', 'Number': 'Plur', 'lemma': 'dog'}",
    "child_upos": "NOUN",
    "head": "sing",
    "head_idx": "5",
    "head_upos": "VERB",
    "distance": "4",
    "swap_head": "sings",
    "feature_vals": "PL -> SG",
    "attractors": "[]",
    "has_attractors": "False",
    "lang": "xyz",
    "phenomenon": "SV-#",
    "grammatical_feature": "PL",
    "ungrammatical_feature": "SG",
    "wo": "SV",
    "inflect_item": "verb",
    "agreement_certainty": "+",
}


@pytest.fixture
def language(treebank):
    """Forty sentences, so that agreement is certain, up to their pairs."""
    sentence = TREE.replace("often sing", "sing sing")
    built = treebank(*[sentence] * 40)
    built.lexicon(UNIMORPH)
    built.candidates()
    built.agreement()
    built.pairs()
    return built


# Of deu/data.tsv and all others at revision de923efa8d24, in this order.
RELEASED_COLUMNS = (
    "sen verb verb_idx cop cop_idx child child_idx child_features child_upos head head_idx "
    "head_features head_upos distance attractors metadata swap_head feature_vals prefix wrong_sen "
    "congruent_attractors incongruent_attractors num_attractors num_congruent_attractors "
    "num_incongruent_attractors has_attractors only_has_congruent_attractors "
    "only_has_incongruent_attractors sample_weight phenomenon lang grammatical_feature "
    "ungrammatical_feature wo inflect_item agreement_certainty"
)


def sampled(language):
    outputs = language.path / "items" / "xyz.parquet", language.path / "funnel3"
    sample_items(language.path / "pairs", "xyz", (), *outputs, language.options)
    return outputs[0]


def test_a_pair_is_a_row_of_the_released_columns(language):
    output = language.path / "data.tsv"
    assert export_items(sampled(language), output) == 40
    with output.open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file, delimiter="\t"))
    assert {name: first[name] for name in ROW} == ROW
    assert literal_eval(first["metadata"])["treebank"] == "UD_X-Test/x-test.conllu"
    assert " ".join(first) == RELEASED_COLUMNS
    assert float(first["sample_weight"]) == pytest.approx(1 / 40)


def test_attractors_are_words_with_their_value_as_the_treebank_spells_it(language):
    item = read_table(ITEMS, sampled(language)).to_pylist()[0] | {"attractor_values": ["SG", "PL"]}
    row = released_row(item)
    singular, plural = {"feats": {"Number": "Sing"}}, {"feats": {"Number": "Plur"}}
    assert row["attractors"] == [singular, plural]
    assert (row["congruent_attractors"], row["incongruent_attractors"]) == ([plural], [singular])
    assert (row["num_attractors"], row["has_attractors"]) == (2, True)
    assert (row["only_has_congruent_attractors"], row["only_has_incongruent_attractors"]) == (
        False,
        False,
    )


def test_the_command_writes_a_file_for_each_language(language):
    directory = sampled(language).parent
    output = language.path / "released"
    done = CliRunner().invoke(app, ["export", "multiblimp", str(directory), str(output)])
    assert done.exit_code == 0, done.output
    assert done.output == f"{output / 'xyz' / 'data.tsv'}: 40 items\n"


def test_pairs_that_were_not_drawn_are_refused(language):
    with pytest.raises(UserError, match="pairs that were not drawn; expected the sampled items"):
        export_items(language.path / "pairs", language.path / "data.tsv")


def test_a_directory_without_items_is_refused(tmp_path):
    done = CliRunner().invoke(app, ["export", "multiblimp", str(tmp_path), str(tmp_path)])
    assert isinstance(done.exception, UserError)
    assert "has no item tables" in str(done.exception)
