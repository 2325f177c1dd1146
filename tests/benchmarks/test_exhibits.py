"""Test tables and figures of declared benchmarks on real tables of simulated models."""

from dataclasses import dataclass, replace
from itertools import combinations, product
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from scipy.stats import pearsonr, spearmanr

from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.benchmarks.accuracies import MODEL_PERPLEXITIES
from blimpworks.benchmarks.exhibits import REQUIREMENTS, formulas, specs_of
from blimpworks.benchmarks.exhibits.heat_maps import SMALL
from blimpworks.benchmarks.exhibits.judgements import MOST_ITEMS, hardest
from blimpworks.campaign.paper import FORMATS
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.render import build_exhibit
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, read_table, write_rows, write_table
from support.cells_kit import check_cells, plain, sources_of

NAME, METHOD = "made_up", "full_sentence"
SPECS = {spec.name: spec for spec in specs_of(NAME, {*REQUIREMENTS.values()}, released=True)}
MEASURED = [name for name, spec in SPECS.items() if spec.needs and name != "effects"]
PUBLISHED = [name for name, spec in SPECS.items() if spec.published]
THREE = {"small": 0.6, "middle": 0.75, "large": 0.9}
TWELVE = {
    "agreement": ["number", "gender", "person"],
    "binding": ["principle_a", "principle_b"],
    "islands": ["adjunct", "wh_island", "complex_np", "left_branch"],
    "polarity": ["ever_any", "only"],
    "word_order": ["scrambling"],
}
WORDS = {
    "eng": ("The cat", "sleeps", "sleep", "there."),
    "rus": ("Кошка", "спит", "спят", "там."),
    "tur": ("Kedi ağaçta", "uyuyor", "uyuyorum", "şimdi."),
    "zho": ("那只猫", "睡了", "了睡", "一会儿。"),
    "ara": ("القطة", "تنام", "ينامون", "هناك."),
}
LANGUAGES = dict(zip(WORDS, ("English", "Russian", "Turkish", "Chinese", "Arabic"), strict=True))


@dataclass(frozen=True)
class Shape:
    models: dict
    paradigms: dict
    languages: tuple = ("eng",)
    layout: str = "pairs"
    n: int = 12
    people: bool = True


def item(shape, lang, phenomenon, paradigm, number):
    start, good, bad, end = WORDS[lang]
    begin = len(start) + 1
    common = {"item_id": f"{paradigm}-{number:03}", "lang": lang, "phenomenon": phenomenon}
    sentences = {"good": f"{start} {good} {end}", "bad": f"{start} {bad} {end}"}
    spans = {"good_start": begin, "good_end": begin + len(good)}
    spans |= {"bad_start": begin, "bad_end": begin + len(bad)}
    origin = dict.fromkeys(("treebank", "file", "sent_id"))
    row = common | {"paradigm": paradigm} | sentences | spans | origin
    if shape.layout == "pairs":
        return [row]
    if shape.layout == "sentences":
        acceptable = number % 2 == 0
        return [row | {"good": row["good" if acceptable else "bad"], "acceptable": acceptable}]
    return [
        row | {"item_id": f"{row['item_id']}-{name}", "item": row["item_id"]}
        | {"condition": name, "good": text, "bad": text}
        for name, text in {"match": row["good"], "mis.match": row["bad"]}.items()
    ]  # fmt: skip


def judgement(shape, row, random, skill):
    margin = random.normal(2 * (skill - 0.5), 1)
    correct = margin > 0
    item_id = row.get("item", row["item_id"])
    judged = {"item_id": item_id, "phenomenon": row["phenomenon"], "paradigm": row["paradigm"]}
    judged |= {"method": METHOD, "value_good": 0.5 * margin, "value_bad": -0.5 * margin}
    judged |= {"margin": margin, "correct": float(correct)}
    judged |= {"tie": False, "near_tie": bool(abs(margin) < 0.01)}
    judged["rating"] = None if item_id.endswith("-003") else margin + random.normal()
    if shape.layout == "sentences":
        acceptable = row["acceptable"]
        judged |= {"acceptable": acceptable, "accepted": acceptable == correct}
    return judged


def write(rows, schema, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows) if isinstance(rows, list) else rows
    if isinstance(rows, pd.DataFrame):
        table = pa.Table.from_pandas(rows, preserve_index=False)
    write_table(table, schema, path)
    return path


def simulate(root, shape):
    """Write items, and judgements of models and people, each right with its own probability."""
    tables = {"items": [], "judgements": []}
    judged = []
    places = [(name, each) for name, paradigms in shape.paradigms.items() for each in paradigms]
    for lang in shape.languages:
        items = [
            row
            for phenomenon, paradigm in places
            for number in range(shape.n)
            for row in item(shape, lang, phenomenon, paradigm, number)
        ]
        path = root / "items" / NAME / f"{lang}.parquet"
        tables["items"].append(write(items, ITEMS, path))
        units = {row.get("item", row["item_id"]): row for row in items}.values()
        for seed, (model, skill) in enumerate(shape.models.items()):
            random = np.random.default_rng([seed, len(lang), ord(lang[0])])
            ease = {paradigm: random.normal(0, 0.05) + 0.2 * (len(paradigm) % 5) / 5
                    for _, paradigm in places}  # fmt: skip
            rows = [judgement(shape, row, random, skill + ease[row["paradigm"]]) for row in units]
            path = root / "judgements" / NAME / model / f"{lang}.parquet"
            tables["judgements"].append(write(rows, JUDGEMENTS, path))
            judged.append((model, lang, path))
    tables["accuracies"] = [root / "accuracies" / f"{NAME}.parquet"]
    compute_accuracies(judged, NAME, tables["accuracies"][0])
    if shape.people:
        tables["people"] = [write_people(root, tables["accuracies"][0])]
    return tables


def write_people(root, accuracies):
    """Write people's accuracies: 0.4 plus 0.6 times those of the last model."""
    rows = read_table(ACCURACIES, accuracies).to_pandas().astype({"model": object})
    rows = rows[rows["model"] == rows["model"].iloc[-1]].assign(model="human", method="human")
    rows["accuracy"] = 0.4 + 0.6 * rows["accuracy"]
    rows["low"], rows["high"] = rows["accuracy"] - 0.05, np.minimum(rows["accuracy"] + 0.05, 1)
    return write(rows, ACCURACIES, root / "accuracies" / "people" / f"{NAME}.parquet")


def labels_of(shape, **more):
    benchmark = {"name": NAME, "label": "Made-up", "layout": shape.layout}
    benchmark |= {"phenomena": [*shape.paradigms], "unit": "pair", "people": "Ten people chose."}
    sizes = {model: 0.1 * 1.2**n for n, model in enumerate(shape.models) if n % 5 != 4}
    languages = {lang: LANGUAGES[lang] for lang in shape.languages}
    models = {model: model.title() for model in shape.models}
    return Labels(languages, models, METHOD, {"benchmark": benchmark, "sizes": sizes}, **more)


def built(name, tables, labels, folder, formats=None):
    spec = SPECS[name]
    published = labels.source == "published"
    kinds = spec.published if published else (*spec.needs, *spec.optional)
    # These kinds are the same table; their names demand more of the campaign.
    tables = {**dict.fromkeys(("several_models", "sized_models"), tables["accuracies"]), **tables}
    given = {kind: tables[kind] for kind in kinds if kind in tables}
    outputs = [folder / f"{name}.{suffix}" for suffix in formats or FORMATS[spec.kind]]
    return build_exhibit(spec, given, labels, folder / f"{name}.cells.parquet", outputs), outputs


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory):
    """Return a function that writes the tables of a shape once."""
    made = {}

    def tables_of(name):
        if name not in made:
            made[name] = simulate(tmp_path_factory.mktemp(name), SHAPES[name])
        return made[name]

    return tables_of


SEEDS = {"rnn_lg_1": 0.7, "rnn_lg_22": 0.9, "rnn_sm_1": 0.55, "gpt__0": 0.95}
FORTY = {f"model-{n}-{'base' if n % 2 else 'instruct'}": 0.4 + n / 80 for n in range(40)}
ONE = {"agreement": ["number"]}
SCRIPTS = {"согласование": ["число"], "一致": ["数量", "性别"], "المطابقة": ["العدد"]}
SHAPES = {
    "three": Shape(THREE, TWELVE, n=20),
    "single": Shape({"large": 0.8}, ONE),
    "one_paradigm": Shape(THREE, ONE),
    "odd": Shape({"large": 0.8}, {"<script> all": [r"$\x$ {id}"]}, layout="sentences"),
    "forty": Shape(FORTY, TWELVE, n=4),
    "languages": Shape(THREE, TWELVE, ("eng", "rus", "tur", "zho", "ara")),
    "sentences": Shape(THREE, TWELVE, ("eng", "ara"), layout="sentences"),
    "conditions": Shape(THREE, TWELVE, ("eng", "zho"), layout="conditions"),
    "scripts": Shape(THREE, SCRIPTS, ("ara",)),
}
FIGURES = [name for name in MEASURED if SPECS[name].kind == "figure"]
DRAWN = ["three", "scripts", pytest.param("forty", marks=pytest.mark.long)]


def cell_at(exhibit, row, column):
    (cell,) = [c for c in exhibit.cells if (c.row, c.column) == (row, column)]
    return cell


def accuracies(tables, **where):
    rows = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    return select_rows(rows.astype(dict.fromkeys(where, str)), where)


LAYOUTS = ("sentences", "conditions")
AGAIN = [("three", name) for name in MEASURED if name != "acceptability"]
AGAIN += product(LAYOUTS, ("phenomena", "people", "worst"))
AGAIN += [("sentences", "acceptability"), *product(["released"], PUBLISHED)]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "name"), AGAIN)
def test_each_cell_can_be_computed_again_from_the_rows_it_names(
    campaigns, released, tmp_path, shape, name
):
    tables, labels = released
    if shape != "released":
        tables, labels = campaigns(shape), labels_of(SHAPES[shape])
    exhibit, _ = built(name, tables, labels, tmp_path)
    check_cells(exhibit.cells, sources_of(tables))
    if exhibit.figure is not None:
        check_legible(exhibit.figure)


@pytest.mark.parametrize("name", MEASURED)
def test_each_exhibit_can_do_with_one_model_and_one_paradigm_of_any_name(campaigns, tmp_path, name):
    labels = labels_of(SHAPES["odd"])
    facts = {**labels.facts, "benchmark": labels.facts["benchmark"] | {"label": r"$\x$ {id}"}}
    names = {"models": {"large": "100 % a_b & c|d <b>"}, "languages": {"eng": "{id} <b>"}}
    labels = replace(labels, facts=facts, **names)
    exhibit, outputs = built(name, campaigns("odd"), labels, tmp_path)
    assert not exhibit.bold
    assert r"$\x$ {id}" in exhibit.title
    for path in outputs:
        content = path.read_bytes()
        assert len(content) > 40
        if path.suffix in (".html", ".svg"):
            ElementTree.fromstring(content)
            assert b"<script" not in content
            assert b"mathdefault" not in content


def test_exhibits_are_those_that_a_benchmark_has_data_for():
    always = {spec.name for spec in specs_of("x", set(), released=True)}
    assert always.isdisjoint(REQUIREMENTS)
    people = {spec.name for spec in specs_of("x", {"people"}, released=True)}
    assert people - always == {"people", "people_fig"}
    assert not any(spec.published for spec in specs_of("x", {"perplexities"}, released=False))


def test_phenomena_stand_in_the_benchmarks_order_and_all_of_them_last(campaigns, tmp_path):
    shape = SHAPES["three"]
    labels = labels_of(shape)
    labels.facts["benchmark"]["phenomena"] = ["word_order", "polarity"]
    exhibit, _ = built("phenomena", campaigns("three"), labels, tmp_path)
    section, baselines = exhibit.sections
    assert baselines.rows == section.rows
    assert [*baselines.columns] == ["n", "Longer", "Shorter", "Frequent words"]
    phenomena = ("word order", "polarity", "agreement", "binding", "islands", "All")
    assert (*section.rows,) == phenomena
    assert [*section.columns] == ["n", "Small", "Middle", "Large"]
    alike = replace(labels, models={"small": "Same", "large": "Same"})
    exhibit, _ = built("phenomena", campaigns("three"), alike, tmp_path)
    judged = {c.column for c in exhibit.cells if c.source == "accuracies"}
    assert judged == {"Same (small)", "Same (large)"}


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("three", "frequency of wordfreq); equal lengths or frequencies count half."),
        ("sentences", "uses no model. It chooses the more common label of each paradigm."),
    ],
)
def test_what_baselines_choose_is_said(campaigns, tmp_path, shape, text):
    exhibit, _ = built("phenomena", campaigns(shape), labels_of(SHAPES[shape]), tmp_path)
    assert text in exhibit.caption
    assert ("equal" in exhibit.caption) == (shape == "three")


def test_phenomena_of_one_printed_name_have_a_row_each(tmp_path):
    paradigms = {"word_order": ["a"], "word order": ["b"], "All": ["c"]}
    shape = Shape({"small": 0.7}, paradigms, people=False)
    exhibit, _ = built("phenomena", simulate(tmp_path, shape), labels_of(shape), tmp_path)
    rows = ["word order (word_order)", "word order (word order)", "All (All)", "All (all)"]
    assert [*exhibit.sections[0].rows] == rows


def test_an_accuracy_of_all_items_has_its_interval_and_the_best_are_bold(campaigns, tmp_path):
    tables = campaigns("three")
    exhibit, _ = built("phenomena", tables, labels_of(SHAPES["three"]), tmp_path)
    cell = cell_at(exhibit, "All", "Large")
    (path,) = [path for path in tables["judgements"] if path.parent.name == "large"]
    judgements = read_table(JUDGEMENTS, path).to_pandas()
    assert cell.value == pytest.approx(100 * judgements["correct"].mean())
    assert cell.n == len(judgements) == 240
    assert cell.text == f"{cell.value:.1f} [{cell.low:.1f}, {cell.high:.1f}]"
    assert exhibit.stub["All"] == {"n": "240"}
    assert exhibit.stub["word order"] == {"n": "20"}
    for row in ("agreement", "All"):
        own = [c for c in exhibit.cells if c.row == row and c.source == "accuracies"]
        values = {c.column: round(c.value, 1) for c in own}
        best = {column for column, value in values.items() if value == max(values.values())}
        assert {column for r, column in exhibit.bold if r == row} == best


def test_many_models_stand_in_blocks_of_columns(campaigns, tmp_path):
    shape = Shape({f"m{n}": 0.7 for n in range(9)}, ONE)
    exhibit, _ = built("phenomena", simulate(tmp_path, shape), labels_of(shape), tmp_path)
    columns = [[*section.columns] for section in exhibit.sections]
    assert columns == [
        ["n", "M0", "M1", "M2", "M3"], ["n", "M4", "M5", "M6", "M7"],
        ["n", "M8", "Longer", "Shorter", "Frequent words"],
    ]  # fmt: skip


@pytest.fixture
def released(tmp_path):
    """Write accuracies of released decisions of several seeds, with most of their perplexities."""
    shape = Shape(SEEDS, TWELVE, people=False)
    tables = simulate(tmp_path, shape)
    rows = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas().astype({"method": object})
    path = tmp_path / "accuracies" / "released" / f"{NAME}.parquet"
    write(rows.assign(method="released"), ACCURACIES, path)
    perplexities = [
        {"model": "rnn", "corpus": "lg", "seed": "1", "perplexity": 60.0},
        {"model": "rnn", "corpus": "lg", "seed": "22", "perplexity": 50.0},
        {"model": "rnn_sm_1", "corpus": None, "seed": None, "perplexity": 150.0},
        {"model": "of", "corpus": "another", "seed": "release", "perplexity": 1.0},
    ]
    of_models = tmp_path / "perplexities" / "released" / f"{NAME}.parquet"
    of_models.parent.mkdir(parents=True)
    write_rows(perplexities, MODEL_PERPLEXITIES, of_models)
    released_tables = {"accuracies": [path], "model_perplexities": [of_models]}
    labels = replace(labels_of(shape, source="published"), models={"gpt": "GPT"}, method="printed")
    labels.facts["benchmark"]["seeds"] = True
    return released_tables, labels


def test_printed_accuracies_have_a_published_form_where_nothing_is_released(released, tmp_path):
    tables, labels = released
    (path,) = tables["accuracies"]
    rows = read_table(ACCURACIES, path).to_pandas().astype({"method": object})
    unknown = dict.fromkeys(("correct", "n", "low", "high"))  # papers do not print these
    write(rows.assign(method="printed", **unknown), ACCURACIES, path)
    exhibit, _ = built("phenomena", tables, labels, tmp_path)
    check_cells(exhibit.cells, sources_of(tables))


def test_seeds_of_a_released_model_share_a_column_with_their_mean(released, tmp_path):
    tables, labels = released
    exhibit, _ = built("phenomena", tables, labels, tmp_path)
    overall = {c.column: c for c in exhibit.cells if c.row == "All"}
    assert [*overall] == ["GPT", "rnn_lg", "rnn_sm"]
    rows = accuracies(tables, phenomenon="all", paradigm="all").set_index("model")["accuracy"]
    mean = overall["rnn_lg"]
    assert mean.value == pytest.approx(50 * (rows["rnn_lg_1"] + rows["rnn_lg_22"]))
    assert mean.low is None
    assert overall["GPT"].low is not None
    assert "mean over seeds" in exhibit.caption
    exhibit, _ = built("models", tables, labels, tmp_path)
    rows = [(c.row, c.printed) for c in exhibit.cells]
    assert rows[:3] == [("GPT", True), ("rnn_lg", True), ("rnn_lg_1", False)]
    assert "faint point" in exhibit.caption


def test_released_models_with_a_size_in_their_names_have_a_column_each(released, tmp_path):
    tables, labels = released
    labels.facts["benchmark"]["seeds"] = False
    exhibit, _ = built("phenomena", tables, labels, tmp_path)
    overall = [c.column for c in exhibit.cells if c.row == "All" and c.low is not None]
    assert {*SEEDS} <= {*overall}


def test_models_never_share_a_column_with_people_counts_or_baselines(campaigns, tmp_path):
    names = dict(zip(THREE, ("People", "n", "Longer"), strict=True))
    labels = replace(labels_of(SHAPES["three"]), models=names)
    for name in ("phenomena", "people"):
        exhibit, _ = built(name, campaigns("three"), labels, tmp_path)
        columns = {c.column for c in exhibit.cells}
        assert columns >= {"People (small)", "n (middle)", "Longer (large)"}
        assert [*exhibit.layout().columns].count("n") == 1
        assert ("People" in columns) == (name == "people")


def test_perplexities_belong_to_models_by_name_or_by_its_parts(released, tmp_path):
    exhibit, _ = built("perplexity", *released, tmp_path)
    values = {c.row: c.value for c in exhibit.cells if c.column == "Test perplexity"}
    assert values == {"rnn_lg_1": 60.0, "rnn_lg_22": 50.0, "rnn_sm_1": 150.0}
    assert exhibit.caption.endswith("because no perplexity was released: GPT.")
    assert "a point for each model and seed" in exhibit.caption  # here two seeds of one model
    (legend,) = exhibit.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["rnn", "lg", "sm"]
    rows = accuracies(released[0], model="rnn_sm_1")
    single = rows[rows["paradigm"] != "all"]["accuracy"]
    assert cell_at(exhibit, "rnn_sm_1", "Accuracy").value == pytest.approx(100 * single.mean())


def test_two_perplexities_of_a_model_are_refused_and_none_are_stated(released, tmp_path):
    tables, labels = released
    rows = [{"model": "gpt__0", "perplexity": value} for value in (30.0, 40.0)]
    write_rows(rows, MODEL_PERPLEXITIES, tables["model_perplexities"][0])
    with pytest.raises(UserError, match="several perplexities of model 'gpt__0'"):
        built("perplexity", tables, labels, tmp_path)
    write_rows([], MODEL_PERPLEXITIES, tables["model_perplexities"][0])
    exhibit, _ = built("perplexity", tables, labels, tmp_path)
    assert texts_of(exhibit.figure) == ["no perplexity of these models is released"]


def texts_of(figure):
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    return [text.get_text() for text in texts]


def check_legible(figure):
    """Check that horizontal and vertical texts have 6 points or more, and do not overlap."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    # Labels of ticks beyond the limits of their axis are not drawn.
    hidden = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    texts = [
        text
        for text in {*figure.findobj(Text)} - hidden
        if text.get_visible() and text.get_text().strip() and text.get_rotation() in (0, 90)
    ]
    assert min(text.get_fontsize() for text in texts) >= SMALL
    for one, other in combinations(texts, 2):
        inner = [text.get_window_extent(renderer).padded(-1.5) for text in (one, other)]
        assert not inner[0].overlaps(inner[1]), (one.get_text(), other.get_text())


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("shape", DRAWN)
def test_texts_of_figures_are_large_enough_and_do_not_overlap(campaigns, tmp_path, shape, name):
    exhibit, _ = built(name, campaigns(shape), labels_of(SHAPES[shape]), tmp_path, ["png"])
    check_legible(exhibit.figure)
    assert all(axes.has_data() or texts_of(exhibit.figure) for axes in exhibit.figure.axes)


def test_paradigms_with_numbers_stand_in_their_order_and_those_not_judged_have_a_dot(tmp_path):
    shape = Shape(THREE, {"p": [f"p{n}" for n in (10, 9, 1, 2)]})
    tables = simulate(tmp_path, shape)
    rows = read_table(ACCURACIES, tables["accuracies"][0]).to_pandas()
    rows = rows[~((rows["model"] == "small") & (rows["paradigm"] == "p9"))]
    write(rows, ACCURACIES, *tables["accuracies"])
    exhibit, _ = built("paradigms", tables, labels_of(shape), tmp_path)
    assert list(dict.fromkeys(c.row for c in exhibit.cells)) == ["p1", "p2", "p9", "p10"]
    assert texts_of(exhibit.figure).count("·") == 1
    assert f"{cell_at(exhibit, 'p10', 'Large').value:.0f}" in texts_of(exhibit.figure)


def test_models_of_unknown_size_are_named_in_the_caption(campaigns, tmp_path):
    labels = labels_of(SHAPES["three"])
    del labels.facts["sizes"]["middle"]
    exhibit, _ = built("sizes", campaigns("three"), labels, tmp_path)
    assert exhibit.caption.endswith("because their size is unknown: Middle.")
    models, _ = built("models", campaigns("three"), labels, tmp_path)
    assert [c.row for c in models.cells] == ["Large", "Middle", "Small"]  # by accuracy
    assert {c.row for c in exhibit.cells} == {"Small", "Large"}
    labels.facts["sizes"].clear()
    exhibit, _ = built("sizes", campaigns("three"), labels, tmp_path)
    assert texts_of(exhibit.figure) == ["the number of parameters of no model is known"]


def test_too_few_paradigms_or_models_to_correlate_are_stated(campaigns, tmp_path):
    too_few = "fewer than 3 shared paradigms, or equal accuracies"
    reasons = {"one_paradigm": too_few, "single": "a single model"}
    for name, text in reasons.items():
        exhibit, _ = built("correlations", campaigns(name), labels_of(SHAPES[name]), tmp_path)
        assert texts_of(exhibit.figure) == [text]
        assert not exhibit.cells
    tables, labels = campaigns("one_paradigm"), labels_of(SHAPES["one_paradigm"])
    for name in ("people", "people_fig"):
        exhibit, _ = built(name, tables, labels, tmp_path)
        assert "or the accuracies of one side are all equal." in exhibit.caption
        assert not any("over" in c.row for c in exhibit.cells)


def test_each_two_models_have_one_correlation(campaigns, tmp_path):
    tables = campaigns("three")
    exhibit, _ = built("correlations", tables, labels_of(SHAPES["three"]), tmp_path)
    places = [(c.row, c.column) for c in exhibit.cells]
    assert places == [("Middle", "Small"), ("Large", "Small"), ("Large", "Middle")]
    rows = accuracies(tables)
    rows = rows[rows["paradigm"] != "all"]
    wide = rows.pivot(index="paradigm", columns="model", values="accuracy")
    expected = pearsonr(wide["large"], wide["middle"])
    cell = cell_at(exhibit, "Large", "Middle")
    assert cell.value == pytest.approx(expected.statistic)
    interval = expected.confidence_interval()
    assert (cell.low, cell.high) == pytest.approx((interval.low, interval.high))
    assert cell.n == 12


def test_people_stand_beside_models_and_are_correlated_with_them(campaigns, tmp_path):
    tables = campaigns("three")
    exhibit, _ = built("people", tables, labels_of(SHAPES["three"]), tmp_path)
    (section,) = exhibit.sections
    assert [*section.columns] == ["n", "People", "Small", "Middle", "Large"]
    assert [*section.rows][-4:] == [
        f"{kind} over {units}"
        for units in ("paradigms", "phenomena")
        for kind in ("Pearson's r", "Spearman's ρ")
    ]
    human = read_table(ACCURACIES, tables["people"][0]).to_pandas()
    judges = (human, accuracies(tables, model="small"))
    both = [rows[rows["phenomenon"] != "all"] for rows in judges]
    single = [rows[rows["paradigm"] != "all"].sort_values("paradigm") for rows in both]
    whole = [rows[rows["paradigm"] == "all"].sort_values("phenomenon") for rows in both]
    cell = cell_at(exhibit, "Spearman's ρ over paradigms", "Small")
    assert cell.value == pytest.approx(spearmanr(*(r["accuracy"] for r in single)).statistic)
    cell = cell_at(exhibit, "Pearson's r over phenomena", "Small")
    assert cell.value == pytest.approx(pearsonr(*(r["accuracy"] for r in whole)).statistic)
    same = pd.DataFrame({"a": [0.1, 0.1, 0.1], "b": [0.1, 0.2, 0.3]})
    assert np.isnan(formulas.correlate(same, formulas.PEARSON))
    assert cell_at(exhibit, "Pearson's r over paradigms", "Large").value == pytest.approx(1)
    assert "Ten people chose." in exhibit.caption
    assert not {column for _, column in exhibit.bold} & {"People"}

    # Printed accuracies have no interval, and those by several methods are refused.
    rows = read_table(ACCURACIES, tables["people"][0]).to_pandas().astype({"method": object})
    path = tmp_path / "people.parquet"
    without = rows.assign(low=None, high=None)
    printed = tables | {"people": [write(without, ACCURACIES, path)]}
    exhibit, _ = built("people", printed, labels_of(SHAPES["three"]), tmp_path)
    cell = cell_at(exhibit, "binding", "People")
    assert (cell.low, cell.n, cell.text) == (None, None, f"{cell.value:.1f}")
    both = pd.concat([rows, rows.assign(method="majority")])
    write(both, ACCURACIES, path)
    with pytest.raises(UserError, match="by human, majority; expected one"):
        built("people", printed, labels_of(SHAPES["three"]), tmp_path)


@pytest.mark.parametrize(("table", "judges"), [("people", "Small"), ("accuracies", "People")])
def test_people_and_models_are_compared_over_what_both_judged(campaigns, tmp_path, table, judges):
    """Models alone, or people alone, judge three of the paradigms."""
    tables = campaigns("three")
    rows = read_table(ACCURACIES, tables[table][0]).to_pandas()
    rows = rows[~rows["paradigm"].isin(["scrambling", "adjunct", "number"])]
    path = tmp_path / "fewer.parquet"
    tables = tables | {table: [write(rows, ACCURACIES, path)]}
    exhibit, _ = built("people", tables, labels_of(SHAPES["three"]), tmp_path)
    check_cells(exhibit.cells, sources_of(tables))
    assert "both people and models judged: 9 of 12." in exhibit.caption
    assert "word order" not in exhibit.layout().iloc[:, 0].tolist()
    own = read_table(ACCURACIES, tables["people"][0]).to_pandas()
    if judges == "Small":
        own = accuracies(tables, model="small")
    judged = own[own["paradigm"].isin(rows["paradigm"]) & (own["paradigm"] != "all")]
    inside = judged["phenomenon"] == "islands"
    for row, among in {"islands": inside, "All": judged["n"] > 0}.items():
        cell, chosen = cell_at(exhibit, row, judges), judged[among]
        assert cell.value == pytest.approx(100 * chosen["correct"].sum() / chosen["n"].sum())
        assert cell.n == chosen["n"].sum()
        assert judges == "People" or exhibit.stub[row]["n"] == str(cell.n)


@pytest.mark.parametrize(
    ("shape", "column"),
    [("three", "margin"), ("sentences", "value_good"), ("conditions", "margin")],
)
def test_models_are_correlated_with_ratings_of_items(campaigns, tmp_path, shape, column):
    tables = campaigns(shape)
    exhibit, _ = built("ratings", tables, labels_of(SHAPES[shape]), tmp_path, ["html"])
    check_cells(exhibit.cells, sources_of(tables))
    rows = next(plain(p) for p in tables["judgements"] if p.parent.name == "small")
    rated = rows[rows["rating"].notna()]
    key = ("English: " if len(SHAPES[shape].languages) > 1 else "") + "All: Small"
    cell = cell_at(exhibit, key, "Pearson's r")
    reference = pearsonr(rated[column], rated["rating"])
    ends = reference.confidence_interval(0.95)
    assert (cell.value, cell.low, cell.high) == pytest.approx((reference.statistic, *ends))
    cell = cell_at(exhibit, key, "Spearman's ρ")
    assert cell.value == pytest.approx(spearmanr(rated[column], rated["rating"]).statistic)
    assert cell.low < cell.value < cell.high
    assert cell.n == len(rated)
    assert cell_at(exhibit, key, "Without rating").value == len(rows) - len(rated) > 0


def test_the_worst_items_are_those_that_most_models_get_wrong_by_most(campaigns, tmp_path):
    tables = campaigns("three")
    exhibit, _ = built("worst", tables, labels_of(SHAPES["three"]), tmp_path)
    frames = [read_table(JUDGEMENTS, path).to_pandas() for path in tables["judgements"]]
    rows = pd.concat([frame.astype({"paradigm": str}) for frame in frames])
    items = rows.groupby("item_id").agg(
        right=("correct", "sum"), margin=("margin", "mean"), paradigm=("paradigm", "first")
    )
    expected = items.sort_values(["right", "margin"]).head(MOST_ITEMS)
    texts = [c for c in exhibit.cells if c.column == "Pair"]
    assert [c.where["item_id"] for c in texts] == [*expected.index]
    assert texts[0].text == "The cat [sleeps/*sleep] there."
    counts = [c for c in exhibit.cells if c.column == "Judged wrong"]
    assert counts[0].text == f"{3 - expected.iloc[0]['right']:.0f} of 3"

    # A judged item must be among the items.
    few = read_table(ITEMS, tables["items"][0]).slice(0, 1)
    without = tables | {"items": [write(few, ITEMS, tmp_path / "eng.parquet")]}
    with pytest.raises(UserError, match=r"has no item '.+' of paradigm '.+', which was judged"):
        built("worst", without, labels_of(SHAPES["three"]), tmp_path)


def test_items_that_all_models_get_right_are_left_out_and_conditions_stand_below_each_other(
    campaigns, tmp_path
):
    shape = Shape({"perfect": 9.0, "good": 9.0}, ONE)
    exhibit, _ = built("worst", simulate(tmp_path, shape), labels_of(shape), tmp_path)
    assert not exhibit.cells
    tables, labels = campaigns("conditions"), labels_of(SHAPES["conditions"])
    exhibit, _ = built("worst", tables, labels, tmp_path)
    # Methods such as perplexity compare means, so that margins are per token.
    unit = "nats (per token, character or byte if the method divides by their number)"
    assert exhibit.caption.endswith(f"lowest first. The unit of margins is {unit}.")
    rows = [*exhibit.sections[0].rows.items()][1:3]
    assert [number for _, number in rows] == ["1", ""]
    assert [exhibit.stub[row]["Condition"] for row, _ in rows] == ["match", "mis.match"]
    first, second = (cell_at(exhibit, row, "Judged wrong") for row, _ in rows)
    assert first.value == second.value
    assert (bool(first.text), second.text) == (True, "")


def test_texts_say_their_language_and_run_from_right_to_left_where_they_do(campaigns, tmp_path):
    shape = SHAPES["languages"]
    tables, labels = campaigns("languages"), labels_of(shape)
    exhibit, _ = built("phenomena", tables, labels, tmp_path, ["html"])
    assert [next(iter(s.rows)) for s in exhibit.sections] == [*LANGUAGES.values()] * 2
    exhibit, outputs = built("worst", tables, labels, tmp_path)
    assert {*exhibit.written_in.values()} == {"en", "ru", "tr", "zh", "ar"}
    page = outputs[-1].read_text()
    assert 'dir="rtl" lang="ar">القطة [تنام/*ينامون] هناك.</td>' in page
    assert 'dir="ltr" lang="zh">那只猫 [睡了/*了睡] 一会儿。</td>' in page
    assert len(exhibit.sections) == 5


def test_matthews_correlation_is_the_pearson_correlation_of_labels_and_verdicts(
    campaigns, tmp_path
):
    tables = campaigns("sentences")
    worst, _ = built("worst", tables, labels_of(SHAPES["sentences"]), tmp_path)
    texts = {c.text: worst.stub[c.row]["Label"] for c in worst.cells if c.column == "Sentence"}
    assert texts["The cat sleeps there."] == "acceptable"
    assert texts["The cat sleep there."] == "unacceptable"
    exhibit, _ = built("acceptability", tables, labels_of(SHAPES["sentences"]), tmp_path)
    (path,) = [p for p in tables["judgements"] if (p.stem, p.parent.name) == ("ara", "large")]
    rows = read_table(JUDGEMENTS, path).to_pandas()
    inside = rows[rows["phenomenon"] == "islands"]
    for row, own in (("Arabic: islands: Large", inside), ("Arabic: All: Large", rows)):
        cell = cell_at(exhibit, row, "Matthews' correlation")
        expected = np.corrcoef(own["acceptable"], own["accepted"])[0, 1]
        assert cell.value == pytest.approx(expected)
        assert cell.low < cell.value < cell.high
        assert cell_at(exhibit, row, "n").value == len(own)
        assert cell_at(exhibit, row, "Accuracy").value == pytest.approx(100 * own["correct"].mean())

    # Sentences without a verdict do not count.
    names = ("margin", "correct", "tie", "near_tie", "accepted")
    unjudged = [rows.to_dict("records")[0] | dict.fromkeys(names), *rows.to_dict("records")[1:]]
    folder = tmp_path / "judgements" / NAME / "large"
    path = write(unjudged, JUDGEMENTS, folder / "ara.parquet")
    exhibit, _ = built(
        "acceptability", tables | {"judgements": [path]}, labels_of(SHAPES["sentences"]), tmp_path
    )
    assert cell_at(exhibit, "All: Large", "n").value == len(rows) - 1
    labels = replace(labels_of(SHAPES["sentences"]), method="per_token")
    with pytest.raises(UserError, match="no judgements of made_up by method 'per_token'"):
        built("acceptability", tables, labels, tmp_path)


def test_effects_have_a_mean_an_interval_and_a_number_of_items(tmp_path):
    shape = Shape({"small": 0.6, "large": 0.8}, {"a": ["mvrr", "npz"]}, layout="conditions", n=4)
    tables = simulate(tmp_path, shape)
    values = {
        "mvrr": [[1.0, 5.0], [2.0, None], None, [6.0, 7.0]],
        "npz": [[-1.0], [1.0], None, None],
    }
    names = {"mvrr": ["garden path", "spillover"], "npz": ["garden path"]}
    for path in tables["judgements"]:
        rows = read_table(JUDGEMENTS, path).to_pylist()
        for number, row in enumerate(rows):
            row["effects"] = values[row["paradigm"]][number % 4]
            row["effect_names"] = names[row["paradigm"]]
        write(rows, JUDGEMENTS, path)
    exhibit, _ = built("effects", tables, labels_of(shape), tmp_path)
    check_cells(exhibit.cells, sources_of(tables))
    # By hand: the standard error of 1, 2 and 6 is √7 ÷ √3, and Student's t of 2 degrees 4.3027.
    expected = {
        "mvrr: garden path: Small": (3.0, 3.0 - 6.5724, 3.0 + 6.5724, 3),
        "mvrr: spillover: Large": (6.0, 6.0 - 12.7062, 6.0 + 12.7062, 2),
        "npz: garden path: Large": (0.0, -12.7062, 12.7062, 2),
    }
    for row, numbers in expected.items():
        cell = cell_at(exhibit, row, "Effect")
        assert (cell.value, cell.low, cell.high, cell.n) == pytest.approx(numbers, abs=1e-4)
        assert cell_at(exhibit, row, "n").value == numbers[-1]
    assert cell_at(exhibit, "mvrr: garden path: Small", "Effect").text == "3.00 [−3.57, 9.57]"
    assert len(exhibit.cells) == 2 * 2 * 3


def test_a_pair_that_the_files_have_twice_does_not_rank_higher_for_it():
    columns = ["lang", "phenomenon", "paradigm", "item_id", "correct", "margin"]
    once = ["eng", "a", "a"]
    rows = [[*once, "twice", 0.0, -1.0]] * 2 + [[*once, "twice", 1.0, 1.0]] * 2
    rows += [[*once, "once", 0.0, -0.5], [*once, "once", 0.0, -0.5]]
    worst = hardest(pd.DataFrame(rows, columns=columns))
    assert [*worst["item_id"]] == ["once", "twice"]
    assert [*worst["share"]] == [1.0, 0.5]
