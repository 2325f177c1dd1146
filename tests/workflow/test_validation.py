"""Test UrBLiMP's validation as a user runs it: lists, filled lists, exhibits and lineage."""

import pytest

from blimpworks.audit.cells import read_cells
from support.checkout import fresh, output_of, places
from support.validation_kit import fill, items, write_items

pytestmark = [pytest.mark.xdist_group("validation"), pytest.mark.long]
PEOPLE = 4
VALIDATION = {"participants": PEOPLE, "per_paradigm": 4, "checks": 2, "practice": 2}
LISTS = "results/people/validation/urblimp/urd"
EXHIBITS = "results/people/exhibits/urblimp"
# The pairs exist: other tests cover the rules that make them.
ONLY = ("--allowed-rules", "validation", "validation_lists", "read_validation", "build_table")


def campaign(**urblimp):
    return {
        "campaign": "people",
        "pathvars": places("people"),
        "benchmarks": ["urblimp"],
        "languages": ["urd"],
        "models": [],
        "catalogue": {},
        "urblimp": {"validation": VALIDATION, **urblimp},
    }


def run(checkout, target):
    checkout.make(target, *ONLY)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Write lists for four people and fill them in; p02 errs on pairs in even positions."""
    checkout = fresh(tmp_path_factory.mktemp("people"))
    checkout.change(**campaign())
    given = checkout.path / "results/people/items/urblimp/urd.parquet"
    given.parent.mkdir(parents=True)
    write_items(given, items(12))
    run(checkout, "validation")
    folder, filled = checkout.path / LISTS, []
    for number in range(1, PEOPLE + 1):
        name = f"urd.p{number:02}.csv"
        filled.append(f"answers/{name}")
        (checkout.path / "answers").mkdir(exist_ok=True)
        fill(
            folder / name,
            folder / "urd.key.parquet",
            lambda row, wrong=number == 2: row["part"] == "check" or not wrong or row["place"] % 2,
            checkout.path / filled[-1],
        )
    checkout.change(**campaign(annotations=filled))
    return checkout


def test_filled_lists_become_exhibits(asked):
    for name in ("table9", "validation"):
        run(asked, f"{EXHIBITS}/{name}.csv")
    cells = read_cells(asked.path / f"{EXHIBITS}/validation.cells.parquet")
    number = cells[cells["column"] == "Number"].set_index("row")["value"]
    assert (number["Participants"], number["Pairs judged"]) == (PEOPLE, 19 * 4)
    assert (number["with 3 judgements"], number["left out of κ"]) == (19 * 4, 0)


def test_a_number_of_people_leads_back_to_their_lists_and_the_pairs(asked):
    run(asked, f"{EXHIBITS}/table9.csv")
    done = asked.run(
        *("blimpworks", "explain", f"{EXHIBITS}/table9.csv", "--ancestry"),
        *("--row", "Aspect", "--column", "Accuracy"),
    )
    assert done.returncode == 0, output_of(done)
    assert "(the same)" in done.stdout
    for name in ("answers/urd.p04.csv", f"{LISTS}/urd.key.parquet", "items/urblimp/urd.parquet"):
        assert name in done.stdout


def test_another_threshold_deals_no_new_lists(asked):
    settings = campaign(annotations=["answers/urd.p01.csv"])
    settings["urblimp"]["validation"] = VALIDATION | {"check_threshold": 0.5}
    asked.change("config/lenient.yaml", **settings)
    done = asked.snakemake("-n", f"{LISTS}/urd.key.parquet", *ONLY, campaign="config/lenient.yaml")
    assert "Nothing to be done" in output_of(done)


def test_a_campaign_without_filled_lists_has_no_exhibits_of_people(asked):
    asked.change("config/unasked.yaml", **campaign())
    done = asked.snakemake("-n", "urblimp_validation", campaign="config/unasked.yaml")
    assert done.returncode != 0
    assert "urblimp_validation" in output_of(done)
