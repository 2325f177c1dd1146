"""JSON from outside is read with each key once in an object."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.json_files import load_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_what_python_writes_is_read_back(value):
    assert load_json(json.dumps(value)) == value


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'])
def test_a_key_that_stands_twice_is_refused(text):
    with pytest.raises(ValueError, match="key 'a' stands twice in an object; keep one"):
        load_json(text)
