"""Assemble the report's pages, and build the static site with Sphinx.

Each paper's page has a section for each exhibit, with up to four views: printed, recomputed and
measured numbers, and all of them together.
"""

import io
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import quote

import itables.options
import pandas as pd
from itables import to_html_datatable
from itables.javascript import generate_init_offline_itables_html
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx

from blimpworks.campaign.registry import find_paper, paper_of
from blimpworks.errors import UserError
from blimpworks.files import scratch, whole_directory, write_text
from blimpworks.records.job import relative_texts
from blimpworks.report import read, views
from blimpworks.report.inventory import exhibit_label
from blimpworks.report.read import COMPARISON_COLUMNS, TEXTS, Names, sets_from
from blimpworks.report.scripts import Products, item_scripts, paper_script, script
from blimpworks.yaml_files import read_yaml

FOLDER = Path(__file__).parent
ITEMS = "items"


@dataclass(frozen=True)
class Section:
    """One exhibit on its paper's page."""

    paper: str
    exhibit: read.Exhibit
    views: Mapping[str, str] = field(repr=False)
    statuses: Counter[str]
    verdicts: Counter[str]

    @property
    def name(self) -> str:
        return self.exhibit.name

    @property
    def heading(self) -> str:
        """Label in print and title of the exhibit."""
        added = "" if find_paper(self.paper).needs_benchmark else "Ours"
        return " · ".join(filter(None, (exhibit_label(self.name) or added, self.exhibit.title)))

    @property
    def anchor(self) -> str:
        return f"{self.paper}-{self.name}".replace("_", "-")


@dataclass(frozen=True, slots=True)
class Page:
    """A paper with its exhibits as HTML."""

    paper: str
    sections: list[Section]
    names: Names
    printed: bool
    """True if the paper has printed numbers; else there are only measured ones."""
    variants: bool
    """True if the page has the published and the corrected variant."""


def _scroll(table: str, title: str) -> str:
    label = escape(title, quote=True)
    return f'<div class="bw-scroll" role="region" aria-label="{label}" tabindex="0">{table}</div>'


def picture_of(form: read.Form, paper: str) -> str:
    """Return the address of a figure's picture in the site."""
    return f"_static/figures/{paper}/{form.exhibit}.{form.tree}.svg"


def _lack(form: read.Form) -> str:
    if not form.missing:
        return ""
    sentence, command = form.missing
    run = f" <code>{escape(command)}</code>" if command else ""
    return f'<p class="bw-caption">{escape(sentence)}{run}</p>'


def _figure(form: read.Form, paper: str, title: str, table: str) -> str:
    """Return a figure with its numbers below it; without numbers, how to get them."""
    if not form.cells:
        lack = _lack(form) or '<p class="bw-caption">Its caption says why.</p>'
        return f'<div class="bw-advice"><p><strong>No numbers to draw.</strong></p>{lack}</div>'
    values = sorted((cell.facts["value"], cell.facts["text"]) for cell in form.cells)
    reach = f"{len(values)} numbers, from {values[0][1]} to {values[-1][1]}"
    alt = escape(f"{title}. {reach}, all of them in the table below the figure.", quote=True)
    image = f'<img class="bw-figure" src="{picture_of(form, paper)}" alt="{alt}">'
    summary = "<summary>Numbers of this figure</summary>"
    numbers = f"<details>{summary}{_scroll(table, title)}</details>" if table else ""
    return f'<div class="bw-drawn">{image}{numbers}{_lack(form)}</div>'


def _with_caption(content: str, form: read.Form | None) -> str:
    caption = form.document.caption.strip() if form else ""
    return content + (f'<p class="bw-caption">{escape(caption)}</p>' if caption else "")


def content_of(form: read.Form, paper: str, title: str, table: str) -> str:
    """Return a form's table, or its figure with the numbers below it."""
    if form.figure:
        return _with_caption(_figure(form, paper, title, table), form)
    if not table:
        return f'<div class="bw-advice">{_lack(form)}</div>' if form.missing else ""
    return _with_caption(_scroll(table, title), form) + _lack(form)


def _printed(exhibit: read.Exhibit, paper: read.PaperInputs) -> str:
    form, title = exhibit.forms.get("published"), exhibit.title
    table = views.printed_view(form, paper.names) if form else ""
    plain_table = views.plain_view(form, exhibit.name, paper.evidence, paper.names)
    plain = _scroll(plain_table, title) if plain_table else ""
    if not table:
        return plain
    if plain:
        plain = f"<details><summary>More printed numbers</summary>{plain}</details>"
    return _with_caption(_scroll(table, title), form) + plain


def _measured(
    exhibit: read.Exhibit, paper: read.PaperInputs, main: str, advice: Mapping[str, str]
) -> str:
    """Return both variants of the measured numbers, of which the page shows one at a time."""
    variants = {
        variant: content_of(form, paper.name, exhibit.title, views.measured_view(form, paper.names))
        for tree, variant in (("measured", main), ("corrected", "corrected"))
        if (form := exhibit.forms.get(tree))
    }
    if not paper.evidence and "corrected" not in exhibit.forms:
        return variants.get(main, "")
    if not variants:
        return ""
    missing = advice["corrected" if main == "published" else "published"]
    return "".join(
        f'<div data-variant="{variant}">{variants.get(variant) or missing}</div>'
        for variant in ("published", "corrected")
    )


def _section(
    exhibit: read.Exhibit, paper: read.PaperInputs, main: str, advice: Mapping[str, str]
) -> Section:
    """Return an exhibit with its views; ``advice`` says how to get the numbers of a variant."""
    together = views.together_view(exhibit.name, exhibit.forms, paper.evidence, paper.names)
    form = exhibit.forms.get("published")
    table = views.recomputed_view(form, paper.names) if form else ""
    head = f'<p class="bw-caption">{TEXTS["together"]}</p>'
    contents = {
        "together": head + _scroll(together, exhibit.title) if together else "",
        "printed": _printed(exhibit, paper),
        "recomputed": content_of(form, paper.name, exhibit.title, table) if form else "",
        "measured": _measured(exhibit, paper, main, advice),
    }
    numbers = [number for cell_key, number in paper.evidence.items() if cell_key[0] == exhibit.name]
    return Section(
        paper.name,
        exhibit,
        {view: content for view, content in contents.items() if content},
        Counter(number.status for number in numbers if number.status),
        Counter(number.verdict for number in numbers if number.verdict),
    )


# The listings of all printed numbers

CHOICE_COLUMNS = ("paper", "exhibit", "status", "verdict")
"""Columns with few values, which the reader filters by a list of choices."""


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return escape(str(value))


def listing_html(name: str, frame: pd.DataFrame) -> str:
    """Return the comparison ``name`` as HTML, which loads ``_static/datatables.js``."""
    frame = frame[list(COMPARISON_COLUMNS[name])]
    numbers = frame[["paper", "exhibit", "row", "column", "printed"]]
    links = []
    for paper, *keys, printed in numbers.itertuples(index=False, name=None):
        # The address opens the number's lineage.
        address = f"{paper}.html#number/{'/'.join(quote(key, safe='') for key in keys)}"
        links.append(f'<a href="{escape(address)}">{escape(printed or "?")}</a>')
    cells = frame.map(_text).assign(printed=links)
    # The other columns are filtered by a search.
    listed = [index for index, name in enumerate(cells.columns) if name in CHOICE_COLUMNS]
    by_list = [{"targets": listed, "columnControl": [["searchList"]]}]
    options = TEXTS["listing_options"] | {"table_id": f"bw-{name}", "columnDefs": by_list}
    table = to_html_datatable(cells, **options)
    return (
        f"<p>{TEXTS['introductions'][name]}</p>\n"
        '<script src="_static/datatables.js"></script>\n'
        f'<div class="bw-scroll">{table}</div>\n'
    )


# The front page

MODELS_EXHIBIT = "models"
"""Name of the exhibits with the accuracy of each model."""
OVERALL = "Accuracy"
"""Column of that exhibit for a benchmark with one language; else columns are languages."""


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """Accuracies on a benchmark, or on one of its languages."""

    title: str
    address: str
    cells: dict[str, read.Cell]
    """Cells by the model's label."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A model with its accuracies, in the order of the columns."""

    model: str
    cells: list[read.Cell | None]
    mean: float | None
    """Mean accuracy [%]; None for a model that lacks a column."""


def ranking(papers: Sequence[read.PaperInputs]) -> tuple[list[RankedColumn], list[Standing]]:
    """Rank models by their mean accuracy over all columns; models that lack a column come last."""
    columns: list[RankedColumn] = []
    for paper in papers:
        label = find_paper(paper.name).citation.label
        anchor = f"{paper.name}-{MODELS_EXHIBIT}".replace("_", "-")
        address = f"{paper.name}.html#{anchor}"
        of_languages: dict[str, RankedColumn] = {}
        for exhibit in paper.exhibits:
            form = exhibit.forms.get("measured") if exhibit.name == MODELS_EXHIBIT else None
            for cell in form.cells if form else ():
                # Cells of single training seeds stand for no printed number.
                if cell.facts["printed_row"]:
                    language = cell.facts["column"]
                    title = label if language == OVERALL else f"{label}, {language}"
                    column = of_languages.setdefault(language, RankedColumn(title, address, {}))
                    column.cells[cell.facts["row"]] = cell
        columns += of_languages.values()
    models = dict.fromkeys(model for column in columns for model in column.cells)
    lines = []
    for model in models:
        cells = [column.cells.get(model) for column in columns]
        values = [cell.facts["value"] for cell in cells if cell]
        lines.append(Standing(model, cells, fmean(values) if len(values) == len(columns) else None))
    return columns, sorted(lines, key=lambda line: (line.mean is None, -(line.mean or 0)))


def _line(title: str, address: str, sections: Sequence[Section]) -> dict[str, Any]:
    """Return a line of the front page's table, on a paper or one of its exhibits."""
    statuses = sum((section.statuses for section in sections), Counter[str]())
    verdicts = sum((section.verdicts for section in sections), Counter[str]())
    return {"title": title, "address": address, "statuses": statuses, "verdicts": verdicts}


def _render(template: str, **context: Any) -> str:
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True)
    return environment.get_template(f"assets/{template}.jinja").render(**context)


def _plain(text: str) -> str:
    return re.sub(r"([\\*`|_<>]|^[^\w\s]|(?<=^\w)[.)])", r"\\\1", text)


def _titled(title: str, *paragraphs: str) -> str:
    return "\n".join([_plain(title), "=" * 4 * len(title), "", *paragraphs, ""])


def _raw(file: str) -> str:
    return f".. raw:: html\n   :file: {file}\n"


def _paper_texts(page: Page, licence: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of a paper's page, and of the pieces of HTML in it."""
    citation = find_paper(page.paper).citation
    pieces = f"_pieces/{page.paper}"
    series: dict[str, dict[str, list[str]]] = {}
    for section in page.sections:
        if title := section.exhibit.series:
            members = series.setdefault(title, {}).setdefault(section.exhibit.member, [])
            members.append(section.anchor)
    listed = [{"title": t, "members": [*members.items()]} for t, members in series.items()]
    about = {"citation": citation, "licence": licence, "series": listed, "texts": TEXTS}
    yield f"{pieces}/head.html", _render("paper.html", page=page, **about)
    for section in page.sections:
        for view, content in section.views.items():
            yield f"{pieces}/{section.name}.{view}.html", content
    body = _render("exhibits.rst", page=page, plain=_plain, texts=TEXTS)
    yield f"{page.paper}.rst", _titled(citation.label, _raw(f"{pieces}/head.html"), body)


def _index_texts(
    inputs: read.Inputs, pages: Sequence[Page], added_pages: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield path and text of the front page, which has the tree of all other pages."""
    lines = [
        (
            _line(find_paper(page.paper).citation.label, f"{page.paper}.html", page.sections),
            [
                _line(section.heading, f"{page.paper}.html#{section.anchor}", [section])
                for section in page.sections
                if section.statuses
            ],
        )
        for page in pages
    ]
    campaign = inputs.campaign
    sections = [section for page in pages for section in page.sections]
    columns, models = ranking(inputs.papers if campaign.declared else [])
    total = _line("All printed numbers", "published.html", sections)
    citations = {paper: find_paper(paper).citation for paper in campaign.papers}
    ranks = {"columns": columns, "models": models, "citations": citations}
    counts = {"total": total, "lines": lines, "texts": TEXTS}
    index = _render("index.html", campaign=campaign, inputs=inputs, **ranks, **counts)
    yield "_pieces/index.html", index
    documents = [*campaign.papers, *inputs.comparisons, *added_pages]
    tree = "\n".join([".. toctree::", "   :hidden:", "", *(f"   {name}" for name in documents)])
    yield "index.rst", _titled(campaign.title, _raw("_pieces/index.html"), tree)


def _item_texts(inputs: read.Inputs) -> Iterator[tuple[str, str]]:
    """Yield path and text of the page of items and its scripts; nothing without judged pairs."""
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
        yield "_pieces/items.html", _render("items.html")
        yield f"{ITEMS}.rst", _titled("Items", _raw("_pieces/items.html"))


def assemble(inputs: read.Inputs) -> dict[str, str]:
    """Return the text of each source file of the site, by path."""
    main, pages = inputs.trees.variant, []
    for paper in inputs.papers:
        context = {"campaign": inputs.campaign, "trees": inputs.trees, "paper": paper.name}
        advice = {
            variant: _render("advice.html", variant=variant, **context)
            for variant in ("published", "corrected")
        }
        sections = [_section(exhibit, paper, main, advice) for exhibit in paper.exhibits]
        printed = bool(paper.evidence)
        variants = printed or inputs.trees.corrected is not None
        pages.append(Page(paper.name, sections, paper.names, printed, variants))
    texts = dict(
        text
        for page in pages
        for text in _paper_texts(page, inputs.campaign.licences.get(page.paper, ""))
    )
    items = dict(_item_texts(inputs))
    texts |= items | dict(_index_texts(inputs, pages, [ITEMS] if items else []))
    for name, comparison in inputs.comparisons.items():
        texts[f"_pieces/{name}.html"] = listing_html(name, comparison)
        texts[f"{name}.rst"] = _titled(TEXTS["listings"][name], _raw(f"_pieces/{name}.html"))
    products = Products()
    for paper in inputs.papers:
        texts[f"_static/data/{paper.name}.js"] = paper_script(paper, products)
    texts["_static/data/products.js"] = script(
        "products", {"products": products.products, "jobs": products.jobs}
    )
    return texts


def pictures(papers: Sequence[read.PaperInputs]) -> dict[str, Path]:
    """Return the picture file of each figure with numbers, by its address in the site."""
    files: dict[str, Path] = {}
    for paper in papers:
        for form in (form for exhibit in paper.exhibits for form in exhibit.forms.values()):
            if form.figure and form.cells:
                files[picture_of(form, paper.name)] = form.files.with_name(f"{form.files.name}.svg")
    return files


SPHINX_SETTINGS = "assets/sphinx.yaml"
STATIC = ("assets/report.css", "assets/panel.js", "assets/report.js", "assets/items.js")
_SPHINX_FILES = ("_sources", "objects.inv", ".buildinfo", "genindex.html")
SUPERFLUOUS = ("**/*.map", "**/*.LICENSE.txt", *_SPHINX_FILES)
"""Files that no page needs: a third of what Sphinx writes."""


def build_report(campaign: read.Campaign, trees: read.Trees, output: Path) -> dict[str, int]:
    """Build the site in place of ``output``, and count its pages, numbers and bytes.

    Raises UserError when an input is faulty or Sphinx complains.
    """
    inputs = read.read_inputs(campaign, trees)
    with scratch("blimpworks-report") as work, whole_directory(output) as site:
        source = work / "source"
        roots = {"results": trees.results, "resources": trees.resources}
        if trees.corrected:
            roots["corrected"] = trees.corrected
        relative = relative_texts(roots)
        for name, text in assemble(inputs).items():
            write_text(source / name, relative(text))
        # The copy of DataTables in itables, as a script that works without a network.
        page = generate_init_offline_itables_html(itables.options.dt_bundle)
        scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        write_text(source / "_static/datatables.js", "\n".join(scripts))
        copies = pictures(inputs.papers) | {f"_static/{Path(n).name}": FOLDER / n for n in STATIC}
        for address, file in copies.items():
            (source / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, source / address)
        settings: dict[str, Any] = read_yaml(FOLDER / SPHINX_SETTINGS, "settings of Sphinx")
        settings |= {"project": f"blimpworks · {campaign.name}", "html_title": campaign.title}
        complaints = io.StringIO()
        app = Sphinx(
            source, None, site, work / "doctrees", "html", settings, None, complaints, freshenv=True
        )
        app.build(force_all=True)
        if app.statuscode or complaints.getvalue():
            raise UserError(f"Sphinx cannot build the report: {complaints.getvalue().strip()}")
        for path in [path for pattern in SUPERFLUOUS for path in site.glob(pattern)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    files = [path for path in output.rglob("*") if path.is_file()]
    numbers = 0
    for paper in inputs.papers:
        forms = (form for exhibit in paper.exhibits for form in exhibit.forms.values())
        numbers += len(paper.evidence) or sum(len(form.cells) for form in forms)
    pages = sum(path.suffix == ".html" for path in files)
    size = sum(path.stat().st_size for path in files)
    return {"pages": pages, "numbers": numbers, "bytes": size}
