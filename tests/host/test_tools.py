"""Memories of the real host's tool calls.

Its own transcript of them brings nothing a second time.
"""

import re

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

ASKED = "배포 스크립트를 고쳐 줘"
ANSWERED = "배포 스크립트를 고쳤습니다."


def test_tool_calls_stored_once(claude: Claude) -> None:
    project = claude.project

    def script(request: Request) -> Answer:
        if not request.is_turn or request.has_tool_result:
            return Answer(text=ANSWERED)
        return Answer(
            text="먼저 해 보겠습니다.",
            tool_uses=(
                ("Read", {"file_path": str(project / "README.md")}),
                ("Bash", {"command": "echo 안녕 && ls", "description": "list"}),
                ("Write", {"file_path": str(project / "deploy.sh"), "content": "set -e\nmake\n"}),
                ("Bash", {"command": "ls no-such-folder", "description": "fails"}),
            ),
        )

    claude.api.script = script
    done = claude.run(
        ["-p", "--plugin-dir", str(claude.plugin), "--allowedTools", "Bash", "Write", "Read"], stdin=ASKED
    )
    assert done.returncode == 0, done.stderr
    assert ANSWERED in done.stdout
    claude.settle()
    [turn] = [one for one in claude.memlayer("list")["memories"] if one["category"] == "conversation"]
    [shown] = claude.memlayer("show", turn["id"])["matches"]
    tools = sorted(event["text"].split("\n")[0] for event in shown["events"] if event["kind"] == "tool")
    assert tools == ["Bash failed: ls no-such-folder", "Bash: echo 안녕 && ls", "Write: %s" % (project / "deploy.sh")]
    took = [event["text"].split("\n")[-1] for event in shown["events"] if event["kind"] == "tool"]
    assert all(re.fullmatch(r"took (\d+ ms|\d+\.\d s)", line) for line in took), took
    assert turn["text"] == "User: %s\nAssistant: %s" % (ASKED, ANSWERED)
    assert claude.hook_failures() == []

    counts = claude.memlayer("import")
    assert (counts["new"], counts["known"]) == (0, 2), counts
    assert counts["skipped"]["tool results"] == 4
    assert len(claude.memlayer("list")["memories"]) >= 1
