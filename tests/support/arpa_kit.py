"""Write and read ARPA files of n-gram models, and compute their values in exact arithmetic."""

from fractions import Fraction

import numpy as np

from blimpworks.models import ngram
from blimpworks.models.text import read_sentences, split_words


def write_arpa(text, directory, order):
    """Write the ARPA file of a model of ``text``, estimated as ``train_ngram`` does."""
    plain, arpa = directory / "plain.txt", directory / "model.arpa"
    sentences = ([word for word, _ in split_words(each)] for each in read_sentences(text))
    plain.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    smoothing = ("-o", str(order), "--discount_fallback", "-S", ngram.MEMORY)
    where = ("-T", str(directory), "--text", str(plain), "--arpa", str(arpa))
    ngram._run("lmplz", *smoothing, *where)
    return arpa


def read_arpa(path, vocabulary=None):
    """Return probability and back-off weight (log10, rounded to float32) by n-gram."""
    entries = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            probability, *more = line.rstrip("\n").split("\t")
            words = tuple(more[0].split(" ")) if more else ()
            if words and (vocabulary is None or vocabulary.issuperset(words)):
                weights = (float(np.float32(x)) for x in (probability, *more[1:], 0))
                entries[words] = tuple(weights)[:2]
    return entries


def exact_values(entries, words, order):
    """Return log10 probabilities of words and ``</s>`` after ``<s>``, as fractions."""
    history, values = ["<s>"], []
    for word in (*words, "</s>"):
        context, value = history[1 - order :], Fraction(0)
        while (*context, word) not in entries:
            value += Fraction(entries.get(tuple(context), (0, 0))[1])
            context = context[1:]
        values.append(value + Fraction(entries[*context, word][0]))
        history.append(word)
    return values
