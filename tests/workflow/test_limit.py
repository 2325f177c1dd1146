"""A campaign with a limit runs models on a sample of the items, any other on all of them."""

import re
from collections.abc import Mapping

import pytest

from support.checkout import output_of

pytestmark = [pytest.mark.xdist_group("bare"), pytest.mark.long]
TARGETS = [
    "results/demo/accuracies/multiblimp.parquet",
    "results/demo/parity/multiblimp/eng/ngram-5/parity.md",
    "results/demo/regressions/multiblimp/margins.parquet",
]
FILE = re.compile(r"results/demo/[\w/]*items/[\w./]+")
COMMAND = re.compile(r"-m blimpworks ([\w-]+) ((?:(?!-m blimpworks).)*)")
"""A command and its arguments, of a shell line that may have several."""
PLAIN, SAMPLED = "results/demo/items/multiblimp", "results/demo/sampled/items/multiblimp"


def planned(checkout, **settings) -> Mapping[str, set[str]]:
    """Items tables in the command lines of a dry run, by command."""
    checkout.change("config/limit.yaml", **settings)
    done = checkout.snakemake("-n", "-p", *TARGETS, campaign="config/limit.yaml")
    text = output_of(done)
    assert done.returncode == 0, text
    named: dict[str, set[str]] = {}
    for verb, arguments in re.findall(COMMAND, text):
        named.setdefault(verb, set()).update(FILE.findall(arguments))
    return named


def tables(folder, *languages):
    return {f"{folder}/{lang}.parquet" for lang in languages or ("deu", "eng", "fra")}


def test_without_a_limit_all_items_are_read_where_they_always_were(bare):
    named = planned(bare)
    assert "limit-items" not in named
    for verb in ("score", "collect-scores", "judge", "build-text"):
        assert named[verb] == tables(PLAIN)
    assert named["parity"] == tables(PLAIN, "eng")
    assert not {path for paths in named.values() for path in paths if "sampled" in path}


def test_with_a_limit_models_are_run_on_samples_and_trained_without_any_item(bare):
    named = planned(bare, limit=12)
    assert named["limit-items"] == tables(PLAIN) | tables(SAMPLED)
    for verb in ("score", "collect-scores", "judge"):
        assert named[verb] == tables(SAMPLED)
    assert named["parity"] == tables(SAMPLED, "eng")
    assert named["build-text"] == tables(PLAIN)
