"""Blockers of tasks, from words to what they stand for (27.5, 27.8, 27.9, 27.11)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.model import citation_of
from memlayer.ports import DeletionPlan, MemoryQuery
from memlayer.tasks.events import CREATED, MENTIONED, REOPENED, Observation
from memlayer.tasks.keys import task_key
from memlayer.tasks.states import SUGGEST, Op, Status, Task
from tests.unit.tasks.test_book import Booking, memory_text


@pytest.fixture
def book(tmp_path: Path) -> Booking:
    return Booking(tmp_path)


def test_blocker_by_the_hosts_number_is_told_by_its_title_27_8(book: Booking) -> None:
    book.host("s1", 1, {"wish": "created", "ref": "1", "title": "보안 검토"})
    book.host("s1", 2, {"wish": "created", "ref": "2", "title": "배포"})
    book.host("s1", 3, {"wish": "blocked", "ref": "2", "blockers": ["#1"]})
    assert [(row.kind, row.key, row.raw) for row in book.one("배포").blockers] == [
        ("task", book.one("보안 검토").id, "보안 검토")
    ]


def test_blocked_has_a_blocker_and_done_none_27_5_27_8(book: Booking) -> None:
    book.person(1, Observation(CREATED, "배포"))
    book.person(2, Observation(Status.BLOCKED, "배포", blockers=("https://example.com/review/1",)))
    [task] = book.all()
    assert (task.status, [blocker.kind for blocker in task.blockers]) == (Status.BLOCKED, ["artifact"])
    book.person(3, Observation(Status.BLOCKED, "배포"))
    assert book.all()[0].blockers
    book.person(4, Observation(Status.DONE, "배포"))
    [task] = book.all()
    assert (task.status, task.blockers) == (Status.DONE, ())


@pytest.mark.parametrize(
    ("words", "blocker"),
    [
        ((), ("condition", "")),
        (("the security review of the team",), ("condition", "the security review of the team")),
        (("보안팀의 답",), ("condition", "보안팀의 답")),
        (("https://example.com/review/1",), ("artifact", "https://example.com/review/1")),
        (("PROJ-12 를 기다림",), ("artifact", "PROJ-12 를 기다림")),
    ],
)
def test_blocker_in_words_is_a_thing_or_a_condition_never_a_task_27_8(
    book: Booking, words: tuple[str, ...], blocker: tuple[str, str]
) -> None:
    book.person(1, Observation(CREATED, "Deploy", status=Status.BLOCKED, blockers=words))
    [task] = book.all()
    assert [(one.kind, one.raw) for one in task.blockers] == [blocker]


def test_a_condition_that_becomes_a_task_resolves_to_it_27_11(book: Booking) -> None:
    book.person(1, Observation(CREATED, "Deploy", status=Status.BLOCKED, blockers=("Security review",)))
    assert [blocker.raw for blocker in book.one("Deploy").blockers] == ["Security review"]
    book.person(2, Observation(CREATED, "Security review"))
    assert book.one("Deploy").status is Status.BLOCKED
    book.person(3, Observation(Status.DONE, "Security review"))
    assert (book.one("Deploy").status, book.one("Deploy").blockers) == (Status.PENDING, ())


CLOSINGS: dict[str, Callable[[Booking], object]] = {
    "done": lambda book: book.person(9, Observation(Status.DONE, "보안 검토")),
    "dropped": lambda book: book.person(9, Observation(Status.CANCELLED, "보안 검토")),
    "the host's list": lambda book: book.host("s1", 9, {"wish": "done", "ref": "1"}),
    "a sentence": lambda book: book.say("s1", "p9", "보안 검토 작업 끝났어", "", at=9),
    "forgotten": lambda book: book.tasks.forget(
        book.tasks.with_events(DeletionPlan(memory_ids=(book.one("보안 검토").id,)))
    ),
}


@pytest.mark.parametrize("closed", CLOSINGS)
def test_task_whose_blocker_is_closed_is_pending_everywhere(book: Booking, closed: str) -> None:
    book.host("s1", 1, {"wish": "created", "ref": "1", "title": "보안 검토"})
    book.host("s1", 2, {"wish": "created", "ref": "2", "title": "Deploy", "status": "blocked", "blockers": ["#1"]})
    assert memory_text(book, "Deploy") == "Deploy (waits for: 보안 검토)"
    CLOSINGS[closed](book)
    assert (book.one("Deploy").status, book.one("Deploy").blockers) == (Status.PENDING, ())
    assert memory_text(book, "Deploy") == "Deploy"
    if closed != "forgotten":  # its events stay in this test
        rows = book.graph.rows()
        book.tasks.rebuild()
        assert book.graph.rows() == rows
        assert memory_text(book, "Deploy") == "Deploy"


def test_task_still_waits_for_the_blocker_that_is_left(book: Booking) -> None:
    for at, title in enumerate(("Review", "Audit", "Deploy"), 1):
        book.person(at, Observation(CREATED, title))
    book.person(4, Observation(Status.BLOCKED, "Deploy", blockers=("Review", "Audit", "PROJ-12")))
    book.person(5, Observation(Status.DONE, "Review"))
    assert memory_text(book, "Deploy") == "Deploy (waits for: Audit, PROJ-12)"
    book.person(6, Observation(REOPENED, "Review"))
    assert memory_text(book, "Deploy") == "Deploy (waits for: Review, Audit, PROJ-12)"


def test_task_that_is_free_again_can_be_begun_blocked_and_done(book: Booking) -> None:
    for at, title in enumerate(("Review", "Audit", "Deploy"), 1):
        book.person(at, Observation(CREATED, title))
    book.person(4, Observation(Status.BLOCKED, "Deploy", blockers=("Review",)))
    book.person(5, Observation(Status.CANCELLED, "Review"))
    book.person(6, Observation(Status.BLOCKED, "Deploy", blockers=("Audit",)))
    assert memory_text(book, "Deploy") == "Deploy (waits for: Audit)"
    book.person(7, Observation(Status.DONE, "Audit"))
    book.person(8, Observation(Status.DONE, "Deploy"))
    assert book.one("Deploy").status is Status.DONE
    assert Op.REJECTED not in [step.op for step in book.tasks.known.steps(book.one("Deploy").id)]


@pytest.mark.parametrize(
    ("prompt", "answer", "is_set"),
    [
        ("Deploy 는 아직도 막혀 있어, 확인해줘", "네, Deploy 는 아직 막혀 있습니다.", False),
        (
            "The deploy is still blocked, look again",
            "The deploy waits for PROJ-13 now.",
            False,
        ),  # no word of the person's
        ("배포는 이제 PROJ-13 을 기다려야 해", "네, 배포는 PROJ-13 을 기다립니다.", True),
    ],
)
def test_reader_sets_a_persons_blocker_by_the_persons_words_alone_27_9(
    book: Booking, prompt: str, answer: str, is_set: bool
) -> None:
    book.person(1, Observation(CREATED, "Deploy", status=Status.BLOCKED, blockers=("PROJ-12",)))
    told = {"title": "Deploy", "status": "blocked", "blocked_by": "PROJ-13", "quote": prompt, "turn": 1}
    wish = {"summary": "", "notes": [], "tasks": [{**told, "id": citation_of(book.one("Deploy").id)}]}
    book.say("s1", "s1-0", prompt, answer, at=50)
    book.answer("s1", book.turns_of("s1"), wish)
    task = book.one("Deploy")
    assert [one.key for one in task.blockers] == ["art:jira:PROJ-13" if is_set else "art:jira:PROJ-12"]
    suggested = [step for step in book.tasks.known.steps(task.id) if step.mode == SUGGEST]
    assert [one.key for step in suggested for one in step.blockers] == ([] if is_set else ["art:jira:PROJ-13"])


def name_of(task: Task, form: str) -> str:
    """Return a name by which a person may call a task."""
    names = {"citation": citation_of(task.id), "id": task.id, "key": task_key(task.project_id, task.title)}
    return names.get(form) or form.replace("CITED", citation_of(task.id))


@pytest.mark.parametrize(
    ("title", "form"),
    [
        ("보안 검토", "citation"), ("보안 검토", "[mem:CITED]"), ("Security review", "mem:CITED"),
        ("Security review", "id"), ("Security review", "key"), ("Write the guide", "guide"),
        ("로그인 테스트 추가", "로그인 테스트 작업"), ("배포 문서 고치기", "  [mem:CITED] "),
    ],
)  # fmt: skip
def test_blocker_that_is_a_task_is_told_by_its_present_title(book: Booking, title: str, form: str) -> None:
    book.person(1, Observation(CREATED, title))
    name = name_of(book.one(title), form)
    book.person(2, Observation(CREATED, "Deploy", status=Status.BLOCKED, blockers=(name, "PROJ-12")))
    assert memory_text(book, "Deploy") == "Deploy (waits for: %s, PROJ-12)" % title
    [step] = [step for step in book.tasks.known.steps(book.one("Deploy").id) if step.op is Op.BLOCKERS]
    assert [blocker.raw for blocker in step.blockers] == [title, "PROJ-12"]
    [row] = book.store.memories(MemoryQuery(ids=[book.one(title).id]))
    book.consolidator.edit(row, title + " 2")
    book.person(3, Observation(MENTIONED, title))
    assert memory_text(book, "Deploy") == "Deploy (waits for: %s 2, PROJ-12)" % title
    rows = book.graph.rows()
    book.tasks.rebuild()
    assert book.graph.rows() == rows


@pytest.mark.parametrize("words", ["y3FoCO", "[mem:y3FoCO]", "PROJ-12", "acme/core#42", "https://example.com/y3FoCO"])
def test_blocker_that_names_no_task_is_told_as_it_was_written(book: Booking, words: str) -> None:
    book.person(1, Observation(CREATED, "보안 검토"))
    book.person(2, Observation(CREATED, "Deploy", status=Status.BLOCKED, blockers=(words,)))
    assert memory_text(book, "Deploy") == "Deploy (waits for: %s)" % words
