"""The catalogues of a campaign: languages, treebank files, other sources, models.

Tab-separated tables in ``config/``, one typed model per row. Reading needs only the
standard library, because the Snakefile reads them each time it is parsed.
"""

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_validator,
)

from blimpworks.campaign.addresses import check_listed, statement_of
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.local_models import is_local, model_address
from blimpworks.campaign.registry import papers, papers_of
from blimpworks.campaign.seeds import Seed, from_seeds, row_called
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.parsing import validated
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.campaign.settings.training import follows_instructions
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.strict import DrawnLabel, Label, Part, PerhapsWithin, Strict, Within

Row = TypeVar("Row")
Lang = Annotated[str, Field(pattern=r"^[a-z]{3}$")]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
GitBlob = Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")]

UNIMORPH_KINDS = ("unimorph", "unimorph_segmentations")
"""Kinds of sources that a lexicon is read from, in this order."""
TRAINED_AS = {
    "ngram": ("ngram", "kenlm", "float32", "bos"),
    "transformer": ("causal", "transformers", "float32", "bos"),
    "masked": ("masked", "transformers", "float32", "bos"),
    "encoder-decoder": ("encoder-decoder", "transformers", "float32", "bos"),
    "instruct": ("causal", "transformers", "float32", "bos"),
    "lstm": ("lstm", "lstm", "float32", "eos"),
}
"""Architecture, engine, dtype and first token of a model, by the kind of its recipe."""


def _split(value: Any) -> Any:
    return tuple(filter(None, value.split(","))) if isinstance(value, str) else value


def _blank(value: Any) -> Any:
    return None if value == "" else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Constructions = Annotated[tuple[Literal["sv", "sp"], ...], BeforeValidator(_split)]
# Treatments of spelling, perhaps for one way of working alone.
Treatments = Annotated[
    tuple[
        Annotated[
            str,
            Field(
                pattern=r"^((published|corrected):)?(unidecode|first_comma|uyghur_translit|"
                r"iast_devanagari|strip_cantillation|strip_cantillation_and_punctuation|"
                r"strip_colons|strip_colons_everywhere|strip_persian_marks)$"
            ),
        ],
        ...,
    ],
    BeforeValidator(_split),
]
OptionalInt = Annotated[int | None, BeforeValidator(_blank)]
OptionalFloat = Annotated[float | None, BeforeValidator(_blank)]


class LanguageRow(Strict):
    """A language, whichever papers have it."""

    lang: Lang
    """ISO 639-3 code, as in the released data set."""
    name: Label
    """English name, as the paper prints it."""
    ud_name: str
    """Language part of the UD directory names, comma-separated if several."""
    family: Label
    """Language family."""
    script: Annotated[str, Field(pattern=r"^[A-Z][a-z]{3}$")]
    """ISO 15924 code."""
    unimorph: Names
    """UniMorph tables used (codes); empty when only the treebank lexicon serves."""
    paper_n: OptionalInt
    """Pairs in the release of the paper that covers most languages, where known; config/README.md
    has the source."""
    untested: Constructions
    """Constructions (sv, sp) whose agreement statistics the release did not apply: its number
    of pairs is that of all conditions, those without agreement included."""
    special: Treatments
    """Named special handling of this language."""
    excluded_treebanks: str
    """UD treebanks left out, each with its reason."""
    papers: Names
    """Papers that alone have the language; empty: any paper may."""
    note: str

    def is_of(self, paper: str) -> bool:
        """Whether it is no language of other papers alone."""
        return not self.papers or paper in self.papers


class Pinned(Strict):
    """A file pinned by its version and a checksum."""

    # Whether no campaign does without it, whichever checksum pins it.
    needed: ClassVar[bool] = False
    sha256: Sha256
    """Of the uncompressed file; empty when it is not yet known."""
    git_blob: GitBlob = ""
    """Id of the file's content in a git repository (SHA-1, as `git hash-object` says it). A file
    without sha256 is verified by it, and its SHA-256 recorded when it is first retrieved."""
    bytes: OptionalInt
    """Size of the uncompressed file."""
    licence: str
    url: Annotated[str, AfterValidator(check_listed)]
    """Where it is downloaded from."""
    mirror: PerhapsWithin
    """Path below a mirror directory, without a possible .xz."""

    def is_pinned(self, checksums: Literal["any", "sha256"] = "any") -> bool:
        """Whether a checksum says what the file is: any, or SHA-256 alone."""
        by_another = bool(self.git_blob) or statement_of(self.url) is not None
        return bool(self.sha256) or ((self.needed or checksums == "any") and by_another)


class TreebankRow(Pinned):
    """One CoNLL-U file of one treebank."""

    lang: Lang
    treebank: Part
    """Directory name, such as UD_Welsh-CCG."""
    file: Part
    """File name, such as cy_ccg-ud-train.conllu."""
    version: str
    """Release tag."""
    commit: str
    """Commit of that release in the treebank's repository."""

    @property
    def name(self) -> str:
        """Path of the retrieved file below the resources directory."""
        return f"ud/{self.treebank}/{self.file}"


class SourceRow(Pinned):
    """Any other pinned file."""

    name: Within
    """Path of the retrieved file below the resources directory."""
    kind: str
    """What it is: unimorph, text, frequency, …"""
    lang: Annotated[str, Field(pattern=r"^([a-z]{3})?$")]
    version: str


class NeededRow(SourceRow):
    """A source in a paper's own table, without which the paper would have other items."""

    needed: ClassVar[bool] = True


class ModelRow(Strict):
    """A language model."""

    name: Slug
    label: DrawnLabel
    """As printed in tables and figures."""
    family: DrawnLabel
    papers: Names
    """Papers that evaluate it; empty for a model of our own, which a campaign must name and
    which then is run on each of its benchmarks (on prompts alone if it is trained to follow
    instructions)."""
    hf_id: Annotated[str, AfterValidator(model_address)]
    """Hugging Face id, or a place on this machine (beginning with /, ./, ../ or ~): a directory
    in Hugging Face's layout or with a checkpoint of ours, or an n-gram file. May hold {lang},
    {script}, and braces of its own doubled; empty for a model trained here."""
    revision: PerhapsWithin
    """Branch, tag or commit, main by default; resolved to a commit when it is retrieved."""
    recipe: str
    """Name of the recipe that trains it, for a model trained here."""
    architecture: Literal["causal", "masked", "encoder-decoder", "ngram", "lstm"]
    engine: Literal["vllm", "transformers", "kenlm", "lstm"]
    languages: str
    """Languages that it exists for: a group of the table of groups, or ISO 639-3 codes
    separated by commas; empty: all."""
    scope: Literal["multilingual", "monolingual"]
    """One checkpoint for all languages, or one for each."""
    tuning: Literal["base", "chat"]
    parameters: OptionalFloat
    """Billions."""
    dtype: str
    first_token: FirstToken
    """What conditions the first token."""
    gpus: OptionalInt
    """GPUs to spread it over, in place of what its size asks for (docs/cluster.md): empty for
    that, 0 for a model that needs none."""
    gpu_memory_gb: OptionalFloat
    """Memory that it needs on all its GPUs together, in GB, in place of what follows from
    parameters and dtype; empty for that."""
    gated: Literal["yes", "no"]
    """Whether the licence must be accepted on the hub first."""
    note: str

    @model_validator(mode="before")
    @classmethod
    def _default_branch(cls, row: Any) -> Any:
        on_hub = isinstance(row, dict) and row.get("hf_id") and not is_local(str(row["hf_id"]))
        return row | {"revision": row.get("revision") or "main"} if on_hub else row

    def billions(self, campaign: Campaign) -> float | None:
        """Billions of parameters: as stated, else of the recipe that a campaign trains it by."""
        return self.parameters or campaign.training.billions(self.recipe)


@dataclass(frozen=True)
class Catalogue:
    """What a campaign has selected, by key and in catalogue order."""

    languages: dict[str, LanguageRow]
    models: dict[str, ModelRow]
    treebanks: dict[str, list[TreebankRow]]
    """Treebank files by language."""
    sources: dict[str, SourceRow]
    """Other files by name."""
    seeds: dict[str, Seed] = field(default_factory=dict)
    """Models that are trained here several times, from a seed or on a sample each."""
    tables: dict[str, Path] = field(default_factory=dict)
    """Table that each source stands in, by the source's name."""

    def row_of(self, model: str) -> str:
        """Name of a model's row in the table of models, which seeds share."""
        return self.seeds[model].model if model in self.seeds else model

    def languages_of(self, paper: str) -> dict[str, LanguageRow]:
        """Languages that are not of other papers alone."""
        return {lang: row for lang, row in self.languages.items() if row.is_of(paper)}

    def sources_of(self, kind: str, lang: str) -> list[SourceRow]:
        """Sources of one kind for one language."""
        return [row for row in self.sources.values() if (row.kind, row.lang) == (kind, lang)]


def _languages(path: Path) -> dict[str, LanguageRow]:
    """Rows of the table of languages, and of those that papers alone have."""
    known = keyed(read_rows(LanguageRow, path), "lang", path)
    more: dict[str, LanguageRow] = {}
    for row in (row for paper in papers().values() for row in paper.languages):
        if row.lang not in known:
            of_papers = more[row.lang].papers if row.lang in more else ()
            more[row.lang] = row.model_copy(update={"papers": (*of_papers, *row.papers)})
    return known | more


def _sources(campaign: Campaign) -> dict[Path, dict[str, SourceRow]]:
    """Rows of the campaign's table of sources, and of those that its papers have themselves.

    Raises UserError for a source that stands in two rows.
    """
    own = (table for paper in papers_of(campaign) for table in paper.source_tables)
    kinds: dict[Path, type[SourceRow]] = {campaign.catalogue.sources: SourceRow}
    kinds.update(dict.fromkeys(own, NeededRow))
    tables: dict[Path, dict[str, SourceRow]] = {}
    for path, kind in kinds.items():
        rows = keyed(read_rows(kind, path), "name", path)
        for other, taken in tables.items():
            twice = min(taken.keys() & rows.keys(), default=None)
            if twice is not None:
                raise UserError(f"{path}: name {twice!r} stands in {other} too; rename one.")
        tables[path] = rows
    return tables


def _models(campaign: Campaign) -> dict[str, ModelRow]:
    """Models of the table and the campaign's own, by name. Raises UserError for one in both."""
    path = campaign.catalogue.models
    rows = keyed(read_rows(ModelRow, path), "name", path)
    for name, own in campaign.own_models.items():
        key = f"own_models of campaign {campaign.campaign!r}, {name!r}"
        if name in rows:
            raise UserError(f"{key}: {path} has a model of this name too; choose another.")
        rows[name] = validated(ModelRow, own.cells(name), key)
    return rows


def keyed(rows: list[Row], key: str, path: Path) -> dict[str, Row]:
    """Rows by one of their fields. Raises UserError where two have the same."""
    names = Counter(getattr(row, key) for row in rows)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise UserError(f"{path}: {key} {twice[0]!r} stands in {names[twice[0]]} rows; keep one.")
    return {getattr(row, key): row for row in rows}


def select_rows(
    names: Sequence[str] | Literal["all"], rows: dict[str, Row], what: str, path: Path
) -> dict[str, Row]:
    """The wanted rows, in catalogue order. Raises UserError for an unknown name."""
    if names == "all":
        return rows
    for name in names:
        if name in rows:
            continue
        spellings = {key.casefold(): key for key in rows}
        for key, row in rows.items():
            for column in ("name", "label", "hf_id"):
                spellings.setdefault(getattr(row, column, key).casefold(), key)
        close = difflib.get_close_matches(name.casefold(), spellings, n=1)
        remedy = f"Did you mean {spellings[close[0]]!r}?" if close else "Correct it or add a row."
        if model := row_called(name, rows):
            remedy = (
                f"Name {model!r}: which seeds it has follows from 'seeds' of its recipe, and "
                "which sizes from 'tokens'."
            )
        raise UserError(
            f"{what} {name!r} of the campaign is not in {path}, which has "
            f"{', '.join(list(rows)[:8])}, … ({len(rows)} in all). {remedy}"
        )
    return {name: row for name, row in rows.items() if name in names}


def load_catalogue(campaign: Campaign) -> Catalogue:
    """Read the campaign's catalogues and keep what it selects.

    Raises UserError for a malformed table, an unknown language or model, a language
    without treebank files, or a trained model whose recipe the campaign lacks.
    """
    files = campaign.catalogue
    known = _languages(files.languages)
    languages = select_rows(campaign.languages, known, "language", files.languages)
    for name, corpus in campaign.training.corpora.items():
        key = f"training.corpora.{name}.max_sentences_of: language"
        select_rows((*corpus.max_sentences_of,), known, key, files.languages)
    if campaign.languages == "all":
        mine = {paper.name for paper in papers_of(campaign)}
        rows = languages.items()
        languages = {lang: row for lang, row in rows if not row.papers or mine & {*row.papers}}
    every = _models(campaign)
    models = select_rows(campaign.models, every, "model", files.models)
    if campaign.models == "all":
        had = {name: row for name, row in models.items() if row.hf_id or row.recipe}
        own = campaign.own_models
        models = {name: row for name, row in had.items() if row.papers or name in own}
    treebanks: dict[str, list[TreebankRow]] = {lang: [] for lang in languages}
    for row in read_rows(TreebankRow, files.treebanks):
        if row.lang in treebanks:
            treebanks[row.lang].append(row)
    by_table = _sources(campaign)
    sources = {name: row for rows in by_table.values() for name, row in rows.items()}
    tables = {name: path for path, rows in by_table.items() for name in rows}
    for wanted, used in campaign.substitutes.items():
        for name in (wanted, used):
            if name not in sources:
                raise UserError(
                    f"substitutes of campaign {campaign.campaign!r}: {name!r} is not in "
                    f"{files.sources}. Correct it or add a row."
                )
    for model in models.values():
        _check_model(campaign, model)
    trained, seeds = from_seeds(campaign, models, every)
    catalogue = Catalogue(languages, trained, treebanks, sources, seeds, tables)
    active = papers_of(campaign)
    read = {lang for paper in active for lang in paper.treebanks(campaign, catalogue)}
    named = (row.recipe for row in models.values() if row.recipe)
    instructed = all(follows_instructions(campaign.training.recipes, name) for name in named)
    if not instructed and campaign.training.treebank_text:
        read |= {lang for lang, row in languages.items() if not row.papers}
    for lang in (lang for lang in treebanks if lang in read):
        keyed(treebanks[lang], "name", files.treebanks)
        if not treebanks[lang]:
            raise UserError(f"{files.treebanks} has no treebank file of {lang!r}; add its rows.")
        if campaign.unpinned == "skip" and not any(
            row.is_pinned(campaign.checksums) for row in treebanks[lang]
        ):
            raise UserError(
                f"{files.treebanks}: no treebank file of {lang!r} has a checksum, and the campaign "
                f"skips such files; leave the language out, or run `blimpworks pin "
                f"{files.treebanks}`."
            )
    return catalogue


def _check_model(campaign: Campaign, model: ModelRow) -> None:
    """See that an engine runs a model, and that it can be had. Raises UserError else."""
    path, recipes = campaign.catalogue.models, campaign.training.recipes
    try:
        find_engine(campaign.engines.get(model.engine, model.engine), model.architecture)
    except UserError as error:
        raise UserError(
            f"{path}: model {model.name!r}: {error} Correct the row, or "
            f"'engines' of campaign {campaign.campaign!r}."
        ) from error
    # Of all models those of other papers need nothing.
    if campaign.models == "all" and not {*model.papers} & {*campaign.benchmarks}:
        return
    if not model.recipe:
        if not model.hf_id and campaign.models != "all":
            raise UserError(
                f"{path}: model {model.name!r} has neither hf_id nor recipe, so it cannot be "
                f"had: {model.note or 'no note says why'}."
            )
        return
    if model.recipe not in recipes:
        raise UserError(
            f"{path}: model {model.name!r} has recipe {model.recipe!r}, which training.recipes "
            f"of campaign {campaign.campaign!r} lacks (it has: {', '.join(recipes) or 'none'}). "
            "Add it."
        )
    declared = (model.architecture, model.engine, model.dtype, model.first_token)
    expected = TRAINED_AS[recipes[model.recipe].kind]
    if declared != expected:
        raise UserError(
            f"{path}: model {model.name!r} has architecture, engine, dtype, first_token "
            f"{', '.join(declared)}; its recipe makes {', '.join(expected)}. Correct the row."
        )


def whole_catalogue(campaign: Campaign) -> Catalogue:
    """All languages and models there are, whatever the campaign selects; no files.

    What the papers print is not bound to a campaign. Raises UserError for a malformed table.
    """
    languages = _languages(campaign.catalogue.languages)
    return Catalogue(languages, _models(campaign), treebanks={}, sources={})
