"""UrBLiMP's exhibits that the paper has not: rules, samples, and what lengths do to decisions."""

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest

from blimpworks.errors import UserError
from blimpworks.exhibits import text_layout
from blimpworks.exhibits.render import html_text, latex_text, markdown_text
from blimpworks.exhibits.shared import by_method
from blimpworks.papers.urblimp.analysis.lengths import clearest_pair, compare_lengths, words_of
from blimpworks.papers.urblimp.exhibits.accuracies import read_paradigms
from blimpworks.papers.urblimp.exhibits.data import table2, table10
from blimpworks.papers.urblimp.exhibits.evaluation import table4, table7
from blimpworks.papers.urblimp.exhibits.lengths import examples_fig, lengths
from blimpworks.papers.urblimp.exhibits.rules import rules, samples
from blimpworks.papers.urblimp.settings import PSEUDO, UrblimpOptions
from blimpworks.tables import ITEMS, Evaluation, read_table, write_table
from support.paths import REPOSITORY
from support.urblimp_results_kit import (
    HINDI,
    LABELS,
    METHODS,
    OBJECT,
    PRONOUN,
    URDU,
    campaign,
    cell,
)

PRINTED = sorted((REPOSITORY / "config/published/urblimp").glob("*.csv"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return campaign(tmp_path_factory.mktemp("urdu"), {"urd": URDU}, PRINTED)


def test_models_that_guess_are_shown_by_pseudo_perplexity_beside_the_others(tables):
    rows = read_paradigms(tables, LABELS)
    assert dict(zip(rows["model"], rows["method"], strict=True)) == METHODS
    options = UrblimpOptions()
    assert options.methods_of("masked")[0] == METHODS["masked-small"]
    assert options.methods_of("ngram")[0] == METHODS["ngram-5"]
    exhibit = table4(tables, LABELS)
    assert {c.row for c in exhibit.cells} == {"5-gram", "Masked"}
    assert "pseudo-perplexity" in exhibit.caption
    average = [c for c in table7(tables, LABELS).cells if c.column == "Average"]
    assert {tuple(c.where["method"]) for c in average} == {("perplexity", "pseudo_perplexity")}


def test_a_model_judged_by_both_counts_once():
    both = ["perplexity", "pseudo_perplexity"]
    models = ["both", "both", "causal", "masked", "masked"]
    rows = pd.DataFrame({"model": models, "method": [*both, *both, "full_sentence"]})
    assert list(by_method(rows, "perplexity", PSEUDO["perplexity"]).index) == [0, 2, 3]
    assert list(by_method(rows, "full_sentence", PSEUDO.get("full_sentence")).index) == [4]


def test_rules_add_up_to_the_matches(tables):
    frame = rules(tables, LABELS).layout("value").set_index("Paradigm")
    rejected = [column for column in frame if str(column).startswith("Rejected")]
    parts = frame[["Pairs", *rejected]].astype(float).sum(axis=1)
    matched = frame["Matches"].astype(float)
    assert (parts[matched.notna()] == matched[matched.notna()]).all()
    assert frame.loc["All paradigms", "Pairs"] == sum(map(len, URDU.values()))


def test_reasons_are_put_together_and_stand_beside_the_papers_numbers(tables):
    exhibit = rules(tables, LABELS)
    assert cell(exhibit, "Dative object: noun", "Rejected: no form").value == 2 + 3
    assert cell(exhibit, "Dative object: noun", "Rejected: other").value == 4
    assert cell(exhibit, "Dative object: noun", "Paper").value == 160
    # Without a rule of ours.
    assert cell(exhibit, "Aspect", "Paper, implied").value == 401
    assert not any(c.stands_for for c in exhibit.cells)
    assert "Aspect" in exhibit.caption


def test_rules_of_two_languages_stand_under_their_names(tmp_path):
    exhibit = rules(campaign(tmp_path, {"hin": HINDI, "urd": URDU}, PRINTED), LABELS)
    assert [next(iter(section.rows)) for section in exhibit.sections] == ["Urdu", "Hindi"]
    assert cell(exhibit, "Hindi: Dative object: noun", "Pairs").value == 1
    assert not [c for c in exhibit.cells if c.row.startswith("Hindi") and c.column == "Paper"]


def test_samples_name_rule_change_and_line_and_mark_what_differs(tables):
    exhibit = samples(tables, LABELS)
    assert len(exhibit.cells) == sum(map(len, URDU.values()))
    row = f"urd-{OBJECT}-2 {OBJECT}"
    assert "[کو بلایا۔/*بلایا۔]" in cell(exhibit, row, "Pair").text
    remarks = {"Rule": "plain", "Change": "deletion, constructed", "Source": "t.conllu:20"}
    assert exhibit.remarks[row] == remarks


@pytest.mark.parametrize("make", [samples, table2, table10])
def test_urdu_says_so_in_html_and_is_set_apart_in_latex_and_markdown(tables, make):
    exhibit = make(tables, LABELS)
    cells = re.findall(r"<td[^>]*>[^<]*[\u0600-\u06ff][^<]*</td>", html_text(exhibit))
    assert cells
    assert all('dir="rtl" lang="ur"' in cell_text for cell_text in cells)
    assert "\\righttoleft{" in latex_text(exhibit)
    assert "\\babelfont[urdu]" in latex_text(exhibit)
    assert markdown_text(exhibit).count("\u2067") == len(cells)


def test_a_deleted_cheap_word_is_right_by_token_and_wrong_in_sum(tables):
    exhibit = lengths(tables, LABELS)
    for model in ("5-gram", "Masked"):
        row = f"{model}: deletion"
        values = [cell(exhibit, row, column).value for column in ("Pairs", "Unequal tokens")]
        assert values == [3, 100]
        assert cell(exhibit, row, "Accuracy by token").value == 100
        assert cell(exhibit, row, "Accuracy in sum").value == 0
        assert cell(exhibit, row, "Decided differently").value == 100
        same = cell(exhibit, f"{model}: replacement", "Decided differently")
        assert (same.value, same.n) == (0, 2)


def test_a_token_counts_for_the_word_that_it_ends_in():
    text = "اس کو دی"
    # "اس", " ", "ک", "و", " دی", end
    result = words_of(text, [2, 3, 4, 5, 8, 8], [-math.log(2)] * 6)
    words = [(word, tokens) for word, tokens, _ in result]
    assert words == [("اس", 1), ("کو", 3), ("دی", 1), (None, 1)]


def test_the_pair_that_is_shown_parts_most_among_short_ones():
    def pair(name, by_token, good="ا ب", differently=True):
        keys = {"item_id": name, "paradigm": OBJECT, "change": "deletion", "unequal": True}
        return {**keys, "differently": differently, "good": good, "per_token": by_token}

    result = [
        pair("long", 9.0, good="ا " * 40),
        pair("b", 0.5),
        pair("a", 0.5),
        pair("less", 0.1),
        pair("same", 5.0, differently=False),
    ]
    assert clearest_pair(result, Counter({OBJECT: 3}))["item_id"] == "a"
    assert clearest_pair([result[-1]], Counter({OBJECT: 3})) is None


def test_items_of_another_benchmark_have_no_change_and_say_so(tables, tmp_path):
    items = tmp_path / "urd.parquet"
    write_table(read_table(ITEMS, tables["items"][0], ITEMS.names), ITEMS, items)
    evaluation = Evaluation("m", "urd", items, tmp_path / "s.parquet", tmp_path / "j.parquet")
    with pytest.raises(UserError, match="no column change"):
        compare_lengths([evaluation], "wrong", tmp_path / "l.parquet", tmp_path / "w.parquet")
    with pytest.raises(UserError, match="name at least one model"):
        compare_lengths([], "wrong", tmp_path / "l.parquet", tmp_path / "w.parquet")


def test_the_figure_shows_the_first_model_that_reads_from_left_to_right(tables):
    labels = replace(LABELS, models=dict(reversed(LABELS.models.items())))
    exhibit = examples_fig(tables, labels)
    assert {c.where["model"] for c in exhibit.cells} == {"ngram-5"}
    assert "in bits of 5-gram" in exhibit.caption
    good, bad = (cell(exhibit, "in all", name) for name in ("Grammatical", "Ungrammatical"))
    assert good.value - bad.value == pytest.approx(1)
    means = [cell(exhibit, "per token", c.column).value for c in (good, bad)]
    assert means[0] < means[1]


def test_without_a_font_words_are_numbered_listed_and_a_package_named(tables, monkeypatch, caplog):
    bundled = str(Path(mpl.get_data_path()) / "fonts")
    kept = [f for f in text_layout.font_manager.fontManager.ttflist if f.fname.startswith(bundled)]
    assert kept
    monkeypatch.setattr(text_layout.font_manager.fontManager, "ttflist", kept)
    monkeypatch.setattr(text_layout.font_manager, "findSystemFonts", list)
    exhibit = examples_fig(tables, LABELS)
    labels = [tick.get_text() for tick in exhibit.figure.axes[0].get_xticklabels()]
    assert labels == [str(n + 1) for n in range(len(labels))]
    assert re.search(r"Words: 1 \S+, 2 نے", exhibit.caption)
    assert "fonts-hosny-amiri" in caplog.text


def test_a_campaign_where_nothing_parts_has_a_figure_that_says_so(tmp_path):
    pairs = {(PRONOUN, "replacement"): URDU[PRONOUN, "replacement"]}
    exhibit = examples_fig(campaign(tmp_path, {"urd": pairs}, PRINTED), LABELS)
    assert exhibit.cells == []
    assert exhibit.figure is not None
