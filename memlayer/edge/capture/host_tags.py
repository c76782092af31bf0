"""The tags by which the host tells its own text from the person's, and by which a model was taught to."""

from __future__ import annotations

# Blocks that the host (or an agent framework above it) puts where a prompt would stand.
GENERATED_TAGS = (
    "command-name", "command-message", "command-args", "command-contents", "local-command-stdout",
    "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr", "tool_result",
    "tool_use", "tool_use_error", "task-notification", "task-status", "teammate-message", "agent-message",
    "agent-notification", "cross-session-message", "persisted-output", "user-prompt-submit-hook", "session-start-hook",
    "environment_context", "channel-status",
)  # fmt: skip
# How names begin that stored text may not open: those above, what the host adds to a prompt, and turns of a dialogue.
TAG_BEGINNINGS = (
    "system", "user", "assistant", "human", "command", "local-command", "tool", "function", "invoke", "antml", "memory",
    "private", "im_start", "im_end", "ide_selection", "ide_opened_file", "ide_diagnostics", "new-diagnostics",
    "thinking", "claudemd", "environment", "hook", "stop-hook", "channel", *GENERATED_TAGS,
)  # fmt: skip
