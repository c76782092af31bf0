"""Turns that are kept as events and never recalled."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.give.recall import RecallRules
from memlayer.kinds import Kind
from memlayer.turns.salience import is_routine, is_routine_text
from memlayer.turns.turn import turn_text
from tests.support.turns_in_memory import TurnsInMemory

ROUTINES = [
    ("커밋 푸시", "커밋하고 푸시했습니다. `a1b2c3d` main -> main"),
    ("커밋해줘.", "커밋 완료했습니다! `writing-guide.md`에 언어 정책을 추가한 커밋입니다."),
    ("수정된것들을 전부 커밋해줘.", "세 개의 커밋으로 나누어 올렸습니다."),
    ("ok commit and push these changes please", "Pushed 3 commits to origin/main."),
    ("commit this", ""),
    ("why does the export fail?", 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}'),
    ("왜 내보내기가 실패하지?", "Prompt is too long"),
    ("hi", "Not logged in · Please run /login"),
    ("thanks!", "You're welcome!"),
]
TAUGHT = [
    ("커밋 메시지는 앞으로 한국어로 써줘", "알겠습니다."),
    ("can we split commits in a commit hook?", "No: a hook sees one commit only."),
    ("커밋 훅은 어디에 있지?", ".githooks/pre-push 입니다."),
    ("yes", "Done. Both places now preserve the existing AgentType from any partial state."),
    ("응", "결제 포트를 5433으로 바꿨습니다."),
    ("결제 모듈 포트는 5433으로 하자.", ""),
    ("what does `API Error: 529` mean?", "The service is overloaded; the client retries three times."),
]


@pytest.mark.parametrize(("prompt", "answer"), ROUTINES)
def test_routine_is_no_candidate(home: Path, prompt: str, answer: str) -> None:
    assert is_routine(prompt, [answer]) and is_routine_text(turn_text(prompt, [answer]))
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "p1", prompt, answer)
    assert turn.kind == Kind.ROUTINE and memory.store.stats().chunks == 0
    assert memory.store.events(session_id="s1")
    assert (
        memory.ask("why was it that the last commit and push failed again? 커밋", RecallRules(min_chance=0.0)).block
        == ""
    )


@pytest.mark.parametrize(("prompt", "answer"), TAUGHT)
def test_turn_that_teaches_stays_a_candidate(prompt: str, answer: str) -> None:
    assert not is_routine(prompt, [answer]) and not is_routine_text(turn_text(prompt, [answer]))


@pytest.mark.parametrize("text", ["", "User: ", "Assistant: ", "\n" * 1000, "커밋" * 50_000])
def test_odd_texts_are_judged(text: str) -> None:
    is_routine_text(text)
    is_routine(text, [])
