"""Hooks whose stdin stays open, comes in pieces or holds no JSON."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge import HOOKS
from memlayer.edge.hook.main import QUIET_S, read_object
from tests.support.cli_process import MAIN
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

SOON_S = 8.0  # on a busy machine; a hook that waits for an end never comes back
FIELDS: dict[str, dict[str, Any]] = tables("integration/hook_stdin")["fields"]
SILENT = tuple(stem for stem, row in HOOKS.items() if not row.kind)


def with_open_pipe(hook: HookRunner, name: str, pieces: Iterable[bytes], pause_s: float = 0.0) -> float:
    """Run a hook whose stdin is never closed; return how long it took."""
    begun = time.monotonic()
    with subprocess.Popen(
        [hook.python, "-I", "-S", str(hook.root / "hooks" / (name + ".py"))], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=hook.environment, cwd=hook.project,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stderr is not None
        for piece in pieces:
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(pause_s)
        code = process.wait(30)
        took_s = time.monotonic() - begun
        assert (code, process.stderr.read()) == (0, b"")
    return took_s


def payload(name: str, session: str = "s1") -> bytes:
    said = {"session_id": session, "prompt_id": "p1", "cwd": "/", **FIELDS.get(name, {"agent_type": "Explore"})}
    return json.dumps(said, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", [*FIELDS, *SILENT])
def test_open_pipe_keeps_no_hook_waiting(hook: HookRunner, name: str) -> None:
    assert set(HOOKS) == {*FIELDS, *SILENT}
    assert with_open_pipe(hook, name, [payload(name)]) < SOON_S
    assert len(hook.spooled) == (0 if name in SILENT else 1)


def test_open_pipe_is_answered_by_the_daemon(hook: HookRunner, daemon: Daemon) -> None:
    for name in FIELDS:
        assert with_open_pipe(hook, name, [payload(name)]) < SOON_S
    daemon.settle()
    assert hook.spooled == [] and daemon.call("stats")["events"] >= len(FIELDS)


@pytest.mark.parametrize("cut", [1, 2, 20, 60, 75, 78, 79, 81, 90, 100, -3, -2, -1])
def test_pieces_are_read_whole(hook: HookRunner, cut: int) -> None:
    said = payload("user_prompt_submit")
    assert with_open_pipe(hook, "user_prompt_submit", [b" \n", said[:cut], said[cut:]], 0.3) < SOON_S
    assert [event["text"] for event in hook.spooled] == [FIELDS["user_prompt_submit"]["prompt"]]


def test_every_cut_of_an_object_is_read_to_its_end() -> None:
    """A packet is a piece: what stands behind the object stays unread."""
    objects = [payload(name) for name in FIELDS]
    objects += [
        rb'{"a": "\\\\\\\" } {", "b": {"}": "{\"}"}}',
        rb'{"a\\": "}\\\\"}',
        '{"말": "가\\\\", "글": ["}"]}'.encode(),
    ]
    assert all(map(json.loads, objects))
    for said in objects:
        for cut in range(4, len(said)):
            ours, host = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with ours, host:
                host.sendall(said[:cut])
                host.sendall(said[cut:])
                host.sendall(b"more")
                assert read_object(ours.fileno()) == said


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"hello",
        b"[1, 2",
        b'"text',
        b'{"session_id": "s1", "prompt": "cut',
        b"\n",
        b"}",
        "안녕 {".encode(),
        b"\0\0",
    ],
)
def test_no_object_ends_soon_though_the_pipe_is_open(hook: HookRunner, said: bytes) -> None:
    assert with_open_pipe(hook, "user_prompt_submit", [said]) < QUIET_S + SOON_S
    assert hook.spooled == []


@pytest.mark.parametrize("piece", [b"{", b"}", b"x", b'"', b"\\", b"[", "가".encode(), b'{"a":"}'])
def test_fifty_megabytes_of_no_json_end_soon(hook: HookRunner, piece: bytes) -> None:
    begun = time.monotonic()
    done = hook.raw("user_prompt_submit", piece * (50_000_000 // len(piece)), timeout_s=60)
    assert (done.returncode, done.stdout, done.stderr, hook.spooled) == (0, b"", b"", [])
    assert time.monotonic() - begun < SOON_S


def test_status_line_is_printed_though_the_pipe_is_open(home: Path, project: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "MEMLAYER_HOME": str(home)}
    with subprocess.Popen(
        [sys.executable, "-I", str(MAIN), "statusline"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        cwd=project,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"session_id": "s1", "cwd": str(project)}).encode())
        process.stdin.flush()
        assert process.wait(20) == 0 and process.stdout.read().startswith(b"memlayer: ")
