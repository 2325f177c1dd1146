"""Pairs that a declaration would give, for the one who writes it."""

from collections.abc import Iterator
from pathlib import Path

from blimpworks.papers.blimp.items.generator.declarations import read_declaration
from blimpworks.papers.blimp.items.generator.generate import Generator, Pair
from blimpworks.papers.blimp.items.lexicon.load import read_lexicon


def _noted(pair: Pair) -> Iterator[str]:
    """What is odd about a pair."""
    lengths = [len(side.entries) for side in (pair.good, pair.bad)]
    if lengths[0] != lengths[1]:
        yield f"{lengths[0]} lexical entries against {lengths[1]}"


def preview(declaration: Path, lexicon: Path, show: int, seed: int) -> Iterator[str]:
    """Lines that show the first pairs of a paradigm, and what is odd about them.

    The critical words stand after the sentences. Raises UserError for a mistake in the
    declaration or the lexicon.
    """
    generator = Generator(declaration, read_declaration(declaration), read_lexicon(lexicon), seed)
    for pair in generator.pairs(show):
        for mark, side in ((" ", pair.good), ("*", pair.bad)):
            yield f"{mark} {side.text}{f'  [{side.word}]' if side.word else ''}"
        yield from (f"  ! {odd}" for odd in _noted(pair))
