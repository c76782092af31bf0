"""Open work that is a push: told from other work, and whether the repository's own record says that it happened."""

import subprocess
import time
from pathlib import Path

import pytest

from memlayer.tasks.events import branches, is_push, was_pushed
from tests.support.tables import tables

IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@example.com"]


@pytest.mark.parametrize(
    "title",
    [
        "Push the branch to origin", "push feat/pay", "git push", "브랜치를 origin에 푸시하기", "변경사항 푸시",
        "커밋 푸시해야 함", "Unpushed commits on main", "The fix is not pushed yet",
    ],
)  # fmt: skip
def test_a_push_is_told(title: str) -> None:
    assert is_push(title, ["main", "feat/pay"])


@pytest.mark.parametrize(
    "title",
    tables("tasks/pushes")["other_work_is_none"],
)  # fmt: skip
def test_other_work_is_none(title: str) -> None:
    assert not is_push(title, ["main", "feat/pay"])


def run(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *IDENTITY, *words], check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a pushed commit on main."""
    shop = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "origin.git")], check=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(shop)], check=True)
    run(shop, "remote", "add", "origin", str(tmp_path / "origin.git"))
    run(shop, "commit", "--allow-empty", "-m", "Begin")
    run(shop, "push", "-u", "origin", "main")
    return shop


def test_a_commit_ahead_is_not_pushed_until_it_is(shop: Path) -> None:
    since = time.time()
    assert was_pushed("변경사항 푸시", since, branches(str(shop)))
    run(shop, "commit", "--allow-empty", "-m", "Change")
    assert not was_pushed("변경사항 푸시", since, branches(str(shop)))
    run(shop, "push")
    assert was_pushed("변경사항 푸시", since, branches(str(shop)))


def test_a_branch_without_a_remote_is_not_pushed(shop: Path) -> None:
    run(shop, "checkout", "-b", "feat/pay")
    run(shop, "commit", "--allow-empty", "-m", "Pay")
    found, since = branches(str(shop)), time.time()
    assert not was_pushed("Push the branch", since, found) and not was_pushed("push feat/pay", since, found)
    assert was_pushed("push main", since, found)
    run(shop, "push", "-u", "origin", "feat/pay")
    assert was_pushed("push feat/pay", since, branches(str(shop)))


def test_in_doubt_nothing_was_pushed(shop: Path, tmp_path: Path) -> None:
    assert not was_pushed("Push the branch", time.time() + 3 * 86_400, branches(str(shop)))  # no branch in work
    assert branches(str(tmp_path)) == [] and not was_pushed("Push the branch", 0, [])
