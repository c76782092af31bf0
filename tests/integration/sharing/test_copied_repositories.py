"""Copies of a repository have its first commit. Through a share each stays a project of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.kinds import Category
from memlayer.ports import MemoryQuery
from tests.support.repositories import git, repository
from tests.support.shared_homes import SharedHome
from tests.support.shares import join

COPIES = ("원본", "clone", "copy")


def say_in(home: SharedHome, folder: Path, number: int, words: str) -> None:
    home.project = folder
    home.say("s-%s-%d" % (folder.name, number), number, words, "OK.")


def said(home: SharedHome) -> dict[str, set[str]]:
    """Return project id -> the prompts of its turns."""
    out: dict[str, set[str]] = {}
    for row in home.services.store.memories(MemoryQuery(category=Category.CONVERSATION, limit=1000)):
        out.setdefault(row.project_id, set()).add(row.text.partition("\n")[0].removeprefix("User: "))
    return out


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    """A repository, its clone without a remote and a copy of its folder."""
    origin = repository(tmp_path / COPIES[0])
    git(tmp_path, "clone", str(origin), str(tmp_path / COPIES[1]))
    git(tmp_path / COPIES[1], "remote", "remove", "origin")
    shutil.copytree(origin, tmp_path / COPIES[2])
    return [tmp_path / name for name in COPIES]


@pytest.fixture
def homes(tmp_path: Path, copies: list[Path]) -> Iterator[list[SharedHome]]:
    made = [SharedHome(tmp_path / name, copies[0]) for name in ("a", "b")]
    yield made
    for home in made:
        home.close()


def test_projects_of_one_home_stay_as_many(place: str, homes: list[SharedHome], copies: list[Path]) -> None:
    a, b = homes
    for folder in copies:
        say_in(a, folder, 1, "a fact of %s" % folder.name)
    before = said(a)
    assert len(before) == len(COPIES)
    join(place, a, b)
    for _ in range(2):  # there and back
        for home in (a, b):
            home.sharing.pull()
            home.sharing.push()
    assert sorted(map(sorted, said(b).values())) == sorted(map(sorted, before.values()))
    for folder in copies:  # in another object
        say_in(a, folder, 2, "another fact of %s" % folder.name)
    a.sharing.push()
    b.sharing.pull()
    b.sharing.stop()
    b.sharing.set_up(place)  # a new log, which sends all that it holds
    b.sharing.push()
    a.sharing.pull()
    wanted = {frozenset({"a fact of " + name, "another fact of " + name}) for name in COPIES}
    assert set(map(frozenset, said(a).values())) == set(map(frozenset, said(b).values())) == wanted


def test_copies_on_both_machines_meet_by_name(place: str, homes: list[SharedHome], copies: list[Path]) -> None:
    a, b = homes
    for number, (home, seen) in enumerate(((a, copies[:2]), (b, copies[1::-1]))):  # in another order
        for folder in seen:
            say_in(home, folder, number, "%d of %s" % (number, folder.name))
    join(place, a, b)
    for _ in range(2):
        for home in (a, b):
            home.sharing.pull()
            home.sharing.push()
    wanted = {frozenset({"0 of " + name, "1 of " + name}) for name in COPIES[:2]}
    assert set(map(frozenset, said(a).values())) == set(map(frozenset, said(b).values())) == wanted


def test_commit_of_several_projects_here_tells_none(place: str, homes: list[SharedHome], copies: list[Path]) -> None:
    a, b = homes
    for folder in copies[:2]:
        say_in(a, folder, 1, "a fact of %s" % folder.name)
    other = copies[0].parent / "elsewhere" / "third"
    shutil.copytree(copies[0], other)
    git(other, "remote", "add", "origin", "https://git.example/acme/third.git")
    say_in(b, other, 1, "a fact of third")
    join(place, a, b)
    b.sharing.push()
    a.sharing.pull()
    assert {"a fact of third"} in said(a).values() and len(said(a)) == 3


def test_clone_on_another_machine_is_the_project(place: str, homes: list[SharedHome], copies: list[Path]) -> None:
    a, b = homes
    say_in(a, copies[0], 1, "배포는 화요일")
    other = copies[0].parent / "other machine"
    git(copies[0].parent, "clone", str(copies[0]), str(other))
    say_in(b, other, 1, "deploys are announced")
    join(place, a, b)
    a.sharing.push()
    b.sharing.pull()
    assert list(said(b).values()) == [{"배포는 화요일", "deploys are announced"}]
