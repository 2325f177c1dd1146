"""A language's treebank words, in the spelling that MultiBLiMP gives them."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from blimpworks.papers.multiblimp.decisions import corrected
from blimpworks.papers.multiblimp.items.orthography import normalise_tokens
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.tables import TOKENS, read_table


def read_tokens(
    path: Path, columns: Sequence[str], special: Sequence[str], options: MultiblimpOptions
) -> pa.Table:
    """Columns of a ``tokens`` table after the ``special`` treatments of its language.

    The column ``misc`` comes too where there are any. Raises UserError when the table can't
    be read, or for an unknown treatment.
    """
    wanted = list(dict.fromkeys([*columns, "misc"])) if special else columns
    table = read_table(TOKENS, path, wanted)
    return normalise_tokens(table, special, corrected=corrected(options, "scripts"))
