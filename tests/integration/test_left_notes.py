"""Turns that a conversation left (`/rewind`, an edited prompt): notes of models."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.left_talk import Talk, core, ended
from tests.support.mcp_client import McpServer
from tests.support.model_api import ModelApi, Said, chat_answer
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
KOREAN_QUEUE = "주문 이벤트는 ClickHouse에 저장하기로 했어."
DONE = "네, 알겠습니다."
Start = Callable[..., Daemon]
WEBHOOK = "웹훅이 왜 두 번 오는지 봐줘. 앞으로 정산 테스트는 샌드박스 상점 test-shop-2로만 돌려줘."
CAUSE_SAID = (
    "원인은 이렇습니다. 토스페이먼츠는 10초 안에 200을 받지 못하면 다시 보냅니다. 먼저 200을 돌려주게 했습니다."
)
NOTE = {
    "kind": "cause", "text": "웹훅이 두 번 온 원인: 토스페이먼츠는 10초 안에 200이 없으면 다시 보낸다.", "turn": 2,
    "files": [], "error": "", "replaces": [], "quote": "토스페이먼츠는 10초 안에 200을 받지 못하면 다시 보냅니다",
}  # fmt: skip


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi() as served:
        found = {"summary": "", "notes": [NOTE], "tasks": [], "drop": []}
        served.script = lambda asked: Said(chat_answer(json.dumps(found, ensure_ascii=False)))
        yield served


@pytest.fixture
def reading(api: ModelApi, home: Path) -> Iterator[Start]:
    running: list[Daemon] = []

    def start(**settings: object) -> Daemon:
        daemon = Daemon(ROOT, home, {"embedding": {"provider": "none"}, "consolidation": settings})
        running.append(daemon)
        return daemon.start()

    yield start
    for daemon in running:
        daemon.stop()


def test_notes_of_a_reading_model(reading: Start, api: ModelApi, hook: HookRunner, tmp_path: Path) -> None:
    daemon = reading(provider="openai", model="tiny", base_url=api.url + "/v1")
    talk = Talk(hook, tmp_path)
    talk.turn("p1", KOREAN_QUEUE, DONE)
    talk.turn("p2", WEBHOOK, CAUSE_SAID)
    talk.end()
    daemon.wait_for(lambda: NOTE["text"] in core(daemon), "the note")
    before = core(daemon)
    talk("session_start", source="resume")
    talk.back_before("p2")
    talk.turn(
        "p3", "모든 통합 테스트를 돌리고, 실패한 것이 있으면 이유를 알려줘.", "통합 테스트 42개가 모두 통과했습니다."
    )
    [left] = core(daemon)
    assert "ClickHouse" in left
    assert ended(daemon)[str(NOTE["text"])] == "taken back"
    talk.turn(
        "p4", KOREAN_QUEUE + " 이유도 문서에 적어줘. 팀이 다 같이 볼 수 있게.", DONE + " 문서에 이유를 적었습니다."
    )
    asked = len(api.asked)
    talk.end()
    daemon.wait_for(lambda: len(api.asked) > asked, "a further reading")
    sent = api.asked[-1].body["messages"][1]["content"]
    assert "통합 테스트" in sent and "토스페이먼츠" not in sent
    assert str(NOTE["text"]) not in core(daemon)  # the model says it again, and quotes nothing that is there
    talk("session_start", source="resume")
    talk.back_to("p2")
    talk.turn("p5", "테스트를 돌려줘", "모두 통과했습니다.")
    assert set(before) <= set(core(daemon))


def test_notes_of_the_sessions_own_model(reading: Start, hook: HookRunner, tmp_path: Path) -> None:
    daemon = reading(by_session=True)
    talk = Talk(hook, tmp_path)
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.prompt("p2", "정산은 저녁에만 돌려줘, 낮에는 창고가 느려.")
    note = {"text": "정산은 저녁에만 돌린다.", "kind": "preference", "quote": "정산은 저녁에만 돌려줘"}
    with McpServer(hook.home, hook.project, CLAUDE_CODE_SESSION_ID="s1") as client:
        assert client.call("mem-remember", **note).startswith("Remembered as [mem:")
    talk.answer("p2", DONE)
    before = core(daemon)
    assert note["text"] in before
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == []
    talk.back_to("p2")
    talk.turn("p4", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == before


def test_memory_that_a_model_asked_for(daemon: Daemon, hook: HookRunner, tmp_path: Path) -> None:
    talk = Talk(hook, tmp_path)
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.prompt("p2", "창고가 왜 느린지 봐줘")
    with McpServer(hook.home, hook.project, CLAUDE_CODE_SESSION_ID="s1") as client:
        assert client.call("mem-remember", text="창고는 낮에 느리다.").startswith("Remembered as [mem:")
    talk.answer("p2", "낮에는 정산이 함께 돕니다.")
    before = core(daemon)
    assert "창고는 낮에 느리다." in before
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == []
    talk.back_to("p2")
    talk.turn("p4", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == before
