"""Generate pairs of declared paradigms, for tests of rules that hold for every pair."""

from functools import cache, lru_cache

from blimpworks.papers.blimp.items.generate import Generator, read_declaration
from blimpworks.papers.blimp.items.lexicon import read_lexicon
from support.mirror_kit import CONFIG

BLIMP = CONFIG / "blimp"
PATHS = {path.stem: path for path in sorted((BLIMP / "paradigms").glob("*.yaml"))}
ENOUGH = 150


@lru_cache(maxsize=1)
def lexicon():
    return read_lexicon(BLIMP / "lexicon")


@cache
def pairs(uid, count=ENOUGH, seed=0):
    generator = Generator(PATHS[uid], read_declaration(PATHS[uid]), lexicon(), seed)
    return [*generator.pairs(count)]
