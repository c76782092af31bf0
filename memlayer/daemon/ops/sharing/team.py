"""Operations on a project's team, and on the notes that go there."""

from memlayer.daemon.ops.requests import Progress, memory_row, one_named, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.errors import ShareError
from memlayer.wire import sharing as ops


def setup(state: State, arguments: ops.TeamSetup, progress: Progress) -> ops.TeamState:
    """Begin, join or accept a team. Raises UserError, ShareError."""
    teams, project_id = services_of(state).teams, state.projects.resolve(arguments.project_dir)[0]
    teams.set_up(project_id, arguments.address, arguments.name, by_hand=arguments.by_hand)
    return status(state, ops.TeamStatus(arguments.project_dir), progress)


def status(state: State, arguments: ops.TeamStatus, progress: Progress) -> ops.TeamState:
    """Return the team in numbers; asks no server."""
    project_id, place = state.projects.find(arguments.project_dir)
    return services_of(state).teams.state(project_id, place.root)


def sync(state: State, arguments: ops.TeamSync, progress: Progress) -> ops.TeamSynced:
    """Send promoted notes, take others back, take colleagues' in. Raises ShareError."""
    pushed, pulled = services_of(state).teams.sync(project_of(state, arguments.project_dir))
    return ops.TeamSynced(pushed=pushed, pulled=pulled)


def leave(state: State, arguments: ops.TeamLeave, progress: Progress) -> ops.ShareEnded:
    """Take own notes back, and end the team here. Raises ShareError."""
    teams = services_of(state).teams
    return ops.ShareEnded(teams.leave(project_of(state, arguments.project_dir), keeps=arguments.keep))


def promote(state: State, arguments: ops.Promote, progress: Progress) -> ops.Promoted:
    """Have a note travel, at once if possible. Raises UserError."""
    services = services_of(state)
    memory, problem = one_named(services.store, arguments.id_), ""
    services.teams.promote(memory, is_undone=arguments.undo)
    try:
        services.teams.sync(memory.project_id, pulls=False)
    except ShareError as bad:  # noted. It goes with the next session
        problem = str(bad)
    address = services.teams.state(memory.project_id).address
    return ops.Promoted(memory=memory_row(state, memory), address=address, problem=problem)
