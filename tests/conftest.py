import os
from pathlib import Path

import pytest

from blimpworks.config import MultiblimpOptions

REPOSITORY = Path(__file__).resolve().parents[1]
# Child processes of tests find the package in a checkout where it is not installed.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(REPOSITORY / "src"), os.environ.get("PYTHONPATH")])
)


@pytest.fixture(scope="session")
def mirror():
    """Directory with copies of upstream data: $BLIMPWORKS_MIRROR or ../shared/mirror."""
    path = Path(os.environ.get("BLIMPWORKS_MIRROR", REPOSITORY.parent / "shared" / "mirror"))
    if not path.is_dir():
        pytest.skip(f"no mirror of upstream data at {path} (set BLIMPWORKS_MIRROR)")
    return path


@pytest.fixture
def treebank(tmp_path):
    """A language with a treebank of sentences in the short notation."""

    from treebank_kit import Language  # not in every environment that runs tests

    def start(*sentences, lang="xyz", phenomena=("sv#",), **decisions):
        options = MultiblimpOptions(phenomena=phenomena, decisions=decisions)
        return Language(tmp_path, lang, options).tokens(*sentences)

    return start


@pytest.fixture
def pairs_of(treebank):
    """Pairs and rejections of a treebank and a UniMorph table."""

    from treebank_kit import UNIMORPH

    def build(*sentences, unimorph=UNIMORPH, **settings):
        language = treebank(*sentences, **settings)
        language.lexicon(unimorph)
        language.candidates()
        language.agreement()
        return language.pairs()

    return build
