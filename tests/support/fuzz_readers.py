"""List every reader of files that people or other programs make, with a valid file for each.

A reader's ``same`` says why its files may not show damage that can be seen in others. A reader
accounts for damage if it counts it beside its data (``noted``).
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

import pandas as pd

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
from blimpworks.papers.blimp.items.generate import read_declaration as read_paradigm
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
from blimpworks.tables import ACCURACIES, ITEMS, read_table
from support import tiny
from support.declared_kit import HEAD, jsonl
from support.declared_kit import PAIRS as COLUMNS
from support.generator_kit import pairs
from support.ngram_kit import ARPA
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
DEMO = CONFIG / "demo"
DEMO_PAIRS = DEMO / "benchmarks/demo_pairs"


class Data(NamedTuple):
    """A reader's data, and its notes on damage that it passes over."""

    content: Any
    noted: Any = None


@dataclass(frozen=True)
class Reader:
    """A reader, and a function that writes a valid file for it."""

    name: str
    write: Callable[[Path], Path]
    """Function that writes a valid file and its companions into a folder, and returns the file."""
    read: Callable[[Path], Any]
    module: str
    """Module that opens the file, below ``blimpworks``."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Damage that can be seen in other files, and why it cannot be seen in these."""


def among(files, name):
    """Return a function that writes files, texts or bytes by name, and returns one's path."""

    def write(folder):
        for file, content in files.items():
            path = folder / file
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / name

    return write


def text_file(name, text):
    return among({name: text}, name)


def json_file(name, value):
    return text_file(name, json.dumps(value))


def beginning(source, lines=None, name=None):
    """Return a function that writes a file of the repository, or its first ``lines`` lines."""
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


FRENCH_TREES = (DEMO / "data/ud/UD_French-Demo/fr_demo-ud-test.conllu").read_text()
TREES = "\n\n".join([*FRENCH_TREES.split("\n\n")[:4], ""])


def trees(path):
    reading = read_treebank(path, "UD_X", TreebankOptions())
    return reading.tokens.to_pylist(), reading.sentences.to_pylist()


def unimorph(path):
    odd = Counter()
    entries = list(read_unimorph(path, "eng", (), MultiblimpOptions(), odd))
    return Data(entries, +odd)


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


PARADIGM = "adjunct_island"


def blimp_pairs(folder):
    path = folder / f"{PARADIGM}.jsonl"
    made = (pair.record.model_dump_json(exclude_none=True) for pair in pairs(PARADIGM, 4))
    path.write_text("".join(f"{record}\n" for record in made))
    return path


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


PAIRS = "good,bad,kind\n" + "".join(
    f"The cats sleep {n}.,The cats sleeps {n}.,x\n" for n in range(5)
)
RECORDS = [{"good": f"He runs {n}.", "bad": f"He run {n}.", "kind": "x"} for n in range(5)]
DECLARED = HEAD | {"data": [COLUMNS | {"files": "data.*", "paradigm": "kind"}]}
PARQUET = pd.DataFrame(RECORDS).to_parquet()


def declared(name, content):
    return among({"benchmark.yaml": json.dumps(DECLARED), name: content}, name)


def items(path):
    folder = path.parent
    declaration = Declaration.read(folder / "benchmark.yaml")
    named = {name: each for name, each in local_files(folder).items() if name == path.name}
    return list(read_items(declaration, named, []))


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.csv", PAIRS)
    return buffer.getvalue()


def item_table(folder):
    return tiny.write_items(folder / "items.parquet", tiny.pairs(40))


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
CARD = {"format": FORMAT, "models": {}}
NOUNS, WORDS = "the\nauthor\nlaughs\n", "<unk>\n<eos>\nthe\ncat\n"
SENTENCES = "The cat sleeps .\nHe runs .\n"
GPT2 = {"architectures": ["GPT2LMHeadModel"]}
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


def sheet_rows(path):
    return [line.cells for line in read_sheet(path)]


def printed_numbers(path):
    return read_printed_numbers([path])


def comparison(path):
    return read_comparison(path, ["paper", "status"]).to_dict("records")


def numbered(path):
    return list(read_rows_with_lines(path, exhibit=["table1"]))


def resources(path):
    return read_resources(sorted(path.parent.iterdir()))


def configuration(path):
    return read_json(path, "a model's config.json")


def weights(path):
    return files_of_index(path, ("a", "b"), "m")


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


ROWS, NULS = LAST_CELL | WIDE, {"nuls": "words are taken as they are"}
SET = WIDE | {"repeat_line": "judging counts a pair that stands twice"}
WORD_LIST = LINES | WIDE | {"empty": FREE, "deep": FREE}
NUMBERED = dict.fromkeys(("cut", "repeat_line", "nuls", "wide"), CHECKED)
LABELLED = WIDE | dict.fromkeys(("repeat_line", "empty", "blank", "deep", "cut"), LABELS)
JOURNAL = TEXT | dict.fromkeys(("utf16", "bad_byte", "noise"), CUT_OFF)
JOURNAL |= {"missing": "no attempt has been made"}
VOCABULARY = WIDE | {"cut": "released vocabularies may end in a word"}
DRAWN = WIDE | {"repeat_line": "draws may repeat"}
COMPARED = WIDE | dict.fromkeys(("repeat_line", "lose_cell", "cut", "nuls"), RECORDED)
UNSCORED = JSON | {"missing": "nothing is scored yet"}
DEMO_TABLE = DEMO / "data/unimorph/eng/eng"
PARADIGM_FILE = CONFIG / f"blimp/paradigms/{PARADIGM}.yaml"

READERS_OF = {
    # by module that opens the file: name, file, reader, and damage that it may not see
    "campaign.table_files": [
        ("languages", *table("languages.tsv", LanguageRow), ROWS),
        ("treebanks", *table("treebanks.tsv", TreebankRow), ROWS),
        ("sources", *table("sources.tsv", SourceRow), ROWS),
        ("models", *table("models.tsv", ModelRow), ROWS),
        ("groups", *table("language_groups.tsv", GroupRow), ROWS),
        ("frequency codes", *table("frequency_codes.tsv", FrequencyCodesRow), ROWS),
        ("reasons", *table("published/blimp/reasons.tsv", ReasonRow), ROWS),
        ("blimp nouns", copied(LEXICON, "nouns.tsv"), lexicon, ROWS),
        ("printed numbers", text_file("table1.csv", PRINTED), printed_numbers, ROWS),
        ("exhibits", text_file("specs.tsv", SPECS), lambda p: read_specs(p, "x", "y"), ROWS),
    ],
    "campaign.settings.base": [
        ("campaign", beginning(DEMO / "config.yaml"), load_campaign, YAML),
        ("benchmark declaration", copied(DEMO_PAIRS, "benchmark.yaml"), Declaration.read, YAML),
        ("blimp paradigm", beginning(PARADIGM_FILE), read_paradigm, YAML),
        ("blimp classes", copied(LEXICON, "classes.yaml"), lexicon, YAML),
        ("language pack", beginning(CONFIG / "lmentry/languages/fra.yaml"), read_pack, YAML),
        ("tasks", beginning(CONFIG / "lmentry/tasks.yaml"), read_declarations, YAML),
        ("urblimp language", beginning(HINDI / "language.yaml"), read_language, YAML),
        ("orthography", beginning(HINDI / "language.yaml"), read_orthography, YAML),
        ("urblimp rules", beginning(HINDI / "oblique_verb.yaml"), rule, YAML),
    ],
    "linguistics.treebanks": [
        ("conllu", text_file("x.conllu", TREES), trees, WIDE | NULS | COMMENTS)
    ],
    "papers.multiblimp.items.lexicon": [
        ("unimorph", beginning(DEMO_TABLE, 30, "eng"), unimorph, WIDE | NULS)
    ],
    "papers.multiblimp.analysis": [("glotcc", text_file("totals.tsv", GLOTCC), read_totals)],
    "papers.clams.morphology": [(f"wals {name}", among(WALS, name), complexity) for name in WALS],
    "papers.clams.items.build": [
        ("clams set", text_file("simple_agrmt.txt", SETS), lambda p: [*read_pairs(p)], SET)
    ],
    "papers.clams.items.grammar.model": [
        (f"clams {name}", copied(GRAMMARS, name), grammar, LINES | WIDE | NULS)
        for name in ("simple_agrmt.avg", "common.avg")
    ],
    "papers.clams.items.grammar.generator": [
        ("word list", text_file("words.txt", NOUNS), read_word_list, WORD_LIST)
    ],
    "papers.blimp.items.build": [("blimp pairs", blimp_pairs, lambda p: [*read_records(p)], JSON)],
    "papers.blimp.released_results": [
        (f"blimp {name}", among(RELEASED, name), accuracies) for name in RELEASED
    ],
    "benchmarks.readers": [
        ("benchmark csv", declared("data.csv", PAIRS), items, TWICE | WIDE),
        ("benchmark json", declared("data.json", json.dumps(RECORDS)), items, JSON),
        ("benchmark jsonl", declared("data.jsonl", jsonl(*RECORDS)), items, TWICE | JSON),
        ("benchmark parquet", declared("data.parquet", PARQUET), items),
    ],
    "benchmarks.files": [("benchmark zip", declared("data.zip", zipped()), items, TWICE | WIDE)],
    "audit.cells": [
        ("printed numbers by line", text_file("table1.csv", PRINTED), numbered, NUMBERED)
    ],
    "interop.lm_eval": [("lm-eval samples", text_file("samples_x.jsonl", SAMPLES), samples, JSON)],
    "annotation.spreadsheet": [
        ("annotation sheet", text_file("eng.anna.csv", SHEET), sheet_rows, LABELLED)
    ],
    "records.journal": [("journal", text_file("a.journal", "\n"), read_entries, JOURNAL)],
    "tables": [("items", item_table, lambda p: read_table(ITEMS, p).to_pylist())],
    "models.ngram": [("arpa", text_file("a.arpa", ARPA), read_vocabulary, WIDE)],
    "models.corpus": [
        ("vocabulary", text_file("vocabulary.txt", WORDS), read_words, VOCABULARY),
        ("corpus", json_file("corpus.json", CORPUS), read_corpus, JSON),
    ],
    "models.encoding": [
        ("dialogues", text_file("dialogues.jsonl", DIALOGUES), read_dialogues, DRAWN)
    ],
    "models.text": [("training text", text_file("text.txt", SENTENCES), read_sentences, TEXT)],
    "papers.lmentry.items.resources": [
        ("words", copied(FRENCH, "lmentry_words.json"), resources, JSON),
        ("homophones", copied(FRENCH, "homophones.csv"), resources, HOMOPHONES),
    ],
    "report.read": [("comparison", text_file("published.csv", COMPARISON), comparison, COMPARED)],
    "scoring.progress": [
        ("progress", json_file("progress.json", PROGRESS), read_progress, UNSCORED)
    ],
    "records.reading": [("record", json_file("a.prov.json", RECORD), read_record, JSON)],
    "models.checkpoint": [
        ("checkpoint", json_file("checkpoint.json", CHECKPOINT), read_description, JSON),
        ("configuration", json_file("config.json", GPT2), configuration, JSON),
        ("index of weights", json_file("model.safetensors.index.json", INDEX), weights, JSON),
    ],
    "evaluation.card": [("report card", json_file("card.json", CARD), read_card, JSON)],
    "exhibits.exhibit": [("exhibit as data", json_file("a.json", EXHIBIT), read_document, JSON)],
    "scoring.shards": [("manifest", json_file("manifest.json", MANIFEST), read_manifest, JSON)],
}
READERS = [
    Reader(name, write, read, module, *same)
    for module, rows in READERS_OF.items()
    for name, write, read, *same in rows
]
