"""Choose words and phrases, in the same way for the grammars of all demo languages."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from .lexicon import Frame, Lexicon, Noun, Row, parse
from .tree import Node, punct

SG, PL = "Sing", "Plur"
GENERAL = "any"
LINKS = {  # prepositions that do not name a location
    "with", "from", "of", "for", "about", "mit+Dat", "aus+Dat", "von+Dat", "für+Acc",
    "avec", "de", "pour",
}  # fmt: skip


class Grammar(ABC):
    """A grammar that chooses matching words; a subclass arranges them in its language."""

    wide_marks = False
    clausal = "acl:relcl"

    def __init__(self, lexicon: Lexicon, rng: random.Random) -> None:
        self.lex = lexicon
        self.rng = rng
        self.used: set[str] = set()
        self.depth = 0

    @abstractmethod
    def patterns(self) -> dict[str, Callable[[str], Node]]:
        """Return the builders of sentences by pattern; each takes the subject's number."""

    @abstractmethod
    def noun_node(self, noun: Noun, num: str, case: str) -> Node:
        """Return a noun in a number and case, without dependents."""

    @abstractmethod
    def dress(
        self, noun: Noun, node: Node, num: str, case: str, adj: Row | None, style: str
    ) -> None:
        """Add a determiner that suits the style, and the adjective if there is one."""

    @abstractmethod
    def phrase(self, prep: str, classes: set[str], num: str) -> Node:
        """Return the noun of a prepositional phrase, with its preposition."""

    @abstractmethod
    def relative(self, noun: Noun, node: Node, num: str, role: str) -> Node | None:
        """Return a relative clause with the noun as subject or object; None if no verb fits."""

    @abstractmethod
    def surface(self, nodes: list[Node]) -> None:
        """Apply the language's spelling rules, such as elision, to the words of a sentence."""

    @abstractmethod
    def xpos(self, word: Node) -> str:
        """Return the language-specific part of speech of a word."""

    @abstractmethod
    def unimorph(self) -> Iterable[tuple[str, str, str]]:
        """Yield the rows of the word table: lemma, form and UniMorph tags."""

    def make(self, pattern: str, num: str) -> Node:
        """Return the tree of a sentence of a pattern, whose main subject has the number."""
        self.used = set()
        self.depth = 0
        return self.patterns()[pattern](num)

    def chance(self, share: float) -> bool:
        """Return True in this share of calls, at random."""
        return self.rng.random() < share

    def any_num(self, other_than: str = "") -> str:
        """Return a random number, more often one that differs from ``other_than``."""
        if other_than and self.chance(0.65):
            return PL if other_than == SG else SG
        return self.rng.choice((SG, PL))

    def pick_noun(self, classes: Iterable[str]) -> Noun:
        """Return a noun of one of the classes that is new in the sentence."""
        allowed = set(classes)
        fit = [n for n in self.lex.nouns if n.classes & allowed and n.lemma not in self.used]
        noun = self.rng.choice(fit)
        self.used.add(noun.lemma)
        return noun

    def pick_frame(
        self, *, subj: Noun | None = None, obj: Noun | None = None, flag: str = "", ban: str = ""
    ) -> Frame | None:
        """Return a frame that suits subject, object and flag; None if there is none."""
        fit = [
            f
            for f in self.lex.frames
            if (subj is None or f.subj & subj.classes)
            and (obj is None or f.obj & obj.classes)
            and (not flag or flag in f.flags)
            and not f.flags & set(ban.split())
            and f.verb not in self.used
        ]
        if not fit:
            return None
        frame = self.rng.choice(fit)
        self.used.add(frame.verb)
        return frame

    def need_frame(self, flag: str = "", ban: str = "") -> Frame:
        """Return a frame with a flag and no banned one. Raises LookupError if there is none."""
        frame = self.pick_frame(flag=flag, ban=ban)
        if frame is None:
            raise LookupError(f"no frame with {flag!r} without {ban!r}")
        return frame

    def pick_adj(self, noun: Noun, use: str = "attr") -> Row | None:
        """Return an adjective that suits the noun in a use (attr or pred); None if none fits."""
        fit = [
            a
            for a in self.lex.adjectives
            if noun.classes & set(a["classes"].split()) and use in a["use"].split()
        ]
        fit = [a for a in fit if a["lemma"] not in self.used]
        if not fit:
            return None
        adj = self.rng.choice(fit)
        self.used.add(adj["lemma"])
        return adj

    def det_type(self, noun: Noun, num: str, style: str) -> str:
        """Return a type of determiner: the, this, poss, a, many or number."""
        definite = {"def": 1.0, "indef": 0.0, "plain": 0.85}.get(style, 0.6)
        indefinite = "a" if num == SG else self.rng.choice(("many", "number", "number"))
        if style == "indef":
            return indefinite
        possessable = noun.classes & {"wear", "carry", "text", "food"}
        definite_place = style == "plain" or noun.classes & {"settle", "spot", "inside"}
        if self.chance(definite):
            determiner = "the"
        elif possessable and self.chance(0.5):
            determiner = "poss"
        elif definite_place:
            determiner = "a" if num == SG else "the"
        else:
            determiner = "this" if self.chance(0.3) else indefinite
        return determiner

    def np(
        self, classes: Iterable[str], num: str, case: str = "Nom", mod: str = "", style: str = ""
    ) -> Node:
        """Return a noun phrase; ``mod`` requests a phrase or a relative clause in it."""
        noun = self.pick_noun(classes)
        if style in {"plain", "def"} and "single" in noun.classes and self.chance(0.8):
            num = SG
        return self.np_of(noun, num, case, mod, style)

    def np_of(
        self, noun: Noun, num: str, case: str = "Nom", mod: str = "", style: str = ""
    ) -> Node:
        """Return a noun phrase with a noun that was chosen before."""
        node = self.noun_node(noun, num, case)
        share = 0.15 if mod else 0.25
        adj = self.pick_adj(noun) if self.chance(share) else None
        self.dress(noun, node, num, case, adj, style)
        if mod in {"pp", "of"}:
            node.right("nmod", self.modifier(noun, num, locative=mod == "pp"))
        elif mod in {"subj", "obj"} and self.depth == 0:
            self.depth += 1
            clause = self.relative(noun, node, num, mod)
            if clause is None:
                node.right("nmod", self.modifier(noun, num, locative=False))
            else:
                node.right(self.clausal, clause)
            self.depth -= 1
        return node

    def modifier(self, noun: Noun, num: str, *, locative: bool = True) -> Node | None:
        """Return a phrase that modifies the noun, often in the other number."""
        allowed = LINKS if not locative else ()
        specs = [s for c in sorted(noun.classes) for s in self.lex.modifiers.get(c, ())]
        specs = [s for s in specs if s.split(":")[1] not in noun.classes]
        specs = [s for s in specs if not allowed or s.split(":")[0] in allowed]
        if not specs:
            return None
        prep, _, classes = self.rng.choice(specs).partition(":")
        return self.phrase(prep, set(classes.split(",")), self.any_num(num))

    def agent_frame(self, subj: str = "") -> Frame:
        """Return a frame whose subject may be a pronoun, of a class if ``subj`` names one."""
        while True:
            frame = self.need_frame(ban="pos here")
            subjects = {subj} if subj else {"person", "animal", "vehicle", "flyer"}
            if frame.subj & subjects:
                return frame

    def frame_phrase(self, frame: Frame, share: float = 0.6) -> Node | None:
        """Return one of the frame's phrases: always if the frame needs it, else at random."""
        if not frame.pps or not ("!" in frame.flags or self.chance(share)):
            return None
        prep, _, classes = self.rng.choice(frame.pps).partition(":")
        return self.phrase(prep, set(classes.split(",")), self.any_num())

    def adjunct(self, tense: str, use: str = "end") -> tuple[str, Node] | None:
        """Return an adverbial that suits tense and position, with its relation."""
        fit = [a for a in self.lex.adjuncts if a.tense in {tense, GENERAL}]
        fit = [a for a in fit if (use in a.rel.split()[1:])]
        if not fit:
            return None
        chosen = self.rng.choice(fit)
        return chosen.rel.split()[0], parse(chosen.spec, self.lex.aliases)

    def frag(self, spec: str) -> Node:
        """Return the tree of an annotated phrase."""
        return parse(spec, self.lex.aliases)

    def stop(self, root: Node, mark: str = ".") -> Node:
        """Add the final mark to a sentence; return its root."""
        return root.right("punct", punct(mark))
