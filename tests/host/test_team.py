"""In the real host a decision that one person promoted is in a colleague's start, with its author."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.conftest import stop_daemon
from tests.support.host.claude_run import Claude
from tests.support.host.installed_host import InstalledHost
from tests.support.host.messages_api import MessagesApi
from tests.support.host.plugin_copy import git

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]
DECISION = "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야."


@pytest.fixture
def bob(
    host: InstalledHost, api: MessagesApi, plugin: Path, runtime_dir: Path, claude: Claude, tmp_path: Path
) -> Iterator[Claude]:
    """A colleague: another home, and a clone of the same repository."""
    origin, clone, home = tmp_path / "origin.git", tmp_path / "bob" / "shop", tmp_path / "home-bob"
    home.mkdir()
    clone.parent.mkdir()
    git(["clone", "--quiet", "--bare", str(claude.project), str(origin)], cwd=tmp_path)
    git(["remote", "add", "origin", str(origin)], cwd=claude.project)
    git(["clone", "--quiet", str(origin), str(clone)], cwd=tmp_path)
    shared = {"MEMLAYER_RUNTIME_DIR": str(runtime_dir)}
    user = Claude(host=host, api=api, home=home, project=clone, plugin=plugin, extra_environ=shared)
    yield user
    stop_daemon(user)


def test_a_promoted_decision_is_in_a_colleagues_start(claude: Claude, bob: Claude) -> None:
    claude(DECISION)
    claude.settle()
    [note] = [row for row in claude.memlayer("list")["memories"] if row["category"] == "core"]
    claude.memlayer("team", "setup", "--name", "김민지")
    claude.memlayer("team", "promote", note["citation"])
    git(["add", "--all"], cwd=claude.project)
    git(["commit", "--quiet", "--message", "note"], cwd=claude.project)
    git(["push", "--quiet", "origin", "HEAD:main"], cwd=claude.project)
    git(["pull", "--quiet", "origin", "main"], cwd=bob.project)
    assert "포트원" not in bob("hi").turn.text  # not before he accepts the project's team
    bob.memlayer("team", "accept")
    start = bob("안녕하세요").turn.injected("SessionStart")
    [line] = [line for line in start.splitlines() if "포트원" in line]
    assert line.startswith("- (decision by 김민지, team) ")
    asked = bob("결제 모듈은 뭘로 바꾸기로 했지?").turn
    assert "by 김민지, team) " in asked.text
    assert claude.hook_failures() == [] and bob.hook_failures() == []
