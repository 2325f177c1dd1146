"""Share what engines of models in Hugging Face's layout have in common.

Masked models and encoder-decoders guess a token in a text of its own, a *row*: the sentence without
the token. Rows of all sentences share batches, so that a sentence of 512 tokens needs no more
memory than any other.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain, compress
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar, cast

import numpy as np
import torch
import transformers
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.hub_tokenizers import sample_texts
from blimpworks.models.threads import Workers, device_name, once
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs, engine_key, loading
from blimpworks.scoring.hub_loading import (
    HubTokenizer,
    fits_in_float32,
    in_float32,
    load_model,
    positions,
    read_settings,
    tensors_of,
)
from blimpworks.scoring.logits import (
    FOREIGN,
    TOLERANCE,
    Head,
    find_dtype,
    target_logprobs,
    versions,
)
from blimpworks.scoring.selftest import (
    Findings,
    encoded,
    gap_of_batches,
    largest_gap,
    marked_key,
    probe_rows,
)
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.trie import Rows, make_batches, pass_size

SMALL = 3e7
"""Parameters and buffers below which a model is small for the self-test."""
T = TypeVar("T")
V = TypeVar("V")


class Row(NamedTuple):
    """A text with a token to guess."""

    encoded: Encoded
    token: int
    targets: list[int]
    """Ids to score in its place."""


class FramedTokenizer(HubTokenizer):
    """A tokenizer, and the special tokens that it puts around a text."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer. Raises UserError for a first-token policy other than ``bos``."""
        if described.first_token != "bos":
            raise UserError(
                f"{checkpoint}: first_token is {described.first_token!r}, but a model of "
                f"architecture {described.architecture!r} knows one frame for a sentence only, "
                "that of its tokenizer; set it to 'bos'."
            )
        super().__init__(checkpoint, described.model_copy(update={"first_token": "skip"}))
        # Some vocabularies lack a letter, and then nothing stands between the frame's tokens.
        for text in ("a", *sample_texts()):
            probe = self.hub(text, return_special_tokens_mask=True)
            special: list[int] = probe["special_tokens_mask"]
            if 0 in special:
                break
        else:
            raise UserError(
                f"{checkpoint.parent}: the tokenizer makes no token of a letter of any script; "
                "expected a vocabulary. Add the tokenizer that the model was trained with."
            )
        text_at = special.index(0), len(special) - special[::-1].index(0)
        self.before: list[int] = probe["input_ids"][: text_at[0]]
        """Ids before every sentence, such as ``[CLS]``."""
        self.after: list[int] = probe["input_ids"][text_at[1] :]
        """Ids after it, such as ``[SEP]`` or ``</s>``."""


class Loaded(NamedTuple):
    """A model in memory."""

    model: PreTrainedModel
    weights: str
    """Finding on its weights, in words."""
    embeddings: int
    """Ids that it can read."""
    modules: list[torch.nn.Module]
    """Modules of the model, all of them; after a split the model does not know them all."""


class HubEngine(Engine):
    """Files, device, self-test and key of a model; runs no code from the checkpoint."""

    architecture: ClassVar[str]
    probe: ClassVar[int] = 10
    """Tokens of the self-test's longest sequence; three times as many for small models."""

    def __init__(
        self,
        checkpoint: Path,
        described: Checkpoint,
        options: ScoringOptions,
        tokenizer: HubTokenizer,
        variant: str,
    ) -> None:
        """Prepare; the first batch loads the weights.

        ``variant`` says in the key what else decides scores. Raises UserError for an unknown dtype.
        """
        self._directory = checkpoint.parent
        self._dtype = find_dtype(checkpoint, described.dtype)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._most = pass_size(options.batch_tokens, self._device)
        self._workers = Workers(self._device)
        self.abreast = self._workers.abreast
        self.tokenizer = tokenizer
        self._settings = read_settings(self._directory)
        self._rows: Rows = "padded"
        self._testing = False
        # How sentences share passes decides their shapes, and so the last digits.
        name = (
            f"{versions()} {device_name(self._device)} batch_tokens {options.batch_tokens} "
            f"shard {options.shard} {variant}{tokenizer.variant}"
        )
        self.key = self._bare = engine_key(type(self), name, checkpoint, described)

    @property
    def context(self) -> int | None:
        """Most ids of a row, special ones included; None without limit."""
        return positions(self._settings)

    @property
    def limit(self) -> int | None:
        return None if self.context is None else self.context - self._beside

    @property
    def _beside(self) -> int:
        return len(self.tokenizer.prefix)

    @once
    def _loaded(self) -> Loaded:
        # Deferred, because a run that finds all its sentences in the store needs no weights.
        with loading(self._directory):
            model, weights = load_model(
                self._directory, self.architecture, self._dtype, self._device
            )
        table = None
        with suppress(*FOREIGN):  # some classes do not say where their embeddings are
            table = getattr(model.get_input_embeddings(), "weight", None)
        size = 10**9 if table is None else int(table.shape[0])
        return Loaded(model, weights, size, [*model.modules()])

    @abstractmethod
    def _width(self) -> int:
        """Return the number of ids that logits cover."""

    @once
    def _vocabulary(self) -> int:
        return min(self._loaded.embeddings, self._width())

    @abstractmethod
    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Do ``logprobs`` for texts whose ids the model has."""

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        size, frame = self._vocabulary, max(self._frame(), default=0)
        fits = [max(frame, encoded.ids.max(initial=0)) < size for encoded in batch]
        results = iter(self._scores([*compress(batch, fits)]))
        return [next(results) if fit else "refused" for fit in fits]

    def _frame(self) -> list[int]:
        return self.tokenizer.prefix

    @contextmanager
    def _foreign_code(self) -> Iterator[None]:
        """Run a model's code for a test, without shared prefixes; its errors become UserErrors."""
        self._testing = True
        try:
            yield
        except FOREIGN as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            dtype_hint = "" if self._dtype == torch.float32 else ", or dtype float32"
            raise UserError(
                f"{self._directory}: {type(self._loaded.model).__name__} cannot be run on text "
                f"alone by transformers {transformers.__version__} in {str(self._dtype)[6:]} "
                f"({reason}); name another model{dtype_hint}."
            ) from error
        finally:
            self._testing = False

    def self_test(self) -> Findings:
        model, tensors = self._loaded.model, tensors_of(self._loaded.modules)
        checks = {"weights": self._loaded.weights, "tokenizer": self.tokenizer.source}
        with self._foreign_code():
            size = self._vocabulary
        beyond = [frame_id for frame_id in self._frame() if frame_id >= size]
        if beyond:
            token = self.tokenizer.hub.convert_ids_to_tokens(beyond[0])
            raise UserError(
                f"{self._directory}: {token!r}, which stands in each sentence's row, has the id "
                f"{beyond[0]}, but the model's embedding has {size} rows; expected an id below. "
                "Take the tokenizer that the model was trained with, or another first token."
            )
        if self.context is not None:
            checks["limit"] = str(self.context)
        if isinstance(self.tokenizer, FramedTokenizer):
            sides = (self.tokenizer.before, self.tokenizer.after)
            frame = ("".join(self.tokenizer.hub.convert_ids_to_tokens(ids)) for ids in sides)
            checks["first token"] = " … ".join(frame).strip()
        special = self.tokenizer.hub.all_special_ids
        every = np.arange(size, dtype=np.int32)
        ids = np.setdiff1d(every, special)
        # Of small models longer sequences take no time, and show more.
        longest = self.probe * (3 if sum(tensor.numel() for tensor in tensors) < SMALL else 1)
        rows = probe_rows(ids if len(ids) else every, min(longest, self.limit or longest))
        with self._foreign_code():
            with in_float32(tensors) if fits_in_float32(tensors) else nullcontext():
                decisions = self._examine(rows, checks)
            native, same = (self.logprobs(encoded(rows)) for _ in range(2))
            repeat_gap = largest_gap(native, same)
            moved = 0.0
            if self._dtype != torch.float32:
                moved = gap_of_batches(self.logprobs, rows)
        # Some tokens may overflow in half precision: their sentences have a status.
        if not any(isinstance(row, str) or np.isfinite(row[1:]).all() for row in native):
            raise UserError(
                f"{self._directory}: log-probabilities are no numbers in {str(self._dtype)[6:]}; "
                "expected finite ones. Choose another dtype, or correct the weights."
            )
        if not repeat_gap <= TOLERANCE[self._dtype] or not self._loads_alike(tensors):
            raise UserError(
                f"{self._directory}: {type(model).__name__} gives other scores each time (its code "
                "draws at random when it is loaded or run); expected the same. Name another model."
            )
        if self._dtype != torch.float32:
            checks["padding"] += (
                f"; in {str(self._dtype)[6:]}, rounding moves a token by up to {moved:.2g} nats "
                "with what else is in the batch"
            )
        return Findings(checks=checks, decisions=decisions)

    def _loads_alike(self, tensors: list[torch.Tensor]) -> bool:
        """Whether a second load gives the same tensors; not tried above 1 GB."""
        if sum(tensor.nbytes for tensor in tensors) > 1e9:
            return True
        model, _ = load_model(self._directory, self.architecture, self._dtype, self._device)
        reloaded = tensors_of([*model.modules()])
        return len(reloaded) == len(tensors) and all(
            a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num())
            for a, b in zip(tensors, reloaded, strict=True)
        )

    def _tolerance(self) -> float:
        dtype = self._loaded.model.dtype
        return 1e-3 if dtype == torch.float32 else TOLERANCE[dtype]

    def _examine(self, rows: list[Ids], checks: dict[str, str]) -> dict[str, str]:
        """Test how rows share passes, note it in ``checks``, and return decisions."""
        modes: tuple[Rows, ...] = ("padded", "equal", "alone")
        gaps = []
        for mode in modes:
            self._rows = mode
            gaps.append(gap_of_batches(self.logprobs, rows))
            if gaps[-1] <= self._tolerance():
                break
        findings = {
            "padded": "a padded row equals the row alone",
            "equal": "only rows of one length share a pass",
            "alone": "each row is computed alone",
        }[self._rows]
        if self._rows != "padded":
            findings += f", because a row beside others changes by up to {gaps[0]:.2g} nats"
        checks["padding"] = findings
        return {} if self._rows == "padded" else {"rows": self._rows}

    def follow(self, decisions: Mapping[str, str]) -> None:
        self._rows = cast(Rows, decisions.get("rows", "padded"))
        self.key = marked_key(self._bare, decisions)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        return self.tokenizer.encode(texts)

    def close(self) -> None:
        """Start no further pass."""
        self._workers.close()


def scored_tokens(encoded: Encoded) -> list[int]:
    """Return the numbers of the tokens to score."""
    if encoded.to_score is None:
        return list(range(len(encoded.ids)))
    numbers: list[int] = np.flatnonzero(encoded.to_score).tolist()
    return numbers


def place(encoded: Encoded) -> tuple[int, list[int], list[int]]:
    """Return a key that sorts texts by length, ties broken so that batches ignore arrival."""
    return len(encoded.ids), encoded.ids.tolist(), scored_tokens(encoded)


def halving(forward: Callable[[list[T]], Iterable[V]], rows: list[T]) -> list[V | None]:
    """Return values of ``rows``, in halves where memory runs out; None for one too big."""
    try:
        return list(forward(rows))
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
    if len(rows) == 1:
        return [None]
    middle = len(rows) // 2
    return halving(forward, rows[:middle]) + halving(forward, rows[middle:])


class FramedEngine(HubEngine):
    """An engine whose tokenizer frames each text, and that can guess tokens one by one."""

    tokenizer: FramedTokenizer

    @property
    def _beside(self) -> int:
        return len(self._framed([]))

    def _framed(self, ids: Sequence[int]) -> list[int]:
        return [*self.tokenizer.before, *ids, *self.tokenizer.after]

    @abstractmethod
    def _read(self, encoded: Encoded, token: int) -> list[int]:
        """Return the ids that the model reads to guess a token of a text."""

    @abstractmethod
    def _guess(self, rows: list[Row]) -> list[LogProbs]:
        """Return log-probabilities of each row's targets, from one pass."""

    def _filled(self, rows: Sequence[Sequence[int] | Ids]) -> tuple[torch.Tensor, ...]:
        """Return rows as a table of ids [rows, longest], and which of them are no padding."""
        ids = [torch.tensor(row, dtype=torch.int64) for row in rows]
        real = pad_sequence([torch.ones_like(row) for row in ids], batch_first=True)
        filler = self.tokenizer.hub.pad_token_id or 0
        table = pad_sequence(ids, batch_first=True, padding_value=filler)
        return table.to(self._device), real.to(self._device)

    def _targets(self, rows: list[Row], hidden: torch.Tensor, head: Head | None) -> list[LogProbs]:
        """Return log-probabilities of each row's targets, from its hidden states [rows, width]."""
        counts = [len(row.targets) for row in rows]
        targets = torch.tensor([target for row in rows for target in row.targets])
        parent = torch.arange(len(rows)).repeat_interleave(torch.tensor(counts))
        logprobs = target_logprobs(hidden, head, targets.to(self._device), parent)
        return np.split(logprobs.cpu().numpy(), np.cumsum(counts)[:-1])

    def _in_passes(
        self, forward: Callable[[list[T]], Iterable[V]], rows: Sequence[T], lengths: Sequence[int]
    ) -> list[V | None]:
        """Return values of ``rows``, in order of rising length; None for one that is too big."""
        groups = make_batches(lengths, range(len(rows)), self._most, self._rows)
        passes = [[rows[number] for number in group] for group in groups]
        return [*chain.from_iterable(self._workers.map(partial(halving, forward), passes))]

    def _guesses(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return log-probabilities of each text's tokens to score, NaN for the others.

        Texts with equal ids, such as a pair that differs in that token alone, share a row. A row
        too big for the memory even alone fails its texts.
        """
        lengths: dict[bytes, int] = {}
        same: dict[bytes, list[tuple[int, int]]] = {}
        for number in sorted(range(len(batch)), key=lambda number: place(batch[number])):
            for token in scored_tokens(batch[number]):
                ids = self._read(batch[number], token)
                key = hashlib.blake2b(np.array([token, *ids]).tobytes(), digest_size=16).digest()
                lengths.setdefault(key, len(ids))
                same.setdefault(key, []).append((number, token))
        rows = [
            Row(batch[places[0][0]], places[0][1], [int(batch[n].ids[at]) for n, at in places])
            for places in same.values()
        ]
        values = self._in_passes(self._guess, rows, [*lengths.values()])
        results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
        for places, scores in zip(same.values(), values, strict=True):
            for at, (number, token) in enumerate(places):
                result = results[number]
                if scores is None:
                    results[number] = "out_of_memory"
                elif not isinstance(result, str):
                    result[token] = scores[at]
        return results
