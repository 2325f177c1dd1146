"""Remove the reasoning that some models write before their answer; without heavy imports."""

from typing import Literal

START, END = "<think>", "</think>"
Cut = Literal["first", "last"]
"""Position of the ``</think>`` after which the answer begins, if there are several."""


def opens_reasoning(text: str) -> bool:
    """Return whether ``text`` ends inside a reasoning, which some chat templates begin."""
    return START in text.rpartition(END)[2]


def strip_reasoning(text: str, cut: Cut = "last", *, opened: bool = False) -> str:
    """Return the answer in ``text``, without reasoning.

    Reasoning ends with ``</think>``. It may begin in the prompt (``opened``), so that the text
    lacks ``<think>``. The cut ``first`` returns all text after the first end, even a second
    reasoning, as scripts of benchmarks' authors do. The cut ``last`` returns all text after the
    last end. If there is no end, most likely by the limit of tokens, ``first`` returns the complete
    text. ``last`` returns the text before ``<think>``, or nothing if ``opened``.
    """
    if cut == "first":
        return text.split(END, 1)[-1]
    _, end, answer = text.rpartition(END)
    if opened and not end:
        return ""
    return answer.partition(START)[0]
