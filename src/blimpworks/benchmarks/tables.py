"""Define tables of declared benchmarks that the core lacks; ``schemas`` has their columns."""

from blimpworks.tables import read_schema

# Perplexities of models that authors have released, on test texts of their own. model: named as in
# their released decisions; corpus: what it was trained on; seed: of that training. Both are null
# where the release does not say.
MODEL_PERPLEXITIES = read_schema(__file__, "schemas/model_perplexities.tsv")
