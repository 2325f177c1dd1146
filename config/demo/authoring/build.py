"""Write the demo treebanks, word tables and training text."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from demoworld import LANGUAGES
from demoworld.grammar import PL, SG, Grammar
from demoworld.lexicon import load, parse
from demoworld.stats import Counts, count
from demoworld.tree import Node, Sentence, conllu, finish

HERE = Path(__file__).resolve().parent
SEED = 20240229
TEXT_LINES = 6000
MAX_CHARS = {"treebank": 110, "text": 88}


def compose(grammar: Grammar, pattern: str, num: str, limit: int) -> Sentence:
    """Return a new sentence of a pattern, with at most ``limit`` characters."""
    while True:
        try:
            sentence = close(grammar, grammar.make(pattern, num))
        except LookupError:  # no unused word fits: start over
            continue
        if len(sentence.text) <= limit:
            return sentence


def close(grammar: Grammar, root: Node) -> Sentence:
    """Return the sentence of a tree, spelt by the rules of the language."""
    return finish(root, grammar.surface, wide_marks=grammar.wide_marks)


def treebank(grammar: Grammar, plan: dict[str, list[int]]) -> list[Sentence]:
    """Return the handwritten sentences and the planned numbers of composed ones, shuffled."""
    lex = grammar.lex
    out = [close(grammar, parse(line, lex.aliases)) for line in lex.hand]
    seen = {sentence.text for sentence in out}
    for pattern in grammar.patterns():
        for num, times in zip((SG, PL), plan.get(pattern, plan["default"]), strict=True):
            for _ in range(times):
                sentence = compose(grammar, pattern, num, MAX_CHARS["treebank"])
                while sentence.text in seen:
                    sentence = compose(grammar, pattern, num, MAX_CHARS["treebank"])
                seen.add(sentence.text)
                out.append(sentence)
    grammar.rng.shuffle(out)
    return out


def corpus(grammar: Grammar, taken: set[str], weights: dict[str, int]) -> list[str]:
    """Return training sentences, of which none is in ``taken`` (the treebank)."""
    patterns = list(grammar.patterns())
    shares = [weights.get(pattern, weights["default"]) for pattern in patterns]
    seen = set(taken)
    lines: list[str] = []
    while len(lines) < TEXT_LINES:
        pattern = grammar.rng.choices(patterns, shares)[0]
        num = (SG, PL)[len(lines) % 2]
        text = compose(grammar, pattern, num, MAX_CHARS["text"]).text
        if text not in seen:
            seen.add(text)
            lines.append(text)
    return lines


def write(path: Path, text: str) -> None:
    """Write a UTF-8 file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def build(iso: str, out: Path) -> Counts:
    """Write all files of a language; return the counts of its treebank's clauses."""
    language = LANGUAGES[iso]
    lexicon = load(HERE / "lexicon" / iso)
    plan = json.loads((HERE / "lexicon" / "plan.json").read_text(encoding="utf-8"))
    grammar = language.grammar(lexicon, random.Random(f"{SEED}-{iso}"))
    sentences = treebank(grammar, plan["treebank"])
    name = f"{language.code}_demo-ud-test"
    blocks = [
        conllu(sentence, f"{language.code}-demo-{number:03d}", grammar.xpos)
        for number, sentence in enumerate(sentences, 1)
    ]
    write(out / "ud" / f"UD_{language.name}-Demo" / f"{name}.conllu", "".join(blocks))
    lines = corpus(grammar, {s.text for s in sentences}, plan["text"])
    write(out / "text" / f"{iso}.txt", "\n".join(lines) + "\n")
    rows = dict.fromkeys("\t".join(row) for row in grammar.unimorph())
    write(out / "unimorph" / iso / iso, "\n".join(rows) + "\n")
    return count(sentences)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the files of the languages that the command line names; print their counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE.parent / "data")
    parser.add_argument("languages", nargs="*", default=list(LANGUAGES))
    options = parser.parse_args(argv)
    for iso in options.languages:
        counts = build(iso, options.out)
        print(iso, " ".join(f"{key}={value}" for key, value in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
