"""A conversation that goes on behind an earlier answer, as `/rewind` has it, with the real host."""

import json
import uuid
from pathlib import Path

import pytest

from tests.support.host.claude_run import Claude

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

IN_APPLICATION = {"CLAUDE_CODE_ENTRYPOINT": "claude-desktop"}  # a person types there
FRIDAY = "이제부터 배포는 금요일에 하지 마"


def rules(claude: Claude) -> list[str]:
    claude.settle()
    return [row["text"] for row in claude.memlayer("list", "core")["memories"]]


def first_answer(transcript: Path) -> str:
    """Return the uuid of its record."""
    lines = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    return next(str(line["uuid"]) for line in lines if line["type"] == "assistant")


def test_rule_of_a_left_turn_ends(claude: Claude) -> None:
    session = str(uuid.uuid4())
    claude("안녕", session=session, environ=IN_APPLICATION)
    claude(FRIDAY, resume=session, environ=IN_APPLICATION)
    assert rules(claude) == [FRIDAY]
    claude("테스트를 돌려줘", resume=session, is_fork=True, environ=IN_APPLICATION)
    assert rules(claude) == [FRIDAY]  # a fork goes on in a transcript of its own
    [transcript] = [path for path in claude.transcripts() if path.stem == session]
    back = ["-p", "--plugin-dir", str(claude.plugin), "--resume", session]
    back += ["--resume-session-at", first_answer(transcript)]
    done = claude.run(back, stdin="테스트를 돌려줘", environ=IN_APPLICATION)
    assert done.returncode == 0, done.stderr
    assert rules(claude) == []
    assert claude.hook_failures() == []
