"""Pipes, devices and files without end in the place of a transcript or an export: nobody waits, no core burns."""

import io
import json
import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.cli.verbs.transfer import is_export
from memlayer.edge.home.paths import open_regular
from memlayer.transcripts import branches, sources
from memlayer.transcripts.lines import Tally, read_calls, whole_lines
from memlayer.transcripts.reader import read_turns
from memlayer.transcripts.token_usage import read_token_use
from tests.support.cli_process import MAIN
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
ODD = (
    "pipe",
    "link to a pipe",
    "/dev/zero",
    "/dev/random",
    "/dev/full",
    "/dev/tty",
    "/dev/stdin",
    "socket",
    "folder",
    "한글 파이프",
)

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    name, path = str(request.param), tmp_path / "오래된.jsonl"
    if name.startswith("/dev/"):
        yield name
        return
    if name == "folder":
        path.mkdir()
    elif name == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(tmp_path / "s.jsonl"))
            yield str(tmp_path / "s.jsonl")
        return
    elif name == "link to a pipe":
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    else:
        os.mkfifo(path)
    yield str(path)


def test_readers_of_transcripts_find_nothing_there(odd: str) -> None:
    with pytest.raises(FileNotFoundError):
        open_regular(odd)
    assert list(read_turns(odd)) == []
    assert read_calls(odd) == []
    assert read_token_use(odd) is None
    for read in (branches.left_prompts, lambda path: branches.newly_left(path, 0)):
        with pytest.raises(OSError):
            read(odd)
    assert not is_export(odd)


def test_finding_transcripts_counts_them(odd: str) -> None:
    counted: Counter[str] = Counter()
    found = sources.find("claude", [odd], lambda reason: counted.update([reason]))
    assert found == [] and (os.path.isdir(odd) or counted == {"no regular files": 1})


def line(number: int) -> bytes:
    message = {"role": "user", "content": "결제 포트는 %d" % number}
    return json.dumps({"type": "user", "uuid": "u%d" % number, "sessionId": "s", "message": message}).encode() + b"\n"


def test_a_hole_of_a_terabyte_is_no_transcript(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1))
    assert [turn.text for turn in read_turns(str(path))] == ["결제 포트는 1"]
    os.truncate(path, 1 << 40)
    assert list(read_turns(str(path))) == [] and read_calls(str(path)) == [] and read_token_use(str(path)) is None


class Growing(io.BytesIO):
    """A file that never comes to its end."""

    def __init__(self, fd: int) -> None:
        self._fd, self.lines = fd, 0

    def fileno(self) -> int:
        return self._fd

    def seek(self, offset: int, whence: int = 0) -> int:
        return offset

    def readline(self, size: int | None = -1) -> bytes:
        self.lines += 1
        assert self.lines < 100
        return line(self.lines)


def test_a_file_that_grows_while_it_is_read_is_read_to_its_size(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1) + line(2) + line(3))
    with open(path, "rb") as file:
        growing: Any = Growing(file.fileno())
        assert len(list(whole_lines(growing, 0, Tally()))) == 3


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "/tmp/한\0글.jsonl"])
def test_a_flush_comes_back_and_other_sessions_go_on(hook: HookRunner, home: Path, tmp_path: Path, name: str) -> None:
    path = name
    if name == "pipe":
        path = str(tmp_path / "t.jsonl")
        os.mkfifo(path)
    with Daemon(ROOT, home) as daemon:
        hook("session_start", "s1", source="startup", transcript_path=path)
        hook("user_prompt_submit", "s1", "p1", prompt="결제 포트는 8443으로 하기로 했다", transcript_path=path)
        hook("stop", "s1", "p1", last_assistant_message="네, 8443입니다.", transcript_path=path)
        hook("pre_compact", "s1", trigger="auto", transcript_path=path)
        hook("session_start", "s1", source="compact", transcript_path=path)
        hook("session_end", "s1", reason="other", transcript_path=path)
        daemon.settle()
        assert "8443" in hook("user_prompt_submit", "s2", "q", prompt="결제 포트가 몇 번이었지?").context
        daemon.settle()


@pytest.mark.parametrize("given", ["/dev/zero", "pipe", "-"])
def test_an_import_of_no_file_ends_with_a_reason(home: Path, tmp_path: Path, given: str) -> None:
    if given == "pipe":
        given = str(tmp_path / "pipe")
        os.mkfifo(given)
    with Daemon(ROOT, home), open("/dev/zero", "rb") as zero:
        done = subprocess.run(
            [sys.executable, str(MAIN), "import", given], stdin=zero, capture_output=True, text=True, cwd=ROOT,
            env={**os.environ, "MEMLAYER_HOME": str(home)}, timeout=50,
        )  # fmt: skip
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert "no regular file" in said or "holds no export" in said, said
