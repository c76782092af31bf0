"""Memory files: their content, and the effect of a user's changes."""

import shutil
from pathlib import Path

import pytest

from memlayer.kinds import Category
from memlayer.memory_files.markdown import END
from memlayer.ports import MemoryQuery, Selection
from memlayer.records.tombstones import Tombstones
from memlayer.wire.upkeep import EditCounts
from tests.support.files_in_memory import PLANS, FilesInMemory, six_facts, written


def without_state(text: str) -> str:
    """A file without the line that lists its memories, as an earlier version wrote it."""
    return "".join(line for line in text.splitlines(keepends=True) if "as written" not in line)


@pytest.fixture
def kept(tmp_path: Path) -> FilesInMemory:
    return six_facts(tmp_path)


def test_core_page_sorts_by_kind_and_pin(tmp_path: Path) -> None:
    kept = FilesInMemory(tmp_path)
    fact = kept.say("스테이징 포트는 8443이다.")
    port = kept.say("Tabs, never blanks, in Makefiles.", "preference")
    first = kept.say("주문 이벤트는 ClickHouse에 저장하기로 했다.\n\n- 이유: 집계가 빠르다", "decision")
    pinned = kept.say("결제는 토스로 한다.", "decision", pinned=True)
    kept.now_ms += 60_000
    kept.say("결제 창은 새 탭에서 연다.", "decision")
    kept.sync()
    text = written(kept.page)
    order = [text.index(one) for one in ("## Preferences", "## Decisions", "## Facts")]
    assert order == sorted(order)
    assert "\n- [mem:%s] 2026-11-21 pinned: 결제는 토스로 한다.\n" % pinned.citation in text
    assert text.index(pinned.citation) < text.index("결제 창은") < text.index(first.citation)
    assert "2026-11-21: 주문 이벤트는 ClickHouse에 저장하기로 했다.\n\n  - 이유: 집계가 빠르다\n" in text
    assert all("[mem:%s]" % one.citation in text for one in (fact, port))
    assert text.startswith("<!-- memlayer keeps this file") and text.endswith(END + "\n")


def test_a_file_is_written_only_when_something_changed(kept: FilesInMemory) -> None:
    before = kept.page.stat()
    kept.sync()
    kept.start()
    kept.sync()
    assert (kept.page.stat().st_mtime_ns, kept.page.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    kept.say("새 사실이 하나 더 있다.")
    kept.sync()
    assert kept.page.stat().st_ino != before.st_ino
    assert not list(kept.folder.glob(".tmp-*"))


def test_a_superseded_memory_is_not_in_the_file(kept: FilesInMemory) -> None:
    [port] = [one for one in kept.core if "8443" in one.text]
    kept.say("The staging port is 9000 now, no longer 8443.")
    kept.sync()
    assert "9000" in written(kept.page)
    assert "[mem:%s] " % port.citation not in written(kept.page)


def test_a_changed_line_changes_the_memory(kept: FilesInMemory) -> None:
    [old] = [one for one in kept.core if "화요일" in one.text]
    kept.edit("매주 화요일 오전에", "매주 목요일 오후에")
    assert kept.sync() == EditCounts(edited=1)
    [new] = [one for one in kept.core if "목요일" in one.text]
    assert (new.citation, new.text) == (old.citation, "배포는 매주 목요일 오후에 한다.")
    assert len(kept.core) == len(PLANS)
    assert kept.sync() == EditCounts()


def test_deleted_line_can_be_restored(kept: FilesInMemory) -> None:
    [doomed] = [one for one in kept.core if "ClickHouse" in one.text]
    kept.delete("ClickHouse")
    assert kept.sync() == EditCounts(removed=1)
    assert "ClickHouse" not in " ".join(kept.texts) + written(kept.page)
    [away] = kept.store.memories(MemoryQuery(ids=[doomed.id]))
    kept.consolidator.restore(away)
    kept.sync()
    assert "ClickHouse" in written(kept.page)


def test_new_lines_are_remembered_in_their_section_once(kept: FilesInMemory) -> None:
    added = (
        "## 결정\n\n- 캐시는 Redis를 쓰기로 했다.\n  이유: 이미 운영 중이다.\n\n"
        "자유롭게 쓴 문단도\n기억한다.\n\n## 팀\n\n- 민수는 백엔드를 맡는다.\n\n"
    )
    kept.edit(END, added + END)
    assert kept.sync() == EditCounts(added=3)
    found = {one.text: one.kind for one in kept.core if one.text not in PLANS}
    assert found == {
        "캐시는 Redis를 쓰기로 했다.\n이유: 이미 운영 중이다.": "decision",
        "자유롭게 쓴 문단도\n기억한다.": "decision",
        "팀: 민수는 백엔드를 맡는다.": "note",
    }
    assert all("[mem:%s]" % one.citation in written(kept.page) for one in kept.core)
    kept.start()
    assert kept.sync() == EditCounts()
    assert len(kept.core) == len(PLANS) + 3


def test_line_after_the_end_is_remembered(kept: FilesInMemory) -> None:
    with kept.page.open("a", encoding="utf-8") as file:
        file.write("- 금요일에는 배포하지 않는다.\n")
    assert kept.sync() == EditCounts(added=1)
    assert written(kept.page).endswith(END + "\n")


def test_pinning_by_hand(kept: FilesInMemory) -> None:
    kept.edit(": 코드 리뷰는", " pinned: 코드 리뷰는")
    assert kept.sync() == EditCounts(edited=1)
    assert [one.text for one in kept.core if one.pinned] == ["코드 리뷰는 두 명이 한다."]
    kept.edit(" pinned: 코드 리뷰는", ": 코드 리뷰는")
    assert kept.sync() == EditCounts(edited=1)
    assert not [one for one in kept.core if one.pinned]


def test_an_undone_deletion_comes_back(kept: FilesInMemory) -> None:
    whole = written(kept.page)
    kept.delete("30일")
    kept.sync()
    kept.page.write_text(whole, encoding="utf-8")  # the editor still has the first revision
    assert kept.sync() == EditCounts(added=1)
    assert kept.texts == sorted(PLANS)


def test_stale_editor_deletes_no_newer_memory(kept: FilesInMemory) -> None:
    opened = written(kept.page)
    kept.say("그 사이에 알게 된 사실이다.")
    kept.sync()
    kept.page.write_text(opened.replace("30일 보관", "90일 보관"), encoding="utf-8")
    assert kept.sync() == EditCounts(edited=1)
    assert "그 사이에 알게 된 사실이다." in kept.texts and "로그는 90일 보관한다." in kept.texts
    assert "그 사이에" in written(kept.page)


def test_open_editor_revives_nothing_forgotten(kept: FilesInMemory) -> None:
    opened = written(kept.page)
    [doomed] = [one for one in kept.core if "ClickHouse" in one.text]
    kept.forget(doomed)
    assert "ClickHouse" not in written(kept.page)
    kept.page.write_text(opened, encoding="utf-8")
    assert kept.sync() == EditCounts()
    assert "ClickHouse" not in written(kept.page)


@pytest.mark.parametrize("which", ["day", "core"])
def test_old_copy_revives_no_aged_memory(tmp_path: Path, which: str) -> None:
    kept = FilesInMemory(tmp_path)
    kept.work("s1", "p1", "배포는 매주 화요일 오전에 하기로 했어.", "The deploy runs on Tuesday mornings now.")
    kept.sync()
    page = kept.page if which == "core" else next(kept.folder.glob("memory/*.md"))
    copy = page.read_bytes()
    assert "화요일" in copy.decode()
    for kind in (Category.DAILY, Category.CORE):
        Tombstones(str(kept.home)).record_retention(kind, kept.now_ms + 86_400_000, 1)
    kept.store.forget(Selection(project_id=kept.project_id))
    kept.start()
    kept.files.sync(kept.project_id, force=True)
    assert not page.exists()

    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(copy)
    kept.age(page)
    assert kept.sync() == EditCounts()
    assert kept.store.memories() == [] and not page.exists()
    # What a person writes into it is theirs.
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(copy.replace(END.encode(), ("- 이 줄은 새로 적었다.\n" + END).encode()))
    kept.age(page)
    assert kept.sync() == EditCounts(added=1)
    assert [one.text for one in kept.store.memories()] == ["이 줄은 새로 적었다."]


def test_copied_line_is_a_new_memory(kept: FilesInMemory) -> None:
    [port] = [one for one in kept.core if "8443" in one.text]
    kept.edit(
        END,
        "- [mem:%s] 2026-11-21: 운영 포트는 443이다.\n- [mem:zzzzzz] 다른 곳에서 붙여 넣은 줄.\n%s"
        % (port.citation, END),
    )
    assert kept.sync() == EditCounts(added=2)
    assert {"운영 포트는 443이다.", "다른 곳에서 붙여 넣은 줄.", port.text} <= set(kept.texts)
    assert "zzzzzz" not in written(kept.page)


def test_a_file_that_lost_its_state_deletes_nothing(kept: FilesInMemory) -> None:
    opened = written(kept.page)
    kept.edit("30일", "60일")
    kept.sync()
    shutil.rmtree(kept.home / "cache")
    kept.start()
    kept.page.write_text(without_state(opened), encoding="utf-8")
    kept.delete("ClickHouse")
    kept.files._book(kept.project_id).files["MEMORY.md"] = ""
    assert kept.sync() == EditCounts()
    assert "로그는 60일 보관한다." in kept.texts and "주문 이벤트는 ClickHouse에 저장한다." in kept.texts
    assert "1 deletion was not followed: the file does not say any more" in kept.files.notices()[0]
    assert "1 deletion was not followed" in written(kept.page).split("\n")[1]
    kept.edit("60일", "7일")
    kept.delete("ClickHouse")
    assert kept.sync() == EditCounts(edited=1, removed=1)
    assert kept.files.notices() == [] and "not followed" not in written(kept.page)


def test_a_lost_cache_changes_nothing(kept: FilesInMemory) -> None:
    kept.delete("ClickHouse")
    shutil.rmtree(kept.home / "cache")
    kept.start()
    assert kept.sync() == EditCounts(removed=1)
    assert len(kept.texts) == len(PLANS) - 1


def test_notes_in_day_files_are_found(tmp_path: Path) -> None:
    kept = FilesInMemory(tmp_path)
    kept.work(
        "s1", "p1", "정산 배치가 왜 두 번 도는지 찾아줘", "원인은 cron이 두 서버에 있던 것입니다. 한쪽을 껐습니다."
    )
    [entry] = kept.store.memories(MemoryQuery(category="daily"))
    kept.sync()
    page = kept.folder / "memory" / "2026-11-21.md"
    assert "- [mem:%s] " % entry.citation in written(page)
    kept.edit(END, "- 14:00에 정산 서버를 재부팅했다.\n" + END, page)
    (kept.folder / "memory" / "2026-11-02.md").write_text("# 지난 일\n\n- 정산 서버를 새로 들였다.\n", encoding="utf-8")
    assert kept.sync() == EditCounts(added=2)
    notes = {one.text: one.key for one in kept.store.memories(MemoryQuery(category="custom"))}
    assert notes["정산 서버를 새로 들였다."].startswith("custom_2026-11-02_")
    assert "[mem:" in written(kept.folder / "memory" / "2026-11-02.md")
    found = kept.ask("정산 서버는 언제 재부팅했지?", project=str(kept.root))
    assert any("재부팅했다" in one.snippet for one in found.entries)
    kept.delete("재부팅", page)
    assert kept.sync() == EditCounts(removed=1)
    assert not any(
        "재부팅" in one.chunk.text for one in kept.ask("정산 서버 재부팅", project=str(kept.root)).candidates
    )
