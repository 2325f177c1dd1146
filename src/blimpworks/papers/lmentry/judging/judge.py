"""The judge of a language: a verdict on any answer, by published or corrected rules.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3.
"""

from typing import Protocol

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging.arguments import Arguments
from blimpworks.papers.lmentry.judging.choice import ChoiceJudge
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns
from blimpworks.papers.lmentry.judging.rules import RULES_OF, Ask, Kind
from blimpworks.papers.lmentry.judging.sentence import EdgeJudge, SentenceJudge
from blimpworks.papers.lmentry.judging.spelling import SpellingJudge
from blimpworks.papers.lmentry.judging.yes_no import YesNoJudge
from blimpworks.papers.lmentry.tasks import task_of


class TaskJudge(Protocol):
    """Judges one task."""

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """What gives verdicts on answers to a prompt with some arguments."""
        ...


_KINDS: dict[Kind, type] = {
    "choice": ChoiceJudge,
    "yes_no": YesNoJudge,
    "sentence": SentenceJudge,
    "edge": EdgeJudge,
    "spelling": SpellingJudge,
}


class Judge:
    """Judges answers in one language by one variant of the rules."""

    def __init__(
        self, declared: AnswerPatterns, variant: str, *, prompts: str = "published"
    ) -> None:
        """``prompts``: the variant of the prompts that are answered.

        Patterns of a task are compiled when it is first met.
        """
        self._declared, self._variant = declared, variant
        self._asks = declared.asks if variant == "corrected" and prompts == "published" else {}
        self._judges: dict[str, TaskJudge] = {}

    def of_task(self, task: str) -> TaskJudge:
        """The judge of a task. Raises UserError for an unknown task or a pattern's fault."""
        if task not in self._judges:
            if task not in RULES_OF:
                raise UserError(
                    f"task {task!r} has no rules; expected one of {', '.join(RULES_OF)}."
                )
            kind = _KINDS[RULES_OF[task].kind]
            declared = self._declared.scoring(task, self._variant)
            self._judges[task] = kind(declared, task, self._variant)
        return self._judges[task]

    def ask(self, phenomenon: str, template: int, arguments: Arguments, prompt: str) -> Ask:
        """What gives verdicts on answers to a prompt of a task, or of a subset of one.

        Raises UserError where a pattern of the task has a fault.
        """
        core = task_of(phenomenon)
        task = self._asks.get(f"{core}.{template}", core)
        return self.of_task(task).ask(arguments, prompt)

    def check(self) -> None:
        """Compile the patterns of all tasks. Raises UserError for the first fault."""
        for task in RULES_OF:
            self.of_task(task)
