"""Test a report card's data: inputs, accuracies, tests, ranks, gaps and worst items."""

import math
from itertools import product

import pytest
import yaml

from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import check_campaign
from blimpworks.errors import UserError
from blimpworks.evaluation.build import build_card, model_results
from blimpworks.evaluation.card import card_facts, card_tables, read_card
from blimpworks.evaluation.judged import with_holm
from blimpworks.evaluation.measured import unknown_words
from blimpworks.evaluation.show import CardText
from support import card_kit
from support.card_kit import facts, sentences, write_evaluation, write_printed
from support.judging_kit import write_scores
from support.paths import REPOSITORY

pytestmark = pytest.mark.usefixtures("at_root")
FILE = "config/demo/config.yaml"


def layout_of(**changes):
    settings = yaml.safe_load((REPOSITORY / FILE).read_text(encoding="utf-8"))
    return Layout.of(check_campaign(settings | changes, FILE))


def test_benchmarks_are_those_that_models_are_run_on():
    facts = card_facts(layout_of(), FILE)
    assert [*facts["benchmarks"]] == ["multiblimp", "demo_pairs", "demo_suites"]
    pairs = facts["benchmarks"]["multiblimp"]
    languages = {name: ["deu", "eng", "fra"] for name in ("ngram-5", "transformer-small")}
    assert pairs["languages"] == languages
    assert pairs["methods"]["ngram-5"][0] == "full_sentence"
    assert (pairs["noun"], pairs["chance"]) == ("pair", 0.5)
    suites = facts["benchmarks"]["demo_suites"]
    assert (suites["noun"], suites["chance"]) == ("item", None)
    assert card_facts(layout_of(models=[]), FILE)["benchmarks"] == {}


def test_tables_samples_and_licences_follow_the_campaign():
    facts = card_facts(layout_of(limit=40), FILE)
    pairs = facts["benchmarks"]["multiblimp"]
    assert pairs["all_items"]["deu"] == "results/demo/items/multiblimp/deu.parquet"
    assert pairs["items"]["deu"] != pairs["all_items"]["deu"]
    facts = card_facts(layout_of(), FILE)
    assert facts["benchmarks"]["multiblimp"]["all_items"] == {}
    tables = card_tables(facts)
    assert len({*tables}) == len(tables)
    assert "results/demo/accuracies/printed/multiblimp.parquet" in tables
    assert not any("sensitivity" in table for table in tables)
    layout = layout_of(benchmarks=["turblimp"], languages=["tur"], unpinned="skip")
    cited = card_facts(layout, FILE)["benchmarks"]["turblimp"]["citation"]
    assert cited.endswith(f" Licence: {layout.licences_of('turblimp')}.")


def test_phenomena_whose_names_differ_in_signs_are_tasks_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(card_kit, "PHENOMENA", {"eng": ["a b"] * 4 + ["a/b"] * 4, "deu": ["c"] * 4})
    card, of_tables = build_card(facts(write_evaluation(tmp_path))), facts(tmp_path)
    results = model_results(card, of_tables, "small")
    tasks = ["pairs_eng_a_b_1", "pairs_eng_a_b_2"]
    assert results["group_subtasks"]["pairs_eng"] == tasks
    assert [results["results"][task]["acc,none"] for task in tasks] == [0.75, 0.5]


def test_sensitivity_is_of_models_and_benchmarks_that_have_the_choice():
    layout = layout_of(report_card={"sensitivity": True})
    facts = card_facts(layout, FILE)["benchmarks"]
    # KenLM starts each sentence itself, and suites have no pairs.
    assert facts["multiblimp"]["sensitivity"] == {"transformer-small": ["deu", "eng", "fra"]}
    assert facts["demo_suites"]["sensitivity"] == {}
    tables = card_tables(card_facts(layout, FILE))
    assert "results/demo/sensitivity/multiblimp/deu/transformer-small/parity.parquet" in tables


@pytest.mark.parametrize(
    ("benchmarks", "declared", "published"),
    [
        (["demo_pairs"], True, set()),
        (["demo_pairs", "demo_suites"], True, {"demo_suites"}),
        (["multiblimp", "demo_pairs"], False, {"multiblimp", "clams", "blimp"}),
    ],
)
def test_declared_benchmarks_ask_for_nothing_that_papers_print(benchmarks, declared, published):
    layout = layout_of(benchmarks=benchmarks)
    assert layout.is_declared is declared
    assert {*layout.published_papers} >= published
    assert not declared or {*layout.published_papers} == published


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_evaluation(tmp_path_factory.mktemp("evaluation"))


@pytest.fixture(scope="module")
def card(root):
    return build_card(facts(root))


def benchmark_of(root, **changes):
    """Return the benchmark in the card of facts with changes."""
    (benchmark,) = build_card(facts(root, **changes))["benchmarks"]
    return benchmark


def rows_of(card):
    (benchmark,) = card["benchmarks"]
    return {(row["lang"], row["phenomenon"]): row["models"] for row in benchmark["rows"]}


def test_accuracies_of_languages_are_shares_with_wilsons_interval(card):
    small = rows_of(card)["eng", "all"]["small"]
    assert (small["accuracy"], small["n"]) == (5 / 8, 8)
    # Wilson's interval of 5 in 8, by hand: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    z, n, p = 1.959964, 8, 5 / 8
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    ends = [(p + z * z / (2 * n) + end) / (1 + z * z / n) for end in (-half, half)]
    assert [small["low"], small["high"]] == pytest.approx(ends, abs=1e-6)
    person = rows_of(card)["eng", "person"]["small"]
    assert (person["accuracy"], person["ties"], person["near_ties"]) == (0.5, 1, 1)


def test_over_all_languages_every_item_counts_once(card):
    every = rows_of(card)["all", "all"]
    accuracies = {model: each["accuracy"] for model, each in every.items()}
    assert accuracies == pytest.approx({"small": 7 / 12, "large": 11 / 12})
    assert {each["n"] for each in every.values()} == {12}
    mean = rows_of(card)["mean", "all"]["small"]
    assert mean["accuracy"] == pytest.approx((5 / 8 + 2 / 4) / 2), "every language counts once"
    assert mean["low"] < mean["accuracy"] < mean["high"]
    assert [*rows_of(card)] == [
        *[("all", "all"), ("all", "number"), ("all", "person"), ("mean", "all")],
        *[("eng", "all"), ("eng", "number"), ("eng", "person")],
        *[("deu", "all"), ("deu", "number")],
    ]


def test_baselines_stand_beside_accuracies_where_they_know_every_item(root, monkeypatch):
    monkeypatch.setattr("blimpworks.analysis.baselines.frequency_code", {"eng": "en"}.get)
    card = build_card(facts(root))
    (benchmark,) = card["benchmarks"]
    found = {(row["lang"], row["phenomenon"]): row["baselines"] for row in benchmark["rows"]}
    assert found["eng", "number"]["longer"] == found["eng", "all"]["longer"] == 1
    assert found["deu", "all"] == {"longer": 0, "shorter": 1}
    assert found["all", "all"] == pytest.approx({"longer": 8 / 12, "shorter": 4 / 12})
    assert found["mean", "all"] == {"longer": 0.5, "shorter": 0.5}
    assert 0 <= found["eng", "all"]["frequent words"] <= 1
    note = CardText(card).baselines_note(benchmark)
    assert note.endswith("wordfreq gives no frequencies of German here.")


def test_words_that_a_model_of_words_does_not_know_are_counted(root, tmp_path):
    tokens = [(-1.0, end) for end in (3, 7, 11, 11)]
    ids = {(0, "good"): [5, 0, 6, 1], (0, "bad"): [5, 9, 6, 1]}
    scores = write_scores(tmp_path / "scores.parquet", [(tokens, tokens)], ids=ids)
    assert unknown_words([scores, scores]) == 1 / 6
    given = facts(root)
    given["models"]["small"] |= {"architecture": "ngram", "engine": "kenlm"}
    card = build_card(given)
    assert card["benchmarks"][0]["unknown"] == {"small": 0.0}
    line = CardText(card).unknown_words(card["benchmarks"][0])
    assert line == "Unknown words: Small model 0.0 % of all words."


def test_models_are_compared_on_the_same_items_and_corrected_for_all_tests(card):
    (benchmark,) = card["benchmarks"]
    tests = {test["lang"]: test for test in benchmark["tests"]}
    counts = {lang: (test["a"], test["only_a"], test["only_b"]) for lang, test in tests.items()}
    assert counts == {"all": ("small", 0, 4)} | dict.fromkeys(("eng", "deu"), ("small", 0, 2))
    # Chi-squared with continuity correction: (2 - 1)²/2 and (4 - 1)²/4 with one degree of freedom.
    assert tests["eng"]["p"] == pytest.approx(math.erfc(math.sqrt(0.5 / 2)))
    assert tests["all"]["p"] == pytest.approx(math.erfc(math.sqrt(2.25 / 2)))
    assert tests["all"]["adjusted"] == pytest.approx(3 * tests["all"]["p"])
    assert tests["eng"]["adjusted"] == pytest.approx(2 * tests["eng"]["p"])
    assert card["tests"] == 3
    (single,) = with_holm([{**tests["eng"], "p": 0.03}])
    assert single["adjusted"] == pytest.approx(0.03)


def test_few_pairs_are_tested_exactly_where_asked_for_and_one_language_once(root):
    tests = benchmark_of(root, mcnemar="corrected")["tests"]
    p_values = {test["lang"]: test["p"] for test in tests}
    assert p_values == pytest.approx({"all": 2 / 2**4, "eng": 2 / 2**2, "deu": 2 / 2**2})
    tests = benchmark_of(root, languages={"small": ["eng", "deu"], "large": ["eng"]})["tests"]
    assert [test["lang"] for test in tests] == ["eng"]


def test_our_models_stand_at_their_ranks_among_the_printed_ones(root):
    cells = [("huge", "eng", 0.95), ("huge", "deu", 0.9), ("tiny", "eng", 0.6253)]
    cells.append(("tiny", "deu", 0.3))
    rows = [(model, lang, "all", "all", accuracy) for model, lang, accuracy in cells]
    benchmark = benchmark_of(root, printed=write_printed(root, rows))
    rankings = {each["lang"]: each for each in benchmark["rankings"]}
    places = {
        lang: ", ".join(f"{p['rank']} {'our ' * p['ours']}{p['model']}" for p in each["places"])
        for lang, each in rankings.items()
    }
    assert places == {
        "mean": "1 our large, 2 huge, 3 our small, 4 tiny",
        "eng": "1 huge, 2 our large, 3 tiny, 3 our small",  # which are printed alike
        "deu": "1 our large, 2 huge, 3 our small, 4 tiny",
    }
    note = "Printed numbers are over 100 pairs, ours over 8; they are not the same items."
    assert note in rankings["eng"]["notes"]


def test_of_print_with_phenomena_the_means_are_over_those_in_common(root):
    rows = [
        *[("huge", "eng", "number", "all", 0.9), ("huge", "eng", "person", "all", 0.5)],
        *[("huge", "eng", "case", "all", 0.1), ("tiny", "eng", "number", "all", 0.8)],
    ]
    card = build_card(facts(root, printed=write_printed(root, rows)))
    (ranking,) = card["benchmarks"][0]["rankings"]
    accuracies = {place["model"]: place["accuracy"] for place in ranking["places"]}
    means = {"huge": 0.7, "small": (3 / 4 + 2 / 4) / 2, "large": (4 / 4 + 3 / 4) / 2}
    assert accuracies == pytest.approx(means)
    assert "Means over the 2 phenomena that both have." in ranking["notes"]
    # One number has one interval: the mean is the accuracy on all items of the language.
    ours = {place["model"]: place for place in ranking["places"] if place["ours"]}
    for model, accuracy in rows_of(card)["eng", "all"].items():
        for bound in ("low", "high"):
            assert ours[model][bound] == pytest.approx(accuracy[bound], abs=1e-12)
    assert "Left out, because some of the numbers are missing: Tiny." in ranking["notes"]


def test_a_model_is_held_against_printed_models_of_its_size_alone(root):
    cells = product({"tiny": 0.9, "peer": 0.7, "huge": 1}.items(), ("number", "person"))
    rows = [(model, "eng", name, "all", accuracy) for (model, accuracy), name in cells]
    classes = benchmark_of(root, printed=write_printed(root, rows))["size_classes"]
    # Small has 1 B parameters, near 0.5 B and 2 B, whose means are 0.8; large, 7 B, has no peer.
    assert classes["small"]["models"] == ["Tiny", "Peer"]
    assert [(g["label"], g["difference"]) for g in classes["small"]["gaps"]] == [
        ("person", pytest.approx(0.5 - 0.8)),
        ("number", pytest.approx(0.75 - 0.8)),
    ]
    assert classes["large"]["gaps"] == []
    assert classes["large"]["note"].startswith("No other printed model is of its size")


def test_where_print_has_no_phenomena_gaps_are_by_language(root):
    rows = [("peer", "eng", "all", "all", 0.9), ("peer", "deu", "all", "all", 0.4)]
    benchmark = benchmark_of(root, printed=write_printed(root, rows))
    (gap,) = benchmark["size_classes"]["small"]["gaps"]
    assert (gap["label"], gap["difference"]) == ("English", pytest.approx(5 / 8 - 0.9))


def test_worst_items_have_the_most_negative_margins_and_their_words(card):
    worst = card["benchmarks"][0]["worst"]
    assert [item["lang"] for item in worst["small"]] == ["eng", "deu", "deu", "eng"]
    assert [item["margin"] for item in worst["small"]] == pytest.approx([-5, -4, -3, -1])
    assert [item["margin"] for item in worst["large"]] == pytest.approx([-2])
    item = worst["small"][0]
    sides = {side["name"]: side["text"] for side in item["sides"]}
    assert sides == {"good": "the dog 6 sees", "bad": "the dog 6 see"}
    (columns,) = item["blocks"]
    words = [[(word["text"], word["logprob"]) for word in column["words"]] for column in columns]
    assert words[:3] == [[(text, -1.0)] * 2 for text in ("the", "dog", "6")]
    assert words[3:] == [[("sees", -17.0), ("see", -12.0)]]
    assert [column["differs"] for column in columns] == [False, False, False, True]


def test_a_pair_that_stands_in_two_phenomena_is_shown_once(tmp_path):
    root = write_evaluation(tmp_path, lambda lang: [sentences(lang)[0]] * len(sentences(lang)))
    for count, expected in ((10, [-5, -4]), (1, [-5])):
        worst = build_card(facts(root) | {"worst": count})["benchmarks"][0]["worst"]["small"]
        assert [item["margin"] for item in worst] == pytest.approx(expected)


def test_what_is_no_card_or_has_none_is_refused(root, tmp_path):
    path = tmp_path / "card.json"
    path.write_text('{"format": 7}', encoding="utf-8")
    with pytest.raises(UserError, match="no report card of format 2; give a "):
        read_card(path)
    with pytest.raises(UserError, match="no model is run on a benchmark"):
        build_card(facts(root) | {"benchmarks": {}})
