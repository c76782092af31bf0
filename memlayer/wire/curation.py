"""Operations that forget memories, or review them."""

from msgspec import field

from memlayer.wire.memories import MemoryRow
from memlayer.wire.message import Asking, Limit, Message, Names, Path, Whole


class Removed(Message):
    """Counts of erased rows."""

    events: int = 0
    memories: int = 0
    chunks: int = 0


class ForgottenMemory(MemoryRow, frozen=True):
    """A memory that goes. along: because of another one."""

    along: bool = False


class Forgotten(Message):
    """A selection that is forgotten, or would be.

    memories: best match first. events: how many go. left: memory files that could not be cleaned, and why, one line
    each. unknown: ids of none. near: where the query's words stand in none, those near them in meaning; they stay.
    in_transcript: the host's own record of it is there.
    """

    memories: list[ForgottenMemory] = []
    events: int = 0
    removed: Removed = field(default_factory=Removed)
    left: list[str] = []
    unknown: list[str] = []
    near: list[ForgottenMemory] = []
    in_transcript: bool = False


class RowCount(Message):
    """Rows of a memory's category or event's kind; oldest_ms: the least."""

    project_id: str = ""
    kind: str = ""
    rows: int = 0
    oldest_ms: int = 0


class AgedRows(RowCount):
    """Rows of a project that are too old."""

    project: str = ""


class Aged(Message):
    """All rows that are too old, or were.

    days: the settings. left: see Forgotten.
    """

    days: dict[str, int] = {}
    rows: list[AgedRows] = []
    removed: Removed = field(default_factory=Removed)
    left: list[str] = []


class ReviewItem(Message):
    """A memory under review. against: the memory that it contradicts."""

    memory: MemoryRow
    reason: str = ""
    why: str = ""
    against: MemoryRow | None = None


class TaskMeant(Message):
    """A task that a sentence may be about."""

    citation: str = ""
    title: str = ""
    status: str = ""


class TaskAsked(Message):
    """A sentence that may be about a task.

    id: six characters, for the answer. wish: the status that it reports. candidates: the likeliest first.
    """

    id: str = ""
    wish: str = ""
    quote: str = ""
    at_ms: int = 0
    candidates: list[TaskMeant] = []


class ReviewList(Message):
    """Memories and sentences under review. total: also beyond the limit."""

    items: list[ReviewItem] = []
    total: int = 0
    task_questions: list[TaskAsked] = []


class Decided(Message):
    """A decision or its undoing, its memory, a changed task's status."""

    how: str = ""
    memory: MemoryRow | None = None
    status: str = ""


class Forget(Asking[Forgotten], tag="forget"):
    """tolerant: with dry_run, unknown ids are no error."""

    ids: Names = ()
    session_id: str = ""
    project_dir: Path = ""
    query: str = ""
    before_ms: Whole = 0
    keep_sources: bool = False
    dry_run: bool = False
    tolerant: bool = False


class Gc(Asking[Aged], tag="gc"):
    dry_run: bool = False
    limit_dir: Path = ""


class Review(Asking[ReviewList], tag="review"):
    project_dir: Path = ""
    limit: Limit = 50


class Decide(Asking[Decided], tag="review.decide"):
    """A decision on a memory under review.

    how: keep, edit, merge or drop. Yes or no to a question on tasks, whose id is id_. other: the second memory of a
    merge, "" for the contradicting one; the task that is meant, "" for the only candidate.
    """

    how: str = ""
    id_: str = ""
    other: str = ""
    text: str = ""
    project_dir: Path = ""


class UndoReview(Asking[Decided], tag="review.undo"):
    project_dir: Path = ""
