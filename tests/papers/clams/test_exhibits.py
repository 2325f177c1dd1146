"""Test CLAMS's exhibits of a campaign: two seeds, three languages, masked models."""

from dataclasses import replace
from statistics import mean
from types import SimpleNamespace

import pandas as pd
import pytest

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.registry import exhibits
from blimpworks.exhibits.exhibit import ABSENT_CELL, Labels
from blimpworks.exhibits.formulas import formula_of
from blimpworks.exhibits.render import markdown_text
from blimpworks.papers.clams.exhibits import results
from blimpworks.papers.clams.exhibits.figures import fig2, fig3, text
from blimpworks.papers.clams.exhibits.results import table1, table2, table3, table4, table5, table7
from blimpworks.papers.clams.paper import clams_models
from blimpworks.tables import ACCURACIES, ITEMS, MORPHOLOGY, PERPLEXITIES, write_rows
from support import print_kit
from support.cells_kit import check_cells, sources_of, values, write_exhibit

LANGUAGES = {"deu": "German", "eng": "English", "fra": "French"}
MODELS = {"mono": ["one", "two"], "multi": ["many"], "bert": ["masked-eng"], "mbert": ["masked"]}
LABELS = Labels(
    LANGUAGES,
    {name: name for names in MODELS.values() for name in names},
    "full_sentence",
    {"clams_models": MODELS, "clams_counting": "corrected", "clams_ties": {}},
)
SEVEN = (
    *("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel"),
    *("obj_rel_within_anim", "obj_rel_across_anim", "prep_anim"),
)
N = 10
BENCHMARK = {"benchmark": "clams", "skipped": 0, "ties": 0, "near_ties": 0}


def row(model, lang, paradigm, correct, n=N, phenomenon="agreement"):
    method = "masked_critical_word" if model.startswith("masked") else "full_sentence"
    columns = BENCHMARK | {"model": model, "lang": lang, "paradigm": paradigm, "method": method}
    columns |= {"phenomenon": phenomenon, "correct": correct, "n": n, "accuracy": correct / n}
    return columns | {"low": 0.0, "high": 1.0}


def lstm_rows():
    """Yield accuracies: "two" errs more in each construction, "many" in each language."""
    for place, paradigm in enumerate(SEVEN):
        for number, lang in enumerate(LANGUAGES):
            yield row("one", lang, paradigm, N)
            yield row("two", lang, paradigm, N - place)
            yield row("many", lang, paradigm, N - number)
            for model in ("many", "one"):
                yield row(model, lang, paradigm, N, phenomenon="agreement_capitals")


def masked_rows():
    for lang in LANGUAGES:
        for paradigm in SEVEN[:4]:
            yield row("masked", lang, paradigm, 5)
    yield row("masked", "eng", "prep_anim", 10, 10)
    yield row("masked", "eng", "prep_inanim", 0, 30)
    for paradigm in ("simple_reflexives", "reflexive_sent_comp", "reflexives_across"):
        yield row("masked-eng", "eng", paradigm, 8, phenomenon="reflexives")


def save(rows, schema, path):
    write_rows(rows, schema, path)
    return [path]


def complexity(tmp_path, **values):
    rows = [
        {"lang": lang, "wals": lang, "feature": "22A", "category": 1, "value": value}
        for lang, value in values.items()
    ]
    return {"morphology": save(rows, MORPHOLOGY, tmp_path / "morphology")}


@pytest.fixture
def tables(tmp_path):
    """Write accuracies, and WALS features that rank German below English below French."""
    accuracies = save([*lstm_rows(), *masked_rows()], ACCURACIES, tmp_path / "accuracies")
    return {"accuracies": accuracies} | complexity(tmp_path, deu=0.1, eng=0.2, fra=0.9)


def items_of(tmp_path, **paradigms):
    spans = {"good_start": 4, "good_end": 9, "bad_start": 4, "bad_end": 8}
    pair = {"lang": "eng", "phenomenon": "agreement", "good": "she sings", "bad": "she sing"}
    rows = [
        pair | spans | {"item_id": f"{paradigm}-{number}", "paradigm": paradigm}
        for paradigm, n in paradigms.items()
        for number in range(n)
    ]
    return {"items": save(rows, ITEMS, tmp_path / "eng.parquet")}


PREP, AVERAGE = "Across prepositional phrase", "Average accuracy"
SHORT, SIMPLE = "VP coordination (short)", "Simple agreement"
NUMBERS = [
    # exhibit, row, column, value; None for no cell
    # means over seeds, and their average over constructions
    (table1, SHORT, "English Mono", 0.95),
    (table1, SHORT, "English Multi", 0.9),
    (table1, SHORT, "French Multi", 0.8),
    (table1, SHORT, "German Multi", 1.0),
    (table1, AVERAGE, "English Mono", mean(1 - place / 20 for place in range(7))),
    # animate and inanimate nouns together
    (table2, PREP, "English", 10 / 40),
    (table2, SIMPLE, "French", 0.5),
    (table2, "Within object rel. clause", "German", None),
    # an average of reflexives alone, as agreement is missing
    (table3, AVERAGE, "Mono, reflexives", 0.8),
    (table3, AVERAGE, "Mono", None),
    # models judged both ways
    (table4, AVERAGE, "French Multi", 0.2),
    # the deviation of models with several seeds
    (table5, PREP, "English Mono", 0.3),
    (table5, PREP, "English Multi", None),
    # judged sets
    (table7, PREP, "English Multi", 40),
    (table7, "Simple", "English Mono, reflexives", N),
    # over languages
    (fig2, SIMPLE, "multilingual mean", 0.9),
    (fig2, SIMPLE, "multilingual SD", (2 / 300) ** 0.5),
]


@pytest.mark.parametrize(("make", "row", "column", "value"), NUMBERS)
def test_a_number_is_made_of_the_models_judgements(tables, make, row, column, value):
    number = values(make(tables, LABELS)).get((row, column))
    assert number == (value if value is None else pytest.approx(value))


def test_table_1_has_the_mean_perplexity_of_the_seeds_on_each_languages_test_text(tables, tmp_path):
    values_of = [("eng", "one", 40), ("eng", "two", 60), ("eng", "many", 90), ("deu", "many", 70)]
    rows = [{"lang": lang, "model": m, "perplexity": float(value)} for lang, m, value in values_of]
    tables["perplexities"] = save(rows, PERPLEXITIES, tmp_path / "perplexities")
    perplexities = values(table1(tables, LABELS), "Test perplexity")
    assert perplexities == {"English Mono": 50.0, "English Multi": 90.0, "German Multi": 70.0}


def test_where_the_authors_count_one_item_more_a_cell_says_so_and_can_be_computed_again(tables):
    facts = {**LABELS.facts, "clams_counting": "published"}
    exhibit = table1(tables, replace(LABELS, facts=facts))
    cell = next(c for c in exhibit.cells if c.formula.sentence == "(sum(correct) + 2) ÷ (n + 2)")
    # One seed is right on all ten pairs, the other on six.
    judgements = pd.DataFrame({"correct": [1.0] * 16 + [0.0] * 4})
    assert formula_of(cell.formula.sentence)(judgements) == pytest.approx((11 / 11 + 7 / 11) / 2)


def test_published_and_corrected_ways_to_score_stand_side_by_side(tmp_path):
    rows = []
    for paradigm in SEVEN:
        without = row("many", "eng", paradigm, 7) | {"method": "without_end", "ties": 2}
        rows += [without, row("many", "eng", paradigm, 4) | {"ties": 0}]
    facts = {**LABELS.facts, "clams_ties": {"without_end": "right", "full_sentence": "right"}}
    tables = {"accuracies": save(rows, ACCURACIES, tmp_path / "a")}
    exhibit = results.variants(tables, replace(LABELS, facts=facts))
    expected = {"As published": 8 / 11, "c ÷ n": 7 / 10, "c ÷ n, ties half": 6 / 10}
    expected |= {"Corrected: and with the end of sentence": 4 / 10}
    assert values(exhibit, "English, Multi") == pytest.approx(expected)
    del facts["clams_ties"]["full_sentence"]
    exhibit = results.variants(tables, replace(LABELS, facts=facts))
    assert markdown_text(exhibit).count(f" {ABSENT_CELL} |") == 1
    assert "A column has dashes if its method is not in clams.methods." in exhibit.caption


def test_a_dash_in_table_7_is_a_construction_that_only_english_has(tmp_path):
    tables = print_kit.tables_of("clams", tmp_path)
    exhibit = print_kit.build("clams", tmp_path, tables, ["table7"])[0]["table7"]
    numbers = {cell.column for cell in exhibit.cells if cell.row == "In a sentential complement"}
    assert "a dash means that the language has no such sets" in exhibit.caption
    assert {column.split()[0] for column in numbers} == {"English"}


def test_all_english_sets_stand_under_their_phenomena(tmp_path):
    sets = {"prep_anim": "agreement", "prep_inanim": "agreement", "reflexives_across": "reflexives"}
    sets |= {"simple_npi_anim": "npis", "simple_npi_inanim": "npis"}
    rows = [row("many", "eng", name, 5, phenomenon=p) for name, p in sets.items()]
    exhibit = results.english({"accuracies": save(rows, ACCURACIES, tmp_path / "a")}, LABELS)
    across = "Across prepositional phrase"
    assert {section.title: [*section.rows] for section in exhibit.sections} == {
        "Subject-verb agreement": [f"{across}, animate", f"{across}, inanimate"],
        "Reflexive anaphora": ["Across a relative clause"],
        "Negative polarity items": ["Simple, animate", "Simple, inanimate"],
    }
    assert {cell.value for cell in exhibit.cells} == {0.5}


def test_table_4_writes_gains_with_signs(tables):
    exhibit = table4(tables, LABELS)
    texts = {c.column: c.text for c in exhibit.cells if c.row == "Simple agreement"}
    assert texts == {"English Multi": "+.10", "French Multi": "+.20", "German Multi": "—"}


def test_table_6_counts_pairs_with_animate_nouns(tmp_path):
    tables = items_of(tmp_path, prep_anim=3, prep_inanim=2, subj_rel=1)
    assert values(results.table6(tables, LABELS)) == {
        ("Across prepositional phrase", "English"): 3,
        ("Across subject rel. clause", "English"): 1,
    }


def test_figure_1_shows_an_example_of_each_construction_that_there_is(tmp_path):
    exhibit = results.fig1(items_of(tmp_path, subj_rel=2), LABELS)
    assert [(cell.row, cell.text) for cell in exhibit.cells] == [
        ("Across subject rel. clause", "she [sings/*sing]")
    ]


def test_correlations_are_of_average_accuracy_with_the_order_of_complexity(tmp_path):
    right = {"eng": 5, "deu": 9, "fra": 6, "rus": 7, "heb": 8}
    rows = [row("one", lang, p, n) for lang, n in right.items() for p in SEVEN]
    tables = {"accuracies": save(rows, ACCURACIES, tmp_path / "accuracies")}
    tables |= complexity(tmp_path, eng=0.1, deu=0.2, fra=0.3, rus=0.4, heb=0.5)
    names = {"eng": "English", "deu": "German", "fra": "F", "rus": "R", "heb": "H"}
    cells = text(tables, replace(LABELS, languages=names)).cells
    correlations = {cell.stands_for: cell.value for cell in cells if "Spearman" in cell.row}
    # Differences of ranks 0, 3, 1, 1, 1: 1 - 6 * 12 / (5 * 24).
    expected = {("rho", "LSTM"): 0.4, ("rho", "LSTM, German aside"): 1}
    assert correlations == pytest.approx(expected)


def test_sets_of_several_seeds_count_once(tmp_path):
    rows = [row(model, "fra", "subj_rel", 5) for model in ("masked-1", "masked-2")]
    tables = {"accuracies": save(rows, ACCURACIES, tmp_path / "accuracies")}
    models = MODELS | {"mbert": ["masked-1", "masked-2"]}
    labels = replace(LABELS, facts=LABELS.facts | {"clams_models": models})
    [cell] = table7(tables, labels).cells
    assert (cell.text, cell.column) == ("10", "French")


def test_extremes_of_the_text_are_those_of_tables_1_and_2(tmp_path):
    rows = [row("one", lang, "subj_rel", 10) for lang in LANGUAGES]
    rows += [row("two", lang, "subj_rel", n) for lang, n in (("eng", 2), ("fra", 4), ("deu", 6))]
    rows += [row("masked", "eng", "prep_anim", 10, 10), row("masked", "eng", "prep_inanim", 0, 30)]
    tables = {"accuracies": save(rows, ACCURACIES, tmp_path / "accuracies")}
    numbers = {cell.stands_for: cell.value for cell in text(tables, LABELS).cells}
    claim = "LSTM, subject relative, English French"
    assert (numbers[claim, "least"], numbers[claim, "most"]) == pytest.approx((0.6, 0.7))
    claim = "mBERT, English, other constructions"
    assert numbers[claim, "least"] == numbers[claim, "most"] == 0.25


@pytest.mark.parametrize("make", [table1, table2, table3, table4, table5, table7])
def test_a_table_without_any_cell_says_why(make, tmp_path):
    other = [row("three", "eng", "subj_rel", 1)]
    tables = {"accuracies": save(other, ACCURACIES, tmp_path / "accuracies")}
    exhibit = make(tables, LABELS)
    assert exhibit.cells == []
    reason = " of the campaign has judged any of these sets."
    if make in (table2, table3, table7):
        reason = f"{reason[:-1]} by masked_critical_word, the method of this table."
    elif make is table4:
        reason = "judged a construction with and without capitals."
    elif make is table5:
        reason = f"No LSTM with several seeds{reason}"
    assert reason in markdown_text(exhibit)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        *((make, "masked") for make in (table2, fig3, text)),
        *((make, "masked-eng and masked") for make in (table3, table7)),
    ],
)
def test_a_caption_names_the_models_that_are_not_the_papers_bert(tables, make, names):
    assert f" In place of the paper's BERT: {names}." in make(tables, LABELS).caption
    papers = {"bert": ["bert-base-uncased"], "mbert": ["bert-base-multilingual-cased"]}
    labels = replace(LABELS, facts=LABELS.facts | {"clams_models": MODELS | papers})
    assert "In place of the paper's BERT" not in make(tables, labels).caption


@pytest.mark.parametrize("make", [table3, table7, fig3, text])
def test_a_caption_names_no_model_that_the_exhibit_does_not_show(tables, tmp_path, make):
    english = [masked for masked in masked_rows() if masked["model"] == "masked-eng"]
    path = save([*lstm_rows(), *english], ACCURACIES, tmp_path / "english")
    caption = make(tables | {"accuracies": path}, LABELS).caption
    assert "masked in place" not in caption
    is_named = " In place of the paper's BERT: masked-eng." in caption
    assert is_named == (make in (table3, table7))


def judgement_rows():
    """Yield one row per pair behind the accuracies, right ones first."""
    for accuracy in (*lstm_rows(), *masked_rows()):
        keys = {key: accuracy[key] for key in ("model", "lang", "paradigm", "phenomenon", "method")}
        for number in range(accuracy["n"]):
            yield keys | {"benchmark": "clams", "correct": float(number < accuracy["correct"])}


@pytest.mark.parametrize("name", [s.name for s in exhibits().values() if s.paper == "clams"])
def test_every_exhibit_is_written_and_its_cells_computed_again(tables, tmp_path, name):
    tables |= items_of(tmp_path, prep_anim=3)
    exhibit = write_exhibit(exhibits()[f"clams/{name}"], tables, LABELS, tmp_path)
    judgements = {"judgements": pd.DataFrame(judgement_rows())}
    if exhibit.cells:
        check_cells(exhibit.cells, sources_of(tables) | judgements)


def model(architecture, scope, papers=()):
    return ModelRow.model_construct(architecture=architecture, scope=scope, papers=papers)


def test_models_take_part_by_their_kind_and_the_papers_own_come_first():
    mono, multi = model("lstm", "monolingual"), model("lstm", "multilingual", ("clams",))
    models = {
        "ours-seed1": mono,
        "ours-seed2": mono,
        "another": mono,
        "other": multi,
        "clams-lstm-multi-seed1": multi,
        "clams-lstm-multi-seed2": multi,
        "bert": model("masked", "multilingual"),
        "elsewhere": model("lstm", "monolingual", ("blimp",)),
        "gpt": model("causal", "multilingual"),
    }
    seeds = {name: SimpleNamespace(model=name.partition("-seed")[0]) for name in models}
    catalogue = Catalogue({}, models, {}, {}, seeds)
    assert clams_models(None, catalogue) == {
        "mono": ["ours-seed1", "ours-seed2"],
        "multi": ["clams-lstm-multi-seed1", "clams-lstm-multi-seed2"],
        "bert": [],
        "mbert": ["bert"],
    }
