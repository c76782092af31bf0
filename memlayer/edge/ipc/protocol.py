"""Frames on the socket, both ways.

Request:  `memlayer/<protocol> <build> <op> <deadline_ms> <at_ms> <project> <length>\\n` + `length` bytes
Answer:   any number of `<tag> <length>\\n` + `length` bytes; the last is `reply`, `error` or `version`

tags: `durable` (the event is redacted and on disk), `progress` (JSON), `reply` (the raw answer), `error` (one line of
text), `version` (the daemon speaks another version and has not taken the request). `project` is the project folder,
percent-encoded, "-" for none. Everything is bytes; nothing here needs json.
"""

from memlayer.errors import ProtocolError

PROTOCOL = 1
MAX_HEADER_BYTES = 16_384
MAX_BODY_BYTES = 64 * 1024 * 1024

DURABLE = b"durable"
PROGRESS = b"progress"
REPLY = b"reply"
ERROR = b"error"
VERSION = b"version"
LAST = (REPLY, ERROR, VERSION)


class Request:
    """A request as the daemon reads it.

    deadline_ms: how long the client waits. at_ms: when it happened, Unix time.
    """

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
