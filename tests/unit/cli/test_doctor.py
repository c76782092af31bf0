"""`memlayer doctor`: the result of each check, and exit code 1 for lost or endangered data."""

import ast
import collections
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.cli.doctor import checks, checks_daemon
from memlayer.cli.doctor.checks import FAIL, OK, WARN
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client
from memlayer.wire.notes import ModelUse
from memlayer.wire.upkeep import SettingsHeld
from tests.support.scripted_daemon import ScriptedDaemon

ROOT = Path(__file__).resolve().parents[3]
HEALTHY: dict[str, Any] = {"pid": 7, "build": "0.1.0", "store": "open", "mode": "hybrid", "model": {"name": "m"}}


@pytest.fixture
def made(home: Path) -> Path:
    """A home as memlayer makes it."""
    paths.make_folder(str(home))
    paths.make_folder(paths.logs(str(home)))
    return home


def held(home: Path, root: str) -> SettingsHeld:
    """The settings of a home without a daemon."""
    return checks_daemon.held_settings(Client(str(home), str(ROOT)), root, {})


def plugin_copy(folder: Path) -> Path:
    for name in ("plugin.json", "hooks.json", "requirements.lock"):
        folder.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / ".claude-plugin", folder / ".claude-plugin")
    shutil.copytree(ROOT / "hooks", folder / "hooks")
    return folder


@pytest.mark.parametrize(
    "file", sorted((ROOT / "memlayer" / "cli" / "doctor").glob("*.py")), ids=lambda file: file.stem
)
def test_a_warning_has_a_cure(file: Path) -> None:
    """Whatever else is wrong at the time: a warning without one leaves a person alone."""
    for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Check":
            is_ok = isinstance(call.args[1], ast.Name) and call.args[1].id == "OK"
            assert is_ok or len(call.args) == 4, ast.unparse(call)


@pytest.mark.parametrize(("took_ms", "state"), [(61.0, WARN), (900.0, WARN), (59.0, OK)])
def test_a_slow_start_says_its_cure(made: Path, monkeypatch: pytest.MonkeyPatch, took_ms: float, state: str) -> None:
    (made / "python").write_text(sys.executable + "\n")
    monkeypatch.setattr(checks, "start_ms", lambda _: took_ms)
    told = checks.interpreter(str(made))
    assert told.state == state and ("memlayer setup" in told.remedy) is (state == WARN)


def test_manifest_whole_and_damaged(tmp_path: Path) -> None:
    copy = plugin_copy(tmp_path / "플러그인")
    assert checks.manifest(str(copy)).state == OK
    (copy / "plugin.json").write_text("{}")
    assert checks.manifest(str(copy)).state == WARN
    (copy / "hooks" / "stop.py").unlink()
    missing = checks.manifest(str(copy))
    assert missing.state == FAIL and "stop" in missing.says
    (copy / "hooks.json").write_text('{"SessionStart": []}')
    assert checks.manifest(str(copy)).state == FAIL


def test_missing_runtime_with_setup_failure(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMLAYER_RUNTIME_DIR", raising=False)
    copy = plugin_copy(tmp_path / "plugin")
    assert checks.runtime_state(str(made), str(copy)).state == WARN  # the next session builds it
    (made / "runtime.failed").write_text("no network\n")
    failed = checks.runtime_state(str(made), str(copy))
    assert failed.state == FAIL and "no network" in failed.says and "memlayer setup" in failed.remedy


def test_hook_interpreter_and_shim(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "shims"
    folder.mkdir()
    shim = folder / "python3"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    found = checks.interpreter(str(made))
    assert found.state == WARN and "shim" in found.says and str(shim) in found.says
    shim.unlink()
    shim.symlink_to(sys.executable)  # before the first session nothing is recorded, and nothing is wrong
    for took_ms, state in ((30.0, OK), (200.0, WARN)):
        monkeypatch.setattr(checks, "start_ms", lambda _, took_ms=took_ms: took_ms)
        assert checks.interpreter(str(made)).state == state
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(folder))
    (made / "python").write_text(sys.executable + "\n")
    assert sys.executable in checks.interpreter(str(made)).says
    (made / "python").write_text("/bin/false\n")
    assert checks.interpreter(str(made)).state == FAIL
    (made / "python").unlink()
    shim.unlink()
    assert checks.interpreter(str(made)).state == FAIL


def test_loose_permissions(made: Path) -> None:
    assert checks.permissions(str(made)).state == OK
    path = made / "projects.json"
    path.write_text("{}")
    path.chmod(0o644)
    for written_by_person in ("SOUL.md", "SOUL_EVIL.md", "config.yaml"):
        (made / written_by_person).write_text("너는 조용한 동료다")
        (made / written_by_person).chmod(0o644)
    loose = checks.permissions(str(made))
    assert "1 file readable" in loose.says
    assert loose.state == WARN and "projects.json" in loose.says and "chmod" in loose.remedy
    made.chmod(0o755)
    assert checks.permissions(str(made)).state == FAIL
    assert checks.permissions(str(made / "none")).state == WARN


def test_free_space_of_missing_home(tmp_path: Path) -> None:
    assert checks.disk(str(tmp_path / "a" / "b")).says.endswith("free")


def test_wrong_settings_of_user_and_project(made: Path, project: Path) -> None:
    assert [check.state for check in checks.settings(lambda root: held(made, root), str(project))] == [OK]
    (project / ".memlayer.yaml").write_text("model: x\n")
    (made / "config.yaml").write_text("recall:\n  max_entrys: 1\n")
    wrong, ignored = checks.settings(lambda root: held(made, root), str(project))
    assert wrong.state == FAIL and "recall.max_entrys" in wrong.says
    assert ignored.state == WARN and "model" in ignored.says


def test_old_and_fresh_spool_files(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SPOOL_GRACE_S", 0.0)
    assert checks.spool_age(str(made)).says == "empty"
    event = {"id": "e1", "at_ms": 1, "text": "과제"}
    path = spool.put(str(made), event)
    assert checks.spool_age(str(made)).state == OK
    os.utime(path, (time.time() - 400, time.time() - 400))
    old = checks.spool_age(str(made))
    assert old.state == FAIL and "7 min" in old.says


def test_quarantine_with_reasons(made: Path) -> None:
    for number in range(3):
        path = made / "spool" / f"{number:013d}-x.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("{")
        spool.quarantine(str(made), str(path), "torn: not JSON")
    found = checks.quarantine(str(made))
    assert found.state == WARN and "3x torn: not JSON" in found.says
    assert "`memlayer doctor quarantine` shows" in found.remedy


def test_reasons_of_a_log_add_up() -> None:
    assert (
        checks.most(collections.Counter({"a": 4, "느림": 1, "b": 1, "c": 1, "d": 1})) == "4x a; 1x 느림; 1x b; 2 others"
    )
    assert checks.most(collections.Counter({"a": 2, "c": 1})) == "2x a; 1x c"


def test_only_errors_of_the_last_day(made: Path) -> None:
    now_ms = int(time.time() * 1000)
    (made / "logs" / "hook.log").write_text(
        json.dumps({"at_ms": now_ms - 90_000_000, "hook": "stop", "what": "old"})
        + "\ntorn{\n"
        + json.dumps({"at_ms": now_ms, "hook": "stop", "what": "daemon late"})
        + "\n"
        + json.dumps({"at_ms": now_ms, "hook": "stop", "what": "daemon absent"})  # it leaves when idle
        + "\n"
    )
    (made / "logs" / "daemon.log").write_text(
        json.dumps({"at_ms": now_ms, "level": "info", "what": "listening"}) + "\n"
    )
    hook, daemon = checks.logs(str(made), {}, is_well=False)
    assert hook.state == WARN and hook.says.startswith("1 problem in") and "1x daemon late" in hook.says
    assert daemon.state == OK
    (made / "logs" / "daemon.err").write_text("ImportError\n")
    assert [check.state for check in checks.logs(str(made), {}, is_well=False)] == [WARN, OK, WARN]
    with open(made / "logs" / "hook.log", "a") as log:
        log.write(json.dumps({"at_ms": now_ms, "hook": "stop", "what": "failed", "error": "OSError"}) + "\n")
    lost = next(iter(checks.logs(str(made), {"stop": now_ms - 1}, is_well=True)))
    assert lost.state == FAIL and lost.says.startswith("1 hook call failed") and "OSError" in lost.says


def test_failed_tool_calls_are_named(made: Path) -> None:
    assert [check.name for check in checks.logs(str(made), {}, is_well=True)] == ["hook log", "daemon log"]
    entry = {"at_ms": int(time.time() * 1000), "what": "failed", "tool": "mem-search", "error": "RecursionError"}
    (made / "logs" / "mcp.log").write_text(json.dumps(entry) + "\n")
    found = list(checks.logs(str(made), {}, is_well=True))[-1]
    assert (found.name, found.state) == ("tool log", WARN)
    assert found.says == "1 tool call of a model failed in the last 24 h; last: mem-search RecursionError"


def test_mended_trouble_is_history(made: Path) -> None:
    now_ms = int(time.time() * 1000)
    for name, level, what in (("hook.log", "", "failed"), ("daemon.log", "error", "job drain failed: 디스크")):
        entry = {"at_ms": now_ms - 60_000, "what": what, **({"level": level} if level else {"hook": "stop"})}
        (made / "logs" / name).write_text(json.dumps(entry) + "\n")
    (made / "logs" / "daemon.err").write_text("ImportError\n")
    found = list(checks.logs(str(made), {"stop": now_ms}, is_well=True))
    assert [check.state for check in found] == [OK, OK]
    assert [check.says for check in found] == ["works now; 1 problem in the last 24 h"] * 2
    another = checks.logs(str(made), {"user_prompt_submit": now_ms}, is_well=True)
    assert [check.state for check in another] == [FAIL, OK]


def test_disabled_project_and_disabled_hooks(project: Path) -> None:
    assert checks.project_state(str(project), {}).says.startswith("on for")
    assert checks.project_state(str(project), {"MEMLAYER_DISABLE": "1"}).state == WARN
    (project / ".memlayer.yaml").write_text("enabled: false\n")
    off = checks.project_state(str(project), {})
    assert off.state == WARN and "switched off" in off.says and ".memlayer.yaml" in off.remedy


def test_switch_of_the_person_is_told_by_its_file(made: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLAYER_HOME", str(made))
    (made / "config.yaml").write_text("enabled: false\n")
    off = checks.project_state(str(project), {})
    assert off.state == WARN and "every project" in off.says and str(made / "config.yaml") in off.remedy


def test_disabled_capture_names_its_source(made: Path, project: Path) -> None:
    (made / "config.yaml").write_text("capture:\n  enabled: false\n")
    _, off = checks.settings(lambda root: held(made, root), str(project))
    assert (off.name, off.state) == ("capture", WARN) and "config.yaml" in off.says


@pytest.mark.parametrize(
    ("told", "states", "part"),
    [
        (HEALTHY, [OK, OK, OK], "full text and meaning"),
        ({**HEALTHY, "mode": "lexical", "why": "모델이 없음"}, [OK, OK, WARN], "모델이 없음"),
        ({**HEALTHY, "mode": "lexical", "model": {"provider": "none"}}, [OK, OK, OK], "as set"),
        ({**HEALTHY, "store": "failed", "store_error": "torn manifest"}, [OK, FAIL, OK], "torn manifest"),
        ({**HEALTHY, "job_errors": 2, "last_job_error": "drain: OSError"}, [WARN, OK, OK], "drain: OSError"),
        (HEALTHY, [OK, OK, OK], "8 of 8 prompts"),
    ],
)
def test_checks_of_daemon_status(home: Path, told: dict[str, Any], states: list[str], part: str) -> None:
    seen = {"finding": ["ok", "8 of 8 prompts and answers came by hooks", ""]}
    with ScriptedDaemon(home, {"status": told, "witness": seen, "share.status": {}}):
        checks = list(checks_daemon.daemon(Client(str(home), str(ROOT), "/bin/false", wait_s=1)))
    assert [check.state for check in checks] == [*states, OK]
    assert any(part in check.says for check in checks)


@pytest.mark.parametrize(
    ("told", "state", "part"),
    [
        ({}, OK, "3 sessions read, 1 session waits"),
        ({"is_over": True}, OK, "budget is spent"),
        ({"lacks": "no key: run memlayer daemon restart"}, WARN, "run memlayer daemon restart"),
        ({"problem": "openai: HTTP 401"}, WARN, "HTTP 401"),
    ],
)
def test_language_model_check(home: Path, told: dict[str, Any], state: str, part: str) -> None:
    use = ModelUse(is_on=True, provider="openai", model="한 모델").changed(**told)
    with ScriptedDaemon(home, {"notes": {"is_on": True, "read": 3, "waiting": 1}}):
        client = Client(str(home), str(ROOT), "/bin/false", wait_s=1)
        [check] = checks_daemon.memory_notes(client, use)
        assert check.state == state and part in check.says and "한 모델" in check.says
        assert list(checks_daemon.memory_notes(client, use.changed(is_on=False))) == []


def test_daemon_that_does_not_start(home: Path) -> None:
    checks = list(checks_daemon.daemon(Client(str(home), str(ROOT), "/bin/false", wait_s=0.2)))
    assert [check.state for check in checks] == [FAIL, WARN, WARN, WARN]
    assert "restart" in checks[0].remedy
