"""A model of an evaluation: a row of a table of models, and what was read beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import FORMATS
from blimpworks.campaign.locked_models import is_commit
from blimpworks.errors import UserError
from blimpworks.models.facts import BYTES, ENGINES, ModelFacts

Origin = Literal["catalogue", "directory", "file", "hub"]
CAN_BE_SET = ("architecture", "dtype", "first_token", "parameters", "tuning")
"""Columns of a model's row that a user can set in place of what is read."""


FIRST = {"bos": "after the start symbol", "eos": "after the end symbol", "skip": "not counted"}
"""What conditions the first token, in words, where the token itself is not known."""


def size_text(gigabytes: float) -> str:
    """A size for people: GB, MB or kB."""
    if gigabytes >= 1:
        return f"{gigabytes:.1f} GB"
    return f"{gigabytes * 1e3:.0f} MB" if gigabytes >= 0.001 else f"{gigabytes * 1e6:.1f} kB"


def number_text(billions: float) -> str:
    """A number of parameters for people, with three digits."""
    for unit, size in (("billion", 1.0), ("million", 1e-3), ("thousand", 1e-6)):
        if billions >= size:
            return f"{billions / size:.3g} {unit}"
    return f"{billions * 1e9:.0f}"


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that a user names, with what was read of it."""

    argument: str
    """As the user wrote it."""
    row: ModelRow
    """How it is run: a row of a table of models, for every benchmark."""
    origin: Origin
    parts: tuple[str, ...]
    """Owner and name, or folders and name, from which it can be called."""
    revision: str = ""
    """Branch, tag or commit that was requested of the hub; the row has the commit."""
    file_gb: float = 0.0
    """Size of its files [GB], for a model whose parameters are not counted."""
    quantisation: str = ""
    """How its weights are quantised; empty for weights as they are."""
    notes: tuple[str, ...] = ()
    """What a user should know of it, a sentence each."""
    start: str = ""
    """What conditions the first token, in words; empty where its tokenizer was not asked."""

    @property
    def chat(self) -> bool:
        """Whether it has a chat template."""
        return self.row.tuning == "chat"

    @property
    def weights_gb(self) -> float:
        """Size of its weights in the format that it is run in [GB]."""
        return (self.row.parameters or 0) * BYTES.get(self.row.dtype, 4) or self.file_gb

    @property
    def described(self) -> str:
        """One line: what it is, how it is run, and where it comes from."""
        row = self.row
        facts = [row.architecture, row.dtype, self._size()]
        if row.architecture in ("causal", "lstm"):
            facts.append(f"first token {self.start or FIRST.get(row.first_token, row.first_token)}")
        if row.architecture == "causal":
            facts.append("chat template" if self.chat else "no chat template")
        return f"{row.label}: {', '.join(filter(None, facts))}; {self._source()}"

    def _size(self) -> str:
        """Number of parameters, else the size of its file; empty where neither is known."""
        if not self.row.parameters:
            return size_text(self.file_gb) if self.file_gb else ""
        number = number_text(self.row.parameters)
        return f"{number} parameters ({size_text(self.weights_gb)})"

    def _source(self) -> str:
        """Where it comes from."""
        if self.row.recipe:
            return f"trained here, recipe {self.row.recipe}"
        if self.origin in ("directory", "file"):
            # Braces of a path's own are doubled in rows.
            return self.row.hf_id.replace("{{", "{").replace("}}", "}")
        commit = f" ({self.row.revision[:12]})" if self.revision != self.row.revision else ""
        revision = self.revision[:12] if is_commit(self.revision) else self.revision
        return f"{self.row.hf_id} at {revision}{commit}"


def slug(text: str) -> str:
    """A text as the name of a row."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "model"


def _validated(values: Mapping[str, Any], where: str) -> ModelRow:
    """A row. Raises UserError for the first value that it cannot have."""
    dtype = values["dtype"]
    if dtype not in FORMATS:
        raise UserError(f"{where}: dtype is {dtype!r}; expected {' or '.join(FORMATS)}.")
    try:
        return ModelRow.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        column = str(first["loc"][0])
        raise UserError(
            f"{where}: {column} is {first['input']!r}; {first['msg'].lower()}. Correct it."
        ) from error


def with_settings(row: ModelRow, overrides: Mapping[str, str], where: str) -> ModelRow:
    """A row with what a user sets. Raises UserError for a value that it cannot have."""
    unknown = next((name for name in overrides if name not in CAN_BE_SET), None)
    if unknown:
        raise UserError(f"{where}: {unknown!r} cannot be set; expected {', '.join(CAN_BE_SET)}.")
    values = row.model_dump() | {**overrides}
    if values["architecture"] != row.architecture:
        values["engine"] = ENGINES.get(values["architecture"], "transformers")
    if values["parameters"] != row.parameters and not _is_positive(values["parameters"]):
        raise UserError(
            f"{where}: parameters is {values['parameters']!r}; expected billions, such as 0.125."
        )
    return _validated(values, where)


def _is_positive(value: object) -> bool:
    try:
        return 0 < float(str(value)) < float("inf")
    except ValueError:
        return False


def check_architecture(facts: ModelFacts, overrides: Mapping[str, str], where: str) -> None:
    """Raises UserError where a user sets another architecture than a model's files say."""
    given = overrides.get("architecture", facts.architecture)
    if given != facts.architecture:
        raise UserError(
            f"{where} is a {facts.architecture} model, as its own files say, and architecture is "
            f"set to {given!r}; leave it out, or name another model."
        )


def row_of(facts: ModelFacts, label: str, hf_id: str, **more: str) -> ModelRow:
    """The row of a model by its facts; its name is made unique later."""
    billions = float(f"{facts.parameters / 1e9:.4g}") if facts.parameters else None
    values = {
        **dict.fromkeys(ModelRow.model_fields, ""),
        "name": slug(label),
        "label": label,
        "family": label,
        "hf_id": hf_id,
        "architecture": facts.architecture,
        "engine": facts.engine,
        "scope": "multilingual",
        "tuning": "chat" if facts.chat else "base",
        "parameters": billions,
        "dtype": facts.dtype,
        "first_token": facts.first_token,
        "gated": "no",
    }
    return _validated(values | more, label)
