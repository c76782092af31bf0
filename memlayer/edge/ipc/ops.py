"""The daemon's operations, by the records of their arguments.

Each names the type of its answer. Hooks do not import this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memlayer.edge.ipc.arguments import Arguments, Limit, Names, Path, TextOrNone

if TYPE_CHECKING:
    from memlayer.edge.ipc import answers, session_answers, task_answers, upkeep_answers  # noqa: F401  # in strings

AGENT_SESSION = "agent-"  # the start of the id of each talk with the agent
SESSION_CHARS = 8  # of a session's id, as people and models read it
FILE_SESSION = "file_"  # the start of the session id of a text from a file
TEAM_SESSION = "team_"  # of a colleague's note; the rest names its project


class Recall(Arguments["answers.Recalled"], op="recall"):
    """is_explained: candidates that were left out have snippets too."""

    prompt: str = ""
    project_dir: Path = ""
    session_id: str = ""
    is_explained: bool = False


class Search(Arguments["answers.Hits"], op="search"):
    query: str = ""
    project_dir: Path = ""
    limit: Limit = 10
    min_score: float = 0.0
    since_ms: int = 0
    until_ms: int = 0
    category: str = ""
    kind: str = ""
    session_id: str = ""
    file: str = ""


class Show(Arguments["answers.Matches"], op="show"):
    ids: Names = ()
    session_id: str = ""


class List(Arguments["answers.Memories"], op="list"):
    project_dir: Path = ""
    is_global: bool = False
    session_id: str = ""
    category: str = ""
    limit: Limit = 50
    with_superseded: bool = False


class Given(Arguments["session_answers.GivenPrompts"], op="given"):
    limit: Limit = 5
    session_id: str = ""
    project_dir: Path = ""


class Blame(Arguments["session_answers.FileHistory"], op="blame"):
    path: str = ""
    project_dir: Path = ""
    limit: Limit = 10


class Fix(Arguments["session_answers.Cures"], op="fix"):
    error: str = ""
    project_dir: Path = ""
    limit: Limit = 10


class Sessions(Arguments["session_answers.Sessions"], op="sessions"):
    id_: str = ""
    project_dir: Path = ""
    limit: Limit = 20
    skip: int = 0


class Files(Arguments["upkeep_answers.MemoryFiles"], op="files"):
    """now: bring the files in step first.

    accept: also those that came with the work tree, once for its folder.
    """

    project_dir: Path = ""
    is_global: bool = False
    now: bool = False
    accept: bool = False


class Remember(Arguments["answers.Remembered"], op="remember"):
    """id_: of a `remember` event in the spool."""

    id_: str = ""


class Pin(Arguments["answers.Changed"], op="pin"):
    id_: str = ""
    off: bool = False


class Edit(Arguments["answers.Changed"], op="edit"):
    """text: "" for the same, with a headline or a subject."""

    id_: str = ""
    text: str = ""
    headline: TextOrNone = None
    subject: TextOrNone = None


class Restore(Arguments["answers.Changed"], op="restore"):
    id_: str = ""
    keep_both: bool = False


class History(Arguments["answers.Versions"], op="history"):
    id_: str = ""


class Forget(Arguments["answers.Forgotten"], op="forget"):
    """tolerant: with dry_run, unknown ids are no error."""

    ids: Names = ()
    session_id: str = ""
    project_dir: Path = ""
    is_global: bool = False
    query: str = ""
    before_ms: int = 0
    keep_sources: bool = False
    dry_run: bool = False
    tolerant: bool = False


class Gc(Arguments["answers.Aged"], op="gc"):
    dry_run: bool = False


class Flush(Arguments["upkeep_answers.Settled"], op="flush"):
    wait: bool = False


class MemSearch(Arguments["answers.TextForModel"], op="mem.search"):
    """Arguments of a search by a model.

    session_id: the asking session. session: the only session to search. kind: turn, settled, day, note or task. file:
    only what is about this file. error: a line of an error, instead of a query.
    """

    query: str = ""
    limit: Limit = 5
    session: str = ""
    kind: str = ""
    file: str = ""
    error: str = ""
    project_dir: Path = ""
    session_id: str = ""


class MemTimeline(Arguments["answers.TextForModel"], op="mem.timeline"):
    """Arguments of a timeline.

    window: turns on either side. session: a session whose turns are all meant.
    """

    ids: Names = ()
    window: Limit = 3
    project_dir: Path = ""
    session_id: str = ""
    session: str = ""


class MemDetails(Arguments["answers.TextForModel"], op="mem.details"):
    """from_: the character of a single long text to go on from."""

    ids: Names = ()
    from_: int = 0
    project_dir: Path = ""
    session_id: str = ""


class MemStats(Arguments["answers.MemoryCounts"], op="mem.stats"):
    project_dir: Path = ""


class MemRemember(Arguments["answers.TextForModel"], op="mem.remember"):
    """at_ms: of the call, Unix time; sent twice, it counts once.

    kind: of kinds.NOTED, "" for that of its words. replaces: citations of memories that it makes untrue.
    """

    text: str = ""
    kind: str = ""
    files: Names = ()
    replaces: Names = ()
    at_ms: int = 0
    project_dir: Path = ""
    session_id: str = ""


class Turn(Arguments["session_answers.TalkStep"], op="turn"):
    """A step of the agent's talk; its events are in the spool.

    phase: start, prompt, end, compact, history, undo or finish. text: redacted; the prompt, the answer, or the summary
    of a compaction. detail: of the event. kept: prompt ids of the turns that a compaction leaves. tokens: in the
    model's context. session_id: for history its start, or "" for the project's last talk.
    """

    phase: str = ""
    session_id: str = ""
    prompt_id: str = ""
    text: str = ""
    detail: str = ""
    kept: Names = ()
    at_ms: int = 0
    tokens: int = 0
    model: str = ""
    project_dir: Path = ""


class Citations(Arguments["answers.Cited"], op="citations"):
    """Arguments of a list of citations.

    order: "" for the newest citation first, popular, or unused. days: 0 for any time, or 30 with an order.
    """

    order: str = ""
    days: int = 0
    limit: Limit = 10
    project_dir: Path = ""


class UsageShare(Arguments["answers.UsageShare"], op="usage_share"):
    days: int = 30


class Topics(Arguments["task_answers.Topics"], op="topics"):
    project_dir: Path = ""
    days: Limit = 30
    limit: Limit = 10


class Mode(Arguments["task_answers.ModeState"], op="mode"):
    """mode: the one to change to, "" to ask alone."""

    project_dir: Path = ""
    mode: str = ""


class Notes(Arguments["session_answers.NotesState"], op="notes"):
    """project_dir: to say whether that project allows it."""

    project_dir: Path = ""


class RefusedNotes(Arguments["session_answers.RefusedNotes"], op="notes.refused"):
    project_dir: Path = ""
    limit: Limit = 50


class ReadSessions(Arguments["session_answers.SessionsRead"], op="notes.read"):
    """last: sessions at most, the newest that a model has not read."""

    last: Limit = 30
    project_dir: Path = ""
    dry_run: bool = False


class Headlines(Arguments["session_answers.HeadlinesWritten"], op="notes.headline"):
    """Have a model write headlines for a project's notes that have none."""

    project_dir: Path = ""
    dry_run: bool = False


class Tasks(Arguments["task_answers.TaskList"], op="tasks"):
    """status: "" for open ones at work, "all", "resting", or a status."""

    project_dir: Path = ""
    status: str = ""
    is_blocked: bool = False


class TaskShow(Arguments["task_answers.TasksShown"], op="tasks.show"):
    """id_: a citation, an id, or words."""

    id_: str = ""
    project_dir: Path = ""


class TaskChange(Arguments["task_answers.TaskChanged"], op="tasks.change"):
    """id_: of a task event in the spool."""

    id_: str = ""


class Review(Arguments["answers.ReviewList"], op="review"):
    project_dir: Path = ""
    limit: Limit = 50


class Decide(Arguments["answers.Decided"], op="review.decide"):
    """A decision on a memory under review.

    how: keep, edit, merge or drop; yes or no to a question on tasks, whose id is id_. other: the second memory of a
    merge, "" for the contradicting one; the task that is meant, "" for the only candidate.
    """

    how: str = ""
    id_: str = ""
    other: str = ""
    text: str = ""
    project_dir: Path = ""


class UndoReview(Arguments["answers.Undone"], op="review.undo"):
    project_dir: Path = ""


class Stats(Arguments["upkeep_answers.Stats"], op="stats"):
    pass


class Reindex(Arguments["upkeep_answers.Reindexed"], op="reindex"):
    pass


class Repair(Arguments["upkeep_answers.Repaired"], op="repair"):
    pass


class Witness(Arguments["upkeep_answers.Witnessed"], op="witness"):
    pass


class Settings(Arguments["upkeep_answers.SettingsHeld"], op="settings"):
    """root: of a project, or "". variables: the caller's, NAME=value."""

    root: Path = ""
    variables: Names = ()


class Status(Arguments["upkeep_answers.Status"], op="status"):
    pass


class Stop(Arguments["upkeep_answers.Stopped"], op="stop"):
    pass


def short_session(session_id: str) -> str:
    """Return the start of a session's id that people and models read."""
    kind = AGENT_SESSION if session_id.startswith(AGENT_SESSION) else ""
    return session_id[: len(kind) + SESSION_CHARS]
