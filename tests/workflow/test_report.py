"""Test the report in a real browser: from a file, without a network, by keyboard, on a phone."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

from support.checkout import copy_of

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect  # waits for panels and lists, which scripts fill later
expect.set_options(timeout=60_000)  # for loaded machines
BROWSER = os.environ.get("BLIMPWORKS_CHROMIUM") or shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("workflow"),
    pytest.mark.skipif(not BROWSER, reason="no chromium on the PATH (or in BLIMPWORKS_CHROMIUM)"),
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def checkout(built, tmp_path_factory):
    """Return the finished campaign, whose report has a corrected variant."""
    checkout = copy_of(built, tmp_path_factory.mktemp("report"))
    exhibits = checkout.path / "results/demo/exhibits"
    shutil.copytree(exhibits, checkout.path / "results/corrected/exhibits")
    checkout.change(report={"corrected": "results/corrected"})
    checkout.make("report")
    return checkout


@pytest.fixture(scope="module")
def site(checkout):
    return checkout.path / "results/demo/report"


class Reader:
    """A browser window on the report, with its errors and network requests."""

    def __init__(self, chromium, site, viewport, **options):
        self.site = site
        self.context = chromium.new_context(viewport=viewport, **options)
        self.context.set_default_timeout(300_000)  # for pages of some megabytes
        self.page = self.context.new_page()
        self.complaints, self.asked = [], []
        self.page.on("console", lambda m: m.type == "error" and self.complaints.append(m.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, name="index.html", address=""):
        self.page.goto((self.site / name).as_uri() + address)
        return self.page

    def view(self, exhibit, view, paper="multiblimp"):
        """Open the page of an exhibit's paper and choose a view; return the exhibit's section."""
        section = self.open(f"{paper}.html").locator(f"section:has(> #{paper}-{exhibit})")
        section.locator("label", has_text=view).click()
        return section


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        # Chromium's sandbox needs rights that containers don't give.
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def reader(chromium, site, request):
    """Open a reader on a wide screen, or as the test's parameter orders."""
    reader = Reader(chromium, site, **getattr(request, "param", {"viewport": WIDE}))
    yield reader
    reader.context.close()


on_a_phone = pytest.mark.parametrize(
    "reader", [{"viewport": PHONE, "has_touch": True, "is_mobile": True}], indirect=True
)


def pages(site):
    return sorted(path.name for path in site.glob("*.html"))


def seen(within, what):
    """Return the visible elements of a selector."""
    return within.locator(what).locator("visible=true")


def number(section, row, column):
    """Return a visible number by the keys of the printed one."""
    return seen(section, f'td[data-row="{row}"][data-column="{column}"] button').first


def test_no_page_complains_or_asks_the_network_for_anything_and_all_links_lead_somewhere(
    reader, site
):
    for name in pages(site):
        page = reader.open(name)
        page.wait_for_load_state("networkidle")
        links = page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)")
        local = {link.split("#")[0] for link in links if link.startswith("file:")}
        assert [link for link in local if not Path(link.removeprefix("file://")).exists()] == []
    assert reader.complaints == []
    assert [url for url in reader.asked if not url.startswith(("file:", "blob:", "data:"))] == []


def test_the_front_page_counts_what_the_comparison_counts(reader, checkout):
    lines = (checkout.path / "results/demo/reproduction/published.csv").read_text().splitlines()
    page = reader.open()
    whole = page.locator("tr.bw-whole td.n").all_inner_texts()
    tiles = [each.locator("strong").all_inner_texts() for each in page.locator(".bw-tiles").all()]
    for texts in (whole, tiles[0], tiles[-1]):
        assert sum(int(text.replace(",", "")) for text in texts) == len(lines) - 1
    ours = page.locator(".bw-tiles").last
    expect(ours).to_contain_text("not comparable")
    expect(ours).not_to_contain_text("deviates")


def test_a_status_on_the_front_page_leads_to_the_numbers_that_have_it(reader):
    page = reader.open()
    tile = page.locator(".bw-tiles li", has_text="erratum").first
    count = int(tile.locator("strong").inner_text())
    tile.locator("a").click()
    page.wait_for_selector(f'.dt-info:has-text("{count} entries")')
    others = page.locator("#bw-published tbody tr td:nth-child(6)").filter(has_not_text="erratum")
    expect(others).to_have_count(0)
    page.get_by_role("link", name="Show all.").click()
    page.wait_for_function("!document.querySelector('.dt-info')?.textContent.includes('filtered')")


def test_a_row_of_the_list_opens_the_lineage_of_its_number(reader):
    page = reader.open("published.html")
    page.locator(".dt-search input").fill("gemma-3-27b svG")
    page.locator("#bw-published tbody a").first.click()
    panel = page.locator(".bw-panel")
    expect(panel).to_contain_text("91.3")
    expect(panel).to_contain_text(re.compile(r"config/published/multiblimp/table3\.csv:\d+"))


def test_one_view_chosen_is_chosen_for_all_exhibits(reader):
    reader.view("table2", "Measured")
    forms = seen(reader.page, "section:has(> #multiblimp-table5) .sd-tab-content table")
    expect(forms).to_have_attribute("data-form", "measured/table5")


def test_the_printed_view_has_no_rows_that_are_only_computed(reader):
    rows = seen(reader.view("table3", "Printed"), "tbody th").all_inner_texts()
    assert "Gemma3 27B" in rows
    assert not [row for row in rows if "Table 5" in row]


def test_the_recomputed_view_says_of_each_number_what_became_of_it_and_of_which_it_is_made(reader):
    english = number(reader.view("table3", "Recomputed"), "gemma-3-27b", "eng")
    expect(english).to_have_text("98.6", use_inner_text=True)
    expect(english.locator("xpath=..")).to_have_attribute("data-s", "exact")
    sign = english.evaluate("b => getComputedStyle(b, '::after').content")
    assert "✓" in sign
    english.click()
    origins = reader.page.locator(".bw-origins a")
    expect(origins).to_have_text(["English / Gemma3 27B"])
    origins.first.click()
    reader.page.wait_for_selector('.bw-panel h2:has-text("Table 5")')


def test_the_corrected_variant_shows_what_an_erratum_should_read(reader):
    reader.view("table2", "Printed")
    cell = seen(reader.page, "td[data-s=erratum] button:has(ins)").first
    printed = cell.inner_text()
    reader.page.get_by_label("corrected", exact=True).check()
    expect(cell).not_to_have_text(printed, use_inner_text=True)
    reader.page.get_by_label("published", exact=True).check()
    expect(cell).to_have_text(printed, use_inner_text=True)


def test_the_corrected_variant_shows_the_other_campaigns_numbers(reader):
    forms = seen(reader.view("table2", "Measured"), "table")
    expect(forms).to_have_attribute("data-form", "measured/table2")
    reader.page.get_by_label("corrected", exact=True).check()
    expect(forms).to_have_attribute("data-form", "corrected/table2")


def test_a_language_leaves_its_rows_and_a_model_its_columns(reader):
    table = reader.view("table5", "Printed").locator('table[data-form="published/table5"]').first
    page = reader.page
    page.get_by_label("Language", exact=True).select_option("deu")
    page.get_by_label("Model", exact=True).select_option("gemma-3-27b")
    rows = seen(table, "tbody th")
    expect(rows).to_have_text(["German"])
    for model, cells in (("gemma-3-27b", 1), ("llama-3.1-8b", 0)):
        expect(seen(table, f'td[data-column="{model}"]')).to_have_count(cells)
    for chip in page.locator(".bw-chip").all()[::-1]:
        chip.click()
    expect(rows.nth(60)).to_be_visible()


def test_headings_span_just_the_columns_that_are_left(reader):
    section = reader.view("table3", "Printed")
    reader.page.get_by_label("Phenomenon", exact=True).select_option("sv#")
    head = section.locator('table[data-form="published/table3"] thead').first
    widths = head.evaluate(
        "h => [...h.rows].map(r => [...r.cells].filter(c => !c.hidden)"
        ".reduce((sum, c) => sum + c.colSpan, 0))"
    )
    assert len(set(widths)) == 1


def test_a_table_with_nothing_on_the_choice_says_so(reader):
    section = reader.view("tableb2", "Printed")
    reader.page.get_by_label("Language", exact=True).select_option("abk")
    expect(seen(section, ".bw-nothing").first).to_contain_text("This table has no rows")


def test_side_by_side_a_row_has_a_line_for_what_is_printed_and_what_is_recomputed(reader):
    section = reader.view("table3", "Side by side")
    cells = seen(section, 'td[data-row="gemma-3-27b"][data-column="eng"]')
    expect(cells).to_have_count(2)
    expect(cells.last).to_have_attribute("data-s", "exact")
    cells.last.locator("button").click()
    expect(reader.page.locator(".bw-panel")).to_contain_text("98.6")


def test_a_form_without_a_source_says_what_it_lacks_and_how_to_get_it(reader):
    captions = reader.view("text", "Recomputed", "clams").locator(".bw-caption")
    shown = captions.filter(has_text="Missing here").locator("visible=true").first
    expect(shown).to_contain_text("wals/cldf/languages.csv and 2 more files")
    expect(shown).to_contain_text("snakemake --cores 1 clams_text_published")


def test_of_papers_that_nothing_is_run_of_no_measured_numbers_are_shown(reader):
    rows = reader.open("index.html").locator(".bw-summary tr")
    clams = rows.filter(has=reader.page.get_by_role("link", name="CLAMS", exact=True))
    expect(clams.locator("td").last).to_have_text("not run")
    expect(rows.filter(has_text="Agreement probabilities").locator("td").last).to_be_empty()


def test_of_tables_for_each_language_one_is_shown_and_an_address_shows_its_own(reader):
    page = reader.open("lmentry.html")
    tables = page.locator('section:has(> [id^="lmentry-table3"])')
    assert tables.locator("visible=true").count() < tables.count()
    spanish = page.locator("section:has(> #lmentry-table36)")
    expect(spanish).to_be_hidden()
    page.get_by_role("button", name="Spanish").click()
    expect(spanish).to_be_visible()
    page = reader.open("lmentry.html", "#lmentry-table40")
    expect(page.locator("#lmentry-table40")).to_be_in_viewport()


def test_a_table_that_goes_on_to_the_right_says_so(reader):
    section = reader.view("table5", "Printed")
    cue = seen(section, ".bw-cue").first
    expect(cue).to_contain_text("more columns")
    seen(section, ".bw-scroll").first.evaluate("s => { s.scrollLeft = s.scrollWidth; }")
    expect(cue).to_contain_text("last column")


def test_a_measured_number_leads_to_its_treebank_with_checksums(reader, checkout):
    seen(reader.view("table2", "Measured"), "td button").first.click()
    lineage = reader.page.locator(".bw-panel")
    lineage.locator("summary", has_text="All files between").click()
    expect(lineage).to_contain_text(re.compile(r"sources/ud/UD_English-Demo/\S+\.conllu"))
    record = json.loads(
        (checkout.path / "results/demo/items/multiblimp/eng.parquet.prov.json").read_text()
    )
    expect(lineage).to_contain_text(record["outputs"][0]["sha256"][:16])
    expect(lineage).to_contain_text(record["code"])


def test_the_command_in_the_panel_explains_the_same_number(reader, checkout):
    seen(reader.view("funnel", "Measured"), "td button").first.click()
    panel = reader.page.locator(".bw-panel")
    words = shlex.split(panel.locator("pre").first.text_content())
    done = checkout.blimpworks(*words[1:])
    value = panel.locator("dd strong").last.inner_text()
    assert f"= {value}" in done.stdout


def test_pairs_are_found_by_words_phenomenon_and_verdicts_and_open_with_their_words(
    reader, checkout
):
    def table(name):
        """Return rows by item; a pair of two paradigms is once on the page."""
        rows = pd.read_parquet(checkout.path / f"results/demo/{name}/eng.parquet")
        return rows.drop_duplicates("item_id").set_index("item_id")

    items = table("items/multiblimp")
    wrong = table("judgements/multiblimp/ngram-5")["correct"] == 0
    right = table("judgements/multiblimp/transformer-small")["correct"] == 1
    found = items[wrong & right]
    item = found.drop_duplicates("good", keep=False).iloc[0]
    page = reader.open("items.html")

    def choose(label, value):
        page.get_by_label(label, exact=True).select_option(value)

    choose("Benchmark", "multiblimp")
    choose("Language", "eng")
    choose("Wrong by", "ngram-5")
    choose("Right by", "transformer-small")
    expect(page.locator("#bw-items-count")).to_have_text(f"{len(found)} of {len(items)} items")
    choose("Phenomenon", item["phenomenon"])
    page.get_by_label("Search in sentences").fill(item["good"].upper())
    expect(page.locator("#bw-items-count")).to_have_text(f"1 of {len(items)} items")
    assert "wrong=ngram-5" in page.url
    page.get_by_role("button", name="words").first.click()
    words = page.get_by_role("table").filter(has=page.get_by_role("cell", name="sum")).last
    words.wait_for()
    lines = [row.split("\t") for row in words.inner_text().splitlines() if "\t" in row]
    for line, side in ((0, "good"), (2, "bad")):
        assert lines[line] == [side, *item[side].split(), "sum"]
        numbers = [float(text.replace("−", "-")) for text in lines[line + 1]]
        assert numbers[-1] == pytest.approx(sum(numbers[:-1]), abs=0.1)


def test_numbers_are_reached_and_opened_and_closed_by_keyboard(reader):
    section, page = reader.view("table3", "Printed"), reader.page
    stops = page.eval_on_selector_all(
        "table[data-form]", """all => all.map(t => t.querySelectorAll('[tabindex="0"]').length)"""
    )
    assert {*stops} == {1}, "each table takes one stop of the tab key"
    focused = page.locator("*:focus")
    seen(section, 'td button[tabindex="0"]').first.focus()
    start = focused.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(focused).not_to_have_text(start, use_inner_text=True)
    here = focused.inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".bw-panel")).to_contain_text(here)
    page.keyboard.press("Escape")
    page.locator(".bw-panel").wait_for(state="hidden")
    expect(focused).to_have_text(here, use_inner_text=True)


@on_a_phone
def test_no_page_is_wider_than_a_phone_which_the_panel_fills(reader, site):
    for name in pages(site):
        page = reader.open(name)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
    page = reader.open("multiblimp.html")
    seen(page, "section:has(> #multiblimp-table3) td button").first.tap()
    page.locator(".bw-panel").wait_for()
    box = page.locator(".bw-panel").bounding_box()
    assert (box["x"], box["width"]) == (0, PHONE["width"])


CONTRAST = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  return [...document.querySelectorAll(
    ".bw-sign, .bw-caption, td button, .bw-tiles small, .bw-bar span:not(.absent), legend, "
    + ".dt-container label, .bw-line small, .bw-cue, .bw-series button"
  )].filter((e) => e.textContent.trim() && e.offsetParent).map((e) => [
    ratio(light(parse(getComputedStyle(e).color)), light(behind(e))), e.className, e.textContent,
  ]).filter(([r]) => r < 4.5);
}"""


@pytest.mark.parametrize(
    ("reader", "names"),
    [
        ({"viewport": WIDE, "color_scheme": "light"}, ["index.html"]),
        ({"viewport": WIDE, "color_scheme": "dark"}, ["index.html", "multiblimp.html"]),
    ],
    indirect=["reader"],
    ids=["light", "dark"],
)
def test_text_stands_out_from_its_background(reader, names):
    for name in names:
        assert reader.open(name).evaluate(CONTRAST) == [], name


def test_the_site_is_small_and_built_again_it_has_the_same_bytes(checkout, site):
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    assert sum(map(len, before.values())) < 20_000_000
    checkout.make("report", "--force")
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before
