"""The person's consent to a tool call: yes, no, a reason, always."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memlayer.cli.terminal.output import say
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import ToolError

# The second half: keys of a Korean keyboard, where somebody forgot to switch it.
YES = frozenset(("y", "yes", "예", "네", "응", "ㅛ"))
NO = frozenset(("", "n", "no", "아니", "아니요", "아니오", "ㅜ"))
ALWAYS = frozenset(("a", "always", "항상", "ㅁ"))
MAX_REASON_CHARS = 1000
CHOICES = "[y]es, [n]o, or the reason for a no: "
CHOICES_OF_COMMAND = "[y]es, [n]o, [a]lways this command in this talk, or the reason for a no: "
NO_TERMINAL = "Not run: it needs the person's consent. There is no terminal to ask at; --yes allows it"
REFUSED = "The person refused this call. Do not try it again; ask for another way"
REFUSED_BECAUSE = "The person refused this call, and says: %s"


@dataclass
class Consent:
    """The person's consent to tool calls.

    is_given: to all of them. ask: prints a prompt and returns the answer. Raises EOFError.
    """

    is_given: bool = False
    can_ask: bool = False
    ask: Callable[[str], str] = input
    _always: set[str] = field(default_factory=set)  # commands, to the letter

    def __call__(self, question: str, details: str, *, always: str = "") -> None:
        """Ask. Raises ToolError for a refusal; see files.Approve."""
        if self.is_given or (always and always in self._always):
            return
        if not self.can_ask:
            raise ToolError(NO_TERMINAL)
        say("", to_stderr=True)
        say((question, "bold"), to_stderr=True)
        for row in visible(details).split("\n"):
            say(row, indent=4, to_stderr=True)
        answer = self._answer(ALWAYS if always else frozenset())
        word = answer.casefold()
        if always and word in ALWAYS:
            self._always.add(always)
        elif word in NO:
            raise ToolError(REFUSED)
        elif word not in YES:
            raise ToolError(REFUSED_BECAUSE % answer[:MAX_REASON_CHARS])

    def _answer(self, always: frozenset[str]) -> str:
        """Ask until the answer is a clear yes, no or reason."""
        clear = YES | always
        while True:
            try:
                answer = plain(self.ask(CHOICES_OF_COMMAND if always else CHOICES)).strip()
            except EOFError:
                return ""
            words = answer.casefold().split()
            begins_with_yes = bool(words) and words[0].rstrip(",.!") in (YES | ALWAYS) - {"a"}
            if not begins_with_yes or answer.casefold() in clear:
                return answer


def visible(text: str) -> str:
    """Return a command with its hidden characters as escapes, for consent."""
    return "".join(char if char == "\n" or is_seen(char) else escaped(char) for char in text.replace("\t", "    "))


def is_seen(char: str) -> bool:
    """Return whether a terminal shows a character as itself."""
    return char.isprintable() and plain(char) == char


def escaped(char: str) -> str:
    """Return a character as an escape, such as \\u202e."""
    return "\\u%04x" % ord(char) if ord(char) < 0x10000 else "\\U%08x" % ord(char)
