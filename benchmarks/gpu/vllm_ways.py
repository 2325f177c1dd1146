"""Measure vLLM: engines, settings, requests for log-probabilities, answers, a killed job."""

import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib.util import find_spec
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
import urllib3
from scoring import keep_rows, speeds, timed
from shapes import GPU, synthetic

from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.errors import UserError
from blimpworks.generation.conversation import PromptRequest
from blimpworks.generation.engine import load_generation_engine
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.vllm_engine import read_flat, read_response, sampling, write_request
from blimpworks.scoring.vllm_server import MODEL, Setup

ABSENT = "not in this version of vLLM"
PROMPTS = {"1b": 2000, "8b": 1000, "tiny": 30}
ANSWERS = {"1b": 1000, "8b": 500, "tiny": 6}
SYSTEM = (
    "You are a careful assistant. Answer the following question about words as briefly as you can: "
    "give the answer alone, in the language of the question, without any explanation, repetition "
    "of the question, quotation marks, formatting or other text before or behind it."
)


@contextmanager
def arguments(**changes):
    """Change arguments that scoring gives to vLLM."""
    usual = Setup.arguments
    with mock.patch.object(Setup, "arguments", lambda setup: usual(setup) | changes):
        yield


def served(bench):
    """Measure the speed of scoring with a vLLM server, the default, that the job starts."""
    speeds(bench, "vLLM, served", "vllm", bench.options("served"))


def in_process(bench):
    """Measure the speed of scoring with vLLM in the process of the job."""
    speeds(bench, "vLLM, in process", "vllm", bench.options("in_process"))


def sequences(bench):
    """Measure the speed with up to 1,024 sequences (by default 256) and more tokens in a pass."""
    options = bench.options("in_process", vllm={"batched_tokens": 32_768 if GPU else 8192})
    with arguments(max_num_seqs=1024):
        speeds(bench, "vLLM, in process, 1,024 sequences", "vllm", options)


def graphs(bench):
    """Measure the speed with CUDA graphs and compiled code, which scoring does not use."""
    label = "vLLM, in process, CUDA graphs and compilation"
    if not GPU:
        bench.emit(engine=label, note="only on a GPU")
        return
    with arguments(enforce_eager=False):
        speeds(bench, label, "vllm", bench.options("in_process"))


def parity_vllm(bench):
    """Keep vLLM's log-probabilities in float32 for the measurement ``parity``."""
    options = bench.options("in_process", dtype="float32")
    with closing(load_engine(bench.checkpoint, "vllm", options)) as engine:
        keep_rows(bench, "vLLM, in process, float32", engine)
    bench.emit(note="kept for the comparison")


def prompts_of(bench, engine):
    """Return the token ids of sentences, after the token that conditions the first one."""
    encoded = engine.encode(bench.texts()[: PROMPTS[bench.shape]])
    return [[*engine.tokenizer.prefix, *row.ids.tolist()] for row in encoded]


def report_way(bench, way, prompts, seconds, rows=None, expected=None):
    """Add a row on a way to ask: scored tokens per second, and the largest difference in nats."""
    row = {"way": way, "tokens/s": sum(len(p) - 1 for p in prompts) / seconds}
    if rows is not None and expected is not None:
        pairs = zip(rows, expected, strict=True)
        row["largest difference"] = max(np.abs(a - b[-len(a) :]).max().item() for a, b in pairs)
    bench.emit(**row)


def fixed_ids(prompt, start=0):
    """Return settings that ask for an array of log-probabilities of a prompt's ids after some."""
    from vllm import SamplingParams

    ids = np.array(prompt[start + 1 :], dtype=np.int64)[:, None]
    fields = {"prompt_logprob_token_ids": ids, "prompt_logprob_start": start or None}
    return SamplingParams(max_tokens=1, temperature=0, detokenize=False, **fields)


def arrays(bench):
    """Compare ways to ask vLLM in process for log-probabilities, and with asking for none."""
    from vllm import SamplingParams
    from vllm.exceptions import VLLMValidationError

    engine = load_engine(bench.checkpoint, "vllm", bench.options("in_process"))
    with closing(engine):
        prompts = prompts_of(bench, engine)
        model = engine._model._model

        def generate(settings):
            inputs = [{"prompt_token_ids": prompt} for prompt in prompts]
            return model.generate(inputs, settings, use_tqdm=False)

        generate(sampling())
        seconds, expected = timed(
            lambda: [read_flat(output.prompt_logprobs) for output in generate(sampling())]
        )
        report_way(bench, "prompt_logprobs=0, flat (as we do)", prompts, seconds)
        without_logprobs = SamplingParams(max_tokens=1, temperature=0, detokenize=False)
        seconds, _ = timed(lambda: generate(without_logprobs))
        report_way(bench, "no log-probabilities: the bound", prompts, seconds)
        for way, share in (("prompt_logprob_token_ids", 0), ("prompt_logprob_start at half", 2)):
            if not hasattr(SamplingParams, "prompt_logprob_token_ids"):
                bench.emit(way=way, note=ABSENT)
                continue
            try:
                settings = [fixed_ids(p, len(p) // share if share else 0) for p in prompts]
                generate(settings)
                settings = [fixed_ids(p, len(p) // share if share else 0) for p in prompts]
                seconds, outputs = timed(lambda settings=settings: generate(settings))
            except VLLMValidationError as error:
                bench.emit(way=way, note=f"refused: {error}")
                continue
            rows = [np.asarray(output.prompt_token_id_logprobs)[:, 0] for output in outputs]
            report_way(bench, way, prompts, seconds, rows, expected)


def scale_out():
    """Return the argument that turns on the endpoint for token ids, in versions that need one."""
    try:
        from vllm.entrypoints.launchers.cli_args import FrontendArgs
    except ImportError:
        return {}
    return {"enable_scale_out": True} if hasattr(FrontendArgs, "enable_scale_out") else {}


class Client:
    """Sends requests to a started server, up to ``width`` at a time."""

    def __init__(self, server, width):
        self.server, self.width = server, width
        self.pool = urllib3.HTTPConnectionPool(server.address, server.port, maxsize=width)

    def post(self, path, body):
        """Return the body of the answer to a request. Raises UserError if its status is not 200."""
        headers = self.server.headers()
        answer = self.pool.request("POST", path, body=body, headers=headers, timeout=120)
        if answer.status != 200:
            raise UserError(f"{answer.status}: {answer.data[:200].decode(errors='replace')}")
        return answer.data

    def map(self, function, values):
        """Return the results of ``function`` for values, computed in parallel."""
        with ThreadPoolExecutor(self.width) as threads:
            return list(threads.map(function, values))


def arrays_served(bench):
    """Compare ways to ask a vLLM server: our requests, and those with raw ids and arrays."""
    import orjson

    with arguments(**scale_out()):
        engine = load_engine(bench.checkpoint, "vllm", bench.options("served"))
        with closing(engine):
            prompts = prompts_of(bench, engine)
            engine._model.ask(prompts[:8])
            client = Client(engine._model.server, 8)
            batches = [prompts[a : a + 50] for a in range(0, len(prompts), 50)]

            def ours(batch):
                return read_response(client.post("/v1/completions", write_request(batch)), batch)

            def raw(prompt, **fields):
                settings = {"max_tokens": 1, "temperature": 0, "detokenize": False} | fields
                body = {"model": MODEL, "token_ids": prompt, "sampling_params": settings}
                return orjson.loads(client.post("/inference/v1/generate", orjson.dumps(body)))

            def dictionaries(prompt):
                positions = raw(prompt, prompt_logprobs=0)["prompt_logprobs"][1:]
                return np.array(
                    [at[str(i)]["logprob"] for i, at in zip(prompt[1:], positions, strict=True)]
                )

            def array(prompt):
                answer = raw(prompt, prompt_logprob_token_ids=[[i] for i in prompt[1:]])
                if "prompt_token_id_logprobs" not in answer:
                    raise UserError(ABSENT)
                data = base64.b64decode(answer["prompt_token_id_logprobs"])
                return np.load(io.BytesIO(data), allow_pickle=False)[:, 0]

            client.map(ours, batches)
            seconds, answers = timed(lambda: client.map(ours, batches))
            expected = [row for answer in answers for row in answer]
            report_way(bench, "/v1/completions, 50 prompts (as we do)", prompts, seconds)
            client = Client(engine._model.server, 64)
            for way, ask in (
                ("/inference/v1/generate, prompt_logprobs=0", dictionaries),
                ("/inference/v1/generate, arrays", array),
            ):
                try:
                    client.map(ask, prompts[:100])
                    seconds, rows = timed(lambda ask=ask: client.map(ask, prompts))
                except UserError as error:
                    bench.emit(way=way, note=str(error))
                else:
                    report_way(bench, way, prompts, seconds, rows, expected)


def descendants(root):
    """Return the identifiers of the living descendants of a process."""
    import psutil

    return [process.pid for process in psutil.Process(root).children(recursive=True)]


def alive(number):
    """Return whether a process lives."""
    import psutil

    return psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE


def wait(condition, seconds):
    """Return the seconds until a condition holds; None if that takes longer than ``seconds``."""
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        if condition():
            return time.monotonic() - started
        time.sleep(0.05)
    return None


def resume(bench):
    """Kill a scoring job after its first shards, run it again, and count kept sentences."""
    name = "vllm" if find_spec("vllm") else "transformers"
    options = bench.options("served", shard=1000 if GPU else 20)
    folder = bench.work / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    store, manifest = folder / "shards", folder / "manifest.json"
    paths = {"checkpoint": bench.checkpoint, "store": store, "manifest": manifest}
    command = [sys.executable, "-m", "blimpworks", "score", str(bench.items), f"--engine={name}"]
    command += [f"--{key}={path}" for key, path in paths.items()]
    command.append(f"--options={options.model_dump_json()}")
    first = subprocess.Popen(command, start_new_session=True)
    begun = wait(lambda: len([*store.glob("*.parquet")]) > 1 or first.poll() is not None, 600)
    family = descendants(first.pid) if first.poll() is None else []
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    ended = wait(lambda: not any(alive(number) for number in family), 60)
    before = sum(pq.read_metadata(path).num_rows for path in store.glob("*.parquet"))
    seconds, second = timed(lambda: subprocess.run(command, check=False))
    statuses = json.loads(manifest.read_bytes())["statuses"] if manifest.exists() else {}
    after = sum(pq.read_metadata(path).num_rows for path in store.glob("*.parquet"))
    bench.emit(
        **{
            "engine": f"{name}, served" if name == "vllm" else name,
            "killed after, s": begun,
            "its processes ended after, s": ended,
            "sentences kept": before,
            "resumed run, s": seconds,
            "exit status": second.returncode,
            "sentences in the end": after,
            "scored": statuses.get("ok", 0),
        }
    )


def questions(count):
    """Yield prompts like those of five tasks of Multi-LMentry."""
    vocabulary = [word for good, _ in synthetic(max(10, count)) for word in good.split()[:4]]
    templates = (
        "Write a word that starts with the letter {a[0]!r}.",
        "Write a sentence that contains the word {a!r}.",
        "Which word is longer, {a!r} or {b!r}?",
        "Is the first letter of {a!r} the same as the first letter of {b!r}?",
        "Which of the words {a!r}, {b!r} and {c!r} comes last in alphabetical order?",
    )
    for number in range(count):
        a, b, c = (vocabulary[(3 * number + i) % len(vocabulary)] for i in range(3))
        yield PromptRequest(templates[number % len(templates)].format(a=a, b=b, c=c), SYSTEM)


def generation(bench):
    """Measure answers per second; on GPUs, vLLM computes the shared system prompt once."""
    max_tokens = 128 if GPU else 8
    vllm = bench.options("served").vllm
    for mode in ("in_process", "served"):
        settings = {"vllm": vllm.model_copy(update={"mode": mode}), "max_tokens": max_tokens}
        options = GenerationJobOptions(dtype=bench.dtype, in_flight=256, **settings)
        with closing(load_generation_engine(bench.checkpoint, "vllm", options)) as engine:
            requests = list(questions(ANSWERS[bench.shape]))
            ready = engine.conversation.ready(requests, max_tokens)
            load, _ = timed(lambda e=engine, r=ready: e.generate(r[:4]))
            seconds, answers = timed(lambda e=engine, r=ready: e.generate(r))
        failed = sum(isinstance(answer, str) for answer in answers)
        tokens = sum(answer.tokens for answer in answers if not isinstance(answer, str))
        bench.emit(
            **{
                "engine": f"vLLM, {mode.replace('_', ' ')}",
                "answers/s": (len(answers) - failed) / seconds,
                "tokens written/s": tokens / seconds,
                "tokens of a prompt": sum(len(r.ids) for r in ready) / len(ready),
                "failed": failed,
                "load, s": load,
            }
        )
