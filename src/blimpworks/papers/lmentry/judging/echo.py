"""What an answer says beside its prompt's own text, for corrected verdicts.

Texts are compared word by word, so other quotation marks, markup and marks at an end count for
nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.roles import HIDDEN

LEAST = 12
"""Characters of a text that is looked for; shorter ones are no repetition."""
MORE = 3
"""Words of a repetition that an answer's end cuts off."""
_ENDS = re.compile(r"(?<=[.?!。])[\s\"]+|\n")
_PLAIN = re.compile(r"[^\W_]+(?: [^\W_]+)*")
_BEFORE = re.compile(r"(?:(?:^|(?<=\n))[^\W_]+(?: [^\W_]+)?:\s*)?[\"'¿¡\[(-]*$")
_BEHIND = re.compile(r"[\"'?!:.…\])]*")
_STATED = re.compile(r"\.(?![\"'])")
_LABEL = re.compile(r"[^\W_]+ ?:|[\W_]+")


class Sentence(NamedTuple):
    """A sentence of a prompt, as it is looked for in answers."""

    hint: str
    """Its longest run of words without marks, which stands in every repetition."""
    words: str
    """Its words, with a space around each."""
    question: bool


def sentences_of(prompt: str, arguments: Mapping[str, Any]) -> Sequence[Sentence]:
    """The sentences of a prompt; the one that it asks about is a word of them."""
    if len(prompt) < LEAST:
        return ()
    text, quoted = normalise.corrected(prompt), str(arguments.get("sentence", ""))
    if quoted:
        quoted = normalise.corrected(quoted)
        text = text.replace(quoted, HIDDEN)
    return tuple(_sentences(text, quoted))


def _sentences(text: str, quoted: str) -> Iterator[Sentence]:
    for part in _ENDS.split(text):
        clause = part.find("¿")
        if clause > 0:
            yield from _sentences(part[clause:], quoted)
        shown = part.replace(HIDDEN, quoted)
        if len(shown) >= LEAST:
            words = f" {' '.join(normalise.words(shown))} "
            hint = max(_PLAIN.findall(part), key=len, default="")
            yield Sentence(hint, words, part.rstrip('" ').endswith("?"))


def without_prompt(answer: str, sentences: Sequence[Sentence]) -> str:
    """A normalised answer without each occurrence of the prompt's sentences.

    Labels such as "Question:" go with them. A question's words before a full stop stay: in some
    languages they are the statement.
    """
    known = [each for each in sentences if each.hint in answer]
    if not known:
        return answer
    spans = [match.span() for match in normalise.WORD.finditer(answer)]
    text = f" {' '.join(answer[start:end] for start, end in spans)} "
    kept, done = [], 0
    for first, last, question in sorted(
        (*span, x.question) for x in known for span in _found(text, x)
    ):
        start, end = spans[first][0], spans[last][1]
        if start < done or (question and _STATED.match(answer, end)):
            continue
        before = _BEFORE.search(answer, done, start)
        kept.append(answer[done : before.start() if before else start])
        done = _BEHIND.match(answer, end).end()
    if not done:
        return answer
    lines = (line.strip() for line in "\n".join([*kept, answer[done:]]).split("\n"))
    return "\n".join(line for line in lines if line and not _LABEL.fullmatch(line))


def _found(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """First and last word of each occurrence, and of one that the text's end cuts off."""
    words, number, done = sentence.words, 0, 0
    size = words.count(" ") - 1
    start = text.find(words)
    if start < 0:
        return
    while start >= 0:
        number += text.count(" ", done, start)
        yield number, number + size - 1
        done, start = start, text.find(words, start + len(words) - 1)
    total, said = text.count(" ") - 1, words.split()
    ends = text.split()[1 - size :]
    for length in range(len(ends), MORE - 1, -1):
        known = said[:length]
        if ends[-length:-1] == known[:-1] and known[-1].startswith(ends[-1]):
            yield total - length, total - 1
            return
