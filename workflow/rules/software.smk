"""Choose the software of jobs: Snakemake's environment, or conda or images by --sdm.

Rules that run an engine use the environment of the engine. All others use the image below.
"""

from snakemake.settings.types import DeploymentMethod

from blimpworks.cluster.software import image_of, missing_images, mounts

IN_IMAGES = DeploymentMethod.APPTAINER in DEPLOYMENT


def image(environment):
    """Return the relative path of an environment's image, which is valid in a moved checkout."""
    return os.path.relpath(image_of(REPOSITORY, environment))


def environment_of(model):
    """Return the environment of the engine that runs a model."""
    return find_engine(layout.engine_of(model)).environment_of(CAMPAIGN.scoring)


def mount_in_images():
    """Give jobs in images access to their files, to caches of this user, and to GPUs.

    Without this, only the working directory is mounted.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    local = [row.hf_id for row in CATALOGUE.models.values() if is_local(row.hf_id)]
    paths = [REPOSITORY, caches, CAMPAIGN.mirror, *local]
    paths += [os.environ.get(name) for name in ("HF_HOME", "HF_HUB_CACHE")]
    paths += [
        path
        for path in CAMPAIGN.catalogue.model_dump().values()
        if isinstance(path, Path)
    ]
    paths += [
        SITE.cache if SITE else None,
        *CAMPAIGN.pathvars.model_dump().values(),
    ]
    program = "APPTAINER" if shutil.which("apptainer") else "SINGULARITY"
    users_mounts = filter(None, os.environ.get(f"{program}_BIND", "").split(","))
    our_mounts = mounts(Path(path).expanduser() for path in paths if path)
    all_mounts = dict.fromkeys([*users_mounts, *our_mounts])
    os.environ.update(
        {f"{program}_BIND": ",".join(all_mounts), "XDG_CACHE_HOME": str(caches)}
    )
    # The Snakemake process of each job reads this on the job's node.
    if shutil.which("nvidia-smi"):
        os.environ[f"{program}_NV"] = "1"


if IN_IMAGES:
    mount_in_images()


# This image has the software of all rules but those of vLLM.
container: image("train")
