"""Score with masked models and encoder-decoders through transformers.

To score one token, the model reads one *row*: the sentence with a mask in the token's place. A pass
has rows of several sentences, and a long sentence is spread over several passes, so that it needs
no more memory than others. For "the dog barks", a masked model reads three rows::

    [CLS] [MASK] dog barks [SEP]    [CLS] the [MASK] barks [SEP]    [CLS] the dog [MASK] [SEP]
"""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.scoring.engine import Encoded, Failure, Ids, LogProbs
from blimpworks.scoring.hub_loading import Head, positions, split_model, target_logprobs
from blimpworks.scoring.hub_model import FramedTokenizer, HubEngine, T, V, halving
from blimpworks.scoring.passes import make_batches
from blimpworks.scoring.selftest import gap_by_later
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.workers import once


class Prediction(NamedTuple):
    """A row: a text in which the model predicts one token."""

    encoded: Encoded
    token: int
    """Position of the token in the text."""
    targets: list[int]
    """Ids to score at this position. Texts that differ only in this token have the same row, and
    each of them has an id here."""


def positions_to_score(encoded: Encoded) -> list[int]:
    """Return the positions of the tokens to score."""
    if encoded.to_score is None:
        return list(range(len(encoded.ids)))
    numbers: list[int] = np.flatnonzero(encoded.to_score).tolist()
    return numbers


def sort_key(encoded: Encoded) -> tuple[int, list[int], list[int]]:
    """Return a key that sorts texts by length, then by ids: the order of input decides nothing."""
    return len(encoded.ids), encoded.ids.tolist(), positions_to_score(encoded)


class FramedEngine(HubEngine):
    """Engine whose tokenizer puts special tokens around each text."""

    tokenizer: FramedTokenizer
    first: int = 0
    """Position of the first token that the model can predict: 0, or 1 (see ``MaskedEngine``)."""

    @property
    def _special_count(self) -> int:
        return len(self._framed([]))

    def _framed(self, ids: Sequence[int]) -> list[int]:
        return [*self.tokenizer.before, *ids, *self.tokenizer.after]

    @abstractmethod
    def _input_ids(self, encoded: Encoded, token: int) -> list[int]:
        """Return the ids of the row by which the model predicts a token of a text."""

    @abstractmethod
    def _score_rows(self, rows: list[Prediction]) -> list[LogProbs]:
        """Return the log-probabilities of each row's targets, from one pass."""

    def _filled(self, rows: Sequence[Sequence[int] | Ids]) -> tuple[torch.Tensor, ...]:
        """Pad rows of ids; return them, and 1 for each id, 0 for padding [rows, longest row]."""
        ids = [torch.tensor(row, dtype=torch.int64) for row in rows]
        is_id = pad_sequence([torch.ones_like(row) for row in ids], batch_first=True)
        filler = self.tokenizer.hub.pad_token_id or 0
        table = pad_sequence(ids, batch_first=True, padding_value=filler)
        return table.to(self._device), is_id.to(self._device)

    def _targets(
        self, rows: list[Prediction], hidden: torch.Tensor, head: Head | None
    ) -> list[LogProbs]:
        """Return the log-probabilities of each row's targets, from hidden states [rows, width]."""
        counts = [len(row.targets) for row in rows]
        targets = torch.tensor([target for row in rows for target in row.targets])
        parent = torch.arange(len(rows)).repeat_interleave(torch.tensor(counts))
        logprobs = target_logprobs(hidden, head, targets.to(self._device), parent)
        return np.split(logprobs.cpu().numpy(), np.cumsum(counts)[:-1])

    def _in_passes(
        self, forward: Callable[[list[T]], Iterable[V]], rows: Sequence[T], lengths: Sequence[int]
    ) -> list[V | None]:
        """Compute rows, sorted by length, in passes by ``forward``; None for a row too large."""
        groups = make_batches(lengths, range(len(rows)), self._max_tokens, self._batching)
        passes = [[rows[number] for number in group] for group in groups]
        return [*chain.from_iterable(self._workers.map(partial(halving, forward), passes))]

    def _score_texts(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return the log-probabilities of each text's tokens to score, NaN for the others.

        Equal rows are computed once, such as the rows of a pair whose sentences differ only in the
        predicted token. If a row is too large for the memory, all its texts fail.
        """
        # Length and uses of each distinct row, by the hash of its ids and of the predicted token's
        # position, with shorter rows first. A use is (number of a text, this position).
        lengths: dict[bytes, int] = {}
        uses_by_row: dict[bytes, list[tuple[int, int]]] = {}
        for number in sorted(range(len(batch)), key=lambda number: sort_key(batch[number])):
            for position in positions_to_score(batch[number]):
                if position < self.first:
                    continue
                ids = self._input_ids(batch[number], position)
                key = hashlib.blake2b(np.array([position, *ids]).tobytes(), digest_size=16).digest()
                lengths.setdefault(key, len(ids))
                uses_by_row.setdefault(key, []).append((number, position))
        rows = []
        for uses in uses_by_row.values():
            number, position = uses[0]
            targets = [int(batch[n].ids[p]) for n, p in uses]
            rows.append(Prediction(batch[number], position, targets))
        scores_of_rows = self._in_passes(self._score_rows, rows, [*lengths.values()])
        results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
        for uses, scores in zip(uses_by_row.values(), scores_of_rows, strict=True):
            for use_number, (number, position) in enumerate(uses):
                result = results[number]
                if scores is None:
                    results[number] = "out_of_memory"
                elif not isinstance(result, str):
                    result[position] = scores[use_number]
        return results


@dataclass(frozen=True, slots=True)
class WordsEncoded(Encoded):
    """Tokens of a text, with the number of each token's word."""

    word_of_token: Ids = field(kw_only=True)
    """Number of each token's word, never falling [tokens]."""


def word_numbers(text: str, word_ids: list[int | None], offsets: list[tuple[int, int]]) -> Ids:
    """Return the number of each token's word, int32 [tokens].

    ``word_ids`` are numbers of words from the tokenizer, and ``offsets`` each token's start and
    end. Some tokenizers take a complete sentence for one word, so white space begins a word too::

        text "the dogs", word_ids [0, 0, 0], offsets [(0, 3), (3, 7), (7, 8)]  ->  [0, 1, 1]
    """
    numbers, number, previous_end = [], -1, 0
    previous_word: int | None = -1
    for word, (first, after) in zip(word_ids, offsets, strict=True):
        # A new word begins. The token may contain the space before it.
        if word != previous_word or any(map(str.isspace, text[previous_end : first + 1])):
            number += 1
        numbers.append(number)
        previous_word, previous_end = word, after
    return np.array(numbers, dtype=np.int32)


class MaskedEngine(FramedEngine):
    """Score each token given all others (a pseudo-log-likelihood), by a mask in its place.

    The setting ``scoring.masked.pll`` has three values. ``original`` masks only the token (Salazar
    et al. 2020). ``within_word_l2r`` also masks the later tokens of its word, which would reveal it
    (Kauf and Ivanova 2023). ``next_token`` masks only the token, and reads the prediction at the
    position before, like a causal model; without a special token before the sentence, the first
    token is not scored. The special tokens around the sentence are not scored.
    """

    architecture = "masked"
    regional = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """Prepare as ``HubEngine`` does. Raises UserError if the tokenizer has no mask token."""
        self._pll = options.masked.pll
        tokenizer = FramedTokenizer(checkpoint, described)
        super().__init__(checkpoint, described, options, tokenizer, f"pll {self._pll}")
        mask_id: int | None = tokenizer.hub.mask_token_id
        if mask_id is None:
            raise UserError(
                f"{checkpoint.parent}: the tokenizer has no mask token, so this is no masked "
                "model; correct its architecture in the catalogue."
            )
        self._mask = mask_id
        # With further masks, the model does not expect the sentence to end after a word.
        tokenizer.after_target = (mask_id, mask_id)
        # Position in a row at which the model predicts the text's first token: that of the token,
        # after [CLS] for example, or under ``next_token`` the position before it (-1 if none is).
        self._shift = len(tokenizer.before) - (self._pll == "next_token")
        self.first = max(0, -self._shift)

    def _frame(self) -> list[int]:
        return self._framed([self._mask])

    @once
    def context(self) -> int | None:
        """Largest number of ids of a row; RoBERTa's positions begin after the padding's id."""
        table = positions(self._settings) or 10**9
        for name, module in self._loaded.model.named_modules():
            padding = getattr(module, "padding_idx", None)
            if name.endswith("position_embeddings") and padding is not None:
                table = int(module.weight.shape[0]) - padding - 1
        return min(table, int(self.tokenizer.hub.model_max_length))

    @once
    def _parts(self) -> tuple[torch.nn.Module, Head | None, int]:
        """Return base and head of the model, and the number of ids that logits cover.

        If the model cannot be split, the model itself and None are in place of base and head.
        """
        model = self._loaded.model
        ids = torch.arange(8, device=self._device)[None]
        model_inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        with torch.inference_mode():
            logits = model(**model_inputs).logits[0]
            base = model.base_model
            head = split_model(model, base, lambda: base(**model_inputs)[0][0], logits)
        return (base if head else model), head, int(logits.shape[1])

    def _width(self) -> int:
        return self._parts[2]

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        encoded = super().encode(texts)
        if self._pll != "within_word_l2r":
            return encoded
        with_words: list[Encoded] = []
        for text, tokens in zip(texts, encoded, strict=True):
            if tokens.steps:
                with_words.append(tokens)
                continue
            split = self.tokenizer.hub(
                text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )
            numbers = word_numbers(text, split.word_ids(), split["offset_mapping"])
            with_words.append(
                WordsEncoded(tokens.ids, tokens.ends, tokens.to_score, word_of_token=numbers)
            )
        return with_words

    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        return self._score_texts(batch)

    def _input_ids(self, encoded: Encoded, token: int) -> list[int]:
        ids = encoded.ids.copy()
        ids[token] = self._mask
        if isinstance(encoded, WordsEncoded):
            # Mask the later tokens of the word too.
            word_of_token = encoded.word_of_token
            ids[token:][word_of_token[token:] == word_of_token[token]] = self._mask
        return self._framed(ids.tolist())

    @torch.inference_mode()
    def _score_rows(self, rows: list[Prediction]) -> list[LogProbs]:
        base, head, _ = self._parts
        ids, is_id = self._filled([self._input_ids(row.encoded, row.token) for row in rows])
        hidden = base(input_ids=ids, attention_mask=is_id)[0]
        predicting = torch.tensor([self._shift + row.token for row in rows])
        return self._targets(rows, hidden[torch.arange(len(rows)), predicting], head)


SENTINEL = "<extra_id_0>"  # T5's first sentinel, which stands for a span of the text


class _Parts(NamedTuple):
    """An encoder-decoder, divided before its head."""

    encoder: torch.nn.Module
    decoder: torch.nn.Module
    """Decoder; the complete model if it cannot be split."""
    head: Head | None
    start: int
    """Id with which decoding starts."""
    width: int
    """Number of ids that logits cover."""


class Seq2seqEngine(FramedEngine):
    """Score tokens by the decoder of an encoder-decoder.

    The setting ``scoring.seq2seq.form`` decides what encoder and decoder read to score ``barks`` in
    ``the dog barks``. START is the id with which decoding starts. The encoder and the decoder read:

    - ``masked``: ``the dog <extra_id_0>``, and ``START <extra_id_0>``. This is like a masked
      model's pseudo-log-likelihood, with a sentinel as in training (Raffel et al. 2020, section
      3.1.4). A tokenizer without sentinels (BART, Marian, …) gets ``target`` in its place.
    - ``target``: an empty text, and ``START the dog``;
    - ``copy``: ``the dog barks``, and ``START the dog``;
    - ``masked_after_bos``: ``the dog MASK``, and ``BOS MASK``;
    - ``continued``: the same for the first token to score. Later ones follow MASK in the decoder,
      so that each is predicted from the tokens before it.

    MASK is the tokenizer's mask, else the sentinel. Without a token BOS, ``continued`` has a second
    MASK in its place. Ids that a tokenizer puts before a text, such as a language code, are put
    before it in the decoder too.
    """

    architecture = "encoder-decoder"

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        tokenizer = FramedTokenizer(checkpoint, described)
        sentinel_id = cast(int | None, tokenizer.hub.convert_tokens_to_ids(SENTINEL))
        lacks_sentinel = sentinel_id is None or sentinel_id == tokenizer.hub.unk_token_id
        self._form = options.seq2seq.form
        if lacks_sentinel and self._form == "masked":
            self._form = "target"
        self.regional = self._form not in ("target", "copy")
        super().__init__(checkpoint, described, options, tokenizer, f"form {self._form}")
        # Without a sentinel, the forms ``target`` and ``copy`` remain, which never read the -1.
        self._sentinel = -1 if sentinel_id is None else sentinel_id
        self._requested = options.seq2seq.form
        if self._form in ("masked_after_bos", "continued"):
            mask_id = tokenizer.hub.mask_token_id
            if mask_id is None and lacks_sentinel:
                raise UserError(
                    f"{checkpoint.parent}: the tokenizer has neither a mask token nor {SENTINEL}, "
                    f"which the form {self._form} needs; choose another scoring.seq2seq.form."
                )
            self._sentinel = self._sentinel if mask_id is None else mask_id

    @property
    def _special_count(self) -> int:
        # In ``continued``, the decoder reads BOS, MASK and all tokens but the last: one id more.
        return super()._special_count + 1

    def _frame(self) -> list[int]:
        return [*self._framed([self._sentinel] if self.regional else []), *self._prompt]

    def _examine(self, rows: list[Ids], checks: dict[str, str]) -> dict[str, str]:
        """Test the decoder's causality too. Raises UserError if it looks ahead."""
        checks["form"] = self._form
        if self._form != self._requested:
            checks["form"] += f", because the tokenizer has no {SENTINEL} to stand for a token"
        self._batching = "alone"  # since rows that share a pass are only tested later
        if self._form in ("target", "continued"):
            later_gap = gap_by_later(self.logprobs, np.unique(np.concatenate(rows)), len(rows[-1]))
            if not later_gap <= self._tolerance():
                raise UserError(
                    f"{self._directory}: the decoder of {type(self._loaded.model).__name__} looks "
                    f"ahead: a token's log-probability changes by {later_gap:.2g} nats with what "
                    "follows; expected a causal decoder. Name another model."
                )
            checks["causality"] = "no token depends on what follows it"
        return super()._examine(rows, checks)

    @once
    def _parts(self) -> _Parts:
        """Return encoder, decoder and head. Raises UserError without a start of decoding."""
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

    @once
    def _prompt(self) -> list[int]:
        """Ids that the decoder reads before the ids that it predicts."""
        bos_id = self.tokenizer.hub.bos_token_id
        if self._form == "masked_after_bos":
            return [self._sentinel] if bos_id is None else [bos_id, self._sentinel]
        if self._form == "continued":
            return [self._sentinel if bos_id is None else bos_id, self._sentinel]
        before = [self._sentinel] if self._form == "masked" else self.tokenizer.before
        return [self._parts.start, *before]

    def _decoded(
        self, source: list[list[int]], target: torch.Tensor, read: torch.Tensor
    ) -> torch.Tensor:
        """Return the decoder's hidden states, or logits if the model cannot be split.

        ``source`` has the ids that the encoder reads for each row, ``target`` [rows, width] the ids
        that the decoder reads. Only states where ``read`` [rows, width] is true are returned.
        """
        model_parts = self._parts
        ids, is_id = self._filled(source)
        states = model_parts.encoder(input_ids=ids, attention_mask=is_id)
        if model_parts.head:
            hidden = model_parts.decoder(
                input_ids=target,
                encoder_hidden_states=states[0],
                encoder_attention_mask=is_id,
                use_cache=False,
            )[0]
        else:
            hidden = model_parts.decoder(
                encoder_outputs=states,
                attention_mask=is_id,
                decoder_input_ids=target,
                use_cache=False,
            ).logits
        return cast(torch.Tensor, hidden[read])

    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        if self._form in ("masked", "masked_after_bos"):
            return self._score_texts(batch)
        order = sorted(range(len(batch)), key=lambda number: sort_key(batch[number]))
        order = [number for number in order if positions_to_score(batch[number])]
        texts = [batch[number] for number in order]
        values = self._in_passes(self._decode, texts, [len(encoded.ids) for encoded in texts])
        results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
        for number, value in zip(order, values, strict=True):
            results[number] = "out_of_memory" if value is None else value
        return results

    def _input_ids(self, encoded: Encoded, token: int) -> list[int]:
        ids = encoded.ids.tolist()
        ids[token] = self._sentinel
        return self._framed(ids)

    @torch.inference_mode()
    def _score_rows(self, rows: list[Prediction]) -> list[LogProbs]:
        lists = [self._input_ids(row.encoded, row.token) for row in rows]
        decoder_ids = torch.tensor([self._prompt] * len(rows), device=self._device)
        read = torch.zeros_like(decoder_ids, dtype=torch.bool)
        read[:, -1] = True  # after the prompt's last id, the decoder predicts the token
        return self._targets(rows, self._decoded(lists, decoder_ids, read), self._parts.head)

    @torch.inference_mode()
    def _decode(self, batch: list[Encoded]) -> list[LogProbs]:
        """Score all tokens of a text in one row, without masks: a decoder never looks ahead."""
        # For each text, the span of tokens to score, and the ids that the encoder reads.
        spans, sources = [], []
        for encoded in batch:
            ids = encoded.ids.tolist()
            span = slice(0, len(ids))
            source = ids if self._form == "copy" else []
            if self._form == "continued":
                scored_positions = positions_to_score(encoded)
                span = slice(scored_positions[0], scored_positions[-1] + 1)
                source = [*ids[: span.start], self._sentinel]
            spans.append(span)
            sources.append(self._framed(source))
        pairs = [*zip(batch, spans, strict=True)]
        targets, mask = self._filled([encoded.ids[span] for encoded, span in pairs])
        is_target = mask.bool()
        # Each token is predicted at the id before it, the first token at the prompt's last id. For
        # the prompt START and the tokens a b, the decoder reads ``START a``; its state at START
        # predicts a, and its state at a predicts b.
        prompt = torch.tensor([self._prompt] * len(batch), device=self._device)
        hidden = self._decoded(
            sources,
            torch.cat([prompt, targets[:, :-1]], 1),
            torch.cat([torch.zeros_like(prompt[:, 1:], dtype=torch.bool), is_target], 1),
        )
        flat = target_logprobs(hidden, self._parts.head, targets[is_target]).cpu().numpy()
        values = np.split(flat, np.cumsum(is_target.sum(1).tolist())[:-1])
        results = [nothing_scored(len(encoded.ids)) for encoded in batch]
        for result, span, value in zip(results, spans, values, strict=True):
            result[span] = value
        return results
