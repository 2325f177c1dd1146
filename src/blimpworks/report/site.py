"""The report as a static site that opens from a file: sources for Sphinx, and its build."""

import io
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import itables.options
import pandas as pd
from itables.javascript import generate_init_offline_itables_html
from jinja2 import Environment, FileSystemLoader
from sphinx.application import Sphinx

from blimpworks.campaign.exhibits import exhibits
from blimpworks.campaign.registry import find_paper
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.report.data import paper_script, products_script
from blimpworks.report.evidence import Evidence, gather, read_comparison
from blimpworks.report.listing import MEASURED, PUBLISHED, listing_html
from blimpworks.report.names import Names, names_from
from blimpworks.report.products import Products
from blimpworks.report.sections import (
    VIEWS,
    Section,
    Trees,
    exhibit_names,
    forms_of,
    missing,
    pictures,
    section,
)
from blimpworks.report.summary import STATUSES, VERDICTS, exhibit_line, paper_line
from blimpworks.reproduction.printed import printed_files
from blimpworks.reproduction.published import Paper

ASSETS = Path(__file__).parent / "assets"
TEMPLATES = {
    "index": "assets/index.html.jinja",
    "paper": "assets/paper.html.jinja",
    "exhibits": "assets/exhibits.rst.jinja",
    "advice": "assets/advice.html.jinja",
}
STATIC = ("assets/report.css", "assets/panel.js", "assets/report.js")
# What no page of ours needs, a third of the site.
SUPERFLUOUS = (
    "**/*.map",
    "**/*.LICENSE.txt",
    "_sources",
    "objects.inv",
    ".buildinfo",
    "genindex.html",
)


@dataclass(frozen=True, slots=True)
class Campaign:
    """The report's facts on the campaign, with the names of its languages and models.

    ``configfile`` is the campaign's file, ``printed`` the directory of printed numbers, with
    one below for each of ``papers``.
    """

    name: str
    description: str
    configfile: str
    printed: Path
    papers: tuple[str, ...]
    languages: Mapping[str, str]
    models: Mapping[str, str]


@dataclass(frozen=True)
class PaperPage:
    """A paper with its exhibits, ready to be written."""

    paper: str
    sections: list[Section]
    evidence: Evidence
    names: Names


def _templates() -> Environment:
    return Environment(loader=FileSystemLoader(ASSETS), autoescape=True, trim_blocks=True)


def _render(template: str, **context: Any) -> str:
    return _templates().get_template(Path(TEMPLATES[template]).name).render(**context)


def _plain(text: str) -> str:
    """Text in which nothing means anything to reStructuredText."""
    return re.sub(r"([\\*`|_<>])", r"\\\1", text)


def _advice(campaign: Campaign, trees: Trees, paper: str) -> dict[str, str]:
    """HTML that says how to get a paper's measured numbers, by variant."""
    return {
        variant: _render("advice", variant=variant, campaign=campaign, trees=trees, paper=paper)
        for variant in ("published", "corrected")
    }


def _read(campaign: Campaign, trees: Trees) -> list[PaperPage]:
    """The pages of the campaign's papers, from its results and the printed numbers."""
    folder = trees.results / "reproduction"
    published = read_comparison(folder / "published.csv", PUBLISHED)
    measured = read_comparison(folder / "measured.csv", MEASURED)
    pages = []
    for paper in campaign.papers:
        files = printed_files(campaign.printed, paper)
        printed = Paper(
            paper, files, Path(), {}, trees.results / f"accuracies/printed/{paper}.parquet"
        )
        evidence = gather(paper, files, published, measured)
        names = names_from(campaign.languages, campaign.models, printed)
        sections = [
            section(printed, name, trees, evidence, names, _advice(campaign, trees, paper))
            for name in exhibit_names(paper, evidence, trees)
        ]
        pages.append(PaperPage(paper, sections, evidence, names))
    return pages


def _titled(title: str, *parts: str) -> str:
    return "\n".join([_plain(title), "=" * 4 * len(title), "", *parts, ""])


def _raw(file: str) -> str:
    return f".. raw:: html\n   :file: {file}\n"


def _paper_source(page: PaperPage, folder: Path) -> None:
    """A paper's page, and the pieces of HTML that it consists of."""
    citation = find_paper(page.paper).citation
    pieces = folder / "_pieces" / page.paper
    write_text(
        pieces / "head.html",
        _render("paper", page=page, citation=citation, statuses=STATUSES, verdicts=VERDICTS),
    )
    for exhibit in page.sections:
        for view, content in exhibit.views.items():
            write_text(pieces / f"{exhibit.name}.{view}.html", content)
    body = _render("exhibits", page=page, plain=_plain, views=VIEWS, missing=missing)
    source = _titled(citation.label, _raw(f"_pieces/{page.paper}/head.html"), body)
    write_text(folder / f"{page.paper}.rst", source)
    for file, address in pictures(page.sections):
        target = folder / address
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _index_source(campaign: Campaign, pages: Sequence[PaperPage], folder: Path) -> None:
    lines = [
        (
            paper_line(find_paper(page.paper).citation.label, f"{page.paper}.html", page.sections),
            [exhibit_line(exhibit) for exhibit in page.sections if exhibit.statuses],
        )
        for page in pages
    ]
    every = [exhibit for page in pages for exhibit in page.sections]
    content = _render(
        "index",
        campaign=campaign,
        whole=paper_line("All papers", "published.html", every),
        lines=lines,
        statuses=STATUSES,
        verdicts=VERDICTS,
    )
    write_text(folder / "_pieces/index.html", content)
    documents = [*campaign.papers, "published", "measured"]
    tree = "\n".join([".. toctree::", "   :hidden:", "", *(f"   {name}" for name in documents)])
    source = _titled(f"Reproduction report: {campaign.name}", _raw("_pieces/index.html"), tree)
    write_text(folder / "index.rst", source)


def _listing_source(name: str, title: str, frame: pd.DataFrame, folder: Path) -> None:
    write_text(folder / f"_pieces/{name}.html", listing_html(name, frame))
    write_text(folder / f"{name}.rst", _titled(title, _raw(f"_pieces/{name}.html")))


def _tables_script() -> str:
    """DataTables, which itables brings along, as a script that works without a network."""
    page = generate_init_offline_itables_html(itables.options.dt_bundle)
    return "\n".join(re.findall(r"<script>(.*?)</script>", page, re.DOTALL))


def _static(pages: Sequence[PaperPage], folder: Path) -> None:
    """Scripts and styles beside the pages."""
    products = Products()
    for page in pages:
        script = paper_script(page.sections, page.evidence, page.names, products)
        write_text(folder / f"_static/data/{page.paper}.js", script)
    write_text(folder / "_static/data/products.js", products_script(products))
    write_text(folder / "_static/datatables.js", _tables_script())
    for name in STATIC:
        file = ASSETS.parent / name
        shutil.copyfile(file, folder / "_static" / file.name)


def _settings(campaign: Campaign) -> dict[str, Any]:
    """Sphinx's configuration."""
    return {
        "project": f"blimpworks · {campaign.name}",
        "extensions": ["sphinx_design"],
        "html_theme": "pydata_sphinx_theme",
        "html_static_path": ["_static"],
        "html_css_files": ["report.css"],
        "html_js_files": [(name, {"defer": "defer"}) for name in ("panel.js", "report.js")],
        "html_title": f"Reproduction report: {campaign.name}",
        "html_sidebars": {"**": []},
        "html_show_sourcelink": False,
        "html_copy_source": False,
        "html_use_index": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        # A page opened from a file may not read the pages that it found.
        "html_show_search_summary": False,
        "html_context": {"default_mode": "auto"},
        "smartquotes": False,
        "html_theme_options": {
            "navbar_align": "left",
            "navbar_persistent": [],
            "navbar_end": ["theme-switcher"],
            "header_links_before_dropdown": 8,
            "show_prev_next": False,
            "back_to_top_button": False,
            "show_toc_level": 2,
            "secondary_sidebar_items": {
                "**": ["page-toc"],
                "index": [],
                "published": [],
                "measured": [],
            },
            "footer_start": [],
            "footer_center": [],
            "footer_end": [],
        },
    }


def _sphinx(source: Path, output: Path, settings: dict[str, Any]) -> None:
    """Build the site. Raises UserError with what Sphinx complains of."""
    complaints = io.StringIO()
    app = Sphinx(
        source,
        None,
        output,
        source.parent / "doctrees",
        "html",
        confoverrides=settings,
        status=None,
        warning=complaints,
        freshenv=True,
    )
    app.build(force_all=True)
    if app.statuscode or complaints.getvalue():
        raise UserError(f"Sphinx cannot build the report: {complaints.getvalue().strip()}")


def _prune(site: Path) -> None:
    for pattern in SUPERFLUOUS:
        for path in list(site.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def inputs(campaign: Campaign, trees: Trees) -> list[Path]:
    """Every file that the site shows, other than the records behind them.

    Raises UserError for a paper without printed numbers.
    """
    paths = [trees.results / "reproduction" / f"{name}.csv" for name in ("published", "measured")]
    for paper in campaign.papers:
        paths += printed_files(campaign.printed, paper)
        paths.append(trees.results / f"accuracies/printed/{paper}.parquet")
    for key, spec in exhibits().items():
        for tree in forms_of(spec, trees):
            files = trees.files(tree, key)
            suffixes = ("cells.parquet", "html", *(["svg"] if spec.kind == "figure" else []))
            paths += [files.with_name(f"{files.name}.{suffix}") for suffix in suffixes]
    return paths


def build_report(campaign: Campaign, trees: Trees, output: Path) -> dict[str, int]:
    """Write the site into directory ``output``; how many pages, numbers and bytes it has.

    Raises UserError when a table, an exhibit or a record that it shows is missing or broken.
    """
    pages = _read(campaign, trees)
    reproduction = trees.results / "reproduction"
    with tempfile.TemporaryDirectory() as work:
        source, site = Path(work, "source"), Path(work, "site")
        for page in pages:
            _paper_source(page, source)
        _index_source(campaign, pages, source)
        for name, title, columns in (
            ("published", "Every printed number", PUBLISHED),
            ("measured", "Measured beside printed", MEASURED),
        ):
            frame = read_comparison(reproduction / f"{name}.csv", columns)
            _listing_source(name, title, frame, source)
        _static(pages, source)
        _sphinx(source, site, _settings(campaign))
        _prune(site)
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(site, output)
    files = [path for path in output.rglob("*") if path.is_file()]
    return {
        "pages": sum(path.suffix == ".html" for path in files),
        "numbers": sum(len(page.evidence) for page in pages),
        "bytes": sum(path.stat().st_size for path in files),
    }
