"""What people and released models decided becomes accuracies beside those of models."""

import pytest

from blimpworks.benchmarks.accuracies import read_people, read_perplexities, read_released
from blimpworks.benchmarks.tables import MODEL_PERPLEXITIES
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, read_table
from support.declared_kit import CSV, PAIRS, declare

DATA = {"data": [{**PAIRS, "files": "{paradigm}.csv"}]}


def accuracies(tmp_path, read, files, **declaration):
    """Accuracy and n by model, phenomenon and paradigm."""
    path = declare(tmp_path / "toy", {"sva.csv": CSV, **files}, **DATA, **declaration)
    output = tmp_path / "accuracies.parquet"
    read(path, [], path.parent, "toy", output)
    rows = read_table(ACCURACIES, output).to_pylist()
    return {
        (row["model"], row["phenomenon"], row["paradigm"]): (row["accuracy"], row["n"])
        for row in rows
    }


def test_choices_of_people_are_counted_by_paradigm_and_phenomenon(tmp_path):
    text = "paradigm,chose\nsva,good\nsva,bad\nnpi,good\n"
    people = [{"kind": "choices", "files": "people.csv", "correct": "chose"}]
    rows = accuracies(tmp_path, read_people, {"people.csv": text}, people=people)
    assert rows["human", "sva", "sva"] == (0.5, 2)
    assert rows["human", "npi", "npi"] == (1.0, 1)
    assert rows["human", "all", "all"] == (pytest.approx(2 / 3), 3)


def test_of_ratings_each_person_counts_once_and_ties_half(tmp_path):
    # First person: 7, 6 against 1, 6: three of four ahead and one tie; second: 2 against 3.
    text = "sva_good,sva_good,sva_bad,sva_bad\n7,6,1,6\n2,,3,\n"
    people = [{"kind": "ratings", "files": "people.csv", "headings": "{paradigm}_{side}"}]
    rows = accuracies(tmp_path, read_people, {"people.csv": text}, people=people)
    assert rows["human", "sva", "sva"] == (pytest.approx((3.5 / 4 + 0) / 2), 2)


def test_names_in_headings_of_ratings_can_stand_in_a_table(tmp_path):
    files = {"people.csv": "Subject_Agr_good,Subject_Agr_bad\n7,1\n", "n.tsv": "Subject_Agr\tsva\n"}
    entry = {"kind": "ratings", "files": "people.csv", "headings": "{paradigm}_{side}"}
    entry |= {"rename": {"paradigm": "n.tsv"}, "constants": {"phenomenon": "Agreement"}}
    rows = accuracies(tmp_path, read_people, files, people=[entry])
    assert rows["human", "Agreement", "sva"] == (1.0, 1)


def test_ratings_can_have_a_row_each(tmp_path):
    text = "who,paradigm,type,score\na,sva,ok,7\na,sva,star,2\nb,sva,ok,1\nb,sva,star,2\n"
    entry = {"kind": "ratings", "files": "people.csv", "person": "who", "side": "type"}
    entry |= {"rating": "score", "rename": {"type": {"ok": "good", "star": "bad"}}}
    rows = accuracies(tmp_path, read_people, {"people.csv": text}, people=[entry])
    assert rows["human", "sva", "sva"] == (0.5, 2)


def test_printed_accuracies_in_percent_have_no_interval(tmp_path):
    text = "paradigm,human\nsva,96\nnpi,88\n"
    entry = {"kind": "accuracies", "files": "people.csv", "accuracy": "human"}
    rows = accuracies(tmp_path, read_people, {"people.csv": text}, people=[entry])
    assert rows["human", "sva", "sva"][0] == pytest.approx(0.96)
    assert rows["human", "all", "all"][0] == pytest.approx(0.92)
    table = read_table(ACCURACIES, tmp_path / "accuracies.parquet")
    assert table["low"].null_count == len(table)


def test_people_may_be_known_by_phenomenon_alone(tmp_path):
    text = "phenomenon,human\nAgreement,0.9\n"
    entry = {"kind": "accuracies", "files": "people.csv", "accuracy": "human"}
    rows = accuracies(tmp_path, read_people, {"people.csv": text}, people=[entry])
    assert {*rows} == {("human", "Agreement", "all"), ("human", "all", "all")}


def test_released_decisions_become_accuracies_of_their_models(tmp_path):
    text = "model,suite,correct\nlstm_1,sva,True\nlstm_1,sva,False\nlstm_2,sva,True\n"
    entry = {"files": "d.csv", "model": "model", "paradigm": "suite", "correct": "correct"}
    phenomena = {"Agreement": ["sva"]}
    rows = accuracies(
        tmp_path, read_released, {"d.csv": text}, released=[entry], phenomena=phenomena
    )
    assert rows["lstm_1", "Agreement", "sva"] == (0.5, 2)
    assert rows["lstm_2", "all", "all"] == (1.0, 1)


def test_perplexities_are_named_as_released_decisions_name_models(tmp_path):
    entry = {"files": "p.csv", "model": "{model}_{seed}", "perplexity": "ppl"}
    files = {"sva.csv": CSV, "p.csv": "model,seed,ppl\nlstm,0111,98.25\n"}
    path = declare(tmp_path / "toy", files, **DATA, perplexities=[entry])
    read_perplexities(path, [], path.parent, tmp_path / "p.parquet")
    rows = read_table(MODEL_PERPLEXITIES, tmp_path / "p.parquet").to_pylist()
    assert [(row["model"], row["perplexity"]) for row in rows] == [("lstm_0111", 98.25)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sva_good,sva_bad\n7,x\n", "people.csv:2: column 'rating' is 'x'; expected a number"),
        ("sva_fine,sva_bad\n7,2\n", "the side of a rating is 'fine'; expected good or bad"),
        ("sva,npi\n7,2\n", "no rating is in people.csv; correct 'headings'"),
    ],
)
def test_a_malformed_rating_is_one_sentence(tmp_path, text, says):
    people = [{"kind": "ratings", "files": "people.csv", "headings": "{paradigm}_{side}"}]
    with pytest.raises(UserError, match=says):
        accuracies(tmp_path, read_people, {"people.csv": text}, people=people)
