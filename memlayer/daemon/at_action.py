"""Lines at the action, before a call and behind a failed one.

Nothing here blocks, asks, or decides a permission.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from memlayer.daemon.hook_call import Answer, HookCall, record_entry
from memlayer.daemon.resources.state import Send, State
from memlayer.daemon.tasks.lessons import learn
from memlayer.edge.capture import hosts
from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.tool_use import EDITS
from memlayer.edge.home import project
from memlayer.edge.ipc import protocol
from memlayer.give import at_action, given_notes
from memlayer.model import unix_ms
from memlayer.ports import memories_by_id
from memlayer.turns.outcome import call_of

_CHANGES = ("new_string", "new_source", "content")


def answer_before(request: protocol.Request, send: Send, state: State) -> None:
    """Answer before a call. It leaves no event."""
    send(protocol.DURABLE, b"")
    fields, host = asked(request)
    folder = project.here(os.fsdecode(request.project_dir)) or project.here(str(fields.get("cwd") or ""))
    line = ""
    if folder and project.enabled(folder) and state.held.rules_for(folder).recall.enabled:
        line = before(state, fields, state.projects.find(folder)[0])
    send(protocol.REPLY, host.output("pre_tool_use", line))


def asked(request: protocol.Request) -> tuple[dict[str, Any], hosts.Host]:
    """Return fields and host of a hook that only asks."""
    try:
        return hosts.read_fields(request.body)
    except ValueError:
        return {}, hosts.CLAUDE


def before(state: State, fields: Mapping[str, Any], project_id: str, error: str = "") -> str:
    """Return the line on a call, "" for none.

    fields: as the host's. error: that it has met already, in a talk with the agent.
    """
    tool, arguments = str(fields.get("tool_name") or "")[:120], fields.get("tool_input")
    lessons = held_lessons(state, project_id)
    if lessons is None or not isinstance(arguments, dict):
        return ""
    session_id = str(fields.get("session_id") or "")[:200]
    call = at_action.Action(tool, _target(tool, arguments), session_id, _brings(arguments))
    event = {"at_ms": unix_ms(), "session_id": session_id, "id": str(fields.get("tool_use_id") or "")[:200]}
    advice = lessons.before(call) or (lessons.after(call, clean(error)) if error else None)
    return _told(state, event, project_id, call.target, advice)


def held_lessons(state: State, project_id: str) -> at_action.Lessons | None:
    """Return a project's lessons; None while they are learnt, or switched off.

    A session may have begun without a daemon, which then learns them at the first call.
    """
    if not state.settings.moments.at_action or not project_id:
        return None
    lessons = state.derived.at_action.lessons.get(project_id)
    if lessons is None and state.is_open:
        state.loader.submit("lessons " + project_id, lambda: learn(state, project_id))
    return lessons


def _target(tool: str, arguments: Mapping[str, Any]) -> str:
    """The call's command, file or input, redacted, as it would be kept."""
    if tool in EDITS:
        return clean(str(arguments.get("file_path") or arguments.get("notebook_path") or ""))
    told = arguments.get("command") if tool == "Bash" else json.dumps(arguments, ensure_ascii=False, default=str)
    return " ⏎ ".join(clean(str(told or ""))[: at_action.MAX_TARGET_CHARS].splitlines())


def _brings(arguments: Mapping[str, Any]) -> str:
    edits = arguments.get("edits")
    rows = [arguments, *(row for row in edits if isinstance(row, dict))] if isinstance(edits, list) else [arguments]
    told = (str(row[name]) for row in rows for name in _CHANGES if isinstance(row.get(name), str))
    return clean("\n".join(told)[: at_action.MAX_CHANGE_CHARS])


def answer_failure(state: State, call: HookCall) -> Answer:
    """Answer behind a failed call with its cure, if one is known."""
    failed = call_of(str(call.event["text"]), str(call.event["detail"]))
    if call.event["kind"] != "tool" or not failed.is_failed:
        return Answer()
    lessons = held_lessons(state, call.session.project_id)
    if lessons is None:
        return Answer()
    error = str(call.event["text"]).partition("\n")[2]
    advice = lessons.after(at_action.Action(failed.tool, failed.target, call.session.id), error)
    return Answer(_told(state, call.event, call.session.project_id, failed.target, advice))


def _told(state: State, event: Mapping[str, Any], project_id: str, target: str, advice: at_action.Advice | None) -> str:
    """Return an advice's line, "" if it was told or forgotten."""
    store = state.services.result().store if state.is_open and advice is not None else None
    if store is None or advice is None or not (store.events(ids=[advice.id]) or memories_by_id(store, [advice.id])):
        return ""
    line = state.derived.at_action.tell(str(event["session_id"]), advice, int(event["at_ms"]), target)
    if line:
        record_entry(state, given_notes.of_action(event, project_id, line, "behind" if "kind" in event else "before"))
    return line
