from functools import partial

import pytest

from support import grammar_kit


@pytest.fixture
def write(tmp_path):
    return partial(grammar_kit.write, tmp_path)
