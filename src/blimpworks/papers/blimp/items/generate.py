"""Check declared paradigms, and generate their minimal pairs, in BLiMP's released JSON lines.

A declaration is a YAML file with one or more schemes: named draws of words, and two sentences
(templates) with slots for the drawn words::

    draw: {who: {is: noun}, act: {is: verb, subject: [who]}}
    good: The {who} {act.past}.

Brackets mark the critical word for methods that score only this word: "The {who} [{act.past}]."
``generate_paradigms`` writes the pairs; ``drawing`` draws words. All complaints about a declaration
are one UserError, such as "key 'draw.act.subject' names 'who', which is not drawn before."
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from blimpworks.campaign.settings.base import parse_yaml
from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.blimp.items import declarations as draws
from blimpworks.papers.blimp.items.build import Record
from blimpworks.papers.blimp.items.declarations import SLOT
from blimpworks.papers.blimp.items.drawing import Builder, Pools, Redraw
from blimpworks.papers.blimp.items.lexicon import EXCLUDED, Lexicon, Sounds, read_lexicon

OPTIONAL = "phrase that can be nothing"
"""Category of the object of a verb that may take none; other draws cannot refer to it."""
SETS = "determiners.tsv (column sets)"
LEXICON_KEYS: tuple[tuple[type[draws.Draw], str, str], ...] = (
    (draws.VerbDraw, "other_than", "verbs.tsv"),
    (draws.VerbDraw, "subject_within", "classes.yaml"),
    (draws.VerbDraw, "subject_accepts", "classes.yaml"),
    (draws.NominalDraw, "classes", "classes.yaml"),
    (draws.NominalDraw, "other_than", "nouns.tsv or names.tsv"),
    (draws.AdjectiveDraw, "other_than", "adjectives.tsv"),
    (draws.PhraseDraw, "determiner", "determiners.tsv"),
    (draws.DeterminerDraw, "among", "determiners.tsv"),
    (draws.PredicateDraw, "among", "auxiliaries.tsv"),
)
"""Keys of draws that name words or classes of the lexicon, and the lexicon's file."""
Check = Callable[[draws.Scheme], Iterator[tuple[str, str]]]
"""Function that yields the keys of a scheme that are wrong, each with a complaint about it."""


def read_declaration(path: Path) -> draws.Paradigm:
    """Read a paradigm's declaration, a YAML file. Raises UserError, naming its malformed keys."""
    declaration = parse_yaml(draws.Paradigm, path, "declaration of a paradigm")
    _refuse(declaration, path, partial(_complaints, method=declaration.method))
    return declaration


def _refuse(declaration: draws.Paradigm, path: Path, check: Check) -> None:
    """Raise UserError with all complaints about the schemes of a declaration, if there are any."""
    wrong = []
    for number, scheme in enumerate(declaration.one_of):
        prefix = f"one_of.{number}." if len(declaration.one_of) > 1 else ""
        for key, complaint in check(scheme):
            wrong.append(f"{path}: key '{prefix}{key}' {complaint}")
    if wrong:
        raise UserError("\n".join(wrong))


def _with_article(category: str) -> str:
    return f"{'an' if category[0] in 'aeiou' else 'a'} {category}"


def _complaints(scheme: draws.Scheme, method: str | None) -> Iterator[tuple[str, str]]:
    """Yield keys with names or slots that have no suitable draw, each with a complaint."""
    categories: dict[str, str] = {}
    for name, draw in scheme.draw.items():
        for key, used, allowed in draw.names():
            if used not in categories:
                yield f"draw.{name}.{key}", f"names {used!r}, which is not drawn before."
            elif categories[used] not in allowed:
                category, expected = categories[used], " or ".join(map(_with_article, allowed))
                complaint = f"names {used!r}, {_with_article(category)}; expected {expected}."
                yield f"draw.{name}.{key}", complaint
        categories[name] = draw.category
        if draw.category == "phrase" and draw.complement_of:
            verb = scheme.draw.get(draw.complement_of)
            if verb and verb.category == "verb" and "intransitive" in verb.frame:
                categories[name] = OPTIONAL
    for key, text in scheme.templates.items():
        for slot in SLOT.finditer(text):
            slot_draw, form_name = scheme.draw.get(slot[1]), slot[2].removeprefix(".")
            if slot_draw is None:
                yield key, f"names {slot[1]!r}, which is not drawn."
            elif form_name not in _form_names(slot_draw):
                present = [f"{slot[1]}.{form}".rstrip(".") for form in _form_names(slot_draw)]
                has = ", ".join(f"{{{name}}}" for name in present)
                category = _with_article(slot_draw.category)
                yield key, f"has {slot[0]}, no part of {category}; expected {has}."
        if stray := re.search(r"[{}]", SLOT.sub("", text)):
            yield key, f"has a stray {stray[0]!r}; expected {{name}} or {{name.form}}."
    for key, text in {"good": scheme.good, "bad": scheme.bad}.items():
        marked = re.findall(r"\[[^][]*\]", text)
        if len(marked) != bool(method):
            number = "one critical word" if method else "none, because there is no method"
            yield key, f"marks {len(marked)} critical words by brackets; expected {number}."


def _form_names(draw: draws.AnyDraw) -> Collection[str]:
    """Return the names of forms that a slot can have after its dot; "" is a slot without a dot."""
    if draw.category != "choice":
        return draws.FORMS_BY_CATEGORY[draw.category]
    rows = list(draw.among)
    for rows_of_number in draw.by_number.values():
        rows += rows_of_number
    # Words that each row has are forms: "0", "1", …
    shortest = min((1 if isinstance(row, str) else len(row) for row in rows), default=0)
    return ("", *map(str, range(shortest))) if shortest else ()


def _references(
    draw: draws.AnyDraw, lexicon: Lexicon, vocabulary: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, str, Collection[str], str]]:
    """Yield the words of the lexicon that a draw names.

    Each is a tuple: key of the draw, word, the words that the key may have, and their file.
    ``vocabulary``: words by file of the lexicon.
    """
    if isinstance(draw, draws.VerbDraw | draws.AdjectiveDraw):
        # Words that a draw is limited to must have its frame.
        if isinstance(draw, draws.VerbDraw):
            fitting = {verb.lexeme for verb in lexicon.verbs if verb.frame in draw.frame}
            file = f"verbs.tsv (frame {' or '.join(draw.frame)})"
        else:
            fitting = {a.adjective for a in lexicon.adjectives if a.frame == draw.frame}
            file = f"adjectives.tsv ({f'frame {draw.frame}' if draw.frame else 'no frame'})"
        for word in draw.words:
            yield "words", word, fitting, file
    for draw_class, key, file in LEXICON_KEYS:
        value = getattr(draw, key) if isinstance(draw, draw_class) else ()
        if isinstance(value, str) and file == "determiners.tsv":
            yield key, value, vocabulary[SETS], SETS  # the name of a set
            continue
        for word in value.split() if isinstance(value, str) else value:
            yield key, word.removeprefix(EXCLUDED), vocabulary[file], file


def _without_counterpart(draw: draws.AnyDraw, scheme: draws.Scheme, pools: Pools) -> list[str]:
    """Look for an entry that a draw allows, but that has no form in the other number.

    Return two phrases, that name it and say how to exclude it; [] without such an entry.
    """
    if isinstance(draw, draws.NominalDraw):
        for group in pools.nouns(draw).values():
            for form in group:
                if draws.OTHER_NUMBER[form.number] not in form.entry.forms:
                    return [f"{form.text!r} has not", "ask for a plural, no names, no mass nouns"]
    elif isinstance(draw, draws.DeterminerDraw):
        for entry in pools.determiners(draw.among):
            if not entry.swapped:
                return [f"{entry.determiner!r} has not", "leave it out of 'among'"]
    elif isinstance(draw, draws.PredicateDraw):
        while draw.like and isinstance(liked := scheme.draw[draw.like], draws.PredicateDraw):
            draw = liked
        if not pools.all_agree(draw):
            return ["not every form has", "set 'agreeing: true'"]
    return []


def check_vocabulary(declaration: draws.Paradigm, lexicon: Lexicon, path: Path) -> None:
    """Check that the lexicon has what a declaration names. Raises UserError, naming the key."""
    pools = Pools(lexicon)
    vocabulary: dict[str, Collection[str]] = {
        "verbs.tsv": {verb.lexeme for verb in lexicon.verbs},
        "nouns.tsv or names.tsv": {noun.noun for noun in lexicon.nouns},
        "adjectives.tsv": {entry.adjective for entry in lexicon.adjectives},
        "auxiliaries.tsv": {entry.auxiliary for entry in lexicon.auxiliaries},
        "determiners.tsv": {entry.determiner for entry in lexicon.determiners},
        SETS: {name for entry in lexicon.determiners for name in entry.sets},
        "classes.yaml": lexicon.classes.wider,
    }

    def check(scheme: draws.Scheme) -> Iterator[tuple[str, str]]:
        for name, draw in scheme.draw.items():
            for key, word, present, file in _references(draw, lexicon, vocabulary):
                if word not in present:
                    close = get_close_matches(word, present, n=1)
                    hint = f"did you mean {close[0]!r}?" if close else "correct it, or add it."
                    yield f"draw.{name}.{key}", f"names {word!r}, which is not in {file}; {hint}"
        for key, text in scheme.templates.items():
            for slot in SLOT.finditer(text):
                if not slot[2].startswith(".swapped"):
                    continue
                if lacking := _without_counterpart(scheme.draw[slot[1]], scheme, pools):
                    yield key, f"has {slot[0]}, the other number, which {'; '.join(lacking)}."

    _refuse(declaration, path, check)


ARTICLE = re.compile(r"\b([Aa])(\]? \[?)(\w[\w'-]*)")
"""An article and the word after it, which may be in brackets: "a [apple"."""
WORD = re.compile(r"[\w'-]+")
MOST_FRUITLESS_DRAWS = 2000
"""Number of successive draws without a new pair after which a paradigm is exhausted."""
Draws = Mapping[str, draws.Constituent]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A generated sentence."""

    text: str
    entries: draws.Forms
    """Forms of its lexical entries."""
    prefix: str = ""
    """The text before the critical ``word``; both are empty if no word is marked."""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A generated pair."""

    record: Record
    good: Sentence
    bad: Sentence
    drawn: Draws


def _fill(template: str, drawn: Draws, scheme: draws.Scheme) -> tuple[str, draws.Forms]:
    """Return a template's text with filled slots, and the forms of its lexical entries."""
    text, end_of_slot = "", 0
    entries: list[str] = []
    for slot in SLOT.finditer(template):
        literal = template[end_of_slot : slot.start()]
        name, form = slot[1], slot[2].removeprefix(".")
        forms = draws.forms_of(drawn[name], scheme.draw[name].category, form)
        text += literal + " ".join(forms)
        entries += [*WORD.findall(literal), *forms]
        end_of_slot = slot.end()
    literal = template[end_of_slot:]
    return text + literal, (*entries, *WORD.findall(literal))


def make_sentence(template: str, drawn: Draws, scheme: draws.Scheme, sounds: Sounds) -> Sentence:
    """Make a sentence from a template, which may have its critical word in brackets."""
    text, entries = _fill(template, drawn, scheme)
    # One space between words, none before punctuation; the right article; an initial capital.
    text = " ".join(text.split()).replace("[ ", "[").replace(" ]", "]")
    text = re.sub(r" ([.,?])", r"\1", text)

    def correct_article(match: re.Match[str]) -> str:
        letter, between, word = match.groups()
        return letter + sounds.article(word).removeprefix("a") + between + word

    text = ARTICLE.sub(correct_article, text)
    first = int(text.startswith("["))  # index of the first letter
    text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    before, bracket, after = text.partition("[")
    word = after.partition("]")[0] if bracket else ""
    return Sentence(re.sub(r"[][]", "", text), entries, before.strip(), word)


class Generator:
    """Generates the pairs of one paradigm."""

    def __init__(self, path: Path, paradigm: draws.Paradigm, lexicon: Lexicon, seed: int) -> None:
        """Check the declaration. Random draws depend on ``seed`` and on the name of ``path``."""
        check_vocabulary(paradigm, lexicon, path)
        self.path, self.uid, self.declaration, self.lexicon = path, path.stem, paradigm, lexicon
        self.source = random.Random(f"{seed}:{self.uid}")
        self.builders = [Builder(lexicon, scheme, self.source) for scheme in paradigm.one_of]

    def _draw(self, number: int) -> Pair:
        """Draw a pair, which gets the id ``number``. Raises Redraw if the draw gives none."""
        builder, declaration = self.source.choice(self.builders), self.declaration
        scheme, drawn = builder.scheme, builder.draw()
        sounds, method = self.lexicon.sounds, declaration.method
        good = make_sentence(scheme.good, drawn, scheme, sounds)
        bad = make_sentence(scheme.bad, drawn, scheme, sounds)
        if good.text == bad.text:
            raise Redraw("both sentences are the same")
        # Both sentences have the same prefix (one-prefix method) or the same word after it
        # (two-prefix method).
        fields: dict[str, Any] = {}
        if method:
            equal, differing = ("prefix", "word") if method == "one_prefix" else ("word", "prefix")
            if getattr(good, equal) != getattr(bad, equal):
                raise Redraw(f"the {equal} differs, which {method} needs to be the same")
            fields[f"{method}_{equal}"] = getattr(good, equal)
            for side, sentence in (("good", good), ("bad", bad)):
                fields[f"{method}_{differing}_{side}"] = getattr(sentence, differing)
        if scheme.crucial_item is not None:
            item = make_sentence(scheme.crucial_item, drawn, scheme, sounds)
            fields["crucial_item"] = item.text.lower()
        if scheme.dependency_length is not None:
            between, _ = _fill(scheme.dependency_length, drawn, scheme)
            fields["dependency_length"] = len(between.split())
        record = Record(
            sentence_good=good.text,
            sentence_bad=bad.text,
            **fields,
            field=declaration.field,
            linguistics_term=declaration.term,
            UID=self.uid,
            simple_LM_method=True,
            one_prefix_method=method == "one_prefix",
            two_prefix_method=method == "two_prefix",
            lexically_identical=declaration.lexically_identical,
            pairID=str(number),
        )
        return Pair(record, good, bad, drawn)

    def pairs(self, count: int) -> Iterator[Pair]:
        """Yield ``count`` pairs with distinct acceptable sentences. Raises UserError for fewer."""
        seen: set[str] = set()
        failures: Counter[str] = Counter()
        while len(seen) < count:
            try:
                pair = self._draw(len(seen))
                if pair.good.text in seen:
                    raise Redraw("the acceptable sentence was drawn before")
            except Redraw as reason:
                failures[str(reason)] += 1
                if failures.total() > MOST_FRUITLESS_DRAWS:
                    ((most, _),) = failures.most_common(1)
                    raise UserError(
                        f"{self.path}: no new pair in {MOST_FRUITLESS_DRAWS} draws, after "
                        f"{len(seen)} of {count} ({most}); ask for fewer pairs, or widen the "
                        "declaration or the lexicon."
                    ) from reason
                continue
            seen.add(pair.good.text)
            failures.clear()
            yield pair


def preview(declaration: Path, lexicon: Path, show: int, seed: int) -> Iterator[str]:
    """Yield lines with the first pairs of a paradigm, their critical words, and unequal lengths.

    Raises UserError for a mistake in the declaration or the lexicon.
    """
    generator = Generator(declaration, read_declaration(declaration), read_lexicon(lexicon), seed)
    for pair in generator.pairs(show):
        for mark, side in ((" ", pair.good), ("*", pair.bad)):
            yield f"{mark} {side.text}{f'  [{side.word}]' if side.word else ''}"
        good, bad = len(pair.good.entries), len(pair.bad.entries)
        if good != bad:
            yield f"  ! {good} lexical entries against {bad}"


def generate_paradigms(
    declarations: Sequence[Path], lexicon: Path, outputs: Sequence[Path], pairs: int, seed: int
) -> int:
    """Write the pairs of declared paradigms, a file for each; return the total number of pairs.

    Raises UserError for a mistake in the lexicon or a declaration, and for too few possible pairs.
    """
    entries = read_lexicon(lexicon)
    generators = [Generator(path, read_declaration(path), entries, seed) for path in declarations]
    for generator, output in zip(generators, outputs, strict=True):
        with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as handle:
            for pair in generator.pairs(pairs):
                handle.write(pair.record.model_dump_json(exclude_none=True) + "\n")
    return len(outputs) * pairs
