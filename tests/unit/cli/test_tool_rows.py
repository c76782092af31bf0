"""Tool calls on a terminal: lines stay lines, long outputs are bounded, nothing of them moves the cursor."""

import pytest

from memlayer.agent.execution import ToolEnded, ToolOutput, ToolStarted
from memlayer.chat import ToolCall, ToolResult
from memlayer.cli.terminal.talk_output import LAST_ROWS, LIVE_ROWS, ToolRows


def shown(capsys: pytest.CaptureFixture[str], *events: ToolStarted | ToolOutput | ToolEnded) -> list[str]:
    """The lines on stderr."""
    rows = ToolRows()
    for event in events:
        rows.show(event)
    return capsys.readouterr().err.splitlines()


def ended(text: str, is_error: bool = False) -> ToolEnded:
    """The end of a call."""
    return ToolEnded(ToolResult("1", "shell", text, is_error), 0.1)


def test_output_is_shown_once_by_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    events = (
        ToolStarted(ToolCall("1", "shell", {"command": "cd 앱\nmake"})),
        ToolOutput("첫째\n둘"),
        ToolOutput("째\n셋째"),
    )
    assert shown(capsys, *events, ended("첫째\n둘째\n셋째")) == [
        "· shell cd 앱", "    make", "    첫째", "    둘째", "    셋째", "  done 0.1 s  ",
    ]  # fmt: skip


def test_failure_names_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, ToolOutput("오류\n"), ended("Exit code 2\n오류", is_error=True))
    assert rows == ["    오류", "  failed 0.1 s  Exit code 2"]


def test_result_that_was_not_live_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, ended("\n".join("%d째" % number for number in range(9))))
    assert rows == ["  done 0.1 s  0째", "    1째", "    2째", "    3째", "    [... 5 more lines]"]


def test_long_output_is_cut_and_its_end_shown(capsys: pytest.CaptureFixture[str]) -> None:
    count = LIVE_ROWS + 500
    rows = shown(capsys, *(ToolOutput("%d\n" % number) for number in range(count)), ended("x"))
    assert rows[LIVE_ROWS - 1] == "    %d" % (LIVE_ROWS - 1)
    assert rows[LIVE_ROWS] == "    [... %d lines not shown ...]" % (500 - LAST_ROWS)
    assert rows[LIVE_ROWS + 1] == "    %d" % (count - LAST_ROWS)
    assert rows[-2] == "    %d" % (count - 1)


def test_output_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, ToolOutput("10%\r50%\r100%\n\x1b[2J\x1b]0;제목\x07빨강\n" + "가" * 100_000), ended("x"))
    assert rows[:2] == ["    100%", "    빨강"] and len(rows[2]) <= 204
    assert "\x1b" not in "".join(rows)
