"""Engines that answer prompts greedily: transformers, and vLLM in a server or in the process.

``generate`` gets the prompts of a shard as token ids (``Ready``), and returns a ``Response`` for
each. Both engines ignore the penalties of ``generation_config.json``.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, cast

import torch
from transformers import GenerationConfig, PreTrainedModel

from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.errors import UserError
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.generation.engine import GenerationEngine, Response, generation_key
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.fitting import device_name, single_thread
from blimpworks.scoring import hub_loading
from blimpworks.scoring.engine import Failure, loading
from blimpworks.scoring.hub_model import halving
from blimpworks.scoring.vllm_engine import InProcessModel, ServedModel
from blimpworks.scoring.vllm_server import MODEL, Setup, make_setup
from blimpworks.scoring.workers import Workers

log = logging.getLogger(__name__)
BatchMates = Literal["any", "length", "none"]
"""Prompts that may share a batch with a prompt: any, those of the same length, or none."""
REASONS = {
    "length": "its logits depend on padding; only prompts of one length share a batch",
    "none": "its logits depend on the other rows of a batch; prompts are answered one at a time",
}
"""Reason for the log why batches are restricted."""
FORCED = 3
"""Number of tokens of the answer in the test of ``batch_mates``, which forces them on a model."""
SAME, SAME_IN_HALF = 1e-3, 0.1
"""Tolerances of that test in float32 and in half precision: largest differences between logits that
should be equal, as shares of the logits' standard deviation. Rounding causes 1e-6 and 1/40."""


def largest_difference(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return the largest difference of logits; NaN if one of them is NaN."""
    return (first - second).where(first != second, 0).abs().max()


def read_row(conversation: Conversation, row: Sequence[int]) -> Response:
    """Decode the answer in generated ids, up to the first id that ends it."""
    stops = conversation.stops
    end = next((position for position, token in enumerate(row) if token in stops), None)
    kept = list(row if end is None else row[: end + 1])
    return Response(conversation.decode(kept), "length" if end is None else "stop", len(kept))


class TransformersGenerator(GenerationEngine):
    """A causal model in transformers, on the first GPU or else the CPU."""

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer. Raises UserError for an unusable template."""
        self._directory, self._batch = checkpoint.parent, options.batch
        self._dtype = hub_loading.DTYPES[described.dtype]
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._workers = Workers(self._device)
        settings = hub_loading.read_settings(self._directory).get_text_config()
        self._context = hub_loading.positions(settings)
        self._vocabulary: int = settings.vocab_size
        self.conversation = Conversation(
            self._directory, options.chat, self._context, self._vocabulary
        )
        # Any id can pad, since the mask hides it; it must be one that the model has.
        pads = (self.conversation.tokenizer.pad_token_id, *self.conversation.stops, 0)
        self._pad: int = next(
            pad_id for pad_id in pads if pad_id is not None and pad_id < self._vocabulary
        )
        # The sizes of batches decide padding, and so the last digits of logits.
        software = (
            f"{hub_loading.versions()} {device_name(self._device)} batch {options.batch} "
            f"shard {options.shard}"
        )
        entries = ("blimpworks.generation.engines:TransformersGenerator",)
        self.key = generation_key(
            software, checkpoint, described, self.conversation, options, entries
        )

    @cached_property
    def _model(self) -> PreTrainedModel:
        model, _ = hub_loading.load_model(self._directory, "causal", self._dtype, self._device)
        if not hasattr(model, "generate"):
            raise UserError(
                f"{self._directory}: {type(model).__name__}, which is code of the model's own, has "
                "no method generate (transformers.GenerationMixin); name benchmarks of sentences."
            )
        model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        return model

    def _run(
        self, rows: Sequence[Sequence[int]], pads: torch.Tensor, most: int, **options: Any
    ) -> Any:
        """Call ``generate`` for rows of ids and ``most`` new tokens; ``pads`` [width] pads left."""
        ids = pads.repeat(len(rows), 1)
        mask = torch.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, len(pads) - len(row) :] = torch.tensor(row)
            mask[i, len(pads) - len(row) :] = 1
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,
            num_beams=1,
            max_new_tokens=most,
            pad_token_id=self._pad,
            return_dict_in_generate=True,
            output_logits="prefix_allowed_tokens_fn" in options,
        )
        with torch.inference_mode():
            return self._model.generate(  # type: ignore[operator]
                input_ids=ids.to(self._device),
                attention_mask=mask.to(self._device),
                generation_config=config,
                **options,
            )

    def _refuse_nan(self, logits: torch.Tensor) -> torch.Tensor:
        """Return ``logits``. Raises UserError if one is NaN, which would be chosen as the best."""
        if logits.isnan().any():
            raise UserError(
                f"{self._directory}: the model computes logits that are not numbers (NaN) in "
                f"{str(self._dtype).removeprefix('torch.')}; expected numbers. Choose "
                "another dtype, such as float32, or another model."
            )
        return logits

    def _forced_logits(
        self, answer: list[int], pads: torch.Tensor, *rows: list[int]
    ) -> torch.Tensor:
        """Return logits [tokens, vocabulary] of the first of ``rows``, for a forced answer."""
        # At each step, only the next token of the answer is allowed.
        start = len(pads)
        forcing = {"prefix_allowed_tokens_fn": lambda _, ids: [answer[len(ids) - start]]}
        result = self._run(rows, pads, len(answer), **forcing)
        return torch.stack(result.logits)[:, 0].float()

    @torch.inference_mode()
    def _logits_before(self, tail: list[int], row: list[int]) -> torch.Tensor:
        """Return logits of the tokens in ``row`` [tokens, vocabulary], with ``tail`` after it."""
        ids = torch.tensor([[*row, *tail]], device=self._device)
        return cast(torch.Tensor, self._model(input_ids=ids).logits[0, : len(row)].float())

    @cached_property
    def batch_mates(self) -> BatchMates:
        """Prompts that may share a batch with a prompt without a change of its logits.

        Recurrent layers of some architectures read padding (RecurrentGemma, xLSTM), or ignore it
        only for an answer's first token (MiniMax); RWKV's mix up the rows of a batch. So the test
        compares logits of a row in two circumstances. A difference has these results:

        - alone, and beside a row of its length: "none".
        - alone, and padded beside a longer row: "length".
        - padded with some ids, and with other ids: "length".
        - before a text, and before another one: UserError, since the model looks ahead.
        """
        longest = 32 if self._context is None else min(32, self._context - FORCED)
        if longest < FORCED:
            return "none"
        draw = torch.Generator().manual_seed(0)
        drawn = torch.randint(self._vocabulary, (4, longest), generator=draw)
        padding, other_padding = drawn[2], drawn[3]
        width = longest // 4 + 1
        row, longer_row = drawn[0, :width].tolist(), drawn[1].tolist()
        neighbour = tail = longer_row[:width]
        other_tail = longer_row[width:][:width]
        forced = partial(self._forced_logits, longer_row[:FORCED])
        tensors = hub_loading.tensors_of([*self._model.modules()])
        with loading(self._directory), hub_loading.in_float32(tensors), single_thread():
            is_float32 = self._model.dtype == torch.float32
            before_tail = self._logits_before(tail, row)
            before_other_tail = self._logits_before(other_tail, row)
            alone = forced(padding[:width], row)  # a batch of this width has no padding
            beside = forced(padding[:width], row, neighbour)
            padded = forced(padding, row, longer_row)
            padded_otherwise = forced(other_padding, row, longer_row)
        self._refuse_nan(alone)
        spread = alone[alone.isfinite()].std()
        tolerance = spread * (SAME if is_float32 else SAME_IN_HALF)
        change_by_tail = largest_difference(before_tail, before_other_tail)
        change_by_neighbour = largest_difference(alone, beside)
        change_by_padding = largest_difference(alone, padded)
        change_by_pad_ids = largest_difference(padded, padded_otherwise)
        if change_by_tail > tolerance:
            raise UserError(
                f"{self._directory}: {type(self._model).__name__} looks ahead: logits change by "
                f"{change_by_tail:.2g} with what follows; expected a causal model. Correct "
                "config.json (is_decoder: true), or name another model."
            )
        # Comparisons with ``<=`` are false for NaN, which some models compute for padding. Other
        # ids cause no other rounding, so half precision needs no wider tolerance for them.
        mates: BatchMates = "any"
        if not change_by_neighbour <= tolerance:
            mates = "none"
        elif not (change_by_padding <= tolerance and change_by_pad_ids <= spread * SAME):
            mates = "length"
        if mates != "any":
            log.info("%s: %s", self._directory, REASONS[mates])
        return mates

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """Answer the prompts; a prompt that exceeds the memory alone fails."""
        outcomes: list[Response | Failure] = ["out_of_memory"] * len(batch)
        # Prompts with equal keys may share a batch. A key has the room for an answer, and all else
        # that must be equal: nothing (always 0), the length, or the prompt's own number.
        groups: dict[tuple[int, int], list[int]] = {}
        for number, prompt in enumerate(batch):
            equal = {"any": 0, "length": len(prompt.ids), "none": number}[self.batch_mates]
            groups.setdefault((prompt.room, equal), []).append(number)
        size = self._batch
        batches = [
            rows[a : a + size] for rows in groups.values() for a in range(0, len(rows), size)
        ]

        def answer(numbers: list[int]) -> list[Response | None]:
            return halving(self._generate, [batch[i] for i in numbers])

        for numbers, answers in zip(batches, self._workers.map(answer, batches), strict=True):
            for number, response in zip(numbers, answers, strict=True):
                outcomes[number] = response or "out_of_memory"
        return outcomes

    def close(self) -> None:
        self._workers.close()

    def _generate(self, rows: list[Ready]) -> list[Response]:
        width = max(len(row.ids) for row in rows)
        stops = list(self.conversation.stops)
        pads = torch.full((width,), self._pad)
        processors = [lambda _, logits: self._refuse_nan(logits)]
        options = {"eos_token_id": stops or None, "logits_processor": processors}
        generated = self._run([row.ids for row in rows], pads, rows[0].room, **options).sequences
        return [read_row(self.conversation, row) for row in generated[:, width:].tolist()]


SEED = 1407
"""Seed for vLLM, without effect on greedy answers."""
SHARED = {"model": MODEL, "temperature": 0, "seed": SEED, "return_token_ids": True}
"""Fields of each HTTP request."""
ENTRIES = (
    "blimpworks.generation.engines:make_generation_setup",
    "blimpworks.generation.engines:write_request",
    "blimpworks.generation.engines:read_response",
    "blimpworks.generation.engines:sampling",
    "blimpworks.scoring.vllm_server:make_setup",
    "blimpworks.scoring.vllm_server:command_line",
)
"""Entry points of the code that decides answers; none watches or restarts a server."""


def make_generation_setup(model: Path, dtype: str, options: GenerationJobOptions) -> Setup:
    """Return the setup for answers of a model. Raises UserError as ``make_setup`` does."""
    vllm = options.vllm
    # The limit of vLLM includes the answer. ``make_setup`` adds one token to ``longest``, which
    # vLLM generates in scoring; the other tokens of an answer are added here.
    with_answer = vllm.model_copy(update={"longest": vllm.longest + options.max_tokens - 1})
    return replace(make_setup(model, dtype, with_answer), answers=True)


def write_request(ready: Ready, stops: Sequence[int]) -> bytes:
    """Return the body of the HTTP request for one answer."""
    request = {"prompt": ready.ids, "max_tokens": ready.room, "stop_token_ids": [*stops]}
    return json.dumps(SHARED | request).encode()


def read_response(body: bytes) -> list[int]:
    """Return the generated ids in a server's answer."""
    ids: list[int] = json.loads(body)["choices"][0]["token_ids"]
    return ids


def sampling(ready: Ready, stops: Sequence[int]) -> Any:
    """Return the parameters of an answer in the process."""
    from vllm import SamplingParams

    return SamplingParams(
        temperature=0,
        seed=SEED,
        max_tokens=ready.room,
        stop_token_ids=list(stops),
        detokenize=False,
    )


class VllmGenerator(GenerationEngine):
    """A causal model in vLLM, in the stated number format.

    No code from the checkpoint is run. A server gets a request per prompt, many at a time.
    """

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer. Raises UserError without vLLM, weights or a usable template."""
        directory = checkpoint.parent
        setup = make_generation_setup(directory, described.dtype, options)
        hub_loading.check_names(directory)
        self.conversation = Conversation(directory, options.chat, setup.longest, setup.vocabulary)
        self.key = generation_key(
            setup.name(), checkpoint, described, self.conversation, options, ENTRIES
        )
        conversation, stops = self.conversation, self.conversation.stops

        def generate(model: Any, batch: Sequence[Ready]) -> list[Response]:
            inputs = [{"prompt_token_ids": list(prompt.ids)} for prompt in batch]
            parameters = [sampling(prompt, stops) for prompt in batch]
            outputs = model.generate(inputs, parameters, use_tqdm=False)
            return [read_row(conversation, out.outputs[0].token_ids) for out in outputs]

        self._model: ServedModel[Ready, Response] | InProcessModel[Ready, Response] = (
            InProcessModel(setup, generate)
            if options.vllm.mode == "in_process"
            else ServedModel(
                setup,
                lambda batch: write_request(batch[0], stops),
                lambda body, _: [read_row(conversation, read_response(body))],
                1,
                options.in_flight,
            )
        )

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """Answer the prompts. Raises UserError if vLLM does not start, or always dies."""
        return self._model.ask(batch)

    def close(self) -> None:
        self._model.close()
