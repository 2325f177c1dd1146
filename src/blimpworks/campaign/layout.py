"""Name the files, jobs and options of a campaign for the rules of the Snakemake workflow.

The rules call methods of ``Layout`` for their inputs: ``evaluated_tables("scores", "mine")`` gives
``["results/scores/mine/gpt2/eng.parquet", …]``. A scoring job runs one model on items of some
languages; an exhibit is a table or figure. A benchmark reproduces a paper of the same name, or is
declared as data. The Snakefile imports this module each time it is parsed, so imports must be fast.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any

from blimpworks.campaign import registry, scoring_jobs
from blimpworks.campaign.catalogue import Catalogue, Pinned, SourceRow, TreebankRow, whole_catalogue
from blimpworks.campaign.engines import ParityVariants, comparison_of, find_engine
from blimpworks.campaign.load import with_repository_paths
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.paper import ExhibitSpec, Generation
from blimpworks.campaign.scoring_jobs import CampaignSelection, ScoringJob, is_usable
from blimpworks.campaign.settings.base import TiePolicy, Variant
from blimpworks.campaign.settings.campaign import CatalogueFiles
from blimpworks.campaign.table_files import read_rows
from blimpworks.campaign.training_layout import TrainingLayout
from blimpworks.errors import UserError, find


class Layout(CampaignSelection):
    """A campaign with its catalogue, and the paths and options that the workflow's rules need."""

    @cached_property
    def complete(self) -> Catalogue:
        """Catalogue of all languages and models, for exhibits of printed numbers."""
        return whole_catalogue(self.campaign)

    @property
    def results(self) -> str:
        return self.campaign.pathvars.results

    @property
    def resources(self) -> str:
        return self.campaign.pathvars.resources

    def expand(self, template: str, paper: str) -> list[str]:
        """Fill in a path's {results}, {resources} and {paper}, and {lang} by each language."""
        if not template:
            return []
        languages = self.item_languages(paper) if "{lang}" in template else [""]
        return [
            template.format(results=self.results, resources=self.resources, paper=paper, lang=lang)
            for lang in languages
        ]

    def usable(self, rows: Iterable[Pinned]) -> list[str]:
        """Return the paths of the rows' files, except those that the campaign does not retrieve."""
        names = (getattr(row, "name", "") for row in rows if is_usable(self.campaign, row))
        return [f"{self.resources}/sources/{name}" for name in names]

    def among_sources(self, paths: Iterable[str]) -> list[str]:
        """Return those of ``paths`` that are retrieved files (``usable``)."""
        return [path for path in paths if path.startswith(f"{self.resources}/sources/")]

    def printed_tables(self, paper: str, pattern: str = "*.csv") -> list[str]:
        """Return the files of a paper's printed numbers."""
        published = self.campaign.catalogue.published
        return [*map(str, registry.printed_tables(published, paper, pattern))]

    def licences_of(self, paper: str) -> str:
        """Return the licences of a declared benchmark and its sources; "" for a real paper."""
        package = registry.find_paper(paper)
        if not package.needs_benchmark:
            return ""
        rows = package.sources(self.campaign, self.catalogue)
        licences = dict.fromkeys((package.citation.licence, *(row.licence for row in rows)))
        return ", ".join(filter(None, licences))

    # Benchmarks and models

    @cached_property
    def _benchmarks_of(self) -> dict[str, tuple[str, ...]]:
        rows = self.catalogue.models.items()
        return {name: scoring_jobs.benchmarks_of(self.campaign, row) for name, row in rows}

    def models_of(self, benchmark: str) -> list[str]:
        """Return the models that run on a benchmark in a language, in the catalogue's order."""
        able = [model for model, names in self._benchmarks_of.items() if benchmark in names]
        return [model for model in able if self.covered_by(model, benchmark)]

    def items_table(self, benchmark: str, lang: str) -> str:
        return str(scoring_jobs.items_table(self.campaign, benchmark, lang))

    def items_tables(self, benchmark: str) -> list[str]:
        return [self.items_table(benchmark, lang) for lang in self.item_languages(benchmark)]

    def job_outputs(
        self, folder: str, benchmark: str, models: Sequence[str] | None = None
    ) -> list[str]:
        """Return the outputs in ``folder`` of the jobs that run a benchmark.

        ``folder``: scores, answers or judgements. ``models``: by default all models that run on
        the benchmark. The output is a directory of tables if one job has all languages of a model.
        """
        return self.outputs_with(self.evaluated_tables(folder, benchmark, models))

    def evaluated_tables(
        self, folder: str, benchmark: str, models: Sequence[str] | None = None, only: str = ""
    ) -> list[str]:
        """Return the tables of a benchmark in ``folder``: one for each model and language.

        ``models``: by default all that run on the benchmark. ``only``: a single language.
        """
        names = self.models_of(benchmark) if models is None else models
        root = f"{self.results}/{folder}/{benchmark}"
        pairs = [(model, lang) for model in names for lang in self.covered_by(model, benchmark)]
        return [f"{root}/{model}/{lang}.parquet" for model, lang in pairs if only in ("", lang)]

    def outputs_with(self, tables: Iterable[str]) -> list[str]:
        """Return the outputs of jobs that contain the tables: these, or directories of models.

        The output is a directory if one job has all languages of the model:
        ``results/scores/mine/gpt2`` for the table ``results/scores/mine/gpt2/eng.parquet``.
        """
        folders = {f"{self.results}/{name}" for name in ("scores", "answers", "judgements")}
        outputs = []
        for table in tables:
            pieces = table.rsplit("/", 3)  # results/scores, mine, gpt2, eng.parquet
            in_directory = (
                pieces[0] in folders and pieces[2] not in self.models_with_job_per_language
            )
            outputs.append(table.rpartition("/")[0] if in_directory else table)
        return list(dict.fromkeys(outputs))

    def languages_by_model(self, benchmark: str, models: Sequence[str] | None = None) -> str:
        """Return {model: languages of a benchmark that it covers} as JSON."""
        names = self.models_of(benchmark) if models is None else models
        return json.dumps({model: self.covered_by(model, benchmark) for model in names})

    def judged_by(self, benchmark: str, model: str = "") -> list[str]:
        """Return the methods that decide a benchmark's pairs, such as ``mine=sum(all) / bytes``.

        The model's architecture decides which. Without ``model``, return those that exhibits show.
        """
        architecture = self.catalogue.models[model].architecture if model else ""
        return [*registry.find_benchmark(benchmark).methods(self.campaign, architecture)]

    def methods_of(self, benchmark: str, model: str = "") -> list[str]:
        """Return the names of the methods of ``judged_by``, as in judgements, such as ``mine``."""
        methods = self.judged_by(benchmark, model)
        if registry.find_benchmark(benchmark).unit == "prompt":
            return methods
        return [find_method(method).name for method in methods]

    def ties_of(self, benchmark: str, model: str = "") -> list[TiePolicy]:
        """Return the policy for ties of each method in ``methods_of``, in the same order."""
        return [self.tie_of(benchmark, method) for method in self.methods_of(benchmark, model)]

    def tie_of(self, benchmark: str, method: str) -> TiePolicy:
        """Return a method's policy for ties: the campaign's, or else the benchmark's."""
        options = registry.find_benchmark(benchmark).options(self.campaign)
        policy: TiePolicy = options.ties or registry.tie_policy(benchmark, options.variant, method)
        return policy

    def unknown_of(self, benchmark: str, model: str) -> list[str]:
        """Return the judging command's option for pairs with unknown words; empty if not needed."""
        options = registry.find_benchmark(benchmark).options(self.campaign)
        policy = getattr(options, "unknown_words", "score")
        has_unknown_words = find_engine(self.engine_of(model)).whole_words
        return [f"--unknown={policy}"] if has_unknown_words and policy != "score" else []

    def one_more_options(self, benchmark: str) -> list[str]:
        """Return ``--one-more=MODEL`` for models whose right items the authors overcount by 1."""
        counts_one_more = registry.find_benchmark(benchmark).counts_one_more
        rows = [self.catalogue.models[name] for name in self.models_of(benchmark)]
        counting = [row for row in rows if counts_one_more(self.campaign, row.architecture)]
        return [f"--one-more={row.name}" for row in counting]

    def mcnemar_of(self, benchmark: str) -> Variant:
        return registry.find_benchmark(benchmark).mcnemar(self.campaign)

    def compared_with(self, model: str) -> ParityVariants:
        """Return the variants of scoring a model that parity tests compare, with the reference."""
        options = self.campaign.parity
        architecture = self.catalogue.models[model].architecture
        return comparison_of(architecture, options.reference, options.variants)

    # Jobs of scoring and answering

    def generation_of(self, job: ScoringJob) -> Generation:
        """Return the settings for answering a job's prompts. Raises UserError if they differ."""
        names = dict.fromkeys(benchmark for benchmark, _ in job.sets)
        of_benchmarks = [registry.find_benchmark(name).generation for name in names]
        generations = [generation for generation in of_benchmarks if generation]
        if len({str(generation.options(self.campaign)) for generation in generations}) > 1:
            raise UserError(
                f"benchmarks {', '.join(names)} have different settings for how {job.model} "
                "answers; make these equal, or run the benchmarks in campaigns of their own."
            )
        return generations[0]

    @cached_property
    def models_with_job_per_language(self) -> dict[str, None]:
        """Models with a scoring job for each language; other models have one for all languages."""
        by_language = self.campaign.scoring.jobs == "language"
        rows = self.catalogue.models.items()
        return dict.fromkeys(n for n, row in rows if by_language or row.scope == "monolingual")

    def manifest_of(self, model: str, lang: str, store: str = "store") -> str:
        """Return the manifest of the job that scores (or answers) a language with a model."""
        return f"{self.results}/{store}/{model}/{self.job_name(model, lang)}/manifest.json"

    @cached_property
    def training(self) -> TrainingLayout:
        """Files that the campaign's models are trained on."""
        return TrainingLayout(self)

    def perplexity_tables(self, benchmark: str) -> list[str]:
        """Return the perplexity tables of a benchmark's LSTMs that the campaign trains."""
        lstms = self.training.trained_by("lstm")
        models = [model for model in self.models_of(benchmark) if model in lstms]
        pairs = [(model, lang) for model in models for lang in self.covered_by(model, benchmark)]
        return [f"{self.results}/perplexities/{lang}/{model}.parquet" for model, lang in pairs]

    # Exhibits

    @cached_property
    def refused(self) -> dict[str, str]:
        """Reason why the campaign cannot build an exhibit, keyed by the exhibit."""
        return registry.refused(self.campaign, self.campaign.benchmarks)

    @cached_property
    def is_declared(self) -> bool:
        """Whether all benchmarks are declared as data, so that no paper is reproduced."""
        active = registry.papers_of(self.campaign)
        return bool(active) and all(paper.needs_benchmark for paper in active)

    @property
    def published(self) -> list[ExhibitSpec]:
        """Exhibits of printed numbers: of the campaign, or of all papers unless ``is_declared``."""
        papers = {paper.name for paper in registry.papers_of(self.campaign)}
        if not self.is_declared:
            packages = registry.papers().items()
            papers |= {name for name, package in packages if not package.needs_benchmark}
        specs = [spec for spec in registry.exhibits().values() if spec.published]
        specs = [spec for spec in specs if spec.published_alias not in self.campaign.omitted]
        return [spec for spec in specs if spec.paper in papers]

    @property
    def published_papers(self) -> list[str]:
        return list(dict.fromkeys(spec.paper for spec in self.published))

    @property
    def papers(self) -> list[str]:
        """Papers with tables of printed numbers."""
        return [paper for paper in self.published_papers if self.printed_tables(paper)]

    @property
    def reported_papers(self) -> list[str]:
        """Papers with a page in the report, because they have exhibits, in the papers' order."""
        reported = {*self.published_papers, *(spec.paper for spec in self.exhibits)}
        return [name for name in registry.papers() if name in reported]

    def published_of(self, paper: str) -> list[ExhibitSpec]:
        return [spec for spec in self.published if spec.paper == paper]

    def tables(self, paper: str, name: str, *, printed: bool = False) -> list[str]:
        """Return the files of an input table; ``printed``: for exhibits of printed numbers."""
        table = registry.table_kind(paper, name)
        if not printed and table.absent(self.campaign):
            return []
        if table.retrieved and not table.sources(self.campaign, self.catalogue):
            return []
        paths = table.published if printed and table.published is not None else table.paths
        return self.expand(paths, paper) if isinstance(paths, str) else [*paths(self, paper)]

    def exhibit_tables(self, spec: ExhibitSpec) -> list[tuple[str, str]]:
        """Return (name, path) of an exhibit's input tables. Raises UserError if it is refused."""
        if spec.key in self.refused:
            raise UserError(self.refused[spec.key])
        names = (*spec.needs, *spec.optional)
        tables = [(name, path) for name in names for path in self.tables(spec.paper, name)]
        if not spec.language_fact:
            return tables
        language = self.fact(spec.paper, spec.language_fact)["language"]
        return [(name, path) for name, path in tables if Path(path).stem == language]

    def published_tables(self, paper: str) -> list[tuple[str, str]]:
        """Return (name, path) of each input table for a paper's exhibits of printed numbers."""
        names: dict[str, None] = {}
        for spec in self.published_of(paper):
            names |= dict.fromkeys((*spec.published, *spec.optional))
        return [(name, path) for name in names for path in self.tables(paper, name, printed=True)]

    def fact(self, paper: str, name: str, *, complete: bool = False) -> Any:
        """Compute the fact ``name``, a value that a paper's exhibits need besides tables.

        An example is the family of each language. ``complete``: for all languages and models, as
        exhibits of printed numbers need it. Raises UserError for an unknown fact.
        """
        facts = registry.find_paper(paper).facts
        remedy = "Correct the exhibit that asks for it, or add the fact to its paper."
        compute = find(facts, name, f"paper {paper!r}: the fact", remedy)
        return compute(self.campaign, self.complete if complete else self.catalogue)

    def labels_of(self, spec: ExhibitSpec) -> str:
        """Return as JSON what an exhibit shows besides its tables.

        Keys are ``languages`` and ``models`` ({code or name: printed name}), ``left_out`` (models),
        ``method`` (the one that is shown), ``items`` (origin, for the caption) and ``facts``. An
        exhibit without results of models has no models and no method.
        """
        languages = self.catalogue.languages_of(spec.paper).items()
        labels: dict[str, Any] = {"languages": {code: row.name for code, row in languages}}
        if registry.is_evaluated(spec):
            models = self.models_of(spec.paper)
            # Models that are trained on samples of a corpus are shown only by learning curves.
            sampled = self.catalogue.sampled
            in_exhibit = [name for name in models if (name in sampled) == spec.of_samples]
            labels["models"] = {name: self.catalogue.models[name].label for name in in_exhibit}
            labels["left_out"] = [name for name in models if name not in in_exhibit]
            labels["method"] = self.methods_of(spec.paper)[0]
        origin = registry.find_paper(spec.paper).caption(self.campaign, self.catalogue, spec.needs)
        if origin:
            labels["items"] = origin
        if spec.facts:
            labels["facts"] = {name: self.fact(spec.paper, name) for name in spec.facts}
        return json.dumps(labels, ensure_ascii=False)

    def published_labels(self, paper: str) -> str:
        """Return names and facts, as ``labels_of``, for a paper's exhibits of printed numbers."""
        languages = self.complete.languages_of(paper).items()
        models = self.complete.models.items()
        facts = dict.fromkeys(name for spec in self.published_of(paper) for name in spec.facts)
        labels = {
            "languages": {code: row.name for code, row in languages},
            "models": {name: row.label for name, row in models if paper in row.papers},
            "facts": {name: self.fact(paper, name, complete=True) for name in facts},
            "method": "printed",
            "source": "published",
        }
        return json.dumps(labels, ensure_ascii=False)

    def unshown_tables(self) -> list[str]:
        """Return the accuracies of benchmarks without exhibits, or their items if no model runs."""
        in_exhibits = {spec.paper for spec in self.exhibits}
        paths = []
        for name in self.campaign.benchmarks:
            if name in in_exhibits:
                continue
            if self.models_of(name):
                paths.append(f"{self.results}/accuracies/{name}.parquet")
            else:
                paths += self.items_tables(name)
        return paths


def missing_sources(layout: Layout, configfile: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Return the remedy for each exhibit that lacks sources (files to retrieve).

    The result is ``missing[form][exhibit key]`` with form "published" (exhibits of printed numbers)
    or "measured". A value is a sentence and a command, which is empty if the user must first edit
    a table. ``configfile``: path of the campaign's file, for the command.
    """
    default_files = CatalogueFiles()
    default = with_repository_paths(default_files).sources
    # With these settings, all sources of the repository's table count as retrievable.
    retrieving = {"mirror": Path("mirror"), "unpinned": "error"}
    campaign = layout.campaign.model_copy(update=retrieving)
    sources = {row.name: row for row in read_rows(SourceRow, default)}
    catalogue = replace(layout.catalogue, sources=sources)
    missing: dict[str, dict[str, tuple[str, str]]] = {"published": {}, "measured": {}}
    published = product(["published"], layout.published)
    for form, spec in chain(published, product(["measured"], layout.exhibits)):
        printed = form == "published"
        rows: dict[str, SourceRow | TreebankRow] = {}  # by name, as two tables may need one file
        for table_name in (*(spec.published if printed else spec.needs), *spec.optional):
            if not layout.tables(spec.paper, table_name, printed=printed):
                needed = registry.table_kind(spec.paper, table_name).sources(campaign, catalogue)
                rows |= {r.name: r for r in needed if isinstance(r, SourceRow | TreebankRow)}
        if not rows:
            continue
        # The default campaign has the exhibits of printed numbers too, and all of their sources.
        target = spec.published_alias if printed else f"{spec.alias} --configfile {configfile}"
        has_urls = all(row.url for row in rows.values())
        mirror = "" if has_urls else " --config mirror=DIRECTORY_WITH_A_COPY"
        remedy, command = "To get it:", f"snakemake --cores 1 {target}{mirror}"
        table = layout.campaign.catalogue.sources
        if not printed and table != default:
            remedy = f"To get it, take its rows over from {default_files.sources} into {table}."
            command = ""
        # The files, such as "a.zip and 2 more files (1.5 MB, CC0)".
        first, *more_names = rows
        more = f" and {len(more_names)} more files" if more_names else ""
        size = sum(row.bytes or 0 for row in rows.values())
        size_text = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} KB"
        if any(row.bytes is None for row in rows.values()):
            size_text = "unknown size"
        licences = dict.fromkeys(row.licence for row in rows.values() if row.licence)
        files = f"{first}{more} ({', '.join((size_text, *licences))})"
        reason = f"Missing here: {files}, which this campaign does not retrieve."
        missing[form][spec.key] = (f"{reason} {remedy}", command)
    return missing
