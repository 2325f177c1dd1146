"""All that reads a file that people or other programs make: the valid files, and the functions.

A reader's ``same`` says of damage that can be seen why its files may not show it. Data that a
reader counts beside what it gives (``noted``) are accounted for.
"""

import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from blimpworks.annotation.spreadsheet import read_sheet
from blimpworks.audit.cells import read_rows_with_lines
from blimpworks.benchmarks.build import read_items
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.files import local_files
from blimpworks.campaign.catalogue import LanguageRow, ModelRow, SourceRow, TreebankRow
from blimpworks.campaign.exhibit_spec import read_specs
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.reference import FrequencyCodesRow, GroupRow, ReasonRow
from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.campaign.table_files import read_rows
from blimpworks.evaluation.card import FORMAT, read_card
from blimpworks.exhibits.sheets import read_document
from blimpworks.interop.lm_eval_import import import_items
from blimpworks.linguistics.orthography import read_orthography
from blimpworks.linguistics.treebanks import read_treebank
from blimpworks.models.checkpoint import read_description
from blimpworks.models.corpus import read_corpus, read_words
from blimpworks.models.instruct import read_dialogues
from blimpworks.models.ngram import read_vocabulary
from blimpworks.models.text import read_sentences
from blimpworks.models.weights import files_of_index, read_json
from blimpworks.papers.blimp.items.build import read_records
from blimpworks.papers.blimp.items.generator.generate import read_declaration as read_paradigm
from blimpworks.papers.blimp.items.lexicon import read_lexicon
from blimpworks.papers.blimp.released_results import read_blimp_release
from blimpworks.papers.clams.analysis.wals import choose_languages, read_categories
from blimpworks.papers.clams.items.build import read_pairs
from blimpworks.papers.clams.items.grammar.generator import read_vocabulary as read_word_list
from blimpworks.papers.clams.items.grammar.model import read_grammar
from blimpworks.papers.lmentry.items.declarations import read_declarations
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.items.resources import read_resources
from blimpworks.papers.multiblimp.analysis.frequencies import read_totals
from blimpworks.papers.multiblimp.items.lexicon import read_unimorph
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.urblimp.items.rules import read_declaration, read_language
from blimpworks.records.journal import read_entries
from blimpworks.records.reading import read_record
from blimpworks.report.evidence import read_comparison
from blimpworks.reproduction.printed import read_printed_numbers
from blimpworks.scoring.progress import read_progress
from blimpworks.scoring.run import read_manifest
from blimpworks.tables import ACCURACIES, ITEMS, read_table, write_table
from support.ngram_kit import ARPA
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
DEMO = CONFIG / "demo"


class Data(NamedTuple):
    """What a reader gives: data, and what it says of damage that it passes over."""

    content: Any
    noted: Any = None


@dataclass(frozen=True)
class Reader:
    """A reader, and how its valid file is made."""

    name: str
    write: Callable[[Path], Path]
    """Writes a valid file, and what belongs to it, into a folder; the file."""
    read: Callable[[Path], Any]
    module: str
    """The module that opens the file, below ``blimpworks``."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Damage that can be seen in other files, and why not in these."""


def text_file(name, text):
    def write(folder):
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def beginning(source, lines=12, name=None):
    """A file with the first lines of one of the repository."""
    kept = source.read_text(encoding="utf-8").splitlines(keepends=True)[:lines]
    return text_file(name or source.name, "".join(kept))


def copied(folder, name):
    """A file of a copied folder."""

    def write(target):
        place = target / folder.name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
        return place / name

    return write


def rows(kind):
    return lambda path: read_rows(kind, path)


def jsonl(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


# Treebanks and words

TREES = "".join(
    (DEMO / "data/ud/UD_French-Demo/fr_demo-ud-test.conllu").read_text().split("\n\n")[n] + "\n\n"
    for n in range(4)
)


def trees(path):
    reading = read_treebank(path, "UD_X", TreebankOptions())
    return reading.tokens.to_pylist(), reading.sentences.to_pylist()


def unimorph(path):
    odd = Counter()
    entries = list(read_unimorph(path, "eng", (), MultiblimpOptions(), odd))
    return Data(entries, +odd)


# CLAMS

SETS = "".join(
    f"True\tthe {noun} {verb}s\nFalse\tthe {noun} {verb}\n"
    for noun in ("author", "pilot")
    for verb in ("laugh", "smile", "swim")
)
WALS = {
    "value.csv": "id,domainelement_pk\n112A-ger,1\n112A-fre,2\n22A-ger,3\n",
    "domainelement.csv": "pk,id,number\n1,112A-1,1\n2,112A-6,6\n3,22A-3,3\n",
    "languages.csv": "ID,ISO639P3code\nger,deu\nfre,fra\n",
}


def wals(name):
    def write(folder):
        for each, text in WALS.items():
            (folder / each).write_text(text)
        return folder / name

    return write


def complexity(path):
    places = [path.with_name(name) for name in WALS]
    categories = read_categories(*places[:2])
    return categories, choose_languages(categories, places[2])


def grammar(path):
    read = read_grammar(path, path.with_name("common.avg"), "published")
    return repr((read.templates, read.rules, read.vary))


# BLiMP

PARADIGM = "adjunct_island"


def blimp_record(number):
    facts = {"field": "syntax", "linguistics_term": "island_effects", "UID": PARADIGM}
    flags = ("simple_LM_method", "one_prefix_method", "two_prefix_method", "lexically_identical")
    return {
        "sentence_good": f"Who should Derek hug after shocking {number}?",
        "sentence_bad": f"Who should Derek hug {number} after shocking?",
        **facts,
        **dict.fromkeys(flags, False),
        "pairID": str(number),
    }


RESULTS = f"UID,type,N-Gram,LSTM,TXL,GPT2,n\n{PARADIGM},sentence,0.5,0.25,0.75,1,1000\n"
RELEASED = {
    "results.csv": RESULTS,
    "humans.csv": f"Condition,accepted,total_mean,count\n{PARADIGM},5,0.9,100\n",
    "rerun.jsonl": jsonl({"UID": PARADIGM, "ngram": 0.5, "lstm": 0.5, "txl": 0.5, "gpt2": 0.5}),
}


def released(name):
    def write(folder):
        for file, text in RELEASED.items():
            (folder / file).write_text(text)
        return folder / name

    return write


def accuracies(path):
    output = path.with_name("released.parquet")
    read_blimp_release(*(path.with_name(name) for name in RELEASED), output)
    return read_table(ACCURACIES, output).to_pylist()


def lexicon(path):
    read = read_lexicon(path.parent)
    return repr((read.nouns, read.verbs, read.classes.wider))


# Declared benchmarks

PAIRS = "good,bad,kind\n" + "".join(
    f"The cats sleep {n}.,The cats sleeps {n}.,x\n" for n in range(5)
)
RECORDS = [{"good": f"He runs {n}.", "bad": f"He run {n}.", "kind": "x"} for n in range(5)]
HEAD = {"label": "Toy", "title": "A toy", "authors": "Nobody (2026)", "languages": ["eng"]}
OF_PAIRS = {
    "layout": "pairs",
    "files": "data.*",
    "good": "good",
    "bad": "bad",
    "paradigm": {"constant": "x"},
}


def declared(name, content, data=None):
    def write(folder):
        declaration = HEAD | {"data": [data or {**OF_PAIRS, "paradigm": "kind"}]}
        (folder / "benchmark.yaml").write_text(json.dumps(declaration))
        path = folder / name
        path.write_bytes(content(folder) if callable(content) else content.encode())
        return path

    return write


def items(path):
    folder = path.parent
    declaration = Declaration.read(folder / "benchmark.yaml")
    named = {name: each for name, each in local_files(folder).items() if name == path.name}
    return list(read_items(declaration, named, []))


def parquet(folder):
    path = folder / "packed"
    pa.parquet.write_table(pa.Table.from_pylist(RECORDS), path)
    return _taken(path)


def zipped(folder):
    path = folder / "packed"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.csv", PAIRS)
    return _taken(path)


def _taken(path):
    content = path.read_bytes()
    path.unlink()
    return content


# Tables, records, models

ITEM = dict.fromkeys(ITEMS.names) | {
    **{"lang": "eng", "phenomenon": "x", "paradigm": "y", "good": "He runs.", "bad": "He run."},
    **{"good_start": 3, "good_end": 8, "bad_start": 3, "bad_end": 7},
}


def item_table(folder):
    path = folder / "items.parquet"
    rows = [ITEM | {"item_id": f"{n:016x}"} for n in range(40)]
    write_table(pa.Table.from_pylist(rows, schema=ITEMS.arrow()), ITEMS, path)
    return path


SAMPLES = jsonl(
    *(
        {"doc_id": n, "doc": {"sentence_good": f"He runs {n}.", "sentence_bad": f"He run {n}."}}
        for n in range(4)
    )
)


def samples(path):
    output = path.with_name("imported.parquet")
    import_items([path], "eng", output)
    return read_table(ITEMS, output).to_pylist()


CHECKPOINT = {
    **{"name": "tiny", "scope": "eng", "architecture": "ngram", "dtype": "float32"},
    **{"first_token": "bos", "files": {"model.bin": "0" * 64}},
    "source": {"kind": "copied", "directory": "tiny.arpa", "sha256": "0" * 64},
}
SPLIT = {"sentences": 1, "tokens": 2, "types": 2, "unknown": 0, "unknown_share": 0.0}
CORPUS = {
    **{"words": "split", "options": None, "vocabulary": 4, "dropped": {}, "files": {}},
    "splits": dict.fromkeys(("train", "valid", "test"), SPLIT),
}
MANIFEST = {
    **{"engine": "kenlm", "checkpoint": "0" * 64, "sentences": 4},
    **{"statuses": {"ok": 4}, "shards": {"a.parquet": "1" * 64}},
}
PROGRESS = {
    **{"sentences": 4, "done": 4, "new": 4, "tokens": 9, "load_seconds": 1.5, "score_seconds": 2.5},
    **{"attempt": "a" * 32, "updated": "2025-01-01T00:00:00Z"},
    "languages": {"eng": {"sentences": 4, "done": 4}},
}
RECORD: dict[str, Any] = {
    "verb": "judge",
    "code": "0" * 16,
    "started": "1",
    "ended": "2",
    "inputs": [],
}
RECORD |= {name: {} for name in ("params", "packages", "notes", "sources")}
RECORD |= {"outputs": [{"path": "a.parquet", "sha256": "0" * 64, "bytes": 1}]}
RECORD |= {"git": {"commit": None, "clean": None}, "host": {"platform": "x"}}
COMPARISON = "paper,exhibit,row,column,printed,unit,recomputed,status,note\n" + "".join(
    f"blimp,table1,r{n},c,{n}.5,%,{n}.5,exact,none\n" for n in range(5)
)
PRINTED = "exhibit,row,column,text,value,unit,bold,fault,corrected,note\n" + "".join(
    f"table1,r{n},c,{n}.5,{n}.5,%,,,,none\n" for n in range(5)
)
SPECS = "name\tkind\ttitle\tneeds\tfunction\n" + "".join(
    f"table{n}\ttable\tA title\taccuracies\ttables:make{n}\n" for n in range(4)
)


def read_sheet_rows(path):
    return [line.cells for line in read_sheet(path)]


def numbered(path):
    return list(read_rows_with_lines(path, exhibit=["table1"]))


def resources(name):
    """The resource of that name among those of French."""

    def write(folder):
        return copied(CONFIG / "lmentry/resources/fra", name)(folder)

    return write


def rule(path):
    return read_declaration(path, read_language(CONFIG / "urblimp/hin/language.yaml"))


CUT_OFF = "lines that a lost node leaves are passed over"
FREE = "a text of any lines"
LINES = {"cut": FREE, "repeat_line": FREE, "lose_cell": FREE, "add_cell": FREE, "blank": FREE}
WIDE = {"wide": "a value may be long"}
TEXT = LINES | WIDE | {"nuls": FREE, "empty": FREE, "deep": FREE}
LAST_CELL = {"cut": "an editor may leave out the last line end, and the last cell is a note"}
PARTS = "YAML's own values: comments and texts of any kind may lack or repeat a part"
YAML = dict.fromkeys(("cut", "repeat_line", "lose_cell", "add_cell"), PARTS) | WIDE
COMMENTS = dict.fromkeys(("repeat_line", "lose_cell", "add_cell"), "a comment may say anything")
JSON = WIDE | dict.fromkeys(("repeat_line", "lose_cell", "add_cell"), "JSON has no lines")


READERS = [
    Reader(
        "conllu",
        text_file("x.conllu", TREES),
        trees,
        "linguistics.treebanks",
        WIDE | {"nuls": "a form may have any signs"} | COMMENTS,
    ),
    Reader(
        "unimorph",
        beginning(DEMO / "data/unimorph/eng/eng", 30, "eng"),
        unimorph,
        "papers.multiblimp.items.lexicon",
        WIDE | {"nuls": "upstream's words are taken as they are"},
    ),
    Reader("wals values", wals("value.csv"), complexity, "papers.clams.analysis.wals"),
    Reader("wals elements", wals("domainelement.csv"), complexity, "papers.clams.analysis.wals"),
    Reader("wals languages", wals("languages.csv"), complexity, "papers.clams.analysis.wals"),
    Reader(
        "glotcc",
        text_file(
            "totals.tsv",
            "code\tdocuments\tsentences\twords\tcharacters\neng\t12\t23\t34\t45\ndeu-Latn\t2\t3\t4\t5\n",
        ),
        read_totals,
        "papers.multiblimp.analysis.frequencies",
    ),
    Reader(
        "clams set",
        text_file("simple_agrmt.txt", SETS),
        lambda p: list(read_pairs(p)),
        "papers.clams.items.build",
        WIDE | {"repeat_line": "judging counts a pair that stands twice"},
    ),
    Reader(
        "clams grammar",
        copied(CONFIG / "grammars/eng", "simple_agrmt.avg"),
        grammar,
        "papers.clams.items.grammar.model",
        LINES | WIDE | {"nuls": "a word of any signs"},
    ),
    Reader(
        "clams common grammar",
        copied(CONFIG / "grammars/eng", "common.avg"),
        lambda p: grammar(p.with_name("simple_agrmt.avg")),
        "papers.clams.items.grammar.model",
        LINES | WIDE | {"nuls": "a word of any signs"},
    ),
    Reader(
        "word list",
        text_file("words.txt", "the\nauthor\nlaughs\n"),
        read_word_list,
        "papers.clams.items.grammar.generator",
        LINES | WIDE | {"empty": FREE, "deep": FREE},
    ),
    Reader(
        "blimp pairs",
        text_file(f"{PARADIGM}.jsonl", jsonl(*map(blimp_record, range(4)))),
        lambda p: list(read_records(p)),
        "papers.blimp.items.build",
        JSON,
    ),
    *(
        Reader(f"blimp {name}", released(name), accuracies, "papers.blimp.released_results")
        for name in RELEASED
    ),
    Reader(
        "blimp paradigm",
        beginning(CONFIG / f"blimp/paradigms/{PARADIGM}.yaml", 1000),
        read_paradigm,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "blimp nouns",
        copied(CONFIG / "blimp/lexicon", "nouns.tsv"),
        lexicon,
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "blimp classes",
        copied(CONFIG / "blimp/lexicon", "classes.yaml"),
        lexicon,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "benchmark csv",
        declared("data.csv", PAIRS),
        items,
        "benchmarks.readers",
        {"repeat_line": "a pair that a file has twice is counted by build_items"} | WIDE,
    ),
    Reader(
        "benchmark jsonl",
        declared("data.jsonl", jsonl(*RECORDS)),
        items,
        "benchmarks.readers",
        {"repeat_line": "a pair that a file has twice is counted by build_items"} | JSON,
    ),
    Reader(
        "benchmark json",
        declared("data.json", json.dumps(RECORDS)),
        items,
        "benchmarks.readers",
        JSON,
    ),
    Reader("benchmark parquet", declared("data.parquet", parquet), items, "benchmarks.readers"),
    Reader(
        "benchmark zip",
        declared("data.zip", zipped),
        items,
        "benchmarks.files",
        {"repeat_line": "a pair that a file has twice is counted by build_items"} | WIDE,
    ),
    Reader(
        "benchmark declaration",
        copied(DEMO / "benchmarks/demo_pairs", "benchmark.yaml"),
        Declaration.read,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "languages",
        beginning(CONFIG / "languages.tsv"),
        rows(LanguageRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "treebanks",
        beginning(CONFIG / "treebanks.tsv"),
        rows(TreebankRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "sources",
        beginning(CONFIG / "sources.tsv"),
        rows(SourceRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "models",
        beginning(CONFIG / "models.tsv"),
        rows(ModelRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "groups",
        beginning(CONFIG / "language_groups.tsv"),
        rows(GroupRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "frequency codes",
        beginning(CONFIG / "frequency_codes.tsv"),
        rows(FrequencyCodesRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "reasons",
        beginning(CONFIG / "published/blimp/reasons.tsv"),
        rows(ReasonRow),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "printed numbers",
        text_file("table1.csv", PRINTED),
        lambda p: read_printed_numbers([p]),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "printed numbers by line",
        text_file("table1.csv", PRINTED),
        numbered,
        "audit.cells",
        dict.fromkeys(
            ("cut", "repeat_line", "nuls", "wide"), "rows that read_printed_numbers has checked"
        ),
    ),
    Reader(
        "campaign",
        beginning(DEMO / "config.yaml", 1000),
        load_campaign,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "exhibits",
        text_file("specs.tsv", SPECS),
        lambda p: read_specs(p, "x", "y"),
        "campaign.table_files",
        LAST_CELL | WIDE,
    ),
    Reader(
        "lm-eval samples",
        text_file("samples_x.jsonl", SAMPLES),
        samples,
        "interop.lm_eval_import",
        JSON,
    ),
    Reader(
        "annotation sheet",
        text_file(
            "eng.anna.csv",
            "id,prompt,correct\r\n" + "".join(f"r{n},Say {n}.,yes\r\n" for n in range(4)),
        ),
        read_sheet_rows,
        "annotation.spreadsheet",
        WIDE
        | dict.fromkeys(
            ("repeat_line", "empty", "blank", "deep"), "those who read labels refuse it"
        )
        | {"cut": "those who read labels refuse an empty one"},
    ),
    Reader(
        "record", text_file("a.prov.json", json.dumps(RECORD)), read_record, "records.reading", JSON
    ),
    Reader(
        "journal",
        text_file("a.journal", jsonl({"event": "started"})[:0] + "\n"),
        read_entries,
        "records.journal",
        LINES
        | TEXT
        | {
            "missing": "no attempt has been made",
            "utf16": CUT_OFF,
            "bad_byte": CUT_OFF,
            "noise": CUT_OFF,
        },
    ),
    Reader("items", item_table, lambda p: read_table(ITEMS, p).to_pylist(), "tables"),
    Reader("arpa", text_file("a.arpa", ARPA), read_vocabulary, "models.ngram", WIDE),
    Reader(
        "checkpoint",
        text_file("checkpoint.json", json.dumps(CHECKPOINT)),
        read_description,
        "models.checkpoint",
        JSON,
    ),
    Reader(
        "corpus", text_file("corpus.json", json.dumps(CORPUS)), read_corpus, "models.corpus", JSON
    ),
    Reader(
        "vocabulary",
        text_file("vocabulary.txt", "<unk>\n<eos>\nthe\ncat\n"),
        read_words,
        "models.corpus",
        WIDE | {"cut": "released vocabularies may end in a word"},
    ),
    Reader(
        "configuration",
        text_file("config.json", json.dumps({"architectures": ["GPT2LMHeadModel"]})),
        lambda p: read_json(p, "a model's config.json"),
        "models.weights",
        JSON,
    ),
    Reader(
        "index of weights",
        text_file("model.safetensors.index.json", json.dumps({"weight_map": {"w": "a", "v": "b"}})),
        files_of_index,
        "models.weights",
        JSON,
    ),
    Reader(
        "dialogues",
        text_file(
            "dialogues.jsonl",
            jsonl(*({"system": "S", "prompt": f"p{n}", "answer": "a"} for n in range(3))),
        ),
        read_dialogues,
        "models.instruct",
        {"repeat_line": "draws may repeat"} | WIDE,
    ),
    Reader(
        "training text",
        text_file("text.txt", "The cat sleeps .\nHe runs .\n"),
        read_sentences,
        "models.text",
        TEXT,
    ),
    Reader(
        "language pack",
        beginning(CONFIG / "lmentry/languages/fra.yaml", 10_000),
        read_pack,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "tasks",
        beginning(CONFIG / "lmentry/tasks.yaml", 10_000),
        read_declarations,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "words",
        resources("lmentry_words.json"),
        lambda p: read_resources(sorted(p.parent.iterdir())),
        "papers.lmentry.items.resources",
        JSON,
    ),
    Reader(
        "homophones",
        resources("homophones.csv"),
        lambda p: read_resources(sorted(p.parent.iterdir())),
        "papers.lmentry.items.resources",
        {"repeat_line": "released files have some twice"}
        | WIDE
        | {"missing": "some languages have none"}
        | {"cut": "released files may lack the last line end"},
    ),
    Reader(
        "urblimp language",
        beginning(CONFIG / "urblimp/hin/language.yaml", 10_000),
        read_language,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "orthography",
        beginning(CONFIG / "urblimp/hin/language.yaml", 10_000),
        read_orthography,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "urblimp rules",
        beginning(CONFIG / "urblimp/hin/oblique_verb.yaml", 10_000),
        rule,
        "campaign.settings.parsing",
        YAML,
    ),
    Reader(
        "report card",
        text_file("card.json", json.dumps({"format": FORMAT, "models": {}})),
        read_card,
        "evaluation.card",
        JSON,
    ),
    Reader(
        "comparison",
        text_file("published.csv", COMPARISON),
        lambda p: read_comparison(p, ["paper", "status"]).to_dict("records"),
        "report.evidence",
        WIDE
        | dict.fromkeys(
            ("repeat_line", "lose_cell", "cut", "nuls"), "a file of our own, checked by its record"
        ),
    ),
    Reader(
        "exhibit as data",
        text_file("a.json", json.dumps({"title": "One", "caption": "Two", "sheets": []})),
        read_document,
        "exhibits.sheets",
        JSON,
    ),
    Reader(
        "manifest",
        text_file("manifest.json", json.dumps(MANIFEST)),
        read_manifest,
        "scoring.run",
        JSON,
    ),
    Reader(
        "progress",
        text_file("progress.json", json.dumps(PROGRESS)),
        read_progress,
        "scoring.progress",
        JSON | {"missing": "nothing is scored yet"},
    ),
]
