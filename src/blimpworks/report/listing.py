"""Write a page with a whole comparison as a table to sort, search and filter."""

from html import escape
from math import isnan
from urllib.parse import quote

import pandas as pd
from itables import to_html_datatable

from blimpworks.reproduction.printed import PLACE

_NUMBER = PLACE[:-1]
"""Columns of both listings that identify a number."""
PUBLISHED = (*_NUMBER, "status", "recomputed", "reading", "rule", "note")
MEASURED = (*_NUMBER, "measured", "low", "high", "n", "reading", "verdict", "differs")
COLUMNS = {"published": PUBLISHED, "measured": MEASURED}
INTRODUCTION = {
    "published": "Each printed number, beside its value computed from the other numbers in "
    "print, with the rule and the reason; beside a text, what the authors released in its place. "
    "The same as <code>reproduction/published.csv</code>.",
    "measured": "Each printed number or text, beside the campaign's own where there "
    "is one. Both are compared where they are about the same model, languages and items; else the "
    "last column says what differs. The same as <code>reproduction/measured.csv</code>.",
}
LISTED = ("paper", "exhibit", "status", "verdict")
"""Columns with few values, filtered by a list of choices."""


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return escape(str(value))


def listing_html(name: str, frame: pd.DataFrame) -> str:
    """Return the comparison ``name`` as HTML; needs ``_static/datatables.js`` beside the page."""
    frame = frame[list(COLUMNS[name])]
    places = frame[["paper", "exhibit", "row", "column"]].itertuples(index=False, name=None)
    links = []
    for (paper, *place), printed in zip(places, frame["printed"], strict=True):
        # The address opens the number's lineage.
        address = f"{paper}.html#number/{'/'.join(quote(part, safe='') for part in place)}"
        links.append(f'<a href="{escape(address)}">{escape(printed or "?")}</a>')
    shown = frame.map(_text).assign(printed=links)
    # These columns are filtered by a list of choices, others by a search.
    listed = [index for index, name in enumerate(shown.columns) if name in LISTED]
    table = to_html_datatable(
        shown,
        connected=False,
        table_id=f"bw-{name}",
        showIndex=False,
        allow_html=True,
        maxBytes=0,
        maxRows=0,
        classes="display compact bw-listing",
        pageLength=25,
        lengthMenu=[25, 100, 500],
        layout={"topStart": "pageLength", "topEnd": "search"},
        columnControl=[["search"]],
        columnDefs=[{"targets": listed, "columnControl": [["searchList"]]}],
    )
    return (
        f"<p>{INTRODUCTION[name]}</p>\n"
        '<script src="_static/datatables.js"></script>\n'
        f'<div class="bw-scroll">{table}</div>\n'
    )
