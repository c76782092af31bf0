"""Find the runtime, a venv, and start daemon or setup with it.

The venv has memlayer's third-party packages. Edge.bootstrap.provision builds it. A hook imports this on its fallback
path, so it imports `os` and little else.

    <home>/runtime/<stamp>/              a venv; complete once it holds a copy of its lock
    <home>/runtime/<stamp>/contents      the folder of its packages, and their names, a line each
    <home>/runtime/current -> <stamp>    the venv in use
    <home>/runtime.lock                  held (flock) by the process that builds
    <home>/runtime.failed                why the last build failed, one line; absent after a good one
    <home>/python                        absolute path of a real interpreter for the hook scripts; no shim

Daemon and setup outlive their caller: the host kills the process tree of a hook, so each is forked twice.
"""

from __future__ import annotations

import os
import sys
import time

from memlayer.edge.home import paths

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK_FILE = "requirements.lock"
CONTENTS = "contents"


runtimes = paths.under("runtime")
build_lock = paths.under("runtime.lock")
setup_log = paths.under("logs", "setup.log")
failure_file = paths.under("runtime.failed")
remembered_python = paths.under("python")

# All that a daemon inherits: a host's environment holds API keys. A key that the user's settings name for a language
# model or for embeddings comes on top: daemon_variables().
KEPT_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CLAUDE_CONFIG_DIR")
KEPT_PREFIX = "MEMLAYER_"
MAX_LINE_BYTES = 4096  # of a file with a line
# The daemon's many threads would each keep a heap of their own: two hold a third less memory, and none waits for them.
DAEMON_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# How long hooks leave a failed setup alone: without a network each prompt would otherwise start a setup.
RETRY_AFTER_S = 600

# Variables that an install may need, and none that could change the code that runs.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR",
             "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE", "NETRC")  # fmt: skip
PASSED_ON_PREFIXES = ("LC_", "PIP_", "UV_", "XDG_", "MEMLAYER_")
PASSED_ON_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY")


def remembers_python(home: str) -> bool:
    """True if `<home>/python` names an existing interpreter."""
    line = paths.read_start(remembered_python(home), MAX_LINE_BYTES).partition(b"\n")[0]
    named = line.decode("utf-8", "surrogateescape")
    return os.path.isabs(named) and os.path.isfile(named) and os.access(named, os.X_OK)


def runtime_dir(home: str) -> str:
    """Return the venv to use.

    MEMLAYER_RUNTIME_DIR when it is set, else the target of `<home>/runtime/current`. The link is resolved: a process
    that was started from one runtime must not import from the next one once `current` is switched. Without a link the
    answer is the link's own path, where nothing stands.
    """
    named = os.environ.get("MEMLAYER_RUNTIME_DIR")
    if named:
        return os.path.abspath(named)
    link = os.path.join(runtimes(home), "current")
    try:
        return os.path.join(runtimes(home), os.readlink(link))
    except OSError:
        return link


def python_in(venv: str) -> str:
    return os.path.join(venv, "bin", "python")


def find_runtime(home: str, root: str) -> str | None:
    """Return the absolute path of the runtime's python, or None.

    None when missing, half-made, stale, or without its base or a package. `root` is the plugin's root: the runtime must
    have been built from the bytes of `root/requirements.lock`. A venv that MEMLAYER_RUNTIME_DIR names is its owner's
    business and is taken as it is.
    """
    venv = runtime_dir(home)
    python = python_in(venv)
    if not os.access(python, os.X_OK):  # follows the link, so a removed base interpreter shows here
        return None
    if os.environ.get("MEMLAYER_RUNTIME_DIR"):
        return python
    return python if is_built_from(venv, os.path.join(root, LOCK_FILE)) and has_its_packages(venv) else None


def has_its_packages(venv: str) -> bool:
    """True if every package still exists by name; `doctor` looks deeper."""
    try:
        with paths.open_regular(os.path.join(venv, CONTENTS)) as stream:
            folder, *names = stream.read().decode("utf-8", "surrogateescape").splitlines()
        return set(os.listdir(os.path.join(venv, folder))).issuperset(names)
    except (OSError, ValueError):
        return False


def is_built_from(venv: str, lock_file: str) -> bool:
    """True for a complete venv made from the bytes of `lock_file`."""
    built_from = os.path.join(venv, LOCK_FILE)
    try:
        if os.stat(built_from).st_size != os.stat(lock_file).st_size:
            return False
        with paths.open_regular(built_from) as ours, paths.open_regular(lock_file) as theirs:
            return ours.read() == theirs.read()
    except OSError:
        return False


def setup_failure(home: str) -> str | None:
    """Return why the last setup failed, one line, or None."""
    line = paths.read_start(failure_file(home), MAX_LINE_BYTES).decode("utf-8", "replace").partition("\n")[0]
    return line.strip() or None


def setup_is_running(home: str) -> bool:
    """True while a process builds this home's runtime."""
    return paths.is_locked(build_lock(home))


def plugin_root() -> str:
    """Return the folder of hooks/, models/ and the memlayer package."""
    return os.path.abspath(__file__).rpartition("/memlayer/")[0]


def kept_environment(more: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the variables that a background process inherits."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in KEPT_NAMES or name in more or name.startswith(KEPT_PREFIX)
    }


def daemon_variables(home: str) -> tuple[str, ...]:
    """Return further variables for the daemon; none without a language model."""
    try:
        return tuple(paths.read_start(paths.daemon_variables(home), MAX_LINE_BYTES).decode().split())
    except ValueError:
        return ()


def spawn_daemon(home: str, python: str) -> None:
    """Start the daemon with the runtime's interpreter; its lock prevents a second."""
    script = os.path.join(plugin_root(), "memlayer", "daemon", "__main__.py")
    environment = {**DAEMON_ENVIRONMENT, **kept_environment(daemon_variables(home)), "MEMLAYER_HOME": home}
    spawn_detached([python, "-I", script], environment, os.path.join(paths.logs(home), "daemon.err"))


def spawn_setup(home: str, root: str) -> bool:
    """Start `bin/memlayer setup` as a process. True when started.

    False when one is running, or when the last one failed within RETRY_AFTER_S. Returns at once. Raises OSError when
    the disk refuses.
    """
    if failed_lately(home) or setup_is_running(home):
        return False
    paths.make_folder(paths.logs(home))
    environ = setup_environ(os.environ)
    environ["MEMLAYER_HOME"] = home
    started_by = [sys.executable, "-I", "-S"] if sys.executable else ["/bin/sh"]
    command = [*started_by, os.path.join(root, "bin", "memlayer"), "setup", "--quiet", "--no-wait"]
    spawn_detached(command, environ, os.path.join(paths.logs(home), "setup.err"))
    return True


def failed_lately(home: str) -> bool:
    """True if the last setup failed within RETRY_AFTER_S."""
    try:
        return time.time() - os.stat(failure_file(home)).st_mtime < RETRY_AFTER_S
    except OSError:
        return False


def setup_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a setup in the background inherits."""
    return {
        name: value
        for name, value in environ.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES) or name.upper() in PASSED_ON_PROXIES
    }


def spawn_detached(argv: list[str], environment: dict[str, str], error_log: str) -> None:
    """Run argv with no tie to this process.

    Own session, parent init, stdin and stdout closed, stderr to a file. Returns once the intermediate child is gone.
    Raises OSError when it cannot fork.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    # From here on nothing may return or raise into the caller's code: this is a second copy of it.
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.umask(0o077)
        os.chdir("/")
        os.makedirs(os.path.dirname(error_log), mode=paths.FOLDER_MODE, exist_ok=True)
        null = os.open(os.devnull, os.O_RDWR)
        errors = paths.open_fd(error_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, follow_links=True)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.dup2(errors, 2)
        os.closerange(3, 256)
        os.execve(argv[0], argv, environment)
    finally:
        os._exit(127)


def allow_files(wanted: int) -> int:
    """Allow this process more open files; return how many it may open."""
    import resource  # seldom needed

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return max(soft, wanted)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted
