"""What the engines of masked models and encoder-decoders share.

They score a token by guessing it in a text of its own, a *row*: the sentence without the
token. Rows of all sentences go through the model in batches, however few of them one
sentence's rows fill, so that a sentence of 512 tokens needs no more room than any other.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerBase

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.threads import Workers
from blimpworks.scoring.engine import Encoded, Failure, LogProbs, engine_key, loading
from blimpworks.scoring.hub_tokenizer import HubTokenizer
from blimpworks.scoring.logits import device_name, find_dtype, versions
from blimpworks.scoring.passes import make_batches, pass_size
from blimpworks.scoring.plan import nothing_scored

T = TypeVar("T")
V = TypeVar("V")


class Row(NamedTuple):
    """A text in which a token is to be guessed."""

    encoded: Encoded
    token: int
    """Number of the token."""
    targets: list[int]
    """Ids that are scored in its place."""

    @staticmethod
    def edges(rows: Sequence["Row"]) -> tuple[torch.Tensor, torch.Tensor]:
        """All targets [edges], and the number of the row of each [edges]."""
        counts = torch.tensor([len(row.targets) for row in rows])
        targets = torch.tensor([target for row in rows for target in row.targets])
        return targets, torch.arange(len(rows)).repeat_interleave(counts)

    @staticmethod
    def split(rows: Sequence["Row"], logprobs: torch.Tensor) -> list[LogProbs]:
        """The log-probabilities [edges] of the targets of each row."""
        bounds = np.cumsum([len(row.targets) for row in rows])[:-1]
        return np.split(logprobs.cpu().numpy(), bounds)


class FramedTokenizer(HubTokenizer):
    """Texts to ids, and the special tokens that the tokenizer itself puts around a text."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer; see ``HubTokenizer``.

        Raises UserError for a first-token policy other than ``bos``, which here stands for
        the model's own frame.
        """
        if described.first_token != "bos":
            raise UserError(
                f"{checkpoint}: first_token is {described.first_token!r}, but a model of "
                f"architecture {described.architecture!r} knows one frame for a sentence only, "
                "that of its tokenizer; set it to 'bos'."
            )
        super().__init__(checkpoint, described.model_copy(update={"first_token": "skip"}))
        probe = self._tokenizer("a", return_special_tokens_mask=True)
        special: list[int] = probe["special_tokens_mask"]
        text = special.index(0), len(special) - special[::-1].index(0)
        self.before: list[int] = probe["input_ids"][: text[0]]
        """Ids before every sentence, such as ``[CLS]``."""
        self.after: list[int] = probe["input_ids"][text[1] :]
        """Ids after it, such as ``[SEP]`` or ``</s>``."""

    @property
    def hub(self) -> PreTrainedTokenizerBase:
        """The tokenizer as transformers knows it."""
        return self._tokenizer

    @property
    def pad(self) -> int:
        """Id that fills rows up."""
        pad_id: int | None = self._tokenizer.pad_token_id
        return 0 if pad_id is None else pad_id


class HubEngine:
    """Tokenizer, device, number format and key of an engine that scores row by row.

    Only local files, only safetensors, no code from the checkpoint.
    """

    shares_prefixes = False

    def __init__(
        self, checkpoint: Path, described: Checkpoint, options: ScoringOptions, variant: str
    ) -> None:
        """Load the tokenizer; the weights follow with the first batch.

        ``variant`` says in the key what else decides scores. Raises UserError when the dtype
        is unknown or the tokenizer no use.
        """
        self._directory = checkpoint.parent
        self._dtype = find_dtype(checkpoint, described.dtype)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._most = pass_size(options.batch_tokens, self._device)
        self._workers = Workers(self._device)
        self.abreast = self._workers.abreast
        self._tokenizer = FramedTokenizer(checkpoint, described)
        self._settings = AutoConfig.from_pretrained(
            self._directory, local_files_only=True, trust_remote_code=False
        )
        # How rows share batches decides padded widths, and so the last digits.
        name = (
            f"{versions()} {device_name(self._device)} batch_tokens {options.batch_tokens} "
            f"shard {options.shard} {variant}"
        )
        self.key = engine_key(type(self), name, checkpoint, described)

    def _load(self, kind: Any) -> PreTrainedModel:
        """The model, by the Auto class ``kind``."""
        with loading(self._directory):
            model: PreTrainedModel = kind.from_pretrained(
                self._directory,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=self._dtype,
            )
        torch.nn.Module.to(model, self._device)
        return model.eval()  # type: ignore[no-untyped-call,no-any-return]

    def _check(self, model: PreTrainedModel, own: torch.Tensor, ours: torch.Tensor) -> None:
        """Compare logits [tokens, vocabulary] on a short input with the model's own.

        Raises UserError where they differ: an architecture that the engine does not know.
        """
        if ours.shape != own.shape or not torch.allclose(ours, own, rtol=1e-2, atol=1e-2):
            raise UserError(
                f"{self._directory}: {type(model).__name__} makes its logits in a way that the "
                "transformers engine does not know; choose another model."
            )

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens without any special token; see ``Engine``."""
        return self._tokenizer.encode(texts)

    def _on_device(self, table: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(table).to(self._device)

    def close(self) -> None:
        """Begin no pass any more."""
        self._workers.close()


def padded(rows: Sequence[Sequence[int] | np.ndarray], filler: int) -> np.ndarray:
    """Rows as one int64 table [rows, longest], filled up with ``filler`` on the right."""
    table = np.full((len(rows), max(map(len, rows))), filler, dtype=np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def scored_tokens(encoded: Encoded) -> list[int]:
    """Numbers of the tokens that are to be scored."""
    if encoded.to_score is None:
        return list(range(len(encoded.ids)))
    numbers: list[int] = np.flatnonzero(encoded.to_score).tolist()
    return numbers


def place(encoded: Encoded) -> tuple[int, list[int], list[int]]:
    """Sorts texts by length; ties are broken so that batches don't depend on arrival."""
    return len(encoded.ids), encoded.ids.tolist(), scored_tokens(encoded)


def score_rows(
    batch: Sequence[Encoded],
    read: Callable[[Encoded, int], list[int]],
    forward: Callable[[list[Row]], list[LogProbs]],
    most: int,
    workers: Workers,
) -> list[LogProbs | Failure]:
    """Log-probabilities of each text's tokens to score, NaN for the others.

    ``read`` gives the ids that the model reads to guess a token of a text. Where these are the
    same for several texts, as for a pair that differs in that token alone, they are one row.
    ``forward`` scores the targets of some rows in one pass of at most ``most`` tokens with padding,
    or of a single row; ``workers`` compute the passes. A row that does not fit into memory even
    alone fails its texts.
    """
    lengths: dict[bytes, int] = {}
    same: dict[bytes, list[tuple[int, int]]] = {}
    for number in sorted(range(len(batch)), key=lambda number: place(batch[number])):
        for token in scored_tokens(batch[number]):
            ids = read(batch[number], token)
            key = hashlib.blake2b(np.array([token, *ids]).tobytes(), digest_size=16).digest()
            lengths.setdefault(key, len(ids))
            same.setdefault(key, []).append((number, token))
    tokens = [*same.values()]
    groups = make_batches([*lengths.values()], range(len(tokens)), most)
    passes = [[tokens[row] for row in group] for group in groups]

    def values_of(rows: list[list[tuple[int, int]]]) -> list[LogProbs | None]:
        """Log-probabilities of the tokens of each row of one pass."""
        gaps = []
        for row in rows:
            number, token = row[0]
            gaps.append(Row(batch[number], token, [int(batch[n].ids[at]) for n, at in row]))
        return halving(forward, gaps)

    results: list[LogProbs | Failure] = [nothing_scored(len(e.ids)) for e in batch]
    for rows, values in zip(passes, workers.map(values_of, passes), strict=True):
        for row, scores in zip(rows, values, strict=True):
            fill_in(results, row, scores)
    return results


def fill_in(
    results: list[LogProbs | Failure], tokens: list[tuple[int, int]], scores: LogProbs | None
) -> None:
    """Put scores in their places: numbers of text and token. None: memory did not suffice."""
    for at, (number, token) in enumerate(tokens):
        result = results[number]
        if scores is None:
            results[number] = "out_of_memory"
        elif not isinstance(result, str):
            result[token] = scores[at]


def halving(forward: Callable[[list[T]], Iterable[V]], rows: list[T]) -> list[V | None]:
    """Values of ``rows``; in halves where memory does not suffice, None for one too big."""
    try:
        return list(forward(rows))
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
    if len(rows) == 1:
        return [None]
    middle = len(rows) // 2
    return halving(forward, rows[:middle]) + halving(forward, rows[middle:])
