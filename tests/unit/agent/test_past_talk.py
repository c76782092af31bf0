"""A talk restored from its stored events."""

import json

import pytest

from memlayer.agent.context.history import outgoing
from memlayer.agent.dispatch import Dispatcher, XmlDispatcher
from memlayer.agent.memory import PastTurn, messages_of, turns_of
from memlayer.chat import AssistantToolCalls, Chat, ToolCall, ToolResult, ToolResults
from memlayer.edge.capture.payload import read_payload
from memlayer.model import Event


def event(kind: str, prompt_id: str, text: str, at_ms: int = 1_795_000_000_000) -> Event:
    """An event as the daemon gives it."""
    return Event(prompt_id + kind, kind, "talk", "p", prompt_id, text, at_ms)


def test_events_are_grouped_by_turn() -> None:
    events = [
        event("user", "p1", "빌드해줘"),
        event("tool", "p1", "Bash: make\n끝"),
        event("user", "p2", "다음"),
        event("assistant", "p1", "했습니다."),
    ]
    assert turns_of(events) == (
        PastTurn("p1", "빌드해줘", ("Bash: make\n끝",), "했습니다.", 1_795_000_000_000),
        PastTurn("p2", "다음", (), "", 1_795_000_000_000),
    )


def stored(tool: str, failed: bool = False, **arguments: str) -> str:
    """A call in the form in which the spool holds it."""
    fields = {"session_id": "s", "tool_name": tool, "tool_input": arguments}
    fields |= {"error": "Exit code 2\n오류"} if failed else {"tool_response": {"stdout": "출력"}}
    hook = "post_tool_use_failure" if failed else "post_tool_use"
    found = read_payload(hook, json.dumps(fields).encode(), project_dir="/p", at_ms=1).event
    assert found is not None
    return str(found["text"])


@pytest.mark.parametrize(
    ("text", "name", "arguments", "output", "is_error"),
    [
        (stored("Bash", command="make 빌드"), "shell", {"command": "make 빌드"}, "출력", False),
        (stored("Bash", True, command="make"), "shell", {"command": "make"}, "Exit code 2\n오류", True),
        (stored("Write", file_path="/글", content="a\nb\n"), "write_file", {"path": "/글"}, "write, 2 lines", False),
        (stored("fetch", course="수학"), "fetch", {"input": '{"course": "수학"}'}, "출력", False),
        ("Bash: true", "shell", {"command": "true"}, "(The output is not stored.)", False),
    ],
)  # fmt: skip
def test_stored_call_is_a_call_again(
    text: str, name: str, arguments: dict[str, str], output: str, is_error: bool
) -> None:
    user, call, result, answer = messages_of([PastTurn("p1", "해줘", (text,), "네.", 1)])
    assert isinstance(user, Chat) and user.words == "해줘" and user.text == "[Thursday, 1970-01-01] 해줘"
    assert call == AssistantToolCalls("", (ToolCall("past_p1_0", name, arguments),))
    assert result == ToolResults((ToolResult("past_p1_0", name, output, is_error=is_error),))
    assert answer == Chat("assistant", "네.")


@pytest.mark.parametrize("form", [Dispatcher(), XmlDispatcher()])
def test_restored_messages_make_a_valid_request(form: Dispatcher | XmlDispatcher) -> None:
    turns = [
        PastTurn("p1", "첫째", ("Bash: a\nb", "Bash failed: c\nd"), "", 1),
        PastTurn("p2", "", (), "앞이 잊힌 답", 2),
        PastTurn("p3", "셋째", (), "답", 3),
    ]
    sent = outgoing(form.to_provider_messages(messages_of(turns)))
    roles = [one.role for one in sent]
    assert roles[0] == "user" and roles[-1] == "assistant"
    called = [call.id for one in sent for call in one.calls]
    assert called == [one.call_id for one in sent if one.role == "tool"] and len(set(called)) == len(called)
