"""Score with encoder-decoders through transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import once
from blimpworks.scoring.engine import Encoded, Failure, Ids, LogProbs
from blimpworks.scoring.hub_model import FramedEngine, FramedTokenizer, Row, place
from blimpworks.scoring.logits import Head, split_model, target_logprobs
from blimpworks.scoring.selftest import gap_behind
from blimpworks.scoring.store import nothing_scored

SENTINEL = "<extra_id_0>"


class _Parts(NamedTuple):
    encoder: torch.nn.Module
    decoder: torch.nn.Module
    """The whole model where it cannot be split."""
    head: Head | None
    start: int
    """Id that decoding starts with."""
    width: int
    """Ids that logits cover."""


class Seq2seqEngine(FramedEngine):
    """Score tokens by the decoder, in one of three forms (``scoring.seq2seq.form``).

    ``masked``: each token given all others. A sentinel replaces it in the encoder's input, and the
    decoder guesses it after the same sentinel, as in training (Raffel et al. 2020, section 3.1.4).
    This is the counterpart of a masked model's pseudo-log-likelihood. ``target``: the sentence is
    the decoder's output, each token given those before it, with an empty text in the encoder.
    ``copy``: the same, with the sentence in the encoder. ``masked`` without sentinels (BART,
    Marian, …) becomes ``target``. The tokenizer's ids before a text, such as a language code,
    precede it in the decoder too.
    """

    architecture = "encoder-decoder"

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        tokenizer = FramedTokenizer(checkpoint, described)
        sentinel_id = cast(int | None, tokenizer.hub.convert_tokens_to_ids(SENTINEL))
        lacking = sentinel_id is None or sentinel_id == tokenizer.hub.unk_token_id
        self._form = options.seq2seq.form
        if lacking and self._form == "masked":
            self._form = "target"
        self.regional = self._form == "masked"
        super().__init__(checkpoint, described, options, tokenizer, f"form {self._form}")
        self._sentinel = -1 if sentinel_id is None else sentinel_id
        self._requested = options.seq2seq.form

    @property
    def _beside(self) -> int:
        return super()._beside + 1

    def _frame(self) -> list[int]:
        sentinel = [self._sentinel] if self._form == "masked" else []
        return [*self._framed(sentinel), self._parts.start]

    def _examine(self, rows: list[Ids], checks: dict[str, str]) -> dict[str, str]:
        """Test also whether the decoder looks ahead. Raises UserError if it does."""
        checks["form"] = self._form
        if self._form != self._requested:
            checks["form"] += f", because the tokenizer has no {SENTINEL} to stand for a token"
        self._rows = "alone"
        if self._form == "target":
            ahead = gap_behind(self.logprobs, np.unique(np.concatenate(rows)), len(rows[-1]))
            if not ahead <= self._tolerance():
                raise UserError(
                    f"{self._directory}: the decoder of {type(self._loaded.model).__name__} looks "
                    f"ahead: a token's log-probability changes by {ahead:.2g} nats with what "
                    "follows; expected a causal decoder. Name another model."
                )
            checks["causality"] = "no token depends on what follows it"
        return super()._examine(rows, checks)

    @once
    def _parts(self) -> _Parts:
        """Split the model. Raises UserError if the configuration lacks the start of decoding."""
        model = self._loaded.model
        start = getattr(model.config, "decoder_start_token_id", None)
        if start is None:
            start = getattr(model.generation_config, "decoder_start_token_id", None)
        if start is None:
            raise UserError(
                f"{self._directory / 'config.json'} has no decoder_start_token_id; expected the id "
                "that decoding starts with. Add the one that the model was trained with."
            )
        encoder, decoder = model.get_encoder(), model.get_decoder()  # type: ignore[no-untyped-call]
        ids = torch.arange(8, device=self._device)[None]

        def states() -> torch.Tensor:
            return cast(torch.Tensor, decoder(ids, encoder_hidden_states=encoder(ids)[0])[0][0])

        def arguments(hidden: torch.Tensor) -> dict[str, Any]:
            return {"encoder_outputs": (hidden,), "decoder_inputs_embeds": hidden}

        with torch.inference_mode():
            logits = model(input_ids=ids, decoder_input_ids=ids, use_cache=False).logits[0]
            head = split_model(model, decoder, states, logits, arguments)
        inner = decoder if head else model
        return _Parts(encoder, inner, head, int(start), int(logits.shape[1]))

    def _width(self) -> int:
        return self._parts.width

    def _decoded(
        self, source: list[list[int]], target: torch.Tensor, read: torch.Tensor
    ) -> torch.Tensor:
        """Return hidden states at cells of the decoder, or logits if the model cannot be split.

        ``source``: the encoder's ids by row; ``target`` [rows, width]: the decoder's; ``read``
        [rows, width]: the cells.
        """
        model_parts = self._parts
        ids, real = self._filled(source)
        states = model_parts.encoder(input_ids=ids, attention_mask=real)
        if model_parts.head:
            hidden = model_parts.decoder(
                input_ids=target,
                encoder_hidden_states=states[0],
                encoder_attention_mask=real,
                use_cache=False,
            )[0]
        else:
            hidden = model_parts.decoder(
                encoder_outputs=states,
                attention_mask=real,
                decoder_input_ids=target,
                use_cache=False,
            ).logits
        return cast(torch.Tensor, hidden[read])

    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        if self._form == "masked":
            return self._guesses(batch)
        order = sorted(range(len(batch)), key=lambda number: place(batch[number]))
        order = [number for number in order if len(batch[number].ids)]
        texts = [batch[number] for number in order]
        values = self._in_passes(self._decode, texts, [len(encoded.ids) for encoded in texts])
        results: list[LogProbs | Failure] = [nothing_scored(0)] * len(batch)
        for number, value in zip(order, values, strict=True):
            results[number] = "out_of_memory" if value is None else value
        return results

    def _read(self, encoded: Encoded, token: int) -> list[int]:
        ids = encoded.ids.tolist()
        ids[token] = self._sentinel
        return self._framed(ids)

    @torch.inference_mode()
    def _guess(self, rows: list[Row]) -> list[LogProbs]:
        lists = [self._read(row.encoded, row.token) for row in rows]
        start = [[self._parts.start, self._sentinel]] * len(rows)
        decoder_ids = torch.tensor(start, device=self._device)
        read = torch.zeros_like(decoder_ids, dtype=torch.bool)
        read[:, 1] = True
        return self._targets(rows, self._decoded(lists, decoder_ids, read), self._parts.head)

    @torch.inference_mode()
    def _decode(self, batch: list[Encoded]) -> list[LogProbs]:
        """Score whole texts. No mask: the decoder never looks to the right."""
        before = self.tokenizer.before
        copied = [encoded.ids.tolist() if self._form == "copy" else [] for encoded in batch]
        targets, mask = self._filled([encoded.ids for encoded in batch])
        real = mask.bool()
        first = torch.tensor([[self._parts.start, *before]] * len(batch), device=self._device)
        unread = torch.zeros((len(batch), len(before)), dtype=torch.bool, device=self._device)
        hidden = self._decoded(
            [self._framed(ids) for ids in copied],
            torch.cat([first, targets[:, :-1]], 1),
            torch.cat([unread, real], 1),
        )
        flat = target_logprobs(hidden, self._parts.head, targets[real]).cpu().numpy()
        return np.split(flat, np.cumsum([len(encoded.ids) for encoded in batch])[:-1])
