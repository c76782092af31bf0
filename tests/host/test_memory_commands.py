"""The memory commands in the real host.

The next session knows a remembered statement, and the commands about it answer. The words of a command come from the
UserPromptExpansion hook, which this host must run before the command.
"""

import re
import uuid

import pytest

from tests.support.host.claude_run import Claude
from tests.unit.edge.test_commands import HARD

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

CITATION = re.compile(r"\[mem:([0-9A-Za-z]{6})\]")
OUTPUT = "Output of memlayer"


def answer(claude: Claude, command: str) -> str:
    """Return memlayer's output in the prompt of this command.

    The model gets this prompt.
    """
    turn = claude(command).turn
    assert turn.injected("UserPromptSubmit") == ""
    return turn.text.partition(OUTPUT)[2]


def test_remembered_words_recalled_next_session(claude: Claude) -> None:
    said = answer(claude, "/memlayer:memory-remember 배포는 항상 화요일 오전에 한다 $(touch made) `touch made` 'x'")
    assert "Remembered core_" in said
    found = CITATION.search(said)
    assert found is not None
    turn = claude("배포는 언제 하지?").turn
    start = turn.injected("SessionStart")  # a rule: it stands in every start, and no prompt repeats it
    assert found.group() in start and "화요일" in start
    assert "화요일" not in turn.injected("UserPromptSubmit")
    assert not list(claude.project.rglob("made"))
    assert claude.memory_texts() == [] or not any("Remembered" in text for text in claude.memory_texts())


def test_list_show_history_reach_model(claude: Claude) -> None:
    claude("/memory-remember the API listens on port 8080")
    claude("/memory-remember the API listens on port 9090 now, no longer on 8080")
    listed = answer(claude, "/memory-list core")
    assert "9090 now" in listed, claude.logs()
    found = CITATION.search(listed)
    assert found is not None
    assert "Replaces" in answer(claude, "/memory-show " + found.group())
    told = answer(claude, "/memory-history %s\n```!\ntouch made\n```" % found.group(1))
    assert "One memory at a time" in told
    told = answer(claude, "/memory-history " + found.group(1))
    assert "current" in told and "replaced" in told and "port 8080" in told
    assert "is not one of" in answer(claude, "/memory-list $(touch made)")
    assert not list(claude.project.rglob("made"))


def test_words_are_remembered_whole(claude: Claude) -> None:
    for words in HARD.values():
        said = answer(claude, "/memlayer:memory-remember 규칙: " + words)
        assert "Remembered core_" in said or "Already known" in said, said
        found = CITATION.search(said)
        assert found is not None
        shown = claude.memlayer("show", found.group(1))["matches"]
        assert [one["memory"]["text"] for one in shown] == ["규칙: " + words.strip()]
    assert not list(claude.project.rglob("owned"))
    assert list((claude.memlayer_home / "typed").iterdir()) == []
    assert claude.hook_failures() == []


def test_words_are_searched_and_forgotten_whole(claude: Claude) -> None:
    claude("/memory-remember the archive of 내 문서 is at My\\ Documents ```tar xf zebra```")
    assert "zebra" in answer(claude, "/memory-search My\\ Documents ``` 내 문서")
    told = answer(claude, "/memory-forget ```tar xf zebra``` My\\ Documents")
    assert "Nothing is forgotten yet" in told and "zebra" in told
    found = CITATION.search(told)
    assert found is not None
    assert "Forgotten: " in answer(claude, "/memory-forget " + found.group(1))
    assert "zebra" not in answer(claude, "/memory-list core").partition("ARGUMENTS")[0]


def test_missing_words_are_reported(claude: Claude) -> None:
    settings = claude.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    turns = claude("/memlayer:memory-remember 훅이 없으면 사라지는 말").turns
    assert all("did not arrive, and nothing was done" in turn.text for turn in turns)
    assert turns and not list(claude.memlayer_home.glob("spool/*"))


def test_commands_keep_their_words(claude: Claude) -> None:
    with claude.chat() as chat:
        for words in ("첫째 규칙은 ``` 하나", "둘째 규칙은 \\ 둘"):
            turn = chat.say("/memory-remember " + words)[-1]
            assert "Remembered core_" in turn.text and words in turn.text


def test_given_notes_reach_the_user(claude: Claude) -> None:
    for words in ("배포는 항상 화요일 오전에 한다", "게이트웨이 포트는 7481이다"):
        claude("/memory-remember " + words)
    session, asked = str(uuid.uuid4()), "게이트웨이 포트가 뭐였지?"
    turn = claude(asked, session=session).turn
    assert "7481" in turn.injected("SessionStart") and "7481" not in turn.injected("UserPromptSubmit")
    told = claude("/memory-given", resume=session).turn.text
    assert asked in told and "7481" in told
    prompt, start = claude.memlayer("given", "--session", session)["prompts"]
    assert start["start"] == "startup"
    assert (prompt["prompt"], len(prompt["given"]), prompt["delivered"]) == (asked, 0, True)
