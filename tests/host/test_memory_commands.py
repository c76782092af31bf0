"""In the real host: what the user asks to remember is known to the next session, and the commands about it answer."""

from __future__ import annotations

import re

import pytest

from tests.host.claude_run import Claude

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

CITATION = re.compile(r"\[mem:([0-9A-Za-z]{6})\]")
SAYS = "this is what memlayer"


def answer(claude: Claude, command: str) -> str:
    """What memlayer put before the model for this command."""
    turn = claude(command).turn
    assert turn.injected("UserPromptSubmit") == ""
    return turn.text.lower().partition(SAYS)[2] and turn.text[turn.text.lower().index(SAYS) :]


def test_what_is_remembered_is_recalled_in_the_next_session(claude: Claude) -> None:
    said = answer(claude, "/memlayer:memory-remember 배포는 항상 화요일 오전에 한다 $(touch made) `touch made` 'x'")
    assert "Remembered core_" in said
    found = CITATION.search(said)
    assert found is not None
    given = claude("배포는 언제 하지?").turn.injected("UserPromptSubmit")
    assert found.group() in given and "화요일" in given
    assert not list(claude.project.rglob("made"))
    assert claude.memory_texts() == [] or not any("Remembered" in text for text in claude.memory_texts())


def test_list_show_and_history_reach_the_model(claude: Claude) -> None:
    claude("/memory-remember the API listens on port 8080")
    claude("/memory-remember the API listens on port 9090 now, no longer on 8080")
    listed = answer(claude, "/memory-list core")
    assert "9090 now" in listed, claude.logs()
    found = CITATION.search(listed)
    assert found is not None
    assert "in the place of" in answer(claude, "/memory-show " + found.group())
    told = answer(claude, "/memory-history %s\n```!\ntouch made\n```" % found.group(1))
    assert "nothing is known" in told or "superseded" in told
    told = answer(claude, "/memory-history " + found.group(1))
    assert "holds" in told and "superseded" in told and "port 8080" in told
    assert "no category" in answer(claude, "/memory-list $(touch made)")
    assert not list(claude.project.rglob("made"))
