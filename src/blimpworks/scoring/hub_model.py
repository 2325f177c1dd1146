"""Define ``HubEngine``, the base class of engines that run models through transformers.

It has the key, the loading of weights, and the self-test (see ``selftest``). Its subclasses in
``transformers_engine`` and ``framed_engines`` compute the scores.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import compress
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar, cast

import numpy as np
import torch
import transformers
from transformers import PreTrainedModel

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.fitting import device_name
from blimpworks.models.hub_tokenizers import sample_texts
from blimpworks.scoring import hub_loading, selftest
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs, engine_key, loading
from blimpworks.scoring.passes import Batching, pass_size
from blimpworks.scoring.workers import Workers, once

SMALL = 3e7
"""Number of parameters and buffers below which the self-test reads longer sequences."""
T = TypeVar("T")  # a row
V = TypeVar("V")  # its result


class FramedTokenizer(hub_loading.HubTokenizer):
    """A tokenizer, and the special tokens that it puts around a text, such as ``[CLS] … [SEP]``."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer. Raises UserError for a tokenizer without tokens of letters."""
        super().__init__(checkpoint, described.model_copy(update={"first_token": "skip"}))
        # Find a text of which the tokenizer makes a token between the special tokens. Some
        # vocabularies lack a letter.
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
        # The text's tokens are those from the first 0 to the last 0: 1 to 3 in [1, 0, 0, 1].
        text_span = special.index(0), len(special) - special[::-1].index(0)
        self.before: list[int] = probe["input_ids"][: text_span[0]]
        """Ids before each sentence, such as that of ``[CLS]``."""
        self.after: list[int] = probe["input_ids"][text_span[1] :]
        """Ids after each sentence, such as that of ``[SEP]`` or ``</s>``."""


class Loaded(NamedTuple):
    """A model in memory."""

    model: PreTrainedModel
    weights: str
    """Sentence about the check of weights."""
    embeddings: int
    """Number of ids that the model can read."""
    modules: list[torch.nn.Module]
    """Modules of the model, before a split into layers and head takes some of them out."""


class HubEngine(Engine):
    """Engine that runs a model through transformers on a GPU or CPU."""

    architecture: ClassVar[str]
    """``causal``, ``masked`` or ``encoder-decoder``."""
    encodes_apart = True
    probe: ClassVar[int] = 10
    """Number of tokens of the self-test's longest sequence; three times as many in small models."""

    def __init__(
        self,
        checkpoint: Path,
        described: Checkpoint,
        options: ScoringOptions,
        tokenizer: hub_loading.HubTokenizer,
        variant: str,
    ) -> None:
        """Prepare the engine; the first batch loads the weights.

        ``variant`` states, for the key, the options of a subclass that decide scores.
        """
        self._directory = checkpoint.parent
        self._dtype = hub_loading.DTYPES[described.dtype]
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._max_tokens = pass_size(options.batch_tokens, self._device)
        self._workers = Workers(self._device)
        self.parallel_batches = self._workers.parallel_batches
        self.tokenizer = tokenizer
        self._settings = hub_loading.read_settings(self._directory)
        self._batching: Batching = "padded"
        self._testing = False  # True while the self-test runs the model, without shared prefixes
        # The sentences of a pass decide the shapes of tensors, and thus the last digits.
        name = (
            f"{hub_loading.versions()} {device_name(self._device)} "
            f"batch_tokens {options.batch_tokens} "
            f"shard {options.shard} {variant}{tokenizer.variant}"
        )
        # The key is ``_bare`` with the self-test's decisions, which ``follow`` appends.
        self.key = self._bare = engine_key(type(self), name, checkpoint, described)

    @property
    def context(self) -> int | None:
        """Largest number of ids of a row, special tokens included; None without limit."""
        return hub_loading.positions(self._settings)

    @property
    def limit(self) -> int | None:
        return None if self.context is None else self.context - self._special_count

    @property
    def _special_count(self) -> int:
        return len(self.tokenizer.prefix)

    @once
    def _loaded(self) -> Loaded:
        # Loaded at the first use: a run needs no weights if the store has all sentences.
        with loading(self._directory):
            model, weights = hub_loading.load_model(
                self._directory, self.architecture, self._dtype, self._device
            )
        table = None
        # Some classes do not say which module has their embeddings: then any id may be read.
        with suppress(*hub_loading.FOREIGN):
            table = getattr(model.get_input_embeddings(), "weight", None)
        size = 10**9 if table is None else int(table.shape[0])
        return Loaded(model, weights, size, [*model.modules()])

    @abstractmethod
    def _width(self) -> int:
        """Return the number of ids for which the model computes logits."""

    @once
    def _vocabulary(self) -> int:
        return min(self._loaded.embeddings, self._width())  # ids that it can both read and predict

    @abstractmethod
    def _scores(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return ``logprobs`` of texts whose ids are all in the model's vocabulary."""

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        size, largest_special = self._vocabulary, max(self._frame(), default=0)
        fits = [max(largest_special, encoded.ids.max(initial=0)) < size for encoded in batch]
        results = iter(self._scores([*compress(batch, fits)]))  # of the texts that fit
        return [next(results) if fit else "refused" for fit in fits]

    def _frame(self) -> list[int]:
        return self.tokenizer.prefix  # all ids around a text; subclasses have more

    @contextmanager
    def _foreign_code(self) -> Iterator[None]:
        """Run a block of the self-test; turn errors of the model's code into a UserError."""
        self._testing = True
        try:
            yield
        except hub_loading.FOREIGN as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            dtype_hint = "" if self._dtype == torch.float32 else ", or dtype float32"
            raise UserError(
                f"{self._directory}: {type(self._loaded.model).__name__} cannot be run on text "
                f"alone by transformers {transformers.__version__} in {str(self._dtype)[6:]} "
                f"({reason}); name another model{dtype_hint}."
            ) from error
        finally:
            self._testing = False

    def self_test(self) -> selftest.Findings:
        model, tensors = self._loaded.model, hub_loading.tensors_of(self._loaded.modules)
        checks = {"weights": self._loaded.weights, "tokenizer": self.tokenizer.source}
        # The tokens around each text must be in the model's vocabulary.
        with self._foreign_code():
            size = self._vocabulary
        ids = selftest.ordinary_ids(self.tokenizer.hub, self._frame(), size, self._directory)
        if self.context is not None:
            checks["limit"] = str(self.context)
        if isinstance(self.tokenizer, FramedTokenizer):
            sides = (self.tokenizer.before, self.tokenizer.after)
            frame = ("".join(self.tokenizer.hub.convert_ids_to_tokens(ids)) for ids in sides)
            checks["first token"] = " … ".join(frame).strip()
        # Random sequences of ordinary tokens. Longer ones show more, and small models are fast.
        longest = self.probe * (3 if sum(tensor.numel() for tensor in tensors) < SMALL else 1)
        rows = selftest.probe_rows(ids, min(longest, self.limit or longest))

        with self._foreign_code():
            # In float32, rounding hides no other fault.
            with hub_loading.in_float32(tensors):
                decisions = self._examine(rows, checks)
            first_run, second_run = (self.logprobs(selftest.encoded(rows)) for _ in range(2))
            repeat_gap = selftest.largest_gap(first_run, second_run)
            rounding_gap = 0.0
            if self._dtype != torch.float32:
                rounding_gap = selftest.gap_of_batches(self.logprobs, rows)
        if not np.isfinite(repeat_gap):
            raise UserError(
                f"{self._directory}: log-probabilities of random tokens are no numbers in "
                f"{str(self._dtype)[6:]}; expected finite ones. Choose another dtype, or correct "
                "the weights."
            )
        if not repeat_gap <= hub_loading.TOLERANCE[self._dtype] or not self._loads_alike(tensors):
            raise UserError(
                f"{self._directory}: {type(model).__name__} gives other scores each time (its code "
                "draws at random when it is loaded or run); expected the same. Name another model."
            )
        if self._dtype != torch.float32:
            checks["padding"] += (
                f"; in {str(self._dtype)[6:]}, rounding moves a token by up to {rounding_gap:.2g} "
                "nats with what else is in the batch"
            )
        return selftest.Findings(checks=checks, decisions=decisions)

    def _loads_alike(self, tensors: list[torch.Tensor]) -> bool:
        """Return whether a second load gives the same tensors; True without a test above 1 GB."""
        if sum(tensor.nbytes for tensor in tensors) > 1e9:
            return True
        model, _ = hub_loading.load_model(
            self._directory, self.architecture, self._dtype, self._device
        )
        reloaded = hub_loading.tensors_of([*model.modules()])
        # NaN would be unequal to itself.
        return len(reloaded) == len(tensors) and all(
            a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num())
            for a, b in zip(tensors, reloaded, strict=True)
        )

    def _tolerance(self) -> float:
        """Return the largest difference that counts as rounding in the self-test [nats]."""
        dtype = self._loaded.model.dtype
        return 1e-3 if dtype == torch.float32 else hub_loading.TOLERANCE[dtype]

    def _examine(self, rows: list[Ids], checks: dict[str, str]) -> dict[str, str]:
        """Test which rows can share a pass, note it in ``checks``, and return decisions."""
        modes: tuple[Batching, ...] = ("padded", "equal", "alone")
        gaps = []
        for mode in modes:
            self._batching = mode
            gaps.append(selftest.gap_of_batches(self.logprobs, rows))
            if gaps[-1] <= self._tolerance():
                break
        finding = {
            "padded": "a padded row equals the row alone",
            "equal": "only rows of one length share a pass",
            "alone": "each row is computed alone",
        }[self._batching]
        if self._batching != "padded":
            finding += f", because a row beside others changes by up to {gaps[0]:.2g} nats"
        checks["padding"] = finding
        return {} if self._batching == "padded" else {"rows": self._batching}

    def follow(self, decisions: Mapping[str, str]) -> None:
        self._batching = cast(Batching, decisions.get("rows", "padded"))
        self.key = selftest.marked_key(self._bare, decisions)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        return self.tokenizer.encode(texts)

    def close(self) -> None:
        self._workers.close()


def halving(forward: Callable[[list[T]], Iterable[V]], rows: list[T]) -> list[V | None]:
    """Return ``forward(rows)``, computed in halves if memory runs out; None for a row too large."""
    try:
        return list(forward(rows))
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
    if len(rows) == 1:
        return [None]
    middle = len(rows) // 2
    return halving(forward, rows[:middle]) + halving(forward, rows[middle:])
