from functools import partial

import pytest

from support import grammar_kit


@pytest.fixture
def write(tmp_path):
    """A function that writes a text, less common indentation, to a file of a name."""
    return partial(grammar_kit.write, tmp_path)
