"""Name the files that a campaign's models are trained on, for the rules of the workflow.

The rules call ``layout.training``, a ``TrainingLayout``. The recipe of a model decides its training
data: a text (one file), a corpus (files for train, valid, test and vocabulary), or a sample of a
corpus. A scope is a language, or "multi" for all languages of a multilingual model, as in
``results/training/corpora/default/multi/train.txt``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blimpworks.campaign import scoring_jobs
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.seeds import Training
from blimpworks.campaign.settings.training import HOW_MANY, Recipe
from blimpworks.errors import UserError

if TYPE_CHECKING:
    from blimpworks.campaign.layout import Layout

CORPUS_PARTS = ("train", "valid", "test", "vocabulary")
"""Names of a corpus's files, besides its description ``corpus.json``."""
Files = dict[str, str | list[str]]
"""Input files of a rule, keyed by the name that the rule gives them."""


@dataclass(frozen=True)
class TrainingLayout:
    """Files for training a campaign's models."""

    layout: Layout

    @property
    def folder(self) -> str:
        """Directory of training data, in the results because the data depends on the items."""
        return f"{self.layout.results}/training"

    def recipe_of(self, model: str) -> Recipe:
        layout = self.layout
        return layout.campaign.training.recipes[layout.catalogue.models[model].recipe]

    def recipe_json(self, model: str) -> str:
        return self.recipe_of(model).model_dump_json(exclude=HOW_MANY)  # not the number of models

    def trained_by(self, *recipe_kinds: str) -> list[str]:
        """Return the models that the workflow trains by recipes of these kinds, such as "lstm"."""
        recipes = self.layout.campaign.training.recipes
        names = {name for name, recipe in recipes.items() if recipe.kind in recipe_kinds}
        return [name for name, row in self.layout.catalogue.models.items() if row.recipe in names]

    def corpus_of(self, model: str) -> str | None:
        """Return the corpus, by its name in the settings, of a model; None if it has a text."""
        corpus: str | None = getattr(self.recipe_of(model), "corpus", None)
        return corpus

    def scope_of(self, model: str, lang: str) -> str:
        return lang if self.layout.catalogue.models[model].scope == "monolingual" else "multi"

    def languages_of(self, scope: str, model: str) -> list[str]:
        """Return the languages that a model of this scope is trained on, in catalogue order."""
        if scope != "multi":
            return [scope]
        layout = self.layout
        names = scoring_jobs.benchmarks_of(layout.campaign, layout.catalogue.models[model])
        covered = {lang for name in names for lang in layout.covered_by(model, name)}
        return [lang for lang in layout.catalogue.languages if lang in covered]

    def seed_of(self, model: str) -> int:
        training = self.layout.catalogue.seeds.get(model)  # None if the model is trained once
        return self.layout.campaign.training.seed + (training.number if training else 0)

    def checkpoint_in(self, model: str, scope: str) -> str:
        layout = self.layout
        trained = bool(layout.catalogue.models[model].recipe)
        return str(scoring_jobs.checkpoint_file(layout.campaign, model, scope, trained=trained))

    def checkpoint_of(self, model: str, lang: str) -> str:
        return self.checkpoint_in(model, self.scope_of(model, lang))

    def text_sources(self, lang: str) -> list[str]:
        return self.layout.usable(self.layout.catalogue.sources_of(scoring_jobs.TEXT, lang))

    def treebank_tables(self, folder: str, lang: str) -> list[str]:
        """Return the table of a language's treebanks in ``folder``: "tokens" or "sentences"."""
        layout = self.layout
        with_treebanks = scoring_jobs.treebank_languages(layout.campaign, layout.catalogue)
        return [f"{layout.results}/{folder}/{lang}.parquet"] if lang in with_treebanks else []

    def text_items(self, lang: str) -> list[str]:
        """Return the items tables whose sentences must not be in the training text."""
        campaign = self.layout.campaign
        names = [name for name in campaign.benchmarks if find_benchmark(name).in_text]
        names = [name for name in names if lang in self.layout.item_languages(name)]
        return [str(scoring_jobs.whole_items_table(campaign, name, lang)) for name in names]

    def spelling_pack(self, lang: str) -> list[str]:
        """Return the first language pack with the spelling of a language's pairs, in a list."""
        layout = self.layout
        names = (b for b in layout.campaign.benchmarks if lang in layout.item_languages(b))
        packs = (find_benchmark(name).spelling(layout.campaign, lang) for name in names)
        return [str(pack) for pack in packs if pack is not None][:1]

    def corpus_inputs(self, corpus: str, lang: str) -> Files:
        """Return the inputs of the rule that makes a corpus: a released corpus, or its sources."""
        layout = self.layout
        released = scoring_jobs.released_corpus(layout.campaign, layout.catalogue, corpus, lang)
        if released:
            return {"released": layout.usable(released)}
        return {
            "tokens": f"{self.layout.results}/tokens/{lang}.parquet",
            "sentences": f"{self.layout.results}/sentences/{lang}.parquet",
            "text": self.text_sources(lang),
            "pairs": self.text_items(lang),
        }

    def joined_languages(self, corpus: str | None = None) -> list[str]:
        """Return the languages of multilingual models that are trained on a corpus, or on texts.

        Raises UserError if the models' languages differ, since all read the same joined files.
        """
        instructed = self.trained_by("instruct")
        # For the message, one of the models that are trained on the languages.
        example_by_langs: dict[tuple[str, ...], str] = {}
        for model, row in self.layout.catalogue.models.items():
            trained_jointly = row.recipe and model not in instructed and row.scope == "multilingual"
            if trained_jointly and self.corpus_of(model) == corpus:
                example_by_langs.setdefault(tuple(self.languages_of("multi", model)), model)
        if len(example_by_langs) > 1:
            examples = [f"{name} in {', '.join(langs)}" for langs, name in example_by_langs.items()]
            raise UserError(
                f"multilingual models would be trained on {corpus or 'texts'} of different "
                f"languages: {'; '.join(examples[:2])}. Expected the same languages, since all "
                "read one file. Give the models the same 'languages' and 'papers', or write a "
                "campaign for each."
            )
        return [*next(iter(example_by_langs), ())]

    def joined_texts(self) -> list[str]:
        return [f"{self.folder}/text/{lang}.txt" for lang in self.joined_languages()]

    def joined_corpora(self, corpus: str) -> dict[str, list[str]]:
        """Return descriptions and files of the languages' corpora that are joined to one."""
        corpora = [self.corpus_files(corpus, lang) for lang in self.joined_languages(corpus)]
        return {
            "descriptions": [str(files["description"]) for files in corpora],
            "files": [path for files in corpora for path in files["files"]],
        }

    def corpus_files(self, corpus: str, scope: str, sample: Training | None = None) -> Files:
        """Return the paths of a corpus, or of a ``sample`` of it: its description and files."""
        folder = f"{self.folder}/corpora/{corpus}/{scope}"
        if sample:
            folder = f"{self.folder}/samples/{corpus}/{scope}/{sample.tokens}-{sample.number}"
        return {
            "description": f"{folder}/corpus.json",
            "files": [f"{folder}/{split}.txt" for split in CORPUS_PARTS],
        }

    def trained_on(self, model: str, scope: str) -> Files:
        """Return the files that a model is trained on: a text, a corpus, or a sample of one."""
        corpus, training = self.corpus_of(model), self.layout.catalogue.seeds.get(model)
        if corpus is None:
            return {"description": f"{self.folder}/text/{scope}.txt"}
        return self.corpus_files(corpus, scope, training if training and training.tokens else None)

    def measured_on(self, model: str, lang: str) -> Files:
        """Return the corpus with the test text that an LSTM's perplexity is measured on."""
        return self.corpus_files(self.corpus_of(model) or "", lang)  # LSTMs always have a corpus


def text_arguments(inputs: Mapping[str, str | list[str]]) -> list[str]:
    """Return a rule's ``inputs`` {"text": ["a.txt"]} as options ["--text=a.txt"] of its command."""
    arguments = []
    for name, paths in inputs.items():
        option = "items" if name == "pairs" else name  # inputs of rules have a method ``items``
        for path in [paths] if isinstance(paths, str) else paths:
            arguments.append(f"--{option}={path}")
    return arguments
