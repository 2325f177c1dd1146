"""Remove a prompt's own text from answers word by word, for corrected verdicts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.roles import HIDDEN

LEAST = 12
"""Characters of the shortest text that counts as a repetition."""
MORE = 3
"""Words of a repetition that the answer's end cuts off, if it is the second one."""
LABEL = 40
"""Characters of the longest label before a repetition, with marks."""
_ENDS = re.compile(r"(?<=[.?!。])[\s\"]+|\n")
_PLAIN = re.compile(r"[^\W_]+ [^\W_]+(?: [^\W_]+)+")
_BEFORE = re.compile(r"(?:(?:^|(?<=\n))[^\W_]+(?: [^\W_]+)?:\s*)?[\"'¿¡\[(-]*$")
_BEHIND = re.compile(r"[\"'?!:.…\])]*")
_OPENING = re.compile(r"([^\W\d_]+) ([^\W\d_]+ [^\W\d_]+)\b")
_STATED = re.compile(r"\.(?![\"'])")
_LABEL = re.compile(r"[^\W_]+ ?:|[\W_]+")


class Sentence(NamedTuple):
    """A sentence of a prompt in lower case."""

    hint: str
    """Three words or more without marks, which every repetition contains."""
    text: str
    question: bool


class Prompt(NamedTuple):
    """A prompt's text, prepared for the search in answers."""

    sentences: Sequence[Sentence]
    opening: re.Match[str] | None
    """First three words of an instruction to write something."""


def read_prompt(prompt: str, arguments: Mapping[str, Any], *, writing: bool) -> Prompt:
    """Read a prompt's sentences; ``writing``: it asks for words that it does not contain."""
    text, quoted = normalise.corrected(prompt), str(arguments.get("sentence", ""))
    if quoted:
        quoted = normalise.corrected(quoted)
        text = text.replace(quoted, HIDDEN)
    return Prompt(tuple(_sentences(text, quoted)), _OPENING.match(text) if writing else None)


@lru_cache(maxsize=256)
def _instruction(verb: str, asked_for: str) -> re.Pattern[str]:
    # Other words may stand behind the first ones; the verb may have another ending.
    return re.compile(
        rf"^[^\w\n]*{re.escape(verb[:4])}\w* {re.escape(asked_for)}\b[^\n:.?!]*"
        r"[\W_]*?(?=[^\W_]|\n|$)",
        re.MULTILINE,
    )


def _sentences(text: str, quoted: str) -> Iterator[Sentence]:
    for sentence in _ENDS.split(text):
        clause = sentence.find("¿")
        if clause > 0:
            yield from _sentences(sentence[clause:], quoted)
        quoted_sentence = sentence.replace(HIDDEN, quoted)
        if len(quoted_sentence) >= LEAST:
            hint = _PLAIN.search(sentence)
            yield Sentence(
                hint[0] if hint else "", quoted_sentence, sentence.rstrip('" ').endswith("?")
            )


def without_prompt(answer: str, prompt: Prompt) -> str:
    """Return an answer without its prompt's sentences, their labels, and reworded instructions.

    A question's words before a full stop stay: in some languages they are the statement.
    """
    hinted = [sentence for sentence in prompt.sentences if sentence.hint in answer]
    spans = [match.span() for match in normalise.WORD.finditer(answer)] if hinted else []
    text = f" {' '.join(answer[start:end] for start, end in spans)} "
    echoes = ((*span, x.question) for x in hinted for span in _found(text, x))
    remaining_texts, done = [], 0
    for first, last, question in sorted(echoes):
        start, end = spans[first][0], spans[last][1]
        if start < done or (question and _STATED.match(answer, end)):
            continue
        # No run of marks is read again and again: hostile answers are long.
        before = _BEFORE.search(answer, max(done, start - LABEL), start)
        remaining_texts.append(answer[done : before.start() if before else start])
        behind = _BEHIND.match(answer, end)
        done = behind.end() if behind else end
    if done:
        lines = (line.strip() for line in "\n".join([*remaining_texts, answer[done:]]).split("\n"))
        answer = "\n".join(line for line in lines if line and not _LABEL.fullmatch(line))
    if prompt.opening and prompt.opening[2] in answer:
        return _instruction(prompt.opening[1], prompt.opening[2]).sub("", answer).strip()
    return answer


def _found(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield first and last word of each occurrence, also of one that the text's end cuts off."""
    sentence_words = normalise.WORD.findall(sentence.text)
    joined, size = f" {' '.join(sentence_words)} ", len(sentence_words)
    number = done = count = 0
    start = text.find(joined)
    if start < 0:
        return
    while start >= 0:
        number += text.count(" ", done, start)
        yield number, number + size - 1
        count += 1
        done, start = start, text.find(joined, start + len(joined) - 1)
    total, ends = text.count(" ") - 1, text.split()[1 - size :]
    for length in range(len(ends), 0 if count > 1 else MORE - 1, -1):
        if ends[-length:-1] == sentence_words[: length - 1] and sentence_words[
            length - 1
        ].startswith(ends[-1]):
            yield total - length, total - 1
            return
