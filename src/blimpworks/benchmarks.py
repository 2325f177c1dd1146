"""Names of benchmarks."""


def paper_of(benchmark: str) -> str:
    """The paper that a benchmark is of: ``blimp`` for ``blimp_generated``."""
    return benchmark.partition("_")[0]
