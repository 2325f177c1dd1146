"""Test that YAML and JSON are read in one way, which refuses ambiguous and endless files."""

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.load import load_campaign
from blimpworks.errors import UserError
from blimpworks.files import load_json
from blimpworks.yaml_files import load_yaml, read_yaml
from support.paths import REPOSITORY

FOLDERS = ("config", "src", "workflow", "profiles", "slurm")
OURS = [path for folder in FOLDERS for path in sorted((REPOSITORY / folder).rglob("*.yaml"))]
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "".join(f"k{n}: &k{n} [{f'*k{n - 1}' if n else 1}]\n" for n in range(1000))
REFUSED = {
    "a: 1\nb: 2\na: 3\n": "line 3, column 1: key 'a' is there twice, first in line 1; keep one",
    "x:\n  a: 1\n  'a': 2\n": "line 3, column 3: key 'a' is there twice",
    "{1: a, 1.0: b}": "key 1.0 is there twice",
    "? a\n? a": "key 'a' is there twice",
    LAUGHS: "more than 10,000 values",
    CHAIN: "more than 50 levels",
    "a: &a [*a]": "an alias inside what it repeats",
    "[" * 100_000: "more than 50 levels",
    "{a: " * 3000: "more than 50 levels",
    "a: " + "9" * 90_000: "more than 100 characters of a number",
    "a: " + "1:" * 40_000 + "1": "more than 100 characters of a number",
    "seed: 010": "line 1, column 7: 010 is the number 8 in YAML; write 8, or quote it",
    "a: [1:30]": "1:30 is the number 90 in YAML; write 90, or quote it",
    "x" * 100_001: "has 100,001 characters; expected YAML of at most 100,000",
    "a: 2001-99-99": "month must be in 1..12",
    "!!python/object/apply:os.system [ls]": "apply:os.system', expected a plain value",
    "a: !!bool maybe": "line 1, column 4: the tag 'tag:yaml.org,2002:bool'",
    "a: !!int ''": "the tag 'tag:yaml.org,2002:int'",
    "a: !!timestamp soon": "the tag 'tag:yaml.org,2002:timestamp'",
    "a: \0": "control characters are not allowed",
    "{[a]: b}": "unhashable key",
    "--- a\n--- b": "expected a single document",
    "a:\t- b": "block sequence entries are not allowed in this context",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:20]))
def test_what_is_ambiguous_or_endless_is_refused_in_one_sentence_at_once(text):
    start = time.process_time()
    with pytest.raises(UserError) as error:
        load_yaml(text, "campaign.yaml")
    assert time.process_time() - start < 3
    assert str(error.value).startswith("campaign.yaml")
    assert REFUSED[text] in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_our_own_files_are_read_as_before(path):
    assert read_yaml(path, "a file") == yaml.safe_load(path.read_text(encoding="utf-8"))


def test_a_merged_key_may_stand_again():
    text = "a: &a {x: 1, y: 1}\nb: {<<: *a, x: 2}\nc: {<<: [*a, *a]}"
    assert load_yaml(text, "f.yaml")["b"] == {"x": 2, "y": 1}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(VALUES)
def test_what_yaml_writes_is_read_as_yaml_reads_it(value):
    """The writer itself folds a line separator in a key to a space."""
    text = yaml.safe_dump(value, allow_unicode=True)
    assert load_yaml(text, "f.yaml") == yaml.safe_load(text)


@given(st.text("ab: -[]{}&*!?|>'\"#\n\t<1.", max_size=30))
def test_any_text_is_read_as_yaml_or_refused(text):
    try:
        expected = yaml.load(text, yaml.CSafeLoader)  # the same parser
    except (yaml.YAMLError, ValueError):
        expected = UserError
    try:
        value = load_yaml(text, "f.yaml")
    except UserError:
        return
    assert repr(value) == repr(expected)


def test_the_package_reads_yaml_in_this_way_alone():
    sources = (REPOSITORY / "src/blimpworks").rglob("*.py")
    calls = ("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load")
    readers = [path.name for path in sources if any(c in path.read_text("utf-8") for c in calls)]
    assert readers == []


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ("{recipes: {r: {kind: lstm, seeds: 1000000000}}}", "training.recipes.r.seeds"),
        ("{recipes: {r: {kind: transformer, layers: 1000000000}}}", "training.recipes.r.layers"),
        ("{recipes: {r: {kind: masked, vocabulary: 1000000000}}}", "training.recipes.r.vocabulary"),
        ("{max_sentences: 100000000000000}", "training.max_sentences"),
    ],
)
def test_numbers_beyond_any_use_are_refused(settings, key, tmp_path):
    path = Path(tmp_path / "c.yaml")
    path.write_text(f"campaign: huge\ntraining: {settings}\n")
    start = time.process_time()
    with pytest.raises(UserError, match=f"key '{key}' is 1000*: input should be less than"):
        load_campaign(path)
    assert time.process_time() - start < 3


@given(VALUES)
def test_what_python_writes_as_json_is_read_back(value):
    assert load_json(json.dumps(value)) == value


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'])
def test_a_key_that_stands_twice_in_json_is_refused(text):
    with pytest.raises(ValueError, match="key 'a' stands twice in an object; keep one"):
        load_json(text)
