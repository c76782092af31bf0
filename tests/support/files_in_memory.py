"""Memory files on a real disk over a store in memory.

Also the ways in which editors change a file.
"""

import os
import re
from pathlib import Path

from memlayer.consolidation.statement import statement_of
from memlayer.kinds import Author
from memlayer.memory_files.edits import Edits
from memlayer.memory_files.extra_files import ExtraFiles
from memlayer.memory_files.folders import FileRules
from memlayer.memory_files.sync import MemoryFiles
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Selection
from memlayer.records.tombstones import Tombstones
from memlayer.wire.upkeep import EditCounts
from tests.support.turns_in_memory import T0_MS, TurnsInMemory


class FilesInMemory(TurnsInMemory):
    """A home with one project.

    Time stands still an hour after T0_MS unless a test moves now_ms.
    """

    def __init__(self, base: Path, *, in_project: bool = False) -> None:
        self.home, self.root = base / "집", base / "상점 shop"
        self.home.mkdir()
        self.root.mkdir()
        super().__init__(self.home)
        self.now_ms = T0_MS + 3_600_000
        self.project_id = self.projects.resolve(str(self.root))[0]
        self.in_project = in_project
        self.start()

    def _now(self) -> int:
        return self.now_ms

    def start(self) -> None:
        """Start as a fresh daemon that knows only the disk."""
        self.keep.tombstones = Tombstones(str(self.home))
        edits = Edits(self.consolidator, lambda: self.now_ms)
        rules = FileRules(in_project=self.in_project)
        extra = ExtraFiles(str(self.home), self.keep, self.projects)
        self.files = MemoryFiles(str(self.home), self.store, self.projects, edits, extra, rules)

    def sync(self) -> EditCounts:
        return self.files.sync(self.project_id)

    def say(self, text: str, kind: str = "fact", *, pinned: bool = False) -> Memory:
        """A core memory, a minute after the one before."""
        self.now_ms += 60_000
        new = statement_of(self.project_id, text, kind, by=Author.PERSON, at_ms=self.now_ms, pinned=pinned)
        return self.consolidator.add_statement(new)

    def forget(self, memory: Memory) -> None:
        """Forget a memory as `memlayer forget --keep-sources` does."""
        statements = [(self.project_id, memory.text, max(self.now_ms, memory.at_ms))]
        self.files.edits.tombstones.add([memory.id], statements=statements)
        self.store.forget(Selection(memory_ids=(memory.id,)))
        self.files.sync(self.project_id, force=True)

    def work(self, session: str, prompt_id: str, prompt: str, answer: str) -> None:
        """A turn in the project, consolidated."""
        self.turn(session, prompt_id, prompt, answer, project=str(self.root))
        self.consolidator.settle_turns(10)

    @property
    def folder(self) -> Path:
        return Path(self.files.folder(self.project_id))

    @property
    def page(self) -> Path:
        return self.folder / "MEMORY.md"

    @property
    def texts(self) -> list[str]:
        """Return the texts of the project's current core memories, sorted."""
        return sorted(one.text for one in self.core)

    @property
    def core(self) -> list[Memory]:
        return self.store.memories(MemoryQuery(project_id=self.project_id, category="core", is_current=True))

    def edit(self, old: str, new: str, page: Path | None = None) -> None:
        """Edit a file as many editors do.

        The whole file is written anew under another name, and put in the old one's place.
        """
        page = page or self.page
        text = page.read_text(encoding="utf-8")
        assert old in text
        beside = page.with_name("." + page.name + ".swp")
        beside.write_text(text.replace(old, new, 1), encoding="utf-8")
        os.replace(beside, page)

    def delete(self, part: str, page: Path | None = None) -> None:
        """Delete the one bullet that holds `part`, with its further lines."""
        page = page or self.page
        found = [one for one in bullets(page) if part in one]
        assert len(found) == 1, found
        self.edit(found[0], "", page)

    def age(self, page: Path | None = None) -> None:
        """Let a minute pass since the file was touched."""
        page = page or self.page
        at_ns = page.stat().st_mtime_ns - 60 * 10**9
        os.utime(page, ns=(at_ns, at_ns))


def bullets(page: Path) -> list[str]:
    """The bullets of a file, each with its lines."""
    return re.findall(r"^- .*\n(?:(?: .*)?\n(?=(?:\n)* |))*", page.read_text(encoding="utf-8"), re.MULTILINE)


PLANS = [
    "배포는 매주 화요일 오전에 한다.",
    "주문 이벤트는 ClickHouse에 저장한다.",
    "The staging port is 8443.",
    "코드 리뷰는 두 명이 한다.",
    "로그는 30일 보관한다.",
    "Payments retry three times.",
]


def six_facts(base: Path) -> FilesInMemory:
    """PLANS as core memories, written."""
    found = FilesInMemory(base)
    for text in PLANS:
        found.say(text)
    found.sync()
    assert found.texts == sorted(PLANS)
    return found


def written(page: Path) -> str:
    return page.read_text(encoding="utf-8")
