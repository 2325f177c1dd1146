"""The lexicon that BLiMP's paradigms draw from: its form, and what its entries claim."""

import lzma
from collections import defaultdict

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.blimp.items import lexicon as inflection
from blimpworks.papers.blimp.items.lexicon import FILES, Noun, Sounds, read_classes, read_lexicon
from support.generator_kit import BLIMP, lexicon

FEATURES = {
    "third": "V;PRS;3;SG",
    "past": "V;PST",
    "participle": "V;V.PTCP;PST",
    "gerund": "V;V.PTCP;PRS",
}


@pytest.mark.parametrize(
    ("inflect", "word", "form"),
    [
        (inflection.plural, "dog", "dogs"),
        (inflection.plural, "church", "churches"),
        (inflection.plural, "high school", "high schools"),
        (inflection.plural, "city", "cities"),
        (inflection.plural, "boy", "boys"),
        (inflection.third, "go", "goes"),
        (inflection.third, "carry", "carries"),
        (inflection.past, "bake", "baked"),
        (inflection.past, "carry", "carried"),
        (inflection.past, "play", "played"),
        (inflection.gerund, "bake", "baking"),
        (inflection.gerund, "agree", "agreeing"),
        (inflection.gerund, "dye", "dyeing"),
        (inflection.gerund, "lie", "lying"),
    ],
)
def test_regular_forms_follow_spelling(inflect, word, form):
    assert inflect(word) == form


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
def test_a_restriction_is_satisfied_by_what_falls_under_it(
    tmp_path, restriction, classes, accepted
):
    path = tmp_path / "classes.yaml"
    path.write_text("animate: {person: , animal: {bird: , fish: }}\nplace:\npark:\n")
    assert read_classes(path).accepts(restriction, classes) == accepted


def copied(folder):
    for name in FILES:
        (folder / name).write_bytes((BLIMP / "lexicon" / name).read_bytes())
    return folder


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("nouns.tsv", "owl\t\tx\tbird\t\t", "column 'gender' is 'x': input should be 'm', 'f'"),
        ("nouns.tsv", "owlet\t\tn\tbrid\t\t", "classes names the class 'brid'"),
        ("nouns.tsv", "owlet\t\tn\tbird\tbrid\t", "of names the class 'brid'"),
        ("nouns.tsv", "owlet\t\tn\tbird\t\tfunny", "column 'tags.0' is 'funny'"),
        ("nouns.tsv", "owlet\tn\tbird", "fewer cells than headings (6)"),
        ("verbs.tsv", "owl\t\t\t\t\t\tditransitive\t\t\t\t", "column 'frame' is 'ditransitive'"),
        ("verbs.tsv", "owl\t\t\t\t\t\ttransitive\tbrid\t\t\t", "subject names the class 'brid'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, name, line, said):
    path = copied(tmp_path) / name
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
    # UniMorph has "ghostwritten" as a past, too.
    assert [form for _, form, attested in forms if form not in attested] == ["ghostwrote"]
