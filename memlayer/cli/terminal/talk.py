"""A talk with the agent: prompts, answers, commands, Ctrl-C."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memlayer.agent.assembly import restore
from memlayer.agent.context.history import Compacted, CompactionMethod
from memlayer.agent.execution import Stoppable, Tool
from memlayer.agent.loop import Agent, Event
from memlayer.agent.memory import TalkMemory
from memlayer.agent.tools import MemorySearch
from memlayer.cli.terminal.line_editor import LineReader
from memlayer.cli.terminal.output import say
from memlayer.cli.terminal.talk_output import TalkOutput
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import ChatError, MemlayerError, ToolError
from memlayer.text.context_block import entry_lines

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
LEAVE_AGAIN = "Ctrl-C again, or Ctrl-D, leaves"
HELP = """\
/memory         the notes that the last prompt was given
/memory WORDS   search the memories of this project
/compact        replace older messages by a summary; /compact undo brings them back
/model [NAME]   show or change the model
/help           this list
/quit           leave, like Ctrl-D

Alt-Enter, Ctrl-J, or \\ before Enter begins a new line; pasted lines are one prompt."""


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


@dataclass
class Talk:
    """A talk of one agent with one person."""

    agent: Agent
    memory: TalkMemory
    output: TalkOutput
    tools: list[Tool] = field(default_factory=list)
    has_failed: bool = False
    _stored: list[bool] = field(default_factory=list)  # of each compaction: whether it has a summary
    _told: str = ""

    def once(self, prompt: str) -> int:
        """Answer one prompt; return the exit code. Raises KeyboardInterrupt."""
        with self._ended():
            self.turn(prompt)
        return 1 if self.has_failed else 0

    def run(self, reader: LineReader) -> int:
        """Talk until the person leaves; return the exit code."""
        interrupts = 0
        with self._ended():
            while True:
                try:
                    typed = reader.prompt().strip()
                    interrupts = 0
                    if typed and not self._obey(typed):
                        return 0
                except EOFError:
                    print()
                    return 0
                except KeyboardInterrupt:
                    print()
                    interrupts += 1
                    if interrupts == 2:
                        return 0
                    self.output.notice(LEAVE_AGAIN)

    def turn(self, prompt: str) -> None:
        """Answer a prompt; failures are shown. Raises KeyboardInterrupt."""
        try:
            self.output.answered(self.agent.turn(prompt))
        except ChatError as bad:
            self.has_failed = True
            self.output.failed(str(bad))
        finally:
            self.output.settle()
            self._tell_of_memory()

    def show(self, event: Event) -> None:
        """Show an event of the agent."""
        if isinstance(event, Compacted):
            self._stored.append(event.method is not CompactionMethod.SHORTENING)
        self.output.show(event)

    def _tell_of_memory(self) -> None:
        """Tell why memory is silent, once for each reason."""
        if self.memory.problem and self.memory.problem != self._told:
            self._told = self.memory.problem
            self.output.notice("memory: " + self.memory.problem)

    def _obey(self, typed: str) -> bool:
        """Obey a command or answer a prompt; False to leave."""
        word, _, rest = typed.partition(" ") if "\n" not in typed else ("", "", "")  # a pasted text is no command
        commands = {
            "/help": self._help, "/memory": self._memory, "/model": self._model, "/compact": self._compact,
        }  # fmt: skip
        command = commands.get(word)
        if word in ("/quit", "/exit"):
            return False
        if command is not None:
            try:
                command(rest.strip())
            except MemlayerError as bad:
                self.output.failed(str(bad))
        elif word.startswith("/") and word[1:].isalpha() and not rest:
            self.output.notice("there is no %s; /help lists the commands" % word)
        else:
            try:
                self.turn(typed)
            except KeyboardInterrupt:
                print()
                self.output.notice("stopped; the talk goes on")
        return True

    def _help(self, rest: str) -> None:
        print(HELP)

    def _memory(self, words: str) -> None:
        if words:
            print(plain(MemorySearch(self.memory).run({"query": words})))
            return
        notes = entry_lines(self.memory.context)
        print("\n".join(map(plain, notes)) if notes else "No notes for the last prompt; /memory WORDS searches.")

    def _model(self, name: str) -> None:
        if name:
            self.agent.settings = self.agent.settings.model_copy(update={"model": name})
        print(plain(self.agent.settings.model_name))

    def _compact(self, rest: str) -> None:
        if rest == "undo":
            self._undo()
        elif rest:
            self.output.notice("/compact, or /compact undo")
        elif self.agent.compactor.compact() is None:
            self.output.notice("nothing to compact yet")

    def _undo(self) -> None:
        was_stored = self._stored.pop() if self._stored else True
        if self.agent.compactor.undo():
            if was_stored:
                with contextlib.suppress(MemlayerError):  # without memory the summary was not stored either
                    self.memory.undo()
        else:
            restore(self.agent, self.memory.undo())
        self.output.notice("the messages before the last compaction are back")

    @contextlib.contextmanager
    def _ended(self) -> Iterator[None]:
        """Stop the tools' processes at the end, and settle the session."""
        try:
            yield
        finally:
            for tool in self.tools:
                if isinstance(tool, Stoppable):
                    tool.stop()
            self.memory.finish()


def can_ask() -> bool:
    """Return whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()
