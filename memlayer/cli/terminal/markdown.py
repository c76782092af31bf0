"""Answers drawn as Markdown while they come, by rich.

A block is printed once the next one begins. The block that is still growing is drawn below, and drawn anew, where the
terminal can do that. Nothing of an answer is lost: HTML, link definitions and addresses of links stay readable, and
line breaks stay line breaks.
"""

import itertools
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.live import Live
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.syntax import Syntax

DRAWN_PER_S = 10
ROWS_LEFT = 2  # of the terminal, above a block that grows
CODE_THEME = "ansi_dark"  # colours of the terminal's own palette
# Parts that rich would hide: a definition, the target of an image. A link that is its own text would come twice.
HIDING = ("reference", "image", "autolink")


def parser() -> MarkdownIt:
    """Return a parser that leaves HTML and addresses as they are written."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable(HIDING)
    made.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return made


class Code(CodeBlock):
    """A code block that can be copied: no margin, no background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """See rich."""
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default")


class LeftHeading(Heading):
    """A heading at the left edge, of the first rank as well."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class Drawn(Markdown):
    """Markdown as a renderable of rich."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "fence": Code,
        "code_block": Code,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme=CODE_THEME, justify="default", hyperlinks=False)
        self.parsed = [_broken(token) for token in parser().parse(text)]


class Block:
    """A block without blank edges; of a growing one the visible end."""

    def __init__(self, text: str, *, is_growing: bool = False) -> None:
        self._text, self._is_growing = text, is_growing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """See rich."""
        rows = [_trimmed(row) for row in console.render_lines(Drawn(self._text), options.update(height=None))]
        filled = [at for at, row in enumerate(rows) if row]
        rows = rows[filled[0] : filled[-1] + 1] if filled else []
        for row in rows[-max(1, console.height - ROWS_LEFT) :] if self._is_growing else rows:
            yield from row
            yield Segment.line()


class MarkdownStream:
    """An answer that comes in parts."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._growing = ""  # the last block
        self._has_blocks = False
        self._is_parted = False  # by a blank line from the block before
        self._live: Live | None = None

    def feed(self, text: str) -> None:
        """Draw the next part."""
        self._growing += text
        if "\n" in text:
            *whole, growing = blocks_of(self._growing)
            self._print(whole)
            self._growing = growing
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._draw_growing()

    def end(self) -> None:
        """Print the rest; a next part begins another answer."""
        self._print(blocks_of(self._growing))
        self._growing, self._has_blocks, self._is_parted = "", False, False

    def _print(self, blocks: list[str]) -> None:
        if blocks and self._live:
            self._live.stop()  # erases the growing block
            self._live = None
        for text in filter(str.strip, blocks):
            self._part()
            self._console.print(Block(text))
            self._has_blocks, self._is_parted = True, False

    def _draw_growing(self) -> None:
        """Draw the growing block from now on, anew as it grows."""
        if self._live or not self._growing.strip():
            return
        self._part()
        self._live = Live(
            console=self._console, get_renderable=lambda: Block(self._growing, is_growing=True), transient=True,
            refresh_per_second=DRAWN_PER_S, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start(refresh=True)

    def _part(self) -> None:
        """Print a blank line between two blocks."""
        if self._has_blocks and not self._is_parted:
            self._console.print()
            self._is_parted = True


def blocks_of(text: str) -> list[str]:
    """Return the blocks of a text, the last perhaps unfinished."""
    starts = [token.map[0] for token in parser().parse(text) if token.map and not token.level]
    rows = text.split("\n")
    edges = [0, *starts[1:], len(rows)]
    return ["\n".join(rows[begin:end]) for begin, end in itertools.pairwise(edges)]


def _trimmed(row: list[Segment]) -> list[Segment]:
    """Remove blanks at the end of a row."""
    while row and not row[-1].text.strip():
        row.pop()
    return [*row[:-1], row[-1]._replace(text=row[-1].text.rstrip())] if row else row


def _broken(token: Token) -> Token:
    """Make line breaks of a paragraph lasting ones."""
    for child in token.children or ():
        if child.type == "softbreak":
            child.type = "hardbreak"
    return token
