"""Memories for every project.

Told, listed, edited, forgotten, given at session starts, and nothing else.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.give.listed_start import rules_in
from memlayer.text.context_block import text_of
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
WISH = "커밋 메시지는 한국어로 쓴다"
LOCAL = "The orders service must always listen on port 8080."
PYTHON = getattr(sys, "_base_executable", sys.executable)


class Home:
    """A home with a daemon and several projects.

    Each has its hooks and its command line.
    """

    def __init__(self, base: Path, name: str = "home") -> None:
        self.base, self.path = base, base / name
        self.daemon = Daemon(ROOT, self.path)

    def hook(self, project: str) -> HookRunner:
        folder = self.base / project
        folder.mkdir(exist_ok=True)
        hook = HookRunner(ROOT, self.path, folder, python=PYTHON)
        hook.forbid_background()
        return hook

    def start(self, project: str, session: str) -> str:
        """Return the text that a new session of the project starts with."""
        return self.hook(project)("session_start", session, source="startup").context

    def verb(self, project: str, *arguments: str) -> dict[str, Any]:
        folder = self.base / project
        folder.mkdir(exist_ok=True)
        done = Cli(self.path, folder)(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    def texts(self, project: str, *arguments: str) -> list[str]:
        return [one["text"] for one in self.verb(project, "list", "core", *arguments)["memories"]]

    @property
    def file(self) -> Path:
        return self.path / "global" / "MEMORY.md"

    def settle(self) -> None:
        self.daemon.settle()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    with made.daemon:
        yield made


def test_given_in_every_project(home: Home) -> None:
    done = home.verb("shop", "remember", "--global", WISH)
    assert (done["memory"]["project_id"], done["memory"]["project"]) == ("global", "every project")
    home.verb("shop", "remember", LOCAL)
    assert WISH in home.start("shop", "s1") and LOCAL in home.start("shop", "s1b")
    other = home.start("never 본 프로젝트", "s2")
    assert WISH in other and LOCAL not in other
    home.daemon.stop()
    without = home.start("another", "s3")
    assert WISH in without and LOCAL not in without
    assert LOCAL in home.start("shop", "s4")


def test_listed_edited_and_forgotten(home: Home) -> None:
    memory = home.verb("shop", "remember", "--global", WISH)["memory"]
    home.verb("shop", "remember", LOCAL)
    home.verb("blog", "remember", "Posts are written in Markdown.")
    assert home.texts("shop") == [LOCAL, WISH]
    changed = home.verb("blog", "edit", memory["citation"], "커밋 메시지는 영어로 쓴다")["memory"]
    assert changed["project_id"] == "global"
    assert home.verb("blog", "edit", "--pin", memory["citation"])["memory"]["pinned"]
    versions = home.verb("shop", "show", "--history", memory["key"])["versions"]
    assert [one["ended_because"] for one in versions] == ["", "reworded"]
    assert "영어로 쓴다" in home.start("shop", "s1") and "영어로 쓴다" in home.start("blog", "s2")
    home.settle()
    assert "영어로 쓴다" in home.file.read_text() and LOCAL not in home.file.read_text()
    home.verb("shop", "forget", memory["citation"], "--yes")
    assert home.texts("shop") == [LOCAL] and home.texts("blog") == ["Posts are written in Markdown."]
    kept = [path for path in home.path.rglob("*") if path.is_file() and "영어로 쓴다".encode() in path.read_bytes()]
    assert kept == []
    assert "쓴다" not in home.start("shop", "s3")


def test_file_is_read_back(home: Home) -> None:
    home.verb("shop", "remember", "--global", WISH)
    home.settle()
    text = home.file.read_text()
    home.file.write_text(
        text.replace("한국어로", "일본어로").replace("\n- [mem", "\n- 답변은 존댓말로 한다\n- [mem", 1)
    )
    home.settle()
    assert sorted(home.texts("blog")) == ["답변은 존댓말로 한다", "커밋 메시지는 일본어로 쓴다"]
    assert "존댓말" in home.start("blog", "s1")


def test_a_prompt_makes_no_rule_of_every_project(home: Home) -> None:
    """Not even in so many words: `remember` does, whose text may say so itself."""
    hook = home.hook("shop")
    for number, prompt in enumerate(
        [
            "앞으로 모든 프로젝트에서 커밋 메시지는 한국어로 써줘.",
            "In all my projects, always use pnpm instead of npm.",
            "From now on never use tabs in any of my repos, and across every project.",
        ]
    ):
        hook.turn("s1", "p%d" % number, prompt, "Understood.")
    home.settle()
    assert home.texts("blog") == []
    assert "pnpm" not in home.start("blog", "s2")
    assert {"한국어로", "pnpm"} <= {word for text in home.texts("shop") for word in text.split()}
    done = home.verb("shop", "remember", "모든 프로젝트에서 답변은 존댓말로 한다")
    assert done["memory"]["project_id"] == "global"


def test_scopes_do_not_supersede_each_other(home: Home) -> None:
    home.verb("shop", "remember", "--global", "We use pnpm as package manager.")
    done = home.verb("shop", "remember", "We use yarn as package manager instead of pnpm.")
    assert done["older"] == [] and len(home.texts("shop")) == 2
    done = home.verb("blog", "remember", "--global", "We use bun as package manager instead of pnpm.")
    assert [one["text"] for one in done["older"]] == ["We use pnpm as package manager."]


def test_switched_off_project_is_given_nothing(home: Home) -> None:
    (home.base / "off").mkdir()
    (home.base / "off" / ".memlayer.yaml").write_text("enabled: false\n")
    home.verb("off", "remember", "--global", WISH)
    assert home.start("off", "s1") == "" and WISH in home.start("shop", "s2")


def test_export_and_import_keep_the_scope(home: Home, tmp_path: Path) -> None:
    home.verb("shop", "remember", "--global", WISH)
    home.verb("shop", "remember", LOCAL)
    home.verb("shop", "export", str(tmp_path / "all.jsonl"))
    fresh = Home(tmp_path, "fresh")
    with fresh.daemon:
        fresh.verb("blog", "import", str(tmp_path / "all.jsonl"))
        assert fresh.texts("blog") == [WISH]
        assert WISH in fresh.start("blog", "s1")


def test_global_excludes_a_project(home: Home) -> None:
    done = Cli(home.path, home.base)("remember", "--global", "--project", "x", WISH)
    assert done.returncode == 2 and "--global" in done.stderr, done.stderr


def test_found_from_every_project(home: Home) -> None:
    home.verb("shop", "remember", "--global", WISH)
    home.verb("shop", "remember", LOCAL)
    home.verb("blog", "remember", "Posts are written in Markdown.")
    found = [hit["snippet"] for hit in home.verb("blog", "search", "커밋 메시지 port 8080")["hits"]]
    assert WISH in found and LOCAL not in found
    asked = home.hook("blog")("user_prompt_submit", "s1", "p1", prompt="커밋 메시지는 무슨 언어로 쓰기로 했지?").context
    assert WISH in asked


def test_no_rule_is_pushed_out_of_a_start_without_a_daemon(home: Home) -> None:
    rules = ["커밋 메시지는 앞으로 한국어로", "main 에는 절대 직접 푸시하지 마", "Never commit generated files"]
    for rule in rules:
        home.verb("shop", "remember", rule)
    for number in range(8):
        home.verb("shop", "remember", "결정: 재고 동기화 %d 는 %d분마다 하기로 했다" % (number, number))
    home.verb("shop", "remember", "--global", "Always answer in English in all my projects")
    live = home.start("shop", "s1")
    home.daemon.stop()
    without = home.start("shop", "s2")
    for start in (live, without):
        lines = [text_of(line) for line in rules_in(start)]
        assert all(rule in lines for rule in rules) and len(lines) == 4
