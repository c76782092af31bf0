"""A project's lessons, learnt when a session ends and before one starts.

A small file in the home holds the words of which a call with a lesson has one. The hook reads it by itself, and asks
the daemon only where such a word stands in the call.
"""

import json
import logging

from memlayer.daemon.resources.state import State
from memlayer.edge.home import paths
from memlayer.give import at_action
from memlayer.turns import known_errors

log = logging.getLogger(__name__)
MAX_SIGNS = 400  # words in the file, of all projects
LEARNING_S = 5.0  # waited for the store
MAX_AHEAD = 20  # calls after a line, looked at for its effect


def learn(state: State, project_id: str) -> None:
    """Learn a project's lessons, once the store is open."""
    if state.ready(LEARNING_S) is not None:
        refresh(state, project_id)


def refresh(state: State, project_id: str) -> None:
    """Learn a project's lessons anew. Raises StoreError."""
    if not state.settings.moments.at_action:
        return
    state.derived.at_action.lessons[project_id] = at_action.read_lessons(state.services.result().store, project_id)
    signs = [sign for rows in state.derived.at_action.lessons.values() for sign in sorted(rows.signs)][:MAX_SIGNS]
    sent = [json.dumps(sign, ensure_ascii=False)[1:-1].replace("\n", " ") for sign in signs]  # as in the host's JSON
    try:
        paths.write_whole(paths.actions(state.home), "\n".join(sent).encode("utf-8", "replace"))
    except OSError as bad:
        log.warning("the words of lessons are not written: %s", bad.strerror)


def count_effects(state: State, session_id: str) -> None:
    """Count the effects of an ended session's lines."""
    lines = state.derived.at_action
    due = [(key, row) for key, row in lines.told.items() if key[0] == session_id and key not in lines.counted]
    calls = at_action.calls_of(state.services.result().store, session_id=session_id) if due else []
    for key, (at_ms, target) in due:
        later = [call for call in calls if call.event.at_ms >= at_ms][:MAX_AHEAD]
        state.metrics.told_at_action(_effect(target, later))
        lines.counted.add(key)


def _effect(target: str, later: list[known_errors.KeptCall]) -> str:
    """Name the effect of a line: repeated, worked, changed or nothing."""
    same = [call for call in later if known_errors.is_same(call.target, target)]
    if same:
        return "worked all the same" if not same[0].is_failed else "repeated"
    has_worked = any(not call.is_failed and known_errors.related(target, call.target) for call in later)
    return "changed and worked" if has_worked else "changed" if later else "left"
