"""`memlayer import` of transcripts through a real daemon.

Each turn once, whatever interrupts it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError
from tests.support.cli_process import MAIN, Cli
from tests.support.processes import Daemon, HookRunner
from tests.support.transcripts import LONG_AGO_S, record, turn, write

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "person" / ".claude" / "projects"
    folder.mkdir(parents=True)
    return folder


def imported(cli: Cli, *arguments: str) -> dict[str, Any]:
    done = cli("import", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return dict(json.loads(done.stdout))


def turns(daemon: Daemon) -> list[str]:
    found = daemon.call("list", limit=10_000)["memories"]
    return sorted(one["text"] for one in found if one["category"] == "conversation")


def test_import_skips_stored_turns(hook: HookRunner, daemon: Daemon, cli: Cli, projects: Path, project: Path) -> None:
    """One session through the real hooks, and then its transcript.

    The hooks' turns, and the one that they missed.
    """
    cwd = str(project)
    hook("session_start", "s1", source="startup")
    hook.turn("s1", "s1-p1", "질문 1", "대답 1: answer 1")
    hook.turn("s1", "s1-p2", "질문 2", "대답 2: answer 2")
    hook("session_end", "s1", reason="other")
    daemon.settle()
    write(projects, "s1", "".join(turn(n, session="s1", cwd=cwd) for n in (0, 1, 2)), cwd=cwd)
    done = imported(cli)  # HOME/.claude/projects is where it looks by itself
    assert (done["files"], done["turns"], done["new"], done["known"]) == (1, 3, 2, 4)
    assert (done["new_turns"], done["known_turns"]) == (1, 2)
    assert turns(daemon) == ["User: 질문 %d\nAssistant: 대답 %d: answer %d" % (n, n, n) for n in (0, 1, 2)]
    assert len({one["project_id"] for one in daemon.call("list")["memories"]}) == 1
    assert imported(cli)["unchanged"] == 1


def test_imported_sessions_are_listed(cli: Cli, daemon: Daemon, projects: Path, project: Path) -> None:
    cwd = str(project)
    for name in ("old-1", "old-2"):
        write(projects, name, "".join(turn(n, session=name, cwd=cwd) for n in (0, 1)), cwd=cwd)
    imported(cli, "--dry-run")
    assert "No sessions" in cli("sessions").stdout
    imported(cli)
    rows = json.loads(cli("sessions", "--json").stdout)["sessions"]
    assert sorted((row["id"], row["turns"], bool(row["ended"])) for row in rows) == [
        ("old-1", 2, True),
        ("old-2", 2, True),
    ]
    imported(cli)
    assert len(json.loads(cli("sessions", "--json").stdout)["sessions"]) == 2


def test_imported_turns_found_dry_run_none(cli: Cli, daemon: Daemon, projects: Path, project: Path) -> None:
    cwd = str(project)
    text = turn(
        1, session="s", cwd=cwd, prompt="타일 서버는 어디에 있지?", answer="타일 서버는 tiles.internal:8443 입니다."
    )
    write(projects, "s", text, cwd=cwd)
    table = cli("import", "--dry-run")
    assert table.returncode == 0
    assert "\nWould import 1 new turn, " in table.stdout
    assert turns(daemon) == []
    assert imported(cli)["new"] == 2
    found = cli("search", "타일 서버 주소").stdout
    assert "tiles.internal:8443" in found


def test_import_narrows_to_selection(cli: Cli, daemon: Daemon, projects: Path, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (project / "sub").mkdir()
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for session, cwd in (("here", project), ("below", project / "sub"), ("there", other)):
        write(projects, session, turn(1, session=session, cwd=str(cwd), prompt=session + "?"), cwd=str(cwd))
    assert imported(cli, "--project", str(project))["files"] == 2
    single = next(projects.rglob("there.jsonl"))
    assert imported(cli, str(single))["files"] == 1
    assert len(turns(daemon)) == 3
    refused = cli("import", str(tmp_path / "none"))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "none" in refused.stderr


def test_import_says_what_came_and_what_did_not(
    cli: Cli, daemon: Daemon, projects: Path, project: Path, tmp_path: Path
) -> None:
    off = tmp_path / "꺼진 곳"
    off.mkdir()
    (off / ".memlayer.yaml").write_text("enabled: false\n")
    for session, cwd in (("one", project), ("둘", project), ("off", off)):
        write(projects, session, turn(1, session=session, cwd=str(cwd), prompt=session + "?"), cwd=str(cwd))
    would = cli("import", "--dry-run").stdout
    assert "\nWould import 2 new turns, prompts and answers alone, from 2 transcripts (" in would
    assert re.search(r"\nleft out +files of projects that are switched off: 1 *\n", would)
    assert "\nImported 2 new turns, prompts and answers alone, from 2 transcripts (" in cli("import").stdout
    again = cli("import", "--project", str(project)).stdout
    assert again == f"Nothing new to import of {project}: 2 transcripts unchanged since the last import.\n"
    assert cli("import", "--project", str(tmp_path)).stdout.endswith("no session was found.\n")
    refused = cli("import", str(next(projects.rglob("off.jsonl")))).stderr
    assert "Left out: files of projects that are switched off: 1" in refused and "no transcript" not in refused
    file = str(tmp_path / "all.jsonl")
    assert cli("export", file).returncode == 0
    told = cli("import", file).stdout
    assert re.fullmatch(r"Imported [\w ,]+, 0 events, 0 memories; \d+ rows known already\.\n", told)


def test_sub_agents_are_left_out(cli: Cli, daemon: Daemon, projects: Path, project: Path) -> None:
    cwd = str(project)
    path = write(projects, "s", turn(1, session="s", cwd=cwd), cwd=cwd)
    agent = path.parent / "s" / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    said: dict[str, Any] = {"session": "s", "cwd": cwd, "isSidechain": True}
    agent.write_text(
        record("user", "로그를 조사해", 1_790_000_000_100, promptId="s-p1", **said)
        + record("assistant", "원인은 시계였다", 1_790_000_000_200, **said)
    )
    os.utime(agent, (LONG_AGO_S, LONG_AGO_S))
    assert imported(cli)["skipped"] == {"files of sub-agents": 1}
    assert len(turns(daemon)) == 1


def big(projects: Path, cwd: str, files: int = 6, each: int = 250) -> int:
    for number in range(files):
        session = "big%d" % number
        text = "".join(turn(n, session=session, cwd=cwd, prompt="질문 %d-%d" % (number, n)) for n in range(each))
        write(projects, session, text, cwd=cwd, at_s=LONG_AGO_S + number)
    return files * each


def heed_ctrl_c() -> None:
    """Make the process heed Ctrl-C.

    A shell has background processes ignore it, this suite among them.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.fault
def test_import_resumes_after_interrupt(cli: Cli, daemon: Daemon, projects: Path, project: Path) -> None:
    total = big(projects, str(project), files=14)  # several times as many as are stored at once
    with subprocess.Popen(
        [sys.executable, "-I", str(MAIN), "import"], cwd=project, env=cli.environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=heed_ctrl_c,
    ) as process:  # fmt: skip
        daemon.wait_for(lambda: daemon.call("stats")["memories"] >= 100, "turns", 30)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode != 0
    assert b"Traceback" not in said
    rest = imported(cli)
    assert 0 < rest["new"] < total * 2
    assert len(turns(daemon)) == total
    events = daemon.call("stats")["events"]
    assert events == total * 2


@pytest.mark.fault
@pytest.mark.timeout(180)
def test_killed_import_loses_nothing(home: Path, projects: Path, project: Path) -> None:
    """Takes long: three daemons read 2,000 turns, two of them are killed."""
    total = big(projects, str(project), files=8)
    for stored in (100, 800):
        daemon = Daemon(ROOT, home).start()
        client = Client(str(home), str(ROOT), sys.executable)
        ended: list[str] = []

        def run(client: Client = client, ended: list[str] = ended) -> None:
            try:
                client.call("import", {"paths": [str(projects)]}, deadline_s=60, start=False)
            except DaemonError as gone:
                ended.append(str(gone))

        thread = threading.Thread(target=run)
        thread.start()
        daemon.wait_for(lambda daemon=daemon, stored=stored: daemon.call("stats")["memories"] >= stored, "turns", 30)  # type: ignore[misc]
        daemon.kill()
        thread.join(20)
        assert ended, "the import was done before the kill"
    with Daemon(ROOT, home) as daemon:
        done = daemon.call("import", paths=[str(projects)])
        assert done["new"] < total * 2
        assert len(turns(daemon)) == total
        assert daemon.call("stats")["events"] == total * 2
        found = daemon.call("search", query="질문 0-7", limit=50, project_dir=str(project))["hits"]
        assert found


@pytest.mark.fault
@pytest.mark.timeout(180)
def test_vectors_follow_also_after_a_kill(home: Path, projects: Path, project: Path) -> None:
    """The verb ends with the words; the vectors are the business of whichever daemon runs."""
    cwd, cli = str(project), Cli(home, project)
    text = "".join(
        turn(n, session="s", cwd=cwd, prompt="%d번째 질문: 포트는?" % n, answer="포트 %d번을 씁니다." % n)
        for n in range(300)
    )
    write(projects, "s", text, cwd=cwd)
    with Daemon(ROOT, home, {}) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["mode"] == "hybrid", "model", 40)
        done = cli("import", "--json")
        left = json.loads(done.stdout)["unembedded"]
        assert left > 0 and done.returncode == 0
        assert daemon.call("search", query="포트 277번", project_dir=cwd)["hits"]
        daemon.kill()
    with Daemon(ROOT, home, {}) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["mode"] == "hybrid", "model", 40)
        daemon.wait_for(lambda: is_embedded(daemon.call("stats")), "vectors", 60)
        assert daemon.call("status")["rebuilding"] == ""


def is_embedded(stats: dict[str, Any]) -> bool:
    return bool(stats["chunks"] == stats["embedded"] >= 300)


@pytest.mark.fault
@pytest.mark.timeout(180)
def test_hooks_are_not_delayed_meanwhile(hook: HookRunner, home: Path, cli: Cli, projects: Path, project: Path) -> None:
    big(projects, str(project), files=4)
    with Daemon(ROOT, home) as daemon:
        with subprocess.Popen(
            [sys.executable, "-I", str(MAIN), "import", "--json"], cwd=project, env=cli.environment,
            stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            daemon.wait_for(lambda: daemon.call("stats")["memories"] >= 50, "turns", 30)
            took = []
            while process.poll() is None:
                started = time.monotonic()
                hook.turn("live", "p%d" % len(took), "지금 하는 말 %d" % len(took), "그래요")
                took.append(time.monotonic() - started)
            assert took
            assert process.stdout is not None
            assert json.loads(process.stdout.read())["new"] > 0
        assert hook.home.joinpath("logs", "hook.log").exists() is False  # none was late
        daemon.wait_for(lambda: any("지금 하는 말 0" in text for text in turns(daemon)), "live turn", 40)


def test_import_shows_progress_bar(daemon: Daemon, cli: Cli, projects: Path, project: Path) -> None:
    big(projects, str(project), files=3)
    code, seen = cli.on_terminal("import", columns=120)
    assert code == 0
    assert "import" in seen
    assert "/s" in seen
    assert "Imported " in seen and " from 3 transcripts" in seen


def test_path_without_transcript_fails(daemon: Daemon, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "빈 폴더").mkdir()
    (tmp_path / "글.txt").write_text("no transcript\n")
    for path in ("/dev/null", str(tmp_path / "빈 폴더"), str(tmp_path / "글.txt")):
        done = cli("import", path)
        assert (done.returncode, done.stdout) == (1, "") and path in done.stderr and len(done.stderr.splitlines()) == 1
