"""Methods as data: values of two sentences, compared to decide a pair.

A method is a name and an expression over the log-probabilities of a sentence's tokens. The good
sentence must have the higher value, or with ``lower`` the lower one::

    method    = ["higher" | "lower"] value ;
    value     = "-" value | "exp(" value ")" | total ;
    total     = aggregate "(" tokens ")" ["/" length] ;
    aggregate = "sum" | "mean" | "only" ;
    tokens    = "all" | "text" | "region" ;
    length    = "characters" | "bytes" ;

``only`` is the log-probability of a single token; other sentences have no value. ``all`` is every
scored token, ``text`` leaves the end symbol out, ``region`` is the critical region with the space
that joins it to its prefix. Lengths are the sentence's.

Minus and ``exp`` only change the shown value. Decisions, ties and margins compare the totals, in
nats (per token or unit of length).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from blimpworks.errors import UserError

AGGREGATES = ("sum", "mean", "only")
TOKENS = ("all", "text", "region")
LENGTHS = ("characters", "bytes")
PREFIXES = ("one_prefix", "two_prefix")
"""Methods that need a prefix, which only some pairs have."""

METHODS: dict[str, str] = {
    # Warstadt et al. (2020), section 4.1; Jumelet et al. (2025), section 6.
    "full_sentence": "sum(all)",
    # LSTM code of Mueller et al. (2020): the final <eos> is not among the words summed.
    "without_end": "sum(text)",
    "critical_region": "sum(region)",
    # Warstadt et al. (2020), section 4.2: one prefix and two critical words, or two prefixes and
    # one word. What follows the region is out; the prefix is what its tokens are conditioned on.
    "one_prefix": "sum(region)",
    "two_prefix": "sum(region)",
    # BERT in Mueller et al. (2020): the masked word, where the vocabulary has it whole.
    "masked_critical_word": "only(region)",
    "per_token": "mean(all)",
    "per_character": "sum(all) / characters",
    "per_byte": "sum(all) / bytes",
    # Adeeba et al. (2025): of causal models and, over pseudo-log-likelihoods, of masked ones.
    "perplexity": "lower exp(-mean(all))",
    "pseudo_perplexity": "lower exp(-mean(all))",
}

_TOTAL = re.compile(r"(\w+) *\( *(\w+) *\) *(?:/ *(\w+))?")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EXAMPLES = "such as 'sum(all)', 'sum(region) / bytes' or 'lower exp(-mean(all))'"


@dataclass(frozen=True, slots=True)
class Method:
    """A parsed expression."""

    name: str
    aggregate: str
    tokens: str
    length: str | None
    shown: tuple[str, ...]
    """``minus`` and ``exp``, from the total outwards."""
    higher: bool
    """Whether the good sentence must have the higher total."""

    @property
    def regional(self) -> bool:
        """Whether it needs only the critical region's tokens."""
        return self.tokens == "region"


def _known(word: str, known: Iterable[str], name: str, expression: str) -> str:
    if word not in known:
        raise UserError(
            f"method {name!r}: {word!r} in {expression!r} is unknown; expected "
            f"{' or '.join(known)}."
        )
    return word


def _peel(text: str) -> tuple[str, list[str]]:
    """Return the total inside ``text``, and its ``minus`` and ``exp``, from the inside outwards."""
    around: list[str] = []
    while True:
        text = text.strip()
        if text.startswith("-"):
            around, text = ["minus", *around], text[1:]
        elif inner := re.fullmatch(r"exp *\((.*)\)", text):
            around, text = ["exp", *around], inner[1]
        else:
            return text, around


def parse_method(name: str, expression: str) -> Method:
    """Parse a method. Raises UserError for a malformed one."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"method {name!r}: expected a name of lower-case letters, digits and underscores."
        )
    direction = re.match(r"\s*(higher|lower)\b", expression)
    total, rest_of_expression = _peel(expression[direction.end() if direction else 0 :])
    match = _TOTAL.fullmatch(total)
    if not match:
        raise UserError(
            f"method {name!r}: expression {expression!r} is malformed at {total!r}; expected "
            f"one {_EXAMPLES}."
        )
    aggregate, tokens, length = match.groups()
    higher = not direction or direction[1] == "higher"
    return Method(
        name=name,
        aggregate=_known(aggregate, AGGREGATES, name, expression),
        tokens=_known(tokens, TOKENS, name, expression),
        length=None if length is None else _known(length, LENGTHS, name, expression),
        shown=tuple(rest_of_expression),
        higher=higher == (rest_of_expression.count("minus") % 2 == 0),
    )


def find_method(named: str) -> Method:
    """Return the method of that name, or parse ``name=expression``.

    Raises UserError for an unknown name or a malformed expression.
    """
    name, has_expression, expression = (name_part.strip() for name_part in named.partition("="))
    if has_expression:
        return parse_method(name, expression)
    if name not in METHODS:
        raise UserError(f"method {name!r} is unknown; expected one of {', '.join(METHODS)}.")
    return parse_method(name, METHODS[name])


def regional(methods: Sequence[str]) -> bool:
    """Return whether all ``methods`` need only the critical region's tokens."""
    return all(find_method(named).regional for named in methods)
