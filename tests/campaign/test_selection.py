import csv
from dataclasses import replace

import pytest

from blimpworks.campaign import registry
from blimpworks.campaign.layout import Layout, missing_sources
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.paper import TableKind
from blimpworks.campaign.registry import refused
from blimpworks.campaign.scoring_jobs import available
from blimpworks.cluster.needs import expected_items
from blimpworks.errors import UserError
from support.paths import REPOSITORY


def selected(**settings):
    return Layout.of(check_campaign({"campaign": "mine"} | settings, "mine.yaml"))


TABLES = {name: f"config/demo/{name}.tsv" for name in ("treebanks", "sources")}
DEMO = {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": []}
DEMO |= {"mirror": "config/demo/data", "catalogue": TABLES}


def models_of(**settings):
    return selected(**DEMO | settings).catalogue.models


def test_a_path_is_a_model_of_the_campaigns_name_beside_those_of_the_table():
    row = models_of(own_models={"mine": {"path": "./checkpoints/mine"}})["mine"]
    assert (row.label, row.hf_id, row.scope) == ("mine", "./checkpoints/mine", "multilingual")
    assert (row.architecture, row.engine, row.dtype) == ("causal", "transformers", "float32")
    own = {"path": "./{lang}.arpa", "architecture": "ngram", "engine": "kenlm", "label": "3-gram"}
    row = models_of(own_models={"grams": own}, models=["gpt2"])["grams"]
    assert (row.label, row.scope) == ("3-gram", "monolingual")
    own = {"mine": {"path": "./checkpoints/mine"}}
    assert [*models_of(own_models=own, models=["goldfish"])] == ["goldfish", "mine"]
    assert "mine" in models_of(own_models=own, models="all")


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"mine": {"path": "gpt2"}}, r"expected a path \(beginning with"),
        ({"mine": {"path": "./mine{1}"}}, r"no braces but those of \{lang\} and \{script\}"),
        ({"gpt2": {"path": "./mine"}}, "has a model of this name too; choose another"),
        ({"My model": {"path": "./mine"}}, "'My model'.*name"),
        ({"mine": {"path": "./mine", "engine": "llama.cpp"}}, "own_models.mine.engine"),
    ],
)
def test_what_cannot_be_a_model_is_refused(own, message):
    with pytest.raises(UserError, match=message):
        models_of(own_models=own)


MODEL = "goldfish"


def covered(tmp_path, named):
    """Return the languages in which a model runs whose row has ``named`` as its languages."""
    with (REPOSITORY / "config/models.tsv").open(encoding="utf-8", newline="") as handle:
        rows = [*csv.DictReader(handle, delimiter="\t")]
    own = next(row for row in rows if row["name"] == MODEL) | {"languages": named}
    path = tmp_path / "models.tsv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, own, delimiter="\t")
        writer.writeheader()
        writer.writerow(own)
    settings = {"benchmarks": ["multiblimp"], "languages": ["deu", "eng", "fra"]}
    settings |= {"catalogue": {"models": str(path)}, "models": [MODEL]}
    return selected(**settings).covered_by(MODEL, "multiblimp")


@pytest.mark.parametrize(
    ("named", "languages"),
    [
        ("deu,fra", ("deu", "fra")),
        ("fra, deu", ("deu", "fra")),
        ("eng", ("eng",)),
        ("", ("deu", "eng", "fra")),
        ("goldfish", ("deu", "eng", "fra")),
        # Languages outside the campaign have no message.
        ("eng,tur", ("eng",)),
    ],
)
def test_a_model_is_run_in_the_languages_that_its_row_names(tmp_path, named, languages):
    assert covered(tmp_path, named) == languages


@pytest.mark.parametrize("named", ["deu,xxz", "goldfsh", "deu;fra", "deu,"])
def test_a_code_that_no_language_has_is_refused_in_one_sentence(tmp_path, named):
    with pytest.raises(UserError) as refusal:
        covered(tmp_path, named)
    message = str(refusal.value)
    assert f"model 'goldfish' exists for languages {named!r}; " in message
    assert f"{named.split(',')[-1]!r} is neither a group of " in message
    assert "nor the code of a language in " in message
    assert "\n" not in message


LIMITED = {"benchmarks": ["multiblimp", "demo_pairs"], "languages": ["eng"]}
LIMITED |= {"models": ["ngram-5"], "training": {"recipes": {"ngram": {"kind": "ngram"}}}}


def expected(**settings):
    selection = selected(**LIMITED | settings)
    [part] = selection.jobs
    items = expected_items(selection, part)
    return {str(path): expectation.pairs for path, expectation in items.items()}


@pytest.mark.parametrize(
    ("settings", "folder", "most"),
    [
        ({}, "results", 770),
        ({"limit": 100}, "results/sampled", 100),
        ({"limit": 3, "pathvars": {"results": "out"}}, "out/sampled", 3),
    ],
)
def test_with_a_limit_no_more_are_expected_and_they_are_a_sample(settings, folder, most):
    assert expected(**settings) == {
        f"{folder}/items/multiblimp/eng.parquet": most,
        f"{folder}/items/demo_pairs/eng.parquet": min(16, most),
    }


@pytest.mark.parametrize("limit", [0, -1, "few", 1.5])
def test_a_limit_is_a_positive_whole_number(limit):
    with pytest.raises(UserError, match="key 'limit'"):
        selected(**LIMITED, limit=limit)


RECIPES = {"ngram": {"kind": "ngram"}, "instruct-small": {"kind": "instruct"}}


def checked(**settings):
    """Return the message of a refused campaign, or ""."""
    try:
        selected(training={"recipes": RECIPES}, **settings).check_runs()
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("benchmarks", "lang", "models", "says"),
    [
        ("multiblimp", "deu", "gpt2", "model 'gpt2' of campaign 'mine' runs on none of its bench"),
        ("multiblimp", "deu", "gpt2", "the model is of blimp alone (column papers)). Take it out"),
        ("multiblimp lmentry", "deu", "ngram-5", "'lmentry' of campaign 'mine' is run with none"),
        ("lmentry", "deu", "ngram-5", "it has prompts, which ngram models cannot answer with ken"),
        ("multiblimp", "deu", "instruct-small", "the model is trained to answer prompts alone"),
        ("multiblimp", "xpg", "goldfish", "it exists for the languages of 'goldfish' (column l"),
        ("multiblimp", "deu", "ngram5", "Did you mean 'ngram-5'?"),
        ("multiblimp", "Germn", "", "Did you mean 'deu'?"),
        ("multiblimp", "deu", "Llama-3.1-8b", "Did you mean 'llama-3.1-8b'?"),
        ("multiblimp", "deu", "ngram-5 ngram-5", "'ngram-5' is named twice; keep one"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_with_the_reason(benchmarks, lang, models, says):
    message = checked(benchmarks=benchmarks.split(), languages=[lang], models=models.split())
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("benchmarks", "models"),
    [("multiblimp", ["ngram-5"]), ("multiblimp lmentry", []), ("multiblimp", "all")],
)
def test_what_can_be_run_is_let_through(benchmarks, models):
    assert checked(benchmarks=benchmarks.split(), languages=["deu"], models=models) == ""


@pytest.mark.parametrize(("unpinned", "retrieved"), [("error", 1), ("skip", 0)])
def test_a_file_without_a_checksum_is_left_out_only_where_the_campaign_says_so(unpinned, retrieved):
    layout = selected(**DEMO, unpinned=unpinned)
    campaign, catalogue = layout.campaign, layout.catalogue
    [row] = available(campaign, catalogue, "frequency")
    bare = row.model_copy(update={"sha256": "", "url": "https://example.org/totals.tsv"})
    catalogue = replace(catalogue, sources={row.name: bare})
    assert len(available(campaign, catalogue, "frequency")) == retrieved


def test_exhibits_that_a_campaign_cannot_make_say_why():
    def reasons(**settings):
        campaign = selected(**DEMO | settings).campaign
        return refused(campaign, campaign.benchmarks)

    own = {name: {"path": f"./{name}", "parameters": n} for n, name in enumerate(("a", "b"), 1)}
    suites = {"benchmarks": ["demo_suites"], "languages": ["eng"], "own_models": own}
    assert "demo_suites/sizes" not in reasons(**suites)
    own["b"]["parameters"] = 1
    assert "of several sizes" in reasons(**suites)["demo_suites/sizes"]
    text = reasons(benchmarks=["urblimp"], languages=["urd"], catalogue={})["urblimp/table9"]
    assert text.endswith("name their filled sheets in urblimp.annotations.")


def test_exhibits_that_a_campaign_omits_are_not_made():
    made = []
    for omitted in ([], ["multiblimp_fig3", "clams_fig3_published"]):
        layout = selected(**DEMO, omitted=omitted)
        made += [{s.alias for s in layout.exhibits}, {s.published_alias for s in layout.published}]
    assert made[0] - made[2] == {"multiblimp_fig3"}
    assert made[1] - made[3] == {"clams_fig3_published"}, "the other form stays"
    with pytest.raises(UserError, match=r"mine\.yaml: key 'omitted' names 'fig1', which is no exh"):
        selected(**DEMO, omitted=["fig1"])


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_files_of_a_released_corpus_are_read_for_each_kind_of_model(kind):
    name, recipe = f"{kind}-small", {"kind": kind, "corpus": "words"}
    training = {"corpora": {"words": {"words": "whitespace"}}, "recipes": {name: recipe}}
    chosen = {"benchmarks": ["clams"], "languages": ["eng"], "models": [name]}
    names = {row.name for row in selected(**chosen, training=training).read_files}
    assert "corpora/eng/train.txt" in names
    assert not any(name.startswith("ud/") for name in names)


def test_an_exhibit_that_lacks_treebanks_alone_names_each_file_once(monkeypatch):
    layout = selected(**DEMO)
    rows = [row.model_copy(update={"bytes": None}) for row in layout.catalogue.treebanks["deu"]]
    table = TableKind(paths="", sources=lambda *_: rows)
    monkeypatch.setattr(registry, "table_kind", lambda *_: table)
    sentence, command = missing_sources(layout, "mine.yaml")["published"]["multiblimp/fig1"]
    more = f" and {len(rows) - 1} more files" if len(rows) > 1 else ""
    assert f"Missing here: {rows[0].name}{more} (unknown size, " in sentence
    assert command.startswith("snakemake --cores 1 multiblimp_fig1_published")


def test_multilingual_models_of_other_languages_share_no_training_text(tmp_path):
    def joined(languages):
        copy = tmp_path / "models.tsv"
        with (REPOSITORY / "config/models.tsv").open(encoding="utf-8", newline="") as table:
            reader = csv.DictReader(table, delimiter="\t")
            [row] = [row for row in reader if row["name"] == "masked-small-multi"]
        rows = [row, row | {"name": "two", "label": "Two", "languages": languages}]
        with copy.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, reader.fieldnames, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        recipes = {"masked-small-multi": {"kind": "masked"}}
        changes = {"languages": ["deu", "eng", "fra"], "models": [row["name"], "two"]}
        changes |= {"training": {"recipes": recipes}}
        settings = DEMO | changes | {"catalogue": TABLES | {"models": str(copy)}}
        return selected(**settings).training.joined_languages()

    assert joined("") == ["deu", "eng", "fra"]
    with pytest.raises(UserError, match=r"multi in deu, eng, fra; two in deu, eng\. Expec"):
        joined("deu,eng")
