"""The agent where an answer is empty, a reader leaves, memories are opened and a talk is compacted."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.agent_process import calling, settings_of
from tests.support.chat_api import ChatScript, Spoken
from tests.support.cli_process import MAIN, Cli
from tests.support.model_api import ModelApi
from tests.support.processes import Daemon

ROOT = Path(__file__).resolve().parents[2]
FACT = "주문 이벤트는 ClickHouse로 옮기기로 했어. 포트는 9440이야"


def test_answer_without_text_is_no_success(api: ModelApi, served: Daemon, cli: Cli) -> None:
    api.script = ChatScript([Spoken("")])
    done = cli("agent", "안녕하세요, 누구세요?")
    assert (done.returncode, done.stdout) == (1, "") and "without any text" in done.stderr
    last = json.loads(cli("agent", "안녕하세요, 누구세요?", "--json").stdout.splitlines()[-1])
    assert last["event"] == "error"


@pytest.mark.parametrize(
    ("options", "reader"), [("--json", "head -1"), ("--json", "head -3"), ("", "head -1"), ("", "head -c 20")]
)
def test_reader_that_leaves_early_sees_no_traceback(
    api: ModelApi, served: Daemon, cli: Cli, options: str, reader: str
) -> None:
    api.script = ChatScript([calling("shell", command="echo 하나"), Spoken("끝났습니다. " * 1500)])
    command = f"'{sys.executable}' -I '{MAIN}' agent --yes {options} '길게 말해줘' | {reader}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=cli.environment, cwd=cli.project, timeout=60
    )
    told = done.stderr.decode()
    assert done.stdout and not any(sign in told for sign in ("Traceback", "Broken", "generator")), told


def test_memories_are_found_and_opened_by_the_agents_own_tools(
    api: ModelApi, served: Daemon, cli: Cli, project: Path
) -> None:
    api.script = ChatScript([Spoken("네, 옮기겠습니다.")])
    assert cli("agent", FACT).returncode == 0
    served.settle()
    cited = served.call("list", category="conversation")["memories"][0]["citation"]
    api.script = ChatScript(
        [
            calling("memory_search", query="ClickHouse 포트", limit="null"),
            calling("memory_details", ids=f"[mem:{cited}]"),
            calling("memory_timeline", ids={"id": cited}, window="2"),
            calling("memory_details", ids=[cited, "zzzzzz"]),
            Spoken("9440입니다."),
        ]
    )
    lines = cli("agent", "포트 번호를 찾아서 알려줘", "--json").stdout.splitlines()
    results = [event["text"] for event in map(json.loads, lines) if event["event"] == "tool_result"]
    assert "Open with memory_details, look around with memory_timeline." in results[0]
    assert "9440" in results[1] and "ClickHouse" in results[2] and "9440" in results[3]
    offered = {tool["function"]["name"] for tool in api.asked[-1].body["tools"]}
    named = set(re.findall(r"\bmem(?:ory)?[-_](?:search|details|timeline|remember)\b", json.dumps(api.asked[-1].body)))
    assert named <= offered


def test_one_compaction_counts_one_flush(api: ModelApi, home: Path, cli: Cli) -> None:
    settings = settings_of(api, max_context_tokens=2000, preserve_recent_messages=0)
    api.script = ChatScript([Spoken("설명입니다. " * 500), Spoken("요약: 결제는 포트원"), Spoken("네.")])
    with Daemon(ROOT, home, settings) as daemon:
        assert cli("agent", "결제 모듈을 길게 설명해줘").returncode == 0
        api.script = ChatScript([Spoken("요약: 결제는 포트원"), Spoken("네.")])
        lines = cli("agent", "이제 짧게 답해줘", "--continue", "--json").stdout.splitlines()
        assert [json.loads(line)["event"] for line in lines].count("compaction") == 1
        daemon.settle()
        [session] = daemon.call("sessions")["sessions"]
        assert (session["compaction_count"], session["flush_count"]) == (1, 1)
