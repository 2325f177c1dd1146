"""Remove the reasoning that some models write before their answer; without heavy imports."""

from typing import Literal

START, END = "<think>", "</think>"
Cut = Literal["first", "last"]
"""Which of several ``</think>`` precedes the answer."""


def opens_reasoning(text: str) -> bool:
    """Tell whether ``text`` ends inside a reasoning, which some chat templates begin."""
    return START in text.rpartition(END)[2]


def strip_reasoning(text: str, cut: Cut = "last", *, opened: bool = False) -> str:
    """Return the answer in ``text``, without reasoning.

    Reasoning ends with ``</think>``. It may begin in the prompt (``opened``), so that the text
    lacks ``<think>``. ``first`` takes all after the first end, as the authors' script does, with a
    second reasoning if there is one. ``last`` takes all after the last end.

    Without an end, most likely by the limit of tokens, ``first`` takes all. ``last`` takes the part
    before ``<think>``, or nothing if ``opened``.
    """
    if cut == "first":
        return text.split(END, 1)[-1]
    _, end, answer = text.rpartition(END)
    if opened and not end:
        return ""
    return answer.partition(START)[0]
