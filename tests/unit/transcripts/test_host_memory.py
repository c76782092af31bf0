"""The host's own memory: found by the transcript, read only, said by nobody twice."""

import os
from pathlib import Path

from memlayer.give.working_set import checked, in_short
from memlayer.records.sessions import Session
from memlayer.text.context_block import HEADER
from memlayer.transcripts.host_memory import LOADED_LINES, HostMemory, folders, says

LINES = "# Memory\n- Order events live in ClickHouse, not Postgres\n- 배포는 항상 화요일 오전에 한다\n"


def written(folder: Path, text: str = LINES) -> str:
    """A transcript's path, with the host's memory beside it."""
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "MEMORY.md").write_text(text, encoding="utf-8")
    return str(folder / "s1.jsonl")


def test_lines_say_the_same(tmp_path: Path) -> None:
    lines = HostMemory().lines_of(written(tmp_path / "slug"))
    assert says(lines, "order events live in ClickHouse") and says(lines, "배포는 화요일 오전에 한다")
    assert not says(lines, "order events live in Redis since Friday")
    assert not says(lines, "ClickHouse") and not says((), "order events live in ClickHouse")


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    memory, transcript = HostMemory(), written(tmp_path / "slug")
    assert says(memory.lines_of(transcript), "배포는 화요일 오전에 한다")
    path = tmp_path / "slug" / "memory" / "MEMORY.md"
    path.write_text("- Use pnpm in this repository\n", encoding="utf-8")
    os.utime(path, (5, 5))
    assert not says(memory.lines_of(transcript), "배포는 화요일 오전에 한다")
    path.unlink()
    assert memory.lines_of(transcript) == () == memory.lines_of("") == memory.lines_of(str(tmp_path / "none" / "x"))


def test_lines_beyond_the_loaded_head_count_nothing(tmp_path: Path) -> None:
    text = "\n" * LOADED_LINES + "- Order events live in ClickHouse\n"
    assert HostMemory().lines_of(written(tmp_path / "slug", text)) == ()


def test_links_and_odd_files_are_silent(tmp_path: Path) -> None:
    transcript = written(tmp_path / "slug")
    path = tmp_path / "slug" / "memory" / "MEMORY.md"
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert HostMemory().lines_of(transcript) == ()
    path.unlink()
    os.mkfifo(path)
    assert HostMemory().lines_of(transcript) == ()


def test_folders_belong_to_the_project_of_the_transcript(tmp_path: Path) -> None:
    transcript = written(tmp_path / "slug")
    sessions = [
        Session("s1", project_id="p1", transcript_path=transcript),
        Session("s2", project_id="p2", transcript_path=str(tmp_path / "other" / "s2.jsonl")),
        Session("s3", project_id="p3"),
    ]
    assert folders(sessions) == {str(tmp_path / "slug" / "memory"): "p1"}


def test_working_set_without_host_lines(tmp_path: Path) -> None:
    lines = HostMemory().lines_of(written(tmp_path / "slug"))
    said = "- [mem:aaaaaa] 2026-11-01: Order events live in ClickHouse"
    other = "- [mem:bbbbbb] 2026-11-02: Use pnpm here"
    assert checked("\n".join((HEADER, "about", said, other)), lines, {}, 3500)[0] == "\n".join((HEADER, "about", other))
    assert checked("\n".join((HEADER, "about", said)), lines, {}, 3500)[0] == ""
    assert checked(said, (), {}, 3500)[0] == said


def test_subagent_gets_whole_lines() -> None:
    entries = ["- [mem:%06d] 2026-11-01: %s" % (number, "결제 " * 40) for number in range(9)]
    short = in_short("\n".join((HEADER, "about", *entries)), 600)
    assert short.startswith(HEADER + "\n") and 0 < len(short) <= 600
    assert all(line in entries for line in short.split("\n")[2:])
    assert in_short("", 600) == in_short(HEADER + "\nabout", 600) == ""
