"""The real host shows the model a line before a call that failed in an earlier session, and behind its failure."""

import json

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

SETTLE = """case "$*" in
    *--as*) echo 정산 끝 ;;
    *) echo "오류: 샌드박스 상점 3 에 접속할 권한이 없습니다"; exit 1 ;;
esac
"""
FAILS, WORKS = "sh pay.sh 상점3 정산", "sh pay.sh 상점3 --as 관리자 정산"


def play(claude: Claude, *commands: str) -> list[str]:
    """Have the model make these calls, one an answer; return its requests as text."""
    left, seen = list(commands), []

    def script(request: Request) -> Answer:
        if not request.is_turn:
            return Answer(text="확인했습니다.")
        seen.append(json.dumps(request.body, ensure_ascii=False))
        if not left:
            return Answer(text="정산을 마쳤습니다.")
        return Answer(text="해 보겠습니다.", tool_uses=(("Bash", {"command": left.pop(0), "description": "settle"}),))

    claude.api.script = script
    arguments = ["-p", "--plugin-dir", str(claude.plugin), "--allowedTools", "Bash"]
    done = claude.run(arguments, stdin="상점3 정산을 돌려 줘")
    assert done.returncode == 0, done.stderr
    claude.settle()
    return seen


def test_same_mistake_in_a_later_session(claude: Claude) -> None:
    (claude.project / "pay.sh").write_text(SETTLE, encoding="utf-8")
    first = play(claude, FAILS, WORKS)
    assert not any("failed here on" in request for request in first)
    second = play(claude, "ls", FAILS, WORKS)
    assert "failed here on" not in second[1]  # behind `ls`
    told = second[2]
    assert "such a call failed here on" in told and "`%s` worked" % WORKS in told and "[mem:" in told
    assert second[3].count("such a call failed here on") == told.count("such a call failed here on")  # once
    assert claude.hook_failures() == []
