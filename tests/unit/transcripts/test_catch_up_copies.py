"""Transcript records with other ids than the store's: a fork's copies, old hosts."""

from pathlib import Path

import pytest

from memlayer.records.sessions import Session
from memlayer.transcripts import catch_up
from tests.support.transcripts import record
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

AHEAD_MS = 3_600_000


@pytest.fixture
def memory(home: Path) -> TurnsInMemory:
    return TurnsInMemory(home)


def said(kind: str, text: str, at_ms: int, session: str, prompt_id: str = "") -> str:
    more = {"promptId": prompt_id} if prompt_id else {}
    return record(kind, text, T0_MS + at_ms, session=session, cwd=PROJECT, **more)


def fork_of(memory: TurnsInMemory, path: Path, last_ms: int) -> Session:
    return Session(
        id="fork", project_id=memory.projects.resolve(PROJECT)[0], project_dir=PROJECT, transcript_path=str(path),
        since_ms=T0_MS, last_ms=T0_MS + last_ms,
    )  # fmt: skip


@pytest.mark.parametrize("has_own_turn", [True, False])
def test_fork_after_clock_change_stores_once(memory: TurnsInMemory, tmp_path: Path, has_own_turn: bool) -> None:
    memory.turn("parent", "p1", "화강암은 어디에?", "In the shed.\n\n창고에.", at=AHEAD_MS)
    path = tmp_path / "fork.jsonl"
    copies = said("user", "화강암은 어디에?", AHEAD_MS + 2, "fork", "q1")
    copies += said("assistant", "In the shed.\n창고에.", AHEAD_MS + 3, "fork")
    own = said("user", "그리고 대리석은?", 50, "fork", "q2") + said("assistant", "There, too.", 60, "fork")
    path.write_text(copies + (own if has_own_turn else ""))
    lacking, _ = catch_up.missed(fork_of(memory, path, 50 if has_own_turn else 10), memory.store)
    assert [event["text"] for event in lacking] == (["그리고 대리석은?", "There, too."] if has_own_turn else [])


def test_a_copy_is_known_by_its_record_too(memory: TurnsInMemory, tmp_path: Path) -> None:
    parent, fork = tmp_path / "parent.jsonl", tmp_path / "fork.jsonl"
    line = said("user", "화강암은 어디에?", AHEAD_MS, "parent", "p1")
    parent.write_text(line)
    session = Session(id="parent", project_dir=PROJECT, transcript_path=str(parent))
    memory.ingest.take(catch_up.missed(session, memory.store)[0])
    fork.write_text(line.replace("p1", "q1").replace("어디에?", "어디에 있어?"))  # as another redaction left it
    assert catch_up.missed(fork_of(memory, fork, 10), memory.store)[0] == []


def test_same_words_at_two_times_stay(memory: TurnsInMemory, tmp_path: Path) -> None:
    """The session itself lived through the change of the clock, and says "계속해" as the other did."""
    memory.turn("other", "p1", "계속해", at=0)
    path = tmp_path / "fork.jsonl"
    path.write_text(said("user", "계속해", AHEAD_MS, "fork", "q1") + said("user", "stop it", 50, "fork", "q2"))
    lacking, _ = catch_up.missed(fork_of(memory, path, 50), memory.store)
    assert [event["text"] for event in lacking] == ["계속해", "stop it"]


def test_old_host_turns_are_kept_once(memory: TurnsInMemory, tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text(
        "".join(
            said("user", "질문 %d" % number, 1000 * at, "s1")
            + said("assistant", "answer %d" % number, 1000 * at + 500, "s1")
            for at, number in enumerate((1, 2, 2, 3))  # the same words twice are one event to such a host's hooks
        )
    )
    session = Session(id="s1", project_dir=PROJECT, transcript_path=str(path))
    for number in (1, 2):
        memory.hook("user_prompt_submit", "s1", "", 1000 * number, prompt="질문 %d" % number)
        memory.hook("stop", "s1", "", 1000 * number + 600, last_assistant_message="answer %d" % number)
    lacking, _ = catch_up.missed(session, memory.store)
    assert [event["text"] for event in lacking] == ["질문 3", "answer 3"]
    memory.ingest.take(lacking)
    assert catch_up.missed(session, memory.store)[0] == []
