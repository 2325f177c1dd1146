"""Test exhibits about models on simulated judgements of four languages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from blimpworks import tables as blimpworks_tables
from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.analysis.statistics import compare_models
from blimpworks.campaign.catalogue import whole_catalogue
from blimpworks.campaign.registry import find_exhibit
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.papers.multiblimp import analysis
from blimpworks.papers.multiblimp.analysis import fit_regressions
from blimpworks.papers.multiblimp.exhibits.evaluation import table3, table5, tableb2, text72_73
from blimpworks.papers.multiblimp.exhibits.facts import FACTS as CHOICES
from blimpworks.papers.multiblimp.exhibits.facts import PRINTED_MODELS
from blimpworks.papers.multiblimp.exhibits.figures import fig1, fig5, fig6, fig7
from blimpworks.papers.multiblimp.tables import FREQUENCIES, ITEM_SCHEMA
from blimpworks.tables import ACCURACIES, REGRESSIONS, SCORES, read_table, write_frame, write_rows
from support.cells_kit import plain, values, write_exhibit

METHOD = "full_sentence"
LANGUAGES = {"cym": "Welsh", "deu": "German", "eng": "English", "wol": "Wolof"}
MODELS = {"a": "Model A", "b": "Model B", "c": "Model C"}
SKILL = {"a": 0.55, "b": 0.75, "c": 0.95}
EXHIBITS = ("table3", "table5", "tableb2", "text72_73", "fig1", "fig5", "fig6", "fig7")
FACTS = {key: [*MODELS] for key in ("table_models", "rivals", "sized_models", "margin_models")}
FACTS |= {"mcnemar": "published", "trend_model": "c", "pairs": [["a", "b", "aya"], ["a", "c", ""]]}
FACTS["groups"] = {"goldfish": ["cym", "wol"], "aya": ["eng", "deu"], "eurollm": []}
FACTS["models"] = {
    "a": {"parameters": 1.0, "family": "F", "tuning": "base"},
    "b": {"parameters": 8.0, "family": "F", "tuning": "chat"},
    "c": {"parameters": None, "family": "G", "tuning": "base"},
}
LABELS = Labels(LANGUAGES, MODELS, METHOD, FACTS)
N = 60


def item(lang, number):
    return {
        **{"item_id": f"{lang}-{number}", "lang": lang, "paradigm": "p"},
        **{"phenomenon": "svP" if number % 3 else "sv#"},
        **{"good": "The cats run" + " far" * (number % 5), "bad": "The cat's run"},
        **{"good_start": 4, "good_end": 8, "bad_start": 4, "bad_end": 9},
        **{"distance": number % 4 - 2, "attractors": number % 3, "congruent_attractors": 1},
    }


def judged_score(right, random):
    good = -30 * random.random() - 10
    margin = (1 if right else -1) * random.random() * 5
    tokens = int(random.integers(2, 4))
    return {
        **{"status": "ok", "method": METHOD, "correct": float(right), "margin": margin},
        **{"tie": False, "near_tie": False, "logprob_good": good, "logprob_bad": good - margin},
        **{"tokens_good": tokens, "good_ends": [3, 8, 12][:tokens]},
        "good_logprobs": [-1.0] * tokens,
        **{"tokens_bad": 3, "bad_logprobs": [-1.0] * 3, "bad_ends": [3, 9, 13]},
    }


def simulate(root, models=MODELS):
    """Write items, scores and judgements of models that are right with a known probability."""
    random = np.random.default_rng(5)
    judged, scored = [], []
    for lang in LANGUAGES:
        items = [item(lang, number) for number in range(N)]
        pairs = root / f"items/{lang}.parquet"
        write_rows(items, ITEM_SCHEMA, pairs)
        for model in models:
            right = random.random(N) < SKILL[model]
            rows = [i | judged_score(r, random) for i, r in zip(items, right, strict=True)]
            judged.append((model, lang, root / f"judgements/{model}/{lang}.parquet"))
            write_rows(rows, blimpworks_tables.JUDGEMENTS, judged[-1][2])
            scored.append((model, pairs, root / f"scores/{model}/{lang}.parquet"))
            write_rows(rows, SCORES, scored[-1][2])
    return judged, scored


def frequency_table(root):
    ranks = {"cym": ("low", 10**6), "deu": ("high", 10**11), "eng": ("high", 10**12)}
    rows = [
        {"lang": lang, "codes": lang, "documents": 1, "sentences": 1, "words": 1}
        | {"characters": characters, "rank": rank, "resources": group}
        for rank, (lang, (group, characters)) in enumerate(ranks.items())
    ]
    rows.append(rows[0] | {"lang": "wol", "characters": 10**5})
    write_rows(rows, FREQUENCIES, root / "frequencies.parquet")
    return root / "frequencies.parquet"


def analyse(root, judged, scored, frequencies, facts=FACTS["models"]):
    """Write the campaign's tables as the workflow does; return their paths by kind."""
    names = ("accuracies", "comparisons", "regressions", "residuals", "margins")
    paths = {name: root / f"{name}.parquet" for name in names}
    compute_accuracies(judged, "multiblimp", paths["accuracies"])
    compare_models(judged, "multiblimp", METHOD, paths["comparisons"])
    fit_regressions(
        paths["accuracies"], frequencies, facts, METHOD, paths["regressions"], paths["residuals"]
    )
    analysis.fit_margins(scored, frequencies, paths["margins"])
    pairs = sorted({path for _, path, _ in scored})
    tables = {name: [path] for name, path in paths.items()}
    return tables | {"frequencies": frequencies, "items": pairs}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("campaign")
    judged, scored = simulate(root)
    made = analyse(root, judged, scored, [frequency_table(root)])
    return made | {"judgements": [path for *_, path in judged]}


@pytest.fixture
def with_accuracies(tables, tmp_path):
    """Return a function that gives the campaign's tables with changed accuracies."""

    def changed(change):
        frame = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
        write_frame(change(frame), ACCURACIES, tmp_path / "accuracies")
        return {**tables, "accuracies": [tmp_path / "accuracies"]}

    return changed


def test_table3_averages_over_pairs_and_keeps_the_mean_over_languages(tables):
    cells = values(table3(tables, LABELS))
    rows = pd.concat(map(plain, tables["judgements"]))
    mine = rows[rows["model"] == "b"]
    of = {
        "Subject-Verb N": mine["phenomenon"] == "sv#",
        "Resources High": mine["lang"].isin(["deu", "eng"]),
        "Language subset GF": mine["lang"].isin(["cym", "wol"]),
        "Language subset All": mine["lang"].notna(),
    }
    for column, chosen in of.items():
        assert cells["Model B", column] == pytest.approx(100 * mine["correct"][chosen].mean())
    means = mine.groupby("lang")["correct"].mean()
    assert cells["Model B", "Language subset All, mean"] == pytest.approx(100 * means.mean())


def test_table3_ranks_models_of_all_languages_and_says_what_it_lacks(tables, with_accuracies):
    fewer = with_accuracies(lambda f: f[~((f["model"] == "c") & (f["lang"] == "wol"))])
    assert {row for row, _ in table3(fewer, LABELS).bold} == {"Model B"}
    assert {row for row, _ in table3(tables, LABELS).bold} == {"Model C"}
    exhibit = table3({**tables, "frequencies": []}, LABELS)
    assert "no frequencies to rank languages by" in exhibit.caption
    assert "Resources Low, Resources Mid, Resources High" in exhibit.caption
    assert ("Model A", "Resources Low") not in values(exhibit)


def test_table_5_has_its_languages_in_order_also_if_a_model_is_called_like_one(with_accuracies):
    names = MODELS | {"cym": "Model W"}
    facts = FACTS | {"table_models": [*names]}
    labels = replace(LABELS, models=names, facts=facts)
    tables = with_accuracies(lambda f: f.assign(model=f["model"].astype(str).replace("a", "cym")))
    exhibit = table5(tables, labels)
    assert [*dict.fromkeys(cell.row for cell in exhibit.cells)] == [*LANGUAGES.values()]
    german = [cell.column for cell in exhibit.cells if cell.row == "German"]
    assert german == ["n", "Model B", "Model C", "Model W"]


def test_the_text_counts_languages_where_one_model_is_better(tables):
    cells = values(text72_73(tables, LABELS))
    assert cells["Model C better than Model A: languages", "Value"] == 4
    assert cells["Model A better than Model C: languages", "Value"] == 0
    assert cells["Model A and Model B: languages compared", "Value"] == 4
    rows = read_table(blimpworks_tables.COMPARISONS, tables["comparisons"][0]).to_pandas()
    rows = rows[(rows["model_a"] == "b") & (rows["model_b"] == "a")]
    rows = rows[rows["lang"].isin(["deu", "eng"])]
    better = [row.accuracy_a > row.accuracy_b and row.p < 0.05 for row in rows.itertuples()]
    assert len(better) == 2
    share = cells["Model B better than Model A: of the Aya languages", "Value"]
    assert share == 100 * sum(better) / 2
    caption = text72_73(tables, LABELS).caption
    assert "p < 0.05; chi-squared with continuity correction" in caption
    assert "we use it for all comparisons" in caption
    assert "a group of languages, the share of these on which it is better follows" in caption


def test_sizes_that_families_decide_are_said_in_the_caption(with_accuracies):
    names = {f"m{k}": f"Model {k}" for k in range(8)}

    def many(frame):
        whole = frame[frame["model"] == "a"].astype({"model": object})
        return pd.concat([whole.assign(model=name) for name in names])

    facts = {
        name: {"parameters": float(1 + k % 2), "family": "FG"[k % 2], "tuning": "base"}
        for k, name in enumerate(names)
    }
    labels = replace(LABELS, models=names, facts={**FACTS, "models": facts, "pairs": []})
    tables = with_accuracies(many)
    caption = text72_73(tables, labels).caption
    assert "There is no regression: size, family and tuning can't be told apart." in caption
    for k, name in enumerate(names):
        facts[name] |= {"parameters": float(k + 1), "family": "F"}
    caption = text72_73(tables, labels).caption
    assert "There is no regression: all models have the same accuracy." in caption


def test_table_5_counts_the_pairs_even_where_every_model_skips_one(with_accuracies):
    exhibit = table5(with_accuracies(lambda f: f.assign(n=f["n"] - (f["lang"] == "wol"))), LABELS)
    assert values(exhibit)["Wolof", "n"] == N
    judged = [cell for cell in exhibit.cells if cell.column != "n"]
    assert all(cell.text.endswith("*") == (cell.row == "Wolof") for cell in judged)


def test_no_judgements_are_told_from_those_by_another_method(tables, with_accuracies):
    with pytest.raises(UserError, match="languages have no pairs"):
        table5(with_accuracies(lambda frame: frame[:0]), LABELS)
    with pytest.raises(UserError, match="no accuracies by method 'per_token'"):
        table5(tables, replace(LABELS, method="per_token"))


def test_table_b2_leaves_out_models_that_are_no_rivals_and_table_3_does_not(tables):
    all_are_rivals = tableb2(tables, LABELS)
    assert values(table3(tables, LABELS))["Model C", "#best"] == len(all_are_rivals.stub) > 0
    assert {stub["Model"] for stub in all_are_rivals.stub.values()} == {"Model C"}
    assert all(p < 0.1 for (_, column), p in values(all_are_rivals).items() if column == "p")
    labels = replace(LABELS, facts={**FACTS, "rivals": ["a", "b"], "mcnemar": "corrected"})
    exhibit = tableb2(tables, labels)
    assert {stub["Model"] for stub in exhibit.stub.values()} == {"Model B"}
    assert "exact binomial if they differ on fewer than 25 pairs" in exhibit.caption
    assert values(table3(tables, labels))["Model B", "#best"] == 0


def test_a_falling_trend_has_a_minus_in_its_equation_and_no_curve_is_said(tables, tmp_path):
    rows = read_table(REGRESSIONS, tables["regressions"][0]).to_pandas()
    for name, kept in (("falling", rows), ("none", rows[rows["analysis"] == "x"])):
        changed = kept.assign(coefficient=-0.5)
        write_frame(changed, REGRESSIONS, tmp_path / name)
    exhibit = fig1({**tables, "regressions": [tmp_path / "falling"]}, LABELS)
    assert "exp(−(−0.50 − 0.50 log₁₀ x))" in exhibit.caption
    cells = values(exhibit)
    for language in LANGUAGES.values():
        difference = cells[language, "accuracy"] - cells[language, "fitted"]
        assert cells[language, "residual"] == pytest.approx(difference)
    caption = fig1({**tables, "regressions": [tmp_path / "none"]}, LABELS).caption
    assert "No logistic curve fits the accuracies." in caption
    assert "There is no table of frequencies" in fig1({**tables, "frequencies": []}, LABELS).caption


@pytest.mark.parametrize("size", [1e-4, 0.6, 400.0])
def test_figure_5s_axis_is_as_wide_as_its_sizes(tables, size):
    facts = {**FACTS["models"], "a": {**FACTS["models"]["a"], "parameters": size}}
    facts["b"] = {**facts["b"], "parameters": 2 * size}
    exhibit = fig5(tables, replace(LABELS, facts={**FACTS, "models": facts}))
    axes = exhibit.figure.axes[0]
    left, right = axes.get_xlim()
    assert size / 1.2 < left < size < 2 * size < right < 2.4 * size
    ticks = axes.get_xticks()
    assert len(ticks)
    assert left <= min(ticks) <= max(ticks) <= right


def test_figure_5_names_models_that_have_not_judged_all_languages(tables, with_accuracies):
    assert "fewer languages" not in fig5(tables, LABELS).caption
    fewer = with_accuracies(lambda f: f[(f["model"] != "b") | (f["lang"] != "wol")])
    assert "Models with fewer languages than the others: Model B." in fig5(fewer, LABELS).caption


def test_models_without_a_size_are_lines_across_figure_5(tables):
    exhibit = fig5(tables, LABELS)
    names = [t.get_text() for t in exhibit.figure.legends[0].get_texts()]
    assert names == ["F, base", "F, chat"]
    drawn = {text.get_text() for text in exhibit.figure.axes[0].texts}
    assert any("Model C" in text for text in drawn)
    assert "Dotted lines are 1 model whose size the catalogue lacks." in exhibit.caption


def test_a_panel_whose_model_was_not_judged_says_so(tables):
    labels = replace(LABELS, facts={**FACTS, "pairs": [["a", "b", ""], ["a", "d", ""]]})
    labels = replace(labels, models={**MODELS, "d": "Model D"})
    exhibit = fig6(tables, labels)
    assert "a: 4 languages; b: no accuracies of one of the two" in exhibit.caption
    assert "not judged" in {text.get_text() for text in exhibit.figure.axes[1].texts}


def test_figure_7_says_which_factors_did_not_vary(tables):
    caption = fig7(tables, LABELS).caption
    without = caption.partition("Without pairs: ")[2].partition(".")[0]
    assert "Subject-Participle, gender" in without
    assert "Subject-Verb, number" not in without
    assert "compared with Subject-Verb, number." in caption
    assert "so not estimated: subword delta; congruent attractors." in caption


def test_figure_7_names_each_models_reference_and_what_it_leaves_out(tmp_path):
    rows = [
        ("a", analysis.COMPARED, f"{analysis.AGREEMENT_TYPE} sv#", 9),
        ("b", analysis.COMPARED, f"{analysis.AGREEMENT_TYPE} svP", 9),
        ("a", analysis.TEXTLESS, "log frequency", 7),
        ("b", analysis.UNVARYING, "distance", 9),
        ("c", analysis.FEW, "intercept", 2),
        ("a", analysis.UNKNOWN, "log frequency", 9),
        ("b", analysis.COLLINEAR, "intercept", 9),
        ("c", analysis.CONSTANT, "intercept", 9),
    ]
    remarks = [{"model": m, "analysis": a, "term": t, "n": n} for m, a, t, n in rows]
    write_rows(remarks, REGRESSIONS, tmp_path / "margins.parquet")
    exhibit = fig7({"margins": [tmp_path / "margins.parquet"]}, LABELS)
    caption = exhibit.caption
    assert "Subject-Verb, number (Model A); Subject-Verb, person (Model B)." in caption
    assert "without text in GlotCC: Model A 7." in caption
    assert "so not estimated: distance (Model B)." in caption
    assert "Nothing could be estimated, for too few pairs: Model C." in caption
    assert "There is no table of frequencies" in caption
    assert "for collinear factors: Model B." in caption
    assert "for the same margin in all pairs: Model C." in caption
    assert "nothing could be estimated" in {t.get_text() for t in exhibit.figure.axes[0].texts}


@pytest.fixture(scope="module")
def lonely(tmp_path_factory):
    root = tmp_path_factory.mktemp("lonely")
    judged, scored = simulate(root, ["a"])
    return analyse(root, judged, scored, [], {"a": {"parameters": None}})


@pytest.mark.parametrize("name", EXHIBITS)
def test_a_campaign_of_one_model_still_has_every_exhibit(lonely, tmp_path, name):
    models = {"a": {"parameters": None, "family": "F", "tuning": "base"}}
    chosen = {key: ["a"] for key in ("table_models", "sized_models", "margin_models", "rivals")}
    facts = FACTS | chosen | {"pairs": [], "trend_model": "a", "models": models}
    labels = Labels(LANGUAGES, {"a": "Model A"}, METHOD, facts)
    write_exhibit(find_exhibit(f"multiblimp/{name}"), lonely, labels, tmp_path)


def facts_of(*names):
    campaign = Campaign(campaign="x")
    whole = whole_catalogue(campaign)
    models = {name: row for name, row in whole.models.items() if not names or name in names}
    chosen = replace(whole, models=models)
    return {name: choose(campaign, chosen) for name, choose in CHOICES.items()}


def test_the_papers_models_are_shown_when_the_campaign_has_them_all():
    facts = facts_of()
    assert facts["table_models"] == [*PRINTED_MODELS]
    assert facts["trend_model"] == "gemma-3-27b"
    second = [pair[1] for pair in facts["pairs"]]
    assert second == ["aya-expanse-8b", "eurollm-9b", "llama-3.1-70b", "goldfish"]


def test_a_campaign_without_them_shows_the_largest_of_each_family_and_tuning():
    facts = facts_of("qwen3-0.6b", "qwen3-1.7b", "qwen3-0.6b-it", "ngram-5", "transformer-small")
    shown = ["qwen3-0.6b-it", "qwen3-1.7b", "ngram-5", "transformer-small"]
    assert facts["table_models"] == shown
    assert facts["pairs"] == [[shown[0], other, ""] for other in shown[1:]]
    assert facts["trend_model"] == "qwen3-1.7b"
    assert facts["margin_models"] == shown[:3]


def test_the_size_of_a_model_that_is_trained_here_is_its_recipes():
    recipes = {"large": {"kind": "transformer", "layers": 9}, "small": {"kind": "transformer"}}
    campaign = Campaign.model_validate({"campaign": "x", "training": {"recipes": recipes}})
    row = whole_catalogue(campaign).models["transformer-small"]
    rows = {name: row.model_copy(update={"name": name, "recipe": name}) for name in recipes}
    chosen = replace(whole_catalogue(campaign), models=rows)
    assert CHOICES["table_models"](campaign, chosen) == ["large"]
    assert CHOICES["trend_model"](campaign, chosen) == "large"
