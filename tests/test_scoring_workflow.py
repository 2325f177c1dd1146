"""How the workflow divides scoring into jobs."""

import re

import pytest
from checkout import fresh, told

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]
HUB = "llama-3.2-1b"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return fresh(tmp_path_factory.mktemp("bare"))


def scoring_jobs(checkout, **settings):
    """Numbers of jobs that score, by rule, in a campaign with one model of the hub."""
    checkout.change("config/hub.yaml", models=[HUB], **settings)
    done = checkout.snakemake("-n", campaign="config/hub.yaml")
    assert done.returncode == 0, told(done)
    return dict(re.findall(r"^(score\w*) +(\d+)$", told(done), re.MULTILINE))


def test_one_job_scores_all_languages_of_a_model_with_one_load(bare):
    assert scoring_jobs(bare) == {"score_with_vllm": "1"}


def test_a_site_may_have_many_small_jobs_instead(bare):
    assert scoring_jobs(bare, scoring={"jobs": "language"}) == {"score_with_vllm": "3"}


def test_another_engine_scores_where_the_campaign_says_so(bare):
    assert scoring_jobs(bare, engines={"vllm": "transformers"}) == {"score": "1"}


@pytest.mark.parametrize(
    ("model", "near_tie"), [("ngram-5", "1e-05"), ("transformer-small", "0.25")]
)
def test_near_ties_are_those_of_the_format_that_a_model_is_run_in(bare, model, near_tie):
    """An n-gram model has no other than float32, whatever the campaign says for all."""
    bare.change("config/half.yaml", models=[model], scoring={"dtype": "bfloat16"})
    target = f"results/demo/judgements/multiblimp/eng/{model}.parquet"
    done = bare.snakemake("-n", "-p", target, campaign="config/half.yaml")
    assert re.findall(r"--near-tie (\S+)", told(done)) == [near_tie]


@pytest.mark.parametrize(
    ("model", "compared"),
    [
        ("ngram-5", "--variant=kenlm --reference kenlm "),
        ("masked-small", "--variant=transformers:within-word --reference transformers:float32 "),
        (HUB, "--variant=vllm --variant=transformers:bfloat16 --variant=transformers:skip "),
    ],
)
def test_a_report_compares_what_suits_the_model(bare, model, compared):
    recipes = {"masked-small": {"kind": "masked"}, "ngram": {"kind": "ngram"}}
    bare.change("config/kinds.yaml", models=[model], training={"recipes": recipes})
    target = f"results/demo/parity/multiblimp/eng/{model}/parity.md"
    done = bare.snakemake("-n", "-p", target, campaign="config/kinds.yaml")
    [line] = [line for line in told(done).splitlines() if "blimpworks parity " in line]
    assert compared in line
    # No interpreter is named where there is none (a bare checkout has no .vllm): then the
    # report says so, and does not try this one.
    assert "--python" not in line


def test_each_language_is_a_target_of_its_own(bare):
    bare.change("config/hub.yaml", models=[HUB], scoring={"jobs": "language"})
    target = f"results/demo/scores/multiblimp/fra/{HUB}.parquet"
    done = bare.snakemake("-n", target, campaign="config/hub.yaml")
    assert done.returncode == 0, told(done)
    assert f"results/demo/store/{HUB}/multi.fra/manifest.json" in told(done)
    assert "multi.deu" not in told(done)
