"""Score with word-level LSTMs (Mueller et al. 2020): words in, their log-probabilities out.

``LstmEngine`` joins the sentences of a batch in a prefix tree, which the LSTM reads from the top
downwards (see ``trie``). So sentences with a common beginning share its computation.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.items import APART
from blimpworks.models import lstm
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.fitting import device_name, single_thread
from blimpworks.scoring.engine import (
    Encoded,
    Engine,
    Failure,
    LogProbs,
    encode_words,
    engine_key,
    loading,
)
from blimpworks.scoring.hub_loading import target_logprobs
from blimpworks.scoring.selftest import Findings, gap_by_later, gap_of_batches, probe_rows
from blimpworks.scoring.store import nothing_scored
from blimpworks.scoring.trie import PathRun, Trie, build_trie, runs
from blimpworks.scoring.workers import Workers, once


class LstmEngine(Engine):
    """Score words and a final ``<eos>``, each given the words before it.

    Each text starts with a state of zeros (Mueller et al. 2020, section 5.2). An unknown word is
    scored as ``<unk>``. The final ``<eos>`` has no character, and ends with the last word (the
    method ``without_end`` leaves it out of sums). Under ``sharing: never``, only equal sentences
    share their computation.
    """

    shares_prefixes = True
    encodes_apart = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """Prepare; the first batch loads the model."""
        self._directory = checkpoint.parent
        # By default ``<eos>`` comes before each text; under ``skip``, the first word has no score.
        self._skip = described.first_token == "skip"
        self._batch_tokens = options.batch_tokens
        self._merge = options.sharing != "never"
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._workers = Workers(self._device)
        self.parallel_batches = self._workers.parallel_batches
        # The sentences of a step decide the shapes of products, and thus the last digits.
        name = (
            f"lstm torch {torch.__version__} {device_name(self._device)} batch_tokens "
            f"{options.batch_tokens} shard {options.shard} sharing {options.sharing}"
        )
        self.key = engine_key(LstmEngine, name, checkpoint, described)

    @once
    def _loaded(self) -> tuple[lstm.LstmModel, dict[str, int], lstm.LstmSettings]:
        with loading(self._directory):
            model, vocabulary, settings = lstm.load_lstm(self._directory)
        ids = {word: number for number, word in enumerate(vocabulary)}
        return model.to(self._device), ids, settings

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return words as tokens; ids are line numbers of ``vocabulary.txt``, from 0."""
        _, numbers, settings = self._loaded
        word_lists = (lstm.words_of(text.replace(APART, " "), settings.words) for text in texts)
        return [encode_words(pairs, numbers, lstm.UNKNOWN_ID, lstm.END_ID) for pairs in word_lists]

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return natural log-probabilities; NaN for the first word under ``skip``."""
        prefix = np.array([] if self._skip else [lstm.END_ID], dtype=np.int32)
        pieces = [piece for encoded in batch for piece in (prefix, encoded.ids)]
        flat = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
        lengths = np.array([len(prefix) + len(encoded.ids) for encoded in batch], dtype=np.int64)
        trie = build_trie(flat, lengths, merge=self._merge)
        values = self._scores(trie)[trie.paths]
        edges = pairwise([0, *np.cumsum(lengths).tolist()])
        return [values[start + len(prefix) : stop] for start, stop in edges]

    @single_thread()
    @torch.inference_mode()
    def _scores(self, trie: Trie) -> LogProbs:
        """Return each node's log-probability given its path [nodes]; NaN for first tokens."""
        logprobs = nothing_scored(len(trie.token))

        @torch.inference_mode()
        def write_logprobs(step: tuple[list[PathRun], torch.Tensor]) -> None:
            """Write the log-probabilities of the words that a group of runs predicts."""
            group, hidden = step  # ``hidden`` has a row for each cell, run after run
            cell_counts = [run.token.size for run in group]
            first_rows = np.cumsum([0, *cell_counts[:-1]])
            node_of_edge = np.concatenate([run.edge_node for run in group])
            # For each predicted word, the row of ``hidden`` that predicts it.
            rows = [first + run.edge_parent for first, run in zip(first_rows, group, strict=True)]
            target = torch.from_numpy(trie.token[node_of_edge]).to(self._device)
            row = torch.from_numpy(np.concatenate(rows))
            values = target_logprobs(hidden, self._loaded[0].head, target, row)
            logprobs[node_of_edge] = values.cpu().numpy()

        # The output layer takes most of the time, and runs in threads because it needs no state.
        self._workers.map(write_logprobs, self._groups(runs(trie, self._batch_tokens)))
        return logprobs

    def _groups(self, all_runs: Iterable[PathRun]) -> Iterator[tuple[list[PathRun], torch.Tensor]]:
        """Yield groups of runs, with the hidden states of their cells; a thread takes a group."""
        group, outputs, cells = list[PathRun](), list[torch.Tensor](), 0
        state = self._loaded[0].fresh(1)
        for run in all_runs:
            hidden, state = self._step(run, state)
            group.append(run)
            outputs.append(hidden.flatten(0, 1))
            cells += run.token.size
            if cells >= self._batch_tokens:
                yield group, torch.cat(outputs)
                group, outputs, cells = [], [], 0
        if group:
            yield group, torch.cat(outputs)

    def _step(self, run: PathRun, state: lstm.State) -> tuple[torch.Tensor, lstm.State]:
        """Return a run's hidden states [steps, paths, hidden], and the state after the run."""
        # A run of many paths is computed in slices, and each path continues its parent's state.
        width = max(1, self._batch_tokens // len(run.token))
        states = []
        for start in range(0, len(run.parent), width):
            ids = torch.from_numpy(run.token[:, start : start + width]).to(self._device)
            parent = torch.from_numpy(run.parent[start : start + width]).to(self._device)
            states.append(self._loaded[0](ids, (state[0][:, parent], state[1][:, parent])))
        hidden, after = zip(*states, strict=True)
        cells = [torch.cat(tables, dim=1) for tables in zip(*after, strict=True)]
        return torch.cat(hidden, dim=1), (cells[0], cells[1])

    def self_test(self) -> Findings:
        """Test the model. Raises UserError if scores depend on the batch or on later words."""
        ids = np.arange(len(self._loaded[1]), dtype=np.int32)
        gap = gap_of_batches(self.logprobs, probe_rows(ids, 24))
        gap = max(gap, gap_by_later(self.logprobs, ids, 24))
        if not gap <= 1e-3:
            raise UserError(
                f"{self._directory}: scores change by {gap:.2g} nats with what else is in a batch "
                "or follows; expected an LSTM's. Train the model again."
            )
        return Findings(
            checks={
                "weights": "the file has each weight of the model",
                "causality": "no word depends on what follows it",
                "prefixes": "shared" if self._merge else "not shared",
            }
        )

    def close(self) -> None:
        self._workers.close()
