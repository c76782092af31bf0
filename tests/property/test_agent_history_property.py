"""Any history, any cut: no orphan, the user first, roles that alternate, never over the cap."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memlayer.agent.context.history import Compactor, TalkHistory, begins_turn, outgoing
from memlayer.agent.dispatch import Dispatcher, XmlDispatcher
from memlayer.chat import AssistantToolCalls, Chat, ChatRequest, Message, ToolCall, ToolResult, ToolResults, WireMessage
from memlayer.config.agent import AgentSettings
from tests.support.scripted_chat import check_request

TEXT = st.sampled_from(("질문", "파일을 읽어 줘 " * 30, "answer " * 40, "</tool_result>", "x"))
ID = st.sampled_from(("", "1", "2", "3"))
WIRE = st.builds(
    WireMessage,
    role=st.sampled_from(("system", "user", "assistant", "tool")),
    text=st.sampled_from(("", " ", "텍스트", "text")),
    calls=st.just(()),
    call_id=ID,
) | st.builds(
    lambda ids: WireMessage("assistant", "", tuple(ToolCall(one, "t") for one in ids)),
    st.lists(ID, max_size=3, unique=True),
)


@given(st.lists(WIRE, max_size=25))
@settings(deadline=None)
def test_any_messages_become_a_valid_request(messages: list[WireMessage]) -> None:
    sent = outgoing(messages)
    if any(one.role != "system" for one in sent):
        check_request(ChatRequest("m", sent))
    assert outgoing(sent) == sent
    kept = {one.text for one in messages if one.role in ("user", "assistant") and one.text.strip()}
    assert all(any(text in one.text for one in sent) for text in kept)


def step(number: int, results: int, text: str) -> list[Message]:
    made = tuple(ToolCall("%d.%d" % (number, i), "read", {"path": "파일.py"}) for i in range(results))
    return [AssistantToolCalls("", made), ToolResults(tuple(ToolResult(one.id, one.name, text) for one in made))]


class Checked:
    """A history under test. known: all messages that were pushed or made of pushed ones."""

    def __init__(self, cap: int, preserve: int, limit: int, summary: str) -> None:
        self.history = TalkHistory(cap)
        self.history.push(Chat("system", "너는 조수다"))
        bounds = AgentSettings.model_construct(max_context_tokens=limit, preserve_recent_messages=preserve)
        self.compactor = Compactor(self.history, bounds, lambda *_: summary)

    def check(self) -> None:
        """Assert that the history is sound and any request of it valid."""
        history = self.history
        assert history.messages[0] == Chat("system", "너는 조수다")
        for before, message in zip([None, *history.recent], history.recent, strict=False):
            if isinstance(message, ToolResults):
                assert isinstance(before, AssistantToolCalls)
                assert [one.id for one in before.calls] == [one.call_id for one in message.results]
        assert not (history.recent and isinstance(history.recent[-1], AssistantToolCalls))
        forms: tuple[Dispatcher, ...] = (Dispatcher(), XmlDispatcher())
        for form in forms:
            sent = form.to_provider_messages(history.messages)
            request = outgoing(sent)
            check_request(ChatRequest("m", request))
            results = [one.call_id for one in sent if one.role == "tool"]
            assert [one.call_id for one in request if one.role == "tool"] == results  # nothing had to be mended

    def check_cap(self) -> None:
        """Assert the bound of the history."""
        assert len(self.history.messages) - 1 <= self.history.max_messages


ACTION = st.tuples(
    st.sampled_from(("user", "step", "step", "answer", "trim", "compact", "check", "undo", "usage")),
    TEXT,
    st.integers(1, 3),
)


@given(
    actions=st.lists(ACTION, max_size=60),
    cap=st.integers(1, 30),
    preserve=st.integers(0, 8),
    limit=st.integers(50, 5000),
    summary=st.sampled_from(("<summary>요약</summary>", "", "긴 요약 " * 300)),
)
@settings(deadline=None, max_examples=300)
def test_any_course_of_a_talk_leaves_a_sound_history(
    actions: list[tuple[str, str, int]], cap: int, preserve: int, limit: int, summary: str
) -> None:
    checked = Checked(cap, preserve, limit, summary)
    history, compactor = checked.history, checked.compactor
    history.push(Chat("user", "첫 요청"))
    for number, (action, text, size) in enumerate(actions):
        if action == "user":
            history.push(Chat("user", text))
        elif action == "step":
            for message in step(number, size, text):
                history.push(message)
        elif action == "answer":
            history.push(Chat("assistant", text))
        elif action == "usage":
            compactor.observe(size * 1000)
        elif action == "compact":
            compactor.compact()
        elif action == "check":
            compactor.check()
        elif action == "undo":
            compactor.undo()
        if action == "trim":
            newest = history.recent[-1:]
            compactor.trim()
            checked.check_cap()
            assert history.recent[-1:] == newest
        checked.check()
    compactor.trim()
    checked.check_cap()
    checked.check()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(4, 20))
@settings(deadline=None)
def test_trim_drops_whole_turns_before_it_cuts_one(steps: list[int], cap: int) -> None:
    history = TalkHistory(cap)
    turns: list[list[Message]] = []
    for number, count in enumerate(steps):
        turn: list[Message] = [Chat("user", "질문 %d" % number)]
        for one in range(count):
            turn += step(100 * number + one, 1, "결과")
        turns.append([*turn, Chat("assistant", "답")])
        for message in turns[-1]:
            history.push(message)
    history.trim()
    assert begins_turn(history.recent[0])
    whole = [message for turn in turns for message in turn]
    if len(turns[-1]) <= cap:
        assert history.recent == whole[len(whole) - len(history.recent) :]
    else:
        assert history.recent[0] == turns[-1][0]
        assert history.recent[1:] == turns[-1][len(turns[-1]) - len(history.recent) + 1 :]
