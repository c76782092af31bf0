"""Verbs that need no runtime: doctor, version, daemon status, completion, help.

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
from memlayer.edge.terminal import streams
from memlayer.edge.terminal.launch import HELP, asks_help
from memlayer.errors import MemlayerError, UserError

SHELLS = ("bash", "zsh", "fish")
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


def daemon_status(status: Mapping[str, object] | None, as_json: bool) -> None:
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


def daemon_line(status: Mapping[str, object]) -> str:
    """Return a daemon's process id, version, age and memory on one line."""
    since_ms, rss = status.get("since_ms"), size(status.get("rss_bytes"))
    facts = [f"process {status.get('pid', '?')}", f"version {line(status.get('build')) or '?'}"]
    if isinstance(since_ms, (int, float)) and since_ms:
        facts.append(f"up {duration(time.time() - since_ms / 1000)}")
    return ", ".join(facts + ([f"{rss} of memory"] if rss else []))


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
    status = client(home).status()
    if status is None:
        yield Check("daemon", WARN, "not running, and cannot be started", "turns are kept on disk meanwhile")
    else:
        yield Check("daemon", WARN, f"{daemon_line(status)}; its runtime has been deleted", BUILD)
    for name in ("store", "model", "turns kept"):
        yield Check(name, WARN, UNKNOWN, BUILD)


def client(home: str) -> Client:
    """Return a client that asks a running daemon and starts none."""
    return Client(home, plugin_root())


def print_help(argv: list[str]) -> int:
    """Print the help in docs/cli.md: a verb's, or the list."""
    words = [word for word in argv if word not in HELP]
    page = read_page("cli.md")
    named = ["#### " + " ".join(words[:count]) for count in (3, 2)]
    for heading in (*named, "### " + " ".join(words[:1]), "## Verbs"):
        _, found, rest = page.partition("\n%s\n\n```text\n" % heading)
        if found:
            print(rest.partition("\n```")[0])
            return 0 if argv else streams.USAGE_ERROR
    raise UserError("the help needs the runtime here: `memlayer setup`")


def print_completion(argv: list[str]) -> int:
    """Print a shell's script in docs/completion."""
    parser = argparse.ArgumentParser(prog="memlayer completion")
    parser.add_argument("shell", choices=SHELLS)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(argv)
    script = read_page(os.path.join("completion", arguments.shell))
    if arguments.json:
        print_json({"shell": arguments.shell, "script": script})
    else:
        print(script, end="")
    return 0


def read_page(name: str) -> str:
    """Return the text of a generated page of docs. Raises OSError."""
    with open(os.path.join(plugin_root(), "docs", name), encoding="utf-8") as file:
        return file.read()


def main(argv: list[str]) -> int:
    """Run a verb that needs no runtime; return the exit code."""
    if not argv or asks_help(argv):
        return print_help(argv)
    if argv[0] == "completion":
        return print_completion(argv[1:])
    verb = "daemon status" if argv[:1] == ["daemon"] else argv[0].strip("-")
    parser = argparse.ArgumentParser(prog=f"memlayer {verb}", description="The runtime is missing: `memlayer setup`.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    if verb == "doctor":
        parser.add_argument("--project", metavar="PATH", default="", help="The project of this folder.")
    arguments = parser.parse_args(argv[len(verb.split()) :])
    home = paths.home_of()
    if verb == "version":
        version(arguments.json)
        return 0
    if verb == "daemon status":
        daemon_status(client(home).status(), arguments.json)
        return 0
    folder = os.path.abspath(os.path.expanduser(arguments.project or os.getcwd()))
    return print_checks(all_checks(home, folder, without_runtime(home)), arguments.json)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (MemlayerError, OSError) as error:
        print(f"memlayer: {error}", file=sys.stderr)
        sys.exit(1)
