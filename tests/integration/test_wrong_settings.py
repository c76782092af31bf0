"""A mistake in config.yaml.

Disabled features stay off, the person is told, and a corrected value is not yet in force.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
TYPO: dict[str, Any] = {
    "capture": {"enabled": False}, "recal": {"max_entries": 3}, "embedding": {"provider": "none"},
}  # fmt: skip
MENDED = {name: group for name, group in TYPO.items() if name != "recal"}


def doctor(cli: Cli) -> list[dict[str, str]]:
    return [one for one in json.loads(cli("doctor", "--json").stdout)["checks"] if one["name"] == "settings"]


def test_other_mistakes_keep_capture_off(hook: HookRunner, home: Path, project: Path) -> None:
    cli = Cli(home, project)
    with Daemon(ROOT, home, TYPO) as daemon:
        hook.turn("s1", "p1", "출시 암호는 bluebird 입니다, keep it to yourself", "알겠습니다.")
        started = hook("session_start", "s2", source="startup")
        said = str(started.output.get("systemMessage", ""))
        assert said.startswith("memlayer: the settings are wrong: recal: there is no such setting") and "\n" not in said
        assert hook("session_start", "s3", source="startup").output.get("systemMessage") is None  # once a day
        daemon.settle()
        assert daemon.call("stats")["events"] == 0 and "bluebird" not in json.dumps(daemon.call("list"))
        [wrong] = doctor(cli)
        assert wrong["state"] == "fail" and "recal" in wrong["says"]


def test_a_mistake_made_while_a_daemon_runs_is_told_at_the_next_start(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home, MENDED):
        assert hook("session_start", "s1", source="startup").output.get("systemMessage") is None
        for text, mistake in (
            ("recall: {max_entires: 3}", "recall.max_entires"), ("recall: [", "not valid YAML"), ("기억: 3", "기억"),
        ):  # fmt: skip
            (home / "config.yaml").write_text(text)
            said = str(hook("session_start", "s" + mistake, source="startup").output.get("systemMessage", ""))
            assert said.startswith("memlayer: the settings are wrong: " + mistake)
            assert "The running daemon goes on with those that it has read." in said
        (home / "config.yaml").write_text(json.dumps({**MENDED, "recall": {"max_entries": 3}}))
        assert hook("session_start", "s5", source="startup").output.get("systemMessage") is None


@pytest.mark.parametrize("text", [json.dumps({**MENDED, "daemon": {"idle_minutes": 60}}), None])
def test_unread_settings_are_reported(home: Path, project: Path, text: str | None) -> None:
    cli = Cli(home, project)
    with Daemon(ROOT, home, MENDED):
        assert "Not yet in force" not in cli("config").stdout
        assert [one["state"] for one in doctor(cli)] == ["ok"]
        if text is None:
            (home / "config.yaml").unlink()
        else:
            (home / "config.yaml").write_text(text)
        told = cli("config").stdout
        assert told.startswith("Not yet in force") and "memlayer daemon restart" in told
        assert json.loads(cli("config", "--json").stdout)["changed_since_daemon"] is True
        assert [one["state"] for one in doctor(cli)] == ["ok", "warn"]
    assert "Not yet in force" not in cli("config").stdout


def test_unset_of_what_is_not_set_asks_for_no_restart(home: Path, project: Path) -> None:
    cli = Cli(home, project)
    with Daemon(ROOT, home, MENDED):
        assert "still uses the old value" in cli("config", "set", "daemon.idle_minutes", "60").stdout
        assert "has its default again" in cli("config", "unset", "daemon.idle_minutes").stdout
        assert "still uses the old value" not in cli("config", "set", "recall.max_entries", "2").stdout
        for key in ("recall.max_chars", "files.enabled", "capture.tell_rules"):
            assert cli("config", "unset", key).stdout == f"{key} is not set in {home}/config.yaml.\n"
        assert "has its default again" in cli("config", "unset", "recall.max_entries").stdout


@pytest.mark.parametrize("text", ["enabled: false\n", '{"enabled": false}', "# 잠시\nenabled: no\nrecal: {x: 1}\n"])
def test_persons_switch_keeps_nothing_with_and_without_a_daemon(
    hook: HookRunner, home: Path, project: Path, text: str
) -> None:
    with Daemon(ROOT, home, {"embedding": {"provider": "none"}}) as daemon:
        hook.turn("s1", "p1", "우리 배포는 화요일이야, we deploy on Tuesdays", "알겠습니다.")
        daemon.settle()
        (home / "config.yaml").write_text(text)  # from the next hook on, without a restart
        hook.turn("s1", "p2", "출시 암호는 bluebird 입니다", "알겠습니다.")
        started = hook("session_start", "s2", source="startup")
        assert "화요일" not in json.dumps(started.output, ensure_ascii=False)
        daemon.settle()
        assert "bluebird" not in json.dumps(daemon.call("list"))
        assert "화요일" in Cli(home, project)("search", "배포 요일").stdout
    hook.turn("s3", "p3", "출시 암호는 bluebird 입니다", "알겠습니다.")
    assert [path for path in (home / "spool").iterdir() if "bluebird" in path.read_text()] == []
    refused = Cli(home, project)("remember", "배포는 금요일")
    assert refused.returncode == 1 and "config.yaml" in refused.stderr


def test_giving_is_switched_off_and_on_while_a_daemon_runs(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home, MENDED | {"capture": {"enabled": True}}) as daemon:
        hook.turn("s1", "p1", "결제 모듈 포트는 몇 번으로 하지?", "결제 모듈 포트는 5433으로 정했습니다.")
        hook("session_end", "s1", reason="other")
        daemon.settle()

        def told(session: str) -> str:
            start = hook("session_start", session, source="startup").context
            prompt = {"prompt": "결제 모듈 포트가 몇 번이었지?", "prompt_id": "p" + session}
            return str(start) + str(hook("user_prompt_submit", session, **prompt).context)

        assert "5433" in told("s2")
        off = {"recall": {"enabled": False}, "working_set": {"enabled": False}}
        (home / "config.yaml").write_text(json.dumps({**MENDED, "capture": {"enabled": True}, **off}))
        daemon.settle()
        assert "5433" not in told("s3")
        (home / "config.yaml").write_text(json.dumps({**MENDED, "capture": {"enabled": True}}))
        daemon.settle()
        assert "5433" in told("s4")
