"""Answers drawn as Markdown: nothing of them is lost, however their parts come."""

import io
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memlayer.cli.terminal.markdown import MarkdownStream, blocks_of

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ANSWER = """\
## 결론

**포트**는 `9440`, because of the *proxy*.
둘째 줄 그대로, Vec<T> 와 <b>그대로</b>
[mem:a7Bc3x]: 링크가 아니다

- 하나
- 둘
  ```python
  def f():
      return "값"
  ```

1. first
2. 둘째

| 이름 | 값 |
|---|---|
| 포트 | 9440 |

> 인용

![그림](https://a.example/x.png) [문서](https://a.example/문서) <https://b.example>
"""


def drawn(*parts: str, is_terminal: bool = False, width: int = 80) -> str:
    """What a console shows."""
    file = io.StringIO()
    options = {"markup": False, "highlight": False, "emoji": False}
    console = Console(file=file, width=width, height=20, force_terminal=is_terminal, **options)  # type: ignore[arg-type]
    stream = MarkdownStream(console)
    for part in parts:
        stream.feed(part)
    stream.end()
    return file.getvalue()


def test_answer_is_drawn() -> None:
    rows = drawn(ANSWER, width=100).split("\n")
    assert rows[:5] == [
        "결론",
        "",
        "포트는 9440, because of the proxy.",
        "둘째 줄 그대로, Vec<T> 와 <b>그대로</b>",
        "[mem:a7Bc3x]: 링크가 아니다",
    ]
    assert rows[6:10] == [" • 하나", " • 둘", "   def f():", '       return "값"']
    for row in (" 1 first", " 2 둘째", " 이름  값", " 포트  9440", "▌ 인용"):
        assert any(row in shown for shown in rows), row
    assert "!그림 (https://a.example/x.png) 문서 (https://a.example/문서) <https://b.example>" in rows[-2:]
    assert all(row == row.rstrip() for row in rows)  # to be copied


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 200])
def test_parts_of_any_size_give_the_same(size: int) -> None:
    parts = [ANSWER[at : at + size] for at in range(0, len(ANSWER), size)]
    assert drawn(*parts) == drawn(ANSWER)


def test_growing_block_is_drawn_and_erased() -> None:
    """On a terminal a long block shows its end while it grows; whole and once when it is done."""
    rows = ["행 %d" % number for number in range(40)]
    file = io.StringIO()
    console = Console(file=file, width=80, height=20, force_terminal=True, highlight=False)
    stream = MarkdownStream(console)
    stream.feed("앞\n\n```\n")
    for row in rows:
        stream.feed(row + "\n")
    ends = time.monotonic() + 10
    while "행 39" not in (growing := file.getvalue()) and time.monotonic() < ends:
        time.sleep(0.05)
    last = ANSI.sub("", growing.rpartition("\x1b[2K")[2])
    assert "행 39" in last and "행 22" in last and "행 21" not in last
    stream.feed("```\n")
    stream.end()
    done = ANSI.sub("", file.getvalue()[len(growing) :].rpartition("\x1b[2K")[2]).replace("\r", "")
    assert done == "\n".join(rows) + "\n"
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h")  # the cursor is back


# No language of a code block: it is the one thing that is not shown.
MARKS = st.sampled_from(
    [
        *"#*_>-+|![]()<>\\ \n\n\t1.ab가나",
        "\n```\n",
        "\n~~~\n",
        "`a`",
        "~~b~~",
        "|---|",
        "    ",
        "[a]: b",
        "<div>",
        "- ",
        "1. ",
    ]
)


@given(st.lists(MARKS, max_size=60).map("".join))
def test_any_text_is_drawn(text: str) -> None:
    """No text breaks it, no block is lost, and its letters stay in order."""
    assert "".join(blocks_of(text)).replace("\n", "") == text.replace("\n", "")
    shown = drawn(text, width=400)
    assert [char for char in shown if char in "가나"] == [char for char in text if char in "가나"]
    assert drawn(*text) == drawn(text)
