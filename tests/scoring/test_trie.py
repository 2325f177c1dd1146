import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.scoring.passes import packed_passes, padded_passes, plan_rows
from blimpworks.scoring.trie import build_trie

# Few ids, so that prefixes, repeats and empty sequences occur by chance.
SEQUENCES = st.lists(st.lists(st.integers(0, 3), max_size=8), max_size=25)
WIDTHS = st.integers(1, 12)


def flatten(sequences):
    flat = np.array([token for sequence in sequences for token in sequence], dtype=np.int32)
    return flat, np.array([len(sequence) for sequence in sequences], dtype=np.int64)


def prefixes(sequences):
    return sorted({tuple(s[:k]) for s in sequences for k in range(1, len(s) + 1)})


def path_to(trie, node):
    path = []
    while node >= 0:
        path.append(int(trie.token[node]))
        node = trie.parent[node]
    return tuple(path[::-1])


@given(SEQUENCES)
def test_a_tree_has_one_node_for_each_distinct_prefix_in_depth_first_order(sequences):
    trie = build_trie(*flatten(sequences))
    result = [path_to(trie, node) for node in range(len(trie.token))]
    assert result == prefixes(sequences)
    assert trie.depth.tolist() == [len(path) - 1 for path in result]


def targets(one):
    """Yield each edge's index in the results, the ids that the model has read, and the token."""
    rows, columns = np.nonzero(one.read)
    for parent, token, place in zip(one.parent, one.token, one.result, strict=True):
        row, column = rows[parent], columns[parent]
        if one.number is None:
            before = one.ids[row, : column + 1]
        else:
            numbers, number = one.number[row], one.number[row, column]
            before = one.ids[row][(numbers <= number) & (number < one.end[row])]
        yield place, tuple(before), token


@given(SEQUENCES, WIDTHS, st.integers(1, 60))
def test_packed_passes_ask_for_every_token_after_the_first_once(sequences, width, most):
    trie = build_trie(*flatten(sequences))
    passes = list(packed_passes(trie, plan_rows(trie, width), most))
    result = {place: (*before, token) for each in passes for place, before, token in targets(each)}
    assert sum(len(each.result) for each in passes) == len(result)
    assert all(each.ids.size <= max(most, each.ids.shape[1]) for each in passes)
    assert sorted(result.values()) == [p for p in prefixes(sequences) if len(p) > 1]
    assert all(path_to(trie, node) == path for node, path in result.items())


@given(SEQUENCES, st.integers(1, 60))
def test_padded_passes_ask_for_every_token_after_the_first_once(sequences, most):
    passes = list(padded_passes(*flatten(sequences), most))
    result = {place: (*before, token) for each in passes for place, before, token in targets(each)}
    every = [tuple(s[: k + 1]) for s in sequences for k in range(len(s))]
    assert result == {place: path for place, path in enumerate(every) if len(path) > 1}
    assert all(each.ids.size <= most or len(each.ids) == 1 for each in passes)


def test_ids_above_a_byte_sort_as_numbers():
    trie = build_trie(*flatten([[70000], [256], [255], [1]]))
    assert trie.token.tolist() == [1, 255, 256, 70000]
