"""Readers of sessions: their choice, price, and those at hand."""

import os
from urllib.parse import urlsplit

from memlayer.cli.terminal.invocation import Incomplete, settings
from memlayer.cli.terminal.output import line, short_path
from memlayer.edge.counting import counted
from memlayer.wire.notes import ModelUse, NotesState, SessionsRead

DEFAULT_PROVIDER = "claude-cli"
LOCAL = "a model on this machine: `memlayer notes on --provider openai --base-url URL --model NAME`"
MISSING = "no `claude` command is found on this machine"
SESSION_TOKENS = 7000  # measured: docs/inside/quality.md
BY_SESSION = (
    "At its start each session's own model is asked to write what was tried and did not hold, lasting wishes, and "
    "decisions with their reason, two notes at most. Each needs a quote of your words or a tool's, and is marked as a "
    "model's; none becomes a rule. No call of its own: some 150 tokens a note. Runs that nobody types are not asked."
)


def changes_for_own() -> dict[str, list[str]]:
    """Return the settings for the session's own model; no reader begins."""
    changes = {"consolidation.by_session": ["true"]}
    if settings().notes.enabled:
        return changes
    return {**changes, "notes.enabled": ["true"], "consolidation.provider": ["rules"]}


def changes_for(
    provider: str | None, base_url: str | None, model: str | None, *, is_offer: bool = False
) -> dict[str, list[str]]:
    """Return the settings that turn reading on, with their values.

    Another provider or server does not inherit the model and key of the one before. Raises Incomplete, also for a
    `claude` that is not here, unless is_offer: nothing is turned on by it.
    """
    from memlayer.config.providers import PROVIDERS, program_path

    held = settings()
    before = held.consolidation
    chosen = provider or (before.provider if before.provider != "rules" else DEFAULT_PROVIDER)
    is_other = chosen != before.provider
    reader = PROVIDERS[chosen]
    if base_url and not reader.url:
        servers = " or ".join(name for name, row in PROVIDERS.items() if row.title and row.url)
        raise Incomplete(f"--base-url goes with --provider {servers}")
    if not (reader.model or model) and (is_other or not before.model):
        raise Incomplete(f"{chosen} needs a model: add --model NAME")
    if chosen == DEFAULT_PROVIDER and not (program_path() or is_offer):
        ways = ", ".join([*ways_by_key(), LOCAL])
        raise Incomplete(f"Say who reads, since {MISSING}: `memlayer notes on --by session`, or {ways}")
    changes = {"provider": chosen, "reads": "session"}
    for name, value, is_dropped in (
        ("model", model, is_other),
        ("base_url", base_url, is_other),
        ("api_key_env", "", is_other or base_url),
    ):
        if value or is_dropped:
            changes[name] = value or ""
    changed = {name: value for name, value in changes.items() if name == "provider" or getattr(before, name) != value}
    typed = {"consolidation." + name: [value] for name, value in changed.items()}
    return typed if held.notes.enabled else {**typed, "notes.enabled": ["true"]}


def planned(changes: dict[str, list[str]]) -> ModelUse:
    """Return who will read under changed settings."""
    from memlayer.config.providers import PROVIDERS

    before = settings().consolidation
    provider, model, url = (
        changes.get("consolidation." + name, [getattr(before, name)])[0] for name in ("provider", "model", "base_url")
    )
    model = model or PROVIDERS[provider].model
    return ModelUse(provider=provider, model=model, base_url=url, daily_tokens=before.daily_tokens)


def reader_of(use: ModelUse) -> tuple[str, str]:
    """Return who reads, with the model, and who pays."""
    from memlayer.config.providers import PROVIDERS

    reader, host = PROVIDERS[use.provider], urlsplit(use.base_url).hostname
    return f"{line(host) or reader.title} ({line(use.model)})", "there" if host else reader.payer


def work_and_price(use: ModelUse) -> tuple[str, str]:
    """Return the reader, its sessions and their cost."""
    name, payer = reader_of(use)
    return (
        f"{name} reads each session once, when it is over: what you typed, how the answers ended, names of changed "
        "files and first lines of errors, redacted.",
        f"It costs about {SESSION_TOKENS:,} tokens a session {payer}, at most {use.daily_tokens:,} a day; beyond "
        "that, sessions wait.",
    )


def offer_rows(state: NotesState, unread: SessionsRead) -> list[tuple[str, str]]:
    """Return the possible reader, its price, and the way to it.

    unread: the estimate for earlier sessions.
    """
    from memlayer.config.providers import program_path

    would = planned(changes_for(DEFAULT_PROVIDER, None, None, is_offer=True) if state.use.provider == "rules" else {})
    name, payer = reader_of(would)
    is_usual = would.provider == DEFAULT_PROVIDER
    program = program_path() if is_usual else ""
    is_here = bool(program) or not is_usual
    most = f", at most {would.daily_tokens:,} a day"
    earlier = f"{estimate_of(unread)}: not read, and only by `memlayer notes read`"
    return [
        ("reads", name + (f", found at {line(short_path(program))}" if program else "") if is_here else MISSING),
        ("price", f"about {SESSION_TOKENS:,} tokens a session{' ' + payer if is_here else ''}{most}"),
        ("earlier sessions", earlier if unread.sessions else ""),
        ("say yes", "`memlayer notes on`" if is_here else ""),
        ("or, without a call", "`memlayer notes on --by session`: Claude writes them as it works, two a session"),
        *(("or", way) for way in ways_by_key(would.provider)),
        ("or", LOCAL),
    ]


def ways_by_key(but: str = "") -> list[str]:
    """Return how the readers whose key is at hand are chosen."""
    from memlayer.config.providers import PROVIDERS

    return [
        f"{row.title}, with the key in {row.key_variable}: `memlayer notes on --provider {name}"
        f"{'' if row.model else ' --model NAME'}`"
        for name, row in PROVIDERS.items()
        if name != but and row.title and row.key_variable and os.environ.get(row.key_variable)
    ]


def estimate_of(plan: SessionsRead) -> str:
    """Return the sessions of an estimate and their tokens."""
    own = f", {plan.own_tokens:,} of them `claude`'s own words around the calls" if plan.own_tokens else ""
    return f"{counted(plan.sessions, 'session')}, about {round(plan.tokens, -2):,} tokens{own}"
