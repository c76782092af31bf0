"""The verbs of the daemon itself: start, stop, restart, status."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

import click

from memlayer.cli.invocation import client, home, json_option
from memlayer.cli.output import duration, line, print_json, say, size
from memlayer.wire.client import Client

START_S = 15.0


@click.group("daemon")
def daemon_verb() -> None:
    """The background process that owns the store. Hooks start it, and it leaves by itself when idle.

    \b
    Examples:
      memlayer daemon status
      memlayer daemon restart
    """


@daemon_verb.command("start")
@json_option
def start(as_json: bool) -> None:
    """Start it unless it runs."""
    name_variables()
    report(client().call("status", {}, deadline_s=START_S), as_json)


@daemon_verb.command("stop")
@json_option
def stop(as_json: bool) -> None:
    """Let it settle and leave; waits until it is gone."""
    was_there = client().stop()
    if as_json:
        print_json({"running": False, "stopped": was_there})
    else:
        say("The daemon is gone." if was_there else "No daemon was running.")


@daemon_verb.command("restart")
@json_option
def restart(as_json: bool) -> None:
    """Stop it, then start it anew, with the present settings."""
    daemon: Client = client()
    daemon.stop()
    name_variables()
    report(daemon.call("status", {}, deadline_s=START_S), as_json)


@daemon_verb.command("status")
@json_option
def status(as_json: bool) -> None:
    """Say whether it runs. Starts nothing."""
    found = client().status()
    if found is not None:
        report(found, as_json)
    elif as_json:
        print_json({"running": False})
    else:
        say("No daemon is running; the next hook or verb starts one.")


def name_variables() -> None:
    """Have the daemon inherit the variables that the settings name, such as the key of a language model."""
    from memlayer.config import load_what_holds, write_daemon_variables  # not for verbs that need no settings

    with contextlib.suppress(OSError):  # the daemon goes on without them, and says so
        write_daemon_variables(home(), load_what_holds(home(), os.environ)[0])


def report(found: dict[str, Any], as_json: bool) -> None:
    """What a running daemon says of itself."""
    if as_json:
        print_json({"running": True, **found})
        return
    say(("The daemon runs", "green"), f": {one_line(found)}")
    if found.get("mode") == "lexical":
        say(("Full-text search only", "yellow"), f": {line(found.get('why'))}")


def one_line(found: dict[str, Any]) -> str:
    """process, version, age, memory."""
    since_ms, rss = found.get("since_ms"), size(found.get("rss_bytes"))
    facts = [f"process {found.get('pid', '?')}", f"version {line(found.get('build')) or '?'}"]
    if isinstance(since_ms, int | float) and since_ms:
        facts.append(f"up {duration(time.time() - since_ms / 1000)}")
    return ", ".join(facts + ([f"{rss} of memory"] if rss else []))
