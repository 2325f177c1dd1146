"""Engines that answer prompts greedily: transformers, and vLLM in a server or in the process.

``generate`` gets the prompts of a shard as token ids (``Ready``), and returns a ``Response`` for
each. Both engines ignore the penalties of ``generation_config.json``.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
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

FORCED = 3
"""Number of tokens of the answer that the test of batches forces on a model (``_company``)."""
SAME, SAME_IN_HALF = 1e-3, 0.1
"""Largest differences of a row's logits alone and in a batch, in float32 and in half precision, as
shares of the logits' standard deviation. Rounding alone causes 1e-6 and 1/40, other padding 0."""
Company = Literal["any", "length", "none"]
"""Prompts that may share a batch with a prompt: any, of the same length, or none."""
COMPANY = {
    "length": "its logits depend on padding; only prompts of one length share a batch",
    "none": "its logits depend on the other rows of a batch; prompts are answered one at a time",
}


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

    def _refuse_nan(self, _: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """Return ``logits``. Raises UserError if one is NaN, which would be chosen as the best."""
        if logits.isnan().any():
            raise UserError(
                f"{self._directory}: the model computes logits that are not numbers (NaN) in "
                f"{str(self._dtype).removeprefix('torch.')}; expected numbers. Choose "
                "another dtype, such as float32, or another model."
            )
        return logits

    @cached_property
    def _company(self) -> Company:
        """Prompts that may share a batch, because their logits do not affect each other.

        Recurrent layers of some architectures read padding (RecurrentGemma, xLSTM), or ignore it
        only in the first tokens (MiniMax); RWKV's mix up the rows of a batch. Raises UserError for
        a model whose logits depend on later tokens.
        """
        # Logits of a short row are compared: alone, beside a row of the same length, and beside a
        # longer row, with two paddings. ``drawn`` has the two rows, then ids for the two paddings.
        longest = 32 if self._context is None else min(32, self._context - FORCED)
        if longest < FORCED:
            return "none"
        draw = torch.Generator().manual_seed(0)
        drawn = torch.randint(self._vocabulary, (4, longest), generator=draw)
        width = longest // 4 + 1
        row, second_row = drawn[0, :width].tolist(), drawn[1].tolist()

        def forced_logits(pads: torch.Tensor, *rows: list[int]) -> torch.Tensor:
            """Return logits of the first of ``rows`` for the same answer [FORCED, vocabulary]."""
            # The answer is forced: at step n, only the nth token of ``second_row`` is allowed.
            start = len(pads)
            forcing = {"prefix_allowed_tokens_fn": lambda _, ids: [second_row[len(ids) - start]]}
            result = self._run(rows, pads, FORCED, **forcing)
            return torch.stack(result.logits)[:, 0].float()

        @torch.inference_mode()
        def head(*tail: int) -> torch.Tensor:
            """Return logits of ``row`` [width, vocabulary], with ``tail`` after it."""
            ids = torch.tensor([[*row, *tail]], device=self._device)
            return cast(torch.Tensor, self._model(input_ids=ids).logits[0, :width].float())

        def gap(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
            """Return the largest difference of logits; NaN if one of them is NaN."""
            return (first - second).where(first != second, 0).abs().max()

        tensors = hub_loading.tensors_of([*self._model.modules()])
        with loading(self._directory), hub_loading.in_float32(tensors), single_thread():
            is_float32 = self._model.dtype == torch.float32
            later_gap = gap(head(*second_row[:width]), head(*second_row[width:][:width]))
            alone = forced_logits(drawn[2, :width], row)
            beside = forced_logits(drawn[2, :width], row, second_row[:width])
            padded, padded_otherwise = (forced_logits(pads, row, second_row) for pads in drawn[2:])
        self._refuse_nan(drawn, alone)
        spread = alone[alone.isfinite()].std()
        tolerance = spread * (SAME if is_float32 else SAME_IN_HALF)
        if later_gap > tolerance:
            raise UserError(
                f"{self._directory}: {type(self._model).__name__} looks ahead: logits change by "
                f"{later_gap:.2g} with what follows; expected a causal model. Correct config.json "
                "(is_decoder: true), or name another model."
            )
        company: Company = "any"
        # These comparisons are false for NaN, which some models compute for padding.
        if not gap(beside, alone) <= tolerance:
            company = "none"
        elif not (
            gap(padded, alone) <= tolerance and gap(padded_otherwise, padded) <= spread * SAME
        ):
            company = "length"
        if company != "any":
            log.info("%s: %s", self._directory, COMPANY[company])
        return company

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """Answer the prompts; a prompt that exceeds the memory alone fails."""
        outcomes: list[Response | Failure] = ["out_of_memory"] * len(batch)
        # Prompts share a batch if they have the same room for an answer, and the same number
        # ``company``: 0 for all prompts, the length, or another number for each prompt.
        groups: dict[tuple[int, int], list[int]] = {}
        for number, prompt in enumerate(batch):
            company = {"any": 0, "length": len(prompt.ids), "none": number}[self._company]
            groups.setdefault((prompt.room, company), []).append(number)
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
        ids = [row.ids for row in rows]
        options = {"eos_token_id": stops or None, "logits_processor": [self._refuse_nan]}
        generated = self._run(ids, pads, rows[0].room, **options).sequences
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
    # ``make_setup`` adds the one token to ``longest`` that vLLM generates in scoring.
    room = vllm.model_copy(update={"longest": vllm.longest + options.max_tokens - 1})
    return replace(make_setup(model, dtype, room), answers=True)


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
