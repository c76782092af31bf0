"""The tables of the command line: aligned columns, wide letters, and stored text that stays data."""

import pytest
from rich.cells import cell_len

from memlayer.cli.terminal.output import table


def test_columns_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    table(("project", "turns", "where"), [("상점 shop", "7", "여기"), ("a", "1,204", "there"), ("", "-", "\x1b[31m끝")])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == "project    turns  where"
    places = {cell_len(row[: row.index(last)]) for row, last in zip(rows, ("여기", "there", "끝"), strict=True)}
    assert places == {cell_len("project    turns  ")}
    assert rows[0].startswith("상점 shop      7") and rows[1].startswith("a          1,204")
    assert "\x1b" not in rows[2]


def test_no_rows_no_head(capsys: pytest.CaptureFixture[str]) -> None:
    table(("a", "b"), [])
    assert capsys.readouterr().out == ""
