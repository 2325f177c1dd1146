"""Where jobs get their software: beside Snakemake, or by --sdm from conda or images.

Rules that run an engine choose by it; all others take the one image below.
"""

from snakemake.settings.types import DeploymentMethod

from blimpworks.cluster.software import image_of, missing_images, mounts

IN_IMAGES = DeploymentMethod.APPTAINER in DEPLOYMENT


def image(environment):
    """Image of an environment, by a path that stays the same where the checkout moves."""
    return os.path.relpath(image_of(REPOSITORY, environment))


def environment_of(model):
    """Environment of the engine that runs a model."""
    return find_engine(layout.engine_of(model)).environment_of(CAMPAIGN.scoring)


def show_to_images():
    """Let jobs in images see the files that they use, the caches of this user, and GPUs.

    A job's home is the working directory there; only that is mounted by itself.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    local = [row.hf_id for row in CATALOGUE.models.values() if is_local(row.hf_id)]
    places = [REPOSITORY, caches, CAMPAIGN.mirror, *local]
    places += [os.environ.get(name) for name in ("HF_HOME", "HF_HUB_CACHE")]
    places += [
        path
        for path in CAMPAIGN.catalogue.model_dump().values()
        if isinstance(path, Path)
    ]
    places += [
        SITE.cache if SITE else None,
        *CAMPAIGN.pathvars.model_dump().values(),
    ]
    program = "APPTAINER" if shutil.which("apptainer") else "SINGULARITY"
    already = filter(None, os.environ.get(f"{program}_BIND", "").split(","))
    seen = dict.fromkeys([*already, *mounts(Path(p).expanduser() for p in places if p)])
    os.environ.update(
        {f"{program}_BIND": ",".join(seen), "XDG_CACHE_HOME": str(caches)}
    )
    # Each job's Snakemake reads this where the job runs.
    if shutil.which("nvidia-smi"):
        os.environ[f"{program}_NV"] = "1"


if IN_IMAGES:
    show_to_images()


# What it has is enough for all rules but those of vLLM.
container: image("train")
