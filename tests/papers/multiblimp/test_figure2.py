"""Test MultiBLiMP's Figure 2: one pair at every stage, its data, its cells and its drawing."""

from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyBboxPatch
from matplotlib.transforms import Affine2D, Bbox

from blimpworks.audit.evidence import nearest
from blimpworks.audit.lineage import Node
from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import PNG_DPI
from blimpworks.papers.multiblimp.exhibits import pipeline
from blimpworks.papers.multiblimp.exhibits import stages as exhibits_stages
from blimpworks.papers.multiblimp.exhibits.facts import figure2_choice
from blimpworks.papers.multiblimp.exhibits.pipeline import fig2
from blimpworks.papers.multiblimp.exhibits.stages import LONGEST, choose_pair, follow_pair
from blimpworks.papers.multiblimp.settings import SamplingOptions
from blimpworks.tables import ITEMS, read_table
from support.treebank_kit import FIN, SEEN, SING_DOGS, UNIMORPH

CHOICE = {"language": "xyz", "pair": None, "decisions": {}}
CHOICE |= {"exact": False, "null": 0.9, "limit": 100}
MADE = ("tokens", "sentences", "candidates", "lexicon", "agreement", "agreement_counts")
FILES = dict(zip(MADE, MADE, strict=True)) | {"all_items": "pairs"}
DOGS = f"""
1 The the DET Definite=Def 2 det
2 dogs dog NOUN Number=Plur 3 nsubj
3 sing sing VERB {FIN}|Number=Plur 0 root
4 loudly loudly ADV _ 3 advmod SpaceAfter=No
5 . . PUNCT _ 3 punct
"""
DOGS_ARE = f"""
1 The the DET Definite=Def 2 det
2 dogs dog NOUN Number=Plur 4 nsubj
3 are be AUX {FIN}|Number=Plur 4 aux
4 singing sing VERB VerbForm=Part 0 root
"""
LONG_WORDS = "\n".join(
    f"{n} {'extraordinarily' * (n % 3 + 1)} word ADV Degree=Pos 40 advmod" for n in range(4, 40)
)
FAR = f"""
1 The the DET Definite=Def 2 det
2 dogs dog NOUN Number=Plur 40 nsubj
3 - - PUNCT _ 2 punct
{LONG_WORDS}
40 sing sing VERB {FIN}|Number=Plur|Person=3|Tense=Pres|Voice=Act 0 root
41 . . PUNCT _ 40 punct
"""
HEBREW = f"""
1 הכלבים כלב NOUN Number=Plur 2 nsubj
2 שרים שר VERB {FIN}|Number=Plur 0 root
3 "בקול" קול ADV _ 2 advmod SpaceAfter=No
4 . . PUNCT _ 2 punct
"""
HEBREW_ENTRIES = """
שר שר V;IND;PRS;3;SG
שר שרים V;IND;PRS;3;PL
כלב כלב N;SG
כלב כלבים N;PL
"""


@pytest.fixture
def tables(treebank, tmp_path):
    """Return a function that builds tables of all stages, by the exhibit's needs."""

    def built(*sentences, unimorph=UNIMORPH, minimum=1, **decisions):
        language = treebank(*sentences, **decisions)
        sampling = SamplingOptions(minimum=minimum)
        language.options = language.options.model_copy(update={"sampling": sampling})
        language.pairs_with(unimorph)
        items = language.sample()
        return {"items": [items]} | {need: [tmp_path / name] for need, name in FILES.items()}

    return built


LABELS = Labels({"xyz": "Test"}, facts={"figure2": CHOICE})


def forms(stages):
    return [(e.row.form, e.source, e.matches, e.chosen, e.objection) for e in stages.entries]


def pair(item_id, label="+", attractors=0, sent_id="short"):
    origin = {"treebank": "T", "file": "f", "sent_id": sent_id, "paradigm": "p"}
    return {"item_id": item_id, "label": label, "attractors": attractors, **origin}


LENGTHS = {"short": 7, "long": LONGEST + 1, "tiny": 2}
SENTENCES = {("T", "f", name): {"words": n} for name, n in LENGTHS.items()}


@pytest.mark.parametrize(
    "worse",
    [
        pair("0", label="?"),
        pair("0", attractors=1),
        pair("0", sent_id="long"),
        pair("0", sent_id="tiny"),
        pair("2"),
    ],
)
def test_a_short_sentence_of_certain_agreement_without_attractors_is_chosen(worse):
    assert choose_pair([worse, pair("1")], SENTENCES)["item_id"] == "1"


def test_the_pair_that_the_campaign_names_is_shown_and_must_be_there():
    items = [pair("1"), pair("2", "?")]
    assert choose_pair(items, SENTENCES, "2")["item_id"] == "2"
    with pytest.raises(UserError, match="figure2_pair is '3', which is not among the 2 items"):
        choose_pair(items, SENTENCES, "3")


def test_the_lexicon_has_the_words_own_entry_and_the_one_that_takes_its_place(tables):
    stages = follow_pair(tables(DOGS, SEEN), CHOICE)
    own, chosen = ("unimorph", True, False, None), ("unimorph", False, True, None)
    assert forms(stages) == [("sing", *own), ("sings", *chosen)]
    assert (stages.lemma, stages.sizes) == ("sing", {"unimorph": 2, "ud": 2})
    # UniMorph has exactly one other form, so the treebanks are not consulted.
    assert stages.consulted == ["unimorph"]


def test_forms_that_make_another_pair_or_none_are_told_from_the_chosen_one(tables):
    more = "\nsing singeth V;IND;PRS;3;SG\nsing sung V;IND;PRS;3;SG\nsing sung V;IND;PRS;3;PL\n"
    items = tables(DOGS, SEEN, unimorph=UNIMORPH + more)
    every = read_table(ITEMS, items["items"][0]).to_pylist()
    item_id = next(item["item_id"] for item in every if item["bad_form"] == "singeth")
    stages = follow_pair(items, CHOICE | {"pair": item_id})
    assert stages.consulted == ["unimorph", "ud"]
    outcomes = [(form, chosen, why) for form, _, own, chosen, why in forms(stages) if not own]
    others = ("sings", False, None), ("sung", False, "same value")
    assert {*outcomes} == {("singeth", True, None), *others}


def test_a_capitalised_word_that_is_looked_up_in_lower_case_is_traced_so(tables):
    corrected = {"letter_case": "corrected"}
    stages = follow_pair(tables(SING_DOGS, **corrected), CHOICE | {"decisions": corrected})
    assert stages.item["bad_form"] == "Sings"
    assert [form for form, *_ in forms(stages)] == ["sing", "sings"]


def test_pairs_of_several_values_are_among_those_of_the_condition(tables):
    more = "\nsing singz V;IND;PRS;3;SG\nsing singz V;IND;PRS;3;DU\n"
    stages = follow_pair(tables(DOGS, unimorph=UNIMORPH + more), CHOICE)
    assert stages.item["paradigm"] == "PL>SG/SV/verb"
    assert stages.condition_filter["ungrammatical"] == ["DU|SG", "SG"]
    assert (stages.available, stages.kept) == (2, 2)


def test_a_number_of_items_leads_to_the_sampled_ones_though_all_are_there_too():
    every = Node(Path("results/items/multiblimp/all/eng.parquet"), "", None)
    drawn = Node(Path("results/items/multiblimp/eng.parquet"), "", None, inputs=[every])
    tree = Node(Path("cells.parquet"), "", None, inputs=[every, drawn])
    assert nearest(tree, "items") == [drawn]
    assert nearest(tree, exhibits_stages.ALL_ITEMS) == [every]


def extents(figure):
    """Return boxes and texts of a figure, each with its extent in points."""
    figure.set_dpi(PNG_DPI)
    renderer = FigureCanvasAgg(figure).get_renderer()
    points = Affine2D().scale(72 / figure.dpi)
    (axes,) = figure.axes
    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    return [
        [(artist, artist.get_window_extent(renderer).transformed(points)) for artist in artists]
        for artists in (boxes, axes.texts)
    ]


@pytest.mark.parametrize(
    ("sentence", "unimorph"),
    [(DOGS, UNIMORPH), (DOGS_ARE, UNIMORPH), (FAR, UNIMORPH), (HEBREW, HEBREW_ENTRIES)],
    ids=["short", "auxiliary", "long", "right to left"],
)
def test_every_text_stands_in_a_box_and_none_on_another(tables, sentence, unimorph):
    boxes, texts = extents(fig2(tables(sentence, unimorph=unimorph), LABELS).figure)
    texts = [(artist.get_text(), at) for artist, at in texts if artist.get_text().strip()]
    assert len(texts) > 40
    for text, at in texts:
        corners = at.get_points()
        assert any(all(box.padded(0.5).contains(*c) for c in corners) for _, box in boxes), text
    for (a, at), (b, where) in combinations(texts, 2):
        both = Bbox.intersection(at, where)
        assert both is None or min(both.size) <= 0.4, (a, b)


def test_words_are_numbered_where_no_font_has_their_letters(tables, monkeypatch):
    monkeypatch.setattr(pipeline, "font_for", lambda texts: None)
    exhibit = fig2(tables(HEBREW, unimorph=HEBREW_ENTRIES), LABELS)
    (axes,) = exhibit.figure.axes
    drawn = {text.get_text() for text in axes.texts}
    assert {"[1]", "[2]"} <= drawn
    assert not any("ש" in text for text in drawn)
    assert "Words: 1 הכלבים" in exhibit.caption


def test_a_language_without_pairs_says_so(tables):
    exhibit = fig2(tables(DOGS, minimum=5), LABELS)
    assert exhibit.cells == []
    assert "Test has no pairs: name another language" in exhibit.caption


@pytest.mark.parametrize(
    ("languages", "exhibits", "shown"),
    [
        (["eng", "cym"], {}, "eng"),
        (["wol", "cym"], {}, "cym"),
        (["eng", "cym"], {"figure2_language": "cym"}, "cym"),
    ],
)
def test_english_is_shown_if_the_campaign_has_it_or_its_first_language(languages, exhibits, shown):
    settings = {"campaign": "test", "languages": languages, "models": []}
    campaign = check_campaign(settings | {"multiblimp": {"exhibits": exhibits}}, "test.yaml")
    assert figure2_choice(campaign, load_catalogue(campaign))["language"] == shown
