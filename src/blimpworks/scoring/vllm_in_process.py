"""Run a model by vLLM inside the job's own process."""

import gc
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic

import numpy as np
import torch

from blimpworks.errors import UserError
from blimpworks.scoring.engine import Failure, LogProbs
from blimpworks.scoring.vllm_client import Outcome, P, Prompt, R, run_batches
from blimpworks.scoring.vllm_server import is_full
from blimpworks.scoring.vllm_setup import Setup

LOWEST = -9999.0
"""vLLM's server's answer for the logarithm of zero."""


class Loaded(ABC, Generic[P, R]):
    """Runs requests through vLLM's offline API; the first loads the model."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    @abstractmethod
    def generate(self, model: Any, batch: Sequence[P]) -> list[R]:
        """Return the result of each request of a batch, from vLLM's ``LLM``."""

    def ask(self, requests: Sequence[P]) -> list[R | Failure]:
        """Return each request's result or failure. Raises UserError when loading fails."""
        return run_batches(requests, max(1, len(requests)), self._attempt)

    def close(self) -> None:
        """Release the model."""
        self.__dict__.pop("_model", None)
        gc.collect()

    @cached_property
    def _model(self) -> Any:
        # Read when vLLM is imported. One process ends cleanly, several do not always.
        environment = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        os.environ.update(self._setup.environment() | environment)
        if not self._setup.gpus:  # torch, if imported before, has chosen its own number
            torch.set_num_threads(self._setup.options.threads)
        from vllm import LLM

        try:
            return LLM(**self._setup.arguments())
        except Exception as error:
            # Anything from OSError to pydantic's ValidationError, by what is wrong.
            message = " ".join(str(error).split())[:300]
            raise UserError(
                f"{self._setup.model}: vLLM cannot load the model ({message}); correct the cause, "
                "or choose the engine transformers."
            ) from error

    def _attempt(self, batches: list[list[P]]) -> list[Outcome[R]]:
        return [self._generate(batch) for batch in batches]

    def _generate(self, batch: Sequence[P]) -> Outcome[R]:
        model = self._model
        from vllm.exceptions import VLLMValidationError

        try:
            return self.generate(model, batch)
        except VLLMValidationError:
            return "refused"
        except (RuntimeError, MemoryError) as error:
            if not is_full(str(error)) and not isinstance(error, MemoryError):
                raise
            # What was under way would come back with the next batch.
            self.close()
            return "out_of_memory"


class LoadedModel(Loaded[Prompt, LogProbs]):
    """Scores prompts in this process; see ``Loaded``."""

    def generate(self, model: Any, batch: Sequence[Prompt]) -> list[LogProbs]:
        """Return log-probabilities of each prompt's ids after the first."""
        inputs = [{"prompt_token_ids": prompt} for prompt in batch]
        outputs = model.generate(inputs, sampling(), use_tqdm=False)
        return [read_flat(output.prompt_logprobs) for output in outputs]


def sampling() -> Any:
    """Return the parameters of a prompt, in the form that ``read_flat`` reads."""
    from vllm import SamplingParams

    parameters = SamplingParams(
        prompt_logprobs=0, max_tokens=1, temperature=0, detokenize=False, flat_logprobs=True
    )
    # Else each request gets a deep copy of them, a twentieth of the time of short sentences.
    if hasattr(parameters, "skip_clone"):  # older ones have no such switch
        parameters.skip_clone = True
    return parameters


def read_flat(flat: Any) -> LogProbs:
    """Read vLLM's flat log-probabilities, which have no entry for the first id."""
    return np.maximum(np.array(flat.logprobs, dtype=np.float32), LOWEST)
