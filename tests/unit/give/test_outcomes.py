"""A turn's hit is told by what its matter came to."""

from pathlib import Path

import pytest

from memlayer.give.candidate import Reason
from memlayer.give.recall import Recalled, RecallRules
from memlayer.kinds import Author, Category, Kind
from memlayer.ports import MemoryQuery
from memlayer.text.context_block import Budget, entry_lines
from tests.support.turns_in_memory import TurnsInMemory
from tests.unit.give.test_lesson_first import hits

EVERYTHING = RecallRules(min_chance=0.0)
REPORT = "The HTTP client keeps retrying calls that fail with 401 and accounts lock out. Fix the retry decision."
OPENING = "The HTTP client kept retrying a request that failed with 401 until accounts locked out."
GUESS = "I'll restrict retries to 5xx server errors only and treat every 4xx as permanent."
OBJECTION = "Too strict. The retry decision must keep 429 and 408, everything else in 4xx is permanent."
FINAL = "Final policy: retry any 5xx and exactly 429/408; never any other 4xx; at most 4 attempts."


@pytest.fixture
def memory(home: Path) -> TurnsInMemory:
    return TurnsInMemory(home)


def play(memory: TurnsInMemory, session: str, *turns: tuple[str, str], at: int = 0) -> None:
    for number, (prompt, answer) in enumerate(turns):
        memory.turn(session, "%s%d" % (session, number), prompt, answer, at=at + 10 * number)
    memory.outcomes.renew(memory.keep, session)


def told(found: Recalled) -> str:
    return "\n".join(entry_lines(found.block))


def test_the_rule_is_told_and_not_the_guess(memory: TurnsInMemory) -> None:
    play(memory, "s", (OPENING, GUESS), (OBJECTION, FINAL))
    found = memory.ask(REPORT, EVERYTHING)
    assert "exactly 429/408" in told(found)
    assert "5xx server errors only" not in told(found)
    assert len(entry_lines(found.block)) == 1
    [entry] = found.entries
    assert entry.chunk.prompt_id == "s1"  # it cites the turn that is told


def test_in_korean(memory: TurnsInMemory) -> None:
    play(
        memory, "s",
        ("검색이 너무 느려, 어떻게 하지?", "제목에 인덱스를 추가하겠습니다. 검색이 빨라질 겁니다."),
        ("소용없네, 여전히 느려. 검색은 인덱스 말고 캐시를 써야 해.", "결론: 검색 결과를 60초 동안 캐시합니다."),
    )  # fmt: skip
    found = memory.ask("느린 검색을 어떻게 했었지?", EVERYTHING)
    assert "60초 동안 캐시" in told(found)
    assert "추가하겠습니다" not in told(found)


def test_an_amendment_leaves_the_older_rule_out(memory: TurnsInMemory) -> None:
    rule = "Settled: merge_records keys on lowercased email and calendar day, and a collision keeps the latest record."
    newer = (
        "Amended rule, superseding keep-latest: merge_records keys on lowercased email and calendar day, as before; "
    )
    newer += "a collision keeps the most filled record."
    play(
        memory, "old", ("merge_records makes duplicates of a contact.", "Should I key on email and day?"),
        ("Right. And a collision of records must keep the latest one, always.", rule),
    )  # fmt: skip
    play(
        memory, "new", ("merge_records wipes records: keep-latest was wrong.", "I'd keep the most filled record."),
        ("Exactly. And a tie of merge_records must keep the record that is ours, never theirs.", newer), at=1000,
    )  # fmt: skip
    found = memory.ask("After a sync run merge_records leaves duplicate contact records, fix it.", EVERYTHING)
    assert "keeps the most filled record" in told(found)
    assert "keeps the latest record" not in told(found)


def test_settings_bind_an_outcome(memory: TurnsInMemory) -> None:
    play(memory, "s", (OPENING, GUESS), (OBJECTION, FINAL + " The gateway kills idle connections at 32 seconds." * 9))
    found = memory.ask(REPORT, RecallRules(min_chance=0.0, budget=Budget(3, 200, 600)))
    assert len(found.block) <= 600
    assert max(map(len, entry_lines(found.block))) <= 200 + len("- [mem:abcdef] 2026-11-21: ")


def test_drawn_anew_without_a_forgotten_turn(memory: TurnsInMemory) -> None:
    play(memory, "s", (OPENING, GUESS), (OBJECTION, FINAL))
    query = MemoryQuery(session_id="s", category=Category.DAILY, kind=Kind.OUTCOME)
    [row] = memory.store.memories(query)
    assert (row.text, row.by) == (FINAL, Author.MEMLAYER)
    last = memory.store.events(prompt_ids=["s1"])
    memory.store.forget(memory.store.plan_deletion(_of(row.source_ids, last)))
    assert memory.store.memories(query) == []
    memory.outcomes.renew(memory.keep, "s")
    assert [row for row in memory.store.memories(query) if "429" in row.text] == []


def _of(sources: tuple[str, ...], events: list) -> object:  # type: ignore[type-arg]
    from memlayer.model import turn_memory_id
    from memlayer.ports import Selection

    assert {event.id for event in events} <= set(sources)
    return Selection(memory_ids=(turn_memory_id("s", "s1"),))


@pytest.mark.parametrize(
    ("guess", "settled", "query", "holds", "gone"),
    [
        ((OPENING, GUESS), (OBJECTION, FINAL), "HTTP client retry 401", "exactly 429/408", "5xx server errors only"),
        (
            ("검색이 너무 느려, 어떻게 하지?", "제목에 인덱스를 추가하겠습니다. 검색이 빨라질 겁니다."),
            ("소용없네, 여전히 느려. 검색은 인덱스 말고 캐시를 써야 해.", "결론: 검색 결과를 60초 동안 캐시합니다."),
            "느린 검색 인덱스", "60초 동안 캐시", "추가하겠습니다",
        ),
    ],
)  # fmt: skip
def test_a_search_tells_the_outcome_with_the_turn_that_was_left_open(
    memory: TurnsInMemory, guess: tuple[str, str], settled: tuple[str, str], query: str, holds: str, gone: str
) -> None:
    play(memory, "s", guess, settled)
    found = hits(memory, query)
    [told_hit] = [hit for hit in found if hit.outcome is not None]
    assert holds in told_hit.told({}, 400, 3) and gone not in told_hit.told({}, 400, 3)
    assert {hit.memory.prompt_id for hit in found} == {"s0", "s1"}  # both can be opened


@pytest.mark.parametrize(
    ("question", "statement", "query"),
    [
        (("can you check the port of the staging gateway", "I'll check the port."),
         ("The gateway on staging has port 7443.", "Noted, 7443 it is."), "port of the staging gateway"),
        (("스테이징 게이트웨이 포트 확인해줘", "확인하겠습니다."),
         ("스테이징 게이트웨이는 7443 포트를 쓴다.", "네, 7443으로 적었습니다."), "스테이징 게이트웨이 포트"),
    ],
)  # fmt: skip
def test_a_search_has_ones_own_question_last(
    memory: TurnsInMemory, question: tuple[str, str], statement: tuple[str, str], query: str
) -> None:
    memory.turn("s1", "p1", *statement)
    memory.turn("s2", "p2", *question, at=10)
    memory.turn("s3", "p3", "The deploy of the staging gateway failed, 게이트웨이 배포 실패", "Restarted it.", at=20)
    found = [hit.memory.prompt_id for hit in hits(memory, query)]
    assert "p1" in found and "p2" not in found[:-1]  # last, or left out


@pytest.mark.parametrize(
    ("asked", "answer", "reply", "later", "query"),
    [
        (
            "Sessions that resume on another date get a new metadata folder, how do we keep the old one?",
            "I'd read the folder from the session state instead of today's date. Should I?",
            "wait, first there is an import cycle in the session validators package",
            "The validators package moved below the session package, and the import compiles.",
            "A session that resumes on another date loses its metadata folder",
        ),
        (
            "날짜가 바뀌어 이어진 세션은 메타데이터 폴더가 새로 생기는데 어떻게 유지하지?",
            "오늘 날짜 말고 세션 상태에서 폴더를 읽으면 어떨까요?",
            "잠깐, 그 전에 세션 validators 패키지에 import cycle 이 생겼네",
            "세션 validators 패키지를 세션 패키지 아래로 옮겨서 import 가 됩니다.",
            "날짜가 바뀌어 이어진 세션의 메타데이터 폴더가 사라져",
        ),
    ],
)
def test_a_neighbours_answer_stands_for_no_hit(
    memory: TurnsInMemory, asked: str, answer: str, reply: str, later: str, query: str
) -> None:
    play(memory, "s", (asked, answer), (reply, later))
    found = memory.ask(query, EVERYTHING)
    assert found.candidates and all(row.matter is None for row in found.candidates)


@pytest.mark.parametrize(
    ("older", "newer", "query"),
    [
        (
            "We'll use Redis for the job queue, because it is fast.",
            "Actually, no: use PostgreSQL for the job queue instead of Redis.",
            "job queue Redis",
        ),
        (
            "주문 이벤트는 ClickHouse에 저장하기로 하자. 분석이 빨라야 하니까.",
            "아니다, ClickHouse 말고 PostgreSQL에 저장하자.",
            "주문 이벤트는 어디에 저장하지? ClickHouse",
        ),
    ],
)
def test_words_that_a_later_change_ended_are_older_and_no_question(
    memory: TurnsInMemory, older: str, newer: str, query: str
) -> None:
    memory.turn("s", "p0", older, "네.")
    memory.turn("t", "p1", newer, "네.", at=100)
    found = memory.ask(query, EVERYTHING)
    reasons = {row.chunk.prompt_id: row.reason for row in found.candidates}
    assert reasons["p0"] is Reason.OLDER and reasons["p1"] is Reason.KEPT
