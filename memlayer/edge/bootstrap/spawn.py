"""Start processes that outlive the caller: the daemon and the setup.

The host kills the process tree of a hook, so each is forked twice.
"""

from __future__ import annotations

import os
import sys
import time

from memlayer.edge.bootstrap import runtime
from memlayer.edge.home import paths

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping

# All that a daemon inherits: a host's environment holds API keys. A key that the user's settings name for a language
# model comes on top: daemon_variables().
KEPT_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
KEPT_PREFIX = "MEMLAYER_"
MAX_NAMES_CHARS = 4000
# The daemon's many threads would each keep a heap of their own: two hold a third less memory, and none waits for them.
DAEMON_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# How long hooks leave a failed setup alone: without a network each prompt would otherwise start a setup.
RETRY_AFTER_S = 600

# Variables that an install may need, and none that could change the code that runs.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR",
             "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE", "NETRC")  # fmt: skip
PASSED_ON_PREFIXES = ("LC_", "PIP_", "UV_", "XDG_", "MEMLAYER_")
PASSED_ON_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY")


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
    """Return the names of further variables for the daemon.

    The user's settings name them; none unless a language model is on.
    """
    try:
        with open(paths.daemon_variables(home), encoding="utf-8") as file:
            return tuple(file.read(MAX_NAMES_CHARS).split())
    except (OSError, ValueError):
        return ()


def spawn_daemon(home: str, python: str) -> None:
    """Start the daemon of `home` with the runtime's interpreter.

    Harmless when one runs: its lock decides.
    """
    script = os.path.join(plugin_root(), "memlayer", "daemon", "__main__.py")
    environment = {**DAEMON_ENVIRONMENT, **kept_environment(daemon_variables(home)), "MEMLAYER_HOME": home}
    spawn_detached([python, "-I", script], environment, os.path.join(paths.logs(home), "daemon.err"))


def spawn_setup(home: str, root: str) -> bool:
    """Start `bin/memlayer setup` as a process; True when started.

    False when one is running, or when the last one failed within RETRY_AFTER_S. Returns at once. Raises OSError when
    the disk refuses.
    """
    if failed_lately(home) or runtime.setup_is_running(home):
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
        return time.time() - os.stat(runtime.failure_file(home)).st_mtime < RETRY_AFTER_S
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
        errors = os.open(error_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, paths.FILE_MODE)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.dup2(errors, 2)
        os.closerange(3, 256)
        os.execve(argv[0], argv, environment)
    finally:
        os._exit(127)
