"""Durable writes."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memlayer.edge.home import paths


def test_threads_that_write_one_file_disturb_each_other_not(tmp_path: Path) -> None:
    """As when a client asks again while its first request is still answered."""
    path = str(tmp_path / "칸" / "0001790000000-같은 사건.json")
    texts = [("값 %d " % number).encode() * 400 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(lambda text: paths.write_whole(path, text), texts))
            assert Path(path).read_bytes() in texts
    assert os.listdir(tmp_path / "칸") == [os.path.basename(path)]


def test_a_write_of_a_dead_process_is_swept_and_a_living_ones_stays(tmp_path: Path) -> None:
    dead, own = tmp_path / ".tmp-a.json-140-99999999", tmp_path / f".tmp-a.json-140-{os.getpid()}"
    for path in (dead, own):
        path.write_text("x")
    assert paths.sweep(str(tmp_path), dead.stat().st_mtime + 10, 3600, 3) == 1
    assert not dead.exists() and own.exists()


SESSION = "0b1acb14-13a4-46f6-97b7-581afee34d79"


@pytest.mark.parametrize(
    "named",
    [
        "{home}/.claude/projects/-home-dev-shop/%s.jsonl" % SESSION,  # a folder that was renamed
        "{home}/.claude/projects/-내-가게/%s.jsonl" % SESSION,
        "/nowhere/%s.jsonl" % SESSION,
        "/nowhere/projects/x/%s.jsonl" % SESSION,
        "{home}/.claude/projects/-new/other-name.jsonl",
        "{home}/.claude/projects/-new",  # a folder
        "relative.jsonl",
        "~/.claude/projects/-new/x.jsonl",
        "C:\\Users\\dev\\.claude\\projects\\x\\%s.jsonl" % SESSION,
        "",
    ],
)
@pytest.mark.parametrize("config", ["", "설정"])
def test_transcript_of_a_session_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, config: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".claude"
    if config:
        folder = tmp_path / config
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    else:
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    kept = folder / "projects" / "-new" / (SESSION + ".jsonl")
    kept.parent.mkdir(parents=True)
    kept.write_text("{}\n")
    (folder / "projects" / "stray.txt").write_text("")
    assert paths.transcript_of(SESSION, named.format(home=tmp_path)) == str(kept)


def test_transcript_that_is_there_or_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert paths.transcript_of(SESSION, "/nowhere/x.jsonl") == "/nowhere/x.jsonl"  # no folder of the host at all
    projects = tmp_path / ".claude" / "projects"
    for number, name in enumerate(("-a", "-b")):
        (projects / name).mkdir(parents=True)
        (projects / name / "s1.jsonl").write_text("{}\n")
        os.utime(projects / name / "s1.jsonl", (1000 + number, 1000 + number))
    (tmp_path / "secret.jsonl").write_text("{}\n")
    there = str(projects / "-a" / "s1.jsonl")
    assert paths.transcript_of("s1", there) == there
    assert paths.transcript_of("s1", "/gone.jsonl") == str(projects / "-b" / "s1.jsonl")
    for outside in ("../../secret", "/etc/passwd", "..", "", "s1/../s1", "s*", "s1\x00"):
        assert paths.transcript_of(outside, "/gone.jsonl") == "/gone.jsonl"
