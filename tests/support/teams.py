"""Colleagues: homes of two people, each with a clone of one repository."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from memlayer.give.recall import RecallRules
from memlayer.kinds import Category
from memlayer.model import Memory, Scope
from memlayer.ports import MemoryQuery
from memlayer.records.sessions import Session
from tests.support.shared_homes import SharedHome

WHO = ("-c", "user.name=test", "-c", "user.email=test@localhost")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *WHO, *words], capture_output=True, text=True, check=True)
    return done.stdout


class Colleague(SharedHome):
    """A person's home and clone; turns are said there."""

    def __init__(self, home: Path, project: Path, name: str) -> None:
        super().__init__(home, project)
        self.name = name
        git(project, "config", "user.name", name)
        self.teams = self.services.teams
        self.project_id, _ = self.projects.resolve(str(project))

    def note(self, text: str, number: int = 1) -> Memory:
        """Say a thing that becomes a core memory; return that."""
        self.say("s-" + self.home.name, number, text, "ok")
        self.consolidate()
        query = MemoryQuery(project_id=self.project_id, category=Category.CORE, is_current=True, limit=1000)
        return max(self.services.store.memories(query), key=lambda row: row.at_ms)

    def theirs(self) -> list[Memory]:
        """Return the notes of colleagues."""
        query = MemoryQuery(project_id=self.project_id, category=Category.CUSTOM, is_current=True, limit=10_000)
        return self.services.store.memories(query)

    def block_for(self, prompt: str) -> str:
        """Return what a first prompt of a new session is given."""
        session = Session(id="new", project_id=self.project_id)
        return self.services.recall.answer(prompt, Scope((self.project_id,)), RecallRules(), session).block

    def commit(self, message: str) -> None:
        git(self.project, "add", "--all")
        git(self.project, "commit", "--quiet", "--allow-empty", "-m", message)
        git(self.project, "pull", "--quiet", "--rebase", "origin", "main")
        git(self.project, "push", "--quiet", "origin", "HEAD:main")

    def update(self) -> None:
        git(self.project, "pull", "--quiet", "--rebase", "origin", "main")


@contextlib.contextmanager
def colleagues(folder: Path) -> Iterator[tuple[Colleague, Colleague]]:
    """Open the homes of Kim Minji and Bob, with clones of one repository."""
    origin = folder / "origin" / "shop.git"
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    first = folder / "first"
    git(folder, "clone", "--quiet", str(origin), str(first))
    git(first, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(first, "push", "--quiet", "origin", "HEAD:main")
    homes = []
    for name, who in (("minji", "김민지"), ("bob", "Bob O'Neil")):
        clone = folder / (name + " 작업") / "shop"
        git(folder, "clone", "--quiet", str(origin), str(clone))
        homes.append(Colleague(folder / ("home-" + name), clone, who))
    try:
        yield homes[0], homes[1]
    finally:
        for home in homes:
            home.close()
