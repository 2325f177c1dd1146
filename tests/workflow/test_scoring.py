"""How the workflow divides scoring into jobs."""

import re
from pathlib import Path

import pytest

from support.checkout import output_of

pytestmark = pytest.mark.xdist_group("bare")
HUB = "llama-3.2-1b"


def test_one_job_scores_all_languages_of_a_model_with_one_load(bare):
    bare.change("config/hub.yaml", models=[HUB])
    done = bare.make("-n", campaign="config/hub.yaml")
    jobs = re.findall(r"^(score\w*) +(\d+)$", output_of(done), re.MULTILINE)
    assert {*jobs} == {("score", "1")}


def test_a_run_whose_software_is_missing_ends_before_any_job(bare):
    bare.change("config/hub.yaml", models=[HUB])
    done = bare.snakemake("--cores", "1", campaign="config/hub.yaml")
    assert done.returncode != 0
    assert "vllm not installed: `bash envs/install.sh vllm-cuda` for GPUs" in output_of(done)
    assert "Finished jobid" not in output_of(done)


def commands(checkout, verb, target, models, **settings):
    """Command lines of a verb that make a target of each model, by model: of one dry run."""
    checkout.change("config/models.yaml", models=[*models], **settings)
    targets = [target.format(model) for model in models]
    done = checkout.make("-n", "-p", *targets, campaign="config/models.yaml")
    lines = [line for line in output_of(done).splitlines() if f"blimpworks {verb} " in line]
    assert len(lines) == len(targets)
    by_model = {}
    for model, path in zip(models, targets, strict=True):
        # What is named is a file, or the directory that it is in.
        places = (path, str(Path(path).parent) + " ")
        [by_model[model]] = [line for line in lines if any(place in line for place in places)]
    return by_model


def test_near_ties_are_those_of_the_format_that_a_model_is_run_in(bare):
    """An n-gram model has no number format, so that its ties are decided by rounding alone."""
    target = "results/demo/judgements/multiblimp/{}/eng.parquet"
    expected = {"ngram-5": "0.0", "transformer-small": "0.25"}
    lines = commands(bare, "judge", target, expected, scoring={"dtype": "bfloat16"})
    assert {model: re.findall(r"--near-tie (\S+)", line) for model, line in lines.items()} == {
        model: [near_tie] for model, near_tie in expected.items()
    }


COMPARED = {
    "ngram-5": "--variant=kenlm --reference kenlm ",
    "masked-small": "--variant=transformers:within-word --reference transformers:float32 ",
    HUB: "--variant=vllm --variant=transformers:bfloat16 --variant=transformers:skip ",
}


@pytest.fixture(scope="module")
def comparing(bare):
    recipes = {"masked-small": {"kind": "masked"}, "ngram": {"kind": "ngram"}}
    target = "results/demo/parity/multiblimp/eng/{}/parity.md"
    return commands(bare, "parity", target, COMPARED, training={"recipes": recipes})


@pytest.mark.parametrize("model", COMPARED)
def test_a_report_compares_what_suits_the_model(comparing, model):
    assert COMPARED[model] in comparing[model]
    # No interpreter is named where there is none (a bare checkout has no .vllm): then the
    # report says so, and does not try this one.
    assert "--python" not in comparing[model]
