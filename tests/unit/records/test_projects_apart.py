"""Unrelated work is not one project: templates, copies, folders below a repository at home."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.edge.home.project import locate
from memlayer.errors import UserError
from memlayer.records.projects import Projects, root_commit
from tests.support.repositories import REMOTE, Identify, git, on_disk, repository


def template_clones(tmp_path: Path) -> tuple[Path, Path]:
    template = repository(tmp_path / "template", REMOTE)
    for name in ("가게", "blog"):
        git(tmp_path, "clone", str(template), name)
        git(tmp_path / name, "remote", "remove", "origin")
    return tmp_path / "가게", tmp_path / "blog"


def copied(tmp_path: Path) -> tuple[Path, Path]:
    repo = repository(tmp_path / "가게")
    shutil.copytree(repo, tmp_path / "blog", symlinks=True, copy_function=shutil.copy2)
    return repo, tmp_path / "blog"


def clones_of_a_remote_that_went(tmp_path: Path) -> tuple[Path, Path]:
    one, two = template_clones(tmp_path)
    for folder in (one, two):
        git(folder, "commit", "--allow-empty", "-m", "went on")
    return one, two


def copies_below_another(tmp_path: Path) -> tuple[Path, Path]:
    repo = repository(tmp_path / "가게")
    shutil.copytree(repo, tmp_path / "copy")
    shutil.move(str(tmp_path / "copy"), str(repo / "vendor"))
    return repo, repo / "vendor"


MADE = [template_clones, copied, clones_of_a_remote_that_went, copies_below_another]


@pytest.mark.parametrize("make", MADE)
def test_each_is_a_project(
    make: Callable[[Path], tuple[Path, Path]], identify: Identify, tmp_path: Path, home: Path
) -> None:
    one, two = make(tmp_path)
    ids = identify(one), identify(two)
    assert ids[0] != ids[1]
    assert (identify(one), identify(two)) == ids == (on_disk(home, one), on_disk(home, two))
    later = Projects(str(home), root_commit)
    assert (later.resolve(str(one))[0], later.resolve(str(two))[0]) == ids
    git(one, "remote", "add", "origin", "git@example.com:me/shop.git")
    git(two, "remote", "add", "origin", "git@example.com:me/blog.git")
    assert (identify(one), identify(two)) == ids
    moved = one.rename(tmp_path / "옮긴 가게")
    assert identify(moved) == ids[0]


def test_moved_repository_keeps_its_memory_beside_a_copy(identify: Identify, tmp_path: Path) -> None:
    one, two = copied(tmp_path)
    ids = identify(one), identify(two)
    moved = one.rename(tmp_path / "moved")
    assert identify(moved) not in ("", ids[1])


def test_folders_that_already_share_a_project_keep_its_memory(tmp_path: Path, home: Path) -> None:
    """As homes of earlier versions hold them."""
    one, two = template_clones(tmp_path)
    commit = root_commit(str(one / ".git"))
    keys = ["commit:" + commit]
    for folder in (one, two):
        keys += ["git:%s" % (folder / ".git"), "path:%s" % folder]
    home.mkdir()
    known = {"shared1": {"keys": sorted(keys), "root": str(one), "name": "가게", "since_ms": 1}}
    (home / "projects.json").write_text(json.dumps(known))
    projects = Projects(str(home), root_commit)
    assert projects.resolve(str(one))[0] == projects.resolve(str(two))[0] == "shared1"
    shutil.copytree(one, tmp_path / "third")
    assert projects.resolve(str(tmp_path / "third"))[0] != "shared1"
    git(one, "remote", "add", "origin", "git@example.com:me/shop.git")
    git(two, "remote", "add", "origin", "git@example.com:me/blog.git")
    assert projects.resolve(str(one))[0] == "shared1"
    assert projects.resolve(str(two))[0] != "shared1"  # each has got its own


@pytest.mark.parametrize("remote", ["", REMOTE])
def test_repository_at_home_is_nobodys_project(
    identify: Identify, tmp_path: Path, home: Path, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = repository(tmp_path / "사람", remote)
    (tmp_path / "link").symlink_to(own)
    names = ("notes", "work", ".config/nvim", "Desktop/할 일", "a/b/c")
    for name in names:
        (own / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    before = identify(own)  # as an earlier version knew it
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    ids = [identify(own / name) for name in names]
    assert len({*ids, before}) == len(names) + 1
    assert identify(own) == before == on_disk(home, own)
    assert locate(str(own / "work")).git_dir == ""
    inner = repository(own / "work" / "shop", "git@example.com:me/inner.git", commit="inner")
    assert locate(str(inner / ".git")).root == str(inner)
    assert identify(inner) not in {*ids, before}


def test_repository_around_a_home_is_a_project(
    identify: Identify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "shop", REMOTE)
    (repo / ".home").mkdir()
    (repo / "src").mkdir()
    monkeypatch.setenv("HOME", str(repo / ".home"))
    assert identify(repo / "src") == identify(repo)


# -- the person's choice


def plain(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    return folder


def test_renamed_folder_keeps_its_memory(projects: Projects, tmp_path: Path, home: Path) -> None:
    old = plain(tmp_path, "가게")
    before = projects.resolve(str(old))[0]
    new = old.rename(tmp_path / "상점")
    other = projects.resolve(str(new))[0]
    assert projects.choose(str(new), projects.named(str(old))) == (other, before)
    assert projects.resolve(str(new))[0] == before == on_disk(home, new)
    assert projects.find(str(new))[0] == before == Projects(str(home), root_commit).resolve(str(new))[0]
    assert (projects.root(before), projects.name(before)) == (str(new), "상점")
    assert projects.choose(str(new), other) == (before, other)  # taken back
    assert projects.resolve(str(new))[0] == other == on_disk(home, new)


@pytest.mark.parametrize("remote", ["", REMOTE])
def test_part_and_join(projects: Projects, tmp_path: Path, home: Path, remote: str) -> None:
    one = repository(tmp_path / "one", REMOTE)
    git(tmp_path, "clone", str(one), "two")
    two = tmp_path / "two"
    git(two, "remote", "set-url", "origin", REMOTE)
    shared = projects.resolve(str(one))[0]
    assert projects.resolve(str(two))[0] == shared
    former, own = projects.choose(str(two), "")
    assert (former, own != shared) == (shared, True)
    (two / "src").mkdir()
    assert projects.resolve(str(two / "src"))[0] == own == on_disk(home, two)
    assert projects.resolve(str(one))[0] == shared == on_disk(home, one)
    git(two, "remote", "set-url", "origin", "git@example.com:me/new.git")
    assert projects.resolve(str(two))[0] == own
    assert projects.choose(str(two), shared) == (own, shared)
    assert projects.resolve(str(two))[0] == shared
    assert projects.choose(str(two), own)[1] == own
    assert projects.resolve(str(one))[0] == shared


def test_join_does_not_bring_other_clones_along(projects: Projects, tmp_path: Path) -> None:
    one, other = repository(tmp_path / "one", REMOTE), plain(tmp_path, "notes")
    git(tmp_path, "clone", str(one), "two")
    git(tmp_path / "two", "remote", "set-url", "origin", REMOTE)
    ids = projects.resolve(str(one))[0], projects.resolve(str(other))[0]
    projects.choose(str(one), ids[1])
    assert projects.resolve(str(one))[0] == ids[1]
    assert projects.resolve(str(tmp_path / "two"))[0] == ids[0]
    assert projects.choose(str(one), "") == (ids[1], ids[0])  # back to its own


def test_project_is_named_by_id_folder_or_name(projects: Projects, tmp_path: Path) -> None:
    folders = [plain(tmp_path, name) for name in ("가게", "x/shop", "y/shop")]
    ids = [projects.resolve(str(folder))[0] for folder in folders]
    assert [projects.named(str(folder)) for folder in folders] == ids == [projects.named(id_) for id_ in ids]
    assert projects.named("가게") == ids[0] == projects.named(str(folders[0]) + "/")
    with pytest.raises(UserError, match="Several"):
        projects.named("shop")
    for name in ("", "nobody", "../..", "/", "remote:x", "global", "\0", "가게/없음"):
        with pytest.raises(UserError, match="No project"):
            projects.named(name)


def test_export_of_another_home_chooses_nothing(projects: Projects, tmp_path: Path, home: Path) -> None:
    folder = plain(tmp_path, "가게")
    own = projects.resolve(str(folder))[0]
    entry = {"name": "x", "root": "/x", "keys": ["remote:a/b"], "since_ms": 1, "chosen": ["path:%s" % folder]}
    projects.adopt("a" * 16, entry)
    assert projects.resolve(str(folder))[0] == own == on_disk(home, folder)
