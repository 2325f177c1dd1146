import json
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from blimpworks import cli
from blimpworks.campaign.load import check_campaign, load_campaign
from blimpworks.campaign.scoring_jobs import CampaignSelection, ScoringJob
from blimpworks.cluster.slurm import Queue, read_queue
from blimpworks.cluster.status import last_line, read_job_status, read_status
from blimpworks.cluster.status_text import as_text
from blimpworks.cluster.text import TextTable, duration, printed, shortened
from blimpworks.errors import UserError
from blimpworks.files import Listing
from blimpworks.records.journal import journal_path, now, progress_path
from support import tiny
from support.journal_kit import ASKED, attempt, scored, started, write_attempts, write_progress
from support.paths import REPOSITORY

LANGUAGES = ("deu", "eng", "fra")
MODEL = "llama-3.2-1b"


class Tree:
    """A campaign of hub models on three languages, whose files a test makes."""

    def __init__(self, **settings):
        own = {"campaign": "x", "languages": LANGUAGES, "models": [MODEL, "gemma-3-27b"]}
        self.campaign = check_campaign(own | settings, "x.yaml")
        self.selection = CampaignSelection.of(self.campaign)
        self.parts = self.selection.jobs

    def part(self, model=MODEL):
        return next(part for part in self.parts if part.model == model)

    def log(self, model=MODEL):
        return self.part(model).log(self.campaign)

    def items(self, pairs=45):
        made = list(zip(tiny.sentences(pairs), tiny.sentences(pairs, seed=1), strict=True))
        for lang in LANGUAGES:
            tiny.write_items(Path(f"results/items/multiblimp/{lang}.parquet"), made)

    def checkpoint(self, model=MODEL):
        path = self.part(model).checkpoint(self.campaign)
        path.parent.mkdir(parents=True)
        path.write_text("{}")

    def manifest(self, sentences, model=MODEL):
        path = self.part(model).manifest(self.campaign)
        path.parent.mkdir(parents=True)
        facts = {"engine": "e", "checkpoint": "0" * 64, "statuses": {}, "shards": {}}
        path.write_text(json.dumps(facts | {"sentences": sentences}))

    def part_status(self, queue=None, later=0.0):
        moment = now() + timedelta(seconds=later)
        return read_job_status(self.campaign, self.part(), moment, queue or Queue(), Listing())

    def status(self, queue=None):
        return read_status(self.selection, queue)


@pytest.fixture
def within(tmp_path, monkeypatch):
    (tmp_path / "config").symlink_to(REPOSITORY / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tree(within):
    return Tree()


def test_a_part_waits_for_what_it_is_made_of(tree):
    for reason, make in (("for its model", tree.checkpoint), ("for items", tree.items)):
        assert (tree.part_status().state, tree.part_status().reason) == ("waiting", reason)
        make()
    assert (tree.part_status().state, tree.part_status().reason) == ("waiting", "")
    assert [model.seconds_left for model in tree.status().models] == [None, None]
    assert "The remaining time is unknown until" in as_text(tree.status(), "x.yaml")


def test_a_manifest_that_says_why_there_are_no_scores_is_a_failure(tree):
    tree.manifest(90)
    manifest = tree.part().manifest(tree.campaign)
    manifest.write_text(json.dumps({"failed": "CUDA is not there.", "log": str(tree.log())}))
    status = tree.part_status()
    assert (status.state, status.reason, status.done) == ("failed", "CUDA is not there.", 0)
    assert tree.status().stages["parts"] == {"done": 0, "expected": 2}


@pytest.mark.parametrize(
    ("cause", "state", "reason"),
    [
        ("memory", "failed", "ran out of memory; the next attempt asks for more"),
        ("gpu_memory", "failed", "ran out of GPU memory; the next attempt asks for more"),
        ("input", "failed", "refused its input"),
        ("error", "failed", "failed"),
        ("walltime", "waiting", "ran out of time"),
        ("cancelled", "waiting", "was cancelled"),
        ("killed", "waiting", "was killed"),
        ("done", "waiting", "its manifest is gone"),
    ],
)
def test_an_attempt_that_ended_says_why(tree, cause, state, reason):
    write_attempts(tree.log(), attempt("done"), attempt(cause))
    assert (tree.part_status().state, tree.part_status().reason) == (state, reason)


MINUTES = ASKED.minutes * 60


@pytest.mark.parametrize(
    ("queue", "ago", "heard", "state", "reason"),
    [
        (Queue(), 60, 60, "running", ""),
        (Queue(), 7200, 7200, "running", ""),
        (Queue(), MINUTES + 900, 5000, "lost", "its 240 minutes are over"),
        (Queue(True, {"7": "RUNNING"}), MINUTES + 900, 5000, "running", ""),
        (Queue(True, {"7": "PENDING"}), 60, 60, "queued", "job 7 starts again"),
        (Queue(True, {"7": "NODE_FAIL"}), 60, 60, "lost", "SLURM says NODE_FAIL"),
        # A user's queue lacks jobs of other users and other clusters.
        (Queue(True, {}), 60, 60, "running", ""),
        (Queue(True, {}), 7200, 1200, "lost", "SLURM does not know job 7 any more"),
        (Queue(True, {}, {(MODEL, "multi"): "8"}), 7200, 1200, "queued", "job 8"),
    ],
)
def test_an_attempt_without_an_end_runs_or_is_lost(tree, queue, ago, heard, state, reason):
    begun = attempt("open", begun=started("7", ago))
    write_attempts(tree.log(), begun)
    write_progress(tree.log(), scored(30), begun, ago=heard)
    status = tree.part_status(queue)
    assert (status.state, status.reason) == (state, reason)
    assert (status.silent is None) == (heard < 900)


def test_a_log_that_grows_is_a_sign_of_life_and_so_is_progress_without_a_journal(tree):
    write_attempts(tree.log(), attempt("open", begun=started("7", 7200)))
    assert tree.part_status().silent
    tree.log().write_text("loading")
    assert tree.part_status().silent is None
    assert tree.part_status(later=3600).silent
    journal_path(tree.log()).unlink()
    write_progress(tree.log(), scored(30), ago=60)
    assert [tree.part_status(later=s).state for s in (0, 3600)] == ["running", "lost"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\nlast\n\n", "last"),
        ("a\nb: 1%\rb: 2%", "b: 2%"),
        ("x" * 9000 + "\nend", "end"),
        (" \n", ""),
    ],
)
def test_last_words_are_the_last_line_that_says_something(tmp_path, text, words):
    (tmp_path / "log").write_text(text)
    assert last_line(tmp_path / "log") == words
    assert last_line(tmp_path / "none") == ""


def test_waiting_jobs_are_known_by_their_comment_and_directory(slurm):
    here = Path.cwd()
    comment = "rule_score_wildcards_m-1.5b_multi.eng"
    slurm(
        "squeue",
        f"echo '1|PENDING|{here}|{comment}'; echo '2|PENDING|/other|{comment}x'; "
        f"echo '3|RUNNING|{here}|rule_score_wildcards_m_deu'; echo 'garbage'",
    )
    expected = [("m-1.5b", "multi.eng"), ("m", "deu"), ("m-1.5b", "multi")]
    result = read_queue(expected)
    assert result.answered
    assert result.pending == {("m-1.5b", "multi.eng"): "1"}
    assert result.states == {"1": "PENDING", "2": "PENDING", "3": "RUNNING"}
    slurm("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    assert read_queue(expected) == Queue()


def test_languages_and_sentences_are_counted_by_model(tree):
    tree.items()
    languages = {"deu": (90, 90), "eng": (30, 90), "fra": (0, 90)}
    begun = attempt("open")
    write_attempts(tree.log(), begun)
    write_progress(tree.log(), scored(120, 270), begun, languages=languages)
    small, large = tree.status().models
    assert (small.model, small.languages, small.done) == (MODEL, (1, 3), 120)
    assert (small.sentences, small.is_counted) == (270, True)
    assert (large.languages, large.done, large.sentences) == ((0, 3), 0, 270)
    assert not large.is_counted


def test_what_remains_is_told_by_the_models_own_pace_or_that_of_others_by_their_size(tree):
    tree.items(pairs=50)
    write_progress(tree.log(), scored(100, 300))
    small, large = tree.status().models
    assert (small.rate("new"), small.rate("tokens")) == (50, 450)
    assert (small.seconds_left, small.has_speed_of_others) == (pytest.approx(200 / 50), False)
    tree.manifest(300)
    small, large = tree.status().models
    assert small.seconds_left == 0
    ratio = large.parameters / small.parameters
    assert large.seconds_left == pytest.approx(300 / 50 * ratio + 30)
    assert large.has_speed_of_others


def test_sentences_of_items_that_are_not_built_are_as_expected(tree):
    changed = tree.campaign.model_copy(update={"benchmarks": ("multiblimp",)})
    tree.selection = CampaignSelection.of(changed)
    [model] = [model for model in tree.status().models if model.model == MODEL]
    pairs = [tree.selection.catalogue.languages[lang].paper_n for lang in LANGUAGES]
    assert model.sentences == 2 * sum(pairs) > 0
    assert not model.is_counted


def test_text_fits_a_terminal_and_says_where_to_look(tree):
    tree.items()
    lost = attempt("open", begun=started("12", MINUTES + 3600))
    write_attempts(tree.log(), attempt("walltime", 9), lost)
    write_progress(tree.log(), scored(120, 270), lost, ago=7000)
    ended = attempt("gpu_memory", begun=started("13"))
    write_attempts(tree.log("gemma-3-27b"), ended)
    tree.log("gemma-3-27b").write_text(f"blimpworks: {'no room ' * 30}\n")
    for width in (80, 100, 120):
        text = as_text(tree.status(), "x.yaml", width)
        assert "attempt 2: its 240 minutes are over" in text
        assert "gemma-3-27b/multi: ran out of GPU memory" in text
        assert f"    {tree.log('gemma-3-27b')}  (gpu1, 2x A100, job 13)" in text
        assert all(len(line) <= width for line in text.splitlines())


def test_parts_that_failed_alike_are_told_once(within):
    tree = Tree(scoring={"jobs": "language"}, models=[MODEL])
    for part, words in zip(tree.parts, ["no libcuda", "no libcuda", "no disk"], strict=True):
        write_attempts(part.log(tree.campaign), attempt("error", begun=started()))
        part.log(tree.campaign).write_text(f"Traceback\n{words}\n")
    logs = [part.log(tree.campaign) for part in tree.parts]
    trouble = as_text(tree.status(), "x.yaml").partition("In trouble\n")[2]
    assert trouble.splitlines() == [
        f"  {MODEL}/multi.deu: failed (1 more: multi.eng)",
        "    no libcuda",
        f"    {logs[0]}  (gpu1, 2x A100)",
        f"  {MODEL}/multi.fra: failed",
        "    no disk",
        f"    {logs[2]}  (gpu1, 2x A100)",
    ]


ROWS = [
    {"model": "llama-3.1-70b-instruct (answers)", "tokens": "12,345", "state": "ran out of time"},
    {"model": "gpt2", "tokens": "1", "state": "done"},
]


NARROW = """\
model                         tokens
llama-3.1-70b-instruct        12,345
(answers)
gpt2                               1
model                state
llama-3.1-70b-instr  ran out of time
uct (answers)
gpt2                 done"""


def test_a_table_loses_nothing_in_a_narrow_terminal():
    columns = TextTable(ROWS, text_columns=("model", "state"))
    assert printed([columns], 36) == NARROW
    assert [line.split() for line in printed([columns], 14).splitlines() if "model" in line] == [
        ["model"],
        ["model", "tokens"],
        ["model", "state"],
    ], "even where the model's name is too wide"
    assert printed([columns], 60).splitlines()[2] == f"gpt2{'1':>36}  done"


def test_markup_in_what_is_printed_is_text():
    columns = TextTable([{"[b]model[/b]": "V[3,s] :smile:"}], text_columns=("[b]model[/b]",))
    blocks = ["[red]a[/red]", shortened("  [b]"), columns]
    assert printed(blocks, 80) == "[red]a[/red]\n  [b]\n[b]model[/b]\nV[3,s] :smile:"


@given(st.floats(0, 1e8))
def test_a_duration_is_right_to_half_a_minute_or_a_few_percent(seconds):
    text = duration(seconds)
    units = {"s": 1, "min": 60, "h": 3600, "d": 86400}
    parts = re.findall(r"(\d+) (s|min|h|d)(?: (\d\d)$)?", text)
    back = sum(int(n) * units[unit] + int(rest or 0) * 60 for n, unit, rest in parts)
    assert back == pytest.approx(seconds, rel=0.03, abs=0.6 if seconds < 100 else 31)


def blimpworks(checkout, *arguments):
    done = checkout.blimpworks(*arguments, "--configfile", "config/test.yaml")
    return done.stdout


def campaign_of(checkout, monkeypatch, name="config/test.yaml"):
    monkeypatch.chdir(checkout.path)
    campaign = load_campaign(Path(name))
    return campaign, CampaignSelection.of(campaign).jobs


@pytest.mark.xdist_group("workflow")
def test_a_finished_campaign_has_everything_and_its_parts_are_those_that_were_made(
    built, monkeypatch
):
    result = json.loads(blimpworks(built, "status", "--json"))
    assert {s["done"] - s["expected"] for s in result["stages"].values()} == {0}
    assert result["stages"]["parts"]["done"] == 6
    for model in result["models"]:
        assert model["states"] == {"done": 3}
        assert model["done"] == model["sentences"] > 0
        assert model["seconds_left"] == 0
    text = blimpworks(built, "status")
    assert "In all 3264 of 3264 sentences have scores." in text
    assert re.search(r"transformer-small +3/3 +1632/1632 +100 %.* done", text)
    campaign, parts = campaign_of(built, monkeypatch)
    result = Path("results/demo/store").rglob("manifest.json")
    assert {part.manifest(campaign) for part in parts} == {*result}
    logs = {part.log(campaign) for part in parts}
    assert logs == {*Path("logs/demo/score").rglob("*.log")}


@pytest.mark.xdist_group("bare")
def test_parts_by_language_are_those_that_the_workflow_would_make(bare, monkeypatch):
    models = ["ngram-5", MODEL]
    engines = {"vllm": "transformers"}
    changes = {"scoring": {"jobs": "language"}, "models": models, "engines": engines}
    bare.change("config/parts.yaml", **changes)
    done = bare.snakemake("-n", campaign="config/parts.yaml")
    planned = re.findall(r"Score with (\S+) \((\S+)\)", done.stdout + done.stderr)
    _, parts = campaign_of(bare, monkeypatch, "config/parts.yaml")
    assert {(part.model, part.name) for part in parts} == {*planned}
    assert len(parts) == 6
    assert {part.engine for part in parts} == {"kenlm", "transformers"}


@pytest.mark.long
@pytest.mark.xdist_group("workflow")
def test_a_part_that_stopped_half_way_is_told_and_goes_on(scratch):
    sets = (("multiblimp", "fra"),)
    part = ScoringJob("transformer-small", "fra", "transformers", sets, trained=True)
    campaign = load_campaign(scratch.path / "config/test.yaml")
    store = (scratch.path / part.manifest(campaign)).parent
    whole = tiny.contents(store / "shards")
    shutil.rmtree(store)
    log = scratch.path / part.log(campaign)
    for path in (journal_path(log), progress_path(log)):
        path.unlink(missing_ok=True)
    items, checkpoint = "results/demo/items/multiblimp/fra.parquet", part.checkpoint(campaign)
    folder = part.manifest(campaign).parent
    command = tiny.score_words(items, checkpoint, "transformers", folder)
    command += ["--log", str(part.log(campaign))]
    over = scratch.run("blimpworks", *command, BLIMPWORKS_DEADLINE=str(time.time()))
    assert over.returncode == 75, over.stderr
    result = json.loads(blimpworks(scratch, "status", "--json"))
    model = next(m for m in result["models"] if m["model"] == part.model)
    assert model["states"] == {"waiting": 1, "done": 2}
    assert (model["languages_done"], model["languages"]) == (2, 3)
    assert [p["reason"] for p in model["parts"]] == ["", "", "ran out of time"]
    assert result["stages"]["parts"] == {"done": 5, "expected": 6}
    languages = blimpworks(scratch, "status", "--model", part.model)
    assert re.search(r"^fra +0/\d+ +0 % +waiting +fra$", languages, re.MULTILINE)
    again = scratch.run("blimpworks", *command)
    assert again.returncode == 0, again.stderr
    assert tiny.contents(store / "shards") == whole
    result = json.loads(blimpworks(scratch, "status", "--json"))
    model = next(m for m in result["models"] if m["model"] == part.model)
    assert model["states"] == {"done": 3}
    assert model["tokens_per_second"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "gpt"], f"campaign 'x': model 'gpt' is unknown; expected one of {MODEL}."),
        (["--watch", "1", "--json"], "--watch and --json exclude each other"),
    ],
)
def test_what_cannot_be_shown_is_told(within, words, message):
    Path("x.yaml").write_text(f"campaign: x\nlanguages: [deu]\nmodels: [{MODEL}]\n")
    command = ["status", "--configfile", "x.yaml", *words]
    error = CliRunner().invoke(cli.command_line(), command).exception
    assert isinstance(error, UserError)
    assert message in str(error)


@pytest.mark.slow
def test_watching_looks_again_until_it_is_interrupted(within):
    Path("x.yaml").write_text(f"campaign: x\nlanguages: [deu]\nmodels: [{MODEL}]\n")
    command = [sys.executable, "-m", "blimpworks", "status", "--configfile", "x.yaml"]
    # Processes that a shell starts in the background ignore interrupts, and so do their children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with Path("told").open("wb") as sink:
        process = subprocess.Popen([*command, "--watch", "1"], stdout=sink)
    signal.signal(signal.SIGINT, before)
    while Path("told").read_text().count("Campaign x") < 2:
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
