"""The reports of `doctor` after a repair and after wrong settings.

It describes the present, and one thing.
"""

import json
from pathlib import Path

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def states(cli: Cli) -> dict[str, str]:
    """Name of a check -> the worst state it has."""
    found: dict[str, str] = {}
    for one in json.loads(cli("doctor", "--json").stdout)["checks"]:
        found[one["name"]] = max(found.get(one["name"], ""), one["state"], key=("", "ok", "warn", "fail").index)
    return {name: state for name, state in found.items() if name not in ("python3", "runtime")}


def test_mended_home_is_green_at_once(hook: HookRunner, home: Path, cli: Cli) -> None:
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "배포는 화요일", "noted")
        daemon.settle()
        (home / "spool").chmod(0o500)
        (home / "spool").rename(home / "away")
        (home / "spool").write_text("in the way")  # root writes through any mode
        hook("stop", "s1", "p2", last_assistant_message="이 답은 아무 데도 남지 않는다")
        assert states(cli)["hook log"] == "fail"
        (home / "spool").unlink()
        (home / "away").rename(home / "spool")
        (home / "spool").chmod(0o700)
        hook.turn("s1", "p3", "이제는 된다", "and it is kept")
        daemon.settle()
        assert set(states(cli).values()) == {"ok"}, states(cli)


def test_repaired_store_is_green_at_once(hook: HookRunner, home: Path, cli: Cli) -> None:
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "결제 모듈은 세 번 재시도한다", "three times, with backoff")
        daemon.settle()
        daemon.stop()
        for path in (home / "store" / "events.lance" / "data").iterdir():
            path.write_bytes(b"")
        daemon.start()
        daemon.wait_for(lambda: daemon.call("status")["store"] == "open", "store")
        assert states(cli)["store"] in ("warn", "fail")  # by the number of versions that a busy machine wrote
        repaired = cli("doctor", "repair")
        assert repaired.returncode == 0 and "Gone: 2 events. The turns are still remembered" in repaired.stdout
        assert set(states(cli).values()) == {"ok"}, states(cli)


@pytest.mark.parametrize("text", ["enabled: flase\n", "recall: {enabled: flase}\n"])
def test_misspelt_switch_counts_as_off(home: Path, project: Path, cli: Cli, text: str) -> None:
    (project / ".memlayer.yaml").write_text(text)
    with Daemon(ROOT, home):
        told = [one for one in json.loads(cli("doctor", "--json").stdout)["checks"] if "enabled" in one["says"]]
        assert told and all("ignored" not in one["says"] for one in told)
        assert any("not 'flase'; taken as false" in one["says"] for one in told)


def test_typo_leaves_settings_readable(home: Path, cli: Cli) -> None:
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("recall: {max_entrys: 3}\ndaemon: {idle_minutes: 7}\n# 설정\n")
    shown = cli("config")
    assert shown.returncode == 1
    rest = shown.stdout.splitlines()
    assert shown.stderr.startswith("Wrong: recall.max_entrys: there is no such setting; did you mean recall.max_")
    assert any(row.split()[:2] == ["daemon.idle_minutes", "7.0"] for row in rest), rest
    told = json.loads(cli("config", "--json").stdout)
    assert "recall.max_entrys" in told["problem"] and len(told["settings"]) > 20
