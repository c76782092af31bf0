"""Answers what the command line asks about memory files."""

from __future__ import annotations

import os
from dataclasses import asdict

from memlayer.daemon.ops.arguments import folder_of
from memlayer.daemon.ops.queries import Fields, Operation, Progress, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import memory_files
from memlayer.errors import UserError
from memlayer.model import GLOBAL


def files(state: State, asked: Fields, progress: Progress) -> Fields:
    """Where a project's memory files are, and what is the matter with them. now: brought in step first."""
    services = services_of(state)
    project_id = GLOBAL if asked.get("global") else state.projects.find(folder_of(asked))[0]
    if not project_id:
        raise UserError("No memory files yet: nothing is remembered of this project")
    taken: Fields = {}
    if asked.get("now"):
        job = state.jobs.submit("files %d" % id(asked), lambda: memory_files.sync(state, project_id))
        taken = asdict(job.result())
        while not state.jobs.submit("extra %d" % id(asked), lambda: memory_files.extra_part(state)).result():
            progress("extra files", 0, 1)
    folder = services.files.folder(project_id)
    paths = [os.path.join(folder, name) for name in services.files.names(project_id)] if folder else []
    return {
        "project_id": project_id,
        "project": state.projects.name(project_id),
        "folder": folder,
        "files": [path for path in paths if os.path.lexists(path)],
        "taken_back": taken,
        "notices": state.status()["file_notices"],
        "extra": services.extra.counts(),
    }


OPERATIONS: dict[str, Operation] = {"files": files}
