"""Single sentences and items of several conditions, as ``explain`` shows them."""

import pytest

from blimpworks.audit.evidence import TABLE, item_evidence, read_tables
from blimpworks.audit.explain_text import item_lines
from blimpworks.audit.lineage import Node
from support.judging_kit import Condition, judged_designs, judged_sentences

LESS = "(2;%match%) < (2;%mismatch%)"
MORE = "(1;%match%) > (1;%mismatch%)"
DESIGN = {
    "match": Condition(("the cats", [50.0]), ("sleep", [3.0])),
    "mismatch": Condition(("the cat", [60.0]), ("sleep", [4.5])),
}


@pytest.fixture
def lines(tmp_path):
    """Lines on each judged item, from the tables that a function has written."""

    def run():
        nodes = {}
        for kind in ("items", "scores", "judgements"):
            path = tmp_path / kind / "eng.parquet"
            path.parent.mkdir()
            (tmp_path / f"{kind}.parquet").rename(path)
            nodes[kind] = Node(path, "", None)
        judgements = nodes.pop("judgements")
        judgements.inputs.extend(nodes.values())
        rows = read_tables([judgements]).drop(columns=TABLE).to_dict("records")
        return [item_lines([item_evidence(judgements, row)]) for row in rows]

    return run


def test_a_sentence_stands_once_with_its_threshold_and_whether_it_is_accepted(lines, tmp_path):
    judged_sentences(tmp_path, [-1.0, -2.0, -8.0, -9.0], [True, False, True, False])
    shown = lines()
    values = "value -1.000, threshold -8.500, accepted, right"
    assert shown[0][0] == f"i0  SG  full_sentence: {values}"
    assert all("accepted" in text[0] and "threshold" in text[0] for text in shown)
    signs = ["acceptable:", "not acceptable:"] * 2
    assert [text[1].split(" a b")[0].strip() for text in shown] == signs
    assert all(sum("a b" in line for line in text) == 1 for text in shown)


def test_each_prediction_of_an_item_says_whether_it_holds(lines, tmp_path):
    judged_designs(tmp_path, [DESIGN], [LESS, MORE])
    (shown,) = lines()
    assert shown[0].endswith("critical_region: margin -10.000, wrong")
    assert shown[1:3] == [f"   predicted: {LESS} (holds)", f"   predicted: {MORE} (does not hold)"]
    assert shown[3].startswith("   match: [1 the cats] [2 sleep]")
