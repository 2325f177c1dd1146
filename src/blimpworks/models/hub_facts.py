"""Find facts of a hub model from its small files and heads of weights, without the weights."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import requests
from huggingface_hub import HfApi, get_token, hf_hub_url, snapshot_download
from huggingface_hub.hf_api import ModelInfo

from blimpworks.campaign.addresses import offline_variable
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError
from blimpworks.models.facts import BYTES, FORMATS, ModelFacts, described_facts, facts_of, format_of
from blimpworks.models.hub_errors import explained_errors, patiently
from blimpworks.models.retrieve import (
    LEFT_OUT,
    HubModel,
    complete_files,
    shared_snapshot,
    snapshot_of,
)
from blimpworks.models.weights import (
    PICKLED,
    REPEATED,
    TRANSFORMERS_FILES,
    gigabytes,
    is_weights,
    model_files,
    read_json,
    refuse_adapter,
    sizes,
    total,
)

WEIGHTS = "*.safetensors"
MOST_HEADS = 8
"""Weight files whose heads are read; for models with more, sizes give the numbers."""
LARGEST_HEAD = 50_000_000
PATIENCE = 20.0
"""Seconds to wait for a head."""


def hub_facts(
    hf_id: str,
    revision: str,
    *,
    shared: Path | None = None,
    architecture: str | None = None,
    start: FirstToken | None = None,
) -> tuple[ModelFacts, str, bool]:
    """Return facts of a hub model at a branch, tag or commit; the commit; and whether it is gated.

    Offline they come from a complete copy in the cache, or in ``shared``, a cache that many read.
    ``architecture`` and ``start`` are the user's; see ``facts_of``.

    Raises UserError for a model that is missing, gated, incomplete, without safetensors weights, an
    adapter, no language model or in need of its own code; for an unreachable hub; and offline for
    an incomplete copy.
    """
    model = HubModel("", "multi", "", "", "bos", hf_id, revision)
    if offline_variable() is not None:
        return _cached_facts(model, shared, architecture, start)
    with explained_errors(model.hf_id, model.revision):
        ask = partial(HfApi().model_info, model.repository, revision=revision, files_metadata=True)
        info = patiently(ask)
        files = {file.rfilename: file.size or 0 for file in info.siblings or []}
        commit = info.sha or revision
        if model.file:
            (file,) = complete_files(snapshot_of(model, commit), model)
            return facts_of(file, architecture, start), commit, bool(info.gated)
        _check_weights(files, hf_id)
        small = [pattern for pattern in TRANSFORMERS_FILES if pattern != WEIGHTS]
        patterns = {"allow_patterns": small, "ignore_patterns": [*LEFT_OUT, WEIGHTS]}
        download = partial(snapshot_download, hf_id, revision=commit, **patterns)
        folder = Path(patiently(download))
    taken = model_files((folder / name for name in files if "/" not in name), hf_id)
    weights = [path.name for path in taken if is_weights(path)]
    size = sum(files[name] for name in weights)
    counts = _announced(info, size) or _counted(hf_id, commit, weights) or _estimated(size, folder)
    facts = described_facts(folder, counts, hf_id, architecture, size / 1e9, start)
    return facts, commit, bool(info.gated)


def _cached_facts(
    model: HubModel, shared: Path | None, architecture: str | None, start: FirstToken | None
) -> tuple[ModelFacts, str, bool]:
    with explained_errors(model.hf_id, model.revision):
        folder = shared_snapshot(model, shared, model.revision) if shared else None
        folder = folder or snapshot_of(model, model.revision)
    if model.file:
        (file,) = complete_files(folder, model)
        return facts_of(file, architecture, start), folder.name, False
    weights = [path for path in complete_files(folder, model) if is_weights(path)]
    # What else a cache may hold, such as programs, is no part of the model that is retrieved.
    size = gigabytes(weights)
    facts = described_facts(folder, total(weights), model.hf_id, architecture, size, start)
    return facts, folder.name, False


def _check_weights(files: Iterable[str], hf_id: str) -> None:
    """Raise UserError for a model without safetensors, and for an adapter."""
    top = [name for name in files if "/" not in name]
    refuse_adapter(top, hf_id)
    if any(fnmatch(name, WEIGHTS) and not fnmatch(name, REPEATED) for name in top):
        return
    pickled = next((name for name in top if name.endswith(PICKLED)), None)
    if quantised := [name for name in files if name.endswith(".gguf")]:
        raise UserError(
            f"model {hf_id!r} has GGUF files in place of *.safetensors; name one of them, such as "
            f"{hf_id}:{quantised[0]}."
        )
    if pickled is None:
        raise UserError(
            f"model {hf_id!r} has no *.safetensors; expected a model's weights. Name another "
            "model, or a revision that has them."
        )
    folder = hf_id.rpartition("/")[2]
    raise UserError(
        f"model {hf_id!r} has pickled weights alone ({pickled}), which are refused because reading "
        f"them can run code; name a revision with safetensors, or convert them: hf download "
        f"{hf_id} --local-dir {folder}, then blimpworks convert-weights {folder} NEW-DIRECTORY, "
        "and name that directory."
    )


def _announced(info: ModelInfo, size: int) -> Counter[str]:
    """Return the hub's counts of numbers by format; empty if impossible for ``size`` [bytes]."""
    counts = Counter(info.safetensors.parameters if info.safetensors else {})
    bits = ((n, re.search(r"\d+", name)) for name, n in counts.items())
    return (
        counts
        if sum(n * int(size_match[0]) for n, size_match in bits if size_match) <= 8 * size
        else Counter()
    )


def _counted(hf_id: str, commit: str, names: list[str]) -> Counter[str]:
    """Count numbers by format from heads of weight files; empty where that is impossible."""
    counts: Counter[str] = Counter()
    if len(names) > MOST_HEADS:
        return counts
    try:
        for name in names:
            url = hf_hub_url(hf_id, name, revision=commit)
            size = int.from_bytes(_part(url, 0, 8), "little")
            if not 0 < size <= LARGEST_HEAD:
                raise ValueError(f"{url} has no head of a safetensors file")
            head: dict[str, Any] = json.loads(_part(url, 8, size))
            counts += sizes(head)
    except (requests.RequestException, ValueError):
        return Counter()
    return counts


def _part(url: str, start: int, size: int) -> bytes:
    """Read some bytes of a hub file. Raises ValueError, before more is read, without ranges."""
    headers = {"Range": f"bytes={start}-{start + size - 1}"}
    if token := get_token():
        headers["Authorization"] = f"Bearer {token}"
    with requests.get(url, headers=headers, timeout=PATIENCE, stream=True) as answer:
        if answer.status_code != requests.codes.partial_content:
            raise ValueError(f"{url} is not handed out in parts (HTTP {answer.status_code})")
        content = answer.content
    if len(content) != size:
        raise ValueError(f"{url}: {len(content)} bytes came where {size} were requested")
    return content


def _estimated(size: int, folder: Path) -> Counter[str]:
    config = read_json(folder / "config.json", "a model's configuration")
    dtype = format_of({}, config)
    short = next(name for name, long in FORMATS.items() if long == dtype)
    return Counter({short: size // BYTES[dtype]})
