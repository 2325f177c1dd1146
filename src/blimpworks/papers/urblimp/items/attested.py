"""Which word forms a language has: those of its treebanks, of UniMorph and of wordfreq's lists."""

from collections.abc import Iterable
from pathlib import Path

import wordfreq

from blimpworks.errors import UserError
from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items.trees import Tree
from blimpworks.tables import LEXICON, read_table

BEGINNING, END = "^", "$"
LIST = "small"
"""wordfreq's list that all its languages have."""


def listed(code: str) -> Iterable[str]:
    """The forms of wordfreq's list for a language. Raises UserError where it has none."""
    try:
        return wordfreq.get_frequency_dict(code, LIST)
    except (LookupError, ValueError):
        raise UserError(
            f"the language pack's key 'attestation.wordfreq' is {code!r}, for which wordfreq has "
            f"no list; expected one of {', '.join(sorted(wordfreq.available_languages(LIST)))}, "
            "or null to do without."
        ) from None


class Attested:
    """Forms that are attested, and the pairs of neighbours that treebanks have."""

    def __init__(
        self,
        trees: Iterable[Tree],
        orthography: Orthography,
        lexicon: Path | None = None,
        code: str | None = None,
    ) -> None:
        """Collect the forms of ``trees``, a table ``lexicon`` and wordfreq's language ``code``.

        Raises UserError for a table that is missing or of another schema, and for a code that
        wordfreq doesn't know.
        """
        self.neighbours: set[tuple[str, str]] = set()
        self.sentences: set[tuple[str, ...]] = set()
        forms: set[str] = set()
        for tree in trees:
            words = [word.form for word in tree.words]
            forms.update(words)
            self.sentences.add(tuple(words))
            self.neighbours.update(zip([BEGINNING, *words], [*words, END], strict=True))
        if lexicon is not None:
            table = read_table(LEXICON, lexicon, ["form"])
            forms.update(map(orthography.word, set(table["form"].to_pylist())))
        if code is not None:
            forms.update(map(orthography.word, listed(code)))
        self.forms = {part for form in forms for part in form.split()}

    def has(self, form: str) -> bool:
        """Whether all words of a form are attested."""
        return all(part in self.forms for part in form.split())
