"""What each corrected decision alone does to the pairs and items of the mirror's languages.

python benchmarks/decision_effects.py [LANG ...] > docs/multiblimp_decisions.md

For each language the published counts, the change that each decision makes when it alone is
corrected, and the counts of the corrected variant. Without languages, all whose files are
complete.
"""

import sys
import tempfile
from pathlib import Path

from kit import MIRROR, complete_languages, generate, languages

from blimpworks.papers.multiblimp.settings import Decisions, MultiblimpOptions

HEADER = """# The effect of each decision

Pairs before sampling and items after it, per language whose sources are complete in the
mirror. Each column corrects one decision alone; a cell shows the change of pairs and, after
the slash, of items, and is empty where neither changes. `docs/multiblimp.md` says what each
decision is. Made by `python benchmarks/decision_effects.py`.
"""


# Decisions about the evaluation change no pairs.
DECISIONS = [name for name in Decisions.model_fields if name != "mcnemar"]


def counts(lang, options):
    """Pairs and items of a language."""
    with tempfile.TemporaryDirectory() as directory:
        return generate(lang, MIRROR, Path(directory), options)


def change(ours, published):
    """Change of pairs and of items, as a cell."""
    changes = [a - b for a, b in zip(ours, published, strict=True)]
    return "/".join(f"{n:+,}" if n else "0" for n in changes) if any(changes) else ""


def row(lang, name):
    """A language's cells, by column."""
    published = counts(lang, MultiblimpOptions())
    cells = {"language": name, "published": "/".join(f"{n:,}" for n in published)}
    for decision in DECISIONS:
        options = MultiblimpOptions(decisions=Decisions(**{decision: "corrected"}))
        cells[decision] = change(counts(lang, options), published)
    corrected = counts(lang, MultiblimpOptions(variant="corrected"))
    return cells | {"corrected": "/".join(f"{n:,}" for n in corrected)}


def main():
    names = languages()
    rows = []
    for number, lang in enumerate(codes := sys.argv[1:] or complete_languages(), start=1):
        print(f"{number} of {len(codes)}: {lang}", file=sys.stderr, flush=True)
        rows.append(row(lang, names[lang].name))
    # A decision that changes nothing anywhere is named below the table, not in it.
    idle = [c for c in DECISIONS if not any(r[c] for r in rows)]
    columns = [c for c in rows[0] if c not in idle]
    print(HEADER)
    print(f"| {' | '.join(c.replace('_', ' ') for c in columns)} |")
    print(f"|---{'|--:' * (len(columns) - 1)}|")
    for cells in rows:
        print(f"| {' | '.join(cells[c] for c in columns)} |")
    if idle:
        print(
            "\nNo change of these numbers in any of these languages (some change what is in "
            f"the pairs, or which are drawn): {', '.join(idle)}."
        )


if __name__ == "__main__":
    main()
