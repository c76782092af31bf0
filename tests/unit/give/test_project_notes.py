"""The notes of a first prompt are read and weighed before it, and anew after a change."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from memlayer.give import project_notes
from memlayer.give.candidate import Candidate, Reason, in_context, whole_chunk, with_start
from memlayer.give.given_notes import told_at_start
from memlayer.give.project_notes import ProjectNotes, whole_text
from memlayer.give.query import Query, reduce_prompt
from memlayer.give.recall import RecallRules
from memlayer.keep.indexer import TermStats
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, chunk_id, replace
from memlayer.ports import ANY_MEMORY, Holding, MemoryQuery
from memlayer.records.sessions import Session
from memlayer.text.context_block import Budget, entry_lines
from tests.support.memory_store import MemoryStore
from tests.support.store_rows import make_memory
from tests.support.tables import tables
from tests.support.turns_in_memory import TurnsInMemory

TABLES = tables("give/project_notes")

NEEDED = 0.4  # that a prompt needs an earlier session
TEXTS = ("결제는 포트원으로 한다.", "Deploys are on Tuesday.", "push_sessions는 pre-push hook에서만 부른다.")


class CountedStats(TermStats):
    """Statistics that count the terms weighed."""

    weighed = 0

    def weights(self, terms: Iterable[str], project: Holding | None = None) -> dict[str, float]:
        found = super().weights(terms, project)
        self.weighed += len(found)
        return found


class BusyStore(MemoryStore):
    """A store in which a note is written while the notes are read, once."""

    notes: ProjectNotes | None = None

    def memories(self, query: MemoryQuery = ANY_MEMORY) -> list[Memory]:
        rows = super().memories(query)
        if self.notes is not None:
            notes, self.notes = self.notes, None
            self.put_memories([note(9, "캐시는 45초 뒤에 버린다.")])
            notes.refresh("p1")
        return rows


def note(number: int, text: str) -> Memory:
    return replace(make_memory(number, text), category=Category.CORE, kind=Kind.DECISION, by=Author.READER)


def stored(store: MemoryStore) -> MemoryStore:
    store.put_memories([note(number, text) for number, text in enumerate(TEXTS)])
    return store


def sure(notes: ProjectNotes, query: Query, near: Mapping[str, float] = {}) -> list[Candidate]:
    """Return the notes that a prompt is about. near: memory's id -> nearness."""
    told = {chunk_id(name, name, 0): nearness for name, nearness in near.items()}
    return [row for row in notes.choose(query, "p1", NEEDED, lambda _: told) if row.chance]


def test_loaded_notes_are_not_weighed_again() -> None:
    stats = CountedStats()
    notes = ProjectNotes(stored(MemoryStore()), stats)
    notes.of("p1")
    stats.weighed = 0
    query = reduce_prompt("결제는 뭐로 하지?")
    chosen = sure(notes, query)
    assert "포트원" in chosen[0].snippet or "포트원" in chosen[0].chunk.text
    assert stats.weighed == len(set(query.terms))


def test_notes_changed_while_they_are_read_are_read_again() -> None:
    store = BusyStore()
    notes = ProjectNotes(stored(store), TermStats())
    store.notes = notes
    assert len(notes.of("p1")) == len(TEXTS)
    assert len(notes.of("p1")) == len(TEXTS) + 1


def test_notes_are_weighed_anew_in_a_grown_corpus() -> None:
    stats = TermStats()
    notes = ProjectNotes(stored(MemoryStore()), stats)
    before = notes.of("p1")
    for number in range(project_notes.MIN_GROWTH):
        stats.add("c%d" % number, ["결제"])
    assert notes.of("p1") is before
    stats.add("last", ["결제"])
    after = notes.of("p1")
    assert {row.memory.id for row in after} == {row.memory.id for row in before}
    assert [row.weights for row in after] != [row.weights for row in before]


def test_long_note_fits_by_its_one_exact_word() -> None:
    store = stored(MemoryStore())
    long = (
        "결제 모듈은 normalize_cart() 뒤에서 큐를 비우고, "
        + "창고와 배송과 정산이 차례로 확인한 다음에만 끝난 것으로 본다. " * 5
    )
    store.put_memories([note(7, long)])
    notes = ProjectNotes(store, TermStats())
    prompt = reduce_prompt("normalize_cart 고쳐줘")
    assert [row.chunk.memory_id for row in sure(notes, prompt)][:1] == ["m7"]


def test_nothing_fills_a_block() -> None:
    notes = ProjectNotes(stored(MemoryStore()), TermStats())
    assert sure(notes, reduce_prompt("Explain the weather of tomorrow in Seoul, please")) == []
    assert sure(notes, reduce_prompt("로고 색을 조금 더 밝게 바꿔줘")) == []


def test_notes_keep_to_the_settings(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "p1", "결제 규칙을 정리하자", "네, 정리했습니다.")
    texts = ["결제 규칙 %d번은 " % number + "포트원 정산 " * 30 for number in range(9)]
    memory.store.put_memories([replace(note(at, text), project_id=turn.project_id) for at, text in enumerate(texts)])
    prompt = "결제 규칙 정산 포트원 규칙을 정리해줘"
    whole = memory.ask(prompt)
    assert len(entry_lines(whole.block)) > 1 and "…" not in whole.block
    one = memory.ask(prompt, RecallRules(budget=Budget(1, 100, 500)))
    assert len(entry_lines(one.block)) == 1 and len(one.block) <= 500
    assert Reason.CROWDED in {row.reason for row in one.candidates if row.is_note}


def test_a_note_is_found_by_its_headline_and_its_error() -> None:
    store = MemoryStore()
    fact = replace(note(7, "언제나 큐를 먼저 비운다."), headline="normalize_cart drains the queue first")
    cure = replace(note(8, "Run the migration again."), error="psycopg.errors.UndefinedColumn: carts.expires")
    store.put_memories([fact, cure])
    notes = ProjectNotes(store, TermStats())
    assert [row.chunk.memory_id for row in sure(notes, reduce_prompt("fix normalize_cart in the queue"))] == ["m7"]
    asked = reduce_prompt("psycopg.errors.UndefinedColumn: carts.expires")
    assert [row.chunk.memory_id for row in sure(notes, asked)] == ["m8"]


@pytest.mark.parametrize(("prompt", "nearness", "is_given"), TABLES["note_is_given_by_meaning_and_words"])
def test_note_is_given_by_meaning_and_words(prompt: str, nearness: float | None, *, is_given: bool) -> None:
    store = MemoryStore()
    store.put_memories([note(7, "The export drains the queue first.")])
    near = {} if nearness is None else {"m7": nearness}
    assert bool(sure(ProjectNotes(store, TermStats()), reduce_prompt(prompt), near)) is is_given


def test_long_word_weighs_as_one() -> None:
    stats = TermStats()
    notes = ProjectNotes(stored(MemoryStore()), stats)
    notes.store.put_memories([note(5, "랜딩페이지는 정적으로 만든다."), note(6, "globe 아이콘은 남긴다.")])
    by_id = {row.memory.id: row.weights for row in notes.of("p1")}
    assert sum(weight for term, weight in by_id["m5"].items() if term in "랜딩페이지는") < 1.5 * by_id["m6"]["globe"]


def test_word_of_most_notes_is_damped() -> None:
    store = MemoryStore()
    store.put_memories(
        [note(number, "memlayer 기능 %s 은 켠다" % name) for number, name in enumerate("가나다라마바사아")]
    )
    store.put_memories([note(20, "memlayer 인증서는 3월에 바꾼다")])
    notes = ProjectNotes(store, TermStats())
    assert sure(notes, reduce_prompt("memlayer 화면 색을 밝게 바꿔 줄래")) == []
    assert [row.chunk.memory_id for row in sure(notes, reduce_prompt("memlayer 인증서 언제 바꿔?"))] == ["m20"]


def test_rule_of_the_start_is_given_to_no_prompt_again_and_a_headline_is() -> None:
    store = stored(MemoryStore())
    store.put_memories(
        [
            replace(
                note(8, "토큰은 %s 만료된다" % ("열두 시간이 지나면 " * 12)), kind=Kind.FACT, headline="토큰은 만료된다"
            )
        ]
    )
    notes = ProjectNotes(store, TermStats())
    rule = next(row.memory for row in notes.of("p1") if row.memory.text == TEXTS[0])
    fact = next(row.memory for row in notes.of("p1") if row.memory.id == "m8")
    told = "- %s [mem:%s]\n- %s [mem:%s]" % (rule.text, rule.citation, fact.headline, fact.citation)
    session = Session("s2", shown=with_start([], told_at_start(told)))
    assert in_context(whole_chunk(rule), session) is Reason.SHOWN
    assert in_context(whole_chunk(fact), session) is None


def test_turn_gives_way_to_a_note_of_its_session(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "p1", "결제는 어디로 할까", "결제는 포트원이 틀린 것 같다")
    other = memory.turn("s9", "p1", "결제 화면 색은?", "결제 화면은 파란색이다.", at=5)
    told = replace(note(3, "결제는 포트원으로 한다."), project_id=turn.project_id, session_id="s1")
    memory.store.put_memories([told])
    found = memory.ask("결제는 포트원 말고 뭐로 하기로 했지?", RecallRules(min_chance=0.0))
    reasons = {row.chunk.memory_id: row.reason for row in found.candidates}
    assert (reasons[told.id], reasons[turn.id], reasons[other.id]) == (Reason.KEPT, Reason.LESSON, Reason.KEPT)


@pytest.mark.parametrize(
    ("task", "prompt"),
    [
        ("정산 배치의 재시도 제한을 환경 변수로 옮기기", "정산 배치 재시도 제한이 지금 어디에 있지?"),
        ("Move the nightly export to the queue", "the nightly export blocks again, look at the queue"),
    ],
)
def test_first_prompt_with_its_words_gets_open_work(task: str, prompt: str) -> None:
    store = MemoryStore()
    rows = [note(number, text) for number, text in enumerate(TEXTS)]
    open_work = replace(make_memory(7, task), category=Category.CORE, kind=Kind.TASK)
    store.put_memories([*rows, open_work])
    notes = ProjectNotes(store, TermStats())
    query = reduce_prompt(prompt)
    [chosen] = sure(notes, query)
    assert chosen.chunk.memory_id == open_work.id and chosen.snippet == "(task) " + task
    assert sure(notes, reduce_prompt("what is the colour of the logo?")) == []


@pytest.mark.parametrize("prompt", ["남은 작업 뭐 있지?", "What is still open?"])
def test_open_work_answers_who_asks_for_it(home: Path, prompt: str) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "p1", "정산 배치를 보자", "네.")
    titles = ("정산 재시도 제한을 환경 변수로 옮기기 (waits for: PROJ-12)", "Move the nightly export to the queue")
    rows = [
        replace(make_memory(at, title), category=Category.CORE, kind=Kind.TASK, project_id=turn.project_id)
        for at, title in enumerate(titles)
    ]
    memory.store.put_memories(rows)
    started = Session(id="s2", shown=with_start([], {row.citation: 900 for row in rows}))
    block = memory.ask(prompt, session=started).block
    assert all(title in block for title in titles)
    assert memory.ask(prompt, RecallRules(enabled=False)).block == ""


@pytest.mark.parametrize(
    ("headline", "text", "expected"), TABLES["a_prompt_is_told_the_rule_that_only_the_headline_has"]
)
def test_a_prompt_is_told_the_rule_that_only_the_headline_has(headline: str, text: str, expected: str) -> None:
    assert whole_text(replace(note(7, text), headline=headline)) == expected % (headline, text)
