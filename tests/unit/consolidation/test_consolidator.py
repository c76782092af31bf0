"""The consolidator: turns become daily entries and core memories, which merge, replace each other, and come back."""

from pathlib import Path

import pytest

from memlayer.consolidation.extractor import RULES
from memlayer.errors import StoreError
from memlayer.keep import keep
from memlayer.keep.keep import NO_CHANGE
from memlayer.model import replace, turn_memory_id
from memlayer.ports import MemoryQuery
from tests.support.consolidating_in_memory import DAY_MS, Consolidating
from tests.support.hash_embedder import HashEmbedder
from tests.support.tables import tables
from tests.support.turns_in_memory import T0_MS

TABLES = tables("consolidation/consolidator")

POSTGRES = "우리 주문 데이터는 Postgres에 저장하기로 했어."
CLICKHOUSE = "주문 데이터는 Postgres 말고 ClickHouse에 저장하기로 했어."
OK = "네, 그렇게 하겠습니다."


@pytest.fixture(params=["words", "vectors"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Consolidating:
    return Consolidating(tmp_path, HashEmbedder() if request.param == "vectors" else None)


def test_a_turn_becomes_a_daily_entry_and_a_core_memory(memory: Consolidating) -> None:
    [core] = memory.say("s1", "p1", POSTGRES, OK)
    turn_id = turn_memory_id("s1", "p1")
    [turn] = memory.store.memories(MemoryQuery(ids=[turn_id]))
    [daily] = memory.store.memories(MemoryQuery(category="daily"))
    assert "Postgres" in core.text and core.kind == "decision" and core.importance == 0.8
    assert core.key == "core_" + core.id[:4] and (core.source_ids, core.at_ms) == (turn.source_ids, turn.at_ms)
    assert "Postgres" in daily.text and daily.importance == 0.4
    assert daily.key == "daily_%s_%s" % (turn.key.split("_")[1], daily.id[:4])
    assert turn.rules == RULES
    assert memory.searched() == {turn_id, core.id}


@pytest.mark.parametrize(
    ("prompt", "answer"), TABLES["small_talk_questions_generated_prompts_and_own_commands_leave_nothing"]
)
def test_small_talk_questions_generated_prompts_and_own_commands_leave_nothing(
    memory: Consolidating, prompt: str, answer: str
) -> None:
    memory.hook("user_prompt_submit", "s1", "p1", 0, prompt=prompt)
    memory.hook("stop", "s1", "p1", 1, last_assistant_message=answer)
    memory.consolidator.settle_turns(10)
    assert memory.core() == [] and memory.store.memories(MemoryQuery(category="daily")) == []
    assert memory.consolidator.settle_turns(10) == 0


def test_private_spans_and_media_markers_reach_no_memory(memory: Consolidating) -> None:
    secret = "<private>주문 서버 포트는 9999로 하기로 했어.</private>"
    memory.say("s1", "p1", secret + " [Image #1] API 서버 포트는 8080으로 하기로 했어.", OK)
    kept = memory.core() + memory.store.memories(MemoryQuery(category="daily"))
    assert len(kept) == 2 and all("8080" in one.text for one in kept)
    assert not any("9999" in one.text or "redacted" in one.text or "Image" in one.text for one in kept)


@pytest.mark.parametrize("prompt", TABLES["no_core_memory_has_a_hole"])
def test_no_core_memory_has_a_hole(memory: Consolidating, prompt: str) -> None:
    memory.say("s1", "p1", prompt, OK)
    memory.say("s1", "p2", "주문 데이터는 Postgres에 저장하기로 했어. <private>딴 이야기</private>", OK)
    assert [one.text for one in memory.core() if "Postgres" not in one.text] == []
    assert any("Postgres" in one.text for one in memory.core())
    assert not any("redacted" in one.text for one in memory.core())


def test_doing_it_twice_changes_nothing(memory: Consolidating) -> None:
    memory.say("s1", "p1", POSTGRES, OK)
    memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    before = memory.whole()
    for turn in memory.store.memories(MemoryQuery(category="conversation")):
        memory.store.put_memories([replace(turn, rules=0)])
    assert memory.consolidator.settle_turns(10) == 2
    assert memory.whole() == before


def test_a_repeated_statement_is_merged(memory: Consolidating) -> None:
    [first] = memory.say("s1", "p1", "API 서버 포트는 8080으로 하기로 했어.", OK)
    [second] = memory.say("s2", "p2", "API 서버 포트는 8080으로 하기로 결정했어.", OK, at=DAY_MS)
    assert (second.id, second.key, second.citation) == (first.id, first.key, first.citation)
    assert len(second.source_ids) == 4 and set(first.source_ids) < set(second.source_ids)
    assert second.at_ms == T0_MS + DAY_MS and "결정" in second.text
    [reworded] = memory.core(is_current=False)
    assert reworded.text == first.text and keep.is_wording_of(reworded, second)
    assert reworded.id not in memory.searched()


def test_a_changed_statement_supersedes_the_older_one(memory: Consolidating) -> None:
    [old] = memory.say("s1", "p1", POSTGRES, OK)
    [new] = memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    [gone] = memory.core(is_current=False)
    assert gone.id == old.id and (gone.superseded_by, gone.ended_ms) == (new.id, T0_MS + DAY_MS)
    assert [one.id for one in memory.store.memories(MemoryQuery(superseded_by=[new.id]))] == [old.id]
    assert old.id not in memory.searched() and new.id in memory.searched()


def test_an_older_statement_that_comes_later_supersedes_nothing(memory: Consolidating) -> None:
    [new] = memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    [still] = memory.say("s1", "p1", POSTGRES, OK)
    [gone] = memory.core(is_current=False)
    assert still == new and "ClickHouse" in still.text
    assert (gone.superseded_by, gone.ended_ms) == (new.id, new.at_ms) and gone.id not in memory.searched()


def test_both_orders_of_arrival_in_one_batch_give_the_same(tmp_path: Path) -> None:
    ends = []
    for order in ((0, 1), (1, 0)):
        memory = Consolidating(tmp_path / str(order), HashEmbedder())
        for number in order:
            memory.turn("s%d" % number, "p%d" % number, (POSTGRES, CLICKHOUSE)[number], OK, at=number * DAY_MS)
        assert memory.consolidator.settle_turns(10) == 2
        ends.append(memory.whole())
    assert ends[0] == ends[1]
    assert len([one for one in ends[0][0] if not one.holds]) == 1


def test_statements_of_one_turn_leave_each_other_alone(memory: Consolidating) -> None:
    memory.say(
        "s1", "p1", "why are the characters of the csv so weird",
        "The `load_csv` reader opens files as `latin` only when the header names no encoding."
        " Each exported file is stored as `utf` in the bucket without any header.",
    )  # fmt: skip
    assert len(memory.core(is_current=None)) == len(memory.core()) == 2


def test_projects_do_not_mix(memory: Consolidating) -> None:
    memory.turn("s1", "p1", POSTGRES, OK)
    memory.turn("s2", "p2", CLICKHOUSE, OK, at=DAY_MS, project="/home/dev/other")
    memory.consolidator.settle_turns(10)
    assert len(memory.core()) == 2
    assert len(memory.keep.take_change().project_ids) == 2 and memory.keep.take_change() == NO_CHANGE


def test_an_open_turn_waits_and_a_turn_that_goes_on_is_read_again(tmp_path: Path) -> None:
    memory = Consolidating(tmp_path)
    memory.now_ms = T0_MS + 1000
    memory.hook("user_prompt_submit", "s1", "p1", 0, prompt=POSTGRES)
    assert memory.consolidator.settle_turns(10) == 0
    memory.hook("stop", "s1", "p1", 1, last_assistant_message=OK)
    assert memory.consolidator.settle_turns(10) == 1
    memory.hook("stop", "s1", "p1", 2, last_assistant_message=OK)  # seen twice: nothing new
    assert memory.consolidator.settle_turns(10) == 0
    memory.hook("stop", "s1", "p1", 3, last_assistant_message="캐시 TTL은 300초로 설정했습니다.")
    assert memory.consolidator.settle_turns(10) == 1
    assert len([text for text in memory.texts() if "Postgres" in text]) == 1


@pytest.mark.parametrize("closed_by", ["next turn", "end", "age"])
def test_a_turn_that_nobody_answered_is_closed_in_the_end(tmp_path: Path, closed_by: str) -> None:
    memory = Consolidating(tmp_path)
    memory.now_ms = T0_MS + 1000
    memory.hook("user_prompt_submit", "s1", "p1", 0, prompt=POSTGRES)
    if closed_by == "next turn":
        memory.hook("user_prompt_submit", "s1", "p2", 500, prompt="이제 테스트를 돌려줘")
    elif closed_by == "end":
        memory.hook("session_end", "s1", "", 500, reason="exit")
    else:
        memory.now_ms = T0_MS + DAY_MS
    assert memory.consolidator.settle_turns(10) == 1
    assert len(memory.core()) == 1


def test_newest_turns_come_first_and_in_small_batches(memory: Consolidating) -> None:
    for number in range(5):
        memory.turn("s%d" % number, "p", "서버 %d의 포트는 80%d0으로 하기로 했어." % (number, number), OK, at=number)
    assert memory.consolidator.settle_turns(2) == 2
    settled = {one.session_id for one in memory.store.memories(MemoryQuery(category="conversation")) if one.rules}
    assert settled == {"s4", "s3"}
    assert [memory.consolidator.settle_turns(2) for _ in range(3)] == [2, 1, 0]


class Power:
    """Takes a store's method away after some calls: what a killed process leaves behind."""

    def __init__(self, memory: Consolidating, name: str, calls: int) -> None:
        self.real, self.left = getattr(memory.store, name), calls
        setattr(memory.store, name, self)

    def __call__(self, *arguments: object) -> object:
        if self.left <= 0:
            raise StoreError("the power is gone")
        self.left -= 1
        return self.real(*arguments)


@pytest.mark.parametrize(("method", "calls"), [("put_memories", 0), ("put_chunks", 0), ("drop_chunks", 0)])
def test_a_crash_anywhere_leaves_what_the_next_time_makes_whole(tmp_path: Path, method: str, calls: int) -> None:
    whole = []
    for is_cut in (False, True):
        memory = Consolidating(tmp_path / str(is_cut), HashEmbedder())
        memory.say("s1", "p1", POSTGRES, OK)
        memory.turn("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
        if is_cut:
            power = Power(memory, method, calls)
            with pytest.raises(StoreError):
                memory.consolidator.settle_turns(10)
            setattr(memory.store, method, power.real)
        memory.consolidator.settle_turns(10)
        whole.append(memory.whole())
    assert whole[0] == whole[1]
