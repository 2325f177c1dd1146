"""The report in a real browser: opened from a file, without a network, by keyboard, on a phone."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from support.checkout import copy_of

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect  # waits: panels and lists are filled by scripts that load in their time
expect.set_options(timeout=60_000)  # a loaded machine takes its time
BROWSER = os.environ.get("BLIMPWORKS_CHROMIUM") or shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("workflow"),
    pytest.mark.skipif(not BROWSER, reason="no chromium on the PATH (or in BLIMPWORKS_CHROMIUM)"),
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def checkout(built, tmp_path_factory):
    """The finished campaign, whose report has a corrected variant."""
    checkout = copy_of(built, tmp_path_factory.mktemp("report"))
    exhibits = checkout.path / "results/demo/exhibits"
    shutil.copytree(exhibits, checkout.path / "results/corrected/exhibits")
    checkout.change(report={"corrected": "results/corrected"})
    checkout.make("report")
    return checkout


@pytest.fixture(scope="module")
def site(checkout):
    return checkout.path / "results/demo/report"


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        # Chromium's sandbox needs rights that containers don't give.
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


class Reader:
    """A browser window on the report, and what it complained of or asked the network for."""

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

    def tab(self, exhibit, view):
        self.page.locator(f"section:has(> #multiblimp-{exhibit}) label", has_text=view).click()


@pytest.fixture
def reader(chromium, site):
    reader = Reader(chromium, site, WIDE)
    yield reader
    reader.context.close()


@pytest.fixture
def phone(chromium, site):
    reader = Reader(chromium, site, PHONE, has_touch=True, is_mobile=True)
    yield reader
    reader.context.close()


def pages(site):
    return sorted(path.name for path in site.glob("*.html"))


def number(page, form, row, column):
    """A number that can be seen, by the keys of the printed one."""
    cells = f'table[data-form="{form}"] td[data-row="{row}"][data-column="{column}"] button'
    return page.locator(cells).locator("visible=true").first


# Offline


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


def test_links_of_the_front_page_lead_to_exhibits(reader):
    page = reader.open()
    page.locator("a[href='multiblimp.html#multiblimp-table3']").click()
    page.wait_for_url("**/multiblimp.html#multiblimp-table3")
    assert page.locator("#multiblimp-table3").bounding_box()["y"] < WIDE["height"]


# At a glance


def test_the_front_page_counts_what_the_comparison_counts(reader, checkout):
    lines = (checkout.path / "results/demo/reproduction/published.csv").read_text().splitlines()
    page = reader.open()
    papers = page.locator("tr.bw-whole td.n").all_inner_texts()
    assert sum(int(text.replace(",", "")) for text in papers) == len(lines) - 1
    tiles = page.locator(".bw-tiles").first.locator("strong").all_inner_texts()
    assert sum(int(text.replace(",", "")) for text in tiles) == len(lines) - 1
    ours = page.locator(".bw-tiles").last.locator("strong").all_inner_texts()
    assert sum(int(text.replace(",", "")) for text in ours) == len(lines) - 1


def test_no_number_of_embedded_data_is_said_to_deviate_from_print(reader):
    ours = reader.open().locator(".bw-tiles").last
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


# Views and variants


def test_one_view_chosen_is_chosen_for_all_exhibits(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table2", "Measured")
    shown = page.locator("section:has(> #multiblimp-table5) .sd-tab-content").locator(
        "visible=true"
    )
    forms = shown.locator("table").locator("visible=true")
    expect(forms).to_have_attribute("data-form", "measured/table5")


def test_the_printed_view_has_no_rows_that_are_only_computed(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table3", "Printed")
    rows = (
        page.locator("section:has(> #multiblimp-table3) tbody th")
        .locator("visible=true")
        .all_inner_texts()
    )
    assert "Gemma3 27B" in rows
    assert not [row for row in rows if "Table 5" in row]


def test_the_recomputed_view_says_of_each_number_what_became_of_it(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table3", "Recomputed")
    english = number(page, "published/table3", "gemma-3-27b", "eng")
    expect(english).to_have_text("98.6", use_inner_text=True)
    expect(english.locator("xpath=..")).to_have_attribute("data-s", "exact")
    sign = english.evaluate("b => getComputedStyle(b, '::after').content")
    assert "✓" in sign


def test_the_corrected_variant_shows_what_an_erratum_should_read(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table2", "Printed")
    cell = page.locator("td[data-s=erratum] button:has(ins)").locator("visible=true").first
    printed = cell.inner_text()
    page.get_by_label("corrected", exact=True).check()
    expect(cell).not_to_have_text(printed, use_inner_text=True)
    page.get_by_label("published", exact=True).check()
    expect(cell).to_have_text(printed, use_inner_text=True)


def test_the_corrected_variant_shows_the_other_campaigns_numbers(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table2", "Measured")
    forms = page.locator("section:has(> #multiblimp-table2) table").locator("visible=true")
    expect(forms).to_have_attribute("data-form", "measured/table2")
    page.get_by_label("corrected", exact=True).check()
    expect(forms).to_have_attribute("data-form", "corrected/table2")


# Filters


def test_a_language_leaves_its_rows_and_a_model_its_columns(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table5", "Printed")
    table = page.locator(
        'section:has(> #multiblimp-table5) table[data-form="published/table5"]'
    ).first
    page.get_by_label("Language", exact=True).select_option("deu")
    page.get_by_label("Model", exact=True).select_option("gemma-3-27b")
    rows = table.locator("tbody th").locator("visible=true")
    expect(rows).to_have_text(["German"])
    for model, cells in (("gemma-3-27b", 1), ("llama-3.1-8b", 0)):
        cell = table.locator(f'td[data-column="{model}"]').locator("visible=true")
        expect(cell).to_have_count(cells)
    for chip in page.locator(".bw-chip").all()[::-1]:
        chip.click()
    expect(rows.nth(60)).to_be_visible()


def test_headings_span_just_the_columns_that_are_left(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table3", "Printed")
    page.get_by_label("Phenomenon", exact=True).select_option("sv#")
    head = page.locator(
        'section:has(> #multiblimp-table3) table[data-form="published/table3"] thead'
    ).first
    widths = head.evaluate(
        "h => [...h.rows].map(r => [...r.cells].filter(c => !c.hidden)"
        ".reduce((sum, c) => sum + c.colSpan, 0))"
    )
    assert len(set(widths)) == 1


def test_a_table_with_nothing_on_the_choice_says_so(reader):
    page = reader.open("multiblimp.html")
    reader.tab("tableb2", "Printed")
    page.get_by_label("Language", exact=True).select_option("abk")
    said = page.locator("section:has(> #multiblimp-tableb2) .bw-nothing").locator("visible=true")
    expect(said.first).to_contain_text("Nothing in this table")


# Side by side, what is missing, and what is shown one at a time


def test_side_by_side_a_row_has_a_line_for_what_is_printed_and_what_is_recomputed(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table3", "Side by side")
    cells = page.locator(
        'table[data-form="together/table3"] td[data-row="gemma-3-27b"][data-column="eng"]'
    ).locator("visible=true")
    expect(cells).to_have_count(2)
    expect(cells.last).to_have_attribute("data-s", "exact")
    cells.last.locator("button").click()
    expect(page.locator(".bw-panel")).to_contain_text("98.6")


def test_a_form_without_a_source_says_what_it_lacks_and_how_to_get_it(reader):
    page = reader.open("clams.html")
    page.locator("section:has(> #clams-text) label", has_text="Recomputed").click()
    captions = page.locator("section:has(> #clams-text) .bw-caption")
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
    expect(
        reader.open("lmentry.html", "#lmentry-table40").locator("#lmentry-table40")
    ).to_be_in_viewport()


def test_a_table_that_goes_on_to_the_right_says_so(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table5", "Printed")
    section = page.locator("section:has(> #multiblimp-table5)")
    cue = section.locator(".bw-cue").locator("visible=true").first
    expect(cue).to_contain_text("more columns")
    scroll = section.locator(".bw-scroll").locator("visible=true").first
    scroll.evaluate("s => { s.scrollLeft = s.scrollWidth; }")
    expect(cue).to_contain_text("last column")


# Lineage


def test_a_measured_number_leads_to_its_treebank_with_checksums(reader, checkout):
    page = reader.open("multiblimp.html")
    reader.tab("table2", "Measured")
    page.locator('table[data-form="measured/table2"] td button').locator(
        "visible=true"
    ).first.click()
    page.locator(".bw-panel summary", has_text="Every product").click()
    lineage = page.locator(".bw-panel")
    expect(lineage).to_contain_text(re.compile(r"sources/ud/UD_English-Demo/\S+\.conllu"))
    record = json.loads(
        (checkout.path / "results/demo/items/multiblimp/eng.parquet.prov.json").read_text()
    )
    expect(lineage).to_contain_text(record["outputs"][0]["sha256"][:16])
    expect(lineage).to_contain_text(record["code"])


def test_the_command_in_the_panel_explains_the_same_number(reader, checkout):
    page = reader.open("multiblimp.html")
    reader.tab("funnel", "Measured")
    page.locator('table[data-form="measured/funnel"] td button').locator(
        "visible=true"
    ).first.click()
    panel = page.locator(".bw-panel")
    command = panel.locator("pre").first.text_content()
    words = re.findall(r"'([^']*)'|(\S+)", command)
    done = checkout.blimpworks(*(a or b for a, b in words[1:]))
    value = panel.locator("dd strong").last.inner_text()
    assert f"= {value}" in done.stdout


def test_a_recomputed_number_names_the_numbers_it_is_computed_from(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table3", "Recomputed")
    number(page, "published/table3", "gemma-3-27b", "eng").click()
    origins = page.locator(".bw-origins a")
    expect(origins).to_have_text(["English / Gemma3 27B"])
    origins.first.click()
    page.wait_for_selector('.bw-panel h2:has-text("Table 5")')


# Keyboard, phone, eyes


def test_numbers_are_reached_and_opened_and_closed_by_keyboard(reader):
    page = reader.open("multiblimp.html")
    reader.tab("table3", "Printed")
    focused = page.locator("*:focus")
    page.locator('section:has(> #multiblimp-table3) td button[tabindex="0"]').locator(
        "visible=true"
    ).first.focus()
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


def test_each_table_takes_one_stop_of_the_tab_key(reader):
    page = reader.open("multiblimp.html")
    stops = page.eval_on_selector_all(
        "table[data-form]", """all => all.map(t => t.querySelectorAll('[tabindex="0"]').length)"""
    )
    assert stops
    assert set(stops) == {1}


def test_no_page_is_wider_than_a_phone(phone, site):
    for name in pages(site):
        page = phone.open(name)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name


def test_the_panel_fills_a_phone_and_no_more(phone):
    page = phone.open("multiblimp.html")
    page.locator("section:has(> #multiblimp-table3) td button").locator("visible=true").first.tap()
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
    ("scheme", "name"),
    [("light", "index.html"), ("dark", "index.html"), ("dark", "multiblimp.html")],
)
def test_text_stands_out_from_its_background(chromium, site, scheme, name):
    reader = Reader(chromium, site, WIDE, color_scheme=scheme)
    assert reader.open(name).evaluate(CONTRAST) == []
    reader.context.close()


# The files


def test_the_site_is_small_and_built_again_it_has_the_same_bytes(checkout, site):
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    assert sum(map(len, before.values())) < 20_000_000
    checkout.make("report", "--force")
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before
