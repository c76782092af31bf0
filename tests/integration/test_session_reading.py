"""A daemon that has a language model read finished sessions, once each."""

import json
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_api import ModelApi, Said, chat_answer
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
TURNS = [
    (
        "웹훅이 왜 두 번 오는지 봐줘. 재시도 간격을 30초로 늘려봤는데 소용없었어.",
        "원인은 이렇습니다. 토스페이먼츠는 10초 안에 200을 받지 못하면 다시 보냅니다. 먼저 200을 돌려주게 했습니다.",
    ),
    (
        "좋아, 이제 한 번만 와. 앞으로 정산 테스트는 샌드박스 상점 test-shop-2로만 돌려줘.",
        "네, 정산 테스트는 test-shop-2에서만 돌리겠습니다.",
    ),
]
CAUSE = (
    "웹훅이 두 번 온 원인: 토스페이먼츠는 10초 안에 200이 없으면 다시 보낸다. 30초 간격은 소용없음. 먼저 200을 준다."
)
WISH = "정산 테스트는 샌드박스 상점 test-shop-2로만 돌린다."
SUMMARY = "웹훅 중복은 처리 전에 200을 먼저 돌려주어 해결했고, 사용자가 확인함."
GOOD = {
    "summary": SUMMARY,
    "notes": [
        {
            "kind": "cause", "text": CAUSE, "turn": 1, "files": [], "error": "", "replaces": [],
            "quote": "토스페이먼츠는 10초 안에 200을 받지 못하면 다시 보냅니다",
        },
        {
            "kind": "preference", "text": WISH, "turn": 2, "files": [], "error": "", "replaces": [],
            "quote": "앞으로 정산 테스트는 샌드박스 상점 test-shop-2로만 돌려줘",
        },
        {
            "kind": "fact", "text": "운영 데이터베이스의 포트는 5433이다.", "turn": 1, "files": [], "error": "",
            "quote": "운영 데이터베이스의 포트는 5433입니다", "replaces": [],
        },
    ],
    "tasks": [
        {
            "id": "", "title": "정산 테스트를 test-shop-2에서 돌리기", "status": "pending", "blocked_by": "",
            "quote": "네, 정산 테스트는 test-shop-2에서만 돌리겠습니다", "turn": 2,
        }
    ],
    "drop": [],
}  # fmt: skip


def answer(value: object) -> Said:
    return Said(chat_answer(json.dumps(value, ensure_ascii=False)))


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi() as served:
        served.script = lambda asked: answer(GOOD)
        yield served


@pytest.fixture
def reading(api: ModelApi, home: Path) -> Iterator[Callable[..., Daemon]]:
    """Start a daemon whose sessions a scripted model reads."""
    running: list[Daemon] = []

    def start(*, more: dict[str, Any] | None = None, **settings: object) -> Daemon:
        chosen = {"provider": "openai", "model": "tiny", "base_url": api.url + "/v1", **settings}
        daemon = Daemon(ROOT, home, {"embedding": {"provider": "none"}, "consolidation": chosen, **(more or {})})
        running.append(daemon)
        return daemon.start()

    yield start
    for daemon in running:
        daemon.stop()


def play(hook: HookRunner, session_id: str = "s1") -> None:
    hook("session_start", session_id=session_id, source="startup")
    for number, (prompt, said) in enumerate(TURNS):
        hook.turn(session_id, "%s-p%d" % (session_id, number), prompt, said)
    hook("session_end", session_id=session_id, reason="other")


def core(daemon: Daemon) -> dict[str, str]:
    return {row["text"]: row["kind"] for row in daemon.call("list", category="core")["memories"]}


def test_finished_session_becomes_notes(reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner) -> None:
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: CAUSE in core(daemon), "the notes")
    kinds = core(daemon)
    assert kinds[CAUSE] == "cause" and kinds[WISH] == "preference"
    assert kinds["정산 테스트를 test-shop-2에서 돌리기"] == "task"
    assert not any("5433" in text for text in kinds)
    daemon.settle()
    assert len(api.asked) == 1
    sent = api.asked[0].body["messages"][1]["content"]
    assert all(prompt in sent and said in sent for prompt, said in TURNS)
    [summary] = [row for row in daemon.call("list", category="daily")["memories"] if row["kind"] == "session_summary"]
    assert summary["text"] == SUMMARY
    readings = list((hook.home / "readings").glob("*.json"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in readings] == [0o600]
    assert "5433" in readings[0].read_text("utf-8")  # the refused note, with its reason


PLAN = "Implement the following plan:\n\n# Plan: 웹훅 재시도\n\n## Context\n\n웹훅이 두 번 온다. 간격을 늘린다."


def test_accepted_plan_that_begins_a_session_is_given_notes(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner
) -> None:
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: CAUSE in core(daemon), "the notes")
    daemon.settle()
    start = hook("session_start", session_id="s2", source="clear").context
    assert start.count("test-shop-2로만") == 1
    assert CAUSE in start
    told = hook("user_prompt_submit", session_id="s2", prompt_id="s2-p0", prompt=PLAN).context
    assert told == ""  # the start says it whole
    first = hook("user_prompt_submit", session_id="s3", prompt_id="s3-p0", prompt=PLAN).context
    assert "(cause) 웹훅이 두 번 온 원인" in first and "test-shop-2" not in first
    assert hook("user_prompt_submit", session_id="s3", prompt_id="s3-p1", prompt=PLAN).context == ""


def test_next_session_knows_the_notes_and_replaces(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner
) -> None:
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: CAUSE in core(daemon), "the notes")
    citation = next(row["citation"] for row in daemon.call("list", category="core")["memories"] if row["text"] == CAUSE)
    newer = "먼저 200을 돌려주는 방법은 유실 때문에 되돌렸다. 이제는 큐에 넣고 나서 200을 돌려준다. 10초는 그대로다."
    note = {"kind": "attempt", "text": newer, "turn": 1, "replaces": [citation], "quote": "유실이 생겨서 되돌렸어"}
    api.script = lambda asked: answer({"summary": "", "notes": [note], "tasks": [], "drop": []})
    hook("session_start", session_id="s2", source="startup")
    told = "먼저 200을 돌려주는 방법은 유실이 생겨서 되돌렸어. 큐에 넣고 나서 200을 돌려주는 쪽은 어때?"
    hook.turn("s2", "q1", told, "큐에 넣고 나서 200을 돌려주도록 바꿨습니다. 10초 제한은 그대로입니다.")
    hook.turn("s2", "q2", "좋아, 유실도 없고 중복도 없어. 운영에서도 확인했어.", "다행입니다.")
    hook("session_end", session_id="s2", reason="other")
    daemon.wait_for(lambda: newer in core(daemon), "the newer note")
    assert "[%s] (cause" % citation in api.asked[1].body["messages"][1]["content"]
    assert CAUSE not in core(daemon)
    everything = daemon.call("list", category="core", all=True)["memories"]
    assert CAUSE in [row["text"] for row in everything]


@pytest.mark.parametrize("start", ["heard", "spooled"])
def test_run_that_nobody_typed_replaces_no_note_of_a_person(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner, start: str
) -> None:
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: WISH in core(daemon), "the notes")
    citation = next(row["citation"] for row in daemon.call("list", category="core")["memories"] if row["text"] == WISH)
    newer = "정산 테스트는 test-shop-9에서 돌린다."
    note = {"kind": "fact", "text": newer, "turn": 1, "replaces": [citation], "quote": "정산 테스트를 test-shop-9에서"}
    api.script = lambda asked: answer({"summary": "test-shop-9로 옮김.", "notes": [note], "drop": [citation]})
    hook.environment["CLAUDE_CODE_ENTRYPOINT"] = "sdk-cli"
    runner = hook
    if start == "spooled":  # a start that no daemon heard
        runner = HookRunner(ROOT, hook.home, hook.project)
        runner.environment |= hook.environment
        daemon.stop()
        runner.forbid_background()
    runner("session_start", session_id="run", source="startup")
    if start == "spooled":
        daemon = daemon.start()
    said = "정산 테스트를 test-shop-9에서 돌리도록 설정을 고쳤고, 열두 개가 모두 통과했습니다."
    hook.turn("run", "r1", "정산 쪽 테스트 설정을 한번 점검하고 필요한 것을 고쳐줘. 결과는 표로 정리해줘.", said * 3)
    hook("session_end", session_id="run", reason="other")
    daemon.wait_for(lambda: "실행의 주장: " + newer in core(daemon), "the run's claim")
    assert WISH in core(daemon)
    summaries = partial(daemon.call, "list", category="daily")
    daemon.wait_for(lambda: "test-shop-9로 옮김." in [row["text"] for row in summaries()["memories"]], "the summary")


@pytest.mark.parametrize("how", ["off", "project", "small talk"])
def test_nothing_is_sent_unasked(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner, project: Path, how: str
) -> None:
    more: dict[str, Any] = {}
    if how == "project":
        (project / ".memlayer.yaml").write_text("notes: {enabled: false}\n", "utf-8")
    if how == "off":
        more = {"notes": {"enabled": False}}
    daemon = reading(more=more)
    if how == "small talk":
        hook("session_start", session_id="s1", source="startup")
        hook.turn("s1", "p1", "고마워", "천만에요!")
        hook("session_end", session_id="s1", reason="other")
    else:
        play(hook)
    daemon.settle()
    daemon.settle()
    assert api.asked == []


def test_history_tells_why_a_note_was_retired(reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner) -> None:
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: CAUSE in core(daemon), "the notes")
    [note] = [row for row in daemon.call("list", category="core")["memories"] if row["text"] == CAUSE]
    api.script = lambda asked: answer({"summary": "이제 아니다.", "notes": [], "drop": [note["citation"]]})
    play(hook, "s2")
    told = ("reader", "found untrue")

    def versions() -> list[tuple[str, str]]:
        return [(row["by"], row["ended_because"]) for row in daemon.call("history", id=note["id"])["versions"]]

    daemon.wait_for(lambda: versions() == [told], "the drop and its reason")


@pytest.mark.fault
@pytest.mark.parametrize("trouble", ["malformed", "refused", "half"])
def test_session_waits_while_the_model_fails(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner, trouble: str
) -> None:
    bad = {
        "malformed": Said(chat_answer("I could not find any notes, sorry.")),
        "refused": Said({"error": {"message": "slow down"}}, status=429),
        "half": Said(chat_answer(json.dumps(GOOD, ensure_ascii=False)[:200])),
    }[trouble]
    api.script = lambda asked: bad
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: api.asked, "the request")
    daemon.settle()
    assert WISH not in core(daemon)
    daemon.stop()
    api.script = lambda asked: answer(GOOD)
    daemon.start()  # a failure pauses the reader of that daemon only
    daemon.wait_for(lambda: CAUSE in core(daemon), "the notes after all")
    assert list(core(daemon)).count(CAUSE) == 1


def test_forgotten_turn_takes_its_notes(reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner) -> None:
    daemon = reading()
    play(hook)
    daemon.wait_for(lambda: WISH in core(daemon), "the notes")
    turns = daemon.call("list", category="conversation")["memories"]
    [turn] = [row for row in turns if "정산 테스트는 샌드박스" in row["text"]]
    daemon.call("forget", ids=[turn["id"]])
    daemon.settle()
    assert WISH not in core(daemon) and CAUSE in core(daemon)
    assert all("5433" not in path.read_text("utf-8") for path in (hook.home / "readings").glob("*.json"))
    assert len(api.asked) == 1


@pytest.mark.parametrize("wish", ["할 일: 결제 테스트 작성", "todo: write the payment tests"])
def test_reading_leaves_open_work_of_a_person(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner, wish: str
) -> None:
    api.script = lambda asked: answer({"summary": "결제 모듈을 봤다.", "notes": [], "tasks": [], "drop": []})
    daemon = reading()
    hook("session_start", session_id="s1", source="startup")
    hook.turn("s1", "p1", wish, "네, 적어 두겠습니다.")
    hook.turn("s1", "p2", "결제 모듈 파일을 열어 줘", "payment.py 를 열었습니다.")
    hook("session_end", session_id="s1", reason="other")
    daemon.wait_for(lambda: bool(api.asked), "the reading")
    daemon.settle()
    title = wish.partition(": ")[2]

    def is_open() -> bool:
        tasks = daemon.call("tasks", project_dir=str(hook.project))["tasks"]
        return [(task["title"], task["status"]) for task in tasks] == [(title, "pending")]

    daemon.wait_for(is_open, "the task")
    daemon.stop()
    daemon.start()
    daemon.settle()
    assert is_open()
