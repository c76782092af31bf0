"""The hooks' handlers: one for each row of edge.HOOKS."""

from collections.abc import Callable

from memlayer.daemon import at_action, hooks
from memlayer.daemon.hook_call import Handler
from memlayer.daemon.resources.state import Send, State
from memlayer.daemon.tasks import flush
from memlayer.edge.ipc import protocol

HANDLERS = {
    "hook.session_start": Handler(answer=hooks.answer_start, background=hooks.after_session_start),
    "hook.user_prompt_submit": Handler(
        begin=hooks.begin_recall, answer=hooks.answer_prompt, after_reply=hooks.after_prompt
    ),
    "hook.post_tool_use": Handler(answer=at_action.answer_failure),
    "hook.post_tool_use_failure": Handler(answer=at_action.answer_failure),
    "hook.task_created": Handler(),
    "hook.task_completed": Handler(),
    "hook.stop": Handler(ignores=flush.is_answer_to_us, answer=hooks.answer_stop, background=hooks.after_stop),
    "hook.session_end": Handler(background=hooks.after_session_end),
    "hook.pre_compact": Handler(answer=hooks.answer_pre_compact, background=hooks.after_pre_compact),
    "hook.post_compact": Handler(),
}
# Hooks that only ask, and leave no event.
ASKING: dict[str, Callable[[protocol.Request, Send, State], None]] = {
    "hook.pre_tool_use": at_action.answer_before,
    "hook.subagent_start": hooks.answer_subagent_start,
}
