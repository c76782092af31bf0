"""Any sequence of task events: legal states, and a rebuild that gives the same tables."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlayer.deletion.erase import Erasure
from memlayer.model import Event
from memlayer.notes.reading_log import ReadingLog
from memlayer.ports import DeletionPlan
from memlayer.tasks import events as task_events
from memlayer.tasks.events import CREATED, MENTIONED, REOPENED, Observation, TaskEvent
from memlayer.tasks.keys import EntityType
from memlayer.tasks.states import Blocker, By, Op, Status, Step, Task, fold
from tests.support.turns_in_memory import TurnsInMemory

TITLES = ("배포", "배포 문서 고치기", "Fix the login test 3", "Fix the login test 4", "Security review", "보안 검토")
BLOCKERS = ("PROJ-12", "acme/core#42", "https://example.com/1", "Security review", "보안 검토", "누군가의 답", "")
WISHES = (CREATED, MENTIONED, REOPENED, *(status.value for status in Status))

Rows = list[tuple[TaskEvent, int, str, str]]
observations = st.builds(
    Observation,
    wish=st.sampled_from(WISHES),
    title=st.sampled_from(TITLES),
    ref=st.sampled_from(("", "1", "2")),
    status=st.sampled_from(("", *(status.value for status in Status))),
    blockers=st.lists(st.sampled_from(BLOCKERS), max_size=2).map(tuple),
    is_aligned=st.booleans(),
)
observed = st.lists(observations, min_size=1, max_size=3).map(tuple)
contents = st.builds(TaskEvent, by=st.sampled_from(tuple(By)), observed=observed)
sessions, prompts = st.sampled_from(("s1", "s2", "memlayer")), st.sampled_from(("p1", "p2", ""))
placed_events = st.lists(st.tuples(contents, st.integers(0, 40), sessions, prompts), min_size=1, max_size=14)
blockers = st.builds(Blocker, st.sampled_from(tuple(EntityType)), st.sampled_from(("k", "t")), st.just("w"))
steps = st.builds(
    Step,
    task_id=st.just("t"),
    op=st.sampled_from(tuple(Op)),
    to=st.sampled_from(("", "배포", "high", *(status.value for status in Status))),
    by=st.sampled_from(tuple(By)),
    mode=st.sampled_from(("replace", "suggest")),
    blockers=st.lists(blockers, max_size=3).map(tuple),
)


def assert_legal(task: Task) -> None:
    assert (task.status is Status.BLOCKED) <= bool(task.blockers)
    assert task.is_open or not task.blockers
    assert all(blocker.key != task.id for blocker in task.blockers)
    assert task.title.strip()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(steps, max_size=16))
def test_any_sequence_of_steps_gives_a_legal_state_27_5(rows: list[Step]) -> None:
    for end in range(len(rows) + 1):
        task = fold(step.changed(event_id=str(at), at_ms=at) for at, step in enumerate(rows[:end]))
        if task is not None:
            assert_legal(task)


def taken(home: Path, rows: Rows) -> TurnsInMemory:
    memory = TurnsInMemory(home)
    project = memory.projects.resolve("/집/가게")[0]
    for number, (content, at, session, prompt) in enumerate(rows):
        text = task_events.to_json(content)
        memory.tasks.take([Event("e%02d" % number, "task", session, project, prompt, text, 1000 + at)])
    return memory


def told(memory: TurnsInMemory) -> tuple[object, ...]:
    """Everything that events make: edges, tasks, their memories."""
    return memory.graph.rows(), memory.tasks.known.all(), memory.store.memories()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(placed_events)
def test_taken_late_twice_or_rebuilt_the_tables_are_the_same_27_10(rows: Rows) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = taken(Path(folder), rows)
        for task in memory.tasks.known.all():
            assert_legal(task)
        before = told(memory)
        assert len(memory.store.events()) == len(rows)
        memory.tasks.take(memory.store.events())
        assert told(memory) == before
        memory.tasks.rebuild()
        assert told(memory) == before


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(placed_events, st.sets(st.integers(0, 13)))
def test_forgetting_events_leaves_what_the_others_make(rows: Rows, gone: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = taken(Path(folder), rows)
        erasure = Erasure(folder, memory.sessions, ReadingLog(folder), memory.tasks)
        ids = tuple("e%02d" % number for number in sorted(gone) if number < len(rows))
        plan = memory.tasks.with_events(DeletionPlan(event_ids=ids))
        erasure.erase(plan, [])
        after = told(memory)
        assert not memory.tasks.known.told(plan.event_ids)
        memory.tasks.rebuild()
        assert told(memory) == after
