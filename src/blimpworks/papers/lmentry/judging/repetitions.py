"""Remove repetitions of the prompt from an answer.

``judge.Judge`` calls ``read_prompt`` once for a prompt, then ``without_prompt`` for each answer:
"question: which is bigger, 3 or 7? 7 is bigger." becomes "7 is bigger.".
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from blimpworks.papers.lmentry.judging import answers

SHORTEST_ECHO = 12  # characters of the shortest repetition of the prompt
FEWEST_CUT_WORDS = 3  # words of the shortest repetition that the end of the answer cuts off
LONGEST_LABEL = 40  # characters of the longest label ("Question: ") before a repetition
_ENDS = re.compile(r"(?<=[.?!。])[\s\"]+|\n")  # between sentences
_PHRASE = re.compile(r"[^\W_]+ [^\W_]+(?: [^\W_]+)+")  # three words or more
_BEFORE = re.compile(r"(?:(?:^|(?<=\n))[^\W_]+(?: [^\W_]+)?:\s*)?[\"'¿¡\[(-]*$")  # Your question: "
_BEHIND = re.compile(r"[\"'?!:.…\])]*")
_OPENING = re.compile(r"([^\W\d_]+) ([^\W\d_]+ [^\W\d_]+)\b")  # (Write) (a word)
_STATED = re.compile(r"\.(?![\"'])")  # the full stop of a statement
_LABEL = re.compile(r"[^\W_]+ ?:|[\W_]+")  # a line that has only "Answer:", or only marks


class Sentence(NamedTuple):
    """A sentence of a prompt in lower case."""

    hint: str
    """Three or more successive words that each repetition has, for a quick test; empty if none."""
    text: str
    is_question: bool


def read_prompt(
    prompt: str, arguments: answers.Arguments, *, writing: bool
) -> tuple[list[Sentence], re.Match[str] | None]:
    """Return a prompt's sentences; and, with ``writing``, the match of its first three words.

    ``writing``: whether the prompt asks to write a sentence or word. The argument ``sentence``,
    which a prompt is about, is not divided.
    """
    text, quoted = answers.normalise_corrected(prompt), str(arguments.get("sentence", ""))
    if quoted:
        quoted = answers.normalise_corrected(quoted)
        text = text.replace(quoted, answers.PLACEHOLDER)
    return [*_sentences(text, quoted)], _OPENING.match(text) if writing else None


@lru_cache(maxsize=256)
def _instruction(verb: str, asked_for: str) -> re.Pattern[str]:
    # The verb may have another ending, and other words may follow than in the prompt.
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
        quoted_sentence = sentence.replace(answers.PLACEHOLDER, quoted)
        if len(quoted_sentence) >= SHORTEST_ECHO:
            hint = _PHRASE.search(sentence)
            is_question = sentence.rstrip('" ').endswith("?")
            yield Sentence(hint[0] if hint else "", quoted_sentence, is_question)


def without_prompt(answer: str, sentences: list[Sentence], opening: re.Match[str] | None) -> str:
    """Remove repetitions of the prompt from an answer.

    ``read_prompt`` returns ``sentences`` and ``opening``. Labels of repetitions ("Question: ") and
    the instruction ("Write a word that ...") are removed too. A question with a full stop is kept,
    since it is a statement in some languages.
    """
    hinted = [sentence for sentence in sentences if sentence.hint in answer]
    spans = [match.span() for match in answers.WORD.finditer(answer)] if hinted else []
    text = f" {' '.join(answer[start:end] for start, end in spans)} "
    echoes = []
    for sentence in hinted:
        echoes += [(*span, sentence.is_question) for span in _find_repetitions(text, sentence)]
    remaining_texts, read_to = [], 0
    for first, last, is_question in sorted(echoes):
        start, end = spans[first][0], spans[last][1]
        if start < read_to or (is_question and _STATED.match(answer, end)):
            continue
        # The length of labels is limited, since hostile answers have long runs of marks.
        label = _BEFORE.search(answer, max(read_to, start - LONGEST_LABEL), start)
        remaining_texts.append(answer[read_to : label.start() if label else start])
        marks = _BEHIND.match(answer, end)
        read_to = marks.end() if marks else end
    if read_to:
        lines = map(str.strip, "\n".join([*remaining_texts, answer[read_to:]]).split("\n"))
        answer = "\n".join(line for line in lines if line and not _LABEL.fullmatch(line))
    if opening and opening[2] in answer:
        return _instruction(opening[1], opening[2]).sub("", answer).strip()
    return answer


def _find_repetitions(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield the indices of the first and last word of each repetition of a sentence.

    ``text``: the answer's words, with spaces around each. Its end may cut off the last repetition.
    """
    sentence_words = answers.WORD.findall(sentence.text)
    joined, size = f" {' '.join(sentence_words)} ", len(sentence_words)
    first = counted_to = occurrences = 0
    start = text.find(joined)
    if start < 0:
        return
    while start >= 0:
        first += text.count(" ", counted_to, start)
        yield first, first + size - 1
        occurrences += 1
        counted_to, start = start, text.find(joined, start + len(joined) - 1)
    # The answer may end with the first words of the sentence.
    total, last_words = text.count(" ") - 1, text.split()[1 - size :]
    shortest = 1 if occurrences > 1 else FEWEST_CUT_WORDS
    for length in range(len(last_words), shortest - 1, -1):
        *before, last = sentence_words[:length]
        if last_words[-length:-1] == before and last.startswith(last_words[-1]):
            yield total - length, total - 1
            return
