"""Methods of judging a minimal pair: named expressions, and their parser.

A method such as ``sum(region) / bytes`` computes a total of each sentence from the
log-probabilities of its tokens. Around the total, minus and ``exp`` make the value to display. A
model judges the pair correctly if the good sentence has the better value: the higher, or with
``lower`` the lower. ``find_method("per_byte")`` returns a ``Method``; ``parse_method`` reads an
expression::

    method    = ["higher" | "lower"] value ;
    value     = "-" value | "exp(" value ")" | total ;
    total     = aggregate "(" tokens ")" ["/" length] ;
    aggregate = "sum" | "mean" | "only" ;
    tokens    = "all" | "text" | "region" ;
    length    = "characters" | "bytes" ;

- ``only`` is the log-probability of a single token; sentences with several tokens have no value.
- ``all`` is every scored token, and ``text`` is the same without the end symbol. ``region`` is the
  critical region, where the sentences differ, with the space before it.
- Lengths are those of the whole sentence.

Decisions, ties and margins are computed from the totals, in nats (per token or unit of length).
``Method.higher`` says which total is better: with ``lower exp(-mean(all))``, the sentence of lower
perplexity is better, which is the one with the higher mean.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from blimpworks.errors import UserError, find

AGGREGATES = ("sum", "mean", "only")
TOKENS = ("all", "text", "region")
LENGTHS = ("characters", "bytes")
PREFIXES = ("one_prefix", "two_prefix")
"""Methods that judge only pairs whose items allow them, in the column ``prefix_methods``."""

METHODS: dict[str, str] = {
    # Warstadt et al. (2020), section 4.1; Jumelet et al. (2025), section 6.
    "full_sentence": "sum(all)",
    # LSTM code of Mueller et al. (2020): the final <eos> is not among the words summed.
    "without_end": "sum(text)",
    "critical_region": "sum(region)",
    # Warstadt et al. (2020), section 4.2: one prefix and two critical words, or two prefixes and
    # one word. The critical word is conditioned on the prefix; words after it are left out. It is
    # the region of items with a prefix, so the expression is that of critical_region.
    "one_prefix": "sum(region)",
    "two_prefix": "sum(region)",
    # BERT in Mueller et al. (2020): the masked word, if it is a single token of the vocabulary.
    "masked_critical_word": "only(region)",
    "per_token": "mean(all)",
    "per_character": "sum(all) / characters",
    "per_byte": "sum(all) / bytes",
    # Adeeba et al. (2025): of causal models and, over pseudo-log-likelihoods, of masked ones.
    "perplexity": "lower exp(-mean(all))",
    "pseudo_perplexity": "lower exp(-mean(all))",
}

_OUTER = re.compile(r"(?s)-(?P<minus>.*)|exp *\((?P<exp>.*)\)")  # -VALUE or exp(VALUE)
_TOTAL = re.compile(r"(\w+) *\( *(\w+) *\) *(?:/ *(\w+))?")  # sum(all) / bytes
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EXAMPLES = "such as 'sum(all)', 'sum(region) / bytes' or 'lower exp(-mean(all))'"


@dataclass(frozen=True, slots=True)
class Method:
    """A parsed expression, such as ``sum(region) / bytes`` with aggregate, tokens and length."""

    name: str
    aggregate: str
    tokens: str
    length: str | None
    changes: tuple[str, ...]
    """Functions around the total, the innermost first: ("exp", "minus") for -exp(total)."""
    higher: bool
    """Whether the good sentence must have the higher total, which may mean the lower value."""

    @property
    def regional(self) -> bool:
        """Whether the method needs only the critical region's tokens."""
        return self.tokens == "region"


def parse_method(name: str, expression: str) -> Method:
    """Parse the ``expression`` of a method. Raises UserError for a malformed one or name."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"method {name!r}: expected a name of lower-case letters, digits and underscores."
        )
    direction = re.match(r"\s*(higher|lower)\b", expression)
    total = expression[direction.end() if direction else 0 :].strip()
    functions: list[str] = []  # as ``Method.changes``
    while outer := _OUTER.fullmatch(total):
        function = "exp" if outer["minus"] is None else "minus"
        functions.insert(0, function)  # what is found later is further inside
        total = outer[function].strip()
    match = _TOTAL.fullmatch(total)
    if not match:
        raise UserError(
            f"method {name!r}: expression {expression!r} is malformed at {total!r}; expected "
            f"one {_EXAMPLES}."
        )
    aggregate, tokens, length = match.groups()
    for word, possible in ((aggregate, AGGREGATES), (tokens, TOKENS), (length, (*LENGTHS, None))):
        if word not in possible:
            raise UserError(
                f"method {name!r}: {word!r} in {expression!r} is unknown; expected "
                f"{' or '.join(filter(None, possible))}."
            )
    # ``lower`` reverses the order of totals, and so does an odd number of minuses; both together
    # keep it.
    higher_value = not direction or direction[1] == "higher"
    keeps_order = functions.count("minus") % 2 == 0
    return Method(
        name=name,
        aggregate=aggregate,
        tokens=tokens,
        length=length,
        changes=tuple(functions),
        higher=higher_value == keeps_order,
    )


def find_method(named: str) -> Method:
    """Return the method of a name such as "per_byte", or of "name=expression".

    Raises UserError if it is unknown or malformed, or if the name has another expression in
    ``METHODS``. Tables of judgements contain only the name, so a name must mean one method.
    """
    name, equals, expression = (text.strip() for text in named.partition("="))
    if not equals:
        return parse_method(name, find(METHODS, name, "method"))
    method = parse_method(name, expression)
    if name in METHODS and method != parse_method(name, METHODS[name]):
        raise UserError(
            f"method {name!r} is {METHODS[name]!r} here, not {expression!r}; give yours another "
            "name."
        )
    return method


def regional(methods: Sequence[str]) -> bool:
    """Return whether all ``methods`` need only the tokens of the critical region."""
    return all(find_method(named).regional for named in methods)
