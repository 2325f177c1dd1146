"""Find the models that a user names, and describe each by a row of a table of models.

``session.Evaluation`` calls ``resolve_models`` with arguments such as ``./model``,
``owner/name@revision`` or a name in the catalogue (``config/models.tsv``). The results are
``ResolvedModel`` objects. Their rows (name, address, architecture, engine, number format, …) come
from the catalogue, or from the models' files.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from blimpworks.campaign.addresses import HUB_ID, is_local, short_address
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import FORMATS, default_engine, file_suffixes
from blimpworks.campaign.table_files import is_commit
from blimpworks.errors import UserError
from blimpworks.evaluation.vocabularies import notes_on_words
from blimpworks.models.checkpoint import FILE_NAME
from blimpworks.models.facts import BYTES, ModelFacts, UserChoice, facts_of, policy_of
from blimpworks.models.own_code import SHOW, ModelCode, read_code, require_consent
from blimpworks.records.job import REPOSITORY

CAN_BE_SET = ("architecture", "dtype", "first_token", "parameters", "tuning")
"""Columns of a model's row that the user can set."""
STARTS = {"bos": "after the start symbol", "eos": "after the end symbol", "skip": "not counted"}
"""Phrases on how the first token is scored, by policy, for models without a loaded tokenizer."""
PER_LANGUAGE = "/{lang}"
"""End of the address of a model that has a checkpoint for each language."""
NO_FACTS = ModelFacts("")


def size_text(gigabytes: float) -> str:
    """Return a size as text in GB, MB or kB."""
    if gigabytes >= 1:
        return f"{gigabytes:.1f} GB"
    return f"{gigabytes * 1e3:.0f} MB" if gigabytes >= 0.001 else f"{gigabytes * 1e6:.1f} kB"


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that the user names: its row, and facts from its files."""

    argument: str
    row: ModelRow
    components: tuple[str, ...]
    """Owner and name on the hub, or the folders and name of a path: ("runs", "a", "final").

    The model is named after the last one, "final". If another model has that name, it is named
    after the last two, "a-final", or more (``_with_names``).
    """
    in_catalogue: bool = False
    revision: str = ""
    """Branch, tag or commit that the user named; the row has the commit."""
    facts: ModelFacts = NO_FACTS
    """Facts from the files; ``NO_FACTS`` for a model of the catalogue, whose files are not read."""
    notes: tuple[str, ...] = ()
    """Sentences to print before the run."""

    @property
    def weights_gb(self) -> float:
        """Size of the weights in the row's dtype, or else of the file [GB]."""
        billions = self.row.parameters
        return billions * BYTES.get(self.row.dtype, 4) if billions else self.facts.file_gb

    @property
    def described(self) -> str:
        """Line with the model's label, settings and source."""
        row, size = self.row, size_text(self.facts.file_gb) if self.facts.file_gb else ""
        if billions := row.parameters:
            number = f"{billions * 1e9:.0f}"
            for unit, billions_of_unit in (("thousand", 1e-6), ("million", 1e-3), ("billion", 1.0)):
                if billions >= billions_of_unit:
                    number = f"{billions / billions_of_unit:.3g} {unit}"
            size = f"{number} parameters ({size_text(self.weights_gb)})"
        facts = [row.architecture, row.dtype, size]
        if row.architecture in ("causal", "lstm"):
            start = self.facts.start or STARTS.get(row.first_token, row.first_token)
            facts.append(f"first token {start}")
        if row.architecture == "causal":
            facts.append("chat template" if row.tuning == "chat" else "no chat template")
        if row.recipe:
            source = f"trained here, recipe {row.recipe}"
        elif not self.in_catalogue and is_local(row.hf_id):
            source = _without_doubled_braces(row.hf_id)
        else:
            # Such as "main (607a30d783df)", or a commit alone.
            commit = f" ({row.revision[:12]})" if self.revision != row.revision else ""
            revision = self.revision[:12] if is_commit(self.revision) else self.revision
            source = f"{short_address(row.hf_id)} at {revision}{commit}"
        return f"{row.label}: {', '.join(filter(None, facts))}; {source}"


# An address is a template with {lang}, so all other braces of a path are doubled in it.
def _with_doubled_braces(path: str) -> str:
    return path.replace("{", "{{").replace("}", "}}")


def _without_doubled_braces(address: str) -> str:
    return address.replace("{{", "{").replace("}}", "}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "model"


def _row(values: Mapping[str, Any], overrides: Mapping[str, str], argument: str) -> ModelRow:
    """Return a model's row; the user's ``overrides`` replace ``values``. Raises UserError."""
    for name, value in overrides.items():
        if name not in CAN_BE_SET:
            expected = ", ".join(CAN_BE_SET)
            raise UserError(f"{argument}: {name!r} cannot be set; expected {expected}.")
        if name == "parameters" and not _is_size(value):
            raise UserError(
                f"{argument}: parameters is {value!r}; expected billions, such as 0.125."
            )
    architecture = overrides.get("architecture", values["architecture"])
    if architecture != values["architecture"]:
        values = {**values, "engine": default_engine(architecture).name}
    values = {**values, **overrides}
    if values["dtype"] not in FORMATS:
        expected = " or ".join(FORMATS)
        raise UserError(f"{argument}: dtype is {values['dtype']!r}; expected {expected}.")
    try:
        return ModelRow.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"{argument}: {first['loc'][0]} is {first['input']!r}; {first['msg'].lower()}. Correct "
            "it."
        ) from error


def _is_size(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def _from_facts(
    argument: str,
    facts: ModelFacts,
    hf_id: str,
    components: tuple[str, ...],
    overrides: Mapping[str, str],
    columns: Mapping[str, str],
) -> ResolvedModel:
    """Return a model from the facts in its files; ``columns`` of the row are added or replaced."""
    architecture = overrides.get("architecture", facts.architecture)
    if architecture != facts.architecture:
        raise UserError(
            f"{argument} is a {facts.architecture} model, as its own files say, and architecture "
            f"is set to {architecture!r}; leave it out, or name another model."
        )
    label = components[-1]
    values = {
        **dict.fromkeys(ModelRow.model_fields, ""),
        "name": _slug(label),
        "label": label,
        "family": label,
        "hf_id": hf_id,
        "architecture": facts.architecture,
        "engine": facts.engine,
        "scope": "multilingual",
        "tuning": "chat" if facts.chat else "base",
        "parameters": float(f"{facts.parameters / 1e9:.6g}") if facts.parameters else None,
        "dtype": facts.dtype,
        "first_token": facts.first_token,
        "gated": "no",
        **columns,
    }
    return ResolvedModel(argument, _row(values, overrides, argument), components, facts=facts)


def _has_model(folder: Path) -> bool:
    names = (FILE_NAME, "config.json", "adapter_config.json")
    return any((folder / name).exists() for name in names)


def _model_folders(path: Path) -> list[Path]:
    """Return the folders with checkpoints: PATH itself, or PATH/eng, PATH/fra …, or PATH/multi."""
    if _has_model(path):
        return [path]
    subfolders = sorted(path.iterdir()) if path.is_dir() else []
    by_language = [p for p in subfolders if re.fullmatch("[a-z]{3}", p.name) and _has_model(p)]
    return by_language or [p for p in subfolders if p.name == "multi" and _has_model(p)]


def _facts_of_languages(directory: Path, folders: Sequence[Path], choice: UserChoice) -> ModelFacts:
    """Return the facts of a model's largest checkpoint. Raises UserError if checkpoints differ."""
    facts_by_lang = {folder.name: facts_of(folder, choice) for folder in folders}
    first_lang = folders[0].name
    descriptions = {}
    for lang, facts in facts_by_lang.items():
        descriptions[lang] = f"{facts.architecture}, {facts.dtype}, {facts.first_token}"
        descriptions[lang] += f", with own code {facts.code}" if facts.code else ""
    for lang, description in descriptions.items():
        if description != descriptions[first_lang]:
            raise UserError(
                f"{directory}: {first_lang} is {descriptions[first_lang]} and {lang} is "
                f"{description}; expected one model with checkpoints of one kind. Name them "
                "one by one."
            )
    for lang, facts in facts_by_lang.items():
        if facts.scope not in ("multi", lang):
            raise UserError(
                f"{directory / lang} holds a checkpoint of {facts.scope!r}; expected one of "
                f"{lang!r}. Rename the directory."
            )
    # The memory must suffice for each language, so all sizes are the largest.
    largest = max(facts_by_lang.values(), key=lambda facts: facts.parameters or 0)
    return replace(largest, file_gb=max(facts.file_gb for facts in facts_by_lang.values()))


def _resolve_path(
    argument: str, overrides: Mapping[str, str], trusted: Collection[str]
) -> ResolvedModel:
    """Resolve a directory with a model, a GGUF file or an n-gram file."""
    path = Path(argument.removesuffix("/").removesuffix(PER_LANGUAGE)).expanduser()
    # Links are not resolved, because the path gives the model its name.
    path = path.resolve() if ".." in path.parts else path.absolute()
    if not path.exists():
        raise UserError(
            f"{argument} does not exist; expected a directory in Hugging Face's layout, a "
            "checkpoint of ours, a GGUF file or an n-gram file (.arpa, KenLM's binary). Correct "
            "the path."
        )
    choice = UserChoice(overrides.get("architecture"), overrides.get("first_token"), trusted)
    components = path.parts[1:]
    folders = _model_folders(path)
    has_languages = bool(folders) and folders[0] not in (path, path / "multi")  # PATH/eng, PATH/fra
    if path.is_file():
        facts = facts_of(path, choice)
        name = path.name
        while name.lower().endswith(file_suffixes()):  # such as .arpa.gz
            name = name.rpartition(".")[0]
        components = (*components[:-1], name or path.name)
    elif has_languages:
        facts = _facts_of_languages(path, folders, choice)
    else:
        folder = folders[0] if folders else path
        facts = facts_of(folder, choice)
        # A checkpoint of ours in RUN/eng is called RUN-eng: the last two components become one.
        if (folder / FILE_NAME).exists() and path.name == facts.scope:
            components = (*components[:-2], f"{path.parent.name}-{path.name}")
        path = folder
    notes = notes_on_words(path) if path.is_file() and facts.architecture == "ngram" else ()
    languages = ",".join(folder.name for folder in folders) if has_languages else facts.scope
    columns = {} if languages == "multi" else {"scope": "monolingual", "languages": languages}
    # Another user may have made the checkpoint, and consented to its code; this user must too.
    if facts.code:
        require_consent(facts.code, argument, trusted)
    # Snakemake runs in the repository, so paths in it can be relative.
    inside = path.is_relative_to(REPOSITORY)
    address = f"./{path.relative_to(REPOSITORY)}" if inside else str(path)
    hf_id = _with_doubled_braces(address) + (PER_LANGUAGE if has_languages else "")
    return replace(_from_facts(argument, facts, hf_id, components, overrides, columns), notes=notes)


def in_languages(model: ResolvedModel, requested: Sequence[str]) -> ResolvedModel:
    """Run a local model of one language on all ``requested`` ones; note languages new to it."""
    row = model.row
    has_one_language = (
        is_local(row.hf_id) and row.scope == "monolingual" and not row.hf_id.endswith(PER_LANGUAGE)
    )
    foreign = [lang for lang in requested if lang != row.languages]
    if not has_one_language or not foreign:
        return model
    note = (
        f"{row.label} was trained for {row.languages} and is run on {', '.join(foreign)}, "
        "as --languages says."
    )
    changes = {"scope": "multilingual", "languages": ",".join(requested), "note": note}
    return replace(model, row=row.model_copy(update=changes), notes=(*model.notes, note))


def _resolve_hub_id(
    argument: str,
    catalogue: Mapping[str, ModelRow],
    overrides: Mapping[str, str],
    trusted: Collection[str],
) -> ResolvedModel:
    """Resolve owner/name[:FILE.gguf][@revision]. Raises UserError, with a similar name if any."""
    hf_id, _, revision = argument.partition("@")
    close = get_close_matches(hf_id.lower(), catalogue, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    expected = (
        "a name in config/models.tsv, owner/name on the hub (owner/name:FILE.gguf), or a "
        "directory, GGUF file or n-gram file that exists"
    )
    looks_like_file = ":" not in hf_id and hf_id.lower().endswith(file_suffixes())
    # The hub allows no name with ".." or "--"; a GGUF file, after the colon, can have "--".
    is_impossible = ".." in hf_id or "--" in hf_id.partition(":")[0]
    if not HUB_ID.fullmatch(hf_id) or looks_like_file or is_impossible:
        raise UserError(
            f"model {argument!r} is no existing file or directory, and cannot be a name on the "
            f"hub; expected {expected}.{hint}"
        )
    if "/" not in hf_id and close:
        raise UserError(
            f"model {argument!r} is not in the catalogue; expected {expected}.{hint} "
            "A model of the hub is named with its owner."
        )
    from blimpworks.models.hub_facts import hub_facts

    cache = os.environ.get("BLIMPWORKS_CACHE")
    choice = UserChoice(overrides.get("architecture"), overrides.get("first_token"), trusted)
    try:
        cache_folder = Path(cache) if cache else None
        facts, commit, gated = hub_facts(hf_id, revision or "main", choice, cache_folder)
    except UserError as error:
        addresses = {row.hf_id for row in catalogue.values() if row.hf_id}
        close = get_close_matches(hf_id, addresses, n=1, cutoff=0.85)
        if hf_id in addresses or not close:
            raise
        raise UserError(f"{error} Did you mean {close[0]!r}?") from error
    repository, _, file = hf_id.partition(":")
    owner, _, name = repository.rpartition("/")
    label = Path(file).stem or name
    if revision:
        label += f"@{revision[:12] if is_commit(revision) else revision}"
    columns = {"revision": commit, "gated": "yes" if gated else "no"}
    # ("owner", "name"), or ("owner", "name", "file"); old models of the hub have no owner.
    components = tuple(filter(None, (owner, name if file else "", label)))
    model = _from_facts(argument, facts, hf_id, components, overrides, columns)
    return replace(model, revision=revision or "main")


def resolve_model(
    argument: str,
    catalogue: Mapping[str, ModelRow],
    overrides: Mapping[str, str] | None = None,
    trusted: Collection[str] = (),
) -> ResolvedModel:
    """Resolve a name of the catalogue, a path, or owner/name[@revision] to a model.

    The catalogue is searched first, then directories and files, then the hub. ``overrides`` are
    columns (``CAN_BE_SET``) that the user sets. ``trusted`` are digests of models' code that may
    run. Raises UserError when there is no such model, or it cannot be run safely.
    """
    overrides = dict(overrides or {})
    if "first_token" in overrides:
        overrides["first_token"] = policy_of(overrides["first_token"])
    if is_local(argument):
        return _resolve_path(argument, overrides, trusted)
    name, _, revision = argument.partition("@")
    row = catalogue.get(argument)
    if row is None and revision and name in catalogue and catalogue[name].hf_id:
        row = catalogue[name].model_copy(update={"revision": revision})
    if row is not None:
        if not row.hf_id and not row.recipe:
            why = row.note or "nobody says where"
            raise UserError(f"model {argument!r} of the catalogue is not available: {why}.")
        # A row with papers is run on their benchmarks only, but the user chooses the benchmarks.
        row = _row({**row.model_dump(), "papers": ()}, overrides, argument)
        return ResolvedModel(argument, row, (row.name,), True, row.revision)
    # A model's directory or file may be named without "./".
    path = Path(argument.removesuffix(PER_LANGUAGE))
    if path.is_file() or _model_folders(path):
        return _resolve_path(f"./{argument}", overrides, trusted)
    return _resolve_hub_id(argument, catalogue, overrides, trusted)


def code_of_model(argument: str) -> tuple[Path, ModelCode]:
    """Return the folder of a model, local or from the hub, and the code that the folder contains.

    Raises UserError for a model without code, or with code that cannot be run.
    """
    folder = Path(argument).expanduser()
    if not is_local(argument) and not folder.is_dir():
        from blimpworks.models.hub import code_folder, explained_errors

        hf_id, _, revision = argument.partition("@")
        with explained_errors(hf_id, revision or "main"):
            folder = code_folder(hf_id, revision or "main")
    return folder, read_code(folder)


def resolve_models(
    arguments: Sequence[str],
    catalogue: Mapping[str, ModelRow],
    overrides: Mapping[str, str] | None = None,
    trusted: Collection[str] = (),
) -> list[ResolvedModel]:
    """Resolve models and give them unique names. Raises UserError for none, or one named twice."""
    if not arguments:
        raise UserError(
            "no model is named; expected one or more: owner/name on the hub, a directory, an "
            "n-gram file, or a name in config/models.tsv."
        )
    models = [resolve_model(argument, catalogue, overrides, trusted) for argument in arguments]
    unused = [digest for digest in trusted if digest not in {model.facts.code for model in models}]
    if unused:
        raise UserError(
            f"--run-model-code names {unused[0]}, and no model named here has code of its own with "
            f"that digest; {SHOW} shows the digest of each."
        )
    _refuse_duplicates(models)
    return _with_names(models, {name for name, row in catalogue.items() if row.papers})


def _refuse_duplicates(models: Sequence[ResolvedModel]) -> None:
    """Raise UserError if two of the models have a common key."""
    model_by_key: dict[tuple[str, str], ResolvedModel] = {}
    for model in models:
        for key in _keys(model):
            earlier = model_by_key.setdefault(key, model)
            if earlier is not model:
                names = ""
                if earlier.argument != model.argument:
                    names = f" (as {earlier.argument!r} and as {model.argument!r})"
                raise UserError(f"model {model.argument!r} is named twice{names}; name it once.")


def _keys(model: ResolvedModel) -> list[tuple[str, str]]:
    """Return (address, revision), in all spellings that mean the model.

    ``owner/name@v1`` has ("owner/name", "v1") and ("owner/name", COMMIT). A path has its absolute
    path. ``gpt2`` of the catalogue also has ("gpt2", ""), and so has ``gpt2@v1``: both would have
    the name gpt2 in the results, so only one of them can be evaluated.
    """
    row, address, revision = model.row, model.row.hf_id or model.row.name, ""
    if is_local(row.hf_id):
        address = str((REPOSITORY / Path(row.hf_id).expanduser()).resolve())
    elif row.hf_id:
        revision = model.revision
    keys = [(address, revision), (address, row.revision)]
    return [*keys, (row.name, "")] if model.in_catalogue else keys


def _with_names(models: Sequence[ResolvedModel], taken: Collection[str]) -> list[ResolvedModel]:
    """Return the models with unique names and labels, from their last components.

    runs/a/final and runs/b/final become a-final and b-final. Models of the catalogue keep their
    names; ``taken`` are names of models that are not evaluated.
    """
    used = {*taken, *(model.row.name for model in models if model.in_catalogue)}
    labels = {model.row.label for model in models if model.in_catalogue}
    # Begin with one component for each name. Add one to each name that another model has, until no
    # name is ambiguous, or has all components of its model.
    depths = [1] * len(models)
    while True:
        tails = [model.components[-depth:] for model, depth in zip(models, depths, strict=True)]
        names = [_slug("-".join(tail)) for tail in tails]
        counts = Counter(names)
        is_ambiguous = False
        for i, (model, name) in enumerate(zip(models, names, strict=True)):
            is_taken = not model.in_catalogue and (counts[name] > 1 or name in used)
            if is_taken and depths[i] < len(model.components):
                depths[i] += 1
                is_ambiguous = True
        if not is_ambiguous:
            break
    renamed = []
    for model, tail, name in zip(models, tails, names, strict=True):
        if model.in_catalogue:
            renamed.append(model)
            continue
        # A name that is still taken gets a number, and a label that is taken gets the name.
        candidates = (name if number == 1 else f"{name}-{number}" for number in count(1))
        unique_name = next(candidate for candidate in candidates if candidate not in used)
        label = "/".join(tail)
        label = f"{label} ({unique_name})" if label in labels else label
        used.add(unique_name)
        labels.add(label)
        row = model.row.model_copy(update={"name": unique_name, "label": label})
        renamed.append(replace(model, row=row))
    return renamed
