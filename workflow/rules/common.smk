"""The campaign, its catalogue, and what all rules share.

It makes nothing itself: every other file of rules uses its names.
"""

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

# Rules have it as params.code, which no command reads: a digest of the command's source, so that
# changed code reruns its jobs.
from blimpworks.commands.declare import PACKAGE, code_of
from blimpworks.campaign.addresses import is_local, state_of
from blimpworks.campaign.table_files import locked_models, model_tables
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY

CAMPAIGN_FILE = os.path.relpath(workflow.configfiles[-1])
try:
    check_files(workflow.configfiles)
    # Checks more than workflow/schemas/campaign.schema.json, which editors read.
    CAMPAIGN = check_campaign(config, CAMPAIGN_FILE)
    layout = Layout.of(CAMPAIGN)
    layout.check_runs()
    CATALOGUE = layout.catalogue
    # What the papers print is the same in every campaign.
    ALL_PAPERS = layout.complete
    SITE = for_seeds(find_site(CAMPAIGN), CATALOGUE.seeds)
    # An evaluation's own table goes by what the repository's has locked.
    MODEL_TABLES = model_tables(CAMPAIGN.catalogue.models)
    LOCKED_MODELS = locked_models(MODEL_TABLES)
except UserError as error:
    raise WorkflowError(str(error)) from None

# What each job scores or answers, by (model, job).
SCORING, ANSWERING = (
    {(job.model, job.name): job for job in layout.jobs if job.task == task}
    for task in ("score", "answer")
)
# The methods of --sdm; Snakemake has no public name for them.
DEPLOYMENT = workflow.deployment_settings.deployment_method
EXPORTS = {
    # Jobs run `python -m blimpworks`, also with an environment's python that lacks the package.
    "PYTHONPATH": [REPOSITORY / "src", os.environ.get("PYTHONPATH")],
    # Where files come from; no params of a rule, as it decides no content.
    "BLIMPWORKS_MIRROR": [CAMPAIGN.mirror],
    # No params either: jobs write the lock files beside these tables.
    "BLIMPWORKS_MODELS": MODEL_TABLES,
    "BLIMPWORKS_ADDRESSES": [CAMPAIGN.catalogue.addresses],
    "BLIMPWORKS_CACHE": [SITE.cache if SITE else None],
    # To load Rich, and to look for plugins, takes a while in every job.
    "TYPER_USE_RICH": [0],
    "PYDANTIC_DISABLE_PLUGINS": [1],
}
if not DEPLOYMENT:
    EXPORTS["PATH"] = [Path(sys.executable).parent, os.environ.get("PATH", os.defpath)]
exported = " ".join(
    f"{name}={shlex.quote(os.pathsep.join(str(v) for v in values if v is not None))}"
    for name, values in EXPORTS.items()
)
shell.prefix(
    f"set -euo pipefail; export {exported}; ".replace("{", "{{").replace("}", "}}")
)


def python_of(engine):
    """Interpreter of an engine: vLLM pins too much to share an environment.

    It has its own, next to this one or by conda.
    """
    own = None if DEPLOYMENT else find_engine(engine).python(REPOSITORY)
    return str(own or "python")


OWN_PYTHONS = [
    f"--python={name}={python_of(name)}"
    for name in engines()
    if python_of(name) != "python"
]
# For params, which pathvars do not reach; inputs and outputs say <results>. Some params are
# functions because `snakemake --lint` takes constants that begin an input's path for mistakes.
RESULTS, RESOURCES = layout.results, layout.resources
PINS = CATALOGUE.files
HUB_MODELS = [name for name, row in CATALOGUE.models.items() if row.hf_id]


def options(section):
    """Settings of a stage as JSON, for a command's --options."""
    return section.model_dump_json()


def one_of(names):
    """A wildcard constraint that allows just these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def first_file(spec):
    """The file of an exhibit that stands for it as a target."""
    return f"<results>/exhibits/{spec.key}.{FORMATS[spec.kind][0]}"


def these(exhibits):
    """A wildcard constraint that allows just these exhibits, each below its paper's name.

    What is a table of one paper may be a figure of another.
    """
    allowed = (f"(?<={spec.paper}/){re.escape(spec.name)}" for spec in exhibits)
    return "|".join(allowed) or "(?!)"


def evaluated_root():
    """The results as an argument of a command on evaluations; sampled items as an option."""
    sampled = [f"--items={items_folder(CAMPAIGN)}"] if CAMPAIGN.limit else []
    return [RESULTS, *sampled] if sampled else RESULTS


def repeated(option, paths):
    """Paths as an option of a command that may stand many times."""
    return [f"--{option}={path}" for path in paths]


def consent(model):
    """Option that lets a command run the model's own code; none without consent."""
    digest = CAMPAIGN.run_model_code.get(CATALOGUE.row_of(model))
    return repeated("run-model-code", [digest] if digest else [])


def engine_words(model):
    """A model's engine, and consent to its own code, as words of a command."""
    return " ".join((layout.engine_of(model), *consent(model)))


def scoring_code(model):
    """Digest of the code that scores with a model."""
    architecture = CATALOGUE.models[model].architecture
    return code_of("score", layout.engine_of(model), architecture)
