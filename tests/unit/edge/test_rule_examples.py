"""Example tokens of public scanner rules: each is hidden, or named here."""

import json
import re
import re._parser as sre_parse  # type: ignore[import-not-found]
from pathlib import Path

import pytest

from memlayer.edge.redaction.privacy import redact
from memlayer.edge.redaction.shaped_secrets import LEAST_TOKEN, shapes_of
from tests.support import rule_examples
from tests.support.tables import tables
from tests.unit.edge.test_secrets import piece_left

DATA = Path(__file__).parents[2] / "data" / "rule_examples.jsonl"
EXAMPLES = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
# With particles of Korean directly after the token, in a file, and alone.
AROUND = (
    "see %s please", "서버에 %s를 넣어놨어", "여기(%s)야.", "%s로 바꿨습니다", "값은\n%s\n입니다",
    '{"값": "%s"}', "결제:%s,", "%s",
)  # fmt: skip

# Beginning of a token -> why it may stay. (Public: the issuer calls it so, every visitor of a page can read it.)
LEFT = tables("edge/rule_examples")["left"]


def hidden(example: dict[str, str], around: str) -> bool:
    """True if nothing of the secret can be read."""
    out = redact(around % example["text"])
    return "[redacted:" in out and not piece_left(example["secret"], out)


def reason(text: str) -> str:
    """Return the longest beginning of text in LEFT, or nothing."""
    return max((start for start in LEFT if text.startswith(start)), key=len, default="")


@pytest.mark.parametrize("around", AROUND)
def test_tokens_of_public_rules_are_hidden(around: str) -> None:
    missed = [one["text"] for one in EXAMPLES if not reason(one["text"]) and not hidden(one, around)]
    assert missed == []


def test_tokens_with_a_reason_are_still_missed() -> None:
    """A reason that no longer holds is removed from the list."""
    assert {reason(one["text"]) for one in EXAMPLES if not hidden(one, AROUND[0])} == set(LEFT)


def test_key_for_tests_is_hidden_beside_its_name() -> None:
    key = next(one["text"] for one in EXAMPLES if one["rule"] == "lob-api-key" and one["text"].startswith("test_"))
    for text in ("LOB_API_KEY=%s" % key, "롭 비밀키는 %s 입니다" % key):
        assert key not in redact(text)


def test_shape_matches_no_shorter_word() -> None:
    """Words that are shorter, and what stands on both sides of white space, are not searched."""
    shapes = [(kind, re.escape(prefix) + rest) for kind, prefixes, rest in shapes_of("prefix") for prefix in prefixes]
    shapes += [(kind, pattern) for kind, _, pattern in shapes_of("infix")]
    trees = [(kind, sre_parse.parse(pattern)) for kind, pattern in shapes]
    assert [kind for kind, tree in trees if tree.getwidth()[0] < LEAST_TOKEN] == []
    blank = re.compile(r"\bANY\b|NEGATE|CATEGORY_(?:SPACE|NOT)|\(LITERAL, (?:9|10|13|32)\)")
    assert [kind for kind, tree in trees if blank.search(repr(tree))] == []
    assert blank.search(repr(sre_parse.parse("a b"))) and blank.search(repr(sre_parse.parse("[^a]{3}.")))


def test_examples_stand_for_many_rules() -> None:
    assert len({one["rule"] for one in EXAMPLES}) >= 150
    assert all(one["secret"] in one["text"] for one in EXAMPLES)


@pytest.mark.parametrize(
    "text",
    [
        "공개 키는 phc_YOUR_PROJECT_KEY, 비밀이 아니다",
        "`glpat-MyCompanyAccessTokenName` 자리에 넣으세요",
        "sk-YourPersonalAccessTokenGoesHere",
        "캐시 이름은 cache_key_%s 입니다" % ("9f8e" * 16),
        "브랜치 test_%s 에서" % ("3a9c" * 10),
        "live_streaming_service_configuration_of_the_new_cluster 설정을 봐줘",
        "SELECT t1.created_at_in_seoul, t1.user_id FROM orders t1",
        "sc_config.value.acc_name.more 를 고쳤다",
        "s.toISOStringWithOffset12() 호출",
        "hooks.slack.com/services 로 보낸다",
        "SG.get_value_of_the_field(request.body.user.id)",
        "_gitlab_session=<세션>",
        "REST-API-GATEWAY-CONFIGURATION 문서",
        "bedrock-api-key-for-the-new-project 라는 이름",
    ],
)
def test_similar_words_stay(text: str) -> None:
    assert redact(text) == text


RULES = r"""
[[rules]]
id = "with-a-prefix"
regex = '''\b((?:ab|cd)_tok_(?i)[a-f0-9]{20})(?:[\x60'"\s;]|\\[nr]|$)'''

[[rules]]
id = "beside-a-name"
regex = '''(?i)(?:acme)[\s'"]{0,3}(?:=|>|:{1,3}=|,)[\s]{0,5}([a-z0-9]{32})(?:[\s;]|$)'''

[[rules]]
id = "beside-a-name-with-a-prefix"
regex = '''(?i)(?:acme)[\s'"]{0,3}(?:=|>|:{1,3}=|,)[\s]{0,5}(acme-[a-z0-9]{32})(?:[\s;]|\z)'''
"""


def test_examples_come_from_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES, "utf-8")
    rule_examples.main([str(rules)])
    made = capsys.readouterr().out
    rule_examples.main([str(rules)])
    assert capsys.readouterr().out == made
    texts = {one["rule"]: one["text"] for one in map(json.loads, made.splitlines())}
    assert set(texts) == {"with-a-prefix", "beside-a-name-with-a-prefix"}
    assert made.count("ab_tok_") == made.count("cd_tok_") == 1
    assert re.fullmatch("(?:ab|cd)_tok_[a-fA-F0-9]{20}", texts["with-a-prefix"])
    assert re.fullmatch("acme-[a-zA-Z0-9]{32}", texts["beside-a-name-with-a-prefix"])
