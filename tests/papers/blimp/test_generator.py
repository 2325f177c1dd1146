"""Test declarations of paradigms, their lexicon and its errors, and pairs of each paradigm."""

import hashlib
import json
import lzma
import random
import re
import shutil
from collections import Counter, defaultdict

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.blimp.items import generate
from blimpworks.papers.blimp.items import lexicon as inflection
from blimpworks.papers.blimp.items.build import read_records
from blimpworks.papers.blimp.items.declarations import Scheme
from blimpworks.papers.blimp.items.drawing import Builder
from blimpworks.papers.blimp.items.lexicon import FILES, Noun, Sounds, read_classes, read_lexicon
from support.commands import run
from support.generator_kit import BLIMP, PATHS, lexicon, pairs

HEAD = "term: t\nfield: syntax\nlexically_identical: false\n"
BODY = """
draw:
  verb: {is: verb, frame: transitive}
  subject: {is: phrase, subject_of: [verb]}
  does: {is: predicate, verb: verb, subject: [subject]}
  object: {is: phrase, object_of: [verb]}
good: "{subject} {does} {object}."
bad: "{object} {does} {subject}."
"""
# The verb's object may be empty.
OPTIONAL = (
    "draw: {verb: {is: verb}, object: {is: phrase, complement_of: verb}, "
    "quality: {is: adjective, of: [object]}}\n"
    'good: "{object}."\nbad: "{quality}."\n'
)
ONE = '{draw: {thing: {is: noun}}, good: "{thing}.", bad: ""}'
TWO = f"one_of: [{ONE}, {ONE}]"
CHOICE = 'draw: {word: {is: choice, among: [[a, b, c], [d, e, f, g]]}}\ngood: "{word.2}"\nbad: ""'


def declared(folder, text, uid="paradigm"):
    path = folder / f"{uid}.yaml"
    path.write_text(text)
    return path


def generator(folder, text, seed=0):
    path = declared(folder, text)
    return generate.Generator(path, generate.read_declaration(path), lexicon(), seed)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "draw"),
        (BODY.replace("draw:", "drawn:"), "key 'draw' is missing; add it."),
        (BODY.replace("frame: transitive", "frame: ditransitive"), "frame"),
        (BODY.replace("is: verb,", "is: word,"), "draw.verb"),
        (BODY.replace("[verb]", "[verbs]", 1), "draw.subject.subject_of"),
        (BODY.replace("{does}", "{do}", 1), "key 'good' names 'do', which is not drawn"),
        (BODY.replace("{does}", "{does", 1), "key 'good' has a stray '{'"),
        (BODY.replace("{does}", "[{does}]", 1), "marks 1 critical words"),
        ("method: one_prefix\n" + BODY, "marks 0 critical words by brackets; expected one"),
        ("colour: red\n" + BODY, "colour"),
        (BODY.replace("[verb]", "[does]"), "draw.object.object_of' names 'does', a predicate"),
        (BODY.replace("verb: verb", "verb: subject"), "a phrase; expected a verb"),
        (BODY.replace("[subject]", "[verb]"), "expected a noun or a phrase or a pronoun"),
        (BODY.replace("{does}", "{does.voice}", 1), "'good' has {does.voice}, no part of a"),
        (BODY.replace("{does}", "{verb}", 1), "{verb}, no part of a verb; expected {verb.base}"),
        (OPTIONAL, "'object', a phrase that can be nothing; expected a noun or a phrase"),
        (TWO.replace("{is: noun}", "{is: noun, of: no}"), "key 'one_of.1.draw.thing.of'"),
        (CHOICE.replace("{word.2}", "{word.3}"), "expected {word}, {word.0}, {word.1}, {word.2}"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, body, said):
    path = declared(tmp_path, HEAD + body)
    with pytest.raises(UserError) as failure:
        generate.read_declaration(path)
    assert str(path) in str(failure.value)
    assert said in str(failure.value)
    assert ("one_of" in str(failure.value)) == ("one_of" in said)
    with pytest.raises(UserError, match="holds no mapping"):
        generate.read_declaration(declared(tmp_path, ""))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("frame: transitive", "words: [imagin]", "verb.words' names 'imagin', which is not in"),
        ("frame: transitive", "frame: intransitive, words: [abandon]", "(frame intransitive)"),
        ("frame: transitive", "other_than: [abandn]", "'draw.verb.other_than' names 'abandn'"),
        ("frame: transitive", "subject_within: persn", "'draw.verb.subject_within' names 'persn'"),
        ("frame: transitive", "subject_accepts: persn", "draw.verb.subject_accepts' names 'persn'"),
        ("phrase, subject", "phrase, classes: '!persn', subject", "not in classes.yaml; did you"),
        ("phrase, object", "phrase, other_than: [wolfs], object", "draw.object.other_than' names"),
        ("phrase, object", "phrase, determiner: frequnt, object", "did you mean 'frequent'?"),
        ("phrase, object", "phrase, determiner: [teh], object", "object.determiner' names 'teh'"),
        ("verb: verb", "verb: verb, among: [hass]", "'draw.does.among' names 'hass', which is not"),
        ("good:", "  a: {is: adjective, words: [oldd]}\ngood:", "'draw.a.words' names 'oldd'"),
        ("good:", "  a: {is: adjective, other_than: [oldd]}\ngood:", "draw.a.other_than' names 'o"),
        ("good:", "  n: {is: noun}\n  d: {is: determiner, for: n, among: weeak}\ngood:", "'weak'"),
        ("{subject}", "{subject.swapped}", "ask for a plural, no names, no mass nouns"),
        ("{does}", "{does.swapped}", "key 'good' has {does.swapped}, the other number"),
    ],
)
def test_what_the_lexicon_lacks_is_named_with_file_and_key(tmp_path, old, new, said):
    with pytest.raises(UserError) as failure:
        generator(tmp_path, HEAD + BODY.replace(old, new, 1))
    assert str(failure.value).startswith(f"{tmp_path / 'paradigm.yaml'}: key '")
    assert said in str(failure.value)


def test_a_determiner_without_counterpart_is_not_put_in_the_other_number(tmp_path):
    body = """
draw:
  noun: {is: noun}
  d: {is: determiner, for: noun, among: [this, the]}
good: "{d} {noun}."
bad: "{d.swapped} {noun}."
"""
    with pytest.raises(UserError, match=r"'bad' has \{d\.swapped\}, .*'the' has not; leave it out"):
        generator(tmp_path, HEAD + body)
    assert generator(tmp_path, HEAD + body.replace("[this, the]", "[this, these]"))


EXHAUSTED = 'draw: {word: {is: choice, among: [same, one, two]}}\ngood: "{word}."\nbad: "Same."'
NOBODY = BODY.replace("object_of: [verb]", "classes: person, gender: [n]")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (NOBODY, r"after 0 of 3 \(nothing in the lexicon fits 'object'\)"),
        # A pair of two identical sentences does not count.
        (EXHAUSTED, r"after 2 of 3 \(the acceptable sentence was drawn before\)"),
    ],
)
def test_a_paradigm_without_enough_pairs_says_what_it_fails_at(tmp_path, body, said):
    with pytest.raises(UserError, match=rf"paradigm\.yaml: .* {said}"):
        [*generator(tmp_path, HEAD + body).pairs(3)]


def test_each_declaration_wants_a_file_of_its_own():
    call = ["generate-blimp", *[*PATHS.values()][:2], "--lexicon", BLIMP / "lexicon"]
    with pytest.raises(UserError, match="2 declarations, but 1 of --output"):
        run(*call, "--pairs", "5", "--output", "one.jsonl")
    with pytest.raises(UserError, match=r"one\.jsonl is an output and also another file"):
        run(*call, "--pairs", "5", "--output", "one.jsonl", "--output", "one.jsonl")


def test_the_same_seed_draws_the_same_pairs_and_another_seed_others(tmp_path):
    def texts(seed):
        return [pair.record for pair in generator(tmp_path, HEAD + BODY, seed).pairs(20)]

    assert texts(0) == texts(0)
    assert not {r.sentence_good for r in texts(0)} & {r.sentence_good for r in texts(1)}


def test_paradigms_draw_independently_into_files_like_the_released_ones(tmp_path):
    def made(*names):
        outputs = [tmp_path / f"of {len(names)}" / f"{name}.jsonl" for name in names]
        generate.generate_paradigms([PATHS[n] for n in names], BLIMP / "lexicon", outputs, 12, 0)
        return outputs[-1]

    first, second, *_ = PATHS
    file = made(first, second)
    assert made(second).read_bytes() == file.read_bytes()
    assert [record.pairID for record in read_records(file, 12)] == [str(i) for i in range(12)]
    assert [*json.loads(file.read_text().splitlines()[0])][-1] == "pairID"


def test_finite_verbs_are_as_frequent_as_auxiliaries(tmp_path):
    [builder] = generator(tmp_path, HEAD + BODY).builders
    without = Counter(builder.draw()["does"].chosen.auxiliary is None for _ in range(600))
    assert 240 < without[True] < 360


def test_each_scheme_is_drawn_as_often_as_the_others(tmp_path):
    scheme = {"draw": {"word": {"is": "choice", "among": [*map(str, range(400))]}}, "bad": "no"}
    one_of = [scheme | {"good": f"{name} {{word}}."} for name in ("a1", "b2")]
    paradigm = generator(tmp_path, HEAD + json.dumps({"one_of": one_of})[1:-1])
    schemes = Counter(pair.good.text[0] for pair in paradigm.pairs(400))
    assert 150 < schemes["A"] < 250


def test_a_preview_shows_pairs_with_their_critical_words():
    lines = [*generate.preview(PATHS["anaphor_gender_agreement"], BLIMP / "lexicon", 3, 0)]
    assert len(lines) == 6
    assert all(line.endswith("self]") for line in lines)
    assert [line[0] for line in lines] == [" ", "*"] * 3


FEATURES = {"third": "V;PRS;3;SG", "past": "V;PST"}
FEATURES |= {"participle": "V;V.PTCP;PST", "gerund": "V;V.PTCP;PRS"}


@pytest.mark.parametrize(
    ("inflect", "words", "forms"),
    [
        (inflection.plural, "dog/church/high school", "dogs/churches/high schools"),
        (inflection.plural, "city/boy", "cities/boys"),
        (inflection.third, "go/carry", "goes/carries"),
        (inflection.past, "bake/carry/play", "baked/carried/played"),
        (inflection.gerund, "bake/agree/dye/lie", "baking/agreeing/dyeing/lying"),
    ],
)
def test_regular_forms_follow_spelling(inflect, words, forms):
    assert [*map(inflect, words.split("/"))] == forms.split("/")


@pytest.mark.parametrize(
    ("plural", "irregular"),
    [("children", True), ("=", False), ("-", False), ("childs", False), ("childes", False)],
)
def test_a_plural_is_irregular_when_more_than_spelling_differs(plural, irregular):
    noun = Noun(noun="child", plural=plural, gender="c", classes="person", of="", tags="")
    assert noun.irregular == irregular


@pytest.mark.parametrize(
    ("text", "article"),
    [("owl", "an"), ("dog", "a"), ("hour", "an"), ("union", "a"), ("unimportant", "an")],
)
def test_the_article_follows_the_sound(text, article):
    sounds = Sounds(vowel=("hour", "unim"), consonant=("uni",))
    assert sounds.article(text) == article


@pytest.mark.parametrize(
    ("restriction", "classes", "accepted"),
    [
        ("", ("bird",), True),
        ("animate", ("bird",), True),
        ("bird", ("animal",), False),
        ("animal !bird", ("bird",), False),
        ("animal !bird", ("fish",), True),
        ("person place", ("park",), False),
        ("!bird", ("person",), True),
        ("!bird", ("person", "bird"), False),
    ],
)
def test_a_restriction_accepts_what_falls_under_it(tmp_path, restriction, classes, accepted):
    path = tmp_path / "classes.yaml"
    path.write_text("animate: {person: , animal: {bird: , fish: }}\nplace:\npark:\n")
    assert read_classes(path).accepts(restriction, classes) == accepted


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("nouns.tsv", "owl\t\tx\tbird\t\t", "column 'gender' is 'x': input should be 'm', 'f'"),
        ("nouns.tsv", "owlet\t\tn\tbrid\t\t", "classes names the class 'brid'"),
        ("nouns.tsv", "owlet\t\tn\tbird\tbrid\t", "of names the class 'brid'"),
        ("nouns.tsv", "owlet\t\tn\tbird\t\tfunny", "column 'tags.0' is 'funny'"),
        ("verbs.tsv", "owl\t\t\t\t\t\tditransitive\t\t\t\t", "column 'frame' is 'ditransitive'"),
        ("verbs.tsv", "owl\t\t\t\t\t\ttransitive\tbrid\t\t\t", "subject names the class 'brid'"),
        ("determiners.tsv", "yon\tsg\tweak\ttheese", "swapped is 'theese', which has no row"),
        ("auxiliaries.tsv", "ought\t\tsg\tbase\tmodal\tougth\tstatement", "swapped is 'ougth'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, name, line, said):
    for file in FILES:
        shutil.copy(BLIMP / "lexicon" / file, tmp_path)
    path = tmp_path / name
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, line, ""]))
    with pytest.raises(UserError) as failure:
        read_lexicon(tmp_path)
    assert f"{path}:{len(lines) + 1}: {said}" in str(failure.value)


@pytest.mark.mirror
def test_verbs_are_inflected_as_unimorph_says(mirror):
    known = defaultdict(set)
    path = mirror / "unimorph" / "eng" / "eng.args.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in filter(str.strip, lines):
            lemma, form, features = line.rstrip("\n").split("\t")[:3]
            known[lemma, features].add(form)
    forms = [
        (verb, verb.form(name), known[verb.verb, features])
        for verb in lexicon().verbs
        for name, features in FEATURES.items()
        if (verb.verb, features) in known
    ]
    assert len(forms) > 3000
    # UniMorph also has "ghostwritten" as a past.
    assert [form for _, form, attested in forms if form not in attested] == ["ghostwrote"]


DIGEST = "9935e1b6d17cbc22"
"""Digest of all pairs.

When it was recorded, text and lexicon had shown that pairs of each paradigm differ in its
phenomenon: numbers, genders, frames, binders, gaps, licensors. Examine the pairs of a changed
paradigm before you record another digest.
"""
VOWEL_SOUND = re.compile(
    r"(?!eu|one\b|u[bks][aeiu]|uga|ukr|uni(?![dmn])|unanim|ur[aeiou]|ut[aeio])[aeiou]|heir|hon(or|est)|hour"
)


def texts(uid):
    return [side.text for pair in pairs(uid) for side in (pair.good, pair.bad)]


@pytest.mark.parametrize("paradigm", PATHS)
def test_sentences_are_as_long_and_differ_in_one_entry_or_in_order(paradigm):
    for pair in pairs(paradigm):
        good, bad = ([form.lower() for form in side.entries] for side in (pair.good, pair.bad))
        assert len(good) == len(bad), pair.record
        assert good != bad, pair.record
        assert (Counter(good) - Counter(bad)).total() <= 1, pair.record


@pytest.mark.parametrize("paradigm", PATHS)
def test_sentences_are_written_as_released_ones_are(paradigm):
    for text in texts(paradigm):
        assert text[0].isupper()
        assert text.endswith((".", "?")), text
        assert not re.search(r"  | [.,?]|[][{}]", text), text


def test_the_article_before_each_word_of_the_lexicon_suits_its_sound():
    words = [each.noun for each in lexicon().nouns] + [a.adjective for a in lexicon().adjectives]
    for word in words:
        article = lexicon().sounds.article(word)
        assert (article == "an") == bool(VOWEL_SOUND.match(word.lower())), word


@pytest.mark.parametrize("paradigm", PATHS)
def test_critical_words_follow_their_prefixes(paradigm):
    for pair in pairs(paradigm):
        for side, (start, end) in zip((pair.good, pair.bad), pair.record.spans(), strict=True):
            assert start is None or side.text[start:end] == side.word


def test_the_pairs_are_those_whose_grammar_was_examined():
    texts_of_all = "\n".join(text for uid in sorted(PATHS) for text in texts(uid))
    assert hashlib.sha256(texts_of_all.encode()).hexdigest()[:16] == DIGEST


def pronouns(classes, gender, number):
    """Return reflexives of the other number than that of nouns drawn so."""
    noun = {"is": "noun", "classes": classes, "gender": [gender], "number": number}
    other = {"is": "pronoun", "case": "reflexive", "like": "n", "number_unlike": "n"}
    return {each.text for each in drawn("other", n=noun, other=other)}


def test_a_pronoun_of_the_other_number_keeps_the_gender():
    assert pronouns("person", "f", "pl") == {"herself"}
    assert pronouns("person", "c", "pl") == {"himself", "herself"}
    assert pronouns("clothing", "n", "pl") == {"itself"}
    assert pronouns("person", "m", "sg") == {"themselves"}


def drawn(name, **draw):
    """Return one draw of a scheme, repeated many times."""
    scheme = Scheme.model_validate({"draw": draw, "good": "", "bad": ""})
    builder = Builder(lexicon(), scheme, random.Random(0))
    return [builder.draw()[name] for _ in range(60)]


ADJECTIVES = {adjective.adjective for adjective in lexicon().adjectives}
WOMEN = {noun.noun for noun in lexicon().nouns if noun.gender == "f"}


@pytest.mark.parametrize(
    ("draw", "allowed", "kept"),
    [
        ({"is": "verb", "words": ["give up", "cough", "sneeze"]}, {"give up", "cough"}, {"sneeze"}),
        ({"is": "noun", "gender": ["f"]}, WOMEN, {"actress", "queen"}),
        ({"is": "adjective"}, ADJECTIVES, {"old", "new"}),
    ],
)
def test_words_are_other_than_those_that_are_excluded(draw, allowed, kept):
    words = drawn("word", word=draw | {"other_than": sorted(allowed - kept)})
    names = {"verb": "lexeme", "noun": "noun", "adjective": "adjective"}
    assert {getattr(getattr(each, "entry", each), names[draw["is"]]) for each in words} == kept
