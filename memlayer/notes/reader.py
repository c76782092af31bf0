"""Have a language model read sessions: once each, or after each turn.

A session is read when it is over, or also as it goes on.

`next_part` and `ask` run beside the writer, `apply` in it.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field

from memlayer.errors import ConsolidationError
from memlayer.indexing.retracted import not_left
from memlayer.notes.answer import SessionAnswer, parse
from memlayer.notes.keeper import Kept, NoteKeeper, ended_row
from memlayer.notes.reading_log import MAX_TRIES, Reading, ReadingLog
from memlayer.notes.request import MAX_ANSWER_TOKENS, ReaderRequest, first_part, tokens_of
from memlayer.notes.session_turns import LEAST_CHARS, SessionTurn, is_telling, is_worth_reading, turns_of
from memlayer.ports import LanguageModel, ModelMissing, Store
from memlayer.records.model_budget import ModelBudget
from memlayer.records.sessions import Session
from memlayer.topics.session_summary import add_part

log = logging.getLogger(__name__)
OVER_AFTER_MS = 30 * 60_000  # of silence: a killed terminal, a machine switched off
MAX_EVENTS = 50_000
BUDGET_PAUSE_S = 300.0
TRY_S = 30.0  # a person waits
DAY_MS = 86_400_000
READ_S = 180.0  # for one call: a model on this machine takes its time
MAX_AGE_DAYS = 2.0  # of a turn that is read by itself: an import costs nothing
PAUSE_S = (60.0, 300.0, 1800.0)  # after the first, second and every further failure in a row


@dataclass(frozen=True)
class Part:
    """A part of a session that is to be read."""

    session: Session
    turns: tuple[SessionTurn, ...]
    request: ReaderRequest
    said_ms: int
    is_last: bool


def is_session_over(session: Session, now_ms: int) -> bool:
    """Return whether a session has ended, or been silent for long."""
    return bool(session.ended) or now_ms - session.last_ms > OVER_AFTER_MS


def unread_turns(store: Store, session: Session, reading: Reading) -> tuple[list[SessionTurn], list[SessionTurn]]:
    """Return a session's turns, and those that no model has read."""
    events = store.events(session_id=session.id, project_id=session.project_id, limit=MAX_EVENTS)
    turns, known = turns_of(not_left(store, session.id, events), session.project_dir), set(reading.read)
    return turns, [turn for turn in turns if turn.digest not in known]


@dataclass
class SessionReader:
    """The reader of sessions. One call at a time.

    since_ms: when the person turned the model on. Earlier sessions are read only if wanted (ReadingLog.want).
    each_turn: a session is read after each turn, without small talk, and without turns from before since_ms or older
    than max_age_days (0: with all of them). own_tokens: that the transport adds to each call. clock: Unix time,
    seconds.
    """

    store: Store
    keeper: NoteKeeper
    readings: ReadingLog
    model: LanguageModel
    budget: ModelBudget
    since_ms: int
    each_turn: bool = False
    max_age_days: float = MAX_AGE_DAYS
    own_tokens: int = 0
    hang_up: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.time
    reading: str = ""  # the id of the session that is being read
    waits_why: str = ""
    _failures: int = 0
    _paused_until: float = 0.0
    _parts_so_far: set[str] = field(default_factory=set)

    def due(self, sessions: Iterable[Session]) -> list[Session]:
        """Return the sessions to read, oldest first.

        They are over and taken in whole, and have something new since they were read, or are to be read so far.
        """
        now_ms, oldest_ms, wanted = int(self.clock() * 1000), self.oldest_ms, set(self.readings.wanted())
        rows = []
        for session in sessions:
            is_settled = session.summarized_ms >= session.said_ms or session.id in wanted
            is_new = session.said_ms > session.noted_ms or session.id in wanted
            is_due = is_settled and is_new and is_session_over(session, now_ms)
            is_ours = session.last_ms >= oldest_ms or session.id in wanted
            if session.project_id and is_ours and (is_due or session.id in self._parts_so_far):
                rows.append(session)
        return sorted(rows, key=lambda session: session.last_ms)

    @property
    def oldest_ms(self) -> int:
        """Return the earliest time of turns that are read unasked, Unix ms."""
        if not self.each_turn:
            return self.since_ms
        newest_ms = int(self.clock() * 1000 - self.max_age_days * DAY_MS)
        return max(self.since_ms, newest_ms) if self.max_age_days else 0

    def read_so_far(self, *session_ids: str) -> None:
        """Have sessions read that go on, as far as they are."""
        self._parts_so_far.update(session_ids)

    @property
    def problem(self) -> str:
        """The model's last problem, "" since it works."""
        return self.budget.summary().problem

    @property
    def is_paused(self) -> bool:
        """True for a while after failures."""
        return time.monotonic() < self._paused_until

    def next_part(self, session: Session) -> Part | None:
        """Return a session's next part; None where nothing is left."""
        said_ms = session.said_ms
        self._parts_so_far.discard(session.id)  # first: a turn that is stored meanwhile asks for another look
        reading = self.readings.get(session.id)
        turns, left = unread_turns(self.store, session, reading)
        goes_on = not is_session_over(session, int(self.clock() * 1000))
        if left and not left[-1].answer and goes_on:
            left.pop()  # it is being answered just now
        if self.each_turn and session.id not in self.readings.wanted():
            left = [turn for turn in left if is_telling(turn) and len(turn.spoken) >= LEAST_CHARS]
            left = [turn for turn in left if turn.at_ms >= self.oldest_ms]
        elif not is_worth_reading(left):
            left = []
        if not left:
            return None
        if goes_on:
            self._parts_so_far.add(session.id)
        notes = self.keeper.shown(session, left)
        tasks = self.keeper.open_tasks(session.project_id)
        request = first_part(left, notes, tasks, summary=reading.summary)
        return Part(session, tuple(turns), request, said_ms, is_last=len(request.turns) == len(left))

    def ask(self, part: Part) -> bool:
        """Have the model read a part. True with its answer on disk.

        Nothing is asked while paused, over the day's budget, or where an answer to the same turns waits.
        """
        reading = self.readings.get(part.session.id)
        if reading.answer and reading.digest == part.request.digest:
            return True
        self.reading = part.session.id
        try:
            done = self._complete(part.request.system, part.request.prompt)
        finally:
            self.reading = ""
        if done is None:
            return False
        text, used = done
        reading.project_id = part.session.project_id
        reading.tries = reading.tries + 1 if reading.digest == part.request.digest else 1
        reading.digest, reading.answer = part.request.digest, text
        reading.calls, reading.tokens = reading.calls + 1, reading.tokens + used
        self.readings.put(reading)
        return True

    def try_once(self) -> None:
        """Have the model answer a word: `problem` says why it could not."""
        self._complete("Answer with the JSON object {} alone.", "{}", TRY_S)

    def _complete(self, system: str, prompt: str, deadline_s: float = 0.0) -> tuple[str, int] | None:
        """Return the model's answer and its tokens, None for none."""
        tokens = tokens_of(system) + tokens_of(prompt)
        reserved = self.budget.reserve(tokens + MAX_ANSWER_TOKENS + self.own_tokens)
        if reserved is None:
            self.waits_why = "the day's budget is used up"
            self._paused_until = time.monotonic() + BUDGET_PAUSE_S
            return None
        self.waits_why = ""
        try:
            deadline_s = deadline_s or READ_S
            done = self.model.complete(system, prompt, max_tokens=MAX_ANSWER_TOKENS, deadline_s=deadline_s)
        except ConsolidationError as bad:
            if isinstance(bad, ModelMissing):
                self.budget.give_back(reserved)
            self._failed(str(bad))
            return None
        used = done.input_tokens + done.output_tokens or tokens + tokens_of(done.text)
        self.budget.settle(reserved, used, done.cost_usd)
        self._failures = 0
        return done.text, used

    def apply(self, part: Part) -> Kept | None:
        """Keep the notes of the answer on disk. None for no JSON.

        The writer's. Its turns count as read afterwards. After MAX_TRIES useless answers they do so, too.
        """
        reading = self.readings.get(part.session.id)
        answer = parse(reading.answer) if reading.digest == part.request.digest else None
        if answer is None:
            self._useless(part, reading)
            return None
        turns = not_left(self.store, part.session.id, part.request.turns)  # some were left while the model read
        kept = self.keeper.keep(part.session, turns, answer, summary=reading.summary) if turns else Kept()
        self._note(reading, part, kept, answer)
        self.readings.put(reading)
        return kept

    def finished(self, session: Session, said_ms: int) -> None:
        """Note that a session is read, or read so far.

        The caller saves its record.
        """
        if is_session_over(session, int(self.clock() * 1000)):
            session.noted_ms = max(session.noted_ms, said_ms)
        self.readings.unwant([session.id])

    def _useless(self, part: Part, reading: Reading) -> None:
        reading.answer = ""
        self._failed("the model's answer is not the JSON that was asked for")
        if reading.tries >= MAX_TRIES:
            reading.read += [turn.digest for turn in part.request.turns]
            reading.gave_up += 1
            reading.digest, reading.tries = "", 0
        self.readings.put(reading)

    def _note(self, reading: Reading, part: Part, kept: Kept, answer: SessionAnswer) -> None:
        at_ms = int(self.clock() * 1000)
        reading.refused += [row.as_row(at_ms) for row in kept.refused]
        reading.refused += [ended_row(row, at_ms) for row in kept.ended]
        reading.questions += [asdict(row) for row in kept.questions]
        reading.read += [turn.digest for turn in part.request.turns]
        events = [event_id for turn in part.request.turns for event_id in turn.event_ids]
        reading.event_ids = list(dict.fromkeys([*reading.event_ids, *events]))
        reading.notes += len(kept.notes)
        reading.summary = add_part(reading.summary, answer.summary)
        reading.digest, reading.answer, reading.tries, reading.read_ms = "", "", 0, at_ms

    def _failed(self, problem: str) -> None:
        self.budget.note(problem)
        log.warning("a session waits to be read: %s", problem)
        self._paused_until = time.monotonic() + PAUSE_S[min(self._failures, len(PAUSE_S) - 1)]
        self._failures += 1
