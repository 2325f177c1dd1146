"""Test published verdicts against corrected ones, and both against the labels of annotators."""

import csv
import json
import math
from collections import Counter
from itertools import product

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.annotation.spreadsheet import FORMULA_SIGNS, guarded, read_sheet, write_sheet
from blimpworks.errors import UserError
from blimpworks.papers.lmentry import verdicts
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.judge import METHODS, Judge
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT, SHEET_KEY, VERDICTS
from blimpworks.papers.lmentry.tasks import SUBJECTS
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, Evaluation, read_table
from support import lmentry_campaign
from support.commands import run
from support.lmentry_campaign import EXTRA, Campaign, draw, fill, judgement, prompts, write
from support.paths import REPOSITORY

pytestmark = pytest.mark.xdist_group("annotation")  # they share fixtures
PACKS = REPOSITORY / "config/lmentry/languages"
MODELS = {"phi-4": 0.8, "mine": 0.4}
TASKS = 41
NUMBERS = {"answer": 900, "distractor": 200, "n1": 200, "n2": 900}
RHYMES = {"query": "Mund", "answer": "Hund", "distractor": "Katze", "word1": "Hund", "word2": "See"}
ANIMALS = {"answer": "nein", "num_words": 5, "num_distractors": 5, "category": "Tiere"}
CAT = {"answer": "cat", "sentence": "cat dog sat"}
CASES = [
    # language, task, arguments, answer; its verdicts, published and corrected; reason
    ("kor", "bigger_number", NUMBERS, "이백입니다", (1, 0), "vacuous"),
    ("kor", "starts_with_letter", {"letter": "ㅅ"}, "사과", (0, 1), "script"),
    ("deu", "rhyming_word", RHYMES, "Das Wort Hund", (0, 1), "case"),
    ("deu", "any_words_from_category", ANIMALS, "Nein.", (0, 1), "yes_no"),
    ("eng", "first_word", CAT, "The sentence starts with cat", (0, 1), "wording"),
    ("deu", "starts_with_word", {"word": "a"}, "Der Satz a i beginnt mit a", (1, 0), "wording"),
    ("eus", "ends_with_word", {"word": "katua"}, "nire katua dago hemen", (1, 0), "wording"),
]


def judged(lang, task, arguments, answer):
    """Return the verdicts of both methods on an answer."""
    declared = read_pack(PACKS / f"{lang}.yaml").answers
    row = {"phenomenon": task, "text": answer}
    row["subject"] = str(next(arguments[name] for name in SUBJECTS if name in arguments))
    for method in METHODS:
        verdict = Judge(declared, method).for_prompt(task, 1, arguments, "Which?")(answer)
        row |= {f"correct_{method}": float(verdict.correct), f"rule_{method}": verdict.rule}
    return row


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_changed_verdict_has_a_reason(case):
    *given, expected, reason = case
    row = judged(*given)
    assert (row["correct_published"], row["correct_corrected"]) == expected
    assert verdicts.find_reasons(pd.DataFrame([row])).tolist() == [reason]


def test_reasons_are_about_what_the_published_rules_take_for_the_answer(tmp_path):
    arguments = {"answer": "고양이", "sentence": "고양이 잔다"}
    # The published rules cut at the first end of reasoning, and so find words of ASCII letters.
    text = "<think>a</think>but b</think>강아지"
    fields = {"item_id": "1", "arguments": json.dumps(arguments)}
    prompt = next(iter(prompts("kor", 1))) | fields | {"answer": "고양이"}
    answer = {"item_id": "1", "status": "ok", "text": text, "finish": "stop", "tokens": 9}
    both = ("published", 1, "vacuous"), ("corrected", 0, "lone")
    judgements = [judgement(prompt, *verdict) for verdict in both]
    evaluation = Evaluation(
        "mine",
        "kor",
        write([prompt], PROMPTS, tmp_path / "p.parquet"),
        write([answer], ANSWERS, tmp_path / "a.parquet"),
        write(judgements, JUDGEMENTS, tmp_path / "j.parquet", EXTRA),
    )
    rows = verdicts.compare_evaluation(evaluation)
    assert rows["published"][rows["reason"] == "vacuous"].sum() == 0
    assert rows["published"][rows["reason"] == "other"].sum() == 1


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    root = tmp_path_factory.mktemp("verdicts")
    return Campaign(root, MODELS, ("eng", "kor", "deu")).build()


@pytest.fixture(scope="module")
def compared(campaign):
    output = campaign.root / "verdicts/lmentry.parquet"
    models = json.dumps({model: list(campaign.languages) for model in campaign.models})
    arguments = [campaign.root, f"--models={models}", "--benchmark=lmentry", f"--output={output}"]
    run("compare-verdicts", *arguments)
    return read_table(VERDICTS, output).to_pandas().astype({"reason": str, "phenomenon": str})


def test_right_answers_are_those_of_the_judgements(campaign, compared):
    rows = compared
    for model, lang, path in campaign.judged:
        judged = read_table(JUDGEMENTS, path).to_pandas()
        own = rows[(rows["model"] == model) & (rows["lang"] == lang) & (rows["reason"] == "all")]
        for method in ("published", "corrected"):
            side = judged[judged["method"] == method]
            assert own[method].sum() == side["correct"].sum()
            assert own["cut"].sum() == side["cut"].sum()
            assert own["echoes"].sum() == side["echo"].sum()


def test_answers_that_were_not_judged_are_left_out(campaign, tmp_path):
    evaluation = campaign.evaluations[0]
    rows = read_table(JUDGEMENTS, evaluation.judgements).to_pylist()
    rows[0] |= {"correct": None}
    rows[2] |= {"cut": None}
    path = write(rows, JUDGEMENTS, tmp_path / "j.parquet", EXTRA)
    compared = verdicts.compare_evaluation(evaluation._replace(judgements=path))
    assert compared["n"][compared["reason"] == "all"].sum() == 41 * 12 - 1
    assert compared["cut"].isna().sum() == 1 + len(verdicts.CAUSES)


def test_templates_without_judged_answers_count_in_the_nominal_number(campaign, tmp_path):
    evaluation = campaign.evaluations[0]
    rows = read_table(JUDGEMENTS, evaluation.judgements).to_pylist()
    template = {name: rows[0][name] for name in ("phenomenon", "paradigm")}
    unjudged = [row | {"correct": None} if template.items() <= row.items() else row for row in rows]
    path = write(unjudged, JUDGEMENTS, tmp_path / "j.parquet", EXTRA)
    both = (evaluation, evaluation._replace(judgements=path))
    before, after = (verdicts.compare_evaluation(one).set_index("phenomenon") for one in both)
    assert after["n"].sum() < before["n"].sum()
    assert after["nominal"].to_dict() == before["nominal"].to_dict()


def test_verdicts_by_one_method_alone_or_none_are_refused(campaign, tmp_path):
    evaluation = campaign.evaluations[0]
    rows = [judgement(prompt, "corrected", 1, "whole") for prompt in prompts("ita")]
    path = write(rows, JUDGEMENTS, tmp_path / "j.parquet", EXTRA)
    with pytest.raises(UserError, match="no verdicts by method 'published'; expected both"):
        verdicts.compare_evaluation(evaluation._replace(judgements=path))
    with pytest.raises(UserError, match="no judgements are given"):
        verdicts.compare_verdicts([], tmp_path / "v.parquet")


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.fixture
def sheet(campaign, tmp_path):
    return draw(campaign, tmp_path)


def lines(path):
    return [line.cells for line in read_sheet(path)]


def saved(path, rows, name="eng.anna.csv", columns=verdicts.HEADER):
    """Write a filled copy beside a sheet; return its path."""
    copy = path.with_name(name)
    write_sheet(copy, columns, rows)
    return copy


def test_two_tables_of_answers_of_one_model_are_refused(campaign, tmp_path):
    first, second = (campaign.answers(lang, "mine") for lang in campaign.languages[:2])
    answers = [f"--answers={path}" for path in (first, second)]
    where = [f"--prompts={campaign.prompts('eng')}", f"--sheet={tmp_path / 'eng.csv'}"]
    where += [f"--key={tmp_path / 'key.parquet'}", "--options={}"]
    with pytest.raises(UserError, match=f"{first} and {second} are both of a model"):
        run("annotation-sheet", "eng", *answers, *where)


def test_the_sheet_has_as_many_answers_of_each_task_and_no_more_than_there_are(campaign, tmp_path):
    path, key = draw(campaign, tmp_path)
    few = lines(path)
    assert {*Counter(row["task"] for row in few).values()} == {5}
    drawn = Counter(read_table(SHEET_KEY, key)["model"].to_pylist())
    assert all(drawn[model] > TASKS for model in MODELS)
    first = path.read_bytes()
    assert draw(campaign, tmp_path)[0].read_bytes() == first
    assert draw(campaign, tmp_path, seed=2)[0].read_bytes() != first
    larger = {row["id"] for row in lines(draw(campaign, tmp_path, per_task=9)[0])}
    assert {row["id"] for row in few} < larger
    asked = campaign.prompts("eng")
    with pytest.raises(UserError, match="answered by any of 0 models"):
        verdicts.write_annotation_sheet("eng", asked, {}, path, key, SheetOptions())
    whole = lines(draw(campaign, tmp_path, per_task=1000)[0])
    assert {*Counter(row["task"] for row in whole).values()} == {2 * 12}
    assert len({row["id"] for row in whole}) == len(whole) == TASKS * 24


def test_annotators_see_neither_the_model_nor_the_verdict_nor_the_reasoning(campaign, tmp_path):
    path, _ = draw(campaign, tmp_path, "kor")
    text = path.read_text("utf-8-sig")
    assert text.splitlines()[0] == "id,lang,task,prompt,gold,answer,correct,note"
    hidden = ("phi-4", "mine", "published", "corrected", "think")
    assert [word for word in hidden if word in text] == []
    assert {row["gold"] for row in lines(path)} >= {"고양이", "word: 고양이"}


@given(st.lists(ANY_TEXT, min_size=2, max_size=2))
def test_texts_are_read_as_they_were_written_and_none_is_a_formula(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    row = {"a": f"x{texts[0]}", "b": texts[1]}
    write_sheet(path, ["a", "b"], [row, row | {"b": "=1+1"}])
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert [cell for cell in cells if cell.startswith(FORMULA_SIGNS)] == []
    assert lines(path) == [row, row | {"b": "=1+1"}]


YES, NO = "sí", "no"


@pytest.mark.parametrize("published", [True, False])
def test_the_gold_answer_is_that_to_what_the_template_asks(tmp_path, published):
    rows, task = [], "any_words_from_category_5_distractors"
    for template, strangers in product((1, 2), (5, 4, 1, 0)):
        arguments = {"num_words": 5, "num_distractors": strangers}
        more = {"item_id": f"{template}-{strangers}", "answer": YES if strangers < 5 else NO}
        rows.append(
            lmentry_campaign.prompt_row("spa", task, template, strangers, arguments, **more)
        )
    prompts = write(rows, PROMPTS, tmp_path / "spa.parquet")
    answer = {"status": "ok", "text": YES, "finish": "stop", "tokens": 1}
    answered = [{"item_id": row["item_id"], **answer} for row in rows]
    answers = {"mine": write(answered, ANSWERS, tmp_path / "mine.parquet")}
    sheet, key, options = tmp_path / "spa.csv", tmp_path / "key.parquet", SheetOptions(per_task=9)
    pack = PACKS / "spa.yaml" if published else None
    verdicts.write_annotation_sheet("spa", prompts, answers, sheet, key, options, pack)
    hidden = {row["row"]: row["item_id"] for row in read_table(SHEET_KEY, key).to_pylist()}
    golds = {hidden[row["id"]]: (row["gold"], row["note"]) for row in lines(sheet)}
    # The second published template asks whether all words belong to the category.
    note = "the prompt asks for all_words_from_category"
    for item, gold in golds.items():
        template, strangers = item.split("-")
        if published and template == "2":
            assert gold == (YES if strangers == "0" else NO, note)
        else:
            assert gold == (YES if strangers < "5" else NO, "")
    assert len(golds) == 8


def filled(sheet):
    return [row | {"correct": "yes"} for row in lines(sheet[0])]


def read(sheet, *paths):
    return verdicts.read_labels(paths, verdicts.read_key([sheet[1]]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"correct": "maybe"}, ":4: 'correct' of row .* is 'maybe', expected yes, no, 1, 0"),
        # Cells may have several lines.
        ({"note": "one\ntwo", "correct": "?"}, ":4: .*\n.*:6: "),
        (b"id,correct\nr1,s\xed\n", " is not in UTF-8 .*byte 15.*Save the sheet as CSV in UTF-8"),
        (b"id,note\nr1,x\n", ":1: columns are id, note; expected 'id' and 'correct'"),
    ],
)
def test_a_wrong_sheet_is_told_with_its_line(sheet, change, said):
    if isinstance(change, bytes):
        path = sheet[0].with_name("eng.anna.csv")
        path.write_bytes(change)
    else:
        rows = filled(sheet)
        rows[2] |= change
        if "note" in change:
            rows[3] |= {"correct": "?"}
        path = saved(sheet[0], rows)
    with pytest.raises(UserError, match=rf"eng\.anna\.csv{said}"):
        read(sheet, path)


def test_what_is_wrong_with_a_sheet_as_a_whole_is_told(sheet):
    for some, name, said in (
        (lines(sheet[0]), "anna", rf"\n{5 * TASKS - 5} more rows are wrong\.$"),
        (filled(sheet), "corrected", "an annotator is called 'corrected'"),
    ):
        with pytest.raises(UserError, match=said):
            read(sheet, saved(sheet[0], some, f"eng.{name}.csv"))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_sheets_saved_with_other_separators_and_without_the_mark_are_read(sheet, separator):
    rows = filled(sheet)
    for row, word in zip(rows, ("yes", "No", " 1", "0"), strict=False):
        row["correct"] = word
    path = sheet[0].with_name("eng.anna.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(verdicts.HEADER)
        writer.writerows([[guarded(cell) for cell in row.values()] for row in rows])
    labels = read(sheet, path)
    assert labels["correct"].tolist() == [1, 0] * 2 + [1] * (5 * TASKS - 4)
    assert {*labels["annotator"]} == {"anna"}


def test_models_that_judge_stand_in_columns_of_their_own(sheet):
    columns = (*verdicts.HEADER[:6], "correct:gpt", "correct:llama")
    rows = [row | {"correct:gpt": "1", "correct:llama": "0"} for row in lines(sheet[0])]
    labels = read(sheet, saved(sheet[0], rows, columns=columns))
    assert labels.groupby("annotator")["correct"].agg(set).to_dict() == {"gpt": {1}, "llama": {0}}


def test_kappa_is_that_of_a_worked_example():
    # Both yes 20, first alone 5, second alone 10, both no 15: 0.7 observed, 0.5 expected.
    first = pd.Series([1] * 25 + [0] * 25)
    second = pd.Series([1] * 20 + [0] * 5 + [1] * 10 + [0] * 15)
    agreement = verdicts.compare(first, second)
    assert agreement["kappa"] == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert agreement["kappa_low"] < agreement["kappa"] < agreement["kappa_high"]
    assert (agreement["equal"], agreement["accuracy"]) == (35, 0.7)
    assert (agreement["right_method"], agreement["right_annotator"]) == (25, 30)
    assert math.isnan(verdicts.compare(pd.Series([1, 1]), pd.Series([1, 0]))["kappa"])


def test_verdicts_are_compared_with_annotators_and_these_with_each_other(campaign, tmp_path):
    sheets, output = [], tmp_path / "a.parquet"
    for lang in campaign.languages:
        sheet, key = tmp_path / f"{lang}.csv", tmp_path / f"{lang}.key.parquet"
        answers = [f"--answers={campaign.answers(lang, model)}" for model in MODELS]
        where = [f"--prompts={campaign.prompts(lang)}", f"--sheet={sheet}", f"--key={key}"]
        run("annotation-sheet", lang, *answers, *where, "--options", json.dumps({"per_task": 8}))
        sheets += fill(sheet, key, campaign, lang)
    models = json.dumps({model: [*campaign.languages] for model in MODELS})
    where = [f"--judgements={campaign.judgements}", f"--models={models}", f"--output={output}"]
    keys = [f"--key={tmp_path / lang}.key.parquet" for lang in campaign.languages]
    # The rows of a smaller sheet are in a larger one.
    (tmp_path / "small").mkdir()
    keys.append(f"--key={draw(campaign, tmp_path / 'small')[1]}")
    said = run("read-annotations", *sheets, *keys, *where)
    assert f"anna: {3 * 8 * TASKS} labels, bert: {3 * 8 * TASKS} labels" in said
    assert output.with_name(output.name + ".prov.json").exists()
    rows = read_table(ANNOTATION_AGREEMENT, output).to_pylist()
    measured = {(r["lang"], r["phenomenon"], r["method"], r["annotator"]): r for r in rows}
    tasks = {task for lang, task, method, who in measured if (lang, who) == ("eng", "bert")}
    assert len(tasks) == TASKS + 1
    anna, bert = (measured["eng", "all", "corrected", name] for name in ("anna", "bert"))
    assert (anna["n"], anna["equal"], anna["kappa"]) == (8 * TASKS, 8 * TASKS, 1)
    assert bert["equal"] == bert["n"] - math.ceil(bert["n"] / 7)
    assert bert["low"] < bert["accuracy"] < bert["high"]
    # Anna's labels equal the corrected verdicts.
    both = measured["eng", "all", "anna", "bert"]
    assert [both[k] for k in ("n", "equal", "kappa")] == [bert[k] for k in ("n", "equal", "kappa")]
    korean = measured["kor", "all", "published", "anna"]
    assert korean["right_method"] == korean["n"]
    assert korean["kappa"] is None or math.isnan(korean["kappa"])
    assert korean["accuracy"] < measured["kor", "all", "corrected", "anna"]["accuracy"]


def test_answers_without_a_verdict_and_rows_without_a_label_are_counted(campaign, tmp_path, caplog):
    sheet, key = draw(campaign, tmp_path, per_task=2)
    first, second = fill(sheet, key, campaign, "eng")
    kept = first.read_text(encoding="utf-8-sig").splitlines(keepends=True)[:-2]
    first.write_text("".join(kept), encoding="utf-8-sig")
    lost = read_table(SHEET_KEY, key).to_pylist()[0]
    for model in MODELS:
        path = campaign.judgements / model / "eng.parquet"
        rows = read_table(JUDGEMENTS, path).to_pylist()
        for row in rows:
            if (model, row["item_id"]) == (lost["model"], lost["item_id"]):
                row["correct"] = None
        write(rows, JUDGEMENTS, tmp_path / "judged" / model / path.name, EXTRA)
    output = tmp_path / "a.parquet"
    counts = verdicts.measure_agreement([first, second], [key], tmp_path / "judged", output)
    assert counts == {"anna": 2 * TASKS - 2, "bert": 2 * TASKS, "anna lacks": 2}
    assert "anna lacks 2 rows of the sheets" in caplog.text
    assert "1 labelled answers have no verdict of both methods" in caplog.text
    rows = read_table(ANNOTATION_AGREEMENT, output).to_pylist()
    n = {(r["method"], r["annotator"]): r["n"] for r in rows if r["phenomenon"] == "all"}
    assert n["corrected", "anna"] == 2 * TASKS - 3
    assert n["published", "bert"] == 2 * TASKS - 1
    assert n["anna", "bert"] == 2 * TASKS - 2
