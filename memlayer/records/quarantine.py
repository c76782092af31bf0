"""Spool files in quarantine that may hold forgotten texts."""

import json
import os
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.model import GLOBAL
from memlayer.ports import Selection
from memlayer.records.projects import Projects

MAX_READ_BYTES = 2_000_000
MIN_PART_CHARS = 8  # of a text: shorter parts occur in too many unrelated texts


@dataclass(frozen=True)
class ForgottenTexts:
    """The forgotten texts, and the turns (session, prompt id) with them."""

    texts: Sequence[str] = ()
    turns: Container[tuple[str, str]] = ()


def drop_forgotten(
    home: str,
    event_ids: Container[str],
    selection: Selection,
    projects: Projects | None,
    forgotten: ForgottenTexts | None = None,
) -> int:
    """Remove quarantined events that may be forgotten. Return how many.

    Those of these events, of that selection, with these texts, and those that do not name their session: they cannot be
    recalled, but they can be read. Raises OSError.
    """
    dropped = 0
    for name, _ in spool.quarantined(home):
        path = os.path.join(paths.quarantine(home), name)
        if _is_gone(path, event_ids, selection, projects) or (forgotten is not None and _holds(path, forgotten)):
            spool.drop_quarantined(home, name)
            dropped += 1
    return dropped


def _holds(path: str, forgotten: ForgottenTexts) -> bool:
    """True if a file holds a forgotten text, part or turn."""
    raw = _read(path)
    session_id, prompt_id, text = (_field(raw, name) for name in ("session_id", "prompt_id", "text"))
    if session_id and prompt_id and (session_id, prompt_id) in forgotten.turns:
        return True
    flat = " ".join(text.split())
    for wanted in (" ".join(text.split()) for text in forgotten.texts):
        shorter, longer = sorted((wanted, flat), key=len)
        if shorter and (shorter == longer or (len(shorter) >= MIN_PART_CHARS and shorter in longer)):
            return True
    return False


def _field(raw: str, name: str) -> str:
    """Return a string field, as far as a torn file has it."""
    match = re.search(r'"%s":\s*"((?:[^"\\]|\\.)*)' % name, raw)
    if match is None:
        return ""
    try:
        return str(json.loads('"%s"' % match.group(1)))
    except ValueError:  # control characters as they are, or half an escape
        return match.group(1)


def _read(path: str) -> str:
    return paths.read_start(path, MAX_READ_BYTES).decode("utf-8", "ignore")


def _is_gone(path: str, event_ids: Container[str], selection: Selection, projects: Projects | None) -> bool:
    event_id, at_ms = spool.id_of(path), spool.at_ms_of(path)
    if not event_id or event_id in event_ids:
        return True
    if selection.memory_ids or selection == Selection():
        return False
    try:
        event, _ = spool.load(path)
    except OSError:
        event = None
    if event is None:
        # Torn: its name tells the time, its beginning perhaps the session, and nothing the project.
        of_another = selection.session_id and _field(_read(path), "session_id") not in ("", selection.session_id)
        return not of_another and (not selection.before_ms or at_ms < selection.before_ms)
    is_global = event["kind"] == "remember" and event["detail"] == GLOBAL
    project_id = projects.find(str(event["project_dir"]))[0] if projects is not None else ""
    project_id = GLOBAL if is_global else project_id
    return (
        selection.session_id in ("", event["session_id"])
        and selection.project_id in ("", project_id)
        and (not selection.before_ms or at_ms < selection.before_ms)
    )
