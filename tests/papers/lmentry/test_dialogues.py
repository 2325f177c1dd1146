import json
import random
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.parts import benchmarks_of
from blimpworks.errors import UserError
from blimpworks.models import instruct
from blimpworks.models.tokenizer import EOS_ID
from blimpworks.papers.lmentry.items.dialogues import (
    OPEN_ANSWERS,
    VARIED,
    Pool,
    answer_to,
    build_dialogues,
    make_dialogues,
    vary,
)
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.tables import PROMPTS, write_table
from support import tiny
from support.paths import REPOSITORY

pytestmark = pytest.mark.xdist_group("dialogues")  # they share what is made once

CONFIG = REPOSITORY / "config"
SYSTEM = "Answer briefly."
SENTENCES = (
    "The old dog barked",
    "Mary saw a small bird",
    "However, the river froze last winter",
    "Nobody told them about it",
    "We bought seven green apples",
)
WORDS = ("house", "apple", "window", "quick", "zebra", "lemon", "yes", "stone", "jump", "x-ray")
ASKED = {
    "sentence_containing": 'Write a sentence with "{word}":',
    "sentence_not_containing": 'Write a sentence without "{word}":',
    "starts_with_word": 'Write a sentence that starts with "{word}":',
    "ends_with_word": 'Write a sentence that ends with "{word}":',
    "word_containing": 'Write a word with "{letter}":',
    "word_not_containing": 'Write a word without "{letter}":',
    "starts_with_letter": 'Write a word that starts with "{letter}":',
    "ends_with_letter": 'Write a word that ends with "{letter}":',
    "first_letter": 'What is the first letter of "{word}"?',
    "last_letter": 'What is the last letter of "{word}"?',
    "first_word": 'What is the first word of "{sentence}"?',
    "last_word": 'What is the last word of "{sentence}"?',
    "word_after": 'In "{sentence}", which word comes after "{query}"?',
    "word_before": 'In "{sentence}", which word comes before "{query}"?',
    "homophones": 'Which sounds like "{query}", "{answer}" or "{distractor}"?',
    "bigger_number": "Which is bigger, {answer} or {distractor}?",
}
GOLD = {
    "first_letter": lambda a: a["word"][0],
    "last_letter": lambda a: a["word"][-1],
    "first_word": lambda a: words_of(a["sentence"])[0],
    "last_word": lambda a: words_of(a["sentence"])[-1],
    "word_after": lambda a: beside(a, 1),
    "word_before": lambda a: beside(a, -1),
    "homophones": lambda a: a["answer"],
    "bigger_number": lambda a: a["answer"],
}
RIGHT = {
    "sentence_containing": lambda a, said: a["word"] in words_of(said) and " " in said,
    "sentence_not_containing": lambda a, said: a["word"] not in words_of(said) and " " in said,
    "starts_with_word": lambda a, said: words_of(said)[0] == a["word"] and " " in said,
    "ends_with_word": lambda a, said: words_of(said)[-1] == a["word"] and " " in said,
    "word_containing": lambda a, said: a["letter"].lower() in said.lower(),
    "word_not_containing": lambda a, said: a["letter"].lower() not in said.lower(),
    "starts_with_letter": lambda a, said: said.lower().startswith(a["letter"].lower()),
    "ends_with_letter": lambda a, said: said.lower().endswith(a["letter"].lower()),
}


def words_of(sentence):
    return [word.strip(".,") for word in sentence.split()]


def beside(arguments, step):
    words = words_of(arguments["sentence"])
    return words[words.index(arguments["query"]) + step]


def arguments_of(task):
    """All arguments that the tests have for a task."""
    template = ASKED[task]
    if "{letter}" in template:
        return [{"letter": letter} for letter in "abeghnst"]
    if "{query}" in template and "{sentence}" in template:
        step = 1 if task == "word_after" else 0
        return [
            {"sentence": sentence, "query": words_of(sentence)[place]}
            for sentence in SENTENCES
            for place in range(1 - step, len(sentence.split()) - step)
        ]
    if "{sentence}" in template:
        return [{"sentence": sentence} for sentence in SENTENCES]
    if task == "homophones":
        return [{"query": "blew", "answer": "blue", "distractor": word} for word in ("red", "sky")]
    if task == "bigger_number":
        return [{"answer": str(n), "distractor": str(n - 7)} for n in range(20, 40)]
    return [{"word": word} for word in WORDS]


def rows_of(*tasks, template=1):
    return [
        {
            "lang": "eng",
            "phenomenon": task,
            "template": template,
            "prompt": ASKED[task].format(**arguments),
            "answer": GOLD[task](arguments) if task in GOLD else None,
            "arguments": arguments,
        }
        for task in tasks
        for arguments in arguments_of(task)
    ]


EVERY = rows_of(*ASKED)
POOL = Pool.of(EVERY)


def can_vary(row):
    return row["phenomenon"] in VARIED


def write_prompts(path, rows):
    columns = {name: [row.get(name) for row in rows] for name, _ in PROMPTS.columns}
    columns["item_id"] = [str(number) for number in range(len(rows))]
    columns["arguments"] = [json.dumps(row["arguments"]) for row in rows]
    columns["paradigm"] = ["template=1"] * len(rows)
    write_table(pa.table(columns, schema=PROMPTS.arrow()), PROMPTS, path)
    return path


def test_every_task_of_many_answers_has_a_rule_for_one():
    assert {*OPEN_ANSWERS} == {*RIGHT} == {*ASKED} - {*GOLD}


@given(st.integers(0, 10**6), st.sampled_from(EVERY), st.booleans())
def test_answers_are_right_as_the_task_defines_it(seed, row, other):
    draw, task = random.Random(seed), row["phenomenon"]
    if other and (row := vary(row, POOL, draw)) is None:
        assert task == "bigger_number"
        return
    said = answer_to(row, POOL, draw)
    if said is None:
        longer = (
            word for word in POOL.words if len(word) > max(2, len(row["arguments"]["letter"]))
        )
        assert not any(RIGHT[task](row["arguments"], word) for word in longer)
    elif task in GOLD:
        assert said == GOLD[task](row["arguments"])
    else:
        assert RIGHT[task](row["arguments"], said)


@given(
    st.integers(0, 10**6), st.sampled_from([row for row in EVERY if row["phenomenon"] in VARIED])
)
def test_a_varied_prompt_asks_the_same_of_its_new_argument(seed, row):
    varied = vary(row, POOL, random.Random(seed))
    assume(varied is not None)  # the draw found no other argument that fits
    assert varied["prompt"] == ASKED[row["phenomenon"]].format(**varied["arguments"])


@pytest.mark.parametrize("task", VARIED)
def test_no_dialogue_asks_what_the_benchmark_asks(task):
    rows = rows_of(task)
    dialogues = make_dialogues(
        EVERY, {row["prompt"] for row in rows}, {"eng": SYSTEM}, seed=3, most=20
    )
    prompts = [dialogue.prompt for dialogue in dialogues]
    assert not {*prompts} & {row["prompt"] for row in rows}
    assert len({*prompts}) == len(prompts)
    form = re.escape(ASKED[task]).replace(r"\{", "{").replace(r"\}", "}")
    assert 1 < len([*filter(re.compile(re.sub("{.+?}", ".+", form)).fullmatch, prompts)]) <= 20


def test_prompts_that_cannot_be_varied_are_left_out():
    rows = rows_of("bigger_number")
    dialogues = make_dialogues(
        rows, {row["prompt"] for row in rows[:15]}, {"eng": SYSTEM}, seed=3, most=50
    )
    assert {each.prompt for each in dialogues} == {row["prompt"] for row in rows[15:]}


def test_one_template_has_its_words_in_quotation_marks():
    rows = rows_of("first_word", "bigger_number", "starts_with_word", template=3)
    answers = {each.prompt: each.answer for each in make_dialogues(rows, set(), {"eng": "S"}, 0, 5)}
    for prompt, answer in answers.items():
        quoted = prompt.startswith("What is the first word")
        assert bool(re.fullmatch('".+"', answer)) == quoted


def test_the_command_writes_the_same_dialogues_each_time(tmp_path):
    practice = write_prompts(tmp_path / "practice.parquet", EVERY)
    items = write_prompts(tmp_path / "items.parquet", rows_of("first_word"))
    pack = CONFIG / "lmentry/languages/eng.yaml"
    for name in ("a", "b"):
        output = tmp_path / f"{name}.jsonl"
        counts = build_dialogues([practice], [items], [pack], output, seed=1, per_template=9)
    assert output.read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert {line["system"] for line in lines} == {read_pack(pack).system}
    assert counts == {"prompts": len(EVERY), "dialogues": len(lines)}
    with pytest.raises(UserError, match=r"prompts in eng, but of the packs given none"):
        build_dialogues([practice], [items], [], output, seed=1, per_template=9)
    same = write_prompts(tmp_path / "same.parquet", rows_of("bigger_number"))
    with pytest.raises(UserError, match=r"each of the 20 prompts is one of the benchmark's"):
        build_dialogues([same], [same], [pack], output, seed=1, per_template=9)


def test_practice_with_the_benchmarks_seed_is_refused():
    recipes = {"mine": {"kind": "instruct", "practice_seed": 1407}}
    with pytest.raises(UserError, match=r"practice_seed' is 1407, as is lmentry.seed"):
        check_campaign({"campaign": "some", "training": {"recipes": recipes}}, "some.yaml")


def test_beside_other_benchmarks_such_a_model_answers_this_one_alone():
    settings = {
        "campaign": "some",
        "benchmarks": ["multiblimp", "lmentry"],
        "languages": ["eng"],
        "models": ["instruct-small", "transformer-small"],
        "training": {
            "recipes": {
                "instruct-small": {"kind": "instruct"},
                "transformer-small": {"kind": "transformer"},
            }
        },
    }
    campaign = check_campaign(settings, "some.yaml")
    rows = load_catalogue(campaign).models
    assert benchmarks_of(campaign, rows["instruct-small"]) == ("lmentry",)
    assert benchmarks_of(campaign, rows["transformer-small"]) == ("multiblimp", "lmentry")


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A model that was taught to say the last word of what it is told."""
    text = tiny.write_corpus(tmp_path_factory.mktemp("taught") / "text.txt")
    recipe = tiny.INSTRUCT.model_copy(update={"epochs": 40, "learning_rate": 0.01})
    return tiny.make_instruct(text, text.parent / "m/checkpoint.json", recipe).parent


@pytest.mark.slow
def test_the_chat_template_writes_what_the_model_was_trained_on(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught)
    messages = [
        {"role": role, "content": text}
        for role, text in zip(
            ("system", "user", "assistant"), ("Be kind.", "Hm?", "Ah."), strict=True
        )
    ]
    whole = instruct.written("Be kind.", "Hm?", "Ah.")
    assert tokenizer.apply_chat_template(messages, tokenize=False) == whole
    prompt = tokenizer.apply_chat_template(messages[:2], add_generation_prompt=True, tokenize=False)
    assert whole == f"{prompt}Ah.</s>"
    assert tokenizer.decode(tokenizer(whole, add_special_tokens=False)["input_ids"]) == whole


def test_only_the_answer_and_its_end_are_learnt(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught)
    whole = instruct.written("Be kind.", "Hm?", "Ah, yes.")
    ids = instruct.encode_dialogues(tokenizer.backend_tokenizer, [whole], 512)[0]
    labels = instruct.answer_labels(ids)
    assert tokenizer.decode(ids[labels != -100]) == "Ah, yes.</s>"
    assert (labels[labels != -100] == ids[labels != -100]).all()


def test_generation_stops_where_the_answer_ends(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught)
    model = AutoModelForCausalLM.from_pretrained(taught)
    assert model.generation_config.eos_token_id == EOS_ID
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "the dog"}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    said = model.generate(ids, max_new_tokens=30, do_sample=False)[0, ids.shape[1] :].tolist()
    assert said[-1] == EOS_ID
    assert tokenizer.decode(said, skip_special_tokens=True) == "dog"


def test_characters_that_some_readers_take_for_line_ends_stay_in_a_dialogue(tmp_path):
    path = tmp_path / "some.jsonl"
    said = "one\u2028two\u0085three\u000bfour"
    line = json.dumps({"system": "S", "prompt": said, "answer": "A"}, ensure_ascii=False)
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    assert instruct.read_dialogues(path) == [instruct.written("S", said, "A")] * 2


def test_no_more_dialogues_are_encoded_than_training_can_use(taught):
    tokenizer = AutoTokenizer.from_pretrained(taught).backend_tokenizer
    many = [instruct.written("S", f"say {n}", str(n)) for n in range(5000)]
    whole = instruct.encode_dialogues(tokenizer, many, 512)
    assert [tokenizer.decode(row.tolist(), skip_special_tokens=False) for row in whole] == many
    few = instruct.encode_dialogues(tokenizer, many, 512, most=3000, seed=1)
    texts = [tokenizer.decode(row.tolist(), skip_special_tokens=False) for row in few]
    assert 3000 <= sum(map(len, few)) < 3000 + max(map(len, few))
    # In their order, and from all of them.
    places = [many.index(text) for text in texts]
    assert places == sorted({*places})
    assert places[-1] - places[0] > 4000
    again = instruct.encode_dialogues(tokenizer, many, 512, most=3000, seed=1)
    assert all(map(np.array_equal, few, again))
    other = instruct.encode_dialogues(tokenizer, many, 512, most=3000, seed=2)
    assert [*map(bytes, few)] != [*map(bytes, other)]
    # Where training can use all, nothing is drawn.
    assert all(map(np.array_equal, whole, instruct.encode_dialogues(tokenizer, many, 512, 10**6)))


def test_a_tokenizer_is_trained_on_some_of_many_dialogues(monkeypatch):
    monkeypatch.setattr(instruct, "SAMPLE", 10)
    many = [instruct.written("S", f"word{n % 2}", "Ah") for n in range(40)]
    tokenizer = instruct.train_pieces(many, 300).to_str()
    assert tokenizer == instruct.train_pieces(many[::4], 300).to_str()


def test_a_line_that_is_no_dialogue_is_named(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"system": "S", "prompt": "P", "answer": "A"}\n{"system": "S"}\n')
    with pytest.raises(UserError, match=r"some.jsonl:2: no dialogue"):
        instruct.read_dialogues(path)
