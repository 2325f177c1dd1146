"""Provide the benchmarks of pair generation with languages of the mirror.

This module makes later imports of pandas fail: the pipeline's jobs do not import it either, because
its import takes a second.
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
    """Return the rows of the catalogue's table of languages, by code."""
    return {row.lang: row for row in rows_of(LanguageRow, "languages.tsv")}


def languages_with_text():
    """Return the codes of MultiBLiMP's languages with at least one treebank in the mirror."""
    pinned = {row.lang for row in rows_of(TreebankRow, "treebanks.tsv") if row.sha256}
    return [lang for lang, row in languages().items() if lang in pinned and row.is_of("multiblimp")]


def complete_languages():
    """Return the codes of MultiBLiMP's languages with all their files in the mirror."""
    files = [*rows_of(TreebankRow, "treebanks.tsv")]
    files += [row for row in rows_of(SourceRow, "sources.tsv") if row.kind in UNIMORPH_KINDS]
    incomplete = {row.lang for row in files if not row.sha256}
    return [lang for lang in languages_with_text() if lang not in incomplete]
