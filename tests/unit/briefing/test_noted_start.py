"""The start of a session in a project with notes of a language model."""

from __future__ import annotations

from dataclasses import replace

from memlayer.briefing.noted_start import contents_line, live_tasks, recent_summaries
from memlayer.consolidation.extractor import SESSION_READER
from memlayer.kinds import Category, Kind
from memlayer.model import Memory
from tests.support.store_rows import make_memory

HOUR_MS = 3_600_000


def note(number: int, text: str, kind: Kind = Kind.DECISION, session_id: str = "s1") -> Memory:
    made = make_memory(number, text)
    return replace(made, category=Category.CORE, kind=kind, settled=SESSION_READER, session_id=session_id)


def test_contents_name_shared_words() -> None:
    notes = [
        note(1, "push_sessions는 pre-push hook에서만 부른다."),
        note(2, "GoReleaser has no retry field; push_sessions stays as it is."),
        note(3, "`push_sessions` 실패는 GoReleaser와 무관하다."),
    ]
    line = contents_line(notes)
    assert line.startswith("3 notes on this project: push_sessions, GoReleaser")
    assert "mem-search" in line


def test_few_notes_have_no_contents() -> None:
    assert contents_line([note(1, "결제는 포트원으로 한다."), note(2, "Deploys are on Tuesday.")]) == ""
    assert contents_line([note(number, "남은 일 %d" % number, Kind.TASK) for number in range(5)]) == ""


def turns_of(sessions: int, at_ms: int) -> list[Memory]:
    rows = [note(number, "턴 %d" % number, Kind.TURN, "s%d" % number) for number in range(sessions)]
    return [replace(row, category=Category.CONVERSATION, at_ms=at_ms) for row in rows]


def test_tasks_rest_after_fourteen_days_and_five_sessions() -> None:
    tasks = [note(1, "리뷰 답글 달기", Kind.TASK), note(2, "Publish 2.0", Kind.TASK)]
    tasks = [replace(task, at_ms=at_ms) for at_ms, task in enumerate(tasks)]
    fortnight = 14 * 24 * HOUR_MS
    assert live_tasks(tasks, turns_of(5, fortnight)) == [tasks[1]]
    assert live_tasks(tasks, turns_of(5, fortnight - 1)) == [tasks[1], tasks[0]]
    assert live_tasks(tasks, turns_of(4, 2 * fortnight)) == [tasks[1], tasks[0]]


def test_a_start_holds_three_tasks_at_most() -> None:
    tasks = [replace(note(number, "할 일 %d" % number, Kind.TASK), at_ms=number) for number in range(5)]
    assert [row.at_ms for row in live_tasks(tasks, turns_of(1, 9))] == [4, 3, 2]


def test_summaries_of_a_day_and_at_least_the_newest() -> None:
    rows = [replace(note(number, "요약 %d" % number), at_ms=(100 - number * 10) * HOUR_MS) for number in range(4)]
    assert recent_summaries(rows) == rows[:3]
    assert recent_summaries([]) == []
