"""The real host's own task lists, in memlayer and in the next session."""

import json

import pytest

from tests.support.host.claude_run import Claude, Run
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

FIRST, SECOND, THIRD = "정산 반올림 고치기", "로그인 테스트 추가", "Write the migration guide"
Calls = tuple[tuple[str, dict[str, object]], ...]


def made(title: str) -> tuple[str, dict[str, object]]:
    return ("TaskCreate", {"subject": title, "description": "가게", "activeForm": title})


def session(claude: Claude, *rounds: Calls) -> Run:
    """Run a session in which the model makes these rounds of calls."""
    waiting = list(rounds)

    def script(request: Request) -> Answer:
        if not request.is_turn or not waiting:
            return Answer(text="정리했습니다.")
        return Answer(tool_uses=waiting.pop(0))

    claude.api.script = script
    tools = "TaskCreate,TaskUpdate,TaskList"
    done = claude.run(
        ["-p", "--plugin-dir", str(claude.plugin), "--allowedTools", tools], stdin="가게에서 할 일을 정리해 줘"
    )
    assert done.returncode == 0, done.stderr
    claude.settle()
    return done


def listed(claude: Claude, *words: str) -> dict[str, str]:
    """Return title -> status."""
    rows = json.loads(claude.printed("task", "list", *words, "--json"))["tasks"]
    return {row["title"]: row["status"] for row in rows}


def test_tasks_of_the_model_are_listed_and_stand_in_the_next_start_27_6_27_12(claude: Claude) -> None:
    session(
        claude,
        (made(FIRST), made(SECOND), made(THIRD)),
        (
            ("TaskUpdate", {"taskId": "1", "status": "in_progress"}),
            ("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"]}),
            ("TaskUpdate", {"taskId": "3", "status": "in_progress"}),
        ),
        (("TaskUpdate", {"taskId": "3", "status": "completed"}),),
    )
    assert claude.hook_failures() == []
    assert listed(claude, "all") == {FIRST: "in_progress", SECOND: "blocked", THIRD: "done"}
    assert set(listed(claude)) == {FIRST, SECOND}
    assert listed(claude, "blocked") == {SECOND: "blocked"}
    assert "waits for " + FIRST in claude.printed("task", "list")
    started = session(claude).turns[0].text
    assert f"open: {FIRST}" in started and f"open: {SECOND}" in started
    assert THIRD not in started
