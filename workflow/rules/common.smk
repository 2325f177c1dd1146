"""Load the campaign and its catalogue, and define names that all files of rules use."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from blimpworks.campaign.catalogue import hub_address
from blimpworks.campaign.comparability import basis_of
from blimpworks.campaign.paper import FORMATS
from blimpworks.campaign.layout import Layout, missing_sources
from blimpworks.campaign.load import check_campaign, check_files
from blimpworks.campaign.methods import regional
from blimpworks.campaign.scoring_jobs import (
    available,
    items_folder,
    lexicon_sources,
    whole_items_table,
)
from blimpworks.campaign.settings.site import find_site, for_seeds
from blimpworks.campaign.registry import (
    benchmarks,
    exhibits,
    find_benchmark,
    find_exhibit,
    papers,
    papers_of,
)
from blimpworks.campaign.training_layout import CORPUS_PARTS, text_arguments
from blimpworks.campaign.engines import engines, find_engine

# Rules have a digest of their command's source as params.code, so that changed code runs again.
# Commands do not read it.
from blimpworks.commands.declare import PACKAGE, code_of
from blimpworks.campaign.addresses import is_local, state_of
from blimpworks.campaign.table_files import locked_models, model_tables
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY

CAMPAIGN_FILE = os.path.relpath(workflow.configfiles[-1])
try:
    check_files(workflow.configfiles)
    # This checks more than workflow/schemas/campaign.schema.json, the schema for editors.
    CAMPAIGN = check_campaign(config, CAMPAIGN_FILE)
    layout = Layout.of(CAMPAIGN)
    layout.check_runs()
    CATALOGUE = layout.catalogue
    # A catalogue that has the papers' languages and models too, for exhibits of printed numbers.
    ALL_PAPERS = layout.complete
    # The cluster, with the needs of each seed of a model; None without a cluster.
    SITE = for_seeds(find_site(CAMPAIGN), CATALOGUE.seeds)
    # An evaluation's table of models shares the lock file of the repository's table.
    MODEL_TABLES = model_tables(CAMPAIGN.catalogue.models)
    LOCKED_MODELS = locked_models(MODEL_TABLES)
except UserError as error:
    raise WorkflowError(str(error)) from None

# {(model, job name): job} of jobs that score sentences, and of jobs that generate answers.
SCORING = {(job.model, job.name): job for job in layout.jobs if job.task == "score"}
ANSWERING = {(job.model, job.name): job for job in layout.jobs if job.task == "answer"}
# Methods of --sdm (conda, apptainer), for which Snakemake has no public name.
DEPLOYMENT = workflow.deployment_settings.deployment_method
EXPORTS = {
    # Jobs run `python -m blimpworks`, also with an environment's python that lacks the package.
    "PYTHONPATH": [REPOSITORY / "src", os.environ.get("PYTHONPATH")],
    # An environment variable and no param, because the origin of a file does not change it.
    "BLIMPWORKS_MIRROR": [CAMPAIGN.mirror],
    # Environment variables too, because jobs write lock files beside these tables.
    "BLIMPWORKS_MODELS": MODEL_TABLES,
    "BLIMPWORKS_ADDRESSES": [CAMPAIGN.catalogue.addresses],
    "BLIMPWORKS_CACHE": [SITE.cache if SITE else None],
    # Loading Rich and searching plugins would take time in each job.
    "TYPER_USE_RICH": [0],
    "PYDANTIC_DISABLE_PLUGINS": [1],
}
if not DEPLOYMENT:
    EXPORTS["PATH"] = [Path(sys.executable).parent, os.environ.get("PATH", os.defpath)]
assignments = []
for variable, values in EXPORTS.items():
    joined = os.pathsep.join(str(value) for value in values if value is not None)
    assignments.append(f"{variable}={shlex.quote(joined)}")
exports = f"set -euo pipefail; export {' '.join(assignments)}; "
# Snakemake formats the prefix, so braces are doubled.
shell.prefix(exports.replace("{", "{{").replace("}", "}}"))


def python_of(engine):
    """Return the Python interpreter of an engine, which may have an environment of its own.

    vLLM has one, because its pins exclude versions that other packages here need.
    """
    interpreter = None if DEPLOYMENT else find_engine(engine).python(REPOSITORY)
    return str(interpreter or "python")


PYTHON_OPTIONS = [
    f"--python={name}={python_of(name)}"
    for name in engines()
    if python_of(name) != "python"
]
# Directories for params, in which Snakemake does not replace <results> and <resources> as in inputs
# and outputs. Some params are functions because `snakemake --lint` rejects constants that begin
# an input's path.
RESULTS, RESOURCES = layout.results, layout.resources
PINS = CATALOGUE.files
HUB_MODELS = [name for name, row in CATALOGUE.models.items() if row.hf_id]


def options(section):
    """Return the settings of a stage as JSON, for a command's --options."""
    return section.model_dump_json()


def one_of(names):
    """Return a wildcard constraint that allows only these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def first_file(spec):
    """Return the file that Snakemake makes when an exhibit is the target."""
    return f"<results>/exhibits/{spec.key}.{FORMATS[spec.kind][0]}"


def one_of_exhibits(exhibits):
    """Return a wildcard constraint that allows only these exhibits, in their papers' folders.

    The name alone is not enough: `table1` could be a table of one paper and a figure of another.
    """
    allowed = (f"(?<={spec.paper}/){re.escape(spec.name)}" for spec in exhibits)
    return "|".join(allowed) or "(?!)"


def evaluated_root():
    """Return the results' folder as an argument; with a limit also the sampled items as an option."""
    if not CAMPAIGN.limit:
        return RESULTS
    return [RESULTS, f"--items={items_folder(CAMPAIGN)}"]


def repeated(option, paths):
    """Return paths as values of a repeated option."""
    return [f"--{option}={path}" for path in paths]


def consent(model):
    """Return the option that allows a command to run the model's own code; [] without consent.

    The user consents by the digest of the code that may run.
    """
    digest = CAMPAIGN.run_model_code.get(CATALOGUE.row_of(model))
    return repeated("run-model-code", [digest] if digest else [])


def engine_arguments(model):
    """Return a model's engine, and the consent to its own code, as arguments of a command."""
    return " ".join((layout.engine_of(model), *consent(model)))


def scoring_code(model):
    """Return the digest of the code that scores with a model."""
    architecture = CATALOGUE.models[model].architecture
    return code_of("score", layout.engine_of(model), architecture)
