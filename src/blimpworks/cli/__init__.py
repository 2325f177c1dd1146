"""The ``blimpworks`` command: one thin verb per rule, and the audit commands.

A verb translates its arguments, opens a ``Job`` so that its products carry their record,
and calls one library function. Heavy imports happen inside the verbs, so that ``--help``
and light verbs start quickly. Verbs have no defaults of their own: a default that decides
a number lives in ``config.py``.
"""

import logging
import sys

import typer

from blimpworks.cli import audit, exhibits, multiblimp, sources, training, treebanks
from blimpworks.cli import scoring as scoring_verbs
from blimpworks.errors import UserError

app = typer.Typer(
    name="blimpworks",
    help=__doc__.splitlines()[0] if __doc__ else None,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (sources, treebanks, multiblimp, training, scoring_verbs, exhibits, audit):
    module.register(app)


# Pyarrow imports pandas, a second in every job, as soon as it converts anything to numpy.
# Only these verbs want it; the others are spared it.
WITH_PANDAS = {"build-exhibit", "compute-accuracies", "explain"}


def _spare_pandas() -> None:
    """Make pandas unimportable unless the verb uses it; pyarrow does without."""
    if not WITH_PANDAS & {*sys.argv[1:2]}:
        sys.modules.setdefault("pandas", None)  # type: ignore[arg-type]


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and exit code 2."""
    _spare_pandas()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        app()
    except UserError as error:
        print(f"blimpworks: {error}", file=sys.stderr)
        sys.exit(2)
