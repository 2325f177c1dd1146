"""Test accuracies of people and of released models beside those of models."""

import pytest

from blimpworks.benchmarks import accuracies as library
from blimpworks.benchmarks.build import build_items
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, read_table
from support.declared_kit import CSV, PAIRS, declare

DATA = {"data": [{**PAIRS, "files": "items/{paradigm}.csv"}]}
ITEMS = {"items/sva.csv": CSV, "items/npi.csv": CSV}
CHOICES = {"kind": "choices", "files": "people.csv", "correct": "chose"}
WIDE = {"kind": "choices", "files": "people.csv", "headings": "annotator_{person}"}


def accuracies(tmp_path, read, files, **declaration):
    path = declare(tmp_path / "toy", {**ITEMS, **files}, **DATA, **declaration)
    output, items = tmp_path / "accuracies.parquet", tmp_path / "items.parquet"
    more = ()
    if read is library.read_people:
        build_items(path, [], path.parent, "toy", "eng", items)
        more = ([items],)
    read(path, [], path.parent, "toy", *more, output)
    rows = read_table(ACCURACIES, output).to_pylist()
    return {
        (row["model"], row["phenomenon"], row["paradigm"]): (row["accuracy"], row["n"])
        for row in rows
    }


@pytest.mark.parametrize("phenomenon", ["X", ""])
@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (CHOICES, "paradigm,chose\nsva,good\nsva,bad\nsva,\nnpi,good\n"),
        ({**WIDE, "answer": "label"},
            "paradigm,label,annotator_1,annotator_2\nsva,0,0,1\nsva,1,,\nnpi,1,1,\n"),
        ({**WIDE, "right": ["yes"]}, "paradigm,annotator_1,annotator_2\nsva,yes,no\nnpi,,YES\n"),
        ({**WIDE, "headings": "a*", "right": ["yes"]}, "paradigm,a1,a2\nsva,yes,no\nnpi,,yes\n"),
        ({**CHOICES, "without": ["island"]},
            "paradigm,chose\nsva,good\nsva,bad\nisland,good\nnpi,good\n"),
    ],
)  # fmt: skip
def test_choices_of_people_are_counted_in_the_items_phenomena(tmp_path, entry, text, phenomenon):
    phenomena = {"Agreement": ["sva"], "Polarity": ["npi"]}
    header, *lines = text.splitlines()
    rows = [f"phenomenon,{header}", *(f"{phenomenon},{line}" for line in lines)]
    files = {"people.csv": "".join(f"{row}\n" for row in rows)}
    rows = accuracies(tmp_path, library.read_people, files, people=[entry], phenomena=phenomena)
    assert rows["human", "Agreement", "sva"] == (0.5, 2)
    assert rows["human", "Polarity", "npi"] == (1.0, 1)
    assert rows["human", "all", "all"] == (pytest.approx(2 / 3), 3)


LONG = {"kind": "ratings", "files": "people.csv", "side": "side", "rating": "score"}
RATED = {"kind": "ratings", "files": "people.csv", "headings": "{paradigm}_{side}"}


@pytest.mark.parametrize(
    ("entry", "text", "expected"),
    [
        # First person: 7, 6 against 1, 6: three of four ahead and one tie; second: 2 against 3.
        ({**RATED, "person": "who", "where": {"who": ["a", "b"]}},
            "sva_good,sva_good,sva_bad,sva_bad,who\n7,6,,,a\n,,1,6,a\n2,,3,,b\n7,7,1,1,x\n",
            ((3.5 / 4 + 0) / 2, 2)),
        ({**RATED, "rename": {"paradigm": "names.tsv"}}, "Subject_Agr_good,Subject_Agr_bad\n7,1\n",
            (1.0, 1)),
        ({**LONG, "person": "who", "rename": {"side": {"ok": "good", "star": "bad"}}},
            "who,paradigm,side,score\na,sva,ok,7\na,sva,star,2\nb,sva,ok,1\nb,sva,star,2\n",
            (0.5, 2)),
    ],
)  # fmt: skip
def test_of_ratings_each_person_counts_once_and_ties_half(tmp_path, entry, text, expected):
    # The table of names has more entries than the rows need.
    files = {"people.csv": text, "names.tsv": "Subject_Agr\tsva\nNPI\tnpi\n"}
    rows = accuracies(tmp_path, library.read_people, files, people=[entry])
    assert rows["human", "sva", "sva"] == (pytest.approx(expected[0]), expected[1])


PRINTED = {"kind": "accuracies", "files": "people.csv", "accuracy": "human"}


def test_printed_accuracies_have_no_interval_and_may_be_of_phenomena_alone(tmp_path):
    text = "paradigm,human\nsva,96\nnpi,88\n"
    rows = accuracies(tmp_path, library.read_people, {"people.csv": text}, people=[PRINTED])
    assert rows["human", "sva", "sva"][0] == pytest.approx(0.96)
    assert rows["human", "all", "all"][0] == pytest.approx(0.92)
    table = read_table(ACCURACIES, tmp_path / "accuracies.parquet")
    assert table["low"].null_count == len(table)

    text = "phenomenon,human\nAgreement,0.9\n"
    more = {"people": [PRINTED], "phenomena": {"Agreement": ["*"]}}
    rows = accuracies(tmp_path, library.read_people, {"people.csv": text}, **more)
    assert {*rows} == {("human", "Agreement", "all"), ("human", "all", "all")}


def test_accuracies_of_known_and_unknown_numbers_are_not_added_up(tmp_path):
    people = [{**PRINTED, "files": "a.csv", "n": "n"}, {**PRINTED, "files": "b.csv"}]
    files = {"a.csv": "paradigm,human,n\nsva,0.9,100\n", "b.csv": "paradigm,human\nnpi,0.1\n"}
    with pytest.raises(UserError, match="only some entries of 'people' in 'eng' have numbers"):
        accuracies(tmp_path, library.read_people, files, people=people)


def test_released_decisions_become_accuracies_of_their_models(tmp_path):
    text = "model,suite,correct\nlstm_1,sva,True\nlstm_1,sva,False\nlstm_2,sva,True\n"
    entry = {"files": "d.csv", "model": "model", "paradigm": "suite", "correct": "correct"}
    declared = {"released": [entry], "phenomena": {"Agreement": ["sva"]}}
    rows = accuracies(tmp_path, library.read_released, {"d.csv": text}, **declared)
    assert rows["lstm_1", "Agreement", "sva"] == (0.5, 2)
    assert rows["lstm_2", "all", "all"] == (1.0, 1)


def test_perplexities_are_named_as_released_decisions_name_models(tmp_path):
    entry = {"files": "p.csv", "model": "{model}_{seed}", "perplexity": "ppl"}
    files = {**ITEMS, "p.csv": "model,seed,ppl\nlstm,0111,98.25\n"}
    path = declare(tmp_path / "toy", files, **DATA, perplexities=[entry])
    library.read_perplexities(path, [], path.parent, tmp_path / "p.parquet")
    rows = read_table(library.MODEL_PERPLEXITIES, tmp_path / "p.parquet").to_pylist()
    assert [(row["model"], row["perplexity"]) for row in rows] == [("lstm_0111", 98.25)]


@pytest.mark.parametrize(
    ("entry", "text", "says"),
    [
        (RATED, "sva_fine,sva_bad\n7,2\n", "the side of a rating is 'fine'; expected good or bad"),
        (RATED, "sva,npi\n7,2\n", "no rating is in people.csv; correct 'headings'"),
        (CHOICES, "paradigm,chose\nsva,good\nsvo,good\n", "yaml: people judged 'svo'"),
        (CHOICES, "lang,chose\nzxx,good\n", "language 'zxx', and the benchmark has eng"),
        ({**CHOICES, "without": ["islands"]}, "paradigm,chose\nsva,good\n",
            "names 'islands', which no row of people.csv has"),
        (CHOICES, "phenomenon,paradigm,chose\nsva,,good\nnpi,npi,good\n",
            "judged paradigms of 'eng' and also whole phenomena"),
        (CHOICES, "paradigm,chose\nsva,yes\nnpi,no\n", "no value of 'chose' is one of 'right'"),
        (CHOICES, "paradigm,chose\nsva,good\nnpi,N/A\n", "people.csv:3: column 'chose' is 'N/A',"),
        (PRINTED, "paradigm,human\nsva,850\nnpi,88\n", "people.csv:2: the accuracy is 850;"),
        (PRINTED, "paradigm,human\nsva,95\nnpi,0.9\n", "people.csv:3: the accuracy is 0.9, and"),
        ({**PRINTED, "n": "n"}, "paradigm,human,n\nsva,0.9,10\nnpi,0.1,0\n",
            "people.csv:3: the number of judgements .'n'. is 0; expected a whole number"),
        ({**PRINTED, "n": "n"}, "paradigm,human,n\nsva,0.9,1_0\n",
            "people.csv:2: column 'n' is '1_0'"),
        ({**LONG, "person": "who"}, "who,paradigm,side,score\na,sva,good,7\n,sva,bad,2\n",
            "people.csv:3: column 'who' is empty"),
        ({**CHOICES, "paradigm": "uid"}, "uid,chose\nsva,good\n,bad\n",
            "people.csv:3: column 'uid' is empty"),
        ({**CHOICES, "n": "n"}, "paradigm,chose,n\nsva,good,30\n",
            "n is a key of another kind than choices"),
        (LONG, "paradigm,side,score\nsva,good,7\nsva,bad,2\n", "no person rated good and bad"),
        (WIDE, "paradigm,person_1\nsva,1\n", "fits 'headings' .'annotator_{person}'"),
        ({**WIDE, "answer": "label"}, "paradigm,label,annotator_1\nsva,0,NA\nnpi,1,1\n",
            "people.csv:2: column 'annotator_1' is 'NA'; expected a value of column 'label'"),
        ({**WIDE, "answer": "label"}, "paradigm,label,annotator_1\nsva,,1\nnpi,1,1\n",
            "people.csv:2: column 'label' is empty"),
    ],
)  # fmt: skip
def test_what_people_cannot_have_judged_is_one_sentence(tmp_path, entry, text, says):
    with pytest.raises(UserError, match=says):
        accuracies(tmp_path, library.read_people, {"people.csv": text}, people=[entry])


DECISIONS = {"files": "d.csv", "model": "model", "paradigm": "suite", "correct": "correct"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model,suite,correct\nm,sva,1\nm,,0\n", "d.csv:3: column 'suite' is empty"),
        ("model,suite,lang,correct\nm,sva,deu,1\n", "decisions of d.csv are of language 'deu'"),
        ("model,suite,correct\nm,all,1\nm,sva,0\n", "d.csv:2: the paradigm is called 'all'"),
    ],
)
def test_released_decisions_of_no_paradigm_or_another_language_are_refused(tmp_path, text, says):
    with pytest.raises(UserError, match=says):
        accuracies(tmp_path, library.read_released, {"d.csv": text}, released=[DECISIONS])


def test_labels_of_released_decisions_are_stripped_and_odd_values_are_listed(tmp_path, caplog):
    text = "model,suite,correct\nm,sva,1\nm,sva ,0\nm,sva,yes\n"
    rows = accuracies(tmp_path, library.read_released, {"d.csv": text}, released=[DECISIONS])
    assert rows["m", "sva", "sva"] == (pytest.approx(1 / 3), 3)
    assert "'correct' 'yes', which count as wrong: 1" in caplog.text


@pytest.mark.parametrize(
    ("text", "says"),
    [("m,12\n,13\n", "p.csv:3: column 'model' is empty"), ("m,0\n", "p.csv:2: the perplexity")],
)
def test_a_perplexity_has_a_model_and_is_at_least_one(tmp_path, text, says):
    entry = {"files": "p.csv", "model": "model", "perplexity": "ppl"}
    files = {**ITEMS, "p.csv": f"model,ppl\n{text}"}
    path = declare(tmp_path / "toy", files, **DATA, perplexities=[entry])
    with pytest.raises(UserError, match=says):
        library.read_perplexities(path, [], path.parent, tmp_path / "p.parquet")
