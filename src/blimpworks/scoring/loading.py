"""Loading of model files, with one sentence for whatever goes wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blimpworks.errors import UserError


@contextmanager
def loading(directory: Path) -> Iterator[None]:
    """Turn what libraries raise on broken model files into one UserError about ``directory``.

    For a cut, missing or malformed file they raise anything from OSError to AttributeError.
    Running out of memory is no fault of the files and passes.
    """
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        said = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{directory}: the model cannot be loaded ({said[:300]}); "
            "train or retrieve it again, or choose another engine."
        ) from error
