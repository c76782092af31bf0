"""What the real host hands the model at a tool call."""

from __future__ import annotations

import json

import pytest

from tests.host.test_claude_cli_model import settle, with_host
from tests.host.test_notes import is_reading
from tests.support.host.claude_run import Claude, Run
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

RULE = (  # too long to stand whole in a start
    "웹훅.py는 먼저 200을 돌려준다. 토스페이먼츠는 10초 안에 200이 없으면 다시 보내기 때문. "
    "재시도 간격을 30초로 늘려봤는데 소용없었고 같은 주문이 두 번 처리됐다."
)
FOUND = "토스페이먼츠는 10초 안에 200을 받지 못하면 다시 보냅니다. 먼저 200을 돌려주게 고쳤고, 두 번 오지 않습니다."
WEBHOOK = (
    "웹훅이 두 번 와서 같은 주문이 두 번 처리돼. 재시도 간격을 30초로 늘려봤는데 소용없었어. "
    "원인을 찾아서 결제/웹훅.py 를 고쳐 줘. 정산에는 손대지 마."
)
COUPON = (
    "쿠폰은 주문당 하나만 받고, 반올림은 정수 센트로 하자. 장바구니 화면이 왜 늦는지도 찾아봐 줘. "
    "어제부터 상품이 스무 개를 넘으면 열리는 데 삼 초가 걸린다고 해."
)
QUOTE = "10초 안에 200을 받지 못하면 다시 보냅니다"
FIRST = [{"kind": "decision", "text": RULE, "quote": QUOTE, "turn": 1, "files": ["결제/웹훅.py"]}]
NEWER = [
    {"kind": "decision", "text": "쿠폰은 주문당 하나만 받는다.", "quote": "쿠폰은 주문당 하나만 받고", "turn": 1},
    {"kind": "fact", "text": "반올림은 정수 센트로 한다.", "quote": "반올림은 정수 센트로 하자", "turn": 1},
]


def test_changed_file(claude: Claude) -> None:
    """A note names a file: it is told at the file's first change."""
    file = claude.project / "결제" / "웹훅.py"
    file.parent.mkdir()

    def script(request: Request) -> Answer:
        if is_reading(request):
            notes = NEWER if "장바구니 화면이" in request.text else FIRST
            return Answer(text=json.dumps({"summary": "", "notes": notes, "tasks": [], "drop": []}))
        if not request.is_turn or request.has_tool_result:
            return Answer(text=FOUND)
        return Answer(tool_uses=(("Write", {"file_path": str(file), "content": "def handle():\n    return 200\n"}),))

    def run(prompt: str) -> Run:
        file.unlink(missing_ok=True)  # the host writes over no file that it has not read
        done = claude.run(["-p", "--plugin-dir", str(claude.plugin), "--allowedTools", "Write"], stdin=prompt)
        assert done.returncode == 0, done.stderr
        claude.settle()
        return done

    def noted(text: str) -> bool:
        return settle(lambda: text in str(claude.memlayer("list", "--category", "core")["memories"]))

    claude.api.script = script
    claude.extra_environ["PATH"] = with_host(claude)
    claude.memlayer_home.mkdir(mode=0o700)
    settings = "embedding: {provider: none}\nmoments: {changed_files: true}\n"
    (claude.memlayer_home / "config.yaml").write_text(settings)
    claude.memlayer("notes", "on", "--provider", "claude-cli", "--yes")
    run(WEBHOOK)
    assert noted(RULE), claude.memlayer("notes", "status")
    run(COUPON)
    assert noted(str(NEWER[1]["text"])), claude.memlayer("notes", "status")
    third = run("로그인 단추를 파란색으로 바꿔 줘")
    assert RULE not in third.turns[0].text  # its first prompt points to nothing of it
    assert third.turns[1].text.count(RULE) == 1 and "PostToolUse" in third.turns[1].text
    assert claude.hook_failures() == []
