"""What a person asks to remember, as an event for the spool: durable before anything else happens to it."""

from __future__ import annotations

import re

from memlayer.core.payload import clean, spool_event
from memlayer.core.turn import MAX_MEMORY_CHARS
from memlayer.errors import UserError

NO_SESSION = "memlayer"  # the session of what was said outside any
_REDACTED = re.compile(r"\[redacted:[^\]]*\]")
_SAYS = re.compile(r"[^\W_]")


def says_something(text: str) -> bool:
    """True if a redacted text holds a word or a number besides the marks of what was taken out."""
    return _SAYS.search(_REDACTED.sub("", text)) is not None


def is_all_redacted(text: str) -> bool:
    """True if nothing but the marks of what was taken out is left of a redacted text."""
    return _REDACTED.search(text) is not None and not says_something(text)


def refuse_too_long(text: str) -> None:
    """Raises UserError for a text that a memory cannot hold whole: what is kept of it must be all of it."""
    if len(text) > MAX_MEMORY_CHARS:
        raise UserError(
            f"{len(text):,} characters are too long for one memory, and nothing was kept: give at most"
            f" {MAX_MEMORY_CHARS:,}, or remember it in parts"
        )


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
