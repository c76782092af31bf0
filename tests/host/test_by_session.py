"""The session's own model writes a note in the real host, once the person said yes, and the next start tells it."""

import json

import pytest

from memlayer.cli.verbs.curation.notes import TOOL
from memlayer.daemon.resources.notes_offer import BY_SESSION_LINE
from memlayer.give.listed_start import BY_MODEL
from tests.support.host.claude_run import AS_RUN, Claude, Run
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(400)]

PROMPT = "정산은 저녁에만 돌려줘, 낮에는 창고가 느려."
NOTE = {
    "text": "정산은 저녁에만 돌린다. 낮에는 창고가 느리다.", "headline": "User: 정산은 저녁에만, 낮에는 창고가 느림",
    "subject": "정산", "kind": "preference", "quote": "정산은 저녁에만 돌려줘",
}  # fmt: skip
ALLOWED = json.dumps({"permissions": {"allow": [TOOL]}})


def run(claude: Claude, prompt: str, *settings: str) -> Run:
    return claude.run(["-p", "--plugin-dir", str(claude.plugin), *settings], stdin=prompt)


@pytest.fixture
def writing(claude: Claude) -> Claude:
    """A person who said yes, and whose model follows the line at the start."""

    def script(request: Request) -> Answer:
        is_asked = request.is_turn and BY_SESSION_LINE in request.injected("SessionStart")
        return Answer(tool_uses=((TOOL, NOTE),)) if is_asked and not request.has_tool_result else Answer(text="네.")

    claude.api.script = script
    claude.memlayer_home.mkdir(mode=0o700)
    (claude.memlayer_home / "config.yaml").write_text("embedding: {provider: none}\n")
    claude.memlayer("notes", "on", "--by", "session", "--yes")
    return claude


def test_next_start_tells_what_the_sessions_model_wrote(writing: Claude) -> None:
    first = run(writing, PROMPT, "--settings", ALLOWED)
    said = first.turns[-1].last_user_text
    assert said.startswith("Remembered as [mem:"), (said, first.stdout)
    writing.settle()
    [note] = writing.memlayer("list", "core")["memories"]
    assert (note["text"], note["kind"], note["subject"]) == (NOTE["text"], "preference", "정산")
    assert not (writing.home / ".claude" / "settings.json").exists()
    start = run(writing, "안녕하세요").turns[0].injected("SessionStart")
    assert f"{BY_MODEL}\n- {NOTE['headline']} [mem:{note['citation']}]" in start and "Rules of the user" not in start
    assert writing.hook_failures() == []


def test_without_the_permission_nothing_is_written(writing: Claude) -> None:
    run(writing, PROMPT)
    writing.settle()
    assert writing.memlayer("list", "core")["memories"] == []


def test_run_that_nobody_typed_is_not_asked(writing: Claude) -> None:
    asked = writing(PROMPT, environ=AS_RUN)
    assert BY_SESSION_LINE not in asked.turn.text
    writing.settle()
    assert writing.memlayer("list", "core")["memories"] == []
