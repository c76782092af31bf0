"""Pull and push in the background, at a session's start and end."""

import logging
import time
from collections.abc import Sequence

from memlayer.daemon.ops import deletion
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, intake, vectors
from memlayer.errors import MemlayerError, ShareError

FIRST_WAIT_S, MAX_WAIT_S = 60.0, 3600.0
log = logging.getLogger(__name__)


def look(state: State) -> None:
    """Begin a sync that is due, behind everything else."""
    share = state.share
    if share.is_due and not share.jobs.pending and time.monotonic() >= share.next_s and state.is_open:
        share.jobs.submit("sync", lambda: _sync(state))


def _sync(state: State) -> None:
    share, services = state.share, state.services.result()
    sharing = services.sharing
    try:
        try:
            if sharing.is_automatic:
                batches.take_soon(state).result()
                sharing.sync()
        finally:
            services.teams.sync_all()
        share.is_due, share.wait_s = False, FIRST_WAIT_S
    except ShareError as bad:  # noted for `share status` and doctor. Nothing here depends on it
        log.warning("nothing is shared now: %s", bad)
        share.next_s = time.monotonic() + share.wait_s
        share.wait_s = min(MAX_WAIT_S, 2 * share.wait_s)
    except MemlayerError as bad:
        log.error("sharing failed: %s", bad)
        share.is_due = False


def forget(state: State, ids: Sequence[str]) -> int:
    """Erase what another machine has forgotten. The writer's job."""
    services = state.services.result()
    removed, project_ids = services.forget.forget_ids(ids)
    deletion.renew(state, services, project_ids)
    return removed.events + removed.memories


def settle(state: State) -> None:
    """Publish memories that came, and read on from them."""
    intake.publish_arrived(state)
    vectors.submit_embedding(state)
    intake.begin_consolidation(state)
