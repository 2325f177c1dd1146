"""The parts of explain, check and diff: rows and tokens, changed code, runs side by side."""

import math
from pathlib import Path

import pyarrow as pa
import pytest

from blimpworks.audit.causes import ABSENT, Cause, changed_code, changed_values, load_run
from blimpworks.audit.cells import find_comparison, read_rows_with_lines
from blimpworks.audit.check import audit
from blimpworks.audit.diff import compare_runs
from blimpworks.audit.evidence import TABLE, printed_evidence, token_pieces
from blimpworks.audit.lineage import Node, is_about
from blimpworks.audit.stale import PlannedJob, planned_jobs
from blimpworks.campaign.registry import papers
from blimpworks.commands.registry import recorded_commands
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records.job import Job, Planned, planning
from blimpworks.reproduction.printed import read_published
from blimpworks.tables import ACCURACIES, CELLS, FUNNEL, read_table, write_table
from support.paths import REPOSITORY

RESULTS = Path("results/x")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory to work in, as a workflow does."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Printed numbers


@pytest.mark.parametrize(
    "paper", [name for name, paper in papers().items() if not paper.needs_benchmark]
)
def test_a_printed_accuracy_leads_to_its_own_line_of_the_papers_numbers(paper, tmp_path):
    printed = sorted(REPOSITORY.glob(f"config/published/{paper}/*.csv"))
    output = tmp_path / "accuracies.parquet"
    read_published(printed, paper, output)
    rows = read_table(ACCURACIES, output).to_pandas().sample(5, random_state=1).assign(**{TABLE: 0})
    table = Node(output, "", None, inputs=[Node(path, "", None) for path in printed])
    places = printed_evidence([table], rows)
    for place, origin, accuracy in zip(places, rows["origin"], rows["accuracy"], strict=True):
        [number] = [
            n for n in read_rows_with_lines(Path(place["path"])) if n["line"] == place["line"]
        ]
        assert f"{number['exhibit']}/{number['row']}/{number['column']}" == origin
        value = number["value"] if number["corrected"] is None else number["corrected"]
        assert accuracy in (pytest.approx(value), pytest.approx(value / 100))


# Tokens


def test_pieces_follow_the_offsets_at_which_tokens_end():
    pieces = token_pieces(
        "ab cd.", [7, 8, 9, 1], [2, 5, 6, 6], [-1.0, math.nan, -2.0, -0.5], range(3, 5)
    )
    assert [token["piece"] for token in pieces] == ["ab", " cd", ".", ""]
    assert [token["logprob"] for token in pieces] == [-1.0, None, -2.0, -0.5]
    assert [token["critical"] for token in pieces] == [False, True, False, False]


def test_a_character_of_two_tokens_stands_with_the_one_that_completes_it():
    pieces = token_pieces("aé", [1, 2, 3], [1, 1, 2], [-1.0, -2.0, -3.0], range(1, 2))
    assert [token["piece"] for token in pieces] == ["a", "", "é"]
    assert [token["critical"] for token in pieces] == [False, True, True]


# Printed numbers


def test_rows_are_numbered_by_the_line_they_start_on(here):
    text = 'row,value,note\na,1.5,"over\ntwo lines"\nb,,x\nc,2,y\n'
    write_text(here / "t.csv", text)
    rows = list(read_rows_with_lines(here / "t.csv"))
    assert [(row["row"], row["value"], row["line"]) for row in rows] == [
        ("a", 1.5, 2),
        ("b", None, 4),
        ("c", 2.0, 5),
    ]
    assert [row["line"] for row in read_rows_with_lines(here / "t.csv", row=["b", "c"])] == [4, 5]


def test_a_comparison_row_must_be_the_only_one_meant(here):
    lines = ["paper,exhibit,row,column", "p,table1,a,x", "p,table2,a,x"]
    write_text(here / "t.csv", "\n".join(lines) + "\n")
    place = {"row": "a", "column": "x", "exhibit": "table2"}
    assert find_comparison(here / "t.csv", place)["line"] == 3
    with pytest.raises(UserError, match=r"2 numbers are meant: p table1 a / x; p table2 a / x"):
        find_comparison(here / "t.csv", {"row": "a"})
    with pytest.raises(UserError, match=r"no row 'b'; there are: a\."):
        find_comparison(here / "t.csv", {"row": "b"})


def test_what_is_about_another_language_does_not_concern_a_number():
    paths = [
        "r/judgements/b/m/deu.parquet",
        "r/judgements/b/m/eng.parquet",
        "r/items/b/eng.parquet",
    ]
    about = [is_about(path, frozenset({"eng"})) for path in (*paths, "r/accuracies/b.parquet")]
    assert about == [False, True, True, False]


# What changed


def test_changed_values_are_named_by_their_path():
    before = {"options": {"seed": 0, "limits": [1, 2]}, "old": 1}
    after = {"options": {"seed": 1, "limits": (1, 2)}, "new": "x"}
    assert changed_values(before, after) == {
        "options.seed": (0, 1),
        "old": (1, ABSENT),
        "new": (ABSENT, "x"),
    }


OLD = '''LIMIT = 3

def first():
    """Words."""
    return LIMIT

def second():
    return 1
'''


SECOND_RETURNS_TWO = OLD.replace("return 1", "return 2")
FIRST = {("m", "first"), ("m", "LIMIT")}


@pytest.mark.parametrize(
    ("new", "reached", "changed"),
    [
        (SECOND_RETURNS_TWO, None, ["m (second)"]),
        (OLD.replace("LIMIT = 3", "LIMIT = 4"), None, ["m (LIMIT)"]),
        (OLD.replace("Words.", "Other words.") + "# end\n", None, []),
        (SECOND_RETURNS_TWO, FIRST, []),
        (OLD.partition("def second")[0], FIRST, ["m (second)"]),
    ],
)
def test_the_definitions_that_changed_and_are_reached_are_named(new, reached, changed):
    found = changed_code({"m": "1"}, {"m": "2"}, lambda _: OLD, lambda _: new, reached=reached)
    assert found == (changed, [])


def test_a_module_whose_text_is_lost_is_named_with_doubt():
    changed = changed_code({"m": "1", "n": "1"}, {"m": "2"}, lambda _: None, lambda _: OLD)
    assert changed == (["n (no longer used)"], ["m (perhaps)"])


def test_while_planning_a_job_says_what_it_would_be_and_starts_nothing(here):
    with planning() as planned, pytest.raises(Planned):
        Job(
            recorded_commands()["judge"],
            inputs=[Path("absent")],
            outputs=[Path("out")],
            params={"a": 1},
        )
    assert [(job.command.name, job.params) for job in planned] == [("judge", {"a": 1})]
    assert list(here.iterdir()) == []


# The audit


def funnel(output, inputs=(), n=1, command="sample_items", **params):
    """Run a job that writes a funnel table to ``output``."""
    with Job(
        recorded_commands()[command],
        inputs=[*map(Path, inputs)],
        outputs=[Path(output)],
        params=params,
    ):
        table = {"lang": ["eng"], "stage": ["pairs"], "reason": ["x"], "n": [n]}
        write_table(pa.table(table), FUNNEL, Path(output))


@pytest.fixture
def tree(here):
    """first made from in.txt, second made from first."""
    write_text(here / "in.txt", "input\n")
    funnel(RESULTS / "first.parquet", ["in.txt"], seed=1)
    funnel(RESULTS / "second.parquet", [RESULTS / "first.parquet"])
    return here


def audit_findings(**options):
    audited = audit(RESULTS, **options)
    return [(f.problem, str(f.path), f.detail) for f in audited.findings], audited.downstream


def test_an_input_from_outside_that_changed_makes_its_product_stale(tree):
    write_text(tree / "in.txt", "other\n")
    ((problem, path, detail),), downstream = audit_findings()
    assert (problem, path) == ("stale", "results/x/first.parquet")
    assert detail.startswith("made from an earlier in.txt (")
    assert downstream == ["results/x/second.parquet"]


def test_an_input_from_outside_that_is_gone_is_missing(tree):
    (tree / "in.txt").unlink()
    assert audit_findings()[0] == [("missing", "in.txt", "products were made from it")]


def test_other_parameters_and_inputs_in_the_plan_make_a_product_stale(tree):
    product, second = "results/x/first.parquet", "results/x/second.parquet"
    write_text(tree / "more.txt", "more\n")
    plan = {
        product: PlannedJob("sample_items", {"seed": 2}, ("in.txt", "more.txt"), (product,)),
        second: PlannedJob("sample_items", {}, (product,), (second,)),
    }
    audited = audit(RESULTS, plan)
    assert [(f.problem, str(f.path), f.detail) for f in audited.findings] == [
        ("stale", product, "parameters have changed: seed is now 2, was 1"),
        ("stale", product, "the campaign now makes it from more.txt too"),
    ]
    assert (audited.planned, audited.jobs) == (2, 2)


def test_another_digest_of_the_code_makes_a_product_stale(tree):
    sidecar = tree / RESULTS / "first.parquet.prov.json"
    text = sidecar.read_text()
    code = text.partition('"code": "')[2][:16]
    sidecar.write_text(text.replace(code, "0" * 16))
    findings, _ = audit_findings()
    [finding] = [each for each in findings if each[0] == "stale"]
    assert finding[:2] == ("stale", "results/x/first.parquet")
    assert finding[2].startswith("the code of sample_items has changed: ")


# Two runs


def numbers(results, source, values):
    """Run a job that writes the cells of an exhibit, one row per language."""
    path = results / "exhibits/p/table.cells.parquet"
    columns = dict.fromkeys(CELLS.names, [None] * len(values))
    rows = {"row": [*values], "column": ["n"] * len(values), "value": [*values.values()]}
    rows |= {"text": [f"{value:g}" for value in values.values()]}
    rows |= {"filter": [f'{{"lang": "{lang}"}}' for lang in values]}
    params = {"labels": {"languages": {lang: lang for lang in values}}}
    command = recorded_commands()["build_exhibit multiblimp/table2"]
    with Job(command, inputs=source, outputs=[path], params=params):
        write_table(pa.table(columns | rows, schema=CELLS.arrow()), CELLS, path)


def campaign(results, deu, eng, seed=1, **params):
    """Two languages, sampled and counted in one table."""
    for lang, n, settings in (("deu", deu, {"seed": seed}), ("eng", eng, {"seed": 1})):
        funnel(results / f"items/p/{lang}.parquet", n=n, **settings, **params)
    sources = [results / f"items/p/{lang}.parquet" for lang in ("deu", "eng")]
    numbers(results, sources, {"deu": float(deu), "eng": float(eng)})


@pytest.mark.usefixtures("here")
def test_a_number_that_moved_is_laid_to_the_parameter_of_its_own_language():
    campaign(Path("a"), 5, 7)
    campaign(Path("b"), 6, 7, seed=2)
    compared = compare_runs(Path("a"), Path("b"))
    cause = Cause("parameter", "sample_items seed: 1 → 2")
    assert compared.causes == {cause: ["results/items/p/deu.parquet"]}
    (move,) = compared.moves
    assert (move.row, move.before, move.after, move.causes) == ("deu", 5.0, 6.0, {cause})
    assert compared.same == 1


@pytest.mark.usefixtures("here")
def test_a_parameter_that_changed_no_data_moves_no_number():
    campaign(Path("a"), 5, 7)
    campaign(Path("b"), 5, 7, note="another")
    compared = compare_runs(Path("a"), Path("b"))
    assert [cause.text for cause in compared.causes] == ['sample_items note: absent → "another"']
    assert (compared.moves, compared.same) == ([], 2)


@pytest.mark.usefixtures("here")
def test_a_product_that_differs_for_no_known_reason_is_said_to():
    campaign(Path("a"), 5, 7)
    campaign(Path("b"), 6, 7)
    (move,) = compare_runs(Path("a"), Path("b")).moves
    (cause,) = move.causes
    assert cause.kind == "unexplained"
    assert cause.text.startswith("results/items/p/deu.parquet: ")


@pytest.mark.usefixtures("here")
def test_a_language_that_only_one_run_has_is_named():
    campaign(Path("a"), 5, 7)
    campaign(Path("b"), 5, 7)
    funnel(Path("b/items/p/fra.parquet"))
    sources = [Path(f"b/items/p/{lang}.parquet") for lang in ("deu", "eng", "fra")]
    numbers(Path("b"), sources, {"deu": 5.0, "eng": 7.0, "fra": 1.0})
    compared = compare_runs(Path("a"), Path("b"))
    assert Cause("input", "fra only in B") in compared.causes
    assert compared.only == {"A": {}, "B": {"exhibits/p/table": 1}}


def test_a_run_in_another_directory_has_the_same_keys(here):
    campaign(RESULTS, 1, 2)
    write_text(here / "in.txt", "input\n")
    funnel("resources/y/sources/deu.parquet", ["in.txt"])
    funnel(RESULTS / "items/p/all/deu.parquet", ["resources/y/sources/deu.parquet"])
    run = load_run(here / RESULTS)
    assert (run.recorded, run.base) == ("results/x", here)
    assert {"results/items/p/deu.parquet", "resources/sources/deu.parquet"} <= {*run.jobs}
    (here / RESULTS).rename(here / "kept")
    moved = load_run(here / "kept")
    assert moved.base is None
    assert "results/items/p/deu.parquet" in moved.jobs
    assert moved.file("results/x/items/p/deu.parquet") == here / "kept/items/p/deu.parquet"


def test_a_part_of_a_results_tree_is_no_run(here):
    campaign(RESULTS, 1, 2)
    (here / RESULTS / "items/p/deu.parquet.prov.json").rename(here / "x.parquet.prov.json")
    with pytest.raises(UserError, match="expected a whole results tree"):
        load_run(here)


def test_a_campaign_file_that_is_not_there_has_no_plan(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.yaml does not exist; expected a campaign file"):
        planned_jobs(tmp_path / "nowhere.yaml", print)
