"""Compose English sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import eng_words as words
from .grammar import PL, SG, Grammar
from .lexicon import Frame, Noun, Row
from .tree import Node, punct

NUMERALS = ("two", "three", "four", "five")


class English(Grammar):
    """The English grammar, with a method for each pattern of sentences."""

    timed = False

    def patterns(self) -> dict[str, Callable[[str], Node]]:
        return {
            "simple": lambda n: self.plain(n, tense="pres"),
            "pp": lambda n: self.plain(n, tense="pres", mod="pp"),
            "subjrel": lambda n: self.plain(n, tense="pres", mod="subj"),
            "objrel": lambda n: self.plain(n, tense="pres", mod="obj"),
            "perfect": lambda n: self.plain(n, tense="perf", mod=self.maybe_mod()),
            "progressive": lambda n: self.plain(n, tense="prog", mod=self.maybe_mod()),
            "past": lambda n: self.plain(n, tense="past", mod=self.maybe_mod()),
            "negation": lambda n: self.plain(n, tense="neg", mod=self.maybe_mod()),
            "pronoun": self.pronoun,
            "speaker": self.speaker,
            "copula": lambda n: self.copula(n, self.maybe_mod()),
            "front": lambda n: self.plain(n, tense="pres", front=True, mod=self.maybe_mod()),
            "inversion": self.inversion,
            "here": self.here,
            "there": self.there,
            "question": self.question,
            "when": self.when,
            "that": self.that,
            "verbs": self.two_verbs,
            "subjects": self.two_subjects,
        }

    def maybe_mod(self) -> str:
        return self.rng.choice(("", "pp", "pp", "subj", "obj"))

    def noun_node(self, noun: Noun, num: str, case: str) -> Node:
        form = noun.lemma if num == SG else words.plural(noun)
        return Node(form, noun.lemma, "NOUN", f"Number={num}")

    def dress(
        self, noun: Noun, node: Node, num: str, case: str, adj: Row | None, style: str
    ) -> None:
        del case
        determiner = self.det_type(noun, num, style)
        if determiner == "the":
            node.left("det", self.frag("the//DET/def/0/det"))
        elif determiner == "this":
            form = "this" if num == SG else "these"
            node.left("det", Node(form, "this", "DET", f"Number={num}|PronType=Dem"))
        elif determiner == "poss":
            node.left("nmod:poss", words.possessive(self.rng.choice(("my", "our", "their"))))
        elif determiner == "a":
            node.left("det", self.frag("a//DET/ind/0/det"))
        elif determiner == "many":
            node.left("amod", Node("many", "many", "ADJ", "Degree=Pos"))
        else:
            numeral = self.rng.choice(NUMERALS)
            node.left("nummod", Node(numeral, numeral, "NUM", "NumForm=Word|NumType=Card"))
        if adj is not None:
            node.left("amod", Node(adj["lemma"], adj["lemma"], "ADJ", "Degree=Pos"))

    def phrase(self, prep: str, classes: set[str], num: str) -> Node:
        noun = self.np(classes, num, style="plain")
        return noun.first("case", Node(prep, prep, "ADP"))

    def finite(self, verb: str, num: str, person: int, tense: str, upos: str = "VERB") -> Node:
        return words.finite(self.lex, verb, num, person, tense, upos)

    def group(self, verb: str, num: str, person: int, tense: str) -> tuple[list[Node], Node]:
        """Return the auxiliaries with negation, and the head, of a verb in a tense."""
        if tense == "perf":
            head = words.nonfinite(self.lex, verb, "part")
            return [self.finite("have", num, person, "Pres", "AUX")], head
        if tense == "prog":
            head = words.nonfinite(self.lex, verb, "ing")
            return [self.finite("be", num, person, "Pres", "AUX")], head
        if tense in {"neg", "ask"}:
            do = self.finite("do", num, person, "Pres", "AUX")
            auxiliaries = [do]
            if tense == "neg":
                short = self.chance(0.5)
                auxiliaries.append(Node("n't" if short else "not", "not", "PART", "Polarity=Neg"))
                do.mwt = do.form + "n't" if short else ""
            return auxiliaries, Node(verb, verb, "VERB", "VerbForm=Inf")
        return [], self.finite(verb, num, person, tense.capitalize())

    def clause(
        self,
        frame: Frame,
        subj: Node,
        num: str,
        tense: str = "pres",
        *,
        person: int = 3,
        ask: bool = False,
        obj: bool = True,
        extra: float = 0.5,
    ) -> Node:
        """Return a clause with the subject before the verb, or a yes/no question."""
        if tense in {"perf", "prog"} and "stat" in frame.flags and not ask:
            tense = "pres"
        aux, head = self.group(frame.verb, num, person, tense)
        if ask and aux:
            head.left("aux", aux.pop(0))
        head.left("nsubj", subj)
        for auxiliary in aux:
            head.left("advmod" if auxiliary.upos == "PART" else "aux", auxiliary)
        mid = None if ask or not self.chance(0.2) else self.adjunct(tense, "mid")
        if mid:
            head.left(*mid)
        self.timed = mid is not None
        if obj and frame.obj:
            head.right("obj", self.np(frame.obj, self.any_num(), "Acc"))
        head.right("obl", self.frame_phrase(frame, extra))
        return head

    def subject(self, num: str, mod: str = "", flag: str = "") -> tuple[Frame, Node]:
        ban = "pos here"
        if mod == "pp" and self.chance(0.4):
            mod = "of"
        elif mod == "pp":
            ban = "pos here !"
        frame = self.need_frame(flag, "" if flag else ban)
        return frame, self.np(frame.subj, num, mod=mod)

    def plain(self, num: str, *, tense: str, mod: str = "", front: bool = False) -> Node:
        flag = "pos" if tense in {"pres", "past"} and mod != "pp" and self.chance(0.12) else ""
        frame, subj = self.subject(num, mod, flag)
        head = self.clause(frame, subj, num, tense, extra=0.0 if mod == "pp" else 0.6)
        added = self.adjunct(tense, "front" if front else "end")
        if front and added:
            head.first("punct", punct(","))
            head.first(*added)
        elif added and self.chance(0.25) and not self.timed:
            head.right(*added)
        return self.stop(head)

    def pronoun(self, num: str) -> Node:
        frame = self.agent_frame()
        name = "they" if num == PL else "it"
        if num == SG and "person" in frame.subj:
            name = self.rng.choice(("he", "she"))
        subj = Node(name, name, "PRON", self.lex.aliases[name])
        tense = self.rng.choice(("pres", "pres", "pres", "perf", "prog", "neg", "past"))
        head = self.clause(frame, subj, num, tense, extra=0.9)
        added = self.adjunct(tense, "end")
        if added and self.chance(0.6) and not self.timed:
            head.right(*added)
        return self.stop(head)

    def speaker(self, num: str) -> Node:
        frame = self.agent_frame("person")
        name = "we" if num == PL else "I"
        subj = Node(name, name, "PRON", self.lex.aliases[name.lower()])
        tense = self.rng.choice(("pres", "perf", "prog", "past"))
        return self.stop(self.clause(frame, subj, num, tense, person=1, extra=0.9))

    def predicate(self, subj: Noun, node: Node, num: str, tense: str = "Pres") -> Node | None:
        adj = self.pick_adj(subj, "pred")
        if adj is None:
            return None
        head = Node(adj["lemma"], adj["lemma"], "ADJ", "Degree=Pos")
        head.left("nsubj", node)
        return head.left("cop", self.finite("be", num, 3, tense, "AUX"))

    def copula(self, num: str, mod: str) -> Node:
        noun = self.pick_noun(self.predicable())
        tense = "Past" if self.chance(0.15) else "Pres"
        node = self.np_of(noun, num, mod=mod)
        head = self.predicate(noun, node, num, tense)
        return self.stop(head) if head else self.copula(num, mod)

    def predicable(self) -> set[str]:
        return {"person", "animal", "vehicle", "fruit", "light", "opening", "carry", "room"}

    def inversion(self, num: str) -> Node:
        """Return a sentence with the order: location, verb, subject."""
        frame = self.need_frame("pos")
        noun = self.pick_noun(frame.subj)
        tense = "Past" if self.chance(0.15) else "Pres"
        head = self.finite(frame.verb, num, 3, tense)
        head.left("obl", self.frame_phrase(frame, 1.0))
        return self.stop(head.right("nsubj", self.np_of(noun, num, mod=self.late_mod())))

    def late_mod(self) -> str:
        return "of" if self.chance(0.3) else ""

    def here(self, num: str) -> Node:
        frame = self.need_frame("here")
        head = self.finite(frame.verb, num, 3, "Pres")
        word = "here" if frame.verb == "come" else "there"
        head.left("advmod", Node(word, word, "ADV", "PronType=Dem"))
        return self.stop(head.right("nsubj", self.np(frame.subj, num, mod=self.late_mod())))

    def there(self, num: str) -> Node:
        """Return an existential sentence with an expletive."""
        frame = self.need_frame("pos")
        head = self.finite("be", num, 3, "Pres")
        head.left("expl", Node("there", "there", "PRON", "PronType=Dem"))
        head.right("nsubj", self.np(frame.subj, num, style="indef"))
        return self.stop(head.right("obl", self.frame_phrase(frame, 1.0)))

    def question(self, num: str) -> Node:
        if self.chance(0.3):
            noun = self.pick_noun(self.predicable())
            adj = self.pick_adj(noun, "pred")
            if adj:
                head = Node(adj["lemma"], adj["lemma"], "ADJ", "Degree=Pos")
                head.left("cop", self.finite("be", num, 3, "Pres", "AUX"))
                return self.stop(
                    head.left("nsubj", self.np_of(noun, num, mod=self.late_mod())), "?"
                )
        frame, subj = self.subject(num, self.late_mod())
        tense = self.rng.choice(("ask", "ask", "perf", "prog"))
        if "stat" in frame.flags:
            tense = "ask"
        head = self.clause(frame, subj, num, tense, ask=True)
        if self.chance(0.3):
            where = self.rng.choice(("why", "when") if tense == "ask" else ("why",))
            head.first("advmod", Node(where, where, "ADV", "PronType=Int"))
        return self.stop(head, "?")

    def when(self, num: str) -> Node:
        """Return a main clause with a subordinate clause before or after it."""
        frame, subj = self.subject(num, self.late_mod())
        head = self.clause(frame, subj, num, extra=0.4)
        word = self.rng.choice(("when", "because", "while", "although"))
        other_num = self.any_num()
        frame, subj = self.subject(other_num)
        side = self.clause(frame, subj, other_num, extra=0.4)
        if word == "when":
            side.first("advmod", Node(word, word, "ADV", "PronType=Rel"))
        else:
            side.first("mark", Node(word, word, "SCONJ"))
        if self.chance(0.5):
            return self.stop(head.right("advcl", side))
        head.first("punct", punct(","))
        return self.stop(head.first("advcl", side))

    def that(self, num: str) -> Node:
        verb = self.rng.choice(("say", "know", "believe", "see", "hear"))
        self.used.add(verb)
        subj = self.np({"person"}, num, mod=self.late_mod())
        head = self.finite(verb, num, 3, "Pres").left("nsubj", subj)
        other_num = self.any_num(num)
        frame, inner = self.subject(other_num)
        side = self.clause(frame, inner, other_num, self.rng.choice(("pres", "perf")))
        side.first("mark", Node("that", "that", "SCONJ"))
        return self.stop(head.right("ccomp", side))

    def two_verbs(self, num: str) -> Node:
        noun = self.pick_noun({"person", "animal", "flyer", "young_one"})
        first = self.pick_frame(subj=noun, flag="intr")
        second = self.pick_frame(subj=noun, flag="intr")
        if first is None or second is None:
            raise LookupError("no two verbs fit")
        head = self.clause(first, self.np_of(noun, num, mod=self.late_mod()), num, extra=0.2)
        conjunct = self.finite(second.verb, num, 3, "Pres").right("obl", self.frame_phrase(second))
        conjunct.first("cc", Node("and", "and", "CCONJ"))
        return self.stop(head.right("conj", conjunct))

    def two_subjects(self, num: str) -> Node:
        frame, subj = self.subject(num)
        conjunct = self.np(frame.subj, self.any_num())
        subj.right("conj", conjunct.first("cc", Node("and", "and", "CCONJ")))
        return self.stop(self.clause(frame, subj, PL, extra=0.8))

    def relative(self, noun: Noun, node: Node, num: str, role: str) -> Node | None:
        if role == "subj":
            frame = self.pick_frame(subj=noun, ban="pos here")
            if frame is None:
                return None
            word = "who" if "person" in noun.classes else "that"
            tense = self.rng.choice(("pres", "pres", "pres", "perf", "past"))
            return self.clause(frame, words.relative(word), num, tense, extra=0.2)
        frame = self.pick_frame(obj=noun, ban="here")
        if frame is None or "person" not in frame.subj:
            return None
        subj_num = self.any_num(num)
        head = self.clause(frame, self.np({"person"}, subj_num), subj_num, obj=False, extra=0.0)
        if self.chance(0.8):
            head.first("obj", words.relative("that"))
        return head

    def surface(self, words_in_order: list[Node]) -> None:
        words.spell(words_in_order)

    def xpos(self, word: Node) -> str:
        return words.xpos(word)

    def unimorph(self) -> Iterator[tuple[str, str, str]]:
        return words.tables(self.lex)
