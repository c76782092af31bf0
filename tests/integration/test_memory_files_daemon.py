"""Memory files through the real hooks and the real daemon.

Written after a turn, read back while it runs and after.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlayer.memory_files.markdown import END
from tests.support.cli_process import Cli
from tests.support.files_in_memory import bullets
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent
TOLD = [
    ("p1", "주문 이벤트는 ClickHouse에 저장하기로 했어.", "네, 그렇게 하겠습니다."),
    ("p2", "Remember: the staging port is 8443.", "Noted."),
    ("p3", "배포는 항상 화요일 오전에 하자.", "알겠습니다."),
]
LEXICAL: dict[str, Any] = {"embedding": {"provider": "none"}}


class Story:
    """A project in which TOLD was said, with its files written."""

    def __init__(self, home: Path, project: Path, settings: dict[str, Any] | None = None) -> None:
        self.home, self.project = home, project
        self.hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
        self.hook.forbid_background()
        self.daemon = Daemon(ROOT, home, settings or LEXICAL)
        self.cli = Cli(home, project)

    def tell(self) -> None:
        for prompt_id, prompt, answer in TOLD:
            self.hook.turn("s1", prompt_id, prompt, answer)
        self.daemon.settle()

    def core(self) -> dict[str, str]:
        """Return text -> citation of current core memories."""
        found = self.daemon.call("list", project_dir=str(self.project), category="core")["memories"]
        return {one["text"]: one["citation"] for one in found if not one["superseded_by"]}

    def files(self, *, now: bool = False) -> dict[str, Any]:
        return self.daemon.call("files", project_dir=str(self.project), now=now)

    @property
    def page(self) -> Path:
        [page] = self.home.glob("projects/shop-*/MEMORY.md")
        return page

    def edit(self, change: Callable[[str], str]) -> None:
        """As an editor saves: under another name, then in its place."""
        beside = self.page.with_name("MEMORY.md~")
        beside.write_text(change(self.page.read_text(encoding="utf-8")), encoding="utf-8")
        os.replace(beside, self.page)

    def delete(self, part: str) -> None:
        [doomed] = [one for one in bullets(self.page) if part in one]
        self.edit(lambda text: text.replace(doomed, ""))

    def wait(self, part: str, *, there: bool = True) -> None:
        """Wait until a current memory has `part`, or has it no more."""
        awaited = "%s memory with %r" % ("a" if there else "no", part)
        self.daemon.wait_for(lambda: any(part in text for text in self.core()) == there, awaited)


@pytest.fixture
def story(home: Path, project: Path) -> Story:
    return Story(home, project)


def lines_of(hit: dict[str, Any]) -> tuple[str, int, int]:
    """(name of the file, first line, last line) of a hit."""
    return Path(hit["path"]).name, hit["start_line"], hit["end_line"]


def test_files_follow_turns_and_edits(story: Story) -> None:
    with story.daemon:
        story.tell()
        core = story.core()
        text = story.page.read_text(encoding="utf-8")
        assert len(core) >= 3 and all("[mem:%s]" % citation in text for citation in core.values())
        day = story.page.parent / "memory" / time.strftime("%Y-%m-%d.md")
        assert "ClickHouse" in day.read_text(encoding="utf-8")

        story.edit(lambda text: text.replace("8443", "9443"))
        story.wait("9443")
        assert not any("8443" in text for text in story.core())
        with story.page.open("a", encoding="utf-8") as file:
            file.write("- 금요일 오후에는 배포하지 않는다.\n")
        story.wait("금요일 오후")
        story.daemon.wait_for(lambda: "[mem:%s]" % story.core()["금요일 오후에는 배포하지 않는다."]
                              in story.page.read_text(encoding="utf-8"), "citation in the file")  # fmt: skip
        story.daemon.settle()  # nobody edits in the very moment in which the daemon writes
        story.delete("화요일")
        story.wait("화요일", there=False)
        story.daemon.settle()
        story.page.write_bytes(story.page.read_bytes()[:200])
        os.utime(story.page, (time.time() - 60, time.time() - 60))
        story.files(now=True)
        assert "9443" in story.page.read_text(encoding="utf-8")
        assert any("cut off" in one for one in story.files()["notices"])
        assert any("금요일" in text for text in story.core())

        def is_found() -> bool:
            found = story.daemon.call("search", query="금요일 배포", project_dir=str(story.project))["hits"]
            return any(hit["category"] == "core" and "금요일" in hit["snippet"] for hit in found)

        story.daemon.wait_for(is_found, "hit for a current memory")


def test_next_daemon_reads_offline_edits(story: Story) -> None:
    with story.daemon:
        story.tell()
    story.edit(
        lambda text: text.replace("8443", "9443").replace(END, "## 선호\n\n- 커밋 메시지는 한국어로 쓴다.\n\n" + END)
    )
    story.delete("ClickHouse")
    with Daemon(ROOT, story.home, LEXICAL) as again:
        story.daemon = again
        story.wait("9443")
        story.wait("커밋 메시지는 한국어로 쓴다.")
        story.wait("ClickHouse", there=False)
        history = again.call("list", project_dir=str(story.project), category="core")["memories"]
        assert {one["kind"] for one in history if "커밋" in one["text"]} == {"preference"}


def test_forget_removes_file_lines(story: Story) -> None:
    with story.daemon:
        story.tell()
        [citation] = [key for text, key in story.core().items() if "ClickHouse" in text]
        story.daemon.call("forget", ids=[citation])
        held = "".join(path.read_text(encoding="utf-8") for path in story.page.parent.rglob("*.md"))
        assert "ClickHouse" not in held and "8443" in held
        story.daemon.call("forget", project_dir=str(story.project))
        assert not list(story.home.glob("projects/*"))


def test_kill_during_sync_loses_no_edit(story: Story) -> None:
    with story.daemon:
        story.tell()
        story.edit(lambda text: text.replace(END, "- 마지막으로 적은 줄이다.\n" + END))
        story.daemon.kill()
    with Daemon(ROOT, story.home, LEXICAL) as again:
        story.daemon = again
        story.wait("마지막으로 적은 줄이다.")
        story.files(now=True)
        assert sum("마지막으로" in text for text in story.core()) == 1


def test_files_verb_names_and_reads(story: Story) -> None:
    with story.daemon:
        story.tell()
        story.edit(lambda text: text.replace("8443", "9443"))
        done = story.cli("stats", "--files")
        assert (done.returncode, done.stderr) == (0, "")
        assert str(story.page) in done.stdout and any("9443" in text for text in story.core())
        found = json.loads(story.cli("stats", "--files", "--json").stdout)
        assert found["folder"] == str(story.page.parent) and str(story.page) in found["files"]
        story.page.write_bytes("배포".encode("cp949"))
        assert "not UTF-8" in story.cli("stats", "--files").stdout
        doctor = story.cli("doctor")
        assert "memory files" in doctor.stdout and "not UTF-8" in doctor.stdout


def test_repository_files_need_user_setting(story: Story) -> None:
    (story.project / ".memlayer.yaml").write_text("files:\n  location: project\n  extra_paths: [/etc]\n")
    with story.daemon:
        story.tell()
        assert not (story.project / ".memlayer").exists() and story.page.exists()
    with Daemon(ROOT, story.home, {**LEXICAL, "files": {"location": "project"}}) as again:
        page = story.project / ".memlayer" / "MEMORY.md"
        again.wait_for(page.exists, "file in the project")
        assert "ClickHouse" in page.read_text(encoding="utf-8")
        again.wait_for(lambda: not list(story.home.glob("projects/*")), "old files gone")


def test_extra_markdown_answers_with_its_lines(home: Path, project: Path, tmp_path: Path) -> None:
    notes = tmp_path / "노트"
    notes.mkdir()
    (notes / "운영.md").write_text("# 운영\n\n" + "\n".join("줄 %d" % n for n in range(20)) + "\n\n## 백업\n\n"
                                   "백업은 매일 새벽 4시에 zebra 서버로 보낸다.\n", encoding="utf-8")  # fmt: skip
    (project / "docs").mkdir()
    (project / "docs" / "guide.md").write_text("# Guide\n\nThe walrus importer runs nightly.\n", encoding="utf-8")
    extra = [str(notes), str(project / "docs")]
    story = Story(home, project, {**LEXICAL, "files": {"extra_paths": extra}})
    with story.daemon:
        story.tell()
        hits = story.daemon.call("search", query="zebra 백업", project_dir=str(project))["hits"]
        assert lines_of(hits[0]) == ("운영.md", 1, 26) and hits[0]["project"] == "every project"
        hits = story.daemon.call("search", query="walrus importer", project_dir=str(project))["hits"]
        assert lines_of(hits[0]) == ("guide.md", 1, 3) and hits[0]["project"] == "shop"
        assert "docs/guide.md:1-3" in story.cli("search", "walrus importer").stdout
        recalled = story.hook("user_prompt_submit", "s2", "p9", prompt="백업은 언제 zebra 서버로 보내지?")
        assert "새벽 4시" in recalled.context
        (notes / "운영.md").unlink()
        story.files(now=True)
        hits = story.daemon.call("search", query="zebra 백업", project_dir=str(project))["hits"]
        assert not any("새벽 4시" in hit["snippet"] or "운영" in str(hit.get("path")) for hit in hits)


@pytest.mark.parametrize(
    ("line", "prompt", "value"),
    [("8443", "which port is the staging port?", "8443"), ("화요일", "배포는 언제 하지?", "화요일")],
)
def test_deleted_line_is_not_recalled(story: Story, line: str, prompt: str, value: str) -> None:
    def recalled() -> str:
        return str(story.daemon.call("recall", prompt=prompt, project_dir=str(story.project))["block"])

    with story.daemon:
        story.tell()
        assert value in recalled()
        story.delete(line)
        story.files(now=True)
        assert value not in recalled()
