"""Count how each corrected decision changes MultiBLiMP's pairs and items.

python benchmarks/decision_effects.py [LANG ...]
python benchmarks/decision_effects.py --right [LANG ...]

The table has a row per language. Columns are the published numbers of pairs and items, their change
by each decision alone, and the corrected numbers. Without LANG: all languages with complete files
in the mirror. ``--right`` counts the pairs that the corrected variant drops, because a form is
right in another mood, and those that it cannot decide. Without LANG: all languages with a treebank
in the mirror. docs/multiblimp_decisions.md has excerpts of both tables.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from kit import MIRROR, complete_languages, generate, languages, languages_with_text

from blimpworks.papers.multiblimp.items.inflection import RIGHT
from blimpworks.papers.multiblimp.items.pairs import UNDECIDED
from blimpworks.papers.multiblimp.settings import Decisions, MultiblimpOptions
from blimpworks.tables import FUNNEL, read_table

# Decisions about the evaluation change no pairs.
DECISIONS = [name for name in Decisions.model_fields if name != "mcnemar"]


def counts(lang, options):
    """Return the numbers of pairs and items that are made for a language."""
    with tempfile.TemporaryDirectory() as directory:
        return generate(lang, MIRROR, Path(directory), options)


def change(ours, published):
    """Return a cell "pairs/items" with the changes; empty without a change."""
    changes = [a - b for a, b in zip(ours, published, strict=True)]
    return "/".join(f"{n:+,}" if n else "0" for n in changes) if any(changes) else ""


def row(lang, name):
    """Return a language's numbers of pairs and items by column: published, decisions, corrected."""
    published = counts(lang, MultiblimpOptions())
    cells = {"language": name, "published": "/".join(f"{n:,}" for n in published)}
    for decision in DECISIONS:
        options = MultiblimpOptions(decisions=Decisions(**{decision: "corrected"}))
        cells[decision] = change(counts(lang, options), published)
    corrected = counts(lang, MultiblimpOptions(variant="corrected"))
    return cells | {"corrected": "/".join(f"{n:,}" for n in corrected)}


def right_row(lang, name):
    """Return a language's cells for ``--right``: dropped, kept and undecided pairs by column."""
    totals = Counter()
    with tempfile.TemporaryDirectory() as directory:
        generate(lang, MIRROR, Path(directory), MultiblimpOptions(variant="corrected"))
        for row in read_table(FUNNEL, Path(directory) / "funnel2").to_pylist():
            totals[row["reason"]] += row["n"]
    right, pairs, undecided = totals[f"- {RIGHT}"], totals["pairs"], totals[UNDECIDED]
    return {
        "language": name,
        "pairs before": f"{pairs + right:,}",
        "right in another mood": share(right, pairs + right),
        "pairs after": f"{pairs:,}",
        "of these undecided": share(undecided, pairs),
    }


def share(n, total):
    """Return a count with its percentage of ``total``; empty for zero."""
    return f"{n:,} ({100 * n / total:.1f} %)" if n else ""


def main():
    names = languages()
    about_right = "--right" in sys.argv
    chosen = [arg for arg in sys.argv[1:] if arg != "--right"]
    rows = []
    codes = chosen or (languages_with_text() if about_right else complete_languages())
    for number, lang in enumerate(codes, start=1):
        print(f"{number} of {len(codes)}: {lang}", file=sys.stderr, flush=True)
        rows.append((right_row if about_right else row)(lang, names[lang].name))
    # A decision that changes nothing anywhere is named below the table, not in it.
    idle = [c for c in rows[0] if c in DECISIONS and not any(r[c] for r in rows)]
    columns = [c for c in rows[0] if c not in idle]
    print(f"| {' | '.join(c.replace('_', ' ') for c in columns)} |")
    print(f"|---{'|--:' * (len(columns) - 1)}|")
    for cells in rows:
        print(f"| {' | '.join(cells[c] for c in columns)} |")
    if idle:
        print(
            "\nThese decisions change no numbers in these languages, though some change the "
            f"words of pairs, or which pairs are drawn: {', '.join(idle)}."
        )


if __name__ == "__main__":
    main()
