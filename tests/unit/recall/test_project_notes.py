"""The notes of a first prompt are read and weighed before it, and anew after a change."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memlayer.indexing.term_stats import TermStats
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, replace
from memlayer.ports import ANY_MEMORY, Holding, MemoryQuery
from memlayer.recall import project_notes
from memlayer.recall.candidate import AT_START, Candidate, Reason, in_context, whole_chunk
from memlayer.recall.project_notes import MAX_FIRST, MAX_LATER, ProjectNotes, notes_block, without_noted_turns
from memlayer.recall.query import reduce_prompt
from memlayer.records.sessions import Session
from memlayer.text.context_block import Budget
from tests.support.memory_store import MemoryStore
from tests.support.store_rows import make_chunk, make_memory

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


def test_loaded_notes_are_not_weighed_again() -> None:
    stats = CountedStats()
    notes = ProjectNotes(stored(MemoryStore()), stats)
    notes.of("p1")
    stats.weighed = 0
    query = reduce_prompt("결제는 뭐로 하지?")
    chosen = notes.choose(query, "p1", None)
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
    assert [row.chunk.memory_id for row in notes.choose(prompt, "p1", None)][:1] == ["m7"]


def test_nothing_fills_a_block() -> None:
    notes = ProjectNotes(stored(MemoryStore()), TermStats())
    assert notes.choose(reduce_prompt("Explain the weather of tomorrow in Seoul, please"), "p1", None) == []
    assert notes.choose(reduce_prompt("로고 색을 조금 더 밝게 바꿔줘"), "p1", None) == []


@pytest.mark.parametrize("is_first", [True, False])
def test_prompt_gets_few_notes_and_each_whole(is_first: bool) -> None:
    store = MemoryStore()
    texts = ["결제 규칙 %d번은 " % number + "포트원 정산 " * 30 for number in range(9)]
    store.put_memories([note(number, text) for number, text in enumerate(texts)])
    query = reduce_prompt("결제 규칙 정산 포트원 규칙을 정리해줘")
    chosen = ProjectNotes(store, TermStats()).choose(query, "p1", None, rare=None if is_first else query.terms)
    assert 0 < len(chosen) <= (MAX_FIRST if is_first else MAX_LATER)
    kept, block = notes_block(chosen, [], Budget(), None)
    assert kept == chosen and "…" not in block


@pytest.mark.parametrize("prompt", ["normalize_cart 를 장바구니에서 고쳐줘", "fix normalize_cart in the cart module"])
def test_later_prompt_gets_a_note_by_a_rare_word_alone(prompt: str) -> None:
    store = MemoryStore()
    store.put_memories([note(7, "normalize_cart cart module 장바구니")])
    notes, query = ProjectNotes(store, TermStats()), reduce_prompt(prompt)
    assert notes.choose(query, "p1", None, rare=frozenset({"store"})) == []
    assert [row.chunk.memory_id for row in notes.choose(query, "p1", None, rare={"normalize_cart"})] == ["m7"]


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
    assert notes.choose(reduce_prompt("memlayer 화면 색을 밝게 바꿔 줄래"), "p1", None) == []
    assert [row.chunk.memory_id for row in notes.choose(reduce_prompt("memlayer 인증서 언제 바꿔?"), "p1", None)] == [
        "m20"
    ]


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
    session = Session("s2", shown=[AT_START + rule.citation, AT_START + fact.citation])
    assert notes.choose(reduce_prompt(TEXTS[0]), "p1", session) == []
    assert in_context(whole_chunk(rule), session) is Reason.SHOWN
    [given] = notes.choose(reduce_prompt("토큰이 언제 만료돼? 열두 시간?"), "p1", session)
    assert given.chunk.memory_id == "m8"


def test_turn_gives_way_to_a_note_of_its_session() -> None:
    notes = ProjectNotes(stored(MemoryStore()), TermStats()).choose(reduce_prompt(TEXTS[0]), "p1", None)
    turn = Candidate(make_chunk(40, "결제는 포트원이 틀린 것 같다"), notes[0].score)
    other = Candidate(make_chunk(41, "결제", session="s9"), notes[0].score)
    assert without_noted_turns([turn, other], notes) == [other]


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
    [chosen] = notes.choose(query, "p1", None)
    assert chosen.chunk.memory_id == open_work.id and chosen.snippet == "(task) " + task
    assert notes.choose(query, "p1", None, rare=query.terms) == []
    assert notes.choose(reduce_prompt("what is the colour of the logo?"), "p1", None) == []
    told = Session(id="s9", shown=[AT_START + open_work.citation])
    assert notes.choose(query, "p1", told) == []
