"""Code that a hook may import, and a row for each hook.

Standard library, Python 3.9. The table stands here because every hook process imports this file: one more costs 0.1 ms.
"""


class Hook:
    """A hook of the host.

    event: its name there. kind: of the event that it keeps, "" for none: it only asks, and is silent without a daemon.
    wait_s: for the daemon, before it keeps the event by itself. The host's prompt waits as long. 0: asks no daemon.
    detail: the field of its payload that tells such events apart, where it has no text. tells: prints a line for the
    person. Nobody reads it elsewhere, or the summarizer does.
    """

    def __init__(
        self, event: str, kind: str = "", wait_s: float = 0.3, detail: str = "", *, tells: bool = True
    ) -> None:
        self.event, self.kind, self.wait_s, self.detail, self.tells = event, kind, wait_s, detail, tells


HOOKS = {
    "session_start": Hook("SessionStart", "session_start", 0.8, "source"),
    "user_prompt_submit": Hook("UserPromptSubmit", "user", 0.6),
    "user_prompt_expansion": Hook("UserPromptExpansion", wait_s=0),  # keeps the words typed after a command of ours
    "pre_tool_use": Hook("PreToolUse"),
    "post_tool_use": Hook("PostToolUse", "tool"),
    "post_tool_use_failure": Hook("PostToolUseFailure", "tool"),
    "task_created": Hook("TaskCreated", "task"),
    "task_completed": Hook("TaskCompleted", "task"),
    "stop": Hook("Stop", "assistant"),
    "session_end": Hook("SessionEnd", "session_end", 0.4, "reason", tells=False),
    "pre_compact": Hook("PreCompact", "pre_compact", detail="trigger", tells=False),
    "post_compact": Hook("PostCompact", "post_compact", detail="trigger", tells=False),
    "subagent_start": Hook("SubagentStart"),
}
