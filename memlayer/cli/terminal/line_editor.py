"""The person's typing: prompts of several lines, answers to questions.

The editor is prompt_toolkit, on a terminal. Elsewhere lines are read as they come. History is kept in memory alone,
since a prompt may hold a secret.
"""

import contextlib
import os
import select
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

PROMPT = "› "
NEXT_ROW = "  "
LINES_ALONE = (None, "", "dumb", "unknown")  # terminals, such as that of an editor, that send and show whole lines


class LineReader(Protocol):
    """The place where a person types."""

    def prompt(self) -> str:
        """Return the next prompt. Raises EOFError, KeyboardInterrupt."""

    def ask(self, question: str) -> str:
        """Return an answer typed after the question. Raises as prompt does."""


class PlainReader:
    """Lines of standard input; each is a prompt."""

    def prompt(self) -> str:
        """See LineReader."""
        return input(PROMPT)

    def ask(self, question: str) -> str:
        """See LineReader."""
        drop_typed()
        return input(question)


class Editor:
    """Lines edited on a terminal."""

    def __init__(self) -> None:
        """Raises ImportError without prompt_toolkit."""
        # No question to the terminal for the cursor's place: one that does not answer would be warned of, and a late
        # answer would be taken for typed text.
        os.environ.setdefault("PROMPT_TOOLKIT_NO_CPR", "1")
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import DummyHistory, InMemoryHistory

        self._prompts = PromptSession[str](
            PROMPT, multiline=True, prompt_continuation=NEXT_ROW, key_bindings=_keys(), history=InMemoryHistory(),
            enable_suspend=True,
        )  # fmt: skip
        self._answers = PromptSession[str](history=DummyHistory())

    def prompt(self) -> str:
        """See LineReader. Pasted lines are one prompt."""
        return self._prompts.prompt()

    def ask(self, question: str) -> str:
        """See LineReader."""
        from prompt_toolkit.input.typeahead import clear_typeahead

        clear_typeahead(self._answers.input)
        drop_typed()
        return self._answers.prompt(question)


def open_reader() -> LineReader:
    """Return the editor on a terminal, else plain lines."""
    if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") not in LINES_ALONE:
        with contextlib.suppress(ImportError):
            return Editor()
    return PlainReader()


def drop_typed() -> None:
    """Drop text that was typed, or pasted, before a question was shown."""
    import termios

    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _keys() -> "KeyBindings":
    """Return the keys of a prompt, beside those of a shell's line."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        if _more_comes(event):
            buffer.insert_text("\n")
        elif buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _(event: "KeyPressEvent") -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return keys


def _more_comes(event: "KeyPressEvent") -> bool:
    """Return whether Enter is part of a paste without brackets."""
    return bool(event.key_processor.input_queue) or bool(select.select([event.app.input.fileno()], [], [], 0)[0])
