"""Score with n-gram models through KenLM: words in, their natural log-probabilities out."""

import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import kenlm
import numpy as np

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.items import APART
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.ngram import END, MODEL, UNKNOWN, VOCABULARY
from blimpworks.models.text import split_words
from blimpworks.scoring.engine import Encoded, Engine, Failure, LogProbs, encode_words, engine_key
from blimpworks.scoring.selftest import Findings

LN10 = math.log(10)  # KenLM gives logarithms to base 10


class KenlmEngine(Engine):
    """Score words and a final ``</s>``, each given the words before it and ``<s>``.

    An unknown word is scored as ``<unk>``. ``</s>`` has no character, and ends with the last word.
    """

    encodes_apart = True

    def __init__(self, checkpoint: Path, described: Checkpoint, options: ScoringOptions) -> None:
        """Load the model. Raises UserError for a bad file."""
        vocabulary = (checkpoint.parent / VOCABULARY).read_text(encoding="utf-8")
        self._words = vocabulary.rstrip("\n").split("\n")
        self._ids = {word: number for number, word in enumerate(self._words)}
        try:
            self._model = kenlm.Model(str(checkpoint.parent / MODEL))
        except OSError as error:
            reason = " ".join(str(error).split())[:300]
            raise UserError(
                f"{checkpoint.parent / MODEL}: KenLM cannot read it ({reason}); expected an ARPA "
                "file or a binary that is whole. Take or train the model again."
            ) from error
        name = f"kenlm {version('kenlm')}"
        self.key = engine_key(KenlmEngine, name, checkpoint, described)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return words as tokens; ids are line numbers of ``vocabulary.txt``, from 0."""
        unknown, end = self._ids[UNKNOWN], self._ids[END]
        return [
            encode_words(split_words(text.replace(APART, " ")), self._ids, unknown, end)
            for text in texts
        ]

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        rows = list[LogProbs | Failure]()
        for encoded in batch:
            # The last id is </s>, which KenLM adds.
            sentence = " ".join(self._words[i] for i in encoded.ids[:-1])
            scores = self._model.full_scores(sentence, bos=True, eos=True)
            # KenLM also gives the length of the n-gram, and whether the word is unknown.
            values = (log10 * LN10 for log10, _, _ in scores)
            rows.append(np.fromiter(values, np.float32, len(encoded.ids)))
        return rows

    def self_test(self) -> Findings:
        """Count the words; KenLM has checked its file."""
        return Findings(checks={"vocabulary": f"{len(self._words):,} words"})
