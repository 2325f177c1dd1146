"""Rows of the reference tables in ``config/``: language groups, frequency codes, printed numbers.

``table_files.read_rows`` reads the tables as objects of these classes, and ``groups_of_models``
finds the languages of models. A ``PublishedRow`` is a number in an exhibit of a paper::

    exhibit,row,column,text,value,unit,bold,fault,corrected,note
    table2,eng,lstm,94.1,94.1,%,,,,
"""

import math
import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from blimpworks.campaign.catalogue import (
    Catalogue,
    Lang,
    Names,
    OptionalFloat,
    Slug,
    whole_catalogue,
)
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.strict import Strict


class GroupRow(Strict):
    """One language of a group. A group can be, for example, the training languages of a model."""

    group: Slug
    lang: Lang
    """May be absent from the catalogue."""
    note: str


class FrequencyCodesRow(Strict):
    """A language that has other codes in the table of corpus frequencies."""

    lang: Lang
    codes: Annotated[Names, Field(min_length=1)]
    """ISO 639-3 codes in that table; the frequencies of all these are added."""
    note: str


TEXT_UNIT = "text"
"""Unit of printed texts without a number, which are compared word by word."""
BOUNDS = ("at least", "at most", "above", "below")
"""Endings of units such as "% at least", for printed bounds; the last two exclude the number."""
NUMBER = re.compile(
    r"(?<![\w.\-−–])(?P<sign>[-−–]?)(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)(?:/(?P<divisor>\d+))?"
    r"(?P<scale> ?(?:[KkMB]\b|million|billion))?"
)
"""A number in a text: 1,234.5, −.3, 1/4M, 7 billion."""
SCALES = {"k": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9}


def numbers_in(text: str) -> list[float]:
    """Return the possible values of each number in a printed text.

    A number with a scale can mean itself, the scaled value, or the value in billions, as for sizes
    of models: ``7M`` is 7, 7000000 or 0.007.
    """
    numbers: list[float] = []
    for match in NUMBER.finditer(text):
        value = float(match["digits"].replace(",", "")) / float(match["divisor"] or 1)
        value = -value if match["sign"] else value
        scale = SCALES.get((match["scale"] or "").strip().lower())
        numbers += [value] if scale is None else [value, value * scale, value * scale / 1e9]
    return numbers


class PublishedRow(Strict):
    """A printed number of an exhibit, or a printed text if the unit is ``text``."""

    exhibit: str
    row: str
    """Key of the row, such as a language's code."""
    column: str
    """Key of the column, such as a model's name in the catalogue."""
    text: str
    """Text as printed; the correct reading if our copy of the paper is garbled."""
    value: OptionalFloat
    """The number; empty if none is printed or legible."""
    unit: str
    """Unit; for a bound it ends in one of ``BOUNDS``."""
    bold: Literal["", "yes"]
    fault: Literal["", "erratum", "garbled"]
    """erratum: the paper contradicts itself or the data; garbled: our copy has another text."""
    corrected: float | str | None
    """Correct value of an erratum, if known: a number, or a text if the unit is ``text``."""
    note: str
    """Evidence of a fault, with the arithmetic."""
    title: str = ""
    """Subject of a number in running text, where the keys do not say it."""
    formula: str = ""
    """Sentence of a formula that computes the number from other printed numbers."""
    of: str = Field(default="", validate_default=True)
    """Printed numbers that the formula uses, as EXHIBIT/ROWS/COLUMNS (``exhibits.shared``)."""

    @field_validator("corrected", mode="before")
    @classmethod
    def _text_or_number(cls, corrected: Any, info: ValidationInfo) -> Any:
        is_nan = isinstance(corrected, float) and math.isnan(corrected)
        if corrected in ("", None) or is_nan:  # pandas has NaN for an empty cell
            return None
        return corrected if info.data.get("unit") == TEXT_UNIT else float(corrected)

    @model_validator(mode="after")
    def _check_value(self) -> Self:
        if self.corrected is not None and not self.fault:
            raise ValueError("fault is empty; expected erratum or garbled for a corrected value")
        if self.textual and self.value is not None:
            raise ValueError(f"a {TEXT_UNIT} has no value; leave it empty, or give another unit")
        numbers = [] if self.fault == "garbled" or self.textual else numbers_in(self.text)
        if self.value is None:
            if numbers and self.unit:
                raise ValueError(f"value is empty; expected the number in text {self.text!r:.60}")
        elif numbers and not any(math.isclose(self.value, n, rel_tol=1e-9) for n in numbers):
            raise ValueError(f"value {self.value:g} is not the number in text {self.text!r:.60}")
        return self

    @field_validator("of")
    @classmethod
    def _check_numbers_of_formula(cls, of: str, info: ValidationInfo) -> str:
        is_valid = of.count("/") == 2 if info.data.get("formula") else not of
        if not is_valid:
            raise ValueError(
                "expected EXHIBIT/ROWS/COLUMNS if there is a formula, and nothing if there is none"
            )
        return of

    @property
    def textual(self) -> bool:
        return self.unit == TEXT_UNIT

    @property
    def sound(self) -> float | None:
        """The corrected number if there is one, or else the printed one."""
        return self.corrected if isinstance(self.corrected, float) else self.value

    @property
    def place(self) -> str:
        return f"{self.exhibit}/{self.row}/{self.column}"

    @property
    def decimals(self) -> int:
        """Number of digits printed after the decimal point."""
        match = re.search(r"\.(\d+)", self.text)
        return len(match[1]) if match else 0

    @property
    def bound(self) -> str:
        """Ending of the unit, one of ``BOUNDS``; empty for an exact number."""
        return next((bound for bound in BOUNDS if self.unit.endswith(bound)), "")

    @property
    def half_unit(self) -> float:
        """Largest error of rounding: half a unit of the last printed digit.

        It is 0.05 for 94.1, 0.5 for 94 in percent, 0 for a count of 94, and 50 for one of 8.4K.
        """
        for match in NUMBER.finditer(self.text):
            scale = SCALES.get((match["scale"] or "").strip().lower(), 0.0)
            scaled = scale * float(match["digits"].replace(",", ""))
            if scale and self.value and math.isclose(abs(self.value), scaled):
                return float(0.5 * scale * 10**-self.decimals)
        is_percentage = self.unit.removesuffix(self.bound).strip() in {"%", "points"}
        return 0.5 * 10**-self.decimals if self.decimals or is_percentage else 0.0


class ReasonRow(Strict):
    """Reason why some printed numbers cannot be computed from other printed numbers.

    ``exhibit``, ``row`` and ``column`` are patterns of the numbers' keys; ``*`` matches any text.
    """

    exhibit: str
    row: str
    column: str
    reason: str


def language_groups(campaign: Campaign) -> dict[str, tuple[str, ...]]:
    """Return ``{group: sorted language codes}``. Raises UserError for a wrong row."""
    groups: dict[str, set[str]] = {}
    for row in read_rows(GroupRow, campaign.catalogue.groups):
        groups.setdefault(row.group, set()).add(row.lang)
    return {group: tuple(sorted(languages)) for group, languages in groups.items()}


def groups_of_models(campaign: Campaign, catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Return {value: language codes that it means} of the models' column ``languages``.

    A value is a group or codes separated by commas, such as {"deu, fra": ("deu", "fra")}. Groups
    without a model are returned too. Raises UserError for any other value.
    """
    groups = language_groups(campaign)
    for model in catalogue.models.values():
        if not model.languages or model.languages in groups:
            continue
        codes = tuple(code.strip() for code in model.languages.split(","))
        unknown = [code for code in codes if code not in catalogue.languages]
        if unknown:  # the table may have languages that the campaign does not select
            all_languages = whole_catalogue(campaign).languages
            unknown = [code for code in unknown if code not in all_languages]
        if unknown:
            files = campaign.catalogue
            raise UserError(
                f"{files.models}: model {model.name!r} exists for languages "
                f"{model.languages!r}; {unknown[0]!r} is neither a group of {files.groups} "
                f"({', '.join(groups)}) nor the code of a language in {files.languages}. Correct "
                "it, or add a row there."
            )
        groups[model.languages] = codes
    return groups
