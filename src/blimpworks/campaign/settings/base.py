"""Define types that several settings share, and validate settings with messages for users.

Settings are pydantic models of YAML files: campaigns, sites, language packs. ``parse_yaml`` reads
such a file, ``parse_options`` a JSON text, and ``validated`` checks values that are already read.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.strict import Strict

__all__ = ["Variant"]  # other modules import it from here

Value = TypeVar("Value")
TiePolicy = Literal["wrong", "right", "half"]
Method = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]* *(=.*)?$")]
"""Name of a method, or ``name=expression`` for a method that a campaign defines. The expression is
parsed by ``check_campaign``, not by classes of settings. Otherwise jobs that read settings, such as
the making of pairs, would depend on the parser, and run again after a change to it."""
Positive = Annotated[int, Field(gt=0, le=10**12)]
"""A number of items, tokens or the like, with a bound that finds typing mistakes."""
Fraction = Annotated[float, Field(gt=0, lt=1)]


def distinct(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return ``values``. Raises ValueError if two of them, or their names before "=", are equal."""
    names = [str(value).partition("=")[0].strip() for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is named twice; keep one")
    return values


Methods = Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)]


class TreebankOptions(Strict):
    """Reading of treebanks."""

    malformed: Literal["error", "set_aside"] = "error"
    """Stop at a malformed sentence, or leave it out and list it in a report."""
    max_words: Positive = 64
    """Longest sentence that pairs are made from, in syntactic words."""


class DeclaredOptions(Strict):
    """Items and judging of a benchmark that is declared as data, in ``config/benchmarks``."""

    variant: Variant = "published"
    """published: ties count as declared; corrected: half."""
    per_paradigm: Positive | None = None
    """Most items of each paradigm, evenly spaced; null for all."""
    methods: Methods | None = None
    """Methods that decide items: names or ``name=expression`` (docs/scoring.md); exhibits show the
    first; null for the declared ones."""
    ties: TiePolicy | None = None
    """Value of ties; null for the variant's."""
    unknown_words: Literal["any", "critical", "score"] | None = None
    """Items that models with a vocabulary of whole words skip. any: those with an unknown word;
    critical: those with an unknown critical word; score: none; null: the declared choice."""


Options = TypeVar("Options", bound=BaseModel)
TAGS = ("union_tag_invalid", "union_tag_not_found")
"""Pydantic's errors about the key, such as ``kind``, that decides the class of a section."""
LONGEST_VALUE = 100
"""Most characters of a value in a message; for a longer value, the message has its type."""


def _key(error: ErrorDetails, settings: Any) -> str:
    """Return the key of an error, without pydantic's names of types."""
    # ("recipe", "lstm", "seed") is ``recipe.seed``: pydantic inserts the type of the recipe, which
    # is recognised because the settings have no such key.
    key_parts: list[str] = []
    for location in error["loc"]:
        if isinstance(settings, list):
            exists = isinstance(location, int) and location < len(settings)
        else:
            exists = isinstance(settings, dict) and location in settings
        if exists:
            settings = settings[location]
            key_parts.append(str(location))
    if error["type"] == "missing":
        key_parts.append(str(error["loc"][-1]))
    if error["type"] in TAGS:
        key_parts.append(error["ctx"]["discriminator"].strip("'"))
    return ".".join(key_parts)


def _expected(error: ErrorDetails) -> str:
    if error["type"] in TAGS:
        return f"expected one of {error['ctx'].get('expected_tags', 'its values, see the schema')}"
    if error["type"] == "model_type":
        return "expected keys with values"
    text = error["msg"][:1].lower() + error["msg"][1:]
    text = text.replace("value error, ", "").replace("valid tuple", "list")
    return text.replace("tuple should", "list should")


def sections(
    annotation: object, keys: tuple[str, ...] = (), outer: tuple[type[BaseModel], ...] = ()
) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    """Yield (keys that lead to it, model) for each pydantic model in a type and in its fields.

    ``NAME`` replaces keys that users choose (training.recipes.NAME). ``outer``: models around it.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in outer:  # a model that contains models of its own type
            return
        yield keys, annotation
        for name, field in annotation.model_fields.items():
            yield from sections(field.annotation, (*keys, name), (*outer, annotation))
    inner_keys = (*keys, "NAME") if get_origin(annotation) in (dict, Mapping) else keys
    for argument in get_args(annotation):
        yield from sections(argument, inner_keys, outer)


def _unknown(key: str, model: type[BaseModel]) -> str:
    """Return the message about an unknown key, which suggests a key.

    Preferred is the same name in another section, then a similar name in the same section.
    """
    *outer_keys, wrong_name = key.split(".")
    keys = [(*section, name) for section, fields in sections(model) for name in fields.model_fields]
    if matching := [".".join(path) for path in keys if path[-1] == wrong_name]:
        return f"key {key!r} is not a setting; did you mean {matching[0]!r}?"
    # Names of settings in the section of the unknown key; NAME stands for a key of the user.
    in_section = [
        path[-1]
        for path in keys
        if len(path) == len(outer_keys) + 1 and {*path[:-1]} <= {*outer_keys, "NAME"}
    ]
    close = difflib.get_close_matches(wrong_name, in_section, n=1)
    close += difflib.get_close_matches(wrong_name, [path[-1] for path in keys], n=1)
    hint = f"did you mean {close[0]!r}?" if close else "remove it or see workflow/schemas."
    return f"key {key!r} is not a setting; {hint}"


def _shown(key: str, value: Any) -> str:
    """Return key and value for a message, with the type in place of a long value."""
    text = repr(value)
    if not key:
        return f"the value is {text}: " if len(text) <= LONGEST_VALUE else ""
    return f"key {key!r} is {text if len(text) <= LONGEST_VALUE else f'a {type(value).__name__}'}: "


def complaints(
    errors: Sequence[ErrorDetails], settings: Any, source: str, model: type[BaseModel]
) -> str:
    """Return a line "source: key 'x' is 1: expected …" for each wrong key of a ``model``."""
    by_key: dict[str, list[ErrorDetails]] = {}
    for error in errors:
        by_key.setdefault(_key(error, settings), []).append(error)
    lines = []
    for key, errors_of_key in by_key.items():
        if any(longer_key.startswith(f"{key}.") for longer_key in by_key):
            continue  # only report the wrong keys in a section, not the section too
        first = errors_of_key[0]
        expected = ", or ".join(dict.fromkeys(map(_expected, errors_of_key)))
        if first["type"] == "extra_forbidden":
            lines.append(f"{source}: {_unknown(key, model)}")
        elif first["type"] in ("missing", "union_tag_not_found"):
            hint = ", see workflow/schemas" if first["type"] in TAGS else ""
            lines.append(f"{source}: key {key!r} is missing; add it{hint}.")
        elif first["type"] == "union_tag_invalid":
            lines.append(f"{source}: key {key!r} is {first['ctx']['tag']!r}: {expected}.")
        else:
            lines.append(f"{source}: {_shown(key, first['input'])}{expected}.")
    return "\n".join(lines)


def read_settings(path: Path, noun: str) -> dict[str, Any]:
    """Read the mapping in a YAML file; ``noun`` names it in messages. Raises UserError."""
    from blimpworks.yaml_files import read_yaml  # slow, and most options are JSON

    settings = read_yaml(path, f"a {noun}")
    if not isinstance(settings, dict):
        raise UserError(f"{path} holds no mapping; expected a {noun}.")
    return settings


def validated(model: type[Options], settings: Any, source: str, context: object = None) -> Options:
    """Validate settings by a pydantic model; its validators may read ``context``.

    Raises UserError with a line for each wrong key (``complaints``); ``source`` is the file's name.
    """
    try:
        return model.model_validate(settings, context=context)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, source, model)) from error


def parse_yaml(model: type[Options], path: Path, noun: str, context: object = None) -> Options:
    """Read a YAML file and validate it. Raises UserError as ``validated``."""
    return validated(model, read_settings(path, noun), str(path), context)


def parse_options(model: type[Options], text: str) -> Options:
    """Parse and validate a command's JSON options. Raises UserError as ``validated``."""
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise UserError(f"{model.__name__}: {text!r} is not JSON ({error}); correct it.") from error
    return validated(model, settings, model.__name__)
