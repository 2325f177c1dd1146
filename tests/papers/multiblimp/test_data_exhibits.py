"""Test MultiBLiMP's tables and figures on its data: formats, and cells computed again."""

from dataclasses import replace

import pytest

from blimpworks.campaign.catalogue import Catalogue, LanguageRow, SourceRow, TreebankRow
from blimpworks.campaign.load import campaign_model
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import csv_text, latex_text, markdown_text
from blimpworks.exhibits.shared import read_printed
from blimpworks.papers.multiblimp.exhibits import data, languages
from blimpworks.papers.multiblimp.exhibits.facts import FACTS, NOTES_FILE
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS, ITEM_SCHEMA
from blimpworks.tables import FUNNEL, SENTENCES, write_rows
from support.cells_kit import values
from support.paths import REPOSITORY
from support.print_kit import printed

NAMES = {"cym": "Welsh", "wol": "Wolof", "eng": "English", "heb": "Hebrew"}
FAMILIES = dict.fromkeys(("cym", "eng"), "Indo-European")
FAMILIES |= {"wol": "Atlantic-Congo", "heb": "Afro-Asiatic"}
SCRIPTS = {"cym": "Latn", "wol": "Latn", "eng": "Latn", "heb": "Hebr"}
FACTS_KNOWN = {
    "families": FAMILIES,
    "traits": {lang: [SCRIPTS[lang], FAMILIES[lang]] for lang in NAMES},
    "table1": {"languages": ["cym"], "phenomenon": "sv#"},
    "excluded": {"eng": [["UD_English-GUM", "spoken"], ["UD_English-Atis", "flights"]]},
    "published_n": {"cym": 4, "wol": 10},
    "completeness": {"cym": "none", "wol": "1 of 2 treebank files", "eng": "none", "heb": "none"},
    "reasons": {"cym": "for nothing", "wol": "for something"},
}
LABELS = Labels(NAMES, facts=FACTS_KNOWN)
PUBLISHED = replace(LABELS, source="published")
PRINTED = {"printed": printed("multiblimp")}
TEXT = {"paradigm": "p", "good": "He walks.", "bad": "He walk.", "treebank": "T", "file": "f"}
SPANS = {"good_start": 3, "good_end": 8, "bad_start": 3, "bad_end": 7, "sent_id": "s"}


@pytest.fixture
def write(tmp_path):
    def written(schema, rows_by_language):
        paths = []
        for lang, rows in rows_by_language.items():
            paths.append(tmp_path / schema.name / f"{lang}.parquet")
            write_rows(rows, schema, paths[-1])
        return paths

    return written


def items(write, *groups):
    """Write items: each (count, lang, phenomenon, grammatical, order, label) gives count rows."""
    rows = {}
    for g, (count, lang, phenomenon, value, order, label) in enumerate(groups):
        given = {"lang": lang, "phenomenon": phenomenon, "order": order, "label": label}
        rows.setdefault(lang, []).extend(
            {"item_id": f"{g}-{i}", "grammatical": value, **given, **TEXT, **SPANS}
            for i in range(count)
        )
    return {"items": write(ITEM_SCHEMA, rows)}


def agreement(write, label="+", **languages):
    """Write counts and tests, from rows of phenomenon, order, both values and count."""
    names = ("phenomenon", "order", "subject_value", "verb_value", "count")
    tested = dict.fromkeys(("agreeing", "n", "probability", "p_greater", "p_less"), 0)
    tested |= {"verb_type": "both", "label": label}
    counted = {
        lang: [dict(zip(names, row, strict=True)) | tested | {"value": row[2]} for row in rows]
        for lang, rows in languages.items()
    }
    schemas = {"agreement": AGREEMENT, "agreement_counts": AGREEMENT_COUNTS}
    return {kind: write(schema, counted) for kind, schema in schemas.items()}


DUTCH = [
    ("sv#", "SV", "SG", "SG", 98),
    ("sv#", "SV", "SG", "PL", 2),
    ("sv#", "SV", "PL", "PL", 3),
    ("sv#", "VS", "SG", "SG", 1),
    ("svP", "VS", "3", "3", 50),
]


def test_table1_gives_each_verb_value_its_share_of_a_subject_value_and_order(write):
    exhibit = data.table1(agreement(write, cym=DUTCH), LABELS)
    assert csv_text(exhibit).splitlines() == [
        "Values,Subject,Verb,Order,Welsh",
        "PL PL SV,PL,PL,SV,1.0",
        "PL SG SV,PL,SG,SV,0.0",
        "SG SG SV,SG,SG,SV,0.98",
        "SG PL SV,SG,PL,SV,0.02",
        "SG SG VS,SG,SG,VS,1.0",
        "SG PL VS,SG,PL,VS,0.0",
    ]


@pytest.mark.parametrize(("label", "bold"), [("+", True), ("~", False), ("?", False)])
def test_table1_sets_agreement_in_bold_where_the_test_is_significant(write, label, bold):
    text = markdown_text(data.table1(agreement(write, label, cym=DUTCH), LABELS))
    assert ("**0.980**" in text) is bold
    assert "**0.020**" not in text


def test_table1_shows_its_own_languages_with_several_values_if_it_has_none_of_those_wanted(write):
    tables = agreement(write, heb=DUTCH, wol=DUTCH[2:3], eng=DUTCH)
    assert list(values(data.table1(tables, LABELS), "SG SG SV")) == ["English", "Hebrew"]
    only = agreement(write, wol=DUTCH[2:3])
    assert list(values(data.table1(only, LABELS), "PL PL SV")) == ["Wolof"]


def test_table1_can_show_another_phenomenon_with_its_own_values(write):
    choice = {"languages": ["cym"], "phenomenon": "spG"}
    labels = replace(LABELS, facts={"table1": choice})
    rows = [("spG", "SV", "FEM", "MASC", 1), ("spG", "SV", "FEM", "FEM", 3)]
    exhibit = data.table1(agreement(write, cym=rows), labels)
    assert values(exhibit, "FEM MASC SV") == {"Welsh": 0.25}
    assert exhibit.title.endswith("subject–participle gender agreement")


def test_table2_has_a_part_for_each_feature_with_the_papers_values(write):
    tables = items(
        write,
        (10, "cym", "sv#", "SG", "SV", "+"),
        (10, "cym", "spG", "NEUT", "VS", "?"),
        (9, "wol", "svP", "3", "SV", "+"),
        (5, "eng", "svP", "1", "SV", "~"),
        (5, "eng", "svP", "2", "VS", "?"),
    )
    lines = markdown_text(data.table2(tables, LABELS)).splitlines()
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    total = ["Total SV", "Total VS", "Total BOTH"]
    assert rows[0] == ["NUMBER", "SG SV", "SG VS", "PL SV", "PL VS", "DU SV", "DU VS", *total]
    assert rows[3][:3] == ["GENDER", "MASC SV", "MASC VS"]
    assert rows[5][:3] == ["PERSON", "1 SV", "1 VS"]
    no = "0 (0)"
    assert rows[2] == ["S-Verb", "1 (1)", no, no, no, no, no, "1 (1)", no, "1 (1)"]
    assert rows[4] == ["S-Participle", no, no, no, "1 (0)", no, no, no, "1 (0)", "1 (0)"]
    assert rows[6] == ["S-Verb", *[no] * 8, "1 (0)"]
    assert rows[7] == ["TOTAL", *["–"] * 6, "1 (1)", "1 (0)", "2 (1)"]
    assert rows[8] == ["TOTAL, any pairs", *["–"] * 6, "3 (3)", "2 (0)", "3 (3)"]
    # In LaTeX, values span columns, and headings repeat for each feature.
    lines = latex_text(data.table2(tables, LABELS)).splitlines()
    at = lines.index(r"NUMBER & SV & VS & SV & VS & SV & VS & SV & VS & BOTH \\")
    assert lines[at - 2].startswith(r" & \multicolumn{2}{c}{SG} & \multicolumn{2}{c}{PL} & ")
    assert lines[at - 1].startswith(r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}")
    assert sum(r"\multicolumn{3}{c}{Total}" in line for line in lines) == 3


def sentences(write, **treebanks):
    blank = {"file": "f", "sent_id": "s", "line": 1, "words": 1, "text": "", "comments": []}
    rows = {
        lang: [{"sentence": i, "treebank": t, **blank} for i, t in enumerate(names)]
        for lang, names in treebanks.items()
    }
    return {"sentences": write(SENTENCES, rows)}


def test_table4_lists_treebanks_with_reasons_and_the_sentences_read_of_them(write):
    tables = sentences(write, cym=["UD_Welsh-CCG"], eng=["UD_English-GUM", "UD_English-EWT"])
    exhibit = data.table4(tables, LABELS)
    assert exhibit.layout().iloc[:, 1:].to_numpy().tolist() == [
        ["English", "Atis", "flights", "0"],
        ["English", "GUM", "spoken", "1"],
    ]


def test_fig3_breaks_many_languages_into_panels_of_equal_width(write):
    many = {f"a{chr(97 + i // 26)}{chr(97 + i % 26)}": f"L{i}" for i in range(70)}
    tables = items(write, *((i + 1, lang, "sv#", "SG", "SV", "+") for i, lang in enumerate(many)))
    figure = languages.fig3(tables, Labels(many)).figure
    names = [[t.get_text() for t in axes.get_xticklabels()] for axes in figure.axes]
    assert [len(panel) for panel in names] == [35, 35]
    assert (names[0][0], names[1][-1]) == ("L69", "L0")
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_families_are_counted_and_listed_the_largest_first(write):
    pairs = {"cym": 1, "heb": 9, "eng": 2}
    tables = items(write, *((n, lang, "sv#", "SG", "SV", "+") for lang, n in pairs.items()))
    rows = languages.fig4(tables, LABELS).layout("value").to_numpy().tolist()
    assert rows == [["Indo-European", 2, 3], ["Afro-Asiatic", 1, 9]]
    (axes, *_) = languages.figb1(tables, LABELS).figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["Indo-European (2)", "English", "Welsh", "Afro-Asiatic (1)", "Hebrew"]


@pytest.mark.parametrize("build", [languages.fig3, languages.fig4, languages.figb1, languages.fig8])
def test_exhibits_of_a_campaign_without_pairs_are_empty_but_there(write, build):
    [path] = write(ITEM_SCHEMA, {"cym": []})
    exhibit = build({"items": [path]}, LABELS)
    assert {cell.value for cell in exhibit.cells} <= {0}
    assert exhibit.figure is not None or "| Language" in markdown_text(exhibit)


def test_fig8_marks_the_agreeing_word_and_names_the_item_that_is_shown(write):
    tables = items(write, (3, "cym", "sv#", "SG", "SV", "+"), (2, "heb", "spG", "FEM", "SV", "?"))
    exhibit = languages.fig8(tables, LABELS)
    assert exhibit.layout().to_numpy().tolist() == [
        ["Welsh", "SV-N", "He [walks/*walk]."],
        ["Hebrew", "SP-G", "He [walks/*walk]."],
    ]


def test_fig8_prefers_certain_short_pairs_of_phenomena_not_shown_yet(write):
    tables = items(
        write,
        (1, "cym", "svP", "3", "SV", "+"),
        (1, "wol", "svP", "3", "SV", "+"),
        (1, "wol", "sv#", "SG", "SV", "?"),
        (1, "wol", "svG", "FEM", "SV", "+"),
    )
    exhibit = languages.fig8(tables, LABELS)
    assert [stub["Type"] for stub in exhibit.stub.values()] == ["SV-P", "SV-G"]


def test_ten_languages_at_most_are_shown_as_unlike_as_can_be():
    codes = [f"l{i:02}" for i in range(30)]
    traits = {lang: ["Latn", "Uralic" if int(lang[1:]) < 25 else lang] for lang in codes}
    traits["l07"] = ["Grek", "Uralic"]
    chosen = languages.choose_languages(codes, traits)
    assert len(chosen) == 10
    assert {"l07", *codes[25:]} <= {*chosen}
    assert chosen == sorted(chosen)
    assert chosen == languages.choose_languages(codes, traits)


def funnels(write, **languages):
    """Write funnels from languages' (pairs of two phenomena, items)."""
    rows = {
        lang: [
            {"lang": lang, "stage": stage, "reason": reason, "n": n}
            for stage, reason, n in (
                ("candidates", "sentences", 99),
                ("pairs sv#", "pairs", first),
                ("pairs sv#", "- same form", 7),
                ("pairs svP", "pairs", second),
                ("sampling", "pairs", first + second),
                ("sampling", "items", kept),
            )
        ]
        for lang, (first, second, kept) in languages.items()
    }
    return {"funnel": write(FUNNEL, rows)}


def test_regeneration_sets_items_against_the_release_and_tells_why_they_differ(write):
    tables = funnels(write, cym=(3, 2, 4), wol=(20, 10, 5), eng=(1, 0, 1), heb=(0, 0, 0))
    exhibit = data.regeneration(tables, LABELS)
    assert list(exhibit.layout().columns) == [
        *("Language", "ISO", "Paper", "Pairs", "Items", "Ratio", "Sources missing", "Reason")
    ]
    rows = exhibit.layout().fillna("").to_numpy().tolist()
    assert rows[0] == ["Welsh", "cym", "4", "5", "4", "1.000", "none", ""]
    remarks = ["1 of 2 treebank files", "for something"]
    assert rows[1] == ["Wolof", "wol", "10", "30", "5", "0.500", *remarks]
    assert rows[2] == ["English", "eng", "", "1", "1", "", "none", ""]
    # The ratio leaves out English, which the release has no pairs of: 9 of 14.
    assert rows[4] == [data.ALL_LANGUAGES, "", "14", "36", "10", "0.643", "", ""]
    assert "1 of 2 languages have exactly as many" in exhibit.caption
    # Pairs and items in the last row are of all languages.
    assert "the last ratio is over languages of the release only" in exhibit.caption


def test_a_pair_counts_again_in_the_funnel_for_each_further_condition(write):
    counts = {"pairs": 3, "+ in a further condition": 2, "- no agreement": 1, "items": 4}
    rows = [
        {"lang": "cym", "stage": "sampling", "reason": reason, "n": n}
        for reason, n in counts.items()
    ]
    exhibit = data.funnel({"funnel": write(FUNNEL, {"cym": rows})}, LABELS)
    cells = values(exhibit)
    assert cells["Welsh", "sampling: + in a further condition"] == 2
    assert "with a plus count pairs again, once for each further condition" in exhibit.caption


def test_regeneration_refuses_a_funnel_without_the_stage_it_counts(write):
    rows = [{"lang": "cym", "stage": "sampling", "reason": "items", "n": 1}]
    with pytest.raises(UserError, match="no stage 'pairs' with 'pairs'; it has sampling"):
        data.regeneration({"funnel": write(FUNNEL, {"cym": rows})}, LABELS)


def test_a_table_longer_than_a_page_comes_in_parts_with_headings_on_each(write):
    many = {f"a{chr(97 + i // 26)}{chr(97 + i % 26)}": f"L{i}" for i in range(60)}
    facts = {"published_n": {}, "completeness": dict.fromkeys(many, "none"), "reasons": {}}
    tables = funnels(write, **dict.fromkeys(many, (1, 1, 1)))
    text = latex_text(data.regeneration(tables, Labels(many, facts=facts)))
    first, second, _ = text.split("\n\\end{table*}\n")
    headings = [part.split("\\toprule")[1].split("\\midrule")[0] for part in (first, second)]
    assert headings[0] == headings[1]
    assert "caption" in first
    assert second.endswith("(continued: part 2 of 2)")
    rows = [part.split("\\bottomrule")[0].count(r"\\") for part in (first, second)]
    heads = headings[0].count(r"\\")
    assert [n - heads for n in rows] == [50, 11]  # 60 languages, and a row of all


def test_the_papers_own_tables_are_built_from_its_numbers():
    labels = replace(PUBLISHED, languages={"nld": "Dutch", "tur": "Turkish"})
    first = data.table1(PRINTED, labels)
    shown = {cell.column: cell.value for cell in first.cells if cell.row == "PL PL SV"}
    assert (shown["Dutch"], shown["Turkish"]) == (0.989, 0.161)
    again = {name.split(",")[0]: value for name, value in shown.items() if "," in name}
    assert again == pytest.approx({"Dutch": 0.989, "Turkish": 0.161})
    assert first.bold >= {("PL PL SV", "Dutch"), ("SG SG VS", "Turkish")}
    assert ("PL PL SV", "Turkish") not in first.bold
    second = data.table2(PRINTED, labels).layout()
    assert second[second["Agreement"] == "TOTAL"]["Total BOTH"].item() == "101 (87)"
    titles = [section.title for section in data.table2(PRINTED, labels).sections]
    assert titles == ["NUMBER", "GENDER", "PERSON", ""]
    fourth = data.table4(PRINTED, labels).layout()
    assert len(fourth) == 25
    assert fourth.iloc[-1, 1:].tolist() == ["Classical Chinese", "TueCL", "Comparatively small"]


def test_the_catalogue_leaves_out_what_the_paper_lists():
    rows = {row.lang: row for row in read_rows(LanguageRow, REPOSITORY / "config/languages.tsv")}
    ours = FACTS["excluded"](campaign_model()(campaign="x"), Catalogue(rows, {}, {}, {}))
    listed = {treebank for entries in ours.values() for treebank, _ in entries}
    paper = set(read_printed(PRINTED, exhibit="table4")["row"])
    assert paper - listed == {"UD_Vietnamese-TueCL", "UD_Classical_Chinese-TueCL"}
    assert listed <= paper


KNOWN = "0" * 64


def row(table, /, **given):
    return table.model_validate(dict.fromkeys(table.model_fields, "") | given)


def catalogue_of(**languages):
    rows = {
        lang: row(LanguageRow, lang=lang, family="F", script="Latn", **given)
        for lang, given in languages.items()
    }
    return Catalogue(rows, {}, {}, {})


def test_missing_and_substituted_sources_are_told_by_language():
    lexicons = [
        ("um/cym", "unimorph", "cym", ""),
        ("um/wol", "unimorph", "wol", ""),
        ("um/wol.old", "other", "wol", KNOWN),
        ("um/wol.seg", "unimorph_segmentations", "wol", ""),
        ("um/fao", "unimorph", "fao", KNOWN),
    ]
    sources = {
        name: row(SourceRow, name=name, kind=kind, lang=lang, sha256=sha256)
        for name, kind, lang, sha256 in lexicons
    }
    pins = {"cym": (KNOWN, "")} | dict.fromkeys(("eng", "fao", "myv", "wol"), (KNOWN,))
    treebanks = {
        lang: [row(TreebankRow, lang=lang, sha256=pin, treebank="UD_X", file="x") for pin in of]
        for lang, of in pins.items()
    }
    with_lexicons = {lang: {"unimorph": lang} for lang in ("cym", "eng", "fao", "wol")}
    catalogue = catalogue_of(**with_lexicons, myv={})
    catalogue = replace(catalogue, treebanks=treebanks, sources=sources)
    campaign = campaign_model()(campaign="x", substitutes={"um/wol": "um/wol.old"})
    assert FACTS["completeness"](campaign, catalogue) == {
        "cym": "1 of 2 treebank files, UniMorph",
        "eng": "UniMorph (not in the catalogue)",
        "fao": "none",
        "myv": "none",
        "wol": "UniMorph (another version in its place), its segmentations",
    }


def test_an_exclusion_that_is_no_treebank_with_a_reason_is_refused():
    catalogue = catalogue_of(eng={"excluded_treebanks": "UD_English-GUM:spoken;GUM"})
    with pytest.raises(UserError, match="excluded_treebanks of 'eng' has 'GUM'; expected"):
        FACTS["excluded"](campaign_model()(campaign="x"), catalogue)


def test_reasons_are_read_for_the_campaigns_languages_or_refused(tmp_path):
    files = {"treebanks": tmp_path / "treebanks.tsv"}
    campaign = Campaign.model_validate({"campaign": "x", "catalogue": files})

    def noted(text):
        (tmp_path / NOTES_FILE).write_text(text, "utf-8")
        return FACTS["reasons"](campaign, catalogue_of(cym={}))

    assert noted("lang\treason\ncym\tbecause\nwol\telse\n") == {"cym": "because"}
    with pytest.raises(UserError, match="'cym' is in 2 rows"):
        noted("lang\treason\ncym\ta\ncym\tb\n")
