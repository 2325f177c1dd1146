"""Items of UrBLiMP: the pairs that rules make of a language's treebanks.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2, anew from open data: neither the
treebank nor the corpus of the paper is public.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id, regions_of
from blimpworks.papers.urblimp.items.attested import Attested
from blimpworks.papers.urblimp.items.pairs import Maker, Outcome
from blimpworks.papers.urblimp.items.rules import LANGUAGE, Rule, read_declaration, read_language
from blimpworks.papers.urblimp.items.trees import Tree, plain_trees, read_trees
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.urblimp.settings import UrblimpOptions
from blimpworks.papers.urblimp.tables import ITEM_SCHEMA, REJECTED, RULE_COUNTS
from blimpworks.tables import ITEMS, write_table

REPEATED = "made before"
BEYOND = "beyond per_paradigm"
KEPT, DROPPED = "kept", "rejected"


class Sources(NamedTuple):
    """What pairs of a language are made of: tables of its treebanks, and its lexicon."""

    tokens: Path
    sentences: Path
    lexicon: Path | None = None
    texts: tuple[Path, ...] = ()
    """Plain text, for rules that need no edges."""


class Products(NamedTuple):
    """Tables that are written: the items, what became of matches, and those without a pair."""

    items: Path
    counts: Path
    rejected: Path


def _outcomes(
    path: Path, maker: Maker, rules: Sequence[Rule], made: Sequence[Tree], plain: Sequence[Tree]
) -> Iterator[Outcome]:
    """What becomes of all matches of a file's rules in treebanks and, for some, in plain text."""
    for rule in rules:
        for tree in (*made, *(plain if rule.source == "text" else ())):
            try:
                yield from maker.outcomes(rule, tree)
            except UserError as error:
                raise UserError(f"{path}: {error}") from None


def _distinct(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes, a pair that was made before rejected."""
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        pair = outcome.good, outcome.bad
        if outcome.reason or pair not in seen:
            yield outcome
        else:
            yield outcome._replace(reason=REPEATED)
        seen |= set() if outcome.reason else {pair}


def _capped(outcomes: Sequence[Outcome], most: int | None) -> list[Outcome]:
    """The outcomes, pairs beyond ``most`` rejected evenly."""
    kept = {id(each) for each in evenly([o for o in outcomes if not o.reason], most)}
    return [
        outcome._replace(reason=BEYOND)
        if not outcome.reason and id(outcome) not in kept
        else outcome
        for outcome in outcomes
    ]


def _row(lang: str, paradigm: str, outcome: Outcome) -> dict[str, Any]:
    good, bad, tree = outcome.good, outcome.bad, outcome.tree
    spans = regions_of(good, bad)
    return {
        "item_id": item_id("urblimp", lang, paradigm, good, bad),
        "lang": lang,
        "phenomenon": PHENOMENON_OF[paradigm],
        "paradigm": paradigm,
        "good": good,
        "bad": bad,
        **spans._asdict(),
        "treebank": tree.treebank or None,
        "file": tree.file,
        "sent_id": tree.sent_id,
        "rule": outcome.rule,
        "change": outcome.change,
        "constructed": outcome.constructed,
        "focus_good": good[spans.good_start : spans.good_end],
        "focus_bad": bad[spans.bad_start : spans.bad_end],
        "line": tree.line,
    }


def _counts(
    lang: str, paradigm: str, rules: Iterable[Rule], outcomes: Iterable[Outcome]
) -> Iterator[dict[str, Any]]:
    """How many matches of each rule became a pair, and how many did not for each reason.

    A rule without any match has kept none, and a row that says so.
    """
    found = Counter((outcome.rule, outcome.reason) for outcome in outcomes)
    matched = {rule for rule, _ in found}
    found.update({(rule.name, ""): 0 for rule in rules if rule.name not in matched})
    for (rule, reason), n in found.items():
        yield {
            "lang": lang,
            "phenomenon": PHENOMENON_OF[paradigm],
            "paradigm": paradigm,
            "rule": rule,
            "outcome": DROPPED if reason else KEPT,
            "reason": reason,
            "n": n,
        }


def _rejected(lang: str, paradigm: str, outcome: Outcome) -> dict[str, Any]:
    tree = outcome.tree
    return {
        "lang": lang,
        "paradigm": paradigm,
        "rule": outcome.rule,
        "reason": outcome.reason,
        "good": outcome.good,
        "bad": outcome.bad,
        "treebank": tree.treebank,
        "file": tree.file,
        "sent_id": tree.sent_id,
        "line": tree.line,
    }


def _chosen(trees: Sequence[Tree], files: Sequence[str] | None) -> list[Tree]:
    """The trees of some files; all where none is of this language."""
    wanted = {*(files or ())} & {tree.file for tree in trees}
    return [tree for tree in trees if not wanted or tree.file in wanted]


class _Rows:
    """Rows of the three tables, gathered paradigm by paradigm."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.items: list[dict[str, Any]] = []
        self.counts: list[dict[str, Any]] = []
        self.rejected: list[dict[str, Any]] = []

    def add(self, paradigm: str, rules: Sequence[Rule], outcomes: Sequence[Outcome]) -> None:
        """Take what became of the matches of a paradigm's rules."""
        self.items += [_row(self.lang, paradigm, o) for o in outcomes if not o.reason]
        self.counts += _counts(self.lang, paradigm, rules, outcomes)
        self.rejected += [_rejected(self.lang, paradigm, o) for o in outcomes if o.reason]

    def write(self, products: Products) -> None:
        """Write all three."""
        write_table(pa.Table.from_pylist(self.items, schema=ITEM_SCHEMA), ITEMS, products.items)
        tables = (
            (RULE_COUNTS, self.counts, products.counts),
            (REJECTED, self.rejected, products.rejected),
        )
        for schema, rows, path in tables:
            write_table(pa.Table.from_pylist(rows, schema=schema.arrow()), schema, path)


def build_items(
    rules: Path, lang: str, sources: Sources, products: Products, options: UrblimpOptions
) -> dict[str, int]:
    """Write the items of a language, by all rules in the folder ``rules``, and what was rejected.

    Items stand in the order of the paper's paradigms, of their rules and of the treebanks.
    Returns how many pairs each paradigm has. Raises UserError for rules or tables that are
    missing or malformed, and where there is no pair at all.
    """
    language = read_language(rules / f"{LANGUAGE}.yaml")
    trees = list(read_trees(sources.tokens, sources.sentences, language.orthography))
    code = language.attestation.wordfreq
    maker = Maker(language, Attested(trees, language.orthography, sources.lexicon, code))
    made = _chosen(trees, options.files)
    plain = [t for text in sources.texts for t in plain_trees(text, language.orthography)]
    rows = _Rows(lang)
    for paradigm in PARADIGMS:
        path = rules / f"{paradigm}.yaml"
        if path.exists():
            chosen = read_declaration(path, language).of_variant(options.variant)
            found = list(_distinct(_outcomes(path, maker, chosen, made, plain)))
            rows.add(paradigm, chosen, _capped(found, options.per_paradigm))
    if not rows.items:
        raise UserError(f"{rules}: no rule gives a pair of {sources.sentences}; expected some.")
    rows.write(products)
    return dict(Counter(row["paradigm"] for row in rows.items))
