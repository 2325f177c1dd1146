import json
import re
import shlex
import socket
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

import blimpworks
from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign, load_campaign, read_anew
from blimpworks.campaign.registry import FOLDERS, benchmarks
from blimpworks.campaign.settings.base import read_settings
from blimpworks.cli import run_here
from blimpworks.errors import UserError
from blimpworks.evaluation import request
from blimpworks.evaluation.request import Listed, is_local_file, list_benchmarks, listing_text
from blimpworks.evaluation.run import Output
from blimpworks.evaluation.session import Evaluation, enter_repository
from blimpworks.records.job import REPOSITORY
from support.declared_kit import CSV, PAIRS, declare


def settings_of(**asked):
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
    languages = {"qzz": "Q", "eng": "English"}
    declare(tmp_path / "pairs", {"a.csv": CSV}, data=[PAIRS], languages=languages)
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


def test_a_named_benchmark_brings_the_languages_whose_files_all_have_checksums(tmp_path):
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


class _Proxy(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(200 if self.path == "http://hub.invalid/" else 404)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def network(monkeypatch):
    """Allow the network, without the proxies of this machine."""
    names = ("no_proxy", "http_proxy", "https_proxy", "all_proxy")
    for name in ("HF_HUB_OFFLINE", "BLIMPWORKS_OFFLINE", *names):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_hub_that_answers_is_reachable(network, monkeypatch):
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert request.hub_is_reachable()
    assert not request.hub_is_reachable()


def test_a_hub_behind_a_proxy_is_reachable(network, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    assert not request.hub_is_reachable()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Proxy) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")
        assert request.hub_is_reachable()
        proxy.shutdown()
    assert not request.hub_is_reachable()


@pytest.mark.parametrize(
    ("named", "code"),
    [
        *(("en", "eng"), ("EL", "ell"), ("ger", "deu"), ("gre", "ell"), ("iw", "heb")),
        *(("ara", "arb"), ("ar", "arb"), ("kur", "kmr")),  # macrolanguages
        *(("pes", "fas"), ("ekk", "est")),  # languages that are macrolanguages in the table
        *(("apc", ""), ("zh", "zho"), ("ja", "jpn"), ("nv", ""), ("mar", "mar")),
    ],
)
def test_other_codes_are_read_as_those_of_the_table(at_root, caplog, named, code):
    caplog.set_level("INFO")
    if not code:
        message = refusal(request.parse_languages, named)
        assert message.startswith(f"--languages names {named!r}; expected codes (ISO 639) or")
        assert message.endswith("See `blimpworks evaluate --list`.")
        assert "is ''; expected codes" in refusal(request.parse_languages, "")
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
    assert "Left out: clams, because the campaign has none of its languages" in notes
    evaluation, settings = settings_of(languages=("kaz",))
    message = refusal(evaluation.choose_benchmarks, settings)
    assert message.startswith("none of the benchmarks can be run:")
    assert all(f"  {name}: " in message for name in evaluation.template["benchmarks"])
    evaluation, settings = settings_of(benchmarks=("clams",), languages=("eng", "deu"))
    message = refusal(evaluation.choose_benchmarks, settings)
    assert "--languages names deu, which no model" in message


def test_snakemake_says_its_steps_and_what_failed():
    output = Output()
    output.store("total       12\n")
    assert output.steps == (0, 12)
    said = "Error in rule score:\n3 of 12 steps (25%) done\nWhat failed:\n  a.log\n"
    for line in said.splitlines(keepends=True):
        output.store(line)
    assert (output.steps, output.failure()) == ((3, 12), "What failed:\n  a.log")


@pytest.fixture(scope="module")
def settings():
    template = read_settings(REPOSITORY / "config/demo/config.yaml", "campaign")
    return {**template, "models": []}


def listed(settings, **more):
    campaign = check_campaign({**settings, **more}, "test")
    return {row.name: row for row in list_benchmarks(campaign)}


def test_a_row_has_the_expected_items_of_each_language_and_the_files_at_hand(settings):
    rows = listed(settings)
    assert [*rows][:3] == ["multiblimp", "demo_pairs", "demo_suites"]
    assert {*rows} == {*benchmarks()}
    row = rows["multiblimp"]
    expected = {"deu": 2298, "eng": 770, "fra": 2548}
    assert row == Listed(
        "multiblimp", "MultiBLiMP", "pairs expected", expected, "all 6 files on the disk"
    )


def test_files_count_that_were_retrieved_or_are_in_the_mirror(settings, tmp_path):
    place = {"pathvars": {"resources": str(tmp_path)}, "mirror": str(tmp_path / "mirror")}
    campaign = check_campaign({**settings, **place}, "test")
    rows = load_catalogue(campaign).sources

    def at_hand():
        return {name for name, row in rows.items() if is_local_file(campaign, row)}

    assert at_hand() == set()
    for path in ("sources/unimorph/deu/deu", "mirror/unimorph/fra/fra.xz"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    assert at_hand() == {"unimorph/deu/deu", "unimorph/fra/fra"}


def test_a_benchmark_in_other_languages_is_listed_with_those_to_name(settings):
    rows = listed(settings)
    assert rows["turblimp"].is_optional
    assert [*rows["turblimp"].expected] == ["tur"]
    assert rows["blimp_generated"].source == "generated here"
    only = listed(settings, languages=["eng"])["demo_pairs"]
    assert ([*only.expected], only.optional_languages) == (["eng"], ("deu",))


def test_a_broken_draft_is_listed_with_its_fault(settings, monkeypatch):
    fault = "config/benchmarks/mine/benchmark.yaml: key 'lable' is not a setting."
    monkeypatch.setattr(request, "registered", lambda: ({}, {"mine": fault}))
    row = listed(settings)["mine"]
    assert " ".join(listing_text([row]).split()).endswith(f" mine not usable: {fault}")


def test_lines_fit_the_terminal_and_say_all(settings):
    text = listing_text([*listed(settings).values()])
    assert max(map(len, text.splitlines())) <= 80
    head, named, absent = text.split("\n\n", 2)[0], text, text.partition("Not in these data:")[2]
    assert head.startswith(
        "multiblimp (MultiBLiMP)\n"
        "    3 languages, pairs expected in each: deu 2,298, eng 770, fra 2,548\n"
        "    all 6 files on the disk\n"
        "demo_pairs (Demo pairs)\n"
        "    2 languages, 16 pairs in each: deu, eng\n"
        "    in the repository\n"
    )
    assert "turblimp (TurBLiMP)\n    1 language, 18,200 pairs: tur\n    0 of 38 files" in named
    assert "blimp (BLiMP)\n    config/demo/sources.tsv has no row" in absent


@pytest.fixture
def wrong_models(monkeypatch, tmp_path):
    """Make models of the user's that cannot be run, without a network; return their directory."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, config in {
        "empty": None,
        "pickled": {"architectures": ["GPT2LMHeadModel"]},
        "own_code": {"architectures": ["MyModel"], "auto_map": {"AutoModel": "my.MyModel"}},
        "classifier": {"architectures": ["BertForSequenceClassification"]},
    }.items():
        (tmp_path / name).mkdir()
        if config is not None:
            (tmp_path / name / "config.json").write_text(json.dumps(config))
    (tmp_path / "pickled/pytorch_model.bin").write_bytes(b"\x80\x04.")
    (tmp_path / "noise.arpa").write_text("no n-grams here\n")
    (tmp_path / "file.txt").write_text("something else\n")


WRONG = {
    "": "no model is named; ",
    "gtp2": "Did you mean 'gpt2'?",
    "./nomodel": "nomodel",
    "./empty": "config.json",
    "./pickled": "blimpworks convert-weights",
    "./own_code": "code of its own (auto_map), which is never run",
    "./classifier": "expected a language model",
    "noise.arpa": "noise.arpa",
    "someone/some-model": "someone/some-model",
    "some/m:a--b.gguf": "at revision 'main' is not complete in the cache",
    "some/m--x": "cannot be a name on the hub",
    "'some one/some model'": "some one/some model",
    "ngram-5 ngram-5": "twice",
    "gpt2 goldfish gpt2@main": "is named twice",
    "Qwen3-8B": "Did you mean 'qwen3-8b'?",
    "a/b/c": "cannot be a name on the hub",
    "models/mine.arpa": "is no existing file or directory",
    "transformer-xl-wt103": "of the catalogue is not available",
    "ngram-5 --benchmarks=bilmp": "Did you mean 'blimp'?",
    "ngram-5 --benchmarks=": "--benchmarks is ''; expected names with commas between, or all",
    "ngram-5 --languages=Germn": "Did you mean 'german'?",
    "ngram-5 --data=all": "expected auto, embedded, released",
    "ngram-5 --mirror=nowhere": "which is no directory",
    "ngram-5 --mirror=empty --data=embedded": (
        "--mirror has released data, which --data embedded leaves out"
    ),
    "ngram-5 --engine=onnx": "--engine is 'onnx'; expected auto",
    "ngram-5 --engine=vllm": "model 'ngram-5'",
    "gpt2 --dtype=float12": "float12",
    "ngram-5 --benchmarks=lmentry": "it has prompts, which ngram models cannot answer",
    "ngram-5 --benchmarks=clams --languages=fra": "the campaign has none of its languages",
    "ngram-5 --benchmarks=multiblimp --languages=Kazakh": (
        "config/demo/treebanks.tsv has no treebank file of 'kaz'"
    ),
    "ngram-5 --out=file.txt": "file.txt, which is a file",
    "ngram-5 --out=pickled": "which has other files",
}


@pytest.mark.usefixtures("wrong_models")
@pytest.mark.parametrize(("words", "says"), WRONG.items())
def test_a_wrong_use_is_answered_with_what_to_do(words, says):
    # The command changes to the repository, and the fixture changes back.
    with pytest.raises(UserError) as refusal:
        run_here(["evaluate", "--dry-run", "--out=out", *shlex.split(words)])
    message = str(refusal.value)
    assert says in message
    assert "Traceback" not in message
    assert len(message) < 700


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: blimpworks.load_results("src"), "^src has no campaign.yaml; expected the direct"),
        (lambda: blimpworks.load_items("demo_pairs", "Russian"), "'demo_pairs' has items in deu, "),
        (lambda: blimpworks.load_items("all", "deu"), "^'all' in 'deu': name one benchmark and "),
        (lambda: blimpworks.evaluate("gtp2", out="x"), r"is not in the .* Did you mean 'gpt2'\?"),
    ],
)
def test_python_refuses_in_one_sentence_too(at_root, ask, says):
    with pytest.raises(UserError, match=says):
        ask()


@pytest.mark.usefixtures("wrong_models")
def test_the_repository_is_left_as_it_was():
    before = {*REPOSITORY.iterdir()}
    with pytest.raises(UserError):
        run_here(["evaluate", "gtp2"])
    assert {*REPOSITORY.iterdir()} == before
