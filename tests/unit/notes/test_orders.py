"""Ways of working, notes of several parts, and orders that a session carried out."""

from pathlib import Path
from typing import Any

import pytest

from memlayer.kinds import Author, Ended, Kind
from memlayer.model import Memory, citation_of
from memlayer.notes.checks import MAX_TEXT_CHARS
from memlayer.notes.request import ORDERS_SHOWN, TASKS_SHOWN, first_part
from memlayer.tasks.states import Status
from tests.support.notes_in_memory import Noting
from tests.support.tables import tables
from tests.support.turns_in_memory import PROJECT

WAYS = tables("notes/orders")["ways"]
ORDERED = {
    "korean": (
        "PnP SDK를 Core Kit으로 바꾸기로 하자.",
        "사용자: PnP SDK를 Core Kit으로 바꾼다",
        "Core Kit으로 바꾸고 PnP SDK는 지웠습니다",
        "로그인은 Core Kit 위의 자체 화면이다",
    ),
    "english": (
        "We should replace the PnP SDK with Core Kit.",
        "User: replace the PnP SDK with Core Kit",
        "The PnP SDK is gone, Core Kit runs the login",
        "Login is an own UI on Core Kit",
    ),
}


@pytest.fixture
def noting(tmp_path: Path) -> Noting:
    (tmp_path / "메모리").mkdir()
    return Noting(tmp_path / "메모리")


def answer(**parts: Any) -> dict[str, Any]:
    return {"summary": "", "notes": [], **parts}


def ordered(noting: Noting, kind: str, language: str) -> Memory:
    said, text, _, _ = ORDERED[language]
    turns = noting.tell("s1", (said + " 이유는 나중에 적자.", "네, 계획을 세우겠습니다."), ("응", "네."))
    row = {"kind": kind, "headline": text, "text": text, "quote": said, "turn": 1, "subject": "login"}
    kept = noting.answer("s1", turns, answer(notes=[row]))
    assert kept is not None
    [made] = kept.notes
    return made


def test_every_way_is_kept_however_short_and_many(noting: Noting) -> None:
    turns = noting.tell("s1", (". ".join(said for said, _ in WAYS) + ".", "네."))
    ways = [{"text": text, "quote": said, "turn": 1} for said, text in WAYS]
    kept = noting.answer("s1", turns, answer(ways=ways))
    assert kept is not None and [row.draft.quote for row in kept.refused] == []
    assert [(row.text, row.kind) for row in kept.notes] == [(text, Kind.PREFERENCE) for _, text in WAYS]


def test_contract_of_many_rules_is_one_note(noting: Noting) -> None:
    parts = [
        "Retry 5xx and exactly 429 and 408",
        "Four attempts in all",
        "- 대기는 30초를 넘지 않는다",
        "Never retry a POST",
    ]
    said = "Retry contract: " + "; ".join(parts) + "."
    turns = noting.tell("s1", (said, "네, 그렇게 했습니다."))
    row = {
        "kind": "decision", "headline": "Retry contract of the client, 4 rules: 5xx, 429 and 408 only, never a POST",
        "text": "The client's retry contract", "parts": parts, "quote": "Retry 5xx and exactly 429 and 408", "turn": 1,
    }  # fmt: skip
    kept = noting.answer("s1", turns, answer(notes=[row]))
    assert kept is not None
    [made] = kept.notes
    assert made.text.startswith("The client's retry contract. Retry 5xx and exactly 429 and 408. Four attempts in all.")
    assert made.text.endswith(" 대기는 30초를 넘지 않는다. Never retry a POST.")
    assert len(made.text) <= MAX_TEXT_CHARS and made.headline == row["headline"]
    more = noting.tell("s2", (said, "네."))
    invented = {**row, "replaces": [made.citation], "parts": [*parts, "Give up after 77 seconds"]}
    kept = noting.answer("s2", more, answer(notes=[invented]))
    assert kept is not None and "Never retry a POST." in kept.notes[0].text and "77" not in kept.notes[0].text


def test_promise_never_competes_and_its_line_stays_where_it_is_not_said(noting: Noting) -> None:
    facts = ["The beta runs on host web-%d." % number for number in range(1, 5)]
    promise = "베타는 2026-12-03에 연다"
    turns = noting.tell("s1", (" ".join(facts) + " " + promise + ".", "네, 2026-12-03에 엽니다."))
    rows = [{"kind": "fact", "text": text, "quote": text, "turn": 1} for text in facts]
    rows.append({"kind": "commitment", "text": promise + ".", "quote": promise, "turn": 1})
    kept = noting.answer("s1", turns, answer(notes=rows))
    assert kept is not None and kept.notes[-1].kind == Kind.COMMITMENT and len(kept.refused) == 2


@pytest.mark.parametrize("language", list(ORDERED))
@pytest.mark.parametrize("is_told", [True, False])
def test_order_that_was_carried_out_becomes_a_state_or_goes(noting: Noting, language: str, is_told: bool) -> None:
    order = ordered(noting, "decision", language)
    _, _, said, state = ORDERED[language]
    own = "Login: 자체 화면 (own UI) on Core Kit. "
    turns = noting.tell("s2", ("로그인 이어서 하자, continue", own + said + "."), ("응", "네."))
    assert order.citation in first_part(turns, [order], []).prompt.partition("Perhaps carried out:")[2]
    told = {"text": state, "headline": state} if is_told else {}
    row = {"id": order.citation, "state": "done", "quote": said, "turn": 1, **told}
    kept = noting.answer("s2", turns, answer(orders=[row]))
    assert kept is not None and kept.refused == [] and kept.questions == []
    [old] = [one for one in noting.core(is_current=False) if one.id == order.id]
    if not is_told:
        assert old.ended_because is Ended.CARRIED_OUT and kept.notes == []
        return
    [new] = kept.notes
    assert (new.headline, new.kind, new.subject, old.superseded_by) == (state, order.kind, "login", new.id)
    before = noting.everything()
    noting.answer("s2", turns, answer(orders=[row]))
    assert noting.everything() == before


@pytest.mark.parametrize("state", ["open", "done"])
def test_order_stays_where_it_is_open_or_nothing_shows_it(noting: Noting, state: str) -> None:
    order = ordered(noting, "decision", "korean")
    turns = noting.tell("s2", ("Core Kit 문서만 읽어봐", "읽었습니다. 아직 바꾸지 않았습니다."), ("응", "네."))
    quote = "아직 바꾸지 않았습니다" if state == "open" else "모두 지우고 배포까지 마쳤습니다"
    kept = noting.answer(
        "s2", turns, answer(orders=[{"id": order.citation, "state": state, "quote": quote, "turn": 1}])
    )
    assert kept is not None and kept.ended == []
    assert order.text in noting.texts()


def test_orders_change_and_close_tasks_beyond_the_twelfth(noting: Noting) -> None:
    titles = ["결제 화면 %d 번역하기" % number for number in range(TASKS_SHOWN)]
    old = "푸시 알림 권한 문구 영어로 번역하기"
    for place, title in enumerate([old, *titles]):
        turns = noting.tell("s%d" % place, (title + "는 나중에 하자, 남겨 둬.", "네."))
        row = {"title": title, "status": "pending", "quote": title, "turn": 1}
        noting.answer("s%d" % place, turns, answer(tasks=[row]))
    project_id = noting.projects.resolve(PROJECT)[0]
    tasks = sorted(noting.keeper.open_tasks(project_id), key=lambda row: row.text == old)
    turns = noting.tell("t", ("푸시 알림 권한 문구 번역 끝났어, 결제 화면 3은 일본어로 하자", "네."))
    prompt = first_part(turns, [], tasks).prompt
    assert tasks[-1].text == old and tasks[-1].citation in prompt
    changed = next(row for row in tasks if row.text == titles[3])
    orders = [
        {"id": tasks[-1].citation, "state": "done", "quote": "푸시 알림 권한 문구 번역 끝났어", "turn": 1},
        {
            "id": changed.citation,
            "state": "changed",
            "text": "결제 화면 3 일본어로",
            "quote": "결제 화면 3은 일본어로 하자",
            "turn": 1,
        },
    ]
    kept = noting.answer("t", turns, answer(orders=orders))
    assert kept is not None and kept.refused == []
    known = {citation_of(task.id): task for task in noting.tasks.known.all(project_id)}
    assert known[tasks[-1].citation].status is Status.DONE
    assert (known[changed.citation].title, known[changed.citation].is_open) == ("결제 화면 3 일본어로", True)


@pytest.mark.parametrize(
    ("said", "blocker", "passed", "now"),
    [
        (
            "iOS 등록은 나중에. 인증서는 행정실 서명 기다리는 중이야.",
            "인증서의 행정실 서명",
            "행정실 서명이 나왔어, 등록은 월요일에 하자",
            "iOS 등록은 월요일에",
        ),
        (
            "The iOS build is for later, we wait for the office's signature on the certificate.",
            "the certificate's signature",
            "the signature came, build iOS on Monday then",
            "Build iOS on Monday",
        ),
    ],
)
def test_a_changed_task_waits_no_more_for_what_it_waited_for(
    noting: Noting, said: str, blocker: str, passed: str, now: str
) -> None:
    project_id = noting.projects.resolve(PROJECT)[0]
    turns = noting.tell("s", (said, "네."))
    row = {"title": said[:40], "status": "blocked", "blocked_by": blocker, "quote": said[:60], "turn": 1}
    noting.answer("s", turns, answer(tasks=[row]))
    [task] = noting.tasks.known.all(project_id)
    assert [one.raw for one in task.blockers] == [blocker]
    turns = noting.tell("t", (passed, "네."))
    order = {"id": citation_of(task.id), "state": "changed", "text": now, "quote": passed, "turn": 1}
    noting.answer("t", turns, answer(orders=[order]))
    [task] = noting.tasks.known.all(project_id)
    assert (task.title, task.blockers, task.is_open) == (now, (), True)


def test_request_shows_headline_and_text_and_few_orders(noting: Noting) -> None:
    order = ordered(noting, "decision", "english")
    rows = [order]
    for number in range(ORDERS_SHOWN):
        said = "Decision %d: the PnP SDK login with Core Kit keeps host web-%d for the login page." % (number, number)
        turns = noting.tell("u%d" % number, (said, "네."))
        row = {"kind": "decision", "headline": "Host web-%d is kept" % number, "text": said, "quote": said, "turn": 1}
        kept = noting.answer("u%d" % number, turns, answer(notes=[row]))
        assert kept is not None
        rows += kept.notes
    turns = noting.tell("v", ("PnP SDK login with Core Kit, host web 페이지 이어서", "네."))
    prompt = first_part(turns, rows, []).prompt
    assert "Host web-3 is kept // Decision 3: the PnP SDK login" in prompt
    assert prompt.partition("Perhaps carried out:")[2].count("] (decision") == ORDERS_SHOWN
    assert all(prompt.count("[%s]" % row.citation) == 1 for row in rows)


def test_line_of_a_rule_that_states_nothing_goes(noting: Noting) -> None:
    noting.tell("s1", ("Always good, less surprises for users. 배포는 화요일 오전에 하기로 했어.", "네."))
    drawn = [row for row in noting.core() if row.rules]
    assert drawn and all(row.by is Author.PERSON for row in drawn)
    empty = drawn[0]
    turns = noting.tell("s2", ("문서를 더 다듬어 보자, 천천히.", "다듬었습니다."), ("응", "네."))
    kept = noting.answer("s2", turns, answer(no_rule=[empty.citation], drop=[row.citation for row in drawn[1:]]))
    assert kept is not None and [row.id for row in kept.ended] == [empty.id]
    assert [asked.memory_id for asked in kept.questions] == [row.id for row in drawn[1:]]
