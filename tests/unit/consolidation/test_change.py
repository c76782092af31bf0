"""A change of a value is known, and two things that differ in their name stay apart."""

from pathlib import Path

import pytest

from memlayer.consolidation.conflict.compare import Verdict, judge
from memlayer.give.precedence import DatedText, is_newer_value

LINES = Path(__file__).with_name("changes.tsv").read_text(encoding="utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if not line.startswith("#")]
CHANGES = [(older, newer) for _, label, older, newer in ROWS if label == "change"]
APART = [(older, newer) for _, label, older, newer in ROWS if label == "apart"]


def test_the_table_has_its_size() -> None:
    assert len(CHANGES) >= 40 and len(APART) >= 60
    assert sum(any("가" <= char <= "힣" for char in newer) for _, newer in CHANGES) >= 0.4 * len(CHANGES)


@pytest.mark.parametrize(("older", "newer"), CHANGES)
def test_a_change_replaces_the_older_value(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.SUPERSEDE
    assert is_newer_value(DatedText(newer, 2), DatedText(older, 1))
    assert not is_newer_value(DatedText(newer, 1), DatedText(older, 2))


@pytest.mark.parametrize(("older", "newer"), APART)
def test_two_things_stay_apart(older: str, newer: str) -> None:
    assert [judge(older, newer), judge(newer, older)] == [Verdict.KEEP, Verdict.KEEP]
    assert not is_newer_value(DatedText(newer, 2), DatedText(older, 1))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The web uses Redis.", "The worker uses Redis now."),
        ("웹은 Redis 를 쓴다.", "워커는 이제 Redis 를 쓴다."),
        ("The blog uses Postgres.", "Workers moved from Postgres to MySQL."),
        ("The cache TTL is 5 minutes.", "The cache TTL is now 1 hour, on the mirror only"),
    ],
)
def test_another_thing_or_another_old_value_is_no_change(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.KEEP


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Webhook retries wait 10 s.", "User: webhook retries wait 30 s now, because the partner raised errors."),
        ("Webhook retries wait 10 s because of the quota.", "Webhook retries wait 30 s now."),
        ("웹훅 재시도 간격은 10초다.", "웹훅 재시도 간격을 30초로 늘렸다, 파트너가 막았다."),
    ],
)
def test_a_reason_beside_the_change_hides_nothing(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.SUPERSEDE
