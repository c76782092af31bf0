"""Answers what `doctor` asks beyond the daemon's status: whether what was said was kept."""

from __future__ import annotations

import time
from dataclasses import asdict

from memlayer.daemon.ops.queries import Fields, Operation, Progress, services_of
from memlayer.daemon.resources.state import State
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import audit


def witness(state: State, asked: Fields, progress: Progress) -> Fields:
    """The host's transcripts counted against the store; finding: (ok | warn | fail, what is so, what to do)."""
    store = services_of(state).store
    now_ms = int(time.time() * 1000)
    seen = audit.witness(state.home, state.sessions.all(), store, Tombstones(state.home), now_ms)
    finding = audit.finding(seen, is_capturing=state.settings.capture.enabled)
    return {**asdict(seen), "finding": finding}


OPERATIONS: dict[str, Operation] = {"witness": witness}
