"""Levels: every edge of the criteria, and their facts (25.1 to 25.6)."""

from pathlib import Path

import pytest

from memlayer.edge.capture.payload import RUN
from memlayer.growth.levels import CRITERIA, DAY_MS, Facts, Level, facts_of, grow, renew
from memlayer.kinds import Author
from memlayer.model import CITED, OPENED, SHOWN, Event, Memory, citation_of, replace, usage_of
from memlayer.ports import MemoryQuery, RetentionCutoffs
from memlayer.turns.evidence import Evidence, Method, to_json
from memlayer.turns.remembered import BY_MODEL
from tests.support.memory_store import MemoryStore
from tests.support.turns_in_memory import keep_over

NOW = 400 * DAY_MS
PLENTY = Facts((1.0,) * 20, sessions=9, last_ms=NOW, said=2, has_evidence=True)


def memory(name: str = "m1", text: str = "커밋 메시지는 한국어로 쓴다", **fields: object) -> Memory:
    made = Memory(name, "core_0001", citation_of(name), "core", "preference", text, 0.7, "p1", "s1", "", ("e1",), 1_000)
    return replace(made, **fields)  # type: ignore[arg-type]


def test_nothing_used_is_raw_and_says_why() -> None:
    assert grow(Facts(), NOW) == (Level.RAW, "L1: used 0 of 1 times")


@pytest.mark.parametrize("level", list(CRITERIA))
def test_each_criterion_holds_at_its_edge_and_refuses_below(level: Level) -> None:
    need = CRITERIA[level]
    edge = Facts((need.confidence,) * need.accesses, need.sessions, NOW - need.days * DAY_MS, 1, has_evidence=True)
    assert grow(edge, NOW).level == level
    assert grow(replace(edge, last_ms=edge.last_ms - DAY_MS), NOW).level == Level.RAW
    young = replace(edge, last_ms=NOW)
    below = {
        "used": replace(young, strengths=young.strengths[1:]),
        "confidence": replace(young, strengths=(need.confidence - 0.01,) * need.accesses),
    }
    if need.sessions:
        below["further sessions"] = replace(young, sessions=need.sessions - 1)
    for word, facts in below.items():
        assert grow(facts, NOW).level == level - 1 and word in grow(facts, NOW).reason, (level, word)


def test_used_is_no_proof_without_evidence() -> None:
    assert grow(PLENTY, NOW) == (Level.ACTIVE, "")
    reason = "L2: no words of a person and no output of a command prove it"
    assert grow(replace(PLENTY, has_evidence=False), NOW) == (Level.STRUCTURED, reason)


def quoted(speaker: str, prompt_id: str = "t0") -> str:
    return to_json([Evidence(prompt_id, 0, 9, "d", 1.0, Method.EXACT, speaker)])


# Author, evidence, detail of the prompt in its turn, details of `remember` events that say it -> is it evident?
PROOFS = {
    "a model's own word": (Author.MODEL, "", None, [BY_MODEL], False),
    "a model's word, said again by models": (Author.MODEL, "", None, [BY_MODEL] * 7, False),
    "a reader's, of the model's answer": (Author.READER, quoted("assistant"), "", [], False),
    "a rule's, of the model's answer": (Author.MODEL, quoted("assistant"), "", [], False),
    "of a prompt that nobody typed": (Author.READER, quoted("user"), RUN, [], False),
    "of a pasted prompt": (Author.UNCLEAR, quoted("user"), "", [], False),
    "damaged evidence": (Author.MODEL, "[{]", "", [], False),
    "a file's": (Author.FILE, "", None, [], False),
    "a colleague's": (Author.COLLEAGUE, "", None, [], False),
    "a person's, typed": (Author.PERSON, quoted("user"), "", [], True),
    "a reader's, of the person's words": (Author.READER, quoted("user"), "", [], True),
    "a model's, of the person's words": (Author.MODEL, quoted("user"), "", [BY_MODEL], True),
    "of a command's output": (Author.READER, quoted("tool"), "", [], True),
    "of a person's turn that age deleted": (Author.READER, quoted("user", "elsewhere"), "", [], True),
    "of a command's output in a run": (Author.READER, quoted("tool"), RUN, [], True),
    "remembered by a person": (Author.PERSON, "", None, [""], True),
    "a model's, remembered by a person, too": (Author.MODEL, "", None, [BY_MODEL, ""], True),
    "another's, kept by the person": (Author.ADOPTED, "", None, [BY_MODEL], True),
}


@pytest.mark.parametrize("name", PROOFS)
def test_evidence_is_a_persons_words_or_a_commands_output(name: str) -> None:
    by, evidence, prompt, remembered, is_evident = PROOFS[name]
    store = MemoryStore()
    said = enumerate(remembered)
    events = [Event("r%d" % at, "remember", "m%d" % at, "p1", "", "x", at, detail=how) for at, how in said]
    if prompt is not None:
        events.append(Event("e1", "user", "s1", "p1", "t0", "커밋 메시지는 한국어로", 1, detail=prompt))
    store.add_events(events)
    made = memory(by=by, evidence=evidence, source_ids=tuple(event.id for event in events))
    store.put_memories([made])
    cited = [usage_of(made, CITED, session_id="c%d" % at, prompt_id="p", at_ms=NOW - at) for at in range(30)]
    store.put_usages(cited)
    facts = facts_of(store, [made])[made.id]
    assert facts.has_evidence is is_evident
    assert grow(facts, NOW).level == (Level.ACTIVE if is_evident else Level.STRUCTURED)


def test_old_last_use_lowers_a_level() -> None:
    assert [grow(PLENTY, NOW + days * DAY_MS).level for days in (180, 181)] == [Level.ACTIVE, Level.RAW]


def told(store: MemoryStore, *sessions: str) -> Memory:
    """Put a statement that these sessions said, in this order."""
    store.add_events(
        [Event("e%d" % at, "user", session, "p1", "t%d" % at, "한국어로", at) for at, session in enumerate(sessions)]
    )
    made = memory(source_ids=tuple("e%d" % at for at in range(len(sessions))), by=Author.PERSON)
    store.put_memories([made])
    return made


def test_facts_count_one_access_a_session_the_strongest_of_its_kinds() -> None:
    store = MemoryStore()
    made = told(store, "s1", "s2", "s3", "s2")
    store.put_usages(
        [
            usage_of(made, how, session_id=session, prompt_id=prompt, at_ms=at)
            for how, session, prompt, at in (
                (SHOWN, "s4", "a", 10), (SHOWN, "s4", "b", 11), (CITED, "s4", "b", 12), (OPENED, "s1", "", 13),
            )
        ]
    )  # fmt: skip
    facts = facts_of(store, [made])[made.id]
    assert (facts.accesses, facts.sessions, facts.last_ms, facts.said) == (4, 3, 13, 3)
    assert facts.strengths == (1.0, 1.0, 1.0, 0.9)


def test_only_shown_notes_stay_low_and_pinned_are_certain() -> None:
    store = MemoryStore()
    made = told(store, "s1")
    store.put_usages([usage_of(made, SHOWN, session_id="t%d" % at, prompt_id="p", at_ms=NOW - at) for at in range(20)])
    assert grow(facts_of(store, [made])[made.id], NOW).level == Level.STRUCTURED
    assert grow(facts_of(store, [replace(made, pinned=True)])[made.id], NOW).level == Level.ACTIVE


@pytest.mark.parametrize(("cited", "level"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (8, 3), (9, 4), (30, 4)])
def test_level_is_reached_by_the_sessions_that_used_a_note_shown_at_thirty_starts(cited: int, level: int) -> None:
    store = MemoryStore()
    made = told(store, "s0")
    for at in range(30):
        for how in (SHOWN, CITED) if at < cited else (SHOWN,):
            store.put_usages([usage_of(made, how, session_id="t%d" % at, prompt_id="p", at_ms=NOW - at)])
    assert grow(facts_of(store, [made])[made.id], NOW).level == level


def test_renewal_writes_what_changed_and_is_idempotent(tmp_path: Path) -> None:
    store = MemoryStore()
    keep = keep_over(store, tmp_path)
    renewed = lambda now_ms: (renew(keep, now_ms), keep.take_change().project_ids)[1]  # noqa: E731
    made = told(store, "s1", "s2", "s3")
    store.put_usages([usage_of(made, CITED, session_id="u%d" % at, prompt_id="p", at_ms=NOW - at) for at in range(4)])
    assert renewed(NOW) == {"p1"} and renewed(NOW) == set()
    assert [row.level for row in store.memories(MemoryQuery(ids=[made.id]))] == [Level.VERIFIED]
    assert renewed(NOW + 91 * DAY_MS) == {"p1"}  # demoted
    assert [row.level for row in store.memories(MemoryQuery(ids=[made.id]))] == [Level.RAW]


def test_age_deletes_no_proven_memory() -> None:
    store = MemoryStore()
    store.put_memories([memory("old"), memory("proven", level=3), memory("used", level=2)])
    plan = store.plan_retention(RetentionCutoffs(0, 0, 0, 2_000))
    assert sorted(plan.memory_ids) == ["old", "used"]
