"""Tables 9 to 33: the templates of each task, in each language.

Source: Moroni, Aula-Blasco, Conia and others (2025), appendix A.3, which prints the English ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables, printed_text_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import language_tag, languages_of
from blimpworks.papers.lmentry.exhibits.data import SAMPLES, count_of, language_name
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK, TEMPLATE_TABLES, long_name
from blimpworks.papers.lmentry.exhibits.texts import pack_cell, shown_template, unlike_print
from blimpworks.papers.lmentry.items.packs import Pack, read_pack, read_texts
from blimpworks.prompt_tables import PROMPTS
from blimpworks.tables import read_table

ENGLISH = "eng"
TEMPLATE, CORRECTED = "Template", "Corrected"
QUERY = "The caption in print calls query what the templates call word."
NOTES = {
    "table16": "By the caption in print the first template calls items of clothing clothes; in "
    "the language pack it calls them clothing.",
    "table24": QUERY,
    "table25": QUERY,
}
"""What is odd about a table in print."""


def _row(lang: str, number: int, labels: Labels) -> str:
    return f"{language_name(lang, labels)} {number}"


def _read_items(tables: Tables, task: str) -> pd.DataFrame:
    """Language, task and template of the prompts of a task."""
    columns = ["lang", "phenomenon", "template"]
    frames: list[pd.DataFrame] = [
        read_table(PROMPTS, path, columns).to_pandas().astype({"lang": str, "phenomenon": str})
        for path in tables["items"]
    ]
    items = pd.concat(frames, ignore_index=True)
    return items[items["phenomenon"] == task]


@dataclass(frozen=True)
class Templates:
    """The templates of a task: the rows of the packs' texts, and the packs by language."""

    task: str
    packs: Mapping[str, Pack]
    texts: pd.DataFrame
    labels: Labels

    @classmethod
    def of(cls, tables: Tables, task: str, labels: Labels) -> "Templates":
        """The templates of a task in all packs. Raises UserError for a pack that is wrong."""
        packs = [read_pack(path) for path in tables["packs"]]
        texts = read_texts(tables["packs"])
        own = texts[texts["phenomenon"] == task]
        return cls(task, {pack.lang: pack for pack in packs}, own, labels)

    def numbers(self, lang: str) -> range:
        """Numbers of the templates in a language, from 1; none where it lacks the task."""
        return range(1, len(self.packs[lang].templates.get(self.task, ())) + 1)

    def cell(self, lang: str, number: int, *, corrected: bool = False) -> Cell:
        """The cell of a template's wording, arguments named as in print."""
        text = shown_template(self.packs[lang], self.task, number, corrected=corrected)
        place = (_row(lang, number, self.labels), CORRECTED if corrected else TEMPLATE)
        cell = pack_cell(lang, f"{self.task}.{number}", place, text)
        stands_for = None if corrected else (str(number), lang)
        return replace(cell, where={**cell.where, "phenomenon": self.task}, stands_for=stands_for)


def _measured(tables: Tables, templates: Templates, langs: Sequence[str]) -> Iterator[Cell]:
    """Both wordings of each template, and how many prompts there are of it."""
    items = _read_items(tables, templates.task)
    for lang in langs:
        for number in templates.numbers(lang):
            yield templates.cell(lang, number)
            right = templates.cell(lang, number, corrected=True)
            if f"{templates.task}.{number}" in templates.packs[lang].corrected:
                yield right
            where = {
                "benchmark": BENCHMARK,
                "lang": lang,
                "phenomenon": templates.task,
                "template": number,
            }
            yield count_of(items, (_row(lang, number, templates.labels), SAMPLES), where)


def _published(tables: Tables, templates: Templates, table: str) -> Iterator[Cell]:
    """The printed templates, and behind them those of the release."""
    printed = read_printed(tables)
    for _, row in printed[printed["exhibit"] == table].iterrows():
        number, lang = int(row["row"]), row["column"]
        yield printed_text_cell(row, (_row(lang, number, templates.labels), TEMPLATE))
        again = templates.cell(lang, number)
        place = (again.row, f"{TEMPLATE}, released")
        yield replace(again, row=place[0], column=place[1], printed=False)


def _sections(templates: Templates, langs: Sequence[str], columns: Sequence[str]) -> list[Section]:
    """A section of each language: its name, and below it its templates by number."""
    sections = []
    for lang in langs:
        name = language_name(lang, templates.labels)
        rows = {_row(lang, n, templates.labels): str(n) for n in templates.numbers(lang)}
        head = {name: name} if len(langs) > 1 else {}
        sections.append(Section("No.", head | rows, columns))
    return sections


def _lacking(templates: Templates, langs: Sequence[str]) -> str:
    """A sentence on languages without the task."""
    names = [language_name(lang, templates.labels) for lang in langs if not templates.numbers(lang)]
    return f" Without the task: {', '.join(names)}." if names else ""


def _measured_caption(templates: Templates, langs: Sequence[str], *, both: bool) -> str:
    corrected = " Corrected: where the right wording is another." if both else ""
    variant = templates.labels.facts["lmentry_variant"]
    wording = f" The prompts of this campaign are worded as {variant}." if both else ""
    return (
        "Templates of the language packs, in the paper's languages worded as in its runs, and how "
        f"many prompts each has.{corrected}{wording}{_lacking(templates, langs)}"
    )


def template_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """One of Tables 9 to 33: the templates of a task.

    The measured form has those of all the campaign's languages, the published one the printed
    English ones, with hidden cells of what the release has in their place.
    """
    templates = Templates.of(tables, TEMPLATE_TABLES[table], labels)
    if labels.source == "published":
        langs, cells = [ENGLISH], list(_published(tables, templates, table))
        columns = [TEMPLATE]
        caption = f"As printed. {unlike_print(cells)} {NOTES.get(table, '')}".strip()
    else:
        langs = languages_of(templates.texts)
        cells = list(_measured(tables, templates, langs))
        both = any(cell.column == CORRECTED for cell in cells)
        columns = [TEMPLATE, *[CORRECTED] * both, SAMPLES]
        caption = _measured_caption(templates, [*templates.packs], both=both)
    written = {
        (_row(lang, number, labels), column): language_tag(lang)
        for lang in langs
        for number in templates.numbers(lang)
        for column in (TEMPLATE, CORRECTED)
    }
    width = 0.64 / (1 + (CORRECTED in columns))
    return Exhibit(
        f"Templates: {long_name(templates.task).lower()}",
        f"{caption} Arguments of a prompt are named in their places.",
        cells,
        row_title="No.",
        widths=dict.fromkeys([TEMPLATE, CORRECTED], round(width, 2)),
        sections=_sections(templates, langs, columns),
        textual=True,
        written_in=written,
    )
