"""What Multi-LMentry calls its languages, tasks and models: keys, printed names, order.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 to 4, 8 and 34 to 51. Without
heavy imports, because the Snakefile reads the tables' languages.
"""

from typing import NamedTuple

from blimpworks.papers.lmentry.tasks import TASKS

BENCHMARK = "lmentry"


class Language(NamedTuple):
    """A language: its code in the tables, its name, and the tables of its tasks."""

    code: str
    name: str
    tables: tuple[str, str]


LANGUAGES = {
    "eng": Language("EN", "English", ("table50", "table51")),
    "spa": Language("ES", "Spanish", ("table36", "table37")),
    "deu": Language("DE", "German", ("table44", "table45")),
    "ita": Language("IT", "Italian", ("table34", "table35")),
    "kor": Language("KO", "Korean", ("table46", "table47")),
    "por": Language("PT_BR", "Portuguese (Brazilian)", ("table48", "table49")),
    "cat": Language("CA", "Catalan", ("table40", "table41")),
    "glg": Language("GL", "Galician", ("table38", "table39")),
    "eus": Language("EU", "Basque", ("table42", "table43")),
}
"""By code, in the order of Table 4."""
TASK_TABLES = {table: lang for lang, language in LANGUAGES.items() for table in language.tables}
"""The language of each of Tables 34 to 51."""
TEMPLATE_TABLES = {f"table{number}": task for number, task in enumerate(TASKS, start=9)}
"""The task of each of Tables 9 to 33."""
PRINTED_TASKS = {
    "sentence_containing": "Sentence containing word",
    "sentence_not_containing": "Sentence not containing word",
    "word_containing": "Word containing letter",
    "word_not_containing": "Word not containing letter",
    "word_after": "Word after in sentence",
    "word_before": "Word before in sentence",
    "starts_with_word": "Sentence starting with word",
    "ends_with_word": "Sentence ending with word",
    "starts_with_letter": "Word starting with letter",
    "ends_with_letter": "Word ending with letter",
    "first_word": "First word of the sentence",
    "last_word": "Last word of the sentence",
    "first_letter": "First letter of the word",
    "last_letter": "Last letter of the word",
}
"""What Tables 1 and 9 to 33 call the tasks whose names there are not their keys in words."""
HEADS = {
    "sentence_containing": ("Sentence", "with"),
    "sentence_not_containing": ("Sentence", "without"),
    "word_containing": ("Word", "with"),
    "word_not_containing": ("Word", "without"),
    "most_associated_word": ("Associated", "most"),
    "least_associated_word": ("Associated", "least"),
    "any_words_from_category": ("Category", "any"),
    "all_words_from_category": ("Category", "all"),
    "first_alphabetically": ("Alphabet", "first"),
    "more_letters": ("Letters", "more"),
    "less_letters": ("Letters", "less"),
    "bigger_number": ("Number", "bigger"),
    "smaller_number": ("Number", "smaller"),
    "rhyming_word": ("Sound", "rhyming"),
    "homophones": ("Sound", "homophone"),
    "word_after": ("Word", "after"),
    "word_before": ("Word", "before"),
    "starts_with_word": ("Sentence", "starts"),
    "ends_with_word": ("Sentence", "ends"),
    "starts_with_letter": ("Word", "starts"),
    "ends_with_letter": ("Word", "ends"),
    "first_word": ("Word", "first"),
    "last_word": ("Word", "last"),
    "first_letter": ("Letter", "first"),
    "last_letter": ("Letter", "last"),
    "first_alphabetically_far_first_letter": ("Alphabet", "far"),
    "first_alphabetically_different_first_letter": ("Alphabet", "different"),
    "first_alphabetically_consecutive_first_letter": ("Alphabet", "next"),
    "first_alphabetically_same_first_letter": ("Alphabet", "same"),
    **{f"any_words_from_category_{n}_distractors": ("Any", f"{5 - n} of 5") for n in (5, 4, 3)},
    **{f"all_words_from_category_{n}_distractors": ("All", f"{5 - n} of 5") for n in (0, 1, 2)},
    "rhyming_word_orthographically_similar": ("Rhyme", "similar"),
    "rhyming_word_orthographically_different": ("Rhyme", "different"),
    "more_letters_length_diff_3plus": ("More", "≥ 3"),
    "more_letters_length_diff_1": ("More", "1"),
    "less_letters_length_diff_3plus": ("Less", "≥ 3"),
    "less_letters_length_diff_1": ("Less", "1"),
}
"""Columns of Tables 34 to 51, in their order: tasks and subsets, and short headings."""
LAST_OF_FIRST = TASKS.index("starts_with_letter") + 1
PARTS = (tuple(HEADS)[:LAST_OF_FIRST], tuple(HEADS)[LAST_OF_FIRST:])
"""Columns of a language's two tables."""
WEIGHT, DATA, SPECIFIC = (
    "Open-Weight Multilingual Models",
    "Open-Data Multilingual Models",
    "Language-Specific Models",
)
MODELS = {
    "llama-3.2-1b-instruct": ("Llama-3.2-1B", WEIGHT),
    "qwen2.5-1.5b-instruct": ("Qwen2.5-1.5B", WEIGHT),
    "llama-3.2-3b-instruct": ("Llama-3.2-3B", WEIGHT),
    "qwen2.5-3b-instruct": ("Qwen2.5-3B", WEIGHT),
    "llama-3.1-8b-instruct": ("Llama-3.1-8B", WEIGHT),
    "qwen2.5-14b-instruct": ("Qwen2.5-14B", WEIGHT),
    "phi-4": ("phi-4", WEIGHT),
    "eurollm-1.7b-it": ("EuroLLM-1.7B", DATA),
    "salamandra-2b-instruct": ("salamandra-2b", DATA),
    "salamandra-7b-instruct": ("salamandra-7b", DATA),
    "minerva-7b-instruct": ("Minerva-7b", DATA),
    "occiglot-7b-eu5-instruct": ("occiglot-7b-eu5", DATA),
    "eurollm-9b-it": ("EuroLLM-9B", DATA),
    "smollm2-360m-instruct": ("SmolLM2-360M", SPECIFIC),
    "smollm2-1.7b-instruct": ("SmolLM2-1.7B", SPECIFIC),
    "occiglot-7b-es-en-instruct": ("occiglot-7b-es-en", SPECIFIC),
    "anita-8b": ("ANITA-8B", SPECIFIC),
    "latxa-llama-3.1-8b-instruct": ("Latxa-8B", SPECIFIC),
}
"""Models by their names in the catalogue: what the tables call them, and under which heading."""
AVERAGE = "average"
"""Key of the row of averages."""


def task_name(task: str) -> str:
    """A task's key in words."""
    return task.replace("_", " ")


def long_name(task: str) -> str:
    """A task's name as in Tables 1 and 9 to 33."""
    return PRINTED_TASKS.get(task, task_name(task).capitalize())


SUBSET_WORDS = {
    "first_alphabetically_far_first_letter": "first letters at least 13 places apart",
    "first_alphabetically_different_first_letter": "different first letters",
    "first_alphabetically_consecutive_first_letter": "first letters next to each other",
    "first_alphabetically_same_first_letter": "the same first letter",
    "any_words_from_category_5_distractors": "none of the five words is of the category",
    "any_words_from_category_4_distractors": "one of the five is",
    "any_words_from_category_3_distractors": "two of the five are",
    "all_words_from_category_0_distractors": "all five words are of the category",
    "all_words_from_category_1_distractors": "four of the five are",
    "all_words_from_category_2_distractors": "three of the five are",
    "rhyming_word_orthographically_similar": "the answer is spelled like the query, the "
    "distractor is not",
    "rhyming_word_orthographically_different": "the distractor is spelled like the query, the "
    "answer is not",
    "more_letters_length_diff_3plus": "one word is longer by three letters or more",
    "more_letters_length_diff_1": "one word is longer by one letter (by two as well in the "
    "release's English and Korean)",
    "less_letters_length_diff_3plus": "one word is shorter by three letters or more",
    "less_letters_length_diff_1": "one word is shorter by one letter (by two as well in the "
    "release's English and Korean)",
}
"""What tells the subsets of arguments apart (Table 8)."""
