"""Payloads for hooks and for the socket.

Recorded stdin, bent byte by byte and value by value, repeatably.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memlayer import __version__
from memlayer.edge.ipc import protocol

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
EVENTS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PostToolUse": "post_tool_use",
    "PostToolUseFailure": "post_tool_use_failure",
    "Stop": "stop",
    "SessionEnd": "session_end",
    "PreCompact": "pre_compact",
    "PostCompact": "post_compact",
}
ASKED = int(os.environ.get("MEMLAYER_FUZZ") or 0)  # read now: a test's environment is cleaned
PIECES: list[bytes] = [
    b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b'"', b"\\",
    b"{", b"}}", b"[", b"]", b",", b":",
    b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1", b"9" * 400, b"[" * 3000, b'{"a":' * 2000, b"\xef\xbb\xbf",
    b"<private>", b"</private>", b"[Memory context]", b"[mem:a7Bc3x]", b"\x1b[2J",
    "비밀번호는 ".encode(), "가".encode()[:2],
    b"../../../../etc/passwd", b"/dev/zero", b"/proc/self/environ", b"%s%n", b"\r\n", b" " * 500,
    b"AKIA7LRWFVEALKXWKKXZ",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 2**63, 2**200, 1.5, float("inf"), float("nan"), "", " ", "\x00", "a" * 5000, "가" * 3000,
    "\ud83d", "../..", "/dev/zero", "/proc/self/mem", "/tmp", "startup", "clear", "resume", "compact", "fork",
    "<private>",
    "password=hunter22x", [], {}, [[]], {"a": {"b": {}}}, ["x"] * 50, {"": ""}, "\u202e", "\n\n", "-", "0" * 200,
]  # fmt: skip


def rounds(short: int) -> int:
    """Return the number of payloads: `short`, or MEMLAYER_FUZZ."""
    return ASKED or short


def recorded(hook: str) -> list[bytes]:
    """Every stdin that was recorded for a hook, of all versions."""
    found = []
    for path in sorted([*FIXTURES.glob("hook_stdin_*.jsonl"), *FIXTURES.glob("host/hook_stdin_*.jsonl")]):
        for line in path.read_bytes().splitlines():
            if EVENTS.get(json.loads(line).get("hook_event_name")) == hook:
                found.append(line)
    assert found, hook
    return found


def payloads(hook: str, count: int, seed: int) -> Iterator[bytes]:
    """`count` payloads for a hook: the recorded ones first, then bent ones."""
    rng = random.Random("%s %d" % (hook, seed))
    base = recorded(hook)
    for i in range(count):
        raw = base[i] if i < len(base) else rng.choice(base)
        if i >= len(base):
            raw = rng.choice((_bend_bytes, _bend_values, _bend_values, _replace))(rng, raw)
        yield raw


def frames(count: int, seed: int, ops: list[str]) -> Iterator[bytes]:
    """`count` requests as they could come over the socket."""
    rng = random.Random("socket %d" % seed)
    stdin = {hook: recorded(hook) for hook in EVENTS.values()}
    for _ in range(count):
        op = rng.choice(ops)
        if op.startswith("hook."):
            body = rng.choice((_bend_bytes, _bend_values))(rng, rng.choice(stdin[op[5:]]))
        else:
            body = _arguments(rng)
        raw = protocol.request(
            op, body, build=__version__, deadline_ms=rng.choice((0, 1, 500, 2000)),
            at_ms=rng.choice((0, 1, 2**40, 2**62)),
            project_dir=rng.choice((b"", b"/", b"/nonexistent/\xff", b"/tmp", b"relative", b"/a b\n\xea\xb0\x80")),
        )  # fmt: skip
        # Protocol and build stay: for a newer one the daemon would rightly leave.
        start = len(b"memlayer/%d %s " % (protocol.PROTOCOL, __version__.encode()))
        how = rng.random()
        if how < 0.25:
            raw = raw[:start] + _bend_bytes(rng, raw[start:])
        elif how < 0.4:
            head, _, rest = raw.partition(b"\n")
            parts = head.split(b" ")
            parts[rng.randrange(2, len(parts))] = rng.choice(PIECES)[:60] or b"x"
            raw = b" ".join(parts) + b"\n" + rest
        elif how < 0.5:
            raw = raw[: rng.randrange(len(raw) + 1)]
        elif how < 0.55:
            raw = rng.choice(
                (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", rng.randbytes(200), b"\n", b"memlayer/x y\n", b"a" * 40_000)
            )
        yield raw


def _arguments(rng: random.Random) -> bytes:
    """Return a JSON object of the command line's kind.

    It has fitting and unfitting values.
    """
    names = (
        "query", "prompt", "id", "ids", "limit", "min_score", "project_dir", "session_id", "category", "before_ms",
        "dry_run", "wait", "nonsense",
    )  # fmt: skip
    asked = {name: rng.choice(VALUES) for name in rng.sample(names, rng.randrange(6))}
    raw = json.dumps(asked).encode("utf-8", "surrogatepass")
    return _bend_bytes(rng, raw) if rng.random() < 0.2 else raw


def _bend_bytes(rng: random.Random, raw: bytes) -> bytes:
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(6)
        if how == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif how == 1:
            data[at:at] = rng.choice(PIECES)
        elif how == 2:
            del data[at : at + rng.choice((1, 2, 10, 200))]
        elif how == 3:
            data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.choice((5, 50, 500))]
        elif how == 4:
            data[at : at + 4] = rng.randbytes(4)
        else:
            del data[at:]
    return bytes(data)


def _bend_values(rng: random.Random, raw: bytes) -> bytes:
    told: dict[str, Any] = json.loads(raw)
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice([*told, "agent_id", "prompt", "last_assistant_message", "source", "unknown"])
        how = rng.randrange(4)
        if how == 0:
            told.pop(name, None)
        elif how == 1 and isinstance(told.get(name), str):
            told[name] = rng.choice(PIECES).decode("utf-8", "surrogateescape") + str(told[name]) * rng.choice(
                (1, 1, 40)
            )
        else:
            told[name] = rng.choice(VALUES)
    return json.dumps(told, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _replace(rng: random.Random, raw: bytes) -> bytes:
    """Something that has little to do with the recorded bytes."""
    whole: Any = rng.choice(VALUES)
    return rng.choice(
        (json.dumps(whole).encode("utf-8", "surrogatepass"), rng.choice(PIECES), rng.randbytes(300), raw * 3)
    )
