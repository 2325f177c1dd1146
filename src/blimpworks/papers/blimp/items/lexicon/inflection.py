"""Regular English inflection by spelling; what is irregular stands in the lexicon's tables."""

VOWELS = "aeiou"
SIBILANTS = ("s", "x", "z", "ch", "sh")


def _after_consonant(word: str) -> bool:
    return len(word) > 1 and word[-2] not in VOWELS


def plural(noun: str) -> str:
    """The regular plural of a noun; of several words the last one is inflected."""
    if noun.endswith(SIBILANTS):
        return f"{noun}es"
    if noun.endswith("y") and _after_consonant(noun):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def regular_plurals(noun: str) -> frozenset[str]:
    """Plurals that differ from the regular one in spelling alone: heroes, quizzes, stomachs."""
    return frozenset((plural(noun), f"{noun}s", f"{noun}es", f"{noun}{noun[-1]}es"))


def third(verb: str) -> str:
    """The regular third person singular of the present."""
    return f"{verb}es" if verb.endswith("o") else plural(verb)


def past(verb: str) -> str:
    """The regular past, which is the participle too. No consonant is doubled."""
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and _after_consonant(verb):
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def gerund(verb: str) -> str:
    """The regular -ing form. No consonant is doubled."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    return f"{verb}ing"


def possessive(phrase: str, *, plural: bool) -> str:
    """``phrase`` with 's, or with an apostrophe alone after the s of a plural."""
    return f"{phrase}'" if plural and phrase.endswith("s") else f"{phrase}'s"
