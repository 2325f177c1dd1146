"""Where the repository lies, for a workflow that is read from it or from a clone."""

import os
import subprocess
from pathlib import Path


def place_of(source):
    """A directory of the repository, which is checked out where Snakemake has no more than a clone.

    That is so where this is a module by `github(…)`, as snakedeploy makes it: Snakemake reads file
    by file then, and the library needs them all.
    """
    if isinstance(source, (str, os.PathLike)):
        return Path(source)
    clone = str(getattr(source, "repo_path", None) or source.hosted_repo.repo_clone)
    git = lambda *words: subprocess.check_output(["git", *words], text=True).strip()
    commit = git("-C", clone, "rev-parse", f"{source.ref}^{{commit}}")
    checkout = Path(".snakemake/blimpworks", commit).absolute()
    if not checkout.exists():
        partial = checkout.with_name(f"{commit}.{os.getpid()}")
        git("clone", "--quiet", "--no-checkout", clone, str(partial))
        git("-C", str(partial), "checkout", "--quiet", commit)
        partial.rename(checkout)
    return checkout / source.path
