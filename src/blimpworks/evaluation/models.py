"""The models that a user names for an evaluation, as rows of a table of models.

A name of the catalogue, a directory, an n-gram file or a name of the hub: what is not in the
catalogue is read from the model's own files, before any weights are loaded or downloaded.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import ENGINES, obstacle
from blimpworks.campaign.local_models import HUB_ID, is_local
from blimpworks.campaign.locked_models import is_commit
from blimpworks.errors import UserError
from blimpworks.evaluation.machine import VLLM, Machine, this_machine
from blimpworks.evaluation.places import NGRAM_SUFFIXES, is_place, of_place
from blimpworks.evaluation.resolved import (
    ResolvedModel,
    check_architecture,
    row_of,
    slug,
    with_settings,
)
from blimpworks.files import write_text
from blimpworks.models.facts import ENGINES as OWN_ENGINES
from blimpworks.models.starts import policy_of
from blimpworks.records.job import REPOSITORY


def _of_catalogue(argument: str, row: ModelRow, overrides: Mapping[str, str]) -> ResolvedModel:
    """A model of the catalogue, on every benchmark. Raises UserError for one in print alone."""
    if not row.hf_id and not row.recipe:
        raise UserError(
            f"model {argument!r} of the catalogue cannot be had: {row.note or 'nobody says where'}."
        )
    plain = with_settings(row.model_copy(update={"papers": ()}), overrides, argument)
    return ResolvedModel(argument, plain, "catalogue", (row.name,), row.revision)


def _of_hub(
    argument: str, catalogue: Mapping[str, ModelRow], overrides: Mapping[str, str]
) -> ResolvedModel:
    """A model of the hub. Raises UserError as ``hub_facts`` does, perhaps with a close name."""
    from blimpworks.models.hub_facts import hub_facts

    hf_id, _, revision = argument.partition("@")
    shared = os.environ.get("BLIMPWORKS_CACHE")
    try:
        of_hub = hub_facts(
            hf_id,
            revision or "main",
            shared=Path(shared) if shared else None,
            architecture=overrides.get("architecture"),
            start=overrides.get("first_token"),
        )
    except UserError as error:
        known = {row.hf_id for row in catalogue.values() if row.hf_id}
        close = get_close_matches(hf_id, known - {hf_id}, n=1, cutoff=0.85)
        if hf_id in known or not close:
            raise
        raise UserError(f"{error} Did you mean {close[0]!r}?") from error
    check_architecture(of_hub.facts, overrides, argument)
    owner, _, name = hf_id.rpartition("/")
    label = f"{name}@{revision[:12] if is_commit(revision) else revision}".rstrip("@")
    more = {"revision": of_hub.commit, "gated": "yes" if of_hub.gated else "no"}
    row = with_settings(row_of(of_hub.facts, label, hf_id, **more), overrides, argument)
    parts = tuple(filter(None, (owner, label)))
    return ResolvedModel(
        argument,
        row,
        "hub",
        parts,
        revision or "main",
        file_gb=of_hub.facts.file_gb,
        quantisation=of_hub.facts.quantisation,
        start=of_hub.facts.start,
    )


def _check_hub_id(argument: str, catalogue: Mapping[str, ModelRow]) -> None:
    """Raises UserError for what can be no name of the hub, or is almost one of the catalogue."""
    hf_id = argument.partition("@")[0]
    close = get_close_matches(hf_id.lower(), catalogue, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    expected = (
        "a name in config/models.tsv, owner/name on the hub, or a directory or n-gram file "
        "that exists"
    )
    looks_like_file = hf_id.lower().endswith(NGRAM_SUFFIXES)
    if not HUB_ID.fullmatch(hf_id) or looks_like_file or ".." in hf_id or "--" in hf_id:
        raise UserError(
            f"model {argument!r} is no file or directory that exists, and no name that the hub "
            f"could have; expected {expected}.{hint}"
        )
    if "/" not in hf_id and close:
        raise UserError(
            f"model {argument!r} is not in the catalogue; expected {expected}.{hint} "
            "A model of the hub is named with its owner."
        )


def resolve_model(
    argument: str,
    catalogue: Mapping[str, ModelRow],
    overrides: Mapping[str, str] | None = None,
) -> ResolvedModel:
    """The model that a user names, by a name of the catalogue, a path, or owner/name[@revision].

    A name of the catalogue goes before a directory that is called so (write ./NAME for that),
    and a directory or file that exists before a name of the hub. ``overrides`` are columns
    (``CAN_BE_SET``) that the user sets in place of what is read.

    Raises UserError for what is no model, cannot be had, or cannot be run safely.
    """
    given = {**(overrides or {})}
    if "first_token" in given:
        given["first_token"] = policy_of(given["first_token"])
    name, _, revision = argument.partition("@")
    if is_local(argument):
        return of_place(argument, given)
    if argument in catalogue:
        return _of_catalogue(argument, catalogue[argument], given)
    if name in catalogue and revision and catalogue[name].hf_id:
        row = catalogue[name].model_copy(update={"revision": revision})
        return _of_catalogue(argument, row, given)
    if is_place(argument):
        return of_place(f"./{argument}", given)
    _check_hub_id(argument, catalogue)
    return _of_hub(argument, catalogue, given)


def _key(model: ResolvedModel) -> tuple[str, str]:
    """What two arguments that name the same model share."""
    row = model.row
    if is_local(row.hf_id):
        return str((REPOSITORY / Path(row.hf_id).expanduser()).resolve()), ""
    return (row.hf_id, model.revision) if row.hf_id else (row.name, "")


def _check_twice(models: Sequence[ResolvedModel]) -> None:
    """Raises UserError for a model that is named twice."""
    first: dict[tuple[str, str], ResolvedModel] = {}
    for model in models:
        address, revision = _key(model)
        keys = [(address, revision), (address, model.row.revision)]
        # One of the catalogue has its name at any revision.
        keys += [(model.row.name, "")] if model.origin == "catalogue" else []
        for key in keys:
            before = first.setdefault(key, model)
            if before is not model:
                same = f"as {before.argument!r} and as {model.argument!r}"
                how = "" if before.argument == model.argument else f" ({same})"
                raise UserError(f"model {model.argument!r} is named twice{how}; name it once.")


def _with_names(models: Sequence[ResolvedModel], taken: Collection[str]) -> list[ResolvedModel]:
    """Models with names and labels of their own, by as much of each address as that takes.

    Those of the catalogue keep theirs; nothing else is called as any that is ``taken``.
    """
    depths = [1] * len(models)
    while True:
        texts = [model.parts[-n:] for model, n in zip(models, depths, strict=True)]
        names = [slug("-".join(text)) for text in texts]
        counts = Counter(names)
        unclear = [
            i
            for i, model in enumerate(models)
            if model.origin != "catalogue"
            and (counts[names[i]] > 1 or names[i] in taken)
            and depths[i] < len(model.parts)
        ]
        if not unclear:
            break
        for i in unclear:
            depths[i] += 1
    return [
        model if model.origin == "catalogue" else _called(model, name, "/".join(text))
        for model, name, text in zip(models, _numbered(names, taken), texts, strict=True)
    ]


def _numbered(names: Sequence[str], taken: Collection[str]) -> list[str]:
    """Names, with a number behind those that stand there again or are taken."""
    used: set[str] = set()
    result = []
    for name in names:
        tries = (name if n == 1 else f"{name}-{n}" for n in range(1, len(names) + len(taken) + 2))
        result.append(next(each for each in tries if each not in used))
        used.add(result[-1])
    return result


def _called(model: ResolvedModel, name: str, label: str) -> ResolvedModel:
    return replace(model, row=model.row.model_copy(update={"name": name, "label": label}))


def resolve_models(
    arguments: Sequence[str],
    catalogue: Mapping[str, ModelRow],
    overrides: Mapping[str, str] | None = None,
) -> list[ResolvedModel]:
    """The models that a user names, each under a name of its own; see ``resolve_model``.

    A model that is not of the catalogue is called neither as another one nor as one that papers
    print numbers of. Raises UserError, besides, for a model that is named twice, or none.
    """
    if not arguments:
        raise UserError(
            "no model is named; expected one or more: owner/name on the hub, a directory, an "
            "n-gram file, or a name in config/models.tsv."
        )
    models = [resolve_model(argument, catalogue, overrides) for argument in arguments]
    _check_twice(models)
    return _with_names(models, {name for name, row in catalogue.items() if row.papers})


def _automatic(row: ModelRow, machine: Machine) -> str:
    """The engine that suits a model on a machine."""
    own = OWN_ENGINES.get(row.architecture)
    # What is trained here is small, and its recipe says with what it is run.
    if own or row.recipe:
        return own or row.engine
    fast = machine.gpus_gb and machine.has_vllm and ("vllm", row.architecture) in ENGINES
    return "vllm" if fast else "transformers"


def choose_engine(
    row: ModelRow, requested: str = "auto", machine: Machine | None = None
) -> ModelRow:
    """A model's row with the engine that it is run with.

    ``auto`` is vLLM for causal models where ``machine`` (this one unless given) has a GPU and
    vLLM's environment, else transformers; n-gram models and LSTMs have engines of their own.

    Raises UserError for an engine that is unknown, not installed, or cannot run the model.
    """
    machine = machine or this_machine()
    known = dict.fromkeys(name for name, _ in ENGINES)
    if requested not in ("auto", *known):
        raise UserError(f"--engine is {requested!r}; expected auto, {', '.join(known)}.")
    engine = _automatic(row, machine) if requested == "auto" else requested
    reason = obstacle(
        engine, row.architecture, {"dtype": row.dtype, "first_token": row.first_token}
    )
    if row.recipe and engine != row.engine:
        reason = f"the model is trained here and run by {row.engine} alone"
    if reason:
        able = ", ".join(name for name, kind in ENGINES if kind == row.architecture)
        hint = "Leave --engine out" if requested != "auto" else "Correct what is set of it"
        raise UserError(f"model {row.name!r}: {reason}. {hint}; {able} can run it.")
    if engine == "vllm" and not machine.has_vllm:
        raise UserError(
            f"--engine is 'vllm', whose environment ({VLLM} in {REPOSITORY}) is not there; install "
            "it (make vllm), or name the engine transformers."
        )
    return row.model_copy(update={"engine": engine})


def _cell(row: ModelRow, column: str) -> str:
    """A value as a cell of a table. Raises UserError for one that no cell can hold."""
    value = getattr(row, column)
    text = ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
    if re.search(r"[\t\r\n]", text):
        raise UserError(
            f"model {row.name!r}: {column} is {text!r}, and no table can hold its tabs or line "
            "ends; rename the model."
        )
    return text


def write_models(rows: Iterable[ModelRow], path: Path) -> None:
    """Write rows as a table of models, which ``catalogue.read_rows`` reads back.

    Raises UserError for a value with a tab or line end.
    """
    columns = [*ModelRow.model_fields]
    lines = [columns, *([_cell(row, column) for column in columns] for row in rows)]
    write_text(path, "".join("\t".join(line) + "\n" for line in lines))
