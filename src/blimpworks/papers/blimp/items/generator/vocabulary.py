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
    Drawn,
    NominalDraw,
    PhraseDraw,
    PredicateDraw,
    Scheme,
    VerbDraw,
)
from blimpworks.papers.blimp.items.generator.pools import Pools, Realisations
from blimpworks.papers.blimp.items.lexicon.load import EXCLUDED, Lexicon

SWAPPED = "swapped"
WORDS: tuple[tuple[type[Drawn], str, str], ...] = (
    (VerbDraw, "other_than", "verbs.tsv"),
    (VerbDraw, "subject_within", "classes.yaml"),
    (VerbDraw, "subject_accepts", "classes.yaml"),
    (NominalDraw, "classes", "classes.yaml"),
    (NominalDraw, "other_than", "nouns.tsv or names.tsv"),
    (AdjectiveDraw, "other_than", "adjectives.tsv"),
    (PhraseDraw, "determiner", "determiners.tsv"),
    (DeterminerDraw, "among", "determiners.tsv"),
    (PredicateDraw, "among", "auxiliaries.tsv"),
)
"""Keys of draws that name words or classes of the lexicon, and the file that has these."""
SETS = "determiners.tsv (column sets)"
Reference = tuple[str, str, Collection[str], str]
"""Key, a word under it, all words that may stand there, and the file that they are in."""


class Vocabulary:
    """What a lexicon has, for declarations to be compared with."""

    def __init__(self, lexicon: Lexicon) -> None:
        """``lexicon``: the one that is drawn from."""
        self.lexicon, self.pools = lexicon, Pools(lexicon)
        self.realisations = Realisations(lexicon.auxiliaries)
        self.words: dict[str, Collection[str]] = {
            "verbs.tsv": {verb.lexeme for verb in lexicon.verbs},
            "nouns.tsv or names.tsv": {noun.noun for noun in lexicon.nouns},
            "adjectives.tsv": {each.adjective for each in lexicon.adjectives},
            "auxiliaries.tsv": {each.auxiliary for each in lexicon.auxiliaries},
            "determiners.tsv": {each.determiner for each in lexicon.determiners},
            SETS: {name for each in lexicon.determiners for name in each.sets},
            "classes.yaml": lexicon.classes.wider,
        }

    def _of_frames(self, draw: VerbDraw | AdjectiveDraw) -> Iterator[Reference]:
        """The words that a draw is limited to, which must have its frame."""
        if isinstance(draw, VerbDraw):
            fitting = {verb.lexeme for verb in self.lexicon.verbs if verb.frame in draw.frames}
            place = f"verbs.tsv (frame {' or '.join(draw.frames)})"
        else:
            entries = self.lexicon.adjectives
            fitting = {each.adjective for each in entries if each.frame == draw.frame}
            frame = f"frame {draw.frame}" if draw.frame else "no frame"
            place = f"adjectives.tsv ({frame})"
        for word in draw.words:
            yield "words", word, fitting, place

    def _references(self, draw: AnyDraw) -> Iterator[Reference]:
        """Everything of the lexicon that is named for something to be drawn."""
        if isinstance(draw, VerbDraw | AdjectiveDraw):
            yield from self._of_frames(draw)
        for kind, key, file in WORDS:
            if not isinstance(draw, kind):
                continue
            value = getattr(draw, key)
            if isinstance(value, str) and file == "determiners.tsv":
                yield key, value, self.words[SETS], SETS
                continue
            for word in value.split() if isinstance(value, str) else value:
                yield key, word.removeprefix(EXCLUDED), self.words[file], file

    def unknown(self, scheme: Scheme) -> Iterator[Complaint]:
        """One complaint for each word and class that a scheme names and the lexicon lacks."""
        for name, draw in scheme.draw.items():
            for key, word, known, place in self._references(draw):
                if word not in known:
                    close = get_close_matches(word, known, n=1)
                    hint = f"did you mean {close[0]!r}?" if close else "correct it, or add it."
                    yield f"draw.{name}.{key}", f"names {word!r}, which is not in {place}; {hint}"

    def _unpaired(self, draw: AnyDraw, scheme: Scheme) -> str | None:
        """What may be drawn and is of one number alone, and what would exclude it."""
        if isinstance(draw, NominalDraw):
            groups = self.pools.nouns(draw).values()
            forms = (form for group in groups for form in group)
            form = next(
                (form for form in forms if OTHER[form.number] not in form.entry.forms), None
            )
            advice = "ask for a plural, no names, no mass nouns"
            return f"{form.text!r} has not; {advice}" if form else None
        if isinstance(draw, DeterminerDraw):
            among = self.pools.determiners(draw.among)
            unpaired = next((each.determiner for each in among if not each.swapped), None)
            return unpaired and f"{unpaired!r} has not; leave it out of 'among'"
        if isinstance(draw, PredicateDraw):
            while draw.like and isinstance(liked := scheme.draw[draw.like], PredicateDraw):
                draw = liked
            if not self.realisations.agree(draw):
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
        f"{path}: key '{section(schemes, number)}{key}' {complaint}"
        for number, scheme in enumerate(schemes)
        for key, complaint in (*vocabulary.unknown(scheme), *vocabulary.unpaired(scheme))
    ]
    if wrong:
        raise UserError("\n".join(wrong))
