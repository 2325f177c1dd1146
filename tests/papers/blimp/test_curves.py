import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign, load_campaign
from blimpworks.campaign.seeds import curves_of, row_of_training, size_name
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import read_plain
from blimpworks.models import corpus as models_corpus
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.models.encoding import word_tokenizer
from blimpworks.models.text import split_words
from blimpworks.models.transformer import train_transformer
from blimpworks.papers.blimp.analysis import DOUBLING, TO_HUMAN, fit_curve, fit_curves
from blimpworks.papers.blimp.exhibits.curves import fig5, slopes
from blimpworks.papers.blimp.paradigms import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import read_blimp_release
from blimpworks.scoring.transformers_engine import TransformersEngine
from blimpworks.tables import ACCURACIES, PERPLEXITIES, write_rows
from support import tiny
from support.blimp_kit import campaign, check_cells, write_release
from support.cells_kit import by_place
from support.print_kit import printed

RECIPE = tiny.RECIPE.model_copy(update={"corpus": "default", "hidden": 16})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    text = tiny.write_corpus(tmp_path_factory.mktemp("corpus") / "text.txt", 400)
    return tiny.corpus_of(text)


def train_text(corpus):
    return [" ".join(words) for words in models_corpus.sentences_of(corpus.parent / "train.txt")]


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 500), st.integers(0, 5)
)
def test_a_sample_has_the_tokens_asked_for_and_at_most_a_sentence_more(lengths, tokens, seed):
    drawn = models_corpus.draw_sentences(lengths, tokens, seed)
    assert drawn == sorted({*drawn})
    total = sum(lengths[number] for number in drawn)
    if tokens <= sum(lengths):
        assert tokens <= total < tokens + max(lengths)
    else:
        assert drawn == [*range(len(lengths))]


def test_samples_differ_by_seed_and_size_and_repeat():
    drawn, again, other, larger = (
        models_corpus.draw_sentences([5] * 1000, *size_and_seed)
        for size_and_seed in ((500, 1), (500, 1), (500, 2), (1000, 1))
    )
    assert again == drawn != other
    # If samples were nested, errors of all sizes would be the same.
    assert not {*drawn} <= {*larger}


def test_a_sample_shares_all_but_the_training_text_with_its_corpus(corpus, tmp_path):
    sample = tmp_path / "sample" / "corpus.json"
    corpus_of_sample = models_corpus.sample_corpus(corpus, sample, tokens=300, seed=1)
    assert 300 <= corpus_of_sample.splits["train"].tokens < 320
    whole = train_text(corpus)
    places = [whole.index(line) for line in train_text(sample)]
    assert places == sorted(places)
    for name in ("valid.txt", "test.txt", "vocabulary.txt"):
        assert (sample.parent / name).read_bytes() == (corpus.parent / name).read_bytes()
    assert models_corpus.read_corpus(sample).words == models_corpus.read_corpus(corpus).words


def test_more_tokens_than_there_are_is_one_sentence(corpus, tmp_path):
    there = models_corpus.read_corpus(corpus).splits["train"].tokens
    message = rf"train\.txt has {there:,} tokens, but a sample of 9,000,000 is asked for; take that"
    with pytest.raises(UserError, match=message):
        models_corpus.sample_corpus(corpus, tmp_path / "corpus.json", tokens=9_000_000, seed=1)
    assert not (tmp_path / "corpus.json").exists()
    models_corpus.sample_corpus(corpus, tmp_path / "corpus.json", tokens=there, seed=1)
    assert train_text(tmp_path / "corpus.json") == train_text(corpus)


@settings(max_examples=300)
@given(st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=("Cs", "Cn", "Co"))))
def test_a_tokenizer_of_words_parts_text_as_corpora_do(text):
    words = [word for word, _ in split_words(text)]
    tokenizer = word_tokenizer(["<unk>", "<eos>", *dict.fromkeys(words)], "split")
    encoding = tokenizer.encode(text, add_special_tokens=False)
    if "<unk>" not in text and "<eos>" not in text:
        assert encoding.tokens == words
        assert [end for _, end in encoding.offsets] == [end for _, end in split_words(text)]


def test_a_transformer_knows_the_words_of_its_corpus(corpus, tmp_path):
    checkpoint = tmp_path / "model" / "checkpoint.json"
    names = {"name": "curve", "scope": "eng", "recipe_name": "curve"}
    train_transformer(corpus, checkpoint, recipe=RECIPE, seed=1, **names)
    engine = TransformersEngine(checkpoint, read_checkpoint(checkpoint), ScoringOptions())
    words = models_corpus.read_words(corpus.parent / "vocabulary.txt")
    text = "the dog sees the zebra."
    encoded = engine.encode([text])[0]
    ids = [words.index(word) for word, _ in split_words(text.replace("zebra", "<"))[:4]]
    assert encoded.ids.tolist() == [*ids, 0, words.index(".")]
    assert encoded.ends.tolist() == [3, 7, 12, 16, 22, 23]
    settings = read_checkpoint(checkpoint).source.settings
    assert settings["corpus"] == "default"
    assert not {"seeds", "tokens"} & settings.keys()


def blimp(**changes):
    chosen = load_campaign(Path("config/blimp_curves.yaml")).model_copy(update=changes)
    return chosen, load_catalogue(chosen)


def test_each_size_and_sample_is_a_model_of_its_own():
    _, catalogue = blimp()
    curves = curves_of(catalogue.seeds)
    assert {*curves} == {"lstm-curve", "transformer-curve"}
    assert {len(models) for models in curves.values()} == {15}
    assert curves["lstm-curve"]["lstm-curve-125k-seed2"] == 125_000
    row = catalogue.models["transformer-curve-500k-seed5"]
    assert row.label == "Transformer (curve), 500,000 tokens, seed 5"
    assert catalogue.row_of("transformer-curve-500k-seed5") == "transformer-curve"
    assert {catalogue.row_of(name) for name in catalogue.models} == {*curves}


def test_a_model_of_a_curve_is_not_named_in_a_campaign():
    with pytest.raises(UserError, match=r"Name 'lstm-curve': .* and which sizes from 'tokens'"):
        blimp(models=("lstm-curve-125k-seed1",))
    assert row_of_training("lstm-curve-125k", ["lstm", "lstm-curve"]) == "lstm-curve"
    assert row_of_training("lstm-curved", ["lstm", "lstm-curve"]) is None


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"tokens": [5]}, "tokens are given without corpus; name the corpora"),
        ({"corpus": "x", "tokens": [5, 5]}, "'5' is named twice"),
        ({"corpus": "x", "tokens": [0]}, "greater than 0"),
        ({"corpus": "x"}, "which training.corpora lacks"),
    ],
)
def test_a_recipe_with_wrong_sizes_is_told(recipe, message):
    settings = {"campaign": "c", "training": {"recipes": {"a": {"kind": "transformer", **recipe}}}}
    with pytest.raises(UserError, match=message):
        check_campaign(settings, "c.yaml")


def test_a_line_is_fitted_on_the_logarithm_of_tokens():
    tokens = pd.Series({"a": 2**10, "b": 2**11, "c": 2**12, "d": 2**13})
    accuracies = pd.Series({"a": 0.50, "b": 0.54, "c": 0.55, "d": 0.61})
    intercept, slope, human = fit_curve(accuracies, tokens, human=0.90)
    # By hand: x = 10 … 13, Sxy = 0.17, Sxx = 5; residuals have SS 0.00042, t(2) = 4.302653.
    assert (slope["term"], slope["n"]) == (DOUBLING, 4)
    assert slope["coefficient"] == pytest.approx(0.034)
    assert intercept["coefficient"] == pytest.approx(0.55 - 0.034 * 11.5)
    half = 4.302653 * math.sqrt(0.00042 / 2 / 5)
    assert slope["low"] == pytest.approx(0.034 - half, abs=1e-7)
    assert slope["high"] == pytest.approx(0.034 + half, abs=1e-7)
    assert human["term"] == TO_HUMAN
    reached = 2 ** ((0.90 - intercept["coefficient"]) / 0.034)
    assert human["coefficient"] == pytest.approx(math.log10(reached))


def test_what_cannot_be_fitted_or_extrapolated_has_no_row():
    tokens = pd.Series({"a": 1024, "b": 1024, "c": 1024})
    assert fit_curve(pd.Series({"a": 0.5, "b": 0.6, "c": 0.7}), tokens, 0.9) == []
    level = fit_curve(pd.Series({"a": 0.7, "b": 0.7, "c": 0.7}), tokens * [1, 2, 4], 0.9)
    assert [(row["term"], row["coefficient"], row["high"]) for row in level] == [
        ("intercept", pytest.approx(0.7), pytest.approx(0.7)),
        (DOUBLING, 0.0, 0.0),
    ]
    falling = fit_curve(pd.Series({"a": 0.7, "b": 0.6, "c": 0.5}), tokens * [1, 2, 4], 0.9)
    assert [row["term"] for row in falling] == ["intercept", DOUBLING]


NAMES = {"transformer-curve": "Transformer", "lstm-curve": "LSTM"}
SIZES = {
    row: {f"{row}-{size_name(n)}-seed{seed}": n for n in (1000, 2000, 4000) for seed in (1, 2)}
    for row in NAMES
}
EVERY = {model: tokens for sizes in SIZES.values() for model, tokens in sizes.items()}
FACTS = {"blimp_curves": {r: {"label": NAMES[r], "models": SIZES[r]} for r in NAMES}}
LABELS = Labels({"eng": "English"}, {model: model for model in EVERY}, "full_sentence", FACTS)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    root = tmp_path_factory.mktemp("curves")
    skills = {model: 0.4 + math.log2(tokens) / 50 for model, tokens in EVERY.items()}
    own = campaign(root / "accuracies" / "blimp.parquet", skills)
    released, fits = root / "released.parquet", root / "regressions.parquet"
    read_blimp_release(*write_release(root), released)
    fit_curves(own, released, SIZES, "full_sentence", fits)
    rows = [
        {"lang": "eng", "model": model, "perplexity": 1e6 / tokens + int(model[-1])}
        for model, tokens in SIZES["lstm-curve"].items()
    ]
    perplexities = root / "perplexities.parquet"
    write_rows(rows, PERPLEXITIES, perplexities)
    tables = {"accuracies": [own], "curves": [fits], "perplexities": [perplexities]}
    return tables | {"printed": printed("blimp")}


def accuracies_of(tables, models):
    where = {"model": [*models], "method": "full_sentence", "lang": "eng"}
    return select_rows(read_plain(ACCURACIES, tables["accuracies"]), where)


@pytest.mark.slow
def test_figure_5_has_a_point_for_each_phenomenon_and_size(tables):
    exhibit = fig5(tables, LABELS)
    check_cells(exhibit, tables)
    cells = by_place(exhibit)
    assert len(cells) == 2 * 3 * (len(PARADIGMS) + 1)
    frame = accuracies_of(tables, [f"lstm-curve-2k-seed{seed}" for seed in (1, 2)])
    mine = frame[frame["paradigm"].isin(PARADIGMS["binding"])]
    means = 100 * mine.groupby("model")["accuracy"].mean()
    cell = cells["Binding", "LSTM, 2k"]
    assert cell.value == pytest.approx(means.mean())
    assert (cell.high - cell.low) / 2 == pytest.approx(means.std())
    assert cell.n == 2


def test_a_campaign_without_such_models_says_so(tables, tmp_path):
    none = Labels({"eng": "English"}, {}, "full_sentence", facts={"blimp_curves": {}})
    exhibit = fig5(tables, none)
    assert not exhibit.cells
    exhibit.figure.savefig(tmp_path / "a.svg")
    empty = tmp_path / "curves.parquet"
    fit_curves(tables["accuracies"][0], None, {}, "full_sentence", empty)
    exhibit_of_print = slopes({**tables, "curves": [empty]}, none)
    assert "no model is trained on samples" in exhibit_of_print.caption
    assert all(cell.source == "published" for cell in exhibit_of_print.cells)


def test_slopes_are_fitted_over_all_samples_of_a_row(tables):
    exhibit = slopes(tables, LABELS)
    check_cells(exhibit, tables)
    cells = by_place(exhibit)
    frame = accuracies_of(tables, SIZES["lstm-curve"])
    means = frame[frame["paradigm"].isin(PHENOMENON_OF)].groupby("model")["accuracy"].mean()
    logarithms = np.log2([SIZES["lstm-curve"][model] for model in means.index])
    cell = cells["Average", "LSTM slope"]
    assert cell.value == pytest.approx(np.polyfit(logarithms, means, 1)[0])
    assert cell.low < cell.value < cell.high
    assert cell.n == 6
    assert cells["NPI licensing", "printed LSTM slope"].text == "0.0078"
    assert cells["2,000 tokens", "LSTM perplexity"].value == pytest.approx(501.5)
    assert cells["64,000,000 tokens", "printed perplexity"].value == 53


def test_the_printed_slopes_need_well_over_ten_to_the_twentieth_tokens(tables):
    published = Labels({"eng": "English"}, {}, "printed", {"blimp_curves": {}}, "published")
    exhibit = slopes({"printed": tables["printed"]}, published)
    check_cells(exhibit, tables)
    column = "printed LSTM log10 tokens"
    needed = {cell.row: cell.value for cell in exhibit.cells if cell.column == column}
    # Section 6.3 says "well over" these numbers for the hardest phenomena.
    assert needed["NPI licensing"] > 20
    assert needed["Island effects"] > 40
    assert needed["Det.-noun agr."] < 12
