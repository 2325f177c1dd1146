"""Models of this machine that a user names by where they lie: directories and n-gram files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from blimpworks.campaign.local_models import is_local
from blimpworks.errors import UserError
from blimpworks.evaluation.resolved import (
    Origin,
    ResolvedModel,
    check_architecture,
    row_of,
    with_settings,
)
from blimpworks.models.checkpoint import FILE_NAME
from blimpworks.models.facts import facts_of
from blimpworks.models.ngram_file import read_vocabulary
from blimpworks.models.words import split_words
from blimpworks.records.job import REPOSITORY

LANGUAGES = "/{lang}"
"""End of the address of a directory that has a checkpoint for each language."""
NGRAM_SUFFIXES = (".gz", ".arpa", ".bin", ".binary", ".klm", ".lm", ".mmap")
CONFIG, ADAPTER = "config.json", "adapter_config.json"
STRANGE_WORDS = 0.05
"""Share of an n-gram model's words, never seen when text is split, from which a note says so."""
OTHER_CASE = 0.01
"""Share of words with a capital, or with a small letter, up to which a note says so."""
FEWEST_WORDS = 10
"""Words, of a script with capitals, from which these shares say something."""


def _absolute(argument: str) -> Path:
    """A place as an absolute path; links in it stay, so that it keeps its name."""
    path = Path(argument).expanduser()
    return path.resolve() if ".." in path.parts else path.absolute()


def _address(place: Path) -> str:
    """A place as rows have it: below the repository, where Snakemake runs, else absolute."""
    below = place.is_relative_to(REPOSITORY)
    text = f"./{place.relative_to(REPOSITORY)}" if below else str(place)
    return text.replace("{", "{{").replace("}", "}}")


def _has_model(folder: Path) -> bool:
    return any((folder / name).exists() for name in (FILE_NAME, CONFIG, ADAPTER))


def _folders_of_languages(place: Path) -> list[Path]:
    """Folders of a directory that are called by ISO 639-3 codes and hold a model each."""
    if not place.is_dir() or _has_model(place):
        return []
    named = (p for p in sorted(place.iterdir()) if re.fullmatch("[a-z]{3}", p.name))
    return [folder for folder in named if _has_model(folder)]


def _whole_folder(place: Path) -> Path:
    """The directory itself, or the one in it that holds a multilingual checkpoint of ours."""
    multilingual = place / "multi"
    return multilingual if not _has_model(place) and _has_model(multilingual) else place


def is_place(argument: str) -> bool:
    """Whether an argument that is not written as a path is a model's directory or file anyhow."""
    place = Path(argument.removesuffix(LANGUAGES))
    folder = place.is_dir() and (_has_model(_whole_folder(place)) or _folders_of_languages(place))
    return place.is_file() or bool(folder)


def _of_languages(
    argument: str, place: Path, folders: Sequence[Path], overrides: Mapping[str, str]
) -> ResolvedModel:
    """A model with a checkpoint for each language. Raises UserError for checkpoints that differ."""
    given = (overrides.get("architecture"), overrides.get("first_token"))
    facts = {folder.name: facts_of(folder, *given) for folder in folders}
    kinds = {
        lang: (each.architecture, each.dtype, each.first_token) for lang, each in facts.items()
    }
    first, *others = kinds
    other = next((lang for lang in others if kinds[lang] != kinds[first]), None)
    if other is not None:
        raise UserError(
            f"{place}: {first} is {', '.join(kinds[first])} and {other} is "
            f"{', '.join(kinds[other])}; expected one model with checkpoints of one kind. Name "
            "them one by one."
        )
    strange = next((lang for lang in facts if facts[lang].scope not in ("multi", lang)), None)
    if strange is not None:
        raise UserError(
            f"{place / strange} holds a checkpoint of {facts[strange].scope!r}; expected one of "
            f"{strange!r}. Rename the directory."
        )
    largest = max(facts.values(), key=lambda each: each.parameters or 0)
    check_architecture(largest, overrides, str(place))
    more = {"scope": "monolingual", "languages": ",".join(facts)}
    row = row_of(largest, place.name, _address(place) + LANGUAGES, **more)
    size = max(each.file_gb for each in facts.values())
    row = with_settings(row, overrides, argument)
    return ResolvedModel(
        argument,
        row,
        "directory",
        place.parts[1:],
        file_gb=size,
        quantisation=largest.quantisation,
        start=largest.start,
    )


def in_languages(model: ResolvedModel, requested: Sequence[str]) -> ResolvedModel:
    """A model that a user wants run on some languages, also one that was trained for another.

    Then its notes say so. A model with a checkpoint for each language has those alone.
    """
    row = model.row
    one = is_local(row.hf_id) and row.scope == "monolingual" and not row.hf_id.endswith(LANGUAGES)
    others = [lang for lang in requested if lang != row.languages]
    if not one or not others:
        return model
    note = (
        f"{row.label} was trained for {row.languages} and is run on {', '.join(others)}, "
        "as --languages says."
    )
    changes = {"scope": "multilingual", "languages": ",".join(requested), "note": note}
    return replace(model, row=row.model_copy(update=changes), notes=(*model.notes, note))


def _notes_on_words(place: Path) -> tuple[str, ...]:
    """What is strange about the words of an n-gram file. Raises UserError for damaged ones."""
    words = read_vocabulary(place)[2:]
    strange = [word for word in words if [piece for piece, _ in split_words(word)] != [word]]
    notes, of_words = [], f"of the {len(words):,} words of {place.name}"
    if len(strange) > STRANGE_WORDS * len(words):
        notes.append(
            f"{len(strange):,} {of_words}, such as {strange[0]!r}, never match, because "
            "sentences are split into words and punctuation marks; a word that is not known counts "
            "as <unk>."
        )
    # Georgian has capitals too, with which nobody begins a sentence: they are no title case.
    cased = [word for word in words if word.title() != word or word.lower() != word]
    counts = {
        "a capital": sum(word.lower() != word for word in cased),
        "a small letter": sum(word.upper() != word for word in cased),
    }
    if len(cased) >= max(FEWEST_WORDS, len(words) / 2):
        notes += [
            f"{count or 'None'} {of_words} {'have' if count > 1 else 'has'} {letter}, so words of "
            "sentences with one count as <unk> (the report card has the share of unknown words); "
            "name a model of text that is written like the sentences."
            for letter, count in counts.items()
            if count <= OTHER_CASE * len(cased)
        ]
    return tuple(notes)


def _name_of_file(place: Path) -> str:
    name = place.name
    while name.lower().endswith(NGRAM_SUFFIXES):
        name = name.rpartition(".")[0]
    return name or place.name


def of_place(argument: str, overrides: Mapping[str, str]) -> ResolvedModel:
    """A model in a directory, or an n-gram file. Raises UserError for a place without one."""
    place = _absolute(argument.removesuffix("/").removesuffix(LANGUAGES))
    if not place.exists():
        raise UserError(
            f"{argument} does not exist; expected a directory in Hugging Face's layout, a "
            "checkpoint of ours or an n-gram file (.arpa, KenLM's binary). Correct the path."
        )
    folders = _folders_of_languages(place)
    if folders:
        return _of_languages(argument, place, folders, overrides)
    if place.is_file():
        facts, notes = facts_of(place), _notes_on_words(place)
        parts = (*place.parts[1:-1], _name_of_file(place))
    else:
        folder = _whole_folder(place)
        given = (overrides.get("architecture"), overrides.get("first_token"))
        facts, notes = facts_of(folder, *given), ()
        of_language = (folder / FILE_NAME).exists() and place.name == facts.scope
        own = (*place.parts[1:-2], f"{place.parent.name}-{place.name}")
        parts, place = own if of_language else place.parts[1:], folder
    check_architecture(facts, overrides, argument)
    more = {} if facts.scope == "multi" else {"scope": "monolingual", "languages": facts.scope}
    row = with_settings(row_of(facts, parts[-1], _address(place), **more), overrides, argument)
    origin: Origin = "file" if place.is_file() else "directory"
    return ResolvedModel(
        argument,
        row,
        origin,
        parts,
        file_gb=facts.file_gb,
        quantisation=facts.quantisation,
        notes=notes,
        start=facts.start,
    )
