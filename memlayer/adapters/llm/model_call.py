"""Calls to a provider's SDK: hard deadline, errors without the prompt."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from memlayer.edge.bootstrap import extras
from memlayer.errors import ConsolidationError
from memlayer.ports import LanguageModel, ModelMissing

T = TypeVar("T")
REFUSED = (400, 422)  # a server's answer to an unknown parameter


class CheckedModel(LanguageModel, Protocol):
    """A LanguageModel that can check its requirements beforehand."""

    def check(self) -> None:
        """Look for program, package and key. Raises ModelMissing.

        Loads and sends nothing.
        """
        ...


def run(call: Callable[[], Awaitable[T]], deadline_s: float, name: str) -> T:
    """Return the call's result; raise ConsolidationError at the deadline.

    The deadline also holds when the other side sends a byte at a time.
    """

    async def bounded() -> T:
        async with asyncio.timeout(deadline_s):
            return await call()

    try:
        return asyncio.run(bounded())
    except TimeoutError as bad:
        raise ConsolidationError("%s did not answer within %g s" % (name, deadline_s)) from bad


def key_from(variable: str, *, is_needed: bool) -> str:
    """Return the key in this variable, "none" for a variable "".

    Raises ModelMissing when it is needed and unset.
    """
    key = os.environ.get(variable, "").strip()
    if not key and is_needed:
        raise ModelMissing(
            "%s is not set where the daemon was started: in a shell that has it, run memlayer daemon restart" % variable
        )
    return key or "none"  # the SDKs insist on one; a server of one's own does not look at it


def check_package(package: str, requirement: str) -> None:
    """Raise ModelMissing, with the install command, if the SDK is absent."""
    command = install_command(package, requirement)
    if command:
        raise ModelMissing(f"the {package} package is not installed: run {command}, then memlayer daemon restart")


def install_command(package: str, requirement: str) -> str:
    """Return the command that installs an SDK, "" for an installed one."""
    try:
        if importlib.util.find_spec(package) is not None:
            return ""
    except ValueError:  # it is being kept out
        pass
    name = next((name for name, known in extras.EXTRAS.items() if known == requirement), "")
    if extras.command_for(name):
        return extras.command_for(name)
    python = shlex.quote(sys.executable)
    with_pip = importlib.util.find_spec("pip") is not None
    return f"{python} -m pip install '{requirement}'" if with_pip else f"uv pip install -p {python} '{requirement}'"


def redacted_error(error: Exception, name: str, *, has_key: bool = True) -> ConsolidationError:
    """Return the SDK's error as one line: its kind or HTTP status.

    Its own text may repeat the prompt or a key. has_key: False where another address is sent none.
    """
    status = getattr(error, "status_code", None)
    says = "HTTP %s" % status if isinstance(status, int) else type(error).__name__
    if isinstance(error, (AttributeError, LookupError, TypeError, ValueError)):
        says = "no answer of its interface (%s)" % says
    if status in (401, 403) and not has_key:
        says += ": name a key's variable in consolidation.api_key_env"
    return ConsolidationError("%s: %s" % (name, says))


def tokens_of(*counts: object) -> int:
    """Sum token counts of a provider; invalid counts are 0."""
    return sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0)
