"""Files with commits since a moment, by a real repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memlayer.tasks.commits import changed_files, changes_since

NOTED_S = 1_700_000_000


def commit(repository: Path, at_s: int, **files: str) -> None:
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
        "GIT_AUTHOR_DATE": "%d +0000" % at_s, "GIT_COMMITTER_DATE": "%d +0000" % at_s,
    }  # fmt: skip
    for name, text in files.items():
        path = repository / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for words in (["add", "-A"], ["commit", "--quiet", "-m", "정산"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True, env=environment)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "내 가게"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    commit(folder, NOTED_S - 100, 결제__정산_py="1", cart_py="1")
    return folder


def test_files_with_commits_since(repository: Path) -> None:
    commit(repository, NOTED_S + 5000, 결제__정산_py="2")
    changes = changes_since(str(repository), NOTED_S - 1000)
    assert changes == {"결제/정산.py": NOTED_S + 5000, "cart.py": NOTED_S - 100}
    assert changed_files(["결제/정산.py", "cart.py"], NOTED_S, changes) == 1
    assert changed_files(["정산.py"], NOTED_S, changes) == 0  # a base name may be another file


def test_no_repository_and_no_folder(tmp_path: Path) -> None:
    assert changes_since(str(tmp_path), 0) == {}
    assert changes_since(str(tmp_path / "없음"), 0) == {}


def test_repositorys_programs_are_not_started(repository: Path, tmp_path: Path) -> None:
    touched = tmp_path / "ran"
    for key in ("core.fsmonitor", "gpg.program", "core.pager", "diff.external"):
        subprocess.run(["git", "-C", str(repository), "config", key, "touch %s" % touched], check=True)
    subprocess.run(["git", "-C", str(repository), "config", "log.showSignature", "true"], check=True)
    assert changes_since(str(repository), NOTED_S - 1000)
    assert not touched.exists()
