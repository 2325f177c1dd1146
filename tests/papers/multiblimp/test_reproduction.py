"""What MultiBLiMP prints, against what its other numbers and the release make of it."""

import lzma
from collections import Counter

import pytest

from blimpworks.campaign.catalogue import LanguageRow, ModelRow
from blimpworks.campaign.exhibits import exhibits
from blimpworks.campaign.table_files import read_rows
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.multiblimp.analysis.frequencies import build_frequencies
from blimpworks.papers.multiblimp.exhibits.evaluation import PAIRS
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.reproduction.printed import read_published
from blimpworks.reproduction.published import Paper, compare
from blimpworks.tables import read_table
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
PRINTED = CONFIG / "published/multiblimp"
LANGUAGES = read_rows(LanguageRow, CONFIG / "languages.tsv")
GROUPS = dict.fromkeys(("goldfish", "aya", "eurollm"), ())
BUILT = ("table1", "table3", "tableb2", "text")
CAPTIONS = {
    "table3": "The English column agrees for 11 of 11 models",
    "tableb2": "for Old Russian. Languages by model: Goldfish 125M 14, Llama3 70B 7, Aya 32B-it 1,",
}
"""Where printed tables agree."""
DISPLACED = {"cym", "wol", "sah", "san"}
"""Languages of Table B.2 that our copy of Table 5 ends before."""

pytestmark = pytest.mark.xdist_group("multiblimp-print")  # they share what is made once


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    root = tmp_path_factory.mktemp("print")
    printed, accuracies = sorted(PRINTED.glob("*.csv")), root / "accuracies.parquet"
    read_published([PRINTED / "table5.csv"], "multiblimp", accuracies)
    rows = read_rows(ModelRow, CONFIG / "models.tsv")
    models = {row.name: row.label for row in rows if "multiblimp" in row.papers}
    names = {row.lang: row.name for row in LANGUAGES}
    labels = Labels(names, models, "printed", {"groups": GROUPS}, "published")
    tables = {"printed": printed, "accuracies": [accuracies]}
    cells = {name: root / f"{name}.cells.parquet" for name in BUILT}
    for name, path in cells.items():
        spec = exhibits()[f"multiblimp/{name}"]
        caption = build_exhibit(spec, tables, labels, path, []).caption
        assert CAPTIONS.get(name, "") in caption
    paper = Paper("multiblimp", printed, PRINTED / "reasons.tsv", cells, accuracies)
    return {(row["exhibit"], row["row"], row["column"]): row for row in compare(paper)}


def statuses(comparison, exhibit, column=None):
    return {
        row: compared["status"]
        for (where, row, key), compared in comparison.items()
        if where == exhibit and key in (column or key)
    }


@pytest.mark.slow
def test_accuracy_on_all_pairs_follows_from_that_on_each_group_of_languages(comparison):
    by_model = statuses(comparison, "table3", ["all"])
    rounded = {"llama-3.1-70b", "aya-expanse-32b"}
    assert by_model.pop("goldfish") == "not recomputable"  # it has 70 of the languages
    assert len(by_model) == 10
    assert {model for model, status in by_model.items() if status == "rounding"} == rounded
    assert {by_model[model] for model in {*by_model} - rounded} == {"exact"}


@pytest.mark.mirror
def test_groups_have_these_pairs_by_the_release_and_the_text_on_the_web(mirror, tmp_path):
    totals, table = tmp_path / "totals.tsv", tmp_path / "frequencies.parquet"
    copy = mirror / "glotcc/v1.0-language-totals.tsv.xz"
    totals.write_bytes(lzma.decompress(copy.read_bytes()))
    build_frequencies(totals, CONFIG / "languages.tsv", CONFIG / "frequency_codes.tsv", table)
    pairs = {row.lang: row.paper_n for row in LANGUAGES}
    sizes = Counter()
    for row in read_table(FREQUENCIES, table).to_pylist():
        sizes[row["resources"]] += pairs[row["lang"]]
    assert sizes == PAIRS


def test_accuracies_of_table_b2_that_table_5_has_can_be_read(comparison):
    cells = {
        row: compared
        for (exhibit, row, column), compared in comparison.items()
        if exhibit == "tableb2" and column != "p"
    }
    garbled = [row for row, compared in cells.items() if compared["status"] == "garbled"]
    assert sorted(garbled) == sorted(DISPLACED)
    for lang in ("sme", "got", "kpv", "lat", "fro", "fra"):
        assert cells[lang]["status"] == "exact"
        assert cells[lang]["recomputed"] == pytest.approx(float(cells[lang]["printed"]), abs=0.05)


def test_probabilities_of_two_values_are_complements_and_no_evidence_of_each_other(comparison):
    rows = {key: row for key, row in comparison.items() if key[0] == "table1"}
    assert Counter(row["status"] for row in rows.values()) == {"complement": 16}
    row = rows["table1", "PL SG SV", "tur"]
    assert "complement of table1/PL PL SV/tur" in row["note"]


def test_the_printed_total_is_not_the_sum_of_the_pairs_by_language(comparison):
    total = sum(row.paper_n for row in LANGUAGES if row.paper_n)
    row = comparison["text", "data", "pairs"]
    assert row["status"] == "erratum"
    assert f"{total:,}, which is 128,321 − {128_321 - total:,}" in row["note"]


def test_the_pairs_by_language_are_those_of_table_5_where_it_can_be_read(comparison):
    pairs = {row.lang: row.paper_n for row in LANGUAGES if row.is_of("multiblimp")}
    rows = [row for key, row in comparison.items() if (key[0], key[2]) == ("table5", "n")]
    legible = {row["row"]: row for row in rows}
    assert (len(pairs), len(legible)) == (101, 71)
    note = comparison["text", "data", "pairs"]["note"]
    assert f"{len(legible)} of {len(pairs)} legibly" in note
    garbled = {lang for lang, row in legible.items() if row["status"] == "garbled"}
    assert all(pairs[lang] == int(legible[lang]["printed"]) for lang in {*legible} - garbled)
