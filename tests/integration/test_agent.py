"""The verb agent with a prompt: a scripted model on loopback, a real daemon."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_process import calling, settings_of
from tests.support.chat_api import ChatScript, Spoken
from tests.support.cli_process import Cli
from tests.support.corpus import found_in_bytes
from tests.support.leftovers import end_all
from tests.support.model_api import ModelApi
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
FACT = "주문 이벤트는 ClickHouse로 옮기기로 했어. 포트는 9440이야"
ASKED = "주문 이벤트의 ClickHouse 포트가 몇 번이었지?"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


def events_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The lines of --json."""
    assert done.returncode == 0, done.stderr + done.stdout
    assert "\\u" not in done.stdout  # Korean as it is
    return [json.loads(one) for one in done.stdout.splitlines()]


def said_to(api: ModelApi, at: int = -1) -> str:
    """The last user's message of a request."""
    return str([one for one in api.asked[at].body["messages"] if one["role"] == "user"][-1]["content"])


def test_fact_passes_between_agent_and_host(
    api: ModelApi, served: Daemon, cli: Cli, hook: HookRunner, home: Path
) -> None:
    done = cli("agent", FACT)
    assert (done.stdout, done.returncode) == ("네.\n", 0), done.stderr
    served.settle()
    assert "9440" in hook("user_prompt_submit", "host", "p1", prompt=ASKED).context
    hook.turn("host", "p2", "결제 모듈은 포트원으로 바꾸기로 했어. 정산 주기 때문이야", "네, 포트원으로.")
    served.settle()
    events = events_of(cli("agent", "결제 모듈을 포트원으로 바꾼 게 왜였지?", "--json"))
    asked = said_to(api)
    assert asked.startswith("[Memory context]") and "정산 주기" in asked
    assert asked.endswith("\n결제 모듈을 포트원으로 바꾼 게 왜였지?")
    kinds = [event["event"] for event in events]
    assert kinds == ["start", "recall", "text", "text", "usage", "answer"]
    assert "정산 주기" in events[1]["notes"][0] and events[-1]["text"] == "네."
    served.settle()
    assert found_in_bytes(home, [b"[Memory context]\nNotes"]) == []


def test_prompt_comes_from_stdin(api: ModelApi, served: Daemon, cli: Cli) -> None:
    done = cli("agent", "-", stdin="차이를 설명해줘\n+ 새 줄")
    assert done.stdout == "네.\n"
    assert said_to(api).endswith("차이를 설명해줘\n+ 새 줄")


@pytest.mark.parametrize("verb", ["agent", "search", "remember", "search --as-prompt"])
def test_empty_standard_input_is_named(served: Daemon, cli: Cli, verb: str) -> None:
    done = cli(*verb.split(), "-", stdin=" \n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Standard input is empty" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "why"), [((), "Give a prompt"), (("",), "Give a prompt"), (("--json",), "Give a prompt")]
)
def test_missing_prompt_is_usage(served: Daemon, cli: Cli, arguments: tuple[str, ...], why: str) -> None:
    done = cli("agent", *arguments)
    assert done.returncode == 2
    assert why in done.stderr + done.stdout and (done.stderr + done.stdout).count("\n") == 1


def test_agent_that_is_not_set_up_says_how(daemon: Daemon, cli: Cli) -> None:
    done = cli("agent", "안녕")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr.count("\n") == 1 and "config set agent.provider" in done.stderr and "docs/agent.md" in done.stderr
    )


def test_talk_without_daemon_is_kept(api: ModelApi, home: Path, cli: Cli) -> None:
    """Its home's lock is held by somebody else, so no daemon can come."""
    import fcntl

    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(json.dumps(settings_of(api)))
    with (home / "daemon.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = cli("agent", FACT)
        end_all(home)  # the one that waits for the lock
    assert (done.returncode, done.stdout) == (0, "네.\n")
    assert "· memory:" in done.stderr
    kinds = [json.loads(path.read_text())["kind"] for path in sorted((home / "spool").glob("[0-9]*.json"))]
    assert sorted(kinds) == ["assistant", "session_end", "session_start", "user"]


def test_server_that_fails_is_one_line(api: ModelApi, served: Daemon, cli: Cli) -> None:
    from tests.support.model_api import Said

    api.script = lambda asked: Said({"error": {"message": "그런 모델은 없습니다\n(m)"}}, 400)
    done = cli("agent", "안녕하세요, 누구세요?")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr and "The server says: 그런 모델은 없습니다 (m)" in done.stderr
    lines = cli("agent", "안녕하세요, 누구세요?", "--json").stdout.splitlines()
    assert json.loads(lines[-1])["event"] == "error"


def test_no_memory_keeps_and_recalls_nothing(api: ModelApi, served: Daemon, cli: Cli, home: Path) -> None:
    assert cli("agent", FACT, "--no-memory").stdout == "네.\n"
    served.settle()
    assert served.call("stats")["events"] == 0
    names = [tool["function"]["name"] for tool in api.asked[0].body["tools"]]
    assert names == ["read_file", "write_file", "edit_file", "shell"]


def test_tools_need_consent(api: ModelApi, served: Daemon, cli: Cli, project: Path) -> None:
    script = [calling("shell", command="touch 만듦"), Spoken("못 했습니다.")]
    api.script = ChatScript(script)
    events = events_of(cli("agent", "파일을 만들어줘", "--json"))
    (result,) = [event for event in events if event["event"] == "tool_result"]
    assert result["is_error"] and "--yes" in result["text"]
    assert not (project / "만듦").exists()
    api.script = ChatScript(script)
    assert cli("agent", "파일을 만들어줘", "--yes").returncode == 0
    assert (project / "만듦").exists()


def test_tools_reach_memory_and_files(api: ModelApi, served: Daemon, cli: Cli, project: Path) -> None:
    (project / "읽을것.md").write_text("배포는 화요일\n")
    api.script = ChatScript(
        [
            calling("memory_remember", text="배포는 매주 화요일 오전에 한다"),
            calling("read_file", path="읽을것.md"),
            calling("read_file", path="../../비밀"),
            calling("write_file", path="쓴것.md", content="수요일\n"),
            calling("shell", command="env; sleep 0"),
            calling("memory_search", query="배포 화요일"),
            Spoken("끝났습니다."),
        ]
    )
    events = events_of(cli("agent", "배포 요일을 기억하고 적어줘", "--json", "--yes"))
    results = [event for event in events if event["event"] == "tool_result"]
    assert results[0]["text"].startswith("Remembered as [mem:")
    assert results[1]["text"] == "배포는 화요일\n"
    assert results[2]["is_error"] and "outside" in results[2]["text"]
    assert (project / "쓴것.md").read_text() == "수요일\n"
    assert "두루미" not in results[4]["text"] and "API_KEY" not in results[4]["text"]
    assert "[mem:" in results[5]["text"] and "화요일" in results[5]["text"]
    served.settle()
    held = served.call("turn", phase="history", project_dir=str(project))["events"]
    assert held[0]["text"] == "배포 요일을 기억하고 적어줘"
    assert "[mem:" not in json.dumps(held)


def test_resumed_talk_goes_on(api: ModelApi, served: Daemon, cli: Cli) -> None:
    api.script = ChatScript(
        [calling("shell", command="echo 빌드됨"), Spoken("빌드했습니다."), Spoken("다시 했습니다.")]
    )
    first = events_of(cli("agent", "빌드해줘 부탁해", "--yes", "--json"))[0]["session_id"]
    again = events_of(cli("agent", "한 번 더 부탁해", "--continue", "--json"))
    assert again[0]["session_id"] == first and again[0]["resumed"]
    sent = api.asked[-1].body["messages"]
    assert [one["role"] for one in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert sent[1]["content"].endswith("] 빌드해줘 부탁해")
    assert json.loads(sent[2]["tool_calls"][0]["function"]["arguments"]) == {"command": "echo 빌드됨"}
    assert (sent[3]["content"], sent[4]["content"]) == ("빌드됨", "빌드했습니다.")
    named = events_of(cli("agent", "세 번째야", "--json", "--resume", first.rpartition("-")[2][:6]))
    assert named[0]["session_id"] == first
    missing = cli("agent", "안녕", "--resume", "없음")
    assert missing.returncode == 1 and "No talk is known" in missing.stderr
