"""The rows behind a cell, down to token log-probabilities and treebank sentences."""

import csv
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from blimpworks.audit.cells import read_numbered
from blimpworks.audit.lineage import Node
from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import select_rows
from blimpworks.scoring.spans import overlaps, token_starts

TABLE = "_table"
"""Column that says which of the tables a row comes from."""
SIDES = ("good", "bad")
WORDS = ("subject", "inflected")
"""Words of an item whose place in the treebank sentence is told."""
PRINTED = "published"
"""The kind of table that has what papers print."""
PACKS = "packs"
"""The kind of table that has the templates of language packs."""
FOLDERS = {PACKS: "languages"}
"""Directories of kinds of tables that are not called like the kind."""
SUFFIXES = {PRINTED: (".parquet", ".csv"), PACKS: (".yaml",)}
"""Suffixes of tables that are not all Parquet files, by kind."""
KINDS = ("judgements", "scores", "answers", "items")
"""Tables of items, the one that leads furthest first."""
MODELS = ("model", "model_a", "model_b")
TOLD = (
    *("method", "value_good", "value_bad", "margin", "correct", "tie", "near_tie"),
    *("certain", "rule", "pattern"),
)
"""What of a judgement is told: of answers also which rule and pattern decided."""
ALL = "all"


def nearest(tree: Node, kind: str) -> list[Node]:
    """The nearest ancestors of one kind: a directory (or several) of that name is in their path.

    What lies behind one of them is left out: sampled items come from all items. Tables are
    Parquet files, the printed numbers of a paper CSV files, language packs YAML files; other CSV
    files are people's, who call their folders what they like.
    """
    suffixes, folder = SUFFIXES.get(kind, (".parquet",)), FOLDERS.get(kind, kind)
    found: list[Node] = []
    waiting, seen = [*tree.inputs], set[Path]()
    for node in waiting:
        if node.path in seen:
            continue
        seen.add(node.path)
        if f"/{folder}/" in f"/{node.path.as_posix()}" and node.path.suffix in suffixes:
            found.append(node)
        else:
            waiting += node.inputs
    behind = {node.path for each in found for source in each.inputs for node in source.walk()}
    return [each for each in found if each.path not in behind]


def read_arrow(path: Path) -> pa.Table:
    """A table with its labels as plain strings. Raises UserError when it cannot be read."""
    try:
        return _version_of(path.resolve(), path.stat().st_mtime_ns)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}). Rebuild it.") from error


@lru_cache(maxsize=256)
def _version_of(path: Path, _changed: int) -> pa.Table:
    """A file as it is since it was last changed."""
    try:
        # ParquetFile, because read_table loads the whole of pyarrow's dataset machinery.
        with pq.ParquetFile(path) as file:
            table = file.read().replace_schema_metadata(None)
    except pa.ArrowInvalid as error:
        raise UserError(f"{path} is not a readable Parquet file ({error}). Rebuild it.") from error
    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = pa.field(field.name, field.type.value_type)
            table = table.set_column(index, plain, table[index].cast(field.type.value_type))
    return table


def read_tables(nodes: Sequence[Node]) -> pd.DataFrame:
    """All rows of some tables, with the number of each row's table in column ``TABLE``."""
    frames, tables = [], []
    for number, node in enumerate(nodes):
        if node.path.suffix == ".csv":
            frames.append(pd.DataFrame(list(read_numbered(node.path))).assign(**{TABLE: number}))
        elif node.path.suffix == ".yaml":
            frames.append(_texts(node.path).assign(**{TABLE: number}))
        else:
            table = read_arrow(node.path)
            # Token arrays are for the items that are shown; pandas takes long over them.
            flat = [f.name for f in table.schema if not pa.types.is_nested(f.type)]
            table = table.select(flat)
            tables.append(table.append_column(TABLE, pa.array([number] * len(table), pa.int32())))
    if tables:
        frames.append(pa.concat_tables(tables, promote_options="default").to_pandas())
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def _texts(path: Path) -> pd.DataFrame:
    """The templates of a language pack."""
    # Settings are slow to import, and few cells lead to a language pack.
    from blimpworks.campaign.exhibits import file_reader

    read = file_reader(PACKS)
    assert read is not None
    return read([path])


def spread(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """``count`` rows evenly over the margins, the most mistaken first."""
    if "margin" in rows:
        # Answers have no margin: the wrong ones come first.
        by = [name for name in ("margin", "correct") if name in rows and rows[name].notna().any()]
        rows = rows.sort_values([*by[:1], "item_id"], kind="stable")
    steps = [round(i * (len(rows) - 1) / max(count - 1, 1)) for i in range(min(count, len(rows)))]
    return rows.iloc[list(dict.fromkeys(steps))]


def _names(path: Path) -> set[str]:
    return {*path.parts, path.name.split(".")[0]}


def judged(tree: Node, rows: pd.DataFrame, count: int) -> tuple[list[Node], pd.DataFrame]:
    """Judgements, or else scores or items, that rows of a table made from them are about.

    Of many tables ``count`` at equal distances, which is enough to show so many rows.
    """
    nodes = next((n for kind in KINDS if (n := nearest(tree, kind))), [])
    for columns in (("lang",), MODELS):
        wanted = {name for column in columns if column in rows for name in rows[column].dropna()}
        about = [node for node in nodes if _names(node.path) & wanted]
        nodes = about or nodes
    steps = [round(i * (len(nodes) - 1) / max(count - 1, 1)) for i in range(min(count, len(nodes)))]
    nodes = [nodes[step] for step in dict.fromkeys(steps)]
    if not nodes:
        return [], pd.DataFrame()
    found = read_tables(nodes)
    for column in ("method", "phenomenon", "paradigm", "item_id"):
        if column in rows and column in found:
            kept = found[found[column].isin(set(rows[column]) - {ALL})]
            found = kept if len(kept) else found
    return nodes, found


def _row_of(table: pa.Table, item: str, paradigm: str | None) -> dict[str, Any]:
    """The row of an item, in the paradigm that is asked for where it stands in several."""
    rows: list[dict[str, Any]] = table.filter(pc.equal(table["item_id"], item)).to_pylist()
    if not rows:
        return {}
    return next((row for row in rows if row.get("paradigm") == paradigm), rows[0])


def token_pieces(
    text: str,
    ids: Sequence[int],
    ends: Sequence[int],
    logprobs: Sequence[float | None],
    region: range,
) -> list[dict[str, Any]]:
    """Pieces of the text, as the model's tokens cut it, each with its log-probability [nats].

    A piece is what ends with the token: the empty one is the end of the text, or a part of a
    character. A token without number is not scored.
    """
    after = np.asarray(ends, np.int32)
    critical = overlaps(token_starts(after), after, region.start, region.stop).tolist()
    numbers = [None if value is None or math.isnan(value) else value for value in logprobs]
    pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    columns = zip(ids, pieces, numbers, critical, strict=True)
    return [dict(zip(("id", "piece", "logprob", "critical"), row, strict=True)) for row in columns]


def _sides(item: dict[str, Any], scores: dict[str, Any]) -> dict[str, Any]:
    """Both sentences with their total and token log-probabilities [nats]."""
    found = {}
    for side in SIDES:
        region = range(item.get(f"{side}_start") or 0, item.get(f"{side}_end") or 0)
        ids, ends, logprobs = (scores.get(f"{side}_{n}") or [] for n in ("ids", "ends", "logprobs"))
        found[side] = {
            "text": item[side],
            "logprob": scores.get(f"logprob_{side}"),
            "tokens": token_pieces(item[side], ids, ends, logprobs, region),
        }
    return found


def sentences_of(node: Node) -> list[Node]:
    """Tables of treebank sentences behind a product.

    What is made of the words alone has them beside its tables of words.
    """
    found = nearest(node, "sentences")
    for words in [] if found else nearest(node, "tokens"):
        for output in words.record["outputs"] if words.record else []:
            path = Path(output["path"])
            if "sentences" in path.parts:
                found.append(Node(path, output["sha256"], words.record, inputs=words.inputs))
    return found


def _line_of_a_set(items: Node, item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The line of an evaluation set that an item is made from, as it stands there."""
    if not item.get("file") or not item.get("line"):
        return None
    path = next((n.path for n in items.inputs if str(n.path).endswith(f"/{item['file']}")), None)
    if path is None or not path.is_file():
        return {"file": item["file"], "line": item["line"]}
    with path.open(encoding="utf-8") as handle:
        text = next(islice(handle, item["line"] - 1, None), "").rstrip("\n")
    return {"path": str(path), "line": item["line"], "text": text.replace("\t", " ")}


def _row_of_a_release(items: Node, item: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a released file that an item is, its sentence as it stands there.

    With the revision, and the treebank that the release says it is of, which was not read.
    """
    found = {name: item[name] for name in ("sent_id", "revision") if item[name] is not None}
    found["released_from"] = f"{item['treebank']}/{item['file']}"
    file, line = item["released_file"], item["released_line"]
    path = next((n.path for n in items.inputs if str(n.path).endswith(f"/{file}")), Path(file))
    found |= {"path": str(path), "line": line}
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as handle:
            (headings,) = csv.reader([next(handle)], delimiter="\t")
            cells = next(csv.reader(islice(handle, line - 2, None), delimiter="\t"), [])
        found["text"] = dict(zip(headings, cells, strict=False)).get("sen", "")
    return found


def origin(items: Node, item: dict[str, Any]) -> dict[str, Any] | None:
    """Where an item is from: the file as retrieved, a line of it, the text there.

    Of a treebank's sentence it is the line that it starts on.
    """
    if item.get("released_file"):
        return _row_of_a_release(items, item)
    if not item.get("treebank"):
        return _line_of_a_set(items, item)
    found = {name: item[name] for name in ("treebank", "file", "sent_id")}
    for node in sentences_of(items):
        table = read_arrow(node.path)
        match = pc.equal(table["sent_id"], item["sent_id"])
        for name in ("treebank", "file"):
            match = pc.and_(match, pc.equal(table[name], item[name]))
        for row in table.filter(match).to_pylist():
            return found | _sentence(node, row)
    return found


def _sentence(sentences: Node, row: Mapping[Any, Any]) -> dict[str, Any]:
    """Where a sentence stands, from its row in the table of ``sentences``."""
    end = f"{row['treebank']}/{row['file']}"
    paths = (str(node.path) for node in sentences.inputs)
    path = next((path for path in paths if path.endswith(end)), end)
    return {"path": path, "line": row["line"], "text": row["text"], "sent_id": row["sent_id"]}


def answer_evidence(item: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """A prompt, what it wants to hear, and what the model wrote."""
    found = {"prompt": item["prompt"], "gold": item["answer"]}
    return found | {name: answer[name] for name in ("text", "status", "finish") if name in answer}


def item_evidence(node: Node, row: Mapping[Any, Any]) -> dict[str, Any]:
    """One item of a table of judgements or items, with its sentences, tokens and origin."""
    of_items, scores, answers = (
        [node] if kind in node.path.parts else nearest(node, kind)
        for kind in ("items", "scores", "answers")
    )
    key, paradigm = row["item_id"], row.get("paradigm")
    item = next((r for n in of_items if (r := _row_of(read_arrow(n.path), key, paradigm))), {})
    scored = next((r for n in scores if (r := _row_of(read_arrow(n.path), key, None))), {})
    found = {"item_id": key, "paradigm": paradigm or item.get("paradigm"), "table": str(node.path)}
    # Pandas has NaN where a column of numbers or texts is null.
    found |= {name: None if row[name] != row[name] else row[name] for name in TOLD if name in row}
    if "prompt" in item:
        said = next((r for n in answers if (r := _row_of(read_arrow(n.path), key, None))), {})
        found |= answer_evidence(item, said)
    elif item:
        found |= _sides(item, scored) | {"origin": origin(of_items[0], item)}
        words = {w: (item.get(f"{w}_id"), item.get(f"{w}_form", item.get(w))) for w in WORDS}
        found["words"] = {w: {"id": i, "form": f} for w, (i, f) in words.items() if i is not None}
    return found


def candidate_evidence(tree: Node, where: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Some subjects and verbs of the treebanks that a count is about, with their sentences."""
    found: list[dict[str, Any]] = []
    for node in nearest(tree, "candidates")[:count]:
        rows = select_rows(read_arrow(node.path).to_pandas(), {"order": where.get("order", [])})
        for row in spread(rows, count).to_dict("records"):
            for sentences in sentences_of(node):
                table = read_arrow(sentences.path)
                (place,) = table.filter(pc.equal(table["sentence"], row["sentence"])).to_pylist()
                words = {
                    "subject": {"id": row["subject"], "form": row["subject_form"]},
                    "verb": {"id": row["verb"], "form": row["verb_form"]},
                }
                found.append({"words": words, "origin": _sentence(sentences, place)})
    return found[:count]


def annotation_evidence(tree: Node, rows: pd.DataFrame, count: int) -> list[dict[str, Any]]:
    """Sentences that rows of a table of words, or of subjects and verbs, stand in."""
    places: list[dict[str, Any]] = []
    numbers = [*rows["sentence"].unique()][:count]
    for node in nearest(tree, "sentences"):
        table = read_arrow(node.path)
        inside = table.filter(pc.is_in(table["sentence"], pa.array(numbers, pa.int32())))
        places += [{"origin": _sentence(node, row)} for row in inside.to_pylist()]
    return places[:count]


def sentence_evidence(
    tables: Sequence[Node], rows: pd.DataFrame, count: int
) -> list[dict[str, Any]]:
    """Some sentences of the treebanks, from ``rows`` of the tables of sentences."""
    found = spread(rows, count).to_dict("records")
    return [{"origin": _sentence(tables[row[TABLE]], row)} for row in found]


def printed_evidence(tables: Sequence[Node], rows: pd.DataFrame) -> list[dict[str, str | int]]:
    """For each row of a table of accuracies, the place of the printed number that it is.

    Empty for accuracies that no table in print has.
    """
    found: list[dict[str, str | int]] = []
    for row in rows.to_dict("records"):
        origin = row.get("origin")
        exhibit, _, rest = origin.partition("/") if isinstance(origin, str) else ("", "", "")
        places = [
            {"path": number["path"], "line": number["line"]}
            for node in tables[row[TABLE]].inputs
            if node.path.name == f"{exhibit}.csv"
            for number in read_numbered(node.path)
            if f"{number['row']}/{number['column']}" == rest
        ]
        found.append(places[0] if places else {})
    return found
