"""Damaged files put to their readers, and what becomes of each."""

import random
import signal
from contextlib import contextmanager
from typing import NamedTuple

from blimpworks.errors import LONGEST_UNSHORTENED, PATH, UserError
from support.fuzz_damage import DAMAGE, STRUCTURAL
from support.fuzz_readers import Data

PATIENCE = 5
"""Seconds of a processor that a reader may take, however busy the machine is."""


class Hang(BaseException):
    """A reader takes too long."""


class Outcome(NamedTuple):
    """What became of a damaged file."""

    kind: str
    """refused, same, noted or other; or a fault: silent, crash, hang, long, nameless."""
    said: str = ""


FAULTS = {"silent", "crash", "hang", "long", "nameless"}


@contextmanager
def patience():
    def stop(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _data(value):
    return value if isinstance(value, Data) else Data(value)


def _refusal(error, path):
    lines = str(error).split("\n")
    if max(len(PATH.sub("", line)) for line in lines) > 2 * LONGEST_UNSHORTENED:
        return Outcome("long", str(error))
    # A folder's file may be named by the folder, and a name may be cut with the sentence.
    named = any(name in lines[0] for name in (path.name, path.stem, path.parent.name))
    return Outcome("refused" if named else "nameless", str(error))


def outcome(reader, path, valid, harmless):
    """What a reader makes of the file, whose valid data are ``valid``."""
    try:
        with patience():
            data = _data(reader.read(path))
    except UserError as error:
        return _refusal(error, path)
    except Hang:
        return Outcome("hang")
    except Exception as error:
        return Outcome("crash", f"{type(error).__name__}: {error}"[:300])
    if repr(data.content) == repr(valid.content):
        return Outcome("same")
    if repr(data.noted) != repr(valid.noted):
        return Outcome("noted")
    return Outcome("other" if harmless else "silent", repr(data.content)[:200])


def put(reader, folder, seeds):
    """Each damage, and what the reader makes of its file with that, by each of the seeds."""
    path = reader.write(folder)
    content, valid = path.read_bytes(), _data(reader.read(path))
    harmful = {each.__name__ for each in STRUCTURAL}
    for name, damage in DAMAGE.items():
        for seed in seeds:
            path.write_bytes(damage(content, random.Random(f"{reader.name} {name} {seed}")))
            harmless = name not in harmful or name in reader.same
            yield name, seed, outcome(reader, path, valid, harmless)
    path.unlink()
    yield "missing", 0, outcome(reader, path, valid, "missing" in reader.same)
    path.mkdir()
    yield "directory", 0, outcome(reader, path, valid, harmless=False)
