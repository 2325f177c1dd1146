"""How long the hub's library waits for an answer: by itself it waits for some forever."""

from typing import Any

PATIENCE = 30.0
"""Seconds without a connection, or without any byte of an answer."""


def _limit(request: Any) -> None:
    """Let a request end that has no limits of its own."""
    given = request.extensions.get("timeout", {})
    kinds = ("connect", "read", "write", "pool")
    request.extensions["timeout"] = {kind: given.get(kind) or PATIENCE for kind in kinds}


def limit_waits() -> None:
    """Let the requests of the hub's library in this process end after ``PATIENCE``.

    Until it opens a new session, which it does after errors: call it before each attempt.
    """
    from huggingface_hub import get_session

    session = get_session()
    hooks = session.event_hooks
    if _limit not in hooks["request"]:
        session.event_hooks = {**hooks, "request": [*hooks["request"], _limit]}
