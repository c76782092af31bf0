"""`memlayer rules`: rules as lines, and in a marked block of a file."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from memlayer.cli.verbs.curation.rules import BEGIN, END, block, changed
from memlayer.errors import UserError
from tests.support.cli_process import MEMORY, Cli
from tests.support.scripted_daemon import ScriptedDaemon

RULES = ("커밋 메시지는 한국어로 쓴다", "Never push to main, 금요일에는 특히")
OWN = "# 가게\n\nBuild with `make`.\n"
BLOCK = "%s\n- %s\n- %s\n%s\n" % (BEGIN % "AGENTS.md", *RULES, END)


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def run(cli: Cli, *arguments: str, rules: tuple[str, ...] = RULES) -> subprocess.CompletedProcess[str]:
    memories = [{**MEMORY, "text": text} for text in rules]
    with ScriptedDaemon(cli.home, {"list": {"memories": memories}}):
        return cli("rules", *arguments)


@pytest.mark.parametrize("own", [None, OWN, OWN.rstrip("\n"), "", "\n"])
def test_a_block_is_written_kept_and_removed(cli: Cli, project: Path, own: str | None) -> None:
    file = project / "AGENTS.md"
    if own is not None:
        file.write_text(own)
        file.chmod(0o640)
    assert run(cli, "--to", "AGENTS.md", "--yes").returncode == 0
    text = file.read_text()
    assert text.startswith(own or "") and text.endswith(BLOCK)
    assert stat.S_IMODE(file.stat().st_mode) == (0o644 if own is None else 0o640)
    assert "Nothing to change" in run(cli, "--to", "AGENTS.md", "--yes").stdout
    file.write_text(text + "\n## 뒤에 쓴 글\n")
    run(cli, "--to", "AGENTS.md", "--yes", rules=RULES[:1])
    assert file.read_text() == text.replace("- %s\n" % RULES[1], "") + "\n## 뒤에 쓴 글\n"
    file.write_text(text)
    removed = run(cli, "--to", "AGENTS.md", "--remove", "--yes").stdout
    assert removed == f"{'Written to' if file.exists() else 'Removed empty'} {file}.\n"
    left = file.read_text() if file.exists() else ""
    assert left.rstrip("\n") == (own or "").rstrip("\n") and BEGIN[:20] not in left


def test_nothing_is_written_before_a_yes(cli: Cli, project: Path) -> None:
    told = run(cli, "--to", "CLAUDE.md")
    assert told.returncode == 1 and "--yes" in told.stderr
    assert not (project / "CLAUDE.md").exists()


def test_a_link_stays_a_link(cli: Cli, project: Path) -> None:
    (project / "CLAUDE.md").write_text(OWN)
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    answer = json.loads(run(cli, "--to", "AGENTS.md", "--yes", "--json").stdout)
    assert (answer["path"], answer["rules"], answer["changed"]) == (str(project.resolve() / "CLAUDE.md"), 2, True)
    assert (project / "AGENTS.md").is_symlink()
    assert RULES[0] in (project / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    "text", [BLOCK + BLOCK, END + "\n", BEGIN % "AGENTS.md" + "\n- 말\n", OWN + END + "\n" + BLOCK]
)
def test_damaged_marks_are_told(text: str) -> None:
    with pytest.raises(UserError, match="marks"):
        changed(text, BLOCK)


def test_a_rule_cannot_end_the_block() -> None:
    made = block("AGENTS.md", ["쓰지 마: %s" % END, "never <!-- x"])
    assert made.count(END) == 1
    assert changed(changed(OWN, made), "") == OWN


def test_odd_files_are_told_and_stay(cli: Cli, project: Path) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in run(cli, "--to", "AGENTS.md", "--yes").stderr
    assert file.read_bytes() == b"\xff\xfe\x00"
    file.unlink()
    os.mkfifo(file)
    assert run(cli, "--to", "AGENTS.md", "--yes").returncode == 1


def test_without_a_rule_no_file_is_made(cli: Cli, project: Path) -> None:
    told = run(cli, "--to", "AGENTS.md", "--yes", rules=())
    assert told.returncode == 1 and "remember" in told.stderr
    assert not (project / "AGENTS.md").exists()


def test_removing_where_nothing_is_changes_nothing(cli: Cli, project: Path) -> None:
    (project / "AGENTS.md").write_text(OWN)
    assert "Nothing to change" in run(cli, "--to", "AGENTS.md", "--remove", "--yes").stdout
    assert (project / "AGENTS.md").read_text() == OWN


def test_lines_with_carriage_returns_keep_them() -> None:
    own = OWN.replace("\n", "\r\n")
    assert changed(changed(own, BLOCK), "") == own
