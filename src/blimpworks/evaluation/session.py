"""Run an evaluation from start to end, as ``blimpworks evaluate MODEL …`` does.

The command makes an ``Evaluation`` from its options and calls ``Evaluation.run``. This finds the
models, writes a campaign (a YAML file) into the evaluation's directory, runs the campaign with
Snakemake, and prints the report card. Defaults come from a template, which is a campaign for a
choice of data: ``released`` (downloaded test sets) or ``embedded`` (data of the repository).
"""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from blimpworks.analysis.scoring_variants import merged
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import DECLARATION, check_campaign, declare, read_anew
from blimpworks.campaign.registry import find_benchmark, papers
from blimpworks.campaign.settings.base import read_settings
from blimpworks.campaign.settings.site import find_site
from blimpworks.campaign.table_files import read_rows
from blimpworks.cluster.status import read_status
from blimpworks.cluster.text import duration
from blimpworks.errors import UserError
from blimpworks.evaluation import request
from blimpworks.evaluation.card import read_card, rerun_command
from blimpworks.evaluation.checkpoints import checkpoints_of
from blimpworks.evaluation.machine import check_memory, choose_engine, choose_format, this_machine
from blimpworks.evaluation.models import ResolvedModel, code_of_model, in_languages, resolve_models
from blimpworks.evaluation.run import folder_lock, run_quietly, run_snakemake, snakemake_command
from blimpworks.evaluation.suites import read_suite, suite_file
from blimpworks.evaluation.terminal import print_card
from blimpworks.files import write_text
from blimpworks.models.checkpoint import refuse_quantised
from blimpworks.records.job import REPOSITORY
from blimpworks.retrieval.preflight import refuse_unreachable
from blimpworks.yaml_files import read_yaml

SETTINGS_NAME = "the evaluation"
"""Name of the settings in messages, as long as they are in no file."""
TEMPLATES = "config/evaluation"
"""Folder of templates: a campaign for each choice of data."""
FULL_SHARD_SIZE = 0.5
"""Largest model that gets full shards without GPU [10⁹ parameters]: two cores then score the 1,000
sentences of a shard in half a minute. Progress is shown and saved after each shard."""
AUTO, EMBEDDED, RELEASED = "auto", "embedded", "released"
"""Choices of data; ``auto`` is ``released`` with a mirror or a network, else ``embedded``. As the
choice of an engine, ``auto`` is the fastest that can run the model."""
DECLARED = "declared"
"""Folder in an evaluation for benchmarks of the suite whose files the user has."""
FOLDER = "evaluations"
"""Default folder of evaluations, in the current directory."""


def enter_repository() -> None:
    """Change to the repository's directory. Raises UserError if only the package is installed."""
    if not (REPOSITORY / "workflow/Snakefile").exists():
        raise UserError(
            f"{REPOSITORY} has no workflow/Snakefile; evaluations need the whole repository. "
            "Clone it, and install it there with `pip install -e .`."
        )
    # Register the user's benchmarks by absolute paths; relative ones are wrong after the change.
    declare(request.folders_outside(papers()))
    os.chdir(REPOSITORY)
    read_anew()  # now also the benchmarks that the repository declares


def check_settings(settings: Mapping[str, Any]) -> Layout:
    """Check a campaign's settings; return its layout: jobs and files. Raises UserError if wrong."""
    return Layout.of(check_campaign({**settings}, SETTINGS_NAME))


def _why_not_run(settings: Mapping[str, Any], benchmark: str) -> str:
    """Return why no model can be run on a benchmark; "" if one can."""
    try:
        layout = check_settings({**settings, "benchmarks": [benchmark]})
    except UserError as error:
        return str(error)
    if layout.jobs:
        return ""
    obstacles = {model: layout.obstacle(model, benchmark) for model in layout.catalogue.models}
    if len({*obstacles.values()}) == 1:
        return next(iter(obstacles.values()))
    return "; ".join(f"{model}: {obstacle}" for model, obstacle in obstacles.items())


def shorten_answer_shards(settings: dict[str, Any], layout: Layout) -> Layout:
    """Let each shard have the answers of two batches; return the new layout.

    Answers are saved after each shard. A batch takes half a minute on a CPU.
    """
    generations = (find_benchmark(name).generation for name in layout.campaign.benchmarks)
    for generation in filter(None, generations):
        # ``generation.setting`` is a path in the settings, such as "prompts.generation". Copy each
        # dictionary on it, because the template shares them.
        options = settings
        for key in generation.setting.split("."):
            options[key] = {**options.get(key, {})}
            options = options[key]
        options["shard"] = 2 * generation.options(layout.campaign).batch
    return check_settings(settings)


@dataclass
class Evaluation:
    """An evaluation: the user's options, and the models and notes that a run adds.

    Steps of ``run``: ``resolve`` finds the models, ``add_local_tasks`` adds benchmarks, and
    ``prepare`` calls ``choose_data``, ``choose_languages`` and ``choose_benchmarks`` in this order.
    """

    data: str = AUTO
    """Name of a template, or ``auto``."""
    benchmarks: Sequence[str] = ()
    """Names; empty for the benchmarks of the template that the models can run."""
    languages: Sequence[str] = ()
    """ISO 639-3 codes; empty for the languages of the named benchmarks, or of the template."""
    limit: int | None = None
    """Most items of each benchmark and language; None for all."""
    mirror: Path | None = None
    sensitivity: bool = False
    """Whether to score also with other tokens before a sentence than the model's own."""
    engine: str = AUTO
    scoring: Mapping[str, Any] = field(default_factory=dict)
    """Settings of scoring that the user sets, as in a campaign."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Settings of all models, such as {"dtype": "bfloat16"} (``models.CAN_BE_SET``)."""
    profile: str | None = None
    """Profile of Snakemake; None to run on this machine."""
    cores: int = 1
    dry_run: bool = False
    suite: str | None = None
    """Name of a suite, or path of its file."""
    suite_data: Path | None = None
    """The user's directory of data that are not downloaded: a folder for each local task."""
    local_benchmarks: Collection[str] = ()
    """Benchmarks of the suite's local tasks that the user wants to run."""
    trusted: Collection[str] = ()
    """Digests of code in models' repositories that may run."""
    checkpoints: str | None = None
    """Shell pattern of checkpoints to evaluate instead of the model itself, such as ``chck_*M``."""

    # Set by the steps of ``run``:
    models: list[ResolvedModel] = field(default_factory=list)
    template: dict[str, Any] = field(default_factory=dict)
    """Settings of the template for the chosen data."""
    notes: list[str] = field(default_factory=list)
    """Lines to print before the run."""

    def choose_data(self) -> None:
        """Replace ``auto`` by the data to use, and read the template. Raises UserError."""
        names = sorted(path.stem for path in (REPOSITORY / TEMPLATES).glob("*.yaml"))
        reason = ""
        if self.data not in (AUTO, *names):
            raise UserError(f"--data is {self.data!r}; expected {AUTO}, {', '.join(names)}.")
        if self.mirror is not None and not self.mirror.is_dir():
            raise UserError(
                f"--mirror is {self.mirror}, which is no directory; name one that exists."
            )
        if self.mirror is not None and self.data == EMBEDDED:
            raise UserError(
                "--mirror has released data, which --data embedded leaves out; drop one."
            )
        if self.data == AUTO and self.mirror is not None:
            self.data, reason = RELEASED, f" (from {self.mirror})"
        elif self.data == AUTO and request.hub_is_reachable():
            self.data, reason = RELEASED, " (from the network; `--data embedded` needs none)"
        elif self.data == AUTO:
            self.data = EMBEDDED
            reason = " (there is no network; released data need one, or --mirror DIRECTORY)"
        self.template = read_settings(REPOSITORY / TEMPLATES / f"{self.data}.yaml", "campaign")
        self.notes.append(f"Data: {self.data}{reason}. {self.template['description']}")

    def settings(self, folder: str) -> dict[str, Any]:
        """Return the settings of a campaign in ``folder``, as in its YAML file, without models."""
        template = self.template
        settings: dict[str, Any] = {
            "campaign": "evaluation",
            **template,
            "pathvars": {
                "results": f"{folder}/results",
                "resources": f"{folder}/resources",
                "logs": f"{folder}/logs",
                "benchmarks": f"{folder}/logs/benchmarks",
            },
            "catalogue": {**template.get("catalogue", {})},
            "benchmarks": [*(self.benchmarks or template["benchmarks"])],
            "languages": [*(self.languages or template["languages"])],
            "models": [],
        }
        if {*settings["benchmarks"]} - {*template["benchmarks"]}:
            settings.pop("description", None)  # it describes the benchmarks of the template
        optional = {
            "declared": [*map(request.as_setting, request.folders_outside(settings["benchmarks"]))],
            "mirror": None if self.mirror is None else request.as_setting(self.mirror),
            "limit": self.limit,
            "scoring": self._scoring_settings(),
            "report_card": self._card_settings(),
            "run_model_code": {m.row.name: m.facts.code for m in self.models if m.facts.code},
        }
        return settings | {k: value for k, value in optional.items() if value not in (None, [], {})}

    def _scoring_settings(self) -> dict[str, Any]:
        """Return the template's settings of scoring, changed by machine, suite and user."""
        scoring = {**self.template.get("scoring", {})}
        billions = max((model.row.parameters or 0 for model in self.models), default=0)
        if billions > FULL_SHARD_SIZE and self.profile is None and not this_machine().gpus_gb:
            scoring["shard"] = max(20, round(1000 * FULL_SHARD_SIZE / billions))
        first_token = None if self.suite is None else read_suite(self.suite).first_token
        if first_token is not None and "first_token" not in self.overrides:
            scoring["first_token"] = first_token
        return merged(scoring, self.scoring)

    def _card_settings(self) -> dict[str, Any]:
        card: dict[str, Any] = {"sensitivity": True} if self.sensitivity else {}
        if self.suite is not None:
            card["suite"] = self.suite
            if self.checkpoints is not None:
                card["curves"] = True
        return card

    def listing(self) -> str:
        """Return the text of ``--list``: benchmarks, languages, numbers of items, files on disk."""
        enter_repository()
        self.choose_data()
        campaign = check_campaign(self.settings(FOLDER), SETTINGS_NAME)
        return f"{self.notes[0]}\n\n{request.listing_text(request.list_benchmarks(campaign))}"

    def code_listing(self, arguments: Sequence[str]) -> str:
        """Return the text of ``--run-model-code show``: the code in models' repositories.

        The code is not run. Raises UserError for a model without code, or with unusable code.
        """
        if self.checkpoints is not None:
            pattern = self.checkpoints
            arguments = [name for model in arguments for name in checkpoints_of(model, pattern)]
        if not arguments:
            raise UserError("no model is named whose code could be shown; name one or more.")
        # Several models can have the same code, which is listed once.
        headings_by_digest: dict[str, list[str]] = {}
        code_by_digest: dict[str, str] = {}
        for argument in arguments:
            folder, code = code_of_model(argument)
            heading = f"{argument} has code of its own, in {folder}:"
            headings_by_digest.setdefault(code.digest, []).append(heading)
            code_by_digest[code.digest] = code.listing()
        warning = (
            "Nothing of it has been run. Once it runs, it can do whatever you can: read, change "
            "and send your files. If you have read it and trust it, put this in place of "
            f"`--run-model-code show`:\n  --run-model-code {','.join(code_by_digest)}"
        )
        texts = ["\n".join([*headings_by_digest[d], code]) for d, code in code_by_digest.items()]
        return "\n\n".join([*texts, warning])

    def resolve(self, arguments: Sequence[str]) -> None:
        """Set ``models``, with engines that fit this machine, or the cluster of the profile."""
        rows = request.repository_catalogue().models
        models = resolve_models(arguments, rows, self.overrides, self.trusted)
        machine = this_machine()
        if self.profile is not None:
            with chdir(REPOSITORY):  # whose config/ describes the cluster
                site = find_site(check_campaign({"campaign": "evaluation"}, ""))
            gpus = tuple(gpu.memory_gb for gpu in site.gpus) if site else ()
            machine = replace(machine, memory_gb=None, gpus_gb=gpus)
        # On a cluster, the number format is that of the model or of the user.
        keeps_format = self.profile is not None or "dtype" in self.overrides
        for model in models:
            engine, notes, facts = self.engine, model.notes, model.facts
            if facts.code:
                # By "auto", ``choose_engine`` means the fastest, which may not run the code.
                engine = model.row.engine if engine == AUTO else engine
                notes += (f"{model.row.label} runs code of its own: {facts.code}.",)
            row = choose_engine(model.row, engine, machine)
            if not find_engine(row.engine).quantised:
                refuse_quantised(facts.quantisation, model.argument)
            if facts.code and not find_engine(row.engine).own_code:
                raise UserError(
                    f"--engine is {engine!r}, which runs no code of a model's own, and "
                    f"{model.argument} has some; leave it out."
                )
            with_engine = replace(model, row=row, notes=notes)
            self.models.append(with_engine if keeps_format else choose_format(with_engine, machine))

    def choose_benchmarks(self, settings: dict[str, Any]) -> Layout:
        """Remove benchmarks that no model can run from the settings, and note the reasons.

        Return the layout of the remaining campaign. Raises UserError when the user named such a
        benchmark, when no model is run on a named language, or when no benchmark remains.
        """
        if not self.benchmarks:
            reasons = {name: _why_not_run(settings, name) for name in settings["benchmarks"]}
            settings["benchmarks"] = [name for name, reason in reasons.items() if not reason]
            if not settings["benchmarks"]:
                lines = "\n".join(f"  {name}: {reason}" for name, reason in reasons.items())
                raise UserError(f"none of the benchmarks can be run:\n{lines}")
            for name, reason in reasons.items():
                if reason:
                    self.notes.append(f"Left out: {name}, because {reason}")
        layout = check_settings(settings)
        layout.check_runs()
        covered = {lang for scoring_job in layout.jobs for lang in scoring_job.languages}
        unused = [lang for lang in self.languages if lang not in covered]
        if unused:
            raise UserError(
                f"--languages names {', '.join(unused)}, which no model is run on by "
                f"{', '.join(settings['benchmarks'])}; take it out, or add a benchmark that has it "
                "(`blimpworks evaluate --list`)."
            )
        return layout

    def choose_languages(self, settings: dict[str, Any]) -> None:
        """Use all languages of the named benchmarks, or note why some are left out.

        Languages outside the template have no training text: if a model is trained, leave them out.
        """
        campaign = check_campaign(settings, SETTINGS_NAME)
        languages, unpinned = request.languages_of_benchmarks(campaign)
        if unpinned:
            self.notes.append(
                f"Left out: {', '.join(unpinned)}, since these data skip treebank files without "
                "checksum; `blimpworks pin` fills it in where there is a network."
            )
        in_template = [lang for lang in languages if lang in settings["languages"]]
        not_in_template = [lang for lang in languages if lang not in in_template]
        settings["languages"] = [*in_template, *not_in_template]
        trains_models = any(model.row.recipe for model in self.models)
        if not_in_template and in_template and trains_models:
            settings["languages"] = in_template
            self.notes.append(
                f"Left out: {', '.join(not_in_template)}, since these data have no text to train "
                "models on in these languages; --languages adds them."
            )
        elif not_in_template:
            self.notes.append(
                f"Languages of the benchmarks: {', '.join(languages)}; --languages selects."
            )

    def prepare(self, folder: Path) -> Layout:
        """Write the campaign and table of models into a folder; return the layout."""
        self.models = [in_languages(model, self.languages) for model in self.models]
        self.choose_data()
        path = request.as_setting(folder)
        settings = self.settings(path)
        if self.benchmarks and not self.languages:
            self.choose_languages(settings)
        settings["catalogue"]["models"] = f"{path}/{request.MODELS_FILE}"
        settings["models"] = [model.row.name for model in self.models]
        architectures = [*dict.fromkeys(model.row.architecture for model in self.models)]
        for section, architecture in (("masked", "masked"), ("seq2seq", "encoder-decoder")):
            if section in self.scoring and architecture not in architectures:
                raise UserError(
                    f"--scoring sets {section}, for models of architecture {architecture!r}, and "
                    f"the named ones are {', '.join(architectures)}; leave it out, or set "
                    "--architecture."
                )
        if self.suite is not None and "first_token" in self.overrides:
            self.notes.append("The suite's printed numbers may have another first token.")
        elif self.suite is not None and "first_token" in settings.get("scoring", {}):
            self._show_first_token(settings["scoring"]["first_token"])
        # The table has the repository's models too, because the report card ranks ours among them.
        rows = dict(request.repository_catalogue().models)
        rows.update((model.row.name, model.row) for model in self.models)
        table = folder / request.MODELS_FILE
        earlier_text = table.read_text(encoding="utf-8") if table.exists() else None
        request.write_models(rows.values(), table)
        # ``choose_benchmarks`` reads the table. If it refuses the settings, restore the earlier
        # table, because the earlier campaign file stays and needs it.
        try:
            layout = self.choose_benchmarks(settings)
            if self.profile is None and not this_machine().gpus_gb:
                layout = shorten_answer_shards(settings, layout)
        except UserError:
            if earlier_text is None:
                table.unlink()
            else:
                write_text(table, earlier_text)
            raise
        campaign_file = folder / request.CAMPAIGN_FILE
        if request.write_campaign(settings, campaign_file):
            self.notes.append(
                f"{campaign_file} had other settings before; existing scores are used again."
            )
        return layout

    def _show_first_token(self, first_token: str) -> None:
        """Let ``described``, the lines on models, show the suite's first token, not the model's."""
        start = f"as the suite has it ({first_token})"
        for number, model in enumerate(self.models):
            if model.row.architecture == "causal":
                self.models[number] = replace(model, facts=replace(model.facts, start=start))

    def add_local_tasks(self, folder: Path) -> None:
        """Add the suite's tasks on the user's own data to the benchmarks, and note missing data.

        Declarations and files are copied to ``folder``. Raises UserError if no task is run.
        """
        if self.suite is None:
            return
        suite, declarations = read_suite(self.suite), suite_file(self.suite).with_suffix("")
        for task in suite.tasks:
            if task.local is None or task.benchmark not in self.local_benchmarks:
                continue
            if self.suite_data is None or not (self.suite_data / task.local).is_dir():
                self.notes.append(
                    f"Not run: {task.label}. Its data are at {task.source}; name a directory with "
                    f"the folder {task.local} by --suite-data."
                )
                continue
            files = [*(self.suite_data / task.local).iterdir()]
            benchmark_folder = folder / DECLARED / task.benchmark
            request.copy_into(
                [*files, declarations / task.benchmark / DECLARATION], benchmark_folder
            )
            declare([benchmark_folder])
            self.benchmarks = tuple(dict.fromkeys((*self.benchmarks, task.benchmark)))
        if not {task.benchmark for task in suite.tasks} & {*self.benchmarks}:
            raise UserError(
                f"no task of the suite {self.suite} is run; name its data by --suite-data, or some "
                "of its benchmarks by --benchmarks."
            )

    def replaced_models(self, folder: Path) -> list[str]:
        """Return models of the evaluation in ``folder`` whose names now mean other addresses."""
        earlier_rows: dict[str, ModelRow] = {}
        with suppress(UserError):  # no evaluation, or one of an earlier version
            names = read_yaml(folder / request.CAMPAIGN_FILE, "a campaign file").get("models", [])
            table = read_rows(ModelRow, folder / request.MODELS_FILE)
            earlier_rows = {row.name: row for row in table if row.name in names}
        pairs = [(earlier_rows.get(model.row.name), model.row) for model in self.models]
        return [f"{old.name} ({old.hf_id})" for old, new in pairs if old and old.hf_id != new.hf_id]

    def run(self, arguments: Sequence[str], out: Path | None) -> None:
        """Evaluate models into ``out`` (or evaluations/MODEL); print the card. Raises UserError."""
        # Find the models before ``enter_repository``: paths are relative to the user's directory.
        if self.checkpoints is None:
            self.resolve(arguments)
            name = "+".join(model.row.name for model in self.models)[:100]
        elif len(arguments) == 1:
            self.resolve(checkpoints_of(arguments[0], self.checkpoints))
            name = f"{Path(arguments[0]).expanduser().resolve().name}-checkpoints"
        else:
            raise UserError(
                f"--checkpoints goes with one model, and {len(arguments)} are named; evaluate each "
                "by a command."
            )
        folder = (out or Path(FOLDER, name)).expanduser().resolve()
        enter_repository()
        if folder.exists() and not folder.is_dir():
            raise UserError(f"--out is {folder}, which is a file; name a directory.")
        # A request that was refused may have left the table of models and declared tasks.
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        names -= {request.MODELS_FILE, DECLARED}
        if names and request.CAMPAIGN_FILE not in names:
            raise UserError(
                f"--out is {folder}, which has other files and no {request.CAMPAIGN_FILE}; "
                "name a new or empty directory, or that of an evaluation."
            )
        if replaced := self.replaced_models(folder):
            fault = (
                f"{folder} has an evaluation of other models of these names: {'; '.join(replaced)}"
            )
            if out is None:
                raise UserError(
                    f"{fault}. Name another directory by --out, or that one to replace it."
                )
            self.notes.append(f"{fault}. It is replaced.")
        console = Console(stderr=True)
        with folder_lock(folder) as lock:
            self.add_local_tasks(folder)
            layout = self.prepare(folder)
            path = folder / request.CAMPAIGN_FILE
            described = [line for model in self.models for line in (model.described, *model.notes)]
            for line in (*self.notes, *described, f"Campaign: {request.as_setting(path)}"):
                console.print(line, soft_wrap=True, highlight=False, markup=False)
            profile, dry_run = self.profile, self.dry_run
            command = snakemake_command(path, cores=self.cores, profile=profile, dry_run=dry_run)
            if dry_run:
                # A table of rules and their numbers of jobs, from "Job stats:" to an empty line.
                table = run_quietly(command).partition("Job stats:\n")[2].partition("\n\n")[0]
                print(table or "Nothing to do: all files exist and are up to date.")
                return
            site = find_site(layout.campaign)
            refuse_unreachable(layout, site.cache if site else None)
            if not profile:
                for line in check_memory(self.models, this_machine()):
                    console.print(line, soft_wrap=True, highlight=False)
            log = REPOSITORY / layout.campaign.pathvars.logs / "snakemake.log"
            get_status = partial(read_status, layout)
            seconds = run_snakemake(command, log, get_status, console, lock)
            console.print(f"Done in {duration(seconds)}.")
            card = read_card(folder / "results/report_card/card.json")
            card["rerun"] = rerun_command(request.as_setting(path), self.cores, profile)
            print_card(card, Console())
