"""Verbs that need no runtime: doctor and --version.

Standard library only. Run by path with any Python from 3.9 on (edge.terminal.launch). The full command line prints
with the same functions.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import TypeVar

if __name__ == "__main__":  # by path and isolated: the plugin's root is not importable yet
    sys.path[0:0] = [os.path.abspath(__file__).rpartition("/memlayer/")[0]]

from memlayer import __version__
from memlayer.cli.doctor import checks
from memlayer.cli.doctor.checks import OK, WARN, Check, print_checks
from memlayer.cli.terminal.output import duration, line, print_json, say
from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.counting import size
from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol
from memlayer.edge.ipc.client import Client
from memlayer.edge.terminal.streams import folder_gone
from memlayer.errors import MemlayerError

UNKNOWN, BUILD = "unknown: that needs the runtime", "run `memlayer setup`"
Result = TypeVar("Result")


def version(as_json: bool) -> None:
    """Print the versions of memlayer, its protocol and this Python."""
    import platform  # tens of modules, for this verb alone

    versions = {
        "memlayer": __version__,
        "protocol": protocol.PROTOCOL,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    if as_json:
        print_json(versions)
    else:
        say(", ".join(f"{name} {value}" for name, value in versions.items()))


def daemon_line(status: Mapping[str, object]) -> str:
    """Return a daemon's process id, version, age and memory on one line."""
    since_ms, rss = status.get("since_ms"), size(status.get("rss_bytes"))
    facts = [f"process {status.get('pid', '?')}", f"version {line(status.get('build')) or '?'}"]
    if isinstance(since_ms, (int, float)) and since_ms:
        facts.append(f"up {duration(time.time() - since_ms / 1000)}")
    return ", ".join(facts + ([f"{rss} of memory"] if rss else []))


def show_status(status: Mapping[str, object] | None, as_json: bool) -> None:
    """Print the status that a daemon reports; None: no daemon runs."""
    if as_json:
        print_json({"running": status is not None, **(status or {})})
    elif status is None:
        say("No daemon is running. The next hook or verb starts one.")
    else:
        say(("The daemon runs", "green"), f": {daemon_line(status)}")
        if status.get("rebuilding"):
            say(("In the background", "yellow"), f": {line(status['rebuilding'])} chunks")
        if status.get("mode") == "lexical":
            say(("Full-text search only", "yellow"), f": {line(status.get('why'))}")


def stop(client: Client, as_json: bool) -> None:
    """Stop the daemon, and say whether there was one."""
    was_there = client.stop()
    if as_json:
        print_json({"running": False, "stopped": was_there})
    else:
        say("The daemon has stopped." if was_there else "No daemon was running.")


def all_checks(
    home: str,
    folder: str,
    of_runtime: Iterable[Check],
    worked_ms: Callable[[], Mapping[str, int]] = dict,
    is_in_use: Callable[[str], bool] = lambda _: False,
) -> Iterator[Check]:
    """Yield every check, causes before their consequences.

    of_runtime: those of settings and daemon. worked_ms: when each hook was last answered in time. is_in_use: see
    checks.runtime_state. Trying the runtime's packages and asking the daemon take most of the time, so that they go on
    side by side.
    """
    interpreter = checks.interpreter(home)  # measures a start, so before the others use the processor
    runtime = beside(lambda: checks.runtime_state(home, plugin_root(), is_in_use))
    with_daemon = beside(lambda: list(of_runtime))
    yield runtime.result()
    yield checks.manifest(plugin_root())
    yield interpreter
    yield checks.permissions(home)
    yield checks.disk(home)
    is_well = True
    for check in with_daemon.result():
        is_well = is_well and (check.state == OK or check.name not in ("daemon", "store", "model"))
        yield check
    yield checks.spool_age(home)
    yield checks.quarantine(home)
    yield from checks.logs(home, worked_ms(), is_well=is_well)
    yield checks.project_state(folder, os.environ)


def beside(work: Callable[[], Result]) -> Future[Result]:
    """Begin work in a thread that Ctrl-C need not wait for."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def without_runtime(home: str) -> Iterator[Check]:
    """Yield the checks of settings and daemon as far as possible."""
    yield Check("settings", WARN, UNKNOWN, BUILD)
    status = Client(home, plugin_root()).status()
    if status is None:
        yield Check("daemon", WARN, "not running, and cannot be started", "turns are kept on disk meanwhile")
    else:
        yield Check("daemon", WARN, f"{daemon_line(status)}; its runtime has been deleted", BUILD)
    for name in ("store", "model", "turns kept"):
        yield Check(name, WARN, UNKNOWN, BUILD)


def main(argv: list[str]) -> int:
    """Run a verb that needs no runtime; return the exit code."""
    verb, options = argv[0], argparse.ArgumentParser(prog="memlayer", description="The runtime is missing: " + BUILD)
    options.add_argument("--json", action="store_true", help="Print JSON.")
    options.add_argument("--project", metavar="PATH", default="", help="The project of this folder.")
    word = argv.pop(1) if verb == "daemon" and argv[1:2] in (["stop"], ["status"]) else ""
    given = options.parse_args(argv[1:])
    if verb == "--version":
        version(given.json)
        return 0
    home = paths.home_of()
    if verb == "daemon":
        client = Client(home, plugin_root())
        stop(client, given.json) if word == "stop" else show_status(client.status(), given.json)
        return 0
    folder = os.path.abspath(os.path.expanduser(given.project or os.getcwd()))
    return print_checks(all_checks(home, folder, without_runtime(home)), given.json)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (MemlayerError, OSError) as error:
        print(f"memlayer: {folder_gone(error) or error}", file=sys.stderr)
        sys.exit(1)
