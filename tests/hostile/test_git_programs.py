"""A repository's configuration names programs and addresses: no git call of memlayer runs or reaches one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.edge.home.project import locate
from memlayer.model import replace
from memlayer.records import git as git_calls
from memlayer.records.ground import Ground
from memlayer.records.projects import git_setting, root_commit
from memlayer.sharing.git_engine import GitEngine, without_login
from memlayer.tasks.events import branches
from tests.support.repositories import git, repository
from tests.support.store_rows import make_memory
from tests.support.tables import tables

# Settings that name a program, each with the value's form.
PROGRAMS = {
    "remote.origin.uploadpack": "%s", "core.sshCommand": "%s", "core.gitProxy": "%s", "core.fsmonitor": "%s",
    "core.pager": "%s", "pager.log": "%s", "pager.rev-list": "%s", "diff.external": "%s", "core.editor": "%s",
    "gpg.program": "%s", "gpg.ssh.program": "%s", "core.askPass": "%s", "credential.helper": "!%s",
    "core.alternateRefsCommand": "%s", "diff.python.textconv": "%s", "diff.python.command": "%s",
    "filter.evil.clean": "%s", "filter.evil.smudge": "%s", "filter.evil.process": "%s", "alias.log": "!%s",
    "alias.rev-list": "!%s", "alias.rev-parse": "!%s", "alias.config": "!%s", "remote.origin.vcs": "evil",
    "merge.evil.driver": "%s", "interactive.diffFilter": "%s", "sequence.editor": "%s", "core.hooksPath": "HOOKS",
    "uploadpack.packObjectsHook": "%s", "trailer.x.command": "%s", "browser.x.cmd": "%s", "man.x.cmd": "%s",
}  # fmt: skip
ADDRESSES = ("FILE", "ssh://attacker.example/x.git", "git@attacker.example:x.git", "git://127.0.0.1:1/x.git",
             "http://127.0.0.1:1/x.git", "ext::EVIL", "evil::x", "PATH")  # fmt: skip
FILTERS = ("blob:none", "tree:0", "blob:limit=1")


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that each program of a configuration would write; one of git's own extensions is among them."""
    mark = tmp_path / "ran"
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("evil", "git-remote-evil", "ssh"):
        (folder / name).write_text('#!/bin/sh\necho "$0 $*" >> "%s"\nexit 1\n' % mark)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", "%s:%s" % (folder, os.environ["PATH"]))
    yield mark
    assert not mark.exists(), mark.read_text()


def configured(folder: Path, values: dict[str, str], program: str) -> None:
    for name, value in values.items():
        git(folder, "config", name, value % program if "%" in value else value)
    hooks = folder / "HOOKS"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "pre-auto-gc", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        (hooks / name).write_text("#!/bin/sh\n%s\n" % program)
        (hooks / name).chmod(0o755)


def partial_clone(tmp_path: Path, only: str) -> Path:
    """Return a clone that lacks objects of each commit."""
    origin = repository(tmp_path / "origin")
    git(origin, "config", "uploadpack.allowFilter", "true")
    for number in range(3):
        (origin / "결제").mkdir(exist_ok=True)
        (origin / "결제" / ("정산%d.py" % number)).write_text("x = %d\n" % number * 20)
        git(origin, "add", "-A")
        git(origin, "commit", "-m", "정산 %d" % number)
    git(tmp_path, "clone", "--no-checkout", "--filter=" + only, "file://%s" % origin, str(tmp_path / "받은 것"))
    return tmp_path / "받은 것"


def asked(folder: Path) -> None:
    """Make each call that a session's start makes of a project."""
    place = locate(str(folder))
    branches(str(folder))
    root_commit(place.git_dir)
    git_setting(place.git_dir, "user.name")
    ground = Ground(str(folder.parent / "home"))
    note = replace(make_memory(1, "정산은 정산.py의 `round_down()`에서 한다."), files=("정산.py",))
    for branch in ("곁가지", "다른-것"):  # of a note, and another one that is checked out
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/%s\n" % branch)
        git(folder, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/" + branch, "refs/heads/main")
        ground.note("p1", [note], lambda _: str(folder))
        ground.look("p1", str(folder))
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_of_a_repository_is_not_started(tmp_path: Path, mark: Path, name: str) -> None:
    folder = repository(tmp_path / "shop")
    (folder / ".gitattributes").write_text("*.py diff=python filter=evil merge=evil\n")
    (folder / "정산.py").write_text("1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "정산")
    configured(folder, {"log.showSignature": "true", name: PROGRAMS[name]}, str(tmp_path / "bin" / "evil"))
    asked(folder)
    assert branches(str(folder))


@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("only", FILTERS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_partial_clone_fetches_nothing(
    tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch, only: str, address: str, is_older: bool
) -> None:
    """Also with a git that knows no variable against it."""
    if is_older:
        monkeypatch.delitem(git_calls.ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    folder = partial_clone(tmp_path, only)
    evil, origin = str(tmp_path / "bin" / "evil"), str(tmp_path / "origin")
    url = address.replace("FILE", "file://" + origin).replace("PATH", origin).replace("EVIL", evil)
    git(folder, "config", "remote.origin.url", url)
    programs = {name: PROGRAMS[name] for name in ("remote.origin.uploadpack", "core.sshCommand", "core.gitProxy")}
    configured(folder, {**programs, "protocol.allow": "always", "protocol.ext.allow": "always"}, evil)
    had = sorted((folder / ".git" / "objects" / "pack").iterdir())
    asked(folder)
    assert sorted((folder / ".git" / "objects" / "pack").iterdir()) == had
    assert branches(str(folder))


def test_variables_of_the_caller_name_no_program(tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, evil = repository(tmp_path / "shop"), str(tmp_path / "bin" / "evil")
    (folder / "a.py").write_text("1")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "a")
    other = repository(tmp_path / "other")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "GIT_PROXY_COMMAND"):
        monkeypatch.setenv(name, evil)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", evil)
    assert branches(str(folder))


def test_repository_above_a_folder_is_not_asked(tmp_path: Path) -> None:
    above = repository(tmp_path / "home")
    (above / "notes").mkdir()
    (above / "notes" / "a.md").write_text("1")
    git(above, "add", "-A")
    git(above, "commit", "-m", "a")
    assert branches(str(above))
    assert branches(str(above / "notes")) == []


def test_embedded_bare_repository_is_not_asked(tmp_path: Path, mark: Path) -> None:
    folder = repository(tmp_path / "shop")
    shutil.move(str(folder / ".git"), str(tmp_path / "bare"))
    configured(tmp_path / "bare", {"core.fsmonitor": "%s"}, str(tmp_path / "bin" / "evil"))
    git(tmp_path / "bare", "config", "core.bare", "true")
    assert branches(str(tmp_path / "bare")) == []


@pytest.mark.parametrize("form", ["file://%s", "git+file://%s", "%s"])
def test_remote_on_this_machine_runs_none_of_its_hooks(tmp_path: Path, mark: Path, form: str) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--bare", str(remote))
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-auto-gc"):
        (remote / "hooks" / name).write_text("#!/bin/sh\n%s\n" % (tmp_path / "bin" / "evil"))
        (remote / "hooks" / name).chmod(0o755)
    git(remote, "config", "gc.auto", "1")
    engine = GitEngine(form % remote, str(tmp_path / "own"))
    engine.check()
    engine.change("a" * 16, {"1-1.rows": b"x"}, ())
    engine.refresh()
    engine.purge()


@pytest.mark.parametrize(
    ("address", "parts"),
    tables("hostile/git_programs")["login_is_parted_from_an_address"],
)  # fmt: skip
def test_login_is_parted_from_an_address(address: str, parts: tuple[str, str, str]) -> None:
    assert without_login(address) == tuple(parts)


def test_password_reaches_git_by_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The helper that git asks says the password; the arguments of git and of its children hold nothing of it."""
    seen: list[tuple[list[str], dict[str, str]]] = []
    real = subprocess.Popen

    def watched(arguments: list[str], **more: object) -> object:
        seen.append((arguments, more["env"]))  # type: ignore[arg-type]
        return real(arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", watched)
    engine = GitEngine("git+https://kim:비밀pw@127.0.0.1:1/a.git", str(tmp_path / "own"))
    with pytest.raises(Exception, match="cannot be reached") as told:
        engine.check()
    assert "비밀pw" not in str(told.value) and "kim" not in str(told.value)
    asked = [one for one in seen if "ls-remote" in one[0]]
    assert asked and not any("비밀pw" in word or "kim" in word for arguments, _ in seen for word in arguments)
    arguments, environment = asked[0]
    options = arguments[: arguments.index("ls-remote")]
    sent = b"protocol=https\nhost=%s\n\n"
    fill = [word for word in options if word != "--no-pager"]
    fill = fill[: fill.index("--git-dir")]
    told_us = subprocess.run(
        [*fill, "credential", "fill"], input=sent % b"127.0.0.1:1", env=environment, capture_output=True
    )
    assert "username=kim\npassword=비밀pw\n" in told_us.stdout.decode()
    other = subprocess.run(
        [*fill, "credential", "fill"], input=sent % b"evil.example", env=environment, capture_output=True
    )
    assert other.stdout == b"" and other.returncode  # no other host is told
