"""Input files and params of rules that depend on wildcards.

Rules that retrieve, train, score, answer, judge, or read declared benchmarks use them.
"""

from blimpworks.benchmarks.paper import declared_benchmarks


def hub_model(wildcards):
    """Model and scope of a checkpoint from the hub; no model for any other file."""
    model, _, scope = wildcards.file.removeprefix("models/").partition("/")
    row = CATALOGUE.models.get(model) if wildcards.file.startswith("models/") else None
    return row, scope.partition("/")[0]


def table_of(name):
    """File of the catalogue that a source or treebank stands in."""
    return CATALOGUE.tables.get(name, CAMPAIGN.catalogue.treebanks)


def retrieval(wildcards):
    """The command, with its options, that fetches a file or a model."""
    row, scope = hub_model(wildcards)
    if row is None:
        name = wildcards.file.removeprefix("sources/")
        pin = PINS[name]
        values = {"url": pin.url, "sha256": pin.sha256}
        values |= {"bytes": pin.bytes or "", "mirror-path": pin.mirror, "name": name}
        values |= {"catalogue": table_of(name)}
        # Not what was recorded of it: recording makes nothing stale.
        values |= {} if pin.sha256 else {"git-blob": pin.git_blob}
        command = "retrieve"
    else:
        values = {
            f: getattr(row, f) for f in ("name", "revision", "architecture", "dtype")
        }
        values |= {"first-token": row.first_token, "scope": scope}
        values |= {"hf-id": hub_address(row, scope, CATALOGUE)}
        locked = LOCKED_MODELS.get((values["hf-id"], row.revision))
        # A model of this machine may change in its place; of one of the hub another commit may
        # have been accepted. That it is locked at first makes nothing stale.
        if is_local(row.hf_id):
            values["state"] = state_of(Path(values["hf-id"]).expanduser())
        elif locked and locked.row.replaces:
            values["commit"] = locked.row.commit
        command = "retrieve-model"
    options = [f"--{option}={value}" for option, value in values.items()]
    return [command, *options, *(consent(row.name) if row else [])]


def special_spelling(wildcards):
    """Treatments of a language's spelling, as its commands take them."""
    return ",".join(CATALOGUE.languages[wildcards.lang].special)


def unimorph_tables(wildcards):
    """Retrieved UniMorph tables of a language, in the order of the catalogue."""
    return layout.usable(lexicon_sources(CAMPAIGN, CATALOGUE, wildcards.lang))


def training_command(wildcards):
    """Command that trains a model by its recipe."""
    return f"train-{layout.training.recipe_of(wildcards.model).kind}"


def checkpoint_of(wildcards):
    """Checkpoint of a scoring job of a model: multi, a language, or multi.LANGUAGE."""
    return layout.training.checkpoint_in(
        wildcards.model, wildcards.job.partition(".")[0]
    )


# Models with one job for all languages: their tables are made together.
WITH_ONE_JOB = [name for name in CATALOGUE.models if name not in layout.parted]


def of_unit(unit):
    """Benchmarks of the campaign whose items are pairs, or prompts."""
    return [name for name in CAMPAIGN.benchmarks if find_benchmark(name).unit == unit]


def languages_run(wildcards):
    """Languages of a job on one model and benchmark: all that it covers, or one."""
    if "lang" in wildcards.keys():
        return [wildcards.lang]
    return layout.covered_by(wildcards.model, wildcards.benchmark)


def items_run(wildcards):
    """Items tables of a job on one model and benchmark."""
    languages = languages_run(wildcards)
    return [layout.items_table(wildcards.benchmark, lang) for lang in languages]


def by_language(wildcards, path):
    """Tables of a job on one model and benchmark: those in a directory, or the only one."""
    if "lang" in wildcards.keys():
        return [path]
    return [f"{path}/{lang}.parquet" for lang in languages_run(wildcards)]


def scored_items(wildcards):
    """Item sets that a job scores: whole sentences, and those whose regions are enough."""
    paths = {"whole": [], "regions": []}
    for benchmark, lang in SCORING[wildcards.model, wildcards.job].sets:
        partial = regional(layout.judged_by(benchmark, wildcards.model))
        kind = "regions" if partial else "whole"
        paths[kind].append(layout.items_table(benchmark, lang))
    return paths


# Declared as data, and in the campaign.
DECLARED_BENCHMARKS = {
    name: each
    for name, each in declared_benchmarks().items()
    if name in CAMPAIGN.benchmarks
}


def declared_with(key):
    """Benchmarks whose declaration has files of a kind of results."""
    having = DECLARED_BENCHMARKS.items()
    return [name for name, each in having if getattr(each, key)]


def declared_results(key):
    """Inputs to read results from: the declaration with its files, and items."""
    return {
        "files": lambda w: DECLARED_BENCHMARKS[w.benchmark].inputs(key, layout),
        "tables": lambda w: DECLARED_BENCHMARKS[w.benchmark].item_tables(key, layout),
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
