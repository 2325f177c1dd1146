"""Read a model's own files: architecture, number format, size, start; never run its code."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blimpworks.campaign.engines import default_engine
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import FILE_NAME, read_description
from blimpworks.models.converted import as_folder
from blimpworks.models.ngram import is_binary, unpacked_bytes
from blimpworks.models.starts import leading_ids, role_openers, start_ids, start_text
from blimpworks.models.weights import (
    NGRAM_FILES,
    gigabytes,
    is_weights,
    model_files,
    parameters_of,
    quantisation_of,
    read_json,
    refuse_adapter,
    refuse_named_code,
    refuse_own_code,
    total,
    weight_files,
)

HEADS = {
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",
    "ForMaskedLM": "masked",
    "ForConditionalGeneration": "encoder-decoder",
    "ForSeq2SeqLM": "encoder-decoder",
}
"""Architectures by the suffix of the class that a configuration names."""
FORMATS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
"""Number formats by their names in safetensors files."""
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of a model that is not loaded yet."""

    architecture: str
    """causal, masked, encoder-decoder, ngram or lstm."""
    dtype: str = "float32"
    """Number format of its weights, also for scoring."""
    first_token: FirstToken = "bos"
    """Policy for what conditions a sentence's first token."""
    parameters: int | None = None
    """Number of parameters; None if they cannot be counted (n-grams, packed weights)."""
    chat: bool = False
    scope: str = "multi"
    """Language of a monolingual model; else ``multi``."""
    file_gb: float = 0.0
    """Size of the files of a model whose parameters are not counted [GB]."""
    quantisation: str = ""
    """Quantisation of its weights, and the file that states it; empty if none."""
    start: str = ""
    """Start of texts, in words; empty where the tokenizer was not asked."""

    @property
    def engine(self) -> str:
        """Name of the engine that scores it unless another is named."""
        return default_engine(self.architecture).name


def architecture_of(config: Mapping[str, Any], where: str, given: str | None = None) -> str:
    """Return the architecture of the class that a configuration names.

    Messages call the configuration ``where``. ``given`` is the user's architecture, for a
    configuration that names none. Raises UserError for a model that is no language model.
    """
    classes = config.get("architectures") or []
    # Models that see pictures generate text conditionally, but by a causal model of text alone.
    sees = "text_config" in config and not config.get("is_encoder_decoder")
    for name in classes:
        if name.endswith("WithLMHeadModel"):  # XLM and FlauBERT, which are masked unless they say
            return "causal" if config.get("causal") else "masked"
        for end, architecture in HEADS.items():
            if name.endswith(end):
                return "causal" if sees and architecture == "encoder-decoder" else architecture
    if given is None:
        raise UserError(
            f"{where}: architectures is {classes}; expected a language model "
            f"({', '.join(f'…{end}' for end in HEADS)}). Name another model."
        )
    return given


def _policy_of(tokenizer: Any) -> FirstToken:
    """Return the first-token policy: what a tokenizer itself puts before a text.

    If that is nothing, or opens a role of a dialogue: the likeliest start for models with a chat
    template, for others the token that begins sentences, else the one that ends them.
    """
    leading = leading_ids(tokenizer)
    if tokenizer.chat_template and not {*leading[-1:]} - role_openers(tokenizer):
        return "likeliest"
    if leading:
        return "bos" if leading == [tokenizer.bos_token_id] else "tokenizer"
    if tokenizer.bos_token_id is not None:
        return "bos"
    return "eos" if tokenizer.eos_token_id is not None else "skip"


def first_token_of(
    folder: Path, architecture: str, where: str, requested: FirstToken | None = None
) -> tuple[FirstToken, str]:
    """Return first-token policy and start in words. Raises UserError without a usable tokenizer."""
    if architecture != "causal":
        return "bos", ""
    from blimpworks.models.hub_tokenizers import load_tokenizer

    try:
        tokenizer = load_tokenizer(folder).tokenizer
    except (OSError, ValueError, ImportError, KeyError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise UserError(
            f"{where} has no tokenizer that transformers can load ({reason}); expected "
            "tokenizer.json or the like beside the weights. Add the tokenizer's files."
        ) from error
    policy = requested or _policy_of(tokenizer)
    return policy, start_text(tokenizer, policy, start_ids(tokenizer, policy, where))


def format_of(counts: Mapping[str, int], config: Mapping[str, Any]) -> str:
    """Return the format of most of a model's numbers, else that of its configuration."""
    known_formats = [name for name in FORMATS if counts.get(name)]
    if known_formats:
        return FORMATS[max(known_formats, key=lambda name: counts[name])]
    named = config.get("dtype") or config.get("torch_dtype")
    return named if named in BYTES else "float32"


def has_chat_template(folder: Path) -> bool:
    """Whether a tokenizer's files have a chat template."""
    path = folder / "tokenizer_config.json"
    if (folder / "chat_template.jinja").exists():
        return True
    return path.exists() and "chat_template" in read_json(path, "a tokenizer's settings")


def _sealed(folder: Path, start: FirstToken | None) -> ModelFacts:
    """Return facts of a checkpoint of this package. Raises UserError for code in it."""
    refuse_own_code(folder)
    described = read_description(folder / FILE_NAME)
    files = [path for path in model_files(folder.iterdir(), str(folder)) if is_weights(path)]
    model = folder / NGRAM_FILES[0]
    first_token, start_note = described.first_token, ""
    if start:
        first_token, start_note = first_token_of(folder, described.architecture, str(folder), start)
    return ModelFacts(
        architecture=described.architecture,
        dtype=described.dtype,
        first_token=first_token,
        parameters=parameters_of(folder, total(files)),
        chat=has_chat_template(folder),
        scope=described.scope,
        file_gb=gigabytes([model] if model.exists() else files),
        quantisation=quantisation_of(folder),
        start=start_note,
    )


def described_facts(
    folder: Path,
    counts: Mapping[str, int],
    where: str,
    given: str | None = None,
    file_gb: float = 0.0,
    start: FirstToken | None = None,
) -> ModelFacts:
    """Return facts of a model by its configuration and tokenizer in Hugging Face's layout.

    ``counts`` are the weights' numbers of each format, ``file_gb`` their size [GB]; the weights
    themselves may be elsewhere. Messages call the model ``where``; ``given`` as in
    ``architecture_of``; ``start`` is the ``requested`` of ``first_token_of``. Raises UserError as
    ``architecture_of``, ``refuse_named_code`` and ``first_token_of`` do.
    """
    refuse_named_code(sorted(folder.glob("*.json")), where)
    config = read_json(folder / "config.json", "a model's configuration")
    architecture = architecture_of(config, f"{where}: config.json", given)
    quantisation = quantisation_of(folder)
    first_token, start_note = first_token_of(folder, architecture, where, start)
    return ModelFacts(
        architecture=architecture,
        dtype=format_of(counts, config),
        first_token=first_token,
        parameters=parameters_of(folder, counts),
        chat=has_chat_template(folder),
        file_gb=file_gb,
        quantisation=quantisation,
        start=start_note,
    )


def facts_of(
    place: Path, architecture: str | None = None, start: FirstToken | None = None
) -> ModelFacts:
    """Return facts from files in Hugging Face's layout, a checkpoint of ours, or n-grams.

    ``architecture`` is the user's, for a configuration that names none; ``start`` replaces the
    files' start. A GGUF file is converted first, and an adapter is merged into its base. Raises
    UserError for no language model or a part of one, pickled weights, or a model that needs its
    own code.
    """
    place = as_folder(place)
    if place.is_file():
        is_binary(place)  # which raises for what is no n-gram file
        return ModelFacts("ngram", file_gb=unpacked_bytes(place) / 1e9)
    if not place.is_dir():
        raise UserError(f"{place} is no directory; expected a model in Hugging Face's layout.")
    refuse_adapter((path.name for path in place.iterdir()), str(place))
    if (place / FILE_NAME).exists():
        return _sealed(place, start)
    # The configuration goes first: without one the directory is no model at all.
    config = read_json(place / "config.json", "a model's configuration")
    refuse_own_code(place)
    architecture_of(config, f"{place / 'config.json'}", architecture)
    files = weight_files(place)
    return described_facts(place, total(files), str(place), architecture, gigabytes(files), start)
