"""Texts, corpora and samples for training, as the workflow's rules make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blimpworks.campaign.parts import benchmarks_of, checkpoint_file, whole_items_table
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.retrieved import TEXT, released_corpus, treebank_languages
from blimpworks.campaign.seeds import Seed
from blimpworks.campaign.settings.training import HOW_MANY, Recipe

if TYPE_CHECKING:
    from blimpworks.campaign.layout import Layout

CORPUS_PARTS = ("train", "valid", "test", "vocabulary")
"""Files of a corpus besides its description."""
Files = dict[str, str | list[str]]
"""Input files of a rule by name."""


@dataclass(frozen=True)
class TrainingLayout:
    """The trainings of a campaign."""

    layout: Layout

    @property
    def folder(self) -> str:
        """Directory of training data; it is among the results because it depends on the items."""
        return f"{self.layout.results}/training"

    def recipe_of(self, model: str) -> Recipe:
        layout = self.layout
        return layout.campaign.training.recipes[layout.catalogue.models[model].recipe]

    def recipe_json(self, model: str) -> str:
        return self.recipe_of(model).model_dump_json(exclude=HOW_MANY)

    def trained_by(self, *kinds: str) -> list[str]:
        """Return models that the workflow trains by recipes of such kinds."""
        recipes = self.layout.campaign.training.recipes
        names = {name for name, recipe in recipes.items() if recipe.kind in kinds}
        return [name for name, row in self.layout.catalogue.models.items() if row.recipe in names]

    def corpus_of(self, model: str) -> str | None:
        """Return the corpora that a model is trained on; None for the training text."""
        corpus: str | None = getattr(self.recipe_of(model), "corpus", None)
        return corpus

    def scope_of(self, model: str, lang: str) -> str:
        return lang if self.layout.catalogue.models[model].scope == "monolingual" else "multi"

    def languages_of(self, scope: str, model: str) -> list[str]:
        if scope != "multi":
            return [scope]
        layout = self.layout
        names = benchmarks_of(layout.campaign, layout.catalogue.models[model])
        covered = {lang for name in names for lang in layout.covered_by(model, name)}
        return [lang for lang in layout.catalogue.languages if lang in covered]

    def seed_of(self, model: str) -> int:
        seed = self.layout.catalogue.seeds.get(model)
        return self.layout.campaign.training.seed + (seed.number if seed else 0)

    def checkpoint_in(self, model: str, scope: str) -> str:
        trained = bool(self.layout.catalogue.models[model].recipe)
        return str(checkpoint_file(self.layout.campaign, model, scope, trained=trained))

    def checkpoint_of(self, model: str, lang: str) -> str:
        return self.checkpoint_in(model, self.scope_of(model, lang))

    def text_sources(self, lang: str) -> list[str]:
        return self.layout.usable(self.layout.catalogue.sources_of(TEXT, lang))

    def treebank_tables(self, kind: str, lang: str) -> list[str]:
        """Return the table of a treebank's tokens or sentences, where text or items may use it."""
        layout = self.layout
        read = treebank_languages(layout.campaign, layout.catalogue)
        return [f"{layout.results}/{kind}/{lang}.parquet"] if lang in read else []

    def text_items(self, lang: str) -> list[str]:
        """Return items whose sentences a language's training text leaves out."""
        return [
            str(whole_items_table(self.layout.campaign, name, lang))
            for name in self.layout.campaign.benchmarks
            if find_benchmark(name).in_text and lang in self.layout.item_languages(name)
        ]

    def spelling_pack(self, lang: str) -> list[str]:
        """Return the pack with the spelling of pairs in a language, if any."""
        layout = self.layout
        names = (b for b in layout.campaign.benchmarks if lang in layout.item_languages(b))
        packs = (find_benchmark(name).spelling(layout.campaign, lang) for name in names)
        return [str(pack) for pack in packs if pack is not None][:1]

    def corpus_inputs(self, corpus: str, lang: str) -> Files:
        layout = self.layout
        released = released_corpus(layout.campaign, layout.catalogue, corpus, lang)
        if released:
            return {"released": layout.usable(released)}
        return {
            "tokens": f"{self.layout.results}/tokens/{lang}.parquet",
            "sentences": f"{self.layout.results}/sentences/{lang}.parquet",
            "text": self.text_sources(lang),
            "pairs": self.text_items(lang),
        }

    def joined_languages(self, corpus: str | None = None) -> list[str]:
        """Return languages of multilingual models trained on a joined text, or joined corpus."""
        instructed = self.trained_by("instruct")
        joined: set[str] = set()
        for model, row in self.layout.catalogue.models.items():
            trained_jointly = row.recipe and model not in instructed and row.scope == "multilingual"
            if trained_jointly and self.corpus_of(model) == corpus:
                joined |= {*self.languages_of("multi", model)}
        return [lang for lang in self.layout.catalogue.languages if lang in joined]

    def joined_texts(self) -> list[str]:
        return [f"{self.folder}/text/{lang}.txt" for lang in self.joined_languages()]

    def joined_corpora(self, corpus: str) -> dict[str, list[str]]:
        """Return descriptions and all files of these languages' corpora."""
        files = [self.corpus_files(corpus, lang) for lang in self.joined_languages(corpus)]
        return {
            "descriptions": [str(each["description"]) for each in files],
            "files": [path for each in files for path in each["files"]],
        }

    def corpus_files(self, corpus: str, scope: str, sample: Seed | None = None) -> Files:
        """Return the description and files of a corpus, or of a sample of it."""
        folder = f"{self.folder}/corpora/{corpus}/{scope}"
        if sample:
            folder = f"{self.folder}/samples/{corpus}/{scope}/{sample.tokens}-{sample.number}"
        return {
            "description": f"{folder}/corpus.json",
            "files": [f"{folder}/{split}.txt" for split in CORPUS_PARTS],
        }

    def trained_on(self, model: str, scope: str) -> Files:
        """Return the training data of a network: a text, a corpus, or a sample of one."""
        corpus, seed = self.corpus_of(model), self.layout.catalogue.seeds.get(model)
        if corpus is None:
            return {"description": f"{self.folder}/text/{scope}.txt"}
        return self.corpus_files(corpus, scope, seed if seed and seed.tokens else None)

    def measured_on(self, model: str, lang: str) -> Files:
        """Return the corpus with the test text for an LSTM's perplexity of a language."""
        return self.corpus_files(self.corpus_of(model) or "", lang)


def text_arguments(inputs: Mapping[str, str | list[str]]) -> list[str]:
    """Return inputs of a rule that builds a text or corpus as options; one file is a string."""
    # A rule's input cannot be called items.
    named = (("items" if name == "pairs" else name, paths) for name, paths in inputs.items())
    listed = ((o, [paths] if isinstance(paths, str) else paths) for o, paths in named)
    return [f"--{option}={path}" for option, paths in listed for path in paths]
