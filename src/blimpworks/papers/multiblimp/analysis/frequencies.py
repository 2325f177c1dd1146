"""Count the text of each language on the web, and group languages by it.

Source: MultiBLiMP, sections 6.3 and 7.1, with the frequencies of GlotCC (Kargaran et al. 2024). The
text doesn't say what a frequency counts, nor what the shares of 60 and 90 % are of. The paper's own
numbers do. In Table 3 a model's overall accuracy is 0.363 x low + 0.405 x mid + 0.232 x high,
by groups of resources. The three weights are least squares over its ten
multilingual models, to within 0.05 points. They are the shares of *pairs* (0.363, 0.406, 0.230)
when *characters* rank the benchmark's own languages; documents, sentences or words, or no weighting
by pairs, give others.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

from blimpworks.campaign.catalogue import LanguageRow
from blimpworks.campaign.reference import FrequencyCodesRow
from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.errors import reading
from blimpworks.files import BadLine, table_rows
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import write_rows

UNITS = ("documents", "sentences", "words", "characters")
RANKED_BY = "characters"
# Up to which share of the languages, the least frequent first, a group reaches.
GROUPS = {"low": 0.6, "mid": 0.9, "high": 1.0}
Counts = dict[str, int]


def read_totals(path: Path) -> dict[str, Counts]:
    """Read GlotCC's counts by ISO 639-3 code. Raises UserError for a missing or broken table."""
    totals: dict[str, Counts] = {}
    first_line: dict[str, int] = {}
    expected = f"GlotCC's totals (code, {', '.join(UNITS)}, between tabs)"
    with reading(path, expected, "Retrieve them again."):
        columns = ("code", *UNITS)
        for line, row in table_rows(path, columns, delimiter="\t", quoting=csv.QUOTE_NONE):
            if first_line.setdefault(row["code"], line) != line:
                raise BadLine(line, f"{row['code']!r} stands in line {first_line[row['code']]} too")
            # A suffix names the script.
            counts = totals.setdefault(row["code"][:3], dict.fromkeys(UNITS, 0))
            if len(row["code"]) < 3:
                raise BadLine(line, f"the code is {row['code']!r}")
            for unit in UNITS:
                if not (row[unit].isascii() and row[unit].isdecimal()):
                    raise BadLine(line, f"{unit} of {row['code']!r} is {row[unit] or 'missing'}")
                counts[unit] += int(row[unit])
    return totals


def resource_group(rank: int, languages: int) -> str:
    """Return a language's resource group by its rank among ``languages`` (1: least frequent)."""
    return next(name for name, share in GROUPS.items() if rank <= share * languages)


def frequencies(
    languages: list[str], codes: Mapping[str, tuple[str, ...]], totals: Mapping[str, Counts]
) -> list[dict[str, object]]:
    """Add up each language's counts over its ``codes``; rank those without text lowest."""
    rows: list[dict[str, object]] = []
    for lang in sorted(languages):
        with_text = [code for code in codes.get(lang, (lang,)) if code in totals]
        counts = {unit: sum(totals[code][unit] for code in with_text) for unit in UNITS}
        rows.append({"lang": lang, "codes": ",".join(with_text) or None, **counts})
    rows.sort(key=lambda row: (row[RANKED_BY], row["lang"]))
    return [
        {**row, "rank": rank, "resources": resource_group(rank, len(rows))}
        for rank, row in enumerate(rows, start=1)
    ]


def build_frequencies(totals: Path, languages: Path, codes: Path, output: Path) -> int:
    """Write the frequencies of the catalogue's languages; return how many have any text."""
    rows_of_codes = keyed(read_rows(FrequencyCodesRow, codes), "lang", codes)
    codes_of = {lang: row.codes for lang, row in rows_of_codes.items()}
    names = [row.lang for row in read_rows(LanguageRow, languages) if row.is_of("multiblimp")]
    rows = frequencies(names, codes_of, read_totals(totals))
    write_rows(rows, FREQUENCIES, output)
    return sum(row["codes"] is not None for row in rows)
