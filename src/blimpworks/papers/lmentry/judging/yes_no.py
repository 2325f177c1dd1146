"""Judge answers to "Are all (or any) of these words animals?", which say yes or no.

``YesNoJudge.for_prompt`` takes a prompt's arguments, such as

    {"category": "animals", "words": ["cat", "house", ...], "num_distractors": 1, ...}

and returns the function that judges its answers. ``judge.Judge`` is the caller.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and Tables 15 and 16.
"""

import re
from collections.abc import Sequence
from functools import partial

from blimpworks.papers.lmentry.items.languages import decline
from blimpworks.papers.lmentry.judging import answers, compiling
from blimpworks.papers.lmentry.judging.answers import LETTER_OR_DIGIT, ROLE, Argument, Arguments
from blimpworks.papers.lmentry.judging.compiling import UNDECIDED, Matchers, compile_task
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, Family, Verdict
from blimpworks.papers.lmentry.tasks import ANY_WORDS, is_yes

ANSWER, DISTRACTOR, OTHER = ROLE["answer"], ROLE["distractor"], ROLE["other"]
_CLAUSE = re.compile(rf"[\n,.:;] ?((?: ?[{ANSWER}{DISTRACTOR}])+)(?=\n|$)")
"""Yes or no as the last clause of a line: "in this case, no"."""
_RELATIONS = (
    *("zerikusia duten", "lotura duten", "erlazioa duten"),
    *("lotuta dauden", "erlazionatuta dauden"),
)  # "related to", in the release's Basque sentences
_CATEGORY_ROLES = [role for name, role in ROLE.items() if name != "answer"]
"""Roles for the names of a category: one for each name, since two names may begin at one position.
"""


class YesNoJudge:
    """Judge of a task whose answer is yes or no, in a language, by a variant of the rules."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Raises UserError for a faulty pattern."""
        self._task, self._variant = task, variant
        categories = declared.published_categories if task != ANY_WORDS else {}
        self._names_by_category = {name.lower(): names for name, names in categories.items()}
        self._has_cases, self._particles = bool(declared.endings), declared.particles
        yes, no, published = declared.yes_words, declared.no_words, variant == "published"
        if published:
            yes_no = declared.published_yes_no or (yes[0], no[0])
            yes, no = yes_no[:1], yes_no[1:]
        # The keys of the next two mappings are gold answers, True for yes. ``_forms`` has the words
        # for that answer; ``_yes_no_arguments`` those for both answers, with roles.
        self._forms = {True: tuple(map(str.lower, yes)), False: tuple(map(str.lower, no))}
        self._yes_no_arguments: dict[bool, list[Argument]] = {}
        for gold, forms in self._forms.items():
            yes_and_no = [Argument(form, ANSWER) for form in forms]
            yes_and_no += [Argument(form, DISTRACTOR) for form in self._forms[not gold]]
            # The longest is first, so that no form is read as the beginning of another.
            self._yes_no_arguments[gold] = sorted(yes_and_no, key=lambda a: -len(a.text))
        # "yes/no" or "yes or no" at the start is no answer.
        joins = [declared.conjunction, *declared.corrected.either]
        joined = "|".join(rf"{re.escape(word)}\s" for word in joins)
        either = "|".join(re.escape(forms[0].lower()) for forms in (yes, no))
        self._both = re.compile(rf"\W*(?:{either})\W*(?:/|{joined})\W*(?:{either})\b")
        # Compile sentences with yes or no.
        self._patterns = {}
        for gold, forms in self._forms.items():
            expressions = {}
            if published:
                # The release puts yes or no into its sentences without articles or marks.
                expressions["answer"] = compiling.literal(forms[0], answers.ANY_BRACKETS)
                expressions["category"] = "|".join(map(answers.between_brackets, _CATEGORY_ROLES))
            compiled = compile_task(declared, task, variant, expressions, brackets=published)
            self._patterns[gold] = compiled
        self._list = re.compile(rf"{OTHER}(?:(?:[\s,]|{joined})*{OTHER})*")
        # Compile statements without yes or no, for corrected verdicts: first those that mean no.
        self._statements: dict[bool, Matchers] = {}
        statements = {False: declared.corrected.denied, True: declared.corrected.affirmed}
        for affirmed, patterns_by_task in statements.items() if not published else ():
            family = Family(tasks=(task,), accept=patterns_by_task.get(task, ()))
            adapted = declared.model_copy(update={"shared": (), "families": (family,)})
            self._statements[affirmed] = compile_task(adapted, task, variant, {}, brackets=False)

    def for_prompt(self, arguments: Arguments, prompt: str) -> compiling.AnswerJudge:
        category = str(arguments.get("category", "")).lower()
        gold = is_yes(self._task, arguments)
        if self._variant == "corrected":
            listed = (Argument(str(word).lower(), OTHER) for word in arguments.get("words", ()))
            return partial(self._corrected, gold, [Argument(category, ROLE["category"]), *listed])
        # The release looks for each name of a category, also inside longer words.
        names = [*self._names_by_category.get(category, ()), category]
        if category and self._has_cases:
            # If words relate to a Basque category ("art"), the first form is as in the prompt. If
            # words belong to the category ("animals"), there is one form.
            either = category.replace(" eta ", " edo ")
            stem = decline(either, "comitative_singular")
            names = [f"{stem} {relation} hitzak" for relation in _RELATIONS]
            if names[0] not in prompt.lower():
                names = [decline(either, "absolutive_plural")]
        category_names = []
        for name, role in zip(names, _CATEGORY_ROLES, strict=False):
            for argument in answers.read_like_release(name, role) if name else ():
                category_names.append(argument._replace(inside_words=True))
        return partial(self._published, gold, category_names)

    def _published(self, gold: bool, category_names: Sequence[Argument], text: str) -> Verdict:
        answer = answers.normalise_published(text)
        right, wrong = self._forms[gold][0], self._forms[not gold][0]
        if re.fullmatch(re.escape(wrong) + compiling.END["published"], answer):
            return Verdict.wrong("opposite")
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=False, rule="empty")
        if re.fullmatch(re.escape(right) + compiling.END["published"], answer):
            return Verdict.right("whole", "{answer}")
        # The release asks whether all words equal the right one, which is true without words.
        if not answers.ASCII_TOKEN.search(answer):
            return Verdict.right("vacuous")
        if all(token == right for token in answers.ASCII_TOKEN.findall(answer)):
            return Verdict.right("repeated")
        begins = answer.startswith(right) and answers.has_word(answer[: len(right) + 1], right)
        return self._judge_by_patterns(gold, answers.put_brackets(answer, category_names), begins)

    def _judge_by_patterns(self, gold: bool, marked: str, begins_right: bool) -> Verdict:
        if verdict := self._patterns[gold].full(marked):
            return verdict
        if begins_right:
            return Verdict(correct=True, certain=False, rule="begins", pattern="{answer}")
        return self._patterns[gold].inside(marked) or UNDECIDED

    def _corrected(self, gold: bool, to_find: Sequence[Argument], answer: str) -> Verdict:
        """Judge by yes or no at the start, by the patterns, or by a statement without either."""
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict.wrong("empty")
        # ``to_find`` has the category, then the words of the prompt's list. First replace the
        # category, yes and no by the characters of their roles.
        category = to_find[:1] if to_find[0].text else []
        arguments = [*category, *self._yes_no_arguments[gold]]
        masked = answers.mask(answer, arguments, answers.CORRECTED_MARKS).strip()
        has_more = LETTER_OR_DIGIT.search(masked) is not None
        if masked.startswith(DISTRACTOR):
            return Verdict(correct=False, certain=not has_more, rule="opposite")
        if masked.startswith(ANSWER) and not has_more and DISTRACTOR not in masked:
            return Verdict.right("whole", "{answer}")
        if self._both.match(answer):
            return Verdict(correct=False, certain=False, rule="both")
        begins_right = masked.startswith(ANSWER)
        verdict = self._judge_by_patterns(gold, masked.replace("\n", " "), begins_right)
        if verdict != UNDECIDED:
            return verdict
        # Take the last yes or no that ends a line, if all of these agree or it ends the answer.
        clauses = "".join(_CLAUSE.findall(masked)).replace(" ", "")
        if clauses and (len({*clauses}) == 1 or masked.endswith(clauses[-1])):
            right = clauses[-1] == ANSWER
            pattern = "{answer}" if right else None
            return Verdict(correct=right, certain=False, rule="line", pattern=pattern)
        # Look for a statement without yes or no. First remove repeated words of the prompt's list.
        listed = (argument for argument in to_find if argument.text)
        text = answer.replace("\n", " ")
        text = answers.mask(text, listed, answers.CORRECTED_MARKS, self._particles)
        text = " ".join(self._list.sub(" ", text).replace("[ ]", " ").split())
        for affirmed, patterns in self._statements.items():
            if stated := patterns.full(text) or patterns.inside(text):
                rule = stated.rule if affirmed == gold else "opposite"
                return stated._replace(correct=affirmed == gold, rule=rule)
        return UNDECIDED
