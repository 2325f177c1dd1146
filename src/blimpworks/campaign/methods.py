"""Methods of judging a pair: expressions for a sentence's value, and their parser.

The expression computes a value from the log-probabilities of the sentence's tokens. The good
sentence must have the higher value, or with ``lower`` the lower one::

    method    = ["higher" | "lower"] value ;
    value     = "-" value | "exp(" value ")" | total ;
    total     = aggregate "(" tokens ")" ["/" length] ;
    aggregate = "sum" | "mean" | "only" ;
    tokens    = "all" | "text" | "region" ;
    length    = "characters" | "bytes" ;

``only`` is the log-probability of a single token; sentences with several have no value. ``all`` is
every scored token, ``text`` leaves the end symbol out, ``region`` is the critical region with the
space before it. Lengths are those of the sentence.

Decisions, ties and margins compare the totals, in nats (per token or unit of length). Minus and
``exp`` change the displayed value alone; ``lower`` says that the lower displayed value is better.
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
    # one word. The critical word is conditioned on the prefix; words after it are left out.
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
    changes: tuple[str, ...]
    """``minus`` and ``exp``, from the total outwards."""
    higher: bool
    """Whether the good sentence must have the higher total."""

    @property
    def regional(self) -> bool:
        """Whether it needs only the critical region's tokens."""
        return self.tokens == "region"


def _one_of(possible: Iterable[str], word: str, name: str, expression: str) -> str:
    if word not in possible:
        raise UserError(
            f"method {name!r}: {word!r} in {expression!r} is unknown; expected "
            f"{' or '.join(possible)}."
        )
    return word


def _split_value(text: str) -> tuple[str, list[str]]:
    """Split a value into its total, and ``minus`` and ``exp`` around it, innermost first."""
    functions: list[str] = []
    while True:
        text = text.strip()
        if text.startswith("-"):
            functions, text = ["minus", *functions], text[1:]
        elif inner := re.fullmatch(r"exp *\((.*)\)", text):
            functions, text = ["exp", *functions], inner[1]
        else:
            return text, functions


def parse_method(name: str, expression: str) -> Method:
    """Parse a method. Raises UserError for a malformed one."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"method {name!r}: expected a name of lower-case letters, digits and underscores."
        )
    direction = re.match(r"\s*(higher|lower)\b", expression)
    total, functions = _split_value(expression[direction.end() if direction else 0 :])
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
        aggregate=_one_of(AGGREGATES, aggregate, name, expression),
        tokens=_one_of(TOKENS, tokens, name, expression),
        length=None if length is None else _one_of(LENGTHS, length, name, expression),
        changes=tuple(functions),
        higher=higher == (functions.count("minus") % 2 == 0),
    )


def find_method(named: str) -> Method:
    """Return the method of that name, or parse ``name=expression``. Raises UserError otherwise."""
    name, has_expression, expression = (name_part.strip() for name_part in named.partition("="))
    if has_expression:
        return parse_method(name, expression)
    if name not in METHODS:
        raise UserError(f"method {name!r} is unknown; expected one of {', '.join(METHODS)}.")
    return parse_method(name, METHODS[name])


def regional(methods: Sequence[str]) -> bool:
    """Return whether all ``methods`` need only the critical region's tokens."""
    return all(find_method(named).regional for named in methods)
