"""Judge answers to prompts that ask for a sentence with a word, or for a word with a letter.

``judge.Judge`` makes a judge for each task: ``SentenceJudge``, ``EdgeJudge`` (sentences that start
or end with a word) or ``SpellingJudge``. The judge's method ``for_prompt`` takes a prompt's
arguments ({"word": "cat"} or {"letter": "t"}) and returns the function that judges answers: by the
authors' rules, mistakes included (``_published``), or as the task asks (``_corrected``).

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 9 to 12 and 26 to 29.
"""

import re
import string
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import re2

from blimpworks.papers.lmentry.items.languages import in_letters, is_jamo
from blimpworks.papers.lmentry.judging import answers, compiling
from blimpworks.papers.lmentry.judging.answers import LETTER_OR_DIGIT
from blimpworks.papers.lmentry.judging.compiling import Expressions
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, Verdict, task_patterns
from blimpworks.papers.lmentry.tasks import LETTERS

WORD_ROLE = answers.ROLE["word"]
MASKED_SPACE = rf"[^a-z0-9{WORD_ROLE}]"
"""Expression like ``answers.SPACE``, for answers with roles' characters in place of arguments."""
LONGER_WORD = rf"[\pL\pN](?:{answers.ANY_BRACKETS}[\pL\pN])+"
"""Expression of a word of two or more letters, with any brackets inside."""
_LABEL = re.compile(r"[^\W_]{1,2}:")  # "A:"
# A line such as "Here it is:", or words on the sentence's line such as 'A sentence with "cat":'.
_LEAD = re.compile(r"[^\n]*:\n|[^\n:\"]*\"[^\n:]*:")


def without_lead(answer: str) -> str:
    """Remove an introduction, such as "Here is a sentence:", if two or more words follow."""
    lead = _LEAD.match(answer)
    sentence = answer[lead.end() :] if lead else ""
    return sentence if len(answers.WORD.findall(sentence)) > 1 else answer


class SentenceJudge:
    """Judge of a task to write a sentence with a word, or without the word."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        self._containing, self._variant = task == "sentence_containing", variant
        self._particles = declared.particles
        # The release also accepts the words of the article alone ("the sentence"). It looks for
        # them with a capital, and so never finds them in lower-case answers of scripts with case.
        article = declared.article.get("sentence", "{}")
        has_case = article.upper() != article
        without_sentence = compiling.add_article(article, compiling.NEVER)
        self._article = re2.compile(compiling.NEVER if has_case else without_sentence)

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge:
        word = str(arguments["word"]).lower()
        if self._variant == "published":
            return partial(self._published, word)
        return partial(self._corrected, answers.normalise_corrected(word))

    def _published(self, word: str, text: str) -> Verdict:
        """Accept a line with the word and more text, or two or more ASCII words without it."""
        # Brackets only group in the release.
        plain, answer = re.sub(r"[()]", "", word), answers.normalise_published(text)
        argument = answers.Argument(plain, WORD_ROLE)
        if self._containing:
            longer_lines = [line for line in answer.split("\n") if len(line) > len(plain)]
            has_word = any(any(answers.find_spans(line, argument)) for line in longer_lines)
            made = has_word or self._article.search(answer) is not None
            return Verdict(made, True, "made" if made else "absent")
        if any(answers.find_spans(answer, argument)):
            return Verdict.wrong("present")
        n_words = len(answers.ASCII_WORD.findall(answer))
        if n_words < 2:
            return Verdict(False, n_words == 0, "short" if n_words else "empty")
        # It is not certain that an answer lacks the word if a longer word contains it.
        return Verdict(True, word not in answer, "made")

    def _corrected(self, word: str, answer: str) -> Verdict:
        """Accept two or more words with ``word``, or without ``word``, as the task asks."""
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict.wrong("empty")
        if self._containing:
            lines = without_lead(answer).split("\n")
            lines = [line for line in lines if answers.has_word(line, word, self._particles)]
            if not lines:
                return Verdict.wrong("absent")
            enough = any(len(answers.WORD.findall(line)) > 1 for line in lines)
            return Verdict(enough, True, "made" if enough else "short")
        # An introduction may name the word that the sentence must not have.
        has_word = answers.has_word(answer, word, self._particles)
        sentence = without_lead(answer) if has_word else answer
        if answers.has_word(sentence, word, self._particles):
            return Verdict.wrong("present")
        enough = len(answers.WORD.findall(sentence)) > 1
        return Verdict(enough, enough and word not in answer, "made" if enough else "short")


class EdgeJudge:
    """Judge of a task to write a sentence that starts or ends with a word."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Their role ``{text}`` is the sentence that a model has written."""
        self._at_start, self._variant = task == "starts_with_word", variant
        self._anywhere, self._particles = declared.published_anywhere, declared.particles
        published = variant == "published"
        # A right sentence has the prompt's word and another word: of two or more letters, or one of
        # the language's words of one letter.
        published_words = declared.published_single if published else {}
        one_letter_words = published_words.get(task, declared.single)
        other_words = [f"[{one_letter_words}]"] if one_letter_words else []
        if published:
            # Brackets mark the word. They may also be beside any character of an answer.
            argument, gap = answers.between_brackets(WORD_ROLE), answers.SPACE
            after_each = answers.ANY_BRACKETS
        else:
            # The role's character replaces the word.
            argument, gap, after_each = WORD_ROLE, MASKED_SPACE, ""
            other_words.append(WORD_ROLE)
        other_word = f"{answers.ANY_BRACKETS}(?:{'|'.join([*other_words, LONGER_WORD])})"
        marks = f"[{answers.PUBLISHED_MARKS}{answers.BRACKETS}]*"
        word = compiling.add_article(
            declared.article.get("word", "{}"),
            f"{marks}{argument}{marks}",
            Expressions({}, after_each),
        )
        # For the word "cat": "cat food is good" at the start, or "i feed the cat." at the end.
        if self._at_start:
            sentence = f"{answers.ANY_BRACKETS}{gap}*{word}{gap}+{other_word}[^\n]*"
        else:
            sentence = f"[^\n]*{other_word}{answers.ANY_BRACKETS}{gap}+{word}{gap}*"
        self._sentence = re2.compile(sentence)
        roles = {"any": compiling.ANY_CHARACTER[variant] + after_each, "word": word}
        texts = [sentence]
        if published:
            # In the patterns of all tasks ("the answer is {answer}") the sentence is the answer.
            with_answer = Expressions({**roles, "answer": sentence}, after_each)
            texts += (compiling.expression_of(pattern, with_answer) for pattern in declared.shared)
        expressions = Expressions({**roles, "text": f"(?:{'|'.join(texts)})"}, after_each)
        accepted = task_patterns(declared.model_copy(update={"shared": ()}), task, variant).accept
        patterns = [compiling.compile_pattern(framed.pattern, expressions) for framed in accepted]
        # A sentence that ends with the word includes its full stop (``gap``).
        after_answer = r"\.?" if self._at_start else ""
        self._patterns = compiling.make_matcher(patterns, full=True, end=after_answer)
        # Inside an answer, a sentence that ends with the word must also end the answer.
        end = "" if self._at_start or self._anywhere else "$"
        inside = (pattern._replace(expression=pattern.expression + end) for pattern in patterns)
        self._inside = compiling.make_matcher(inside, full=False)

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge:
        word = str(arguments["word"]).lower()
        if self._variant == "published":
            return partial(self._published, [*answers.read_like_release(word, WORD_ROLE)])
        return partial(self._corrected, answers.normalise_corrected(word))

    def _published(self, to_find: Sequence[answers.Argument], text: str) -> Verdict:
        answer = answers.normalise_published(text)
        if not any(any(answers.find_spans(answer, argument)) for argument in to_find):
            return Verdict.wrong("absent")
        marked = answers.put_brackets(answer, to_find, anywhere=self._anywhere)
        if self._sentence.fullmatch(marked):
            return Verdict.right("made")
        if not answers.ASCII_TOKEN.search(answer):
            return Verdict.right("vacuous")
        return self._patterns(marked) or self._inside(marked) or compiling.UNDECIDED

    def _corrected(self, word: str, answer: str) -> Verdict:
        """Accept a line, or the text after its colon, that starts or ends with the word."""
        if not answers.has_word(answer, word, self._particles):
            return Verdict.wrong("absent")
        argument, lines = answers.Argument(word, WORD_ROLE), answer.split("\n")
        # A label, such as "A:", is not a word of a sentence.
        candidates = [line for line in lines if not _LABEL.match(line)]
        candidates += [line.partition(":")[2] for line in lines if ":" in line]
        for candidate in candidates:
            masked = answers.replace_word(candidate, argument, "", self._particles)
            divide = masked.partition if self._at_start else masked.rpartition
            before, role, after = divide(WORD_ROLE)
            after = self._without_particle(after)
            # One side of the word has the other words of the sentence, the other side has none.
            inner, outer = (after, before) if self._at_start else (before, after)
            if role and LETTER_OR_DIGIT.search(inner) and not LETTER_OR_DIGIT.search(outer):
                return Verdict(True, candidate == answer, "made")
        verdict = self._patterns(answers.replace_word(answer, argument, ""))
        return verdict or Verdict(False, len(lines) == 1, "none")

    def _without_particle(self, text: str) -> str:
        # Remove the word's particle from the text behind the word: "s end" becomes " end".
        remainders = [text.removeprefix(x) for x in self._particles if text.startswith(x)]
        return next((x for x in remainders if not x[:1].isalnum()), text)


ANY = r"[\pL\pN_]"  # expression of a character of words
_BOUNDARY = r"[^\pL\pN_]"  # expression of any other character
_ANSWER_ROLES = ("{word}", "{answer}")
ENDS = {"starts_with_letter": 0, "ends_with_letter": -1}  # index of the letter in the word, by task
_MARK = f"[{answers.PUBLISHED_MARKS}]"
_REMOVE_INNER_MARKS = str.maketrans(dict.fromkeys("-'’·"))
_ROLE_WITH_SUFFIX = re.compile(r"\{(\w+)\}(?=\(*[^\W_])")  # "{word}s" or "{word}(s)?"


def right_word(task: str, letter: str, one_letter_words: str, *, twice: bool) -> str:
    """Return the expression of words that the release accepts in a task on a letter.

    ``one_letter_words``: letters that are words; ``twice``: the word must have the letter twice.
    Comments give examples of an accepted and a rejected word for the letter t.
    """
    character = re2.escape(letter)
    is_word = letter in one_letter_words
    if task == "starts_with_letter":
        return f"{character}(?:-?{ANY}+){'?' if is_word else ''}"  # "to", not "t"
    if task == "ends_with_letter":
        return f"{ANY}{'*' if is_word else '+'}{character}"  # "at", not "t"
    if task == "word_not_containing":
        other_letters = string.ascii_lowercase.replace(letter, "")
        other_words = "".join(f"|{word}" for word in one_letter_words if word != letter)
        return f"(?:[{other_letters}]{{2,}}{other_words})"  # "me", not "it"
    if not letter.isalnum():
        # The release requires word boundaries on both sides; an apostrophe has them inside words.
        return f"{ANY}+{character}{ANY}+"  # "it's", not "cats'"
    longer = f"(?:{ANY}+{character}{ANY}*|{ANY}*{character}{ANY}+|{character}-{ANY}+)"
    if twice:
        return f"{ANY}*{character}{ANY}*{longer}"  # "tat", not "at"
    return f"{ANY}*{character}{ANY}*" if is_word else longer  # "at", not "t"


def _decompose(pattern: str) -> str:
    # Decompose Hangul syllables into letters; brackets keep the letters before ``?`` together.
    return in_letters(re.sub(r"([가-힣])\?", r"(\1)?", pattern))


def _add_boundaries(pattern: compiling.Pattern, role: str = r"\{\w+\}") -> compiling.Pattern:
    """Require a word boundary where a pattern starts or ends with a role (by default any role)."""
    start = rf"(?:^|{_BOUNDARY})" if re.match(role, pattern.source) else ""
    has_end = re.search(f"{role}$", pattern.source) and not pattern.source.endswith("{any}")
    end = rf"(?:$|{_BOUNDARY})" if has_end else ""
    return pattern._replace(expression=start + pattern.expression + end)


def _with_article(article: str, text: str, marks_after: str = f"{_MARK}*") -> str:
    return compiling.add_article(article, f"{_MARK}*{text}{marks_after}")


class LetterPatterns(NamedTuple):
    """The compiled patterns of answers about one letter."""

    word_without_marks: Any
    """Compiled expression of a right word."""
    word: Any
    """Compiled expression of a right word as a full answer, perhaps with marks and an article."""
    sentences: compiling.Matcher  # of full answers
    inside: compiling.Matcher  # of sentences inside answers

    def verdict(self, answer: str) -> Verdict:
        """Return the verdict of the first pattern that matches."""
        if self.word.fullmatch(answer):
            return Verdict.right("whole", "{word}")
        return self.sentences(answer) or self.inside(answer) or compiling.UNDECIDED


class SpellingJudge:
    """Judge of a task to write a word with a letter, or without the letter."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Create the judge. The patterns of a letter are compiled at its first answer."""
        self._declared, self._task, self._variant = declared, task, variant
        self._patterns_of = lru_cache(maxsize=None)(self._compile)
        self._without_letter = task == "word_not_containing"
        self._copulas = re.compile(rf"(?:{answers.any_of(declared.copulas)})(?![^\W_])")
        self._without_accents = answers.accent_table(declared.accents)

    def _compile(self, letter: str) -> LetterPatterns:
        """Compile the patterns of one letter. Raises UserError for a faulty pattern."""
        declared, task, corrected = self._declared, self._task, self._variant == "corrected"
        spell = _decompose if corrected and is_jamo(letter) else str
        if corrected and self._without_letter:
            right = rf"[^\PL{letter}]{{2,}}"  # two or more letters other than this one
        else:
            published_words = {} if corrected else declared.published_single
            one_letter_words = published_words.get(task, declared.single)
            twice = declared.published_twice and not corrected
            right = right_word(task, letter, one_letter_words, twice=twice)
        articles = {name: spell(declared.article.get(name, "{}")) for name in ("word", "letter")}
        roles = self._roles(letter, right, articles)
        marks = declared.published_marks.get(task)
        if self._without_letter:
            declared = declared.model_copy(update={"shared": ()})
        sentences, inside = [], []
        for accepted in task_patterns(declared, task, self._variant).accept:
            text = accepted.pattern
            if corrected:
                text = spell(self._copulas.sub("", text))
            if "word_" in roles:
                text = _ROLE_WITH_SUFFIX.sub(r"{\1_}", text)
            expression = compiling.expression_of(text, Expressions(roles))
            pattern = compiling.Pattern(accepted.pattern, expression)
            sentences.append(pattern)
            if corrected:
                inside.append(self._bound_at_clause(pattern))
            elif marks is None:
                inside.append(_add_boundaries(pattern))
            else:
                # The release requires boundaries at the letter only, and only without marks.
                inside.append(pattern if marks else _add_boundaries(pattern, r"\{letter\}"))
        return LetterPatterns(
            re2.compile(right),
            re2.compile(rf"{_with_article(articles['word'], right)}\.?"),
            compiling.make_matcher(sentences, full=True),
            compiling.make_matcher(inside, full=False),
        )

    def _roles(self, letter: str, right: str, articles: Mapping[str, str]) -> dict[str, str]:
        """Return the expression of each role of patterns; ``right`` is that of a right word."""
        corrected = self._variant == "corrected"
        character = re2.escape(letter) if letter.isalnum() or corrected else compiling.NEVER
        word = _with_article(articles["word"], right)
        roles = {"word": word, "answer": word, "any": compiling.ANY_CHARACTER[self._variant]}
        roles["letter"] = _with_article(articles["letter"], character)
        if corrected:
            return roles
        marks = self._declared.published_marks.get(self._task)
        if marks is None:
            # The release requires a mark between a word or letter and a suffix, as in "{word}s".
            with_mark = _with_article(articles["word"], right, f"{_MARK}+")
            roles |= {"word_": with_mark, "answer_": with_mark}
            roles["letter_"] = _with_article(articles["letter"], character, f"{_MARK}+")
            return roles
        # In this task the release allows each of a few marks once on either side, or no mark.
        around = "".join(f"{re2.escape(mark)}?" for mark in marks)
        roles |= dict.fromkeys(("word", "answer"), f"(?:{around}{right}{around})")
        if marks:
            roles["letter"] = f"(?:{around}{re2.escape(letter)}{around})"
        return roles

    def _bound_at_clause(self, pattern: compiling.Pattern) -> compiling.Pattern:
        """Require an edge of a clause beside an answer: none is beside "that" in "words that fit".

        A clause is between punctuation marks; it may also end before a reason (" because").
        """
        start = end = ""
        if pattern.source.startswith(_ANSWER_ROLES):
            start = r"(?:^|\n|[^\pL\pN_\s]) *"
        if pattern.source.endswith(_ANSWER_ROLES):
            reasons = "".join(rf"|\s{re2.escape(x)}\b" for x in self._declared.corrected.reasons)
            end = rf"(?:$| *[^\pL\pN_ ]{reasons})"
        if start or end:
            return pattern._replace(expression=f"{start}(?:{pattern.expression}){end}")
        return _add_boundaries(pattern)

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge:
        letter = str(arguments["letter"]).lower()
        if self._variant == "published":
            return partial(self._published, letter, answers.normalise_published(prompt))
        return partial(self._corrected, letter, answers.normalise_corrected(prompt))

    def _published(self, letter: str, prompt: str, text: str) -> Verdict:
        answer = answers.normalise_published(text)
        if self._without_letter:
            if _echoes(answer, prompt, letter):
                return Verdict.wrong("echo")
            if not re2.search(r"[^\pL\pN_]", answer) and letter in answer:
                return Verdict.wrong("present")
        elif self._task in ENDS:
            end = ENDS[self._task]
            if all(word[end] != letter for word in answers.ASCII_WORD.findall(answer)):
                return Verdict.wrong("absent")
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=False, rule="empty")
        patterns = self._patterns_of(letter)
        if not self._without_letter and not patterns.word.fullmatch(answer):
            if not answers.ASCII_TOKEN.search(answer):
                return Verdict.right("vacuous")
            tokens = answers.ASCII_TOKEN.findall(answer)
            if all(patterns.word_without_marks.fullmatch(token) for token in tokens):
                return Verdict.right("repeated")
        return patterns.verdict(answer)

    def _corrected(self, letter: str, prompt: str, answer: str) -> Verdict:
        """Judge one word by its letters, and several words by patterns."""
        answer = self._copulas.sub("", answer)
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict.wrong("empty")
        if _echoes(answer, prompt, letter):
            return Verdict.wrong("echo")
        answer_words = answers.WORD.findall(answer)
        distinct = set(answer_words)
        if len(distinct) == 1:
            right = self._is_right(answer_words[0], letter)
            return Verdict.right("whole", "{word}") if right else Verdict.wrong("absent")
        # Any sentence has words without the letter, so only babble is certainly wrong in that task.
        if self._without_letter:
            is_wrong = any(map(_is_babble, distinct))
        else:
            is_wrong = not any(self._is_right(word, letter) for word in distinct)
        if is_wrong:
            return Verdict.wrong("absent")
        # If the first line, or the text after the last colon, is one word, judge this word.
        for line in (answer.split("\n", maxsplit=1)[0], answer.rpartition(":")[2]):
            line_words = answers.WORD.findall(line)
            if len(line_words) == 1 and line != answer:
                right = self._is_right(line_words[0], letter)
                return Verdict(correct=right, certain=False, rule="line")
        spelled = in_letters(answer) if is_jamo(letter) else answer
        return self._patterns_of(letter).verdict(spelled)

    def _is_right(self, word: str, letter: str) -> bool:
        spelled = in_letters(word) if is_jamo(letter) else word.translate(self._without_accents)
        fits = LETTERS[self._task](spelled, letter)
        long = len(spelled) > 1 or word in self._declared.single
        has_letters_only = spelled.translate(_REMOVE_INNER_MARKS).isalpha()
        return fits and long and has_letters_only and not _is_babble(word)


def _is_babble(word: str) -> bool:
    # Letters that are repeated four times on average, as in "mmmm" or "hahahaha", are not a word.
    return len(word) >= 4 * len({*word})


def _echoes(answer: str, prompt: str, letter: str) -> bool:
    # Return whether the answer is the prompt, perhaps with another letter in quotation marks.
    before, quoted, after = prompt.partition(f'"{letter}"')
    if not quoted:
        return answer == prompt
    shape = re.escape(before) + r'"\w"' + re.escape(after)
    return re.fullmatch(shape, answer) is not None
