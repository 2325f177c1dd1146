"""Generate whole languages of the catalogue in one process from the mirror's files."""

import lzma
from functools import cache

from blimpworks.campaign.catalogue import UNIMORPH_KINDS, LanguageRow, SourceRow, TreebankRow
from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.campaign.table_files import read_rows
from blimpworks.linguistics.treebanks import build_tokens
from blimpworks.papers.multiblimp.items.lexicon import build_lexicon
from blimpworks.papers.multiblimp.items.sampling import sample_items
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from support.paths import REPOSITORY
from support.treebank_kit import Language

CONFIG = REPOSITORY / "config"
PUBLISHED = MultiblimpOptions()
# As in config/mirror.yaml.
SUBSTITUTES = {"unimorph/eng/eng": "unimorph/eng/eng.args"}


@cache
def rows_of(kind, table):
    return read_rows(kind, CONFIG / table)


def fetch(row, mirror, directory):
    """Unpack a pinned file of the mirror under the name that the pipeline gives it."""
    source = mirror / row.mirror
    packed = source.with_name(f"{source.name}.xz")
    output = directory / "raw" / row.name
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(
        lzma.decompress(packed.read_bytes()) if packed.exists() else source.read_bytes()
    )
    return output


def generate(lang, mirror, directory, options=PUBLISHED):
    """Run all stages for one language; return the numbers of pairs and of drawn items."""
    row = next(r for r in rows_of(LanguageRow, "languages.tsv") if r.lang == lang)
    treebanks = [
        (r.treebank, fetch(r, mirror, directory))
        for r in rows_of(TreebankRow, "treebanks.tsv")
        if r.lang == lang and r.sha256
    ]
    language = Language(directory, lang, options, row.special)
    tables = [directory / name for name in ("tokens", "sentences", "malformed")]
    build_tokens(treebanks, *tables, TreebankOptions(malformed="set_aside"))
    sources = rows_of(SourceRow, "sources.tsv") if row.unimorph else []
    named = {source.name: source for source in sources}
    chosen = [
        s.name for kind in UNIMORPH_KINDS for s in sources if (s.kind, s.lang) == (kind, lang)
    ]
    used = [named[SUBSTITUTES.get(name, name)] for name in chosen]
    unimorph = [fetch(source, mirror, directory) for source in used if source.sha256]
    build_lexicon(tables[0], unimorph, lang, row.special, directory / "lexicon", options)
    language.candidates()
    language.agreement()
    language.pairs()
    outputs = directory / "items", directory / "funnel3"
    counts = sample_items(directory / "pairs", lang, row.untested, *outputs, options)
    return counts["pairs"], counts["items"]
