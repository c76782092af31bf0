"""Shell completion: the script that a shell saves, and the answers that it is given at each Tab."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memlayer.cli.app import VERBS
from tests.support.cli_process import Cli

ROOT = Path(__file__).resolve().parents[3]
BASH = shutil.which("bash")


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def launched(cli: Cli, words: str, place: int, **more: str) -> subprocess.CompletedProcess[str]:
    """bin/memlayer as the script of bash calls it."""
    asked = {"_MEMLAYER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    return subprocess.run(
        [str(ROOT / "bin" / "memlayer")],
        capture_output=True, text=True, cwd=cli.project, env={**cli.environment, **asked, **more}, timeout=30,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "place", "offered"),
    [
        ("memlayer ", 1, set(VERBS)),
        ("memlayer re", 1, {"remember", "review"}),
        ("memlayer search --si", 2, {"--since"}),
        ("memlayer list c", 2, {"core", "conversation", "custom"}),
        ("memlayer config set recall.max_", 3, {"recall.max_entries", "recall.max_chars"}),
        ("memlayer daemon re", 2, {"restart"}),
        ("memlayer doctor re", 2, {"reindex", "repair"}),
        ("memlayer list --cited u", 3, {"unused"}),
        ("memlayer completion z", 2, {"zsh"}),
        ("memlayer search 결제", 2, set()),
    ],
)
def test_launcher_offers_completions(cli: Cli, words: str, place: int, offered: set[str]) -> None:
    done = launched(cli, words, place, MEMLAYER_RUNTIME_DIR=sys.prefix)
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} - {""} == offered
    assert not cli.home.exists()


def test_shell_completes_folders(cli: Cli) -> None:
    done = launched(cli, "memlayer list --project /t", 3, MEMLAYER_RUNTIME_DIR=sys.prefix)
    assert done.stdout.startswith("dir,")


def test_tab_builds_no_runtime(cli: Cli) -> None:
    done = launched(cli, "memlayer se", 1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not cli.home.exists()


@pytest.mark.skipif(BASH is None, reason="no bash here")
def test_bash_completes_with_the_script(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "completions"
    script.write_text(cli("completion", "bash").stdout)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "memlayer").symlink_to(ROOT / "bin" / "memlayer")
    path = f"{tmp_path / 'bin'}{os.pathsep}{cli.environment['PATH']}"
    code = (
        f"source '{script}'; complete -p memlayer; COMP_WORDS=(memlayer rem); COMP_CWORD=1\n"
        '_memlayer_completion memlayer; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [str(BASH), "--norc", "-c", code],
        capture_output=True, text=True, timeout=30,
        env={**cli.environment, "PATH": path, "MEMLAYER_RUNTIME_DIR": sys.prefix},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    registered, offered = done.stdout.splitlines()
    assert "_memlayer_completion memlayer" in registered and offered == "remember"


@pytest.mark.parametrize(
    ("shell", "part"), [("bash", "complete -o nosort"), ("zsh", "#compdef memlayer"), ("fish", "complete ")]
)
def test_each_shell_has_its_script(cli: Cli, shell: str, part: str) -> None:
    script = cli("completion", shell).stdout
    assert part in script and f"_MEMLAYER_COMPLETE={shell}_complete" in script
    assert json.loads(cli("completion", shell, "--json").stdout) == {
        "shell": shell,
        "script": script.removesuffix("\n"),
    }
    assert cli("completion", "tcsh").returncode == 2
