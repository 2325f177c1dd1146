"""Test Multi-LMentry's exhibits of prompts, templates and counts beside the printed ones.

tests/workflow/test_reproduction.py has the status of each printed text.
"""

from itertools import product

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import html_text, latex_text
from blimpworks.papers.lmentry.exhibits.prompts import ENGLISH
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.items.prompts import build_prompts, item_id, prompt_of
from blimpworks.papers.lmentry.paper import PAPER
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.tables import PROMPTS
from support.cells_kit import by_place
from support.lmentry_campaign import build, prompt_row, write
from support.lmentry_prompts_kit import DECLARATIONS, files_of, needs_mirror, write_resources
from support.print_kit import PACKS, printed

pytestmark = pytest.mark.xdist_group("lmentry-exhibits")
MEASURED = Labels({"fra": "French"}, facts={"lmentry_variant": "published"})
FRENCH = PACKS[0].with_name("fra.yaml")
ARGUMENTS = {"word": "sun", "letter": "s", "sentence": "the sun is up", "category": "stars"}
ARGUMENTS |= {"words": ["sun", "moon"], "word1": "sun", "word2": "moon", "n1": 10, "n2": 20}
ARGUMENTS |= {"query": "sun"}
OPEN = ("containing", "starts_with", "ends_with")


def prompts(pack):
    for task, templates in pack.templates.items():
        many = any(part in task for part in OPEN)
        for template, number in product(range(1, len(templates) + 1), (1, 2)):
            prompt = prompt_of(pack, task, template, ARGUMENTS, corrected=False)
            more = {"prompt": prompt, "answer": None if many else "moon"}
            more["item_id"] = item_id("lmentry", pack.lang, task, template, number, prompt)
            yield prompt_row(pack.lang, task, template, number, ARGUMENTS, **more)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Write packs of the paper's languages and French, and prompts of each template."""
    root = tmp_path_factory.mktemp("texts")
    packs = [*PACKS, FRENCH]
    items = [
        write([*prompts(read_pack(path))], PROMPTS, root / f"items/{path.stem}.parquet")
        for path in packs
    ]
    return {"packs": packs, "items": items, "printed": printed("lmentry")}


def test_measured_templates_have_both_wordings_side_by_side_and_their_prompts(tables, tmp_path):
    exhibit, _ = build("table15", tables, MEASURED, tmp_path)
    shown = by_place(exhibit)
    assert "todas estas" in shown["Spanish 2", "Template"].text
    assert "alguna de" in shown["Spanish 2", "Corrected"].text
    assert shown["Spanish 2", "Prompts"].value == 2
    assert ("English 1", "Corrected") not in shown
    assert len([1 for _, column in shown if column == "Template"]) == 3 * 10
    assert "mots" in shown["French 1", "Template"].text
    assert "the published wording" in exhibit.caption
    # Superfluous spaces are visible.
    assert by_place(exhibit)["German 1", "Template"].text.endswith('"nein".␣')
    assert r"\textvisiblespace" in latex_text(exhibit)
    assert "w$_5$" in latex_text(exhibit)


def test_a_task_that_a_language_lacks_is_told_and_korean_says_that_it_is_korean(tables, tmp_path):
    exhibit, _ = build("table23", tables, MEASURED, tmp_path)
    assert "Languages without the task: Basque." in exhibit.caption
    assert not any(cell.row.startswith("Basque") for cell in exhibit.cells)
    assert by_place(exhibit)["English 1", "Template"].stands_for == ("1", ENGLISH)
    page = html_text(exhibit)
    assert ":lang(ko)" in page
    assert 'lang="ko">' in page


def test_system_prompts_that_are_not_in_print_are_named(tables, tmp_path):
    exhibit, _ = build("table7", tables, MEASURED, tmp_path)
    assert "Different from print, or not in print: Korean, French." in exhibit.caption
    assert by_place(exhibit)["French", "System prompt"].text == read_pack(FRENCH).system


def test_measured_examples_are_the_campaigns_own_prompts_with_their_answers(tables, tmp_path):
    exhibit, _ = build("table1", tables, MEASURED, tmp_path)
    shown = by_place(exhibit)
    assert len(shown) == 25
    asked = shown["First letter of the word", "Example"].text
    assert asked == 'What is the first letter of the word "sun"?'
    assert exhibit.remarks["First letter of the word"] == {"Answer": "moon"}
    assert exhibit.remarks["Word ending with letter"] == {"Answer": "any word that ends with “s”"}


def counted(lang, files, root, **options):
    """Return a language's exhibit of counts, and its sentence on each task."""
    items, pack = root / f"{lang}.parquet", FRENCH.with_name(f"{lang}.yaml")
    build_prompts(files, pack, DECLARATIONS, items, LmentryOptions(**options))
    settings = {"campaign": "counts", "benchmarks": ["lmentry"], "models": []}
    settings |= {"languages": [lang], "lmentry": options}
    campaign = check_campaign(settings, "test")
    facts = {"lmentry_counts": PAPER.facts["lmentry_counts"](campaign, load_catalogue(campaign))}
    tables = {"items": [items], "printed": printed("lmentry")}
    exhibit = build("counts", tables, Labels({}, facts=facts), root)[0]
    return exhibit, {task: next(iter(texts.values())) for task, texts in exhibit.remarks.items()}


@needs_mirror
def test_each_difference_of_a_real_language_has_its_reason(tmp_path):
    exhibit, sentences = counted("deu", files_of("deu", tmp_path), tmp_path)
    assert "parts of speech" in sentences["starts with word"]
    assert sentences["bigger number"] == ""
    assert not any("not explained" in sentence for sentence in sentences.values())
    shown = by_place(exhibit)
    assert shown["starts with word", "DE printed"].text == "3,000"
    assert shown["starts with word", "DE made"].text == "495"


@pytest.mark.slow
def test_differences_that_nobody_has_explained_say_so_and_limits_of_a_campaign_too(tmp_path):
    files = write_resources(tmp_path / "in")
    for options, said in (({}, "not explained"), ({"per_template": 2}, "keeps at most 2 prompts")):
        assert said in counted("ita", files, tmp_path, **options)[1]["sentence containing"]
