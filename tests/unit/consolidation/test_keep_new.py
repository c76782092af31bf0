"""Turns that are kept with their statements, in one write each of the index and the store."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memlayer.consolidation import consolidator
from memlayer.consolidation.rules.extraction import Extraction
from memlayer.edge.capture.payload import read_payload
from memlayer.errors import StoreError
from memlayer.model import Memory
from memlayer.ports import MemoryQuery
from tests.support.consolidating_in_memory import DAY_MS, Consolidating
from tests.support.hash_embedder import HashEmbedder
from tests.support.turns_in_memory import PROJECT, T0_MS

OK = "네, 그렇게 하겠습니다."
Said = tuple[str, str]  # prompt and answer; "" for none yet
# Batches, a tuple each: statements that stand, merge, replace each other, are taken back, and turns without any.
STORIES: dict[str, tuple[tuple[Said, ...], ...]] = {
    "one decision": ((("우리 주문 데이터는 Postgres에 저장하기로 했어.", OK),),),
    "replaced in its batch": (
        (("주문 데이터는 MySQL에 두기로 했어.", OK), ("주문 데이터는 MySQL 말고 Postgres에 두기로 했어.", OK)),
    ),
    "replaced in the next": (
        (("We decided to keep order events in Postgres.", "OK."),),
        (("We decided to keep order events in ClickHouse instead of Postgres.", "OK."),),
    ),
    "said again": (
        (("배포는 항상 화요일에 해.", OK),),
        (("배포는 항상 화요일에 해.", OK), ("고마워!", "별말씀을요.")),
    ),
    "no answer yet": ((("Always run the linter before a commit.", ""),), (("그리고 테스트도 돌려.", OK),)),
    "an answer in the next": (
        (("main 에는 절대 직접 push 하지 마", ""),),
        (("main 에는 절대 직접 push 하지 마", OK),),
    ),
    "small talk": ((("고마워!", "별말씀을요."), ("커밋해줘", "커밋했습니다."), ("What is a monad?", "A monoid.")),),
    "taken back": (
        (("캐시 한도는 512 MB로 하기로 했어.", OK),),
        (("아니, 방금 그 캐시 한도 결정은 취소해.", OK),),
    ),
    "both languages": (
        (("deploy script는 bun으로 바꾸기로 했어, because npm ci is too slow.", "Done: bun 1.2."),),
        (("deploy script timeout은 30초로 하기로 했어.", OK), ("timeout 왜 났지?", "The pool was too small.")),
    ),
    "many at once": (tuple((f"포트 {n}번은 서비스 {n}에 쓰기로 했어.", OK) for n in range(30)),),
}  # fmt: skip


class Batches(Consolidating):
    """Takes turns in by batches. is_at_once: their statements with them."""

    def __init__(self, home: Path, *, is_at_once: bool) -> None:
        super().__init__(home, HashEmbedder())
        self.ingest.reads_later = lambda: not is_at_once

    def take(self, batch: Sequence[Said], number: int) -> None:
        events = [self._event(*row) for place, said in enumerate(batch) for row in _hooks(said, number, place)]
        self.ingest.take(events)

    def _event(self, name: str, prompt_id: str, at_ms: int, said: Mapping[str, str]) -> dict[str, Any]:
        raw = json.dumps({"session_id": "s1", "prompt_id": prompt_id, **said}).encode()
        event = read_payload(name, raw, project_dir=PROJECT, at_ms=at_ms).event
        assert event is not None
        return event

    def tell(self, story: Sequence[Sequence[Said]]) -> None:
        for number, batch in enumerate(story):
            self.take(batch, number)
            self.consolidator.settle_turns(100)


def _hooks(said: Said, number: int, place: int) -> list[tuple[str, str, int, dict[str, str]]]:
    prompt, answer = said
    prompt_id, at_ms = "p" + prompt[:40], T0_MS + number * DAY_MS + place * 1000
    rows = [("user_prompt_submit", prompt_id, at_ms, {"prompt": prompt})]
    return rows + [("stop", prompt_id, at_ms + 1, {"last_assistant_message": answer})] * bool(answer)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
def test_the_same_is_kept_as_in_two_steps(tmp_path: Path, story: tuple[tuple[Said, ...], ...]) -> None:
    kept = []
    for is_at_once in (False, True):
        memory = Batches(tmp_path / str(is_at_once), is_at_once=is_at_once)
        memory.tell(story)
        kept.append(memory.whole())
        assert bool(memory.core()) is (story is not STORIES["small talk"])
    assert kept[0] == kept[1]


def test_a_batch_is_one_write_of_store_and_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Batches(tmp_path, is_at_once=True)
    writes: list[str] = []
    for name in ("put_memories", "put_chunks"):
        real = getattr(memory.store, name)
        monkeypatch.setattr(
            memory.store, name, lambda rows, name=name, real=real: (rows and writes.append(name), real(rows))
        )
    memory.take(STORIES["both languages"][1], 0)
    assert memory.consolidator.settle_turns(100) == 0
    assert writes == ["put_chunks", "put_memories"]
    assert memory.texts() and all(row.rules for row in _turns(memory))


def test_a_turn_without_an_answer_waits(tmp_path: Path) -> None:
    memory = Batches(tmp_path, is_at_once=True)
    memory.take((("항상 lint 먼저 돌려.", ""),), 0)
    assert [row.rules for row in _turns(memory)] == [0] and memory.core() == []


@pytest.mark.parametrize("name", ["replaced in its batch", "replaced in the next", "both languages", "taken back"])
@pytest.mark.parametrize("method", ["put_memories", "put_chunks", "drop_chunks"])
def test_a_crash_leaves_what_the_next_time_makes_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, method: str
) -> None:
    def fail(*arguments: object) -> None:
        raise StoreError("the power is gone")

    *before, last = STORIES[name]
    kept = []
    for is_cut in (False, True):
        memory = Batches(tmp_path / str(is_cut), is_at_once=True)
        memory.tell(before)
        if is_cut:
            with monkeypatch.context() as patched, pytest.raises(StoreError):
                patched.setattr(memory.store, method, fail)
                memory.take(last, len(before))
        memory.take(last, len(before))  # its events are in the spool until then
        kept.append(memory.whole())
    assert kept[0] == kept[1]


def test_turns_that_rules_cannot_read_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> Extraction:
        raise ValueError("no such date")

    memory = Batches(tmp_path, is_at_once=True)
    with monkeypatch.context() as patched:
        patched.setattr(consolidator, "extract", fail)
        memory.take(STORIES["one decision"][0], 0)
    [turn] = _turns(memory)
    assert not turn.rules and turn.id in memory.searched()
    assert memory.consolidator.settle_turns(100) == 1 and memory.core()


def _turns(memory: Consolidating) -> list[Memory]:
    return memory.store.memories(MemoryQuery(category="conversation"))
