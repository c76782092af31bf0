"""What editors do to a memory file that nobody meant as a change of a memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.core.memory_markdown import END
from memlayer.service.memory_file_edits import TakenBack
from tests.files_in_memory import PLANS, FilesInMemory, six_facts, written


@pytest.fixture
def kept(tmp_path: Path) -> FilesInMemory:
    return six_facts(tmp_path)


def save(kept: FilesInMemory, text: str) -> None:
    kept.page.write_text(text, encoding="utf-8")


def new(kept: FilesInMemory) -> list[str]:
    return [one for one in kept.texts if one not in PLANS]


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "```python", "~~~ sh"])
@pytest.mark.parametrize("above", [0, 3, 5])
def test_a_fence_that_is_saved_before_it_is_closed_takes_no_memory_along(
    kept: FilesInMemory, fence: str, above: int
) -> None:
    bullet = [line for line in written(kept.page).split("\n") if line.startswith("- [mem:")][above]
    kept.edit(bullet, fence + "\n" + bullet)
    assert kept.sync() == TakenBack()
    assert kept.texts == sorted(PLANS) and kept.files.notices() == []
    assert fence not in written(kept.page).split("\n")


def test_what_stands_below_an_open_fence_is_read_as_if_the_fence_were_not_there(kept: FilesInMemory) -> None:
    kept.say("배포 창은 30분이다.", "decision")
    kept.sync()
    kept.edit("## Facts\n", "```python\nretries = 3\n\n## Facts\n\n- 새 사실이다.\n")
    assert kept.sync() == TakenBack(added=2)
    assert {one.text: one.kind for one in kept.core if one.text in ("retries = 3", "새 사실이다.")} == {
        "retries = 3": "decision",
        "새 사실이다.": "fact",
    }


def test_a_second_fence_below_does_not_close_an_open_one_over_memories(kept: FilesInMemory) -> None:
    kept.edit("## Facts\n", "## Facts\n\n```\n")
    kept.edit(END, "```sh\nmake 배포\n```\n\n" + END)
    assert kept.sync() == TakenBack(added=1)
    assert new(kept) == ["```sh\nmake 배포\n```"]


def test_a_closed_fence_is_one_memory_with_all_that_stands_in_it(kept: FilesInMemory) -> None:
    block = "```python\n# 재시도\nretries = 3\n\n- no bullet\n## no heading\n```"
    kept.edit("## Facts\n", "## Facts\n\n%s\n\n~~~~\n~~~\n```\n끝\n~~~~\n" % block)
    assert kept.sync() == TakenBack(added=2)
    assert new(kept) == sorted([block, "~~~~\n~~~\n```\n끝\n~~~~"])


@pytest.mark.parametrize("line", ["```make test``` 로 모두 돌린다.", "~~~ 이 줄은 코드가 아니라 문장이다."])
def test_words_behind_what_looks_like_a_fence_are_not_lost(kept: FilesInMemory, line: str) -> None:
    kept.edit("## Facts\n", "## Facts\n\n%s\n\n" % line)
    assert kept.sync() == TakenBack(added=1)
    assert new(kept) == [line]
