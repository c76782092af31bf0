"""The fail-open edge of a hook process.

Read stdin, forward it or keep it, print the answer, exit 0 whatever happens. With a live daemon this file,
the table of hooks and edge.ipc.protocol are all that is imported. edge.home.project_env too where MEMLAYER_ variables
are set, or the project has settings.
"""

# Built in, as `select` is not everywhere: that import costs up to 0.4 ms.
import _signal  # type: ignore[import-not-found]
import posix
import time
from sys import argv

from memlayer.edge import HOOKS
from memlayer.edge.ipc.protocol import MAX_BODY_BYTES, TAKEN, forward

QUIET_S = 2.0  # of stdin, before the JSON object is whole
ACTION = "pre_tool_use"  # asks the daemon only where the call holds a word of a lesson
MAX_SIGNS_BYTES = 65_536
EXPANSION = "user_prompt_expansion"
# Field of the payload, and the variable that alone tells it: see edge.capture.runs.
TELLING = (
    (b"entrypoint", b"CLAUDE_CODE_ENTRYPOINT"),
    (b"attended", b"CLAUDE_CODE_SESSION_ATTENDED"),
    (b"scheduled", b"CLAUDE_CODE_HOST_SCHEDULED_RUN"),
)
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
    environ = posix.environ  # bytes to bytes. `os` is not needed for it
    if b"MEMLAYER_DISABLE" in environ:
        from memlayer.edge.home.project_env import is_disabled

        if is_disabled(environ[b"MEMLAYER_DISABLE"].decode("utf-8", "replace")):
            if event == "session_start":
                note_off(environ)
            return
    at_ms = time.time_ns() // 1_000_000
    host = argv[1] if len(argv) > 1 else ""  # "" for Claude Code, which may have started the other
    raw = with_facts(read_object(0), environ, host)
    project_dir = environ.get(b"CLAUDE_PROJECT_DIR", b"")
    home = home_of(environ, project_dir)
    project_dir = b"" if host else project_dir
    if home[:1] != b"/":
        refuse_home(event)
        return
    if event == EXPANSION:
        from memlayer.edge.capture.spool import keep_typed

        keep_typed(raw, home, project_dir)
        return
    if event == ACTION and not meets_lesson(home, raw):
        return
    outcome, answer = forward(home, "hook." + event, raw, project_dir, HOOKS[event].wait_s, at_ms)
    if outcome != TAKEN and not HOOKS[event].kind:
        return
    if outcome != TAKEN:
        from memlayer.edge.hook.fallback import keep_without_daemon

        answer = keep_without_daemon(event, raw, home, project_dir, at_ms, outcome)
    try:
        write_all(1, answer)
    except OSError:  # the host has gone, or reads no more: the event is durable, and a log entry would count as lost
        return


def note_off(environ: "dict[bytes, bytes]") -> None:
    """Keep a switched-off session's id, where a home is."""
    home = home_of(environ, environ.get(b"CLAUDE_PROJECT_DIR", b"")).decode("utf-8", "surrogateescape")
    try:
        posix.stat(home + "/spool")  # no home, or none of ours
    except OSError:
        return
    if home[:1] == "/":
        from memlayer.edge.home.off_sessions import add

        add(home, read_object(0), time.time_ns() // 1_000_000)


def home_of(environ: "dict[bytes, bytes]", project_dir: bytes) -> bytes:
    """Return the home that the person named, without a project's variables."""
    if may_be_set_by(project_dir, environ.get(b"HOME", b"")) or any(name.startswith(b"MEMLAYER_") for name in environ):
        from memlayer.edge.home.project_env import drop_project_variables

        drop_project_variables(environ, project_dir)
    home = environ.get(b"MEMLAYER_HOME") or b"~/.memlayer"
    return expanded(home, environ.get(b"HOME", b"")) if home[:1] == b"~" else home


def meets_lesson(home: bytes, raw: bytes) -> bool:
    """True for a call with a word of the daemon's file."""
    try:
        fd = posix.open(home + b"/actions", posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    except OSError:
        return False
    signs = posix.read(fd, MAX_SIGNS_BYTES).split(b"\n")
    return any(sign and sign in raw for sign in signs)


def may_be_set_by(project_dir: bytes, own: bytes) -> bool:
    """True for a project below settings, which may set variables."""
    folder = project_dir
    while folder:
        if folder != own or folder == project_dir or names_home(own):
            try:
                posix.stat(folder + b"/.claude")
                return True
            except OSError:
                pass
        folder = folder.rpartition(b"/")[0]
    return False


def names_home(own: bytes) -> bool:
    """True where the settings in HOME set HOME: a clone's, no person's."""
    try:
        fd = posix.open(own + b"/.claude/settings.json", posix.O_RDONLY | posix.O_NONBLOCK)
    except OSError:
        return False
    data = posix.read(fd, MAX_SIGNS_BYTES)
    posix.close(fd)
    return b'HOME"' in data or b"\\u" in data or len(data) == MAX_SIGNS_BYTES


def with_facts(raw: bytes, environ: "dict[bytes, bytes]", host: str = "") -> bytes:
    """Return a payload's JSON with its host, or facts of the environment."""
    facts = b',"host":"%s"' % host.encode() if host.isalnum() else b""
    for field, name in () if host else TELLING:
        value = environ.get(name)
        if value:
            is_name = value.replace(b"-", b"").replace(b"_", b"").isalnum()
            facts += b',"%s":"%s"' % (field, value if is_name else b"other")
    head, brace, _ = raw.rpartition(b"}")
    return head + facts + b"}" if facts and brace else raw


def refuse_home(event: str) -> None:
    """Report at a session's start that a relative home keeps nothing."""
    if event == "session_start":
        from memlayer.edge.capture.hosts import CLAUDE

        write_all(1, CLAUDE.output(event, "", RELATIVE_HOME))


def expanded(home: bytes, own: bytes) -> bytes:
    """Return the path of a home that begins with `~`, as paths.home_of."""
    if own and home[1:2] in (b"", b"/"):
        return own.rstrip(b"/") + home[1:]
    import os  # `~somebody`, or no HOME: the list of users knows

    return os.path.expanduser(home)


def read_object(fd: int) -> bytes:
    """Return the bytes of fd up to a JSON object's end.

    A host may leave its end open. Without an object: the bytes up to the end of fd, or to a silence of QUIET_S.
    """
    parts: list[bytes] = []
    size = depth = in_string = 0
    cut = b""  # a backslash whose second character is not there yet
    _signal.signal(_signal.SIGALRM, give_up)
    try:
        while size < MAX_BODY_BYTES:
            _signal.setitimer(_signal.ITIMER_REAL, QUIET_S)
            part = posix.read(fd, 1 << 20)
            if not part:
                break
            parts.append(part)
            size += len(part)
            bare = (cut + part).replace(b"\\\\", b"")
            cut = bare[-1:] if bare.endswith(b"\\") else b""
            pieces = bare.replace(b'\\"', b"").split(b'"')
            depth += sum(piece.count(b"{") - piece.count(b"}") for piece in pieces[in_string::2])
            in_string ^= (len(pieces) - 1) & 1
            if depth <= 0 and not in_string and not part.isspace():
                break  # whole, or no object
    except TimeoutError:
        pass
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
    return b"".join(parts)


def give_up(*_: object) -> None:
    """End a wait for more of stdin."""
    raise TimeoutError


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
