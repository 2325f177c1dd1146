"""Scoring with encoder-decoders of the T5 family through transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import once
from blimpworks.scoring.engine import Encoded, Failure, LogProbs
from blimpworks.scoring.hub_model import HubEngine, Row, halving, padded, place, score_rows
from blimpworks.scoring.logits import Head, split_model, target_logprobs
from blimpworks.scoring.passes import make_batches
from blimpworks.scoring.plan import nothing_scored

SENTINEL = "<extra_id_0>"


class _Parts(NamedTuple):
    encoder: torch.nn.Module
    decoder: torch.nn.Module
    head: Head
    start: int
    """Id that decoding starts with."""


def _decoder_arguments(hidden: torch.Tensor) -> dict[str, Any]:
    """What a model must be given for ``hidden`` to reach its decoder."""
    return {"encoder_outputs": (hidden,), "decoder_inputs_embeds": hidden}


class Seq2seqEngine(HubEngine):
    """How likely the decoder makes each token, in one of three forms (``scoring.seq2seq.form``).

    ``masked``: each token given all others. A sentinel stands for it in the encoder's input,
    and the decoder, after the same sentinel, guesses it: what these models are trained to do
    (Raffel et al. 2020, section 3.1.4), and the counterpart of a masked model's
    pseudo-log-likelihood. ``target``: the sentence as the decoder's output, each token given
    those before it, for an empty text in the encoder. ``copy``: the same, for the sentence
    itself in the encoder.
    """

    limit: int | None = None

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """See ``HubEngine``. Raises UserError too when the tokenizer has no sentinels."""
        self._form = options.seq2seq.form
        self.regional = self._form == "masked"
        super().__init__(checkpoint, described, options, f"form {self._form}")
        hub = self._tokenizer.hub
        sentinel_id = hub.convert_tokens_to_ids(SENTINEL)
        if sentinel_id is None or sentinel_id == hub.unk_token_id:
            raise UserError(
                f"{checkpoint.parent}: the tokenizer has no {SENTINEL}, so this is no "
                "encoder-decoder of the T5 family; this engine knows no other."
            )
        self._sentinel = cast(int, sentinel_id)

    @once
    def _parts(self) -> _Parts:
        """Encoder, decoder and what makes logits of the decoder's hidden states.

        Raises UserError where they don't make the model's own logits on a short input.
        """
        model = self._load(AutoModelForSeq2SeqLM)
        encoder = model.get_submodule("encoder")
        ids = torch.arange(8, device=self._device)[None]
        with torch.inference_mode():
            own = model(input_ids=ids, decoder_input_ids=ids).logits[0]
            decoder, head = split_model(model, "decoder", _decoder_arguments)
            states = encoder(input_ids=ids)[0]
            self._check(model, own, head(decoder(ids, encoder_hidden_states=states)[0][0]))
        return _Parts(encoder, decoder, head, model.config.decoder_start_token_id)

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Natural log-probabilities; see ``Engine``. Only ``masked`` leaves tokens out."""
        if self._form == "masked":
            return score_rows(batch, self._without, self._guess, self._most, self._workers)
        return self._as_targets(batch)

    def _without(self, encoded: Encoded, token: int) -> list[int]:
        """Ids of the sentence with the sentinel for the token, special tokens around it."""
        ids = encoded.ids.tolist()
        ids[token] = self._sentinel
        return [*self._tokenizer.before, *ids, *self._tokenizer.after]

    @torch.inference_mode()
    def _guess(self, rows: list[Row]) -> list[LogProbs]:
        """Log-probabilities of each row's targets, as the decoder's output after the sentinel."""
        parts = self._parts
        lists = [self._without(row.encoded, row.token) for row in rows]
        ids = self._on_device(padded(lists, self._tokenizer.pad))
        real = self._on_device(padded([[1] * len(ids) for ids in lists], 0))
        states = parts.encoder(input_ids=ids, attention_mask=real)[0]
        decoder_ids = torch.tensor([[parts.start, self._sentinel]] * len(rows), device=self._device)
        hidden = parts.decoder(
            input_ids=decoder_ids,
            encoder_hidden_states=states,
            encoder_attention_mask=real,
            use_cache=False,
        )[0]
        targets, parent = Row.edges(rows)
        logprobs = target_logprobs(hidden[:, 1], parts.head, targets.to(self._device), parent)
        return Row.split(rows, logprobs)

    def _as_targets(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        order = sorted(range(len(batch)), key=lambda number: place(batch[number]))
        results: list[LogProbs | Failure] = [nothing_scored(0)] * len(batch)
        order = [number for number in order if len(batch[number].ids)]
        lengths = [len(encoded.ids) for encoded in batch]
        groups = [*make_batches(lengths, order, self._most)]

        def values_of(group: list[int]) -> list[LogProbs | None]:
            """Log-probabilities of the texts of one pass."""
            return halving(self._decode, [batch[number] for number in group])

        for group, values in zip(groups, self._workers.map(values_of, groups), strict=True):
            for number, value in zip(group, values, strict=True):
                results[number] = "out_of_memory" if value is None else value
        return results

    def _sources(self, batch: list[Encoded]) -> tuple[torch.Tensor, torch.Tensor]:
        """What the encoder makes of each text or, under ``target``, of nothing; and its mask."""
        before, after = self._tokenizer.before, self._tokenizer.after
        copied = [encoded.ids.tolist() if self._form == "copy" else [] for encoded in batch]
        lists = [[*before, *ids, *after] for ids in copied]
        ids = self._on_device(padded(lists, self._tokenizer.pad))
        seen = self._on_device(padded([[1] * len(ids) for ids in lists], 0))
        return self._parts.encoder(input_ids=ids, attention_mask=seen)[0], seen

    @torch.inference_mode()
    def _decode(self, batch: list[Encoded]) -> list[LogProbs]:
        """Log-probabilities of whole texts. No mask: the decoder never looks to the right."""
        parts = self._parts
        states, seen = self._sources(batch)
        targets = self._on_device(padded([encoded.ids for encoded in batch], self._tokenizer.pad))
        start = torch.full((len(batch), 1), parts.start, device=self._device)
        hidden = parts.decoder(
            input_ids=torch.cat([start, targets[:, :-1]], 1),
            encoder_hidden_states=states,
            encoder_attention_mask=seen,
            use_cache=False,
        )[0]
        counts = [len(encoded.ids) for encoded in batch]
        real = self._on_device(padded([[1] * count for count in counts], 0)).bool()
        flat = target_logprobs(hidden[real], parts.head, targets[real]).cpu().numpy()
        return np.split(flat, np.cumsum(counts)[:-1])
