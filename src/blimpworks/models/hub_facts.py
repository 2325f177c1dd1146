"""Find the facts of models of the Hugging Face hub without a download of safetensors files."""

import re
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import SafetensorsParsingError
from huggingface_hub.hf_api import ModelInfo

from blimpworks.campaign.addresses import offline_variable
from blimpworks.errors import UserError
from blimpworks.models import checkpoint
from blimpworks.models.facts import (
    ALL_FROM_FILES,
    BYTES,
    FORMATS,
    ModelFacts,
    UserChoice,
    described_facts,
    facts_of,
    format_of,
)
from blimpworks.models.hub import (
    HUB_ERRORS,
    LEFT_OUT,
    HubAddress,
    code_folder,
    complete_files,
    explained_errors,
    shared_snapshot,
    snapshot_of,
    with_retries,
)

_UNREADABLE: tuple[type[Exception], ...] = (*HUB_ERRORS, SafetensorsParsingError)
WEIGHTS = "*.safetensors"  # pattern of files
MOST_HEADS = 8
"""Largest number of weight files whose heads are read. A head is the JSON text at the start of a
safetensors file, with the shape of each tensor. With more files, parameters are estimated."""


def hub_facts(
    hf_id: str,
    revision: str,
    choice: UserChoice = ALL_FROM_FILES,
    shared: Path | None = None,
) -> tuple[ModelFacts, str, bool]:
    """Return the facts of a hub model at a revision, its commit, and whether it is gated.

    Only small files, the heads of weights, and a GGUF file are downloaded. Offline the facts come
    from a complete copy in the user's cache, or in the cache ``shared``. Raises UserError if the
    model cannot be had or scored, or its own code is not trusted.
    """
    model = HubAddress(hf_id, revision)
    if offline_variable() is not None:
        return _cached_facts(model, choice, shared)
    with explained_errors(model.hf_id, model.revision):
        ask = partial(HfApi().model_info, model.repository, revision=revision, files_metadata=True)
        info = with_retries(ask)
        size_of_file = {file.rfilename: file.size or 0 for file in info.siblings or []}
        commit = info.sha or revision
        if model.file:
            (file,) = complete_files(snapshot_of(model, commit), model)
            return facts_of(file, choice), commit, bool(info.gated)
        _check_weights(size_of_file, hf_id)
        small = [pattern for pattern in checkpoint.TRANSFORMERS_FILES if pattern != WEIGHTS]
        patterns = {"allow_patterns": small, "ignore_patterns": [*LEFT_OUT, WEIGHTS]}
        download = partial(snapshot_download, hf_id, revision=commit, **patterns)
        folder = Path(with_retries(download))
        if choice.trusted:
            code_folder(hf_id, commit)  # downloads the model's own code

    top_level = (folder / name for name in size_of_file if "/" not in name)
    paths = checkpoint.model_files(top_level, hf_id)
    weights = [path.name for path in paths if checkpoint.is_weights(path)]
    size = sum(size_of_file[name] for name in weights)
    # Numbers of parameters by format: as the hub states them, else from heads, else estimated.
    counts = _announced_counts(info, size) or _count_by_heads(hf_id, commit, weights)
    counts = counts or _estimate_counts(size, folder)
    model_facts = described_facts(folder, counts, hf_id, size / 1e9, choice)
    return model_facts, commit, bool(info.gated)


def _cached_facts(
    model: HubAddress, choice: UserChoice, shared: Path | None
) -> tuple[ModelFacts, str, bool]:
    with explained_errors(model.hf_id, model.revision):
        folder = shared_snapshot(model, shared, model.revision) if shared else None
        folder = folder or snapshot_of(model, model.revision)
    if model.file:
        (file,) = complete_files(folder, model)
        return facts_of(file, choice), folder.name, False
    weights = [path for path in complete_files(folder, model) if checkpoint.is_weights(path)]
    counts, size = checkpoint.count_numbers(weights), checkpoint.gigabytes(weights)
    return described_facts(folder, counts, model.hf_id, size, choice), folder.name, False


def _check_weights(files: Iterable[str], hf_id: str) -> None:
    """Raise UserError for an adapter, and for a model without safetensors."""
    top_level = [name for name in files if "/" not in name]
    checkpoint.refuse_adapter(top_level, hf_id)
    if any(fnmatch(name, WEIGHTS) and not fnmatch(name, checkpoint.REPEATED) for name in top_level):
        return
    if gguf_files := [name for name in files if name.endswith(".gguf")]:
        raise UserError(
            f"model {hf_id!r} has GGUF files in place of *.safetensors; name one of them, such as "
            f"{hf_id}:{gguf_files[0]}."
        )
    folder = Path(Path(hf_id).name)
    raise checkpoint.no_weights(map(Path, top_level), f"model {hf_id!r}", folder, hf_id)


def _announced_counts(info: ModelInfo, size: int) -> Counter[str]:
    """Return the hub's counts of parameters by format; none if these need over ``size`` bytes."""
    counts = Counter(info.safetensors.parameters if info.safetensors else {})
    bits = 0
    for name, count in counts.items():
        width = re.search(r"\d+", name)  # a number in F16 has 16 bits
        bits += count * int(width[0]) if width else 0
    return counts if bits <= 8 * size else Counter()


def _count_by_heads(hf_id: str, commit: str, names: list[str]) -> Counter[str]:
    """Count parameters by format from the heads of weight files; empty if they cannot be read."""
    counts: Counter[str] = Counter()
    if len(names) > MOST_HEADS:
        return counts
    try:
        for name in names:
            head = HfApi().parse_safetensors_file_metadata(hf_id, name, revision=commit)
            counts.update(head.parameter_count)
    except _UNREADABLE:
        return Counter()
    return counts


def _estimate_counts(size: int, folder: Path) -> Counter[str]:
    """Estimate the count of parameters from the size of the weights and the configured format."""
    config = checkpoint.read_json(folder / "config.json", "a model's configuration")
    dtype = format_of({}, config)
    safetensors_name = next(name for name, torch_name in FORMATS.items() if torch_name == dtype)
    return Counter({safetensors_name: size // BYTES[dtype]})
