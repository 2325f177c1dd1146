import functools
import json
import shutil

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoTokenizer

from blimpworks.errors import UserError
from blimpworks.generation import engine as generation_engine
from blimpworks.generation.conversation import Conversation, PromptRequest, pin_date
from blimpworks.generation.engine import ANSWER_CODE, collect_answers, load_generation_engine
from blimpworks.generation.engines import ENTRIES as VLLM_ENTRIES
from blimpworks.generation.engines import TransformersGenerator, read_row
from blimpworks.generation.reasoning import END, START, strip_reasoning
from blimpworks.models.checkpoint import read_description, seal
from blimpworks.records.digest import number_digest
from blimpworks.scoring.progress import Watch
from blimpworks.scoring.run import Shards
from support import answers_kit, tiny
from support.answers_kit import OPTIONS, QUESTIONS, RECIPE, SYSTEM, TEMPLATES
from support.hostile import edit


@pytest.fixture(scope="session")
def raw(tmp_path_factory):
    return answers_kit.make_model(tmp_path_factory.mktemp("raw"))


@pytest.fixture(scope="session")
def chat(tmp_path_factory):
    return answers_kit.make_model(tmp_path_factory.mktemp("chat"), "system")


@pytest.fixture
def templated(chat, tmp_path):
    return lambda name: answers_kit.with_template(tiny.copied(chat, tmp_path / name), name)


@pytest.fixture
def run(tmp_path):
    """Return a function that answers prompts by language; it returns the manifest and answers."""

    def answer(checkpoint, prompts, systems=None, options=OPTIONS, place="run", watch=None):
        folder = tmp_path / place
        items = [answers_kit.write_prompts(folder / f"{n}.parquet", p) for n, p in prompts.items()]
        systems = {"eng": SYSTEM, "deu": "ein Pferd"} if systems is None else systems
        manifest, store = folder / "manifest.json", folder / "shards"
        how = {"watch": watch} if watch else {}
        result = generation_engine.answer_items(
            items, systems, checkpoint, store, manifest, "transformers", options, **how
        )
        shards = Shards(manifest, store)
        tables = {
            path.stem: collect_answers(path, systems, shards, path.with_suffix(".answers.parquet"))
            for path in items
        }
        return result, tables

    return answer


class Counter(Watch):
    def __init__(self):
        self.asked = []

    def wrote(self, part, scores):
        self.asked += part


class Killed(BaseException):
    pass


class KilledAfter(Watch):
    def __init__(self, shards):
        self.left = shards

    def before(self):
        if not self.left:
            raise Killed
        self.left -= 1


def greedy(checkpoint, text, most, special):
    """Return the answer of a plain greedy loop, until a token ends the text."""
    conversation = Conversation(checkpoint.parent)
    tokenizer = conversation.tokenizer
    model = AutoModelForCausalLM.from_pretrained(checkpoint.parent, dtype=torch.float32).eval()
    ids = tokenizer(text, add_special_tokens=special)["input_ids"]
    begun = len(ids)
    while len(ids) < begun + most:
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
        if ids[-1] in conversation.stops:
            break
    return tokenizer.decode(ids[begun:], skip_special_tokens=True), len(ids) - begun


@pytest.mark.slow
def test_each_answer_is_the_most_probable_one_by_the_plain_way(raw, run):
    _, tables = run(raw, {"eng": QUESTIONS})
    for prompt, row in zip(QUESTIONS, tables["eng"].to_pylist(), strict=True):
        text, tokens = greedy(raw, prompt, OPTIONS.max_tokens, special=True)
        assert (row["text"], row["tokens"], row["status"]) == (text, tokens, "ok")
        assert row["finish"] == ("length" if tokens == OPTIONS.max_tokens else row["finish"])


def test_a_chat_model_reads_the_template_with_the_system_prompt(chat, run):
    _, tables = run(chat, {"eng": QUESTIONS[:3]})
    for prompt, row in zip(QUESTIONS, tables["eng"].to_pylist(), strict=False):
        read = f"[system] {SYSTEM}\n[user] {prompt}\n[assistant]"
        assert row["text"] == greedy(chat, read, OPTIONS.max_tokens, special=False)[0]


def test_neither_the_batch_nor_the_company_changes_an_answer(chat, run):
    _, together = run(chat, {"eng": QUESTIONS})
    alone = OPTIONS.model_copy(update={"batch": 1})
    _, single = run(chat, {"eng": QUESTIONS}, options=alone, place="alone")
    assert together["eng"].equals(single["eng"])


def test_prompts_that_stand_in_several_rows_and_languages_are_asked_once(raw, run):
    seen = Counter()
    prompts = {"eng": QUESTIONS[:4] * 3, "deu": QUESTIONS[2:6]}
    manifest, tables = run(raw, prompts, place="both", watch=seen)
    assert sorted(each.prompt for each in seen.asked) == sorted(QUESTIONS[:6])
    assert manifest.sentences == 6
    texts = tables["eng"]["text"].to_pylist()
    assert texts == texts[:4] * 3
    assert tables["deu"]["text"].to_pylist()[:2] == texts[2:4]


def test_languages_with_other_system_prompts_are_asked_each_for_itself(chat, run):
    manifest, _ = run(chat, {"eng": QUESTIONS[:4], "deu": QUESTIONS[:4]})
    assert manifest.sentences == 8
    silent = OPTIONS.model_copy(update={"system": False})
    manifest, _ = run(chat, {"eng": QUESTIONS[:4], "deu": QUESTIONS[:4]}, options=silent)
    assert manifest.sentences == 4


def test_another_limit_of_tokens_is_another_answer(raw, run):
    run(raw, {"eng": QUESTIONS[:2]})
    seen = Counter()
    few = OPTIONS.model_copy(update={"max_tokens": 3})
    _, tables = run(raw, {"eng": QUESTIONS[:2]}, options=few, watch=seen)
    assert len(seen.asked) == 2
    assert max(tables["eng"]["tokens"].to_pylist()) <= 3


def test_a_killed_run_goes_on_to_the_same_bytes(raw, run, tmp_path):
    run(raw, {"eng": QUESTIONS}, place="whole")
    with pytest.raises(Killed):
        run(raw, {"eng": QUESTIONS}, place="killed", watch=KilledAfter(2))
    assert not (tmp_path / "killed" / "manifest.json").exists()
    seen = Counter()
    run(raw, {"eng": QUESTIONS}, place="killed", watch=seen)
    assert len(seen.asked) == len(QUESTIONS) - 2 * OPTIONS.shard
    whole, killed = (tiny.contents(tmp_path / place) for place in ("whole", "killed"))
    assert whole == killed


def test_answers_do_not_fit_items_that_were_made_since(raw, run, tmp_path):
    run(raw, {"eng": QUESTIONS[:3]})
    items = answers_kit.write_prompts(tmp_path / "eng.parquet", ["a new question"])
    shards = Shards(tmp_path / "run" / "manifest.json", tmp_path / "run" / "shards")
    with pytest.raises(UserError, match=r"prompt 'a new question' of .*eng.parquet has no row in"):
        collect_answers(items, {}, shards, tmp_path / "out.parquet")


def test_prompts_without_room_or_text_have_a_status_and_no_answer(raw, run):
    conversation = Conversation(raw.parent, context=RECIPE.context)
    every = conversation.ready([PromptRequest("dog " * count) for count in range(20, 140)], 12)
    tight = next(each.request.prompt for each in every if 0 < each.room < 12)
    long = "the dog " * 400
    manifest, tables = run(raw, {"eng": ["", long, tight, QUESTIONS[0]]})
    rows = tables["eng"].to_pylist()
    assert rows[1]["status"] == "too_long"
    assert rows[1]["text"] is rows[1]["finish"] is rows[1]["tokens"] is None
    assert rows[0]["status"] in ("empty", "ok")
    assert rows[2]["status"] == rows[3]["status"] == "ok"
    assert rows[2]["tokens"] < 12
    assert sum(manifest.statuses.values()) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parts", f"[system]{SYSTEM}[user]who sees?[a]"),
        ("first part", f"{SYSTEM}\n\nwho sees? [a]"),
        ("cuts system", f"[user]{SYSTEM}\n\nwho sees? [a]"),
        # If the template has no role for it, the system prompt precedes the user's text.
        ("refuses", f"[user] {SYSTEM}\n\nwho sees? \n[assistant]"),
        ("drops", f"{SYSTEM}\n\nwho sees? \n"),
    ],
)
def test_the_texts_stand_in_what_a_template_renders(templated, name, text):
    assert Conversation(templated(name).parent).text(PromptRequest("who sees? ", SYSTEM)) == text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("silent", "drops or changes a user's text"),
        ("shouts", "drops or changes a user's text"),
        ("lists", "drops or changes a user's text"),
        ("refuses all", r"refuses a user's message \(no\)"),
    ],
)
def test_a_template_that_loses_what_users_say_is_refused(templated, name, reason):
    with pytest.raises(UserError, match=f"its chat template {reason}; set answers.chat: raw"):
        load_generation_engine(templated(name), "transformers", OPTIONS)


def test_a_prompt_that_a_template_alters_is_marked_and_not_asked(templated, run, caplog):
    prompts = ["the dog", "the dog sees the other dog"]
    _, tables = run(templated("cuts"), {"eng": prompts}, systems={})
    assert tables["eng"]["status"].to_pylist() == ["ok", "altered"]
    assert tables["eng"]["text"].to_pylist()[1] is None
    assert "1 prompts are not asked, because its chat template drops or changes" in caplog.text


@pytest.mark.parametrize(
    ("frame", "before"), [("<s> $A </s>", 1), ("$A </s> </s>", 0), ("<s> </s> $A", 2), ("$A", 0)]
)
def test_raw_prompts_keep_what_stands_before_a_text_and_end_with_it(raw, tmp_path, frame, before):
    folder = tmp_path / "model"
    shutil.copytree(raw.parent, folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    names = [(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")]
    tokenizer.post_processor = TemplateProcessing(single=frame, special_tokens=names)
    tokenizer.save(str(folder / "tokenizer.json"))
    text = tokenizer.encode("the dog", add_special_tokens=False).ids
    (ready,) = Conversation(folder).ready([PromptRequest("the dog")], 12)
    assert [*ready.ids] == [dict(names)[name] for name in frame.split()[:before]] + text


def random_model(raw, folder, kind, **changes):
    """Return an untrained model of another architecture, with the tokenizer of ``raw``."""
    shutil.copytree(raw.parent, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    shape = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2}
    shape |= {"intermediate_size": 48, "num_key_value_heads": 1, "pad_token_id": None}
    torch.manual_seed(0)
    config = CONFIG_MAPPING[kind](**{"vocab_size": 320} | shape | changes)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4 if weight.dim() > 1 else 1)  # else all tokens are about as probable
    model.save_pretrained(folder)
    return tiny.describe(folder, "causal")


HYBRID = {"mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1}
LINEAR = {"layer_types": ["linear_attention", "full_attention"] * 2, "block_size": 16}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("kind", "changes", "mates"),
    [
        ("gpt2", {}, "any"),
        ("llama", {}, "any"),
        ("mamba", {"state_size": 8}, "any"),
        ("falcon_h1", HYBRID | {"mamba_d_ssm": 32, "mamba_chunk_size": 16}, "any"),
        ("recurrent_gemma", {"attention_window_size": 16}, "length"),
        ("minimax", LINEAR | {"num_hidden_layers": 4, "num_local_experts": 2}, "length"),
        ("rwkv", {"context_length": 128}, "none"),
    ],
)
def test_no_answer_depends_on_its_batch(raw, run, tmp_path, kind, changes, mates, dtype):
    checkpoint = random_model(raw, tmp_path / kind, kind, **changes)
    options = OPTIONS.model_copy(update={"dtype": dtype})
    assert load_generation_engine(checkpoint, "transformers", options).batch_mates == mates
    if dtype == "float32" and mates != "any":
        prompts = ["the dog", "the", *QUESTIONS[:6]]
        _, together = run(checkpoint, {"eng": prompts}, options=options)
        alone = options.model_copy(update={"batch": 1})
        _, single = run(checkpoint, {"eng": prompts}, options=alone, place="alone")
        assert together["eng"].equals(single["eng"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_that_looks_ahead_answers_no_prompts(raw, tmp_path, dtype):
    changes = {"is_decoder": False, "max_position_embeddings": 200, "pad_token_id": 1}
    checkpoint = random_model(raw, tmp_path / "roberta", "roberta", **changes)
    engine = load_generation_engine(
        checkpoint, "transformers", OPTIONS.model_copy(update={"dtype": dtype})
    )
    with pytest.raises(UserError, match=r"RobertaForCausalLM looks ahead: .* Correct config\.json"):
        engine.generate(engine.conversation.ready([PromptRequest("the dog")], 4))


def test_prompts_of_one_length_share_a_batch_if_padding_gives_no_numbers(raw, run, monkeypatch):
    """Own code of models may compute a softmax of -inf alone where a row begins with padding."""
    [_, tables] = run(raw, {"eng": QUESTIONS})
    model_class = type(AutoModelForCausalLM.from_pretrained(raw.parent))
    forward = model_class.forward

    def padded(self, *arguments, attention_mask=None, **options):
        result = forward(self, *arguments, attention_mask=attention_mask, **options)
        if attention_mask is not None:
            result.logits[(attention_mask == 0).any(1)] = torch.nan
        result.logits[..., -1] = -torch.inf  # of an id that no text has
        return result

    functools.update_wrapper(padded, forward)
    monkeypatch.setattr(model_class, "forward", padded)
    assert load_generation_engine(raw, "transformers", OPTIONS).batch_mates == "length"
    assert run(raw, {"eng": QUESTIONS}, place="unpadded")[1]["eng"].equals(tables["eng"])


def test_no_limit_of_positions_is_none_and_ids_beyond_a_vocabulary_are_refused(raw, run, tmp_path):
    prompts = ["a b", *QUESTIONS]
    asked = Conversation(raw.parent).ready(map(PromptRequest, prompts), 12)
    largest = [max(each.ids) for each in asked]
    checkpoint = random_model(raw, tmp_path / "model", "gpt_neox", vocab_size=max(largest))
    settings = json.loads((tmp_path / "model" / "config.json").read_text())
    settings["max_position_embeddings"] = -1
    (tmp_path / "model" / "config.json").write_text(json.dumps(settings))
    seal(checkpoint, read_description(checkpoint))
    _, tables = run(checkpoint, {"eng": prompts})
    expected = ["ok" if each < max(largest) else "refused" for each in largest]
    assert tables["eng"]["status"].to_pylist() == expected
    assert {*expected} == {"ok", "refused"}


def test_raw_prompts_need_no_template_and_have_no_system_prompt(chat):
    conversation = Conversation(chat.parent, "raw")
    assert not conversation.chat
    assert conversation.text(PromptRequest("who?", SYSTEM)) == "who?"


@pytest.mark.parametrize(
    ("name", "prompt", "opened"),
    [
        ("reasons", QUESTIONS[0], True),
        ("reasons", "", True),
        ("reasons", f"who {END}?", True),
        ("reasoned", QUESTIONS[0], False),
        ("reasoned", f"who {START}?", False),
        ("system", f"who {START}?", False),
    ],
)
def test_an_answer_remembers_that_a_template_began_to_reason(templated, run, name, prompt, opened):
    _, tables = run(templated(name), {"eng": [prompt]})
    assert tables["eng"]["opened"].to_pylist() == [opened]


def test_the_date_in_a_template_is_the_same_every_day(templated):
    conversation = Conversation(templated("dated").parent)
    assert conversation.text(PromptRequest("who?")).startswith("[today 26 Jul 2024]")
    assert pin_date(answers_kit.TEMPLATES["system"]) == answers_kit.TEMPLATES["system"]


def test_another_template_is_another_key(chat, templated):
    keys = {
        load_generation_engine(each, "transformers", OPTIONS).key
        for each in (chat, templated("refuses"), templated("dated"))
    }
    raw = OPTIONS.model_copy(update={"chat": "raw"})
    assert len(keys | {load_generation_engine(chat, "transformers", raw).key}) == 4


def test_the_tokens_that_end_an_answer_are_also_those_of_the_generation_config(chat, templated):
    folder = templated("system").parent
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [5, 7]}))
    own = Conversation(chat.parent).stops
    assert set(Conversation(folder).stops) == {*own, 5, 7}


def test_tokens_that_end_an_answer_are_in_the_text_model_and_minus_one_is_none(chat, tmp_path):
    folder = tiny.copied(chat, tmp_path / "sees").parent
    edit(folder / "config.json", eos_token_id=-1, text_config={"eos_token_id": [5, 7]})
    assert {*Conversation(folder).stops} == {*Conversation(chat.parent).stops, 5, 7}


def test_the_template_of_a_processor_is_that_of_the_tokenizer(raw, tmp_path):
    folder = tiny.copied(raw, tmp_path / "sees").parent
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": TEMPLATES["system"]}))
    assert Conversation(folder).text(PromptRequest("who?")) == "[user] who?\n[assistant]"
    (folder / "chat_template.jinja").write_text(TEMPLATES["reasons"])
    assert Conversation(folder).text(PromptRequest("who?")).endswith("[assistant]<think>\n")


def test_templates_without_a_default_are_refused_where_prompts_are_not_raw(raw, tmp_path):
    folder = tiny.copied(raw, tmp_path / "tools").parent
    named = [{"name": "tool_use", "template": TEMPLATES["system"]}]
    edit(folder / "tokenizer_config.json", chat_template=named)
    assert not Conversation(folder, "raw").chat
    with pytest.raises(UserError, match="its chat templates are for tool_use, and none is the def"):
        Conversation(folder)


def test_marks_of_reasoning_that_are_special_tokens_stay_in_an_answer(raw, tmp_path):
    folder = tiny.copied(raw, tmp_path / "special").parent
    tokenizer = AutoTokenizer.from_pretrained(folder)
    plain = Conversation(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": [START, END, "<odd>"]})
    tokenizer.save_pretrained(folder)
    special = Conversation(folder)
    ids = tokenizer("<think>the cat</think>the<odd> dog", add_special_tokens=False)["input_ids"]
    response = read_row(special, [*ids, *special.stops])
    assert response == ("<think>the cat</think>the dog", "stop", len(ids) + 1)
    assert strip_reasoning(response.text) == "the dog"
    assert special.name() != plain.name()


def test_other_settings_of_the_generation_config_change_no_answer(templated, run):
    checkpoint = templated("system")
    _, before = run(checkpoint, {"eng": QUESTIONS[:4]})
    own = checkpoint.parent / "generation_config.json"
    known = json.loads(own.read_text()) if own.exists() else {}
    odd = {"repetition_penalty": 5.0, "temperature": 9.0, "do_sample": True, "top_k": 3}
    own.write_text(json.dumps(known | odd))
    seal(checkpoint, read_description(checkpoint))
    _, after = run(checkpoint, {"eng": QUESTIONS[:4]}, place="after")
    assert before["eng"].equals(after["eng"])


@pytest.mark.parametrize(("engine", "kind"), [("transformers", "masked"), ("kenlm", "causal")])
def test_only_causal_models_and_engines_that_generate_can_answer(raw, tmp_path, engine, kind):
    checkpoint = tiny.copied(raw, tmp_path / "model", architecture=kind)
    with pytest.raises(UserError, match="cannot answer prompts; expected architecture 'causal'"):
        load_generation_engine(checkpoint, engine, OPTIONS)


def test_each_batch_is_answered_on_one_thread(raw, run, monkeypatch):
    """Threads that wait for each other are many times slower if other programs compute."""
    plain, threads = TransformersGenerator._generate, []

    def counted(*arguments):
        threads.append(torch.get_num_threads())
        return plain(*arguments)

    monkeypatch.setattr(TransformersGenerator, "_generate", counted)
    with tiny.torch_threads(2):
        run(raw, {"eng": QUESTIONS[:5]})
    assert {*threads} == {1}


def test_a_shard_is_answered_in_halves_where_memory_runs_out(chat, run, monkeypatch):
    plain = TransformersGenerator._generate

    def scarce(self, rows):
        if len(rows) > 1 or "nurse" in rows[0].request.prompt:
            raise torch.OutOfMemoryError
        return plain(self, rows)

    _, before = run(chat, {"eng": QUESTIONS})
    monkeypatch.setattr(TransformersGenerator, "_generate", scarce)
    manifest, after = run(chat, {"eng": QUESTIONS}, place="scarce")
    failed = [row for row in after["eng"].to_pylist() if row["status"] == "out_of_memory"]
    assert len(failed) == manifest.statuses["out_of_memory"] == 3
    fine = [r for r in after["eng"].to_pylist() if r["status"] == "ok"]
    assert [r for r in before["eng"].to_pylist() if r in fine] == fine
    monkeypatch.undo()
    seen = Counter()
    again = OPTIONS.model_copy(update={"retry_failed": True})
    _, third = run(chat, {"eng": QUESTIONS}, place="scarce", options=again, watch=seen)
    assert len(seen.asked) == 3
    assert third["eng"].equals(before["eng"])


@pytest.mark.parametrize(
    ("text", "opened", "last", "first"),
    [
        ("dog", False, "dog", "dog"),
        ("<think>hm</think>dog", False, "dog", "dog"),
        ("hm</think>\n\ndog", False, "\n\ndog", "\n\ndog"),
        ("<think>a</think>b<think>c</think>dog", False, "dog", "b<think>c</think>dog"),
        ("<think>hm, the dog", False, "", "<think>hm, the dog"),
        ("dog <think>or cat", False, "dog ", "dog <think>or cat"),
        ("", False, "", ""),
        # The prompt began it.
        ("hm, the dog", True, "", "hm, the dog"),
        ("hm</think>dog", True, "dog", "dog"),
    ],
)
def test_reasoning_is_no_answer(text, opened, last, first):
    assert strip_reasoning(text, opened=opened) == last
    assert strip_reasoning(text, "first", opened=opened) == first


def test_logits_that_a_number_format_cannot_hold_are_refused(raw, run, tmp_path):
    """In float16, the largest number is 65,504."""
    checkpoint = tiny.copied(raw, tmp_path / "large", dtype="float16")
    path = checkpoint.with_name("model.safetensors")
    weights = load_file(path)
    name = next(name for name in weights if name.endswith("norm.weight"))
    save_file(weights | {name: weights[name] * 1e6}, path, metadata={"format": "pt"})
    seal(checkpoint, read_description(checkpoint))
    with pytest.raises(
        UserError, match=r"logits that are not numbers \(NaN\) in float16; expected"
    ):
        run(checkpoint, {"eng": QUESTIONS[:2]}, place="float16")
    seal(checkpoint, read_description(checkpoint).model_copy(update={"dtype": "float32"}))
    assert run(checkpoint, {"eng": QUESTIONS[:2]}, place="float32")


@given(st.lists(st.sampled_from([START, END, "dog", " ", "\n"])).map("".join))
def test_an_answer_without_reasoning_is_the_end_of_the_text_and_has_no_mark(text):
    result = strip_reasoning(text)
    assert START not in result
    assert END not in result
    assert result in text


@pytest.mark.parametrize(
    ("entries", "digest"),
    [
        (["blimpworks.generation.engines:TransformersGenerator"], "1657f03a30de3586"),
        (VLLM_ENTRIES, "26cd7f834c988002"),
    ],
    ids=["transformers", "vllm"],
)
def test_answers_made_before_stay_valid(entries, digest):
    """An edit that changes no answer needs a row in ``records/digest.py``."""
    assert number_digest(*entries, *ANSWER_CODE) == digest
