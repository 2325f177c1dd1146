import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def mirror():
    """Directory with copies of upstream data: $BLIMPWORKS_MIRROR or ../shared/mirror."""
    path = Path(os.environ.get("BLIMPWORKS_MIRROR", REPOSITORY.parent / "shared" / "mirror"))
    if not path.is_dir():
        pytest.skip(f"no mirror of upstream data at {path} (set BLIMPWORKS_MIRROR)")
    return path
