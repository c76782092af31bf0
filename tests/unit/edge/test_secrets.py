"""Corpora of secrets, and the texts of tools and files around them."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.edge.redaction.privacy import redact

DATA = Path(__file__).parents[2] / "data"


def _items(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


POSITIVE = _items("secrets_positive.jsonl")
NEGATIVE = _items("secrets_negative.jsonl")
# Written in seven sets (`set`) before looking at the code. docs/privacy.md has the shares found at first sight; the
# code has been mended for the misses since, so that today these are corpora as well.
HELDOUT_POSITIVE = _items("secrets_heldout_positive.jsonl")
HELDOUT_NEGATIVE = _items("secrets_heldout_negative.jsonl")


def piece_left(secret: str, text: str) -> bool:
    """True if the secret, or any 12 characters of it, remain."""
    size = min(12, len(secret))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1))


def test_corpora_are_large_and_varied() -> None:
    assert len(POSITIVE) >= 210
    assert len({item["kind"] for item in POSITIVE}) >= 30
    assert len(NEGATIVE) >= 300
    assert len(HELDOUT_POSITIVE) >= 120
    assert len(HELDOUT_NEGATIVE) >= 120
    assert all(item["secret"] in item["text"] for item in (*POSITIVE, *HELDOUT_POSITIVE))
    assert {item.get("where") for item in (*POSITIVE, *HELDOUT_POSITIVE)} >= {
        "prompt", "answer", "tool_input", "tool_output", "transcript",
    }  # fmt: skip


@pytest.mark.parametrize("corpus", [POSITIVE, HELDOUT_POSITIVE], ids=["corpus", "heldout"])
def test_secrets_are_found(corpus: list[dict[str, str]]) -> None:
    missed = [item["text"] for item in corpus if piece_left(item["secret"], redact(item["text"]))]
    assert len(missed) <= 0.02 * len(corpus), missed


@pytest.mark.parametrize("corpus", [POSITIVE, HELDOUT_POSITIVE], ids=["corpus", "heldout"])
def test_secrets_are_named_by_kind(corpus: list[dict[str, str]]) -> None:
    other = [item["text"] for item in corpus if "[redacted:%s]" % item["kind"] not in redact(item["text"])]
    assert len(other) <= 0.02 * len(corpus), other


@pytest.mark.parametrize("corpus", [NEGATIVE, HELDOUT_NEGATIVE], ids=["corpus", "heldout"])
def test_ordinary_text_is_left_alone(corpus: list[dict[str, str]]) -> None:
    changed = [(item["text"], redact(item["text"])) for item in corpus if redact(item["text"]) != item["text"]]
    assert len(changed) <= 0.02 * len(corpus), changed


def _as_json(text: str) -> str:
    return json.dumps({"tool": "Bash", "input": {"command": text}}, ensure_ascii=False)


def _as_nested_json(text: str) -> str:
    return json.dumps({"content": _as_json(text)}, ensure_ascii=False)


def _numbered(text: str) -> str:
    return "\n".join("%6d\t%s" % (i, line) for i, line in enumerate(text.split("\n"), 1))


@pytest.mark.parametrize("wrap", [_as_json, _as_nested_json, _numbered, shlex.quote], ids=lambda wrap: wrap.__name__)
def test_secrets_in_tool_texts_are_found(wrap: Callable[[str], str]) -> None:
    corpus = [*POSITIVE, *HELDOUT_POSITIVE]
    missed = []
    for item in corpus:
        line = max(item["secret"].split("\n"), key=len)  # a line of a key block, however its ends are escaped
        if line in wrap(item["text"]) and piece_left(line, redact(wrap(item["text"]))):
            missed.append(wrap(item["text"]))
    assert len(missed) <= 0.02 * len(corpus), missed


def test_redacting_twice_changes_nothing() -> None:
    for item in (*POSITIVE, *HELDOUT_POSITIVE):
        once = redact(item["text"])
        assert redact(once) == once


def test_secrets_between_lines_are_found() -> None:
    around = [item["text"] for item in NEGATIVE if "private" not in item["text"].lower()]
    rng = random.Random(7)
    for item in POSITIVE:
        text = "\n\n".join([*rng.sample(around, 3), item["text"], *rng.sample(around, 3)])
        assert item["secret"] not in redact(text), text


def test_only_the_value_goes() -> None:
    assert redact("비밀번호는 Zxcv!357이야, 잊지 마") == "비밀번호는 [redacted:password]이야, 잊지 마"
    assert redact("DEBUG=1\nDB_PASSWORD=k3Lm90qR\nPORT=80") == "DEBUG=1\nDB_PASSWORD=[redacted:password]\nPORT=80"
    assert redact("postgres://app:Tr0ub4dor@db:5432/shop") == "postgres://app:[redacted:url-password]@db:5432/shop"
    assert redact('{"user": "a", "password": "hunter22"}') == '{"user": "a", "password": "[redacted:password]"}'


@pytest.mark.parametrize(
    ("product", "secret"),
    [
        ("ICS 주소는 1Password 'home' 금고에 넣어 두기로 했습니다.", "password는 'home'"),
        ("비밀번호 칸과 `autocomplete`이 cc-로 시작하는 칸은 읽지 않습니다.", "비밀번호 칸에 `Zxcv!357` 넣어"),
        ("개인키는 ATECC608B 안에서 만들어 밖으로 나오지 않습니다.", "개인키는 ATECC608Bx7 안됨"),
        ('it lives in the 1Password "platform" vault', "my 1password is Zxcv!357"),
        ("1Password CLI v2 is on the runner", "1Password: Zxcv!357"),
    ],
)
def test_product_field_and_place_stay(product: str, secret: str) -> None:
    assert redact(product) == product
    assert "[redacted:" in redact(secret)


def test_long_value_goes_whole() -> None:
    secret = "aB3" * 5000
    assert redact("export SESSION_SECRET=%s\nnext" % secret) == "export SESSION_SECRET=[redacted:secret]\nnext"


TABLE = " username |    password    \n----------+----------------\n svc_pay  | Qz7harbor_elm\n"


@pytest.mark.parametrize(
    "said",
    [
        "You said: " + TABLE,
        "결과: " + TABLE,
        "결과：" + TABLE,
        "Here are the passwords, as asked:" + TABLE,
        "비밀번호 표 (psql): " + TABLE,
        "12:30 result:" + TABLE,
        "rows = " + TABLE,
        "db=>" + TABLE,
        "You said: name,email,password\nkim,kim@x.kr,Qz7harbor_elm\n",
        "이렇게 나와: id\tpassword\n7\tQz7harbor_elm\n",
        "내용: 이름 | 비밀번호\n---|---\n결제 | Qz7harbor_elm\n",
        "표: user;token\nci;Qz7harbor_elm\n",
        'rows: "user,password\nci,Qz7harbor_elm\n"',
    ],
)
def test_words_before_a_tables_head_hide_no_column(said: str) -> None:
    assert "harbor" not in redact(said)


@pytest.mark.parametrize(
    "said",
    [
        "표: 이름 | 비밀번호\n---|---\n결제 | 없음\n",
        "You said: name, password\nkim, unchanged\n",
        "fields: user, token\nso we read both, then go on\n",
        "설정: host | port\n---|---\ndb1 | 5432abc9\n",
        "columns: user | password | note\n----|----|----\nci | ******** | rotated\n",
        "def login(user, password):\n    return check(user, password)\n",
        "for user, token in rows:\n    print(user, token)\n",
        "순서: id, token\n첫째, 토큰을 지운다\n",
    ],
)
def test_words_before_a_table_hide_nothing_harmless(said: str) -> None:
    assert redact(said) == said
