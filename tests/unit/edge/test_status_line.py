"""The status line: from files alone, never an error."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.bootstrap import runtime
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import spool_event
from memlayer.edge.home import given_notes, paths
from memlayer.edge.terminal import status_line
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[3]
NOW_S = time.time()
NOW_MS = int(NOW_S * 1000)


@pytest.fixture(autouse=True)
def made(home: Path) -> None:
    home.mkdir(mode=0o700, exist_ok=True)


def host(home: Path, stdin: bytes, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the status line as Claude Code does, without a runtime."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "bin" / "memlayer"), "statusline", *arguments],
        input=stdin, capture_output=True, cwd="/", timeout=30, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home.parent), "MEMLAYER_HOME": str(home), **environment,
             "MEMLAYER_RUNTIME_DIR": str(home / "none")},
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def put(home: Path, notes: int, session: str = "s1", **more: Any) -> None:
    rows = [{"id": "m%d" % number, "relevance": 0.8} for number in range(notes)]
    entry = {"at_ms": NOW_MS, "session_id": session, "project_id": "p", "event_id": "e", "delivered": True}
    given_notes.put(str(home), {**entry, "given": rows, **more})


def wait(home: Path, kind: str, prompt_id: str, age_s: float = 1.0) -> None:
    event = spool_event(
        kind=kind, session_id="s1", prompt_id=prompt_id, text="결제 모듈 포트", at_ms=int((NOW_S - age_s) * 1000)
    )
    spool.put(str(home), event)


def line(home: Path, **host_fields: Any) -> str:
    return str(status_line.facts(str(home), {"session_id": "s1", **host_fields}, NOW_S)["line"])


@pytest.mark.parametrize(("notes", "more", "expected"), tables("edge/status_line")["notes_of_the_last_prompt"])
def test_notes_of_the_last_prompt(home: Path, notes: int, more: dict[str, Any], expected: str) -> None:
    put(home, 5)
    put(home, notes, **more)
    put(home, 4, session="another")
    assert line(home) == expected


def test_session_without_an_entry(home: Path) -> None:
    put(home, 4, session="another")
    assert line(home) == "memlayer: no notes yet"
    assert status_line.facts(str(home), {}, NOW_S)["line"] == "memlayer: ready"


def test_answered_turns_wait(home: Path) -> None:
    put(home, 2)
    wait(home, "user", "p1")
    assert line(home) == "memlayer: 2 notes"  # its answer is still to come
    wait(home, "assistant", "p1")
    assert line(home) == "memlayer: 2 notes, 1 turn waiting"
    wait(home, "user", "p2", age_s=90.0)
    assert line(home) == "memlayer: 2 notes, 2 turns waiting"


def test_backlog_is_not_read_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_line, "MAX_READ", 3)
    for number in range(5):
        wait(home, "assistant", "p%d" % number, age_s=100.0 - number)
    assert line(home) == "memlayer: no notes yet, 3+ turns waiting"


def test_trouble_is_named(home: Path) -> None:
    os.makedirs(paths.logs(str(home)))
    entry = {"at_ms": NOW_MS, "hook": "stop", "what": "failed", "error": "OSError"}
    Path(paths.hook_log(str(home))).write_text(json.dumps(entry) + "\n")
    assert line(home) == "memlayer: no notes yet, 1 hook call failed (/memory-doctor)"
    failure = Path(runtime.failure_file(str(home)))
    failure.parent.mkdir(parents=True, exist_ok=True)
    failure.write_text("디스크가 가득 찼다\x1b[31m\nmore")
    assert line(home) == "memlayer: no notes yet, setup failed: 디스크가 가득 찼다 (/memory-doctor)"


def test_switched_off_project_says_so(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "상점"
    project.mkdir()
    (project / ".memlayer.yaml").write_text("enabled: false\n")
    assert line(home, workspace={"project_dir": str(project)}) == "memlayer: off"
    assert line(home, cwd=str(project)) == "memlayer: off"
    assert line(home, workspace={"project_dir": str(tmp_path)}) == "memlayer: no notes yet"


@pytest.mark.parametrize("key", ["workspace", "cwd", "session_id"])
@pytest.mark.parametrize("value", [None, 3, [], {}, "", "\0", "없는/폴더", {"project_dir": 3}])
def test_foreign_fields_are_ignored(home: Path, key: str, value: object) -> None:
    fields = {"session_id": "s1", key: value}
    assert str(status_line.facts(str(home), fields, NOW_S)["line"]).startswith("memlayer: ")


def test_host_gets_a_line_without_a_runtime(home: Path) -> None:
    put(home, 2)
    before = sorted(os.listdir(home))
    done = host(home, json.dumps({"session_id": "s1", "model": {"id": "x"}}).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, "memlayer: 2 notes\n", "")
    found = json.loads(host(home, b'{"session_id": "s1"}', "--json").stdout)
    assert (found["notes"], found["turns_waiting"], found["trouble"]) == (2, 0, "")
    assert sorted(os.listdir(home)) == before  # no daemon, no setup, no log


@pytest.mark.parametrize("stdin", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'"s1"'])
def test_broken_input_gets_a_line(home: Path, stdin: bytes) -> None:
    done = host(home, stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, "memlayer: ready\n", "")


@pytest.mark.parametrize("end", ["<&-", ">&-", "<&- >&- 2>&-", ">/dev/full", "</dev/full", "| true"])
def test_closed_or_full_stream_is_no_crash(home: Path, end: str) -> None:
    command = "'%s' -I -S '%s' statusline %s" % (sys.executable, ROOT / "bin" / "memlayer", end)
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home.parent), "MEMLAYER_HOME": str(home), "LC_ALL": "C"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_home_gets_a_line(home: Path) -> None:
    home.rmdir()
    assert host(home, b'{"session_id": "s1"}').stdout == "memlayer: no notes yet\n"
    assert host(home, b"{}", MEMLAYER_DISABLE="1").stdout == "memlayer: off\n"
    assert not home.exists()


def test_line_needs_standard_library_only(home: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, %r); from memlayer.edge.terminal import status_line; print(*sys.modules)"
        % str(ROOT)
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {name for name in loaded if name.partition(".")[0] in ("click", "rich", "lancedb", "asyncio", "logging")}
    assert not {
        name
        for name in loaded
        if name.startswith("memlayer.") and not name.startswith(("memlayer.edge", "memlayer.errors"))
    }
