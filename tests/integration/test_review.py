"""`memlayer review` over a daemon: the list, each decision, the slash command, a terminal."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.cli_process import Cli, Run, runner
from tests.support.processes import Daemon, HookRunner

DOUBTFUL = "웹훅이 두 번 오는 원인은 재전송이다. 먼저 200을 준다. (시도함, 미확인)"
SURE = "웹훅이 두 번 오는 원인은 재전송이다. 먼저 200을 주니 한 번만 온다."
SECOND = "coupon totals were off by a cent because of rounding (tried, unconfirmed)"


@pytest.fixture
def cli(home: Path, project: Path) -> Iterator[Run]:
    with Daemon(ROOT, home, {"embedding": {"provider": "none"}}):
        run = runner(home, project)
        run("remember", DOUBTFUL)
        run("remember", SECOND)
        yield run


def listed(cli: Run) -> dict[str, dict[str, Any]]:
    items = json.loads(cli("review", "--json").stdout)["items"]
    return {item["memory"]["text"]: item for item in items}


def core(cli: Run) -> set[str]:
    return {row["text"] for row in json.loads(cli("list", "core", "--json").stdout)["memories"]}


def test_list_decide_and_undo(cli: Run) -> None:
    items = listed(cli)
    assert {text: item["reason"] for text, item in items.items()} == {DOUBTFUL: "doubtful", SECOND: "doubtful"}
    said = cli("review").stdout
    assert "doubtful (nobody has confirmed it)" in said and "review drop" not in said and "`drop ID`" in said
    first, second = items[DOUBTFUL]["memory"]["citation"], items[SECOND]["memory"]["citation"]
    assert "Changed" in cli("review", "edit", first, SURE).stdout and SURE in core(cli)
    assert "Dropped" in cli("review", "drop", second).stdout and core(cli) == {SURE}
    assert "let go" in cli("show", "--history", second).stdout
    assert listed(cli) == {} and "Nothing to review" in cli("review").stdout
    assert "Dropped" in cli("review", "drop", first).stdout and core(cli) == set()  # what was never under review, too
    assert "Undone: drop" in cli("review", "undo").stdout and core(cli) == {SURE}
    assert "is not under review" in cli("review", "keep", first, code=1).stderr
    assert "Undone: drop" in cli("review", "undo").stdout and core(cli) == {SURE, SECOND}
    assert "Undone: edit" in cli("review", "undo").stdout and core(cli) == {DOUBTFUL, SECOND}
    assert "reworded" in cli("show", "--history", first).stdout


def test_merge_names_the_other(cli: Run) -> None:
    items = listed(cli)
    first, second = items[DOUBTFUL]["memory"]["citation"], items[SECOND]["memory"]["citation"]
    both = "웹훅은 재전송, 쿠폰은 반올림이 원인이었다"
    assert "Merged into" in cli("review", "merge", first, second, both).stdout
    assert core(cli) == {both}
    assert SECOND in cli("show", "--history", first).stdout
    cli("review", "undo")
    assert core(cli) == {DOUBTFUL, SECOND}


def test_slash_command_takes_a_decision(cli: Run, hook: HookRunner) -> None:
    def slash(words: str) -> str:
        hook(
            "user_prompt_expansion", "s1", "p1", hook_event_name="UserPromptExpansion",
            command_name="memlayer:memory-review", command_args=words, prompt="/memory-review " + words,
        )  # fmt: skip
        return str(cli("slash", "memory-review", "s1").stdout)

    citation = listed(cli)[DOUBTFUL]["memory"]["citation"]
    assert DOUBTFUL in slash("")
    assert "Changed" in slash(f"edit [mem:{citation}] {SURE}")
    assert SURE in core(cli)
    assert "Undone" in slash("undo") and DOUBTFUL in core(cli)
    assert "Changed" in slash(f"edit {citation} --force 는 쓰지 않는다\nnever --force")
    assert "--force 는 쓰지 않는다\nnever --force" in core(cli)
    slash("undo")
    both = [row["memory"]["citation"] for row in listed(cli).values()]
    assert slash("drop " + ", ".join(f"[mem:{name}]" for name in both)).count("Dropped") == len(both)


def test_person_goes_through_them_on_a_terminal(cli: Run, home: Path, project: Path) -> None:
    code, screen = Cli(home, project).on_terminal("review", types=f"k\ne\n{SURE}\n")
    assert code == 0 and "1/2" in screen and "2/2" in screen, screen
    assert len(core(cli)) == 2 and SURE in core(cli) and listed(cli) == {}


UNCLEAR = "로그인 테스트 작업 끝났어"


def unclear(cli: Run, hook: HookRunner) -> dict[str, Any]:
    """Have a prompt report an end that may be of two tasks; return the question."""
    for title in ("로그인 테스트 3 수정", "로그인 테스트 4 수정"):
        cli("task", "add", title)
    hook.turn("s1", "p1", UNCLEAR, "네, 알겠습니다.")
    cli("doctor", "flush")
    [asked] = json.loads(cli("review", "--json").stdout)["task_questions"]
    return dict(asked)


def statuses(cli: Run) -> dict[str, str]:
    rows = json.loads(cli("task", "list", "all", "--json").stdout)["tasks"]
    return {row["title"]: row["status"] for row in rows}


def test_question_on_a_task_is_answered_and_undone_27_7(cli: Run, hook: HookRunner) -> None:
    asked = unclear(cli, hook)
    before = statuses(cli)
    titles = {task["title"]: task["citation"] for task in asked["candidates"]}
    assert (asked["wish"], asked["quote"], set(titles)) == ("done", UNCLEAR, set(before))
    listed = cli("review").stdout
    assert "Is one of these tasks done?" in listed and UNCLEAR in listed and titles["로그인 테스트 4 수정"] in listed
    assert "name the task that is meant" in cli("review", "yes", asked["id"], code=1).stderr
    assert "No question is known" in cli("review", "yes", "zzzzzz", code=1).stderr
    cli("review", "yes", asked["id"], titles["로그인 테스트 4 수정"])
    assert statuses(cli) == {**before, "로그인 테스트 4 수정": "done"}
    assert json.loads(cli("review", "--json").stdout)["task_questions"] == []
    assert "Undone: yes" in cli("review", "undo").stdout and statuses(cli) == before
    assert json.loads(cli("review", "--json").stdout)["task_questions"] == [asked]
    assert "No task" in cli("review", "no", asked["id"]).stdout and statuses(cli) == before
    assert "Undone: no" in cli("review", "undo").stdout
    assert json.loads(cli("review", "--json").stdout)["task_questions"] == [asked]


def test_question_that_waits_is_told_once_a_week(cli: Run, hook: HookRunner) -> None:
    unclear(cli, hook)
    told = [
        str(hook("session_start", "w%d" % number, source="startup").output.get("systemMessage")) for number in (1, 2)
    ]
    assert ["1 question waits: is" in line and "/memlayer:memory-review" in line for line in told] == [True, False]


def test_question_on_a_task_in_a_session_and_on_a_terminal(
    cli: Run, hook: HookRunner, home: Path, project: Path
) -> None:
    asked = unclear(cli, hook)
    first = asked["candidates"][0]
    typed = f"yes {asked['id']} [mem:{first['citation']}]"
    hook(
        "user_prompt_expansion", "s1", "p1", hook_event_name="UserPromptExpansion",
        command_name="memlayer:memory-review", command_args=typed, prompt="/memory-review " + typed,
    )  # fmt: skip
    assert first["title"] in cli("slash", "memory-review", "s1").stdout
    assert statuses(cli)[first["title"]] == "done"
    code, screen = Cli(home, project).on_terminal("review", types="u\n2\nq\n")
    assert code == 0, screen
    code, screen = Cli(home, project).on_terminal("review", types="2\nq\n")
    assert code == 0 and "1/3" in screen and UNCLEAR in screen, screen
    assert statuses(cli)[first["title"]] == "pending"
    assert statuses(cli)[asked["candidates"][1]["title"]] == "done"


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [("npm은 절대 쓰지 마, pnpm만 써.", "이제 npm 써도 돼"), ("Never use npm, use pnpm.", "You may use npm again.")],
)
def test_permission_asks_about_the_rule_that_it_ends(cli: Run, hook: HookRunner, rule: str, allowed: str) -> None:
    hook.turn("s1", "p1", rule, "네, 알겠습니다.")
    hook("session_end", "s1", reason="other")
    assert rule in core(cli) and rule not in listed(cli)
    hook.turn("s2", "p2", allowed, "네, 알겠습니다.")
    item = listed(cli)[rule]
    assert item["reason"] == "contradicts" and allowed in cli("review").stdout
    cli("review", "drop", item["memory"]["citation"])
    assert rule not in core(cli) and rule not in listed(cli)
