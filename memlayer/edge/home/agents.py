"""Agents: the variables of their shells, and the folder of their session."""

from __future__ import annotations

import os

from memlayer.edge.home import paths, registry
from memlayer.edge.home.project import locate

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping

CLAUDE_CODE = "CLAUDECODE"
OWN, OWN_PROJECT = "MEMLAYER_AGENT_RUN", "MEMLAYER_AGENT_PROJECT"  # of a command in a talk with `memlayer agent`
# Set by hosts for the commands of their models, and by no person. Read in their sources and issues, November 2026.
IN_SHELLS = (
    CLAUDE_CODE, OWN, "CURSOR_AGENT", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI",
    "COPILOT_AGENT", "CLINE_ACTIVE", "AUGMENT_AGENT", "ANTIGRAVITY_AGENT", "AMP_CURRENT_THREAD_ID",
)  # fmt: skip
# Set for all that the host starts, a server of tools as well, which the person has registered.
EVERYWHERE = ("GEMINI_CLI", "OPENCODE", "OPENCODE_CLIENT", "COPILOT_CLI", "AI_AGENT", "CLAUDE_CODE_SESSION_ID")
OTHERS = (
    "Nothing is read: only the person may look into another project, in a terminal of theirs. This shell is an agent's"
    " (%s is set): ask without --all-projects and --project, for the project of its session"
)


def mark_in(environ: Mapping[str, str], names: tuple[str, ...] = (*IN_SHELLS, *EVERYWHERE)) -> str:
    """Return the variable of an agent's shell; "" in a person's."""
    return next((name for name in names if name in environ), "")


def session_folder(environ: Mapping[str, str], home: str) -> str:
    """Return the folder of an agent's session, as its host tells it.

    Where it tells none, the current one. Raises FileNotFoundError where that is gone. The record goes first: a
    repository's settings may set the other variables.
    """
    session_id = environ.get("CLAUDE_CODE_SESSION_ID", "")
    record = paths.read_object(paths.file_of(paths.sessions(home), session_id)) if session_id else {}
    told = record.get("project_dir") or environ.get("CLAUDE_PROJECT_DIR") or environ.get(OWN_PROJECT)
    return str(told or os.getcwd())


def is_one_project(home: str, folder: str, other: str) -> bool:
    """Return whether two folders belong to one project."""
    places = locate(folder), locate(other)
    if places[0].root == places[1].root:
        return True
    known = registry.load(home)
    ids = {registry.find_place(known, place) for place in places}
    return len(ids) == 1 and ids != {""}
