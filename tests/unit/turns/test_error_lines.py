"""Lines of errors: known again in other words about other places, and none for what any failure may say."""

import pytest

from memlayer.turns.error_lines import is_protocol, signatures
from tests.support.tables import tables

TABLES = tables("turns/error_lines")

SAME = TABLES["same"]
OTHER = [
    ("Exit code 1\nundefined: defaultAgent", "Exit code 1\nundefined: getTestBinary"),
    ("오류: 결제 모듈이 응답하지 않습니다", "오류: 정산 모듈이 응답하지 않습니다"),
]
TELLS_NOTHING = [
    "Exit code 1",
    "Exit code 1\n[lint] ERROR task failed",
    "Exit code 2\nFAIL\tgithub.com/a/cli [build failed]",
    "ls: cannot access '/nonexistent': No such file or directory"[:0],
    "",
    "오류: 실패",
]
PROTOCOL = TABLES["protocol"]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same_error_elsewhere_has_same_signature(one: str, other: str) -> None:
    assert set(signatures(one)) & set(signatures(other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_errors_differ(one: str, other: str) -> None:
    assert signatures(one) and not set(signatures(one)) & set(signatures(other))


@pytest.mark.parametrize("error", TELLS_NOTHING)
def test_generic_errors_have_none(error: str) -> None:
    assert signatures(error) == {}


@pytest.mark.parametrize("error", PROTOCOL)
def test_protocol_is_silent(error: str) -> None:
    assert is_protocol(error)
    assert signatures(error) == {}


def test_signature_keeps_its_line() -> None:
    [(signature, line)] = signatures("Exit code 1\ncmd/a.go:3:1: undefined: defaultAgent").items()
    assert signature == "undefined defaultagent"
    assert line == "cmd/a.go:3:1: undefined: defaultAgent"


def test_long_output_is_bounded() -> None:
    assert len(signatures("\n".join("error: no module number%s is here" % ("x" * i) for i in range(5000)))) <= 3
