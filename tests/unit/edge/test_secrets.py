"""Corpora of secrets, and the texts of tools and files around them."""

import json
import random
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.edge.capture.answers import answers_given
from memlayer.edge.redaction import privacy
from memlayer.edge.redaction.privacy import redact
from tests.support.corpus import items
from tests.support.tables import tables

TABLES = tables("edge/secrets")

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


def test_no_rule_is_missed_by_the_look_ahead_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook is spared the import of rules that a text cannot meet."""
    texts = [item["text"] for item in (*POSITIVE, *NEGATIVE, *HELDOUT_POSITIVE, *HELDOUT_NEGATIVE)]
    texts += [item["text"] for item in (*items("secrets_typed_positive"), *items("secrets_typed_negative"))]
    spared = [redact(text) for text in texts]
    monkeypatch.setattr(privacy, "_may_name_secret", lambda text, words: True)
    assert [redact(text) for text in texts] == spared


def test_ordinary_prompt_imports_no_rules() -> None:
    said = ("Why does the deploy fail when the cache is cold?", "배포가 실패하는데 캐시가 비었을 때만 그래.")
    code = (
        "import sys; sys.path.insert(0, %r)\nfrom memlayer.edge.redaction.privacy import redact\n"
        "for text in %r: redact(text)\nprint([one for one in sys.modules if '_secrets' in one])"
    )
    argv = [sys.executable, "-I", "-S", "-c", code % (str(DATA.parents[1]), said)]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "[]\n"


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


@pytest.mark.parametrize(("product", "secret"), TABLES["product_field_and_place_stay"])
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


@pytest.mark.parametrize("said", TABLES["words_before_a_table_hide_nothing_harmless"])
def test_words_before_a_table_hide_nothing_harmless(said: str) -> None:
    assert redact(said) == said


CHOSEN = ("Hq1x!mQ7zz", "Old1!pass", "q9$Tiger!x", "Mango^77x")
NEAR_ITS_NAME = TABLES["near_its_name"]
NO_PASSWORD = TABLES["no_password"]
AWS_SECRET = "wJalrXUtnFEMI9K7MDENGbPxRfiCYzQ8m2n4p601"


@pytest.mark.parametrize("sentence", NEAR_ITS_NAME)
@pytest.mark.parametrize("at", range(len(CHOSEN)))
def test_chosen_password_beside_its_name_in_any_order(sentence: str, at: int) -> None:
    said = sentence.format(CHOSEN[at], CHOSEN[(at + 1) % len(CHOSEN)])
    assert not any(value in redact(said) for value in CHOSEN)


@pytest.mark.parametrize("text", NO_PASSWORD)
def test_sign_beside_a_name_is_no_password(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("joint", [" ", ", ", " / ", ":", "\n"])
def test_aws_secret_beside_its_id(joint: str) -> None:
    assert AWS_SECRET not in redact("배포 계정 AKIAQ7ZX2M4N6P3RA7TV" + joint + AWS_SECRET)


@pytest.mark.parametrize(
    "question", ["What is the admin password?", "DB 비밀번호는?", "Which API token should I use?", "비번을 알려주세요"]
)
def test_answer_that_is_the_secret_of_its_question(question: str) -> None:
    told = answers_given({"answers": {question: "hQ7wLz93kd"}})
    assert told == "> %s\n[redacted:password]" % question


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where should the token be stored?", "Keychain"), ("Which password hash?", "argon2id"),
        ("비밀번호 최소 길이는?", "12자"), ("Token lifetime?", "15m"), ("Which token library?", "v2.1.0"),
        ("What is the admin password?", "I will tell you later, in 2 days"), ("Which color?", "hQ7wLz93kd"),
    ],
)  # fmt: skip
def test_other_answers_stay(question: str, answer: str) -> None:
    assert answers_given({"answers": {question: answer}}) == "> %s\n%s" % (question, answer)
