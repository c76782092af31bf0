"""Capture of tool calls: the kept calls and words, never a secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from memlayer.config.groups import ToolSettings
from memlayer.edge.capture.payload import read_payload
from memlayer.edge.capture.tool_use import CUT, EVERY_TOOL, KEPT, MAX_CHARS, MAX_COMMAND_CHARS, ToolRules, tool_event
from memlayer.indexing.retracted import LiveSessions
from memlayer.turns.outcome import call_of
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

KEY = "AKIA" + "QZ3EGTV7MNB2LPX5"


def bash(command: str, stdout: str = "", **more: Any) -> dict[object, object]:
    response = {"stdout": stdout, "stderr": "", "interrupted": False}
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response, **more}


def kept(data: dict[object, object], *, failed: bool = False, rules: ToolRules | None = None) -> tuple[str, str]:
    return tool_event(data, failed, rules or ToolRules())


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "LS", "WebFetch", "Agent", "Task", "mcp__github__issue", ""])
def test_read_only_calls_are_dropped(tool: str) -> None:
    assert kept({"tool_name": tool, "tool_input": {"file_path": "/a"}, "tool_response": "b"}) == ("", "")


def test_failed_server_call_is_kept() -> None:
    failed = {"tool_input": {"id": 7}, "error": "이슈를 찾을 수 없음"}
    text, detail = kept({"tool_name": "mcp__github__issue", **failed}, failed=True)
    assert (text, detail) == ('mcp__github__issue failed: {"id": 7}\n이슈를 찾을 수 없음', "mcp__github__issue failed")
    assert kept({"tool_name": "Read", **failed}, failed=True)[1] == "Read failed"
    assert kept({"tool_name": "mcp__plugin_memlayer_memlayer__mem-search", **failed}, failed=True) == ("", "")


def test_rules_choose_the_calls() -> None:
    rules = ToolRules(kept=("mcp__github__*", "Edit"))
    answer = {"content": [{"type": "text", "text": "닫힘"}]}
    call: dict[object, object] = {"tool_name": "mcp__github__issue", "tool_input": {}, "tool_response": answer}
    assert kept(call, rules=rules) == ("mcp__github__issue: {}\n닫힘", "mcp__github__issue")
    assert kept(bash("make"), rules=rules) == ("", "")
    assert kept(bash("make"), rules=ToolRules(enabled=False)) == ("", "")


def test_hook_without_settings_keeps_all() -> None:
    assert all(EVERY_TOOL.keeps(detail) for detail in ("Bash", "Write", "mcp__x__y", "Bash failed"))
    assert not EVERY_TOOL.keeps("mcp__plugin_memlayer_memlayer__memory_search")


def test_the_hosts_account_memory_stays_withheld() -> None:
    call: dict[object, object] = {
        "tool_name": "mcp__memory__recall",
        "tool_input": {"query": "내 생일"},
        "error": "실패",
    }
    for rules in (EVERY_TOOL, ToolRules(kept=("mcp__memory__*",))):
        assert kept(call, failed=True, rules=rules) == kept(call, rules=rules) == ("", "")
    assert EVERY_TOOL.keeps("mcp__memory_game__score failed")


def test_interrupted_command_is_marked() -> None:
    call = bash("sleep 100")
    call["tool_response"] = {"stdout": "half", "stderr": "", "interrupted": True}
    assert kept(call) == ("Bash interrupted: sleep 100\nhalf", "Bash interrupted")
    assert kept({**bash("sleep 9"), "error": "x", "is_interrupt": True}, failed=True)[1] == "Bash interrupted"


@pytest.mark.parametrize(
    ("took_ms", "says"),
    [(0, "took 0 ms"), (84, "took 84 ms"), (1_000, "took 1.0 s"), (41_260, "took 41.3 s"), (725_000, "took 725.0 s")],
)
def test_duration_is_the_last_line(took_ms: int, says: str) -> None:
    assert kept(bash("make 배포", "끝", duration_ms=took_ms))[0] == "Bash: make 배포\n끝\n" + says
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "/a.py", "new_string": "x"}, "duration_ms": took_ms}
    assert kept(edit)[0] == "Edit: /a.py\n+ x\n" + says
    failed = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "실패", "duration_ms": took_ms}
    assert kept(failed, failed=True)[0] == "Bash failed: make\n실패\n" + says


@pytest.mark.parametrize("took_ms", [None, -1, True, "12", 10**15, float("nan"), float("inf"), [1], {"a": 1}])
def test_strange_duration_is_left_out(took_ms: Any) -> None:
    assert kept(bash("make", "ok", duration_ms=took_ms))[0] == "Bash: make\nok"


def test_duration_is_no_error_message() -> None:
    failed = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "", "duration_ms": 1_500}
    call = call_of(*kept(failed, failed=True))
    assert (call.target, call.said, call.took_s) == ("make", "", 1.5)
    call = call_of(*kept({**failed, "error": "빌드 실패"}, failed=True))
    assert (call.said, call.took_s) == ("빌드 실패", 1.5)
    assert call_of(*kept(bash("make", "build took 3 s"))).took_s == 0.0
    assert call_of(*kept(bash("ls", "x", duration_ms=84))).took_s == 0.084


def test_long_command_is_one_line() -> None:
    text, _ = kept(bash("cat <<EOF\n첫 줄\nEOF\n", "ok"))
    assert text == "Bash: cat <<EOF ⏎ 첫 줄 ⏎ EOF\nok"


def test_long_output_keeps_head_and_tail() -> None:
    text, _ = kept(bash("make", "처음\n" + "줄\n" * 20_000 + "error: 끝에서 실패"))
    assert text.startswith("Bash: make\n처음\n")
    assert text.endswith("error: 끝에서 실패")
    assert CUT in text
    assert len(text) <= MAX_CHARS + 60


def test_several_edits_are_counted() -> None:
    edits = [{"old_string": "a = 1", "new_string": "a = 2"}, {"old_string": "b", "new_string": ""}]
    call: dict[object, object] = {"tool_name": "MultiEdit", "tool_input": {"file_path": "/w/x.py", "edits": edits}}
    assert kept(call)[0] == "MultiEdit: /w/x.py\n2 edits\n- a = 1\n+ a = 2"
    cell = {"notebook_path": "/w/n.ipynb", "new_source": "df.head()"}
    assert kept({"tool_name": "NotebookEdit", "tool_input": cell})[0] == "NotebookEdit: /w/n.ipynb\n+ df.head()"


@pytest.mark.parametrize("before", range(960, 1040, 7))
def test_cut_leaves_no_secret(before: int) -> None:
    text, _ = kept(bash("cat log", "a" * (before - 1) + " " + KEY + " " + "b" * 4000 + " " + KEY + " " + "c" * 480))
    assert not [KEY[at : at + 8] for at in range(len(KEY) - 8) if KEY[at : at + 8] in text]


def test_secrets_in_calls_go() -> None:
    password = "hunter2" + "Zz!9"
    texts = [
        kept(bash("curl -u admin:%s https://shop.example/" % password))[0],
        kept({"tool_name": "Edit", "tool_input": {"file_path": "/a", "new_string": "key = '%s'" % KEY}})[0],
        kept({**bash("x"), "error": "비밀번호는 %s 입니다" % password}, failed=True)[0],
        kept(bash("echo '<private>우리끼리 얘기</private>'", "<private>비밀 " + "x" * 9000 + "</private>"))[0],
    ]  # fmt: skip
    assert all(texts)
    assert not [text for text in texts if password in text or KEY in text or "우리끼리" in text or "비밀 x" in text]


def test_own_answers_are_dropped() -> None:
    assert kept(bash("/opt/x/bin/memlayer search 결제")) == ("", "")
    assert kept(bash("memlayer search --as-prompt x")) == ("", "")
    assert kept(bash("cd memlayer && make"))[1] == "Bash"
    entry = "- turn_2026-11-19_81d2: 남의 말 [mem:x9Yz2w]"
    assert "남의 말" not in kept(bash("cat notes", "머리말\n%s\n끝" % entry))[0]


@pytest.mark.parametrize("odd", [None, 7, [], "x", {"stdout": 7}, {"content": 3}, [{"text": 1}, None]])
def test_odd_shapes_are_tolerated(odd: object) -> None:
    assert kept({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": odd})[1] == "Bash"
    assert kept({"tool_name": "Edit", "tool_input": odd, "tool_response": odd})[1] == "Edit"
    assert kept({"tool_name": odd, "tool_input": odd}) == ("", "")
    kept({"tool_name": "Edit", "tool_input": {"file_path": "/a", "edits": odd}})


def test_lone_surrogate_can_be_written() -> None:
    kept(bash("echo \ud800", "\udfff"))[0].encode("utf-8")


def test_settings_and_hooks_agree() -> None:
    assert ToolSettings().kept == tuple(sorted(KEPT))


def test_many_calls_hide_no_words(home: Path) -> None:
    """A daemon that has come anew looks them up in the store."""
    memory = TurnsInMemory(home)
    memory.turn("s1", "p1", "결제 모듈은 왜 다시 썼지?", "재시도 폭주 때문입니다.")
    for number in range(40):
        call = {"tool_name": "Bash", "tool_input": {"command": "echo %d" % number}, "tool_response": {"stdout": "x"}}
        raw = json.dumps({"session_id": "s1", "prompt_id": "p1", "tool_use_id": str(number), **call}).encode()
        event: Any = read_payload("post_tool_use", raw, project_dir=PROJECT, at_ms=T0_MS + 10 + number).event
        memory.ingest.take([event])
    assert len(memory.store.events(kind="tool")) == 40
    assert LiveSessions(memory.store).of("s1").prompts == 1


PPK = "Private-Lines: 2\nAAAAIGm1x2c3v4b5n6m7q8w9e0r1t2y3u4i5o6p7\nQw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc\nPrivate-MAC: 0"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx1k4Qw9ZrT7bVn6Y\nk4Qw9ZrT7bVn6Yk4Qw9ZrT7bVn6Yx12\n"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("user=app\npassword=correcthorse\nhost=db", "correcthorse"),
        ("[client]\nuser=root\npassword=LetMeIn\n", "LetMeIn"),
        ("password:\n  Tr0ub4dor&3x9kq2Lm\n", "Tr0ub4dor"),
        ("비밀번호:\nQw3rty77kqLm22xpZZ\n", "Qw3rty77kq"),
        ("접속 정보\napi_key:\n  kq9vLm22xpAA01zzQQ\n", "kq9vLm22"),
        (PPK, "Qw8Er7Ty6U"),
        (PEM, "k4Qw9ZrT7b"),
        ("# .pgpass\nlocalhost:5432:app:app:Qw3rty77kq\n", "Qw3rty77kq"),
        ('회의록\n<private reason="연봉">우리끼리\n얘기</private> 끝', "우리끼리"),
    ],
)
def test_secret_across_lines_goes(text: str, secret: str) -> None:
    calls: list[dict[object, object]] = [
        bash("cat > f <<'E'\n%s\nE" % text),
        bash("cat f", text),
        {"tool_name": "Edit", "tool_input": {"file_path": "/a", "old_string": text, "new_string": "x\n" + text}},
        {"tool_name": "mcp__notes__add", "tool_input": {"body": text, "all": [{"deep": text}]}},
    ]
    kept_texts = [kept(call, rules=EVERY_TOOL)[0] for call in calls]
    assert all(kept_texts)
    assert not [text for text in kept_texts if secret in text]


def test_many_short_lines_stay_short() -> None:
    text, _ = kept(bash("a\n" * 2000 + "끝"))
    assert text.startswith("Bash: a ⏎ a") and text.endswith("⏎ 끝")
    assert len(text) <= MAX_COMMAND_CHARS + 30


def test_endless_input_is_cut() -> None:
    deep: Any = "끝"
    for _ in range(200):
        deep = [deep]
    for given in ({"deep": deep}, {"many": ["열"] * 100_000}, {str(n): "값" for n in range(100_000)}):
        text, _ = kept({"tool_name": "mcp__x__y", "tool_input": given}, rules=EVERY_TOOL)
        assert text.startswith("mcp__x__y: {") and len(text) <= MAX_COMMAND_CHARS + 30
