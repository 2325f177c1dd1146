"""All that reads a file that people or other programs make: the valid files, and the functions.

A reader's ``same`` says of damage that can be seen why its files may not show it. Data that a
reader counts beside what it gives (``noted``) are accounted for.
"""

import io
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
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.paper import read_specs
from blimpworks.campaign.reference import FrequencyCodesRow, GroupRow, ReasonRow
from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.campaign.table_files import read_rows
from blimpworks.evaluation.card import FORMAT, read_card
from blimpworks.exhibits.exhibit import read_document
from blimpworks.interop.lm_eval import import_items
from blimpworks.linguistics.orthography import read_orthography
from blimpworks.linguistics.treebanks import read_treebank
from blimpworks.models.checkpoint import files_of_index, read_description, read_json
from blimpworks.models.corpus import read_corpus, read_words
from blimpworks.models.encoding import read_dialogues
from blimpworks.models.ngram import read_vocabulary
from blimpworks.models.text import read_sentences
from blimpworks.papers.blimp.items.build import read_records
from blimpworks.papers.blimp.items.checks import read_declaration as read_paradigm
from blimpworks.papers.blimp.items.lexicon import read_lexicon
from blimpworks.papers.blimp.released_results import read_blimp_release
from blimpworks.papers.clams.items.build import read_pairs
from blimpworks.papers.clams.items.grammar.generator import read_vocabulary as read_word_list
from blimpworks.papers.clams.items.grammar.model import read_grammar
from blimpworks.papers.clams.morphology import choose_languages, read_categories
from blimpworks.papers.lmentry.items.packs import read_declarations, read_pack
from blimpworks.papers.lmentry.items.resources import read_resources
from blimpworks.papers.multiblimp.analysis import read_totals
from blimpworks.papers.multiblimp.items.lexicon import read_unimorph
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.urblimp.items.rules import read_declaration, read_language
from blimpworks.records.journal import read_entries
from blimpworks.records.reading import read_record
from blimpworks.report.read import read_comparison
from blimpworks.reproduction.printed import read_printed_numbers
from blimpworks.scoring.progress import read_progress
from blimpworks.scoring.run import read_manifest
from blimpworks.tables import ACCURACIES, ITEMS, read_table, write_table
from support.ngram_kit import ARPA
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
DEMO = CONFIG / "demo"
DEMO_PAIRS = DEMO / "benchmarks/demo_pairs"


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


def among(files, name):
    """One of several files, texts or bytes, by their names."""

    def write(folder):
        for file, content in files.items():
            path = folder / file
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / name

    return write


def text_file(name, text):
    return among({name: text}, name)


def beginning(source, lines=None, name=None):
    """A file with the first lines of one of the repository, or with all."""
    kept = source.read_text(encoding="utf-8").splitlines(keepends=True)[:lines]
    return text_file(name or source.name, "".join(kept))


def copied(folder, name):
    def write(target):
        place = target / folder.name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
        return place / name

    return write


def table(source, row):
    return beginning(CONFIG / source, 12), lambda path: read_rows(row, path)


def jsonl(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


# Treebanks and words

FRENCH_TREES = (DEMO / "data/ud/UD_French-Demo/fr_demo-ud-test.conllu").read_text()
TREES = "\n\n".join([*FRENCH_TREES.split("\n\n")[:4], ""])


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


def complexity(path):
    places = [path.with_name(name) for name in WALS]
    categories = read_categories(*places[:2])
    return categories, choose_languages(categories, places[2])


def grammar(path):
    read = read_grammar(
        path.with_name("simple_agrmt.avg"), path.with_name("common.avg"), "published"
    )
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
PAIR_DATA = {"layout": "pairs", "files": "data.*", "good": "good", "bad": "bad", "paradigm": "kind"}
DECLARATION = {"label": "Toy", "title": "A toy", "authors": "Nobody (2026)", "languages": ["eng"]}
DECLARED = {"benchmark.yaml": json.dumps(DECLARATION | {"data": [PAIR_DATA]})}


def declared(name, content):
    return among(DECLARED | {name: content}, name)


def items(path):
    folder = path.parent
    declaration = Declaration.read(folder / "benchmark.yaml")
    named = {name: each for name, each in local_files(folder).items() if name == path.name}
    return list(read_items(declaration, named, []))


def parquet():
    buffer = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(RECORDS), buffer)
    return buffer.getvalue()


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.csv", PAIRS)
    return buffer.getvalue()


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


DOCUMENTS = [{"sentence_good": f"He runs {n}.", "sentence_bad": f"He run {n}."} for n in range(4)]
SAMPLES = jsonl(*({"doc_id": n, "doc": document} for n, document in enumerate(DOCUMENTS)))


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
    **{key: {} for key in ("params", "packages", "notes", "sources")},
    **{"verb": "judge", "code": "0" * 16, "started": "1", "ended": "2", "inputs": []},
    "outputs": [{"path": "a.parquet", "sha256": "0" * 64, "bytes": 1}],
    **{"git": {"commit": None, "clean": None}, "host": {"platform": "x"}},
}
CONFIGURATION = {"architectures": ["GPT2LMHeadModel"]}
INDEX = {"weight_map": {"w": "a", "v": "b"}}
EXHIBIT = {"title": "One", "caption": "Two", "sheets": []}
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


def read_configuration(path):
    return read_json(path, "a model's config.json")


def numbered(path):
    return list(read_rows_with_lines(path, exhibit=["table1"]))


def resources(path):
    return read_resources(sorted(path.parent.iterdir()))


def rule(path):
    return read_declaration(path, read_language(CONFIG / "urblimp/hin/language.yaml"))


CUT_OFF = "lines that a lost node leaves are passed over"
FREE = "a text of any lines"
LINES = dict.fromkeys(("cut", "repeat_line", "lose_cell", "add_cell", "blank"), FREE)
WIDE = {"wide": "a value may be long"}
TEXT = LINES | WIDE | dict.fromkeys(("nuls", "empty", "deep"), FREE)
LAST_CELL = {"cut": "an editor may leave out the last line end, and the last cell is a note"}
PARTS = "YAML's own values: comments and texts of any kind may lack or repeat a part"
YAML = dict.fromkeys(("cut", "repeat_line", "lose_cell", "add_cell"), PARTS) | WIDE
COMMENTS = dict.fromkeys(("repeat_line", "lose_cell", "add_cell"), "a comment may say anything")
JSON = WIDE | dict.fromkeys(("repeat_line", "lose_cell", "add_cell"), "JSON has no lines")
TWICE = {"repeat_line": "a pair that a file has twice is counted by build_items"}
CHECKED = "rows that read_printed_numbers has checked"
RECORDED = "a file of our own, checked by its record"
LABELS = "those who read labels refuse it"
HOMOPHONES = WIDE | {
    "repeat_line": "released files have some twice",
    "missing": "some languages have none",
    "cut": "released files may lack the last line end",
}

GRAMMARS, LEXICON = CONFIG / "grammars/eng", CONFIG / "blimp/lexicon"
HINDI, FRENCH = CONFIG / "urblimp/hin", CONFIG / "lmentry/resources/fra"
GLOTCC = (
    "code\tdocuments\tsentences\twords\tcharacters\neng\t12\t23\t34\t45\ndeu-Latn\t2\t3\t4\t5\n"
)
SHEET = "id,prompt,correct\r\n" + "".join(f"r{n},Say {n}.,yes\r\n" for n in range(4))
DIALOGUES = jsonl(*({"system": "S", "prompt": f"p{n}", "answer": "a"} for n in range(3)))


def readers(module, same, *rows):
    """Readers by the module that opens their files: name, writer and function of each."""
    return [Reader(*row, module, same) for row in rows]


def json_readers(*rows):
    """Readers of files of one JSON value: name, file, value, function and module of each."""
    return [
        Reader(name, text_file(file, json.dumps(value)), read, module, JSON)
        for name, file, value, read, module in rows
    ]


READERS = [
    *readers(
        "campaign.table_files",
        LAST_CELL | WIDE,
        ("languages", *table("languages.tsv", LanguageRow)),
        ("treebanks", *table("treebanks.tsv", TreebankRow)),
        ("sources", *table("sources.tsv", SourceRow)),
        ("models", *table("models.tsv", ModelRow)),
        ("groups", *table("language_groups.tsv", GroupRow)),
        ("frequency codes", *table("frequency_codes.tsv", FrequencyCodesRow)),
        ("reasons", *table("published/blimp/reasons.tsv", ReasonRow)),
        ("blimp nouns", copied(LEXICON, "nouns.tsv"), lexicon),
        ("printed numbers", text_file("table1.csv", PRINTED), lambda p: read_printed_numbers([p])),
        ("exhibits", text_file("specs.tsv", SPECS), lambda p: read_specs(p, "x", "y")),
    ),
    *readers(
        "campaign.settings.base",
        YAML,
        ("campaign", beginning(DEMO / "config.yaml"), load_campaign),
        ("benchmark declaration", copied(DEMO_PAIRS, "benchmark.yaml"), Declaration.read),
        ("blimp paradigm", beginning(CONFIG / f"blimp/paradigms/{PARADIGM}.yaml"), read_paradigm),
        ("blimp classes", copied(LEXICON, "classes.yaml"), lexicon),
        ("language pack", beginning(CONFIG / "lmentry/languages/fra.yaml"), read_pack),
        ("tasks", beginning(CONFIG / "lmentry/tasks.yaml"), read_declarations),
        ("urblimp language", beginning(HINDI / "language.yaml"), read_language),
        ("orthography", beginning(HINDI / "language.yaml"), read_orthography),
        ("urblimp rules", beginning(HINDI / "oblique_verb.yaml"), rule),
    ),
    *readers(
        "linguistics.treebanks",
        WIDE | {"nuls": "a form may have any signs"} | COMMENTS,
        ("conllu", text_file("x.conllu", TREES), trees),
    ),
    *readers(
        "papers.multiblimp.items.lexicon",
        WIDE | {"nuls": "upstream's words are taken as they are"},
        ("unimorph", beginning(DEMO / "data/unimorph/eng/eng", 30, "eng"), unimorph),
    ),
    *readers(
        "papers.multiblimp.analysis",
        {},
        ("glotcc", text_file("totals.tsv", GLOTCC), read_totals),
    ),
    *readers(
        "papers.clams.morphology",
        {},
        ("wals values", among(WALS, "value.csv"), complexity),
        ("wals elements", among(WALS, "domainelement.csv"), complexity),
        ("wals languages", among(WALS, "languages.csv"), complexity),
    ),
    *readers(
        "papers.clams.items.build",
        WIDE | {"repeat_line": "judging counts a pair that stands twice"},
        ("clams set", text_file("simple_agrmt.txt", SETS), lambda p: list(read_pairs(p))),
    ),
    *readers(
        "papers.clams.items.grammar.model",
        LINES | WIDE | {"nuls": "a word of any signs"},
        ("clams grammar", copied(GRAMMARS, "simple_agrmt.avg"), grammar),
        ("clams common grammar", copied(GRAMMARS, "common.avg"), grammar),
    ),
    *readers(
        "papers.clams.items.grammar.generator",
        LINES | WIDE | {"empty": FREE, "deep": FREE},
        ("word list", text_file("words.txt", "the\nauthor\nlaughs\n"), read_word_list),
    ),
    *readers(
        "papers.blimp.items.build",
        JSON,
        (
            "blimp pairs",
            text_file(f"{PARADIGM}.jsonl", jsonl(*map(blimp_record, range(4)))),
            lambda p: list(read_records(p)),
        ),
    ),
    *readers(
        "papers.blimp.released_results",
        {},
        *((f"blimp {name}", among(RELEASED, name), accuracies) for name in RELEASED),
    ),
    *(
        Reader(
            f"benchmark {kind}", declared(f"data.{kind}", text), items, "benchmarks.readers", same
        )
        for kind, text, same in (
            ("csv", PAIRS, TWICE | WIDE),
            ("json", json.dumps(RECORDS), JSON),
            ("jsonl", jsonl(*RECORDS), TWICE | JSON),
            ("parquet", parquet(), {}),
        )
    ),
    *readers(
        "benchmarks.files",
        TWICE | WIDE,
        ("benchmark zip", declared("data.zip", zipped()), items),
    ),
    *readers(
        "audit.cells",
        dict.fromkeys(("cut", "repeat_line", "nuls", "wide"), CHECKED),
        ("printed numbers by line", text_file("table1.csv", PRINTED), numbered),
    ),
    *readers(
        "interop.lm_eval",
        JSON,
        ("lm-eval samples", text_file("samples_x.jsonl", SAMPLES), samples),
    ),
    *readers(
        "annotation.spreadsheet",
        WIDE | dict.fromkeys(("repeat_line", "empty", "blank", "deep", "cut"), LABELS),
        ("annotation sheet", text_file("eng.anna.csv", SHEET), read_sheet_rows),
    ),
    *readers(
        "records.journal",
        TEXT
        | dict.fromkeys(("utf16", "bad_byte", "noise"), CUT_OFF)
        | {"missing": "no attempt has been made"},
        ("journal", text_file("a.journal", "\n"), read_entries),
    ),
    *readers("tables", {}, ("items", item_table, lambda p: read_table(ITEMS, p).to_pylist())),
    *readers("models.ngram", WIDE, ("arpa", text_file("a.arpa", ARPA), read_vocabulary)),
    *readers(
        "models.corpus",
        WIDE | {"cut": "released vocabularies may end in a word"},
        ("vocabulary", text_file("vocabulary.txt", "<unk>\n<eos>\nthe\ncat\n"), read_words),
    ),
    *readers(
        "models.encoding",
        WIDE | {"repeat_line": "draws may repeat"},
        ("dialogues", text_file("dialogues.jsonl", DIALOGUES), read_dialogues),
    ),
    *readers(
        "models.text",
        TEXT,
        ("training text", text_file("text.txt", "The cat sleeps .\nHe runs .\n"), read_sentences),
    ),
    *readers(
        "papers.lmentry.items.resources",
        JSON,
        ("words", copied(FRENCH, "lmentry_words.json"), resources),
    ),
    *readers(
        "papers.lmentry.items.resources",
        HOMOPHONES,
        ("homophones", copied(FRENCH, "homophones.csv"), resources),
    ),
    *readers(
        "report.read",
        WIDE | dict.fromkeys(("repeat_line", "lose_cell", "cut", "nuls"), RECORDED),
        (
            "comparison",
            text_file("published.csv", COMPARISON),
            lambda p: read_comparison(p, ["paper", "status"]).to_dict("records"),
        ),
    ),
    *readers(
        "scoring.progress",
        JSON | {"missing": "nothing is scored yet"},
        ("progress", text_file("progress.json", json.dumps(PROGRESS)), read_progress),
    ),
    *json_readers(
        ("record", "a.prov.json", RECORD, read_record, "records.reading"),
        ("checkpoint", "checkpoint.json", CHECKPOINT, read_description, "models.checkpoint"),
        ("corpus", "corpus.json", CORPUS, read_corpus, "models.corpus"),
        ("configuration", "config.json", CONFIGURATION, read_configuration, "models.checkpoint"),
        (
            "index of weights",
            "model.safetensors.index.json",
            INDEX,
            lambda path: files_of_index(path, ("a", "b"), "m"),
            "models.checkpoint",
        ),
        (
            "report card",
            "card.json",
            {"format": FORMAT, "models": {}},
            read_card,
            "evaluation.card",
        ),
        ("exhibit as data", "a.json", EXHIBIT, read_document, "exhibits.exhibit"),
        ("manifest", "manifest.json", MANIFEST, read_manifest, "scoring.shards"),
    ),
]
