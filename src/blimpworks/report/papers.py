"""What papers call their exhibits."""

import re

KINDS = {"table": "Table", "fig": "Figure", "figure": "Figure"}


def exhibit_label(name: str) -> str:
    """What the paper calls an exhibit: ``tableb2`` is "Table B.2"; empty for one of ours.

    Statistics of running text are called "In the text", with sections where they are known.
    """
    if name.startswith("text"):
        sections = [f"{s[0]}.{s[1:]}".rstrip(".") for s in re.findall(r"\d+", name)]
        return f"In the text ({', '.join(sections)})" if sections else "In the text"
    match = re.fullmatch(r"(table|figure|fig)_?([a-z]?)(\d+)([a-z]?)", name)
    if not match:
        return ""
    kind, letter, number, part = match.groups()
    return f"{KINDS[kind]} {letter.upper()}{'.' if letter else ''}{number}{part}"
