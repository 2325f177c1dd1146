"""Remove the reasoning that some models write before their answer.

Without heavy imports, because judges use it on tables.
"""

from typing import Literal

START, END = "<think>", "</think>"
Cut = Literal["first", "last"]
"""End of reasoning at which an answer begins, among several."""


def opens_reasoning(text: str) -> bool:
    """Whether ``text`` ends inside reasoning that it begins, as some chat templates do."""
    return START in text.rpartition(END)[2]


def strip_reasoning(text: str, cut: Cut = "last", *, opened: bool = False) -> str:
    """Return the answer in ``text``: the part after the reasoning, or all without any.

    Reasoning ends with ``</think>``; it may begin in the prompt, so ``<think>`` can be absent. The
    authors' script takes all after the ``first`` end, which leaves a further round of reasoning in
    the answer; ours takes the part after the ``last``.

    Reasoning may have no end, most likely because of the limit of tokens. Under ``last`` the answer
    is then the part before ``<think>``, or nothing where the prompt ``opened`` the reasoning. Under
    ``first`` all of it stays, as in the script.
    """
    if cut == "first":
        return text.split(END, 1)[-1]
    _, end, answer = text.rpartition(END)
    if opened and not end:
        return ""
    return answer.partition(START)[0]
