"""The verbs that change something or concern the installation, as real processes over a scripted daemon."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.cli.verbs.forget import TRANSCRIPT
from memlayer.config import FIRST_KEYS
from memlayer.edge.ipc import protocol
from tests.support.cli_process import MEMORY, Cli
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.tables import tables


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def forgetting(request: protocol.Request) -> dict[str, Any]:
    asked = json.loads(request.body)
    removed = (
        {"events": 0, "memories": 0, "chunks": 0} if asked["dry_run"] else {"events": 2, "memories": 1, "chunks": 3}
    )
    return {"memories": [MEMORY], "removed": removed, "in_transcript": True}


def test_forget_without_terminal_needs_yes(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"forget": forgetting}) as daemon:
        done = cli("forget", "x9Yz2w")
    assert done.returncode == 1 and "--yes" in done.stderr
    assert [fields["dry_run"] for _, fields in daemon.heard] == [True]


def test_forget_erases_the_shown_memories(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"forget": forgetting}) as daemon:
        shown = cli("forget", "--query", "전화번호", "--dry-run")
        done = cli("forget", "--query", "전화번호", "--yes")
    assert "Would be forgotten: 1 memory" in shown.stdout and "[mem:x9Yz2w]" in shown.stdout
    assert done.stdout.startswith("Will be forgotten: 1 memory\n") and "[mem:x9Yz2w]" in done.stdout
    assert done.stdout.endswith("Forgotten: 1 memory, 2 events, 3 chunks.\n" + TRANSCRIPT + "\n")
    last = daemon.heard[-1][1]
    assert (last["ids"], last["query"], last["dry_run"]) == ([MEMORY["id"]], "", False)
    assert last["project_dir"] == str(cli.project)


def test_forget_asks_on_a_terminal(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"forget": forgetting}) as daemon:
        code, shown = cli.on_terminal("forget", "--project", ".", types="n\n")
        assert code == 1 and "order events moved" in shown
        assert [fields["dry_run"] for _, fields in daemon.heard] == [True]
        code, shown = cli.on_terminal("forget", "--project", ".", types="y\n")
    assert code == 0 and "Forgotten: 1 memory" in shown
    assert [fields["dry_run"] for _, fields in daemon.heard] == [True, True, False]


@pytest.mark.parametrize(("arguments", "part"), tables("cli/changes")["forget_rejects_wrong_arguments"])
def test_forget_rejects_wrong_arguments(cli: Cli, arguments: tuple[str, ...], part: str) -> None:
    done = cli("forget", *arguments, "--yes")
    assert done.returncode == 2 and part in done.stderr


def test_forget_takes_dates_and_ages(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"forget": forgetting}) as daemon:
        cli("forget", "--before", "2026-11-19", "--dry-run")
        cli("forget", "--before", "30d", "--dry-run")
    date_ms, age_ms = (fields["before_ms"] for _, fields in daemon.heard)
    assert time.localtime(date_ms / 1000)[:5] == (2026, 11, 19, 0, 0)
    assert abs(time.time() - age_ms / 1000 - 30 * 86400) < 60


def test_forget_by_age_in_current_project(cli: Cli) -> None:
    """Every other verb takes the folder one is in; an age that meant every project would erase them all."""
    with ScriptedDaemon(cli.home, {"forget": forgetting}) as daemon:
        for arguments in ((), ("--all-projects",), ("--session", "s1"), ("--project", "..")):
            cli("forget", "--before", "30d", *arguments, "--dry-run")
    folders = [fields["project_dir"] for _, fields in daemon.heard]
    assert folders == [str(cli.project), "", "", str(cli.project.parent)]


def test_import_rejects_an_empty_project(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"import": {}}) as daemon:
        done = cli("import", "--project", "", str(cli.project), "--dry-run")
    assert done.returncode == 2 and "--project is empty" in done.stderr and not daemon.heard


def test_daemon_status_and_stop_without_daemon(cli: Cli) -> None:
    assert cli("daemon", "status").stdout.startswith("No daemon is running")
    assert json.loads(cli("daemon", "stop", "--json").stdout) == {"running": False, "stopped": False}
    assert not cli.home.exists()
    with ScriptedDaemon(cli.home, {"status": {"pid": 7, "build": "0.1.0", "mode": "lexical", "why": "loading"}}):
        out = cli("daemon", "status").stdout
    assert "process 7" in out and "Full-text search only: loading" in out


def test_config_shows_values_and_sources(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "config.yaml").write_text("recall:\n  max_entries: 3\n")
    (cli.project / ".memlayer.yaml").write_text("recall:\n  max_chars: 100\nembedding: {}\n")
    cli.environment["MEMLAYER_RECALL__MIN_CHANCE"] = "0.5"
    told = json.loads(cli("config", "--json").stdout)
    values = {row["key"]: (row["value"], row["from"]) for row in told["settings"]}
    assert values["recall.max_entries"] == (3, str(cli.home / "config.yaml"))
    assert values["recall.max_chars"] == (100, str(cli.project / ".memlayer.yaml"))
    assert values["recall.min_chance"] == (0.5, "MEMLAYER_RECALL__MIN_CHANCE")
    assert values["recall.deadline_ms"] == (450, "default")
    assert "embedding" in told["warnings"][0]
    first = cli("config").stdout.splitlines()
    keys = {line.split()[0] for line in first if "." in line.split()[0]}
    assert keys == {*FIRST_KEYS, "recall.max_chars"} and "more" in first[-1]  # the ten, and the one that is set
    shown = {line.split()[0]: line.split()[1:] for line in cli("config", "--all").stdout.splitlines()}
    assert shown["recall.max_entries"][:2] == ["3", "entries"]
    assert shown["retention.core_days"] == ["0", "days"] and shown["recall.weight_vector"] == ["0.5"]
    assert shown["files.extra_paths"] == ["none"] and shown["embedding.provider"] == ["fastembed"]
    assert shown["consolidation.model"] == ["empty"]
    (cli.home / "config.yaml").write_text("recall:\n  max: 3\n")
    wrong = cli("config")
    assert wrong.returncode == 1 and "recall.max" in wrong.stderr and "config.yaml" in wrong.stderr
