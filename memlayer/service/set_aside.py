"""Spool files that could not be read, and so were set aside: which of them may hold what is forgotten."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container

from memlayer.ports import Selection
from memlayer.service.projects import Projects
from memlayer.wire import paths, spool

HEAD_CHARS = 10_000


def drop_forgotten(home: str, event_ids: Container[str], selection: Selection, projects: Projects | None) -> int:
    """Remove those of these events or of that selection, and those that do not say whose they are: they cannot be
    recalled, but they can be read. Returns how many. Raises OSError."""
    dropped = 0
    folder = paths.quarantine(home)
    for name, _ in spool.quarantined(home):
        path = os.path.join(folder, name)
        if _is_gone(path, event_ids, selection, projects):
            for each in (path, path + ".reason"):
                spool.drop([each])
            dropped += 1
    if dropped:
        paths.sync_folder(folder)
    return dropped


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
        of_another = selection.session_id and _session_of(path) not in ("", selection.session_id)
        return not of_another and (not selection.before_ms or at_ms < selection.before_ms)
    project_id = projects.find(str(event["project_dir"]))[0] if projects is not None else ""
    return (
        selection.session_id in ("", event["session_id"])
        and selection.project_id in ("", project_id)
        and (not selection.before_ms or at_ms < selection.before_ms)
    )


def _session_of(path: str) -> str:
    """The session that a torn file still names; "" when it does not."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r'"session_id": ("(?:[^"\\]|\\.)*")', file.read(HEAD_CHARS))
        return str(json.loads(found.group(1))) if found is not None else ""
    except (OSError, ValueError):
        return ""
