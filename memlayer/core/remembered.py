"""What a person asks to remember, as an event for the spool: durable before anything else happens to it."""

from __future__ import annotations

from memlayer.core.payload import clean, spool_event

NO_SESSION = "memlayer"  # the session of what was said outside any


def remember_event(text: str, *, project_dir: str, at_ms: int, session_id: str = "") -> dict[str, object]:
    """The event (core.payload.SPOOL_FIELDS). text is redacted here. at_ms: Unix time in milliseconds.

    The same text said again later is another event: it may hold again after something else did.
    """
    text = clean(text).strip()
    return spool_event(
        kind="remember",
        session_id=session_id or NO_SESSION,
        prompt_id="",
        text=text,
        at_ms=at_ms,
        extra="%d %s" % (at_ms, text),
        project_dir=project_dir,
    )
