"""The line about a kept rule: the person sees it, the model does not."""

import json
import re

import pytest

from tests.support.host.claude_run import Claude

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

RULE = "main 에는 절대 직접 푸시하지 마"
KEEPS = "memlayer keeps: "


def test_kept_rule_is_shown_once_to_person_alone(claude: Claude) -> None:
    claude("hello there, what is in this folder?")  # starts the daemon
    claude.settle()
    before = len(claude.api.requests)
    with claude.chat() as chat:
        chat.say(RULE)
        claude.settle()
        chat.say("what does the README say?")
        chat.say("and who wrote it?")
    shown = [note for note in _notes(claude) if KEEPS in note["content"]]
    assert [note["type"] for note in shown] == ["hook_system_message"], shown
    found = re.fullmatch(re.escape(KEEPS + RULE) + r" \(undo: (/.+ ([0-9A-Za-z]{6}))\)", shown[0]["content"])
    assert found is not None, shown
    assert RULE in claude.printed("show", found[2])
    requests = claude.api.requests[before:]
    assert requests and not any(KEEPS in json.dumps(request.body, ensure_ascii=False) for request in requests)
    undone = claude(found[1]).turn.text.partition("Output of memlayer:")[2]
    assert "Dropped" in undone, undone
    assert found[2] not in claude.printed("list", "core")
    assert RULE in claude.printed("list", "conversation")
    claude("/memory-review undo")
    assert found[2] in claude.printed("list", "core")
    assert claude.hook_failures() == []


def _notes(claude: Claude) -> list[dict[str, str]]:
    """The host's records of lines that hooks showed to the person."""
    lines = [json.loads(line) for path in claude.transcripts() for line in path.read_text("utf-8").splitlines()]
    notes = [line["attachment"] for line in lines if line.get("type") == "attachment"]
    return [note for note in notes if note.get("type", "").startswith("hook_") and isinstance(note.get("content"), str)]
