"""Lines of errors: known again in other words about other places, and none for what any failure may say."""

from __future__ import annotations

import pytest

from memlayer.turns.error_lines import is_protocol, signatures

SAME = [
    (
        "Exit code 1\n# github.com/a/cli/e2e\ncmd/e2e/testenv.go:40:26: undefined: defaultAgent",
        "Exit code 1\n# github.com/a/cli/e2e\ncmd/e2e/env.go:112:3: undefined: defaultAgent",
    ),
    (
        "ModuleNotFoundError: No module named 'geopandas'\nin /w/a.py:3",
        'ModuleNotFoundError: No module named "pandas"\nin /other/b.py:77',
    ),
    (
        "Exit code 1\n오류: 포트 5433을 여는 데 실패했습니다: /var/run/a.sock",
        "Exit code 1\n오류: 포트 6000을 여는 데 실패했습니다: /tmp/b.sock",
    ),
    (
        "fatal: could not read object 3f2a9c1b of branch 'x'",
        "fatal: could not read object 77aa01ff of branch 'main'",
    ),
]
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
PROTOCOL = [
    "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    "<tool_use_error>Sibling tool call errored</tool_use_error>",
    "The user doesn't want to proceed with this tool use. The tool use was rejected",
    "Permission to use Bash with command rm -rf build has been denied.",
    "<tool_use_error>String to replace not found in file.\nString: undefined: defaultAgent</tool_use_error>",
]


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
