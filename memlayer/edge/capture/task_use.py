"""The host's tasks as task events: its task hooks, TaskUpdate and TodoWrite.

The text of such an event is JSON, {"by": "host", "observed": [...]}. tasks/events.py reads it. Both hosts send
TaskCreated and TaskCompleted with id and title. TaskUpdate names the id alone. TodoWrite has the whole list, and the
one before.
"""

from __future__ import annotations

import json

from memlayer.edge.redaction.privacy import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = ("TaskUpdate", "TodoWrite")
MAX_TITLE_CHARS = 200
MAX_ROWS = 50
_WISHES = {"task_created": "created", "task_completed": "done"}
_STATUSES = {"pending": "pending", "in_progress": "in_progress", "completed": "done", "deleted": "cancelled"}


def task_text(hook: str, data: dict[object, object], clean: Callable[[str], str]) -> str:
    """Return the event's text, cleaned, or "" without a task."""
    rows: list[dict[str, object]]
    if hook in _WISHES:
        rows = [{"wish": _WISHES[hook], "ref": _ref(data), "title": _title(data.get("task_subject"), clean)}]
    elif data.get("tool_name") == "TaskUpdate":
        rows = _update(_dict(data.get("tool_input")), _dict(data.get("tool_response")))
    else:
        rows = _todos(_dict(data.get("tool_input")), _dict(data.get("tool_response")), clean)
    rows = [row for row in rows if row.get("title") or row.get("ref")][:MAX_ROWS]
    return json.dumps({"by": "host", "observed": rows}, ensure_ascii=False) if rows else ""


def _update(given: dict[object, object], response: dict[object, object]) -> list[dict[str, object]]:
    ref = given.get("taskId")
    if response.get("success") is not True or not isinstance(ref, str):
        return []
    rows: list[dict[str, object]] = []
    blockers = given.get("addBlockedBy")
    if isinstance(blockers, list) and blockers:
        named = ["#" + str(blocker)[:40] for blocker in blockers[:MAX_ROWS]]
        rows.append({"ref": ref[:40], "wish": "blocked", "blockers": named})
    status = _STATUSES.get(str(given.get("status")))
    if status:
        rows.append({"ref": ref[:40], "wish": status})
    return rows


def _todos(
    given: dict[object, object], response: dict[object, object], clean: Callable[[str], str]
) -> list[dict[str, object]]:
    """Return a list's new, changed and left out entries."""
    new, old = _list(given.get("todos"), clean), _list(response.get("oldTodos"), clean)
    rows: list[dict[str, object]] = []
    for title, status in new.items():
        if title not in old:
            rows.append({"wish": "created", "title": title, "status": status})
        elif old[title] != status:
            rows.append({"wish": status, "title": title})
    rows += [
        {"wish": "cancelled", "title": title, "reason": "it was taken from the list"}
        for title, status in old.items()
        if title not in new and status != "done"
    ]
    return rows


def _list(value: object, clean: Callable[[str], str]) -> dict[str, str]:
    """Return title -> status of a list's entries."""
    out: dict[str, str] = {}
    for row in value[:MAX_ROWS] if isinstance(value, list) else ():
        entry = _dict(row)
        title = _title(entry.get("content"), clean)
        if title:
            out[title] = _STATUSES.get(str(entry.get("status")), "pending")
    return out


def _ref(data: dict[object, object]) -> str:
    ref = data.get("task_id")
    return ref[:40] if isinstance(ref, str) else ""


def _title(value: object, clean: Callable[[str], str]) -> str:
    # Within the event's JSON a hidden sign at the title's end stands between others: cleaned again, it would go.
    text = " ".join(plain(clean(value)).split()) if isinstance(value, str) else ""
    return text[:MAX_TITLE_CHARS] if any(char.isalnum() for char in text) else ""


def _dict(value: object) -> dict[object, object]:
    return value if isinstance(value, dict) else {}
