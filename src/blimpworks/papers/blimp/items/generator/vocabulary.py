"""What can be wrong with a declaration where it meets a lexicon: words, classes, numbers."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.papers.blimp.items.generator.checks import SLOT, Complaint, section
from blimpworks.papers.blimp.items.generator.constituents import OTHER
from blimpworks.papers.blimp.items.generator.declarations import (
    AdjectiveDraw,
    AnyDraw,
    Declaration,
    DeterminerDraw,
    NominalDraw,
    PhraseDraw,
    PredicateDraw,
    Scheme,
    VerbDraw,
)
from blimpworks.papers.blimp.items.generator.pools import Pools
from blimpworks.papers.blimp.items.generator.realisations import Realisations
from blimpworks.papers.blimp.items.lexicon.load import Lexicon

SWAPPED = "swapped"
Wanted = tuple[str, str, Collection[str], str]
"""Key, a word under it, those that there are, and where: a file, or a part of it."""


class Vocabulary:
    """What a lexicon has, for declarations to be compared with."""

    def __init__(self, lexicon: Lexicon) -> None:
        """``lexicon``: the one that is drawn from."""
        self.lexicon, self.pools = lexicon, Pools(lexicon)
        self.realisations = Realisations(lexicon.auxiliaries)
        self.verbs = {verb.lexeme for verb in lexicon.verbs}
        self.nouns = {noun.noun for noun in lexicon.nouns}
        self.adjectives = {each.adjective for each in lexicon.adjectives}
        self.auxiliaries = {each.auxiliary for each in lexicon.auxiliaries}
        self.determiners = {each.determiner for each in lexicon.determiners}
        self.sets = {name for each in lexicon.determiners for name in each.sets}

    def _of_verbs(self, asked: VerbDraw) -> Iterator[Wanted]:
        fitting = {verb.lexeme for verb in self.lexicon.verbs if verb.frame in asked.frames}
        frames = asked.frame if isinstance(asked.frame, str) else " or ".join(asked.frame)
        for word in asked.words:
            yield "words", word, fitting, f"verbs.tsv (frame {frames})"
        for word in asked.other_than:
            yield "other_than", word, self.verbs, "verbs.tsv"
        for key in ("subject_within", "subject_accepts"):
            yield from self._classes(key, getattr(asked, key))

    def _of_nominals(self, asked: NominalDraw) -> Iterator[Wanted]:
        yield from self._classes("classes", asked.classes)
        for word in asked.other_than:
            yield "other_than", word, self.nouns, "nouns.tsv or names.tsv"

    def _of_adjectives(self, asked: AdjectiveDraw) -> Iterator[Wanted]:
        entries = self.lexicon.adjectives
        fitting = {each.adjective for each in entries if each.frame == asked.frame}
        frame = f"frame {asked.frame}" if asked.frame else "no frame"
        for word in asked.words:
            yield "words", word, fitting, f"adjectives.tsv ({frame})"
        for word in asked.other_than:
            yield "other_than", word, self.adjectives, "adjectives.tsv"

    def _classes(self, key: str, restriction: str) -> Iterator[Wanted]:
        for word in restriction.split():
            yield key, word.removeprefix("!"), self.lexicon.classes.wider, "classes.yaml"

    def _determined(self, key: str, among: str | tuple[str, ...]) -> Iterator[Wanted]:
        if isinstance(among, str):
            yield key, among, self.sets, "determiners.tsv (column sets)"
        else:
            for word in among:
                yield key, word, self.determiners, "determiners.tsv"

    def _wanted(self, asked: AnyDraw) -> Iterator[Wanted]:
        """Everything of the lexicon that is named for something to be drawn."""
        if isinstance(asked, VerbDraw):
            yield from self._of_verbs(asked)
        if isinstance(asked, NominalDraw):
            yield from self._of_nominals(asked)
        if isinstance(asked, AdjectiveDraw):
            yield from self._of_adjectives(asked)
        if isinstance(asked, PhraseDraw):
            yield from self._determined("determiner", asked.determiner)
        if isinstance(asked, DeterminerDraw):
            yield from self._determined("among", asked.among)
        if isinstance(asked, PredicateDraw):
            for word in asked.among:
                yield "among", word, self.auxiliaries, "auxiliaries.tsv"

    def unknown(self, scheme: Scheme) -> Iterator[Complaint]:
        """One complaint for each word and class that a scheme names and the lexicon lacks."""
        for name, asked in scheme.draw.items():
            for key, word, known, where in self._wanted(asked):
                if word not in known:
                    close = get_close_matches(word, known, n=1)
                    hint = f"did you mean {close[0]!r}?" if close else "correct it, or add it."
                    yield f"draw.{name}.{key}", f"names {word!r}, which is not in {where}; {hint}"

    def _unpaired(self, asked: AnyDraw, scheme: Scheme) -> str | None:
        """What may be drawn and is of one number alone, and what would exclude it."""
        if isinstance(asked, NominalDraw):
            groups = self.pools.nouns(asked).values()
            forms = (form for group in groups for form in group)
            found = next((f for f in forms if OTHER[f.number] not in f.entry.forms), None)
            advice = "ask for a plural, no names, no mass nouns"
            return f"{found.text!r} has not; {advice}" if found else None
        if isinstance(asked, DeterminerDraw):
            among = self.pools.determiners(asked.among)
            one = next((each.determiner for each in among if not each.swapped), None)
            return one and f"{one!r} has not; leave it out of 'among'"
        if isinstance(asked, PredicateDraw):
            while asked.like and isinstance(liked := scheme.draw[asked.like], PredicateDraw):
                asked = liked
            if not self.realisations.agree(asked):
                return "not every form has; set 'agreeing: true'"
        return None

    def unpaired(self, scheme: Scheme) -> Iterator[Complaint]:
        """One complaint for each slot that asks for the other number of what may lack it."""
        for key, text in scheme.templates.items():
            for slot in SLOT.finditer(text):
                if slot[2].startswith(f".{SWAPPED}"):
                    lacking = self._unpaired(scheme.draw[slot[1]], scheme)
                    if lacking:
                        yield key, f"has {slot[0]}, the other number, which {lacking}."


def check_vocabulary(declaration: Declaration, lexicon: Lexicon, path: Path) -> None:
    """Compare the declaration in a file with a lexicon.

    Raises UserError, naming file and key, for what the lexicon lacks.
    """
    vocabulary, schemes = Vocabulary(lexicon), declaration.one_of
    wrong = [
        f"{path}: key '{section(schemes, number)}{key}' {said}"
        for number, scheme in enumerate(schemes)
        for key, said in (*vocabulary.unknown(scheme), *vocabulary.unpaired(scheme))
    ]
    if wrong:
        raise UserError("\n".join(wrong))
