"""Importing transcripts: each turn once, whoever stored it first, no generated text."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from memlayer.adapters.sqlite_files import ImportLog
from memlayer.edge.home import off_sessions
from memlayer.model import turn_memory_id
from memlayer.ports import DeletionPlan, MemoryQuery, Selection
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import importer
from memlayer.transcripts.importer import GOING_ON, OFF, Batch, Gathered
from tests.support.past import Past
from tests.support.transcripts import LONG_AGO_S, recorded, turn, write

CWD = "/home/dev/상점"
KEY = "AKIA" + "QZ3EGTV7MNB2LPX5"


@pytest.fixture
def past(home: Path) -> Past:
    home.mkdir()
    return Past(home)


def test_old_host_events_match_by_text(past: Past) -> None:
    lines = [turn(n, session="old", cwd=CWD).replace('"promptId"', '"x"') for n in (1, 2)]
    write(past.projects_folder, "old", "".join(lines), cwd=CWD)
    past.hook("user_prompt_submit", "old", "", 0, CWD, prompt="질문 1")
    past.hook("stop", "old", "", 1, CWD, last_assistant_message="대답 1: answer 1")
    past.end("old", CWD)
    counts = past.run()
    assert (counts.new, counts.known) == (2, 2)
    assert past.said == ["대답 1: answer 1", "대답 2: answer 2", "질문 1", "질문 2"]


def test_an_import_goes_on_where_it_was(past: Past) -> None:
    for number in range(3):
        text = "".join(turn(n, session="s%d" % number, cwd=CWD) for n in range(300))
        write(past.projects_folder, "s%d" % number, text, cwd=CWD, at_s=LONG_AGO_S + number)
    first = past.run(batches=4)  # 200 events each: in the middle of the second file
    assert 0 < first.new < 1800
    path = next(past.projects_folder.rglob("s2.jsonl"))
    assert past.log.offset(str(path), path.stat().st_size, path.stat().st_mtime_ns) == path.stat().st_size
    rest = past.run()
    assert (first.new + rest.new, rest.unchanged, len(past.turns)) == (1800, 1, 900)
    assert rest.known <= 2  # of the turn that it went on from
    again = past.run()
    assert (again.new, again.files, again.unchanged) == (0, 0, 3)


def test_a_transcript_that_grew_is_read_from_there(past: Past) -> None:
    path = write(past.projects_folder, "s", turn(1, session="s", cwd=CWD), cwd=CWD)
    past.run()
    with path.open("a") as file:
        file.write(turn(2, session="s", cwd=CWD))
    os.utime(path, (LONG_AGO_S + 99, LONG_AGO_S + 99))
    counts = past.run()
    assert (counts.new, counts.known, len(past.turns)) == (2, 2, 2)


def test_a_rehearsal_counts_the_same_and_changes_nothing(past: Past) -> None:
    recorded(past.projects_folder, "forked_then_continued", "2.1.330", at_s=LONG_AGO_S + 10)
    recorded(past.projects_folder, "resumed", "2.1.330")
    counts = past.run(rehearse=True)
    assert past.said == []
    real = past.run()
    assert (counts.new, counts.turns, counts.skipped) == (real.new, real.turns, real.skipped)


def test_imported_text_is_redacted(past: Past) -> None:
    said = [
        "열쇠는 %s 야" % KEY,
        "<private>둘만의 비밀</private> 그리고 다른 말",
        "[Memory context]\n- turn_1: 남의 말 [mem:a7Bc3x]",
    ]
    lines = [turn(n, session="s", cwd=CWD, prompt=text, answer=text) for n, text in enumerate(said)]
    write(past.projects_folder, "s", "".join(lines), cwd=CWD)
    past.run()
    raw = "\n".join(past.said + past.turns)
    assert "열쇠는" in raw
    assert not [text for text in (KEY, "둘만의", "남의 말") if text in raw]


def test_forgotten_turn_stays_forgotten(past: Past) -> None:
    write(past.projects_folder, "s", turn(1, session="s", cwd=CWD) + turn(2, session="s", cwd=CWD), cwd=CWD)
    past.run()
    [memory] = past.store.memories(MemoryQuery(ids=[turn_memory_id("s", "s-p1")]))
    past.store.forget(Selection(memory_ids=(memory.id,)))
    Tombstones(str(past.home)).add(memory.source_ids)
    past.log = ImportLog(past.home / "cache" / "anew.sqlite")
    counts = past.run()
    assert (counts.new, counts.skipped["forgotten prompts, answers and calls"]) == (0, 2)
    assert past.turns == ["User: 질문 2\nAssistant: 대답 2: answer 2"]


def test_turn_of_a_killed_import_is_remembered(past: Past) -> None:
    """Its events were stored, its memory was not."""
    write(past.projects_folder, "s", turn(1, session="s", cwd=CWD) + turn(2, session="s", cwd=CWD), cwd=CWD)
    past.run()
    kept = past.turns
    kept_events = past.store.events()
    for number in (1, 2):
        past.store.forget(DeletionPlan(memory_ids=(turn_memory_id("s", "s-p%d" % number),)))
    Tombstones(str(past.home)).add([turn_memory_id("s", "s-p2")])  # forgotten for good, unlike its sources
    past.log = ImportLog(past.home / "cache" / "anew.sqlite")
    counts = past.run()
    assert (counts.new, counts.known) == (0, 4)
    assert past.turns == kept[:1] == ["User: 질문 1\nAssistant: 대답 1: answer 1"]
    assert past.store.events() == kept_events


def test_running_turn_is_left_to_hooks(past: Past) -> None:
    write(past.projects_folder, "s", turn(1, session="s", cwd=CWD) + turn(2, session="s", cwd=CWD), cwd=CWD)
    past.hook("session_start", "s", "", 0, CWD, source="resume")
    counts = past.run()
    assert (counts.turns, counts.skipped[GOING_ON]) == (1, 1)
    assert not any("질문 2" in text for text in past.said)
    past.end("s", CWD)
    counts = past.run()
    assert (counts.new, counts.unchanged) == (2, 0)
    assert past.run().unchanged == 1


def test_only_turn_of_a_fresh_transcript_comes_later(past: Past) -> None:
    path = write(past.projects_folder, "s", turn(1, session="s", cwd=CWD), cwd=CWD)
    os.utime(path)
    assert past.run().skipped[GOING_ON] == 1
    assert past.run().unchanged == 0
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    counts = past.run()
    assert (counts.new_turns, past.turns) == (1, ["User: 질문 1\nAssistant: 대답 1: answer 1"])


def test_the_shells_folder_is_not_the_sessions(past: Past, tmp_path: Path) -> None:
    """The record's cwd follows `cd`; the host names the transcript's folder after the one it was started in."""
    text = turn(1, session="s", cwd="/tmp/elsewhere") + turn(2, session="s", cwd=CWD)
    write(past.projects_folder, "s", text, cwd=CWD)
    past.run()
    assert {one.project_id for one in past.store.memories()} == {past.projects.find(CWD)[0]}


def test_missing_folder_keeps_its_project(past: Past, tmp_path: Path) -> None:
    above = tmp_path / "dotfiles"
    (above / ".git").mkdir(parents=True)
    (above / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    shop = above / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (shop / ".git" / "config").write_text('[remote "origin"]\n url = git@example.com:me/shop.git\n')
    known = past.projects.resolve(str(shop))[0]
    moved = tmp_path / "moved"
    shop.rename(moved)
    assert past.projects.resolve(str(moved))[0] == known
    write(past.projects_folder, "s", turn(1, session="s", cwd=str(shop)), cwd=str(shop))
    past.run()
    assert {one.project_id for one in past.store.memories()} == {known}
    assert past.projects.root(known) == str(moved)


def test_project_switched_on_again_is_imported(past: Past, tmp_path: Path) -> None:
    folder = tmp_path / "끈 프로젝트"
    folder.mkdir()
    (folder / ".memlayer.yaml").write_text("enabled: false\n")
    write(past.projects_folder, "s", turn(1, session="s", cwd=str(folder)), cwd=str(folder))
    assert past.run().skipped["files of projects that are switched off"] == 1
    assert past.said == []
    (folder / ".memlayer.yaml").unlink()
    counts = past.run()
    assert (counts.new, counts.unchanged) == (2, 0)


def test_hostile_files_are_passed_over(past: Past, tmp_path: Path) -> None:
    good = turn(1, session="s", cwd=CWD)
    path = write(past.projects_folder, "s", good, cwd=CWD)
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":"' + b"x" * 50_000_000 + b'"},"isMeta":true}\n')
        file.write(b'not json "user"\n[1,2,"user"]\n\xff\xfe"user"\n{"type":"user","message":7,"cwd":[],"uuid":{}}\n')
        file.write(b'{"type":"assistant","message":{"content":{"a":1}},"timestamp":9}\n')
        file.write(turn(2, session="s", cwd=CWD).encode())
        file.write(b'{"type":"user","uuid":"torn","message":{"role":"us')
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    secret = tmp_path / "elsewhere.jsonl"
    secret.write_text(turn(3, session="linked", cwd=CWD))
    (path.parent / "link.jsonl").symlink_to(secret)
    os.mkfifo(path.parent / "pipe.jsonl")
    (path.parent / "empty.jsonl").touch()
    (path.parent / "binary.jsonl").write_bytes(os.urandom(5000))
    (path.parent / "notes.txt").write_text("no transcript")
    counts = past.run()
    assert past.turns == [turn_text(1), turn_text(2)]
    assert (counts.skipped["links"], counts.skipped["no regular files"], counts.skipped["lines too long"]) == (1, 1, 1)
    assert counts.skipped["broken lines"] >= 2


def turn_text(number: int) -> str:
    return "User: 질문 %d\nAssistant: 대답 %d: answer %d" % (number, number, number)


def test_the_log_is_dispensable(past: Past) -> None:
    write(past.projects_folder, "s", turn(1, session="s", cwd=CWD), cwd=CWD)
    past.run()
    (past.home / "cache" / "imports.sqlite").write_bytes(b"not a database" * 100)
    past.log.close()
    assert (past.run().known, past.turns) == (2, [turn_text(1)])


def test_a_path_that_is_not_there_is_an_error(past: Past) -> None:
    with pytest.raises(FileNotFoundError):
        past.run(past.home / "none")


class Log:
    """An import log that notes the order of calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def offset(self, path: str, size: int, mtime_ns: int) -> int:
        return 0

    def copies(self, records: Iterable[tuple[str, str]]) -> set[str]:
        return set()

    def reached(self, path: str, offset: int, records: Iterable[tuple[str, str]]) -> None:
        self.calls.append("reached %s %d" % (path, offset))

    def done(self, path: str, size: int, mtime_ns: int) -> None:
        self.calls.append("done " + path)


def batch_of(path: str, *events: str) -> Batch:
    return Batch(path, [{"id": one} for one in events], [("uuid-" + one, path) for one in events], 10, 1, 5)


def test_gathered_batches_are_logged_after_they_are_stored() -> None:
    log = Log()
    gathered = Gathered(log, lambda events: log.calls.append("took " + " ".join(one["id"] for one in events)))
    gathered.add(batch_of("가", "a", "b"))
    gathered.done("가", 1, 1)
    gathered.add(batch_of("나", "b", "c"))
    assert log.calls == []  # a kill here leaves both to be read again
    gathered.flush()
    assert log.calls == ["took a b c", "reached 가 10", "done 가", "reached 나 10"]
    gathered.flush()
    assert len(log.calls) == 4


def test_gathered_records_count_for_the_next_transcript() -> None:
    gathered = Gathered(Log(), lambda events: None)
    gathered.add(batch_of("parent", "a"))
    assert gathered.copies([("uuid-a", "parent"), ("uuid-a", "fork"), ("", "fork")]) == {"uuid-a"}


@pytest.mark.parametrize(("limit", "value"), [("GATHERED_EVENTS", 3), ("GATHERED_CHARS", 9)])
def test_enough_is_stored_at_once(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, limit, value)
    taken: list[int] = []
    gathered = Gathered(Log(), lambda events: taken.append(len(events)))
    for number in range(4):
        gathered.add(batch_of("f%d" % number, "a%d" % number, "b%d" % number))
    assert taken == [4, 4]


def test_a_failed_write_is_not_logged() -> None:
    def refuse(events: object) -> None:
        raise OSError("the disk is full")

    log = Log()
    gathered = Gathered(log, refuse)
    gathered.add(batch_of("가", "a"))
    with pytest.raises(OSError, match="full"):
        gathered.flush()
    assert log.calls == []


def test_session_that_was_off_stays_out(past: Past) -> None:
    write(past.projects_folder, "off", turn(1, session="off", cwd=CWD), cwd=CWD)
    write(past.projects_folder, "on", turn(2, session="on", cwd=CWD), cwd=CWD)
    off_sessions.add(str(past.home), b'{"session_id": "off"}', 1)
    for rehearse in (True, False, False):
        counts = past.run(rehearse=rehearse)
        assert counts.skipped.get(OFF, 0) == (0 if counts.unchanged else 2)
    assert {event.session_id for event in past.store.events(limit=10)} == {"on"}
