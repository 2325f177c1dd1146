"""Small treebanks and lexicons as text, and all tables of a language built from them.

Treebanks are written as lines of "id form lemma upos feats head deprel misc", lexicons as
lines of "lemma form tags".
"""

from collections import Counter
from dataclasses import dataclass

from blimpworks.campaign.settings.treebanks import TreebankOptions
from blimpworks.linguistics.treebanks import build_tokens
from blimpworks.papers.multiblimp.items.agreement import measure_agreement
from blimpworks.papers.multiblimp.items.candidates import find_candidates
from blimpworks.papers.multiblimp.items.lexicon import build_lexicon
from blimpworks.papers.multiblimp.items.pairs import build_pairs
from blimpworks.papers.multiblimp.settings import LexiconOptions, MultiblimpOptions
from blimpworks.papers.multiblimp.tables import AGREEMENT, CANDIDATES
from blimpworks.tables import ITEMS, LEXICON, read_table

FIN = "Mood=Ind|VerbForm=Fin"
UNIMORPH = """
sing sings V;IND;PRS;3;SG
sing sing V;IND;PRS;3;PL
be is V;IND;PRS;3;SG
be are V;IND;PRS;3;PL
dog dog N;SG
dog dogs N;PL
"""
DOGS_SING = f"""
1 Dogs dog NOUN Number=Plur 2 nsubj
2 sing sing VERB {FIN}|Number=Plur 0 root
"""


def conllu(*sentences):
    """CoNLL-U of sentences in the short notation."""
    blocks = []
    for number, sentence in enumerate(sentences, start=1):
        lines = [f"# sent_id = s{number}"]
        for line in sentence.strip().splitlines():
            ident, form, lemma, upos, feats, head, deprel, *misc = line.split()
            cells = (ident, form, lemma, upos, "_", feats, head, deprel, "_", *(misc or "_"))
            lines.append("\t".join(cells))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


SEEN = f"""
1 dogs dog NOUN Number=Plur 2 nsubj
2 singeth sing VERB {FIN}|Number=Sing 0 root
"""
IS_FIRST = f"""
1 are be AUX {FIN}|Number=Plur 3 aux
2 dogs dog NOUN Number=Plur 3 nsubj
3 singing sing VERB VerbForm=Part 0 root
"""
LONG = f"""
1 Dogs dog NOUN Number=Plur 5 nsubj
2 near near ADP _ 3 case
3 cats cat NOUN Number=Plur 1 nmod
4 one one NUM Number=Sing 3 nummod
5 sing sing VERB {FIN} 0 root
"""


@dataclass
class Language:
    """All tables of one language, built in a directory."""

    path: object
    lang: str
    options: MultiblimpOptions
    special: tuple[str, ...] = ()

    def tokens(self, *sentences):
        source = self.path / "x-test.conllu"
        source.write_text(conllu(*sentences), encoding="utf-8")
        build_tokens(
            [("UD_X-Test", source)],
            self.path / "tokens",
            self.path / "sentences",
            self.path / "malformed",
            TreebankOptions(),
        )
        return self

    def lexicon(self, unimorph="", ratios=None, name="xyz"):
        table = self.path / name
        rows = (line.split(maxsplit=2) for line in unimorph.strip().splitlines())
        table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        build_lexicon(
            self.path / "tokens",
            [table],
            self.lang,
            self.special,
            self.path / "lexicon",
            self.options.model_copy(update={"lexicon": ratios or LexiconOptions()}),
        )
        return read_table(LEXICON, self.path / "lexicon")

    def candidates(self):
        find_candidates(
            self.path / "tokens",
            self.lang,
            self.special,
            self.path / "candidates",
            self.path / "funnel",
            self.options,
            TreebankOptions(),
        )
        return read_table(CANDIDATES, self.path / "candidates").to_pylist()

    def agreement(self):
        measure_agreement(
            self.path / "candidates",
            self.path / "lexicon",
            self.lang,
            self.path / "agreement",
            self.path / "agreement_counts",
            self.options,
        )
        return read_table(AGREEMENT, self.path / "agreement").to_pylist()

    def pairs(self):
        """Pairs, and the counts of what was rejected."""
        names = ("candidates", "lexicon", "agreement", "tokens", "sentences")
        counts = build_pairs(
            *(self.path / name for name in names),
            self.lang,
            self.special,
            self.path / "pairs",
            self.path / "funnel2",
            self.options,
        )
        pairs = read_table(ITEMS, self.path / "pairs").to_pylist()
        rejected = Counter()
        for steps in counts.values():
            rejected.update({k[2:]: n for k, n in steps.items() if k.startswith("- ") and n})
        return pairs, dict(rejected)
