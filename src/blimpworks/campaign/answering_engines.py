"""Which class answers with an engine: without heavy imports, as workflow and plans ask."""

from blimpworks.errors import UserError

ANSWERING: dict[str, str] = {
    "transformers": "blimpworks.generation.transformers_answers:TransformersAnswers",
    "vllm": "blimpworks.generation.vllm_answers:VllmAnswers",
}
"""Class of each engine that answers, by name, because each needs packages of its own."""
ARCHITECTURE = "causal"
"""The one architecture that answers."""


def can_answer(name: str, architecture: str) -> bool:
    """Whether models of an architecture can answer with the engine ``name``."""
    return architecture == ARCHITECTURE and name in ANSWERING


def find_answering(name: str, architecture: str) -> str:
    """Class that answers with the engine ``name``, as ``module:Class``.

    Raises UserError for an engine or architecture that cannot answer.
    """
    if not can_answer(name, architecture):
        raise UserError(
            f"engine {name!r} with architecture {architecture!r} cannot answer prompts; expected "
            f"architecture {ARCHITECTURE!r} with one of: {', '.join(sorted(ANSWERING))}."
        )
    return ANSWERING[name]
