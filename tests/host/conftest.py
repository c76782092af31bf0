"""Fixtures: installed hosts, the scripted API, the plugin, a user.

The plugin is a copy; the user has a home and a project.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.installed_host import PINNED_VERSION, InstalledHost, cache_folder, install, newest_version
from tests.support.host.messages_api import MessagesApi
from tests.support.host.plugin_copy import copy_plugin, git
from tests.support.leftovers import end_all

DAEMON_STOP_TIMEOUT_S = 20


@pytest.fixture(scope="session", params=["pinned", "newest"])
def host(request: pytest.FixtureRequest) -> InstalledHost:
    """The real host.

    Once at the oldest supported and once at the newest version.
    """
    if request.param == "pinned":
        return install(PINNED_VERSION)
    newest = newest_version()
    if newest == PINNED_VERSION:
        pytest.skip("the newest version is the pinned one")
    return install(newest)


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh copy of the plugin, which tests leave unchanged.

    Its folder has a space in its name.
    """
    return copy_plugin(tmp_path_factory.mktemp("plugin") / "mem layer")


@pytest.fixture(scope="session")
def runtime_dir(plugin: Path) -> Path:
    """One runtime for all tests.

    MEMLAYER_RUNTIME_DIR, else built once by bin/memlayer beside the hosts.
    """
    named = os.environ.get("MEMLAYER_RUNTIME_DIR")
    if named:
        return Path(named).resolve()
    builder_home = cache_folder() / "memlayer_home"
    subprocess.run(
        [plugin / "bin" / "memlayer", "setup", "--quiet"],
        env={**os.environ, "MEMLAYER_HOME": str(builder_home)},
        check=True,
        timeout=600,
    )
    return (builder_home / "runtime" / "current").resolve()


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    """The Messages API.

    It answers "Mock answer N." until the test sets its `script`.
    """
    with MessagesApi() as served:
        yield served


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with a space and Hangul in its name."""
    return new_project(tmp_path / "내 가게 shop")


@pytest.fixture
def claude(
    host: InstalledHost, api: MessagesApi, plugin: Path, runtime_dir: Path, project: Path, tmp_path: Path
) -> Iterator[Claude]:
    """A user who has the plugin loaded.

    The daemon that the hooks started is stopped afterwards.
    """
    home = tmp_path / "home"
    home.mkdir()
    shared = {"MEMLAYER_RUNTIME_DIR": str(runtime_dir)}
    user = Claude(host=host, api=api, home=home, project=project, plugin=plugin, extra_environ=shared)
    yield user
    stop_daemon(user)


def new_project(folder: Path) -> Path:
    """Make a git repository with one commit at `folder`."""
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(f"# {folder.parent.name} {folder.name}\n", encoding="utf-8")
    git(["init", "--quiet", "--initial-branch=main"], cwd=folder)
    git(["add", "README.md"], cwd=folder)
    git(["commit", "--quiet", "--message", f"first of {folder}"], cwd=folder)
    return folder


def stop_daemon(user: Claude) -> None:
    """Ask the daemon to leave, then take its home away.

    The latter makes a daemon that did not hear leave by itself.
    """
    if user.memlayer_home.exists():
        subprocess.run(
            [str(user.plugin / "bin" / "memlayer"), "daemon", "stop"],
            env=user.environ,
            cwd=user.project,
            capture_output=True,
            timeout=DAEMON_STOP_TIMEOUT_S,
            check=False,
        )
        shutil.rmtree(user.memlayer_home, ignore_errors=True)
    end_all(user.home)  # a hook of the host's end may have woken another on a busy machine
