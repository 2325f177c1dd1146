"""The reasoning that some models write before their answer.

Without heavy imports, because judges strip it from answers that lie in tables.
"""

from typing import Literal

START, END = "<think>", "</think>"
Cut = Literal["first", "last"]
"""At which end of reasoning an answer begins, where there are several."""


def opens_reasoning(text: str) -> bool:
    """Whether ``text`` ends inside reasoning that it begins, as some chat templates have it."""
    return START in text.rpartition(END)[2]


def strip_reasoning(text: str, cut: Cut = "last", *, opened: bool = False) -> str:
    """The answer in ``text``: what stands behind the reasoning, all of it where there is none.

    Reasoning ends with ``</think>``; that it began may stand in the prompt alone, so
    ``<think>`` need not be there. The authors' script takes all behind the ``first`` end, which
    leaves a further round of reasoning in the answer; ours what is behind the ``last``.

    Reasoning that begins and has no end (most likely the limit of tokens came first) is
    reasoning all the same: under ``last`` what begins with ``<think>`` and never closes it is
    no answer, and what stands before it is; where the prompt ``opened`` it, none of the text is.
    Under ``first`` all of it stays, as in the script.
    """
    if cut == "first":
        return text.split(END, 1)[-1]
    _, end, answer = text.rpartition(END)
    if opened and not end:
        return ""
    return answer.partition(START)[0]
