"""Load real resources of Multi-LMentry's prompts, and those of a small language."""

import json

import pytest

from blimpworks.campaign.catalogue import SourceRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.papers.lmentry.items.packs import declaration_of, read_declarations, read_pack
from blimpworks.papers.lmentry.items.prompts import names_of
from blimpworks.papers.lmentry.items.resources import cleaned, read_resources
from blimpworks.papers.lmentry.items.sampling import Source, draw
from blimpworks.papers.lmentry.paper import RESOURCE
from support.mirror_kit import fetch
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config/lmentry"
MIRROR = REPOSITORY.parent / "shared/mirror"
DECLARATIONS = CONFIG / "tasks.yaml"
PACKS = {path.stem: path for path in sorted((CONFIG / "languages").glob("*.yaml"))}
SOURCES = read_rows(SourceRow, REPOSITORY / "config/sources.tsv")
PINNED = [row for row in SOURCES if row.kind == RESOURCE]
LANGUAGES = tuple(lang for lang in PACKS if any(row.lang == lang for row in PINNED))
"""Languages of the paper; others have resources of the repository's own."""


def needs_mirror(test):
    reason = "needs ../shared/mirror with the annotated resources"
    return pytest.mark.mirror(pytest.mark.skipif(not MIRROR.is_dir(), reason=reason)(test))


def files_of(lang, directory):
    return [fetch(row, MIRROR, directory) for row in PINNED if row.lang == lang]


def drawn_of(lang, variant, directory):
    """Return all arguments of each task of a language."""
    known, pack = read_declarations(DECLARATIONS), read_pack(PACKS[lang])
    if variant == "corrected" and pack.yes_no_corrected:
        pack = pack.model_copy(update={"yes_no": pack.yes_no_corrected})
    lists, drawn = read_resources(files_of(lang, directory)), {}
    for name in names_of(pack):
        task = declaration_of(known, name, lang, variant)
        if task.made:
            drawn[name] = draw(Source(cleaned(lists) if task.clean else lists, pack, task), 1407)
    return drawn


NOUNS = {
    "beasts": ["cat", "dog", "horse", "mouse", "rabbit", "fish"],
    "fruit": ["apple", "pear", "plum", "grape", "lemon", "cherry"],
    "rooms": ["attic", "cellar", "hall", "kitchen", "nursery", "study"],
}
RHYMES = {"at": ["cat", "hat", "mat"], "og": ["dog", "log", "frog"], "ake": ["lake", "make"]}
SENTENCES = ["The cat sat down.", "A dog ran home.", "We like plums, pears.", "Fish swim."]


def write_resources(folder):
    """Write resource files of a small language; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    every = [w for words in NOUNS.values() for w in words] + ["run", "on", "I", "Zoe", "éclair"]
    pos = dict.fromkeys(every, "NOUN") | {"run": "VERB", "on": "ADPOSITION", "I": "PRONOUN"}
    for name, content in (
        ("lmentry_words.json", {word: {"pos": pos[word]} for word in every}),
        ("nouns_by_category.json", NOUNS),
        ("words_by_category.json", NOUNS),
        ("rhyme_groups.json", RHYMES),
    ):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    rows = ["word,homophone,semantic1,semantic2,easy1,easy2", "sea,see,lake,look,cat,dog"]
    (folder / "homophones.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = ["sentence", *(f'"{sentence}"' for sentence in SENTENCES)]
    (folder / "simple_sentences.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return sorted(folder.iterdir())
