"""Build the report as a static site that opens from a file, with Sphinx."""

import io
import re
import shutil
from pathlib import Path
from typing import Any

import itables.options
from itables.javascript import generate_init_offline_itables_html
from sphinx.application import Sphinx

from blimpworks.errors import UserError
from blimpworks.files import scratch, whole_directory, write_text
from blimpworks.records.places import relative_texts
from blimpworks.report.pages import assemble, pictures
from blimpworks.report.read import Campaign, Trees, read_inputs
from blimpworks.yaml_files import read_yaml

HERE = Path(__file__).parent
SETTINGS = "assets/sphinx.yaml"
STATIC = ("assets/report.css", "assets/panel.js", "assets/report.js", "assets/items.js")
# What no page of ours needs, a third of the site.
SUPERFLUOUS = (
    "**/*.map",
    "**/*.LICENSE.txt",
    "_sources",
    "objects.inv",
    ".buildinfo",
    "genindex.html",
)


def build_report(campaign: Campaign, trees: Trees, output: Path) -> dict[str, int]:
    """Write the site; return its numbers of pages, numbers and bytes. The old one stays until then.

    Raises UserError when a table, an exhibit or a record is missing or broken.
    """
    inputs = read_inputs(campaign, trees)
    with scratch("blimpworks-report") as work, whole_directory(output) as site:
        source = work / "source"
        relative = relative_texts(inputs.trees.roots())
        for name, text in assemble(inputs).items():
            write_text(source / name, relative(text))
        # DataTables, which itables brings along, as a script that works without a network.
        page = generate_init_offline_itables_html(itables.options.dt_bundle)
        scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        write_text(source / "_static/datatables.js", "\n".join(scripts))
        copies = pictures(inputs.papers) | {f"_static/{Path(n).name}": HERE / n for n in STATIC}
        for address, file in copies.items():
            (source / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, source / address)
        settings: dict[str, Any] = read_yaml(HERE / SETTINGS, "settings of Sphinx")
        settings |= {"project": f"blimpworks · {campaign.name}", "html_title": campaign.title}
        complaints = io.StringIO()
        app = Sphinx(
            source,
            None,
            site,
            work / "doctrees",
            "html",
            confoverrides=settings,
            status=None,
            warning=complaints,
            freshenv=True,
        )
        app.build(force_all=True)
        if app.statuscode or complaints.getvalue():
            raise UserError(f"Sphinx cannot build the report: {complaints.getvalue().strip()}")
        for path in [path for pattern in SUPERFLUOUS for path in site.glob(pattern)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    files = [path for path in output.rglob("*") if path.is_file()]
    return {
        "pages": sum(path.suffix == ".html" for path in files),
        "numbers": sum(
            len(paper.evidence)
            or sum(len(f.cells) for e in paper.exhibits for f in e.forms.values())
            for paper in inputs.papers
        ),
        "bytes": sum(path.stat().st_size for path in files),
    }
