"""Draw the words of a minimal pair from the lexicon, each one fitting the words drawn before.

Input: a scheme, which has named draws such as "act: a verb; who: a noun that can be its subject".
Output of ``Builder.draw``: the drawn constituents by name. ``generate`` puts them into sentences.
Lexical items are sampled evenly from those that the restrictions allow (Warstadt et al. 2020, 3.1).
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from blimpworks.papers.blimp.items import declarations as declared
from blimpworks.papers.blimp.items.declarations import OTHER_NUMBER, Forms, NounForm, Realisation
from blimpworks.papers.blimp.items.lexicon import SAME, Adjective, Determiner, Lexicon, Number, Verb
from blimpworks.papers.blimp.items.lexicon import VerbForm as Form

NounGroups = dict[tuple[tuple[str, ...], Number], list[NounForm]]
"""Nouns by their classes and number, since restrictions accept all or none of a group."""
PRESENT: dict[Number, Form] = {"sg": "third", "pl": "base"}


class Pools:
    """Lists the lexical entries and verb forms that a draw allows, before other draws count."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon, self.accepts = lexicon, lexicon.classes.accepts
        self.verb_frames: dict[str, set[str]] = defaultdict(set)
        for verb in lexicon.verbs:
            self.verb_frames[verb.lexeme].add(verb.frame)
        self.adjective_frames: dict[str, set[str]] = defaultdict(set)
        for adjective in lexicon.adjectives:
            self.adjective_frames[adjective.adjective].add(adjective.frame)
        self.noun_classes = {noun.classes for noun in lexicon.nouns}
        self.auxiliaries = {entry.auxiliary: entry for entry in lexicon.auxiliaries}
        self.realisations = lru_cache(maxsize=None)(self._realisations)

    def nouns(self, draw: declared.NominalDraw) -> NounGroups:
        """Group the nouns in the numbers that a draw allows."""
        groups: NounGroups = defaultdict(list)
        for noun in self.lexicon.nouns:
            if (
                (
                    draw.plural is None
                    or (noun.marked and noun.irregular == (draw.plural == "irregular"))
                )
                and (noun.plural != SAME or not draw.distinct_plural)
                and (draw.mass or not noun.mass)
                and (draw.proper or "name" not in noun.tags)
                and (draw.relational or "relational" in draw.tags or "relational" not in noun.tags)
                and noun.gender in draw.gender
                and noun.noun not in draw.other_than
                and noun.tags.issuperset(draw.tags)
                and self.accepts(draw.classes, noun.classes)
            ):
                for number in noun.forms:
                    if draw.number in (None, number):
                        groups[noun.classes, number].append(NounForm(noun, number))
        return groups

    def verbs(self, draw: declared.VerbDraw) -> list[Verb]:
        """List the verbs that a draw allows if its subject and object are still open."""
        accepts, within, complement = self.accepts, draw.subject_within, draw.complement
        complements = {complement} if isinstance(complement, str) else {*complement}

        def subjects_of(verb: Verb) -> list[tuple[str, ...]]:
            return [classes for classes in self.noun_classes if accepts(verb.subject, classes)]

        return [
            verb
            for verb in self.lexicon.verbs
            if verb.frame in draw.frames
            and verb.tags.issuperset(draw.tags)
            and not verb.tags & {*draw.without}
            and (not draw.words or verb.lexeme in draw.words)
            and verb.lexeme not in draw.other_than
            and complements <= {*verb.complement.split()}
            and not self.verb_frames[verb.lexeme] & {*draw.never}
            and draw.irregular in (None, verb.irregular)
            and not (draw.distinct_past and verb.form("past") == verb.verb)
            and not (draw.distinct_participle and verb.form("participle") == verb.verb)
            and draw.particle in (None, bool(verb.particle))
            and (not within or all(accepts(within, c) for c in subjects_of(verb)))
            and all(accepts(verb.subject, (c,)) for c in draw.subject_accepts.split())
        ]

    def adjectives(self, draw: declared.AdjectiveDraw) -> list[Adjective]:
        return [
            entry
            for entry in self.lexicon.adjectives
            if entry.frame == draw.frame
            and (not draw.words or entry.adjective in draw.words)
            and entry.adjective not in draw.other_than
            and entry.tags.issuperset(draw.tags)
            and not self.adjective_frames[entry.adjective] & {*draw.never}
        ]

    def determiners(self, among: str | tuple[str, ...]) -> list[Determiner]:
        """List the determiners of a set, or the named ones."""
        determiners = self.lexicon.determiners
        if isinstance(among, str):
            return [entry for entry in determiners if among in entry.sets]
        return [entry for entry in determiners if entry.determiner in among]

    def _realisations(
        self, draw: declared.PredicateDraw, number: Number, stative: bool
    ) -> list[list[Realisation]]:
        """Return two lists of realisations: finite forms, and forms with an auxiliary.

        A ``stative`` verb has no progressive. An empty list is left out.
        """
        finite, with_auxiliary = [], []
        if draw.verb and draw.use == "statement" and draw.auxiliary != "always":
            forms: dict[declared.Realised, Form] = {"present": PRESENT[number], "past": "past"}
            if draw.negated != "yes":
                finite = [Realisation(None, False, f) for n, f in forms.items() if n in draw.forms]
        for entry in self.auxiliaries.values() if draw.auxiliary != "none" else ():
            if (
                number in entry.numbers
                and (draw.verb or "copula" in entry.use)
                and (not draw.among or entry.auxiliary in draw.among)
                and (not draw.verb or entry.takes in draw.forms)
            ):
                if draw.negated != "yes" and draw.use in entry.use:
                    with_auxiliary.append(Realisation(entry, False, entry.takes))
                if draw.negated != "no" and entry.negated and "negation" in entry.use:
                    with_auxiliary.append(Realisation(entry, True, entry.takes))
        groups = [finite, with_auxiliary]
        if stative:
            groups = [[option for option in group if option.form != "gerund"] for group in groups]
        if draw.agreeing:
            groups = [[option for option in group if self.counterpart(option)] for group in groups]
        return [group for group in groups if group]

    def counterpart(self, chosen: Realisation) -> Realisation | None:
        """Return a realisation in the other number; None if number makes no difference."""
        if chosen.auxiliary is not None:
            swapped = self.auxiliaries.get(chosen.auxiliary.swapped)
            return Realisation(swapped, chosen.negated, chosen.form) if swapped else None
        number = next((n for n, form in PRESENT.items() if form == chosen.form), None)
        return Realisation(None, False, PRESENT[OTHER_NUMBER[number]]) if number else None

    def agree(self, draw: declared.PredicateDraw) -> bool:
        """Tell whether all verb forms that ``draw`` allows have one in the other number."""
        numbers: tuple[Number, ...] = (draw.number,) if draw.number else ("sg", "pl")
        groups = (group for n in numbers for group in self.realisations(draw, n, False))
        return all(self.counterpart(realisation) for group in groups for realisation in group)


# Drawing

Member = TypeVar("Member")
TRIES = 25
"""Number of draws from a pool before the pair is given up and drawn again."""
INTERROGATIVES = {True: ("who",), False: ("what",)}
RELATIVES = {True: ("who", "that"), False: ("which", "that")}
"""Interrogative and relative pronouns, by whether they refer to a person."""


class Redraw(Exception):
    """No draw fits the earlier ones, so the pair must be drawn again."""


class Builder:
    """Draws the constituents of pairs of one scheme.

    Each category of draws has a method of its name. ``read_declaration`` has checked that names
    refer to constituents of suitable categories.
    """

    def __init__(self, lexicon: Lexicon, scheme: declared.Scheme, source: random.Random) -> None:
        self.scheme, self.source, self.pools = scheme, source, Pools(lexicon)
        self.accepts = lexicon.classes.accepts
        self._computed: dict[Any, Any] = {}
        # Constituents of the present pair by name; the scheme says of which category each is.
        self._drawn: dict[str, Any] = {}

    def draw(self) -> dict[str, declared.Constituent]:
        """Draw all constituents of a pair, by name. Raises Redraw if one cannot be drawn."""
        self._drawn = {}
        for name, draw in self.scheme.draw.items():
            self._drawn[name] = getattr(self, f"_{draw.category}")(name, draw)
        return self._drawn

    def _pool(self, key: Any, make: Callable[[], Member]) -> Member:
        """Make a pool once for each ``key``, which names all that the pool depends on."""
        if key not in self._computed:
            self._computed[key] = make()
        pool: Member = self._computed[key]
        return pool

    def _pick(
        self, name: str, pool: Sequence[Member], fits: Callable[[Member], bool] = lambda _: True
    ) -> Member:
        """Draw a member of a pool that ``fits``. Raises Redraw after ``TRIES`` that do not."""
        for _ in range(TRIES if pool else 0):
            candidate = self.source.choice(pool)
            if fits(candidate):
                return candidate
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _all(self, names: Sequence[str]) -> list[Any]:
        return [self._drawn[name] for name in names]

    def _verb(self, name: str, draw: declared.VerbDraw) -> Verb:
        """Draw a verb that accepts the drawn nouns as its subject and object."""
        subjects = tuple(noun.entry.classes for noun in self._all(draw.subject))
        objects = tuple(noun.entry.classes for noun in self._all(draw.object))
        allowed = self._pool(name, lambda: self.pools.verbs(draw))

        def accepting() -> list[Verb]:
            verbs = [v for v in allowed if all(self.accepts(v.subject, c) for c in subjects)]
            return [v for v in verbs if all(self.accepts(v.object, c) for c in objects)]

        pool = self._pool((name, subjects, objects), accepting)
        taken = {verb.lexeme for verb in self._all(draw.unlike)}
        return self._pick(name, pool, lambda verb: verb.lexeme not in taken)

    def _noun(
        self, name: str, draw: declared.NominalDraw, further: frozenset[str] = frozenset()
    ) -> NounForm:
        """Draw a noun; ``further`` has restrictions in addition to those of the draw."""
        restrictions = {verb.subject for verb in self._all(draw.subject_of)}
        restrictions |= {verb.object for verb in self._all(draw.object_of)}
        restrictions |= {adjective.noun for adjective in self._all(draw.said_of)}
        if draw.of:
            restrictions.add(self._drawn[draw.of].entry.of)
        restricting = frozenset(restrictions - {""}) | further
        number = None
        if draw.number_of:
            number = self._drawn[draw.number_of].number
        elif draw.number_unlike:
            number = OTHER_NUMBER[self._drawn[draw.number_unlike].number]
        groups = self._pool(name, lambda: self.pools.nouns(draw))

        def accepted() -> list[NounForm]:
            forms = []
            for (classes, of_group), group in groups.items():
                fitting = all(self.accepts(restriction, classes) for restriction in restricting)
                forms += group if fitting and number in (None, of_group) else []
            return forms

        pool = self._pool((name, restricting, number), accepted)
        taken = {noun.entry for noun in self._all(draw.unlike)}
        pronouns = {form for drawn in self._all(draw.mismatch) for form in drawn.reflexives}

        def fits(form: NounForm) -> bool:
            return form.entry not in taken and pronouns.isdisjoint(form.reflexives)

        return self._pick(name, pool, fits)

    def _phrase(self, name: str, draw: declared.PhraseDraw) -> NounForm | None:
        """Draw a noun with its determiner, or a name; None for the object of a verb without one."""
        further: frozenset[str] = frozenset()
        if draw.complement_of:
            verb = self._drawn[draw.complement_of]
            if verb.frame == "intransitive":
                return None
            further = frozenset({verb.object} - {""})
        noun = self._noun(name, draw, further)
        if "name" in noun.entry.tags:
            return noun
        return replace(noun, determiner=self._determined(name, draw.determiner, noun))

    def _determiner(self, name: str, draw: declared.DeterminerDraw) -> Determiner:
        return self._determined(name, draw.among, self._drawn[draw.for_])

    def _determined(self, name: str, among: str | tuple[str, ...], noun: NounForm) -> Determiner:
        countability = "mass" if noun.entry.mass else noun.number
        pool = self._pool(
            (name, "determiner", countability),
            lambda: [d for d in self.pools.determiners(among) if countability in d.numbers],
        )
        return self._pick(f"the determiner of {name}", pool)

    def _predicate(self, name: str, draw: declared.PredicateDraw) -> declared.Predicate:
        """Draw the auxiliary and form of a drawn verb, or copy those of another predicate."""
        verb: Verb | None = self._drawn[draw.verb] if draw.verb else None
        number = draw.number or "pl"
        if len(draw.subject) == 1:
            number = self._drawn[draw.subject[0]].number
        stative = verb is not None and "stative" in verb.tags
        chosen: Realisation | None = None
        if draw.like:
            liked: Realisation = self._drawn[draw.like].chosen
            if liked.auxiliary is not None:
                fits = number in liked.auxiliary.numbers
            else:
                fits = liked.form in ("past", PRESENT[number])
            chosen = liked if fits else self.pools.counterpart(liked)
            if chosen and stative and chosen.form == "gerund":
                chosen = None
        elif groups := self.pools.realisations(draw, number, stative):
            # Finite verbs are drawn as often as all auxiliaries together.
            chosen = self.source.choice(self.source.choice(groups))
        if chosen is None:
            raise Redraw(f"{name!r} has no form that is allowed")
        return declared.Predicate(verb, chosen, self.pools.counterpart(chosen))

    def _adjective(self, name: str, draw: declared.AdjectiveDraw) -> Adjective:
        nouns = tuple(noun.entry.classes for noun in self._all(draw.of))
        pool = self._pool(
            (name, nouns),
            lambda: [
                entry
                for entry in self.pools.adjectives(draw)
                if all(self.accepts(entry.noun, classes) for classes in nouns)
            ],
        )
        taken = {adjective.adjective for adjective in self._all(draw.unlike)}
        return self._pick(name, pool, lambda adjective: adjective.adjective not in taken)

    def _pronoun(self, name: str, draw: declared.PronounDraw) -> declared.Pronoun:
        """Draw a pronoun that can refer to a drawn noun, or that cannot (``mismatch``)."""
        number = draw.number
        if draw.number_unlike:
            number = OTHER_NUMBER[self._drawn[draw.number_unlike].number]
        allowed = tuple(declared.CASES)
        if draw.like:
            noun = self._drawn[draw.like]
            if number and isinstance(noun, NounForm):
                noun = replace(noun, number=number)
            allowed = noun.reflexives
        taken = {form for drawn in self._all(draw.mismatch) for form in drawn.reflexives}
        pool = []
        for form in allowed:
            text = form if draw.case == "reflexive" else declared.CASES[form][draw.case]
            pronoun = declared.Pronoun(text, form)
            if form not in taken and number in (None, pronoun.number):
                pool.append(pronoun)
        return self._pick(name, pool)

    def _wh(self, name: str, draw: declared.WhDraw) -> Forms:
        person = "person" in self._drawn[draw.for_].entry.classes
        return (self._pick(name, (RELATIVES if draw.relative else INTERROGATIVES)[person]),)

    def _choice(self, name: str, draw: declared.ChoiceDraw) -> Forms:
        among = draw.among
        if draw.of:
            among = draw.by_number.get(self._drawn[draw.of].number, among)
        return self._pick(name, [(row,) if isinstance(row, str) else row for row in among])
