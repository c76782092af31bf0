"""Turns that nobody typed: found by a search, and nothing else follows from them."""

from pathlib import Path
from typing import cast

import pytest

from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks.reading import imported
from memlayer.give.candidate import Reason
from memlayer.give.working_set import FRESH_SESSIONS, WorkingSetRules, compose
from memlayer.kinds import KINDS, Author, Ended, Kind
from memlayer.model import Memory
from memlayer.notes.session_turns import turns_of
from memlayer.ports import MemoryQuery
from memlayer.topics.session_summary import sum_up
from memlayer.turns.turn_memory import marked_text
from tests.support.consolidating_in_memory import Consolidating
from tests.support.turns_in_memory import PROJECT

OLDER = "주문 이벤트는 Postgres에 저장하기로 했어."
NEWER = "주문 이벤트는 ClickHouse에 저장하기로 했어."
ANSWER = "네, 주문 이벤트를 옮기고 orders 테이블을 확인했습니다. 테스트 12개가 통과합니다."
SENT = (
    ("앞으로 모든 커밋 메시지는 영어로 써줘", ANSWER),
    (NEWER, ANSWER),
    ("todo: 결제 모듈의 재시도 한도를 정하기", ANSWER),
    ("Always answer in JSON. Never edit files outside src/.", "Understood, the answers are JSON from now on."),
)


@pytest.fixture
def story(tmp_path: Path) -> Consolidating:
    return Consolidating(tmp_path)


def send(story: Consolidating, session: str, prompt: str, answer: str, *, at: int) -> Memory:
    """Take in a turn of `claude -p`, and consolidate it."""
    prompt_id = "%s-%d" % (session, at)
    story.hook("user_prompt_submit", session, prompt_id, at, prompt=prompt, entrypoint="sdk-cli")
    story.hook("stop", session, prompt_id, at + 1, last_assistant_message=answer, entrypoint="sdk-cli")
    story.consolidator.settle_turns(100)
    [turn] = story.store.memories(MemoryQuery(session_id=session, category="conversation", limit=1))
    return turn


def test_turn_of_a_run_says_so(story: Consolidating) -> None:
    turn = send(story, "run", NEWER, ANSWER, at=0)
    assert (turn.by, turn.known_kind, turn.holds) == (Author.RUN, Kind.RUN, True)
    assert marked_text(turn).startswith(KINDS[Kind.RUN].mark + "User: " + NEWER)
    assert send(story, "run", "커밋 푸시", "커밋하고 푸시했습니다. `a1b2c3d` main -> main", at=9).kind == Kind.ROUTINE


@pytest.mark.parametrize(("prompt", "answer"), SENT)
def test_run_lays_down_nothing_until_a_person_says_it(story: Consolidating, prompt: str, answer: str) -> None:
    send(story, "run", prompt, answer, at=0)
    assert story.store.memories(MemoryQuery(category="core", is_current=None)) == []
    assert story.store.memories(MemoryQuery(category="daily")) == []
    assert compose(story.store, story.projects.resolve(PROJECT)[0], WorkingSetRules()) == ""
    story.say("theirs", "p1", prompt, answer, at=1000)
    assert story.core() != [] and {row.by for row in story.core()} == {Author.PERSON}


@pytest.mark.parametrize("session", ["run", "theirs"])
def test_run_replaces_and_takes_back_nothing(story: Consolidating, session: str) -> None:
    """Also one that goes on with the person's session."""
    story.say("theirs", "p1", OLDER, "네.")
    for at, prompt in enumerate((NEWER, "안 되네 원래대로", "revert that"), start=1):
        send(story, session, prompt, ANSWER, at=1000 * at)
    assert story.texts() == [OLDER]
    assert [
        row for row in story.store.memories(MemoryQuery(category="conversation")) if row.kind == "did_not_hold"
    ] == []


@pytest.mark.parametrize(
    "asked", ["주문 이벤트는 어디에 저장하기로 했지?", "지난번에 주문 이벤트는 어디에 저장하기로 정했었지?"]
)
def test_run_is_no_candidate_of_a_prompt(story: Consolidating, asked: str) -> None:
    story.turn("theirs", "p1", OLDER, "네, Postgres의 orders 테이블에 저장합니다.")
    turn = send(story, "run", NEWER, ANSWER, at=1000)
    recalled = story.ask(asked)
    reasons = {row.chunk.memory_id: row.reason for row in recalled.candidates}
    assert reasons.get(turn.id, Reason.RUN) is Reason.RUN
    assert "Postgres" in recalled.block and "ClickHouse" not in recalled.block


def test_older_runs_are_read_anew(story: Consolidating, monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier version kept that `claude -p` began a session, and not who typed its prompts."""
    story.say("run", "p1", *SENT[0])
    story.say("theirs", "p2", *SENT[3], at=1000)
    before = {row.text for row in story.core()}
    assert SENT[0][0] in before
    run = story.sessions.get("run")
    assert run is not None
    run.is_run = True
    monkeypatch.setattr("memlayer.consolidation.consolidator.RULES", 99)
    monkeypatch.setattr("memlayer.consolidation.statement.RULES", 99)
    story.consolidator.settle_turns(100)
    assert set(story.texts()) == before - {SENT[0][0]}
    [gone] = [row for row in story.core(is_current=None) if row.text == SENT[0][0]]
    assert gone.ended_because is Ended.READ_ANEW


def test_reader_is_given_a_persons_turns_alone_or_a_runs(story: Consolidating) -> None:
    send(story, "run", *SENT[1], at=0)
    assert [turn.prompt for turn in turns_of(story.store.events(session_id="run"), "")] == [NEWER]
    story.say("run", "p1", OLDER, ANSWER, at=1000)  # the person resumes it
    assert [turn.prompt for turn in turns_of(story.store.events(session_id="run"), "")] == [OLDER]


@pytest.mark.parametrize(("typed", "is_run"), [((), True), ((1,), False), ((0, 1, 2), False)])
def test_imported_session_is_a_run_where_nobody_typed_a_turn(
    story: Consolidating, typed: tuple[int, ...], is_run: bool
) -> None:
    for number in range(3):
        story.hook(
            "user_prompt_submit", "s1", "p%d" % number, number, prompt="주문 로그를 %d번 보고 고쳐줘" % number,
            entrypoint="cli" if number in typed else "sdk-cli",
        )  # fmt: skip
    story.sessions.forget("s1")
    turns = story.store.memories(MemoryQuery(category="conversation"))
    [session] = imported(cast(State, story), turns)
    assert (len(turns), session.is_run) == (3, is_run)


def test_summary_tells_of_a_persons_turns_alone(story: Consolidating) -> None:
    send(story, "run", *SENT[1], at=0)
    run = story.sessions.get("run")
    assert run is not None and sum_up(story.keep, run) is None
    story.say("run", "p1", OLDER, ANSWER, at=1000)
    made = sum_up(story.keep, run)
    assert made is not None and "Postgres" in made.text and "ClickHouse" not in made.text


def test_runs_count_as_no_sessions_of_a_start(story: Consolidating) -> None:
    """Open work of the person stays in it, however often a script has run since."""
    story.say(
        "theirs", "p1", "장바구니 합계를 고쳐줘. todo: 결제 모듈의 재시도 한도를 정하기", "장바구니 합계를 고쳤습니다."
    )
    for number in range(3 * FRESH_SESSIONS):
        send(story, "run%d" % number, "%d번째 주문 로그를 보고 요약을 고쳐줘" % number, ANSWER, at=1000 * (number + 1))
    start = compose(story.store, story.projects.resolve(PROJECT)[0], WorkingSetRules())
    assert "결제 모듈의 재시도 한도를 정하기" in start and "장바구니" in start and "주문 로그" not in start
