"""Answers to tool calls: a note where one is due, else nothing."""

from __future__ import annotations

import logging

from memlayer.daemon.hook_call import Answer, Call
from memlayer.daemon.resources.state import State
from memlayer.edge.capture.tool_use import FAILED
from memlayer.errors import MemlayerError
from memlayer.moments.failing_calls import error_of
from memlayer.moments.moment import Moment

log = logging.getLogger(__name__)


def answer_failed_call(state: State, call: Call) -> Answer:
    """Tell, once a session, of an error that an earlier one met."""
    is_failed = str(call.event["detail"]).endswith(" " + FAILED)
    if not is_failed or not state.settings.moments.failing_calls or not _is_on(state, call):
        return Answer()
    try:
        errors = state.services.result().errors
        session, error = call.session, error_of(str(call.event["text"]))
        moment = errors.moment(error, session.project_id, session.id, frozenset(session.shown))
    except MemlayerError as bad:
        log.error("a failed call was not looked up: %s", bad)
        return Answer()
    return _answer(moment)


def _is_on(state: State, call: Call) -> bool:
    return state.is_open and state.rules_for(call.place).recall.enabled


def _answer(moment: Moment | None) -> Answer:
    return Answer(moment.block, moment=moment) if moment is not None else Answer()
