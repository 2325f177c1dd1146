"""Quantify the morphological complexity of languages by their WALS features (CWALS).

Source: Bentz, Ruzsics, Koplenig and Samardžić (2016), "A Comparison Between Morphological
Complexity Measures: Typological Data vs. Language Corpora", section 2.1 and their table of
features, which CLAMS (section 6.3) cites. They rank the categories of 28 features of the World
Atlas of Language Structures by the morphology needed, or by whether any is needed. A category's
value is its rank ÷ the feature's highest rank. A language's complexity is the mean over features.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, read_cells, table_rows
from blimpworks.tables import MORPHOLOGY, write_rows

RANKS: dict[str, tuple[int | None, ...]] = {}
for _row in read_cells(Path(__file__).with_name("wals.tsv")):
    _ranks = (None if rank == "-" else int(rank) for rank in _row["degrees"].split())
    RANKS[_row["feature"]] = tuple(_ranks)
"""{feature: ranks (or None) of its categories in WALS's order}, such as {"28A": (1, 3, 2, 4)}."""
Categories = Mapping[str, Mapping[str, int]]
"""{language of WALS: {feature: category, a number from 1}}, such as {"eng": {"22A": 2}}."""


def value_of(feature: str, category: int) -> float | None:
    """Return the value (0 to 1) of a category, a number from 1; None for one without a rank."""
    ranks = RANKS[feature]
    rank = ranks[category - 1]
    highest_rank = max(number for number in ranks if number is not None)
    return None if rank is None else rank / highest_rank


def _read(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield ("path:line", row) for the rows of a WALS table; the first column is a unique key."""
    lines: dict[str, int] = {}
    with reading(path, "a table of WALS's repository", "Retrieve it again."):
        for line, row in table_rows(path, columns):
            key = row[columns[0]]
            if key in lines:
                raise BadLine(line, f"{columns[0]} {key!r} is in line {lines[key]} too")
            lines[key] = line
            yield f"{path}:{line}", row


def read_categories(values: Path, elements: Path) -> dict[str, dict[str, int]]:
    """Read each language's categories of the quantified features. UserError for unknown ones."""
    # Feature and number of each category, by WALS's internal key (pk, domainelement_pk).
    by_code: dict[str, tuple[str, int]] = {}
    for location, element in _read(elements, ("pk", "id", "number")):
        element_feature = element["id"].partition("-")[0]
        if element_feature in RANKS:
            # 0 is no category.
            number = int(element["number"]) if element["number"].isdecimal() else 0
            if not 1 <= number <= len(RANKS[element_feature]):
                raise UserError(
                    f"{location}: {element['id']!r} is category {element['number']!r}, "
                    f"expected 1 to {len(RANKS[element_feature])} of feature {element_feature}. "
                    "Is it another release of WALS?"
                )
            by_code[element["pk"]] = element_feature, number
    by_language: dict[str, dict[str, int]] = defaultdict(dict)
    for location, row in _read(values, ("id", "domainelement_pk")):
        feature, _, language = row["id"].partition("-")
        if feature not in RANKS:
            continue
        code = row["domainelement_pk"]
        feature_of_code, number = by_code.get(code, ("", 0))
        if not language or feature_of_code != feature:
            raise UserError(
                f"{location}: value {row['id']!r} has domainelement_pk {code!r}, "
                f"expected one of feature {feature} in {elements}. Take both from one release."
            )
        by_language[language][feature] = number
    return dict(by_language)


def choose_languages(categories: Categories, languages: Path) -> dict[str, str]:
    """Return {ISO 639-3 code: WALS language with most features, the first by ID among equals}."""
    rows = sorted(_read(languages, ("ID", "ISO639P3code")), key=lambda entry: entry[1]["ID"])
    absent = categories.keys() - {row["ID"] for _, row in rows}
    if absent:
        raise UserError(
            f"{languages} has no row of {min(absent)!r}, nor of {len(absent) - 1} other languages "
            "that have values; expected all of WALS's. Take both from one release."
        )
    chosen: dict[str, str] = {}
    most_features: dict[str, int] = defaultdict(int)
    for _, row in rows:
        lang, name = row["ISO639P3code"], row["ID"]
        count = len(categories.get(name, {}))
        if lang and count > most_features[lang]:
            chosen[lang], most_features[lang] = name, count
    return chosen


def build_morphology(values: Path, elements: Path, languages: Path, output: Path) -> int:
    """Write each language's WALS features, valued from 0 to 1; return the number of languages."""
    categories = read_categories(values, elements)
    rows = [
        {
            "lang": lang,
            "wals": name,
            "feature": feature,
            "category": categories[name][feature],
            "value": value_of(feature, categories[name][feature]),
        }
        for lang, name in sorted(choose_languages(categories, languages).items())
        for feature in RANKS
        if feature in categories[name]
    ]
    write_rows(rows, MORPHOLOGY, output)
    return len({row["lang"] for row in rows})
