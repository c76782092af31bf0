"""The notes, tasks and sessions of a project as one HTML file."""

import os
import time
from collections import defaultdict
from importlib import resources

from markupsafe import Markup

from memlayer import __version__
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import UserError
from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import replace
from memlayer.view.source import Project, Source
from memlayer.view.visit import TEMPLATES
from memlayer.wire import memories as memory_ops
from memlayer.wire import tasks as task_ops
from memlayer.wire.memories import MemoryRow

ROWS = 10_000


def write(source: Source, path: str, project: Project) -> int:
    """Write the notes, tasks and sessions; return the bytes. Raises UserError, OSError."""
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.lexists(path):
        raise UserError(f"{path} is there already. Give another name")
    if not os.path.isdir(os.path.dirname(path)):
        raise UserError(f"There is no folder {os.path.dirname(path)}")
    notes = [row for row in _rows(source, project, Category.CORE) if row.kind != Kind.TASK]
    turns = _rows(source, project, Category.CONVERSATION)
    days = _rows(source, project, Category.DAILY)
    summaries = {row.session_id: row.text for row in days if row.kind == Kind.SESSION_SUMMARY}
    sessions: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in reversed(turns):
        sessions[row.session_id].append(row)
    order = [str(kind) for kind in KINDS]
    notes.sort(key=lambda row: (order.index(row.kind) if row.kind in order else len(order), -row.at_ms))
    tasks = source.ask(task_ops.Tasks(project.folder, "all")).tasks
    style = Markup(resources.files("memlayer.view").joinpath("static", "page.css").read_text(encoding="utf-8"))  # ours
    told = sorted(sessions.items(), key=lambda one: -one[1][-1].at_ms)
    text = TEMPLATES.get_template("export.html").render(
        project=project, notes=notes, sessions=told,
        summaries=summaries, tasks=[row for row in tasks if row.is_open], style=style, version=__version__,
        made=time.strftime("%Y-%m-%d %H:%M"),
    )  # fmt: skip
    data = text.encode("utf-8", "replace")
    paths.write_whole(path, data)
    return len(data)


def _rows(source: Source, project: Project, category: Category) -> list[MemoryRow]:
    """Return memories, redacted once more."""
    found = source.ask(memory_ops.List(project.folder, category=category, limit=ROWS)).memories
    return [replace(row, text=redact(row.text)) for row in found]
