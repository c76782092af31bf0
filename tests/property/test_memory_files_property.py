"""Editors, verbs and restarts in any order: nothing newer is lost, nothing forgotten comes back."""

import random
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from memlayer.memory_files.markdown import END
from memlayer.wire.upkeep import EditCounts
from tests.support.files_in_memory import FilesInMemory, written

WORDS = ["배포", "port", "로그", "retry", "검토", "cache", "주문", "token", "결제", "queue", "화요일", "staging"]
MARK = re.compile(r"zq\d+x")
STEPS = 14


class Buffer(NamedTuple):
    """An editor's buffer, and the memories (id -> text) of its moment."""

    raw: str
    there: dict[str, str]


class Story:
    """A project whose file several hands change."""

    def __init__(self, base: Path, seed: int) -> None:
        self.draw = random.Random(seed)
        self.kept = FilesInMemory(base)
        self.said = 0
        self.forgotten: set[str] = set()
        self.buffers: list[Buffer] = []
        for _ in range(6):
            self.kept.say(self.text())
        self.kept.sync()

    def text(self) -> str:
        self.said += 1
        return "%s 제%d호 zq%dx." % (" ".join(self.draw.sample(WORDS, 3)), self.said, self.said)

    def now(self) -> dict[str, str]:
        return {row.id: row.text for row in self.kept.core}

    def step(self) -> None:
        steps = [self.say, self.reword, self.retire, self.forget, self.open, self.save_buffer, self.edit, self.restart]
        self.draw.choice(steps)()
        if self.draw.random() < 0.5:
            self.kept.sync()

    def say(self) -> None:
        self.kept.say(self.text())

    def reword(self) -> None:
        for row in self.draw.sample(self.kept.core, min(1, len(self.kept.core))):
            self.kept.consolidator.edit(row, self.text())

    def retire(self) -> None:
        for row in self.draw.sample(self.kept.core, min(1, len(self.kept.core))):
            self.kept.consolidator.retire(row)

    def forget(self) -> None:
        if len(self.kept.core) > 2:
            row = self.draw.choice(self.kept.core)
            self.forgotten |= set(MARK.findall(row.text))
            self.kept.forget(row)

    def open(self) -> None:
        self.kept.sync()
        self.buffers.append(Buffer(written(self.kept.page) if self.kept.page.exists() else END, self.now()))

    def restart(self) -> None:
        if self.draw.random() < 0.5:
            shutil.rmtree(self.kept.home / "cache", ignore_errors=True)
        self.kept.start()

    def save_buffer(self) -> None:
        """Delete up to two lines of an old buffer, add one, and save it."""
        if not self.buffers:
            return
        self.kept.sync()
        before, (raw, there) = self.now(), self.draw.choice(self.buffers)
        new, (raw, gone) = self.text(), self.without_lines(raw, 2)
        self.save(raw.replace(END, "- %s\n%s" % (new, END)))
        after = self.now()
        newer = {key: text for key, text in before.items() if there.get(key) != text}
        assert newer.items() <= after.items() and new in after.values()
        same = {key for key, text in there.items() if before.get(key) == text and any(text in line for line in gone)}
        assert "not followed" in written(self.kept.page) or not same & set(after)

    def edit(self) -> None:
        """Delete up to three lines of the file as it is, and change one."""
        self.kept.sync()
        if not self.kept.page.exists():
            return
        raw, gone = self.without_lines(written(self.kept.page), 3)
        new, lines = self.text(), re.findall(r"^- .*\n", raw, re.MULTILINE)
        for line in lines[:1]:
            raw = raw.replace(line, re.sub(r": .*", ": " + new, line, count=1))
        self.save(raw)
        assert not any(text in line for text in self.kept.texts for line in gone)
        assert new in self.kept.texts or not lines

    def without_lines(self, raw: str, most: int) -> tuple[str, list[str]]:
        lines = re.findall(r"^- .*\n", raw, re.MULTILINE)
        gone = self.draw.sample(lines, min(len(lines), self.draw.randint(0, most)))
        return "".join(line for line in raw.splitlines(keepends=True) if line not in gone), gone

    def save(self, raw: str) -> None:
        self.kept.page.parent.mkdir(parents=True, exist_ok=True)
        self.kept.page.write_text(raw, encoding="utf-8")
        self.kept.age()
        self.kept.sync()
        assert self.kept.sync() == EditCounts()


@pytest.mark.parametrize("seed", range(25))
def test_no_hand_undoes_anothers(tmp_path: Path, seed: int) -> None:
    story = Story(tmp_path, seed)
    for _ in range(STEPS):
        story.step()
    story.kept.sync()
    held = written(story.kept.page) if story.kept.page.exists() else ""
    assert all(text in held for text in story.kept.texts)
    assert not any(mark in " ".join(story.kept.texts) + held for mark in story.forgotten)
