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
from blimpworks.papers.lmentry.judging.answers import ANSWER, DISTRACTOR, OTHER, ROLE, Argument
from blimpworks.papers.lmentry.judging.compiling import UNDECIDED, Matchers, compile_task
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, Family, Verdict
from blimpworks.papers.lmentry.tasks import ANY_WORDS, is_yes

_CLAUSE = re.compile(rf"[\n,.:;] ?((?: ?[{ANSWER}{DISTRACTOR}])+)(?=\n|$)")
"""Yes or no as the last clause of a line: "in this case, no"."""
# "Related to", in the release's Basque sentences; prompts have the first.
_RELATIONS = (
    *("zerikusia duten", "lotura duten", "erlazioa duten"),
    *("lotuta dauden", "erlazionatuta dauden"),
)
_NAME_ROLES = [role for role in ROLE.values() if role != ANSWER]
"""Roles for the names of a category, one for each name: ``put_brackets`` puts brackets around texts
of several roles, but not of one role, that begin at one position."""


class YesNoJudge:
    """Judge of a task whose answer is yes or no, in a language, by a variant of the rules."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Raises UserError for a faulty pattern."""
        self._task, self._variant = task, variant
        # For questions about any words, the release accepts a category's name in the prompt only.
        categories = declared.published_categories if task != ANY_WORDS else {}
        self._names_by_category = {name.lower(): names for name, names in categories.items()}
        self._has_cases, self._particles = bool(declared.endings), declared.particles
        yes_words, no_words = declared.yes_words, declared.no_words
        published = variant == "published"
        if published:
            # The release accepts only one word for yes, and one for no.
            yes, no = declared.published_yes_no or (yes_words[0], no_words[0])
            yes_words, no_words = (yes,), (no,)
        # The keys of the next three mappings are gold answers, True for yes.
        self._forms = {True: [*map(str.lower, yes_words)], False: [*map(str.lower, no_words)]}
        self._yes_no_arguments: dict[bool, list[Argument]] = {}
        self._patterns: dict[bool, Matchers] = {}
        for gold, forms in self._forms.items():
            right = [Argument(form, ANSWER) for form in forms]
            wrong = [Argument(form, DISTRACTOR) for form in self._forms[not gold]]
            # The longest is first, so that no form is read as the beginning of another.
            longest_first = sorted([*right, *wrong], key=lambda argument: -len(argument.text))
            self._yes_no_arguments[gold] = longest_first
            expressions = {}
            if published:
                # The release puts yes or no into its sentences without articles or marks.
                expressions["answer"] = compiling.literal(forms[0], answers.ANY_BRACKETS)
                expressions["category"] = "|".join(map(answers.between_brackets, _NAME_ROLES))
            compiled = compile_task(declared, task, variant, expressions, brackets=published)
            self._patterns[gold] = compiled
        # "yes/no" or "yes or no" at the start is no answer.
        conjunctions = [declared.conjunction, *declared.corrected.either]
        conjunction = "|".join(rf"{re.escape(word)}\s" for word in conjunctions)
        either = "|".join(re.escape(forms[0]) for forms in self._forms.values())
        self._both = re.compile(rf"\W*(?:{either})\W*(?:/|{conjunction})\W*(?:{either})\b")
        # Words of the prompt's list, with commas or conjunctions between them.
        self._list = re.compile(rf"{OTHER}(?:(?:[\s,]|{conjunction})*{OTHER})*")
        # Statements without yes or no, for corrected verdicts: first those that mean no (False).
        self._statements: dict[bool, Matchers] = {}
        if not published:
            corrected = declared.corrected
            for means_yes, statements in ((False, corrected.denied), (True, corrected.affirmed)):
                family = Family(tasks=(task,), accept=statements.get(task, ()))
                adapted = declared.model_copy(update={"shared": (), "families": (family,)})
                compiled = compile_task(adapted, task, variant, {}, brackets=False)
                self._statements[means_yes] = compiled

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge:
        category = str(arguments.get("category", "")).lower()
        gold = is_yes(self._task, arguments)
        if self._variant == "corrected":
            listed = [Argument(str(word).lower(), OTHER) for word in arguments.get("words", ())]
            category_argument = Argument(category, ROLE["category"])
            return partial(self._corrected, gold, category_argument, listed)
        # The release looks for each name of a category, also inside longer words.
        names = [*self._names_by_category.get(category, ()), category] if category else []
        if category and self._has_cases:
            names = _basque_names(category, prompt)
        category_names = []
        for name, role in zip(names, _NAME_ROLES, strict=False):
            for argument in answers.read_like_release(name, role):
                category_names.append(argument._replace(inside_words=True))
        return partial(self._published, gold, category_names)

    def _published(self, gold: bool, category_names: Sequence[Argument], text: str) -> Verdict:
        answer = answers.normalise_published(text)
        right, wrong = self._forms[gold][0], self._forms[not gold][0]
        if re.fullmatch(re.escape(wrong) + compiling.END["published"], answer):
            return Verdict.wrong("opposite")
        if not answers.LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=False, rule="empty")
        if re.fullmatch(re.escape(right) + compiling.END["published"], answer):
            return Verdict.right("whole", "{answer}")
        # The release asks whether all words equal the right one, which is true without words.
        if not answers.ASCII_TOKEN.search(answer):
            return Verdict.right("vacuous")
        if all(token == right for token in answers.ASCII_TOKEN.findall(answer)):
            return Verdict.right("repeated")
        has_end = answers.find_word_end(answer, 0, len(right), ()) >= 0
        begins_right = answer.startswith(right) and has_end
        marked = answers.put_brackets(answer, category_names)
        return self._judge_by_patterns(gold, marked, begins_right)

    def _judge_by_patterns(self, gold: bool, marked: str, begins_right: bool) -> Verdict:
        if verdict := self._patterns[gold].full(marked):
            return verdict
        if begins_right:
            return Verdict(correct=True, certain=False, rule="begins", pattern="{answer}")
        return self._patterns[gold].inside(marked) or UNDECIDED

    def _corrected(
        self, gold: bool, category: Argument, listed: Sequence[Argument], answer: str
    ) -> Verdict:
        """Judge by yes or no at the start, by the patterns, or by a statement without yes or no.

        ``category``: its name in the prompt, or an empty text; ``listed``: words of the prompt.
        """
        if not answers.LETTER_OR_DIGIT.search(answer):
            return Verdict.wrong("empty")
        in_prompt = [category] if category.text else []
        arguments = [*in_prompt, *self._yes_no_arguments[gold]]
        masked = answers.mask(answer, arguments, answers.CORRECTED_MARKS).strip()
        has_more = answers.LETTER_OR_DIGIT.search(masked) is not None
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
        roles = "".join(_CLAUSE.findall(masked)).replace(" ", "")  # such as ANSWER + DISTRACTOR
        if roles and (len({*roles}) == 1 or masked.endswith(roles[-1])):
            right = roles[-1] == ANSWER
            pattern = "{answer}" if right else None
            return Verdict(correct=right, certain=False, rule="line", pattern=pattern)
        in_prompt += [word for word in listed if word.text]
        return self._judge_statement(gold, in_prompt, answer)

    def _judge_statement(self, gold: bool, in_prompt: Sequence[Argument], answer: str) -> Verdict:
        """Judge by a statement without yes or no, after lists of the prompt's words are removed."""
        text = answer.replace("\n", " ")
        text = answers.mask(text, in_prompt, answers.CORRECTED_MARKS, self._particles)
        text = " ".join(self._list.sub(" ", text).replace("[ ]", " ").split())
        for means_yes, patterns in self._statements.items():
            if stated := patterns.full(text) or patterns.inside(text):
                right = means_yes == gold
                return stated._replace(correct=right, rule=stated.rule if right else "opposite")
        return UNDECIDED


def _basque_names(category: str, prompt: str) -> list[str]:
    # A form for each of ``_RELATIONS`` if words relate to the category ("art"), or one form if they
    # belong to it ("animals").
    either = category.replace(" eta ", " edo ")  # "and" to "or", as in prompts
    stem = decline(either, "comitative_singular")
    related = [f"{stem} {relation} hitzak" for relation in _RELATIONS]
    return related if related[0] in prompt.lower() else [decline(either, "absolutive_plural")]
