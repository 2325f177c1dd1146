"""Write trees in a short notation, the repository's treebank as tables, and short rule files."""

import lzma
from collections import Counter
from typing import NamedTuple

import pyarrow.parquet as pq
import yaml

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.linguistics.treebanks import build_tokens
from blimpworks.papers.urblimp.items.build import apply_rule, build_items
from blimpworks.papers.urblimp.items.drafts import Attested
from blimpworks.papers.urblimp.items.patterns import Tree, TreeWord
from blimpworks.papers.urblimp.items.rules import Language, read_declaration, read_language
from blimpworks.papers.urblimp.phenomena import PHENOMENON_OF
from blimpworks.papers.urblimp.settings import UrblimpOptions
from blimpworks.papers.urblimp.tables import KEPT
from support.paths import DATA, REPOSITORY

OWN_DATA = DATA / "urblimp"
RULES = REPOSITORY / "config/urblimp/urd"
HINDI = REPOSITORY / "config/urblimp/hin"
LETTERS = "اآبپتٹثجچحخدڈذرڑزژسشصضطظعغفقکگلمنںوہھءیےئؤۂۃأ"
OWN = OWN_DATA / "ur_own-ud-test.conllu"
OWN_HINDI = OWN_DATA / "hi_own-ud-test.conllu"


def word(form, lemma="", upos="", head=-1, relation="", space=True, **features):
    named = {"form": form, "lemma": lemma, "upos": upos, "xpos": ""}
    return TreeWord(form, head, relation, named | features, space)


def tree(text):
    """Parse words "form/UPOS/head/relation/Name=Value|…"; heads count from 1, and 0 is the root."""
    words = []
    for cell in text.split():
        form, upos, head, relation, *rest = cell.split("/")
        pairs = (pair.split("=") for pair in "|".join(rest).split("|") if pair)
        features = dict(pairs)
        lemma = features.pop("lemma", form)
        words.append(word(form, lemma, upos, int(head) - 1, relation, **features))
    return Tree(tuple(words))


class Built(NamedTuple):
    """Tables that ``build_items`` wrote, as lists of rows, and its return value."""

    items: list
    counts: list
    rejected: list
    kept: dict


def tables_of(folder, treebanks=(OWN,)):
    files = [(f"UD_{path.stem}", path) for path in treebanks]
    tables = folder / "tokens", folder / "sentences"
    if not tables[0].exists():
        build_tokens(files, *tables, folder / "malformed", TreebankOptions())
    return tables


def build(folder, rules=RULES, treebanks=(OWN,), lang="urd", texts=(), **options):
    products = [folder / name for name in ("items", "counts", "rejected")]
    made_of = tables_of(folder, treebanks)
    kept = build_items(rules, lang, *made_of, *products, UrblimpOptions(**options), text=texts)
    return Built(*(pq.read_table(path).to_pylist() for path in products), kept)


def write_rules(folder, paradigm="honorific", language=None, **declaration):
    folder.mkdir(exist_ok=True)
    (folder / "language.yaml").write_text(yaml.safe_dump(language or {}, allow_unicode=True))
    text = yaml.safe_dump(declaration, allow_unicode=True)
    (folder / f"{paradigm}.yaml").write_text(text)
    return folder


def outcomes(folder, sentence, language=None, beside=(), **rule):
    write_rules(folder, language=language, about="x", rules=[rule])
    pack = read_language(folder / "language.yaml")
    declared = read_declaration(folder / "honorific.yaml", pack)
    attested = Attested([sentence, *beside], pack.orthography)
    return list(apply_rule(declared.rules[0], sentence, pack, attested))


def urdu() -> Language:
    return read_language(RULES / "language.yaml")


def unpacked(folder, target):
    """Unpack the treebank files of a directory of the mirror; return their paths."""
    copies = []
    for path in sorted(folder.glob("*.conllu.xz")):
        copy = target / path.stem
        copy.write_bytes(lzma.decompress(path.read_bytes()))
        copies.append(copy)
    return copies


def check_counts(built):
    """Check that kept and rejected rows are all matches; a rule without a match has one row."""
    kept, dropped, without = Counter(), Counter(), Counter()
    for row in built.counts:
        key = row["paradigm"], row["rule"]
        assert row["phenomenon"] == PHENOMENON_OF[row["paradigm"]]
        assert (row["outcome"] == KEPT) == (row["reason"] == "")
        if row["n"] == 0:
            without[key] += 1
        elif row["outcome"] == KEPT:
            kept[key] += row["n"]
        else:
            dropped[*key, row["reason"]] += row["n"]
    assert kept == Counter((item["paradigm"], item["rule"]) for item in built.items)
    assert dropped == Counter((r["paradigm"], r["rule"], r["reason"]) for r in built.rejected)
    assert max(without.values(), default=1) == 1
    assert not without.keys() & {key[:2] for key in (*kept, *dropped)}
    assert built.kept == dict(Counter(item["paradigm"] for item in built.items))
