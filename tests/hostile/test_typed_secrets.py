"""Secrets typed into commands, put into brackets, split, or written in two scripts; and what only looks so.

Set 0: as reported. Sets 1 and 2 were written before the rules and after their first form. docs/privacy.md has the
shares at first sight.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest

from memlayer.edge.redaction.privacy import redact
from tests.support.corpus import items

TYPED = items("secrets_typed_positive")
HARMLESS = items("secrets_typed_negative")
MISSED = {0: 0, 1: 9, 2: 8}  # no name, no sign and no program tells of these
CHANGED = 3


def is_left(item: dict[str, str], text: str) -> bool:
    """True if the secret, twelve characters of it or its part in Hangul remain."""
    secret = item["secret"]
    hangul = "".join(sign for sign in secret if "가" <= sign <= "힣")
    size = min(12, len(secret))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1)) or (
        hangul != "" and hangul in text
    )


@pytest.mark.parametrize("number", MISSED)
def test_typed_secrets_are_found(number: int) -> None:
    missed = [item["text"] for item in TYPED if item["set"] == number and is_left(item, redact(item["text"]))]
    assert len(missed) <= MISSED[number], missed


def test_every_form_has_korean_and_english() -> None:
    forms = {item["form"] for item in TYPED}
    assert len(forms) >= 8 and len(TYPED) >= 300 and len(HARMLESS) >= 250
    for texts in ([item["text"] for item in TYPED], [item["text"] for item in HARMLESS]):
        assert sum(not text.isascii() for text in texts) >= 40 and sum(text.isascii() for text in texts) >= 150


def test_harmless_look_alikes_stay() -> None:
    changed = [(item["text"], redact(item["text"])) for item in HARMLESS if redact(item["text"]) != item["text"]]
    assert len(changed) <= CHANGED, changed


def in_json(text: str) -> str:
    return json.dumps({"tool": "Bash", "input": {"command": text}}, ensure_ascii=False)


def numbered(text: str) -> str:
    return "\n".join("%6d\t%s" % (i, line) for i, line in enumerate(text.split("\n"), 1))


@pytest.mark.parametrize("wrap", [in_json, numbered, shlex.quote], ids=lambda wrap: wrap.__name__)
def test_typed_secrets_in_tool_texts_are_found(wrap: Callable[[str], str]) -> None:
    found = [item for item in TYPED if not is_left(item, redact(item["text"])) and is_left(item, wrap(item["text"]))]
    missed = [wrap(item["text"]) for item in found if is_left(item, redact(wrap(item["text"])))]
    assert len(missed) <= 0.04 * len(found), missed


def test_redacting_typed_secrets_twice_changes_nothing() -> None:
    for item in TYPED:
        once = redact(item["text"])
        assert redact(once) == once


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("비밀번호는 hunter2고래밥이야, 잊지 마", "비밀번호는 [redacted:password]이야, 잊지 마"),
        ("비번은 tide44파도로 바꿨어", "비번은 [redacted:password]로 바꿨어"),
        ("비밀번호는 hunter2야구장", "비밀번호는 [redacted:password]"),
        ("비밀번호는 hunter22야", "비밀번호는 [redacted:password]야"),
        ("공공데이터 인증키(aB3dE6gH9jK2mN5p)를 넣어", "공공데이터 인증키([redacted:api-key])를 넣어"),
        ("cryptsetup open /dev/sdb1 d - <<< 'Tide7 x'", "cryptsetup open /dev/sdb1 d - <<< '[redacted:password]'"),
        ("wandb login 8f3kq02mzx71 && make", "wandb login [redacted:token] && make"),
        ('t = "ghp_A1b2C3d4E5f6G7h8I9" + "j0K1l2M3n4O5p6Q7r8", None', 't = "[redacted:github-token]", None'),
    ],
)
def test_only_the_typed_value_goes(text: str, left: str) -> None:
    assert redact(text) == left
