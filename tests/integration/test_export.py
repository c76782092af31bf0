"""`memlayer export` and import over the command line.

With a real daemon: everything comes back, row by row.
"""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.edge.home import paths
from memlayer.model import Event, Memory
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def imported(cli: Cli, *arguments: str) -> dict[str, Any]:
    done = cli("import", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return dict(json.loads(done.stdout))


def turns(daemon: Daemon) -> list[str]:
    found = daemon.call("list", limit=10_000)["memories"]
    return sorted(one["text"] for one in found if one["category"] == "conversation")


def rows(home: Path) -> tuple[dict[str, Event], dict[str, Memory]]:
    """Every event and memory of a home that no daemon holds."""
    store = LanceStore.open(Path(paths.store(str(home))), 0)
    events: dict[str, Event] = {}
    memories: dict[str, Memory] = {}

    def keep(found: Any) -> None:
        for one in found:
            (events if isinstance(one, Event) else memories)[one.id] = one

    try:
        store.scan(keep)
    finally:
        store.close()
    return events, memories


def told_everything(hook: HookRunner, daemon: Daemon) -> None:
    """Fill a home with two projects and every kind of memory.

    Turns, tool events, core memories, one superseded and one pinned.
    """
    hook("session_start", "s1", source="startup")
    hook.turn("s1", "p1", "배포는 언제 하지?", "배포는 매주 화요일 오전에 하기로 했습니다. 포트는 8443 입니다.")
    hook("post_tool_use", "s1", "p1", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t1")
    hook.turn("s1", "p2", '이모지 🙂 와 "따옴표" \\ 와\n줄', "It's \u2028 kept <b>as it is</b>.")
    hook("session_end", "s1", reason="other")
    daemon.settle()


def test_export_round_trip_keeps_rows(hook: HookRunner, home: Path, cli: Cli, tmp_path: Path, project: Path) -> None:
    file = tmp_path / "out" / "모두.jsonl"
    file.parent.mkdir()
    with Daemon(ROOT, home) as daemon:
        told_everything(hook, daemon)
        done = cli("export", str(file), "--json")
        assert done.returncode == 0, done.stderr
        wrote = json.loads(done.stdout)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == ["모두.jsonl"]
    second = home.parent / "second"
    with Daemon(ROOT, second) as daemon:
        back = Cli(second, project)
        rehearsed = imported(back, str(file), "--dry-run")
        assert daemon.call("stats")["events"] == 0
        done_back = imported(back, str(file))
        assert done_back["events"] == rehearsed["events"] == wrote["events"] > 5
        assert "화요일" in back("search", "배포는 언제", "--project", str(project)).stdout
        again = imported(back, str(file))
        assert (again["events"], again["memories"]) == (0, 0)
    assert rows(second) == rows(home)
    projects = [json.loads((one / "projects.json").read_text()) for one in (second, home)]
    for known in (entry for one in projects for entry in one.values()):
        for mine in ("born", "chosen"):  # of this machine's folders
            known.pop(mine, None)
    assert projects[0] == projects[1], projects
    assert {path.name: path.read_text() for path in (second / "sessions").iterdir()} == {
        path.name: path.read_text() for path in (home / "sessions").iterdir()
    }


def test_import_keeps_forgotten_rows_out(hook: HookRunner, daemon: Daemon, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    told_everything(hook, daemon)
    assert cli("export", str(file)).returncode == 0
    assert cli("forget", "--query", "배포는 언제 하지", "--yes").returncode == 0
    done = imported(cli, str(file))
    assert done["forgotten"] >= 2
    assert not [text for text in turns(daemon) if "화요일" in text]
    assert "화요일" not in json.dumps(daemon.call("list", limit=1000), ensure_ascii=False)


def test_existing_file_is_not_overwritten(daemon: Daemon, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("mine")
    refused = cli("export", str(file))
    assert (refused.returncode, file.read_text()) == (1, "mine")
    assert "Give another name" in refused.stderr
    assert cli("export", str(tmp_path / "none" / "x")).returncode == 1


def test_non_utf8_file_name(daemon: Daemon, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    name = os.fsdecode(os.fsencode(tmp_path / "out") + b"/\xff.jsonl")
    assert cli("export", name).returncode == 0
    assert os.listdir(tmp_path / "out") == [os.path.basename(name)]
    assert imported(cli, name, "--dry-run")["events"] == 0


def test_file_of_another_format_is_refused(daemon: Daemon, cli: Cli, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "newer").write_text(
        "\n".join([lines[0].replace('"memlayer_export": 1', '"memlayer_export": 9'), *lines[1:]])
    )
    refused = cli("import", str(tmp_path / "newer"))
    assert refused.returncode == 1 and "another version" in refused.stderr


BAD_LINES = {
    "not JSON": '{"event": ',
    "not an object": "[1, 2]",
    "of another kind": '{"topic": {"id": "x"}}',
    "two records": '{"event": {}, "memory": {}}',
    "a field missing": '{"event": {"id": "%s"}}' % ("0f" * 16),
    "text no text": '{"memory": {"id": "%s", "text": 5}}' % ("0f" * 16),
    "id a path": '{"project": {"id": "../../x", "keys": []}}',
    "marks no texts": '{"session": {"id": "세션-9", "shown": [1]}}',
    "deep": "[" * 5000,
    "a number too long": '{"session": {"id": "s9", "since_ms": %s}}' % ("9" * 5000),
    "bytes": "\udcff\udcfe 한국어",
}


def test_bad_lines_are_told_and_left_out(lines: list[str], tmp_path: Path, project: Path) -> None:
    second, ends = tmp_path / "second", json.loads(lines[-1])["end"]
    with Daemon(ROOT, second):
        cli = Cli(second, project)
        for number, (name, bad) in enumerate(BAD_LINES.items()):
            file = tmp_path / ("odd-%d.jsonl" % number)
            with_it = "\n".join([lines[0], *lines[1:4], bad, "", *lines[4:]])
            file.write_bytes(with_it.encode("utf-8", "surrogateescape"))
            assert imported(cli, str(file), "--dry-run")["bad"] == 1, name
            told = cli("import", str(file))
            assert (told.returncode, told.stderr) == (0, ""), name
            assert "Left out 1 line" in told.stdout and "line 5: " in told.stdout, name
            again = imported(cli, str(file))
            assert (again["events"], again["memories"], again["bad"]) == (0, 0, 1), name
            assert again["known"] == ends["events"] + ends["memories"] + ends["sessions"], name


@pytest.mark.parametrize("kept", [1, 2, 5, -1])
def test_cut_file_gives_its_lines(lines: list[str], tmp_path: Path, project: Path, kept: int) -> None:
    file = tmp_path / "cut.jsonl"
    file.write_text("\n".join(lines[:kept]) + "\n" + lines[kept][:20])
    with Daemon(ROOT, tmp_path / "second"):
        told = imported(Cli(tmp_path / "second", project), str(file))
    assert told["events"] + told["memories"] + told["projects"] + told["sessions"] > 0 or kept == 1
    assert "the last line is missing" in told["reasons"][-1]


def exported_again(lines: list[str], change: Callable[[str, dict[str, Any]], None], file: Path) -> Path:
    """Return an export whose lines went through `change`."""
    out = []
    for line in lines:
        found = json.loads(line)
        for name, value in found.items():
            if isinstance(value, dict):
                change(name, value)
        out.append(json.dumps(found, ensure_ascii=False))
    file.write_text("\n".join(out) + "\n")
    return file


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the lines of an export of a full home.

    The tests change copies.
    """
    base = tmp_path_factory.mktemp("exported")
    (base / "shop").mkdir()
    hook = HookRunner(ROOT, base / "home", base / "shop", python=getattr(sys, "_base_executable", sys.executable))
    hook.forbid_background()
    with Daemon(ROOT, base / "home") as daemon:
        told_everything(hook, daemon)
        assert Cli(base / "home", base / "shop")("export", str(base / "all.jsonl")).returncode == 0
    return (base / "all.jsonl").read_text().removesuffix("\n").split("\n")


@pytest.mark.parametrize("where", ["{out}/notes", "../../../../notes"])
def test_import_writes_only_in_home(lines: list[str], tmp_path: Path, project: Path, where: str) -> None:
    outside = tmp_path / "밖"
    outside.mkdir()
    (outside / "notes.txt").write_text("mine")
    evil = where.format(out=outside)

    def change(name: str, value: dict[str, Any]) -> None:
        if name == "project":
            value["id"] = evil
        elif name != "end":
            value["project_id"] = evil

    second = tmp_path / "far" / "away" / "second"
    file = exported_again(lines, change, tmp_path / "evil.jsonl")
    before = {path for path in tmp_path.rglob("*") if second not in path.parents}
    with Daemon(ROOT, second) as other:
        done = Cli(second, project)("import", str(file))
        other.call("flush", wait=True)
    assert done.returncode == 0 and "line 2: project:" in done.stdout and evil not in done.stdout
    assert (outside / "notes.txt").read_text() == "mine"
    assert {path for path in tmp_path.rglob("*") if second not in path.parents} - before <= {second, *second.parents}


def test_import_redacts_secrets(lines: list[str], tmp_path: Path, project: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30

    def change(name: str, value: dict[str, Any]) -> None:
        if name in ("event", "memory"):
            value["text"] += f" 키는 {key}"

    file = exported_again(lines, change, tmp_path / "secret.jsonl")
    second = tmp_path / "second"
    with Daemon(ROOT, second) as other:
        assert imported(Cli(second, project), str(file))["events"] > 5
        assert "[redacted:" in json.dumps(other.call("list", limit=100))
    for path in second.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path
