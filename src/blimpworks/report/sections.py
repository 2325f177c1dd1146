"""The exhibits of a paper as sections of its page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path

from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.exhibits import exhibits
from blimpworks.report.evidence import Evidence
from blimpworks.report.grid import caption_of
from blimpworks.report.names import Names, exhibit_label
from blimpworks.report.views import (
    Form,
    measured_view,
    plain_view,
    printed_view,
    read_form,
    recomputed_view,
)
from blimpworks.reproduction.published import Paper

VIEWS = {"printed": "Printed", "recomputed": "Recomputed", "measured": "Measured"}


@dataclass(frozen=True, slots=True)
class Trees:
    """Directories of results: the campaign's, and those of the corrected one if there is any.

    ``variant`` says which the campaign's own are; ``measured`` are the exhibits (paper/name)
    that it builds.
    """

    results: Path
    variant: str
    measured: frozenset[str]
    corrected: Path | None = None

    def files(self, tree: str, key: str) -> Path:
        """Path of an exhibit's files in one tree, without their suffixes."""
        folder = {"published": self.results / "published", "measured": self.results / "exhibits"}
        if tree == "corrected":
            assert self.corrected is not None
            return self.corrected / "exhibits" / key
        return folder[tree] / key


@dataclass(frozen=True)
class Section:
    """One exhibit on its paper's page."""

    paper: str
    name: str
    title: str
    forms: Mapping[str, Form]
    views: Mapping[str, str] = field(repr=False)
    statuses: Counter[str]
    verdicts: Counter[str]

    @cached_property
    def label(self) -> str:
        """The paper's name of the exhibit; empty for one that the paper does not have."""
        return exhibit_label(self.name)

    @property
    def heading(self) -> str:
        """Heading of the section: label and title of the exhibit."""
        return " · ".join(filter(None, (self.label or "Ours", self.title)))

    @property
    def anchor(self) -> str:
        """Fragment of the section's address on its page."""
        return f"{self.paper}-{self.name}".replace("_", "-")


def forms_of(spec: ExhibitSpec, trees: Trees) -> list[str]:
    """Trees that have a form of an exhibit."""
    available = {
        "published": bool(spec.published),
        "measured": spec.key in trees.measured,
        "corrected": spec.key in trees.measured and trees.corrected is not None,
    }
    return [tree for tree, there in available.items() if there]


def read_forms(spec: ExhibitSpec, trees: Trees, printed: Paper) -> dict[str, Form]:
    """The existing forms of an exhibit, by tree.

    Raises UserError when a file of one is missing or broken.
    """
    figure = spec.kind == "figure"
    return {
        tree: read_form(spec.name, tree, trees.files(tree, spec.key), printed, figure=figure)
        for tree in forms_of(spec, trees)
    }


def _scroll(table: str, title: str) -> str:
    label = escape(title, quote=True)
    return f'<div class="bw-scroll" role="region" aria-label="{label}" tabindex="0">{table}</div>'


def picture_of(form: Form, paper: str) -> str:
    """Address of a figure's picture in the site."""
    return f"_static/figures/{paper}/{form.exhibit}.{form.tree}.svg"


def _figure(form: Form, paper: str, title: str, table: str) -> str:
    """A figure with its numbers under it."""
    alt = escape(title, quote=True)
    image = f'<img class="bw-figure" src="{picture_of(form, paper)}" alt="{alt}">'
    summary = "<summary>Numbers of this figure</summary>"
    shown = f"<details>{summary}{_scroll(table, title)}</details>" if table else ""
    return f'<div class="bw-drawn">{image}{shown}</div>'


def _with_caption(content: str, form: Form | None) -> str:
    caption = caption_of(form.page) if form else ""
    return content + (f'<p class="bw-caption">{escape(caption)}</p>' if caption else "")


def _shown(form: Form, paper: str, title: str, table: str) -> str:
    """A form on the page: its table, or its figure with the numbers under it."""
    if form.figure:
        return _with_caption(_figure(form, paper, title, table), form)
    return _with_caption(_scroll(table, title), form) if table else ""


def _printed(
    forms: Mapping[str, Form], name: str, title: str, evidence: Evidence, names: Names
) -> str:
    form = forms.get("published")
    table = printed_view(form, evidence, names) if form else ""
    rest = plain_view(form, name, evidence, names)
    content = _with_caption(_scroll(table, title), form) if table else ""
    if rest and content:
        content += (
            f"<details><summary>More printed numbers</summary>{_scroll(rest, title)}</details>"
        )
    elif rest:
        content = _scroll(rest, title)
    return content


def _measured(
    forms: Mapping[str, Form], paper: str, title: str, evidence: Evidence, names: Names
) -> dict[str, str]:
    """The HTML of an exhibit's measured forms, by tree."""
    return {
        tree: _shown(forms[tree], paper, title, measured_view(forms[tree], evidence, names))
        for tree in ("measured", "corrected")
        if tree in forms
    }


def _variants(measured: Mapping[str, str], own: str, advice: str) -> str:
    """Both variants of the measured numbers, of which the page shows one at a time."""
    slots = {own: measured.get("measured", "")}
    if measured.get("corrected"):
        slots["corrected"] = measured["corrected"]
    parts = (
        f'<div data-variant="{variant}">{slots.get(variant) or advice}</div>'
        for variant in ("published", "corrected")
    )
    return "".join(parts)


def section(
    printed: Paper,
    name: str,
    trees: Trees,
    evidence: Evidence,
    names: Names,
    advice: Mapping[str, str],
) -> Section:
    """An exhibit with all its views; ``advice`` says, per variant, how to get its numbers."""
    paper = printed.name
    spec = exhibits().get(f"{paper}/{name}")
    forms = read_forms(spec, trees, printed) if spec else {}
    title = spec.title if spec else "Printed numbers"
    views = {"printed": _printed(forms, name, title, evidence, names)}
    if published := forms.get("published"):
        table = recomputed_view(published, evidence, names)
        if table or published.figure:
            views["recomputed"] = _shown(published, paper, title, table)
    if measured := _measured(forms, paper, title, evidence, names):
        other = "corrected" if trees.variant == "published" else "published"
        views["measured"] = _variants(measured, trees.variant, advice[other])
    own = [number for place, number in evidence.items() if place[0] == name]
    return Section(
        paper,
        name,
        title,
        forms,
        {view: content for view, content in views.items() if content},
        Counter(number.status for number in own if number.status),
        Counter(number.verdict for number in own if number.verdict),
    )


WHY = {
    "printed": "the paper prints none of its numbers",
    "recomputed": "the printed numbers determine none of it",
    "measured": "this campaign does not build it",
}


def missing(shown: Section) -> str:
    """The views that a section lacks, with reasons, as a sentence; empty when it has all."""
    parts = [f"{VIEWS[view]}: {WHY[view]}" for view in VIEWS if view not in shown.views]
    return f"{'; '.join(parts)}." if parts else ""


def exhibit_names(paper: str, evidence: Evidence, trees: Trees) -> Iterator[str]:
    """Exhibits of a paper in its order, then those that only printed numbers are known of."""
    shown = [
        spec.name
        for spec in exhibits().values()
        if spec.paper == paper and (spec.published or spec.key in trees.measured)
    ]
    yield from dict.fromkeys((*shown, *(place[0] for place in evidence)))


def pictures(sections: Sequence[Section]) -> Iterator[tuple[Path, str]]:
    """Every picture of the figures shown: its file, and its address in the site."""
    for shown in sections:
        for form in shown.forms.values():
            if form.figure:
                picture = form.files.with_name(f"{form.files.name}.svg")
                yield picture, picture_of(form, shown.paper)
