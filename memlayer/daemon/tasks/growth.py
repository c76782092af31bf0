"""Levels of memories, computed anew now and then."""

import time

from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.growth import levels

EVERY_S = 3600.0  # uses come a few an hour, and a level moves in days


def look(state: State) -> None:
    """Have levels computed an hour after the last time; no prompt waits."""
    if state.is_open and state.times.is_due("levels", EVERY_S):
        state.jobs.submit("levels", lambda: renew(state))


def renew(state: State, project_id: str = "") -> None:
    """Compute levels of a project, or of all. The writer's job."""
    go_second()
    services = state.services.result()
    services.usages.shown()
    levels.renew(services.keep, int(time.time() * 1000), project_id)
    derived.publish(state)
