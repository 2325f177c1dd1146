"""Answers by transformers: greedy, in batches that are padded on the left.

Nothing of the model's ``generation_config.json`` counts but the tokens that end an answer: a
penalty on repetition, say, would make another answer of it than the most probable one.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedModel

from blimpworks.campaign.settings.generation import GenerationJobOptions
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.generation.engine import Response, generation_key
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Failure, loading
from blimpworks.scoring.logits import device_name, find_dtype, versions


def read_row(tokenizer: Any, row: Sequence[int], stops: Sequence[int]) -> Response:
    """The answer in the ids that were generated, up to the first that ends it."""
    end = next((place for place, token in enumerate(row) if token in stops), None)
    kept = list(row if end is None else row[: end + 1])
    text: str = tokenizer.decode(kept, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return Response(text, "length" if end is None else "stop", len(kept))


class TransformersGenerator:
    """A causal model on the first GPU, or on the CPU where there is none.

    Only local files, only safetensors, no code from the checkpoint, in the checkpoint's dtype.
    """

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: GenerationJobOptions
    ) -> None:
        """Load the tokenizer; the weights follow with the first batch.

        Raises UserError when the dtype is unknown or the chat template no use.
        """
        self._directory, self._batch = checkpoint.parent, options.batch
        self._dtype = find_dtype(checkpoint, described.dtype)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        settings = AutoConfig.from_pretrained(
            self._directory, local_files_only=True, trust_remote_code=False
        )
        context = getattr(settings.get_text_config(), "max_position_embeddings", None)
        self.conversation = Conversation(self._directory, options.chat, context)
        self.limit = None if context is None else context - 1
        tokenizer = self.conversation.tokenizer
        stops, pad = self.conversation.stops, tokenizer.pad_token_id
        self._pad: int = pad if pad is not None else stops[0] if stops else 0
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
        with loading(self._directory):
            model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
                self._directory,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=self._dtype,
            )
        torch.nn.Module.to(model, self._device)
        model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        return model.eval()  # type: ignore[no-untyped-call,no-any-return]

    def _batches(self, ready: Sequence[Ready]) -> list[list[int]]:
        """Numbers of the prompts of each batch: as they come, apart by the room they have.

        A prompt that fills the context up leaves less room, which decides when its batch ends.
        """
        by_room: dict[int, list[int]] = {}
        for number, each in enumerate(ready):
            by_room.setdefault(each.room, []).append(number)
        size = self._batch
        return [rows[a : a + size] for rows in by_room.values() for a in range(0, len(rows), size)]

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """See ``GenerationEngine``. A prompt for which memory does not suffice even alone fails."""
        outcomes: list[Response | Failure] = ["out_of_memory"] * len(batch)
        for numbers in self._batches(batch):
            for number, answer in zip(
                numbers, self._halving([batch[i] for i in numbers]), strict=True
            ):
                outcomes[number] = answer
        return outcomes

    def _halving(self, rows: list[Ready]) -> list[Response | Failure]:
        """Answers of a batch, in halves where memory does not suffice."""
        try:
            return [*self._generate(rows)]
        except (torch.OutOfMemoryError, MemoryError):
            if len(rows) == 1:
                return ["out_of_memory"]
        middle = (len(rows) + 1) // 2
        return self._halving(rows[:middle]) + self._halving(rows[middle:])

    @torch.inference_mode()
    def _generate(self, rows: list[Ready]) -> list[Response]:
        width = max(len(row.ids) for row in rows)
        ids = torch.full((len(rows), width), self._pad, dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, width - len(row.ids) :] = torch.tensor(row.ids)
            mask[i, width - len(row.ids) :] = 1
        stops = list(self.conversation.stops)
        how = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,
            num_beams=1,
            max_new_tokens=rows[0].room,
            pad_token_id=self._pad,
            eos_token_id=stops or None,
        )
        generated = self._model.generate(  # type: ignore[operator]
            input_ids=ids.to(self._device),
            attention_mask=mask.to(self._device),
            generation_config=how,
        )
        tokenizer = self.conversation.tokenizer
        return [read_row(tokenizer, row, stops) for row in generated[:, width:].tolist()]

    def close(self) -> None:
        """Nothing is held that the interpreter does not free."""
