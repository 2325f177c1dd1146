"""Declared benchmarks of the campaign, and inputs of rules that read their results."""

from blimpworks.benchmarks.paper import declared_benchmarks

# One for each declaration, whether the campaign has it or not.
DECLARED_BENCHMARKS = {
    name: each
    for name, each in declared_benchmarks().items()
    if name in CAMPAIGN.benchmarks
}


def declared_with(entries):
    """Benchmarks whose declaration has files of a kind of results."""
    having = DECLARED_BENCHMARKS.items()
    return [name for name, each in having if getattr(each, entries)]


def declared_results(entries):
    """Inputs to read results from: the declaration with its files, and items."""
    return {
        "files": lambda w: DECLARED_BENCHMARKS[w.benchmark].inputs(entries, layout),
        "tables": lambda w: DECLARED_BENCHMARKS[w.benchmark].item_tables(
            entries, layout
        ),
    }


def results_read_by(command):
    """Params to read results with a command."""
    return {
        "code": code_of(command),
        "command": command.replace("_", "-"),
        "declaration": lambda w, input: input.files[0],
        "sources": f"{RESOURCES}/sources",
        "files": lambda w, input: repeated("file", layout.among_sources(input.files)),
        "tables": lambda w, input: repeated("items", input.tables),
    }
