"""The real Codex beside the real Claude Code: one memory, in both directions."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.codex_run import Codex, ResponsesApi
from tests.support.host.installed_host import InstalledHost, install, install_codex, newest_version

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

DECISION = "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야."
DECISION_ASKED = "결제모듈을 뭘로 바꾸기로 했지?"
WISH = "앞으로 커밋 메시지는 항상 영어로 써줘."
FACT = "We moved the order events from Postgres to ClickHouse because the nightly reports timed out."
FACT_ASKED = "Which database did we move the order events to, and why?"
FAILING = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "echo 배포 실패; exit 3"}'}
CONFIGURED = {"model", "model_provider", "approval_policy", "sandbox_mode", "model_providers", "analytics", "projects"}
PATCH = "*** Begin Patch\n*** Add File: 장바구니.txt\n+합계 0\n*** Add File: 둘째.txt\n+가\n*** End Patch\n"


@pytest.fixture(scope="session")
def host() -> InstalledHost:
    """The newest Claude Code alone: the other half is Codex's."""
    return install(newest_version())


@pytest.fixture
def codex(claude: Claude) -> Iterator[Codex]:
    """The same user's Codex, with memlayer set up and trusted by nobody yet."""
    with ResponsesApi() as api:
        shared = {name: value for name, value in claude.environ.items() if name.startswith("MEMLAYER_")}
        user = Codex(install_codex(), api, claude.home, claude.project, shared)
        claude.printed("setup", "--host", "codex")
        yield user


def check_of(claude: Claude) -> list[tuple[str, str]]:
    checks = claude.memlayer("doctor")["checks"]
    return [(check["state"], check["says"]) for check in checks if check["name"] == "Codex"]


def listed(claude: Claude) -> list[dict[str, Any]]:
    claude.settle()
    found: list[dict[str, Any]] = claude.memlayer("list", "--project", str(claude.project), "--limit", "50")["memories"]
    return found


def test_hooks_wait_for_trust_and_leave_nothing(claude: Claude, codex: Codex) -> None:
    assert check_of(claude) == [("warn", "10 of 10 hooks are not trusted, and do not run")]
    with codex.talk() as talk:
        talk.say(DECISION)
        assert talk.hooks == []
        assert set(talk.trust_hooks()) == {"untrusted"}
    assert check_of(claude) == [("ok", "10 hooks are trusted, the server of tools is registered")]
    claude.printed("setup", "--host", "codex", "--remove")
    assert set(tomllib.loads((codex.folder / "config.toml").read_text(encoding="utf-8"))) == CONFIGURED
    assert list(codex.folder.glob("hooks*")) == list(codex.folder.glob("*.before-memlayer")) == []
    assert check_of(claude) == []


def test_what_was_said_in_one_is_known_in_the_other(claude: Claude, codex: Codex) -> None:
    claude(DECISION)
    claude(WISH)
    claude.settle()
    with codex.talk() as talk:
        talk.trust_hooks()
        talk.say(DECISION_ASKED)
        told = codex.api.told("developer")
        assert "포트원" in told and "영어로" in told and "[mem:" in told
        talk.say(FACT)
        talk.compact()
        talk.say("이어서 하자")
        assert {status for _, status, _ in talk.hooks} == {"completed"}
        assert {event for event, _, _ in talk.hooks} >= {
            "sessionStart",
            "userPromptSubmit",
            "stop",
            "preCompact",
            "postCompact",
        }
    claude.settle()
    assert "ClickHouse" in claude(FACT_ASKED).turn.injected("UserPromptSubmit")
    by_host = {row["host"]: row["text"] for row in listed(claude) if row["category"] == "conversation"}
    assert set(by_host) == {"", "codex"}
    prompts = claude.memlayer("given", "--last", "20")["prompts"]
    assert {prompt["host"] for prompt in prompts} == {"", "codex"}
    assert "(Codex)" in claude.printed("given", "--last", "20") and "(Codex)" in claude.printed("list")
    assert claude.hook_failures() == []


def test_calls_are_kept_with_their_outcome(claude: Claude, codex: Codex) -> None:
    patch = {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH}
    codex.api.calls = {"배포": FAILING, "장바구니": patch}
    with codex.talk() as talk:
        talk.trust_hooks()
        talk.say("배포해 줘")
        talk.say("장바구니 파일을 만들어 줘")
    claude.settle()
    session = claude.memlayer("sessions", talk.thread_id)["sessions"][0]
    assert session["host"] == "codex" and not session["is_run"]
    whole = claude.printed("export", "-")
    events = [json.loads(line).get("event", {}) for line in whole.splitlines()]
    calls = [row["text"] for row in events if row.get("kind") == "tool"]
    assert [call.split("\n")[0] for call in calls if call.startswith("Bash")] == ["Bash failed: echo 배포 실패; exit 3"]
    assert {call.split("\n")[0].rpartition("/")[2] for call in calls if call.startswith("Edit")} == {
        "장바구니.txt",
        "둘째.txt",
    }


def test_tools_answer_and_a_run_lays_down_nothing(claude: Claude, codex: Codex) -> None:
    claude(DECISION)
    claude.settle()
    with codex.talk() as talk:
        talk.trust_hooks()
    arguments = json.dumps({"query": "결제 모듈"}, ensure_ascii=False)
    codex.api.calls = {
        "찾아": {"type": "function_call", "name": "mem_search", "namespace": "mcp__memlayer", "arguments": arguments}
    }
    codex.exec("찾아 줘: " + WISH)
    assert "포트원" in codex.api.outputs()
    rows = listed(claude)
    assert [row["text"] for row in rows if row["host"] == "codex" and row["category"] == "core"] == []
    assert any(row["host"] == "codex" and "찾아" in row["text"] for row in rows)


def test_turn_that_is_steered_and_interrupted_is_kept_once(claude: Claude, codex: Codex) -> None:
    command = {"type": "function_call", "name": "exec_command"}
    sleeping = {word: json.dumps({"cmd": f"sleep {s}"}) for word, s in (("오사카", 3), ("서울", 60))}
    codex.api.calls = {word: {**command, "arguments": given} for word, given in sleeping.items()}
    with codex.talk() as talk:
        talk.trust_hooks()
        turn = talk.say("배포 서버는 오사카로 정했어.", until="")
        talk.wait("preToolUse")
        assert talk.say("아니, 서울로 하자", until="") == turn  # while the command runs
        talk.wait("preToolUse", 2)
        talk.interrupt(turn)
        talk.say("다음 일로 가자")
        assert ("interrupt", "completed", "[]") in talk.hooks
        assert {status for _, status, _ in talk.hooks} == {"completed"}
    claude.settle()
    texts = [row["text"] for row in listed(claude) if row["category"] == "conversation"]
    for said in ("오사카로", "서울로", "다음 일로"):
        assert sum(text.count(said) for text in texts) == 1, texts


def test_subagent_is_told_and_not_kept(claude: Claude, codex: Codex) -> None:
    claude(DECISION)
    claude.settle()
    task = json.dumps({"message": "하위 일: 앞으로 항상 탭을 써줘"}, ensure_ascii=False)
    spawning = {"type": "function_call", "name": "spawn_agent", "namespace": "multi_agent_v1", "arguments": task}
    codex.api.calls = {"맡겨": spawning}
    with codex.talk() as talk:
        talk.trust_hooks()
        talk.say("이 일은 맡겨 둘게")
        talk.wait("subagentStart")
        talk.say("고마워")
        assert {status for _, status, _ in talk.hooks} == {"completed"}
    claude.settle()
    [asked] = [
        body for body in codex.api.bodies if "하위 일" in str(body["input"]) and "맡겨" not in str(body["input"])
    ]
    assert "포트원" in str([item for item in asked["input"] if item.get("role") == "developer"])
    assert not any("하위 일" in row["text"] for row in listed(claude))
