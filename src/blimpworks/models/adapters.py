"""Merge LoRA adapters of PEFT into their base models."""

import math
import shutil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, PositiveInt

from blimpworks.campaign.addresses import HUB_ID, state_of
from blimpworks.errors import UserError, reading
from blimpworks.files import sha256_of, whole_directory, write_text
from blimpworks.models.checkpoint import FILE_NAME, Converted
from blimpworks.models.converted import ADAPTER, ORIGIN, cached_folder
from blimpworks.models.weights import is_weights, model_files, weight_files

WEIGHTS = "adapter_model.safetensors"
REMEDY = "Merge it by PEFT (merge_and_unload), and name the merged model."
PREFIX = "base_model.model."


class _Settings(BaseModel):
    """Fields of an adapter's settings, of which all that is more than plain LoRA is refused."""

    base_model_name_or_path: str
    revision: str | None = None
    r: PositiveInt
    lora_alpha: float
    target_modules: list[str] | str = []
    fan_in_fan_out: bool = False
    use_rslora: bool = False
    peft_type: Literal["LORA"]
    bias: Literal["none"] = "none"
    use_dora: Literal[False] = False
    modules_to_save: Annotated[list[str], Field(max_length=0)] | None = None
    rank_pattern: Annotated[dict[str, int], Field(max_length=0)] = {}
    alpha_pattern: Annotated[dict[str, float], Field(max_length=0)] = {}


def merge_adapter(folder: Path) -> Path:
    """Return the folder of an adapter's base with the adapter added: W + scaling · B · A.

    The base is a directory, or a model of the hub at the adapter's ``revision`` (default: main).
    Sums are of float32, and are kept in the base's format, as by PEFT. Raises UserError for more
    than plain LoRA, and for a base that cannot be had or lacks a weight of the adapter.
    """
    from safetensors.torch import load_file, save_file

    with reading(folder / ADAPTER, "the settings of a plain LoRA adapter", REMEDY):
        settings = _Settings.model_validate_json((folder / ADAPTER).read_bytes())
    rank, name = settings.r, settings.base_model_name_or_path
    scaling = settings.lora_alpha / (math.sqrt(rank) if settings.use_rslora else rank)
    with reading(folder / WEIGHTS, "an adapter's weights", REMEDY):
        changes = load_file(folder / WEIGHTS)
    base, label = _base_of(name, settings.revision or "main", folder)
    digest = sha256_of(folder / WEIGHTS)
    merged = cached_folder(f"{digest}-{sha256_of(folder / ADAPTER)[:16]}-{state_of(base)}")
    if (merged / ORIGIN).exists():
        return merged
    targets = {key.split(".lora_")[0] for key in changes}
    expected = {f"{t}.lora_{side}.weight" for t in targets for side in "AB"}
    if odd := sorted({*changes} ^ expected):
        raise UserError(f"{folder / WEIGHTS}: {odd[0]} is no part of plain LoRA. {REMEDY}")
    pending = {target.removeprefix(PREFIX): target for target in targets}
    wanted = settings.target_modules
    listed = wanted if isinstance(wanted, list) else []  # else a pattern of the adapter's writer
    if unused := [m for m in listed if not any(f".{name}".endswith(f".{m}") for name in pending)]:
        raise UserError(
            f"{folder / WEIGHTS} has no weights for {unused[0]!r}, a target of {ADAPTER}; get the "
            "adapter again."
        )
    with whole_directory(merged) as made:
        for path in weight_files(base):
            tensors = load_file(path)
            for key, tensor in tensors.items():
                stem = key.removesuffix(".weight")
                found = next((t for t in pending if t == stem or t.endswith(f".{stem}")), None)
                if found is None:
                    continue
                target = pending.pop(found)
                down, up = (changes[f"{target}.lora_{side}.weight"].float() for side in "AB")
                delta = scaling * (up @ down)
                delta = delta.T if settings.fan_in_fan_out else delta
                if delta.shape != tensor.shape:
                    raise UserError(
                        f"{folder / WEIGHTS}: {found} changes {tuple(delta.shape)} numbers, and "
                        f"{key} of {label} has {tuple(tensor.shape)}; name the adapter's own base."
                    )
                tensors[key] = (tensor.float() + delta).to(tensor.dtype).contiguous()
            save_file(tensors, made / path.name, metadata={"format": "pt"})
        if pending:
            raise UserError(
                f"{folder / WEIGHTS} changes {min(pending)}, which {label} lacks; name the "
                f"adapter's own base in {ADAPTER}."
            )
        for path in model_files((p for p in base.iterdir() if p.is_file()), str(base)):
            if not is_weights(path) and path.name != FILE_NAME:
                shutil.copyfile(path, made / path.name)
        note = f"LoRA adapter of rank {rank}, merged into {label}"
        origin = Converted(address=folder.name, file=folder.name, sha256=digest, note=note)
        write_text(made / ORIGIN, origin.model_dump_json(indent=1) + "\n")
    return merged


def _base_of(name: str, revision: str, folder: Path) -> tuple[Path, str]:
    """Return the folder of an adapter's base, and its name in words."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path, path.name
    if not HUB_ID.fullmatch(name) or ":" in name:
        raise UserError(
            f"{folder / ADAPTER}: base_model_name_or_path is {name!r}, no directory that exists "
            "and no name of the hub; correct it."
        )
    from blimpworks.models.hub_errors import explained_errors
    from blimpworks.models.retrieve import HubModel, complete_files, snapshot_of
    from blimpworks.models.revisions import commit_of

    model = HubModel(name, "multi", "", "", "bos", name, revision)
    with explained_errors(name, revision):
        snapshot = snapshot_of(model, commit_of(name, revision))
    complete_files(snapshot, model)
    return snapshot, f"{name} at {snapshot.name}"
