"""Which class scores with an engine: the one place that knows all of them."""

from blimpworks.errors import UserError

# Name of an engine and architecture of a checkpoint -> class, by name, because each needs
# packages that the others' environments may lack.
ENGINES: dict[tuple[str, str], str] = {
    ("kenlm", "ngram"): "blimpworks.scoring.kenlm_engine:KenlmEngine",
    ("lstm", "lstm"): "blimpworks.scoring.lstm_engine:LstmEngine",
    ("transformers", "causal"): "blimpworks.scoring.transformers_engine:TransformersEngine",
    ("transformers", "encoder-decoder"): "blimpworks.scoring.seq2seq_engine:Seq2seqEngine",
    ("transformers", "masked"): "blimpworks.scoring.masked_engine:MaskedEngine",
    ("vllm", "causal"): "blimpworks.scoring.vllm_engine:VllmEngine",
}


def find_engine(name: str, architecture: str) -> str:
    """Class of the engine ``name`` for an architecture, as ``module:Class``.

    Raises UserError, with the pairs there are, for one that there isn't.
    """
    if (name, architecture) not in ENGINES:
        known = ", ".join(" with ".join(pair) for pair in sorted(ENGINES))
        raise UserError(
            f"engine {name!r} cannot run architecture {architecture!r}; expected one of: {known}."
        )
    return ENGINES[name, architecture]
