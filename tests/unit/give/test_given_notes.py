"""The record of given notes: bounded, private, whole after a crash, and without a word of text."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.config import load_what_holds
from memlayer.daemon.hook_call import Answer, noted
from memlayer.daemon.resources.state import HeldSettings, State
from memlayer.edge.capture import spool
from memlayer.edge.home import given_notes
from memlayer.give.given_notes import of_prompt, of_start, with_texts
from memlayer.give.recall import Gate, Recalled, RecallRules
from memlayer.kinds import Category, Kind
from memlayer.model import GLOBAL, replace
from memlayer.ports import Selection
from memlayer.records.metrics import Metrics
from memlayer.records.projects import Projects
from memlayer.records.sessions import Session, Sessions
from memlayer.text.context_block import Budget
from tests.support.memory_store import MemoryStore
from tests.support.store_rows import make_memory
from tests.support.turns_in_memory import T0_MS, TurnsInMemory

ASKED = "캐시 만료 몇 초였지?"


def event(session: str = "s9", at_ms: int = T0_MS, **more: str) -> dict[str, Any]:
    return {
        "v": 1, "id": "e" * 32, "kind": "user", "session_id": session, "prompt_id": "p1", "text": ASKED,
        "at_ms": at_ms, "detail": "", "source": "hook", "uuid": "", "project_dir": "", "transcript_path": "", **more,
    }  # fmt: skip


def entry(number: int, session: str = "s1") -> dict[str, Any]:
    return {"at_ms": number, "session_id": session, "project_id": "p", "event_id": "e%d" % number, "given": []}


@pytest.fixture(autouse=True)
def made(home: Path) -> None:
    home.mkdir(mode=0o700, exist_ok=True)


@pytest.fixture
def recalled(home: Path) -> tuple[TurnsInMemory, Recalled]:
    memory = TurnsInMemory(home)
    memory.turn("s1", "p1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다.")
    memory.turn("s2", "p1", "점심 메뉴를 정해줘", "점심은 비빔밥으로 적었습니다.", at=10)
    memory.turn("s3", "p1", "재고 캐시는 어디 있지?", "재고 캐시는 Redis에 둡니다.", at=20)
    return memory, memory.ask(ASKED, RecallRules(budget=Budget(max_entries=1), min_chance=0.0), Session(id="s9"))


def test_newest_entry_first(home: Path) -> None:
    for number in range(5):
        given_notes.put(str(home), entry(number, "s%d" % (number % 2)))
    assert [one["at_ms"] for one in given_notes.entries(str(home))] == [4, 3, 2, 1, 0]
    newest = given_notes.newest(str(home), "s1")
    assert newest is not None and newest["at_ms"] == 3
    assert given_notes.newest(str(home), "unknown") is None


def test_only_the_user_can_read_it(home: Path) -> None:
    os.umask(0o022)
    given_notes.put(str(home), entry(1))
    assert (home / given_notes.NAME).stat().st_mode & 0o777 == 0o600


def test_record_stays_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_notes, "MAX_BYTES", 2000)
    for number in range(200):
        given_notes.put(str(home), entry(number))
        assert (home / given_notes.NAME).stat().st_size <= 2000
    found = [one["at_ms"] for one in given_notes.entries(str(home))]
    assert found == list(range(199, 199 - len(found), -1)) and len(found) > 5
    assert (home / given_notes.NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "torn",
    [
        b'{"at_ms": 5, "session', b"\xff\xfe\x00", b"[1, 2]", b"null", b'{"at_ms": "5"}', b"[" * 100_000,
        b'{"at_ms": 5, "session_id": "s1", "project_id": "p", "event_id": "e", "given": [1]}',
        b'{"at_ms": 5, "session_id": "s1", "project_id": "p", "event_id": "e", "given": null}',
    ],
)  # fmt: skip
def test_torn_line_costs_itself_only(home: Path, torn: bytes) -> None:
    given_notes.put(str(home), entry(1))
    with open(home / given_notes.NAME, "ab") as file:
        file.write(torn)
    given_notes.put(str(home), entry(2))
    assert [one["at_ms"] for one in given_notes.entries(str(home))] == [2, 1]


def test_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text('{"at_ms": 1}\n')
    (home / given_notes.NAME).symlink_to(elsewhere)
    with pytest.raises(OSError):
        given_notes.put(str(home), entry(1))
    assert given_notes.entries(str(home)) == [] and elsewhere.read_text() == '{"at_ms": 1}\n'


def test_pipe_is_not_waited_for(home: Path) -> None:
    os.mkfifo(home / given_notes.NAME)
    assert given_notes.entries(str(home)) == []


def test_entry_holds_no_text(home: Path, recalled: tuple[TurnsInMemory, Recalled]) -> None:
    _, found = recalled
    assert found.entries and len(found.candidates) > len(found.entries)
    given_notes.put(str(home), of_prompt(event(), "p", found, is_delivered=True))
    given_notes.put(str(home), of_start(event(kind="session_start"), "p", found.block, {}, is_delivered=True))
    told = (home / given_notes.NAME).read_text("utf-8")
    for word in ("캐시", "만료", "45초", "점심", "Redis"):
        assert word not in told


def test_texts_are_looked_up(home: Path, recalled: tuple[TurnsInMemory, Recalled]) -> None:
    memory, found = recalled
    made = of_prompt(event(), "p", found, is_delivered=True)
    [shown] = with_texts([made], memory.store, str(home))
    assert shown.prompt is None
    texts = [note.memory.text for note in shown.given if note.memory is not None]
    assert ["45초" in text for text in texts] == [True] * len(found.entries)
    assert (shown.given[0].chance or 0) > 0
    assert all(note.reason for note in shown.left_out)
    spool.put(str(home), event())  # a prompt that waits for its answer
    assert with_texts([made], memory.store, str(home))[0].prompt == ASKED


def test_forgotten_note_shows_as_forgotten(home: Path, recalled: tuple[TurnsInMemory, Recalled]) -> None:
    memory, found = recalled
    made = [
        of_prompt(event(), "p", found, is_delivered=True),
        of_start(event(kind="session_start", detail="startup"), "p", found.block, {}, is_delivered=True),
    ]
    told = found.entries[0].chunk.memory_id
    assert all(one.given[0].memory for one in with_texts(made, memory.store, str(home)))
    memory.store.forget(Selection(memory_ids=(told,)))
    for one in with_texts(made, memory.store, str(home)):
        assert one.given[0].memory is None


@pytest.fixture
def state(home: Path) -> State:
    settings, _ = load_what_holds(str(home), {})
    return State(
        home=str(home), held=HeldSettings(str(home), settings),
        projects=Projects(str(home), lambda _: ""), sessions=Sessions(str(home)),
        metrics=Metrics(str(home)),
    )  # fmt: skip


class TestNoted:
    def test_delivered_note_counts_as_shown(self, state: State, recalled: tuple[TurnsInMemory, Recalled]) -> None:
        _, found = recalled
        session = state.sessions.heard(event(), "p")
        with noted(state, session, event(), Answer(found.block, recalled=found), time.monotonic() + 9):
            pass
        assert session.shown and session.explained_ms
        assert [one["delivered"] for one in given_notes.entries(state.home)] == [True]

    def test_late_note_was_not_shown(self, state: State, recalled: tuple[TurnsInMemory, Recalled]) -> None:
        _, found = recalled
        session = state.sessions.heard(event(), "p")
        with noted(state, session, event(), Answer(found.block, recalled=found), time.monotonic() - 1):
            pass
        assert (session.shown, session.explained_ms) == ([], 0)
        assert [one["delivered"] for one in given_notes.entries(state.home)] == [False]

    def test_host_that_left_saw_nothing(self, state: State, recalled: tuple[TurnsInMemory, Recalled]) -> None:
        _, found = recalled
        session = state.sessions.heard(event(), "p")
        with (
            pytest.raises(BrokenPipeError),
            noted(state, session, event(), Answer(found.block, recalled=found), time.monotonic() + 9),
        ):
            raise BrokenPipeError
        assert session.shown == []
        assert [one["delivered"] for one in given_notes.entries(state.home)] == [False]

    def test_slash_command_is_on_record(self, state: State) -> None:
        told = event(detail="command")
        session = state.sessions.heard(told, "p")
        with noted(state, session, told, Answer(), time.monotonic() + 9):
            pass
        assert [one["gate"] for one in given_notes.entries(state.home)] == ["a slash command"]

    @pytest.mark.parametrize("told", [event(detail="noise"), event(detail="own_command"), event(kind="assistant")])
    def test_unasked_events_leave_no_entry(self, state: State, told: dict[str, Any]) -> None:
        session = state.sessions.heard(told, "p")
        with noted(state, session, told, Answer(), time.monotonic() + 9):
            pass
        assert given_notes.entries(state.home) == []

    def test_full_disk_costs_the_record_only(self, state: State, home: Path) -> None:
        (home / given_notes.NAME).mkdir()
        session = state.sessions.heard(event(), "p")
        with noted(
            state, session, event(), Answer(recalled=Recalled("", "", Gate.NOTHING_ASKED)), time.monotonic() + 9
        ):
            pass


def test_each_line_of_a_start_says_why(home: Path) -> None:
    store = MemoryStore()
    rows: list[tuple[Category, Kind, dict[str, Any], str]] = [
        (Category.CORE, Kind.PREFERENCE, {}, "a rule or wish in force"),
        (Category.CORE, Kind.FACT, {"pinned": True}, "pinned"),
        (Category.CORE, Kind.DECISION, {"project_id": GLOBAL}, "holds in every project"),
        (Category.CORE, Kind.TASK, {}, "open work"),
        (Category.DAILY, Kind.SESSION_SUMMARY, {}, "a session of the last day, or the last one"),
        (Category.CONVERSATION, Kind.TURN, {}, "asked or said in an earlier session"),
    ]
    made = [
        replace(make_memory(number, "정산 테스트 %d" % number), category=category, kind=kind, **more)
        for number, (category, kind, more, _) in enumerate(rows)
    ]
    store.put_memories(made)
    block = "[Memory context]\n" + "\n".join("- [mem:%s] 2026-01-01: x" % row.citation for row in made)
    given_entry = of_start(event(kind="session_start", detail="startup"), "p1", block, {}, is_delivered=True)
    [shown] = with_texts([given_entry], store, str(home))
    assert [row.why for row in shown.given] == [why for *_, why in rows]
