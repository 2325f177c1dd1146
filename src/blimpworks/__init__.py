"""Rebuild the tables and figures of five papers on linguistic competence.

For notebooks: ``evaluate``, ``load_items`` and ``load_results`` (docs/evaluate.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blimpworks.evaluation.api import Results, evaluate, load_items, load_results

__version__ = "0.1.0"
__all__ = ["Results", "__version__", "evaluate", "load_items", "load_results"]


def __getattr__(name: str) -> Any:
    """Load the public interface on first use: commands start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("blimpworks.evaluation.api"), name)
