"""What a user asks for becomes a campaign that says all of it."""

import re
import socket
from contextlib import closing

import pytest

from blimpworks.campaign.load import load_campaign, read_anew
from blimpworks.campaign.registry import FOLDERS
from blimpworks.errors import UserError
from blimpworks.evaluation import request
from blimpworks.evaluation.run import Output
from blimpworks.evaluation.session import Evaluation, enter_repository
from support.declared_kit import CSV, PAIRS, declare


def settings_of(**asked):
    """An evaluation and its settings, with the repository's own table of models."""
    evaluation = Evaluation("embedded", **asked)
    evaluation.choose_data()
    return evaluation, evaluation.settings("evaluations/x") | {"models": ["ngram-5"]}


def refusal(function, *arguments, **options):
    with pytest.raises(UserError) as error:
        function(*arguments, **options)
    return str(error.value)


def test_a_campaign_file_holds_all_that_was_asked_for(tmp_path):
    path, languages = tmp_path / "campaign.yaml", request.parse_languages("English,eng")
    asked = {"benchmarks": ("clams",), "languages": languages, "limit": 50, "sensitivity": True}
    _, settings = settings_of(**asked)
    assert not request.write_campaign(settings, path)
    campaign = load_campaign(path)
    assert (campaign.benchmarks, campaign.languages) == (("clams",), ("eng",))
    assert (campaign.models, campaign.limit) == (("ngram-5",), 50)
    assert campaign.report_card.sensitivity
    assert campaign.pathvars.results == "evaluations/x/results"
    assert f"# snakemake --configfile {path} --cores 2 report_card" in path.read_text()
    assert request.write_campaign(settings | {"limit": 6}, path), "other settings are noticed"


@pytest.mark.parametrize("named", ["pairs", "./pairs", "{}/pairs/benchmark.yaml"])
def test_a_path_names_a_benchmark_and_brings_its_languages(tmp_path, monkeypatch, named):
    declare(
        tmp_path / "pairs", {"a.csv": CSV}, data=[PAIRS], languages={"qzz": "Q", "eng": "English"}
    )
    monkeypatch.setenv(FOLDERS, "")
    monkeypatch.chdir(tmp_path)
    try:
        names = request.parse_benchmarks(f"clams,{named.format(tmp_path)}")
        enter_repository()
        evaluation = Evaluation("embedded", names)
        evaluation.resolve(["gpt2"])
        layout = evaluation.prepare(tmp_path / "out")
        assert [*layout.catalogue.languages] == ["eng", "ita", "qzz"]
        assert "Languages of the benchmarks: eng, ita, qzz; --languages" in evaluation.notes[1]
        again = load_campaign(tmp_path / "out/campaign.yaml")
        assert again.benchmarks == ("clams", "pairs")
        assert again.declared == (tmp_path / "pairs",)
        assert not again.description, "what the template says of its own items"
    finally:
        monkeypatch.undo()
        read_anew()


def test_a_benchmark_that_is_named_brings_the_languages_whose_treebanks_all_have_checksums(
    tmp_path,
):
    enter_repository()
    evaluation = Evaluation("released", ("multiblimp",), mirror=tmp_path)
    evaluation.resolve(["gpt2"])
    languages = evaluation.prepare(tmp_path / "out").catalogue.languages
    assert {"eng", "cat", "deu"} & {*languages} == {"eng"}
    [left_out] = [note for note in evaluation.notes if note.startswith("Left out")]
    assert re.search("cat, .*deu, .*files without checksum", left_out)


def test_without_a_network_data_are_embedded_and_the_reason_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    embedded = "embedded (there is no network; released data need one, or --mirror DIRECTORY). "
    for mirror, data in ((tmp_path, f"released (from {tmp_path}). "), (None, embedded)):
        evaluation = Evaluation(mirror=mirror)
        evaluation.choose_data()
        assert evaluation.notes[0].startswith(f"Data: {data}")


def test_a_hub_that_answers_is_reachable(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("BLIMPWORKS_OFFLINE", raising=False)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert request.hub_is_reachable()
    assert not request.hub_is_reachable()


@pytest.mark.parametrize(
    ("named", "code"),
    [
        *(("en", "eng"), ("EL", "ell"), ("ger", "deu"), ("gre", "ell"), ("iw", "heb")),
        *(("ara", "arb"), ("ar", "arb"), ("kur", "kmr")),  # macrolanguages
        *(("pes", "fas"), ("ekk", "est")),  # languages that the table has as macrolanguages
        *(("apc", ""), ("zh", "zho"), ("ja", "jpn"), ("nv", ""), ("mar", "mar")),
    ],
)
def test_other_codes_are_read_as_those_of_the_table(at_root, caplog, named, code):
    caplog.set_level("INFO")
    if not code:
        message = refusal(request.parse_languages, named)
        assert message.startswith(f"--languages names {named!r}; expected codes (ISO 639) or")
        assert message.endswith("See `blimpworks evaluate --list`.")
    else:
        assert request.parse_languages(named) == (code,)
        read = f"--languages names {named!r}, read as {code} ("
        assert [message.startswith(read) for message in caplog.messages] == [True] * (named != code)


def test_benchmarks_that_no_model_runs_on_are_left_out_or_refused_with_the_reason(at_root):
    evaluation, settings = settings_of(languages=("deu",))
    chosen = evaluation.choose_benchmarks(settings).campaign.benchmarks
    assert chosen == ("multiblimp", "demo_pairs")
    notes = evaluation.notes[1:]
    assert [note.split(",")[0].removeprefix("Left out: ") for note in notes] == [
        *("blimp_generated", "clams", "demo_suites")
    ]
    assert "Left out: clams, because the campaign has no language of it" in notes
    evaluation, settings = settings_of(languages=("kaz",))
    message = refusal(evaluation.choose_benchmarks, settings)
    assert message.startswith("none of the benchmarks can be run:")
    assert all(f"  {name}: " in message for name in evaluation.template["benchmarks"])
    evaluation, settings = settings_of(benchmarks=("clams",), languages=("eng", "deu"))
    message = refusal(evaluation.choose_benchmarks, settings)
    assert "--languages names deu, which no model" in message


def test_snakemake_says_its_steps_and_what_failed():
    output = Output()
    output.take("total       12\n")
    assert output.steps == (0, 12)
    said = "Error in rule score:\n3 of 12 steps (25%) done\nWhat failed:\n  a.log\n"
    for line in said.splitlines(keepends=True):
        output.take(line)
    assert (output.steps, output.failure()) == ((3, 12), "What failed:\n  a.log")
