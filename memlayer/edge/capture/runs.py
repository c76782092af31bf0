"""Tell a person's prompts from a run's, which nobody typed.

The table of entry points, with a reason for each, is in docs/inside/hooks.md.
"""

from __future__ import annotations

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Applications in which a person types, by the host's own names. Any other is a run, unless something shows a person.
TYPED_IN = (
    "cli", "claude-vscode", "claude-desktop", "claude-desktop-3p", "claude-coworker", "claude-coworker-terminal",
    "claude-in-slack", "claude_in_slack", "claude-in-teams", "local-agent", "local_agent", "remote", "remote_cowork",
    "remote_desktop", "remote_mobile", "remote_projects", "ssh-remote",
)  # fmt: skip
TYPED = ("typed", "queued", "suggestion_accepted")  # `promptSource` of a transcript's record
SDK = "sdk"  # `promptSource` of every host without a terminal, an editor's too; begins the SDKs' own names


def run_of(facts: Mapping[Any, object]) -> str:
    """Return the name of a prompt's run, "" for a person.

    facts: a transcript's record, or a hook's payload with edge.hook.main.TELLING. A host that names no entry point says
    nothing: its prompts are a person's.
    """
    entry, source = text_of(facts, "entrypoint"), text_of(facts, "promptSource")
    background = text_of(facts, "sessionKind") or (text_of(facts, "scheduled") and "scheduled")
    if background or facts.get("attended") == "0":
        return background or entry or "unattended"
    origin = facts.get("origin")
    is_shown = source in TYPED or (isinstance(origin, dict) and origin.get("kind") == "human")
    if is_shown or entry in TYPED_IN or (facts.get("attended") == "1" and not entry.startswith(SDK)):
        return ""
    return entry or (SDK if source == SDK else "")


def text_of(facts: Mapping[Any, object], field: str) -> str:
    """Return a field that is a text, "" for anything else."""
    value = facts.get(field)
    return value if isinstance(value, str) else ""
