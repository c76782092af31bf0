"""Names of code in notes, English and Korean."""

from __future__ import annotations

import pytest

from memlayer.text.code_names import names_in

NAMED = [
    ("The cart lives in src/cart_store.py (CartStore).", ["src/cart_store.py", "CartStore"]),
    ("장바구니는 `load_cart()`로 cart.py를 읽고 CART_URL은 .env에 둔다.", ["load_cart", "cart.py", "CART_URL"]),
    ("`make smoke` before a push; --local-dev installs it.", ["make smoke", "--local-dev"]),
    ("GoReleaser v2.13.2 and Redis 7.2; it took 1.5 s, 30 %.", ["GoReleaser", "v2.13.2", "7.2"]),
    (".claude/settings.json의 hook은 그대로 둔다.", [".claude/settings.json"]),
    ("`language` 필드는 두지 않는다. E.g. this, U.S. law, 3.5점.", []),
    ("See /etc/passwd, ~/notes/a.md and ../other/b.py.", []),
    ("그냥 한국어로만 쓴 결정이다.", []),
]


@pytest.mark.parametrize(("text", "names"), NAMED)
def test_names_of_code(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_files_of_a_note_come_first() -> None:
    assert names_in("정산은 Settler가 아니라 SettleJob이 한다.", ["결제/정산.py"]) == ["결제/정산.py", "SettleJob"]
