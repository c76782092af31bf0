"""The verb agent: a talk with a language model on this memory."""

import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from memlayer.cli.terminal.invocation import (
    LANGUAGE_MODELS,
    Incomplete,
    home,
    not_empty,
    project_dir,
    project_option,
    words,
)
from memlayer.cli.terminal.output import say
from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.ipc.client import Client

if TYPE_CHECKING:
    from memlayer.config import Settings

DAEMON_WAIT_S = 5.0
NO_PROMPT = "Give a prompt, or - to read it from standard input"


@click.command("agent")
@click.argument("prompt", nargs=-1)
@click.option("--provider", type=LANGUAGE_MODELS, help="Ask this provider instead of agent.provider.")
@click.option("--model", metavar="NAME", help="Ask this model instead of agent.model.")
@click.option("--base-url", metavar="URL", help="Ask this server (llama.cpp, Ollama, vLLM).")
@project_option
@click.option("--yes", is_flag=True, help="Run commands and write files without asking.")
@click.option("--resume", metavar="SESSION", callback=not_empty, help="Go on with this talk.")
@click.option("--continue", "is_continued", is_flag=True, help="Go on with the last talk of this project.")
@click.option("--no-memory", is_flag=True, help="Keep nothing of this talk, and recall nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line.")
def agent_verb(prompt: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Talk with a language model that has this memory.

    With PROMPT it answers once. Without, you talk at the terminal. Its turns are remembered and recalled like those of
    Claude Code, and the other way round. Nothing is sent to anybody before you set up a provider: docs/agent.md.

    \b
    Examples:
      memlayer agent "결제 모듈은 왜 포트원으로 바꿨지?"
      memlayer agent --provider openai --base-url http://127.0.0.1:8080/v1 --model qwen3
      memlayer agent --continue
      git diff | memlayer agent - --json
    """
    text = words(prompt, NO_PROMPT) if prompt else ""
    if not text and (as_json or not sys.stdin.isatty()):
        raise Incomplete(NO_PROMPT)
    if options["is_continued"] and options["resume"] is not None:
        raise Incomplete("Give --resume or --continue, not both")
    folder = project_dir(options["project"])
    settings = _settings(folder, options)
    if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        options["provider"] = settings.agent.provider or choose_provider()
        offer_package(options["provider"])
        settings = _settings(folder, options)
    if not settings.agent.provider:
        from memlayer.agent.assembly import NOT_SET_UP

        raise Incomplete(NOT_SET_UP)
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _leave)
    past_id = "" if options["is_continued"] else options["resume"]
    return _talk(text, folder, settings, past_id, as_json=as_json, yes=options["yes"], is_off=options["no_memory"])


def choose_provider() -> str:
    """Ask once for the provider of the agent, and keep it."""
    from memlayer.config.edit import set_settings
    from memlayer.config.providers import PROVIDERS, program_path

    own = "claude-cli" if program_path() else ""
    of_own = "claude-cli is your own `claude` command, the others need a key" if own else "each needs a key or a server"
    say(f"The agent asks a language model: {of_own}.")
    choices = click.Choice([name for name in LANGUAGE_MODELS.choices if own or PROVIDERS[name].url])
    name = str(click.prompt("Which provider?", type=choices, default=own or None))
    model = {} if PROVIDERS[name].model else {"agent.model": [str(click.prompt("Which model of it?"))]}
    set_settings(home(), {"agent.provider": [name], **model})
    say(f"agent.provider is now {name}; `memlayer config set agent.provider NAME` changes it.")
    return name


def offer_package(name: str) -> None:
    """Offer to install a provider's missing package into memlayer's own runtime."""
    import importlib
    from importlib.util import find_spec

    from memlayer.config.providers import PROVIDERS
    from memlayer.edge.bootstrap.extras import command_for
    from memlayer.edge.terminal.launch import add_extras

    package = PROVIDERS[name].package
    if not package or find_spec(package) or not command_for(name):
        return
    if click.confirm(f"{name} needs the package {package}, which is not installed. Install it now?", default=True):
        add_extras(home(), plugin_root(), [name], is_quiet=False)
        importlib.invalidate_caches()


def _settings(folder: str, options: dict[str, Any]) -> "Settings":
    """Return the settings with this talk's flags. Raises UserError."""
    from memlayer.config import load_project_settings, load_settings

    flags = {f"agent.{name}": options[name] for name in ("provider", "model", "base_url") if options[name] is not None}
    settings = load_settings(home(), os.environ, flags)
    return settings.for_project(load_project_settings(folder))


def _talk(
    text: str, folder: str, settings: "Settings", past_id: str | None, *, as_json: bool, yes: bool, is_off: bool
) -> int:
    """Begin or resume a talk; return the exit code. Raises MemlayerError."""
    from memlayer.agent.assembly import make_agent
    from memlayer.agent.memory import TalkMemory
    from memlayer.cli.terminal.line_editor import PlainReader, open_reader
    from memlayer.cli.terminal.talk import Consent, Talk, can_ask
    from memlayer.cli.terminal.talk_output import JsonLines, TextOutput

    def client() -> Client:
        return Client(home(), plugin_root(), sys.executable, wait_s=DAEMON_WAIT_S)

    output = JsonLines() if as_json else TextOutput()
    memory = TalkMemory(
        home(), folder, client, is_on=not is_off, keeps=settings.capture.enabled, on_recalled=output.recalled
    )
    past = memory.resume(past_id) if past_id is not None else None
    reader = PlainReader() if text else open_reader()
    consent = Consent(is_given=yes, can_ask=can_ask() and not as_json, ask=reader.ask)
    shown: list[Talk] = []
    agent, tools, problems = make_agent(settings, memory, consent, lambda event: shown[0].show(event), past=past)
    talk = Talk(agent, memory, output, tools)
    shown.append(talk)
    facts = {"session_id": memory.session_id, "provider": settings.agent.provider, "model": settings.agent.model_name}
    output.began({**facts, "resumed": past is not None})
    if past is not None and past.turns:
        output.resumed(past.turns[-1].prompt, past.turns[-1].answer)
    for problem in filter(None, [*problems, memory.notice]):
        output.notice(problem)
    return talk.once(text) if text else talk.run(reader)


def _leave(sign: int, frame: FrameType | None) -> None:
    """End the talk in order when the terminal closes."""
    raise SystemExit(128 + sign)
