"""Notes held against the checked-out code, beside the writer."""

import logging
from collections.abc import Mapping

from memlayer.daemon.resources.state import State
from memlayer.edge.home import project
from memlayer.kinds import Kind
from memlayer.model import Memory
from memlayer.ports import notes_in_force

MAX_NOTES = 2000
log = logging.getLogger(__name__)


def note(state: State, project_id: str) -> None:
    """Have names of new notes looked up, and all marks renewed."""
    state.loader.submit("code of " + project_id, lambda: _note(state, project_id))


def _note(state: State, project_id: str) -> None:
    services = state.ready()
    if services is None:
        return
    rows = notes_in_force(services.store, project_id, MAX_NOTES)

    def root_of(memory: Memory) -> str:
        session = state.sessions.get(memory.session_id) if memory.session_id else None
        folder = session.project_dir if session is not None else ""
        return project.locate(folder).root if folder else state.projects.root(project_id)

    try:
        state.derived.ground.note(project_id, [row for row in rows if row.kind != Kind.TASK], root_of)
    except OSError as bad:
        log.warning("the names of notes are not kept: %s", bad.strerror)
    for root in state.derived.ground.roots(project_id):
        state.derived.ground.look(project_id, root)


def look(state: State, project_id: str, root: str) -> Mapping[str, str]:
    """Return citation -> mark of a project's notes in a work tree."""
    return state.derived.ground.look(project_id, root) if project_id and root else {}


def marks(state: State, project_id: str, root: str) -> Mapping[str, str]:
    """Return the marks of the last look, which asks git nothing."""
    if root not in state.derived.ground.roots(project_id):
        state.loader.submit("code in " + root, lambda: look(state, project_id, root))
    return state.derived.ground.marks(project_id, root)


def of_folder(state: State, folder: str) -> Mapping[str, str]:
    """Return the marks of a folder's project there, looked up now."""
    return look(state, *((state.projects.find(folder)[0], project.locate(folder).root) if folder else ("", "")))
