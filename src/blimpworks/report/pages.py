"""Assemble the pages of the reproduction report, and build the static site with Sphinx.

``build_report`` takes a campaign whose exhibits (tables and figures of papers) are built. It writes
a page for each paper, with a section for each exhibit, such as "Table 2 · Accuracies". Tabs of the
section show up to four views: the numbers as printed, recomputed from other printed numbers,
measured by the campaign, and all three together. ``read`` explains forms, cells and evidence.
"""

import io
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import quote

import itables.options
import pandas as pd
from itables import to_html_datatable
from itables.javascript import generate_init_offline_itables_html
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx

from blimpworks.campaign.registry import find_paper, paper_of
from blimpworks.errors import UserError
from blimpworks.files import remove, scratch, whole_directory, write_text
from blimpworks.records.job import relative_texts
from blimpworks.report import read, views
from blimpworks.report.inventory import exhibit_label
from blimpworks.report.read import COMPARISON_COLUMNS, TEXTS, sets_from
from blimpworks.report.scripts import Products, item_scripts, paper_script, script
from blimpworks.yaml_files import read_yaml

FOLDER = Path(__file__).parent
ITEMS = "items"
"""Name of the page of items."""


class Section(NamedTuple):
    """One exhibit on its paper's page."""

    paper: str
    exhibit: read.Exhibit
    views: Mapping[str, str]
    """HTML of each view, by its name ("together", "printed", "recomputed", "measured")."""
    statuses: Counter[str]
    """Count of each status, which says whether printed and recomputed numbers agree."""
    verdicts: Counter[str]
    """Count of each verdict, which says whether printed and measured numbers agree."""

    @property
    def heading(self) -> str:
        """Label and title, as "Table 2 · Accuracies"; the label is "Ours" if no paper has it."""
        default = "" if find_paper(self.paper).needs_benchmark else "Ours"
        label = exhibit_label(self.exhibit.name) or default
        return f"{label} · {self.exhibit.title}" if label else self.exhibit.title

    @property
    def anchor(self) -> str:
        """Fragment of the section's address, after "#"."""
        return f"{self.paper}-{self.exhibit.name}".replace("_", "-")


def _scrollable(table: str, title: str) -> str:
    label = escape(title, quote=True)
    return f'<div class="bw-scroll" role="region" aria-label="{label}" tabindex="0">{table}</div>'


def picture_address(form: read.Form, paper: str) -> str:
    """Return the address of a figure's picture in the site."""
    return f"_static/figures/{paper}/{form.exhibit}.{form.tree}.svg"


def _form_html(form: read.Form, paper: str, title: str, table: str) -> str:
    """Return a form's ``table``, or its figure with the table below it; "" without either."""
    context = {"title": title, "table": table, "picture": picture_address(form, paper)}
    return _render("assets/form.html.jinja", form=form, **context)


def _printed_html(exhibit: read.Exhibit, paper: read.PaperInputs) -> str:
    """Return the table as printed, and a list of printed numbers that the table does not have."""
    form = exhibit.forms.get("published")
    table = views.printed_view(form, paper.names) if form else ""
    list_table = views.plain_view(form, exhibit.name, paper.evidence, paper.names)
    number_list = _scrollable(list_table, exhibit.title) if list_table else ""
    if not form or not table:
        return number_list
    if number_list:
        number_list = f"<details><summary>More printed numbers</summary>{number_list}</details>"
    text = escape(form.document.caption.strip())
    caption = f'<p class="bw-caption">{text}</p>' if text else ""
    return _scrollable(table, exhibit.title) + caption + number_list


def _measured_html(
    exhibit: read.Exhibit, paper: read.PaperInputs, main: str, advice: Mapping[str, str]
) -> str:
    """Return the measured numbers of both variants, of which the page shows one at a time.

    The variants are the methods of the paper ("published") and methods without the paper's faults
    ("corrected"). ``main``: the campaign's variant. ``advice``: {variant: HTML to show if it has no
    numbers}. A paper without printed numbers and corrected results has no choice.
    """
    html_by_variant: dict[str, str] = {}
    # Corrected results of a second campaign replace corrected numbers of this campaign.
    for tree, variant in (("measured", main), ("corrected", "corrected")):
        if form := exhibit.forms.get(tree):
            table = views.measured_view(form, paper.names)
            html_by_variant[variant] = _form_html(form, paper.name, exhibit.title, table)
    if not paper.evidence and "corrected" not in exhibit.forms:
        return html_by_variant.get(main, "")
    if not html_by_variant:
        return ""
    return "".join(
        f'<div data-variant="{variant}">{html_by_variant.get(variant) or advice[variant]}</div>'
        for variant in ("published", "corrected")
    )


def _section(
    exhibit: read.Exhibit, paper: read.PaperInputs, main: str, advice: Mapping[str, str]
) -> Section:
    """Return an exhibit's section; ``main`` and ``advice`` as for ``_measured_html``."""
    together = views.together_view(exhibit.name, exhibit.forms, paper.evidence, paper.names)
    introduction = f'<p class="bw-caption">{TEXTS["together"]}</p>'
    form = exhibit.forms.get("published")
    recomputed = views.recomputed_view(form, paper.names) if form else ""
    html_by_view = {
        "together": introduction + _scrollable(together, exhibit.title) if together else "",
        "printed": _printed_html(exhibit, paper),
        "recomputed": _form_html(form, paper.name, exhibit.title, recomputed) if form else "",
        "measured": _measured_html(exhibit, paper, main, advice),
    }
    numbers = [number for key, number in paper.evidence.items() if key[0] == exhibit.name]
    return Section(
        paper.name,
        exhibit,
        {view: html for view, html in html_by_view.items() if html},
        Counter(number.status for number in numbers if number.status),
        Counter(number.verdict for number in numbers if number.verdict),
    )


# Lists of all printed numbers: each comparison as a table that can be searched

CHOICE_COLUMNS = ("paper", "exhibit", "status", "verdict")
"""Columns with few values, which readers filter by a list of choices, not by a search."""


def _value_html(value: object) -> str:
    if not isinstance(value, float):
        return escape(str(value))
    if isnan(value):
        return ""
    return f"{value:.0f}" if value.is_integer() else f"{value:.6g}"


def listing_html(name: str, frame: pd.DataFrame) -> str:
    """Return a comparison ("published" or "measured") as HTML for ``_static/datatables.js``."""
    frame = frame[list(COMPARISON_COLUMNS[name])]
    numbers = frame[["paper", "exhibit", "row", "column", "printed"]]
    links = []
    for paper, *keys, printed in numbers.itertuples(index=False, name=None):
        # This address opens the panel with the number's lineage.
        address = f"{paper}.html#number/{'/'.join(quote(key, safe='') for key in keys)}"
        links.append(f'<a href="{escape(address)}">{escape(printed or "?")}</a>')
    cells = frame.map(_value_html).assign(printed=links)
    with_choices = [index for index, column in enumerate(cells) if column in CHOICE_COLUMNS]
    choices = [{"targets": with_choices, "columnControl": [["searchList"]]}]
    options = TEXTS["listing_options"] | {"table_id": f"bw-{name}", "columnDefs": choices}
    table = to_html_datatable(cells, **options)
    return (
        f"<p>{TEXTS['introductions'][name]}</p>\n"
        '<script src="_static/datatables.js"></script>\n'
        f'<div class="bw-scroll">{table}</div>\n'
    )


# The front page: models ranked by accuracy, and counts of statuses and verdicts by exhibit

MODELS_EXHIBIT = "models"
"""Name of the exhibit with each model's accuracy, which all declared benchmarks have."""
OVERALL = "Accuracy"
"""Column of that exhibit for a benchmark with one language; for others, columns are languages."""


class RankedColumn(NamedTuple):
    """Column of the ranking: accuracies on a benchmark, or on one of its languages."""

    title: str
    address: str
    cells: dict[str, read.Cell]
    """Accuracy of each model, by the model's label."""


def rank_models(
    papers: Sequence[read.PaperInputs],
) -> tuple[list[RankedColumn], dict[str, float | None]]:
    """Return the columns of the ranking, and each model's mean accuracy [%], the best model first.

    Models without a number in some column come last; their mean is None.
    """
    columns: list[RankedColumn] = []  # of all papers
    for paper in papers:
        label = find_paper(paper.name).citation.label
        anchor = f"{paper.name}-{MODELS_EXHIBIT}".replace("_", "-")
        address = f"{paper.name}.html#{anchor}"
        column_by_language: dict[str, RankedColumn] = {}
        for exhibit in paper.exhibits:
            form = exhibit.forms.get("measured") if exhibit.name == MODELS_EXHIBIT else None
            for cell in form.cells if form else ():
                # Leave out cells of single training seeds, which have no printed row.
                if cell.facts["printed_row"]:
                    language = cell.facts["column"]
                    title = label if language == OVERALL else f"{label}, {language}"
                    empty = RankedColumn(title, address, {})
                    column = column_by_language.setdefault(language, empty)
                    column.cells[cell.facts["row"]] = cell
        columns += column_by_language.values()

    values: dict[str, list[float]] = {}
    for column in columns:
        for model, cell in column.cells.items():
            values.setdefault(model, []).append(cell.facts["value"])
    means = {m: fmean(v) if len(v) == len(columns) else None for m, v in values.items()}
    best_first = sorted(means, key=lambda model: (means[model] is None, -(means[model] or 0)))
    return columns, {model: means[model] for model in best_first}


def _count_row(title: str, address: str, sections: Sequence[Section]) -> dict[str, Any]:
    """Return a row of the front page's table of statuses and verdicts: a paper or an exhibit."""
    row: dict[str, Any] = {"title": title, "address": address}
    for name in ("statuses", "verdicts"):
        row[name] = sum((getattr(section, name) for section in sections), Counter[str]())
    return row


# Texts of Sphinx's source files: reStructuredText (.rst), and pieces of HTML that it includes


def _render(template: str, **context: Any) -> str:
    # Callers write the whole path of a template: digests of code follow names of files.
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True)
    return environment.get_template(template).render(**context)


def _escape_rst(text: str) -> str:
    # Escape characters of markup, and characters that would begin a list, as in "- a" and "1. a".
    return re.sub(r"([\\*`|_<>]|^[^\w\s]|(?<=^\w)[.)])", r"\\\1", text)


def _titled(title: str, *paragraphs: str) -> str:
    # The underline must be as wide as the title with its escapes, or wider.
    return "\n".join([_escape_rst(title), "=" * 4 * len(title), "", *paragraphs, ""])


def _include(html_file: str) -> str:
    return f".. raw:: html\n   :file: {html_file}\n"


def _paper_texts(
    paper: read.PaperInputs, sections: Sequence[Section], licence: str, *, has_variants: bool
) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of a paper's page, and of the pieces of HTML in it.

    ``has_variants``: whether the page can switch between the published and the corrected variant.
    """
    citation = find_paper(paper.name).citation
    pieces = f"_pieces/{paper.name}"

    # The page shows the exhibits of one member of a series (such as a language) at a time.
    series: dict[str, dict[str, list[str]]] = {}  # {title: {member: anchors of exhibits}}
    for section in sections:
        if title := section.exhibit.series:
            anchors_by_member = series.setdefault(title, {})
            anchors_by_member.setdefault(section.exhibit.member, []).append(section.anchor)
    choices = [{"title": name, "members": [*series[name].items()]} for name in series]

    values = {"citation": citation, "licence": licence, "series": choices, "texts": TEXTS}
    values |= {"paper": paper, "has_variants": has_variants}
    yield f"{pieces}/head.html", _render("assets/paper.html.jinja", **values)
    for section in sections:
        for view, content in section.views.items():
            yield f"{pieces}/{section.exhibit.name}.{view}.html", content
    values = {"paper": paper, "sections": sections, "plain": _escape_rst, "texts": TEXTS}
    body = _render("assets/exhibits.rst.jinja", **values)
    yield f"{paper.name}.rst", _titled(citation.label, _include(f"{pieces}/head.html"), body)


def _index_texts(
    inputs: read.Inputs, sections: Mapping[str, Sequence[Section]], added_pages: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the front page, which lists all other pages, and of its HTML.

    ``sections``: sections by paper; ``added_pages``: names of pages without a paper.
    """
    # (row of a paper, rows of the paper's exhibits with recomputed numbers)
    rows = []
    for paper, paper_sections in sections.items():
        address = f"{paper}.html"
        exhibit_rows = [
            _count_row(section.heading, f"{address}#{section.anchor}", [section])
            for section in paper_sections
            if section.statuses
        ]
        label = find_paper(paper).citation.label
        rows.append((_count_row(label, address, paper_sections), exhibit_rows))
    campaign = inputs.campaign
    columns, means = rank_models(inputs.papers if campaign.declared else [])
    all_sections = [section for group in sections.values() for section in group]
    total = _count_row("All printed numbers", "published.html", all_sections)
    citations = {paper: find_paper(paper).citation for paper in campaign.papers}
    values: dict[str, Any] = {"columns": columns, "means": means, "rows": rows, "total": total}
    values |= {"campaign": campaign, "inputs": inputs, "citations": citations, "texts": TEXTS}
    yield "_pieces/index.html", _render("assets/index.html.jinja", **values)
    documents = [*campaign.papers, *inputs.comparisons, *added_pages]
    tree = "\n".join([".. toctree::", "   :hidden:", "", *(f"   {name}" for name in documents)])
    yield "index.rst", _titled(campaign.title, _include("_pieces/index.html"), tree)


def _item_texts(inputs: read.Inputs) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the page of items and its scripts; nothing without judged pairs."""
    campaign = inputs.campaign
    phenomena: dict[str, str] = {}
    for paper in inputs.papers:
        phenomena |= paper.names.labels["phenomenon"]
    labels = {
        "benchmarks": {name: paper_of(name).citation.label for name in campaign.pairs},
        "languages": campaign.languages,
        "models": campaign.models,
        "phenomena": phenomena,
    }
    scripts = dict(item_scripts(sets_from(campaign.pairs), labels))
    if scripts:
        yield from ((f"_static/items/{name}.js", text) for name, text in scripts.items())
        yield "_pieces/items.html", _render("assets/items.html.jinja")
        yield f"{ITEMS}.rst", _titled("Items", _include("_pieces/items.html"))


def assemble(inputs: read.Inputs) -> dict[str, str]:
    """Return the text of each source file of the site, by path."""
    campaign, texts = inputs.campaign, dict[str, str]()
    sections: dict[str, list[Section]] = {}
    for paper in inputs.papers:
        advice = {
            variant: _render(
                "assets/advice.html.jinja", variant=variant, campaign=campaign, paper=paper.name
            )
            for variant in ("published", "corrected")
        }
        group = [_section(exhibit, paper, campaign.variant, advice) for exhibit in paper.exhibits]
        sections[paper.name] = group
        has_variants = bool(paper.evidence) or campaign.corrected is not None
        licence = campaign.licences.get(paper.name, "")
        texts |= dict(_paper_texts(paper, group, licence, has_variants=has_variants))
    items = dict(_item_texts(inputs))
    texts |= items | dict(_index_texts(inputs, sections, [ITEMS] if items else []))
    for name, comparison in inputs.comparisons.items():
        texts[f"_pieces/{name}.html"] = listing_html(name, comparison)
        texts[f"{name}.rst"] = _titled(TEXTS["listings"][name], _include(f"_pieces/{name}.html"))

    # Data that the pages load when the reader opens a number: the jobs and files behind it.
    products = Products()
    for paper in inputs.papers:
        texts[f"_static/data/{paper.name}.js"] = paper_script(paper, products)
    lineage = {"products": products.products, "jobs": products.jobs}
    texts["_static/data/products.js"] = script("products", lineage)
    return texts


SPHINX_SETTINGS = "assets/sphinx.yaml"
STATIC = ("assets/report.css", "assets/panel.js", "assets/report.js", "assets/items.js")
_SPHINX_FILES = ("_sources", "objects.inv", ".buildinfo", "genindex.html")
SUPERFLUOUS = ("**/*.map", "**/*.LICENSE.txt", *_SPHINX_FILES)
"""Files that no page needs: a third of what Sphinx writes."""


def build_report(campaign: read.Campaign, output: Path) -> dict[str, int]:
    """Build the site in place of ``output``, and return its numbers of pages, numbers and bytes.

    Raises UserError when an input is faulty, or Sphinx prints a warning or error.
    """
    inputs = read.read_inputs(campaign)
    exhibits = [(paper, exhibit) for paper in inputs.papers for exhibit in paper.exhibits]
    forms = [(paper, form) for paper, exhibit in exhibits for form in exhibit.forms.values()]
    with scratch("blimpworks-report") as work, whole_directory(output) as site:
        source = work / "source"
        roots = {"results": campaign.results, "resources": campaign.resources}
        if campaign.corrected:
            roots["corrected"] = campaign.corrected
        # A published site must not show the paths of this machine.
        make_relative = relative_texts(roots)
        for name, text in assemble(inputs).items():
            write_text(source / name, make_relative(text))
        # itables has a copy of DataTables as HTML; its scripts work without a network.
        datatables = generate_init_offline_itables_html(itables.options.dt_bundle)
        scripts = re.findall(r"<script>(.*?)</script>", datatables, re.DOTALL)
        write_text(source / "_static/datatables.js", "\n".join(scripts))
        copies = {f"_static/{Path(name).name}": FOLDER / name for name in STATIC}
        for paper, form in forms:
            if form.figure and form.cells:
                picture = form.files.with_name(f"{form.files.name}.svg")
                copies[picture_address(form, paper.name)] = picture
        for address, file in copies.items():
            (source / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, source / address)

        settings: dict[str, Any] = read_yaml(FOLDER / SPHINX_SETTINGS, "settings of Sphinx")
        settings |= {"project": f"blimpworks · {campaign.name}", "html_title": campaign.title}
        complaints = io.StringIO()
        folders = (source, None, site, work / "doctrees")
        app = Sphinx(*folders, "html", settings, None, complaints, freshenv=True)
        app.build(force_all=True)
        if app.statuscode or complaints.getvalue():
            raise UserError(f"Sphinx cannot build the report: {complaints.getvalue().strip()}")
        for path in [path for pattern in SUPERFLUOUS for path in site.glob(pattern)]:
            remove(path)

    files = [path for path in output.rglob("*") if path.is_file()]
    # Count printed numbers, and the numbers in exhibits of papers that print none.
    numbers = sum(len(paper.evidence) for paper in inputs.papers)
    numbers += sum(len(form.cells) for paper, form in forms if not paper.evidence)
    pages = sum(path.suffix == ".html" for path in files)
    size = sum(path.stat().st_size for path in files)
    return {"pages": pages, "numbers": numbers, "bytes": size}
