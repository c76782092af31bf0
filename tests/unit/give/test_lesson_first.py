"""The lesson before the guess, the newer value before the older, and no question of one's own without an answer."""

from pathlib import Path

import pytest

from memlayer.consolidation.statement import statement_of
from memlayer.give.candidate import Reason
from memlayer.give.query import typed_query
from memlayer.give.recall import RecallRules
from memlayer.give.search import Filters, Found, Search
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, Scope
from memlayer.records.sessions import Session
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

GUESSES = [
    ("웹훅 재시도 간격 좀 늘려볼까, 자꾸 겹쳐", "네, 웹훅 재시도 간격을 10초에서 30초로 늘렸습니다.",
     "웹훅 재시도 간격을 늘려도 중복은 그대로였다: 원인은 200을 늦게 준 것이다.", "웹훅 재시도 간격 늘려볼까"),
    ("Raise the pool size of the exports, they time out", "Raised the pool size of the exports to 40.",
     "A larger pool size did not help the exports: the lock of the nightly job blocks them.",
     "should we raise the pool size of the exports"),
    ("CI 캐시를 끄면 flaky 테스트가 없어질 거야", "CI 캐시를 껐습니다.",
     "CI 캐시는 flaky 테스트의 원인이 아니다, 시계가 원인이다.", "CI 캐시 끄면 flaky 테스트 없어지나"),
]  # fmt: skip


@pytest.fixture
def memory(home: Path) -> TurnsInMemory:
    return TurnsInMemory(home)


def noted(memory: TurnsInMemory, text: str, session: str, kind: str = "attempt", at: int = 5) -> Memory:
    project_id = memory.projects.resolve(PROJECT)[0]
    made = statement_of(
        project_id, text, kind, by=Author.READER, origin=text, session_id=session, at_ms=T0_MS + at, prompt_id="q"
    )
    memory.store.put_memories([made])
    memory.indexer.index([made])
    memory.recall.refresh(project_id)
    return made


def hits(memory: TurnsInMemory, query: str, filters: Filters | None = None, limit: int = 20) -> list[Found]:
    finder = Search(memory.recall.retriever, memory.outcomes, RecallRules())
    scope = Scope((memory.projects.resolve(PROJECT)[0],))
    return finder.find(typed_query(query), scope, filters or Filters(), limit, 0.0, lambda _: "")


@pytest.mark.parametrize(("prompt", "answer", "lesson", "asked"), GUESSES)
def test_a_search_has_the_note_above_the_turns_of_its_session(
    memory: TurnsInMemory, prompt: str, answer: str, lesson: str, asked: str
) -> None:
    memory.turn("s1", "p1", prompt, answer)
    memory.turn("s1", "p2", prompt + " 한번 더", answer + " 다시 했습니다.", at=3)
    note = noted(memory, lesson, "s1")
    found = [hit.memory for hit in hits(memory, asked)]
    assert found[0].id == note.id and {row.category for row in found[1:]} == {Category.CONVERSATION}


@pytest.mark.parametrize(("prompt", "answer", "lesson", "asked"), GUESSES)
def test_a_prompt_gets_the_note_and_no_turn_beside_it(
    memory: TurnsInMemory, prompt: str, answer: str, lesson: str, asked: str
) -> None:
    turn = memory.turn("s1", "p1", prompt, answer)
    note = noted(memory, lesson, "s1")
    found = memory.ask(asked + ", what did we find last time?", RecallRules(min_chance=0.0))
    assert "[mem:%s]" % note.citation in found.block and "[mem:%s]" % turn.citation not in found.block


def test_a_note_on_another_matter_moves_no_turn(memory: TurnsInMemory) -> None:
    prompt, answer, _, asked = GUESSES[0]
    turn = memory.turn("s1", "p1", prompt, answer)
    noted(memory, "배포는 화요일 오전에 하고 재시도는 없다.", "s1")
    other = noted(memory, "웹훅 재시도 간격은 문서에 없다.", "s2")
    found = [hit.memory.id for hit in hits(memory, asked)]
    assert found.index(turn.id) < 2 and other.id in found


@pytest.mark.parametrize(
    ("older", "newer", "asked"),
    [
        ("The payment timeout is 10s.", "The payment timeout is now 30 seconds, Toss told us.", "payment timeout"),
        ("배포는 목요일에 한다.", "배포는 화요일로 바꾸기로 했다, 목요일엔 회의가 많다.", "배포 요일 목요일"),
    ],
)
def test_a_search_marks_the_older_value(memory: TurnsInMemory, older: str, newer: str, asked: str) -> None:
    old = noted(memory, older, "s1", "fact", 1)
    new = noted(memory, newer, "s2", "fact", 2)
    found = hits(memory, asked)
    assert [(hit.memory.id, hit.newer) for hit in found] == [(new.id, ""), (old.id, new.citation)]


@pytest.mark.parametrize(
    ("older", "newer", "asked"),
    [
        ("03:30 에 cron 으로 sync 돌려.", "sync 는 05:10 으로 옮기자", "sync 언제 돌지"),
        ("Exports go to `s3://acme-raw`.", "exports don't use acme-raw any more, it's gone", "where do exports go"),
        ("도커 이미지는 alpine 기반으로 간다", "alpine 은 접고 debian-slim 으로 바꿨어", "도커 이미지 기반"),
        ("Don't merge the payment branch until QA has signed off", "QA signed off the payment branch now", "QA branch"),
    ],
)
def test_a_search_marks_words_that_later_ones_end(memory: TurnsInMemory, older: str, newer: str, asked: str) -> None:
    old = memory.turn("s1", "p1", older, "네, 그렇게 하겠습니다. Fine.", at=1)
    new = memory.turn("s2", "p2", newer, "네. Noted.", at=90)
    found = [(hit.memory.id, hit.newer) for hit in hits(memory, asked)]
    assert found in ([(new.id, ""), (old.id, new.citation)], [(old.id, new.citation)])


def test_an_end_beside_the_words_asked_for_marks_nothing(memory: TurnsInMemory) -> None:
    said = "sync 는 03:30 에 돌려. retry 는 3번까지만 해, 더 하면 call 제한 까먹으니까."
    memory.turn("s1", "p1", said, "네.", at=1)
    memory.turn("s2", "p2", "sync 는 05:10 으로 옮기자", "네.", at=90)
    assert [hit.newer for hit in hits(memory, "retry 제한 몇번")] == [""]


LONG = {
    "en": ("Move the invoices to the new folder, please", "The {} retry interval is {} s.", "invoices new folder"),
    "ko": ("청구서를 새 폴더로 옮겨줘", "{} 호출의 재시도 간격은 설정 파일에 적힌 대로 {}초다.", "청구서 새 폴더"),
}


@pytest.mark.parametrize("language", LONG)
def test_values_beside_the_shown_words_mark_nothing(memory: TurnsInMemory, language: str) -> None:
    prompt, row, asked = LONG[language]
    matters = ("export", "import", "backup", "mirror", "ledger", "archive", "summary", "report", "webhook", "billing")
    rows, told = (" ".join(row.format(one, seconds) for one in matters) for seconds in (10, 30))
    old = memory.turn("s1", "p1", prompt, rows, at=1)
    memory.turn("s2", "p2", prompt, told, at=90)
    assert [hit.newer for hit in hits(memory, asked) if hit.memory.id == old.id] == [""]


CHANGED = [
    ("The webhook retry interval is 10 s.", "The webhook retry interval is now 30 s.", "webhook retry interval"),
    ("웹훅 재시도 간격은 10초다.", "웹훅 재시도 간격을 30초로 늘렸다.", "웹훅 재시도 간격"),
    ("CI runs on Jenkins.", "CI moved from Jenkins to GitHub Actions.", "Jenkins CI runs"),
    ("CI 는 Jenkins 에서 돌린다.", "CI 를 Jenkins 에서 GitHub Actions 로 옮겼다.", "Jenkins CI 어디서 돌리지"),
]


@pytest.mark.parametrize(("older", "newer", "asked"), CHANGED)
@pytest.mark.parametrize("by", ["person", "answer", "note"])
def test_a_note_with_an_older_value_gives_way(
    memory: TurnsInMemory, older: str, newer: str, asked: str, by: str
) -> None:
    old = noted(memory, older, "s1", "fact", 1)
    said = {"person": (newer, "OK."), "answer": ("do it this way", newer)}
    new = noted(memory, newer, "s2", "fact", 9) if by == "note" else memory.turn("s2", "p1", *said[by], at=9)
    for prompt in (asked, asked + ", what did we say last time?"):
        found = memory.ask(prompt, session=Session(id="s3"))
        assert "[mem:%s]" % old.citation not in found.block
    found = memory.ask(asked, session=Session(id="s3"))
    assert found.block.count("[mem:%s]" % new.citation) == 1
    assert [row.chunk.memory_id for row in found.entries].count(new.id) == 1
    assert [(hit.memory.id, hit.newer) for hit in hits(memory, asked)] == [(new.id, ""), (old.id, new.citation)]


@pytest.mark.parametrize(("older", "newer", "asked"), CHANGED)
def test_a_runs_newer_value_takes_no_place(memory: TurnsInMemory, older: str, newer: str, asked: str) -> None:
    old = noted(memory, older, "s1", "fact", 1)
    memory.hook("user_prompt_submit", "run", "r1", 9, prompt=newer, entrypoint="sdk-cli")
    memory.hook("stop", "run", "r1", 10, last_assistant_message="OK.", entrypoint="sdk-cli")
    for prompt in (asked, asked + ", what did we say last time?"):
        assert "[mem:%s]" % old.citation in memory.ask(prompt, session=Session(id="s3")).block
    assert (old.id, "") in [(hit.memory.id, hit.newer) for hit in hits(memory, asked)]


def test_two_older_values_give_way_to_one_line(memory: TurnsInMemory) -> None:
    for number, text in enumerate(("The API server port is 8080.", "The API server port is 8081.")):
        noted(memory, text, "s%d" % number, "fact", number)
    new = memory.turn("s8", "p1", "The API server port is 9090 now.", "OK.", at=9)
    found = memory.ask("API server port", session=Session(id="s9"))
    assert found.block.count("\n- [mem:") == found.block.count("\n- [mem:%s]" % new.citation) == 1


@pytest.mark.parametrize(("older", "newer", "asked"), CHANGED)
@pytest.mark.parametrize("by", ["person", "answer"])
def test_a_turn_with_an_older_value_gives_way_to_a_note(
    memory: TurnsInMemory, older: str, newer: str, asked: str, by: str
) -> None:
    said = {"person": (older, "OK."), "answer": ("do it this way", older)}
    turn = memory.turn("s1", "p1", *said[by])
    note = noted(memory, newer, "s2", "fact", 9)
    found = memory.ask(asked + ", what did we say last time?", RecallRules(min_chance=0.0), session=Session(id="s3"))
    assert "[mem:%s]" % turn.citation not in found.block and "[mem:%s]" % note.citation in found.block


@pytest.mark.parametrize(("older", "newer", "asked"), CHANGED)
def test_an_earlier_told_value_overtakes_nothing(memory: TurnsInMemory, older: str, newer: str, asked: str) -> None:
    note = noted(memory, older, "s2", "fact", 9)
    memory.turn("s1", "p1", newer, "OK.")
    assert "[mem:%s]" % note.citation in memory.ask(asked, session=Session(id="s3")).block


def test_one_hit_alone_is_the_newer_value(memory: TurnsInMemory) -> None:
    older, newer, asked = CHANGED[0]
    noted(memory, older, "s1", "fact", 1)
    new = noted(memory, newer, "s2", "fact", 9)
    assert [hit.memory.id for hit in hits(memory, asked, limit=1)] == [new.id]


def test_values_of_two_things_stay_unmarked(memory: TurnsInMemory) -> None:
    noted(memory, "The staging port is 8443.", "s1", "fact", 1)
    noted(memory, "The internal admin port is 9443.", "s2", "fact", 2)
    assert [hit.newer for hit in hits(memory, "port")] == ["", ""]


@pytest.mark.parametrize("asked", ["결제 모듈 포트가 몇 번이지?", "Which port does the payment module use?"])
def test_ones_own_unanswered_question_is_no_hit(memory: TurnsInMemory, asked: str) -> None:
    turn = memory.turn("s1", "p1", asked)
    assert turn.known_kind is Kind.OPEN_QUESTION and hits(memory, asked) == []
    assert [hit.memory.id for hit in hits(memory, asked, Filters(kind=Kind.OPEN_QUESTION))] == [turn.id]
    answered = memory.turn("s1", "p2", asked, "It is 5433. 5433번입니다.", at=9)
    assert [hit.memory.id for hit in hits(memory, asked)] == [answered.id]


def test_the_reason_says_so(memory: TurnsInMemory) -> None:
    prompt, answer, lesson, asked = GUESSES[1]
    memory.turn("s1", "p1", prompt, answer)
    noted(memory, lesson, "s1", Kind.CAUSE)
    found = memory.ask(asked + ", what did we find last time?", RecallRules(min_chance=0.0))
    reasons = {row.reason for row in found.candidates if row.chunk.category is Category.CONVERSATION}
    assert reasons <= {Reason.LESSON}
