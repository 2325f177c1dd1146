import json
import math
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blimpworks.benchmarks.verdicts import judge_designs
from blimpworks.errors import UserError
from blimpworks.evaluation.compare import compare_evaluations
from blimpworks.evaluation.request import repository_catalogue, write_models
from blimpworks.evaluation.submission import export_submission
from blimpworks.items import APART
from blimpworks.judging.judge import Rules
from blimpworks.tables import ITEMS, JUDGEMENTS, write_table
from support.evaluation_kit import BENCHMARK, PAIRS, Evaluation
from support.judging_kit import Condition, write_designs, write_scores

OPTIONS = "opts"
FORMULAS = [f"(option;%right%) < (option;%wrong {number}%)" for number in (1, 2)]
# Surprisals of the right option and two wrong ones: right, the second wrong one, a tie.
SURPRISALS = ((1.0, 2.0, 3.0), (5.0, 4.0, 2.0), (2.0, 2.0, 9.0))
MARGINS = [2, 0, -1, -1, 3, 3, 30, -5]
SUITE = {
    "label": "Try",
    "tasks": [
        {"benchmark": BENCHMARK, "label": "Agreement",
         "predictions": {"folder": "a/plain", "section": "plain", "groups": {"far_one": "far"}}},
        {"benchmark": OPTIONS, "label": "Boxes",
         "predictions": {"folder": "b/boxes", "answer": " {option}"}},
        {"benchmark": "elsewhere", "label": "Elsewhere", "predictions": {"folder": "c"}},
        {"benchmark": "unknown", "label": "Ages"},
    ],
    "submission": {
        "file": "{model}/{revision}/{backend}/{folder}/predictions.json",
        "backends": {"causal": "left"},
        "more": {"Tuned": "{model}/{revision}/tuned.json"},
        "checkpoints": {"Small": ["main", "chck_1M"]},
    },
}  # fmt: skip


def write_options(folder):
    """Write an evaluation of a model on items of three options in a sentence's second half."""
    evaluation = Evaluation(folder, OPTIONS)
    names = ("right", "wrong 1", "wrong 2")

    def option(name, surprisal):
        return Condition(("it is", [9.0]), (("option", f"{name}."), [surprisal]))

    items = [{n: option(n, v) for n, v in zip(names, row, strict=True)} for row in SURPRISALS]
    evaluation.items.parent.mkdir(parents=True, exist_ok=True)
    write_designs(evaluation.items, items, FORMULAS)
    scores, judged = (evaluation.table(kind, "small") for kind in ("scores", "judgements"))
    tokens = [(each.tokens, each.tokens) for one in items for each in one.values()]
    write_scores(scores, tokens)
    judge_designs(evaluation.items, scores, judged, Rules(["critical_region"], ["right"], 0.01))
    evaluation.models.append("small")
    evaluation.finish()


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that evaluates a model on two of a suite's four tasks."""
    monkeypatch.chdir(tmp_path)

    def evaluated(margins=MARGINS, suite=SUITE, **row):
        Path("suite.yaml").write_text(json.dumps(suite))
        evaluation = Evaluation(Path("run"))
        card = {"suite": str(Path("suite.yaml").resolve())}
        evaluation.write_items().campaign(report_card=card)
        row = {"name": "small", "hf_id": "org/small.1", "revision": "main"} | row
        models = [repository_catalogue().models["gpt2"].model_copy(update=row)]
        write_models(models, evaluation.folder / "models.tsv")
        write_options(evaluation.folder)
        return evaluation.judge(margins).finish()

    return evaluated


def exported():
    return [*export_submission(Path("run"), Path("out"))]


def compared(*models):
    return compare_evaluations(Path("run"), Path("theirs"), models or None)


def written(path):
    groups = json.loads(Path("out/small/main/left", path, "predictions.json").read_text())
    rows = {name: group["predictions"] for name, group in groups.items()}
    return {name: [each.pop("pred") for each in own] for name, own in rows.items()}, groups


def test_a_file_has_what_is_preferred_of_each_item_in_the_order_of_the_source(run):
    lines = [*export_submission(run(), Path("out"))]
    chosen, groups = written("a/plain")
    good = [math.copysign(1, margin) > 0 for margin in MARGINS]
    texts = [pair[0] if is_good else pair[1] for pair, is_good in zip(PAIRS, good, strict=True)]
    assert chosen == {"near_one": texts[:4], "far": texts[4:]}
    assert groups["far"]["predictions"][1] == {"id": "far_1"}
    assert [*written("b/boxes")[0].values()] == [[" right.", " wrong 2.", " right."]]
    assert lines == [
        "small, main: no whole submission without Tuned, Elsewhere, Ages, which are neither in "
        "run nor in out.",
        "Small: 1 of 2 checkpoints are not in run (chck_1M).",
        "out/small/main/left/a/plain/predictions.json: 8 predictions in 2 groups",
        "out/small/main/left/b/boxes/predictions.json: 3 predictions in 1 group",
    ]
    # Files of other programs there do not count.
    Path("out/small/main/tuned.json").touch()
    assert "without Elsewhere, Ages" in next(export_submission(Path("run"), Path("out")))


def with_words(folder, surprisals):
    """Make the options words, each after two contexts, with effects."""
    evaluation = Evaluation(folder, OPTIONS)
    items = pq.read_table(evaluation.items)
    number = pd.factorize(items["item"].to_pandas())[0].tolist()
    spoken = [("I", "dog", "dog")[n] for n in number]
    for name in {"line", "word"} & {*items.column_names}:
        items = items.drop_columns(name)
    items = items.append_column("line", [pa.array([n + 2 for n in number], pa.int32())])
    good = [f"it {n}{APART}{word}" for n, word in zip(number, spoken, strict=True)]
    items = items.set_column(items.column_names.index("good"), "good", [good])
    write_table(items.append_column("word", [spoken]), ITEMS, evaluation.items)
    path = evaluation.table("judgements", "small")
    judged = pq.read_table(path)
    for name in {"effects", "effect_names"} & {*judged.column_names}:
        judged = judged.drop_columns(name)
    names = [["now", "then"][: len(row)] for row in surprisals]
    judged = judged.append_column("effects", [pa.array(surprisals, pa.list_(pa.float64()))])
    judged = judged.append_column("effect_names", [pa.array(names, pa.list_(pa.string()))])
    write_table(judged, JUDGEMENTS, path)
    evaluation.finish({"small": ["eng"]})


def test_surprisals_of_words_are_numbers_and_nan_where_there_is_none(run):
    form = {"folder": "reading", "numbers": {"pred": "now", "prev_pred": "then"}}
    tasks = [{"benchmark": OPTIONS, "label": "Reading", "predictions": form}]
    run(suite=SUITE | {"tasks": tasks})
    with_words(Path("run"), [[1.5, 2.5], [3.5], [4.5, 5.5]])
    *_, line = export_submission(Path("run"), Path("out"))
    assert line.endswith("reading/predictions.json: surprisals of 3 words")
    content = Path("out/small/main/left/reading/predictions.json").read_text()
    (group,) = json.loads(content).values()
    assert repr(group["predictions"]) == (
        "[{'id': 0, 'pred': 1.5, 'prev_pred': 2.5}, {'id': 1, 'pred': 3.5, 'prev_pred': nan}, "
        "{'id': 2, 'pred': 4.5, 'prev_pred': 5.5}]"
    )
    with_words(Path("run"), [[1.5, 2.5], [], [4.5, 5.5]])
    with pytest.raises(UserError, match="1 of 3 items of Reading have no now by small, and a subm"):
        exported()


def test_curves_have_each_words_surprisal_in_each_context(run):
    curve = {"word": "word", "surprisal": "now", "ages": [16, 17, 18], "chance": 9, "shortest": 2}
    task = {"benchmark": OPTIONS, "label": "Ages", "measure": "acquisition", "acquisition": curve}
    form = SUITE["submission"] | {"curves": "{model}/{backend}/curves.json"}
    run(suite=SUITE | {"tasks": [task], "submission": form})
    with_words(Path("run"), [[1.5], [3.5], [4.5]])
    *_, line = export_submission(Path("run"), Path("out"))
    assert line == "out/small/left/curves.json: 2 surprisals of words at 1 checkpoint"
    content = json.loads(Path("out/small/left/curves.json").read_text())
    point = {"step": "main", "word_count": 0, "target_word": "dog"}
    assert content["results"] == [
        point | {"context_id": 0, "context": "it 1", "surprisal": 3.5},
        point | {"context_id": 1, "context": "it 2", "surprisal": 4.5},
    ]


def test_where_choices_are_correlated_there_is_a_probability(run):
    tasks = [SUITE["tasks"][0] | {"measure": "correlation"}]
    [*_] = export_submission(run(suite=SUITE | {"tasks": tasks}), Path("out"))
    _, groups = written("a/plain")
    values = [each["prob"] for group in groups.values() for each in group["predictions"]]
    assert values == pytest.approx([1 / (1 + math.exp(-margin)) for margin in MARGINS], rel=1e-6)


def test_a_checkpoint_of_this_machine_is_a_revision(run):
    folder = run(hf_id="/models/mine/chck_1M")
    campaign = json.loads((folder / "campaign.yaml").read_text())
    campaign["report_card"]["curves"] = True
    (folder / "campaign.yaml").write_text(json.dumps(campaign))
    lines = [*export_submission(folder, Path("out"))]
    assert lines[-1].startswith("out/mine/chck_1M/left/b/boxes/predictions.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"margins": [*MARGINS[:7], math.nan]}, "1 of 8 items of Agreement have no verdict"),
        ({"name": "large"}, r"model 'small' of the campaign is not in run.models\.tsv"),
        ({"suite": SUITE | {"submission": None}}, "the suite Try has no submission"),
        ({"architecture": "encoder-decoder"}, "small is scored as 'encoder-decoder masked'; exp"),
        ({"architecture": "masked"}, "small is scored as 'masked original'; expected causal"),
        ({"suite": SUITE | {"first_token": "eos"}}, "first_token 'model', and a submission has"),
    ],
)
def test_what_cannot_be_submitted_is_refused(run, changes, message):
    with pytest.raises(UserError, match=message):
        [*export_submission(run(**changes), Path("out"))]


@pytest.mark.parametrize(
    ("languages", "use"),
    [
        ({"small": ["eng", "deu"]}, exported),
        ({"small": ["eng", "deu"]}, compared),
        ({"small": ["eng"], "large": ["deu"]}, lambda: compared("small", "theirs")),
    ],
)
def test_a_task_in_several_languages_is_refused(run, languages, use):
    [*_] = export_submission(run(), Path("theirs"))
    for path in Path("run/results").glob(f"*/{BENCHMARK}/**/eng.parquet"):
        shutil.copyfile(path, path.with_name("deu.parquet"))
    judged = Path("run/results/judgements", BENCHMARK)
    shutil.copytree(judged / "small", judged / "large")
    Evaluation(Path("run")).finish(languages)
    message = r"run has Agreement in several languages \(.*, .*\).*one by one \(--languages\)"
    with pytest.raises(UserError, match=message):
        use()


def test_a_revision_is_what_the_user_named_not_its_commit(run):
    run(hf_id="org/small", revision="ab" * 20, label="small@chck_1M")
    lines = exported()
    assert lines[0].startswith("small, chck_1M: no whole submission without")
    assert Path("out/small/chck_1M/left/a/plain/predictions.json").is_file()


def test_an_evaluation_with_its_submission_below_it_is_compared_as_an_evaluation(run):
    run()
    [*export_submission(Path("run"), Path("run/submission"))]
    assert [*compare_evaluations(Path("run"), Path("run")).reasons] == []


def test_a_sample_is_refused(run):
    folder = run()
    evaluation = Evaluation(folder)
    evaluation.judge(MARGINS, items=evaluation.limit(4))
    with pytest.raises(UserError, match="has a sample of Agreement, and a submission has all"):
        [*export_submission(folder, Path("out"))]


def test_predictions_are_compared_with_an_evaluation(run):
    folder = run()
    [*_] = export_submission(folder, Path("theirs"))
    run([2, 0, 1, -1, 3, 3, -30, -5])
    comparison = compare_evaluations(folder, Path("theirs"))
    rows = {row["benchmark"]: row for row in comparison.rows if row["phenomenon"] == "all"}
    counts = ("both", "only_a", "only_b", "accuracy_b")
    # The program that wrote the predictions counts ties as right.
    assert [rows[BENCHMARK][name] for name in counts] == [8, 1, 2, 5 / 8]
    assert [rows[OPTIONS][name] for name in counts] == [3, 0, 0, 2 / 3]
    assert comparison.models == (("small", "theirs"),)
    [reason] = comparison.reasons
    assert reason.text.startswith("3 of 11 decisions differ; predictions do not say")


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_file_of_another_form_is_refused(run, text):
    Path("all.json").write_text(text)
    with pytest.raises(UserError, match=r"all\.json.*predictions"):
        compare_evaluations(run(), Path("all.json"))


def collated(change):
    """Write predictions on the first task, changed, as a file with all tasks; return its path."""
    path = Path("theirs/small/main/left/a/plain/predictions.json")
    groups = json.loads(path.read_text())
    change(groups)
    Path("all.json").write_text(json.dumps({"plain": groups, "tuned": [1]}))
    return Path("all.json")


def test_a_file_with_all_tasks_is_compared(run):
    [*_] = export_submission(run(), Path("theirs"))
    comparison = compare_evaluations(Path("run"), collated(lambda groups: None))
    assert {row["benchmark"] for row in comparison.rows} == {BENCHMARK}
    assert comparison.models == (("small", "all"),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda groups: groups["far"]["predictions"].reverse(), "4 of 8 predictions are none of"),
        (lambda groups: groups.pop("far"), "group 'far' has 0 predictions on 4 items"),
        (lambda groups: groups.update(far=[]), r"all.json: .*; expected predictions, \{"),
    ],
)
def test_predictions_on_other_items_are_refused(run, change, message):
    [*_] = export_submission(run(), Path("theirs"))
    with pytest.raises(UserError, match=message):
        compare_evaluations(Path("run"), collated(change))


def test_predictions_of_several_models_are_refused(run):
    for name in ("one", "two"):
        [*_] = export_submission(run(), Path("theirs", name))
    with pytest.raises(UserError, match=r"several predictions on Agreement \(.*of one model"):
        compared()
    Path("empty").mkdir()
    Path("empty/predictions.json").write_text("{}")
    with pytest.raises(UserError, match="empty has no predictions on a task of run"):
        compare_evaluations(Path("run"), Path("empty"))
