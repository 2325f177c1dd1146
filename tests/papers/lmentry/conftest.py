from copy import deepcopy
from functools import cache

import pytest
import yaml


@pytest.fixture(scope="session", autouse=True)
def each_text_parsed_once():
    """YAML of the same text is parsed once: the language packs are read for each exhibit."""
    parse = yaml.safe_load
    known = cache(parse)

    def safe_load(stream):
        return deepcopy(known(stream)) if isinstance(stream, str) else parse(stream)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "safe_load", safe_load)
        yield
