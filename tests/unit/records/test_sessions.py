"""The record of a session: changes by events, order, and disk."""

import json
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import read_payload, spool_event
from memlayer.edge.home import paths
from memlayer.records.sessions import Session, Sessions
from tests.support.tables import tables


class Told:
    """Tells a Sessions of events, each in one line."""

    def __init__(self, home: Path) -> None:
        self.home, self.sessions = home, Sessions(str(home))

    def __call__(
        self,
        kind: str,
        at_ms: int,
        detail: str = "",
        session: str = "s1",
        project: str = "p1",
        *,
        is_live: bool = False,
    ) -> Session:
        event = spool_event(
            kind=kind, session_id=session, prompt_id="", text="말", at_ms=at_ms, detail=detail, extra=str(at_ms),
            project_dir="/home/dev/상점", transcript_path="/t/%s.jsonl" % session,
        )  # fmt: skip
        return self.sessions.heard(event, project, is_live=is_live)


@pytest.fixture
def told(home: Path) -> Told:
    return Told(home)


def test_the_first_event_makes_the_record(told: Told) -> None:
    assert told.sessions.get("s1") is None
    session = told("session_start", 100, "startup")
    assert told.sessions.get("s1") is session
    assert (session.project_id, session.project_dir, session.transcript_path) == ("p1", "/home/dev/상점", "/t/s1.jsonl")
    assert (session.since_ms, session.context_since_ms, session.last_ms) == (100, 100, 100)


def test_an_event_without_a_place_takes_nothing_away(told: Told) -> None:
    told("user", 100)
    event = spool_event(kind="assistant", session_id="s1", prompt_id="q", text="네", at_ms=200)
    session = told.sessions.heard(event, "")
    assert (session.project_id, session.project_dir, session.transcript_path) == ("p1", "/home/dev/상점", "/t/s1.jsonl")


def test_an_older_event_that_comes_late_moves_only_the_beginning(told: Told) -> None:
    told("user", 500)
    session = told("session_start", 100, "startup")
    assert (session.since_ms, session.context_since_ms, session.last_ms) == (100, 100, 500)


def test_a_compaction_empties_the_context(told: Told) -> None:
    session = told("user", 100)
    session.shown, session.inherited, session.explained_ms = ["m1"], ["m2"], 200
    told("session_start", 300, "compact")
    assert (session.since_ms, session.context_since_ms, session.compaction_count) == (100, 300, 1)
    assert (session.shown, session.inherited, session.explained_ms) == ([], [], 0)


def test_a_compaction_that_is_told_twice_counts_once(told: Told) -> None:
    session = told("user", 100)
    told("session_start", 300, "compact")
    session.shown = ["shown after it"]
    told("session_start", 300, "compact")  # as its spool file is taken in
    assert (session.compaction_count, session.shown) == (1, ["shown after it"])


def test_a_compaction_that_comes_late_does_not_bring_older_ones_context_back(told: Told) -> None:
    session = told("user", 100)
    told("session_start", 500, "compact")
    session.shown = ["m1"]
    told("session_start", 300, "compact")
    assert (session.context_since_ms, session.compaction_count, session.shown) == (500, 1, ["m1"])


def test_an_older_event_after_a_compaction_leaves_the_context_alone(told: Told) -> None:
    told("user", 200)
    told("session_start", 500, "compact")
    session = told("user", 100)
    assert (session.since_ms, session.context_since_ms) == (100, 500)


START, POST, PRE = ("session_start", "compact"), ("post_compact", "auto"), ("pre_compact", "auto")


@pytest.mark.parametrize(
    ("told_of", "count"),
    [
        ([(PRE, 300), (START, 310), (POST, 320)], 1),
        ([(PRE, 300), (POST, 310), (START, 320)], 1),
        ([(POST, 320), (START, 310), (PRE, 300)], 1),  # from the spool, out of order
        ([(START, 310), (POST, 320), (START, 310), (POST, 320)], 1),  # by its hook, then from the spool
        ([(PRE, 300)], 0),
        ([(PRE, 300), (PRE, 400), (PRE, 500)], 0),  # the host bails out: there is too little to compact
        ([(START, 310), (POST, 320), (START, 910), (POST, 920)], 2),
        ([(START, 310), (START, 910)], 2),  # its PostCompact is lost
        ([(POST, 310), (POST, 910)], 2),
        ([(START, 310), (PRE, 900), (POST, 920)], 2),  # one hook lost of each
        ([(START, 310), (POST, 310 + 60_000)], 2),
        ([(PRE, 300), (START, 310), (POST, 320), (PRE, 400)], 1),
    ],
)
def test_a_compaction_counts_once_for_both_of_its_hooks(
    told: Told, told_of: list[tuple[tuple[str, str], int]], count: int
) -> None:
    told("user", 100)
    for (kind, detail), at_ms in told_of:
        session = told(kind, at_ms, detail)
    assert session.compaction_count == count


def test_compaction_resets_flush_and_measurement(told: Told) -> None:
    session = told("user", 100)
    assert not session.is_flushed
    session.memory_flush_compaction_count, session.total_tokens = session.compaction_count, 180_000
    assert session.is_flushed
    told("pre_compact", 200, "auto")
    assert (session.is_flushed, session.total_tokens) == (True, 180_000)
    told("post_compact", 300, "auto")
    assert (session.is_flushed, session.total_tokens) == (False, 0)


def test_a_record_from_before_there_was_a_flush_is_read(told: Told, home: Path) -> None:
    told("user", 100)
    told.sessions.save_changed()
    (path,) = Path(paths.sessions(str(home))).glob("*.json")
    old = json.loads(path.read_text())
    for name in [name for name in old if name.startswith(("compact", "memory_", "total_", "model", "pre_", "asked_"))]:
        del old[name]
    path.write_text(json.dumps({**old, "of_another_version": 3}))
    session = Told(home).sessions.get("s1")
    assert session is not None
    assert (session.compaction_count, session.is_flushed, session.total_tokens) == (0, False, 0)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "fork"])
def test_only_a_compaction_empties_the_context(told: Told, source: str) -> None:
    session = told("user", 100)
    session.shown, session.inherited, session.explained_ms = ["m1"], ["m2"], 200
    told("session_start", 300, source)
    assert (session.context_since_ms, session.shown, session.inherited) == (100, ["m1"], ["m2"])


@pytest.mark.parametrize("reason", ["clear", "other", ""])
def test_an_end_is_kept_with_its_reason(told: Told, reason: str) -> None:
    told("user", 100)
    assert told("session_end", 200, reason).ended == (reason or "other")
    assert told.sessions.open_in("p1") == []


def test_a_session_start_does_not_open_it_again(told: Told) -> None:
    # Host 2.1.197 sends the session start of a fork under its parent's id.
    told("session_end", 200, "other")
    assert told("session_start", 300, "resume").ended == "other"


@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_a_turn_opens_it_again(told: Told, kind: str) -> None:
    told("session_end", 200, "other")
    assert told(kind, 300).ended == ""
    assert [session.id for session in told.sessions.open_in("p1")] == ["s1"]


@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_an_event_from_before_its_end_does_not_open_it_again(told: Told, kind: str) -> None:
    told("user", 100)
    told("session_end", 300, "other")
    assert told(kind, 200).ended == "other"


def test_transcript_does_not_reopen_a_session(told: Told) -> None:
    """The host's last line may be later than the end."""
    told("session_end", 300, "other")
    event = spool_event(kind="assistant", session_id="s1", prompt_id="q", text="네", at_ms=400, source="transcript")
    assert told.sessions.heard(event, "p1").ended == "other"


HOUR_MS = 3_600_000


def test_a_clock_that_was_put_back_keeps_no_session_ended(told: Told) -> None:
    """Ended while the clock was an hour ahead, then resumed."""
    told("user", HOUR_MS)
    told("session_end", HOUR_MS + 100, "other")
    assert told("user", 200).ended == "other"  # from the spool, it may be an hour old
    assert told("user", 200, is_live=True).ended == ""
    assert told("session_end", HOUR_MS + 100, "other").ended == "other"
    assert told("assistant", 300, is_live=True).ended == ""
    assert told("session_end", 400, "other", is_live=True).ended == "other"
    assert told("user", 200).ended == "other"  # the same events once more, from the spool


def test_a_hook_that_is_served_late_does_not_open_a_session_again(told: Told) -> None:
    told("session_end", 1500, "other")
    assert told("assistant", 1000, is_live=True).ended == "other"


def test_an_end_from_before_its_last_turn_does_not_end_it(told: Told) -> None:
    told("user", 300)
    assert told("session_end", 200, "other").ended == ""


def test_an_end_at_the_moment_of_the_last_answer_counts(told: Told) -> None:
    told("assistant", 200)
    assert told("session_end", 200, "other").ended == "other"


def test_open_sessions_are_those_of_the_project_newest_first(told: Told) -> None:
    for number in range(30):
        told("user", 100 + number, session="s%d" % number)
    told("user", 500, session="foreign", project="p2")
    told("session_end", 600, "other", session="s29")
    assert [session.id for session in told.sessions.open_in("p1")] == ["s%d" % number for number in range(28, 8, -1)]


def test_next_daemon_reads_saved_sessions(told: Told, home: Path) -> None:
    session = told("user", 100)
    told("session_start", 300, "compact")
    session.shown, session.caught_up_bytes = ["m1"], 4096
    told.sessions.save_changed()
    again = Sessions(str(home))
    assert again.get("s1") == session
    assert again.all() == [session]
    assert [path.stat().st_mode & 0o777 for path in Path(paths.sessions(str(home))).iterdir()] == [0o600]


def test_nothing_is_written_before_it_is_asked_for_nor_twice(told: Told, home: Path) -> None:
    folder = Path(paths.sessions(str(home)))
    session = told("user", 100)
    assert not folder.exists()
    told.sessions.save_changed()
    [path] = folder.iterdir()
    path.unlink()
    told("user", 100)
    told("user", 200)  # only last_ms moves: not worth a write at every prompt
    told.sessions.save_changed()
    assert list(folder.iterdir()) == []
    told.sessions.changed(session)
    told.sessions.save_changed()
    assert path.exists()


def test_a_session_id_that_is_a_path_stays_in_the_folder(told: Told, home: Path) -> None:
    for session in ("../../../evil", "/etc/passwd", "세션\udc80", "x" * 5000):
        told("user", 100, session=session)
    told.sessions.save_changed()
    assert len(list(Path(paths.sessions(str(home))).iterdir())) == 4
    assert {path.name for path in home.iterdir()} == {"sessions"}
    assert Sessions(str(home)).get("../../../evil") is not None


@pytest.mark.parametrize("spoiled", [b"", b"{", b"[]", b"null", b'{"no_id": 1}', b"\xff\xfe"])
def test_a_spoiled_record_is_left_out(told: Told, home: Path, spoiled: bytes) -> None:
    told("user", 100)
    told("user", 100, session="s2")
    told.sessions.save_changed()
    path = next(
        path for path in Path(paths.sessions(str(home))).iterdir() if json.loads(path.read_text())["id"] == "s1"
    )
    path.write_bytes(spoiled)
    again = Sessions(str(home))
    assert [session.id for session in again.all()] == ["s2"]
    assert again.get("s1") is None


def test_a_record_of_a_newer_version_is_read_as_far_as_it_is_known(told: Told, home: Path) -> None:
    told("user", 100)
    told.sessions.save_changed()
    [path] = Path(paths.sessions(str(home))).iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), "mood": "good"}))
    found = Sessions(str(home)).get("s1")
    assert found is not None and found.since_ms == 100


def test_a_forgotten_session_is_gone_from_memory_and_disk(told: Told, home: Path) -> None:
    told("user", 100)
    told.sessions.save_changed()
    told("session_end", 200, "other")
    told.sessions.forget("s1")
    told.sessions.forget("never heard of")
    told.sessions.save_changed()
    assert told.sessions.get("s1") is None
    assert list(Path(paths.sessions(str(home))).iterdir()) == []


def test_lines_are_unread_until_the_transcript_was_read_to_its_end(tmp_path: Path) -> None:
    transcript = tmp_path / "대화.jsonl"
    session = Session("s1", transcript_path=str(transcript))
    assert not session.has_unread_lines  # no file yet
    transcript.write_text("{}\n")
    assert session.has_unread_lines
    session.read_bytes = 3
    assert not session.has_unread_lines
    transcript.write_text("")  # begun anew
    assert session.has_unread_lines
    assert not Session("s2").has_unread_lines


def test_open_sessions_with_nothing_unread_are_left_alone(told: Told, tmp_path: Path) -> None:
    session = told("user", 100)
    session.transcript_path = str(tmp_path / "s1.jsonl")
    (tmp_path / "s1.jsonl").write_text("{}\n")
    assert told.sessions.unread_in("p1") == [session]
    session.read_bytes = 3
    assert told.sessions.unread_in("p1") == [] and told.sessions.open_in("p1") == [session]


@pytest.mark.parametrize(
    ("events", "run_by"), tables("records/sessions")["run_is_a_session_of_which_nobody_typed_a_prompt"]
)
def test_run_is_a_session_of_which_nobody_typed_a_prompt(told: Told, events: str, run_by: str | None) -> None:
    """+ marks the events of a run."""
    for at_ms, named in enumerate(events.split(), start=1):
        source, is_run = named.rstrip("+"), named.endswith("+")
        facts = {
            "session_id": "s1",
            "source": source,
            "prompt": "리뷰해줘",
            "entrypoint": "sdk-py" if is_run else "cli",
        }
        hook = "user_prompt_submit" if source == "prompt" else "session_start"
        event = read_payload(hook, json.dumps(facts).encode(), project_dir="/p", at_ms=at_ms).event
        assert event is not None
        told.sessions.heard(event, "p1", is_live=True)
    told.sessions.save_changed()
    [kept] = Sessions(str(told.home)).all()
    assert (kept.is_run, kept.run_by) == (run_by is not None, run_by or "")
