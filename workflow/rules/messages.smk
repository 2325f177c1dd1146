"""Print messages at the start and end of a run, and check the software before its first job."""

import argparse


def start_message():
    """Return lines that list the unpinned files, which the campaign leaves out."""
    rows = layout.read_files
    names = [row.name for row in rows if not row.is_pinned(CAMPAIGN.checksums)]
    if not names or CAMPAIGN.unpinned == "error":
        return []
    unpinned = f"{len(names)} files that have no checksum (unpinned: skip):"
    return [f"Campaign {CAMPAIGN.campaign} does without {unpinned}", *names, ""]


def check_software():
    """Raise WorkflowError if software that jobs need is missing."""
    # Snakemake has no public name for the planned jobs (its issue 1884).
    jobs = [*workflow.dag.needrun_jobs()]
    if IN_IMAGES:
        missing = missing_images({job.container_img_url for job in jobs} - {None})
    elif DEPLOYMENT:
        return  # Snakemake creates the environments.
    else:
        missing = missing_beside_snakemake(jobs)
    if missing:
        raise WorkflowError("\n  - ".join(["Software is missing:", *missing]))


def missing_beside_snakemake(jobs):
    """Return the software that jobs need and no environment of this machine has."""
    from blimpworks.cluster.software import missing_software

    names = {job.rule.name for job in jobs}
    scoring = ("score", "answer")
    models = {
        job.wildcards.get("model") for job in jobs if job.rule.name.startswith(scoring)
    }
    engines = {layout.engine_of(model) for model in models - {None}}
    return [*missing_software(engines, names, REPOSITORY)]


def fonts_to_install():
    """Return Debian's packages of fonts that figures lack."""
    from blimpworks.records.reading import record_of

    packages = set()
    for spec in layout.exhibits:
        path = Path(f"{RESULTS}/exhibits/{spec.key}.cells.parquet")
        if spec.kind == "figure" and path.exists():
            notes = (record_of(path) or {}).get("notes") or {}
            packages.update(notes.get("fonts_to_install", ()))
    return sorted(packages)


def jobs_options():
    """Return the option that decides where jobs run: this run's profile, or two cores."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--profile", default=os.environ.get("SNAKEMAKE_PROFILE"))
    profile = parser.parse_known_args()[0].profile
    return f"--profile {shlex.quote(profile)}" if profile else "--cores 2"


def end_message():
    """Return the paths of results and commands for next steps."""
    chosen = f"--configfile {CAMPAIGN_FILE} " if CAMPAIGN_FILE != DEFAULT else ""
    programs = os.path.relpath(Path(sys.executable).parent)
    prefix = "" if programs.startswith("..") else f"{programs}/"
    lines = [f"Campaign {CAMPAIGN.campaign}: exhibits are in {RESULTS}/exhibits/"]
    lines += [f"  {path}" for path in layout.unshown_tables() if os.path.exists(path)]
    explained = None  # exhibit with a cell for the example of `blimpworks explain`
    for spec in layout.exhibits:
        path = (
            f"{RESULTS}/exhibits/{spec.key}.{'md' if spec.kind == 'table' else 'png'}"
        )
        if os.path.exists(path):
            lines.append(f"  {path}  {spec.title}")
            # The first such exhibit has a row for each language and a column for each model.
            if explained is None and {"accuracies", "items"} <= {*spec.needs}:
                explained = spec
    if fonts := fonts_to_install():
        lines += [
            "No font has the letters of some names in figures, which have numbers instead. To see "
            f"the names, install {' and '.join(fonts)} (Debian's packages), then:",
            f"  {prefix}snakemake {chosen}{jobs_options()} --forcerun build_figure",
        ]
    if explained:
        language = next(iter(CATALOGUE.languages.values()))
        model = CATALOGUE.models[layout.models_of(explained.paper)[0]]
        lines += [
            "Where does a number come from?",
            f"  {prefix}blimpworks explain {RESULTS}/exhibits/{explained.key}.csv "
            f"--row {language.name!r} --column {model.label!r} --items 5",
            "One exhibit again, after a change:",
            f"  {prefix}snakemake {chosen}{jobs_options()} {explained.alias}",
        ]
    lines += [
        "Is everything as it was made?",
        f"  {prefix}blimpworks check {RESULTS}",
    ]
    return "\n".join(lines)
