"""Operations on projects: list, and the choice of a folder's project."""

import os

from memlayer.daemon.ops.requests import Progress, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.edge.home.project import locate, real
from memlayer.errors import UserError
from memlayer.keep.keep import Change
from memlayer.model import GLOBAL
from memlayer.wire import record as ops


def projects(state: State, arguments: ops.Projects, progress: Progress) -> ops.KnownProjects:
    """Return every project."""
    counts = services_of(state).store.stats().by_project
    rows: list[ops.KnownProject] = []
    for project_id, known in state.projects.known().items():
        root = str(known.get("root", ""))
        rows.append(
            ops.KnownProject(
                project_id=project_id, project=state.projects.name(project_id), project_dir=root,
                is_there=os.path.isdir(root), memory_count=counts.get(project_id, 0),
                chosen_dirs=[key.partition(":")[2].removesuffix("/.git") for key in known.get("chosen", ())],
            )
        )  # fmt: skip
    return ops.KnownProjects(projects=sorted(rows, key=lambda row: (-row.memory_count, row.project)))


def choose(state: State, arguments: ops.ChooseProject, progress: Progress) -> ops.ProjectChosen:
    """Give a folder to a project from now on."""
    folder, to = arguments.project_dir, ""
    if not os.path.isdir(folder):
        raise UserError(f"There is no folder {folder}")
    place = locate(folder)
    if real(folder) != place.root:
        raise UserError(
            f"{folder} lies in the repository {place.root}, which is one project. Run it there. Work on this folder "
            "alone is found by its paths: `memlayer search`, or `memlayer show --file PATH` for a file"
        )
    if arguments.name:
        to = state.projects.named(arguments.name)
        if to == GLOBAL:
            raise UserError("Memories for every project belong to no folder")
        if to == state.projects.find(folder)[0]:
            raise UserError(f"{folder} is that project already. Nothing is changed")
    former, to = state.projects.choose(folder, to)
    services = services_of(state)
    change = Change(frozenset((former, to)), frozenset((former, to)))
    derived.written(state, "choose", lambda: services.keep.tell(change))
    count = services.store.stats().by_project.get(former, 0)
    names = state.projects.name
    return ops.ProjectChosen(
        project_id=to, project=names(to), former_id=former, former=names(former), former_count=count
    )
