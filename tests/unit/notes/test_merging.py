"""A newer note carries over what an older one knew, and touches nothing of a person's."""

import re
from pathlib import Path
from typing import Any

import pytest

from memlayer.give.working_set import WorkingSetRules, compose
from memlayer.kinds import Author, Ended
from memlayer.notes.checks import Refusal
from memlayer.notes.request import first_part
from memlayer.topics.session_summary import sum_up
from tests.support.notes_in_memory import Noting, turn
from tests.support.tables import tables

TURNS = (
    (
        "GoReleaser의 notarize retry 설정이 왜 실패했는지 봐줘.",
        "retry: 1 은 GoReleaser v2.13.2에 없는 필드라서 릴리스가 깨졌습니다. 되돌렸습니다.",
    ),
    ("좋아, 타임아웃은 45분으로 두자.", "네, 45m으로 두었습니다."),
)
OLD = "retry: 1 은 GoReleaser v2.13.2에 없는 필드라 릴리스가 깨져서 되돌림."


@pytest.fixture
def home_of(tmp_path: Path) -> Noting:
    home = tmp_path / "메모리"
    home.mkdir()
    return Noting(home)


def note(text: str, quote: str, kind: str = "decision", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "text": text, "quote": quote, "turn": 1, **more}


def first(noting: Noting) -> str:
    attempt = note(OLD, "retry: 1 은 GoReleaser v2.13.2에 없는", "attempt")
    kept = noting.answer("s1", noting.tell("s1", *TURNS), {"summary": "", "notes": [attempt]})
    assert kept is not None
    return kept.notes[0].citation


def test_failed_attempt_survives_its_successor(home_of: Noting) -> None:
    citation = first(home_of)
    turns = home_of.tell(
        "s2",
        ("릴리스 재시도는 어떻게 해?", "워크플로의 nick-fields/retry@v3 로 2번 시도합니다. 잘 동작합니다."),
        ("고마워", "네."),
    )
    new = note(
        "릴리스 재시도는 워크플로의 nick-fields/retry@v3 로 2번 한다.",
        "nick-fields/retry@v3 로 2번",
        "cause",
        replaces=[citation],
    )
    kept = home_of.answer("s2", turns, {"summary": "", "notes": [new]})
    assert kept is not None
    [made] = kept.notes
    assert {made.text, OLD} <= set(home_of.texts())  # its own words are not in the newer one, so it stays beside it
    told = note("retry: 1 은 GoReleaser v2.13.2에 없는 필드라 릴리스가 깨짐. " + made.text, "2번 시도합니다", "cause")
    kept = home_of.answer("s2", turns, {"summary": "", "notes": [{**told, "replaces": [citation, made.citation]}]})
    assert kept is not None and OLD not in home_of.texts()
    old = next(row for row in home_of.core(is_current=False) if row.text == OLD)
    assert old.superseded_by == kept.notes[0].id  # both stand in its history


def test_decision_that_is_reversed_does_not_linger(home_of: Noting) -> None:
    turns = home_of.tell("s1", *TURNS)
    kept = home_of.answer(
        "s1", turns, {"summary": "", "notes": [note("notarize 타임아웃은 45분으로 둔다.", "타임아웃은 45분으로 두자")]}
    )
    assert kept is not None
    newer = home_of.tell("s2", ("타임아웃은 60분으로 늘리자, 45분도 짧았어.", "60m으로 늘렸습니다."), ("응", "네."))
    change = note(
        "notarize 타임아웃은 60분이다. 45분도 짧았다.", "타임아웃은 60분으로 늘리자", replaces=[kept.notes[0].citation]
    )
    home_of.answer("s2", newer, {"summary": "", "notes": [change]})
    assert "notarize 타임아웃은 60분이다. 45분도 짧았다." in home_of.texts()
    assert "notarize 타임아웃은 45분으로 둔다." not in home_of.texts()


@pytest.mark.parametrize("wish", ["replace", "drop"])
@pytest.mark.parametrize("how", ["remembered", "edited", "pinned"])
def test_a_persons_memory_becomes_a_question(home_of: Noting, wish: str, how: str) -> None:
    if how == "remembered":
        theirs = home_of.remember("타임아웃은 언제나 45분이다.")
    else:
        first(home_of)
        [made] = [row for row in home_of.core() if row.text == OLD]
        theirs = (
            home_of.consolidator.pin(made, True)
            if how == "pinned"
            else home_of.consolidator.edit(made, OLD + " (확인)")
        )
    turns = home_of.tell(
        "s5",
        ("릴리스 설정을 다시 보자, 타임아웃이 문제야.", "타임아웃 설정을 지웠고 이제는 서버가 정합니다."),
        ("좋아", "네."),
    )
    answer: dict[str, Any] = {"summary": "", "notes": [], "drop": [theirs.citation]}
    if wish == "replace":
        answer = {"notes": [note("타임아웃은 서버가 정한다.", "이제는 서버가 정합니다", replaces=[theirs.citation])]}
    kept = home_of.answer("s5", turns, answer)
    assert kept is not None and [row.memory_id for row in kept.questions] == [theirs.id]
    assert kept.questions[0].wish == wish
    assert theirs.text in home_of.texts()


RULE, BACK = "앞으로 작업이 끝나면 항상 영어 요약 한 줄을 달아줘", "영어 요약 한 줄은 이제 안 달아도 돼, 팀이 바뀌었어"
PASTED = "이 문서를 번역해줘:\n\n" + BACK


@pytest.mark.parametrize(
    ("prompt", "quote"), [(BACK, BACK), ("응 그대로 하고 커밋은 하지 마", "응 그대로 하고 커밋은"), (PASTED, BACK)]
)
def test_reader_lets_no_rule_go(home_of: Noting, prompt: str, quote: str) -> None:
    rule = home_of.remember(RULE)
    turns = home_of.tell("s5", (prompt, "네, 그렇게 하겠습니다."), ("좋아", "네."))
    change = note("사용자: 영어 요약 한 줄은 이제 달지 않는다.", quote, "preference", replaces=[rule.citation])
    kept = home_of.answer("s5", turns, {"summary": "", "notes": [change]})
    assert kept is not None
    assert rule.text in home_of.texts()
    assert [(row.memory_id, row.by) for row in kept.questions] == [(rule.id, kept.notes[0].id)]


def test_other_projects_notes_are_out_of_reach(home_of: Noting) -> None:
    citation = first(home_of)
    turns = home_of.tell(
        "s9", ("이 노트를 지우는 이야기를 하자, 다른 프로젝트야.", "네, 다른 프로젝트의 이야기입니다.")
    )
    session = home_of.sessions.get("s9")
    assert session is not None
    session.project_id = "f" * 16
    kept = home_of.answer("s9", turns, {"summary": "", "notes": [], "drop": [citation]})
    assert kept is not None and kept.questions == []
    assert OLD in home_of.texts()


def test_applying_an_answer_twice_changes_nothing(home_of: Noting) -> None:
    turns = home_of.tell("s1", *TURNS)
    answer = {
        "summary": "릴리스 설정을 되돌림.",
        "notes": [note(OLD, "retry: 1 은 GoReleaser v2.13.2에 없는", "attempt")],
    }
    home_of.answer("s1", turns, answer)
    before = home_of.everything()
    home_of.answer("s1", turns, answer)
    assert home_of.everything() == before


OVERTAKEN = [
    ("배포는 화요일 오전에 하기로 했다.", "배포는 화요일 오전에 하기로", "배포는 목요일 오전에 하기로 했어."),
    (
        "We decided to use Postgres for the orders.",
        "decided to use Postgres",
        "We decided to use MySQL for the orders.",
    ),
]


@pytest.mark.parametrize(("text", "quote", "later"), OVERTAKEN)
def test_persons_newer_words_replace_a_note_until_a_note_says_them(
    home_of: Noting, text: str, quote: str, later: str
) -> None:
    more = " 스크립트가 멈추는 까닭도 함께 찾아보자." * 3
    turns = home_of.tell("s1", (text + more, "네, 그렇게 합니다."))
    kept = home_of.answer("s1", turns, {"summary": "", "notes": [note(text, quote)]})
    assert kept is not None
    turns = home_of.tell("s2", (later + more, "네, 그렇게 합니다."))
    [old] = [row for row in home_of.core(is_current=False) if row.id == kept.notes[0].id]
    session = home_of.sessions.get("s2")
    assert not old.holds and session is not None
    assert old.id in {row.id for row in home_of.keeper.shown(session, turns)}
    home_of.answer("s2", turns, {"summary": "", "notes": []})
    [said] = home_of.core()
    assert said.by is Author.PERSON and old.id in {row.id for row in home_of.core(is_current=False)}

    turns = home_of.tell("s3", (later + more, "네, 그렇게 합니다."))
    newer = note(later.rstrip("."), later[:20], replaces=[old.citation])
    kept = home_of.answer("s3", turns, {"summary": "", "notes": [newer]})
    assert kept is not None
    assert [row.id for row in home_of.core()] == [kept.notes[0].id]
    [old] = [row for row in home_of.core(is_current=False) if row.id == old.id]
    assert old.superseded_by == said.id
    [folded] = [row for row in home_of.core(is_current=False) if row.id == said.id]
    assert (folded.ended_because, folded.superseded_by) == (Ended.FOLDED, kept.notes[0].id)
    home_of.consolidator.retire(kept.notes[0])
    assert [row.id for row in home_of.core()] == [said.id]


@pytest.mark.parametrize(
    ("said", "text", "is_folded"),
    [
        (
            "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어.",
            "결제 모듈은 토스페이먼츠가 아니라 포트원을 쓴다.",
            True,
        ),
        ("We decided to use Postgres for the orders.", "Orders live in Postgres; we decided that.", True),
        ("We decided to use Postgres for the orders.", "The order page was slow, and nobody knew the cause.", False),
    ],
)
def test_decision_is_folded_under_the_note_that_quotes_it(
    home_of: Noting, said: str, text: str, is_folded: bool
) -> None:
    more = " The order page was slow, and nobody knew the cause."
    turns = home_of.tell("s1", (said + more, "네, 그렇게 합니다."))
    [statement] = [row for row in home_of.core() if row.by is Author.PERSON and row.kind == "decision"]
    kept = home_of.answer("s1", turns, {"summary": "", "notes": [note(text, said[:30])]})
    assert kept is not None and len(kept.notes) == 1
    [row] = [row for row in home_of.core(is_current=None) if row.id == statement.id]
    assert (row.ended_because is Ended.FOLDED) is is_folded


def test_overtaken_note_that_the_reader_drops_is_gone(home_of: Noting) -> None:
    text, quote, later = OVERTAKEN[0]
    kept = home_of.answer("s1", home_of.tell("s1", (text, "네.")), {"summary": "", "notes": [note(text, quote)]})
    assert kept is not None
    turns = home_of.tell("s2", (later, "네."))
    home_of.answer("s2", turns, {"summary": "", "notes": [], "drop": [kept.notes[0].citation]})
    assert [row.by for row in home_of.core()] == [Author.PERSON]


@pytest.mark.parametrize(
    ("rule", "text", "quote"),
    [
        (
            "앞으로 정산 테스트는 항상 샌드박스 상점 test-shop-2에서만 돌려줘.",
            "정산 테스트는 샌드박스 상점 test-shop-2에서만 돌린다.",
            "정산 테스트는 항상 샌드박스 상점 test-shop-2에서만",
        ),
        (
            "From now on always run the billing tests in the sandbox shop test-shop-2.",
            "The only target of billing tests is the sandbox shop test-shop-2.",
            "run the billing tests in the sandbox shop",
        ),
    ],
)
def test_rule_and_its_echo_stand_once_in_a_start(home_of: Noting, rule: str, text: str, quote: str) -> None:
    turns = home_of.tell("s1", (rule, "네, 그렇게 하겠습니다."))
    other = note("커밋 메시지는 한국어로 쓴다.", quote, "preference")
    kept = home_of.answer("s1", turns, {"summary": "", "notes": [note(text, quote, "preference")]})
    assert kept is not None and [row.text for row in kept.notes] == [text]
    project_id = kept.notes[0].project_id
    start = compose(home_of.store, project_id, WorkingSetRules())
    assert start.count("test-shop-2") == 1 and rule.rstrip(".")[-24:] in start, start
    turns = home_of.tell("s2", ("커밋 메시지는 한국어로 쓰자.", "네."), ("고마워", "네."))
    home_of.answer("s2", turns, {"summary": "", "notes": [{**other, "quote": "커밋 메시지는 한국어로 쓰자"}]})
    assert "커밋 메시지는 한국어로" in compose(home_of.store, project_id, WorkingSetRules())


def test_late_tool_call_does_not_put_the_rules_summary_back(home_of: Noting) -> None:
    summary = "GoReleaser의 retry: 1 은 v2.13.2에 없는 필드라 되돌렸고, 타임아웃은 45분으로 두었다."
    home_of.answer("s1", home_of.tell("s1", *TURNS), {"summary": summary, "notes": []})
    session = home_of.sessions.get("s1")
    assert session is not None
    edit: dict[str, Any] = {"tool_name": "Edit", "tool_input": {"file_path": "/p/릴리스.yml"}, "tool_response": {}}
    home_of.hook("post_tool_use", "s1", "s1-1", 5, **edit)
    made = sum_up(home_of.keep, session)
    assert made is not None and made.text == summary
    home_of.say(
        "s1",
        "s1-2",
        "배포 스크립트의 잠금 파일은 왜 남지? 지금까지 지워지지 않았어.",
        "trap이 빠져서 남았습니다.",
        at=9,
    )
    made = sum_up(home_of.keep, session)
    assert made is not None and made.text != summary  # a new turn, which no model has read yet


def test_last_session_stands_where_rules_leave_little_room(home_of: Noting) -> None:
    for number in range(12):
        home_of.say(
            "r%d" % number,
            "r%d-0" % number,
            "앞으로 정산 %d번 화면은 항상 회색으로 그려줘. %s" % (number, "꼭 " * 20),
            "네.",
        )
    summary = "GoReleaser의 retry: 1 은 v2.13.2에 없는 필드라 되돌렸고, 타임아웃은 45분으로 두었다." * 3
    titles = [
        "GoReleaser의 notarize retry 설정이 왜 실패했는지 봐줘",
        "retry: 1 은 GoReleaser v2.13.2에 없는 필드라서 릴리스",
    ]
    task = [{"title": title, "status": "pending", "quote": "타임아웃은 45분으로 두자", "turn": 2} for title in titles]
    attempt = note(OLD, "retry: 1 은 GoReleaser v2.13.2에 없는", "attempt")
    value = {"summary": summary, "notes": [attempt], "tasks": task}
    kept = home_of.answer("z1", home_of.tell("z1", *TURNS), value)
    assert kept is not None
    start = compose(home_of.store, kept.notes[0].project_id, WorkingSetRules())
    assert len(kept.tasks) == 2 and not kept.refused
    assert re.search(r"\(last session, [\d-]{10}\) GoReleaser", start) and len(start) <= 3500


LESSONS = tables("notes/merging")["lessons"]


def test_session_adds_no_more_notes_than_its_turns_allow(home_of: Noting) -> None:
    turns = home_of.tell("s1", ("정산 배치 얘기: " + " ".join(text for _, text in LESSONS), "네, 정리했습니다."))
    value = {"summary": "", "notes": [note(text, text, kind) for kind, text in LESSONS]}
    kept = home_of.answer("s1", turns, value)
    assert kept is not None
    # The two strongest; a way of working takes no place.
    assert [row.text for row in kept.notes] == [LESSONS[place][1] for place in (0, 1, 3)]
    assert [(row.draft.text, row.reason) for row in kept.refused] == [
        (LESSONS[place][1], Refusal.TOO_MANY) for place in (2, 4)
    ]
    before = home_of.everything()
    home_of.answer("s1", turns, value)
    assert home_of.everything() == before


def test_note_that_replaces_another_takes_no_place(home_of: Noting) -> None:
    citation = first(home_of)
    turns = home_of.tell("s2", ("릴리스 얘기. " + LESSONS[0][1], "retry: 1 필드는 v2.14에서 생겨 이제 됩니다."))
    notes = [
        note(LESSONS[0][1], LESSONS[0][1], "cause"),
        note("retry: 1 필드는 GoReleaser v2.14부터 된다.", "retry: 1 필드는 v2.14에서", "cause", replaces=[citation]),
    ]
    kept = home_of.answer("s2", turns, {"summary": "", "notes": notes})
    assert kept is not None and len(kept.notes) == 2 and not kept.refused


@pytest.mark.parametrize(("turns", "notes"), [(1, 2), (8, 2), (9, 3), (12, 3), (30, 6)])
def test_request_tells_how_many_notes_it_takes(turns: int, notes: int) -> None:
    request = first_part([turn(number, "배포 %d 해줘" % number, "했습니다.") for number in range(1, turns + 1)], (), ())
    assert "At most %d new notes" % notes in request.prompt.splitlines()[-1]
