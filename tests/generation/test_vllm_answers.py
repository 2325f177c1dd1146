"""Test answers by a real vLLM, as a server and in process. ``make test-vllm`` runs it."""

import os
import signal
from contextlib import closing
from dataclasses import replace

import pytest

from blimpworks.generation.conversation import PromptRequest
from blimpworks.generation.engine import answer_items, load_generation_engine
from blimpworks.models.fitting import single_thread
from support import answers_kit, vllm_kit
from support.answers_kit import OPTIONS, QUESTIONS, SYSTEM

pytest.importorskip("vllm", reason="no vLLM here: `make vllm`, then .vllm/bin/python -m pytest")
pytestmark = pytest.mark.vllm
IN_PROCESS = OPTIONS.model_copy(
    update={"vllm": OPTIONS.vllm.model_copy(update={"mode": "in_process"})}
)
ASKED = [PromptRequest(question, SYSTEM) for question in QUESTIONS]


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    return answers_kit.make_model(tmp_path_factory.mktemp("chat"), "dated")


@pytest.fixture(scope="module")
def served(chat):
    with closing(load_generation_engine(chat, "vllm", OPTIONS)) as engine:
        yield engine


@pytest.fixture(scope="module")
def expected(chat):
    with single_thread(), closing(load_generation_engine(chat, "transformers", OPTIONS)) as engine:
        return engine.generate(engine.conversation.ready(ASKED, OPTIONS.max_tokens))


def test_a_server_answers_as_transformers_does(served, expected):
    result = served.generate(served.conversation.ready(ASKED, OPTIONS.max_tokens))
    assert result == expected
    assert {each.finish for each in result} <= {"stop", "length"}


@pytest.mark.slow_vllm
def test_a_server_that_is_killed_is_started_again_and_asked_what_is_missing(served, expected):
    ready = served.conversation.ready(ASKED, OPTIONS.max_tokens)
    served.generate(ready[:1])
    workers = {
        number
        for number in vllm_kit.family(os.getpid())
        if "EngineCore" in vllm_kit.commands().get(number, "")
    }
    assert workers
    for number in workers:
        os.kill(number, signal.SIGKILL)
    assert served.generate(ready) == expected


def test_a_prompt_that_the_server_refuses_is_marked_and_no_other(served, expected):
    ready = served.conversation.ready(ASKED[:3], OPTIONS.max_tokens)
    long = served.conversation.ready([PromptRequest("the dog " * 400)], 12)
    result = served.generate([*ready, replace(long[0], room=12)])
    assert result == [*expected[:3], "refused"]


@pytest.mark.slow_vllm
def test_raw_prompts_are_answered_as_by_transformers(chat):
    raw = OPTIONS.model_copy(update={"chat": "raw"})
    result = []
    for name in ("vllm", "transformers"):
        with closing(load_generation_engine(chat, name, raw)) as engine:
            result.append(engine.generate(engine.conversation.ready(ASKED[:6], 12)))
    assert result[0] == result[1]


@pytest.mark.slow_vllm
def test_vllm_in_process_answers_the_same(chat, expected):
    with closing(load_generation_engine(chat, "vllm", IN_PROCESS)) as engine:
        assert engine.generate(engine.conversation.ready(ASKED, OPTIONS.max_tokens)) == expected


def test_answers_of_a_server_are_stored_and_never_asked_again(chat, tmp_path):
    items = [answers_kit.write_prompts(tmp_path / "eng.parquet", QUESTIONS)]
    result = (tmp_path / "shards", tmp_path / "manifest.json")
    first = answer_items(items, {"eng": SYSTEM}, chat, *result, "vllm", OPTIONS)
    assert first.statuses == {"ok": len(QUESTIONS)}
    result[1].unlink()
    # A server that fails to start ends the job.
    broken = OPTIONS.model_copy(
        update={"vllm": OPTIONS.vllm.model_copy(update={"start_timeout": 1, "restarts": 0})}
    )
    assert answer_items(items, {"eng": SYSTEM}, chat, *result, "vllm", broken) == first


def test_the_key_knows_template_and_limit_but_not_how_the_server_is_run(chat):
    def key(**changes):
        return load_generation_engine(chat, "vllm", OPTIONS.model_copy(update=changes)).key

    assert key() == key(in_flight=3)
    assert len({key(), key(max_tokens=5), key(chat="raw")}) == 3
