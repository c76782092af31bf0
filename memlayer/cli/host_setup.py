"""Hooks of memlayer in another host's settings: written, taken out, checked.

The person trusts each hook there. The host keeps a hash of it, so a changed hook has to be trusted anew.
"""

import hashlib
import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

from memlayer.cli.doctor.checks import OK, WARN, Check
from memlayer.cli.mcp_clients import (
    NAME,
    Change,
    carry_out,
    changed,
    client_of,
    entry_of,
    json_of,
    json_text,
    path_of,
    planned,
    read_text,
)  # fmt: skip
from memlayer.edge.capture.hosts import HOSTS, Host
from memlayer.errors import UserError

REGISTERED = {host.name: host for host in HOSTS.values() if host.config}
_ENDING = "2>/dev/null || true"
_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")


def command(host: Host, root: str, hook: str) -> str:
    """Return the shell's line for a hook; it never fails the host."""
    return f"sh {shlex.quote(root + '/hooks/run')} {hook} {host.name} {_ENDING}"


def groups_of(host: Host, root: str) -> dict[str, dict[str, Any]]:
    """Return event -> the group of handlers that is registered."""
    made = {}
    for event, (hook, matcher, seconds) in host.hooks.items():
        handler = {"type": "command", "command": command(host, root, hook), "timeout": seconds}
        made[event] = {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    return made


def set_up(host: Host, root: str) -> list[Change]:
    """Register hooks and server; return the changed files. Raises UserError, OSError."""
    hooks = _hooks_change(host, groups_of(host, root))
    server = planned(client_of(host.name), entry_of(client_of(host.name), root, project="", all_projects=False))
    return _carried_out([hooks, server])


def take_out(host: Host) -> list[Change]:
    """Remove hooks, their trust, and server. Raises UserError, OSError."""
    path = path_of(host.config)
    ours = [key for key, _, _ in _registered(host, json_of(path, read_text(path) or ""))]
    trusted = changed(
        _settings(host), lambda text: _without_trust(host, text, ours), is_removal=True, mark="hooks.state"
    )
    done = _carried_out([_hooks_change(host, {}), trusted])
    return done + _carried_out([planned(client_of(host.name), None)])


def _hooks_change(host: Host, groups: dict[str, dict[str, Any]]) -> Change:
    mark = f" {host.name} {_ENDING}"
    path = path_of(host.config)
    return changed(path, lambda text: _with_hooks(host, text, groups), is_removal=not groups, mark=mark)


def _carried_out(changes: list[Change]) -> list[Change]:
    needed = [change for change in changes if change.is_needed]
    for change in needed:
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        carry_out(change)
    return needed


def _settings(host: Host) -> str:
    return path_of(client_of(host.name).path)


def _is_ours(host: Host, handler: object) -> bool:
    told = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(told, str) and re.search(rf"/hooks/run['\"]? \w+ {host.name}\b", told) is not None


def _with_hooks(host: Host, text: str, groups: dict[str, dict[str, Any]]) -> str:
    """Return the file's text with these groups in place of memlayer's own."""
    path = path_of(host.config)
    whole = json_of(path, text)
    events = whole.get("hooks", {}) if isinstance(whole, dict) else None
    if not isinstance(events, dict) or not all(isinstance(listed, list) for listed in events.values()):
        raise UserError(f"{path}: hooks is no table of events: nothing is changed")
    made = {}
    for event in [*events, *(event for event in groups if event not in events)]:
        own = groups.get(event)
        kept = [cut for group in events.get(event, []) if (cut := own if _is_group(host, group) else group) is not None]
        if own is not None and own not in kept:
            kept.append(own)
        if kept or events.get(event) == []:
            made[event] = kept
    if made == events:
        return text
    rest = {name: value for name, value in whole.items() if name != "hooks"}
    return json_text({**rest, "hooks": made} if made else rest, text)


def _is_group(host: Host, group: object) -> bool:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(handlers, list) and len(handlers) == 1 and _is_ours(host, handlers[0])


def _registered(host: Host, whole: object) -> Iterator[tuple[tuple[str, str, str], str, str]]:
    """Yield (place, hash, command) of memlayer's handlers, as the host keeps them."""
    events = whole.get("hooks") if isinstance(whole, dict) else None
    for event, groups in events.items() if isinstance(events, dict) else ():
        label = _SNAKE.sub("_", event).lower()
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            if _is_group(host, group):
                handler = group["hooks"][0]
                identity = {"event_name": label, "hooks": [{"async": False, **handler}]}
                identity.update({"matcher": group["matcher"]} if "matcher" in group else {})
                told = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                yield (label, str(at), "0"), "sha256:" + hashlib.sha256(told.encode()).hexdigest(), handler["command"]


def _states(host: Host, settings: dict[str, Any]) -> dict[tuple[str, str, str], tuple[str, dict[str, Any]]]:
    """Return place -> (key, state) of the hooks that a host knows."""
    states, found = settings.get("hooks", {}), {}
    states = states.get("state", {}) if isinstance(states, dict) else {}
    for key, state in states.items() if isinstance(states, dict) else ():
        path, *place = key.rsplit(":", 3)
        if len(place) == 3 and os.path.realpath(path) == path_of(host.config) and isinstance(state, dict):
            found[place[0], place[1], place[2]] = key, state
    return found


def _without_trust(host: Host, text: str, places: list[tuple[str, str, str]]) -> str:
    """Return the settings without the trust in memlayer's hooks."""
    out, states = text, _states(host, _parsed(host, text))
    for key in [states[place][0] for place in places if place in states]:
        named = re.escape(json.dumps(key, ensure_ascii=False)) + "|" + re.escape(f"'{key}'")
        out = re.sub(rf"(?m)^\[hooks\.state\.(?:{named})\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", "", out)
    return re.sub(r"\n*\[hooks\.state\]\n*\Z", "\n", out) if out != text else text


def _parsed(host: Host, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise UserError(f"{_settings(host)} is no TOML ({bad}): correct it first") from bad


def check_hosts(root: str) -> Iterator[Check]:
    """Yield a check of each other host whose settings name memlayer."""
    for host in REGISTERED.values():
        try:
            check = _check(host, root)
        except UserError as bad:
            check = Check(host.title, WARN, str(bad))
        if check is not None:
            yield check


def _check(host: Host, root: str) -> Check | None:
    path = path_of(host.config)
    registered = list(_registered(host, json_of(path, read_text(path) or "")))
    settings = _parsed(host, read_text(_settings(host)) or "")
    has_server = NAME in settings.get("mcp_servers", {})
    if not registered:
        return None
    again = f"run `memlayer setup --host {host.name}`"
    wanted = {command(host, root, hook) for hook, _, _ in host.hooks.values()}
    if {told for _, _, told in registered} != wanted:
        return Check(host.title, WARN, "its hooks are of another memlayer, or some are missing", again)
    states = _states(host, settings)
    held = [(states.get(place, ("", {}))[1], made) for place, made, _ in registered]
    untrusted = sum(state.get("trusted_hash") != made for state, made in held)
    if settings.get("features", {}).get("hooks") is False:
        return Check(host.title, WARN, f"hooks are off in {_settings(host)}", "set `hooks = true` under [features]")
    if untrusted:
        says = f"{untrusted} of {len(registered)} hooks are not trusted, and do not run"
        return Check(host.title, WARN, says, f"start `{host.name}`, type /hooks, and trust memlayer's")
    if any(state.get("enabled") is False for state, _ in held):
        return Check(host.title, WARN, "some of its hooks are switched off", f"start `{host.name}`, type /hooks")
    if not has_server:
        return Check(host.title, WARN, "its hooks are trusted; the server of tools is not registered", again)
    return Check(host.title, OK, f"{len(registered)} hooks are trusted, the server of tools is registered")
