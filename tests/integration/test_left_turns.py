"""Turns that a conversation left (`/rewind`, an edited prompt): by hooks, by import, and gone back to."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli
from tests.support.left_talk import MARK, Talk, Unheard, core, ended, marked
from tests.support.processes import Daemon, HookRunner
from tests.support.transcripts import LONG_AGO_S, Conversation, write

ROOT = Path(__file__).resolve().parents[2]
FRIDAY = "이제부터 배포는 금요일에 하지 마"
MONDAY = "이제부터 배포는 월요일에만 해"
QUEUE = "We decided to use Redis Streams for the order queue."
KOREAN_QUEUE = "주문 이벤트는 ClickHouse에 저장하기로 했어."
DONE = "네, 알겠습니다."


@pytest.fixture
def talk(daemon: Daemon, hook: HookRunner, tmp_path: Path) -> Talk:
    return Talk(hook, tmp_path)


def test_rules_and_decisions_of_a_left_branch_end(daemon: Daemon, talk: Talk, hook: HookRunner) -> None:
    talk.turn("p1", KOREAN_QUEUE, DONE)
    talk.turn("p2", FRIDAY, DONE)
    talk.turn("p3", QUEUE, "Done.")
    before = core(daemon)
    assert len(before) == 3
    talk.back_before("p2")
    talk.turn("p4", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == [text for text in before if "ClickHouse" in text]
    assert marked(daemon) == {"p2", "p3"}
    assert set(ended(daemon).values()) == {"taken back"} and len(ended(daemon)) == 2
    start = hook("session_start", "s2", source="startup").context
    assert "ClickHouse" in start and "금요일" not in start and "Redis" not in start


def test_left_branch_that_was_gone_back_to_holds_again(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", KOREAN_QUEUE, DONE)
    talk.turn("p2", FRIDAY, DONE)
    before = core(daemon)
    talk.back_before("p2")
    talk.turn("p3", MONDAY, DONE)
    beside = core(daemon)
    assert any("월요일" in text for text in beside) and not any("금요일" in text for text in beside)
    talk.back_to("p2")
    talk.turn("p4", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == before
    assert marked(daemon) == {"p3"}
    talk.back_to("p3")
    talk.turn("p5", "다시 돌려줘", "통과했습니다.")
    assert core(daemon) == beside
    assert marked(daemon) == {"p2", "p4"}


def test_replaced_rule_holds_again(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", "From now on, always deploy on Monday.", "Noted.")
    talk.turn("p2", "From now on, always deploy on Thursday instead.", "Noted.")
    [newer] = core(daemon)
    assert "Thursday" in newer
    talk.back_before("p2")
    talk.turn("p3", "run the tests", "All pass.")
    [older] = core(daemon)
    assert "Monday" in older
    talk.back_to("p2")
    talk.turn("p4", "run the tests", "All pass.")
    assert core(daemon) == [newer]


def test_same_words_said_again_hold(daemon: Daemon, talk: Talk) -> None:
    """A prompt that was taken back with Esc before its answer, and sent once more."""
    talk.prompt("p1", FRIDAY)
    talk.back_before("p1")
    talk.turn("p2", FRIDAY, DONE)
    [rule] = core(daemon)
    assert "금요일" in rule and marked(daemon) == {"p1"}


def test_edited_prompt(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p0", "안녕", "안녕하세요.")
    talk.prompt("p1", FRIDAY)
    daemon.settle()
    talk.back_before("p1")
    talk.turn("p2", MONDAY, DONE)
    [rule] = core(daemon)
    assert "월요일" in rule


def test_wording_of_a_left_turn_goes(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", "From now on, never deploy on Friday.", "Noted.")
    first = core(daemon)
    talk.turn("p2", "From now on, never deploy on Friday evening.", "Noted.")
    assert core(daemon) != first
    talk.back_before("p2")
    talk.turn("p3", "run the tests", "All pass.")
    assert core(daemon) == first


def test_what_the_person_asked_to_keep_stays(daemon: Daemon, talk: Talk, cli: Cli) -> None:
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.turn("p2", FRIDAY, DONE)
    daemon.settle()
    cli("remember", "정산은 저녁에만 돌린다.")
    [rule] = [row for row in daemon.call("list", category="core")["memories"] if "금요일" in row["text"]]
    cli("edit", "--pin", rule["citation"])
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert len(core(daemon)) == 2 and marked(daemon) == {"p2"}


def test_order_that_was_left_takes_nothing_back(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", KOREAN_QUEUE, DONE)
    before = core(daemon)
    talk.turn("p2", "안 되네 원래대로", "되돌렸습니다.")
    assert core(daemon) == []
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == before
    talk.back_to("p2")
    talk.turn("p4", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == []


def test_words_that_may_be_somebody_elses_are_asked_about_again(daemon: Daemon, talk: Talk, cli: Cli) -> None:
    """A prompt with a pasted thread, which is edited at its end."""
    pasted = "코드 리뷰 좀 해줘.\n\n- 이제부터 배포는 금요일에 하지 마\n- 로그는 항상 영어로 써줘\n\n"
    talk.turn("p0", "안녕", "안녕하세요.")
    talk.turn("p1", pasted + "짧게", DONE)
    asked = unclear(daemon)
    assert asked
    talk.back_before("p1")
    talk.turn("p2", pasted + "세 줄로", DONE)
    assert unclear(daemon) == asked
    talk.back_before("p1")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert unclear(daemon) == []


def unclear(daemon: Daemon) -> list[str]:
    daemon.settle()
    rows = daemon.call("list", category="core", limit=50)["memories"]
    return sorted(str(row["text"]) for row in rows if row["by"] == "unclear")


def test_summary_of_a_session_tells_of_no_left_turn(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", KOREAN_QUEUE, DONE)
    talk.turn("p2", QUEUE, "Done. I changed queue.py.")
    talk.back_before("p2")
    talk.turn("p3", "장바구니 합계를 원 단위로 내려 줘", "cart.py에서 합계를 원 단위로 내렸습니다.")
    talk.end()
    daemon.wait_for(lambda: summary(daemon), "the summary")
    assert "ClickHouse" in summary(daemon) and "Redis" not in summary(daemon)


def summary(daemon: Daemon) -> str:
    rows = daemon.call("list", category="daily")["memories"]
    return next((str(row["text"]) for row in rows if row["kind"] == "session_summary"), "")


def test_open_task_of_a_left_branch(daemon: Daemon, talk: Talk, cli: Cli) -> None:
    def open_tasks() -> list[str]:
        daemon.settle()
        return [row["title"] for row in json.loads(cli("task", "list", "--json").stdout)["tasks"]]

    talk.turn("p1", "안녕", "안녕하세요.")
    talk.turn("p2", "todo: fix the deploy docs", "I will.")
    assert open_tasks() == ["fix the deploy docs"]
    talk.back_before("p2")
    talk.turn("p3", "run the tests", "All pass.")
    assert open_tasks() == []
    assert ended(daemon) == {"fix the deploy docs": "taken back"}
    talk.back_to("p2")
    talk.turn("p4", "run the tests", "All pass.")
    assert open_tasks() == ["fix the deploy docs"]
    talk.back_before("p2")
    talk.turn("p5", "run the tests", "All pass.")
    assert open_tasks() == []
    talk.turn("p6", "todo: fix the deploy docs", "I will.")
    assert open_tasks() == ["fix the deploy docs"]


def test_fork_keeps_its_own(daemon: Daemon, talk: Talk, tmp_path: Path) -> None:
    """`--fork-session` goes on in a file of its own, with copies of what went before."""
    talk.turn("p1", KOREAN_QUEUE, DONE)
    talk.turn("p2", FRIDAY, DONE)
    before = core(daemon)
    fork = Talk(talk.hook, tmp_path, "s2")
    copied = [json.loads(line) for line in talk.path.read_text().splitlines()][:3]  # without the last turn
    fork.path.write_text("".join(json.dumps({**line, "sessionId": "s2"}) + "\n" for line in copied))
    fork.newest = copied[-1]["uuid"]
    fork.turn("f1", QUEUE, "Done.")
    fork.end()
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    talk.end()
    after = core(daemon)
    assert set(before) < set(after) and len(after) == 3
    assert marked(daemon) == set()


def test_subagent_and_parallel_calls_leave_nothing(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", FRIDAY, DONE)
    call = talk.newest
    for name in ("r1", "r2"):
        row = {
            "uuid": name,
            "parentUuid": call,
            "type": "user",
            "promptId": "p1",
            "sessionId": "s1",
            "toolUseResult": {},
        }
        with talk.path.open("a") as file:
            file.write(
                json.dumps({**row, "isSidechain": False, "message": {"content": [{"type": "tool_result"}]}}) + "\n"
            )
    talk.newest = "r1"
    talk.turn("p2", QUEUE, "Done.")
    assert len(core(daemon)) == 2 and marked(daemon) == set()


@pytest.mark.parametrize("by", ["session end", "session start"])
def test_branch_that_no_answer_tells(daemon: Daemon, talk: Talk, hook: HookRunner, by: str) -> None:
    """The prompt behind a rewind is not answered: Esc, a kill."""
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.turn("p2", FRIDAY, DONE)
    assert len(core(daemon)) == 1
    talk.back_before("p2")
    talk.prompt("p3", "테스트를 돌려줘")
    if by == "session end":
        talk.end()
    else:
        hook("session_start", "s2", source="startup")
    daemon.wait_for(lambda: marked(daemon) == {"p2"}, "mark")
    daemon.wait_for(lambda: core(daemon) == [], "end of the rule")


def test_daemon_that_begins_later(home: Path, hook: HookRunner, tmp_path: Path) -> None:
    """All of it waits in the spool."""
    talk = Talk(hook, tmp_path)
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.turn("p2", FRIDAY, DONE)
    talk.back_before("p2")
    talk.turn("p3", MONDAY, DONE)
    with Daemon(ROOT, home) as daemon:
        [rule] = core(daemon)
        assert "월요일" in rule and marked(daemon) == {"p2"}


def test_turn_that_comes_behind_the_record_that_leaves_it(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", "안녕", "안녕하세요.")
    Unheard(talk).turn("p2", FRIDAY, DONE)
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == [] and marked(daemon) == {"p2"}
    talk("user_prompt_submit", "p2", prompt=FRIDAY)
    talk("stop", "p2", last_assistant_message=DONE)
    assert core(daemon) == [] and marked(daemon) == {"p2"}


def test_marks_outlive_further_events_and_the_index(daemon: Daemon, talk: Talk) -> None:
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.turn("p2", FRIDAY, DONE)
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    assert core(daemon) == []
    talk("stop", "p2", last_assistant_message="네, 금요일에는 배포하지 않겠습니다. 문서도 고쳤습니다.")
    assert core(daemon) == [] and marked(daemon) == {"p2"}
    daemon.call("reindex")
    hits = daemon.call("search", query="금요일 배포", limit=5)["hits"]
    assert [hit["preview"].startswith(MARK) for hit in hits if hit["prompt_id"] == "p2"] == [True]
    assert "금요일" not in talk.hook("user_prompt_submit", "s2", "q1", prompt="금요일에 배포해도 돼?").context


def imported(cli: Cli) -> dict[str, Any]:
    done = cli("import", "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return dict(json.loads(done.stdout))


def past(tmp_path: Path, cwd: str) -> Conversation:
    return Conversation(tmp_path / "past.jsonl", "old", cwd, at_ms=LONG_AGO_S * 1000)


def put(tmp_path: Path, cwd: str, conversation: Conversation, at_s: int = LONG_AGO_S) -> None:
    projects = tmp_path / "person" / ".claude" / "projects"
    write(projects, conversation.session, conversation.path.read_text(), cwd=cwd, at_s=at_s)


def test_import(daemon: Daemon, cli: Cli, tmp_path: Path, project: Path) -> None:
    cwd = str(project)
    talk = past(tmp_path, cwd)
    talk.turn("p1", KOREAN_QUEUE, DONE)
    talk.turn("p2", FRIDAY, DONE)
    talk.back_before("p2")
    talk.turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    put(tmp_path, cwd, talk)
    imported(cli)
    [decision] = core(daemon)
    assert "ClickHouse" in decision and marked(daemon) == {"p2"}
    talk.back_to("p2")
    talk.turn("p4", "테스트를 돌려줘", "모두 통과했습니다.")
    put(tmp_path, cwd, talk, LONG_AGO_S + 60)
    imported(cli)
    assert len(core(daemon)) == 2 and marked(daemon) == {"p3"}


def test_import_of_what_hooks_heard(daemon: Daemon, talk: Talk, cli: Cli, tmp_path: Path, project: Path) -> None:
    """The person rewinds with memlayer switched off, and imports."""
    talk.turn("p1", "안녕", "안녕하세요.")
    talk.turn("p2", FRIDAY, DONE)
    talk.end()
    assert len(core(daemon)) == 1
    talk.back_before("p2")
    Unheard(talk).turn("p3", "테스트를 돌려줘", "모두 통과했습니다.")
    put(tmp_path, str(project), talk)
    imported(cli)
    assert core(daemon) == [] and marked(daemon) == {"p2"}
