"""How two candidates compare."""

from hypothesis import given
from hypothesis import strategies as st

from memlayer.give.candidate import NEAR_DUPLICATE, Candidate, Reason, near_duplicates
from memlayer.give.recall import Recalled
from memlayer.give.retriever import Score
from memlayer.kinds import Category
from memlayer.model import Chunk

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


def candidate(memory_id: str, chance: float, reason: Reason = Reason.UNSURE) -> Candidate:
    chunk = Chunk(
        memory_id + "c", memory_id, "", "turn", "s", "p", "q", Category.CONVERSATION, 0.2, 1, 0, 1, "배포", "배포"
    )
    return Candidate(chunk, Score(0.5, 0.5, None, None), reason, chance)


def test_what_was_looked_at_is_told_once_and_in_the_order_of_the_block() -> None:
    rows = (
        candidate("a", 0.01), candidate("b", 0.3, Reason.KEPT), candidate("c", 0.2), candidate("d", 0.4, Reason.KEPT),
        candidate("c", 0.1), candidate("b", 0.5), candidate("e", 0.05),
    )  # fmt: skip
    ranked = Recalled("", "lexical", candidates=rows).ranked
    assert [row.chunk.memory_id for row in ranked] == ["b", "d", "c", "e", "a"]
    assert [row.kept for row in ranked] == [True, True, False, False, False]
