"""Sessions that are switched off by the variable, which an import leaves out."""

from pathlib import Path

import pytest

from memlayer.edge.home import off_sessions
from tests.support.processes import HookRunner


def test_id_alone_is_kept_where_a_home_is(hook: HookRunner, home: Path) -> None:
    hook.environment["MEMLAYER_DISABLE"] = "1"
    hook("session_start", "꺼짐", source="startup")
    (home / "spool").mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        result = hook("session_start", "s1", source="startup")
        assert (result.output, result.stderr) == ({}, b"")
        hook.turn("s1", "p1", "배포는 항상 금요일에 하자", "네")
    assert list(off_sessions.since(str(home))) == ["s1"] and hook.spooled == []
    assert (home / "off_sessions").stat().st_mode & 0o777 == 0o600
    hook.environment["MEMLAYER_DISABLE"] = "no"
    hook("session_start", "s2", source="startup")
    assert list(off_sessions.since(str(home))) == ["s1"]


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b'{"session_id": 7}', b'{"session_id": "a b"}', b'{"session_id": "a\\nb"}']
)
def test_odd_payloads_add_nothing(tmp_path: Path, raw: bytes) -> None:
    try:
        off_sessions.add(str(tmp_path), raw, 5)
    except ValueError:
        assert raw == b""
    assert off_sessions.since(str(tmp_path)) == {}
