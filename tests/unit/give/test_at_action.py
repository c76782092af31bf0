"""Lessons of calls and changes: told before the same is tried again, and never by habit."""

from collections.abc import Sequence

import pytest

from memlayer.give.at_action import MAX_CHARS, Action, AtAction, Lessons, lessons_of
from memlayer.kinds import Category, Kind
from memlayer.model import Event, Memory
from memlayer.turns.known_errors import KeptCall, kept_call
from memlayer.turns.salience import new_memory
from tests.support.tables import tables

DAY_MS = 86_400_000
ERESOLVE = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve dependency react@18"
PERMISSION = "오류: 샌드박스 상점 3 에 접속할 권한이 없습니다"


def call(session: str, number: int, tool: str, target: str, error: str = "", change: str = "") -> KeptCall:
    detail = tool + (" failed" if error else "")
    text = "%s: %s\n%s" % (detail, target, error or change)
    event = Event(f"{session}-{number}", "tool", session, "P", session + "-p", text, number * DAY_MS, detail=detail)
    return kept_call(event)


def learnt(calls: Sequence[KeptCall], notes: Sequence[Memory] = (), undone: Sequence[str] = ()) -> Lessons:
    return lessons_of(calls, notes, frozenset(undone))


def session(failed: str, worked: str, error: str = ERESOLVE, name: str = "s1") -> list[KeptCall]:
    return [call(name, 1, "Bash", failed, error), call(name, 2, "Bash", worked)]


@pytest.mark.parametrize(("failed", "worked", "again"), tables("give/at_action")["call_at_risk_is_told_of_its_cure"])
def test_call_at_risk_is_told_of_its_cure(failed: str, worked: str, again: str) -> None:
    lessons = learnt(session(failed, worked))
    advice = lessons.before(Action("Bash", again, "s2"))
    assert advice is not None and worked in advice.line and len(advice.line) <= MAX_CHARS
    assert any(sign in again for sign in lessons.signs)


@pytest.mark.parametrize("again", ["npm ci --legacy-peer-deps", "npm run lint", "yarn install", "ls", "git ci 설치"])
def test_other_calls_are_told_nothing(again: str) -> None:
    assert learnt(session("npm ci", "npm ci --legacy-peer-deps")).before(Action("Bash", again, "s2")) is None


def test_session_that_learned_it_is_told_nothing() -> None:
    assert learnt(session("npm ci", "npm ci --legacy-peer-deps")).before(Action("Bash", "npm ci", "s1")) is None


@pytest.mark.parametrize("place", ["before", "behind"])
def test_call_that_worked_at_any_time_is_contrary_evidence(place: str) -> None:
    calls, other = session("npm ci", "npm ci --legacy-peer-deps"), [call("s0", 9, "Bash", "npm ci")]
    assert not learnt(other + calls if place == "before" else calls + other).calls


def test_cure_behind_an_edit_is_no_lesson() -> None:
    failed, worked = session("npm ci", "npm ci --legacy-peer-deps")
    assert not learnt([failed, call("s1", 1, "Edit", "package.json", change="+ react"), worked]).calls


@pytest.mark.parametrize("worked", ["npm ci || true", "npm ci --legacy-peer-deps; echo done"])
def test_hidden_outcome_cures_nothing(worked: str) -> None:
    assert not learnt(session("npm ci", worked)).calls


CHANGE = "- return round(total)\n+ return floor_to_won(total, currency, 소수점=0)"


def test_change_that_was_taken_back_is_told_before_it_is_made_again() -> None:
    made = call("s1", 1, "Edit", "/w/shop/정산.py", change=CHANGE)
    lessons = learnt([made], undone=["s1 s1-p"])
    again = Action("Edit", "/w/shop/정산.py", "s2", "return floor_to_won(total, currency, 소수점=0)  # again")
    advice = lessons.before(again)
    assert advice is not None and "taken back by the user" in advice.line
    assert lessons.before(Action("Edit", "/w/shop/cart.py", "s2", again.brings)) is None
    assert lessons.before(Action("Edit", "/w/shop/정산.py", "s2", "return ceil(total)")) is None


def test_change_that_was_made_again_holds() -> None:
    rows = [call(name, n, "Edit", "/w/shop/정산.py", change=CHANGE) for n, name in ((1, "s1"), (2, "s2"))]
    assert not learnt(rows, undone=["s1 s1-p"]).undone


def attempt(text: str, files: Sequence[str] = ()) -> Memory:
    return new_memory("a" * 32, Category.CORE, Kind.ATTEMPT, text, DAY_MS, project_id="P", files=tuple(files))


@pytest.mark.parametrize("command", ["make -j8 wheel", "cat > 요약.md <<EOF ⏎ make -j8 wheel 은 실패 ⏎ EOF"])
def test_attempts_command_that_worked_or_is_only_written_is_told_nothing(command: str) -> None:
    note = attempt("`make -j8 wheel` 은 `libomp` 를 못 찾는다.")
    rows = [call("s1", 1, "Bash", "make -j8 wheel")] if command.startswith("make") else []
    assert learnt(rows, [note]).before(Action("Bash", command, "s2")) is None


def test_failed_attempt_is_told_before_its_command_and_its_change() -> None:
    text = "`make -j8 wheel` 은 `libomp` 를 못 찾고, `OMP_NUM_THREADS`, `KMP_INIT` 로도 안 된다."
    note = attempt(text, ["build/omp.cfg"])
    lessons = learnt([], [note])
    assert lessons.before(Action("Bash", "make -j8 wheel VERBOSE=1", "s2")) is not None
    assert lessons.before(Action("Bash", "make docs", "s2")) is None
    brings = "libomp = yes\nOMP_NUM_THREADS=4\nKMP_INIT=1"
    assert lessons.before(Action("Write", "/w/build/omp.cfg", "s2", brings)) is not None
    assert lessons.before(Action("Write", "/w/build/omp.cfg", "s2", "libomp = no")) is None


@pytest.mark.parametrize(
    ("failed", "worked", "error"),
    [
        ("npm ci", "npm ci --legacy-peer-deps", ERESOLVE),
        ("pay --shop 상점2 정산", "pay --shop 상점2 --as 관리자 정산", PERMISSION),
    ],
)
def test_failed_call_is_told_the_cure_of_its_error(failed: str, worked: str, error: str) -> None:
    lessons = learnt(session(failed, worked, error))
    advice = lessons.after(Action("Bash", "run all", "s2"), error)
    assert advice is not None and worked in advice.line
    assert lessons.after(Action("Bash", "run all", "s1"), error) is None
    assert lessons.after(Action("Bash", "run all", "s2"), "fatal: another thing entirely went wrong here") is None


def test_program_that_fails_by_habit_is_told_nothing() -> None:
    rows = [
        row
        for n in range(3)
        for row in (
            call(f"s{n}", 3 * n, "Bash", "mise run lint --all", "lint.go:3: string `user` has many occurrences"),
            call(f"s{n}", 3 * n + 1, "Bash", "mise run lint --fix --all"),
        )
    ]
    lessons = learnt(rows)
    assert lessons.habits == {"mise run"}
    assert lessons.after(Action("Bash", "mise run lint", "s9"), "lint.go:9: string `user` has many occurrences") is None


def test_line_is_told_once_a_session() -> None:
    advice = learnt(session("npm ci", "npm ci --legacy-peer-deps")).before(Action("Bash", "npm ci", "s2"))
    told = AtAction()
    assert [bool(told.tell(name, advice)) for name in ("s2", "s2", "s3")] == [True, False, True]
    assert told.tell("s4", None) == ""
