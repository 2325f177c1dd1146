"""Make attempts of jobs, and commands that stand in for SLURM, which not every machine has."""

import stat
import uuid
from datetime import timedelta
from itertools import count

from blimpworks.files import write_text
from blimpworks.records import journal
from blimpworks.scoring.progress import LanguageProgress, ProgressFile

ASKED = journal.Asked(mem_mb=64000, minutes=240, gpus=2, cores=8)


def scored(new, sentences=90, **facts):
    """Return counts of sentences of nine tokens, at 450 tokens a second after 30 s of loading."""
    own = {"done": new, "tokens": 9 * new, "load_seconds": 30.0, "score_seconds": new / 50}
    return journal.Scored(sentences=sentences, new=new, **(own | facts))


def started(job=None, ago=60.0, asked=ASKED, node="gpu1"):
    facts = {"node": node, "gpus": ("NVIDIA A100",) * asked.gpus, "asked": asked}
    moment = journal.now() - timedelta(seconds=ago)
    return journal.Started(attempt=uuid.uuid4().hex, time=moment, slurm_job=job, **facts)


JOBS = count(1000)


def attempt(cause, new=None, *, job=None, seconds=9.5, rss_mb=100, begun=None):
    """Return an attempt that ended with ``cause``; ``lost`` and ``open`` have no end."""
    begun = begun or started(job or str(next(JOBS)))
    known = None if new is None else scored(new)
    if cause in ("lost", "open"):
        left = (
            journal.Lost(attempt=begun.attempt, time=journal.now(), scored=known) if known else None
        )
        return journal.Attempt(begun, lost=left)
    facts = {"cause": cause, "exit": 1, "seconds": seconds, "rss_mb": rss_mb, "scored": known}
    return journal.Attempt(begun, journal.Ended(attempt=begun.attempt, time=journal.now(), **facts))


def write_attempts(log, *attempts):
    for each in attempts:
        for entry in filter(None, (each.started, each.ended, each.lost)):
            journal.append_entry(journal.journal_path(log), entry)


def write_progress(log, known, attempt=None, ago=0.0, languages=None):
    """Write the progress file of a job whose last update was ``ago`` seconds ago."""
    ident = attempt.started.attempt if attempt else uuid.uuid4().hex
    facts = {"attempt": ident, "updated": journal.now() - timedelta(seconds=ago)}
    counts = {
        lang: LanguageProgress(done=done, sentences=total)
        for lang, (done, total) in (languages or {}).items()
    }
    progress = ProgressFile(**known.model_dump(), **facts, languages=counts)
    write_text(journal.progress_path(log), progress.model_dump_json())


def stand_in(folder, name, script):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
