"""Load models and tokenizers in Hugging Face's layout, and compute log-probabilities.

``load_model`` returns a model with all its weights; ``HubTokenizer`` turns texts into ids with
character offsets. ``split_model`` divides a model into its layers and its head, which computes
logits. ``target_logprobs`` applies the head to only the hidden states that are needed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoConfig, PreTrainedModel
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from blimpworks.errors import UserError
from blimpworks.items import APART
from blimpworks.models.checkpoint import Checkpoint, weight_files
from blimpworks.models.facts import start_ids
from blimpworks.models.hub_tokenizers import load_tokenizer
from blimpworks.models.own_code import is_own, own_class
from blimpworks.scoring.engine import Encoded, Ids, loading

CLASSES = {
    "causal": ("AutoModelForCausalLM", "AutoModelForMultimodalLM", "AutoModelForImageTextToText"),
    "masked": ("AutoModelForMaskedLM",),
    "encoder-decoder": ("AutoModelForSeq2SeqLM",),
}
"""Classes of transformers by architecture. The first that has a model's configuration loads it."""
WHOLE = "the files have each weight of the model"  # finding of the self-test about weights
HALVES = (torch.bfloat16, torch.float16)  # number formats of half precision
PREFIXES = ("_orig_mod.", "module.", "_fsdp_wrapped_module.", "model.", "base_model.model.")
"""Prefixes that training programs write before the names of weights."""


def read_settings(directory: Path) -> Any:
    """Read a model's configuration. Raises UserError if transformers cannot read it."""
    with loading(directory):
        config = own_class(directory, "AutoConfig") or AutoConfig
        return config.from_pretrained(directory, local_files_only=True, trust_remote_code=False)


def positions(settings: Any) -> int | None:
    """Return the number of positions in a configuration; None without limit (also for 0 and -1)."""
    context = getattr(settings, "max_position_embeddings", None)
    return context if isinstance(context, int) and context > 0 else None


def auto_class(settings: Any, architecture: str, directory: Path) -> Any:
    """Find the class that loads a model, its own or of transformers. UserError if none exists."""
    for name in CLASSES[architecture]:
        if model_class := own_class(directory, name):
            return model_class
        model_class = getattr(transformers, name, None)  # not every version has all
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
    """Load a model and check that it has all its weights; return both model and finding.

    A multimodal model is loaded completely, and its text model reads sentences. Raises UserError
    for weights that are missing or have another shape.
    """
    settings = read_settings(directory)
    with loading(directory):
        model_class = auto_class(settings, architecture, directory)
        if is_own(model_class):
            model, info = _filled(model_class, settings, directory, dtype)
        else:
            model, info = model_class.from_pretrained(
                directory,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                dtype=dtype,
            )
        _check_tied(directory, model)
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


def _filled(
    model_class: Any, settings: Any, directory: Path, dtype: torch.dtype
) -> tuple[Any, dict[str, list[Any]]]:
    """Construct a model by its own code, fill in its weights, and return it with ``loading_info``.

    ``from_pretrained`` constructs models without memory. So a table that only the constructor
    computes, such as one of positions, would be random, unless the code is for transformers 5.
    """
    dtype_before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        model = model_class(settings)
    finally:
        torch.set_default_dtype(dtype_before)
    weights = {name: w for path in weight_files(directory) for name, w in load_file(path).items()}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    tensors = model.state_dict(keep_vars=True)
    # If a weight has several names, files have one of them. Buffers are computed, not learned.
    loaded_ids = {id(tensors[name]) for name in weights.keys() & tensors.keys()}
    learned = {name for name, tensor in tensors.items() if isinstance(tensor, torch.nn.Parameter)}
    missing = [name for name in missing if name in learned and id(tensors[name]) not in loaded_ids]
    loading_info = {"missing_keys": missing, "unexpected_keys": unexpected}
    return model, loading_info | {"mismatched_keys": [], "error_msgs": []}


def check_names(directory: Path) -> str:
    """Compare the names of a causal model's weights with its files; return the finding in words.

    Raises UserError for a weight that the files lack: vLLM would compute with random memory.
    """
    settings = read_settings(directory)
    with loading(directory), torch.device("meta"):
        causal_class = auto_class(settings, "causal", directory)
        model = causal_class.from_config(settings, trust_remote_code=False)
    _check_tied(directory, model)
    if get_model_conversion_mapping(model, add_legacy=False):
        return "not compared by name, because transformers renames them when it loads them"
    names = {*_files_of_weights(directory)}
    # Some files lack the name of the model without its head, such as "model.", before each name;
    # others have it where the model does not. ``aliases`` has both forms.
    lead = f"{model.base_model_prefix}."
    aliases = names | {lead + name for name in names} | {name.removeprefix(lead) for name in names}
    # The names of each weight; a tied one has several.
    tied: dict[int, list[str]] = {}
    for name, tensor in model.named_parameters(remove_duplicate=False):
        tied.setdefault(id(tensor), []).append(name)
    # vLLM looks only for the first name of a tied weight. Without it, vLLM computes with zeros.
    missing = [group[0] for group in tied.values() if group[0] not in aliases]
    if missing:
        expected = {*chain.from_iterable(tied.values())}
        unused = sorted(name for name in names if not {name, lead + name} & expected)
        raise UserError(_without_weights(directory, type(model).__name__, missing, unused))
    return WHOLE


def _files_of_weights(directory: Path) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for path in directory.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            paths |= dict.fromkeys(file.keys(), path)
    return paths


def _check_tied(directory: Path, model: PreTrainedModel) -> None:
    """Raise UserError if config.json ties two weights, and files have different values for them.

    Tied weights are one weight with two names, such as embeddings and output layer.
    Transformers 5 would compute with both values, transformers 4 and vLLM with one of them.
    """
    lead = f"{model.base_model_prefix}."
    files = {
        name.removeprefix(lead): (path, name) for name, path in _files_of_weights(directory).items()
    }
    for pair in model.get_expanded_tied_weights_keys(all_submodels=True).items():
        # File and name of each of the two weights; a file usually has only one of them.
        stored = [files[name] for key in pair if (name := key.removeprefix(lead)) in files]
        tensors = []
        for path, name in stored:
            with safe_open(path, framework="pt") as file:
                tensors.append(file.get_tensor(name))
        if len(tensors) == 2 and not torch.equal(*tensors):
            raise UserError(
                f"{directory}: config.json says that {' and '.join(pair)} are one weight, and the "
                "files have two different ones, of which programs use one or both; expected one. "
                "Set tie_word_embeddings to false in config.json if the model was trained with "
                "both, or take the other one out of the files."
            )


def _without_weights(directory: Path, name: str, missing: list[str], unused: list[str]) -> str:
    """Return a message about the ``missing`` weights of the class ``name``, with a remedy.

    ``unused`` are weights in the files that the model does not have.
    """
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    count = f"{len(missing)} weights" if len(missing) > 1 else "a weight"
    prefixes = [p for p in PREFIXES if {name.removeprefix(p) for name in unused} & {*missing}]
    if prefixes:
        remedy = f"their names there begin with {prefixes[0]!r}: save them without it"
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
    """Return the parameters and buffers of modules, each once."""
    all_tensors = (
        tensor
        for module in modules
        for tensor in chain(module.parameters(recurse=False), module.buffers(recurse=False))
    )
    return [*{id(tensor): tensor for tensor in all_tensors}.values()]


@contextmanager
def in_float32(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """Convert half precision tensors to float32 while a block runs; none if memory is short."""
    halves = [(tensor, tensor.dtype) for tensor in tensors if tensor.dtype in HALVES]
    # A number takes two bytes more in float32. On a CPU, the room is at most 2 GiB, since jobs of
    # clusters have little memory beyond the weights; on a GPU, a sixth must remain free.
    room = min(2**31, psutil.virtual_memory().available / 2)
    if tensors[0].is_cuda:
        room = torch.cuda.mem_get_info(tensors[0].device)[0] / 1.2
    if sum(tensor.numel() * 2 for tensor, _ in halves) >= room:
        halves = []
    for tensor, _ in halves:
        tensor.data = tensor.data.float()
    try:
        yield
    finally:
        for tensor, dtype in halves:
            tensor.data = tensor.data.to(dtype)


def complete_characters(starts: Ids, ends: Ids, lengths: Ids) -> Ids:
    """Return the number of complete characters after each token, from its offsets [tokens].

    ``lengths`` [texts] are the texts' numbers of tokens. If several tokens divide a character, the
    tokenizer's offsets of each such token include it. Here only the last of these tokens ends
    after the character; the others end before it: ``(0, 1) (0, 1)`` for é gives ``0 1``.
    """
    if len(ends) == 0:
        return ends
    text_of_token = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    next_starts = np.append(starts[1:], ends[-1])
    is_last = np.append(text_of_token[1:] != text_of_token[:-1], True)  # token of its text
    corrected_ends = np.where(is_last, ends, np.minimum(ends, next_starts))
    # A running maximum within each text, since ``base`` makes ends larger than in earlier texts.
    base = text_of_token * (int(ends.max()) + 1)
    return (np.maximum.accumulate(corrected_ends + base) - base).astype(np.int32)


class HubTokenizer:
    """Turns texts into ids without special tokens, and has the ids to put before each text."""

    policy: str
    """First-token policy that decides ``prefix``; see ``models.facts``."""
    prefix: list[int]
    """Ids to put before each text; empty for the policy ``skip``."""
    after_target: tuple[int, ...] = ()
    """Ids to put after the token to score in a step of a word (see ``Encoded.steps``)."""

    def __init__(self, checkpoint: Path, described: Checkpoint) -> None:
        """Load the tokenizer. Raises UserError if it is slow, or lacks the policy's token."""
        self.hub, self.source, self.variant = load_tokenizer(checkpoint.parent)
        """Tokenizer of transformers, source of its ids, and variant; see ``LoadedTokenizer``."""
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
        """Set the ids before each text. Raises UserError if the policy's token is missing."""
        self.prefix = start_ids(self.hub, policy, self._checkpoint)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        # Called directly, because transformers would make more lists for each text.
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        lengths = np.array([len(encoding.ids) for encoding in encodings], dtype=np.int32)
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int32, lengths.sum())
        spans = [*chain.from_iterable(encoding.offsets for encoding in encodings)]
        offsets = np.array(spans, dtype=np.int32).reshape(-1, 2)
        ends = complete_characters(offsets[:, 0], offsets[:, 1], lengths)
        bounds = pairwise([0, *np.cumsum(lengths).tolist()])
        encoded = [Encoded(ids[a:b], ends[a:b]) for a, b in bounds]
        for number, text in enumerate(texts):
            if APART in text:
                encoded[number] = self._encode_apart(*text.split(APART))
        return encoded

    def _encode_apart(self, context: str, word: str) -> Encoded:
        """Encode a word apart from its context, with one step to score each of its tokens.

        For a word of the tokens ``bark`` and ``ing``, the first step reads the context and scores
        ``bark``. The second encodes the context and ``bark`` as a new text, and scores ``ing``.
        """
        before, after = self.encode([context, word])
        steps, text_before = [], context
        for number, token in enumerate(after.ids.tolist()):
            # The word's first token keeps its id. The text of a later token is encoded alone, and
            # the first id of the result is scored.
            text = str(self.hub.decode(token))
            text_ids = self.encode([text])[0].ids[:1] if number else after.ids[:1]
            # Some tokens have no text of their own, such as a space at the start of a word.
            target = text_ids if len(text_ids) else [token]
            ids_before = self.encode([text_before])[0].ids if number else before.ids
            ids = np.array([*ids_before, *target, *self.after_target], dtype=np.int32)
            steps.append(Encoded(ids, np.zeros_like(ids), np.arange(len(ids)) == len(ids_before)))
            text_before += text
        # The offsets of the word count the character ``APART`` too.
        return Encoded(
            np.concatenate([before.ids, after.ids]),
            np.concatenate([before.ends, after.ends + np.int32(len(context) + 1)]),
            np.arange(len(before.ids) + len(after.ids)) >= len(before.ids),
            tuple(steps),
        )


DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
TOLERANCE = {torch.float32: 1e-4, torch.float16: 0.05, torch.bfloat16: 0.25}
"""Largest effect of rounding on a log-probability, by number format [nats]."""
Head = Callable[[torch.Tensor], torch.Tensor]
"""Function from hidden states [rows, width] to logits [rows, vocabulary]."""
FOREIGN = (
    AttributeError, TypeError, ValueError, RuntimeError, IndexError, KeyError, AssertionError,
    NotImplementedError, ImportError, ZeroDivisionError,
)  # fmt: skip
"""Errors that a model's code may raise for input that it was not written for."""
LOGIT_ROWS = {"cpu": 128, "cuda": 1024}
"""Number of rows for which logits are computed at a time, by device. A CPU is fastest if they fit
into its cache, a GPU if it has enough work."""
BLOCK = 2048
"""Number of ids of a large vocabulary whose logits a CPU computes at a time, in its cache."""
LARGE = 65_536
"""Number of ids above which a vocabulary is large."""


def versions() -> str:
    """Return the versions of the libraries that decide ids and log-probabilities."""
    names = ("transformers", "tokenizers", "torch")
    return " ".join(f"{name} {version(name)}" for name in names)


def target_logprobs(
    hidden: torch.Tensor,
    head: Head | None,
    target: torch.Tensor,
    parent: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return log-probabilities of the ids ``target`` under softmax(head(``hidden``)) [targets].

    ``hidden`` [rows, width] are hidden states; without ``head`` they are logits. ``parent``
    [targets] is the row of each target, never falling and on the CPU; by default each row has one
    target. The parents [0, 0, 1] mean two targets in row 0, and one in row 1. Softmax is computed
    in float32, and for some rows at a time, which takes less memory. On a CPU, a linear layer to a
    large vocabulary is computed in blocks of ids.
    """
    if parent is None:
        parent = torch.arange(len(target))
    # The rows are divided into groups of ``step`` rows. The targets of group g are those from
    # bounds[g] to bounds[g + 1]; ``row`` [targets] is the number of each target's row in its group.
    step = LOGIT_ROWS[hidden.device.type]
    starts = torch.arange(0, len(hidden), step)
    bounds = [*torch.searchsorted(parent, starts).tolist(), len(parent)]
    row = parent.to(hidden.device) % step
    on_cpu = hidden.device.type == "cpu"
    linear = head if on_cpu and isinstance(head, torch.nn.Linear) else None
    logprobs = torch.empty(len(target), dtype=torch.float32, device=hidden.device)
    for first, chosen in zip(starts.tolist(), map(slice, bounds, bounds[1:]), strict=True):
        rows = hidden[first : first + step]
        if linear and linear.out_features > LARGE:
            logprobs[chosen] = _in_blocks(rows, linear, row[chosen], target[chosen])
        else:
            normal = (head(rows) if head else rows).log_softmax(1, dtype=torch.float32)
            logprobs[chosen] = normal[row[chosen], target[chosen]]
    # NaN means that a token was not scored, so a computed NaN is replaced.
    return logprobs.masked_fill_(logprobs.isnan(), torch.inf)


def _in_blocks(
    rows: torch.Tensor, head: torch.nn.Linear, row: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    """Return log-probabilities of ids; ``row`` [targets] is the row of each in ``rows`` [targets].

    ``rows`` [rows, width] are hidden states. The logarithm of the sum over the vocabulary, which
    each softmax needs, is put together from those of the blocks.
    """
    target_logits = torch.empty(len(target), dtype=torch.float32)
    sums = []
    for start in range(0, head.out_features, BLOCK):
        bias = None if head.bias is None else head.bias[start : start + BLOCK]
        logits = torch.nn.functional.linear(rows, head.weight[start : start + BLOCK], bias).float()
        in_block = ((target >= start) & (target < start + BLOCK)).nonzero()[:, 0]
        target_logits[in_block] = logits[row[in_block], target[in_block] - start]
        sums.append(logits.logsumexp(1))
    return target_logits - torch.stack(sums).logsumexp(0)[row]


class _Outputs(BaseModelOutputWithPastAndCrossAttentions):
    """Outputs with hidden states, and None for any other field that a model's code reads."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):  # of Python, which asks whether an object has ``__len__``
            raise AttributeError(name)


class _EmbeddingsReturner(torch.nn.Module):
    """Module that replaces the inner part of a model, and returns the embeddings that it gets."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.__dict__["inner"] = [inner]  # in a list, so that it is not registered as a submodule

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["inner"][0], name)

    def forward(self, *_: Any, inputs_embeds: torch.Tensor, **__: Any) -> _Outputs:
        return _Outputs(last_hidden_state=inputs_embeds)


def split_model(
    model: PreTrainedModel,
    inner: torch.nn.Module,
    run: Callable[[], torch.Tensor],
    logits: torch.Tensor,
    arguments: Callable[[torch.Tensor], dict[str, Any]] = lambda hidden: {"inputs_embeds": hidden},
) -> Head | None:
    """Split a model before its head and return the head; None if the model cannot be split.

        ids → ``inner`` (embeddings and layers) → hidden states → head → logits.

    The head is the model's last layer if that gives the same bits. Otherwise it is the model
    itself, in which a module that returns its embeddings replaces the module ``inner``: all code
    after ``inner`` is run, such as soft capping. ``arguments`` makes the model's arguments from
    hidden states [1, rows, width]. ``run`` returns the hidden states of a test input, and
    ``logits`` are the model's logits for this input, which the head must reproduce.
    """

    def head(hidden: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = model(**arguments(hidden[None]), use_cache=False).logits[0]
        return result

    name = next((name for name, module in model.named_modules() if module is inner), "")
    if not name:
        return None
    try:
        hidden = run()
        model.set_submodule(name, _EmbeddingsReturner(inner))
        split_logits = head(hidden)
        is_same = split_logits.shape == logits.shape and torch.allclose(
            split_logits, logits, rtol=1e-2, atol=1e-2
        )
    except FOREIGN:
        is_same = False
    if not is_same:
        model.set_submodule(name, inner)
        return None
    with suppress(*FOREIGN):
        layer = model.get_output_embeddings()  # type: ignore[no-untyped-call]
        if type(layer) is torch.nn.Linear and torch.equal(layer(hidden[None])[0], split_logits):
            return layer
    return head
