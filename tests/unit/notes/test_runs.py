"""Notes of sessions that nobody typed."""

from pathlib import Path
from typing import Any

import pytest

from memlayer.ports import MemoryQuery
from tests.support.notes_in_memory import Noting
from tests.unit.notes.test_merging import TURNS, note

TEMPLATE = "Review the open pull request and list every problem that you find in it, run %d"


@pytest.fixture
def home_of(tmp_path: Path) -> Noting:
    home = tmp_path / "메모리"
    home.mkdir()
    return Noting(home)


def run_of(noting: Noting, session: str, number: int, said: str) -> list[Any]:
    return noting.tell(session, (TEMPLATE % number, said))


def test_run_that_nobody_typed_only_claims(home_of: Noting) -> None:
    wish = note(
        "타임아웃은 45분으로 두기로 했다.",
        "좋아, 타임아웃은 45분으로 두자",
        "decision",
        headline="공증 타임아웃은 45분",
    )
    wish["turn"] = 2
    first_kept = home_of.answer("s1", home_of.tell("s1", *TURNS), {"summary": "", "notes": [wish]})
    assert first_kept is not None
    [theirs] = first_kept.notes
    said = "The notarization timeout is 20 minutes now. The retry field is unknown to GoReleaser v2.13.2."
    for number in range(5):
        run_of(home_of, "r%d" % number, number, said)
    turns = run_of(home_of, "r5", 5, said)
    claims = [
        note("The notarization timeout is 20 minutes now.", "timeout is 20 minutes now", replaces=[theirs.citation],
             headline="The notarization timeout is 20 minutes now"),
        note("The retry field is unknown to GoReleaser v2.13.2.", "retry field is unknown to GoReleaser"),
    ]  # fmt: skip
    task = {
        "status": "pending",
        "title": "Fix the timeout of notarization",
        "quote": "timeout is 20 minutes now",
        "turn": 1,
    }
    answer = {"summary": "Set the notarization timeout to 20 minutes.", "notes": claims, "tasks": [task],
              "drop": [theirs.citation]}  # fmt: skip
    kept = home_of.answer("r5", turns, answer)
    assert kept is not None and [row.text for row in kept.notes] == [
        "A run claims: The notarization timeout is 20 minutes now."
    ]
    assert kept.notes[0].headline == "A run claims: The notarization timeout is 20 minutes now"
    assert (kept.tasks, kept.questions) == ([], [])
    [held] = home_of.store.memories(MemoryQuery(ids=[theirs.id]))
    assert held.holds
    again = home_of.everything()
    home_of.answer("r5", turns, answer)
    assert home_of.everything() == again


def test_a_person_who_types_alike_twice_is_no_run(home_of: Noting) -> None:
    for number in range(2):
        turns = run_of(home_of, "r%d" % number, number, "The retry field is unknown to GoReleaser v2.13.2.")
    said = note("The retry field is unknown to GoReleaser v2.13.2.", "retry field is unknown to GoReleaser")
    kept = home_of.answer("r1", turns, {"summary": "", "notes": [said]})
    assert kept is not None and kept.notes[0].text.startswith("The retry field")


KOREAN_RUN = "공증 타임아웃은 이제 20분입니다. GoReleaser v2.13.2에는 retry 필드가 없습니다."


@pytest.mark.parametrize("by_run", [True, False])
def test_headless_run_without_a_template_only_claims(home_of: Noting, by_run: bool) -> None:
    wish = note("타임아웃은 45분으로 두기로 했다.", "좋아, 타임아웃은 45분으로 두자", "decision")
    wish["turn"] = 2
    first = home_of.answer("s1", home_of.tell("s1", *TURNS), {"summary": "", "notes": [wish]})
    assert first is not None
    [theirs] = first.notes
    turns = home_of.tell("r1", ("공증 설정을 점검해줘", KOREAN_RUN))
    session = home_of.sessions.get("r1")
    assert session is not None
    session.is_run = by_run
    claims = [
        note("공증 타임아웃은 이제 20분이다.", "타임아웃은 이제 20분입니다", replaces=[theirs.citation]),
        note("GoReleaser v2.13.2에는 retry 필드가 없다.", "GoReleaser v2.13.2에는 retry 필드가 없습니다"),
    ]
    kept = home_of.answer("r1", turns, {"summary": "공증 설정을 점검함.", "notes": claims, "drop": []})
    assert kept is not None
    [held] = home_of.store.memories(MemoryQuery(ids=[theirs.id]))
    if by_run:
        assert [row.text for row in kept.notes] == ["실행의 주장: 공증 타임아웃은 이제 20분이다."]
        assert (held.holds, kept.questions) == (True, [])
    else:
        assert [row.text for row in kept.notes] == [claims[0]["text"], claims[1]["text"]]
        assert held.superseded_by == kept.notes[0].id
