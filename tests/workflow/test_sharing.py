import shutil
import subprocess
import sys

import pytest

from support.checkout import CAMPAIGN, fresh, output_of

pytestmark = [pytest.mark.xdist_group("workflow"), pytest.mark.long]
RESULTS, OTHER = "results/demo", "results/other"
MODEL = "models/ngram-5/eng/checkpoint.json"


@pytest.fixture
def shared(scratch):
    """Return a finished campaign, and another one with the same resources."""
    places = {"resources": "resources/demo", "results": OTHER, "logs": "logs/other"}
    scratch.change("config/other.yaml", pathvars=places | {"benchmarks": "logs/other/benchmarks"})
    return scratch


def test_a_campaign_trains_its_own_models_and_leaves_those_of_another_alone(shared):
    theirs = (shared.path / RESULTS / MODEL).stat().st_mtime_ns
    done = shared.make(f"{OTHER}/{MODEL}", campaign="config/other.yaml")
    assert "rule retrieve" not in output_of(done)
    assert (shared.path / OTHER / MODEL).read_bytes() == (
        shared.path / RESULTS / MODEL
    ).read_bytes()
    assert (shared.path / RESULTS / MODEL).stat().st_mtime_ns == theirs
    assert shared.planned() == set()
    assert shared.planned(f"{OTHER}/{MODEL}", campaign="config/other.yaml") == set()


def test_campaigns_that_share_resources_run_at_once(shared):
    shutil.rmtree(shared.path / RESULTS / "tokens")
    table = "tokens/eng.parquet"
    targets = {CAMPAIGN: f"{RESULTS}/{table}", "config/other.yaml": f"{OTHER}/{table}"}
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--configfile"]
    runs = [
        subprocess.Popen(
            [*command, campaign, "--", target], cwd=shared.path, stderr=subprocess.PIPE
        )
        for campaign, target in targets.items()
    ]
    for run in runs:
        said = run.communicate(timeout=300)[1]
        assert run.returncode == 0, said.decode()
    first, second = ((shared.path / target).read_bytes() for target in targets.values())
    assert first == second


def test_results_that_were_copied_are_taken_over_unless_they_were_altered(built, tmp_path):
    """The other checkout has neither the files' times nor Snakemake's metadata."""
    checkout = fresh(tmp_path / "elsewhere", like=built)
    for name in ("results", "resources"):
        source, target = built.path / name, checkout.path / name
        shutil.copytree(source, target, copy_function=shutil.copyfile)
    adopt = ("blimpworks", "adopt", RESULTS, "--configfile", CAMPAIGN)
    table = checkout.path / RESULTS / "exhibits/multiblimp/table5.csv"
    before = table.read_text()
    table.write_text(before.replace("8", "9", 1))
    done = checkout.run(*adopt)
    assert done.returncode == 2
    assert f"{RESULTS} was not taken over: it is not what {CAMPAIGN} would make" in done.stderr
    assert "altered: results/demo/exhibits/multiblimp/table5.csv" in done.stdout
    table.write_text(before)
    done = checkout.run(*adopt)
    assert done.returncode == 0, output_of(done)
    assert "files are up to date; snakemake goes on from there" in done.stdout
    assert checkout.planned() == set()
