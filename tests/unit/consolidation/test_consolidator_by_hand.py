"""What a person does with single memories: remember, pin, edit, retire and restore, and the chains that come of it."""

import re
from pathlib import Path

import pytest

from memlayer.consolidation.statement import statement_of
from memlayer.errors import UserError
from memlayer.keep import keep
from memlayer.kinds import Author, Ended
from memlayer.model import Scope
from memlayer.ports import MemoryQuery
from tests.support.consolidating_in_memory import DAY_MS, Consolidating
from tests.support.hash_embedder import HashEmbedder

POSTGRES = "우리 주문 데이터는 Postgres에 저장하기로 했어."
CLICKHOUSE = "주문 데이터는 Postgres 말고 ClickHouse에 저장하기로 했어."
OK = "네, 그렇게 하겠습니다."


@pytest.fixture(params=["words", "vectors"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Consolidating:
    return Consolidating(tmp_path, HashEmbedder() if request.param == "vectors" else None)


def test_what_a_person_asks_to_remember_is_core_at_once_and_twice_is_once(memory: Consolidating) -> None:
    kept = memory.remember("배포는 항상 화요일 오전에 한다")
    assert (kept.category, kept.importance, kept.session_id) == ("core", 0.8, "")
    again = memory.remember("배포는 항상 화요일 오전에 한다", at=DAY_MS)
    assert again.id == kept.id and len(again.source_ids) == 2
    assert memory.store.events(kind="remember") and memory.searched() == {kept.id}
    memory.ingest.take([])
    assert memory.core(is_current=None) == [again]


@pytest.mark.parametrize(
    "text",
    [
        "[file server] is A, ![logo](img/logo.png) stays, [파일] 서버는 B",
        "first line\n\n```sh\nmake deploy\n```\n둘째 줄 \\ 끝",
        "가" * 4000,
    ],
)
def test_remembered_text_stays_whole(memory: Consolidating, text: str) -> None:
    assert memory.remember(text).text == text


def test_an_edit_is_whole_or_refused(memory: Consolidating) -> None:
    kept = memory.remember("배포는 화요일")
    with pytest.raises(UserError, match="4,001 characters are too long"):
        memory.consolidator.edit(kept, "나" * 4001)
    assert memory.consolidator.edit(kept, "나" * 4000).text == "나" * 4000


def test_remembering_supersedes_what_a_turn_said_and_forgets_no_source(memory: Consolidating) -> None:
    [old] = memory.say("s1", "p1", POSTGRES, OK)
    new = memory.remember(CLICKHOUSE, at=DAY_MS)
    [gone] = memory.core(is_current=False)
    assert (gone.id, gone.superseded_by, gone.source_ids) == (old.id, new.id, old.source_ids)


def test_only_an_edit_replaces_pinned(memory: Consolidating) -> None:
    [old] = memory.say("s1", "p1", POSTGRES, OK)
    old = memory.consolidator.pin(old, True)
    memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    new = memory.remember("주문 데이터는 이제 Postgres 말고 DuckDB에 저장하기로 했어.", at=2 * DAY_MS)
    assert old in memory.core() and not new.pinned
    assert memory.consolidator.pinned_against(new) == [old]
    edited = memory.consolidator.edit(old, new.text)
    [held] = memory.store.memories(MemoryQuery(ids=[old.id]))
    assert held == edited and held.pinned and held.text == new.text


def test_merge_keeps_pinned_words(memory: Consolidating) -> None:
    old = memory.consolidator.pin(memory.remember("The API port is 8080."), True)
    again = memory.remember("the API port is 8080, please", at=DAY_MS)
    assert (again.id, again.text, again.pinned) == (old.id, old.text, True)
    assert len(again.source_ids) == 2 and len(keep.before(memory.store, again)) == 1


def test_late_pinned_statement_stays(memory: Consolidating) -> None:
    memory.remember("The API port is 9090.", at=DAY_MS)
    [held] = memory.core()
    late = statement_of(
        held.project_id, "The API port is 8080.", "fact", by=Author.PERSON, at_ms=held.at_ms - 1, pinned=True
    )
    memory.consolidator.add_statement(late)
    assert sorted(memory.texts()) == ["The API port is 8080.", "The API port is 9090."]


def test_pin_moves_on_restore(memory: Consolidating) -> None:
    old = memory.remember("The API port is 8080.")
    new = memory.consolidator.pin(memory.remember("The API port is 9090 now.", at=DAY_MS), True)
    [gone] = [one for one in memory.core(is_current=False) if one.id == old.id]
    back = memory.consolidator.restore(gone)
    assert back.pinned and [one.id for one in memory.core()] == [old.id]
    assert not any(one.pinned for one in memory.core(is_current=False) if one.id == new.id)


@pytest.mark.parametrize(
    ("said", "then"),
    [
        (["worker 1 listens on port 9001", "worker 2 listens on port 9002"], "the worker now listens on port 9100"),
        (["1번 서버는 8080 포트를 쓴다.", "2번 서버는 8081 포트를 쓴다."], "서버는 이제 8090 포트를 쓴다."),
        (["staging timeout은 10초야.", "prod timeout은 40초야."], "timeout은 이제 60초야."),
    ],
)
def test_two_subjects_stay_together(memory: Consolidating, said: list[str], then: str) -> None:
    for number, text in enumerate([*said, then]):
        memory.remember(text, at=number * DAY_MS)
    assert memory.texts() == [*said, then]


def test_a_pin_survives_that_its_turn_goes_on(memory: Consolidating) -> None:
    turn = memory.turn("s1", "p1", POSTGRES, OK)
    memory.consolidator.pin(turn, True)
    memory.hook("stop", "s1", "p1", 2, last_assistant_message="그리고 마이그레이션도 끝났습니다.")
    [now] = memory.store.memories(MemoryQuery(ids=[turn.id]))
    assert now.pinned and len(now.source_ids) == 3
    assert memory.consolidator.pin(now, False).pinned is False


def test_a_pinned_turn_is_still_found_by_its_end(memory: Consolidating) -> None:
    turn = memory.turn("s1", "p1", "설명해줘", "긴 설명입니다. " * 900 + "마지막 낱말은 zephyrine 입니다.")
    memory.consolidator.pin(turn, True)
    scope = Scope((turn.project_id,))
    hits = memory.store.search_text(["zephyrin"], scope, 5) or memory.store.search_text(["zephyrine"], scope, 5)
    assert [(hit.chunk.memory_id, hit.chunk.importance) for hit in hits] == [(turn.id, 1.0)]


def test_an_edit_keeps_id_and_citation_and_the_old_text(memory: Consolidating) -> None:
    [old] = memory.say("s1", "p1", POSTGRES, OK)
    new = memory.consolidator.edit(old, "주문 데이터는 Postgres 16에 저장한다")
    assert (new.id, new.key, new.citation, new.source_ids) == (old.id, old.key, old.citation, old.source_ids)
    assert memory.core() == [new] and new.session_id == ""
    [before] = keep.before(memory.store, new)
    assert before.text == old.text and keep.is_wording_of(before, new)
    earlier = (
        f"current already. Its earlier wording is {before.citation}: `memlayer edit --restore {before.citation}` brings"
    )
    with pytest.raises(UserError, match=re.escape(earlier)) as told:
        memory.consolidator.restore(new)
    assert f"`memlayer show --history {new.citation}` shows all" in str(told.value)
    assert memory.consolidator.restore(before).text == old.text
    assert {one.text for one in keep.before(memory.store, new)} == {old.text, new.text}


def test_an_edit_that_cannot_be_is_refused(memory: Consolidating) -> None:
    turn = memory.turn("s1", "p1", POSTGRES, OK)
    with pytest.raises(UserError, match="a turn"):
        memory.consolidator.edit(turn, "다른 말")
    kept = memory.remember("배포는 화요일")
    with pytest.raises(UserError, match="empty"):
        memory.consolidator.edit(kept, "  ")
    memory.consolidator.retire(kept)
    [retired] = memory.core(is_current=False)
    for change in (
        lambda: memory.consolidator.edit(retired, "배포는 수요일"),
        lambda: memory.consolidator.pin(retired, True),
    ):
        with pytest.raises(UserError, match=r"holds no more: let go on \d{4}.*`memlayer edit --restore core_\w+`"):
            change()


def test_an_ended_memory_names_the_one_that_holds(memory: Consolidating) -> None:
    memory.say("s1", "p1", POSTGRES, OK)
    [new] = memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    [gone] = memory.core(is_current=False)
    with pytest.raises(
        UserError, match=f"replaced on .* by {new.citation}, which `memlayer edit {new.citation}` changes"
    ):
        memory.consolidator.edit(gone, "주문 데이터는 SQLite에 저장한다")


def test_restore_puts_the_older_one_in_the_newer_ones_place(memory: Consolidating) -> None:
    [old] = memory.say("s1", "p1", POSTGRES, OK)
    [new] = memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    [gone] = memory.core(is_current=False)
    back = memory.consolidator.restore(gone)
    assert memory.core() == [back] and back.id == old.id
    assert memory.store.memories(MemoryQuery(ids=[new.id]))[0].superseded_by == old.id
    assert memory.searched() & {old.id, new.id} == {old.id}
    with pytest.raises(UserError, match=f"current already. It replaced {new.citation}: "):
        memory.consolidator.restore(back)
    memory.say("s3", "p3", CLICKHOUSE, OK, at=2 * DAY_MS)  # said before the person restored it
    assert memory.texts() == [old.text]
    with pytest.raises(UserError, match=r"current already\. There is nothing to bring back"):
        memory.consolidator.restore(memory.remember("배포는 화요일"))


def test_restore_can_keep_both(memory: Consolidating) -> None:
    memory.say("s1", "p1", POSTGRES, OK)
    memory.say("s2", "p2", CLICKHOUSE, OK, at=DAY_MS)
    memory.consolidator.restore(memory.core(is_current=False)[0], keep_both=True)
    assert len(memory.core()) == 2 and memory.core(is_current=False) == []


def test_a_chain_is_told_from_any_of_its_links_and_never_runs_in_circles(memory: Consolidating) -> None:
    said = ("API 포트는 8080이야.", "API 포트는 9090으로 바꿨어.", "API 포트는 7070으로 바꿨어.")
    for number, text in enumerate(said):
        memory.remember(text, at=number * DAY_MS)
    first = memory.core(is_current=None)[0]
    head = keep.head(memory.store, first)
    assert "7070" in head.text and len(keep.before(memory.store, head)) == 2
    back = memory.consolidator.restore(first)
    [head] = memory.store.memories(MemoryQuery(ids=[head.id]))
    assert keep.head(memory.store, head).id == back.id
    assert len(keep.before(memory.store, back)) == 2


def test_what_is_retired_is_not_found_and_comes_back(memory: Consolidating) -> None:
    kept = memory.remember("배포는 화요일")
    memory.consolidator.retire(kept)
    [retired] = memory.core(is_current=False)
    assert memory.searched() == set() and keep.head(memory.store, retired).id == retired.id
    assert retired.ended_because is Ended.LET_GO
    memory.consolidator.restore(retired)
    assert memory.searched() == {kept.id}


def test_own_turn_of_each_kind(memory: Consolidating) -> None:
    for number in range(6):
        memory.turn(
            "s1",
            f"p{number}",
            f"{number}번째 질문: 서버 로그를 어디서 보나요?",
            "대시보드에서 봅니다.",
            at=number * 1000,
        )
    memory.say("s1", "p6", POSTGRES, OK, at=6000)
    memory.turn("s1", "p7", "로그 보관은 어떻게 하나요?", "30일 보관합니다.", at=7000)
    by_hand = memory.remember("배포는 화요일에 한다", session="s1", at=7500)
    outside = memory.remember("점심은 12시다", at=7600)
    [core] = [one for one in memory.core() if "Postgres" in one.text]
    [daily] = [one for one in memory.store.memories(MemoryQuery(category="daily")) if one.prompt_id == "p6"]
    edited = memory.consolidator.edit(core, "주문 데이터는 Postgres 16에 저장한다")
    for one in (core, daily, edited):
        turn = keep.own_turn(memory.store, one)
        assert turn is not None and turn.prompt_id == "p6"
        assert [near.prompt_id for near in keep.turns_around(memory.store, turn, 2)] == ["p4", "p5", "p6", "p7"]
    said = keep.own_turn(memory.store, by_hand)
    assert said is not None and said.prompt_id == "p7"
    assert keep.own_turn(memory.store, outside) is None
