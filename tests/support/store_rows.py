"""Rows for the store's tests.

Short calls that make events, memories and chunks.
"""

from memlayer.kinds import Author
from memlayer.model import Chunk, Event, Memory, chunk_id, citation_of
from memlayer.text.terms import index_terms
from tests.support.hash_embedder import HashEmbedder

DIMENSIONS = 64
EMBEDDER = HashEmbedder(DIMENSIONS)


def make_event(number: int, text: str = "", *, session: str = "s1", project: str = "p1", at_ms: int = 0) -> Event:
    return Event(
        id=f"e{number}",
        kind="user",
        session_id=session,
        project_id=project,
        prompt_id=f"q{number}",
        text=text or f"text {number}",
        at_ms=at_ms or 1000 + number,
    )


def make_memory(
    number: int,
    text: str = "",
    *,
    sources: tuple[str, ...] | None = None,
    session: str = "s1",
    project: str = "p1",
    category: str = "conversation",
    importance: float = 0.5,
    at_ms: int = 0,
) -> Memory:
    return Memory(
        id=f"m{number}",
        key=f"key_{number}",
        citation=citation_of(f"m{number}"),
        category=category,
        kind="turn",
        text=text or f"text {number}",
        importance=importance,
        project_id=project,
        session_id=session,
        prompt_id=f"q{number}",
        source_ids=(f"e{number}",) if sources is None else sources,
        at_ms=at_ms or 1000 + number,
        by=Author.PERSON,
    )


def make_chunk(
    number: int,
    text: str = "",
    *,
    session: str = "s1",
    project: str = "p1",
    event: str | None = None,
    category: str = "conversation",
    at_ms: int = 0,
    embedded: bool = False,
) -> Chunk:
    text = text or f"text {number}"
    event_id = f"e{number}" if event is None else event
    return Chunk(
        id=chunk_id(f"m{number}", event_id, 0),
        memory_id=f"m{number}",
        event_id=event_id,
        role="user",
        session_id=session,
        project_id=project,
        prompt_id=f"q{number}",
        category=category,
        importance=0.5,
        at_ms=at_ms or 1000 + number,
        start=0,
        end=len(text),
        text=text,
        terms=index_terms(text),
        model=EMBEDDER.fingerprint if embedded else "",
        vector=EMBEDDER.embed_query(text) if embedded else None,
    )
