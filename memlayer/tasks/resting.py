"""The rest of a task, unmentioned for days and sessions."""

from __future__ import annotations

from collections.abc import Collection

REST_MS = 14 * 86_400_000
REST_SESSIONS = 5


def is_resting(touched_ms: int, now_ms: int, later_sessions: Collection[str]) -> bool:
    """Return whether a task is shown no more.

    Later_sessions: those that began since it was last spoken of.
    """
    return now_ms - touched_ms >= REST_MS and len(later_sessions) >= REST_SESSIONS
