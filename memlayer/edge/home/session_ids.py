"""Ids of sessions: their starts, and how people and models read them."""

AGENT_SESSION = "agent-"  # of each talk with the agent
SESSION_CHARS = 8  # of an id, as people and models read it
FILE_SESSION = "file_"  # of a text from a file
TEAM_SESSION = "team_"  # of a colleague's note. The rest names its project


def short_session(session_id: str) -> str:
    """Return the start of a session's id that people and models read."""
    kind = AGENT_SESSION if session_id.startswith(AGENT_SESSION) else ""
    return session_id[: len(kind) + SESSION_CHARS]
