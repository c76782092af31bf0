"""A session's summary by rules: what it names, in whose words and language, what is worth one, and when it is made."""

import json
from pathlib import Path
from typing import Any

import pytest

from memlayer.kinds import Author, Category, Ended, Kind
from memlayer.model import Event, Memory, citation_of
from memlayer.ports import MemoryQuery
from memlayer.records.sessions import Session
from memlayer.topics import session_summary
from memlayer.topics.session_summary import (
    COMMANDS,
    DECIDED,
    DONE,
    ERRORS,
    FILES,
    GOAL,
    is_korean,
    left_open,
    parts_of,
    pending,
    sum_up,
)
from memlayer.transcripts.lines import read_calls
from memlayer.turns.outcome import Call, from_answers, from_calls
from tests.support.memory_store import MemoryStore
from tests.support.tables import tables
from tests.support.turns_in_memory import keep_over

TABLES = tables("topics/session_summary")

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
HOUR_MS = 3_600_000


class Told:
    """A session in a store, told turn by turn."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.keep = keep_over(self.store, Path("/nowhere"))
        self.session = Session(id="s1", project_id="p1", project_dir="/home/dev/상점", ended="other")
        self.at_ms = 1_700_000_000_000

    def event(self, kind: str, text: str, prompt_id: str, detail: str = "") -> str:
        self.at_ms += 1000
        made = "%s-%d" % (prompt_id, self.at_ms)
        self.store.add_events([Event(made, kind, "s1", "p1", prompt_id, text, self.at_ms, detail=detail)])
        return made

    def turn(self, prompt: str, answer: str = "", tools: tuple[tuple[str, str], ...] = ()) -> "Told":
        prompt_id = "q%d" % self.at_ms
        self.event("user", prompt, prompt_id)
        for detail, text in tools:
            self.event("tool", text, prompt_id, detail)
        if answer:
            self.event("assistant", answer, prompt_id)
        return self

    def core(self, kind: str, text: str, ended_because: Ended = Ended.NOT) -> None:
        made = "c-" + text
        self.store.put_memories(
            [
                Memory(
                    made, "core_0001", citation_of(made), "core", kind, text, 0.7, "p1", "s1", "", (), self.at_ms,
                    by=Author.PERSON, ended_because=ended_because,
                )
            ]
        )  # fmt: skip

    def summed_up(self) -> dict[str, str]:
        found = sum_up(self.keep, self.session)
        return parts_of(found.text) if found else {}


KOREAN = [
    ("결제 모듈 재시도 로직 좀 고쳐줘. 무한정 도는 것 같아", "`app/pay/retry.py` 의 반복을 최대 3번으로 막았습니다."),
    ("앞으로 커밋 메시지는 한국어로 써줘", "네, 알겠습니다."),
    ("테스트도 돌려봐", "테스트 41개가 통과했습니다. 남은 작업은 정산 배치에 같은 제한을 넣는 것입니다."),
]
ENGLISH = [
    ("The nightly export times out, find out why", "I found the cause: `jobs/export.py` loads every row at once."),
    ("fix it then", "I rewrote it to stream in batches of 500. Next step is to deploy it to staging."),
]


@pytest.mark.parametrize(("said", "korean"), [(KOREAN, True), (ENGLISH, False)], ids=["korean", "english"])
def test_goal_work_and_what_is_left_in_the_sessions_own_words(said: list[tuple[str, str]], korean: bool) -> None:
    told = Told()
    for prompt, answer in said:
        told.turn(prompt, answer)
    found = sum_up(told.keep, told.session)
    assert found is not None
    parts = parts_of(found.text)
    assert is_korean(found.text) is korean
    if korean:
        assert parts[GOAL].startswith("결제 모듈 재시도 로직 좀 고쳐줘")
        assert "최대 3번으로 막았습니다" in parts[DONE] and "알겠습니다" not in parts[DONE]
        assert parts[FILES] == "app/pay/retry.py"
    else:
        assert parts[GOAL].startswith("The nightly export times out")
        assert "batches of 500" in parts[DONE]
        assert parts[FILES] == "jobs/export.py"


def test_its_record() -> None:
    told = Told()
    for prompt, answer in KOREAN:
        told.turn(prompt, answer)
    found = sum_up(told.keep, told.session)
    assert found is not None
    assert (found.category, found.kind) == (Category.DAILY, Kind.SESSION_SUMMARY)
    assert (found.project_id, found.session_id) == ("p1", "s1")
    assert found.key.startswith("daily_2023-11-") and found.key.endswith(found.id[:4])
    assert set(found.source_ids) == {event.id for event in told.store.events(session_id="s1")}
    assert told.store.memories(MemoryQuery(kind=Kind.SESSION_SUMMARY)) == [found]
    told.turn("배포까지 하자", "스테이징에 배포했습니다. `make deploy ENV=stg` 로 실행했습니다.")
    again = sum_up(told.keep, told.session)
    assert again is not None and again.id == found.id and "배포했습니다" in again.text
    assert len(told.store.memories(MemoryQuery(kind=Kind.SESSION_SUMMARY))) == 1


def test_tool_events_give_exact_paths_and_commands() -> None:
    tools = (
        ("Edit", "Edit: /home/dev/상점/app/결제.py\n- a\n+ b"),
        ("Write", "Write: /etc/hosts\ncreate, 3 lines"),
        ("Bash failed", "Bash failed: pytest tests/test_pay.py -q\nExit code 1"),
        ("Bash", "Bash: ls -la && git status"),
        ("Bash", "Bash: cd /home/dev/상점 && npm run build\nok"),
        ("Bash failed", "Bash failed: make lint\napp/결제.py:3: E501"),
        ("Bash", "Bash: pytest tests/test_pay.py -q\n3 passed"),
        ("Edit failed", "Edit failed: /home/dev/상점/README.md\nString to replace not found"),
    )
    parts = Told().turn("결제 테스트 고쳐줘", "고쳤습니다. `other/named.py` 도 보세요.", tools).summed_up()
    assert parts[FILES] == "app/결제.py, /etc/hosts"
    assert parts[COMMANDS] == "npm run build ; pytest tests/test_pay.py -q"
    assert parts[ERRORS] == "make lint: app/결제.py:3: E501"


def test_decisions_come_from_the_core_memories_that_still_hold() -> None:
    told = Told().turn("DB 포트 정하자", "네, 5432 로 했습니다.")
    told.core("decision", "DB 포트는 5432 로 하기로 했다", ended_because=Ended.REPLACED)
    told.core("decision", "DB 포트는 5433 으로 하기로 했다")
    told.core("cause", "5432 는 로컬 Postgres 가 쓰고 있었다")
    parts = told.summed_up()
    assert parts[DECIDED] == "DB 포트는 5433 으로 하기로 했다"
    assert parts[ERRORS] == "5432 는 로컬 Postgres 가 쓰고 있었다"


@pytest.mark.parametrize(
    "said",
    TABLES["small_talk_has_no_summary"],
    ids=["korean talk", "english talk", "own command", "one question", "nothing"],
)
def test_small_talk_has_no_summary(said: list[tuple[str, str]]) -> None:
    told = Told()
    for prompt, answer in said:
        told.turn(prompt, answer)
    assert told.summed_up() == {}
    assert told.store.memories(MemoryQuery(kind=Kind.SESSION_SUMMARY)) == []


def test_noise_and_answers_to_own_commands_stay_out() -> None:
    told = Told().turn(*KOREAN[0])
    told.event("user", "<task-notification>빌드 끝</task-notification>", "n1", "noise")
    told.event("assistant", "백그라운드 빌드 qznoise 를 끝냈습니다.", "n1")
    found = sum_up(told.keep, told.session)
    assert found is not None and "qznoise" not in found.text


@pytest.mark.parametrize(("prompt", "answer", "left"), TABLES["left_open"])
def test_left_open(prompt: str, answer: str, left: str) -> None:
    earlier = ("스키마 바꿔줘", ["바꿨습니다. 색인도 새로 만들까요?"])
    assert left_open([earlier, (prompt, [answer])]) == left


@pytest.mark.parametrize("question", ["redis 포트가 뭐야?", "Which port does redis listen on?"])
def test_question_for_a_fact_is_no_goal(question: str) -> None:
    told = Told().turn(question, "redis는 6380 포트를 씁니다. 설정은 deploy/redis.conf에 있습니다.")
    told.core("decision", "redis는 6380 포트를 쓴다")
    summary = sum_up(told.keep, told.session, with_transcript=False)
    assert summary is not None and GOAL not in parts_of(summary.text) and "6380" in parts_of(summary.text)[DECIDED]
    told.turn(
        "deploy.sh 를 재시도하게 고쳐줘, 세 번까지", "deploy.sh가 이제 세 번까지 재시도합니다. 테스트도 통과했습니다."
    )
    again = sum_up(told.keep, told.session, with_transcript=False)
    assert again is not None and "deploy.sh" in parts_of(again.text)[GOAL] and "?" not in parts_of(again.text)[GOAL]


def test_goal_is_the_matter_of_the_session() -> None:
    """The first prompt is often an aside; a log or a diff is no goal."""
    told = Told().turn("hmm, can you explain line 12 there?", "It closes the file.")
    told.turn(
        "the attribution of checkpoints counts user edits twice", "Found it: `attribution.py` adds them up again."
    )
    told.turn(
        "--- FAIL: attribution checkpoints user edits (0.01s)", "Fixed the attribution of user edits per checkpoint."
    )
    told.turn("커밋해줘", "커밋했습니다.")
    parts = told.summed_up()
    assert parts[GOAL] == "the attribution of checkpoints counts user edits twice"
    assert parts[DONE].endswith("Fixed the attribution of user edits per checkpoint.")
    assert "커밋했습니다" not in parts[DONE]


def test_goal_of_a_plan_is_its_title() -> None:
    plan = "Implement the following plan:\n\n# Plan: 결제 재시도 제한\n\n## Context\n\n재시도가 끝나지 않는다."
    parts = Told().turn(plan, "재시도를 세 번으로 제한했습니다. `app/pay.py` 를 고쳤습니다.").summed_up()
    assert parts[GOAL] == "결제 재시도 제한"


def test_commands_and_paths_from_answers_are_only_those_of_what_was_done() -> None:
    found = from_answers(
        [
            "`make migrate` 를 실행했고 `./db/schema.sql` 을 고쳤습니다. 나중에 `make deploy` 로 올리면 됩니다.",
            "Edited `src/<name>/x.py` and /srv/app/main.go. See https://example.com/a/b.html.",
        ],
        "/srv/app",
    )
    assert found.files == ("db/schema.sql", "main.go")
    assert found.commands == ("make migrate",)


def test_a_path_ends_before_the_particle_that_follows_it() -> None:
    said = "lib/theme/colors.dart의 색을 바꿨고 infra/staging/db.tf에서 크기를 줄였습니다. src/app.module.ts를 보세요."
    assert from_answers([said], "").files == ("lib/theme/colors.dart", "infra/staging/db.tf", "src/app.module.ts")


def test_a_command_that_works_later_is_no_error() -> None:
    failed, worked = Call("Bash", "make", True, "boom"), Call("Bash", "make", False, "")
    assert from_calls([failed, worked], "").errors == ()
    assert from_calls([worked, failed], "").errors == ("make: boom",)


@pytest.mark.parametrize(
    ("failed", "then", "is_left"),
    [
        ("pytest tests/결제_test.py -x", "uv run pytest -q", False),
        ("cd app && python -m pytest -q", "pytest tests -q | tail -3", False),
        ("npm test -- cart", "npm run test", False),
        ("make -j4 test", "make test", False),
        ("cargo test 정산", "RUST_LOG=off cargo test", False),
        ("ruff check . && pytest", "pytest", True),
        ("ruff check . && pytest", "ruff check --fix . && pytest -q", False),
        ("npm test", "npm install", True),
        ("npm run build", "npm test", True),
        ("go vet ./...", "go test ./...", True),
        ("psql -c 'select 1'", "psql -c 'select 2'", True),
    ],
)
def test_last_run_of_a_check_decides(failed: str, then: str, is_left: bool) -> None:
    calls = [Call("Bash", failed, True, "3 failed"), Call("Bash", then, False, "")]
    assert bool(from_calls(calls, "").errors) is is_left
    assert from_calls(calls[::-1], "").errors


def test_calls_of_a_recorded_transcript() -> None:
    found = from_calls(read_calls(str(FIXTURES / "transcript_tools_2.1.197.jsonl")), "/home/dev/shop")
    assert (found.files, found.commands, found.errors) == (("new.txt",), (), ("false: Exit code 1",))


def test_a_transcripts_commands_are_redacted(tmp_path: Path) -> None:
    def record(kind: str, **block: Any) -> str:
        return json.dumps({"type": kind, "isSidechain": False, "message": {"content": [block]}}) + "\n"

    path = tmp_path / "t.jsonl"
    secret = {"command": "curl -H 'Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789' x.io"}
    lines = record("assistant", type="tool_use", id="1", name="Bash", input=secret)
    lines += record("user", type="tool_result", tool_use_id="1", is_error=True, content="Exit code 6\n연결 실패")
    lines += record("assistant", type="tool_use", id="2", name="Read", input={"file_path": "/x"})
    path.write_text(lines + '{"torn', "utf-8")
    (call,) = read_calls(str(path))
    assert "ghp_" not in call.target and call.target.startswith("curl")
    assert (call.is_failed, call.said) == (True, "연결 실패")
    assert read_calls(str(tmp_path / "none")) == []


def test_who_is_to_be_summed_up() -> None:
    now_ms = 100 * HOUR_MS
    over = Session(id="over", project_id="p", said_ms=now_ms - 9, last_ms=now_ms - 5, ended="other", outcomes_ms=now_ms)
    assert pending([over], now_ms) == [over]
    for kept in (
        over.changed(summarized_ms=over.said_ms),
        over.changed(ended=""),  # it may still run
        over.changed(said_ms=0),
        over.changed(project_id=""),
        over.changed(last_ms=now_ms - session_summary.RECENT_MS - 1),
    ):
        assert pending([kept], now_ms) == [], kept
    died = over.changed(ended="", last_ms=now_ms - HOUR_MS, said_ms=now_ms - HOUR_MS)
    went_on = over.changed(summarized_ms=over.said_ms - 1)
    undrawn = over.changed(summarized_ms=over.said_ms, outcomes_ms=0)
    assert pending([died, went_on, undrawn], now_ms) == [died, went_on, undrawn]
