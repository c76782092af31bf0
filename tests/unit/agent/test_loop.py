"""The turn loop with a scripted provider."""

import signal
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memlayer.agent.assembly import model_for
from memlayer.agent.context.history import SUMMARY_HEADER, TRIMMED_HEADER, TalkHistory
from memlayer.agent.dispatch import XmlDispatcher
from memlayer.agent.execution import INTERRUPTED, NOT_STARTED, Toolbox
from memlayer.agent.loop import Agent, Event, ModelAnswered, TextPart, ToolEnded, ToolStarted
from memlayer.chat import AssistantToolCalls, Chat, ChatRequest, Reply, ToolCall, ToolResults
from memlayer.cli.terminal.talk_output import JsonLines, TextOutput
from memlayer.config.agent import AgentSettings, ClassificationRule, QueryClassificationSettings
from memlayer.errors import AgentStopped, ChatError, ContextTooLong
from tests.support.recording_memory import RecordingMemory
from tests.support.scripted_chat import ScriptedChat, called, calls, xml_call
from tests.support.scripted_tool import HangingTool, ScriptedTool

NOON = datetime(2026, 3, 22, 15, 30, tzinfo=ZoneInfo("Asia/Seoul"))


def agent(provider: ScriptedChat, *tools: Any, **fields: Any) -> Agent:
    settings = {name: fields.pop(name) for name in AgentSettings.model_fields if name in fields}
    fields.setdefault("tools", Toolbox(tools))
    return Agent(provider, AgentSettings(model="big-model", **settings), clock=lambda: NOON, **fields)


def sent_roles(request: ChatRequest) -> list[str]:
    return [one.role for one in request.messages]


def test_first_request_begins_with_the_system_prompt() -> None:
    provider = ScriptedChat("안녕하세요")
    talk = agent(provider)
    assert talk.turn("안녕") == "안녕하세요"
    talk.turn("다시")
    system, user = provider.requests[0].messages
    assert system.role == "system" and system.text.startswith("You are an assistant")
    assert user.text == "안녕"  # no stamp: the system prompt has the day
    assert sent_roles(provider.requests[1]) == ["system", "user", "assistant", "user"]


def test_recalled_notes_stand_before_the_message() -> None:
    provider = ScriptedChat("5433")
    notes = "[Memory context]\n- [mem:a7Bc3x] 2026-03-01: 포트는 5433"
    talk = agent(provider, memory=RecordingMemory(notes))
    talk.turn("포트가 뭐였지?")
    assert provider.requests[0].messages[-1].text == notes + "\n포트가 뭐였지?"
    assert talk.history.recent[0] == Chat("user", provider.requests[0].messages[-1].text, "포트가 뭐였지?")


def test_a_new_day_is_told_once() -> None:
    provider = ScriptedChat("1", "2", "3", "4")
    talk = agent(provider)
    for hours, message in ((0, "오늘"), (1, "아직"), (10, "내일 배포하자"), (11, "again")):
        talk.clock = lambda hours=hours: NOON + timedelta(hours=hours)
        talk.turn(message)
    said = [one.text for one in provider.requests[-1].messages if one.role == "user"]
    assert said == ["오늘", "아직", "[Monday, 2026-03-23] 내일 배포하자", "again"]


def test_native_calls_that_nobody_offered_are_run() -> None:
    provider = ScriptedChat(calls(called("add", a=1)), "값은 1")
    talk = agent(provider, ScriptedTool("add", "1"), dispatcher=XmlDispatcher())
    assert talk.turn("더해줘") == "값은 1"
    assert provider.requests[0].tools == () and '<tool_result name="add"' in provider.requests[1].messages[-1].text


def test_a_native_call_without_any_tool_is_told() -> None:
    provider = ScriptedChat(calls(called("search", q="x")), "없습니다")
    assert agent(provider).turn("찾아줘") == "없습니다"
    result = provider.requests[1].messages[-1]
    assert result.is_error and "search" in result.text


def test_native_calls_are_run_and_answered() -> None:
    provider = ScriptedChat(calls(called("add", a=1), called("add", "c2", a=2), text="계산합니다"), "합은 3")
    add = ScriptedTool("add", lambda arguments: "값 %d" % arguments["a"])
    memory = RecordingMemory()
    talk = agent(provider, add, memory=memory)
    assert talk.turn("더해줘") == "합은 3"
    assert [one.name for one in provider.requests[0].tools] == ["add"]
    assert sent_roles(provider.requests[1]) == ["system", "user", "assistant", "tool", "tool"]
    assert [one.text for one in provider.requests[1].messages[-2:]] == ["값 1", "값 2"]
    assert memory.seen == [
        ("recall", "더해줘"),
        ("called", "add", "값 1"),
        ("called", "add", "값 2"),
        ("end", "합은 3"),
    ]


def test_xml_calls_are_run_and_answered() -> None:
    provider = ScriptedChat("<think>음</think>봅니다" + xml_call("ls", path="폴더"), "두 개입니다", is_native=False)
    talk = agent(provider, ScriptedTool("ls", "가.py\n나.py"))
    assert talk.turn("파일 목록") == "두 개입니다"
    first, second = provider.requests
    assert first.tools == second.tools == ()
    assert '"name": "ls"' in first.messages[0].text
    assert sent_roles(second) == ["system", "user", "assistant", "user"]
    assert second.messages[-1].text == '<tool_result name="ls" status="ok">\n가.py\n나.py\n</tool_result>'
    assert "음" not in second.messages[2].text


def test_cap_ends_the_turn_and_keeps_the_work() -> None:
    numbers = iter(range(100))
    provider = ScriptedChat(lambda _: calls(called("read", "c", n=next(numbers))))
    memory = RecordingMemory()
    talk = agent(provider, ScriptedTool("read", "x"), memory=memory, max_tool_iterations=3)
    with pytest.raises(AgentStopped, match=r"^Agent exceeded maximum tool iterations \(3\)$"):
        talk.turn("계속 읽어")
    assert len(provider.requests) == 3
    assert sum(isinstance(one, ToolResults) for one in talk.history.recent) == 3
    assert memory.seen[-1][:2] == ("end", "")
    provider.answers = ["이어서 답"]
    assert talk.turn("답만 해줘") == "이어서 답"  # the scripted provider refuses invalid requests


def test_repeated_calls_stop_the_turn() -> None:
    turns = iter("ab" * 20)
    provider = ScriptedChat(lambda _: calls(called(next(turns), "c")))
    talk = agent(provider, ScriptedTool("a", "같음"), ScriptedTool("b", "같음"))
    with pytest.raises(AgentStopped, match="again and again"):
        talk.turn("해줘")
    assert len(provider.requests) == 7


def test_reads_of_ten_files_run_to_the_end() -> None:
    provider = ScriptedChat(*[calls(called("read", "c%d" % i, path="파일%d" % i)) for i in range(10)], "요약")
    assert agent(provider, ScriptedTool("read", "같은 내용")).turn("열 파일을 읽어") == "요약"


@pytest.mark.parametrize(("temperature", "requests"), [(0.0, 1), (None, 2), (0.1, 2)])
def test_cache_answers_only_at_temperature_zero(temperature: float | None, requests: int) -> None:
    provider = ScriptedChat("답")
    seen: list[Event] = []
    first = agent(provider, temperature=temperature, on_event=seen.append)
    first.turn("같은 질문")
    again = agent(provider, temperature=temperature, cache=first.cache, on_event=seen.append)
    assert again.turn("같은 질문") == "답"
    assert len(provider.requests) == requests
    assert [one.is_cached for one in seen if isinstance(one, ModelAnswered)] == [False, requests == 1]


def test_cache_is_silent_when_history_or_tools_differ() -> None:
    provider = ScriptedChat("하나", "둘", "셋")
    first = agent(provider, temperature=0.0)
    assert first.turn("질문") == "하나"
    assert first.turn("질문") == "둘"  # the same words after another message
    other = agent(provider, ScriptedTool("t", ""), temperature=0.0, cache=first.cache)
    assert other.turn("질문") == "셋"


def test_hint_chooses_the_model() -> None:
    provider = ScriptedChat("답")
    rule = ClassificationRule(hint="fast", keywords=("quick", "간단히"), priority=10)
    rules = QueryClassificationSettings(enabled=True, rules=(rule,), models={"fast": "small-model"})
    talk = agent(provider, choose_model=partial(model_for, rules))
    for message in ("quick summary please", "간단히 알려줘", "자세히 알려줘"):
        talk.turn(message)
    assert [one.model for one in provider.requests] == ["small-model", "small-model", "big-model"]


def test_memory_errors_never_end_a_turn() -> None:
    talk = agent(ScriptedChat(calls(called("t")), "답"), ScriptedTool("t", "x"), memory=RecordingMemory(is_broken=True))
    assert talk.turn("질문") == "답"


def test_provider_error_leaves_a_history_that_goes_on() -> None:
    provider = ScriptedChat(calls(called("t")), ChatError("busy; try again"), "답")
    memory = RecordingMemory()
    talk = agent(provider, ScriptedTool("t", "x"), memory=memory)
    with pytest.raises(ChatError, match="busy"):
        talk.turn("첫 질문")
    assert memory.seen[-1][:2] == ("end", "")
    assert talk.turn("둘째 질문") == "답"
    assert sent_roles(provider.requests[-1]) == ["system", "user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize("failure", [ChatError("busy; try again"), "", Reply("", is_cut=True)], ids=repr)
def test_prompt_without_an_answer_is_not_joined_to_the_next(failure: ChatError | str | Reply) -> None:
    provider = ScriptedChat(failure, failure, "답")
    talk = agent(provider)
    for message in ("결제 포트를 바꿔줘", "change the port"):
        with pytest.raises(ChatError):
            talk.turn(message)
    assert talk.turn("다시 해줘") == "답"
    sent = provider.requests[-1].messages
    assert [one.role for one in sent[1:]] == ["user", "assistant"] * 2 + ["user"]
    assert "결제" in sent[1].text and "port" in sent[3].text and sent[-1].text.endswith("다시 해줘")
    assert "port" not in sent[-1].text and all(one.text.startswith("Execution error: ") for one in sent[2:5:2])


def test_prompt_that_is_too_long_leaves_the_talk() -> None:
    """It would make every later one too long as well."""
    provider = ScriptedChat("네", ContextTooLong("too long"), ContextTooLong("too long"), "답")
    talk = agent(provider)
    talk.turn("안녕")
    with pytest.raises(ContextTooLong):
        talk.turn("아주 긴 글")
    talk.provider = ScriptedChat("답")
    assert talk.turn("짧은 질문") == "답"
    [sent] = talk.provider.requests
    assert [one.role for one in sent.messages] == ["system", "user", "assistant", "user"]
    assert "아주 긴 글" not in str(sent.messages)


@pytest.mark.parametrize("said", ["", " \n", "<think>무엇을 말할까</think>"])
def test_answer_without_text_is_none(said: str) -> None:
    provider = ScriptedChat(said, "네, 있습니다.")
    talk = agent(provider)
    with pytest.raises(AgentStopped, match="without any text"):
        talk.turn("있니?")
    assert talk.turn("다시 물을게. 있니?") == "네, 있습니다."
    with pytest.raises(AgentStopped, match="used up its 4096 tokens"):
        agent(ScriptedChat(Reply("", is_cut=True))).turn("있니?")


def test_interrupt_ends_the_tool_and_keeps_the_turn() -> None:
    hang = HangingTool(on_start=lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT))
    provider = ScriptedChat(calls(called("hang"), called("after", "c2")), "중단했습니다")
    talk = agent(provider, hang, ScriptedTool("after", "ran"))
    assert talk.turn("오래 걸리는 일") == "중단했습니다"
    assert [one.text for one in provider.requests[1].messages[-2:]] == [INTERRUPTED, NOT_STARTED]


def test_interrupt_of_the_model_ends_the_turn() -> None:
    provider = ScriptedChat(KeyboardInterrupt(), "답")
    talk = agent(provider)
    with pytest.raises(KeyboardInterrupt):
        talk.turn("첫 질문")
    assert talk.turn("둘째") == "답"
    assert provider.requests[-1].messages[-1].text == "첫 질문\n\n둘째"  # in one message


def test_bad_calls_are_answered_with_errors() -> None:
    bad = Reply("", (ToolCall("1", "nope"), ToolCall("2", "read", {}, "bad JSON"), ToolCall("3", "read")))
    provider = ScriptedChat(bad, "답")
    assert agent(provider, ScriptedTool("read", "", "path")).turn("읽어") == "답"
    assert [one.is_error for one in provider.requests[1].messages[-3:]] == [True] * 3


def test_trim_runs_during_the_turn() -> None:
    numbers = iter(range(100))

    def answer(request: ChatRequest) -> Reply | str:
        number = next(numbers)
        return calls(called("read", "c%d" % number, n=number)) if number < 15 else "끝"

    provider = ScriptedChat(answer)
    talk = agent(provider, ScriptedTool("read", "x"), history=TalkHistory(10))
    assert talk.turn("많이 읽어") == "끝"
    assert max(len(one.messages) for one in provider.requests) <= 11
    assert all("많이 읽어" in one.messages[1].text for one in provider.requests)


def test_events_tell_the_course_of_a_turn() -> None:
    seen: list[Event] = []
    provider = ScriptedChat("읽습니다" + xml_call("read", path="가"), "끝났습니다", is_native=False, parts=3)
    agent(provider, ScriptedTool("read", "내용"), on_event=seen.append).turn("읽어")
    kinds = [type(one) for one in seen if not isinstance(one, TextPart)]
    assert kinds == [ModelAnswered, ToolStarted, ToolEnded, ModelAnswered]
    assert "".join(one.text for one in seen if isinstance(one, TextPart)) == "읽습니다끝났습니다"


@pytest.mark.parametrize("output", [TextOutput, JsonLines])
def test_long_wait_is_shown(output: type[TextOutput | JsonLines], capsys: pytest.CaptureFixture[str]) -> None:
    agent(ScriptedChat("네", waits="no answer from 서버"), on_event=output().show).turn("안녕")
    assert "no answer from 서버" in "".join(capsys.readouterr())


def test_own_tool_is_a_name_and_a_function() -> None:
    def fetch(arguments: Mapping[str, Any]) -> str:
        return "과제 %s: 3월 25일까지" % arguments["course"]

    provider = ScriptedChat(
        calls(called("fetch_assignments", course="수학")), lambda request: request.messages[-1].text
    )
    assert agent(provider, ScriptedTool("fetch_assignments", fetch)).turn("과제?") == "과제 수학: 3월 25일까지"


def test_reasoning_goes_back_to_the_provider() -> None:
    provider = ScriptedChat(Reply("", (called("t"),), reasoning="속생각"), "답")
    talk = agent(provider, ScriptedTool("t", "x"))
    talk.turn("질문")
    assert provider.requests[1].messages[2].reasoning == "속생각"
    assert isinstance(talk.history.recent[1], AssistantToolCalls)


def test_resumed_talk_goes_on_behind_the_system_prompt() -> None:
    provider = ScriptedChat("이어서")
    talk = agent(provider, memory=RecordingMemory(constraints=("포트는 5433",)))
    talk.compactor.restore("이전 요약", ["p0"], [Chat("user", "이전 질문"), Chat("assistant", "이전 답")])
    assert talk.turn("계속") == "이어서"
    [request] = provider.requests
    assert sent_roles(request) == ["system", "user", "assistant", "user"]
    assert request.messages[0].text.startswith("You are an assistant")
    assert request.messages[0].text.endswith("- 포트는 5433")
    assert "이전 요약" in request.messages[1].text and request.messages[1].text.endswith("이전 질문")


def test_model_can_be_changed_within_a_talk() -> None:
    provider = ScriptedChat("답")
    talk = agent(provider)
    talk.turn("하나")
    talk.settings = talk.settings.model_copy(update={"model": "other"})
    talk.turn("둘")
    assert [one.model for one in provider.requests] == ["big-model", "other"]


def test_talk_too_long_for_the_model_is_compacted_and_sent_again_once() -> None:
    turns = [message for i in range(4) for message in (Chat("user", "질문 %d" % i), Chat("assistant", "답 " * 400))]
    too_long = ContextTooLong("scripted: the talk is too long for the model")
    provider = ScriptedChat(too_long, "<summary>요약</summary>", "답")
    talk = agent(provider)
    talk.compactor.restore("", [], turns)
    assert talk.turn("이어서") == "답"
    assert "요약" in provider.requests[2].messages[1].text
    provider.answers = [*[too_long] * 9]
    before = len(provider.requests)
    with pytest.raises(ContextTooLong):
        talk.turn("또")
    assert len(provider.requests) <= before + 3  # the request, perhaps its summary and the second try


def test_automatic_compaction_that_is_off_stays_off_for_a_long_talk() -> None:
    provider = ScriptedChat(ContextTooLong("too long"), "답")
    talk = agent(provider, auto_compaction=False)
    talk.compactor.restore("", [], [Chat("user", "질문"), Chat("assistant", "답 " * 400)] * 5)
    with pytest.raises(ContextTooLong):
        talk.turn("이어서")
    assert len(provider.requests) == 1


@pytest.mark.parametrize("is_native", [True, False])
def test_interrupted_answer_keeps_its_text(is_native: bool) -> None:
    def stopped(text: str) -> None:
        shown.append(text)
        if "절반" in "".join(shown):
            raise KeyboardInterrupt

    shown: list[str] = []
    provider = ScriptedChat("<think>몰래</think>여기까지 절반이고 나머지", "답", parts=3, is_native=is_native)
    memory = RecordingMemory()
    talk = agent(provider, memory=memory, on_event=lambda one: stopped(one.text) if isinstance(one, TextPart) else None)
    with pytest.raises(KeyboardInterrupt):
        talk.turn("길게 설명해줘")
    [_, kept] = talk.history.recent
    assert kept == Chat("assistant", "여기까지 절반\n[Stopped here by the user.]")
    assert memory.seen[-1] == ("end", kept.text)
    shown.clear()
    provider.answers = ["답"]
    assert talk.turn("마저") == "답"
    assert sent_roles(provider.requests[-1]) == ["system", "user", "assistant", "user"]


def test_trimmed_rules_and_words_of_the_user_stay() -> None:
    memory = RecordingMemory(constraints=("포트는 5433이다",))
    provider = ScriptedChat("네")
    talk = agent(provider, history=TalkHistory(10), memory=memory)
    for number in range(40):
        talk.turn("포트는 5433이다. 항상 pytest만 써" if number == 0 else "질문 %d" % number)
    last = provider.requests[-1].messages
    assert "- 포트는 5433이다" in last[0].text
    assert "- 포트는 5433이다. 항상 pytest만 써\n" in last[1].text
    assert len(talk.history.messages) - 2 <= 10
    flushed = sum(one[0] == "survivors" for one in memory.seen)
    assert 1 <= flushed <= 9  # not with each message that goes


def test_trimmed_words_stay_without_memory() -> None:
    provider = ScriptedChat("네")
    talk = agent(provider, history=TalkHistory(6))
    for number in range(30):
        talk.turn("절대 main에 푸시하지 마" if number == 0 else "질문 %d" % number)
    record = provider.requests[-1].messages[1].text
    assert "- 절대 main에 푸시하지 마\n" in record
    assert record.startswith(TRIMMED_HEADER) and SUMMARY_HEADER not in record  # nothing was compacted


def test_undone_compaction_of_a_resumed_talk_leaves_the_system_prompt() -> None:
    provider = ScriptedChat("<summary>요약</summary>", "답")
    talk = agent(provider)
    talk.compactor.restore("", [], [Chat("user", "질문"), Chat("assistant", "답 " * 400)] * 5)
    assert talk.compactor.compact() is not None
    talk.turn("이어서")
    assert talk.compactor.undo()
    talk.turn("계속")
    assert provider.requests[-1].messages[0].text.startswith("You are an assistant")


def test_thought_without_an_opening_tag_is_hidden_from_the_second_answer_on() -> None:
    provider = ScriptedChat("생각 하나</think>답 하나", "생각 둘</think>답 둘", "생각 없는 답", parts=3)
    seen: list[str] = []
    talk = agent(provider, on_event=lambda one: seen.append(one.text) if isinstance(one, TextPart) else None)
    shown = []
    for prompt in ("하나", "둘", "셋"):
        talk.turn(prompt)
        shown.append("".join(seen))
        seen.clear()
    assert shown[1:] == ["답 둘", "생각 없는 답"]
    kept = [one.text for one in talk.history.recent[1::2] if isinstance(one, Chat)]
    assert kept == ["답 하나", "답 둘", "생각 없는 답"]
