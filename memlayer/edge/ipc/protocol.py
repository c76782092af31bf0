"""Frames on the socket, both ways, and a hook's use of them.

Request:  `memlayer/<protocol> <build> <op> <deadline_ms> <at_ms> <project> <length>\\n` + `length` bytes
Answer:   any number of `<tag> <length>\\n` + `length` bytes. The last is `reply`, `error` or `version`

tags: `durable` (the event is redacted and on disk), `progress` (JSON), `reply` (the raw answer), `error` (one line of
text), `version` (the daemon speaks another version and has not taken the request). `project` is the project folder,
percent-encoded, "-" for none.

For the price of a bare interpreter start: everything is bytes, and only built-in modules are imported. Json and the
socket wrapper would double the cost of a hook.
"""

import _socket
import posix
import sys
import time

from memlayer import __version__
from memlayer.errors import MemlayerError, ProtocolError

PROTOCOL = 2
MAX_HEADER_BYTES = 16_384
MAX_BODY_BYTES = 64 * 1024 * 1024

DURABLE = b"durable"
PROGRESS = b"progress"
REPLY = b"reply"
ERROR = b"error"
VERSION = b"version"

LOCAL_PEERCRED = 1  # macOS, <sys/un.h>. Level 0 is SOL_LOCAL
SOCKET_NAME = b"daemon.sock"  # paths.SOCKET_NAME as bytes, without importing os

# Outcomes.
TAKEN = "taken"  # answered. The event is durable
KEPT = "kept"  # durable, but the answer did not come in time
ABSENT = "absent"  # no daemon listens
LATE = "late"  # connected, but nothing durable within the deadline
REFUSED = "refused"  # a daemon of another version, now leaving


class Request:
    """A request. deadline_ms: the client's wait; at_ms: Unix time."""

    __slots__ = ("at_ms", "body", "build", "deadline_ms", "op", "project_dir", "protocol")

    def __init__(
        self, protocol: int, build: str, op: str, deadline_ms: int, at_ms: int, project_dir: bytes, body: bytes
    ) -> None:
        self.protocol = protocol
        self.build = build
        self.op = op
        self.deadline_ms = deadline_ms
        self.at_ms = at_ms
        self.project_dir = project_dir
        self.body = body


def quote(raw: bytes) -> bytes:
    """Percent-encode characters that would break the header line."""
    if not raw:
        return b"-"
    out = raw.replace(b"%", b"%25").replace(b" ", b"%20").replace(b"\n", b"%0A").replace(b"\r", b"%0D")
    return b"%2D" if out == b"-" else out


def unquote(raw: bytes) -> bytes:
    """Reverse quote."""
    if raw == b"-":
        return b""
    raw = raw.replace(b"%2D", b"-").replace(b"%0D", b"\r").replace(b"%0A", b"\n").replace(b"%20", b" ")
    return raw.replace(b"%25", b"%")


def request(op: str, body: bytes, *, build: str, deadline_ms: int, at_ms: int, project_dir: bytes = b"") -> bytes:
    """Return the bytes of a request."""
    head = "memlayer/%d %s %s %d %d " % (PROTOCOL, build, op, deadline_ms, at_ms)
    return head.encode() + quote(project_dir) + b" %d\n" % len(body) + body


def parse_header(line: bytes) -> tuple[Request, int]:
    """Return a request without its body, and the body's length. Raises ProtocolError."""
    parts = line.split(b" ")
    try:
        magic, build, op, deadline_ms, at_ms, project, length = parts
        if not magic.startswith(b"memlayer/"):
            raise ValueError(magic)
        size = int(length)
        if not 0 <= size <= MAX_BODY_BYTES:
            raise ValueError(size)
        head = Request(
            int(magic[9:]),
            build.decode("ascii"),
            op.decode("ascii"),
            int(deadline_ms),
            int(at_ms),
            unquote(project),
            b"",
        )
    except (ValueError, UnicodeDecodeError) as bad:
        raise ProtocolError("not a memlayer request: %r" % line[:80]) from bad
    return head, size


def answer(tag: bytes, body: bytes = b"") -> bytes:
    """Return the bytes of one answer frame."""
    return tag + b" %d\n" % len(body) + body


class AnswerReader:
    """Reader of answer frames out of bytes from the socket."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Return the frames that are whole now. Raises ProtocolError on foreign bytes."""
        self._buffer += data
        frames: list[tuple[bytes, bytes]] = []
        while True:
            head, newline, rest = self._buffer.partition(b"\n")
            if not newline:
                if len(head) > 64:
                    raise ProtocolError("not a memlayer answer")
                return frames
            tag, _, length = head.partition(b" ")
            if not length.isdigit() or len(length) > 9:
                raise ProtocolError("not a memlayer answer")
            size = int(length)
            if len(rest) < size:
                return frames
            frames.append((tag, rest[:size]))
            self._buffer = rest[size:]


def peer_uid(connection: _socket.socket) -> int:
    """Return the user id of the other end's process. Raises OSError."""
    if sys.platform == "darwin":  # struct xucred { u_int version; uid_t uid; short ngroups; gid_t groups[16]; }
        found = connection.getsockopt(0, LOCAL_PEERCRED, 76)
    else:  # struct ucred { pid_t pid; uid_t uid; gid_t gid; }
        found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(found[4:8], sys.byteorder)


def forward(home: bytes, op: str, raw: bytes, project_dir: bytes, deadline_s: float, at_ms: int) -> tuple[str, bytes]:
    """Return (outcome, raw answer).

    Never raises. Never takes longer than deadline_s plus a moment. home: the memlayer home. at_ms: when the event
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
        frame = request(
            op, raw, build=__version__, deadline_ms=int(deadline_s * 1000), at_ms=at_ms, project_dir=project_dir
        )
        sock.settimeout(max(0.001, ends - time.monotonic()))
        sock.sendall(frame)
        reader = AnswerReader()
        while (left := ends - time.monotonic()) > 0:
            sock.settimeout(left)
            data = sock.recv(65536)
            if not data:
                return unanswered, b""
            for tag, body in reader.feed(data):
                if tag == DURABLE:
                    unanswered = KEPT
                elif tag == REPLY:
                    return TAKEN, body
                elif tag == VERSION:
                    return REFUSED, b""
                elif tag == ERROR:
                    return unanswered, b""
        return unanswered, b""
    except (OSError, MemlayerError):
        # _socket.timeout is an OSError. Before Python 3.10 it is not TimeoutError, so it may also end up here.
        return unanswered, b""
    finally:
        if sock is not None:
            sock.close()
