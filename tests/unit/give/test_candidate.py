"""How two candidates compare."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlayer.give.candidate import NEAR_DUPLICATE, near_duplicates

WORDS = ("배포", "화요일", "retry", "결제", "port", "8443", "캐시", "redis", "세션", "만료", "token")
TERMS = st.frozensets(st.sampled_from(WORDS))


@given(TERMS, TERMS)
def test_near_duplicates_by_jaccard(one: frozenset[str], other: frozenset[str]) -> None:
    either = one | other
    assert near_duplicates(one, other) == (len(one & other) >= NEAR_DUPLICATE * len(either) if either else False)


def test_some_of_both() -> None:
    ten = frozenset(map(str, range(10)))
    assert near_duplicates(ten, ten) and near_duplicates(ten, ten - {"0", "1"})
    assert not near_duplicates(ten, ten - {"0", "1", "2"})
    assert not near_duplicates(ten, (ten - {"0", "1"}) | {"a"})
