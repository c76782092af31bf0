"""An export of a used home is read whole, and exported again the same.

Hooks bring any text that JSON can hold, and the session records get every mark that recall leaves there.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memlayer.edge.capture.payload import read_payload
from memlayer.give.candidate import with_start
from memlayer.model import CITED, OPENED, SHOWN, usage_of
from memlayer.ports import MemoryQuery
from memlayer.records.sessions import Sessions
from memlayer.transfer.export import Exports
from tests.support.shared_homes import AT_MS, SharedHome
from tests.support.tables import tables
from tests.support.teams import colleagues

SAID = (
    "결제 모듈은 지수 백오프로 최대 3번 재시도하기로 했습니다.",
    "From now on never push to main. 앞으로 main 에 바로 push 하지 마",
    "할 일: 배포 문서 고치기",
    "Why does `pytest -k cart` fail? 🙂 \u2028 [mem:a7Bc3x]",
    "비밀번호는 hunter2hunter2, token sk-ant-api03-" + "Ab1" * 30,
    "password:\n" + "x" * 40,
)
texts = st.one_of(st.sampled_from(SAID), st.text(max_size=60))  # with unpaired surrogates and NUL
SIGNS = st.characters(exclude_categories=("Cs", "Cc", "Cf"))  # ids are the host's own
names = st.one_of(st.sampled_from(("s1", "세션-2", "agent:x", "../s")), st.text(SIGNS, min_size=1, max_size=20))
words = st.sampled_from(("startup", "compact", "fork", "other", "clear", "manual", ""))  # the host's own
calls = st.one_of(
    st.tuples(st.just("session_start"), st.fixed_dictionaries({"source": words, "model": words})),
    st.tuples(st.just("user_prompt_submit"), st.fixed_dictionaries({"prompt": texts})),
    st.tuples(st.just("stop"), st.fixed_dictionaries({"last_assistant_message": texts})),
    st.tuples(
        st.just("post_tool_use_failure"),
        st.fixed_dictionaries(
            {"tool_name": st.sampled_from(("Bash", "mcp__도구__x")), "error": texts}, optional={"tool_use_id": names}
        ),
    ),
    st.tuples(st.just("task_created"), st.fixed_dictionaries({"task_id": names, "task_subject": texts})),
    st.tuples(st.just("session_end"), st.fixed_dictionaries({"reason": words})),
    st.tuples(st.just("post_compact"), st.fixed_dictionaries({"trigger": words})),
)
used = st.lists(st.tuples(calls, names, names), min_size=1, max_size=8)


def exports_of(home: SharedHome, sessions: Sessions) -> Exports:
    return Exports(home.services.keep, home.projects, sessions)


def exported(home: SharedHome, sessions: Sessions, file: Path) -> list[dict[str, Any]]:
    """Return the lines of a home's export but the first."""
    exports_of(home, sessions).write(str(file), lambda done, total: None)
    lines = [json.loads(line) for line in file.read_text("utf-8", "surrogateescape").split("\n")[1:-1]]
    return sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))


def use(home: SharedHome, brought: list[Any]) -> Sessions:
    """Bring calls as hooks do; draw memories, mark the sessions, use the notes."""
    sessions = Sessions(str(home.home))
    project_id, _ = home.projects.resolve(str(home.project))
    events = []
    for number, ((hook, fields), session, prompt_id) in enumerate(brought):
        said = {"session_id": session, "prompt_id": prompt_id, "cwd": str(home.project), **fields}
        raw = json.dumps(said).encode()
        event = read_payload(hook, raw, project_dir=str(home.project), at_ms=AT_MS + number * 1000).event
        if event is not None:
            event = json.loads(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))  # by the spool
            sessions.heard(event, project_id)
            events.append(event)
    home.services.ingest.take(events)
    home.consolidate()
    memories = home.services.store.memories(MemoryQuery(limit=1000))
    for session in sessions.all():
        session.shown = with_start(session.shown, {row.citation: len(row.text) for row in memories})
        session.inherited = [row.id for row in memories]
    for how in (SHOWN, CITED, OPENED):
        uses = [usage_of(row, how, session_id="s1", prompt_id="", at_ms=AT_MS) for row in memories]
        home.services.store.put_usages(uses)
    return sessions


def assert_comes_back(first: SharedHome, sessions: Sessions, second: SharedHome, folder: Path) -> None:
    """Import a home's export into an empty home, whose own export is the same."""
    before = exported(first, sessions, folder / "first.jsonl")
    sessions = Sessions(str(second.home))
    back = exports_of(second, sessions).file(str(folder / "first.jsonl"))
    for part in back.parts():
        back.take(part)
    assert back.counts.reasons == []
    after = exported(second, sessions, folder / "second.jsonl")
    assert [line for line in after if line not in before] == [line for line in before if line not in after]


# Without shrinking, and few: each example opens two stores on disk.
@settings(
    max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@pytest.mark.timeout(300)
@given(used)
def test_an_export_comes_back_whole_and_the_same(brought: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, second = (SharedHome(folder / of, folder / "가게") for of in ("first", "second"))
        try:
            assert_comes_back(first, use(first, brought), second, folder)
        finally:
            first.close()
            second.close()


TEAM_NOTES = tables("property/export_property")["team_notes"]


@pytest.mark.parametrize("exporter", ["author", "reader"])
def test_notes_of_a_team_come_back_the_same(tmp_path: Path, exporter: str) -> None:
    with colleagues(tmp_path) as (minji, bob):
        for person in (minji, bob):
            person.teams.set_up(person.project_id, "folder")
        promoted = [minji.note(text, number) for number, text in enumerate(TEAM_NOTES)]
        for note in promoted:
            minji.teams.promote(note)
        minji.teams.sync(minji.project_id)
        minji.commit("notes")
        bob.update()
        bob.teams.sync(bob.project_id)
        bob.services.store.put_usages(
            [usage_of(row, SHOWN, session_id="s1", prompt_id="", at_ms=AT_MS) for row in bob.theirs()]
        )
        assert len(bob.theirs()) == len(TEAM_NOTES), [note.text for note in promoted]
        home = minji if exporter == "author" else bob
        session = {"session_id": "s1", "cwd": str(home.project), "source": "startup"}
        event = read_payload("session_start", json.dumps(session).encode(), project_dir=str(home.project), at_ms=AT_MS)
        sessions = Sessions(str(home.home))
        sessions.heard(event.event or {}, home.project_id).shown = [row.citation for row in bob.theirs()]
        second = SharedHome(tmp_path / "second", tmp_path / "가게")
        try:
            assert_comes_back(home, sessions, second, tmp_path)
        finally:
            second.close()
