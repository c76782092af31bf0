"""Operations of the MCP tools, and of the agent's talk."""

from memlayer.model import Event
from memlayer.wire.message import Asking, Limit, Message, Names, Path, Whole


class TextForModel(Message):
    """Text for a model, and the citations in it."""

    text: str = ""
    ids: list[str] = []


class StoredCounts(Message):
    """A project's memories in words, and counted by category."""

    text: str = ""
    counts: dict[str, int] = {}


class TalkStep(Message, omit_defaults=True):
    """The answer to a step of a talk.

    It is {} where memory is switched off. start: context, notice. prompt: also ids of the notes. compact: orders,
    constraints, citation. history, undo: session_id, summary, events.
    """

    context: str = ""
    notice: str = ""
    ids: list[str] = []
    orders: str = ""
    constraints: list[str] = []
    citation: str = ""
    session_id: str = ""
    summary: str = ""
    events: list[Event] = []


class MemSearch(Asking[TextForModel], tag="mem.search"):
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


class MemTimeline(Asking[TextForModel], tag="mem.timeline"):
    ids: Names = ()
    window: Limit = 3
    project_dir: Path = ""
    session_id: str = ""


class MemDetails(Asking[TextForModel], tag="mem.details"):
    """from_: the character of a single long text to go on from."""

    ids: Names = ()
    from_: Whole = 0
    project_dir: Path = ""
    session_id: str = ""


class MemStats(Asking[StoredCounts], tag="mem.stats"):
    project_dir: Path = ""


class MemRemember(Asking[TextForModel], tag="mem.remember"):
    """at_ms: of the call, Unix time. Sent twice, it counts once.

    kind: of kinds.NOTED, "" for that of its words. replaces: citations of memories that it makes untrue. headline,
    subject, quote: of a note by the session's own model (consolidation.by_session).
    """

    text: str = ""
    kind: str = ""
    headline: str = ""
    subject: str = ""
    quote: str = ""
    files: Names = ()
    replaces: Names = ()
    at_ms: Whole = 0
    project_dir: Path = ""
    session_id: str = ""


class Turn(Asking[TalkStep], tag="turn"):
    """A step of the agent's talk. Its events are in the spool.

    phase: start, prompt, call, end, compact, history, undo or finish. text: redacted. The prompt, the answer, the
    summary of a compaction, or JSON of a call's input and error. detail: of the event, or the tool. kept: prompt ids
    of the turns that a compaction leaves. tokens: in the model's context. session_id: for history its start, or "" for
    the project's last talk.
    """

    phase: str = ""
    session_id: str = ""
    prompt_id: str = ""
    text: str = ""
    detail: str = ""
    kept: Names = ()
    at_ms: Whole = 0
    tokens: Whole = 0
    model: str = ""
    project_dir: Path = ""
