"""The agent's turns through a real daemon: kept, recalled, compacted, resumed and forgotten as the host's are."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memlayer.agent.memory import TalkMemory
from memlayer.chat import ToolCall, ToolResult
from memlayer.edge.ipc.client import Client
from memlayer.errors import UserError
from tests.support.cli_process import Cli
from tests.support.corpus import TELLS_ALL, found_in_bytes, left_in_home, needles, secrets, texts_in_store
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[2]
FACT = "주문 이벤트는 ClickHouse로 옮기기로 했어. 포트는 9440이야"
ASKED = "주문 이벤트의 ClickHouse 포트가 몇 번이었지?"


def talk_of(home: Path, project: Path, **fields: Any) -> TalkMemory:
    """A talk whose daemon is never started by it."""

    def client() -> Client:
        return Client(str(home), str(ROOT), sys.executable, wait_s=0.2)

    return TalkMemory(str(home), str(project), client, starts=False, **fields)


def turn(talk: TalkMemory, prompt: str, answer: str) -> str:
    """A whole turn; the notes that its prompt was given."""
    notes = talk.recall(prompt)
    talk.end(answer)
    return notes


def test_fact_of_agent_is_recalled_by_hook(daemon: Daemon, hook: HookRunner, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    turn(talk, FACT, "네, ClickHouse로 옮기겠습니다.")
    talk.finish()
    daemon.settle()
    assert "9440" in hook("user_prompt_submit", "host", "p1", prompt=ASKED).context
    assert talk.problem == ""


def test_fact_of_host_is_recalled_by_agent_once(daemon: Daemon, hook: HookRunner, home: Path, project: Path) -> None:
    hook.turn("host", "p1", FACT, "네, ClickHouse로 옮기겠습니다.")
    daemon.settle()
    talk = talk_of(home, project)
    talk.start()
    notes = talk.recall(ASKED)
    assert notes.startswith("[Memory context]") and "9440" in notes
    talk.end("ClickHouse입니다.")
    assert "9440" not in talk.recall("그 ClickHouse 포트가 정확히 몇 번이었지?")
    given = daemon.call("given", session_id=talk.session_id)["prompts"]
    assert [len(one["given"]) for one in given] == [0, 1, 1]  # the start: the statement, which its session would repeat
    assert daemon.call("sessions", id=talk.session_id)["sessions"][0]["transcript_path"] == ""


FOUND = (
    "- [mem:a7Bc3x] 2026-11-01: 주문 이벤트는 ClickHouse로 옮기기로 했어. 포트는 9440이야. "
    "Deploys go out on Tuesday morning."
)
NO_MEMORIES = [
    ("주문 이벤트 포트가 몇 번이었지?", "주문 이벤트는 ClickHouse로 옮기기로 했고 포트는 9440이야."),
    ("When do deploys go out?", "Deploys go out on Tuesday morning."),
    ("어디로 옮기기로 했지?", "주문 이벤트는 ClickHouse로 옮기기로 했어."),
]
MEMORIES = [
    ("앞으로 배포는 수요일에 하자. 포트는 몇 번이었지?", "주문 이벤트 포트는 9440이야."),
    ("주문 이벤트 포트가 몇 번이었지?", "9440인데, 지금 설정 파일에는 8123으로 되어 있어서 두 값이 어긋납니다."),
    ("Why did the webhook fail twice?", "The gateway timeout had spent the retry budget, so no second attempt left."),
]  # fmt: skip


def asked(talk: TalkMemory, prompt: str, answer: str, name: str = "memory_search") -> None:
    """A turn that looked into the memory."""
    talk.recall(prompt)
    talk.called(ToolCall("1", name, {"query": prompt}), ToolResult("1", name, FOUND))
    talk.end(answer)


def conversation(daemon: Daemon, talk: TalkMemory) -> list[dict[str, Any]]:
    daemon.settle()
    return list(daemon.call("list", session_id=talk.session_id, category="conversation")["memories"])


def test_an_answer_that_quotes_a_search_is_no_memory(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    for prompt, answer in NO_MEMORIES:
        asked(talk, prompt, answer)
    assert conversation(daemon, talk) == []
    for prompt, answer in MEMORIES:
        asked(talk, prompt, answer)
    asked(talk, *NO_MEMORIES[1], name="read_file")  # a file is no memory
    turn(talk, *NO_MEMORIES[0])  # nothing was looked up
    assert len(conversation(daemon, talk)) == len(MEMORIES) + 2
    past = talk_of(home, project).resume(talk.session_id)
    assert past.turns[0].answer == NO_MEMORIES[0][1]  # a talk that goes on has it


@pytest.mark.parametrize("is_stored_before", [False, True])
def test_a_prompt_that_failed_is_no_memory(
    daemon: Daemon, hook: HookRunner, home: Path, project: Path, is_stored_before: bool
) -> None:
    talk = talk_of(home, project)
    talk.start()
    talk.recall(FACT)
    if is_stored_before:  # a batch came while the model was being asked
        assert conversation(daemon, talk)
    talk.end("", failure="openai: nobody answers at 127.0.0.1")
    assert [row["kind"] for row in conversation(daemon, talk)] == ["routine"] * is_stored_before
    talk.finish()
    daemon.settle()
    assert "9440" not in hook("user_prompt_submit", "host", "p1", prompt=ASKED).context


def test_a_failure_after_work_keeps_the_turn(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    talk.recall("결제 모듈 빌드해줘")
    talk.called(ToolCall("1", "shell", {"command": "make"}), ToolResult("1", "shell", "끝"))
    talk.end("", failure="busy")
    assert [row["kind"] for row in conversation(daemon, talk)] != ["routine"]


def test_turn_is_kept_without_daemon(home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    assert (talk.start(), turn(talk, FACT, "네.")) == ("", "")
    assert "no daemon" in talk.problem
    talk.finish()
    kinds = [json.loads(path.read_text())["kind"] for path in sorted((home / "spool").glob("*.json"))]
    assert sorted(kinds) == ["assistant", "session_end", "session_start", "user"]
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
        assert daemon.call("list", session_id=talk.session_id, category="conversation")["memories"]


def test_step_and_spool_name_the_same_event(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    talk.recall(FACT)
    (spooled,) = [one for one in (home / "spool").glob("*.json") if '"kind": "user"' in one.read_text()]
    (given,) = daemon.call("given", session_id=talk.session_id)["prompts"]
    assert given["event_id"] in spooled.name


@pytest.mark.parametrize("how", ["variable", "project", "capture"])
def test_switched_off_memory_keeps_nothing(
    how: str, hook: HookRunner, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"embedding": {"provider": "none"}, "capture": {"enabled": how != "capture"}}
    if how == "variable":
        monkeypatch.setenv("MEMLAYER_DISABLE", "1")
    if how == "project":
        (project / ".memlayer.yaml").write_text("enabled: false\n")
    with Daemon(ROOT, home, settings) as daemon:
        talk = talk_of(home, project, keeps=how != "capture")
        talk.start()
        turn(talk, FACT, "네.")
        talk.called(ToolCall("1", "shell", {"command": "ls"}), ToolResult("1", "shell", "목록"))
        talk.finish()
        daemon.settle()
        assert daemon.call("stats")["events"] == 0
    assert found_in_bytes(home, [b"ClickHouse"]) == []


def test_own_blocks_are_never_stored(daemon: Daemon, hook: HookRunner, home: Path, project: Path) -> None:
    facts = [f"서비스 {number}번의 포트는 {9000 + number}번으로 정했어" for number in range(8)]
    for number, fact in enumerate(facts):
        hook.turn("host", "p%d" % number, fact, "네, 적어 두겠습니다.")
    daemon.settle()
    talk = talk_of(home, project)
    talk.start()
    given = 0
    for number in range(8):
        notes = turn(talk, f"서비스 {number}번의 포트가 몇 번이었지?", "답")
        given += bool(notes)
        talk.recall(f"서비스 {number}번의 포트를 다시 확인해줘")
        talk.called(ToolCall("1", "shell", {"command": "cat notes.txt"}), ToolResult("1", "shell", notes or "없음"))
        talk.end("확인했습니다.\n" + notes)
    talk.finish()
    daemon.settle()
    assert given >= 3
    daemon.stop()
    held = [text for text in texts_in_store(home) if "[Memory context]" in text or "[mem:" in text]
    assert held == []
    daemon.start()


def test_compaction_is_a_days_entry_and_can_be_undone(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    said = ["앞으로 커밋 메시지는 항상 한국어로 써줘", FACT, "결제 재시도는 세 번으로 제한하기로 했어"]
    prompt_ids = []
    for prompt in said:
        turn(talk, prompt, "네, 알겠습니다.")
        prompt_ids.append(talk.prompt_id)
    before = talk.survivors()
    survivors = talk.compacted("요약: 커밋과 주문 이벤트를 정했다.", kept=prompt_ids[2:])
    assert before == survivors
    texts = "\n".join([survivors.orders, *survivors.constraints])
    assert "커밋 메시지는 항상 한국어로" in texts
    assert "ClickHouse" in texts and "세 번으로 제한" in texts
    days = daemon.call("list", session_id=talk.session_id, category="daily")["memories"]
    (entry,) = [one for one in days if one["kind"] == "compaction"]
    assert "요약: 커밋과 주문 이벤트" in entry["text"]
    past = talk_of(home, project).resume(talk.session_id)
    assert past.summary.startswith("요약: 커밋")
    assert [one.prompt for one in past.turns] == said[2:]
    (session,) = daemon.call("sessions", id=talk.session_id)["sessions"]
    assert session["compaction_count"] == 1
    whole = talk.undo()
    assert (whole.summary, [one.prompt for one in whole.turns]) == ("", said)
    assert [one.answer for one in whole.turns] == ["네, 알겠습니다."] * 3
    with pytest.raises(UserError, match="left to undo"):
        talk.undo()


def test_second_compaction_covers_the_first(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    for number in range(4):
        turn(talk, f"{number}번째 질문입니다, 배포 순서는?", f"{number}번째 답")
        if number % 2:
            talk.compacted(f"요약 {number}")
    assert (talk_of(home, project).resume("").summary, talk.undo().summary) == ("요약 3", "요약 1")


def test_resume_names_a_talk_by_its_start(daemon: Daemon, hook: HookRunner, home: Path, project: Path) -> None:
    first, second = talk_of(home, project), talk_of(home, project)
    for talk, text in ((first, "첫 번째 대화"), (second, "두 번째 대화")):
        talk.start()
        talk.recall(text)
        talk.called(ToolCall("1", "shell", {"command": "make"}), ToolResult("1", "shell", "빌드 끝"))
        talk.end("네, " + text)
    hook.turn("host-1", "p1", "호스트의 대화", "네")
    (found,) = talk_of(home, project).resume(first.session_id[:12]).turns
    assert (found.prompt, found.answer) == ("첫 번째 대화", "네, 첫 번째 대화")
    assert found.calls == ("Bash: make\n빌드 끝",)
    again = talk_of(home, project)
    assert again.resume("").turns[0].prompt == "두 번째 대화"
    assert again.session_id == second.session_id
    for name, why in (("host-1", "No talk"), ("agent-", "2 talks"), ("agent-zz", "No talk")):
        with pytest.raises(UserError, match=why):
            talk_of(home, project).resume(name)
    other = project.parent / "다른 프로젝트"
    other.mkdir()
    with pytest.raises(UserError, match="another project"):
        talk_of(home, other).resume(first.session_id)


def test_forgotten_turn_takes_summary_along(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    turn(talk, "창고 서버의 이름은 두루미칠성반닫이야", "네, 두루미칠성반닫이.")
    turn(talk, FACT, "네.")
    talk.compacted("요약: 창고 서버는 두루미칠성반닫이")
    cli = Cli(home, project)
    found = daemon.call("list", session_id=talk.session_id, category="conversation")["memories"]
    (gone,) = [one for one in found if "두루미" in one["text"]]
    done = cli("forget", gone["citation"], "--yes")
    assert done.returncode == 0, done.stderr
    past = talk_of(home, project).resume(talk.session_id)
    assert past.summary == "" and [one.prompt for one in past.turns] == [FACT]
    daemon.settle()
    daemon.stop()
    assert left_in_home(home, {"두루미".encode(): ""}) == []
    daemon.start()


def test_forgotten_summary_leaves_turns(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    turn(talk, FACT, "네.")
    talk.compacted("요약: 옮기기로 했다")
    days = daemon.call("list", session_id=talk.session_id, category="daily")["memories"]
    (entry,) = [one for one in days if one["kind"] == "compaction"]
    assert Cli(home, project)("forget", entry["citation"], "--yes").returncode == 0
    past = talk_of(home, project).resume(talk.session_id)
    assert (past.summary, [one.prompt for one in past.turns]) == ("", [FACT])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("served", [True, False], ids=["daemon", "alone"])
def test_secrets_and_private_spans_stay_off_the_disk(home: Path, project: Path, served: bool) -> None:
    corpus = secrets()[:60]
    wanted = {**needles(corpus), "은밀".encode(): ""}
    daemon = Daemon(ROOT, home, settings=TELLS_ALL)
    if served:
        daemon.start()
    talk = talk_of(home, project)
    talk.start()
    for number in range(0, len(corpus), 10):
        said = "\n".join(one["text"] for one in corpus[number : number + 10]) + "\n평문 <private>은밀</private> 끝"
        talk.recall("로그 봐줘:\n" + said)
        for tool, arguments in (
            ("shell", {"command": "cat log"}),
            ("write_file", {"path": "로그.txt", "content": said}),
            ("fetch", {"text": said}),
        ):
            talk.called(ToolCall("1", tool, arguments), ToolResult("1", tool, said, is_error=tool == "fetch"))
        talk.end("다시 적으면: " + said)
        talk.compacted("요약: " + said)
    talk.finish()
    assert found_in_bytes(home, list(wanted)) == []
    if not served:
        daemon.start()
    daemon.settle()
    daemon.stop()
    assert left_in_home(home, wanted) == []
    assert "평문" in "\n".join(texts_in_store(home))


@pytest.mark.parametrize("served", [True, False], ids=["daemon", "alone"])
def test_own_patterns_are_taken_out(home: Path, project: Path, served: bool) -> None:
    settings = {"embedding": {"provider": "none"}, "privacy": {"extra_patterns": [r"ACME-[0-9A-F]{16}"]}}
    daemon = Daemon(ROOT, home, settings).start()
    if not served:
        daemon.stop()
    key = "ACME-0123456789ABCDEF"
    talk = talk_of(home, project)
    talk.start()
    turn(talk, f"운영 키는 {key} 야, 기억해 줘", f"네, {key} 입니다.")
    if served:
        talk.compacted(f"요약: {key}")
        daemon.settle()
        daemon.stop()
    assert found_in_bytes(home, [key.encode()]) == []


CONSTRAINTS = tables("integration/agent_turns")["constraints"]


def test_constraints_survive_compaction_after_compaction(daemon: Daemon, home: Path, project: Path) -> None:
    talk = talk_of(home, project)
    talk.start()
    for constraint in CONSTRAINTS:
        turn(talk, constraint, "네, 알겠습니다.")
    for number in range(12):
        turn(talk, f"{number}번 파일을 읽고 정리해줘", f"{number}번 파일을 정리했습니다.")
        if number % 4 == 3:  # a second of the daemon's each
            survivors = talk.compacted(f"요약 {number}")
            texts = "\n".join([survivors.orders, *survivors.constraints])
            assert [one for one in CONSTRAINTS if one not in texts] == [], number
    assert talk_of(home, project).resume(talk.session_id).summary == "요약 11"


def test_call_that_failed_in_a_talk_is_told_in_the_next(daemon: Daemon, home: Path, project: Path) -> None:
    fails, works = ({"command": "pay 상점2 정산"}, {"command": "pay 상점2 --as 관리자 정산"})
    error = "exit code 1\n오류: 샌드박스 상점 2 에 접속할 권한이 없습니다"
    results = {True: ToolResult("1", "shell", error, is_error=True), False: ToolResult("2", "shell", "정산 끝")}
    talk = talk_of(home, project)
    talk.start()
    talk.recall("상점2 정산을 돌려 줘")
    for arguments, is_failed in ((fails, True), (works, False)):
        call = ToolCall("1", "shell", arguments)
        assert talk.advice(call, results[is_failed]) == ""
        talk.called(call, results[is_failed])
    talk.end("마쳤습니다.")
    talk.finish()
    daemon.settle()
    again = talk_of(home, project)
    again.start()
    line = again.advice(ToolCall("1", "shell", fails), results[True])
    assert works["command"] in line
    assert again.advice(ToolCall("2", "shell", fails), results[True]) == ""  # once a talk
    other = talk_of(home, project)
    other.start()
    assert works["command"] in other.advice(ToolCall("1", "shell", {"command": "make 정산"}), results[True])
