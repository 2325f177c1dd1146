"""Build all tables of a language from small treebanks and lexicons that tests write as text.

Treebanks are lines of "id form lemma upos feats head deprel misc", lexicons lines of "lemma form
tags".
"""

from collections import Counter
from dataclasses import dataclass

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.linguistics.treebanks import build_tokens
from blimpworks.papers.multiblimp.items.agreement import measure_agreement
from blimpworks.papers.multiblimp.items.candidates import find_candidates
from blimpworks.papers.multiblimp.items.lexicon import build_lexicon
from blimpworks.papers.multiblimp.items.pairs import build_pairs
from blimpworks.papers.multiblimp.items.sampling import sample_items
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


LOWER = DOGS_SING.replace("Dogs", "dogs")


def conllu(*sentences):
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
SING_DOGS = f"""
1 Sing sing VERB {FIN}|Number=Plur 0 root
2 dogs dog NOUN Number=Plur 1 nsubj
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
    """Tables of one language, built in a directory."""

    path: object
    lang: str
    options: MultiblimpOptions
    special: tuple[str, ...] = ()

    def at(self, *names):
        return [self.path / name for name in names]

    def tokens(self, *sentences):
        (source,) = self.at("x-test.conllu")
        source.write_text(conllu(*sentences), encoding="utf-8")
        outputs = self.at("tokens", "sentences", "malformed")
        build_tokens([("UD_X-Test", source)], *outputs, TreebankOptions())
        return self

    def lexicon(self, unimorph="", ratios=None):
        table, tokens, output = self.at("xyz", "tokens", "lexicon")
        rows = (line.split(maxsplit=2) for line in unimorph.strip().splitlines())
        table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        options = self.options.model_copy(update={"lexicon": ratios or LexiconOptions()})
        build_lexicon(tokens, [table], self.lang, self.special, output, options)
        return read_table(LEXICON, output)

    def candidates(self):
        tokens, output, funnel = self.at("tokens", "candidates", "funnel")
        settings = self.options, TreebankOptions()
        find_candidates(tokens, self.lang, self.special, output, funnel, *settings)
        return read_table(CANDIDATES, output).to_pylist()

    def agreement(self):
        *inputs, output, counts = self.at("candidates", "lexicon", "agreement", "agreement_counts")
        measure_agreement(*inputs, self.lang, output, counts, self.options)
        return read_table(AGREEMENT, output).to_pylist()

    def pairs(self):
        inputs = self.at("candidates", "lexicon", "agreement", "tokens", "sentences")
        output, funnel = self.at("pairs", "funnel2")
        counts = build_pairs(*inputs, self.lang, self.special, output, funnel, self.options)
        rejected = Counter()
        for steps in counts.values():
            rejected.update({k[2:]: n for k, n in steps.items() if k.startswith("- ") and n})
        return read_table(ITEMS, output).to_pylist(), dict(rejected)

    def agreement_with(self, unimorph=UNIMORPH):
        self.lexicon(unimorph)
        self.candidates()
        return self.agreement()

    def pairs_with(self, unimorph=UNIMORPH):
        self.agreement_with(unimorph)
        return self.pairs()

    def sample(self, untested=()):
        pairs, output, funnel = self.at("pairs", f"items/{self.lang}.parquet", "funnel3")
        sample_items(pairs, self.lang, untested, output, funnel, self.options)
        return output
