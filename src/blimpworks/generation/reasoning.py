"""Remove the reasoning that some models write before their answer; without heavy imports."""

from typing import Literal

START, END = "<think>", "</think>"
Cut = Literal["first", "last"]
"""Which ``</think>`` the answer starts after, when there are several."""


def opens_reasoning(text: str) -> bool:
    """Tell whether ``text`` ends inside reasoning that it begins, as some chat templates do."""
    return START in text.rpartition(END)[2]


def strip_reasoning(text: str, cut: Cut = "last", *, opened: bool = False) -> str:
    """Return the answer in ``text``: the part after the reasoning, or all without any.

    Reasoning ends with ``</think>``; it may begin in the prompt, so ``<think>`` can be absent. The
    authors' script takes all after the ``first`` end, which leaves a further round of reasoning in
    the answer; ours takes the part after the ``last``.

    ``opened``: whether the prompt began the reasoning. Without an end, most likely because of the
    limit of tokens, ``last`` takes the part before ``<think>``, or nothing if ``opened``. Then
    ``first`` takes all, as the script does.
    """
    if cut == "first":
        return text.split(END, 1)[-1]
    _, end, answer = text.rpartition(END)
    if opened and not end:
        return ""
    return answer.partition(START)[0]
