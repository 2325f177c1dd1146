"""Compose German sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import deu_words as words
from .grammar import PL, SG, Grammar
from .lexicon import Frame, Noun, Row
from .tree import Node, punct

NUMERALS = ("zwei", "drei", "vier", "fünf")
Middle = list[tuple[str, Node]]
MODALS = ("können", "müssen", "wollen", "dürfen")
PREDICABLE = {"person", "animal", "vehicle", "fruit", "light", "opening", "carry", "room", "tall"}


class German(Grammar):
    """The German grammar, with a method for each pattern of sentences."""

    def patterns(self) -> dict[str, Callable[[str], Node]]:
        return {
            "simple": lambda n: self.plain(n, tense="Pres"),
            "pp": lambda n: self.plain(n, tense="Pres", mod="pp"),
            "subjrel": lambda n: self.plain(n, tense="Pres", mod="subj"),
            "objrel": lambda n: self.plain(n, tense="Pres", mod="obj"),
            "perfect": lambda n: self.plain(n, tense="perf", mod=self.maybe_mod()),
            "modal": lambda n: self.plain(n, tense="modal", mod=self.maybe_mod()),
            "past": lambda n: self.plain(n, tense="Past", mod=self.maybe_mod()),
            "negation": lambda n: self.plain(n, tense="Pres", mod=self.maybe_mod(), neg=True),
            "pronoun": self.pronoun,
            "speaker": self.speaker,
            "copula": self.copula,
            "front": lambda n: self.plain(n, tense="Pres", mod=self.late_mod(), front=True),
            "inversion": self.inversion,
            "there": self.there,
            "question": self.question,
            "when": self.when,
            "that": self.that,
            "verbs": self.two_verbs,
            "subjects": self.two_subjects,
        }

    def maybe_mod(self) -> str:
        return self.rng.choice(("", "pp", "pp", "subj", "obj"))

    def late_mod(self) -> str:
        return "of" if self.chance(0.3) else ""

    def noun_node(self, noun: Noun, num: str, case: str) -> Node:
        feats = f"Case={case}|Gender={noun.gender}|Number={num}"
        return Node(words.noun_form(noun, num, case), noun.lemma, "NOUN", feats)

    def dress(
        self, noun: Noun, node: Node, num: str, case: str, adj: Row | None, style: str
    ) -> None:
        after = "weak"
        determiner = self.det_type(noun, num, style)
        if determiner == "the":
            node.left("det", words.article(noun.gender, num, case))
        elif determiner == "this":
            node.left("det", words.determiner("dieser", noun.gender, num, case))
        elif determiner == "poss":
            lemma = self.rng.choice(("mein", "unser"))
            node.left("det:poss", words.determiner(lemma, noun.gender, num, case))
            after = "mixed"
        elif num == SG:
            node.left("det", words.determiner("ein", noun.gender, num, case))
            after = "mixed"
        elif determiner == "many":
            node.left("amod", words.adjective("viel", noun.gender, num, case, "strong"))
            after = "strong"
        else:
            numeral = self.rng.choice(NUMERALS)
            node.left("nummod", Node(numeral, numeral, "NUM", "NumType=Card"))
            after = "strong"
        if adj is not None:
            node.left("amod", words.adjective(adj["lemma"], noun.gender, num, case, after))

    def phrase(self, prep: str, classes: set[str], num: str) -> Node:
        form, _, case = prep.partition("+")
        return self.np(classes, num, case, style="plain").first("case", Node(form, form, "ADP"))

    def finite(self, verb: str, num: str, person: int = 3, tense: str = "Pres") -> Node:
        node = words.finite(self.lex, verb, num, person, tense)
        if verb in self.lex.paradigms and verb != "wissen":
            node.upos = "AUX"
        return node

    def group(self, frame: Frame, num: str, person: int, tense: str) -> tuple[Node | None, Node]:
        """Return the auxiliary, or None, and the head of a verb in a tense."""
        verb = frame.verb
        if tense in {"modal", "perf"} and "stat" in frame.flags:
            tense = "Pres"
        if tense == "perf":
            name = "sein" if self.lex.verbs[verb]["aux"] == "s" else "haben"
            head = Node(words.participle(self.lex, verb), verb, "VERB", "VerbForm=Part")
            return self.finite(name, num, person), head
        if tense == "modal":
            modal = self.finite(
                self.rng.choice(MODALS if "person" in frame.subj else MODALS[:2]), num, person
            )
            return modal, Node(verb, verb, "VERB", "VerbForm=Inf")
        return None, self.finite(verb, num, person, tense)

    def middle(self, frame: Frame, tense: str, share: float, *, neg: bool, obj: bool) -> Middle:
        """Return the phrases between the finite verb and the end of the clause."""
        out: Middle = []
        time = {"Pres": "pres", "Past": "past", "modal": "any"}.get(tense, tense)
        fixed = neg or tense in {"none", "any"}
        added = None if fixed else self.adjunct(time, self.rng.choice(("mid", "end")))
        if added and self.chance(0.3):
            out.append(added)
        if obj and frame.obj:
            case, rel = ("Dat", "obl:arg") if "dat" in frame.flags else ("Acc", "obj")
            style = "def" if neg else ""
            out.append((rel, self.np(frame.obj, self.any_num(), case, style=style)))
        if neg:
            out.append(("advmod", Node("nicht", "nicht", "PART", "Polarity=Neg")))
        location = self.frame_phrase(frame, share)
        if location is not None:
            out.append(("obl", location))
        return out

    def main(
        self,
        verb: tuple[Node | None, Node],
        subj: Node,
        middle: Middle,
        front: tuple[str, Node] | None = None,
        *,
        ask: bool = False,
    ) -> Node:
        """Return a clause with the finite verb second, or first in a question."""
        aux, head = verb
        start = [] if ask else [front or ("nsubj", subj)]
        after_verb = [("nsubj", subj), *middle] if ask or front else middle
        for rel, node in start:
            head.left(rel, node)
        if aux is not None:
            head.left("aux", aux)
        for rel, node in after_verb:
            if aux is None:
                head.right(rel, node)
            else:
                head.left(rel, node)
        return head

    def side(
        self, verb: tuple[Node | None, Node], start: Middle, middle: Middle, mark: Node | None
    ) -> Node:
        """Return a clause with the finite verb last, between commas."""
        aux, head = verb
        head.left("punct", punct(","))
        head.left("mark", mark)
        for rel, node in [*start, *middle]:
            head.left(rel, node)
        head.right("aux", aux)
        return head.right("punct", punct(","))

    def subject(self, num: str, mod: str = "", flag: str = "") -> tuple[Frame, Node]:
        ban = "pos"
        if mod == "pp" and self.chance(0.4):
            mod = "of"
        elif mod == "pp":
            ban = "pos !"
        frame = self.need_frame(flag, "" if flag else ban)
        return frame, self.np(frame.subj, num, mod=mod)

    def plain(
        self, num: str, *, tense: str, mod: str = "", front: bool = False, neg: bool = False
    ) -> Node:
        flag = "pos" if mod != "pp" and self.chance(0.12) else ""
        frame, subj = self.subject(num, mod, flag)
        verb = self.group(frame, num, 3, tense)
        added = self.adjunct("pres", "front") if front else None
        middle = self.middle(
            frame, "any" if front else tense, 0.0 if mod == "pp" else 0.6, neg=neg, obj=True
        )
        if added:
            middle = [(rel, node) for rel, node in middle if not rel.startswith("adv")]
            middle = [m for m in middle if m[0] != "obl:tmod"]
        return self.stop(self.main(verb, subj, middle, added))

    def personal(self, frame: Frame, num: str) -> Node:
        name = "siep" if num == PL else self.rng.choice(("er", "sie"))
        form = name[:3] if name == "siep" else name
        del frame
        return Node(form, form, "PRON", self.lex.aliases[name])

    def pronoun(self, num: str) -> Node:
        frame = self.agent_frame()
        tense = self.rng.choice(("Pres", "Pres", "perf", "modal", "Past"))
        verb = self.group(frame, num, 3, tense)
        middle = self.middle(frame, tense, 0.9, neg=self.chance(0.15), obj=True)
        front = self.adjunct("any", "front") if self.chance(0.3) else None
        if front:
            middle = [m for m in middle if m[0] not in {"advmod", "obl:tmod"}]
        return self.stop(self.main(verb, self.personal(frame, num), middle, front))

    def speaker(self, num: str) -> Node:
        frame = self.agent_frame("person")
        name = "wir" if num == PL else "ich"
        subj = Node(name, name, "PRON", self.lex.aliases[name])
        tense = self.rng.choice(("Pres", "perf", "modal"))
        middle = self.middle(frame, tense, 0.9, neg=False, obj=True)
        return self.stop(self.main(self.group(frame, num, 1, tense), subj, middle))

    def copula(self, num: str) -> Node:
        noun = self.pick_noun(PREDICABLE)
        subj = self.np_of(noun, num, mod=self.maybe_mod())
        adj = self.pick_adj(noun, "pred")
        if adj is None:
            raise LookupError("no predicate fits")
        tense = "Past" if self.chance(0.15) else "Pres"
        head = Node(adj["lemma"], adj["lemma"], "ADJ", "Degree=Pos")
        ask = self.chance(0.2)
        if not ask:
            head.left("nsubj", subj)
        head.left("cop", self.finite("sein", num, 3, tense))
        if ask:
            head.left("nsubj", subj)
        return self.stop(head, "?" if ask else ".")

    def inversion(self, num: str) -> Node:
        """Return a sentence with the order: time or location, finite verb, subject."""
        if self.chance(0.5):
            frame, subj = self.subject(num, self.late_mod())
            tense = self.rng.choice(("Pres", "Pres", "perf", "modal"))
            front = self.adjunct("any" if tense != "Pres" else "pres", "front")
            middle = self.middle(frame, "none", 0.5, neg=False, obj=True)
            verb = self.group(frame, num, 3, tense)
            return self.stop(self.main(verb, subj, middle, front))
        frame = self.need_frame("pos")
        noun = self.pick_noun(frame.subj)
        location = self.frame_phrase(frame, 1.0)
        if location is None:
            raise LookupError("no place fits")
        subj = self.np_of(noun, num, mod=self.rng.choice(("", "of", "of", "subj", "obj")))
        return self.stop(
            self.main((None, self.finite(frame.verb, num)), subj, [], ("obl", location))
        )

    def there(self, num: str) -> Node:
        """Return an existential sentence with an expletive."""
        frame = self.need_frame("pos")
        head = self.finite_of("geben", "gibt", "3s")
        location = self.frame_phrase(frame, 1.0)
        obj = self.np(frame.subj, num, "Acc", style="indef")
        expl = Node("es", "es", "PRON", self.lex.aliases["es"])
        if location is not None and self.chance(0.5):
            return self.stop(head.left("obl", location).right("expl", expl).right("obj", obj))
        return self.stop(head.left("expl", expl).right("obj", obj).right("obl", location))

    def finite_of(self, lemma: str, form: str, alias: str) -> Node:
        return Node(form, lemma, "VERB", self.lex.aliases[alias])

    def question(self, num: str) -> Node:
        frame, subj = self.subject(num, self.late_mod(), "pos" if self.chance(0.2) else "")
        tense = self.rng.choice(("Pres", "Pres", "perf", "modal"))
        asks = self.chance(0.35)
        neg = not asks and self.chance(0.15)
        middle = self.middle(frame, "none", 0.5, neg=neg, obj=True)
        head = self.main(self.group(frame, num, 3, tense), subj, middle, ask=True)
        if asks:
            word = self.rng.choice(("warum", "wann"))
            head.first("advmod", Node(word, word, "ADV", "PronType=Int"))
        return self.stop(head, "?")

    def when(self, num: str) -> Node:
        """Return a main clause with a subordinate clause before or after it."""
        frame, subj = self.subject(num, self.late_mod())
        verb = self.group(frame, num, 3, "Pres")
        middle = self.middle(frame, "none", 0.4, neg=False, obj=True)
        word = self.rng.choice(("wenn", "weil", "während", "obwohl"))
        side_num = self.any_num()
        frame, inner = self.subject(side_num)
        tense = self.rng.choice(("Pres", "Pres", "perf")) if word != "während" else "Pres"
        phrases = self.middle(frame, "none", 0.4, neg=False, obj=True)
        mark = Node(word, word, "SCONJ")
        side = self.side(self.group(frame, side_num, 3, tense), [("nsubj", inner)], phrases, mark)
        if self.chance(0.5):
            return self.stop(self.main(verb, subj, middle, ("advcl", side)))
        return self.stop(self.main(verb, subj, middle).right("advcl", side))

    def that(self, num: str) -> Node:
        verb = self.rng.choice(("sagen", "wissen", "glauben", "sehen", "hören"))
        self.used.add(verb)
        head = self.finite(verb, num)
        subj = self.np({"person"}, num, mod=self.late_mod())
        side_num = self.any_num(num)
        frame, inner = self.subject(side_num)
        tense = self.rng.choice(("Pres", "perf", "modal"))
        phrases = self.middle(frame, "none", 0.5, neg=False, obj=True)
        mark = Node("dass", "dass", "SCONJ")
        side = self.side(self.group(frame, side_num, 3, tense), [("nsubj", inner)], phrases, mark)
        if self.chance(0.25):
            front = self.adjunct("pres", "front")
            return self.stop(self.main((None, head), subj, [("ccomp", side)], front))
        return self.stop(self.main((None, head), subj, [("ccomp", side)]))

    def two_verbs(self, num: str) -> Node:
        noun = self.pick_noun({"person", "animal", "flyer"})
        first = self.pick_frame(subj=noun, flag="intr")
        second = self.pick_frame(subj=noun, flag="intr")
        if first is None or second is None:
            raise LookupError("no two verbs fit")
        subj = self.np_of(noun, num, mod=self.late_mod())
        middle = self.middle(first, "none", 0.2, neg=False, obj=True)
        head = self.main((None, self.finite(first.verb, num)), subj, middle)
        conjunct = self.finite(second.verb, num).left("cc", Node("und", "und", "CCONJ"))
        return self.stop(head.right("conj", conjunct.right("obl", self.frame_phrase(second))))

    def two_subjects(self, num: str) -> Node:
        frame, subj = self.subject(num)
        conjunct = self.np(frame.subj, self.any_num()).first("cc", Node("und", "und", "CCONJ"))
        middle = self.middle(frame, "Pres", 0.8, neg=False, obj=True)
        verb = self.group(frame, PL, 3, "Pres")
        return self.stop(self.main(verb, subj.right("conj", conjunct), middle))

    def relative(self, noun: Noun, node: Node, num: str, role: str) -> Node | None:
        frame = (
            self.pick_frame(subj=noun, ban="pos") if role == "subj" else self.pick_frame(obj=noun)
        )
        if frame is None or (role == "obj" and "person" not in frame.subj):
            return None
        tense = self.rng.choice(("Pres", "Pres", "Pres", "perf"))
        if role == "subj":
            rel = words.article(noun.gender, num, "Nom", "PRON", "PronType=Rel")
            middle = self.middle(frame, "none", 0.3, neg=False, obj=True)
            return self.side(self.group(frame, num, 3, tense), [("nsubj", rel)], middle, None)
        case, role = ("Dat", "obl:arg") if "dat" in frame.flags else ("Acc", "obj")
        rel = words.article(noun.gender, num, case, "PRON", "PronType=Rel")
        subj_num = self.any_num(num)
        start = [(role, rel), ("nsubj", self.np({"person"}, subj_num))]
        return self.side(self.group(frame, subj_num, 3, tense), start, [], None)

    def surface(self, words_in_order: list[Node]) -> None:
        words.contract(words_in_order)

    def xpos(self, word: Node) -> str:
        return words.xpos(word)

    def unimorph(self) -> Iterator[tuple[str, str, str]]:
        return words.tables(self.lex)
