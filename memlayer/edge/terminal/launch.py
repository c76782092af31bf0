"""Entry of bin/memlayer: make the runtime if needed, become the CLI."""

from __future__ import annotations

import os
import posix
import sys
import time

from memlayer.edge.bootstrap import runtime
from memlayer.edge.home import paths
from memlayer.edge.home.project_env import drop_project_variables, folders_of_session, listed_home
from memlayer.edge.terminal import streams
from memlayer.errors import MemlayerError, UserError

COMPLETION = "_MEMLAYER_COMPLETE"  # set by the shell that asks for completions
SETUP_FLAGS = ("--quiet", "--no-wait", "--json")
BARE = ("doctor", "--version")  # they only report: without a runtime the standard library is enough for them
JOBS = ("flush", "repair", "reindex", "gc", "quarantine")  # of doctor, with the runtime


def main(root: str, argv: list[str]) -> int:
    """Run `setup`, or become the CLI; return an exit code."""
    streams.open_closed()
    for folder in [*folders_of_session(posix.environ), *recorded_folders()]:
        drop_project_variables(posix.environ, folder)
    if argv in (["statusline"], ["statusline", "--json"]):  # the host waits for it: no runtime, no daemon
        from memlayer.edge.terminal import status_line

        return status_line.main(argv[1:])
    try:
        if argv[:1] == ["mcp"] and argv[1:2] not in (["install"], ["uninstall"], ["--help"], ["-h"]):
            from memlayer.edge import mcp

            return mcp.main(root, paths.home_of(), argv[1:])
        if argv[:1] == ["setup"] and not any(arg.startswith(("-h", "--h")) for arg in argv):
            return setup(root, argv[1:])
        home = paths.home_of()
        python = runtime.find_runtime(home, root)
        if COMPLETION in os.environ and python is None:
            return 0  # a Tab builds no runtime
        is_bare = python is None and is_bare_verb(argv)
        program = [sys.executable, "-I", "-S"] if is_bare else [ensure_runtime(home, root), "-I"]
    except MemlayerError as error:
        return streams.tell_error(argv, str(error), streams.USER_ERROR)
    except OSError as error:
        failed = "setup failed: %s: %s" % (error.strerror or error, error.filename or "?")
        message = streams.folder_gone(error) or failed
        return streams.tell_error(argv, message, streams.USER_ERROR)
    except KeyboardInterrupt:
        return streams.tell_error(argv, "stopped; the next start begins again", streams.STOPPED)
    sys.stdout.flush()
    sys.stderr.flush()
    # A macOS framework Python in a venv leaves this behind. The next Python would take itself for the first.
    os.environ.pop("__PYVENV_LAUNCHER__", None)
    script = os.path.join("doctor", "bare.py") if is_bare else "__main__.py"
    os.execv(program[0], [*program, os.path.join(root, "memlayer", "cli", script), *argv])


def is_bare_verb(argv: list[str]) -> bool:
    """True for a verb that must never build a runtime."""
    if argv[:1] == ["daemon"]:
        return argv[1:] in ([], ["--json"], ["stop"], ["stop", "--json"], ["status"], ["status", "--json"])
    return bool(argv) and argv[0] in BARE and not set(argv[1:2]) & set(JOBS)


def recorded_folders() -> list[bytes]:
    """Return the folders of the host's session, as homes record them.

    A shell may have left the folder. The home of the list of users is looked up as well: settings may name another one.
    """
    session = os.environ.get("CLAUDE_CODE_SESSION_ID")
    if not session:
        return []
    homes = {os.path.expanduser(os.environ.get("MEMLAYER_HOME") or "~/.memlayer")}
    homes.add(os.path.join(os.fsdecode(listed_home()), ".memlayer"))
    records = [paths.read_object(paths.file_of(paths.sessions(home), session)) for home in homes]
    return [os.fsencode(str(folder)) for record in records if (folder := record.get("project_dir"))]


def ensure_runtime(home: str, root: str, *, is_quiet: bool = False, wait: bool = True) -> str:
    """Return the runtime's python, made when missing or stale.

    Progress on stderr, stdout untouched. Returns "" only with `wait=False` and another setup running.
    """
    python = runtime.find_runtime(home, root)
    if python is None:
        from memlayer.edge.bootstrap import provision

        with provision.progress(is_quiet=is_quiet) as report:
            python = provision.build_runtime(home, root, report, wait=wait)
    elif not runtime.remembers_python(home) and os.path.isdir(home):
        from contextlib import suppress

        from memlayer.edge.bootstrap import provision

        # It only makes the next start quicker. A verb must not end here because the disk is full: doctor says so.
        with suppress(OSError):
            provision.remember_python(home, python)
    return python or ""


def setup(root: str, flags: list[str]) -> int:
    """Run the verb `setup`: make the runtime and report the result."""
    from memlayer.edge.bootstrap import extras, provision

    names = []
    if "--with" in flags:
        at = flags.index("--with")
        names = extras.checked("".join(flags[at + 1 : at + 2]))
        flags = [*flags[:at], *flags[at + 2 :]]
    if not set(flags) <= set(SETUP_FLAGS):
        told = "No such option: %s. See `memlayer setup --help`." % next(one for one in flags if one not in SETUP_FLAGS)
        return streams.tell_error(flags, told, streams.USAGE_ERROR)
    home, started_s, is_quiet = paths.home_of(), time.monotonic(), "--quiet" in flags
    was_there = works(home, root)
    python = ensure_runtime(home, root, is_quiet=is_quiet, wait="--no-wait" not in flags)
    if python and names:
        add_extras(home, root, names, is_quiet=is_quiet)
    if python and was_there:
        provision.remember_python(home, python)
    elif python:
        start_daemon(home, root, python)
    seconds = round(time.monotonic() - started_s, 1)
    if "--json" in flags:
        import json

        print(json.dumps({"runtime": python or None, "built": bool(python) and not was_there, "seconds": seconds}))
    elif not is_quiet:
        ready = "The runtime is ready%s: %s" % ("" if was_there else " after %.0f s" % seconds, python)
        print(ready if python else "Another setup is running.")
    return 0


def add_extras(home: str, root: str, names: list[str], *, is_quiet: bool) -> None:
    """Install extras into the runtime, made first. Raises UserError, OSError."""
    from memlayer.edge.bootstrap import extras, install, provision

    python = ensure_runtime(home, root, is_quiet=is_quiet)
    paths.make_folder(paths.logs(home))
    with provision.progress(is_quiet=is_quiet) as report:
        installer = install.Installer(report, runtime.setup_log(home))
        extras.install(os.path.dirname(os.path.dirname(python)), names, installer)
    extras.remember(home, names)


def works(home: str, root: str) -> bool:
    """True for a runtime that loads; else discard it. Raises UserError, OSError."""
    from memlayer.edge.bootstrap.install import problem_of

    python = runtime.find_runtime(home, root)
    problem = problem_of(python) if python else ""
    if problem and os.environ.get("MEMLAYER_RUNTIME_DIR"):
        raise UserError(
            "MEMLAYER_RUNTIME_DIR=%s does not work (%s): unset it, and memlayer makes its own runtime"
            % (runtime.runtime_dir(home), problem)
        )
    if problem:
        print("memlayer: the runtime does not work (%s): it is made anew" % problem, file=sys.stderr)
        os.unlink(os.path.join(runtime.runtime_dir(home), runtime.LOCK_FILE))  # it counts as half-made now
    return bool(python) and not problem


def start_daemon(home: str, root: str, python: str) -> None:
    """Start a daemon with a new runtime, ready for the next prompt.

    Not where it needs variables that this process lacks: then the next hook starts it.
    """
    from contextlib import suppress

    from memlayer.edge.ipc.client import Client

    if any(name not in os.environ for name in runtime.daemon_variables(home)):
        return
    with suppress(MemlayerError, OSError):  # a hook or a verb starts it as well
        Client(home, root).stop()  # a daemon of the previous runtime
        runtime.spawn_daemon(home, python)
