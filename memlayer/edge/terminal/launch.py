"""Entry of bin/memlayer: make the runtime if needed, become the CLI."""

from __future__ import annotations

import os
import posix
import sys
import time

from memlayer.edge.bootstrap import runtime
from memlayer.edge.home import paths
from memlayer.edge.home.project_env import drop_project_variables, project_of_session
from memlayer.edge.terminal import streams
from memlayer.errors import MemlayerError, UserError

COMPLETION = "_MEMLAYER_COMPLETE"  # set by the shell that asks for completions
SETUP_FLAGS = {"--quiet", "--no-wait", "--json"}
# Verbs that only report: without a runtime the standard library is enough for them.
BARE = (["doctor"], ["--version"], ["daemon", "status"], ["completion"])
HELP = ("--help", "-h")


def main(root: str, argv: list[str]) -> int:
    """Run `setup`, or become the CLI; return an exit code."""
    streams.open_closed()
    drop_project_variables(posix.environ, project_of_session(posix.environ))
    if argv in (["statusline"], ["statusline", "--json"]):  # the host waits for it: no runtime, no daemon
        from memlayer.edge.terminal import status_line

        return status_line.main(argv[1:])
    try:
        if argv[:1] == ["mcp"] and argv[1:2] not in (["install"], ["uninstall"], ["--help"], ["-h"]):
            from memlayer.edge import mcp

            return mcp.main(root, paths.home_of(), argv[1:])
        if argv[:1] == ["setup"] and not asks_help(argv):
            return setup(root, argv[1:])
        home = paths.home_of()
        is_missing = runtime.find_runtime(home, root) is None
        if COMPLETION in os.environ and is_missing:
            return 0  # a Tab builds no runtime
        is_bare = is_missing and needs_no_runtime(argv)
        python = sys.executable if is_bare else ensure_runtime(home, root)
    except MemlayerError as error:
        return streams.tell_error(argv, str(error), streams.USER_ERROR)
    except OSError as error:
        message = "setup failed: %s: %s" % (error.strerror or error, error.filename or "?")
        return streams.tell_error(argv, message, streams.USER_ERROR)
    except KeyboardInterrupt:
        return streams.tell_error(argv, "stopped; the next start begins again", streams.STOPPED)
    sys.stdout.flush()
    sys.stderr.flush()
    # A macOS framework Python in a venv leaves this behind. The next Python would take itself for the first.
    os.environ.pop("__PYVENV_LAUNCHER__", None)
    script = os.path.join(root, "memlayer", "cli", *(("doctor", "bare.py") if is_bare else ("__main__.py",)))
    os.execv(python, [python, "-I", *(["-S"] if is_bare else []), script, *argv])


def needs_no_runtime(argv: list[str]) -> bool:
    """True for verbs that only report, and for `--help`."""
    return not argv or asks_help(argv) or any(argv[: len(verb)] == verb for verb in BARE)


def asks_help(argv: list[str]) -> bool:
    """True if a command line asks for help, and not behind `--`."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return any(word in HELP for word in options)


def ensure_runtime(home: str, root: str, *, is_quiet: bool = False, wait: bool = True) -> str:
    """Return the runtime's python, made when missing or stale.

    SetupProgress on stderr, stdout untouched. Returns "" only with `wait=False` and another setup running.
    """
    python = runtime.find_runtime(home, root)
    if python is None:
        from memlayer.edge.bootstrap.provision import SetupProgress, build_runtime

        with SetupProgress(sys.stderr, is_quiet=is_quiet) as progress:
            python = build_runtime(home, root, progress, wait=wait)
    elif not runtime.remembers_python(home) and os.path.isdir(home):
        from contextlib import suppress

        from memlayer.edge.bootstrap.provision import remember_python

        # It only makes the next start quicker. A verb must not end here because the disk is full: doctor says so.
        with suppress(OSError):
            remember_python(home, os.path.realpath(python))
    return python or ""


def setup(root: str, flags: list[str]) -> int:
    """Run the verb `setup`: make the runtime and report the result."""
    wanted = []
    if "--with" in flags:
        from memlayer.edge.bootstrap import extras

        at = flags.index("--with")
        wanted = extras.checked("".join(flags[at + 1 : at + 2]))
        flags = [*flags[:at], *flags[at + 2 :]]
    unknown = [flag for flag in flags if flag not in SETUP_FLAGS]
    if unknown:
        return streams.tell_error(
            flags, "No such option: %s. See `memlayer setup --help`." % unknown[0], streams.USAGE_ERROR
        )
    home = paths.home_of()
    started_s = time.monotonic()
    was_there = runtime.find_runtime(home, root) is not None and not is_broken(home, root)
    if wanted:
        add_extras(home, root, wanted, is_quiet="--quiet" in flags)
    python = ensure_runtime(home, root, is_quiet="--quiet" in flags, wait="--no-wait" not in flags)
    if python and not was_there:
        start_daemon(home, root, python)
    seconds = round(time.monotonic() - started_s, 1)
    if "--json" in flags:
        import json

        print(json.dumps({"runtime": python or None, "built": bool(python) and not was_there, "seconds": seconds}))
    elif "--quiet" in flags:
        return 0
    elif was_there:
        print("The runtime is ready: %s" % python)
    elif python:
        print("The runtime is ready after %.0f s: %s" % (seconds, python))
    else:
        print("Another setup is running.")
    return 0


def add_extras(home: str, root: str, names: list[str], *, is_quiet: bool) -> None:
    """Install extras into the runtime, which is made first. Raises UserError."""
    from memlayer.edge.bootstrap import extras
    from memlayer.edge.bootstrap.provision import SetupProgress, open_log, prepare

    python = ensure_runtime(home, root, is_quiet=is_quiet)
    prepare(home)
    log_path = runtime.setup_log(home)
    with SetupProgress(sys.stderr, is_quiet=is_quiet) as progress, open_log(log_path) as log:
        extras.install(os.path.dirname(os.path.dirname(python)), names, progress, log, log_path)
    extras.remember(home, names)


def is_broken(home: str, root: str) -> bool:
    """True for a broken runtime, then discarded. Raises UserError."""
    from memlayer.edge.bootstrap.install import problem_of
    from memlayer.edge.bootstrap.provision import discard

    python = runtime.find_runtime(home, root)
    problem = problem_of(python) if python else ""
    if not problem:
        return False
    if os.environ.get("MEMLAYER_RUNTIME_DIR"):
        raise UserError(
            "MEMLAYER_RUNTIME_DIR=%s does not work (%s): unset it, and memlayer makes its own runtime"
            % (runtime.runtime_dir(home), problem)
        )
    print("memlayer: the runtime does not work (%s): it is made anew" % problem, file=sys.stderr)
    discard(home)
    return True


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
