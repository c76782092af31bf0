"""The fail-open edge of a hook process.

Read stdin, forward it or keep it, print the answer, exit 0 whatever happens. With a live daemon this file and
edge.ipc.protocol are all that is imported; edge.home.project_env too where MEMLAYER_ variables are set.
"""

import posix
import time

from memlayer.edge.ipc.protocol import TAKEN, forward

# How long a hook waits for the daemon before it keeps the event by itself. The host's prompt waits as long.
DEADLINE_S = {
    "session_start": 0.8,
    "user_prompt_submit": 0.6,
    "post_tool_use": 0.3,
    "post_tool_use_failure": 0.3,
    "task_created": 0.3,
    "task_completed": 0.3,
    "stop": 0.3,
    "session_end": 0.4,
    "pre_compact": 0.3,
    "post_compact": 0.3,
    "subagent_start": 0.3,
}
ASKING = ("subagent_start",)  # keep no event: without a daemon they are silent
EXPANSION = "user_prompt_expansion"  # keeps no event, and asks no daemon: the words typed after an own command
RELATIVE_HOME = "memlayer keeps nothing: MEMLAYER_HOME is not absolute. Set it to a path that begins with / or ~"


def run(event: str) -> None:
    """Serve one hook call; ends the process with exit code 0."""
    try:
        serve(event)
    except BaseException:  # the only edge: a hook never fails the host, not even on SystemExit or MemoryError
        report(event)
    posix._exit(0)  # skips interpreter teardown, which costs a fifth of a bare start


def serve(event: str) -> None:
    """Read stdin, forward or keep, print."""
    environ = posix.environ  # bytes to bytes; `os` is not needed for it
    if environ.get(b"MEMLAYER_DISABLE") == b"1":
        return
    at_ms = time.time_ns() // 1_000_000
    raw = read_all(0)
    project_dir = environ.get(b"CLAUDE_PROJECT_DIR", b"")
    if any(name.startswith(b"MEMLAYER_") for name in environ):
        from memlayer.edge.home.project_env import drop_project_variables

        drop_project_variables(environ, project_dir)
    home = environ.get(b"MEMLAYER_HOME") or environ.get(b"HOME", b"/nonexistent") + b"/.memlayer"
    if home[:1] == b"~":
        home = expanded(home, environ.get(b"HOME", b""))
    if home[:1] != b"/":
        refuse_home(event)
        return
    if event == EXPANSION:
        from memlayer.edge.capture.spool import keep_typed

        keep_typed(raw, home, project_dir)
        return
    outcome, answer = forward(home, "hook." + event, raw, project_dir, DEADLINE_S[event], at_ms)
    if outcome != TAKEN and event in ASKING:
        return
    if outcome != TAKEN:
        from memlayer.edge.hook.fallback import keep

        answer = keep(event, raw, home, project_dir, at_ms, outcome)
    try:
        write_all(1, answer)
    except OSError:  # the host has gone, or reads no more: the event is durable, and a log entry would count as lost
        return


def refuse_home(event: str) -> None:
    """Report at a session's start that a relative home keeps nothing."""
    if event == "session_start":
        from memlayer.edge.capture.payload import hook_reply

        write_all(1, hook_reply(event, "", RELATIVE_HOME))


def expanded(home: bytes, own: bytes) -> bytes:
    """Return the path of a home that begins with `~`, as paths.home_of."""
    if own and home[1:2] in (b"", b"/"):
        return own.rstrip(b"/") + home[1:]
    import os  # `~somebody`, or no HOME: the list of users knows

    return os.path.expanduser(home)


def read_all(fd: int) -> bytes:
    """Return all bytes of fd up to its end."""
    parts: list[bytes] = []
    while True:
        part = posix.read(fd, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def write_all(fd: int, data: bytes) -> None:
    """Write all of data to fd."""
    view = memoryview(data)
    while view:
        view = view[posix.write(fd, view) :]


def report(event: str) -> None:
    """Write the traceback to logs/hook.log, the only reader."""
    try:
        from memlayer.edge.home import error_log, paths

        error_log.write_traceback(paths.hook_log(paths.home_of()), hook=event)
    except BaseException:  # even the log may be unwritable: disk full, read-only home
        return
