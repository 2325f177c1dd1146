"""Settings and catalogues: what is wrong is said in one sentence, with its place."""

import shutil
from pathlib import Path

import pytest
import yaml

from blimpworks.campaign.catalogue import (
    LanguageRow,
    ModelRow,
    SourceRow,
    TreebankRow,
    load_catalogue,
)
from blimpworks.campaign.load import campaign_model, check_campaign, load_campaign
from blimpworks.campaign.settings.parsing import parse_options
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.settings import (
    LexiconOptions,
    MultiblimpOptions,
    SamplingOptions,
    corrected,
)
from support.paths import REPOSITORY

CAMPAIGNS = [
    "config/config.yaml",
    "config/mirror.yaml",
    "config/demo/config.yaml",
    "config/demo/corrected.yaml",
]


@pytest.fixture
def at_root(monkeypatch):
    """Catalogue paths are relative to the directory that the workflow runs in."""
    monkeypatch.chdir(REPOSITORY)


# Campaign files


@pytest.mark.parametrize("path", CAMPAIGNS)
@pytest.mark.usefixtures("at_root")
def test_every_campaign_of_the_repository_loads_with_its_catalogue(path):
    campaign = load_campaign(Path(path))
    catalogue = load_catalogue(campaign)
    assert catalogue.languages
    assert catalogue.models
    assert set(catalogue.treebanks) == set(catalogue.languages)


@pytest.mark.usefixtures("at_root")
def test_the_papers_campaign_takes_all_languages_and_every_model_of_a_paper():
    catalogue = load_catalogue(load_campaign(Path("config/config.yaml")))
    assert len(catalogue.languages) == 102  # Korean is Multi-LMentry's
    assert all(model.papers for model in catalogue.models.values())


@pytest.mark.parametrize(
    ("settings", "key", "suggestion"),
    [
        ({"campain": "x"}, "campain", "campaign"),
        ({"campaign": "x", "langauges": "all"}, "langauges", "languages"),
        ({"campaign": "x", "scoring": {"bach_tokens": 1}}, "scoring.bach_tokens", "batch_tokens"),
        (
            {"campaign": "x", "multiblimp": {"decisions": {"finitness": "corrected"}}},
            "multiblimp.decisions.finitness",
            "finiteness",
        ),
    ],
)
def test_a_misspelt_key_is_named_with_the_likely_one(settings, key, suggestion):
    with pytest.raises(UserError) as caught:
        check_campaign(settings, "my.yaml")
    assert f"my.yaml: key {key!r} is not a setting; did you mean {suggestion!r}?" in str(
        caught.value
    )


def test_a_key_like_no_other_is_refused_without_a_suggestion():
    with pytest.raises(UserError, match="'qqqqq' is not a setting; remove it"):
        check_campaign({"campaign": "x", "qqqqq": 1}, "my.yaml")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "key 'campaign' is missing; add it."),
        ({"campaign": "Two Words"}, "key 'campaign' is 'Two Words': string should match"),
        ({"campaign": "x", "benchmarks": ["blump"]}, "key 'benchmarks.0' is 'blump'"),
        ({"campaign": "x", "scoring": {"shard": 0}}, "key 'scoring.shard' is 0"),
        ({"campaign": "x", "scoring": {"shard": 1001}}, "key 'scoring.shard' is 1001"),
        (
            {"campaign": "x", "multiblimp": {"agreement": {"alpha": 1.0}}},
            "key 'multiblimp.agreement.alpha' is 1.0",
        ),
    ],
)
def test_a_value_out_of_place_is_named_with_its_key(settings, sentence):
    with pytest.raises(UserError) as caught:
        check_campaign(settings, "my.yaml")
    assert sentence in str(caught.value)


def test_every_problem_gets_a_line_of_its_own():
    with pytest.raises(UserError) as caught:
        check_campaign({"campaign": "x", "langauges": "all", "modles": "all"}, "my.yaml")
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "does not exist; expected a campaign file"),
        ("campaign: [", "is not valid YAML"),
        ("- a list", "holds no mapping"),
        ("", "holds no mapping"),
    ],
)
def test_a_file_that_is_no_campaign_is_named(tmp_path, text, sentence):
    path = tmp_path / "my.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=sentence) as caught:
        load_campaign(path)
    assert str(caught.value).startswith(str(path))


def test_settings_are_immutable():
    campaign = campaign_model()(campaign="x")
    with pytest.raises(ValueError, match="frozen"):
        campaign.campaign = "y"


def test_decisions_follow_the_variant_unless_they_are_set():
    followed = MultiblimpOptions(variant="corrected")
    set_apart = MultiblimpOptions(variant="corrected", decisions={"finiteness": "published"})
    assert corrected(followed, "finiteness")
    assert not corrected(set_apart, "finiteness")
    assert corrected(set_apart, "contractions")
    assert not corrected(MultiblimpOptions(), "contractions")


def test_options_travel_as_json_and_come_back_the_same():
    options = LexiconOptions(form_ratio=2.5)
    assert parse_options(LexiconOptions, options.model_dump_json()) == options
    with pytest.raises(UserError, match="LexiconOptions: key 'form_ration'"):
        parse_options(LexiconOptions, '{"form_ration": 1}')


# Catalogues

TABLES = {
    "languages": LanguageRow,
    "models": ModelRow,
    "sources": SourceRow,
    "treebanks": TreebankRow,
}


@pytest.fixture
def campaign(tmp_path):
    """A campaign of its own small catalogue, and the directory of its tables."""
    for name in TABLES:
        source = REPOSITORY / "config" / f"{name}.tsv"
        shutil.copy(source, tmp_path / source.name)
    path = tmp_path / "campaign.yaml"
    tables = {name: str(tmp_path / f"{name}.tsv") for name in TABLES}

    def load(**settings):
        path.write_text(yaml.safe_dump({"campaign": "x", "catalogue": tables, **settings}))
        return load_catalogue(load_campaign(path))

    return load


def edit(path, line, old, new):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_an_unknown_language_is_named_with_the_table_and_some_known_ones(campaign):
    with pytest.raises(UserError, match=r"language 'qqq' .* not in .*languages.tsv.*abk, aln"):
        campaign(languages=["qqq"])


def test_an_unknown_model_is_named_with_the_table(campaign):
    with pytest.raises(UserError, match=r"model 'gpt-9' .* not in .*models.tsv"):
        campaign(models=["gpt-9"])


def test_a_selection_keeps_the_order_of_the_catalogue(campaign):
    assert list(campaign(languages=["wol", "cym", "abk"]).languages) == ["abk", "cym", "wol"]


def test_a_trained_model_needs_its_recipe(campaign):
    with pytest.raises(UserError, match=r"model 'ngram-5' has recipe 'ngram', which .* lacks"):
        campaign(models=["ngram-5"])


OWN = {
    "ngram-5": "ngram",
    "transformer-small": "transformer",
    "masked-small": "masked",
    "seq2seq-small": "encoder-decoder",
    "instruct-small": "instruct",
    "lstm-small": "lstm",
}


def test_a_trained_models_row_says_what_its_recipe_makes(campaign, tmp_path):
    recipes = {name.replace("ngram-5", "ngram"): {"kind": kind} for name, kind in OWN.items()}
    settings = {"models": list(OWN), "training": {"recipes": recipes}}
    assert list(campaign(**settings).models) == list(OWN)
    table = tmp_path / "models.tsv"
    rows = table.read_text("utf-8").splitlines()
    lines = {row.split("\t")[0]: number for number, row in enumerate(rows, start=1)}
    edit(table, lines["lstm-small"], "eos", "bos")
    with pytest.raises(UserError, match=r"lstm, lstm, float32, bos; its recipe makes .*, eos"):
        campaign(**settings)


def test_a_language_needs_a_treebank_file(campaign, tmp_path):
    table = tmp_path / "treebanks.tsv"
    rows = [line for line in table.read_text("utf-8").splitlines() if not line.startswith("cym")]
    table.write_text("\n".join(rows) + "\n", "utf-8")
    with pytest.raises(UserError, match="has no treebank file of 'cym'"):
        campaign(languages=["cym"])


def test_a_wrong_cell_is_named_by_file_line_and_column(campaign, tmp_path):
    edit(tmp_path / "languages.tsv", 3, "aln", "ALN")
    with pytest.raises(UserError, match=r"languages.tsv:3: column 'lang' is 'ALN'"):
        campaign()


def test_a_wrong_choice_is_named_by_file_line_and_column(campaign, tmp_path):
    edit(tmp_path / "models.tsv", 2, "vllm", "vlm")
    with pytest.raises(UserError, match=r"models.tsv:2: column 'engine' is 'vlm'"):
        campaign()


def test_an_engine_that_cannot_run_a_model_is_told_before_anything_runs(campaign):
    with pytest.raises(UserError, match=r"'ngram-5': engine 'vllm' cannot run .*'engines' of"):
        campaign(
            models=["ngram-5"],
            engines={"kenlm": "vllm"},
            training={"recipes": {"ngram": {"kind": "ngram"}}},
        )


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_and_an_unknown_column_are_named(tmp_path, name):
    table = tmp_path / f"{name}.tsv"
    shutil.copy(REPOSITORY / "config" / table.name, table)
    first = table.read_text("utf-8").split("\t", 1)[0]
    edit(table, 1, first, "nmae")
    with pytest.raises(UserError, match=rf":1: unknown columns: nmae; missing columns: {first}"):
        read_rows(TABLES[name], table)


@pytest.mark.parametrize(("cells", "many"), [("cym", "fewer"), ("\t".join("x" * 30), "more")])
def test_a_row_with_too_few_or_too_many_cells_is_named(tmp_path, cells, many):
    table = tmp_path / "sources.tsv"
    shutil.copy(REPOSITORY / "config" / "sources.tsv", table)
    edit(table, 2, table.read_text("utf-8").splitlines()[1], cells)
    with pytest.raises(UserError, match=rf"sources.tsv:2: {many} cells than headings"):
        read_rows(SourceRow, table)


def test_an_empty_line_does_not_shift_the_lines_that_are_named(tmp_path):
    table = tmp_path / "sources.tsv"
    first, *rest = (REPOSITORY / "config" / "sources.tsv").read_text("utf-8").splitlines()
    table.write_text("\n".join([first, "", rest[0], "cym"]) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"sources.tsv:4: "):
        read_rows(SourceRow, table)


def test_a_table_in_another_encoding_is_refused(tmp_path):
    table = tmp_path / "sources.tsv"
    shutil.copy(REPOSITORY / "config" / "sources.tsv", table)
    table.write_bytes(table.read_bytes() + "é".encode("latin-1"))
    with pytest.raises(UserError, match=r"sources.tsv is not in UTF-8"):
        read_rows(SourceRow, table)


def test_a_key_may_stand_in_one_row_only(campaign, tmp_path):
    table = tmp_path / "languages.tsv"
    lines = table.read_text("utf-8").splitlines()
    table.write_text("\n".join([*lines, f"{lines[1]} x"]) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"languages.tsv: lang 'abk' stands in 2 rows; keep one"):
        campaign()
    table.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
    with pytest.raises(UserError, match=rf"tsv:{len(lines) + 1}: the row stands in line 2 too"):
        campaign()


def test_a_missing_table_is_named(campaign, tmp_path):
    (tmp_path / "models.tsv").unlink()
    with pytest.raises(UserError, match=r"models.tsv does not exist"):
        campaign()


def recipe(**settings):
    return {"campaign": "x", "training": {"recipes": {"mine": settings}}}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"campaign": "x", "languages": "eng"},
            "key 'languages' is 'eng': input should be a list, or input should be 'all'.",
        ),
        (
            recipe(kind="ngram", order=9),
            "key 'training.recipes.mine.order' is 9: input should be less than or equal to 6.",
        ),
        (
            recipe(kind="transformer", hidden=96, heads=5),
            "hidden is 96 and heads is 5; hidden must be a multiple of twice heads",
        ),
    ],
    ids=["alternatives", "alternative's part", "heads"],
)
def test_a_wrong_setting_is_told_by_the_key_that_the_file_has(settings, message):
    with pytest.raises(UserError) as caught:
        check_campaign(settings, "mine.yaml")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("mine.yaml: key '")
    assert message in str(caught.value)


def test_a_settings_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"campaign: mine\ndescription: caf\xe9\n")
    with pytest.raises(UserError) as caught:
        load_campaign(path)
    assert str(caught.value).startswith(f"{path} is not in UTF-8 (")
    assert "at byte 31); expected a campaign file. Write it, in UTF-8" in str(caught.value)


def test_options_that_are_no_json_are_told():
    with pytest.raises(UserError, match=r"SamplingOptions: '\{bad' is not JSON"):
        parse_options(SamplingOptions, "{bad")
