"""What rules ask the campaign for: input files and params that depend on wildcards."""


def catalogue_of(name):
    """The table that a file is pinned in, for messages."""
    files = CAMPAIGN.catalogue
    return str(files.sources if name in CATALOGUE.sources else files.treebanks)


def hub_model(wildcards):
    """Model and scope of a checkpoint from the hub; no model for any other file."""
    model, _, scope = wildcards.file.removeprefix("models/").partition("/")
    row = CATALOGUE.models.get(model) if wildcards.file.startswith("models/") else None
    return row, scope.partition("/")[0]


def retrieval(wildcards):
    """The command, with its options, that fetches a file or a model."""
    row, scope = hub_model(wildcards)
    if row is None:
        name = wildcards.file.removeprefix("sources/")
        named = {field: getattr(PINS[name], field) for field in ("url", "sha256")}
        named |= {"bytes": PINS[name].bytes or "", "mirror-path": PINS[name].mirror}
        named |= {"name": name, "catalogue": catalogue_of(name)}
        command = "retrieve"
    else:
        language = CATALOGUE.languages.get(scope)
        script = language.script.lower() if language else ""
        named = {
            f: getattr(row, f) for f in ("name", "revision", "architecture", "dtype")
        }
        named |= {"first-token": row.first_token, "scope": scope}
        named |= {"hf-id": row.hf_id.format(lang=scope, script=script)}
        command = "retrieve-model"
    return [command, *(f"--{option}={value}" for option, value in named.items())]


def unimorph_tables(wildcards):
    """Retrieved UniMorph tables of a language, in the order of the catalogue."""
    if not CATALOGUE.languages[wildcards.lang].unimorph:
        return []
    rows = [
        r for kind in UNIMORPH_KINDS for r in CATALOGUE.sources_of(kind, wildcards.lang)
    ]
    return usable(substituted(row) for row in rows)


CORPUS_PARTS = ("train", "valid", "test", "vocabulary")


# Only what a stage reads is among its options, so that a change reruns no other stage.
def stage(*sections, decisions=()):
    """MultiBLiMP settings with everything but the named parts left out."""
    parts = dict.fromkeys(sections, True)
    if decisions:
        parts |= {"variant": True, "decisions": {*decisions}}
    return CAMPAIGN.multiblimp.model_dump_json(include=parts)


def pinned_arguments(wildcards):
    """Of a released file of the hub its revision, and how many pairs the paper says it has."""
    row = pinned_items(CAMPAIGN, CATALOGUE, wildcards.lang)
    if row is None:
        return []
    pairs = CATALOGUE.languages[wildcards.lang].paper_n
    counted = [f"--pairs={pairs}"] if pairs is not None else []
    return [f"--revision={row.version}", *counted]


def special(wildcards):
    """Treatments of a language's spelling, as its option."""
    return ",".join(CATALOGUE.languages[wildcards.lang].special)


def text_sources(wildcards):
    """Retrieved plain text of a language."""
    return usable(CATALOGUE.sources_of("text", wildcards.lang))


def text_pairs(wildcards):
    """Items whose sentences a language's training text leaves out.

    Those of BLiMP stand in no text, and prompts are no sentences.
    """
    return [
        str(parts.items_table(CAMPAIGN, benchmark, wildcards.lang))
        for benchmark in CAMPAIGN.benchmarks
        if paper_of(benchmark) not in (BLIMP, LMENTRY)
        and wildcards.lang in item_languages(benchmark)
    ]


def spelling_pack(wildcards):
    """The pack that says how pairs of UrBLiMP in a language are spelled, where there are such."""
    spelled = URBLIMP in CAMPAIGN.benchmarks and wildcards.lang in item_languages(
        URBLIMP
    )
    folder = rules_folder(CAMPAIGN, wildcards.lang)
    return [str(folder / "language.yaml")] if spelled else []


def text_arguments(wildcards, input):
    """Inputs of build_text and build_corpus as options; one file comes as a plain string."""
    groups = {
        "tokens": "tokens",
        "sentences": "sentences",
        "text": "text",
        "items": "pairs",
        "released": "released",
        "language": "language",
    }
    found = ((option, input.get(name, [])) for option, name in groups.items())
    listed = ((o, [paths] if isinstance(paths, str) else paths) for o, paths in found)
    return [f"--{option}={path}" for option, paths in listed for path in paths]


def released_corpus(name, lang):
    """Files of the released corpus of a language, if corpora called so are to be those."""
    chosen = CAMPAIGN.training.corpora[name]
    if not chosen.released or chosen.words != "whitespace":
        return []
    rows = CATALOGUE.sources_of("corpus", lang)
    found = usable(rows)
    return found if len(found) == len(rows) else []


def corpus_inputs(wildcards):
    """What the corpus of a language is made from: a released one, or all its text."""
    lang = wildcards.lang
    if released := released_corpus(wildcards.corpus, lang):
        return {"released": released}
    return {
        "tokens": f"{RESOURCES}/tokens/{lang}.parquet",
        "sentences": f"{RESOURCES}/sentences/{lang}.parquet",
        "text": text_sources(wildcards),
        "pairs": text_pairs(wildcards),
    }


def corpus_options(wildcards):
    """Options of a corpus, as JSON."""
    return options(CAMPAIGN.training.corpora[wildcards.corpus])


def joined_languages(corpus=None):
    """Languages of the multilingual models that a joined text, or a joined corpus, is for."""
    found = set()
    for model, row in CATALOGUE.models.items():
        own = row.recipe and model not in trained_by("instruct")
        if own and row.scope == "multilingual":
            same = corpus_name(model) == corpus
            found |= {*languages_of("multi", model)} if same else set()
    return [lang for lang in LANGUAGES if lang in found]


def joined_texts(wildcards):
    """Training texts of those languages."""
    return [f"{RESOURCES}/text/{lang}.txt" for lang in joined_languages()]


def joined_corpora(wildcards):
    """Corpora of those languages: descriptions, and all their files."""
    each = [
        corpus_files(wildcards.corpus, lang)
        for lang in joined_languages(wildcards.corpus)
    ]
    return {
        "descriptions": [found["description"] for found in each],
        "files": [path for found in each for path in found["files"]],
    }


def corpus_files(name, scope, sample=None):
    """The description of a corpus, or of a sample of it, and the files that it describes."""
    folder = f"{RESOURCES}/corpora/{name}/{scope}"
    if sample:
        folder = f"{RESOURCES}/samples/{name}/{scope}/{sample.tokens}-{sample.number}"
    return {
        "description": f"{folder}/corpus.json",
        "files": [f"{folder}/{part}.txt" for part in CORPUS_PARTS],
    }


def trained_on(wildcards):
    """What a network is trained on: a text, or a corpus, or a sample of one."""
    name, seed = corpus_name(wildcards.model), CATALOGUE.seeds.get(wildcards.model)
    if name is None:
        return {"description": f"{RESOURCES}/text/{wildcards.scope}.txt"}
    sample = seed if seed and seed.tokens else None
    return corpus_files(name, wildcards.scope, sample)


def measured_on(wildcards):
    """The corpus whose test text an LSTM's perplexity of a language is measured on."""
    return corpus_files(corpus_name(wildcards.model), wildcards.lang)


def lstm_of(wildcards):
    """Checkpoint of an LSTM that covers a language."""
    scope = scope_of(wildcards.model, wildcards.lang)
    return f"{RESOURCES}/models/{wildcards.model}/{scope}/checkpoint.json"


def checkpoint_of(wildcards):
    """Checkpoint behind a part of a model's scores: multi, a language, or multi.LANGUAGE."""
    scope = wildcards.part.partition(".")[0]
    return f"{RESOURCES}/models/{wildcards.model}/{scope}/checkpoint.json"


def scored_items(wildcards):
    """Item sets that a job scores: whole sentences, and those whose regions are enough."""
    found = {"whole": [], "regions": []}
    for benchmark, lang in PARTS[wildcards.model, wildcards.part].sets:
        kind = "regions" if regional(judged_by(benchmark, wildcards.model)) else "whole"
        found[kind].append(str(parts.items_table(CAMPAIGN, benchmark, lang)))
    return found


def manifest_of(wildcards, store="store"):
    """Manifest of the job that scores (or answers) with a model, or its checkpoint of a language."""
    part = "multi"
    if wildcards.model in PARTED:
        part = part_of(wildcards.model, wildcards.lang)
    return f"{RESULTS}/{store}/{wildcards.model}/{part}/manifest.json"


def repeated(option, paths):
    """Paths as an option of a command that may stand many times."""
    return [f"--{option}={path}" for path in paths]


def unknown_of(benchmark, model):
    """What becomes of pairs with unknown words, as an option of the command."""
    known = CATALOGUE.models[model].architecture in WHOLE_WORDS
    policy = getattr(JUDGING[benchmark], "unknown_words", "score")
    return [f"--unknown={policy}"] if known and policy != "score" else []


def counted_of(benchmark):
    """Models for which a correct item too many is counted, as options of the command."""
    return [
        f"--one-more={model}"
        for model in (models_of(benchmark) if benchmark == "clams" else ())
        if counts_one_more(CAMPAIGN.clams, CATALOGUE.models[model].architecture)
    ]


def perplexity_tables(benchmark):
    """Test perplexities of the LSTMs that a benchmark is run on and the campaign trains."""
    trained = [name for name in models_of(benchmark) if name in trained_by("lstm")]
    return [
        f"{RESULTS}/perplexities/{lang}/{model}.parquet"
        for model in trained
        for lang in covered_by(model, benchmark)
    ]


def blimp_files(benchmark):
    """Files of BLiMP's paradigms, released or generated, in the order of their names."""
    if benchmark == GENERATED_OF[BLIMP]:
        return [f"{RESULTS}/sets/blimp/{uid}.jsonl" for uid in DECLARED]
    rows = CATALOGUE.sources_of(RELEASED_DATA, "eng")
    return [f"{RESOURCES}/sources/{row.name}" for row in rows]


def compared_with(model):
    """Reference and variants of a model's report."""
    chosen = CAMPAIGN.parity
    architecture = CATALOGUE.models[model].architecture
    return comparison_of(architecture, chosen.reference, chosen.variants)


def spec_of(wildcards):
    """The exhibit that wildcards name."""
    return EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]


def exhibit_tables(wildcards):
    """Every table that an exhibit needs or can use, with its kind."""
    spec = spec_of(wildcards)
    if spec in REFUSED:
        raise WorkflowError(why_not(spec.key))
    kinds = (*spec.needs, *spec.optional)
    tables = [(kind, path) for kind in kinds for path in NEEDS[kind](spec.paper)]
    if not spec.language_fact:
        return tables
    chosen = KNOWN_FACTS[spec.language_fact](CAMPAIGN, CATALOGUE)["language"]
    return [(kind, path) for kind, path in tables if Path(path).stem == chosen]


def exhibit_inputs(wildcards):
    """Paths of the tables."""
    return [path for _, path in exhibit_tables(wildcards)]


def published_of(paper):
    """Exhibits of a paper that its printed numbers make."""
    return [spec for spec in PUBLISHED_EXHIBITS if spec.paper == paper]


def published_tables(paper):
    """Every table that a paper's published forms need or can use, with its kind."""
    kinds = [kind for s in published_of(paper) for kind in (*s.published, *s.optional)]
    needs = NEEDS | PUBLISHED_NEEDS
    return [
        (kind, path) for kind in dict.fromkeys(kinds) for path in needs[kind](paper)
    ]


def published_inputs(paper):
    """Paths of the tables of its published forms."""
    return list(dict.fromkeys(path for _, path in published_tables(paper)))


def published_files(paper):
    """Files of its published forms, but those that Snakemake's own report shows."""
    return [
        f"{RESULTS}/published/{spec.key}.{suffix}"
        for spec in published_of(paper)
        for suffix in ("cells.parquet", *FORMATS[spec.kind])
        if suffix != REPORTED[spec.kind]
    ]


def exhibit_arguments(wildcards):
    """The tables as the command wants them."""
    return [f"--input={kind}={path}" for kind, path in exhibit_tables(wildcards)]


def published_arguments(paper):
    """Those of its published forms as the command wants them."""
    return [f"--input={kind}={path}" for kind, path in published_tables(paper)]


def accuracies_of(wildcards):
    """Accuracies that regressions are fitted to: measured, or printed in the paper."""
    folder = "printed/" if wildcards.source == "printed" else ""
    return f"{RESULTS}/accuracies/{folder}{wildcards.benchmark}.parquet"


def method_of(wildcards):
    """The method that the accuracies of a source are by."""
    if wildcards.source == "printed":
        return "printed"
    return methods_of(wildcards.benchmark)[0]


def regression_models(wildcards):
    """Size, family and tuning of models; too few are printed to fit anything on them."""
    if wildcards.source == "printed":
        return {}
    return EVALUATION_FACTS["models"](CAMPAIGN, CATALOGUE)


def labels_of(wildcards):
    """Printed names of what an exhibit shows, models only where it shows accuracies; facts."""
    facts = spec_of(wildcards).facts
    named = CATALOGUE.languages_of(wildcards.paper)
    labels = {"languages": {k: row.name for k, row in named.items()}}
    if EVALUATION & {*spec_of(wildcards).needs}:
        paper, every = wildcards.paper, models_of(wildcards.paper)
        # Models trained on samples are for learning curves alone.
        curved = {m for models in curves_of(CATALOGUE.seeds).values() for m in models}
        shown = [k for k in every if (k in curved) == spec_of(wildcards).of_samples]
        labels["models"] = {k: CATALOGUE.models[k].label for k in shown}
        labels["left_out"] = [k for k in every if k not in shown]
        labels["method"] = methods_of(paper)[0]
    if wildcards.paper == MULTIBLIMP and ON_ITEMS & {*spec_of(wildcards).needs}:
        labels["items"] = origin_of_items(CAMPAIGN, CATALOGUE)
    if facts:
        labels["facts"] = {
            name: KNOWN_FACTS[name](CAMPAIGN, CATALOGUE) for name in facts
        }
    return json.dumps(labels, ensure_ascii=False)


def corrected_exhibits():
    """Exhibits of the corrected campaign that the report shows too, those that are there."""
    if CAMPAIGN.report.corrected is None:
        return []
    folder = CAMPAIGN.report.corrected / "exhibits"
    paths = [folder / f"{spec.key}.html" for spec in CAMPAIGN_EXHIBITS]
    # What is missing, the command says better than Snakemake.
    return [str(path) for path in paths if path.exists()]


def report_facts():
    """What the report says of the campaign, and its names for languages and models, as JSON."""
    facts = {
        "name": CAMPAIGN.campaign,
        "description": CAMPAIGN.description,
        "configfile": CAMPAIGN_FILE,
        "papers": PAPERS,
        "variant": CAMPAIGN.multiblimp.variant,
        "languages": {k: row.name for k, row in WHOLE.languages.items()},
        "models": {k: r.label for k, r in (WHOLE.models | CATALOGUE.models).items()},
    }
    return json.dumps(facts, ensure_ascii=False)


def published_labels(paper):
    """Printed names and facts for its published forms: of all languages and models."""
    models = {k: r.label for k, r in WHOLE.models.items() if paper in r.papers}
    names = dict.fromkeys(name for s in published_of(paper) for name in s.facts)
    facts = {name: KNOWN_FACTS[name](CAMPAIGN, WHOLE) for name in names}
    languages = {k: row.name for k, row in WHOLE.languages_of(paper).items()}
    labels = {"languages": languages, "models": models, "facts": facts}
    labels |= {"method": "printed", "source": "published"}
    return json.dumps(labels, ensure_ascii=False)
