"""The history's trim, and the last check of a request."""

import pytest

from memlayer.agent.context.history import TalkHistory, outgoing, tokens_in
from memlayer.chat import AssistantToolCalls, Chat, Message, ToolCall, ToolResult, ToolResults, WireMessage


def turn(number: int, steps: int = 0) -> list[Message]:
    """A turn of 2 + 2 * steps messages."""
    out: list[Message] = [Chat("user", "질문 %d" % number)]
    for step in range(steps):
        call_id = "c%d.%d" % (number, step)
        out.append(AssistantToolCalls("", (ToolCall(call_id, "read", {"path": "파일.py"}),)))
        out.append(ToolResults((ToolResult(call_id, "read", "내용"),)))
    return [*out, Chat("assistant", "답 %d" % number)]


def filled(*turns: list[Message], cap: int = 50) -> TalkHistory:
    history = TalkHistory(cap)
    history.push(Chat("system", "너는 조수다"))
    for messages in turns:
        for message in messages:
            history.push(message)
    return history


def test_fifty_messages_stay_and_the_51st_drops_the_first_turn() -> None:
    history = filled(*[turn(i) for i in range(25)])
    assert history.trim() == []
    assert len(history.recent) == 50
    history.push(Chat("user", "51번째"))
    assert history.trim() == turn(0)
    assert history.messages[0] == Chat("system", "너는 조수다")
    assert history.messages[1] == turn(1)[0]


def test_trim_never_cuts_through_a_call_and_its_results() -> None:
    history = filled(turn(0, 3), turn(1), cap=9)
    assert history.trim() == turn(0, 3)
    assert history.recent == turn(1)


def test_turn_that_is_too_long_keeps_its_message_and_last_steps() -> None:
    whole = turn(0, 10)[:-1]
    history = filled(whole, cap=7)
    dropped = history.trim()
    assert dropped == whole[1:15]
    assert history.recent == [whole[0], *whole[15:]]


def test_system_messages_are_kept_whenever_they_come() -> None:
    history = filled(*[turn(i) for i in range(30)], cap=10)
    history.push(Chat("system", "제약 조건"))
    history.trim()
    assert [one.text for one in history.messages[:2] if isinstance(one, Chat)] == ["너는 조수다", "제약 조건"]
    assert len(history.recent) == 10


def test_record_is_kept_and_counts() -> None:
    history = filled(*[turn(i) for i in range(10)], cap=6)
    history.record = Chat("user", "요약")
    history.trim()
    assert history.messages[1] == Chat("user", "요약")
    assert len(history.messages) == 1 + 1 + 4


def test_cap_below_four_is_four() -> None:
    history = filled(turn(0, 5)[:-1], cap=1)
    history.trim()
    assert [type(one).__name__ for one in history.recent] == ["Chat", "AssistantToolCalls", "ToolResults"]


def test_estimate_counts_every_part() -> None:
    call = AssistantToolCalls("", (ToolCall("c", "shell", {"command": "ls " * 100}),), "생각 " * 100)
    assert tokens_in([call]) > tokens_in([AssistantToolCalls("", call.calls)]) > 100
    assert tokens_in([ToolResults((ToolResult("c", "t", "가나다 " * 100),))]) > 200


USER, ASSISTANT = WireMessage("user", "질문"), WireMessage("assistant", "답")
CALL = WireMessage("assistant", "", (ToolCall("1", "t"), ToolCall("2", "t")))


def result(id: str) -> WireMessage:
    return WireMessage("tool", "결과 " + id, call_id=id)


def roles(*messages: WireMessage) -> str:
    return "".join(one.role[0] for one in outgoing(messages))


def test_valid_request_is_sent_as_it_is() -> None:
    messages = (WireMessage("system", "s"), USER, CALL, result("1"), result("2"), ASSISTANT, USER)
    assert outgoing(messages) == messages


def test_missing_result_is_an_error_and_order_is_the_calls() -> None:
    _, _, first, second = outgoing([USER, CALL, result("2")])
    assert (first.call_id, first.is_error) == ("1", True)
    assert second == result("2")
    assert [one.call_id for one in outgoing([USER, CALL, result("2"), result("1")])[2:]] == ["1", "2"]


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ((result("1"), USER), "u"),  # an orphan at the beginning
        ((USER, ASSISTANT, result("1"), USER), "uau"),
        ((USER, CALL, result("1"), result("2"), result("9"), ASSISTANT), "uatta"),
        ((USER, CALL, USER), "uattau"),  # an interrupted turn
        ((ASSISTANT, USER), "uau"),
        ((CALL, result("1"), result("2")), "uatt"),
        ((USER, USER, ASSISTANT, ASSISTANT, USER), "uau"),
        ((USER, WireMessage("assistant", " "), USER), "u"),
        ((USER, WireMessage("system", "s"), ASSISTANT), "sua"),
        ((), ""),
    ],
)
def test_any_request_becomes_valid(messages: tuple[WireMessage, ...], wanted: str) -> None:
    assert roles(*messages) == wanted


def test_joined_messages_keep_every_word_and_call() -> None:
    first, second = outgoing([WireMessage("user", "하나"), WireMessage("user", "둘"), ASSISTANT, CALL])[:2]
    assert first.text == "하나\n\n둘"
    assert (second.text, len(second.calls)) == ("답", 2)
    systems = [WireMessage("system", "규칙"), USER, WireMessage("system", "제약")]
    assert outgoing(systems)[0].text == "규칙\n\n제약"
