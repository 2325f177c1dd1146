"""Test results and items in lm-evaluation-harness's layout against the harness itself."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from blimpworks.errors import UserError
from blimpworks.evaluation.compare import compare_evaluations
from blimpworks.files import sidecar_path
from blimpworks.interop import lm_eval
from blimpworks.interop.lm_eval import differing_words, import_items
from blimpworks.papers.blimp.paradigms import ONE_PREFIX
from blimpworks.tables import ACCURACIES, ITEMS, JUDGEMENTS, read_table, write_table
from blimpworks.tables import Evaluation as TablePaths
from support import blimp_kit, tiny
from support.crate_kit import PAIRS, evaluate, run
from support.evaluation_kit import Evaluation


def evaluated(root, checkpoint, engine, *methods):
    items = root / "items/multiblimp/eng.parquet"
    tiny.write_items(items, PAIRS, paradigm=["SG", "SG", "PL", "PL"])
    evaluate(root, "m", checkpoint, engine, *methods)
    return root


def exported(root, output, benchmark="multiblimp", *options):
    """Return summary, samples and the samples' file of the only model."""
    path = run("export", "lm-eval", root, output, "--benchmark", benchmark, *options).strip()
    (samples,) = output.glob(f"m/samples_{benchmark}_eng_*.jsonl")
    lines = samples.read_text(encoding="utf-8").splitlines()
    summary = json.loads(Path(path).read_text(encoding="utf-8"))
    return summary, [json.loads(line) for line in lines], samples


@pytest.fixture(scope="module")
def ngram_results(trained, tmp_path_factory):
    methods = ("full_sentence", "per_byte", "critical_region", "masked_critical_word")
    return evaluated(tmp_path_factory.mktemp("ngram"), trained("ngram"), "kenlm", *methods)


@pytest.mark.slow
def test_accuracies_and_samples_are_those_of_the_campaign(ngram_results, tmp_path):
    results, samples, _ = exported(ngram_results, tmp_path)
    rows = read_table(ACCURACIES, ngram_results / "accuracies/multiblimp.parquet").to_pylist()
    ours = {r["method"]: r for r in rows if r["phenomenon"] == "all"}
    task = results["results"]["multiblimp_eng"]
    assert task["acc,none"] == ours["full_sentence"]["accuracy"]
    assert task["acc_bytes,none"] == ours["per_byte"]["accuracy"]
    assert task["acc_critical_region,none"] == ours["critical_region"]["accuracy"]
    verdicts = [sample["acc"] for sample in samples]
    assert task["acc_stderr,none"] == pytest.approx(np.std(verdicts, ddof=1) / 2)
    assert [s["doc"]["sen"] for s in samples] == [good for good, _ in PAIRS]
    assert [s["doc"]["wrong_sen"] for s in samples] == [bad for _, bad in PAIRS]
    assert results["n-samples"] == {"multiblimp_eng": {"original": 4, "effective": 4}}
    assert results["config"]["model_dtype"] == "float32"
    assert results["config"]["model"] == "kenlm"


def test_exported_samples_are_the_same_each_time_and_come_back_as_the_same_items(
    ngram_results, tmp_path
):
    first, second = (exported(ngram_results, tmp_path / name) for name in ("a", "b"))
    assert first[:2] == second[:2]
    assert first[2].read_bytes() == second[2].read_bytes()
    output = tmp_path / "items.parquet"
    assert "4 items" in run("import", "lm-eval", first[2], "--lang", "eng", "--output", output)
    back = read_table(ITEMS, output)
    assert back.equals(read_table(ITEMS, ngram_results / "items/multiblimp/eng.parquet"))


def test_a_sample_is_exported_as_one_also_from_a_copy_of_the_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evaluation = Evaluation(Path("a")).write_items()
    evaluation.judge([1.0] * 8, "m", items=evaluation.limit(4))
    shutil.copytree("a", "b")
    results, *_ = exported(Path("b/results"), Path("out"), "clams")
    assert results["n-samples"] == {"clams_eng": {"original": 8, "effective": 4}}
    assert results["config"]["limit"] == 4
    assert datetime.fromtimestamp(results["date"], UTC).year > 1970


def test_the_time_is_that_of_all_scoring_jobs(ngram_results, tmp_path, monkeypatch):
    manifest_of = {}
    for name, ended in (("a", "10"), ("b", "05")):
        shutil.copytree(ngram_results, tmp_path / name)
        manifest = tmp_path / name / "store/m/manifest.json"
        record = sidecar_path(manifest)
        times = {"started": "2026-01-01T00:00:00+00:00", "ended": f"2026-01-01T00:00:{ended}+00:00"}
        record.write_text(json.dumps(json.loads(record.read_text()) | times))
        manifest_of[tmp_path / name / "scores/multiblimp/m/eng.parquet"] = manifest
    monkeypatch.setattr(lm_eval, "manifest_behind", manifest_of.get)
    folders = ("items/multiblimp", "scores/multiblimp/m", "judgements/multiblimp/m")
    tables = [
        TablePaths("m", "eng", *(tmp_path / name / folder / "eng.parquet" for folder in folders))
        for name in ("a", "b", "a")
    ]
    path = lm_eval.export_model("multiblimp", tables, tmp_path / "out")
    assert json.loads(path.read_text())["total_evaluation_time_seconds"] == "15.0"


def test_model_that_was_not_judged_is_told(ngram_results, tmp_path):
    with pytest.raises(UserError, match="no judgements of other on multiblimp; expected"):
        exported(ngram_results, tmp_path, "multiblimp", "--model", "other")


TASK = """
task: multiblimp_eng
dataset_path: json
dataset_kwargs: {{data_files: {{train: {docs}}}}}
output_type: multiple_choice
test_split: train
doc_to_text: ""
target_delimiter: ""
doc_to_target: 0
doc_to_choice: "{{{{[sen, wrong_sen]}}}}"
num_fewshot: 0
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_bytes, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1.0}}
"""


@pytest.fixture
def blimp_results(tmp_path):
    """Write pairs of all paradigms of BLiMP, judged by full sentences and both prefix methods."""
    blimp_kit.evaluate(tmp_path / "results", ["m"])
    return tmp_path / "results"


def test_a_method_counts_on_the_paradigms_that_allow_it(blimp_results, tmp_path):
    results, samples, _ = exported(blimp_results, tmp_path / "out", "blimp")
    table = read_table(JUDGEMENTS, blimp_results / "judgements/blimp/m/eng.parquet").to_pylist()
    for method, metric in (("full_sentence", "acc"), ("two_prefix", "acc_two_prefix")):
        ours = {r["item_id"]: r["correct"] for r in table if r["method"] == method}
        theirs = {s["doc"]["item_id"]: s[metric] for s in samples if metric in s}
        assert theirs == ours
        accuracy = results["results"]["blimp_eng"][f"{metric},none"]
        assert accuracy == pytest.approx(np.mean([*ours.values()]))
    assert {s["doc"]["paradigm"] for s in samples if "acc_one_prefix" in s} == {*ONE_PREFIX}
    assert len(samples) == 67 * 3


@pytest.mark.parametrize("method", ["full_sentence", "one_prefix"])
def test_a_method_that_left_out_an_item_which_it_can_judge_is_told(blimp_results, method):
    path = blimp_results / "judgements/blimp/m/eng.parquet"
    rows = read_table(JUDGEMENTS, path).to_pylist()
    rows.remove(next(row for row in rows if row["method"] == method))
    write_table(pa.Table.from_pylist(rows, schema=JUDGEMENTS.arrow()), JUDGEMENTS, path)
    with pytest.raises(UserError, match="are of other items than"):
        exported(blimp_results, blimp_results / "out", "blimp")


@pytest.mark.slow
def test_the_harness_itself_writes_the_same_of_the_same_model(trained, tmp_path, monkeypatch):
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager
    from lm_eval.utils import get_file_task_name, make_table

    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    checkpoint = trained("causal")
    root = evaluated(tmp_path / "results", checkpoint, "transformers", "full_sentence", "per_byte")
    ours, samples, file = exported(root, tmp_path / "ours")
    docs = tmp_path / "docs.jsonl"
    docs.write_text("".join(json.dumps(s["doc"]) + "\n" for s in samples), encoding="utf-8")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "task.yaml").write_text(TASK.format(docs=docs), encoding="utf-8")
    tracker = EvaluationTracker(output_path=str(tmp_path / "theirs"))
    manager = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
    model = {"model": "hf", "device": "cpu", "batch_size": 4}
    model |= {"model_args": {"pretrained": str(checkpoint.parent), "dtype": "float32"}}
    outcome = lm_eval.simple_evaluate(
        tasks=["multiblimp_eng"], task_manager=manager, evaluation_tracker=tracker, **model
    )
    logged = outcome.pop("samples")
    tracker.save_results_aggregated(results=outcome, samples=logged)
    tracker.save_results_samples("multiblimp_eng", logged["multiblimp_eng"])
    (path,) = (tmp_path / "theirs").rglob("results_*.json")
    theirs = json.loads(path.read_text(encoding="utf-8"))
    (path,) = (tmp_path / "theirs").rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    compare(ours, samples, theirs, lines)
    comparison = compare_evaluations(root, tmp_path / "theirs")
    assert (comparison.flipped, comparison.reasons) == (0, [])
    assert get_file_task_name(file.name) == "multiblimp_eng"
    assert "multiblimp_eng" in make_table(ours)


def compare(ours, samples, theirs, lines):
    """Check that the harness's files have the same keys, hashes and decisions as ours."""
    assert ours.keys() - theirs.keys() == {"blimpworks_version"}
    assert not theirs.keys() - ours.keys()
    for section in ("n-shot", "higher_is_better", "n-samples", "task_hashes"):
        assert ours[section] == theirs[section]
    task = "multiblimp_eng"
    assert ours["results"][task] == pytest.approx(theirs["results"][task])
    assert len(samples) == len(lines) == len(PAIRS)
    for mine, other in zip(samples, lines, strict=True):
        assert mine.keys() == other.keys()
        inexact = {"resps", "filtered_resps"}
        assert {k: v for k, v in mine.items() if k not in inexact} == {
            k: v for k, v in other.items() if k not in inexact
        }
        for kind in inexact:
            values = [np.array(s[kind]).reshape(2, 2)[:, 0].astype(float) for s in (mine, other)]
            assert values[0] == pytest.approx(values[1], abs=1e-4)


def write_lines(path, *documents):
    lines = (d if isinstance(d, str) else json.dumps(d, ensure_ascii=False) for d in documents)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def imported(path, *documents):
    output = path.with_name("items.parquet")
    import_items([write_lines(path, *documents)], "eng", output)
    return read_table(ITEMS, output).to_pylist()


def region(row, side):
    start, end = row[f"{side}_start"], row[f"{side}_end"]
    return None if start is None else row[side][start:end]


HERSELF, HIMSELF = (f"Katherine can't help {word}." for word in ("herself", "himself"))
BLIMP = {"sentence_good": HERSELF, "sentence_bad": HIMSELF}
BLIMP |= {"linguistics_term": "anaphor_agreement", "UID": "anaphor_gender_agreement"}
ONE = {"one_prefix_method": True, "one_prefix_prefix": "Katherine can't help"}
ONE |= {"one_prefix_word_good": "herself", "one_prefix_word_bad": "himself"}
GIRLS, GIRL = "Many girls insulted", "Many girl insulted"
TWO = {"sentence_good": f"{GIRLS} themselves.", "sentence_bad": f"{GIRL} themselves."}
TWO |= {"two_prefix_method": True, "two_prefix_word": "themselves"}
TWO |= {"two_prefix_prefix_good": GIRLS, "two_prefix_prefix_bad": GIRL}


def test_documents_of_three_spellings_become_items(tmp_path):
    other = {"good": "She sings.", "bad": "She sing."}
    multiblimp = {"sen": "De hond loopt.", "wrong_sen": "De hond lopen.", "feature_vals": "SG"}
    again = {"doc_id": 1, "doc": multiblimp}
    documents = ({"doc_id": 0, "doc": BLIMP}, again, again | {"filter": "second"}, "", other)
    rows = imported(tmp_path / "samples_some_task_2026-11-21T10-00-00.jsonl", *documents)
    assert [(row["good"], row["phenomenon"], row["paradigm"]) for row in rows] == [
        ("Katherine can't help herself.", "anaphor_agreement", "anaphor_gender_agreement"),
        ("De hond loopt.", "some_task", "SG"),
        ("She sings.", "some_task", "some_task"),
    ]
    assert region(rows[1], "good") == "loopt."
    assert region(rows[1], "bad") == "lopen."
    assert len({row["item_id"] for row in rows}) == 3


def test_joined_samples_of_two_tasks_keep_all_documents(tmp_path):
    """Each task counts its documents from 0."""
    tasks = [{"doc_id": 0, "doc": document(name)} for name in ("dog", "cat")]
    rows = imported(tmp_path / "joined.jsonl", *tasks, tasks[0] | {"filter": "second"})
    assert [row["item_id"] for row in rows] == ["dog", "cat"]


def test_a_year_in_a_name_is_of_the_task(tmp_path):
    names = ("tense_2019.jsonl", "samples_tense_2020_2026-01-31T10-00-00.5.jsonl")
    files = [write_lines(tmp_path / name, document(name)) for name in names]
    import_items(files, "eng", tmp_path / "items.parquet")
    paradigms = read_table(ITEMS, tmp_path / "items.parquet")["paradigm"].to_pylist()
    assert paradigms == ["tense_2019", "tense_2020"]


def test_pairs_of_one_sentence_are_counted(tmp_path, caplog):
    imported(tmp_path / "d.jsonl", document(1), {"good": "It is.", "bad": "It is."})
    assert "1 of 2 pairs are twice the same sentence" in caplog.text


def test_prefix_methods_say_what_the_critical_word_is(tmp_path):
    first, second = imported(tmp_path / "d.jsonl", BLIMP | ONE, TWO)
    assert (region(first, "good"), region(first, "bad")) == ("herself", "himself")
    assert (region(second, "good"), region(second, "bad")) == ("themselves", "themselves")
    assert second["good_start"] == len("Many girls insulted ")


@pytest.mark.parametrize(
    "left",
    [{}, dict.fromkeys([*ONE, *TWO]), dict.fromkeys([*ONE, *TWO], "")],
    ids=["absent", "null", "empty"],
)
def test_without_the_words_of_a_prefix_method_the_region_is_the_words_that_differ(tmp_path, left):
    """The hub's documents, which the harness logs, name the method but lack its words."""
    pair = {name: TWO[name] for name in ("sentence_good", "sentence_bad")}
    one = left | BLIMP | {"one_prefix_method": True, "two_prefix_method": False}
    two = left | pair | {"one_prefix_method": False, "two_prefix_method": True}
    rows = imported(tmp_path / "d.jsonl", {"doc_id": 0, "doc": one}, {"doc_id": 1, "doc": two})
    regions = [(region(row, "good"), region(row, "bad")) for row in rows]
    assert regions == [("herself.", "himself."), ("girls", "girl")]


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("a b c", "a d c", ("b", "d")),
        ("a b  c d", "a x d", ("b  c", "x")),
        ("a b c", "a c", ("b", None)),
        ("a b a b", "a b", ("a b", None)),
        ("who saw it", "who saw it", (None, None)),
        ("a b c", "b a c", ("a b", "b a")),
    ],
)
def test_differing_words_are_the_region(good, bad, expected):
    spans = differing_words(good, bad)
    regions = [
        None if s[0] is None else t[s[0] : s[1]] for t, s in zip((good, bad), spans, strict=1)
    ]
    assert tuple(regions) == expected


def test_every_problem_is_told_with_its_line(tmp_path):
    path = tmp_path / "bad.jsonl"
    documents = [BLIMP, "{", [1], {"doc_id": 4, "doc": {"question": "?"}}]
    documents += [{"sen": "Good.", "wrong_sen": " "}, {"sen": "Good.", "wrong_sen": 3}, TWO]
    documents.append({k: v for k, v in (BLIMP | ONE).items() if k != "one_prefix_prefix"})
    with pytest.raises(UserError) as error:
        imported(path, *documents)
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0].rpartition(":")[2] for line in lines] == [*"234568"]
    assert "is not JSON" in lines[0]
    assert "is no document but list" in lines[1]
    assert "has no pair of sentences, expected sentence_good and sentence_bad; sen and" in lines[2]
    assert "wrong_sen is ' ', expected a sentence" in lines[3]
    assert "has no one_prefix_prefix, which its prefix method needs" in lines[5]
    assert not (tmp_path / "items.parquet").exists()


@pytest.mark.parametrize(
    ("documents", "message"),
    [(["{"] * 25, "… and 5 more"), ([], "no document; expected lines of JSON"), (None, "be read")],
)
def test_files_without_documents_are_refused(tmp_path, documents, message):
    path = tmp_path / "d.jsonl"
    if documents is not None:
        write_lines(path, *documents)
    with pytest.raises(UserError, match=message):
        import_items([path], "eng", tmp_path / "items.parquet")


SPANS = ("good_start", "good_end", "bad_start", "bad_end")


def document(number, sentence="The dog sees", **more):
    return {"item_id": number, "good": f"{sentence}.", "bad": f"{sentence} see."} | more


def refusal(folder, *documents, lang="eng"):
    with pytest.raises(UserError) as error:
        import_items([write_lines(folder / "d.jsonl", *documents)], lang, folder / "items.parquet")
    assert not (folder / "items.parquet").exists()
    assert len(str(error.value)) < 300 + len(str(folder)) * 2
    return str(error.value)


def test_two_files_that_number_their_pairs_alike_are_refused(tmp_path):
    files = [
        write_lines(tmp_path / f"{name}.jsonl", *(document(i, f"{name} {i}") for i in range(20)))
        for name in ("first", "second")
    ]
    with pytest.raises(UserError) as error:
        import_items(files, "eng", tmp_path / "items.parquet")
    first = str(error.value).splitlines()[0]
    assert first == (
        f"{files[1]}:1: its item_id '0' is that of another pair in {files[0]}:1; make ids unique "
        "over all files."
    )
    assert not (tmp_path / "items.parquet").exists()


def test_a_pair_can_stand_in_several_paradigms(tmp_path):
    rows = imported(tmp_path / "d.jsonl", document(1, paradigm="a"), document(1, paradigm="b"))
    assert [(row["item_id"], row["paradigm"]) for row in rows] == [("1", "a"), ("1", "b")]


def spanned(*spans):
    return document(1, **dict(zip(SPANS, spans, strict=True)))


WITHOUT_ID = {"good": "It is.", "bad": "It are."}
REFUSED = {
    "d.jsonl:2: its item_id '7' is that of another pair in": [
        [document(7), document("7", "The bird sees")]
    ],
    "is that of this pair in": [[WITHOUT_ID, WITHOUT_ID]],
    "leave one out": [[document(1), document(1)]],
    "'all' is the name for averages over all": [
        [document(1, phenomenon="all")],
        [document(1, paradigm="all")],
    ],
    "expected a text or a whole number.": [[document(i)] for i in (1.0, True, [1], "", " ")],
    "d.jsonl:1: the region of the": [
        *([spanned(0, 99, 0, 3)], [spanned(-1, 2, 0, 3)], [spanned(3, 0, 0, 3)]),
        *([spanned(2, 2, 0, 3)], [spanned(0.0, 3.0, 0, 3)], [spanned(True, 3, 0, 3)]),
        *([spanned("0", "3", 0, 3)], [spanned(0, None, 0, 3)], [spanned(0, 3, 0, 10**30)]),
        [spanned(None, 3, 0, 3)],
    ],
}


@pytest.mark.parametrize(
    ("message", "documents"), [(message, each) for message in REFUSED for each in REFUSED[message]]
)
def test_what_would_mix_up_scores_or_regions_is_refused(tmp_path, message, documents):
    assert message in refusal(tmp_path, *documents)


@pytest.mark.parametrize("lang", ["", "../x", "/eng", "en", "ENG", "eng\n", "a/b"])
def test_a_language_that_is_no_code_is_refused(tmp_path, lang):
    assert f"--lang is {lang!r}; expected" in refusal(tmp_path, document(1), lang=lang)


def test_nesting_without_end_and_half_characters_are_refused_with_their_line(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text("[" * 200_000 + '\n{"item_id": "a", "good": "\\ud800", "bad": "b"}\n')
    with pytest.raises(UserError) as error:
        import_items([path], "eng", tmp_path / "items.parquet")
    places = [line.split(": ")[0] for line in str(error.value).splitlines()]
    assert places == [f"{path}:1", f"{path}:2"]
