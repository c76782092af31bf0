"""Quarantined events.

Taken in again by a verb, removed by a verb, and gone with their forgotten turn.
"""

import json
from pathlib import Path

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def set_aside(home: Path, reason: str, cut: int = 0) -> list[str]:
    """Move all waiting events out of the spool.

    cut: how many bytes of each are lost.
    """
    names = []
    for path in spool.waiting(str(home)):
        if cut:
            raw = Path(path).read_bytes()
            Path(path).write_bytes(raw[: raw.index(b'"text"') + cut])
        spool.quarantine(str(home), path, reason)
        names.append(Path(path).name)
    return names


def test_retry_takes_events_in(hook: HookRunner, home: Path, cli: Cli) -> None:
    hook.turn("s1", "p1", "배포는 어디서 하지?", "the deploy runs on the bastion host")
    names = set_aside(home, "written by another version: v=2")
    with Daemon(hook.root, home) as daemon:
        listed = json.loads(cli("doctor", "quarantine", "--json").stdout)["events"]
        assert [one["name"] for one in listed] == names and listed[0]["kind"] == "user"
        assert "written by another version" in cli("doctor", "quarantine").stdout
        told = cli("doctor", "--json").stdout
        assert "memlayer doctor repair" in told
        assert cli("doctor", "repair").stdout.endswith(
            "2 events of the quarantine tried again, 0 still cannot be read.\n"
        )
        texts = [one["text"] for one in daemon.call("list", limit=10)["memories"]]
        assert any("배포는 어디서" in text and "bastion" in text for text in texts)
        assert cli("doctor", "quarantine").stdout == "The quarantine is empty.\n"


def test_unreadable_event_stays_aside(hook: HookRunner, home: Path, cli: Cli) -> None:
    hook.turn("s1", "p1", "찢어진 파일에 남은 말", "네, 알겠습니다")
    names = set_aside(home, "torn: not JSON", cut=20)
    with Daemon(hook.root, home):
        done = json.loads(cli("doctor", "repair", "--json").stdout)
        assert [(one["name"], one["reason"]) for one in done["set_aside"]] == [
            (name, "torn: not JSON") for name in names
        ]
        assert cli("doctor", "quarantine", "--drop").stdout == "Removed: 2.\n"
    assert list(Path(paths.quarantine(str(home))).iterdir()) == []


@pytest.mark.parametrize("cut", [0, 60])
def test_forget_takes_text_set_aside(hook: HookRunner, home: Path, cli: Cli, cut: int) -> None:
    with Daemon(hook.root, home) as daemon:
        hook.turn("s1", "p1", "사내 VPN 주소는 vpn-seoul.example.test 입니다", "noted, the VPN is that")
        hook.turn("s2", "p2", "점심 메뉴는 김치찌개로 정했다", "lunch is kimchi stew, as agreed")
        daemon.settle()
        (named,) = (one for one in daemon.call("list", category="conversation")["memories"] if "VPN" in one["text"])
        daemon.stop()
        hook.turn("s3", "p3", "사내 VPN 주소는 vpn-seoul.example.test 입니다", "yes")
        hook.turn("s4", "p4", "전혀 다른 이야기: 결제 모듈의 재시도 횟수", "three times, with backoff")
        set_aside(home, "torn: not JSON", cut)
        daemon.start()
        assert len(spool.quarantined(str(home))) == 4
        daemon.call("forget", ids=[named["citation"]])
        left = [path.read_text(errors="ignore") for path in Path(paths.quarantine(str(home))).glob("*.json")]
        assert len(left) == 3 and not any("VPN" in text for text in left)
        assert any("전혀 다른 이야기" in text for text in left)
