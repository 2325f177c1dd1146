"""Test refusals of settings and catalogues in one sentence, and that the demo pins its data."""

import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import yaml

from blimpworks.campaign.catalogue import SourceRow, load_catalogue
from blimpworks.campaign.load import check_campaign, load_campaign
from blimpworks.campaign.reference import GroupRow
from blimpworks.campaign.settings.base import parse_options
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.papers.multiblimp.settings import LexiconOptions
from support.paths import REPOSITORY

NAMES = ("config", "mirror", "demo/config", "demo/corrected")
CAMPAIGNS = [f"config/{name}.yaml" for name in NAMES]


@pytest.mark.parametrize("path", CAMPAIGNS)
def test_every_campaign_of_the_repository_loads_with_its_catalogue(at_root, path):
    campaign = load_campaign(Path(path))
    catalogue = load_catalogue(campaign)
    assert catalogue.languages
    assert catalogue.models
    assert set(catalogue.treebanks) == set(catalogue.languages)
    if path == CAMPAIGNS[0]:
        assert len(catalogue.languages) == 102  # Korean is only in Multi-LMentry
        assert all(model.papers for model in catalogue.models.values())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}", "key 'campaign' is missing; add it."),
        ("campain: x", "key 'campain' is not a setting; did you mean 'campaign'?"),
        ("langauges: all", "key 'langauges' is not a setting; did you mean 'languages'?"),
        ("scoring: {bach_tokens: 1}", "'scoring.bach_tokens' is not a setting; did you mean"),
        ("multiblimp: {decisions: {finitness: corrected}}", "did you mean 'finiteness'?"),
        ("qqqqq: 1", "'qqqqq' is not a setting; remove it"),
        ("scoring: {max_sentences: 1}", "did you mean 'training.max_sentences'?"),
        ("pathvars: {results: ./results/mine/}", "/mine/': write it as 'results/mine'"),
        ("pathvars: {logs: 'a{b}'}", "'a{b}': expected a directory other than"),
        ("campaign: Two Words", "key 'campaign' is 'Two Words': string should match"),
        ("benchmarks: [blump]", "key 'benchmarks.0' is 'blump'"),
        ("scoring: {shard: 0}", "key 'scoring.shard' is 0"),
        ("scoring: {shard: 1001}", "key 'scoring.shard' is 1001"),
        ("multiblimp: {agreement: {alpha: 1.0}}", "'multiblimp.agreement.alpha' is 1.0"),
        ("languages: eng", "is 'eng': input should be a list, or input should be 'all'."),
        ("training: {recipes: {r: {kind: ngram, order: 9}}}", "'training.recipes.r.order' is 9"),
        ("training: {recipes: {r: {kind: transformer, hidden: 96, heads: 5}}}", "of twice heads"),
    ],
)
def test_a_wrong_setting_is_told_by_the_key_that_the_file_has(text, sentence):
    settings = yaml.safe_load(text)
    named = {"campaign": "x"} if settings and "campain" not in settings else {}
    with pytest.raises(UserError) as caught:
        check_campaign(named | settings, "my.yaml")
    assert str(caught.value).startswith("my.yaml: key '")
    assert sentence in str(caught.value)
    # Every problem has its own line.
    with pytest.raises(UserError) as both:
        check_campaign(named | settings | {"modles": "all"}, "my.yaml")
    assert len(str(both.value).splitlines()) == 1 + len(str(caught.value).splitlines())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "does not exist; expected a campaign file"),
        ("campaign: [", "is not valid YAML"),
        ("- a list", "holds no mapping"),
        ("", "holds no mapping"),
        ("description: caf\xe9", r"is not in UTF-8 .*at byte 16\); expected a campaign file"),
    ],
)
def test_a_file_that_is_no_campaign_is_named(tmp_path, text, sentence):
    path = tmp_path / "my.yaml"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=sentence) as caught:
        load_campaign(path)
    assert str(caught.value).startswith(str(path))


def test_options_travel_as_json_and_come_back_the_same():
    options = LexiconOptions(form_ratio=2.5)
    assert parse_options(LexiconOptions, options.model_dump_json()) == options
    with pytest.raises(UserError, match="LexiconOptions: key 'form_ration'"):
        parse_options(LexiconOptions, '{"form_ration": 1}')
    with pytest.raises(UserError, match=r"LexiconOptions: '\{bad' is not JSON"):
        parse_options(LexiconOptions, "{bad")


TABLES = ("languages", "models", "sources", "treebanks")


@pytest.fixture
def campaign(tmp_path):
    """Return a function that loads a campaign with its own small catalogue."""
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


NGRAM = {"models": ["ngram-5"], "training": {"recipes": {"ngram": {"kind": "ngram"}}}}
TOTALS = "glotcc/v1.0-language-totals.tsv"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"languages": ["qqq"]}, r"language 'qqq' .* not in .*languages.tsv.*abk, aln"),
        ({"models": ["gpt-9"]}, r"model 'gpt-9' .* not in .*models.tsv"),
        ({"models": ["ngram-5"]}, r"model 'ngram-5' has recipe 'ngram', which .* lacks"),
        (NGRAM | {"engines": {"kenlm": "vllm"}}, r"engine 'vllm' cannot run .*'engines' of"),
        ({"substitutes": {TOTALS: "unimorph/eng/eng"}}, r"'frequency'; only kinds uni"),
    ],
)
def test_what_the_catalogue_lacks_is_named(campaign, settings, message):
    with pytest.raises(UserError, match=message):
        campaign(**settings)


def test_a_selection_keeps_the_order_and_needs_a_treebank_file(campaign, tmp_path):
    assert list(campaign(languages=["wol", "cym", "abk"]).languages) == ["abk", "cym", "wol"]
    table = tmp_path / "treebanks.tsv"
    rows = [line for line in table.read_text("utf-8").splitlines() if not line.startswith("cym")]
    table.write_text("\n".join(rows) + "\n", "utf-8")
    with pytest.raises(UserError, match="has no treebank file of 'cym'"):
        campaign(languages=["cym"])


OWN = {"ngram-5": "ngram", "transformer-small": "transformer", "masked-small": "masked"}
OWN |= {"seq2seq-small": "encoder-decoder", "instruct-small": "instruct", "lstm-small": "lstm"}


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


@pytest.mark.parametrize(
    ("table", "line", "old", "new", "message"),
    [
        ("languages", 3, "aln", "ALN", "3: column 'lang' is 'ALN'"),
        ("models", 2, "vllm", "vlm", "2: column 'engine' is 'vlm'"),
        ("models", 2, "bfloat16", "BF16", "2: column 'dtype' is 'BF16'"),
        ("models", 2, "\t1.236\t", "\tnan\t", "2: column 'parameters' is 'nan'"),
        ("sources", 1, "name", "nmae", "1: unknown columns: nmae; missing columns: name"),
        ("sources", 2, "\tblimp_data\t", "\tblimp_data \t", "2: column 'kind' is 'blimp_data '"),
        ("treebanks", 1, "lang", "nmae", "1: unknown columns: nmae; missing columns: lang"),
    ],
)
def test_a_wrong_cell_or_heading_is_named(campaign, tmp_path, table, line, old, new, message):
    edit(tmp_path / f"{table}.tsv", line, old, new)
    with pytest.raises(UserError, match=f"{table}.tsv:{message}"):
        campaign()


def test_a_misspelt_paper_leaves_no_model_out(campaign, tmp_path):
    edit(tmp_path / "models.tsv", 2, "multiblimp", "multiblmip")
    with pytest.raises(UserError, match="paper 'multiblmip' is unknown; expected one of multiblim"):
        campaign(models="all")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([b"cym"], r"sources.tsv:2: fewer cells than headings"),
        ([b"\t".join([b"x"] * 30)], r"sources.tsv:2: more cells than headings"),
        ([b"", b"cym"], r"sources.tsv:3: fewer"),
        (["é".encode("latin-1")], r"sources.tsv is not in UTF-8"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_by_its_line(tmp_path, rows, message):
    table = tmp_path / "sources.tsv"
    heading = (REPOSITORY / "config" / "sources.tsv").read_bytes().splitlines()[0]
    table.write_bytes(b"\n".join([heading, *rows]) + b"\n")
    with pytest.raises(UserError, match=message):
        read_rows(SourceRow, table)


def test_a_quote_that_is_not_closed_swallows_no_rows(tmp_path):
    table = tmp_path / "groups.csv"
    table.write_text('group,lang,note\na,deu,"x\na,fra,x\n')
    with pytest.raises(UserError, match=r"groups\.csv: unexpected end of data; .* each quote"):
        read_rows(GroupRow, table)


def test_a_key_may_stand_in_one_row_only(campaign, tmp_path):
    table = tmp_path / "languages.tsv"
    lines = table.read_text("utf-8").splitlines()
    table.write_text("\n".join([*lines, f"{lines[1]} x"]) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"languages.tsv: lang 'abk' is in 2 rows; keep one"):
        campaign()
    table.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
    with pytest.raises(UserError, match=rf"tsv:{len(lines) + 1}: the row is also in line 2"):
        campaign()
    # Exhibits would have one row for two languages with one name, and one column for two models.
    own = {name: {"path": f"./{name}", "label": "Mine"} for name in ("mine", "yours")}
    table.write_text("\n".join(lines) + "\n", "utf-8-sig")
    with pytest.raises(UserError, match=r"'mine' and 'yours' have the same label, 'Mine', so"):
        campaign(own_models=own)
    edit(table, 3, lines[2].split("\t")[1], lines[1].split("\t")[1])
    with pytest.raises(UserError, match=r"languages.tsv: 'abk' and 'aln' have the same name"):
        campaign()
    table.unlink()
    with pytest.raises(UserError, match=r"languages.tsv does not exist"):
        campaign()


DATA = REPOSITORY / "config/demo/data"
TREEBANKS = sorted(DATA.glob("ud/*/*.conllu"))


def test_every_file_of_the_demo_is_pinned_by_what_it_is(at_root):
    catalogue = load_catalogue(load_campaign(Path("config/demo/config.yaml")))
    rows = [*catalogue.sources.values(), *chain.from_iterable(catalogue.treebanks.values())]
    files = {p.relative_to(DATA).as_posix(): p for p in DATA.rglob("*") if p.is_file()}
    pins = {row.mirror: (row.sha256, row.bytes) for row in rows}
    assert pins == {name: (sha256_of(path), path.stat().st_size) for name, path in files.items()}


@pytest.mark.slow
def test_the_authoring_program_writes_the_same_bytes(tmp_path):
    program = REPOSITORY / "config/demo/authoring/build.py"
    subprocess.run([sys.executable, program, "--out", tmp_path], check=True, capture_output=True)
    result = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    assert result
    for path in result:
        assert path.read_bytes() == (DATA / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.parametrize("treebank", TREEBANKS, ids=lambda p: p.stem)
def test_ud_validator_accepts_the_treebanks_at_level_two(treebank):
    lang = treebank.name[:2]
    command = [Path(sys.executable).with_name("udvalidate"), "--lang", lang, "--level", "2"]
    done = subprocess.run([*command, treebank], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert treebank.read_text(encoding="utf-8").count("# sent_id = ") >= 150
