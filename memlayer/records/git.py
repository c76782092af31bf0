"""The one place that calls git.

A repository's own configuration names programs and addresses, and a clone brings it: no call runs such a program or
reaches a network. A share's remote is the person's choice: its calls name the protocols that they may use.
"""

import errno
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from subprocess import Popen, TimeoutExpired

from memlayer.edge.home import project

PIECE_BYTES = 1 << 16
WRITTEN_BYTES = 512  # at once, so that no write waits
LIMIT_S = 10.0
MOST_BYTES = 64 << 20  # of an output
MOST_FETCHED = 1 << 30  # of a file that a remote has git write
# The unit is 512 bytes. Without the signal git says why it fails. A lower limit of this machine stays.
LIMITED = ("/bin/sh", "-c", 'limit=$1; shift; trap "" XFSZ; ulimit -f "$limit" 2>/dev/null; exec "$@"', "sh")
# For each call, also of a share.
CONFIGURATION = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.alternateRefsCommand": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
}
# A call without a protocol needs no program of a connection, a signature or a person's name either.
LOCAL = {
    "core.sshCommand": "false",
    "core.gitProxy": "false",
    "core.askPass": "false",
    "credential.helper": "",
    "log.showSignature": "false",
    "log.mailmap": "false",
    "gpg.program": "false",
    "safe.bareRepository": "explicit",
}
# A partial clone fetches what it lacks: newer git is told not to, older git finds no protocol that is allowed.
ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
}  # fmt: skip


def talk(process: Popen[bytes], sent: bytes, *, limit_s: float, most_bytes: int) -> tuple[bytes, bytes, bool]:
    """Return a program's output, its errors, and whether one was cut.

    A program whose output is cut still runs: it is the caller's to kill. Raises TimeoutExpired.
    """
    ends, unsent, is_cut = time.monotonic() + limit_s, memoryview(sent), False
    pipes = [pipe for pipe in (process.stdout, process.stderr, process.stdin) if pipe is not None]
    told: dict[object, bytearray] = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as ready:
        for pipe in pipes:
            ready.register(pipe, selectors.EVENT_WRITE if pipe is process.stdin else selectors.EVENT_READ, pipe)
        while ready.get_map() and not is_cut:
            for key, _ in ready.select(max(0.0, ends - time.monotonic())):
                if key.data is process.stdin:
                    try:
                        unsent = unsent[os.write(key.fd, unsent[:WRITTEN_BYTES]) :]
                    except BrokenPipeError:  # it reads no further
                        unsent = unsent[:0]
                    is_over = not unsent
                else:
                    data = os.read(key.fd, PIECE_BYTES)
                    told[key.data] += data
                    is_over, is_cut = not data, is_cut or len(told[key.data]) > most_bytes
                if is_over:
                    ready.unregister(key.fd)
                    key.data.close()
            if time.monotonic() > ends:
                raise TimeoutExpired(process.args, limit_s)
    if not is_cut:
        process.wait(max(0.0, ends - time.monotonic()))
    said, errors = (bytes(told.get(pipe, b"")[:most_bytes]) for pipe in (process.stdout, process.stderr))
    return said, errors, is_cut


def run(
    words: Sequence[str],
    *,
    limit_s: float,
    sent: bytes = b"",
    protocols: str = "",
    environment: Mapping[str, str] | None = None,
    configuration: Mapping[str, str] | None = None,
    cut_at: int = 0,
) -> subprocess.CompletedProcess[bytes]:
    """Run git, with a verb of git's own.

    protocols: that it may use, as in GIT_ALLOW_PROTOCOL. "" for none. cut_at: bytes of an output whose rest is not
    wanted. Raises OSError, for a longer output as well, and subprocess.TimeoutExpired.
    """
    chosen = {**CONFIGURATION, **({} if protocols else LOCAL), **(configuration or {})}
    options = [word for name, value in chosen.items() for word in ("-c", "%s=%s" % (name, value))]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    limited = (*LIMITED, str(MOST_FETCHED // 512)) if protocols else ()
    with subprocess.Popen(
        [*limited, "git", "--no-pager", *options, *words], cwd="/",
        env={**kept, **ENVIRONMENT, **(environment or {}), "GIT_ALLOW_PROTOCOL": protocols},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            said, errors, is_cut = talk(process, sent, limit_s=limit_s, most_bytes=cut_at or MOST_BYTES)
        finally:
            process.kill()
    if is_cut and not cut_at:
        raise OSError(errno.EFBIG, "git gives more than %d MB" % (MOST_BYTES >> 20))
    return subprocess.CompletedProcess(process.args, 0 if is_cut else process.returncode, said, errors)


def in_folder(folder: str, *words: str, limit_s: float = LIMIT_S) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, not in one above. Raises as run()."""
    above = {"GIT_CEILING_DIRECTORIES": os.path.dirname(project.real(folder))}
    return run(["-C", folder, *words], limit_s=limit_s, environment=above)
