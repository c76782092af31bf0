"""Forward a hook's stdin to the daemon and return its answer.

For the price of a bare interpreter start: imports only built-in modules (sys, posix, _socket, time) beside protocol;
json and the socket wrapper would double the cost of a hook. Everything is bytes.
"""

import _socket
import posix
import time

from memlayer import __version__
from memlayer.edge.ipc import protocol
from memlayer.errors import MemlayerError

SOCKET_NAME = b"daemon.sock"  # paths.SOCKET_NAME as bytes, without importing os

# Outcomes.
TAKEN = "taken"  # answered; the event is durable
KEPT = "kept"  # durable, but the answer did not come in time
ABSENT = "absent"  # no daemon listens
LATE = "late"  # connected, but nothing durable within the deadline
REFUSED = "refused"  # a daemon of another version, now leaving


def forward(home: bytes, op: str, raw: bytes, project_dir: bytes, deadline_s: float, at_ms: int) -> tuple[str, bytes]:
    """Return (outcome, raw answer).

    Never raises; never takes longer than deadline_s plus a moment. home: the memlayer home. at_ms: when the event
    happened, Unix time. project_dir: absolute, or empty.
    """
    ends = time.monotonic() + deadline_s
    unanswered = ABSENT
    sock = None
    try:
        # Another user could offer a socket in a home that is not ours: a wrong owner counts as no daemon.
        if posix.stat(home).st_uid != posix.getuid():
            return ABSENT, b""
        posix.chdir(home)
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        unanswered = LATE
        sock.settimeout(deadline_s)
        try:
            sock.connect(SOCKET_NAME)
        except TimeoutError:
            return LATE, b""
        except OSError:
            return ABSENT, b""
        frame = protocol.request(
            op, raw, build=__version__, deadline_ms=int(deadline_s * 1000), at_ms=at_ms, project_dir=project_dir
        )
        sock.settimeout(max(0.001, ends - time.monotonic()))
        sock.sendall(frame)
        reader = protocol.AnswerReader()
        while (left := ends - time.monotonic()) > 0:
            sock.settimeout(left)
            data = sock.recv(65536)
            if not data:
                return unanswered, b""
            for tag, body in reader.feed(data):
                if tag == protocol.DURABLE:
                    unanswered = KEPT
                elif tag == protocol.REPLY:
                    return TAKEN, body
                elif tag == protocol.VERSION:
                    return REFUSED, b""
                elif tag == protocol.ERROR:
                    return unanswered, b""
        return unanswered, b""
    except (OSError, MemlayerError):
        # _socket.timeout is an OSError; before Python 3.10 it is not TimeoutError, so it may also end up here.
        return unanswered, b""
    finally:
        if sock is not None:
            sock.close()
