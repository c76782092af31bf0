"""Names of code in notes, English and Korean."""

import pytest

from memlayer.records.ground import names_in
from tests.support.tables import tables

NAMED = tables("text/code_names")["named"]


@pytest.mark.parametrize(("text", "names"), NAMED)
def test_names_of_code(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_files_of_a_note_come_first() -> None:
    assert names_in("정산은 Settler가 아니라 SettleJob이 한다.", ["결제/정산.py"]) == ["결제/정산.py", "SettleJob"]
