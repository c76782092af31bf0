"""Events of a transcript that hooks missed, and copies of another session."""

import json
import time
from pathlib import Path

import pytest

from memlayer.model import replace, turn_memory_id
from memlayer.ports import MemoryQuery
from memlayer.records.sessions import Session
from memlayer.transcripts import catch_up, reader
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

RECORDED = Path(__file__).parents[2] / "fixtures" / "host"
VERSIONS = ["2.1.197", "2.1.330"]
KEY = "AKIA" + "QZ3EGTV7MNB2LPX5"


class Memory(TurnsInMemory):
    """A home that takes in a transcript."""

    def catch_up(self, session: Session) -> list[tuple[str, str]]:
        """Take in missed events; return (kind, text) of each."""
        events, session.caught_up_bytes = catch_up.missed(session, self.store)
        self.ingest.take(events)
        return [(str(event["kind"]), str(event["text"])) for event in events]


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def stamp(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms / 1000)) + ".%03dZ" % (at_ms % 1000)


def record(kind: str, text: str, at_ms: int, prompt_id: str = "", session: str = "s1") -> str:
    """A line of a transcript, in the recorded shape."""
    made = {
        "type": kind, "uuid": "%s-%d" % (kind, at_ms), "timestamp": stamp(at_ms), "sessionId": session,
        "cwd": PROJECT, "isSidechain": False,
        "message": {"role": kind, "id": "m-%d" % at_ms, "content": [{"type": "text", "text": text}]},
    }  # fmt: skip
    if kind == "user":
        made["promptId"] = prompt_id
    return json.dumps(made, ensure_ascii=False) + "\n"


def turn(number: int, session: str = "s1", prompt_id: str = "") -> str:
    at_ms = T0_MS + 1000 * number
    asked = record("user", "질문 %d" % number, at_ms, prompt_id or "p%d" % number, session)
    return asked + record("assistant", "answer %d" % number, at_ms + 500, session=session)


def session_of(path: Path, *, id: str = "s1", since_ms: int = 0) -> Session:
    return Session(
        id=id, project_id="p", project_dir=PROJECT, transcript_path=str(path), since_ms=since_ms,
        context_since_ms=since_ms,
    )  # fmt: skip


def test_a_session_without_a_transcript_missed_nothing(memory: Memory, tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "none.jsonl"), str(tmp_path)):
        session = Session(id="s1", transcript_path=path, caught_up_bytes=7)
        assert catch_up.missed(session, memory.store) == ([], 7)
        assert catch_up.inherited(session, memory.store) == []


def test_hooked_turns_are_not_imported(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1) + turn(2))
    memory.hook("user_prompt_submit", "s1", "p1", 1000, prompt="질문 1")
    memory.hook("stop", "s1", "p1", 1600, last_assistant_message="answer 1")
    memory.hook("user_prompt_submit", "s1", "p2", 2000, prompt="질문 2")
    assert memory.catch_up(session_of(path)) == [("assistant", "answer 2")]
    assert memory.catch_up(session_of(path)) == []
    [last] = memory.store.memories(MemoryQuery(limit=1))
    assert last.text == "User: 질문 2\nAssistant: answer 2"


def test_late_hook_answer_is_one_event(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1))
    memory.catch_up(session_of(path))
    memory.hook("stop", "s1", "p1", 1600, last_assistant_message="answer 1")
    assert [event.text for event in memory.store.events()] == ["질문 1", "answer 1"]


def test_half_read_answer_is_completed(memory: Memory, tmp_path: Path) -> None:
    """A second session starts while the model works, then Esc ends the turn: no Stop ever tells the answer."""
    path = tmp_path / "t.jsonl"
    session = session_of(path)
    path.write_text(record("user", "왜 멈춰?", T0_MS + 1000, "p1") + record("assistant", "Let me look.", T0_MS + 1100))
    assert [text for _, text in memory.catch_up(session)] == ["왜 멈춰?", "Let me look."]
    with path.open("a") as file:
        file.write(record("assistant", "워커가 QUARTZ 락을 잡고 있다.", T0_MS + 1200))
    lacking, _ = catch_up.missed(session, memory.store)
    assert [event["text"] for event in lacking] == ["워커가 QUARTZ 락을 잡고 있다."]
    with path.open("a") as file:
        file.write(record("assistant", "The worker waits for redis.", T0_MS + 1300))
    assert memory.catch_up(session) == [("assistant", "The worker waits for redis.")]
    [last] = memory.store.memories()
    assert last.text == "User: 왜 멈춰?\nAssistant: The worker waits for redis."
    assert len(last.source_ids) == 3  # the partial answers are forgotten with the turn
    assert memory.catch_up(session) == []
    assert catch_up.missed(session_of(path), memory.store)[0] == []


def test_grown_answer_is_kept_once(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    session = session_of(path)
    path.write_text(record("user", "질문", T0_MS + 1000, "p1") + record("assistant", "첫 문단.", T0_MS + 1100))
    memory.catch_up(session)
    second = json.loads(record("assistant", "둘째 문단.", T0_MS + 1200))
    second["message"]["id"] = "m-%d" % (T0_MS + 1100)  # the same message of the API
    with path.open("a") as file:
        file.write(json.dumps(second) + "\n")
    memory.catch_up(session)
    memory.hook("stop", "s1", "p1", 1300, last_assistant_message="첫 문단.\n둘째 문단.")
    [last] = memory.store.memories()
    assert last.text == "User: 질문\nAssistant: 첫 문단.\n둘째 문단."
    assert catch_up.missed(session_of(path), memory.store)[0] == []


def test_a_turn_that_went_on_is_consolidated_anew(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1))
    session = session_of(path)
    memory.catch_up(session)
    memory.store.put_memories([replace(one, rules=1) for one in memory.store.memories()])
    with path.open("a") as file:
        file.write(record("assistant", "We use port 7711.", T0_MS + 1900))
    memory.catch_up(session)
    assert [one.rules for one in memory.store.memories()] == [0]


def test_hooked_answer_is_not_read_again(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    session = session_of(path)
    path.write_text(record("user", "질문", T0_MS + 1000, "p1") + record("assistant", "Let me look.", T0_MS + 1100))
    memory.catch_up(session)
    memory.hook("stop", "s1", "p1", 1300, last_assistant_message="답: 7711")
    with path.open("a") as file:
        file.write(record("assistant", "답:  7711", T0_MS + 1200))  # the host joins blocks in another way
    assert memory.catch_up(session) == []


def test_own_command_answer_stays_empty(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    session = session_of(path)
    path.write_text(
        record("user", "<command-name>/memlayer:memory-search</command-name>", T0_MS, "p1")
        + record("assistant", "Let me search.", T0_MS + 100)
    )
    memory.catch_up(session)
    with path.open("a") as file:
        file.write(record("assistant", "a memory, word by word", T0_MS + 200))
    assert memory.catch_up(session) == []
    assert [event.text for event in memory.store.events()] == [""]


def test_an_event_tells_where_it_comes_from(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1))
    [asked, answered], _ = catch_up.missed(session_of(path), memory.store)
    assert (asked["source"], asked["uuid"], asked["at_ms"]) == ("transcript", "user-%d" % (T0_MS + 1000), T0_MS + 1000)
    assert (asked["project_dir"], asked["transcript_path"]) == (PROJECT, str(path))
    assert asked["prompt_id"] == answered["prompt_id"] == "p1"


def test_caught_up_text_is_redacted(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    said = ["열쇠는 %s 야" % KEY, "<private>둘만의 비밀</private>", "[Memory context]\n- turn_1: 남의 말 [mem:a7Bc3x]"]
    path.write_text("".join(record("user", text, T0_MS + n, "p%d" % n) for n, text in enumerate(said)))
    events, _ = catch_up.missed(session_of(path), memory.store)
    raw = json.dumps(events, ensure_ascii=False)
    assert "열쇠는" in raw
    assert not [text for text in (KEY, "둘만의", "남의 말") if text in raw]


def test_own_command_answer_is_no_memory(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    commands = ["<command-name>/%s</command-name>" % name for name in ("memlayer:memory-search", "review")]
    path.write_text(
        "".join(
            record("user", text, T0_MS + n, "p%d" % n) + record("assistant", "answer %d" % n, T0_MS + 100 + n)
            for n, text in enumerate(commands)
        )
    )
    memory.catch_up(session_of(path))
    assert [one.text for one in memory.store.memories()] == ["Assistant: answer 1"]


def test_next_read_starts_at_last_turn(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1) + record("user", "질문 2", T0_MS + 2000, "p2"))
    session = session_of(path)
    assert len(memory.catch_up(session)) == 3
    assert session.caught_up_bytes == len(turn(1).encode())
    with path.open("a") as file:
        file.write(record("assistant", "answer 2", T0_MS + 2500) + turn(3)[:40])  # and a torn line
    assert memory.catch_up(session) == [("assistant", "answer 2")]
    with path.open("a") as file:
        file.write(turn(3)[40:])
    assert memory.catch_up(session) == [("user", "질문 3"), ("assistant", "answer 3")]
    assert session.caught_up_bytes == len((turn(1) + turn(2)).encode())


def test_shortened_transcript_is_read_again(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1))
    session = session_of(path)
    session.caught_up_bytes = 1_000_000
    assert len(memory.catch_up(session)) == 2


def test_records_before_the_session_are_skipped(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(turn(1) + turn(2))
    assert memory.catch_up(session_of(path, since_ms=T0_MS + 2000)) == [("user", "질문 2"), ("assistant", "answer 2")]


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_killed_turn_is_found(memory: Memory, version: str) -> None:
    for name, said in (
        ("transcript_killed_then_resumed_", ["HANG please", "AFTER kill resume", "answer 6"]),
        ("transcript_interrupted_", ["HANG sigint"]),
    ):
        session = session_of(RECORDED / ("%s%s.jsonl" % (name, version)), id=name)
        assert [text for _, text in memory.catch_up(session)] == said


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_fork_inherits_its_parents_turns(memory: Memory, version: str) -> None:
    parent = session_of(RECORDED / ("transcript_resumed_%s.jsonl" % version), id="parent")
    path = RECORDED / ("transcript_forked_then_continued_%s.jsonl" % version)
    first_own = next(one for one in reader.read_turns(str(path)) if one.text == "third by fork")
    memory.catch_up(parent)
    parents = {memory.id for memory in memory.store.memories()}
    project_id = memory.store.events()[0].project_id
    fork = session_of(path, id="fork", since_ms=first_own.at_ms)
    fork.project_id = project_id
    assert set(catch_up.inherited(fork, memory.store)) == parents and len(parents) == 2
    assert [text for _, text in memory.catch_up(fork)] == [
        "third by fork", "answer 3", "fourth by continue", "answer 4",
    ]  # fmt: skip
    # Its own turns are its context anyway; only another session's are inherited.
    assert set(catch_up.inherited(fork, memory.store)) == parents
    # Host 2.1.330 gives the copies the prompt id of the first new turn: they are still no part of that turn.
    [third] = [one for one in memory.store.memories() if "third by fork" in one.text]
    assert third.text == "User: third by fork\nAssistant: answer 3"


def test_copies_are_known_by_text(memory: Memory, tmp_path: Path) -> None:
    parent, fork = tmp_path / "parent.jsonl", tmp_path / "fork.jsonl"
    parent.write_text(turn(1) + turn(2) + turn(3))
    memory.catch_up(session_of(parent, id="parent"))
    fork.write_text(turn(1, "fork", "rewritten") + turn(2, "fork", "rewritten") + turn(9, "fork", "rewritten"))
    session = session_of(fork, id="fork", since_ms=T0_MS + 9000)
    session.project_id = memory.store.events()[0].project_id
    assert catch_up.inherited(session, memory.store) == sorted(turn_memory_id("parent", one) for one in ("p1", "p2"))
    session.project_id = "another project"
    assert catch_up.inherited(session, memory.store) == []


def test_turns_before_compaction_are_not_inherited(memory: Memory, tmp_path: Path) -> None:
    parent, fork = tmp_path / "parent.jsonl", tmp_path / "fork.jsonl"
    parent.write_text(turn(1) + turn(2))
    memory.catch_up(session_of(parent, id="parent"))
    compaction = {
        "type": "system", "subtype": "compact_boundary", "uuid": "c", "timestamp": stamp(T0_MS + 1900),
        "sessionId": "fork", "compactMetadata": {"trigger": "manual"},
    }  # fmt: skip
    fork.write_text(turn(1, "fork") + json.dumps(compaction) + "\n" + turn(2, "fork") + turn(9, "fork"))
    session = session_of(fork, id="fork", since_ms=T0_MS + 9000)
    session.project_id = memory.store.events()[0].project_id
    assert catch_up.inherited(session, memory.store) == [turn_memory_id("parent", "p2")]
