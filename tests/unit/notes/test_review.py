"""Memories under review: the reasons, the decisions, and their undoing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.errors import UserError
from memlayer.model import OPENED, Memory, replace, usage_of
from memlayer.notes.reading_log import Reading, ReadingLog
from memlayer.notes.review import (
    DAY_MS,
    How,
    Review,
    ReviewedMemory,
    ReviewedProject,
    ReviewLog,
    ReviewReason,
    doubt,
    staleness,
)
from tests.support.notes_in_memory import Noting
from tests.support.turns_in_memory import T0_MS

NOW_MS = T0_MS + 60 * DAY_MS
DOUBTFUL = "웹훅이 두 번 오는 원인은 재전송이다. 먼저 200을 준다. (시도함, 미확인)"


class Reviewed(Noting):
    """A project that is reviewed."""

    def __init__(self, home: Path, root: Path) -> None:
        super().__init__(home)
        self.readings = ReadingLog(str(home))
        self.review = Review(self.store, self.readings, ReviewLog(str(home)), self.consolidator, self.tasks)
        self.root = root
        self.sessions_since: Callable[[int], int] = lambda at_ms: 0

    def items(self, now_ms: int = NOW_MS) -> list[ReviewedMemory]:
        [project_id] = {row.project_id for row in self.core(is_current=None)}
        return self.review.items(ReviewedProject(project_id, str(self.root), self.sessions_since), now_ms)

    def reasons(self, now_ms: int = NOW_MS) -> dict[str, str]:
        return {item.memory.text: item.reason for item in self.items(now_ms)}

    def decide(self, how: How, text: str = "", other: Memory | None = None) -> Memory:
        return self.review.decide(self.items()[0], how, NOW_MS, text=text, other=other)

    def state(self) -> list[tuple[str, str, str, str, int, str]]:
        return sorted((row.id, row.text, row.kind, row.session_id, row.at_ms, row.superseded_by) for row in self.core())


@pytest.fixture
def project(tmp_path: Path) -> Reviewed:
    home, root = tmp_path / "메모리", tmp_path / "상점"
    home.mkdir()
    root.mkdir()
    return Reviewed(home, root)


def test_nothing_to_review_in_a_healthy_project(project: Reviewed) -> None:
    project.remember("배포는 화요일 오전에 한다")
    project.remember("the API listens on port 9090")
    assert project.items() == []


def test_doubtful_stale_and_unused(project: Reviewed) -> None:
    made = project.remember(DOUBTFUL)
    gone = project.remember("정산 규칙은 src/정산.py의 순서를 따른다")
    project.store.put_memories([replace(gone, files=("src/정산.py",))])
    project.remember("2026-11-30까지 영수증 API를 넘기기로 약속했다")
    idle = project.remember("the staging console is at https://console.example.com")
    assert project.reasons(T0_MS + DAY_MS) == {DOUBTFUL: "doubtful", gone.text: "stale"}
    project.sessions_since = lambda at_ms: 10
    reasons = project.reasons()
    assert reasons[DOUBTFUL] == "doubtful" and reasons[gone.text] == "stale" and reasons[idle.text] == "never used"
    assert [text for text in reasons if text.startswith("2026-11-30")] and len(reasons) == 4
    (project.root / "src").mkdir()
    (project.root / "src" / "정산.py").write_text("")
    project.store.put_usages([usage_of(idle, OPENED, session_id="s", prompt_id="", at_ms=NOW_MS)])
    assert project.reasons()[gone.text] == "never used" and idle.text not in project.reasons()
    assert doubt(made) and doubt(idle) == ""
    assert staleness(gone, "", "2026-12-30") == ""


def test_question_of_a_reading_model_waits_for_the_person(project: Reviewed) -> None:
    theirs = project.remember("타임아웃은 언제나 45분이다")
    newer = project.remember("릴리스 기다림은 서버가 정한다")
    questions = [{"memory_id": theirs.id, "by": newer.id, "wish": "replace"}]
    project.readings.put(Reading("s1", theirs.project_id, questions=questions))
    [item] = project.items()
    assert (item.memory.id, item.reason) == (theirs.id, ReviewReason.CONTRADICTS)
    assert item.against is not None and item.against.id == newer.id
    project.decide(How.DROP)
    assert [row.text for row in project.core()] == [newer.text] and project.items() == []
    [old] = project.core(is_current=False)
    assert old.superseded_by == newer.id


def test_one_pair_is_asked_about_once(project: Reviewed) -> None:
    """Where a reading says it the other way round as well."""
    older = project.remember("API 는 8080 포트에서 듣는다")
    newer = project.remember("the staging console is at https://console.example.com")
    questions = [
        {"memory_id": one.id, "by": two.id, "wish": "replace"} for one, two in ((older, newer), (newer, older))
    ]
    project.readings.put(Reading("s1", older.project_id, questions=questions))
    [item] = project.items(T0_MS + DAY_MS)
    assert {item.memory.id, item.against.id if item.against else ""} == {older.id, newer.id}


@pytest.mark.parametrize("wish", ["the API listens on port 9090 now", "배포는 이제 화요일에 한다"])
def test_pinned_memory_and_its_contradiction(project: Reviewed, wish: str) -> None:
    before = "the API listens on port 8080" if "API listens" in wish else "배포는 금요일에 한다"
    pinned = project.consolidator.pin(project.remember(before), True)
    newer = project.remember(wish, at=5)
    [item] = project.items()
    assert (item.memory.id, item.reason) == (pinned.id, ReviewReason.CONTRADICTS)
    assert item.against is not None and item.against.id == newer.id


def test_kept_comes_up_no_more(project: Reviewed) -> None:
    project.remember(DOUBTFUL)
    before = project.state()
    project.decide(How.KEEP)
    assert project.items() == [] and project.state() == before
    decision, memory = project.review.undo(project.core()[0].project_id)
    assert (decision.how, memory) == ("keep", None)
    assert project.reasons() == {DOUBTFUL: "doubtful"}


def test_what_only_time_made_doubtful_comes_again(project: Reviewed) -> None:
    project.remember("the staging console is at https://console.example.com")
    project.sessions_since = lambda at_ms: 10
    project.decide(How.KEEP)
    assert project.items() == []
    assert [item.reason for item in project.items(NOW_MS + 91 * DAY_MS)] == [ReviewReason.UNUSED]


@pytest.mark.parametrize("how", [How.EDIT, How.DROP, How.MERGE])
def test_each_decision_can_be_undone(project: Reviewed, how: How) -> None:
    turns = project.tell("s1", ("웹훅이 두 번 와. 왜 그래?", "원인은 재전송입니다. 먼저 200을 돌려주게 했습니다."))
    text = "웹훅이 두 번 오는 원인은 재전송이다. 먼저 200을 돌려준다. (시도함, 미확인)"
    note = {"kind": "cause", "text": text, "quote": "원인은 재전송입니다. 먼저 200을", "turn": 1}
    project.answer("s1", turns, {"notes": [note]})
    other = project.remember("토스페이먼츠는 10초 안에 답을 받지 못하면 다시 보낸다")
    before, searched = project.state(), project.searched()
    merged = "토스페이먼츠는 10초 안에 200이 없으면 다시 보낸다. 먼저 200을 준다. 확인함."
    held = project.decide(how, "" if how is How.DROP else merged, other if how is How.MERGE else None)
    texts = project.texts()
    assert project.items() == []
    if how is How.DROP:
        assert texts == [other.text]
    else:
        assert held.text == merged and merged in texts and (other.text in texts) is (how is How.EDIT)
    decision, back = project.review.undo(held.project_id)
    assert decision.how == how and back is not None and back.text.startswith(text)
    assert project.state() == before and project.searched() == searched
    assert [item.reason for item in project.items()] == [ReviewReason.DOUBTFUL]


def test_undo_goes_back_step_by_step_and_ends(project: Reviewed) -> None:
    project.remember(DOUBTFUL)
    project.remember("쿠폰 반올림은 정수 센트로 고쳤다 (tried, unconfirmed)", at=1)
    before = project.state()
    project_id = project.core()[0].project_id
    project.decide(How.EDIT, "쿠폰 반올림의 원인은 아직 모른다. 확인 안 됨")
    project.decide(How.DROP)
    assert project.state() != before and project.items() == []
    assert [project.review.undo(project_id)[0].how for _ in range(2)] == ["drop", "edit"]
    assert project.state() == before
    with pytest.raises(UserError, match="Nothing was decided"):
        project.review.undo(project_id)


def test_log_holds_no_text(project: Reviewed, tmp_path: Path) -> None:
    project.remember(DOUBTFUL)
    project.decide(How.EDIT, "웹훅 중복의 원인은 아직 모른다")
    path = tmp_path / "메모리" / "reviewed.json"
    assert "웹훅" not in path.read_text("utf-8") and path.stat().st_mode & 0o777 == 0o600
    path.write_text("{no json")
    assert project.review.log.all() == []


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("how", [How.EDIT, How.DROP, How.MERGE])
@pytest.mark.parametrize("writes", range(4))
def test_a_decision_that_a_kill_interrupted_can_be_undone(
    project: Reviewed, monkeypatch: pytest.MonkeyPatch, how: How, writes: int
) -> None:
    project.remember(DOUBTFUL)
    other = project.remember("토스페이먼츠는 10초 안에 답을 받지 못하면 다시 보낸다", at=1)
    before, left = project.state(), [writes]

    def dies(write: Callable[..., None]) -> Callable[..., None]:
        def written(*arguments: object) -> None:
            if not left[0]:
                raise Killed
            left[0] -= 1
            write(*arguments)

        return written

    with monkeypatch.context() as patch:
        patch.setattr(project.store, "put_memories", dies(project.store.put_memories))
        try:
            project.decide(how, "" if how is How.DROP else "토스는 10초 안에 200이 없으면 다시 보낸다.", other)
        except Killed:
            assert writes or project.items()  # what was not carried out comes up again
    decision, back = project.review.undo(other.project_id)
    assert decision.how == how and back is not None and back.text == DOUBTFUL
    assert project.state() == before
    with pytest.raises(UserError, match="Nothing was decided"):
        project.review.undo(other.project_id)
