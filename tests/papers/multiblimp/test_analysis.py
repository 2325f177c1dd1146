import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from blimpworks.analysis import statistics
from blimpworks.analysis.statistics import EXACT_BELOW, compare_models, mcnemar_p, standardise
from blimpworks.campaign.catalogue import LanguageRow, ModelRow, whole_catalogue
from blimpworks.campaign.load import campaign_model
from blimpworks.campaign.reference import PublishedRow, language_groups
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp import analysis
from blimpworks.papers.multiblimp.analysis import UNITS, fit_frequency, fit_size, read_totals
from blimpworks.papers.multiblimp.exhibits.facts import PRINTED_MODELS as PAPER_MODELS
from blimpworks.papers.multiblimp.exhibits.facts import rivals
from blimpworks.papers.multiblimp.exhibits.measures import leads
from blimpworks.tables import COMPARISONS, JUDGEMENTS, SCORES, read_table, write_rows
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"


def printed(name):
    rows = read_rows(PublishedRow, CONFIG / f"published/multiblimp/{name}.csv")
    return {(row.row, row.column): row.value for row in rows if row.value is not None}


def counts(characters):
    return {"documents": 1, "sentences": 1, "words": 1, "characters": characters}


def test_a_languages_text_is_that_of_all_its_codes_and_none_ranks_lowest():
    totals = {"hrv": counts(5), "srp": counts(4), "eng": counts(7), "xyz": counts(99)}
    rows = analysis.frequencies(["eng", "hbs", "aqz"], {"hbs": ("hrv", "srp", "cnr")}, totals)
    assert [(r["lang"], r["codes"], r["characters"], r["rank"]) for r in rows] == [
        ("aqz", None, 0, 1),
        ("eng", "eng", 7, 2),
        ("hbs", "hrv,srp", 9, 3),
    ]


def test_the_least_frequent_sixty_percent_are_low_and_the_first_tenth_high():
    groups = [analysis.resource_group(rank, 101) for rank in range(1, 102)]
    assert [groups.count(name) for name in ("low", "mid", "high")] == [60, 30, 11]
    assert groups == sorted(groups, key=["low", "mid", "high"].index)


def test_totals_are_added_up_over_scripts(tmp_path):
    path = tmp_path / "totals.tsv"
    path.write_text(f"{HEADER}uig-Arab\t1\t2\t3\t4\nuig-Latn\t10\t20\t30\t40\n")
    assert read_totals(path)["uig"] == dict(zip(UNITS, (11, 22, 33, 44), strict=True))


HEADER = "code\tdocuments\tsentences\twords\tcharacters\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("code\tdocuments\tsentences\twords\t\n", r"1: there is no column .*\(code, documents"),
        (f"{HEADER}eng\t1\t2\t3\t\n", "2: characters of 'eng' is missing"),
        (f"{HEADER}eng\t1\t2\t3\tx\n", "2: characters of 'eng' is x"),
        (HEADER + 2 * "deu\t1\t2\t3\t4\n", "3: 'deu' is in line 2 too"),
        (f"{HEADER}de\t1\t2\t3\t4\n", "2: the code is 'de'"),
    ],
)
def test_broken_totals_are_refused_by_line(tmp_path, text, fault):
    path = tmp_path / "totals.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=f"totals.tsv:{fault}"):
        read_totals(path)


@pytest.mark.parametrize(
    ("only_a", "only_b", "exact_below", "p"),
    [
        (0, 0, 0, 1.0),
        (5, 5, EXACT_BELOW, 1.0),
        (1, 9, EXACT_BELOW, 2 * (1 + 10) / 2**10),
        (1, 9, 0, math.erfc(math.sqrt((8 - 1) ** 2 / 10 / 2))),
        (10, 30, EXACT_BELOW, math.erfc(math.sqrt((20 - 1) ** 2 / 40 / 2))),
        (8, 16, EXACT_BELOW, 2 * sum(math.comb(24, k) for k in range(9)) / 2**24),
        (8, 17, EXACT_BELOW, math.erfc(math.sqrt(8**2 / 25 / 2))),
    ],
)
def test_mcnemar_is_chi_squared_with_correction_or_exact_for_few(only_a, only_b, exact_below, p):
    assert mcnemar_p(only_a, only_b, exact_below) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(
    ("lang", "only_best", "only_next"), [("sqi", 6, 0), ("fao", 12, 1), ("bua", 16, 2)]
)
def test_printed_p_values_are_chi_squared_with_correction(lang, only_best, only_next):
    """Table 5's accuracies and these p-values allow no other numbers of pairs."""
    chi_squared, exact = (mcnemar_p(only_best, only_next, least) for least in (0, EXACT_BELOW))
    assert round(chi_squared, 3) == printed("tableb2")[lang, "p"] != round(exact, 3)


CHAT_OF_A_BASE = {"llama-3.1-70b-instruct", "gemma-3-27b-it", "olmo-2-32b-it"}


def test_table_b2_leaves_out_chat_versions_of_models_that_it_has():
    campaign = campaign_model()(campaign="x")
    assert {*rivals(campaign, whole_catalogue(campaign))} == {*PAPER_MODELS} - CHAT_OF_A_BASE


def test_a_pair_in_two_conditions_is_compared_in_each_and_by_one_method(tmp_path):
    verdicts = {
        "x": [("i", "p", "m", 1), ("i", "q", "m", 0), ("j", "p", "m", None), ("i", "p", "o", 0)],
        "y": [("i", "q", "m", 1), ("j", "p", "m", 1), ("i", "p", "m", 0.5), ("i", "p", "o", 1)],
    }
    judged = []
    for model, rows in verdicts.items():
        path = tmp_path / f"{model}.parquet"
        names = ("item_id", "paradigm", "method", "correct")
        cells = [dict(zip(names, row, strict=True)) | {"phenomenon": "sv#"} for row in rows]
        write_rows(cells, JUDGEMENTS, path)
        judged.append((model, "eng", path))
    output = tmp_path / "comparisons.parquet"
    assert compare_models(judged, "multiblimp", "m", output) == 2
    first = read_table(COMPARISONS, output).to_pylist()[0]
    assert (first["model_a"], first["n"], first["only_a"], first["only_b"]) == ("x", 2, 1, 1)


def test_a_pair_that_a_file_has_twice_is_compared_copy_by_copy(tmp_path):
    row = {"item_id": "i", "paradigm": "p", "phenomenon": "sv#", "method": "m", "correct": 1}
    judged = []
    for model, copies in (("x", 2), ("y", 1)):
        judged.append((model, "eng", tmp_path / model))
        write_rows([row] * copies, JUDGEMENTS, judged[-1][2])
    assert compare_models(judged, "multiblimp", "m", tmp_path / "c") == 2
    assert read_table(COMPARISONS, tmp_path / "c")["n"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    ("rows", "leading"),
    [
        # A model leads if it beats the next best, whatever the others.
        (
            "eng a b 0.9 0.8 0.2, eng a c 0.9 0.5 0.0, eng b a 0.8 0.9 0.2,"
            "deu a b 0.9 0.8 0.01, deu a c 0.9 0.8 0.09, fra a b 0.9 0.9 1.0",
            ("deu", "a", "c", 0.09),
        ),
        # With unequal coverage, c is ahead of a, which is ahead of b; the nearest to c is b.
        (
            "eng a b 0.9 0.6 0.01, eng b a 0.6 0.9 0.01, eng a c 0.5 0.55 0.04,"
            "eng c a 0.55 0.5 0.04, eng b c 0.58 0.6 0.08, eng c b 0.6 0.58 0.08",
            ("eng", "c", "b", 0.08),
        ),
    ],
)
def test_a_model_leads_only_if_it_is_ahead_of_every_other(rows, leading):
    columns = ["lang", "model_a", "model_b", "accuracy_a", "accuracy_b", "p"]
    frame = pd.DataFrame([row.split() for row in rows.split(",")], columns=columns)
    frame = frame.astype(dict.fromkeys(columns[3:], float))
    found = leads(frame)[["lang", "model_a", "model_b", "p"]]
    assert [tuple(row) for row in found.to_numpy()] == [leading]


def accuracies_frame(percents, lang="eng", n=1000):
    return pd.DataFrame(
        [
            {"model": m, "lang": lang, "phenomenon": "all", "paradigm": "all", "n": n}
            | {"accuracy": percent / 100}
            for m, percent in percents.items()
        ]
    )


def by_term(rows):
    return {row["term"]: row for row in rows}


def test_least_squares_recovers_planted_coefficients_and_their_interval():
    random = np.random.default_rng(1)
    x = pd.DataFrame(random.normal(size=(4000, 2)), columns=["u", "v"])
    y = 3 + 2 * x["u"] - 0.5 * x["v"] + pd.Series(random.normal(size=4000))
    terms = by_term(statistics.ordinary_least_squares(y, x))
    for term, planted in (("intercept", 3), ("u", 2), ("v", -0.5)):
        assert terms[term]["coefficient"] == pytest.approx(planted, abs=0.06)
        assert terms[term]["low"] < planted < terms[term]["high"]
        assert terms[term]["standard_error"] == pytest.approx(1 / math.sqrt(4000), rel=0.05)


@pytest.mark.parametrize("n", [2, 3])
def test_nothing_is_estimated_from_as_few_observations_as_terms(n):
    x = pd.DataFrame({"u": range(n), "v": [k**2 for k in range(n)]})
    assert statistics.ordinary_least_squares(pd.Series(range(n)), x) == []


SIZES = {
    f"{family}{size}{tuning}": (family, size, tuning)
    for family in "fg"
    for size in (1, 3, 9)
    for tuning in ("base", "chat")
}
FACTS = {m: {"family": f, "parameters": s, "tuning": t} for m, (f, s, t) in SIZES.items()}


def test_accuracy_by_size_is_per_standard_deviation_of_the_logarithm():
    size = standardise(pd.Series({m: math.log(s) for m, (_, s, _) in SIZES.items()}))
    percents = {
        m: 80 + 4 * size[m] - 3 * (t == "chat") + 2 * (f == "g") for m, (f, _, t) in SIZES.items()
    }
    terms = by_term(fit_size(accuracies_frame(percents), FACTS)[0])
    planted = {"intercept": 80, "size": 4, "post-training": -3, "family g": 2}
    assert {t: row["coefficient"] for t, row in terms.items()} == pytest.approx(planted)
    assert terms["size"]["n"] == 12
    assert terms["size"]["r2"] == pytest.approx(1)


def test_models_without_a_size_or_a_language_stay_out_and_too_few_give_nothing():
    percents = {m: 70 + k for k, m in enumerate(SIZES)}
    facts = FACTS | {"f1base": FACTS["f1base"] | {"parameters": None}}
    frame = accuracies_frame(percents)
    more = accuracies_frame({m: 60 for m in percents if m != "g9chat"}, lang="deu")
    assert fit_size(pd.concat([frame, more]), facts)[0][0]["n"] == 10
    assert fit_size(accuracies_frame({"f1base": 70, "f3base": 80}), facts)[0] == []


def test_the_papers_two_errors_have_the_ratio_of_a_standardised_logarithm():
    text = printed("text72_73")
    errors = [text[term, "coefficient"] / text[term, "t"] for term in ("size", "chat")]
    models = read_rows(ModelRow, CONFIG / "models.tsv")
    rows = [r for r in models if "multiblimp" in r.papers and r.family != "Goldfish"]
    facts = {r.name: r.model_dump(include={"parameters", "family", "tuning"}) for r in rows}
    random = np.random.default_rng(0)
    frame = accuracies_frame({r.name: 80 + random.normal() for r in rows})
    terms = by_term(fit_size(frame, facts)[0])
    ratio = terms["size"]["standard_error"] / terms["post-training"]["standard_error"]
    assert ratio == pytest.approx(errors[0] / errors[1], rel=0.01)


def test_the_logistic_trend_recovers_its_parameters_and_leaves_out_unknown_languages():
    logs = dict(zip("abcdefgh", range(3, 11), strict=True))
    known = pd.DataFrame({"lang": [*logs, "z"], "characters": [10**x for x in logs.values()] + [0]})
    rows = [
        accuracies_frame({"m": analysis.logistic(x, -1.0, 0.4)}, lang) for lang, x in logs.items()
    ]
    curves, residuals = fit_frequency(pd.concat([*rows, accuracies_frame({"m": 50.0}, "z")]), known)
    terms = by_term(curves)
    assert terms["intercept"]["coefficient"] == pytest.approx(-1.0)
    assert terms["frequency"]["coefficient"] == pytest.approx(0.4)
    assert terms["frequency"]["n"] == 8
    assert max(abs(row["residual"]) for row in residuals) < 1e-6


def test_three_languages_give_no_trend():
    known = pd.DataFrame({"lang": ["a", "b", "c"], "characters": [10, 100, 1000]})
    rows = [accuracies_frame({"m": 50 + k}, lang) for k, lang in enumerate("abc")]
    assert fit_frequency(pd.concat(rows), known) == ([], [])


def test_margins_recover_planted_coefficients_per_standard_deviation():
    random = np.random.default_rng(2)
    frame = pd.DataFrame({name: random.normal(5, 3, 3000) for name in analysis.FACTORS})
    frame["agreement"] = random.choice(["sv#", "svP"], 3000)
    frame["margin"] = (
        1 + 2 * (frame["agreement"] == "svP") - 4 * standardise(frame["subword delta"])
    )
    terms = by_term(analysis.fit_margin(frame))
    planted = {"intercept": 1, "agreement svP": 2, "subword delta": -4, "distance": 0}
    assert {t: terms[t]["coefficient"] for t in planted} == pytest.approx(planted, abs=1e-9)
    assert set(terms) == {"intercept", "agreement svP", "agreement sv#", *analysis.FACTORS}
    assert terms["agreement sv#"]["analysis"] == analysis.COMPARED


def test_factors_that_never_vary_get_no_term_and_rows_with_gaps_stay_out():
    frame = margins_frame(50).assign(agreement="spG", distance=1.0)
    frame.loc[:9, "log frequency"] = np.nan
    terms = by_term(analysis.fit_margin(frame))
    assert remarks_of(frame) == {
        (analysis.TEXTLESS, "log frequency", 10),
        (analysis.UNVARYING, "distance", 40),
        (analysis.COMPARED, "agreement spG", 40),
    }
    assert terms["intercept"]["n"] == 40


def remarks_of(frame):
    rows = analysis.fit_margin(frame)
    return {(r["analysis"], r["term"], r["n"]) for r in rows if r["analysis"] != analysis.MARGIN}


def margins_frame(n):
    random = np.random.default_rng(4)
    frame = pd.DataFrame({name: random.normal(size=n) for name in analysis.FACTORS})
    return frame.assign(agreement="svP", margin=random.normal(size=n))


def test_what_cannot_be_fitted_says_why():
    textless = margins_frame(50).assign(**{"log frequency": np.nan})
    assert by_term(analysis.fit_margin(textless))["intercept"]["n"] == 50
    assert (analysis.TEXTLESS, "log frequency", 50) in remarks_of(textless)
    frame = margins_frame(50).drop(columns="log frequency")
    assert (analysis.UNKNOWN, "log frequency", 50) in remarks_of(frame)
    assert remarks_of(margins_frame(8)) == {(analysis.FEW, "intercept", 8)}
    assert (analysis.FEW, "intercept", 0) in remarks_of(margins_frame(8).assign(margin=np.nan))
    assert (analysis.CONSTANT, "intercept", 50) in remarks_of(frame.assign(margin=0.1))
    frame["distance"] = frame["sentence length"]
    assert (analysis.COLLINEAR, "intercept", 50) in remarks_of(frame)


def test_factors_of_a_pair_are_read_from_its_item_and_its_tokens():
    names = {"item_id": "i", "lang": "eng", "phenomenon": "sv#"}
    texts = {"good": "The cats run", "bad": "The cats runs", "good_start": 9, "good_end": 12}
    between = {"distance": -2, "attractors": 3, "congruent_attractors": 1}
    item = names | texts | between | {"bad_start": 9, "bad_end": 13}
    sides = {"good_logprobs": [-1.0, -2.0, -3.0], "good_ends": [3, 8, 12]}
    sides |= {"bad_logprobs": [-1.0, -2.0, -3.0, -5.0], "bad_ends": [3, 8, 12, 13]}
    whole = {"logprob_good": -6.0, "logprob_bad": -11.0, "tokens_good": 3, "tokens_bad": 4}
    scores = pa.Table.from_pylist([{"item_id": "i", **whole, **sides}], schema=SCORES.arrow())
    expected = {"margin": 5.0, "lang": "eng", "agreement": "sv#", "distance": 2}
    expected |= {"log perplexity": 2.0, "sentence length": 3, "subword delta": -1.0}
    expected |= {"congruent attractors": 1.0, "incongruent attractors": 1.0}
    factors = analysis.factors(pa.Table.from_pylist([item]), scores)
    assert factors.iloc[0].to_dict() == expected


def test_language_groups_have_the_sizes_that_the_papers_give():
    groups = language_groups(campaign_model()(campaign="x"))
    rows = read_rows(LanguageRow, CONFIG / "languages.tsv")
    languages = {row.lang for row in rows if row.is_of("multiblimp")}
    sizes = {name: len(langs) for name, langs in groups.items()}
    assert sizes == {"aya": 23, "english": 1, "eurollm": 35, "goldfish": 70}
    assert len(languages & {*groups["aya"]}) == 18
    assert len(languages & {*groups["eurollm"]}) == 30
    assert languages >= {*groups["goldfish"]}
