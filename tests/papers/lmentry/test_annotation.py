"""Annotation sheets: drawn repeatably, safe in a spreadsheet, checked row by row when read."""

import csv
import json
import math
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from blimpworks.annotation.spreadsheet import (
    FORMULA_SIGNS,
    guarded,
    read_sheet,
    write_sheet,
)
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.annotation import (
    COLUMNS,
    compare,
    kappa,
    measure_agreement,
    read_key,
    read_labels,
    write_annotation_sheet,
)
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT, SHEET_KEY
from blimpworks.tables import ANSWERS, JUDGEMENTS, PROMPTS, read_table
from support.lmentry_campaign import EXTRA, Campaign, fill, write
from support.paths import REPOSITORY

pytestmark = pytest.mark.xdist_group("annotation")  # they share what is made once

MODELS = {"phi-4": 0.8, "mine": 0.4}
TASKS = 41
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    return Campaign(tmp_path_factory.mktemp("annotated"), MODELS, ("eng", "kor")).build()


def draw(campaign, folder, lang="eng", **options):
    sheet, key = folder / f"{lang}.csv", folder / f"{lang}.key.parquet"
    answers = {model: campaign.answers(lang, model) for model in MODELS}
    chosen = SheetOptions(**{"per_task": 5, **options})
    write_annotation_sheet(lang, campaign.prompts(lang), answers, sheet, key, chosen)
    return sheet, key


@pytest.fixture
def sheet(campaign, tmp_path):
    return draw(campaign, tmp_path)


def lines(path):
    return [line.cells for line in read_sheet(path)]


def saved(path, rows, name="eng.anna.csv", columns=COLUMNS):
    """A filled copy of a sheet beside it."""
    copy = path.with_name(name)
    write_sheet(copy, columns, rows)
    return copy


# The sheet


def test_the_sheet_has_as_many_answers_of_each_task_and_no_more_than_there_are(campaign, tmp_path):
    assert {*Counter(row["task"] for row in lines(draw(campaign, tmp_path)[0])).values()} == {5}
    whole = lines(draw(campaign, tmp_path, per_task=1000)[0])
    assert {*Counter(row["task"] for row in whole).values()} == {2 * 12}
    assert len({row["id"] for row in whole}) == len(whole) == TASKS * 24


def test_the_same_seed_draws_the_same_answers_and_another_seed_others(campaign, tmp_path):
    first = draw(campaign, tmp_path)[0].read_bytes()
    assert draw(campaign, tmp_path)[0].read_bytes() == first
    assert draw(campaign, tmp_path, seed=2)[0].read_bytes() != first


def test_a_larger_sheet_has_all_rows_of_a_smaller_one(campaign, tmp_path):
    small = {row["id"] for row in lines(draw(campaign, tmp_path)[0])}
    assert small < {row["id"] for row in lines(draw(campaign, tmp_path, per_task=9)[0])}


def test_the_answers_drawn_are_those_of_all_models(sheet):
    drawn = Counter(read_table(SHEET_KEY, sheet[1])["model"].to_pylist())
    assert all(drawn[model] > TASKS for model in MODELS)


def test_annotators_see_neither_the_model_nor_the_verdict_nor_the_reasoning(sheet):
    text = sheet[0].read_text("utf-8-sig")
    assert text.splitlines()[0] == "id,lang,task,prompt,gold,answer,correct,note"
    hidden = ("phi-4", "mine", "published", "corrected", "think")
    assert [word for word in hidden if word in text] == []


def test_the_sheet_opens_in_a_spreadsheet_as_utf_8(campaign, tmp_path):
    path, _ = draw(campaign, tmp_path, "kor")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert {row["gold"] for row in lines(path)} >= {"고양이", "word: 고양이"}


def test_no_cell_of_the_sheet_is_a_formula(sheet):
    with sheet[0].open(encoding="utf-8-sig", newline="") as file:
        texts = [cell for row in csv.reader(file) for cell in row]
    assert any(cell.startswith("'=") for cell in texts)
    assert [cell for cell in texts if cell.startswith(FORMULA_SIGNS)] == []


@given(ANY_TEXT)
def test_what_keeps_a_text_from_being_a_formula_can_be_taken_away(text):
    assert not guarded(text).startswith(FORMULA_SIGNS)
    assert guarded(text).removeprefix("'") == text


@given(st.lists(ANY_TEXT, min_size=2, max_size=2))
def test_every_text_is_read_as_it_was_written(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    write_sheet(path, ["a", "b"], [{"a": "x" + texts[0], "b": texts[1]}])
    assert lines(path) == [{"a": "x" + texts[0], "b": texts[1]}]


def test_a_language_without_answers_is_told(campaign, tmp_path):
    with pytest.raises(UserError, match="answered by any of 0 models"):
        write_annotation_sheet(
            "eng", campaign.prompts("eng"), {}, tmp_path / "a", tmp_path / "b", SheetOptions()
        )


CONFIG = REPOSITORY / "config"
YES, NO = "sí", "no"


def category_prompts(template):
    """Prompts of any words, of which 5, 4, 1 and 0 are from another category."""
    for strangers in (5, 4, 1, 0):
        yield {
            "item_id": f"{template}-{strangers}",
            "lang": "spa",
            "phenomenon": "any_words_from_category_5_distractors",
            "paradigm": f"template={template}",
            "template": template,
            "number": strangers,
            "nominal": 4,
            "prompt": f"¿{strangers}?",
            "answer": YES if strangers < 5 else NO,
            "arguments": json.dumps({"num_words": 5, "num_distractors": strangers}),
        }


@pytest.mark.parametrize("published", [True, False])
def test_the_gold_answer_is_that_to_what_the_template_asks(tmp_path, published):
    rows = [row for template in (1, 2) for row in category_prompts(template)]
    prompts = write(rows, PROMPTS, tmp_path / "spa.parquet")
    answered = [
        {"item_id": row["item_id"], "status": "ok", "text": YES, "finish": "stop", "tokens": 1}
        for row in rows
    ]
    answers = {"mine": write(answered, ANSWERS, tmp_path / "mine.parquet")}
    sheet, pack = tmp_path / "spa.csv", CONFIG / "lmentry/languages/spa.yaml"
    options, key = SheetOptions(per_task=9), tmp_path / "key.parquet"
    chosen = pack if published else None
    write_annotation_sheet("spa", prompts, answers, sheet, key, options, chosen)
    hidden = {row["row"]: row["item_id"] for row in read_table(SHEET_KEY, key).to_pylist()}
    golds = {hidden[row["id"]]: (row["gold"], row["note"]) for row in lines(sheet)}
    any_words = {"5": (NO, ""), "4": (YES, ""), "1": (YES, ""), "0": (YES, "")}
    assert {item[2:]: gold for item, gold in golds.items() if item[0] == "1"} == any_words
    second = {item[2:]: gold for item, gold in golds.items() if item[0] == "2"}
    # The second published template asks whether all of them are.
    note = "the prompt asks for all_words_from_category"
    every = {"5": (NO, note), "4": (NO, note), "1": (NO, note), "0": (YES, note)}
    assert second == (every if published else any_words)


# Reading filled sheets


def filled(sheet, change=None):
    """All rows answered with yes, the third as ``change`` has it."""
    rows = [row | {"correct": "yes"} for row in lines(sheet[0])]
    rows[2] |= change or {}
    return rows


def read(sheet, *paths):
    return read_labels(paths, read_key([sheet[1]]))


@pytest.mark.parametrize(("word", "label"), [("yes", 1), ("No", 0), (" 1", 1), ("0", 0)])
def test_labels_are_yes_no_1_and_0(sheet, word, label):
    labels = read(sheet, saved(sheet[0], filled(sheet, {"correct": word})))
    assert labels["correct"].tolist()[2] == label
    assert {*labels["annotator"]} == {"anna"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "r00"}, "row 'r00' is not in the sheets' key"),
        ({"correct": " "}, "'correct' of row .* is empty; fill it in"),
        ({"correct": "maybe"}, "'correct' of row .* is 'maybe', expected yes, no, 1, 0"),
        ({"prompt": "Write."}, "the prompt of row .* is not the one of the sheet"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(sheet, change, said):
    path = saved(sheet[0], filled(sheet, change))
    with pytest.raises(UserError, match=rf"eng\.anna\.csv:4: {said}") as error:
        read(sheet, path)
    assert "\n" not in str(error.value)


def test_of_many_wrong_rows_the_first_are_told_and_the_rest_counted(sheet):
    path = saved(sheet[0], lines(sheet[0]))
    with pytest.raises(UserError) as error:
        read(sheet, path)
    assert str(error.value).splitlines()[-1] == f"{5 * TASKS - 5} more rows are wrong."


def test_a_row_that_is_labelled_twice_is_told_with_both_places(sheet):
    rows = filled(sheet)
    path = saved(sheet[0], [*rows, rows[0]])
    with pytest.raises(UserError, match=rf":{len(rows) + 2}: anna has judged .* before, in .*:2"):
        read(sheet, path)


def test_line_numbers_count_the_lines_of_cells_that_have_several(sheet):
    rows = filled(sheet, {"correct": "?"})
    rows[0] |= {"note": "one\ntwo"}
    with pytest.raises(UserError, match=r"eng\.anna\.csv:5: "):
        read(sheet, saved(sheet[0], rows))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_sheets_saved_with_other_separators_and_without_the_mark_are_read(sheet, separator):
    path = sheet[0].with_name("eng.anna.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(COLUMNS)
        writer.writerows([[guarded(cell) for cell in row.values()] for row in filled(sheet)])
    assert len(read(sheet, path)) == 5 * TASKS


def test_a_sheet_in_another_encoding_is_refused(sheet):
    path = sheet[0].with_name("eng.anna.csv")
    path.write_bytes("id,correct\nr1,sí\n".encode("latin-1"))
    with pytest.raises(
        UserError, match=r"is not in UTF-8 .*byte 15.*Save the sheet as CSV in UTF-8"
    ):
        read(sheet, path)


def test_a_sheet_without_labels_or_with_a_broken_row_is_refused(sheet):
    path = sheet[0].with_name("eng.anna.csv")
    path.write_text("id,note\nr1,x\n")
    with pytest.raises(UserError, match="columns are id, note; expected 'id' and 'correct'"):
        read(sheet, path)
    path.write_text("id,correct\nr1\n")
    with pytest.raises(UserError, match=r"csv:2: 1 cells, expected 2"):
        read(sheet, path)


def test_models_that_judge_stand_in_columns_of_their_own(sheet):
    columns = (*COLUMNS[:6], "correct:gpt", "correct:llama")
    rows = [row | {"correct:gpt": "1", "correct:llama": "0"} for row in lines(sheet[0])]
    labels = read(sheet, saved(sheet[0], rows, columns=columns))
    assert labels.groupby("annotator")["correct"].agg(set).to_dict() == {"gpt": {1}, "llama": {0}}


def test_an_annotator_cannot_be_called_as_a_method(sheet):
    with pytest.raises(UserError, match="an annotator is called 'corrected'"):
        read(sheet, saved(sheet[0], filled(sheet), "eng.corrected.csv"))


# Agreement


def test_kappa_is_that_of_a_worked_example():
    # Both yes 20, first alone 5, second alone 10, both no 15: 0.7 observed, 0.5 expected.
    first = pd.Series([1] * 25 + [0] * 25)
    second = pd.Series([1] * 20 + [0] * 5 + [1] * 10 + [0] * 15)
    value, low, high = kappa(first, second)
    assert value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert low < value < high
    agreement = compare(first, second)
    assert (agreement["equal"], agreement["accuracy"]) == (35, 0.7)
    assert (agreement["right_method"], agreement["right_annotator"]) == (25, 30)


def test_kappa_is_unknown_where_a_judge_says_the_same_of_all():
    assert math.isnan(kappa(pd.Series([1, 1]), pd.Series([1, 0]))[0])


@pytest.fixture(scope="module")
def measured(campaign, tmp_path_factory):
    """Agreement with two annotators in two languages, by language, task and judges."""
    folder = tmp_path_factory.mktemp("agreement")
    sheets, keys = [], []
    for lang in ("eng", "kor"):
        sheet, key = draw(campaign, folder, lang, per_task=8)
        sheets += fill(sheet, key, campaign, lang)
        keys.append(key)
    given = measure_agreement(sheets, keys, campaign.judgements, folder / "a.parquet")
    assert given == {"anna": 2 * 8 * TASKS, "bert": 2 * 8 * TASKS}
    rows = read_table(ANNOTATION_AGREEMENT, folder / "a.parquet").to_pylist()
    return {(r["lang"], r["phenomenon"], r["method"], r["annotator"]): r for r in rows}


@pytest.mark.slow
def test_verdicts_are_compared_with_each_annotator(measured):
    anna = measured["eng", "all", "corrected", "anna"]
    assert (anna["n"], anna["equal"], anna["accuracy"]) == (8 * TASKS, 8 * TASKS, 1)
    assert anna["kappa"] == 1
    bert = measured["eng", "all", "corrected", "bert"]
    assert bert["equal"] == bert["n"] - math.ceil(bert["n"] / 7)
    assert bert["low"] < bert["accuracy"] < bert["high"]


def test_korean_verdicts_of_the_published_rules_agree_less_than_corrected_ones(measured):
    published = measured["kor", "all", "published", "anna"]
    assert published["right_method"] == published["n"]
    assert published["kappa"] is None or math.isnan(published["kappa"])
    assert published["accuracy"] < measured["kor", "all", "corrected", "anna"]["accuracy"]


@pytest.mark.slow
def test_a_labelled_answer_without_a_verdict_is_counted_and_not_dropped(campaign, tmp_path, caplog):
    sheet, key = draw(campaign, tmp_path)
    sheets = fill(sheet, key, campaign, "eng")
    lost = read_table(SHEET_KEY, key).to_pylist()[0]
    for model in MODELS:
        path = campaign.judgements / "eng" / f"{model}.parquet"
        rows = read_table(JUDGEMENTS, path).to_pylist()
        for row in rows:
            if (model, row["item_id"]) == (lost["model"], lost["item_id"]):
                row["correct"] = None
        write(rows, JUDGEMENTS, tmp_path / "judged/eng" / path.name, EXTRA)
    measure_agreement(sheets, [key], tmp_path / "judged", tmp_path / "a.parquet")
    assert "1 labelled answers have no verdict of both methods" in caplog.text
    rows = read_table(ANNOTATION_AGREEMENT, tmp_path / "a.parquet").to_pylist()
    n = {(r["method"], r["annotator"]): r["n"] for r in rows if r["phenomenon"] == "all"}
    assert n["corrected", "anna"] == n["published", "bert"] == 5 * TASKS - 1
    assert n["anna", "bert"] == 5 * TASKS


def test_rows_of_a_sheet_without_a_label_are_counted(campaign, tmp_path, caplog):
    sheet, key = draw(campaign, tmp_path, "eng", per_task=2)
    first, second = fill(sheet, key, campaign, "eng")
    kept = first.read_text(encoding="utf-8-sig").splitlines(keepends=True)[:-2]
    first.write_text("".join(kept), encoding="utf-8-sig")
    counts = measure_agreement([first, second], [key], campaign.judgements, tmp_path / "a.parquet")
    assert counts == {"anna": 2 * TASKS - 2, "bert": 2 * TASKS, "anna lacks": 2}
    assert "anna lacks 2 rows of the sheets" in caplog.text


def test_annotators_are_compared_with_each_other(measured):
    between = measured["eng", "all", "anna", "bert"]
    same = measured["eng", "all", "corrected", "bert"]
    assert (between["n"], between["equal"], between["kappa"]) == (
        same["n"],
        same["equal"],
        pytest.approx(same["kappa"]),
    )


def test_every_task_is_compared(measured):
    tasks = {task for lang, task, method, who in measured if (lang, who) == ("eng", "bert")}
    assert len(tasks) == TASKS + 1


@pytest.mark.slow
def test_the_commands_draw_a_sheet_and_read_it_back(campaign, tmp_path):
    sheet, key, output = tmp_path / "eng.csv", tmp_path / "eng.key.parquet", tmp_path / "a.parquet"
    answers = [f"--answers={campaign.answers('eng', model)}" for model in MODELS]
    options = [f"--sheet={sheet}", f"--key={key}", "--options", json.dumps({"per_task": 2})]
    prompts = f"--prompts={campaign.prompts('eng')}"
    run = CliRunner().invoke(app, ["annotation-sheet", "eng", prompts, *answers, *options])
    assert run.exit_code == 0, run.output
    filled = map(str, fill(sheet, key, campaign, "eng"))
    models = json.dumps({model: ["eng"] for model in MODELS})
    given = [f"--judgements={campaign.judgements}", f"--models={models}", f"--output={output}"]
    run = CliRunner().invoke(app, ["read-annotations", *filled, f"--key={key}", *given])
    assert run.exit_code == 0, run.output
    assert f"anna: {2 * TASKS} labels, bert: {2 * TASKS} labels" in run.output
    assert output.with_name(output.name + ".prov.json").exists()
