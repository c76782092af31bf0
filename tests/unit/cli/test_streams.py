"""The ends of the standard streams: closed, full, gone, or a person who presses Ctrl-C: one line, and a plain exit."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.cli_process import FOUND, MAIN, MEMORY, Cli
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[3]
STARTS = [f"'{sys.executable}' -I '{MAIN}'", f"'{ROOT / 'bin' / 'memlayer'}'"]
SCRIPT = {"list": {"memories": [MEMORY]}, "search": FOUND, "forget": {"memories": [MEMORY], "removed": {}}}


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    made = Cli(home, project)
    made.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix
    return made


def shell(cli: Cli, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env=cli.environment, cwd=cli.project, timeout=60
    )


@pytest.mark.parametrize("start", STARTS, ids=["module", "script"])
@pytest.mark.parametrize(("verb", "code", "part"), tables("cli/streams")["closed_or_full_stream"])
def test_closed_or_full_stream(cli: Cli, start: str, verb: str, code: int, part: str) -> None:
    with ScriptedDaemon(cli.home, SCRIPT):
        done = shell(cli, f"{start} {verb}")
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) == (1 if part else 0) and part in done.stderr
    assert not (cli.home / "logs").exists()


@pytest.mark.parametrize("rows", [1, 5000])
def test_reader_gone_before_output(cli: Cli, rows: int) -> None:
    with ScriptedDaemon(cli.home, {"list": {"memories": [MEMORY] * rows}}):
        done = shell(cli, f"{{ sleep 0.3; {STARTS[0]} list --all-projects; echo code $? >&2; }} | true")
    assert done.stderr == "code 1\n"


def test_end_of_input_at_question(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, SCRIPT) as daemon:
        code, shown = cli.on_terminal("forget", "x9Yz2w", types="\x04")
    assert code == 130 and shown.rstrip().endswith("memlayer: stopped") and "Aborted" not in shown
    assert [fields["dry_run"] for _, fields in daemon.heard] == [True]


def test_ctrl_c_during_daemon_work(cli: Cli) -> None:
    asked, stopped = threading.Event(), threading.Event()

    def answer(_: object) -> dict[str, int]:
        asked.set()
        stopped.wait(20)
        return {}

    def heed_ctrl_c() -> None:  # a shell makes background processes ignore it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    argv = [sys.executable, "-I", str(MAIN), "doctor", "reindex"]
    with (
        ScriptedDaemon(cli.home, {"reindex": answer}),
        subprocess.Popen(
            argv,
            env=cli.environment,
            cwd=cli.project,
            preexec_fn=heed_ctrl_c,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert asked.wait(20)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=15)
        stopped.set()
    assert (process.returncode, out, err.strip()) == (130, "", "memlayer: stopped")


def test_terminal_without_columns(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, SCRIPT):
        code, shown = cli.on_terminal("list", columns=0)
    assert code == 0 and "[mem:x9Yz2w]" in shown and MEMORY["text"] in shown


def test_wrong_options_are_two(cli: Cli) -> None:
    for arguments in (("nosuchverb",), ("list", "--limit", "0"), ("list", "--nosuch")):
        done = cli(*arguments)
        assert done.returncode == 2 and "--help`" in done.stderr and done.stdout == ""
    assert cli("--version").returncode == 0 and cli("list", "--help").returncode == 0


def test_export_name_not_utf8(cli: Cli, tmp_path: Path) -> None:
    heard = os.fsdecode(b"/tmp/\xff.jsonl")
    with ScriptedDaemon(cli.home, {"export": {}}) as daemon:
        assert cli("export", heard).returncode == 0
    assert daemon.heard == [("export", {"path": heard})]
