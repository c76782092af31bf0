"""Old copies, moved, copied and damaged bullets: nothing newer is deleted, nothing forgotten comes back."""

import re
import time
from pathlib import Path

import pytest

from memlayer.memory_files.markdown import END
from memlayer.ports import MemoryQuery, Selection
from memlayer.wire.upkeep import EditCounts
from tests.support.files_in_memory import PLANS, FilesInMemory, bullets, six_facts, written

PAIR = [("배포는 매주 화요일 오전에 한다.", "화요일"), ("The staging port is 8443.", "8443")]


@pytest.fixture
def kept(tmp_path: Path) -> FilesInMemory:
    return six_facts(tmp_path)


def save(kept: FilesInMemory, text: str) -> None:
    kept.page.write_text(text, encoding="utf-8")


def bullet(kept: FilesInMemory, part: str) -> str:
    [found] = [one for one in bullets(kept.page) if part in one]
    return found


@pytest.mark.parametrize("newer", ["그 사이에 알게 된 사실이다.", "A fact that came meanwhile."])
@pytest.mark.parametrize(("text", "part"), PAIR)
def test_old_buffer_deletes_only_lines_it_had(kept: FilesInMemory, newer: str, text: str, part: str) -> None:
    opened = written(kept.page)
    kept.say(newer)
    kept.sync()
    save(kept, opened.replace(bullet(kept, part), ""))
    assert kept.sync() == EditCounts(removed=1)
    assert newer in kept.texts and text not in kept.texts and newer in written(kept.page)
    assert kept.files.notices() == []


@pytest.mark.parametrize(("text", "part"), PAIR)
def test_old_buffer_deletes_no_newer_wording(kept: FilesInMemory, text: str, part: str) -> None:
    opened = written(kept.page)
    [memory] = [one for one in kept.core if one.text == text]
    kept.consolidator.edit(memory, text.replace(part, "%s (9월부터 September)" % part))
    kept.sync()
    save(kept, opened.replace(next(one for one in opened.splitlines(keepends=True) if part in one), ""))
    assert kept.sync() == EditCounts()
    assert any("9월부터" in one for one in kept.texts)
    told = "1 deletion was not followed: the copy that was saved is older than these lines"
    assert told in kept.files.notices()[0] and told in written(kept.page).split("\n")[1]
    # In the file as it is now, the same deletion counts, and the line to the person is gone.
    kept.delete("9월부터")
    assert kept.sync() == EditCounts(removed=1)
    assert kept.files.notices() == [] and "not followed" not in written(kept.page)


@pytest.mark.parametrize(("text", "part"), PAIR)
def test_old_buffer_brings_no_old_wording_back(kept: FilesInMemory, text: str, part: str) -> None:
    opened = written(kept.page)
    kept.edit(part, "새 값 new")
    kept.sync()
    save(kept, opened.replace("코드 리뷰는 두 명이", "코드 리뷰는 세 명이"))
    assert kept.sync() == EditCounts(edited=1)
    assert text not in kept.texts and "코드 리뷰는 세 명이 한다." in kept.texts
    assert any("새 값 new" in one for one in kept.texts)


def test_one_buffer_may_delete_line_after_line(kept: FilesInMemory) -> None:
    opened = written(kept.page)
    for number, part in enumerate(("화요일", "8443", "30일", "ClickHouse", "Payments"), 1):
        opened = opened.replace(next(one for one in opened.splitlines(keepends=True) if part in one), "")
        save(kept, opened)
        assert kept.sync() == EditCounts(removed=1), part
        assert len(kept.texts) == len(PLANS) - number


@pytest.mark.parametrize(("text", "part"), PAIR)
@pytest.mark.parametrize("day", ["2026-11-02", "2026-11-21"])
def test_bullet_moved_to_another_file_moves_back(kept: FilesInMemory, text: str, part: str, day: str) -> None:
    kept.work("s1", "p1", "정산 배치가 왜 두 번 도는지 찾아줘", "원인은 cron이 두 서버에 있던 것입니다. 껐습니다.")
    kept.sync()
    moved, page = bullet(kept, part), kept.folder / "memory" / (day + ".md")
    old = page.read_text(encoding="utf-8") if page.exists() else "# 지난 일\n\n" + END
    page.write_text(old.replace(END, moved + END), encoding="utf-8")
    kept.edit(moved, "")
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and text in written(kept.page)
    assert not page.exists() or text not in written(page)
    assert kept.files.notices() == []


@pytest.mark.parametrize(("text", "part"), PAIR)
def test_entry_moved_to_the_core_page_moves_back(kept: FilesInMemory, text: str, part: str) -> None:
    kept.work("s1", "p1", "정산 배치가 왜 두 번 도는지 찾아줘", "원인은 cron이 두 서버에 있던 것입니다. 껐습니다.")
    kept.sync()
    [page] = kept.folder.glob("memory/*.md")
    [entry] = bullets(page)
    kept.edit(entry, "", page)
    kept.edit(bullet(kept, part), entry + bullet(kept, part))
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and entry in written(page) and entry not in written(kept.page)


def test_many_bullets_moved_at_once_are_no_deletions(kept: FilesInMemory) -> None:
    page = kept.folder / "memory" / "2026-11-02.md"
    page.parent.mkdir()
    page.write_text("".join(bullets(kept.page)), encoding="utf-8")
    for one in bullets(kept.page):
        kept.edit(one, "")
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and kept.files.notices() == []


def test_bullet_moved_and_changed_is_an_edit(kept: FilesInMemory) -> None:
    page = kept.folder / "memory" / "2026-11-02.md"
    page.parent.mkdir()
    page.write_text(bullet(kept, "화요일").replace("화요일", "목요일"), encoding="utf-8")
    kept.delete("화요일")
    assert kept.sync().removed == 0
    assert "배포는 매주 목요일 오전에 한다." in kept.texts and len(kept.texts) == len(PLANS)


DAMAGE = [
    lambda key: "[mem:%s" % key,
    lambda key: "mem:%s]" % key,
    lambda key: "[%s]" % key,
    lambda key: "[mem: %s]" % key,
    lambda key: "[mem:]",
    lambda key: "[mem:%s]" % key[:3],
    lambda key: "[mem:%sX]" % key,
    lambda key: "[mem:zzzzzz]",
    lambda key: "(%s)" % key,
    lambda key: "",
]


@pytest.mark.parametrize("number", range(len(DAMAGE)))
@pytest.mark.parametrize(("text", "part"), PAIR)
@pytest.mark.parametrize("with_day", [True, False])
def test_damaged_citation_is_no_change(kept: FilesInMemory, number: int, text: str, part: str, with_day: bool) -> None:
    line = bullet(kept, part)
    [memory] = [one for one in kept.core if one.text == text]
    day = re.search(r"\] (\d{4}-\d\d-\d\d: )", line)
    assert day is not None
    head = DAMAGE[number](memory.citation)
    if not with_day and head and not head.startswith(("[mem:", "mem:")):
        return  # such a line has become a text of its own
    kept.edit(line, "- " + " ".join(one for one in (head, day[1] * with_day + text) if one) + "\n")
    assert kept.sync() == EditCounts()
    assert [one for one in kept.core if one.text == text] == [memory]
    assert kept.texts == sorted(PLANS) and line in written(kept.page)


@pytest.mark.parametrize("line", ["2026-11-20: 화요일에 배포했다.", "12:30: lunch with Dana.", "mem: 5 GB is enough."])
def test_a_line_that_looks_damaged_is_a_text(kept: FilesInMemory, line: str) -> None:
    kept.edit(END, "- %s\n%s" % (line, END))
    assert kept.sync() == EditCounts(added=1)
    assert line in kept.texts


def test_a_day_before_known_words_is_a_new_text(kept: FilesInMemory) -> None:
    kept.edit(END, "- 2026-11-20: The staging port is 8443.\n" + END)
    assert kept.sync() == EditCounts(added=1)
    assert "2026-11-20: The staging port is 8443." in kept.texts and len(kept.texts) == len(PLANS) + 1


@pytest.mark.parametrize(("text", "part"), PAIR)
def test_the_same_bullet_twice_is_one_memory(kept: FilesInMemory, text: str, part: str) -> None:
    line = bullet(kept, part)
    kept.edit(line, line * 3)
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and written(kept.page).count(text) == 1


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("text", "part"), PAIR)
def test_a_copy_with_other_words_is_new(kept: FilesInMemory, order: int, text: str, part: str) -> None:
    line = bullet(kept, part)
    kept.edit(line, "".join([line, line.replace(part, "다른 값 other")][::order]))
    assert kept.sync() == EditCounts(added=1)
    [memory] = [one for one in kept.core if one.text == text]
    assert line.startswith("- [mem:%s]" % memory.citation) and len(kept.texts) == len(PLANS) + 1


@pytest.mark.parametrize("raw", [b"", b"\n\n", "\ufeff".encode(), b"  \r\n"])
def test_a_file_emptied_deletes_nothing(kept: FilesInMemory, raw: bytes) -> None:
    kept.page.write_bytes(raw)
    kept.age()
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and all(text in written(kept.page) for text in PLANS)
    assert "6 deletions were not followed" in kept.files.notices()[0]
    assert "6 deletions were not followed" in written(kept.page).split("\n")[1]


@pytest.mark.parametrize("place", ["core", "day"])
def test_a_directory_in_place_of_a_file_stays(kept: FilesInMemory, place: str) -> None:
    kept.work("s1", "p1", "빌드가 왜 깨지지?", "원인은 Node 18이었습니다. 20으로 올렸습니다.")
    kept.sync()
    page = kept.page if place == "core" else next(kept.folder.glob("memory/*.md"))
    page.unlink()
    page.mkdir()
    (page / "남의 글.md").write_text("그대로", encoding="utf-8")
    kept.say("The retry limit is five.")
    assert kept.sync() == EditCounts()
    assert (page / "남의 글.md").read_text(encoding="utf-8") == "그대로"
    assert str(page) in kept.files.notices()[0] and "no plain file" in kept.files.notices()[0]
    assert "The retry limit is five." in kept.texts
    (page / "남의 글.md").unlink()
    page.rmdir()
    kept.sync()
    assert page.is_file() and kept.files.notices() == []


@pytest.mark.parametrize(("text", "part"), PAIR)
def test_old_buffer_changes_nothing_forgotten(kept: FilesInMemory, text: str, part: str) -> None:
    opened = written(kept.page)
    [doomed] = [one for one in kept.core if one.text == text]
    kept.forget(doomed)
    for copy in (opened, opened.replace(part, part + "!"), opened.replace("as written", "as was written")):
        save(kept, copy)
        assert kept.sync() == EditCounts()
        assert part not in " ".join(kept.texts) and part not in written(kept.page)


def test_another_homes_file_is_taken_in(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    there, here = six_facts(tmp_path / "a"), FilesInMemory(tmp_path / "b")
    here.folder.mkdir(parents=True)
    here.page.write_bytes(there.page.read_bytes())
    assert here.sync() == EditCounts(added=len(PLANS))
    assert here.texts == sorted(PLANS)
    assert len(here.store.memories(MemoryQuery(limit=99))) == len(PLANS)


@pytest.mark.parametrize("in_project", [False, True])
def test_a_forged_list_of_memories_does_nothing(tmp_path: Path, in_project: bool) -> None:
    kept = FilesInMemory(tmp_path, in_project=in_project)
    for text in PLANS:
        kept.say(text)
    kept.sync()
    forged = " ".join("%06d:01234567" % number for number in range(100_000))
    save(kept, written(kept.page).replace("keep this line:", "keep this line: %s" % forged))
    started = time.process_time()
    assert kept.sync() == EditCounts()
    assert time.process_time() - started < 5 and kept.texts == sorted(PLANS)
    assert "left alone and not read" in kept.files.notices()[0]


def test_a_large_old_copy_brings_nothing_forgotten_back(kept: FilesInMemory) -> None:
    for number in range(600):
        kept.say("비밀 %d호는 서랍 %d에 있다." % (number, number))
    kept.sync()
    opened = written(kept.page)
    doomed = [row for row in kept.core if "비밀" in row.text]
    statements = [(kept.project_id, row.text, kept.now_ms) for row in doomed]
    kept.files.edits.tombstones.add([row.id for row in doomed], statements=statements)
    kept.store.forget(Selection(memory_ids=tuple(row.id for row in doomed)))
    save(kept, opened)
    kept.files.sync(kept.project_id, force=True)
    assert kept.texts == sorted(PLANS) and "비밀" not in written(kept.page)
    assert kept.files.left_alone(kept.project_id) == []
