"""The words a session has said."""

from pathlib import Path
from typing import Any

import pytest

from memlayer.indexing.retracted import MAX_SESSIONS, LiveSessions
from memlayer.model import Event
from memlayer.text.terms import index_terms
from tests.support.memory_store import MemoryStore
from tests.support.turns_in_memory import TurnsInMemory


@pytest.fixture
def memory(home: Path) -> TurnsInMemory:
    return TurnsInMemory(home)


def test_prompts_and_answers_are_heard(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "결제 포트가 뭐지?", "The checkout port is 5433.")
    words = memory.live.of("s1")
    assert words.prompts == 1
    assert {"5433", "checkout", *index_terms("결제").split()} <= words.terms


def test_restart_asks_the_store(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "결제 포트가 뭐지?", "5433 입니다.")
    fresh = LiveSessions(memory.store)
    assert (fresh.of("s1").prompts, "5433" in fresh.of("s1").terms) == (1, True)
    assert fresh.of("another").prompts == 0


def test_small_talk_after_a_restart_hides_nothing(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "결제 포트가 뭐지?", "The checkout port is 5433.")
    fresh = LiveSessions(memory.store)
    fresh.heard({"session_id": "s1", "kind": "user", "detail": "", "text": "고마워, thanks"})
    assert "5433" in fresh.of("s1").terms and fresh.of("s1").prompts >= 1


def test_compaction_clears_the_words(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "결제 포트가 뭐지?", "5433 입니다.")
    assert memory.live.of("s1").terms
    memory.live.heard({"session_id": "s1", "kind": "session_start", "detail": "compact", "text": ""})
    assert (memory.live.of("s1").prompts, memory.live.of("s1").terms) == (1, set())


def test_forgetting_drops_everything(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "결제 포트가 뭐지?", "5433 입니다.")
    memory.live.clear()
    assert not memory.live._words


def test_sessions_are_bounded(memory: TurnsInMemory) -> None:
    for number in range(MAX_SESSIONS + 5):
        memory.live.heard({"session_id": "s%d" % number, "kind": "session_start", "detail": "startup", "text": ""})
    assert len(memory.live._words) == MAX_SESSIONS


class CountingStore(MemoryStore):
    """A store that counts the looks for events."""

    looks = 0

    def events(self, **wanted: Any) -> list[Event]:
        self.looks += 1
        return super().events(**wanted)


def test_session_that_no_record_knows_is_not_looked_for() -> None:
    store = CountingStore()
    live = LiveSessions(store)
    live.begin("새 세션")
    live.heard({"session_id": "새 세션", "kind": "user", "detail": "", "text": "결제 포트가 뭐지?"})
    words = live.of("새 세션")
    assert (words.prompts, bool(words.terms), store.looks) == (1, True, 0)


def test_session_that_goes_on_keeps_its_words_and_is_looked_for_once(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "결제 포트가 뭐지?", "5433 입니다.")
    store = CountingStore()
    store.add_events(memory.store.events(session_id="s1"))
    live = LiveSessions(store)
    assert live.of("s1").prompts == live.of("s1").prompts == 1 and "5433" in live.of("s1").terms
    live.begin("s1")
    assert live.of("s1").prompts == 1 and store.looks == 1
