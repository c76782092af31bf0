"""Operations on notes that a language model writes: state, refusals, earlier sessions."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from memlayer import compose
from memlayer.config.providers import PROVIDERS
from memlayer.daemon.ops.requests import Progress, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, derived, reading
from memlayer.edge.capture.payload import clean
from memlayer.edge.redaction.session_values import Heard
from memlayer.errors import UserError
from memlayer.indexing.retracted import not_left
from memlayer.kinds import STORIES, Author, Category
from memlayer.notes import checks
from memlayer.notes.answer import MAX_FILES, DraftNote
from memlayer.notes.keeper import MAX_OWN, Kept, NoteKeeper
from memlayer.notes.reader import MAX_EVENTS, SessionReader, is_session_over, unread_turns
from memlayer.notes.reading_log import Reading
from memlayer.notes.request import MAX_ANSWER_TOKENS, first_part
from memlayer.notes.session_turns import is_worth_reading, turns_of
from memlayer.ports import MemoryQuery, notes_in_force
from memlayer.records.sessions import Session
from memlayer.text.context_block import bare_id, flatten
from memlayer.turns.outcome import output_of
from memlayer.wire import notes as ops
from memlayer.wire import tools as tool_ops
from memlayer.wire.notes import NotesState, ProjectEstimate, RefusedNote, RefusedNotesFound, SessionsRead

USUAL_ANSWER_TOKENS = 500
POLL_S = 0.2
MAX_TURNS = 100_000
COUNTS = ("calls", "tokens", "notes", "refused_notes", "retired_notes")  # of a reading
NOTES_SHOWN = 200  # of a project's, for the estimate
# For the session's own model.
WITHOUT_HEADLINE = " Without the headline: it says more than the session does."
ENOUGH = "Not kept: %d notes of this session are written, all that its model may. The person has `memlayer remember`."
PROOF = "Quote the user's own words, or for a note of kind %s a tool's output, word for word; say nothing beyond them."
HOW = PROOF % " or ".join(STORIES)


@dataclass(frozen=True)
class Estimate:
    """A session to read, its calls, and their tokens in and out."""

    session: Session
    calls: int
    tokens: int


def notes(state: State, arguments: ops.Notes, progress: Progress) -> NotesState:
    """Return whether and by whom sessions are read, and counts.

    is_allowed: by the project that was asked for. why: sessions wait, "" for no reason but their turn.
    """
    services, chosen = services_of(state), state.settings
    if arguments.is_tried and services.reader is not None:
        services.reader.try_once()
    use, status = compose.model_use(chosen, state.home), reading.status(state)
    by_session = chosen.consolidation.by_session
    core = services.store.memories(MemoryQuery(category=Category.CORE, limit=MAX_TURNS)) if by_session else []
    return NotesState.of(
        status,
        use=use,
        is_enabled=chosen.notes.enabled,
        is_allowed=reading.is_allowed(Session("", project_dir=arguments.project_dir)),
        why=status.why or use.lacks or use.problem,
        by_session=by_session and chosen.notes.enabled,
        own_notes=sum(row.by is Author.MODEL and row.is_note for row in core),
    )


# -- notes that a session's own model writes


def writing(state: State, arguments: tool_ops.MemRemember) -> Session:
    """Return the session whose model asks.

    A server that the host started before a /clear names the session from before.
    """
    known = state.sessions.get(arguments.session_id)
    if known is None:
        return Session(arguments.session_id, project_dir=arguments.project_dir)
    since = [row for row in state.sessions.open_in(known.project_id) if row.prompted_ms >= known.ended_ms]
    return max(since, key=lambda row: row.prompted_ms, default=known) if known.ended else known


def write(state: State, session: Session, arguments: tool_ops.MemRemember) -> tool_ops.TextForModel:
    """Keep a note of a session's own model, checked like a reader's."""
    given = (arguments.text, arguments.headline, arguments.subject)
    with Heard(session.id):
        text, headline, subject = (flatten(clean(part)) for part in given)
    note = DraftNote(
        arguments.kind, text, clean(arguments.quote), 0, arguments.files[:MAX_FILES],
        replaces=tuple(map(bare_id, arguments.replaces)), headline=headline, subject=subject,
    )  # fmt: skip
    batches.take_soon(state).result()  # the prompt that is being answered
    if (text, headline, subject) != tuple(map(flatten, given)):
        kept = Kept(refused=[checks.RefusedNote(note, checks.Refusal.SECRET)])
    else:
        kept = derived.written(state, "own note", partial(_keep_own, state, session, note))
    if kept.notes:
        [made] = kept.notes
        lost = "" if made.headline or not headline else WITHOUT_HEADLINE
        return tool_ops.TextForModel(text="Remembered as [mem:%s].%s" % (made.citation, lost), ids=[made.citation])
    [bad] = kept.refused
    told = ENOUGH % MAX_OWN if bad.reason == checks.Refusal.TOO_MANY else "Not kept: %s. %s" % (bad.reason.value, HOW)
    return tool_ops.TextForModel(text=told)


def _keep_own(state: State, session: Session, note: DraftNote) -> Kept:
    """Store a note, or record its refusal; the writer's job."""
    services = services_of(state)
    events = not_left(services.store, session.id, services.store.events(session_id=session.id, limit=MAX_EVENTS))
    turns = turns_of(events, session.project_dir)
    seen: dict[str, str] = {}
    for event in events:
        if event.kind == "tool" and (output := output_of(event.text, event.detail)):
            seen[event.prompt_id] = "\n".join(filter(None, (seen.get(event.prompt_id), clean(output))))
    kept = NoteKeeper(services.keep, services.tasks).keep_own(session, turns, seen, note)
    log = services.readings.get(session.id)
    log.project_id, at_ms = session.project_id, int(time.time() * 1000)
    log.event_ids = list(dict.fromkeys([*log.event_ids, *(event_id for turn in turns for event_id in turn.event_ids)]))
    log.refused += [row.as_row(at_ms) for row in kept.refused]
    log.questions += [asdict(row) for row in kept.questions]
    services.readings.put(log)
    return kept


def refused(state: State, arguments: ops.RefusedNotes, progress: Progress) -> RefusedNotesFound:
    """Return refused notes with their reasons, newest first."""
    readings, wanted = services_of(state).readings, project_of(state, arguments.project_dir)
    if arguments.project_dir and not wanted:
        return RefusedNotesFound(refusals=[], total=0)
    rows: list[RefusedNote] = [
        RefusedNote.parse({**row, "session_id": reading.session_id, "project": state.projects.name(reading.project_id)})
        for reading in readings.all()
        for row in reading.refused
        if not wanted or reading.project_id == wanted
    ]
    rows.sort(key=lambda row: -row.at_ms)
    return RefusedNotesFound(refusals=rows[: arguments.limit], total=len(rows))


# -- earlier sessions


def read(state: State, arguments: ops.ReadSessions, progress: Progress) -> SessionsRead:
    """Have earlier sessions read, oldest first. Return once they are.

    It returns earlier where the model cannot be asked: then the rest wait, and `problem` says why. When the client goes
    nothing more is sent. What was read stays read.
    """
    services = services_of(state)
    folder = arguments.project_dir
    project_id = project_of(state, folder)
    estimates = [] if folder and not project_id else list(_unread(state, project_id, arguments.last, progress))
    estimates.sort(key=lambda row: row.session.last_ms)
    reader = reading.reader_of(state)
    planned = SessionsRead(
        is_on=reader is not None,
        dry_run=arguments.dry_run,
        sessions=len(estimates),
        calls=sum(row.calls for row in estimates),
        tokens=sum(row.tokens for row in estimates),
        own_tokens=sum(row.calls for row in estimates) * _own_tokens(services.reader),
        projects=_by_project(state, estimates),
    )
    if arguments.dry_run or not estimates:
        return planned
    if reader is None:
        raise UserError("No model reads sessions. `memlayer notes on` turns it on")
    ids = [row.session.id for row in estimates]
    for row in estimates:
        state.sessions.restore(row.session)
    state.sessions.save_changed()
    before = _counts(services.readings.get(session_id) for session_id in ids)
    left, problem = _wait(state, reader, ids, progress)
    after = _counts(services.readings.get(session_id) for session_id in ids)
    return planned.changed(
        **{name: after[name] - before[name] for name in COUNTS}, read=len(ids) - left, waiting=left, problem=problem
    )


def _unread(state: State, project_id: str, last: int, progress: Progress) -> Iterator[Estimate]:
    """Yield sessions that a model may read, the newest first."""
    services, now_ms = services_of(state), int(time.time() * 1000)
    own_tokens = _own_tokens(services.reader)
    count = 0
    for session in sessions_of(state, project_id):
        is_new = session.said_ms > session.noted_ms and is_session_over(session, now_ms)
        is_ours = session.project_id == project_id if project_id else bool(session.project_id)
        if not (is_new and is_ours and reading.is_allowed(session)):
            continue
        _, left = unread_turns(services.store, session, services.readings.get(session.id))
        if not is_worth_reading(left):
            continue
        known = notes_in_force(services.store, session.project_id, NOTES_SHOWN)
        calls = tokens = 0
        while left:
            request = first_part(left, known, [])
            left = left[len(request.turns) :]
            calls += 1
            tokens += request.tokens - MAX_ANSWER_TOKENS + USUAL_ANSWER_TOKENS + own_tokens
        count += 1
        progress("look for sessions", count, last)
        yield Estimate(session, calls, tokens)
        if count == last:
            return


def _own_tokens(reader: SessionReader | None) -> int:
    """Return the tokens that a reader adds to each call."""
    return reader.own_tokens if reader is not None else PROVIDERS["claude-cli"].own_tokens


def sessions_of(state: State, project_id: str = "") -> list[Session]:
    """Return sessions, newest first, also imported ones without a record."""
    query = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=MAX_TURNS)
    imported = reading.imported(state, services_of(state).store.memories(query))
    return sorted([*state.sessions.all(), *imported], key=lambda session: -session.last_ms)


def _by_project(state: State, estimates: Sequence[Estimate]) -> list[ProjectEstimate]:
    ids = dict.fromkeys(row.session.project_id for row in estimates)
    return [
        ProjectEstimate(
            project_id=project_id,
            project=state.projects.name(project_id),
            sessions=sum(row.session.project_id == project_id for row in estimates),
            tokens=sum(row.tokens for row in estimates if row.session.project_id == project_id),
        )
        for project_id in ids
    ]


def _counts(rows: Iterator[Reading]) -> dict[str, int]:
    readings = list(rows)
    return {name: sum(getattr(row, name) for row in readings) for name in COUNTS}


def _wait(state: State, reader: SessionReader, ids: list[str], progress: Progress) -> tuple[int, str]:
    """Have sessions read; return (how many wait, why). Raises OSError."""
    reader.readings.want(ids)
    left = ids
    while left:
        wanted = set(reader.readings.wanted())
        left = [session_id for session_id in ids if session_id in wanted]
        state.life.last_request = time.monotonic()  # somebody waits: no time to leave for being idle
        try:
            progress("read sessions", len(ids) - len(left), len(ids))
        except OSError:
            reader.readings.unwant(left)
            raise
        if state.life.leaving.is_set():
            return len(left), "the daemon is leaving; the next one goes on"
        if left and not state.reader.pending:
            if reader.is_paused:
                return len(left), reader.waits_why or reader.problem
            if not any(session.id in left for session in reading.due(state, reader)):
                reader.readings.unwant(left)  # their project says no by now
                return 0, ""
            reading.submit(state)
        if left:
            time.sleep(POLL_S)
    return 0, ""
