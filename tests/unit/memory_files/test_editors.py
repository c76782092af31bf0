"""Editors that reformat a memory file without changing a memory."""

import re
import unicodedata
from pathlib import Path

import pytest

from memlayer.memory_files.markdown import END
from memlayer.ports import MemoryQuery
from memlayer.wire.upkeep import EditCounts
from tests.support.files_in_memory import PLANS, FilesInMemory, six_facts, written
from tests.support.tables import tables


@pytest.fixture
def kept(tmp_path: Path) -> FilesInMemory:
    return six_facts(tmp_path)


def save(kept: FilesInMemory, text: str) -> None:
    kept.page.write_text(text, encoding="utf-8")


def new(kept: FilesInMemory) -> list[str]:
    return [one for one in kept.texts if one not in PLANS]


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "```python", "~~~ sh"])
@pytest.mark.parametrize("above", [0, 3, 5])
def test_unclosed_fence_deletes_no_memory(kept: FilesInMemory, fence: str, above: int) -> None:
    bullet = [line for line in written(kept.page).split("\n") if line.startswith("- [mem:")][above]
    kept.edit(bullet, fence + "\n" + bullet)
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and kept.files.notices() == []
    assert fence not in written(kept.page).split("\n")


def test_open_fence_swallows_no_line(kept: FilesInMemory) -> None:
    kept.say("배포 창은 30분이다.", "decision")
    kept.sync()
    kept.edit("## Facts\n", "```python\nretries = 3\n\n## Facts\n\n- 새 사실이다.\n")
    assert kept.sync() == EditCounts(added=2)
    assert {one.text: one.kind for one in kept.core if one.text in ("retries = 3", "새 사실이다.")} == {
        "retries = 3": "decision",
        "새 사실이다.": "fact",
    }


def test_later_fence_closes_no_earlier(kept: FilesInMemory) -> None:
    kept.edit("## Facts\n", "## Facts\n\n```\n")
    kept.edit(END, "```sh\nmake 배포\n```\n\n" + END)
    assert kept.sync() == EditCounts(added=1)
    assert new(kept) == ["```sh\nmake 배포\n```"]


def test_closed_fence_is_one_memory(kept: FilesInMemory) -> None:
    block = "```python\n# 재시도\nretries = 3\n\n- no bullet\n## no heading\n```"
    kept.edit("## Facts\n", "## Facts\n\n%s\n\n~~~~\n~~~\n```\n끝\n~~~~\n" % block)
    assert kept.sync() == EditCounts(added=2)
    assert new(kept) == sorted([block, "~~~~\n~~~\n```\n끝\n~~~~"])


@pytest.mark.parametrize("line", ["```make test``` 로 모두 돌린다.", "~~~ 이 줄은 코드가 아니라 문장이다."])
def test_words_after_inline_fence_stay(kept: FilesInMemory, line: str) -> None:
    kept.edit("## Facts\n", "## Facts\n\n%s\n\n" % line)
    assert kept.sync() == EditCounts(added=1)
    assert new(kept) == [line]


@pytest.mark.parametrize(("head", "tail"), tables("memory_files/editors")["reformatted_citation_is_no_change"])
def test_reformatted_citation_is_no_change(kept: FilesInMemory, head: str, tail: str) -> None:
    cited = re.sub(r"^- \[mem:(\w+)\]", lambda found: head + found[1] + tail, written(kept.page), flags=re.MULTILINE)
    save(kept, cited)
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS) and kept.files.notices() == []
    save(kept, cited.replace("30일", "90일"))
    assert kept.sync() == EditCounts(edited=1)
    assert new(kept) == ["로그는 90일 보관한다."]
    assert "- [mem:%s]" % kept.core[0].citation in written(kept.page)


def test_escaping_editor_changes_nothing(kept: FilesInMemory) -> None:
    marked = "`make_all *.py`는 [배포] 전에 #1로 돌린다 <끝>"
    kept.say(marked)
    kept.say(r"경로는 \\서버\공유\_build 이다.")
    kept.say("정규식 `\\d+\\.\\d+`은 [판]에 맞는다.")
    kept.sync()
    before = kept.texts
    save(kept, escaped(written(kept.page)))
    assert kept.sync() == EditCounts()
    assert kept.texts == before
    save(kept, escaped(written(kept.page)).replace("배포\\] 전에", "배포\\] 후에"))
    assert kept.sync() == EditCounts(edited=1)
    assert marked.replace("전에", "후에") in kept.texts


def test_backslashes_stay_beside_plain_citation(kept: FilesInMemory) -> None:
    kept.edit("port is 8443.", r"port is 8443\.")
    assert kept.sync() == EditCounts(edited=1)
    assert new(kept) == [r"The staging port is 8443\."]


def test_a_box_without_a_citation_is_text(kept: FilesInMemory) -> None:
    kept.edit(END, "- [ ] 문서를 고친다.\n\n" + END)
    assert kept.sync() == EditCounts(added=1)
    assert new(kept) == ["[ ] 문서를 고친다."]


@pytest.mark.parametrize("head", ["- \\[mem:", "- [x] [mem:", "- [ ] \\[mem:"])
def test_rest_of_cut_bullet_is_no_memory(kept: FilesInMemory, head: str) -> None:
    text = written(kept.page).replace("- [mem:", head)
    start = text.rindex(head)
    for end in range(start, start + len(head) + 4):
        save(kept, text[:end])
        kept.age()
        assert kept.sync() == EditCounts(), text[start:end]
    assert kept.texts == sorted(PLANS)


def escaped(text: str) -> str:
    """As some editors write a bullet: a backslash before each sign that could be Markdown."""
    lines = [
        re.sub(r"([\\`*_\[\]#<>])", r"\\\1", line[2:]) if line.startswith("- ") else "" for line in text.split("\n")
    ]
    return "\n".join("- " + new if new else old for old, new in zip(text.split("\n"), lines, strict=True))


def test_a_file_in_decomposed_letters_is_no_change(kept: FilesInMemory) -> None:
    kept.say("Le café de l'équipe s'appelle « Ångström ».")
    kept.say(unicodedata.normalize("NFD", "이 줄은 풀린 글자로 기억되어 있다."))
    kept.say("낱자 \u1112\u1161\u11ab 과 漢字 \uf914 는 그대로 둔다.", "decision", pinned=True)
    kept.sync()
    before, rows = kept.texts, kept.store.memories(MemoryQuery(limit=99))
    for form in ("NFD", "NFC"):
        save(kept, unicodedata.normalize(form, written(kept.page)))
        assert kept.sync() == EditCounts()
        assert (kept.texts, kept.store.memories(MemoryQuery(limit=99))) == (before, rows)


def test_decomposed_edit_is_stored_composed(kept: FilesInMemory) -> None:
    text = (
        written(kept.page).replace("30일", "90일").replace(END, "## 결정\n\n- 새 줄이다.\n\n## 팀\n\n- 민수\n\n" + END)
    )
    save(kept, unicodedata.normalize("NFD", text))
    assert kept.sync() == EditCounts(added=2, edited=1)
    assert {one.text: one.kind for one in kept.core if one.text not in PLANS} == {
        "로그는 90일 보관한다.": "fact",
        "새 줄이다.": "decision",
        "팀: 민수": "note",
    }
    assert len(kept.core) == len(PLANS) + 2


def test_decomposed_deletion_can_be_undone(kept: FilesInMemory) -> None:
    whole = unicodedata.normalize("NFD", written(kept.page))
    kept.delete("30일")
    assert kept.sync() == EditCounts(removed=1)
    save(kept, whole)
    assert kept.sync() == EditCounts(added=1)
    assert kept.texts == sorted(PLANS)


def test_decomposed_copy_stays_forgotten(kept: FilesInMemory) -> None:
    whole = unicodedata.normalize("NFD", written(kept.page))
    [doomed] = [one for one in kept.core if "화요일" in one.text]
    kept.forget(doomed)
    save(kept, whole)
    assert kept.sync() == EditCounts()
    assert doomed.text not in kept.texts
