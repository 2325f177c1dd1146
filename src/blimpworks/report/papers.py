"""What the report calls papers and exhibits."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaperFacts:
    """How a paper is cited: its short name, title, authors and year, and address."""

    name: str
    title: str
    authors: str
    address: str


PAPERS: dict[str, PaperFacts] = {
    "multiblimp": PaperFacts(
        "MultiBLiMP",
        "MultiBLiMP 1.0: A Massively Multilingual Benchmark of Linguistic Minimal Pairs",
        "Jumelet, Weissweiler, Nivre and Bisazza (2025)",
        "https://arxiv.org/abs/2504.02768",
    ),
    "clams": PaperFacts(
        "CLAMS",
        "Cross-Linguistic Syntactic Evaluation of Word Prediction Models",
        "Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020)",
        "https://aclanthology.org/2020.acl-main.490",
    ),
    "blimp": PaperFacts(
        "BLiMP",
        "BLiMP: The Benchmark of Linguistic Minimal Pairs for English",
        "Warstadt, Parrish, Liu, Mohananey, Peng, Wang and Bowman (2020)",
        "https://aclanthology.org/2020.tacl-1.25",
    ),
    "lmentry": PaperFacts(
        "Multi-LMentry",
        "Multi-LMentry: Can Multilingual LLMs Solve Elementary Tasks Across Languages?",
        "Moroni, Aula-Blasco, Conia, Baucells and others (2025)",
        "",
    ),
    "urblimp": PaperFacts(
        "UrBLiMP",
        "UrBLiMP: A Benchmark for Evaluating the Linguistic Competence of Large Language "
        "Models in Urdu",
        "Adeeba, Dillon, Sajjad and Bhatt (2025)",
        "",
    ),
}
"""By the name of the paper's benchmark."""
KINDS = {"table": "Table", "fig": "Figure", "figure": "Figure"}


def paper_facts(paper: str) -> PaperFacts:
    """How a paper is cited; one that isn't known goes by its own name."""
    return PAPERS.get(paper, PaperFacts(paper, paper, "", ""))


def exhibit_label(name: str) -> str:
    """What the paper calls an exhibit: ``tableb2`` is "Table B.2"; empty for one of ours.

    Statistics of running text are called "In the text", with sections where they are known.
    """
    if name.startswith("text"):
        sections = [f"{s[0]}.{s[1:]}".rstrip(".") for s in re.findall(r"\d+", name)]
        return f"In the text ({', '.join(sections)})" if sections else "In the text"
    found = re.fullmatch(r"(table|figure|fig)_?([a-z]?)(\d+)([a-z]?)", name)
    if not found:
        return ""
    kind, letter, number, part = found.groups()
    return f"{KINDS[kind]} {letter.upper()}{'.' if letter else ''}{number}{part}"
