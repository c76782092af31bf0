"""A talk put together from the settings: model, tools, persona, memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from functools import partial

from memlayer.agent.choices import draw_persona, model_for
from memlayer.agent.context.history import TalkHistory
from memlayer.agent.context.project import project_notes, surroundings
from memlayer.agent.dispatch import choose
from memlayer.agent.execution import Tool, Toolbox, ToolOutput
from memlayer.agent.files import Approve
from memlayer.agent.loop import SYSTEM, Agent, Event
from memlayer.agent.memory import TalkMemory
from memlayer.agent.past_talk import PastTalk, day_of, messages_of
from memlayer.agent.tools import tools_of
from memlayer.config import Settings
from memlayer.providers.chosen import NOT_SET_UP, chat_provider

__all__ = ["NOT_SET_UP", "make_agent", "restore"]


def make_agent(
    settings: Settings,
    memory: TalkMemory,
    approve: Approve,
    on_event: Callable[[Event], None],
    *,
    past: PastTalk | None = None,
) -> tuple[Agent, list[Tool], list[str]]:
    """Return a talk's agent, its tools, and problems, a line each.

    approve: asks the person. past: a talk to go on with. Raises ChatError where no model is set up, or its program,
    package or key is missing.
    """
    chosen = settings.agent
    provider = chat_provider(settings, memory.home)
    provider.check()
    tools, problems = tools_of(memory, approve, lambda text: on_event(ToolOutput(text)))
    context = memory.start(is_resumed=past is not None, model=chosen.model_name)
    now = datetime.now().astimezone()
    persona = draw_persona(settings.soul, memory.home, now, random.random)
    around, notes = surroundings(memory.project_dir, now), project_notes(memory.project_dir)
    agent = Agent(
        provider,
        chosen,
        Toolbox(tools, is_parallel=chosen.parallel_tools, time_limit_s=chosen.tool_timeout_s),
        memory,
        choose(chosen.tool_dispatcher, provider),
        TalkHistory(chosen.max_history_messages),
        system="\n\n".join(filter(None, (persona, SYSTEM, around, notes, context))),
        choose_model=partial(model_for, settings.query_classification),
        on_event=on_event,
    )
    if past is not None:
        restore(agent, past)
    return agent, tools, problems


def restore(agent: Agent, past: PastTalk) -> None:
    """Put a restored talk in place of an agent's history."""
    agent.last_day = day_of(datetime.fromtimestamp(past.turns[-1].at_ms / 1000)) if past.turns else ""
    agent.compactor.restore(past.summary, [turn.prompt_id for turn in past.turns], messages_of(past.turns))
