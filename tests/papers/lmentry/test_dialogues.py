"""Test dialogues of Multi-LMentry's prompts, and models that are trained on them."""

import json
import random

import pytest
from transformers import AutoTokenizer

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.scoring_jobs import benchmarks_of
from blimpworks.errors import UserError
from blimpworks.models import encoding
from blimpworks.papers.lmentry.items import dialogues
from blimpworks.papers.lmentry.items.packs import read_declarations, read_pack
from blimpworks.papers.lmentry.items.prompts import prompt_of, prompts_of
from blimpworks.papers.lmentry.items.resources import read_resources
from blimpworks.papers.lmentry.judging.judge import Judge
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.tables import PROMPTS, write_rows
from support import tiny
from support.lmentry_prompts_kit import DECLARATIONS, PACKS, write_resources

pytestmark = pytest.mark.xdist_group("dialogues")  # they share fixtures

PACK = read_pack(PACKS["ita"])
SYSTEMS = {"ita": "Answer briefly."}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return prompts of all tasks with parsed arguments."""
    small = read_resources(write_resources(tmp_path_factory.mktemp("resources")))
    options = LmentryOptions(per_template=10)
    made = prompts_of(small, PACK, read_declarations(DECLARATIONS), options)
    of_our_tasks = (row for row in made if row["phenomenon"] in TASKS)
    return [row | {"arguments": json.loads(row["arguments"])} for row in of_our_tasks]


def of_tasks(rows, *tasks):
    return [row for row in rows if row["phenomenon"] in tasks]


def write_prompts(path, rows):
    plain = [row | {"arguments": json.dumps(row["arguments"])} for row in rows]
    write_rows(plain, PROMPTS, path)
    return path


def test_answers_are_right_by_the_corrected_rules_and_varied_prompts_are_the_templates_own(rows):
    judge, pool, draw = Judge(PACK.answers, "corrected"), dialogues.Pool(rows), random.Random(3)
    answered, varied = set(), set()
    for row in rows:
        for asked in (row, dialogues.vary(row, pool, draw), dialogues.vary(row, pool, draw)):
            if asked is None:
                continue
            task, arguments = asked["phenomenon"], asked["arguments"]
            if asked is not row:
                varied.add(task)
                filled = arguments
                if task == "homophones":
                    word = "word1" if arguments["answer_index"] else "word2"
                    filled = arguments | {word: arguments["distractor"]}
                prompt = prompt_of(PACK, task, row["template"], filled, corrected=False)
                assert asked["prompt"] == prompt
            answer = dialogues.answer_to(asked, pool, draw)
            if answer is not None:
                answered.add(task)
                gold = arguments | {"answer": asked["answer"]}
                verdict = judge.for_prompt(task, row["template"], gold, asked["prompt"])(answer)
                assert verdict.correct, (asked["prompt"], answer)
    assert varied == {*dialogues.VARIED}
    assert answered >= {*dialogues.MANY_ANSWERS, *dialogues.VARIED}


def test_no_dialogue_asks_what_the_benchmark_asks(rows):
    for task in dialogues.VARIED:
        benchmark = {row["prompt"] for row in of_tasks(rows, task)}
        made = dialogues.make_dialogues([*rows], {*benchmark}, SYSTEMS, seed=3, most=8)
        prompts = [dialogue["prompt"] for dialogue in made]
        assert prompts
        assert not {*prompts} & benchmark
        assert len({*prompts}) == len(prompts)


def test_prompts_that_cannot_be_varied_are_left_out_and_one_template_quotes_its_answers(rows):
    numbers = of_tasks(rows, "bigger_number")
    taken = {row["prompt"] for row in numbers[:15]}
    made = dialogues.make_dialogues([*numbers], taken, SYSTEMS, seed=3, most=50)
    assert {each["prompt"] for each in made} == {row["prompt"] for row in numbers[15:]}
    words = of_tasks(rows, "bigger_number", "first_word", "starts_with_word")
    task_of = {row["prompt"]: (row["phenomenon"], row["template"]) for row in words}
    for dialogue in dialogues.make_dialogues(words, set(), SYSTEMS, seed=3, most=5):
        if dialogue["prompt"] in task_of:
            quoted = dialogue["answer"].startswith('"')
            assert quoted == (task_of[dialogue["prompt"]] == ("first_word", 3))


def test_the_command_writes_the_same_dialogues_each_time(tmp_path, rows):
    practice = write_prompts(tmp_path / "practice.parquet", rows)
    numbers, pack = of_tasks(rows, "bigger_number"), PACKS["ita"]
    same, drawn = write_prompts(tmp_path / "items.parquet", numbers), {"seed": 1, "per_template": 9}
    for name in ("a", "b"):
        output = tmp_path / f"{name}.jsonl"
        counts = dialogues.build_dialogues([practice], [same], [pack], output, **drawn)
    assert output.read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert {line["system"] for line in lines} == {PACK.system}
    assert counts == {"prompts": len(rows), "dialogues": len(lines)}
    with pytest.raises(UserError, match=r"prompts in ita, for which no language pack"):
        dialogues.build_dialogues([practice], [same], [], output, **drawn)
    with pytest.raises(UserError, match=rf"each of the {len(numbers)} prompts is one of the bench"):
        dialogues.build_dialogues([same], [same], [pack], output, **drawn)


def test_practice_with_the_benchmarks_seed_is_refused():
    recipes = {"mine": {"kind": "instruct", "practice_seed": 1407}}
    with pytest.raises(UserError, match=r"practice_seed' is 1407, as is lmentry.seed"):
        check_campaign({"campaign": "some", "training": {"recipes": recipes}}, "some.yaml")


def test_beside_other_benchmarks_such_a_model_answers_this_one_alone():
    models = {f"{kind}-small": {"kind": kind} for kind in ("instruct", "transformer")}
    settings = {"campaign": "some", "benchmarks": ["multiblimp", "lmentry"], "languages": ["eng"]}
    settings |= {"models": [*models], "training": {"recipes": models}}
    campaign = check_campaign(settings, "some.yaml")
    rows = load_catalogue(campaign).models
    asked = [benchmarks_of(campaign, rows[name]) for name in models]
    assert asked == [("lmentry",), ("multiblimp", "lmentry")]


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """Train a model to answer with the last word of the prompt; return its folder."""
    text = tiny.write_corpus(tmp_path_factory.mktemp("taught") / "text.txt")
    recipe = tiny.INSTRUCT.model_copy(update={"epochs": 1, "learning_rate": 0.01})
    return tiny.make_instruct(text, text.parent / "m/checkpoint.json", recipe).parent


@pytest.mark.slow
def test_the_chat_template_writes_what_the_model_was_trained_on(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught)
    texts = {"system": "Be kind.", "user": "Hm?", "assistant": "Ah."}
    messages = [{"role": role, "content": text} for role, text in texts.items()]
    whole = encoding.dialogue_text(*texts.values())
    assert tokenizer.apply_chat_template(messages, tokenize=False) == whole
    prompt = tokenizer.apply_chat_template(messages[:2], add_generation_prompt=True, tokenize=False)
    assert whole == f"{prompt}Ah.</s>"
    assert tokenizer.decode(tokenizer(whole, add_special_tokens=False)["input_ids"]) == whole


def test_only_the_answer_and_its_end_are_learnt(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught)
    whole = encoding.dialogue_text("Be kind.", "Hm?", "Ah, yes.")
    ids = encoding.encode_dialogues(tokenizer.backend_tokenizer, [whole], 512)[0]
    labels = encoding.answer_labels(ids)
    assert tokenizer.decode(ids[labels != -100]) == "Ah, yes.</s>"
    assert (labels[labels != -100] == ids[labels != -100]).all()


def test_no_more_dialogues_are_encoded_than_training_can_use(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught).backend_tokenizer
    many = [encoding.dialogue_text("S", f"say {n}", str(n)) for n in range(5000)]

    def encoded(*most, **seed):
        rows = encoding.encode_dialogues(tokenizer, many, 512, *most, **seed)
        return [tokenizer.decode(row.tolist(), skip_special_tokens=False) for row in rows]

    assert encoded() == encoded(10**6) == many
    places = [many.index(text) for text in encoded(3000, seed=1)]
    assert places == sorted({*places})
    assert places[-1] - places[0] > 4000
    assert encoded(3000, seed=1) != encoded(3000, seed=2)


def test_a_dialogue_is_a_line_whatever_some_readers_take_for_line_ends(tmp_path):
    path, said = tmp_path / "some.jsonl", "one\u2028two\u0085three\u000bfour"
    line = json.dumps({"system": "S", "prompt": said, "answer": "A"}, ensure_ascii=False)
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    assert encoding.read_dialogues(path) == [encoding.dialogue_text("S", said, "A")] * 2
