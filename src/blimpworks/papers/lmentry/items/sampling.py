"""The engine that draws the arguments of every task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, appendices A.2 and A.3. The
release seeds Python's generator anew for every template, so all templates have the same
arguments: they are drawn once here.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random

from blimpworks.papers.lmentry.items.alphabet import spell
from blimpworks.papers.lmentry.items.draws import Arguments, Sampler, Source, gather, pair
from blimpworks.papers.lmentry.items.sampling_categories import draw_associated, draw_category
from blimpworks.papers.lmentry.items.sampling_pairs import draw_lengths, draw_order
from blimpworks.papers.lmentry.items.sampling_sounds import draw_homophones, draw_rhymes

NUMBERS = range(10, 1000)


def draw_words(source: Source, rng: Random) -> list[Arguments]:
    """A sample of the words, less those of other parts of speech, with a letter as answer."""
    task = source.task
    chosen = rng.sample(source.words, min(task.size, len(source.words)))
    drawn = []
    for word in chosen:
        pos = source.part_of_speech(word)
        if task.pos and pos not in task.pos:
            continue
        arguments = {"word": word, "word_pos_tags": pos}
        if task.end:
            arguments["answer"] = word[0 if task.end == "first" else -1]
        drawn.append(arguments)
    return drawn


def _has(word: str, letter: str, kind: str) -> bool:
    if kind == "starts":
        return word.startswith(letter)
    return word.endswith(letter) if kind == "ends" else letter in word


def draw_letters(source: Source, rng: Random) -> list[Arguments]:
    """Every letter of the task.

    Those of the release in the order of code points: where it runs through a set, its order is
    not known.
    """
    kind = source.task.letters
    listed = source.pack.letters.get(kind)
    if listed and source.task.letters_of == "release":
        return [{"letter": letter} for letter in sorted(listed)]
    words = [*map(spell, source.words)]
    letters = (*source.alphabet.letters, *source.pack.also)
    return [{"letter": c} for c in letters if any(_has(word, c, kind) for word in words)]


def draw_numbers(source: Source, rng: Random) -> list[Arguments]:
    """Two different numbers from 10 to 999."""
    best = min if source.task.opposite else max

    def attempt() -> tuple[tuple[int, ...], Arguments]:
        numbers = rng.sample(NUMBERS, 2)
        index = numbers.index(best(numbers))
        named = pair(numbers[index], numbers[1 - index], index)
        digits = [len(str(number)) for number in numbers]
        in_prompt = {"n1": named.pop("word1"), "n2": named.pop("word2"), "num_digits": digits}
        return tuple(numbers), named | in_prompt

    return gather(source.task.size, attempt)


def _stripped(source: Source) -> Iterator[str]:
    """Sentences without punctuation, those that have a word left."""
    marks = str.maketrans("", "", source.task.punctuation)
    stripped = (sentence.translate(marks) for sentence in source.resources.sentences)
    return (sentence for sentence in stripped if sentence.split())


def _neighbours(source: Source, sentence: str) -> Iterator[Arguments]:
    """Words that stand once in a sentence, each with the word after it, or before it."""
    tokens, step = sentence.split(), -1 if source.task.opposite else 1
    counts = Counter(sentence.lower().split())
    stop_words = {*source.task.stop_words.split()}
    for place, word in enumerate(tokens):
        beside = place + step
        if not 0 <= beside < len(tokens) or counts[word.lower()] > 1:
            continue
        if tokens[beside].lower() not in stop_words:
            yield {
                "sentence": sentence,
                "query": word,
                "query_position_in_sentence": place,
                "answer": tokens[beside],
            }


def draw_neighbours(source: Source, rng: Random) -> list[Arguments]:
    """A sample of all words that have a neighbour, and stand once in their sentence."""
    places = [each for sentence in _stripped(source) for each in _neighbours(source, sentence)]
    return rng.sample(places, min(source.task.size, len(places)))


def draw_ends(source: Source, rng: Random) -> list[Arguments]:
    """Every sentence, with its first or last word."""
    place = 0 if source.task.end == "first" else -1
    return [{"sentence": s, "answer": s.split()[place]} for s in _stripped(source)]


SAMPLERS: dict[str, Sampler] = {
    "words": draw_words,
    "letters": draw_letters,
    "associated": draw_associated,
    "category": draw_category,
    "order": draw_order,
    "lengths": draw_lengths,
    "numbers": draw_numbers,
    "rhymes": draw_rhymes,
    "homophones": draw_homophones,
    "neighbours": draw_neighbours,
    "ends": draw_ends,
}
"""What draws the arguments, by the name that declarations give it."""


def draw(source: Source, seed: int) -> list[Arguments]:
    """The arguments of a task's prompts, in order; the same for the same seed."""
    return SAMPLERS[source.task.sampler](source, Random(seed))
