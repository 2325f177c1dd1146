"""Answer greedily by transformers, without penalties of ``generation_config.json``."""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
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
from blimpworks.models.threads import Workers, device_name, single_thread
from blimpworks.scoring.engine import Failure, loading
from blimpworks.scoring.hub_loading import (
    fits_in_float32,
    in_float32,
    load_model,
    positions,
    read_settings,
    tensors_of,
)
from blimpworks.scoring.hub_model import halving
from blimpworks.scoring.logits import find_dtype, versions

log = logging.getLogger(__name__)

FORCED = 3
"""Tokens of an answer that a test of other rows' influence covers."""
SAME, SAME_IN_HALF = 1e-3, 0.1
"""Largest gaps between a row's logits alone and in a batch, in standard deviations.

Rounding makes a millionth in float32, a fortieth in half precision, and none for other padding.
"""
Company = Literal["any", "length", "none"]
COMPANY = {
    "length": "its logits depend on padding; only prompts of one length share a batch",
    "none": "its logits depend on the other rows of a batch; prompts are answered one at a time",
}


def read_row(tokenizer: Any, row: Sequence[int], stops: Sequence[int]) -> Response:
    """Read the answer in generated ids, up to the first that ends it."""
    end = next((position for position, token in enumerate(row) if token in stops), None)
    kept = list(row if end is None else row[: end + 1])
    text: str = tokenizer.decode(kept, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return Response(text, "length" if end is None else "stop", len(kept))


class TransformersGenerator(GenerationEngine):
    """A causal model on the first GPU, or else the CPU; runs no code from the checkpoint."""

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer. Raises UserError for an unknown dtype or an unusable template."""
        self._directory, self._batch = checkpoint.parent, options.batch
        self._dtype = find_dtype(checkpoint, described.dtype)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._workers = Workers(self._device)
        settings = read_settings(self._directory).get_text_config()
        self._context = positions(settings)
        self._vocabulary: int = settings.vocab_size
        self.conversation = Conversation(
            self._directory, options.chat, self._context, self._vocabulary
        )
        pads = (self.conversation.tokenizer.pad_token_id, *self.conversation.stops, 0)
        self._pad: int = next(
            pad_id for pad_id in pads if pad_id is not None and pad_id < self._vocabulary
        )
        # How prompts share batches decides padded widths, and so the last digits.
        software = (
            f"{versions()} {device_name(self._device)} batch {options.batch} shard {options.shard}"
        )
        entries = ("blimpworks.generation.transformers_engine:TransformersGenerator",)
        self.key = generation_key(
            software, checkpoint, described, self.conversation, options, entries
        )

    @cached_property
    def _model(self) -> PreTrainedModel:
        model, _ = load_model(self._directory, "causal", self._dtype, self._device)
        model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        return model

    def _run(self, rows: Sequence[Sequence[int]], pads: torch.Tensor, most: int, **how: Any) -> Any:
        """Call ``generate`` for rows of ids, padded by ``pads``, for ``most`` new tokens."""
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
            output_logits="prefix_allowed_tokens_fn" in how,
        )
        with torch.inference_mode():
            return self._model.generate(  # type: ignore[operator]
                input_ids=ids.to(self._device),
                attention_mask=mask.to(self._device),
                generation_config=config,
                **how,
            )

    @cached_property
    def _company(self) -> Company:
        """Which prompts may share a batch without any effect on each other's logits.

        Recurrent layers of some architectures read padding (RecurrentGemma, xLSTM), or lose count
        of it in later tokens (MiniMax); RWKV's mix up the rows of a batch. Raises UserError for a
        model that looks ahead.
        """
        longest = 32 if self._context is None else min(32, self._context - FORCED)
        if longest < FORCED:
            return "none"
        draw = torch.Generator().manual_seed(0)
        drawn = torch.randint(self._vocabulary, (4, longest), generator=draw)
        width = longest // 4 + 1
        row, second_row = drawn[0, :width].tolist(), drawn[1].tolist()

        def logits(pads: torch.Tensor, *rows: list[int]) -> torch.Tensor:
            begun = len(pads)
            forcing = {"prefix_allowed_tokens_fn": lambda _, ids: [second_row[len(ids) - begun]]}
            result = self._run(rows, pads, FORCED, **forcing)
            return torch.stack(result.logits)[:, 0].float()

        @torch.inference_mode()
        def head(*tail: int) -> torch.Tensor:
            ids = torch.tensor([[*row, *tail]], device=self._device)
            return cast(torch.Tensor, self._model(input_ids=ids).logits[0, :width].float())

        tensors = tensors_of([*self._model.modules()])
        full = in_float32(tensors) if fits_in_float32(tensors) else nullcontext()
        with loading(self._directory), full, single_thread():
            exact = self._model.dtype == torch.float32
            ahead = (head(*second_row[:width]) - head(*second_row[width:][:width])).abs().max()
            alone = logits(drawn[2, :width], row)
            beside = logits(drawn[2, :width], row, second_row[:width])
            padded, padded_otherwise = (logits(pads, row, second_row) for pads in drawn[2:])
        limit = alone.std() * (SAME if exact else SAME_IN_HALF)
        if ahead > limit:
            raise UserError(
                f"{self._directory}: {type(self._model).__name__} looks ahead: logits change by "
                f"{ahead:.2g} with what follows; expected a causal model. Correct config.json "
                "(is_decoder: true), or name another model."
            )
        company: Company = "any"
        if (beside - alone).abs().max() > limit:
            company = "none"
        elif (padded - alone).abs().max() > limit or (
            (padded_otherwise - padded).abs().max() > alone.std() * SAME
        ):
            company = "length"
        if company != "any":
            log.info("%s: %s", self._directory, COMPANY[company])
        return company

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """See ``GenerationEngine``. A prompt too big for the memory even alone fails."""
        outcomes: list[Response | Failure] = ["out_of_memory"] * len(batch)
        alike: dict[tuple[int, int], list[int]] = {}
        for number, prompt in enumerate(batch):
            apart = {"any": 0, "length": len(prompt.ids), "none": number}[self._company]
            alike.setdefault((prompt.room, apart), []).append(number)
        size = self._batch
        batches = [rows[a : a + size] for rows in alike.values() for a in range(0, len(rows), size)]

        def answer(numbers: list[int]) -> list[Response | None]:
            return halving(self._generate, [batch[i] for i in numbers])

        for numbers, answers in zip(batches, self._workers.map(answer, batches), strict=True):
            for number, response in zip(numbers, answers, strict=True):
                outcomes[number] = response or "out_of_memory"
        return outcomes

    def close(self) -> None:
        """Start no further batch."""
        self._workers.close()

    def _generate(self, rows: list[Ready]) -> list[Response]:
        width = max(len(row.ids) for row in rows)
        stops = list(self.conversation.stops)
        pads = torch.full((width,), self._pad)
        ids = [row.ids for row in rows]
        generated = self._run(ids, pads, rows[0].room, eos_token_id=stops or None).sequences
        tokenizer = self.conversation.tokenizer
        return [read_row(tokenizer, row, stops) for row in generated[:, width:].tolist()]
