"""Define functions from wildcards to input files and params.

Rules that retrieve, train, score, answer, judge, or read declared benchmarks use them.
"""

from blimpworks.benchmarks.paper import declared_benchmarks


def hub_model(wildcards):
    """Return a hub model's row of the catalogue, and its scope, from its checkpoint's path.

    The path is models/MODEL/SCOPE/checkpoint.json. For any other file the row is None.
    """
    if not wildcards.file.startswith("models/"):
        return None, ""
    _, model, scope, _ = wildcards.file.split("/")
    return CATALOGUE.models.get(model), scope


def table_of(name):
    """Return the file of the catalogue that has a source or treebank."""
    return CATALOGUE.tables.get(name, CAMPAIGN.catalogue.treebanks)


def retrieval(wildcards):
    """Return the command and options that retrieve a file or a model."""
    row, scope = hub_model(wildcards)
    if row is None:
        name = wildcards.file.removeprefix("sources/")
        pin = PINS[name]
        values = {"url": pin.url, "sha256": pin.sha256}
        values |= {"bytes": pin.bytes or "", "mirror-path": pin.mirror, "name": name}
        values |= {"catalogue": table_of(name)}
        # Checksums of the lock file are no params: to record one must not make a product stale.
        if not pin.sha256:
            values["git-blob"] = pin.git_blob
        command = "retrieve"
    else:
        fields = ("name", "revision", "architecture", "dtype")
        values = {field: getattr(row, field) for field in fields}
        values |= {"first-token": row.first_token, "scope": scope}
        values |= {"hf-id": hub_address(row, scope, CATALOGUE)}
        locked = LOCKED_MODELS.get((values["hf-id"], row.revision))
        # The files of a local model may change. For a model of the hub, the user may have accepted
        # another commit; the first commit that is locked must not make a product stale.
        if is_local(row.hf_id):
            values["state"] = state_of(Path(values["hf-id"]).expanduser())
        elif locked and locked.row.replaces:
            values["commit"] = locked.row.commit
        command = "retrieve-model"
    options = [f"--{option}={value}" for option, value in values.items()]
    return [command, *options, *(consent(row.name) if row else [])]


def special_spelling(wildcards):
    """Return the treatments of a language's spelling, joined by commas."""
    return ",".join(CATALOGUE.languages[wildcards.lang].special)


def unimorph_tables(wildcards):
    """Return the UniMorph tables of a language, in the order of the catalogue."""
    return layout.usable(lexicon_sources(CAMPAIGN, CATALOGUE, wildcards.lang))


def training_command(wildcards):
    """Return the command that trains a model by its recipe."""
    return f"train-{layout.training.recipe_of(wildcards.model).kind}"


def checkpoint_of(wildcards):
    """Return the checkpoint of a scoring job, which is called multi, LANGUAGE or multi.LANGUAGE."""
    return layout.training.checkpoint_in(
        wildcards.model, wildcards.job.partition(".")[0]
    )


# Models that one job runs on all languages. Then one job also judges all languages, and so on.
WITH_ONE_JOB = [
    name for name in CATALOGUE.models if name not in layout.models_with_job_per_language
]


def of_unit(unit):
    """Return the campaign's benchmarks whose items are ``unit``: pair or prompt."""
    return [name for name in CAMPAIGN.benchmarks if find_benchmark(name).unit == unit]


def languages_run(wildcards):
    """Return the languages of a job: the wildcard, or all of the model and benchmark."""
    if "lang" in wildcards.keys():
        return [wildcards.lang]
    return layout.covered_by(wildcards.model, wildcards.benchmark)


def items_run(wildcards):
    """Return the items tables of a job on one model and benchmark."""
    languages = languages_run(wildcards)
    return [layout.items_table(wildcards.benchmark, lang) for lang in languages]


def by_language(wildcards, path):
    """Return the tables of a job: ``path``, or a table for each language in this folder."""
    if "lang" in wildcards.keys():
        return [path]
    return [f"{path}/{lang}.parquet" for lang in languages_run(wildcards)]


def scored_items(wildcards):
    """Return the items whose whole sentences a job scores, and those with regions alone."""
    paths = {"whole": [], "regions": []}
    for benchmark, lang in SCORING[wildcards.model, wildcards.job].sets:
        methods = layout.judged_by(benchmark, wildcards.model)
        scored_text = "regions" if regional(methods) else "whole"
        paths[scored_text].append(layout.items_table(benchmark, lang))
    return paths


# The campaign's benchmarks that are declared as data.
DECLARED_BENCHMARKS = {
    name: benchmark
    for name, benchmark in declared_benchmarks().items()
    if name in CAMPAIGN.benchmarks
}


def declared_with(key):
    """Return the benchmarks whose declaration has released results: people's, for key "people"."""
    return [name for name, row in DECLARED_BENCHMARKS.items() if getattr(row, key)]


def declared_results(key):
    """Return the inputs from which results are read: declaration, released files, and items."""
    return {
        "files": lambda w: DECLARED_BENCHMARKS[w.benchmark].inputs(key, layout),
        "tables": lambda w: DECLARED_BENCHMARKS[w.benchmark].item_tables(key, layout),
    }


def results_read_by(command):
    """Return the params with which a command reads released results."""
    return {
        "code": code_of(command),
        "command": command.replace("_", "-"),
        "declaration": lambda w, input: input.files[0],
        "sources": f"{RESOURCES}/sources",
        "files": lambda w, input: repeated("file", layout.among_sources(input.files)),
        "tables": lambda w, input: repeated("items", input.tables),
    }
