"""Find the rows and items behind a cell, with token log-probabilities and treebank sentences.

``explain`` calls these functions. A cell is a number of an exhibit (a table or figure). The files
behind a cell form a tree: a ``Node`` (``lineage``) is a file, with the nodes of the files that it
is made from. The kind of a table ("judgements", "scores", "items", …) is a directory in its path:
RESULTS/scores/mine/gpt2/eng.parquet. A verdict is a judgement's row: margin, tie, and correctness.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.audit.cells import read_rows_with_lines
from blimpworks.audit.lineage import Node, is_about
from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import select_rows
from blimpworks.items import ALL, SIDES
from blimpworks.scoring.tokens import overlaps, token_starts
from blimpworks.tables import read_parquet

TABLE = "_table"
"""Column with the index of a row's table."""
WORD_FIELDS = ("subject", "inflected")
"""Words of an item that are shown with their ids in the treebank sentence."""
PRINTED_NUMBERS = "published"
"""Kind of tables of printed numbers."""
PACKS = "packs"
"""Kind of tables of language packs' templates."""
FOLDERS = {PACKS: "languages"}
"""Directory of the tables of a kind, if it is not called like the kind."""
SUFFIXES = {PRINTED_NUMBERS: (".parquet", ".csv"), PACKS: (".yaml",)}
"""File suffixes of the tables of a kind, if not only ``.parquet``."""
WITHOUT_LINES = (".json", ".parquet", ".xlsx")
"""Suffixes of files in which ``line`` is the number of an item, not of a line."""
TABLES_OF_ITEMS = ("judgements", "scores", "answers", "items")
"""Kinds of tables with a row per item, in order of preference."""
MODEL_COLUMNS = ("model", "model_a", "model_b")
JUDGEMENT_COLUMNS = (
    *("method", "value_good", "value_bad", "margin", "correct", "tie", "near_tie"),
    *("certain", "rule", "pattern", "acceptable", "accepted"),
)
"""Columns of judgements that are shown; pairs lack those of the second line."""


def nearest(tree: Node, table_kind: str) -> list[Node]:
    """Return the nearest ancestors of ``tree`` that are tables of a kind.

    There may be several at the same distance, because a job may score several benchmarks.
    """
    # Suffixes keep out users' CSV files, which may be in directories of any name.
    suffixes = SUFFIXES.get(table_kind, (".parquet",))
    folder = FOLDERS.get(table_kind, table_kind)
    matches: dict[Path, Node] = {}
    seen, level = set[Path](), [*tree.inputs]
    while level and not matches:
        new = {node.path: node for node in level if node.path not in seen}
        seen |= new.keys()
        for path, node in new.items():
            if f"/{folder}/" in f"/{path.as_posix()}" and path.suffix in suffixes:
                matches[path] = node
        level = [source for node in new.values() for source in node.inputs]
    # Leave out ancestors of another match: a sample of items is made from all items.
    ancestors = set[Path]()
    for source in chain.from_iterable(match.inputs for match in matches.values()):
        ancestors |= {node.path for node in source.walk()}
    return [match for path, match in matches.items() if path not in ancestors]


def read_arrow(path: Path) -> pa.Table:
    """Read a table with labels as plain strings. Raises UserError when it cannot be read."""
    try:
        return _read_version(path.resolve(), path.stat().st_mtime_ns)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}). Rebuild it.") from error


@lru_cache(maxsize=256)
def _read_version(path: Path, _changed: int) -> pa.Table:
    """Read a table, cached by its path and time of change."""
    table = read_parquet(path).replace_schema_metadata(None)
    types = {f.name: f.type for f in table.schema}
    plain = {n: t.value_type if pa.types.is_dictionary(t) else t for n, t in types.items()}
    return table.cast(pa.schema(plain))


def read_tables(nodes: Sequence[Node]) -> pd.DataFrame:
    """Return all rows of some tables, with the index of each row's table in column ``TABLE``."""
    frames, tables = [], []
    for number, node in enumerate(nodes):
        if node.path.suffix == ".csv":
            rows = pd.DataFrame(list(read_rows_with_lines(node.path)))
            frames.append(rows.assign(**{TABLE: number}))
        elif node.path.suffix == ".yaml":
            # Slow to import, and seldom needed: few cells come from a language pack.
            from blimpworks.campaign.registry import file_reader

            read = file_reader(PACKS)
            assert read is not None
            frames.append(read([node.path]).assign(**{TABLE: number}))
        else:
            table = read_arrow(node.path)
            # Leave out token arrays: pandas is slow with them, and only shown items need them.
            flat = [f.name for f in table.schema if not pa.types.is_nested(f.type)]
            table = table.select(flat)
            tables.append(table.append_column(TABLE, pa.array([number] * len(table), pa.int32())))
    if tables:
        frames.append(pa.concat_tables(tables, promote_options="default").to_pandas())
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def spread(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return at most ``count`` rows, evenly spread from the worst mistake to the best judgement.

    Judgements of pairs are sorted by margin, and rows of other tables keep their order.
    """
    if "margin" in rows:
        # Answers have no margin: order them by correctness, wrong ones first.
        keys = [name for name in ("margin", "correct") if name in rows and rows[name].notna().any()]
        rows = rows.sort_values([*keys[:1], "item_id"], kind="stable")
    return rows.iloc[_spread_indices(len(rows), count)]


def _spread_indices(total: int, count: int) -> list[int]:
    """Return at most ``count`` evenly spread indices below ``total``: [0, 4, 9] for 10 and 3."""
    indices = (round(i * (total - 1) / max(count - 1, 1)) for i in range(min(count, total)))
    return list(dict.fromkeys(indices))


def find_item_tables(tree: Node, rows: pd.DataFrame, count: int) -> tuple[list[Node], pd.DataFrame]:
    """Return at most ``count`` tables of items behind ``rows`` of another table, and their rows.

    The tables are judgements, or else scores, answers or items.
    """
    nodes: list[Node] = []
    for table_kind in TABLES_OF_ITEMS:
        if nodes := nearest(tree, table_kind):
            break
    # Choose tables of the rows' languages, and among those tables of the rows' models, if any.
    for columns in (("lang",), MODEL_COLUMNS):
        names: set[str] = set()
        for column in columns:
            names.update(rows[column].dropna() if column in rows else ())
        about = [node for node in nodes if is_about(node.path.as_posix(), frozenset(names))]
        nodes = about or nodes
    nodes = [nodes[index] for index in _spread_indices(len(nodes), count)]
    if not nodes:
        return [], pd.DataFrame()

    item_rows = read_tables(nodes)
    # Choose items that agree with the rows in each column where any do. Rows with the value "all"
    # are over all items.
    for column in ("method", "phenomenon", "paradigm", "item_id"):
        if column in rows and column in item_rows:
            matching = item_rows[item_rows[column].isin(set(rows[column]) - {ALL})]
            item_rows = matching if len(matching) else item_rows
    return nodes, item_rows


def _rows_where(node: Node, column: str, value: Any) -> list[dict[str, Any]]:
    table = read_arrow(node.path)
    rows: list[dict[str, Any]] = table.filter(pc.equal(table[column], value)).to_pylist()
    return rows


def _row_of(tables: Sequence[Node], item: str, paradigm: str | None = None) -> dict[str, Any]:
    """Return the row of an item, preferably in ``paradigm``; {} if no table has the item."""
    for node in tables:
        if rows := _rows_where(node, "item_id", item):
            return next((row for row in rows if row.get("paradigm") == paradigm), rows[0])
    return {}


def token_pieces(
    text: str,
    ids: Sequence[int],
    ends: Sequence[int],
    logprobs: Sequence[float | None],
    region: range,
) -> list[dict[str, Any]]:
    """Cut a text into pieces at the ends of the model's tokens, with log-probabilities [nats].

    The piece of a token is empty if the token is the end of the text, or a part of a character.
    The log-probability is None for a token that is not scored. A piece is critical if it overlaps
    ``region``, a range of characters.
    """
    after = np.asarray(ends, np.int32)
    critical = overlaps(token_starts(after), after, region.start, region.stop).tolist()
    pieces: list[dict[str, Any]] = []
    start = 0
    for token, end, logprob, is_critical in zip(ids, ends, logprobs, critical, strict=True):
        score = None if logprob is None or math.isnan(logprob) else logprob
        piece = {"id": token, "piece": text[start:end], "logprob": score, "critical": is_critical}
        pieces.append(piece)
        start = end
    return pieces


NO_REGION = {"good_start": 0, "good_end": 0}  # columns of an item without critical words


def _side(item: dict[str, Any], scores: dict[str, Any], side: str) -> dict[str, Any]:
    """Return text and log-probabilities [nats] of a pair's ``side``, "good" or "bad"."""
    region = range(item.get(f"{side}_start") or 0, item.get(f"{side}_end") or 0)
    ids, ends, logprobs = (scores.get(f"{side}_{n}") or [] for n in ("ids", "ends", "logprobs"))
    return {
        "text": item[side],
        "logprob": scores.get(f"logprob_{side}"),
        "tokens": token_pieces(item[side], ids, ends, logprobs, region),
    }


def _sentence_tables(node: Node) -> list[Node]:
    """Return tables of treebank sentences behind a product, or else made with its tokens."""
    nodes = nearest(node, "sentences")
    for tokens in [] if nodes else nearest(node, "tokens"):
        for output in tokens.record["outputs"] if tokens.record else []:
            path = Path(output["path"])
            if "sentences" in path.parts:
                nodes.append(Node(path, output["sha256"], tokens.record, inputs=tokens.inputs))
    return nodes


def _ancestor_path(node: Node, end: str) -> Path | None:
    paths = (ancestor.path for ancestor in node.walk())
    return next((path for path in paths if str(path).endswith(end)), None)


def origin(items: Node, item: dict[str, Any]) -> dict[str, Any] | None:
    """Return file, line and text that an item was made from; None for an item without an origin.

    ``items``: the item's table. An item comes from a row of a released file, from a treebank
    sentence, or from a line of another file. ``line`` is a sentence's first line.
    """
    if item.get("released_file"):
        return _released_origin(items, item)
    if item.get("treebank"):
        return _treebank_origin(items, item)
    if item.get("file") and item.get("line"):
        return _line_origin(items, item)
    return None


def _released_origin(items: Node, item: dict[str, Any]) -> dict[str, Any]:
    """Return file, line and text of a released row; the treebank behind it was not retrieved."""
    facts = {name: item[name] for name in ("sent_id", "revision") if item[name] is not None}
    facts["released_from"] = f"{item['treebank']}/{item['file']}"
    file, line = item["released_file"], item["released_line"]
    release = _ancestor_path(items, f"/{file}") or Path(file)
    facts |= {"path": str(release), "line": line}
    if release.is_file():
        with release.open(encoding="utf-8", newline="") as handle:
            (headings,) = csv.reader([next(handle)], delimiter="\t")  # line 1
            cells = next(csv.reader(islice(handle, line - 2, None), delimiter="\t"), [])
        facts["text"] = dict(zip(headings, cells, strict=False)).get("sen", "")
    return facts


def _line_origin(items: Node, item: dict[str, Any]) -> dict[str, Any]:
    path = _ancestor_path(items, f"/{item['file']}")
    if path is None or not path.is_file():
        return {"path": item["file"], "line": item["line"]}
    facts = {"path": str(path), "line": item["line"]}
    if path.suffix not in WITHOUT_LINES:
        with path.open(encoding="utf-8") as handle:
            text = next(islice(handle, item["line"] - 1, None), "").rstrip("\n")
        facts["text"] = text.replace("\t", " ")
    return facts


def _treebank_origin(items: Node, item: dict[str, Any]) -> dict[str, Any]:
    """Return file and id of an item's sentence, with line and text if a table has the sentence."""
    location = {name: item[name] for name in ("treebank", "file", "sent_id")}
    for node in _sentence_tables(items):
        table = read_arrow(node.path)
        match = pc.equal(table["sent_id"], item["sent_id"])
        for name in ("treebank", "file"):
            match = pc.and_(match, pc.equal(table[name], item[name]))
        for row in table.filter(match).to_pylist():
            return location | sentence_origin(node, row)
    return location


def sentence_origin(sentences: Node, row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return file, line, text and id of the sentence in a row of a table of sentences."""
    end = f"{row['treebank']}/{row['file']}"
    path = _ancestor_path(sentences, end) or end
    return {"path": str(path), "line": row["line"], "text": row["text"], "sent_id": row["sent_id"]}


def _conditions(
    tables: Sequence[Node], scores: Sequence[Node], key: str
) -> dict[str, dict[str, Any]]:
    """Return {condition: row} of an item; ``side`` of a row has a text "[verb laughs] [end .]"."""
    for node in tables:
        if {"item", "condition", "regions"} <= {*read_arrow(node.path).column_names}:
            rows = _rows_where(node, "item", key)
            for row in rows:
                # A condition is one sentence, in the column of good ones.
                sentence = row["good"]
                side = _side(row | NO_REGION, _row_of(scores, row["item_id"]), "good")
                spans = zip(row["regions"], row["region_starts"], row["region_ends"], strict=True)
                regions = [f"[{name} {sentence[a:b]}]" for name, a, b in spans if b > a]
                row["side"] = {**side, "text": " ".join(regions)}
            return {row["condition"]: row for row in rows}
    return {}


def item_evidence(node: Node, row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return sentences or prompt, tokens, verdict and origin of the item in ``row`` of a table.

    ``node``: the table, such as judgements or items. An item is a pair, a sentence, a prompt, or
    has several conditions.
    """
    items, scores, answers = (
        [node] if table_kind in node.path.parts else nearest(node, table_kind)
        for table_kind in ("items", "scores", "answers")
    )
    key, paradigm = row["item_id"], row.get("paradigm")
    item = _row_of(items, key, paradigm)
    facts = {"item_id": key, "paradigm": paradigm or item.get("paradigm"), "table": str(node.path)}
    names = [name for name in JUDGEMENT_COLUMNS if name in row]
    facts |= {name: None if pd.isna(row[name]) else row[name] for name in names}
    conditions = {} if item else _conditions(items, scores, key)
    if conditions:
        first = next(iter(conditions.values()))
        facts |= {"predictions": first["predictions"], "origin": origin(items[0], first)}
        # Whether each prediction was true; None if judgements do not say it. ``row`` lacks it,
        # because rows are read without columns of lists.
        rows = _rows_where(node, "item_id", key)
        judged = [r for r in rows if r.get("method") == row.get("method")]
        judged = [r for r in judged if r.get("paradigm") == row.get("paradigm")]
        facts["held"] = judged[0].get("predictions_held") if judged else None
        facts["conditions"] = {name: condition["side"] for name, condition in conditions.items()}
    elif "prompt" in item:
        answer = _row_of(answers, key)
        facts |= {"prompt": item["prompt"], "gold": item["answer"]}
        facts |= {name: answer[name] for name in ("text", "status", "finish") if name in answer}
    elif "acceptable" in item and item["good"] == item["bad"]:
        facts |= {"origin": origin(items[0], item), "acceptable": item["acceptable"]}
        facts["sentence"] = _side(item | NO_REGION, _row_of(scores, key), "good")
    elif item:
        score = _row_of(scores, key)
        facts |= {side: _side(item, score, side) for side in SIDES}
        facts["origin"] = origin(items[0], item)
        facts["words"] = {
            word: {"id": item[f"{word}_id"], "form": item.get(f"{word}_form", item.get(word))}
            for word in WORD_FIELDS
            if item.get(f"{word}_id") is not None
        }
    return facts


def candidate_evidence(tree: Node, row_filter: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return at most ``count`` pairs of a subject and a verb, with their treebank sentences."""
    locations: list[dict[str, Any]] = []
    for node in nearest(tree, "candidates")[:count]:
        pairs = read_arrow(node.path).to_pandas()
        rows = select_rows(pairs, {"order": row_filter.get("order", [])})
        for row in spread(rows, count).to_dict("records"):
            forms = {w: {"id": row[w], "form": row[f"{w}_form"]} for w in ("subject", "verb")}
            for sentences in _sentence_tables(node):
                (sentence,) = _rows_where(sentences, "sentence", row["sentence"])
                origin = sentence_origin(sentences, sentence)
                locations.append({"words": forms, "origin": origin})
    return locations[:count]


def annotation_evidence(tree: Node, rows: pd.DataFrame, count: int) -> list[dict[str, Any]]:
    """Return at most ``count`` treebank sentences of ``rows`` with words, or subjects and verbs."""
    numbers = pa.array(rows["sentence"].unique()[:count], pa.int32())
    locations = []
    for node in nearest(tree, "sentences"):
        table = read_arrow(node.path)
        for row in table.filter(pc.is_in(table["sentence"], numbers)).to_pylist():
            locations.append({"origin": sentence_origin(node, row)})
    return locations[:count]


def printed_evidence(tables: Sequence[Node], rows: pd.DataFrame) -> list[dict[str, str | int]]:
    """Return file and line of the printed number behind each row of accuracies; {} without one."""
    locations = []
    for row in rows.to_dict("records"):
        # The origin is EXHIBIT/ROW/COLUMN; null is no string.
        exhibit, _, position = str(row.get("origin")).partition("/")
        numbers = [
            {"path": number["path"], "line": number["line"]}
            for node in tables[row[TABLE]].inputs
            if node.path.name == f"{exhibit}.csv"
            for number in read_rows_with_lines(node.path)
            if f"{number['row']}/{number['column']}" == position
        ]
        locations.append(numbers[0] if numbers else {})
    return locations


def irrelevant_names(record: dict[str, Any], row_filter: dict[str, Any]) -> set[str]:
    """Return languages and models of an exhibit that one of its cells does not use.

    ``record``: of the exhibit's job. ``row_filter``: the cell's filter. A filter without languages
    (or models) uses all of them.
    """
    labels = record["params"].get("labels", {})
    unused: set[str] = {*labels.get("left_out", ())}
    for label, keys in (("languages", ("lang",)), ("models", MODEL_COLUMNS)):
        used: set[str] = set()
        for value in (row_filter[key] for key in keys if key in row_filter):
            used.update(value if isinstance(value, list) else [value])
        if any(key in row_filter for key in keys):
            unused |= {*labels.get(label, {})} - used
    return unused
