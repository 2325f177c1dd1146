"""Compose French sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import fra_words as words
from .grammar import PL, SG, Grammar
from .lexicon import Frame, Noun, Row
from .tree import Node, punct

NUMERALS = ("deux", "trois", "quatre", "cinq")
MODALS = ("pouvoir", "vouloir", "devoir")
PREDICABLE = {"person", "animal", "vehicle", "fruit", "baked", "opening", "carry", "room"}


class French(Grammar):
    """The French grammar, with a method for each pattern of sentences."""

    wide_marks = True
    oblique = "obl:mod"

    def patterns(self) -> dict[str, Callable[[str], Node]]:
        return {
            "simple": lambda n: self.plain(n, tense="Pres"),
            "pp": lambda n: self.plain(n, tense="Pres", mod="pp"),
            "subjrel": lambda n: self.plain(n, tense="Pres", mod="subj"),
            "objrel": lambda n: self.plain(n, tense="Pres", mod="obj"),
            "perfect": lambda n: self.plain(n, tense="perf", mod=self.maybe_mod()),
            "modal": lambda n: self.plain(n, tense="modal", mod=self.maybe_mod()),
            "past": lambda n: self.plain(n, tense="Imp", mod=self.maybe_mod()),
            "negation": lambda n: self.plain(n, tense="Pres", mod=self.maybe_mod(), neg=True),
            "pronoun": self.pronoun,
            "speaker": self.speaker,
            "copula": self.copula,
            "front": lambda n: self.plain(n, tense="Pres", mod=self.maybe_mod(), front=True),
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
        form = noun.lemma if num == SG else words.plural(noun)
        return Node(form, noun.lemma, "NOUN", words.agreement(noun.gender, num))

    def dress(
        self, noun: Noun, node: Node, num: str, case: str, adj: Row | None, style: str
    ) -> None:
        del case
        determiner = self.det_type(noun, num, style)
        ahead = adj is not None and adj["place"] == "pre"
        if determiner == "the":
            node.left("det", words.article(noun.gender, num))
        elif determiner == "this":
            node.left("det", words.determiner("ce", noun.gender, num))
        elif determiner == "poss":
            lemma = self.rng.choice(("mon", "notre"))
            node.left("det", words.determiner(lemma, noun.gender, num))
        elif num == SG or (determiner == "many" and not ahead and self.chance(0.5)):
            node.left("det", words.determiner("un", noun.gender, num))
        elif determiner == "many":
            node.left("det", Node("plusieurs", "plusieurs", "DET", "Number=Plur|PronType=Ind"))
        else:
            numeral = self.rng.choice(NUMERALS)
            node.left("nummod", Node(numeral, numeral, "NUM", "NumType=Card"))
        if adj is not None:
            word = words.adjective(adj, noun.gender, num)
            if ahead:
                node.left("amod", word)
            else:
                node.right("amod", word)

    def phrase(self, prep: str, classes: set[str], num: str) -> Node:
        style = "def" if prep == "de" else "plain"
        noun = self.np(classes, num, style=style)
        return noun.first("case", Node(prep, prep, "ADP"))

    def finite(self, verb: str, num: str, person: int = 3, tense: str = "Pres") -> Node:
        node = words.finite(self.lex, verb, num, person, tense)
        if verb in {"être", "avoir"}:
            node.upos = "AUX"
        return node

    def clause(
        self,
        frame: Frame,
        subj: Node | None,
        num: str,
        tense: str = "Pres",
        *,
        person: int = 3,
        gender: str = "",
        neg: bool = False,
        obj: bool = True,
        extra: float = 0.5,
    ) -> Node:
        """Return a clause with the subject, if there is one, before the verb."""
        if tense in {"modal", "perf"} and "stat" in frame.flags:
            tense = "Pres"
        if tense == "modal":
            return self.modal(frame, subj, num, person, extra=extra, neg=neg)
        aux: Node | None = None
        if tense == "perf":
            name = "être" if self.lex.verbs[frame.verb]["aux"] == "e" else "avoir"
            agree = (gender or "Masc", num) if name == "être" else ("Masc", SG)
            head = words.participle(self.lex, frame.verb, *agree)
            aux = self.finite(name, num, person)
        else:
            head = self.finite(frame.verb, num, person, tense)
        head.left("nsubj", subj)
        if neg:
            head.left("advmod", Node("ne", "ne", "ADV", "Polarity=Neg"))
        head.left("aux:tense", aux)
        self.fill(head, frame, tense, neg=neg, obj=obj, extra=extra)
        return head

    def fill(
        self, head: Node, frame: Frame, tense: str, *, neg: bool, obj: bool, extra: float
    ) -> None:
        """Add the phrases of a clause to its head."""
        times = {"Pres": "pres", "Imp": "past"}
        mid = None
        quiet = tense == "none"
        if neg:
            mid = ("advmod", Node("pas", "pas", "ADV", "Polarity=Neg"))
        elif not quiet and self.chance(0.15):
            mid = self.adjunct(times.get(tense, tense), "mid")
        if mid and tense == "perf":
            head.left(*mid)
        elif mid:
            head.right(*mid)
        if obj and frame.obj:
            style = "def" if neg else ""
            head.right("obj", self.np(frame.obj, self.any_num(), style=style))
        head.right(self.oblique, self.frame_phrase(frame, extra))
        added = self.adjunct(times.get(tense, tense), "end")
        if added and not quiet and not mid and extra and self.chance(0.15):
            head.right(*added)

    def modal(
        self, frame: Frame, subj: Node | None, num: str, person: int, *, extra: float, neg: bool
    ) -> Node:
        head = self.finite(
            self.rng.choice(MODALS if "person" in frame.subj else MODALS[:1]), num, person
        ).left("nsubj", subj)
        if neg:
            head.left("advmod", Node("ne", "ne", "ADV", "Polarity=Neg"))
            head.right("advmod", Node("pas", "pas", "ADV", "Polarity=Neg"))
        inner = Node(frame.verb, frame.verb, "VERB", "VerbForm=Inf")
        self.fill(inner, frame, "none", neg=False, obj=True, extra=extra)
        return head.right("xcomp", inner)

    def subject(self, num: str, mod: str = "", flag: str = "") -> tuple[Frame, Noun, Node]:
        ban = "" if flag else "pos"
        if mod == "pp" and self.chance(0.4):
            mod = "of"
        elif mod == "pp":
            ban = "pos !"
        frame = self.need_frame(flag, ban)
        noun = self.pick_noun(frame.subj)
        return frame, noun, self.np_of(noun, num, mod=mod)

    def plain(
        self, num: str, *, tense: str, mod: str = "", front: bool = False, neg: bool = False
    ) -> Node:
        frame, noun, subj = self.subject(num, mod)
        extra = 0.0 if mod == "pp" else 0.6
        head = self.clause(frame, subj, num, tense, gender=noun.gender, neg=neg, extra=extra)
        added = self.adjunct("pres", "front") if front else None
        if added and not any(node.rel == added[0] for node in head.after):
            head.first("punct", punct(","))
            head.first(*added)
        return self.stop(head)

    def personal(self, num: str, gender: str) -> Node:
        name = ("il" if gender == "Masc" else "elle") + ("s" if num == PL else "")
        return Node(name, name.removesuffix("s"), "PRON", self.lex.aliases[name])

    def pronoun(self, num: str) -> Node:
        frame = self.agent_frame()
        gender = self.rng.choice(("Masc", "Fem"))
        subj = self.personal(num, gender)
        tense = self.rng.choice(("Pres", "Pres", "perf", "modal", "Imp"))
        neg = self.chance(0.15)
        head = self.clause(frame, subj, num, tense, gender=gender, neg=neg, extra=0.9)
        added = self.adjunct("pres" if tense == "Pres" else "any", "front")
        if added and self.chance(0.3) and not any(n.rel == added[0] for n in head.after):
            head.first("punct", punct(","))
            head.first(*added)
        return self.stop(head)

    def speaker(self, num: str) -> Node:
        self.used.add("suivre")  # je suis reads as the copula
        frame = self.agent_frame("person")
        name = "nous" if num == PL else "je"
        subj = Node(name, name, "PRON", self.lex.aliases[name])
        tense = self.rng.choice(("Pres", "perf", "modal"))
        return self.stop(self.clause(frame, subj, num, tense, person=1, extra=0.9))

    def copula(self, num: str) -> Node:
        noun = self.pick_noun(PREDICABLE)
        subj = self.np_of(noun, num, mod=self.maybe_mod())
        adj = self.pick_adj(noun, "pred")
        if adj is None:
            raise LookupError("no predicate fits")
        head = words.adjective(adj, noun.gender, num).left("nsubj", subj)
        neg = self.chance(0.15)
        if neg:
            head.left("advmod", Node("ne", "ne", "ADV", "Polarity=Neg"))
        head.left("cop", self.finite("être", num, 3, "Imp" if self.chance(0.15) else "Pres"))
        if neg:
            head.left("advmod", Node("pas", "pas", "ADV", "Polarity=Neg"))
        return self.stop(head)

    def inversion(self, num: str) -> Node:
        """Return a sentence with the order: location, verb, subject."""
        frame = self.need_frame("inv")
        noun = self.pick_noun(frame.subj)
        location = self.frame_phrase(frame, 1.0)
        if location is None:
            raise LookupError("no place fits")
        tense = "Imp" if self.chance(0.1) else "Pres"
        head = self.finite(frame.verb, num, 3, tense).left(self.oblique, location)
        return self.stop(
            head.right(
                "nsubj", self.np_of(noun, num, mod=self.rng.choice(("", "of", "of", "subj", "obj")))
            )
        )

    def there(self, num: str) -> Node:
        """Return an existential sentence with an expletive."""
        noun = self.pick_noun({"person", "animal", "plant", "vehicle"})
        prep, classes = self.rng.choice((("derrière", "building"), ("devant", "building")))
        head = Node("a", "avoir", "VERB", self.lex.aliases["3s"])
        head.left("expl:subj", Node("il", "il", "PRON", self.lex.aliases["il"]))
        head.left("expl:comp", Node("y", "y", "PRON", self.lex.aliases["y"]))
        head.right("obj", self.np_of(noun, num, style="indef"))
        return self.stop(head.right(self.oblique, self.phrase(prep, {classes}, self.any_num())))

    def question(self, num: str) -> Node:
        """Return a question with the subject after the verb, or repeated by a clitic."""
        if self.chance(0.55):
            frame = self.need_frame("inv")
            word = self.rng.choice(("où", "quand"))
            head = self.finite(frame.verb, num)
            head.left("advmod", Node(word, word, "ADV", "PronType=Int"))
            subj = self.np(frame.subj, num, mod=self.late_mod())
            return self.stop(head.right("nsubj", subj), "?")
        frame, noun, subj = self.subject(num, self.late_mod())
        head = self.finite(frame.verb, num).left("nsubj", subj)
        clitic = self.personal(num, noun.gender)
        joint = "-t-" if head.form[-1] in "ea" else "-"
        clitic.form = joint + clitic.form
        head.right("expl:subj", clitic)
        self.fill(head, frame, "none", neg=False, obj=True, extra=0.6)
        return self.stop(head, "?")

    def when(self, num: str) -> Node:
        """Return a main clause with a subordinate clause before or after it."""
        frame, _, subj = self.subject(num, self.late_mod())
        head = self.clause(frame, subj, num, extra=0.4)
        word = self.rng.choice(("quand", "lorsque", "puisque", "si"))
        side_num = self.any_num()
        frame, noun, inner = self.subject(side_num)
        tense = self.rng.choice(("Pres", "Pres", "perf")) if word == "puisque" else "Pres"
        side = self.clause(frame, inner, side_num, tense, gender=noun.gender, extra=0.4)
        side.first("mark", Node(word, word, "SCONJ"))
        if self.chance(0.5):
            return self.stop(head.right("advcl", side))
        head.first("punct", punct(","))
        return self.stop(head.first("advcl", side))

    def that(self, num: str) -> Node:
        verb = self.rng.choice(("dire", "savoir", "croire", "voir", "penser"))
        self.used.add(verb)
        subj = self.np({"person"}, num, mod=self.late_mod())
        head = self.finite(verb, num).left("nsubj", subj)
        side_num = self.any_num(num)
        frame, noun, inner = self.subject(side_num)
        tense = self.rng.choice(("Pres", "perf", "modal"))
        side = self.clause(frame, inner, side_num, tense, gender=noun.gender)
        return self.stop(head.right("ccomp", side.first("mark", Node("que", "que", "SCONJ"))))

    def two_verbs(self, num: str) -> Node:
        noun = self.pick_noun({"person", "animal", "flyer"})
        first = self.pick_frame(subj=noun, flag="intr")
        second = self.pick_frame(subj=noun, flag="intr")
        if first is None or second is None:
            raise LookupError("no two verbs fit")
        subj = self.np_of(noun, num, mod=self.late_mod())
        head = self.clause(first, subj, num, extra=0.0)
        conjunct = self.finite(second.verb, num).left("cc", Node("et", "et", "CCONJ"))
        return self.stop(
            head.right("conj", conjunct.right(self.oblique, self.frame_phrase(second)))
        )

    def two_subjects(self, num: str) -> Node:
        frame, _, subj = self.subject(num)
        conjunct = self.np(frame.subj, self.any_num()).first("cc", Node("et", "et", "CCONJ"))
        return self.stop(self.clause(frame, subj.right("conj", conjunct), PL, extra=0.8))

    def relative(self, noun: Noun, node: Node, num: str, role: str) -> Node | None:
        if role == "subj":
            frame = self.pick_frame(subj=noun, ban="pos")
            if frame is None:
                return None
            tense = self.rng.choice(("Pres", "Pres", "Pres", "perf", "Imp"))
            rel = Node("qui", "qui", "PRON", "PronType=Rel")
            return self.clause(frame, rel, num, tense, gender=noun.gender, extra=0.2)
        frame = self.pick_frame(obj=noun)
        if frame is None or "person" not in frame.subj:
            return None
        subj_num = self.any_num(num)
        subj = self.np({"person"}, subj_num)
        head = self.finite(frame.verb, subj_num)
        head.left("obj", Node("que", "que", "PRON", "PronType=Rel"))
        return head.right("nsubj", subj) if self.chance(0.25) else head.left("nsubj", subj)

    def surface(self, words_in_order: list[Node]) -> None:
        words.spell(words_in_order)

    def xpos(self, word: Node) -> str:
        del word
        return "_"

    def unimorph(self) -> Iterator[tuple[str, str, str]]:
        return words.tables(self.lex)
