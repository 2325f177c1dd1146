"""What the benchmarks of pair generation share: languages of the mirror, one process each run.

pandas is kept out, as it is in the pipeline's own jobs (its import costs a second).
"""

import os
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
MIRROR = Path(os.environ.get("BLIMPWORKS_MIRROR", REPOSITORY.parent / "shared" / "mirror"))


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


sys.meta_path.insert(0, _NoPandas())
sys.path.insert(0, str(REPOSITORY / "tests"))

from blimpworks.campaign.catalogue import (  # noqa: E402
    UNIMORPH_KINDS,
    LanguageRow,
    SourceRow,
    TreebankRow,
)
from support.mirror_kit import generate, rows_of  # noqa: E402

__all__ = ["MIRROR", "complete_languages", "generate", "languages", "languages_with_text"]


def languages():
    """Rows of the table of languages, by code."""
    return {row.lang: row for row in rows_of(LanguageRow, "languages.tsv")}


def languages_with_text():
    """Codes of MultiBLiMP's languages that the mirror has a treebank of, complete or not."""
    pinned = {row.lang for row in rows_of(TreebankRow, "treebanks.tsv") if row.sha256}
    return [lang for lang, row in languages().items() if lang in pinned and row.is_of("multiblimp")]


def complete_languages():
    """Codes of those all of whose files are pinned, and so in the mirror."""
    files = [*rows_of(TreebankRow, "treebanks.tsv")]
    files += [row for row in rows_of(SourceRow, "sources.tsv") if row.kind in UNIMORPH_KINDS]
    lacking = {row.lang for row in files if not row.sha256}
    return [lang for lang in languages_with_text() if lang not in lacking]
