"""Tool calls: order, errors, limits, permission, interrupts and repeats."""

import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from memlayer.agent.execution import (
    INTERRUPTED,
    NOT_STARTED,
    RepeatDetector,
    Toolbox,
    ToolEnded,
    ToolStarted,
    cut_middle,
)
from memlayer.chat import ToolCall, ToolResult
from memlayer.errors import ToolError
from tests.support.scripted_tool import HangingTool, ScriptedTool


def call(name: str, number: int = 0, problem: str = "", **arguments: Any) -> ToolCall:
    return ToolCall("c%d" % number, name, arguments, problem)


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def raises(arguments: Mapping[str, Any]) -> str:
    raise ZeroDivisionError("0으로 나눔")


def refuses(arguments: Mapping[str, Any]) -> str:
    raise ToolError("파일이 없습니다: a.py")


def test_tools_run_in_order_by_default() -> None:
    seen: list[str] = []

    def answer(arguments: Mapping[str, Any]) -> str:
        seen.append("begin " + arguments["n"])
        time.sleep(0.02)
        seen.append("end " + arguments["n"])
        return "결과 " + arguments["n"]

    results = Toolbox([ScriptedTool("t", answer)]).run([call("t", 1, n="1"), call("t", 2, n="2")])
    assert seen == ["begin 1", "end 1", "begin 2", "end 2"]
    assert results == (ToolResult("c1", "t", "결과 1"), ToolResult("c2", "t", "결과 2"))


def test_parallel_tools_run_at_once_and_keep_the_order() -> None:
    together = threading.Barrier(3, timeout=10)

    def answer(arguments: Mapping[str, Any]) -> str:
        together.wait()  # passes only when all three run
        time.sleep(0.05 if arguments["n"] == "0" else 0)
        return arguments["n"]

    results = Toolbox([ScriptedTool("t", answer)], is_parallel=True).run([call("t", i, n=str(i)) for i in range(3)])
    assert [(one.call_id, one.text) for one in results] == [("c0", "0"), ("c1", "1"), ("c2", "2")]


def test_every_failure_is_an_error_result() -> None:
    tools = Toolbox([ScriptedTool("bad", raises), ScriptedTool("refuse", refuses), ScriptedTool("read", "", "path")])
    calls = [call("bad"), call("refuse"), call("read"), call("없는도구"), call("read", 0, "Bad JSON.")]
    results = tools.run(calls)
    assert all(one.is_error for one in results)
    assert [one.text for one in results] == [
        "ZeroDivisionError: 0으로 나눔",
        "파일이 없습니다: a.py",
        "Missing arguments: path.",
        "There is no tool '없는도구'. Tools: bad, refuse, read.",
        "Bad JSON.",
    ]


def test_hanging_tool_ends_at_the_limit() -> None:
    hang = HangingTool()
    tools = Toolbox([hang, ScriptedTool("quick", "ok")], time_limit_s=0.5)
    begin = time.monotonic()
    results = tools.run([call("hang"), call("quick", 1)])
    assert time.monotonic() - begin < 10
    assert hang.stopped.is_set()
    assert results[0] == ToolResult("c0", "hang", "No result within 0.5 s; the call was ended.", is_error=True)
    assert results[1].text == "ok"


def test_interrupt_ends_the_call_and_those_after_it() -> None:
    hang = HangingTool(on_start=press_ctrl_c)
    after = ScriptedTool("after", "ran")
    tools = Toolbox([ScriptedTool("first", "done"), hang, after])
    results = tools.run([call("first"), call("hang", 1), call("after", 2)])
    assert [one.text for one in results] == ["done", INTERRUPTED, NOT_STARTED]
    assert [one.is_error for one in results] == [False, True, True]
    assert hang.stopped.is_set()
    assert after.calls == []


def test_interrupt_ends_all_parallel_calls() -> None:
    hangs = [HangingTool("a"), HangingTool("b", on_start=press_ctrl_c)]
    results = Toolbox(hangs, is_parallel=True).run([call("a"), call("b", 1)])
    assert [one.text for one in results] == [INTERRUPTED, INTERRUPTED]
    assert all(one.stopped.is_set() for one in hangs)


class GuardedTool(ScriptedTool):
    def permit(self, arguments: Mapping[str, Any]) -> None:
        assert threading.current_thread() is threading.main_thread()
        if "rm" in arguments["command"]:
            raise ToolError("The user refused this command.")


def test_refused_call_never_runs() -> None:
    shell = GuardedTool("shell", "목록", "command")
    results = Toolbox([shell]).run([call("shell", 0, command="rm -rf ."), call("shell", 1, command="ls")])
    assert [one.text for one in results] == ["The user refused this command.", "목록"]
    assert shell.calls == [{"command": "ls"}]


@pytest.mark.parametrize("unit", ["a", "가", "🙂"])
def test_output_over_10000_characters_keeps_head_and_tail(unit: str) -> None:
    [result] = Toolbox([ScriptedTool("t", "처음" + unit * 50_000 + "마지막")]).run([call("t")])
    assert len(result.text) <= 10_000
    assert result.text.startswith("처음" + unit)
    assert result.text.endswith(unit + "마지막")
    assert "characters left out" in result.text
    assert cut_middle(unit * 10_000, 10_000) == unit * 10_000


def test_output_can_always_be_sent() -> None:
    [result] = Toolbox([ScriptedTool("ls", "이름 \udcff.py")]).run([call("ls")])
    assert result.text.encode("utf-8") == "이름 ?.py".encode()


def test_events_frame_each_call() -> None:
    seen: list[ToolStarted | ToolEnded] = []
    Toolbox([ScriptedTool("t", "x")]).run([call("t", 1), call("t", 2)], seen.append)
    assert [type(one).__name__ for one in seen] == ["ToolStarted", "ToolEnded"] * 2


def turns(*names: str, text: str = "same") -> list[bool]:
    """Whether each answer, of one call each, ends the turn."""
    detector = RepeatDetector()
    stops = []
    for number, one in enumerate(names):
        result = ToolResult("c", one, text.replace("#", str(number)))
        _, should_stop = detector.check([call(one, path="파일")], [result])
        stops.append(should_stop)
    return stops


def test_same_call_three_times_is_noted_then_stopped() -> None:
    detector = RepeatDetector()
    noted = [detector.check([call("ls")], [ToolResult("c", "ls", "a.py")]) for _ in range(4)]
    assert ["[Note: " in results[0].text for results, _ in noted] == [False, False, True, True]
    assert [should_stop for _, should_stop in noted] == [False, False, False, True]


def test_two_and_three_calls_by_turns_are_caught() -> None:
    assert turns(*"abababa") == [False] * 6 + [True]
    assert turns(*"abcabcabca") == [False] * 9 + [True]


def test_calls_in_one_answer_are_noted_before_a_stop() -> None:
    detector = RepeatDetector()
    results, should_stop = detector.check([call("ls")] * 5, [ToolResult("c", "ls", "x")] * 5)
    assert not should_stop
    assert "[Note: " in results[-1].text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("abcdefghij", "same"),  # ten files
        ("aaaaaaaaaa", "progress #%"),  # polling that gets on
        ("aabaabxaab", "same"),
        ("ababab", "same"),  # noted, not yet stopped
    ],
)
def test_work_that_gets_on_is_not_stopped(names: str, text: str) -> None:
    assert not any(turns(*names, text=text))


def test_ten_reads_of_ten_files_have_no_note() -> None:
    detector = RepeatDetector()
    for number in range(10):
        results, _ = detector.check([call("read", path="파일%d.py" % number)], [ToolResult("c", "read", "")])
        assert results[0].text == ""


def test_each_stop_names_the_call_whose_time_is_up() -> None:
    hang = HangingTool()
    made = [call("hang", number, n=number) for number in range(2)]
    Toolbox([hang], is_parallel=True, time_limit_s=0.05).run(made)
    assert hang.stops[0] is made[0].arguments
