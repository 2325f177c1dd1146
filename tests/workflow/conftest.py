"""Mark all tests of this folder, as they run Snakemake on a whole campaign."""

from pathlib import Path

import pytest

ROOM = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items):
    for item in items:
        if ROOM in item.path.parents:
            item.add_marker("workflow")
