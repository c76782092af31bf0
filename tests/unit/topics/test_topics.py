"""Topics, continuity and the sliding day.

Requirements 22.2 to 22.4, 22.8, 22.10 and 22.14.
"""

from collections import Counter
from pathlib import Path

import pytest

from memlayer.kinds import Category, Kind
from memlayer.model import Event, replace, turn_memory_id
from memlayer.ports import MemoryQuery
from memlayer.topics.grouping import (
    DAY_MS,
    HOUR_MS,
    IDLE_MS,
    MAX_EVENTS,
    is_due,
    line_of,
    renew,
    topic_memories,
    topics_of,
    within_a_day,
)
from memlayer.topics.profile import (
    MAX_LINES,
    ContinuityStep,
    Portions,
    Profile,
    Transition,
    profiles,
    read_log,
    score,
    steps,
    transition_of,
    write_log,
)
from memlayer.turns.turn_memory import turn_memory
from tests.support.memory_store import MemoryStore
from tests.support.turns_in_memory import keep_over

NOW = 1_790_000_000_000
# Matters of two projects in one store: each list is a matter, each entry a session of (prompt, answer).
MATTERS = [
    [
        ("결제 웹훅이 두 번 와. toss_webhook.py 봐줘", "toss_webhook.py의 재시도로 결제 웹훅이 두 번 옵니다."),
        ("결제 웹훅 서명 검증을 toss_webhook.py에 넣어줘", "toss_webhook.py에 웹훅 서명 검증을 넣었습니다."),
        ("웹훅 재시도 테스트도 추가해줘 toss_webhook.py", "toss_webhook.py 재시도 테스트로 웹훅이 한 번만 와요."),
    ],
    [
        ("The release fails at notarize in .goreleaser.yaml", "Notarize timed out, so .goreleaser.yaml waits 45m."),
        ("goreleaser refuses retry in .goreleaser.yaml", "Removed retry from .goreleaser.yaml; the workflow retries."),
        ("Cut the release notes for goreleaser", "CHANGELOG.md has the release; .goreleaser.yaml is unchanged."),
    ],
    [
        ("검색 색인 search_index.rs 가 느려", "search_index.rs의 색인을 나눠서 검색이 빨라졌습니다."),
        ("검색 색인 크기를 줄여줘 search_index.rs", "search_index.rs 색인 크기를 반으로 줄였습니다."),
    ],
]  # fmt: skip


def filled(days_apart: float = 1.0) -> MemoryStore:
    """Make a store whose sessions take turns between the matters."""
    store, number = MemoryStore(), 0
    for place in range(3):
        for matter in MATTERS:
            if place < len(matter):
                prompt, answer = matter[place]
                at_ms = NOW - int((9 - number) * days_apart * DAY_MS)
                events = [
                    Event("u%d" % number, "user", "s%d" % number, "p1", "t", prompt, at_ms),
                    Event("a%d" % number, "assistant", "s%d" % number, "p1", "t", answer, at_ms + 5),
                ]
                store.add_events(events)
                made = turn_memory(events)
                assert made is not None and made.id == turn_memory_id("s%d" % number, "t")
                store.put_memories([made])
                number += 1
    return store


def profile(name: str, *, at_ms: int = NOW, files: str = "", names: str = "", terms: str = "") -> Profile:
    held = frozenset(files.split()), frozenset(names.split()), Counter(terms.split())
    return Profile(name, at_ms, at_ms, 1, *held, "text", "c", ())


def test_sessions_of_one_matter_are_one_topic() -> None:
    topics = topics_of(profiles(filled(), "p1", 0))
    grouped = {tuple(row.session_id for row in topic.profiles) for topic in topics}
    assert grouped == {("s0", "s3", "s6"), ("s1", "s4", "s7"), ("s2", "s5")}
    lines = [line_of(topic) for topic in topics]
    assert any(line.startswith("toss_webhook.py (3 sessions") and "한 번만" in line for line in lines)
    assert any("goreleaser" in line and "CHANGELOG.md" in line for line in lines)


def test_only_sessions_since_a_time_count() -> None:
    assert [row.session_id for row in profiles(filled(), "p1", NOW - 3 * DAY_MS)] == ["s6", "s7"]
    assert profiles(filled(), "another", 0) == []
    assert topics_of([]) == []


def test_keeper_is_idempotent_and_rests_on_turns(tmp_path: Path) -> None:
    store = filled()
    keep = keep_over(store, tmp_path)
    renewed = lambda now_ms: (renew(keep, "p1", now_ms), keep.take_change().project_ids)[1]  # noqa: E731
    assert renewed(NOW) == {"p1"} and renewed(NOW) == set()
    known = topic_memories(store, "p1")
    assert len(known) == 2 and all(row.kind == "topic" and row.category == "daily" for row in known)
    assert {row.source_ids for row in known} == {
        ("u0", "a0", "u3", "a3", "u6", "a6"), ("u1", "a1", "u4", "a4", "u7", "a7"),
    }  # fmt: skip
    # Two months later nothing of it is left, and nothing else has changed.
    before = {row.id: row for row in store.memories(MemoryQuery(category=known[0].category.CONVERSATION))}
    assert renewed(NOW + 60 * DAY_MS) == {"p1"} and topic_memories(store, "p1") == []
    assert {row.id: row for row in store.memories(MemoryQuery(category=known[0].category.CONVERSATION))} == before


def test_topic_ends_with_the_summary_that_a_model_wrote_and_needs_none_22_5() -> None:
    store = filled()
    [without] = [line_of(row) for row in topics_of(profiles(store, "p1", 0)) if "toss_webhook.py" in row.names]
    last = store.memories(MemoryQuery(session_id="s6"))[0]
    summary = replace(
        last, id="summary", category=Category.DAILY, kind=Kind.SESSION_SUMMARY, text="웹훅은 이제 한 번만 처리한다."
    )
    store.put_memories([summary])
    [with_it] = [line_of(row) for row in topics_of(profiles(store, "p1", 0)) if "toss_webhook.py" in row.names]
    assert summary.text in with_it and summary.text not in without
    assert with_it.partition(": ")[0] == without.partition(": ")[0]


def test_score_of_worked_examples() -> None:
    first = profile("a", files="x.py y.py", names="Cart", terms="cart 결제")
    same = profile("b", at_ms=NOW + HOUR_MS, files="x.py y.py", names="Cart", terms="cart 결제")
    other = profile("c", at_ms=NOW + 72 * HOUR_MS, files="z.go", names="Search", terms="검색 index")
    half = profile("d", at_ms=NOW + 24 * HOUR_MS, files="x.py", names="Cart", terms="cart 검색")
    assert score(None, first) == 0.5
    assert score(first, same) == pytest.approx(0.3 + 0.3 * 47 / 48 + 0.2 + 0.2)
    assert score(first, other) == 0.0
    assert score(first, half) == pytest.approx(0.3 / 3 + 0.3 / 2 + 0.2 / 2 + 0.2)
    assert [transition_of(value) for value in (0.7, 0.69, 0.4, 0.39)] == [
        Transition.SEAMLESS, Transition.TOPIC_SHIFT, Transition.TOPIC_SHIFT, Transition.BREAK,
    ]  # fmt: skip
    assert [step.transition for step in steps("p1", [first, same])] == [Transition.BREAK, Transition.SEAMLESS]


@pytest.mark.parametrize(
    ("portions", "expected"),
    [
        (Portions(1, 0, 0, 0), 1 / 3),
        (Portions(0, 1, 0, 0), 1 / 2),
        (Portions(0, 0, 1, 0), 1 / 2),
        (Portions(0, 0, 0, 1), 1.0),
        (Portions(1, 1, 1, 1), (1 / 3 + 1 / 2 + 1 / 2 + 1) / 4),
        (Portions(0.3, 0.3, 0, 0), (1 / 3 + 1 / 2) / 2),
    ],
)
def test_weights_of_the_score_as_a_person_sets_them_22_8(portions: Portions, expected: float) -> None:
    first = profile("a", files="x.py y.py", names="Cart", terms="cart 결제")
    half = profile("d", at_ms=NOW + 24 * HOUR_MS, files="x.py", names="Cart", terms="cart 검색")
    assert score(first, half, portions) == pytest.approx(expected)
    assert [step.score for step in steps("p1", [first, half], portions)] == [0.5, pytest.approx(expected, abs=0.001)]


def test_log_holds_no_text_and_each_session_once(tmp_path: Path) -> None:
    home = str(tmp_path)
    rows = [profile("a", terms="비밀"), profile("b", at_ms=NOW + 1, terms="비밀")]
    write_log(home, steps("p1", rows))
    write_log(home, steps("p1", rows))
    assert [step.to_session for step in read_log(home)] == ["a", "b"]
    file = tmp_path / "logs" / "continuity.jsonl"
    assert "비밀" not in file.read_text("utf-8") and file.stat().st_mode & 0o777 == 0o600
    file.write_text(file.read_text("utf-8") + "{torn", "utf-8")
    assert len(read_log(home)) == 2
    write_log(home, [ContinuityStep("p1", "", "n%d" % at, at, 0.5, Transition.BREAK) for at in range(700)])
    assert len(read_log(home)) == MAX_LINES


def test_three_triggers_and_silence() -> None:
    def due(last: int, said: int, turns: int = 0, now: int = NOW) -> bool:
        return is_due(last, said, lambda: turns, now)

    assert due(0, NOW - 1)
    assert not due(NOW - 1, NOW - 2)  # nothing new
    assert not due(NOW - HOUR_MS + 1, NOW - 1)
    assert due(NOW - HOUR_MS, NOW - 1)
    assert due(NOW - IDLE_MS - 2, NOW - IDLE_MS)
    assert not due(NOW - IDLE_MS - 2, NOW - IDLE_MS + 1)
    assert due(NOW - 10, NOW - 1, turns=MAX_EVENTS) and not due(NOW - 10, NOW - 1, turns=MAX_EVENTS - 1)


def test_day_slides_and_is_bounded() -> None:
    store = filled(days_apart=0.25)
    turns = store.memories(MemoryQuery(project_id="p1"))
    assert len(within_a_day(turns, NOW)) == 2 and within_a_day(turns, NOW + DAY_MS) == []
    assert len(within_a_day(turns * 100, NOW - DAY_MS)) == MAX_EVENTS


def noted(store: MemoryStore, session: str, text: str, subject: str, *sources: str) -> None:
    """Put a model's note of a session, said in the sessions of these events too."""
    turn = next(row for row in store.memories(MemoryQuery(session_id=session)) if row.category == "conversation")
    made = replace(turn, id="note " + text, category=Category.CORE, kind=Kind.FACT, text=text + " — at length.")
    store.put_memories(
        [replace(made, headline=text, subject=subject, source_ids=(*turn.source_ids, *sources), at_ms=turn.at_ms + 9)]
    )


def test_topic_is_named_and_told_by_its_notes_not_by_its_newest_session() -> None:
    store = filled()
    noted(store, "s0", "웹훅 중복은 event_id로 막는다", "결제 웹훅", "u3", "u6")
    noted(store, "s3", "Signatures are checked with HMAC", "결제 웹훅")
    [topic] = [row for row in topics_of(profiles(store, "p1", 0)) if "toss_webhook.py" in row.names]
    assert topic.names[0] == "결제 웹훅" and {row.session_id for row in topic.profiles} == {"s0", "s3", "s6"}
    head, _, matter = line_of(topic).partition("): ")
    assert head.startswith("결제 웹훅, ")
    assert matter == "웹훅 중복은 event_id로 막는다 (in 3 sessions); Signatures are checked with HMAC"


def test_notes_of_one_subject_group_sessions_that_share_no_word() -> None:
    store = filled()
    assert not any(
        {"s0", "s1"} <= {row.session_id for row in topic.profiles} for topic in topics_of(profiles(store, "p1", 0))
    )
    for session in ("s0", "s1"):
        noted(store, session, "note of " + session, "7월 출시")
    topics = topics_of(profiles(store, "p1", 0))
    assert [topic.names[0] for topic in topics if {"s0", "s1"} <= {row.session_id for row in topic.profiles}] == [
        "7월 출시"
    ]


def test_pattern_of_a_topic_is_the_sentence_that_several_of_its_sessions_said() -> None:
    store = filled()
    for number in (0, 3):
        events = [
            replace(event, text=event.text + " 결제 모듈은 수요일 오후에만 배포한다.")
            for event in store.events(ids=["a%d" % number])
        ]
        turn = turn_memory([*store.events(ids=["u%d" % number]), *events])
        assert turn is not None
        store.put_memories([turn])
    [topic] = [row for row in topics_of(profiles(store, "p1", 0)) if "toss_webhook.py" in row.names]
    assert line_of(topic).endswith("결제 모듈은 수요일 오후에만 배포한다. (in 2 sessions)")
