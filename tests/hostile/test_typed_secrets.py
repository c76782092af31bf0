"""Secrets typed into commands, put into brackets, split, or written in two scripts; and what only looks so.

Sets 0, 3 and 6: as reported. Sets 1, 4 and 8 were written before the rules, 2, 5, 7 and 9 after their first form.
docs/privacy.md has the shares at first sight.
"""

import json
import shlex
from collections.abc import Callable

import pytest

from memlayer.edge.redaction.privacy import redact
from tests.support.corpus import items
from tests.support.tables import tables

TABLES = tables("hostile/typed_secrets")

TYPED = items("secrets_typed_positive")
HARMLESS = items("secrets_typed_negative")
MISSED = {0: 0, 1: 9, 2: 8, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 4, 9: 0}  # no name, no sign and no program tells of these
CHANGED = 6


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


@pytest.mark.parametrize(("text", "left"), TABLES["only_the_typed_value_goes"])
def test_only_the_typed_value_goes(text: str, left: str) -> None:
    assert redact(text) == left


# (text, the part of the secret that must go): below its name, in pieces, in headers, files and sentences.
ANNOUNCED = TABLES["announced"]
UNANNOUNCED = TABLES["unannounced"]


@pytest.mark.parametrize(("text", "secret"), ANNOUNCED)
def test_announced_secret_is_found(text: str, secret: str) -> None:
    once = redact(text)
    assert secret not in once and "[redacted:" in once
    assert redact(once) == once


@pytest.mark.parametrize("text", UNANNOUNCED)
def test_text_that_announces_no_secret_stays(text: str) -> None:
    assert redact(text) == text
