"""The lines of the `[Memory context]` block: citation, day and text of each entry, best first, within the budget."""

import time
from pathlib import Path

import pytest

from memlayer.edge.redaction.privacy import strip_own_blocks
from memlayer.give.listed_start import EXPLANATION as STARTED
from memlayer.give.recall import RecallRules
from memlayer.records.sessions import Session
from memlayer.text.context_block import (
    EXPLANATION,
    HEADER,
    Budget,
    Entry,
    best_sentences,
    block,
    day_of,
    entry_lines,
    line_of,
)
from tests.support.tables import tables
from tests.support.turns_in_memory import T0_MS, TurnsInMemory
from tests.unit.give.test_superseded import drawn

DAY = day_of(T0_MS)
OLD = Entry("a7Bc3x", "2026-11-19", "주문 이벤트는 Postgres에 둔다.")
NEW = Entry("x9Yz2w", "2026-11-23", "주문 이벤트는 ClickHouse에 둔다.")


def test_line_is_citation_day_text() -> None:
    assert line_of(NEW, 800) == "- [mem:x9Yz2w] 2026-11-23: 주문 이벤트는 ClickHouse에 둔다."


def test_day_is_the_local_one() -> None:
    assert day_of(T0_MS) == time.strftime("%Y-%m-%d", time.localtime(T0_MS / 1000))


def test_best_entry_stands_first() -> None:
    assert [line[7:13] for line in entry_lines(block([OLD, NEW], Budget()))] == ["a7Bc3x", "x9Yz2w"]


def test_explanation_is_optional() -> None:
    said, unsaid = block([NEW], Budget()), block([NEW], Budget(), "")
    assert said.split("\n")[:2] == [HEADER, EXPLANATION]
    assert unsaid.split("\n") == [HEADER, line_of(NEW, 800)]
    assert block([], Budget(), "") == ""


@pytest.mark.parametrize("explanation", [EXPLANATION, ""])
@pytest.mark.parametrize(
    "text", ["결제 모듈은 포트원을 쓴다. " * 60, "가" * 2000, "the cache expires after 45 s. " * 60]
)
def test_cut_text_ends_in_ellipsis(text: str, explanation: str) -> None:
    for budget in (Budget(5, 100, 4000), Budget(5, 800, 540 if explanation else 200)):
        [line] = entry_lines(block([Entry("a7Bc3x", "2026-11-19", text)], budget, explanation))
        assert line.endswith("…")


def test_left_out_sentences_leave_ellipsis() -> None:
    first, second, third = ("%s 번째는 " % name + "길게 " * 30 + "둔다." for name in ("첫", "두", "세"))
    room = 2 * len(first) + 10
    assert best_sentences([first, second, third], [0.0, 1.0, 0.0], room) == "%s …" % second
    assert best_sentences([first, second, third], [0.0, 0.5, 1.0], room) == "%s %s" % (second, third)
    assert best_sentences([first, second, third], [1.0, 0.0, 0.9], room) == "%s … %s" % (first, third)


@pytest.mark.parametrize("text", tables("text/context_block")["stored_text_forges_no_entry"])
def test_stored_text_forges_no_entry(text: str) -> None:
    made = block([Entry("a7Bc3x", "2026-11-19", text)], Budget(), "")
    assert made.count("\n") == 1 and made.count("[mem:") == 1 and made.count(HEADER) == 1
    assert "<system" not in made


@pytest.mark.parametrize("explanation", [EXPLANATION, STARTED, ""])
def test_block_is_never_taken_in(explanation: str) -> None:
    made = block([OLD, NEW], Budget(), explanation)
    assert strip_own_blocks("앞\n%s\n뒤" % made) == "앞\n뒤"
    assert strip_own_blocks("앞\n%s\n뒤" % line_of(OLD, 800)) == "앞\n뒤"


class TestRecalled:
    def test_explanation_comes_once_a_session(self, home: Path) -> None:
        memory, session = TurnsInMemory(home), Session(id="s9", since_ms=T0_MS + 500_000)
        memory.turn("s1", "p1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다.")
        asked = "캐시 만료 몇 초였지?"
        assert memory.ask(asked, RecallRules(min_chance=0.0), session).block.split("\n")[1] == EXPLANATION
        session.explained_ms = T0_MS + 500_000
        [header, line] = memory.ask(asked, RecallRules(min_chance=0.0), session).block.split("\n")
        assert header == HEADER and "45초" in line

    def test_statement_carries_its_day(self, home: Path) -> None:
        memory = TurnsInMemory(home)
        turn = memory.turn("s1", "p1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다.")
        core = drawn(memory, turn, "캐시 만료는 45초로 했습니다.")
        memory.store.drop_chunks([turn.id])
        block = memory.ask("캐시 만료 몇 초였지?", RecallRules(min_chance=0.0)).block
        assert "- [mem:%s] %s: 캐시 만료는" % (core.citation, DAY) in block
        assert core.key not in block and turn.key not in block
