"""Load models in Hugging Face's layout whole, or refuse them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
import transformers
from safetensors import safe_open
from transformers import AutoConfig, PreTrainedModel
from transformers.conversion_mapping import get_model_conversion_mapping

from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.models.hub_tokenizers import load_tokenizer
from blimpworks.models.starts import start_ids
from blimpworks.scoring.engine import Encoded, Ids, loading

CLASSES = {
    "causal": ("AutoModelForCausalLM", "AutoModelForMultimodalLM", "AutoModelForImageTextToText"),
    "masked": ("AutoModelForMaskedLM",),
    "encoder-decoder": ("AutoModelForSeq2SeqLM",),
}
"""Classes of transformers by architecture; the first that has the configuration loads it."""
WHOLE = "the files have each weight of the model"
HALVES = (torch.bfloat16, torch.float16)
PREFIXES = ("_orig_mod.", "module.", "_fsdp_wrapped_module.", "model.", "base_model.model.")
"""Prefixes of weights' names that training programs write."""


def read_settings(directory: Path) -> Any:
    """Read a model's configuration. Raises UserError if transformers does not know it."""
    with loading(directory):
        return AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)


def positions(settings: Any) -> int | None:
    """Return a model's number of positions; None without limit, which some write as 0 or -1."""
    context = getattr(settings, "max_position_embeddings", None)
    return context if isinstance(context, int) and context > 0 else None


def auto_class(settings: Any, architecture: str, directory: Path) -> Any:
    """Find the class of transformers that loads a model. Raises UserError if there is none."""
    for name in CLASSES[architecture]:
        model_class = getattr(transformers, name, None)  # some versions lack some
        if model_class is not None and type(settings) in model_class._model_mapping:
            return model_class
    for name in settings.architectures or ():
        model_class = getattr(transformers, name, None)
        if isinstance(model_class, type) and issubclass(model_class, PreTrainedModel):
            return model_class
    raise UserError(
        f"{directory / 'config.json'} is of a {settings.model_type} model, of which transformers "
        f"{transformers.__version__} has no {architecture} language model; name another model."
    )


def load_model(
    directory: Path, architecture: str, dtype: torch.dtype, device: torch.device
) -> tuple[PreTrainedModel, str]:
    """Load a model with all its weights, and say in words what was checked.

    A multimodal model is loaded whole, and its text part reads sentences. Raises UserError for
    weights that are missing or have another shape.
    """
    settings = read_settings(directory)
    with loading(directory):
        model, info = auto_class(settings, architecture, directory).from_pretrained(
            directory,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            dtype=dtype,
        )
    unused = sorted(info["unexpected_keys"])
    missing = sorted(
        {*info["missing_keys"], *(mismatched[0] for mismatched in info["mismatched_keys"])}
    )
    if missing or info["error_msgs"]:
        raise UserError(_without_weights(directory, type(model).__name__, missing, unused))
    torch.nn.Module.to(model, device)
    weights_note = WHOLE
    if unused:
        more = f" and {len(unused) - 2} more" if len(unused) > 2 else ""
        weights_note += f"; not used: {', '.join(unused[:2])}{more}"
    return model.eval(), weights_note


def check_names(directory: Path) -> str:
    """Compare the weights' names of a causal model with its files; say in words what was seen.

    For engines that load weights themselves, and may leave memory unset where one is missing.
    Raises UserError for missing weights.
    """
    settings = read_settings(directory)
    with loading(directory), torch.device("meta"):
        causal_class = auto_class(settings, "causal", directory)
        model = causal_class.from_config(settings, trust_remote_code=False)
    if get_model_conversion_mapping(model, add_legacy=False):
        return "not compared by name, because transformers renames them when it loads them"
    names: set[str] = set()
    for path in directory.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            names |= {*file.keys()}
    lead = f"{model.base_model_prefix}."
    present = names | {lead + name for name in names} | {name.removeprefix(lead) for name in names}
    tied: dict[int, list[str]] = {}
    for name, tensor in model.named_parameters(remove_duplicate=False):
        tied.setdefault(id(tensor), []).append(name)
    missing = [group[0] for group in tied.values() if not present & {*group}]
    if missing:
        expected = {*chain.from_iterable(tied.values())}
        unused = sorted(name for name in names if not {name, lead + name} & expected)
        raise UserError(_without_weights(directory, type(model).__name__, missing, unused))
    return WHOLE


def _without_weights(directory: Path, name: str, missing: list[str], unused: list[str]) -> str:
    """Say which weights are missing, and the remedy."""
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    count = f"{len(missing)} weights" if len(missing) > 1 else "a weight"
    cut = (p for p in PREFIXES if {name.removeprefix(p) for name in unused} & {*missing})
    if prefix := next(cut, None):
        remedy = f"their names there begin with {prefix!r}: save them without it"
    elif unused:
        remedy = (
            f"they have {unused[0]!r} in place of it: name in config.json the class that the "
            "weights were saved from, or convert them"
        )
    else:
        remedy = "save the model whole, or name in config.json the class that has these alone"
    return (
        f"{directory}: the files *.safetensors lack {count} of {name} "
        f"({', '.join(missing[:3])}{more}), which would be made up at random; {remedy}."
    )


def tensors_of(modules: Sequence[torch.nn.Module]) -> list[torch.Tensor]:
    """Collect the parameters and buffers of modules, each once."""
    every = (
        tensor
        for module in modules
        for tensor in chain(module.parameters(recurse=False), module.buffers(recurse=False))
    )
    return [*{id(tensor): tensor for tensor in every}.values()]


def fits_in_float32(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether memory suffices for a model's half precision tensors at twice their size."""
    more = sum(tensor.numel() * 2 for tensor in tensors if tensor.dtype in HALVES)
    device = tensors[0].device
    if device.type == "cuda":
        return bool(1.2 * more < torch.cuda.mem_get_info(device)[0])
    # Jobs on a cluster have asked for little more than the weights take.
    return bool(more < min(2**31, psutil.virtual_memory().available / 2))


@contextmanager
def in_float32(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """Run a block with a model's half precision tensors in float32."""
    halves = [(tensor, tensor.dtype) for tensor in tensors if tensor.dtype in HALVES]
    for tensor, _ in halves:
        tensor.data = tensor.data.float()
    try:
        yield
    finally:
        for tensor, dtype in halves:
            tensor.data = tensor.data.to(dtype)


def complete_characters(starts: Ids, ends: Ids, lengths: Ids) -> Ids:
    """Count the characters complete after each token, from a tokenizer's offsets [tokens].

    ``lengths`` [texts] are the texts' numbers of tokens. Tokenizers give a token with part of a
    character the whole of it. Here such a token ends at the character's start, so that tokens never
    overlap.
    """
    if len(ends) == 0:
        return ends
    text = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    following = np.append(starts[1:], ends[-1])
    last = np.append(text[1:] != text[:-1], True)
    corrected = np.where(last, ends, np.minimum(ends, following))
    # A running maximum that starts anew with each text.
    base = text * (int(ends.max()) + 1)
    return (np.maximum.accumulate(corrected + base) - base).astype(np.int32)


class HubTokenizer:
    """Turns texts into ids without special tokens; knows the ids before every text."""

    policy: str
    """Policy behind ``prefix``; see ``models.starts``."""
    prefix: list[int]
    """Ids before every text; none under ``skip``."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer. Raises UserError for a slow one, or without the policy's token."""
        self.hub, self.source, self.variant = load_tokenizer(checkpoint.parent)
        """The tokenizer as transformers knows it; see ``LoadedTokenizer``."""
        if not self.hub.is_fast:
            raise UserError(
                f"{checkpoint.parent} has no fast tokenizer (tokenizer.json), which character "
                "offsets need; convert the tokenizer."
            )
        self._backend = self.hub.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        self._checkpoint = str(checkpoint)
        self.policy = described.first_token
        self.start(self.policy)

    def start(self, policy: str) -> None:
        """Set the ids before every text. Raises UserError for a policy without its token."""
        self.prefix = start_ids(self.hub, policy, self._checkpoint)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        # Without the layer above, which makes further lists of every text.
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        lengths = np.array([len(encoding.ids) for encoding in encodings], dtype=np.int32)
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int32, lengths.sum())
        spans = [*chain.from_iterable(encoding.offsets for encoding in encodings)]
        offsets = np.array(spans, dtype=np.int32).reshape(-1, 2)
        ends = complete_characters(offsets[:, 0], offsets[:, 1], lengths)
        bounds = pairwise([0, *np.cumsum(lengths).tolist()])
        return [Encoded(ids[a:b], ends[a:b]) for a, b in bounds]
