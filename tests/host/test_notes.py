"""A finished session of the real host becomes notes, and the next one is given them."""

import json
import re

import pytest

from tests.host.test_claude_cli_model import settle, with_host
from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, MessagesApi, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(400)]

PROMPT = (
    "웹훅이 두 번 오는 원인을 찾아줘. 재시도 간격을 30초로 늘려봤는데 소용없었어. "
    "앞으로 정산 테스트는 샌드박스 상점 test-shop-2에서만 돌려."
)
ANSWER = (
    "원인은 토스페이먼츠입니다. 10초 안에 200을 받지 못하면 다시 보냅니다. "
    "먼저 200을 돌려주게 고쳤고 두 번 오지 않는 것을 확인했습니다."
)
CAUSE = "웹훅이 두 번 오는 원인: 토스페이먼츠는 10초 안에 200이 없으면 다시 보낸다. 재시도 간격 30초는 소용없었다."
HEADLINE = "웹훅 중복의 원인은 토스페이먼츠: 10초 안에 200이 없으면 다시 보낸다"
DETAILS = "mcp__plugin_memlayer_memlayer__mem-details"
NOTES = {
    "summary": "웹훅 중복의 원인을 찾아 먼저 200을 돌려주게 고치고 확인함.",
    "notes": [
        {"kind": "cause", "text": CAUSE, "quote": "10초 안에 200을 받지 못하면 다시 보냅니다", "turn": 1},
        {"kind": "fact", "text": "운영 포트는 5433이다.", "quote": "운영 포트는 5433입니다", "turn": 1},
    ],
    "tasks": [],
    "drop": [],
}


def is_reading(request: Request) -> bool:
    return "You are the memory of a software project" in json.dumps(request.body.get("system", ""))


def test_session_is_read_once_and_the_next_knows(claude: Claude, api: MessagesApi) -> None:
    def script(request: Request) -> Answer:
        return Answer(text=json.dumps(NOTES, ensure_ascii=False) if is_reading(request) else ANSWER)

    api.script = script
    claude.extra_environ["PATH"] = with_host(claude)
    claude.memlayer_home.mkdir(mode=0o700)
    (claude.memlayer_home / "config.yaml").write_text("embedding: {provider: none}\n")
    claude.memlayer("notes", "on", "--provider", "claude-cli", "--yes")
    claude(PROMPT)
    claude.settle()

    def cores() -> list[str]:
        return [row["text"] for row in claude.memlayer("list", "core")["memories"]]

    assert settle(lambda: CAUSE in cores()), claude.memlayer("notes", "status")
    assert not any("5433" in text for text in cores())
    [asked] = [request for request in api.requests if is_reading(request)]
    assert "test-shop-2" in asked.text and "Memory context" not in asked.text
    next_session = claude("웹훅이 또 두 번 와. 재시도 간격을 바꿔볼까?")
    assert "토스페이먼츠는 10초 안에 200이 없으면" in next_session.turn.text
    assert len([request for request in api.requests if is_reading(request) and PROMPT[:20] in request.text]) == 1
    assert "5433" in claude.printed("notes", "refused")
    assert claude.hook_failures() == []


def test_no_consent_no_request(claude: Claude, api: MessagesApi) -> None:
    api.script = lambda request: Answer(text=ANSWER)
    claude.extra_environ["PATH"] = with_host(claude)
    claude(PROMPT)
    claude.settle()
    claude("그건 왜 그렇지?")
    claude.settle()
    assert not any(is_reading(request) for request in api.requests)
    assert not (claude.memlayer_home / "model_use.json").exists()


def test_model_opens_a_note_from_its_headline(claude: Claude, api: MessagesApi) -> None:
    noted = {**NOTES, "notes": [{**NOTES["notes"][0], "headline": HEADLINE, "subject": "웹훅"}]}  # type: ignore[index]

    def script(request: Request) -> Answer:
        if is_reading(request):
            return Answer(text=json.dumps(noted, ensure_ascii=False))
        if not request.is_turn or not opening or request.has_tool_result:
            return Answer(text=ANSWER)
        listed = re.search(re.escape(HEADLINE) + r" \[mem:(\w{6})\]", json.dumps(request.body, ensure_ascii=False))
        return Answer(tool_uses=((DETAILS, {"ids": [listed[1] if listed else "none"]}),))

    opening: list[bool] = []
    api.script = script
    claude.extra_environ["PATH"] = with_host(claude)
    claude.memlayer_home.mkdir(mode=0o700)
    (claude.memlayer_home / "config.yaml").write_text("embedding: {provider: none}\n")
    claude.memlayer("notes", "on", "--provider", "claude-cli", "--yes")
    claude(PROMPT)
    claude.settle()
    assert settle(lambda: HEADLINE in str(claude.memlayer("list", "core"))), claude.memlayer("notes", "status")
    opening.append(True)
    allowed = json.dumps({"permissions": {"allow": [DETAILS]}})
    run = claude.run(
        ["-p", "--plugin-dir", str(claude.plugin), "--settings", allowed], stdin="배송 화면의 문구를 다듬어줘"
    )
    first, second = run.turns
    assert CAUSE not in json.dumps(first.body, ensure_ascii=False)  # the start has its headline alone
    opened = second.last_user_text
    assert CAUSE in opened and re.search(r"Drawn from \[mem:\w{6}\]", opened), opened
    assert claude.hook_failures() == []
