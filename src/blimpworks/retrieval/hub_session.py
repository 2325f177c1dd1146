"""Limit the waiting time of the hub's library, which has no limit in some requests."""

from typing import Any

PATIENCE = 30.0
"""Seconds without a connection, or without any byte of an answer."""


def _limit(request: Any) -> None:
    timeouts = request.extensions.get("timeout", {})
    phases = ("connect", "read", "write", "pool")
    request.extensions["timeout"] = {phase: timeouts.get(phase) or PATIENCE for phase in phases}


def limit_waits() -> None:
    """Let the requests of the hub's library in this process fail after ``PATIENCE``.

    Call it before each attempt: after errors the library opens a new session.
    """
    from huggingface_hub import get_session

    session = get_session()
    hooks = session.event_hooks
    if _limit not in hooks["request"]:
        session.event_hooks = {**hooks, "request": [*hooks["request"], _limit]}
