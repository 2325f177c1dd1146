import pandas as pd
import pytest

from blimpworks.analysis.accuracy import summarise
from blimpworks.audit.evidence import spread
from blimpworks.audit.explain_text import item_lines
from blimpworks.campaign.load import campaign_model
from blimpworks.campaign.scoring_jobs import ScoringJob
from blimpworks.papers.lmentry.settings import LmentryOptions


def accuracies(*groups, without=()):
    """Return accuracies by (phenomenon, paradigm, right, judged, nominal), by both methods."""
    rows = [
        (phenomenon, paradigm, method, float(number < right), nominal)
        for phenomenon, paradigm, right, judged, nominal in groups
        for method in ("published", "corrected")
        for number in range(judged)
    ]
    names = ["phenomenon", "paradigm", "method", "correct", "nominal"]
    frame = pd.DataFrame(rows, columns=names).assign(tie=None, near_tie=None)
    frame = frame.astype({"tie": "boolean", "near_tie": "boolean"}).drop(columns=[*without])
    return summarise(frame).set_index(["phenomenon", "paradigm", "method"])


def test_published_accuracies_are_shares_of_the_nominal_number_of_prompts():
    groups = [("starts_with_word", f"template={n}", right, 4, 10) for n, right in ((1, 3), (2, 1))]
    result = accuracies(*groups, ("word_containing", "template=1", 27, 27, 26))
    published = result.xs("published", level="method")["accuracy"]
    corrected = result.xs("corrected", level="method")["accuracy"]
    assert published["starts_with_word", "template=1"] == pytest.approx(3 / 10)
    assert published["starts_with_word", "all"] == pytest.approx(4 / 20)
    assert published["word_containing", "all"] == pytest.approx(27 / 26)  # as the paper prints
    assert published["all", "all"] == pytest.approx(31 / 46)
    assert corrected["starts_with_word", "all"] == pytest.approx(4 / 8)
    assert result.xs("published", level="method")["n"]["starts_with_word", "all"] == 8
    # An interval moves with its accuracy.
    alone = result.loc[("starts_with_word", "template=1")]
    for end in ("low", "high"):
        assert alone[end]["published"] == pytest.approx(alone[end]["corrected"] * 4 / 10)


def test_judgements_of_pairs_know_no_nominal_numbers():
    result = accuracies(("sv#", "SG", 3, 4, 10), without=["nominal"])
    assert result["accuracy"]["sv#", "SG", "published"] == pytest.approx(3 / 4)


def test_a_part_that_answers_has_a_store_and_a_log_of_its_own():
    campaign = campaign_model()(campaign="c")
    score = ScoringJob("m", "multi", "vllm", (("lmentry", "eng"),))
    answer = ScoringJob("m", "multi", "vllm", (("lmentry", "eng"),), "answer")
    assert str(answer.manifest(campaign)) == "results/answers_store/m/multi/manifest.json"
    assert answer.log(campaign) != score.log(campaign)
    assert answer.checkpoint(campaign) == score.checkpoint(campaign)
    assert (score.title, answer.title) == ("m", "m (answers)")


@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_the_campaigns_variant_is_the_first_of_both_methods(variant):
    methods = LmentryOptions(variant=variant).methods
    assert methods[0] == variant
    assert sorted(methods) == ["corrected", "published"]


def test_an_answer_is_shown_with_prompt_verdict_rule_and_pattern():
    item = {"item_id": "a1", "paradigm": "template=1", "method": "published", "correct": 1.0}
    item |= {"certain": True, "rule": "pattern", "pattern": "the answer is {answer}"}
    item |= {"margin": None, "prompt": "Which word is first?\nSay it.", "gold": "dog"}
    item |= {"text": "The answer is dog.", "status": "ok", "finish": "length"}
    assert item_lines([item]) == [
        "a1  template=1  published: right for certain, by rule pattern 'the answer is {answer}'",
        "   ? Which word is first?",
        "     Say it.",
        "   wanted: dog",
        "   > The answer is dog.  [cut off at the limit]",
    ]
    unanswered = item | {"text": None, "status": "too_long", "correct": None, "rule": None}
    assert item_lines([unanswered])[0].endswith("published: not judged")
    assert item_lines([unanswered])[-1] == "   no answer: too_long"


def test_of_answers_wrong_and_right_ones_are_shown():
    columns = {"item_id": [*"abcdef"], "margin": [None] * 6, "correct": [1.0, 0, 1, 0, 1, 1]}
    rows = pd.DataFrame(columns)
    assert spread(rows, 3)["correct"].tolist() == [0, 1, 1]
