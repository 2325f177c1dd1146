"""Choice of a crate's contents: exhibits and their inputs, checked to be unaltered."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from blimpworks.audit.cells import CELLS_SUFFIX
from blimpworks.audit.check import Meter, make_again, verify
from blimpworks.audit.lineage import Jobs
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.shared import counted

FORMS = {"measured": "exhibits", "published": "published"}
"""Directory of exhibits, by form."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit in one form, and the table of its cells."""

    paper: str
    name: str
    form: str
    cells: Path

    @property
    def key(self) -> str:
        """Name of the exhibit with its paper: ``PAPER/NAME``."""
        return f"{self.paper}/{self.name}"


def results_of(campaign: Campaign, source: Path, results: Path) -> Path:
    """Return the results directory as the campaign, and so every record, spells it.

    Raises UserError when there are no results, or when they are not the campaign's.
    """
    campaign_results = Path(campaign.pathvars.results)
    if not results.is_dir():
        raise UserError(
            f"{results} does not exist; expected the results of a campaign, as `snakemake` "
            "leaves them. Build them first."
        )
    if campaign_results.resolve() != results.resolve():
        raise UserError(
            f"{source} puts its results in {campaign_results}, which from here is not {results}; "
            "give the results and the campaign file that belong together, in the directory that "
            "the workflow ran in."
        )
    return campaign_results


def find_exhibits(results: Path, chosen: Collection[str]) -> list[Shown]:
    """Return exhibits built below ``results``, or those ``chosen`` by paper/name.

    Raises UserError when there are none, or not the chosen one.
    """
    shown_exhibits = [
        Shown(path.parent.name, path.name.removesuffix(CELLS_SUFFIX), form, path)
        for form, folder in FORMS.items()
        for path in sorted((results / folder).glob(f"*/*{CELLS_SUFFIX}"))
    ]
    if not shown_exhibits:
        raise UserError(
            f"{results} has no exhibits (expected {results}/exhibits/PAPER/EXHIBIT{CELLS_SUFFIX}); "
            "build them with snakemake."
        )
    keys = list(dict.fromkeys(exhibit.key for exhibit in shown_exhibits))
    if unknown := [key for key in chosen if key not in keys]:
        raise UserError(f"{results} has no exhibit {unknown[0]!r}; there are: {', '.join(keys)}.")
    return [exhibit for exhibit in shown_exhibits if not chosen or exhibit.key in chosen]


def require_unaltered(jobs: Jobs, results: Path, run: Callable[[list[str]], object]) -> None:
    """Hash all files of jobs, and make their cheap products again.

    A missing file outside the results, such as a large model, is no fault. ``run`` runs a command
    line of this package in this process. Raises UserError when a file differs from the records or
    from what is made again, a record was edited, or a result is missing.
    """
    findings = [
        finding
        for finding in verify(jobs, Meter())
        if finding.problem != "missing" or finding.path.is_relative_to(results)
    ] or make_again(jobs, [], run)[1]
    if findings:
        further_files = counted(len(findings) - 1, "more file")
        more = f" ({further_files} not as recorded)" if findings[1:] else ""
        raise UserError(
            f"{findings[0].path} is {findings[0].problem}: {findings[0].detail}{more}; a crate "
            f"would not be what its records say. `blimpworks check {results}` lists what is "
            "wrong; rebuild it with snakemake."
        )
