"""Why jobs failed, from Snakemake's own log and theirs."""

import re
from pathlib import Path

FAILED = re.compile(r"^Error in (?=(?:rule|group) )", re.MULTILINE)
"""Begins what Snakemake says of failed jobs."""
LOG = re.compile(r"^ +log: ([^,\s]+).* \(check log", re.MULTILINE)
"""The rule's own log; SLURM's may stand behind it."""
MESSAGE = re.compile(
    r"^    message: (.*?)(?:^    sbatch |For further error details see)", re.MULTILINE | re.DOTALL
)
"""What the executor says of it, without the command that it gave to sbatch."""
STARTED = "SLURM-job "
"""Begins what the executor says of a job that sbatch has taken."""


def failing_words(text: str) -> str:
    """What failed jobs said last, one line each, from the ``text`` of Snakemake's log.

    A job that was not submitted has said nothing, or what it said in an earlier run; then these are
    the words of sbatch.
    """
    messages: dict[str, str] = {}
    for failed in FAILED.split(text)[1:]:
        message = MESSAGE.search(failed)
        words = " ".join(message[1].split()) if message else ""
        messages |= dict.fromkeys(LOG.findall(failed), words)
    lines = ["What failed:"]
    for name, words in messages.items():
        log, said = Path(name), list[str]()
        if log.is_file() and (not words or words.startswith(STARTED)):
            said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        lines += [f"  {name}", f"    {said[-1] if said else words or 'said nothing'}"]
    lines.append("Finished work is kept; the same command goes on from there.")
    return "\n".join(lines)
