"""`memlayer share` over the command line and real daemons: two machines of a person."""

import json
import re
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.sharing.engine import reason_of
from tests.conftest import ROOT
from tests.support.cli_process import Cli, Run, runner
from tests.support.processes import Daemon, HookRunner
from tests.support.repositories import git
from tests.support.shares import PLACES, holding
from tests.support.tables import tables
from tests.support.waiting import wait_for

SECRET = "부엉이는 새벽 3시에 운다 zq81xv"
pytestmark = pytest.mark.timeout(180)


def machine(folder: Path, name: str) -> tuple[Run, HookRunner, Path]:
    """A home of a person's machine, and a project of the same folder on both."""
    home, project = folder / name, folder / "shop"
    project.mkdir(exist_ok=True)
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    return runner(home, project), hook, home


def state_of(run: Run) -> dict[str, object]:
    return dict(json.loads(run("share", "status", "--json").stdout))


def test_nobody_is_asked_about_an_address_that_is_refused(tmp_path: Path) -> None:
    run, _, home = machine(tmp_path, "a")
    with Daemon(ROOT, home):
        meant = {"s3:내-통/기억": "s3://내-통/기억", "github.com/me/memory": "https://github.com/me/memory"}
        for address, near in meant.items():
            assert f"Did you mean {near}?" in run("share", "setup", address, "--yes", code=1).stderr
        assert "Give s3://" in run("share", "setup", "https://s3.amazonaws.com/b/x", "--yes", code=1).stderr
        for address in ("ftp://x", "smb://서버/폴더", "nowhere", "http://x/y"):
            code, said = Cli(home, tmp_path / "shop").on_terminal("share", "setup", address, types="n\n", columns=300)
            assert code == 1 and "Give file:///folder" in said and "Share?" not in said, said
            assert "Give file:///folder" in run("share", "setup", address, code=1).stderr
        code, said = Cli(home, tmp_path / "shop").on_terminal("share", "setup", f"file://{tmp_path}/없음", types="n\n")
        assert code == 1 and "make it first" in " ".join(said.split()) and "Share?" not in said
        assert not (home / "share").exists()
        for name in ("드라이브", "other"):
            (tmp_path / name).mkdir()
        first = f"file://{tmp_path / '드라이브'}"
        run("share", "setup", first, "--yes")
        for asked in (first, f"file://{tmp_path / 'other'}"):
            _, said = Cli(home, tmp_path / "shop").on_terminal("share", "setup", asked, types="n\n", columns=300)
            assert ("Share?" in said, "is the share of this home" in said) == (asked == first, asked != first)


@pytest.mark.parametrize(
    "address", ["git+file://{}/없음.git", "git@127.0.0.1.invalid:me/기억.git", "s3://b/x?endpoint=http://127.0.0.1:9"]
)
@pytest.mark.parametrize("verb", ["share", "team"])
def test_nothing_stays_of_a_share_that_could_not_begin(tmp_path: Path, verb: str, address: str) -> None:
    run, _, home = machine(tmp_path, "a")
    git(tmp_path / "shop", "init")
    git(tmp_path / "shop", "commit", "--allow-empty", "-m", "처음")
    with Daemon(ROOT, home):
        yes = ["--yes"] if verb == "share" else []
        failed = run(verb, "setup", address.format(tmp_path), *yes, code=1)
        assert failed.stderr.count("\n") == 1 and "source:" not in failed.stderr and ".rs" not in failed.stderr
        left = {path.name for path in home.iterdir()}
        assert not left & {"share", "team", "share.key", "daemon_variables"}, left
        assert "begin" in run(verb, "status").stdout
        run("daemon", "stop")  # the one that the setup has started


# Words of LanceDB 0.33 without keys and network, cut -> what a person reads.
FAILURES = tables("integration/sharing/share_daemon")["failures"]


@pytest.mark.parametrize(("words", "told"), FAILURES.items())
def test_a_stores_error_is_told_as_a_reason(words: str, told: str) -> None:
    reason = reason_of(words)
    assert told in reason and "/root" not in reason and "{" not in reason and "Error" not in reason


def test_turns_travel_by_themselves_and_a_forget_as_well(tmp_path: Path) -> None:
    """Takes long: two daemons start anew, and four exchanges are waited for."""
    address = PLACES["git"](tmp_path)
    run_a, hook_a, home_a = machine(tmp_path, "a")
    run_b, hook_b, home_b = machine(tmp_path, "b")
    with Daemon(ROOT, home_a), Daemon(ROOT, home_b):
        hook_a.turn("s1", "p1", "배포는 언제 하지? " + SECRET, "배포는 매주 화요일 오전에 하기로 했습니다.")
        refused = run_a("share", "setup", address, code=1)
        assert "Add --yes" in refused.stderr and not (home_a / "share").exists()
        set_up = run_a("share", "setup", address, "--name", "큰 노트북", "--yes")
        assert "encrypted before it leaves" in set_up.stdout
        key = run_a("share", "key").stdout
        hook_a("session_end", "s1", reason="other")
        wait_for(lambda: bool(state_of(run_a)["objects"]) and state_of(run_a)["to_send"] == 0)
        again = run_a("share", "sync").stdout
        assert "Sent: nothing new." in again
        run_b("share", "setup", address, "--key-stdin", "--yes", stdin=key)
        hook_b("session_start", "s2", source="startup")
        wait_for(lambda: "화요일" in run_b("search", "배포는 언제").stdout)
        assert SECRET in run_b("search", "부엉이").stdout
        status = run_b("share", "status").stdout
        assert "큰 노트북" in status and "encrypted" in status
        # Forgotten on the second machine: gone on the first after its next session.
        run_b("forget", "--query", "부엉이는 새벽", "--yes")
        hook_b("session_end", "s2", reason="other")
        wait_for(lambda: state_of(run_b)["to_send"] == 0)
        hook_a("session_start", "s3", source="startup")
        wait_for(lambda: SECRET not in run_a("search", "부엉이").stdout)
        wait_for(lambda: state_of(run_a)["to_erase"] == 0)
        said = json.loads(run_a("share", "sync", "--json").stdout)
        assert said["pulled"]["events"] == 0
        assert key.strip() not in json.dumps(state_of(run_a))
        stopped = run_b("share", "stop")
        assert "Every memory is still here" in stopped.stdout
        assert "stays there: delete it by hand, or next time stop with `--delete`" in stopped.stdout
        assert "The key stays in" in stopped.stdout and "joins again" in stopped.stdout
        assert run_b("share", "sync", code=1).stderr.startswith("memlayer: nothing is shared")
        assert "encrypted before it leaves" in run_b("share", "setup", address, "--yes").stdout  # with what is left
        gone = run_b("share", "stop", "--delete").stdout
        assert "the key is gone from this machine" in gone and not list(home_b.rglob("share*"))
        for run in (run_a, run_b):
            run("daemon", "stop")  # the one that `share setup` has started
    assert holding(SECRET, tmp_path) == []


def test_nothing_is_shared_before_the_person_says_so(tmp_path: Path) -> None:
    run, hook, home = machine(tmp_path, "a")
    (tmp_path / "drive").mkdir()
    (tmp_path / "shop" / ".memlayer.yaml").write_text("share:\n  url: file://%s/drive\n" % tmp_path)
    with Daemon(ROOT, home):
        hook.turn("s1", "p1", "안녕, 포트는?", "8443 입니다.")
        hook("session_end", "s1", reason="other")
        run("doctor", "flush")
        assert "Nothing is shared" in run("share", "status").stdout
        assert "nothing: notes go where Claude Code sends your prompts" in run("stats").stdout
        for verb in ("sync", "key", "stop"):
            assert "nothing is shared" in run("share", verb, code=1).stderr
    assert list((tmp_path / "drive").iterdir()) == [] and not Path(paths.share(str(home))).exists()


def test_joined_share_is_taken_in_before_a_session(tmp_path: Path) -> None:
    """A second machine has no session yet when its person asks."""
    (tmp_path / "drive").mkdir()
    url = "file://%s/drive" % tmp_path
    (run_a, hook_a, home_a), (run_b, _, home_b) = machine(tmp_path, "a"), machine(tmp_path, "b")
    with Daemon(ROOT, home_a):
        run_a("share", "setup", url, "--plain", "--yes")
        hook_a.turn("s1", "p1", "결제 웹훅 포트가 뭐였지?", "웹훅은 9090 포트에서 듣습니다.")
        run_a("share", "sync")
    with Daemon(ROOT, home_b) as daemon:
        daemon.settle()
        run_b("share", "setup", url, "--plain", "--yes")
        assert re.search("taken in +(not yet: it begins by itself|20)", run_b("share", "status").stdout)
        wait_for(lambda: state_of(run_b)["pull_ms"] and "9090" in run_b("search", "결제 웹훅", "--all-projects").stdout)
        listed = run_b("project", "list").stdout
        assert "shop  no folder on this machine yet" in listed and "no longer there" not in listed
        assert "All that this machine sent there is deleted" in run_b("share", "stop", "--delete").stdout


@pytest.mark.fault
def test_share_that_cannot_be_reached_is_told_by_status_and_doctor(tmp_path: Path) -> None:
    """Takes long: a daemon starts anew, and doctor tries a runtime."""
    run, hook, home = machine(tmp_path, "a")
    drive = tmp_path / "drive"
    drive.mkdir()
    with Daemon(ROOT, home):
        run("share", "setup", "file://%s" % drive, "--yes")
        run("share", "sync")
        for inner in sorted(drive.rglob("*"), reverse=True):
            inner.rmdir() if inner.is_dir() else inner.unlink()
        drive.rmdir()
        hook.turn("s1", "p1", "드라이브가 없을 때 한 말", "네, 포트는 8443.")
        hook("session_end", "s1", reason="other")
        wait_for(lambda: bool(state_of(run)["problem"]))
        assert "a drive may not be mounted" in run("share", "status").stdout
        checks = {row["name"]: row for row in json.loads(run("doctor", "--json").stdout)["checks"]}
        assert checks["share"]["state"] == "warn"
        assert checks["sends"]["says"] == "prompts, answers and memories to file://%s" % drive
        assert "rows wait" in checks["share"]["says"] and "mounted" in checks["share"]["says"]
        assert "드라이브" in run("search", "드라이브가 없을 때").stdout
