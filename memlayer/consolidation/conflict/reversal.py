"""A person's sentence that takes an earlier decision or wish back.

It names the value that it drops ("ClickHouse 말고", "forget GraphQL"). Of all else that it says the older words lack
one value at most, the new one: a sentence with a subject of its own ("설정은 JSON 말고 YAML로") speaks of that.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from memlayer.consolidation.conflict.change import (
    DENIES,
    LABEL,
    MOST_WORDS,
    UNDECIDED,
    Word,
    is_among,
    normal,
    runs_of,
    without,
    words_of,
)
from memlayer.text.sentences import is_question
from memlayer.text.word_lists import word_list

FEWEST, MOST = 2, 7  # words of an older statement. A longer one says more than its value
MAX_CHARS = 120  # of a sentence of taking back
_X = r"(?P<x>[^\s,;.()]+(?: [^\s,;.()]+){0,2}?)"
_ONE = r"(?P<x>(?!\S*ing\b)[^\s,;()]+)"
_THIS = r"(?:the|this|that|these|those|my|it)\b"  # a thing at hand: "stop the tests, they hang"
_AT = r"(?:(?:from|on|in|with|at|use|using) )?"
_END = r"(?=$|[,.;:!]| (?:and|for|please|here|now|it is|we|i|let|because|since)\b)"
_DROPS = (
    re.compile(rf"(?i)\b(?:instead of|rather than|in place of|in favou?r of|and not|but not) {_AT}{_ONE}"),
    re.compile(rf"(?i)(?:, |^)not {_AT}{_X}{_END}"),
    re.compile(rf"(?i)\b(?:forget|scrap|scratch|ditch|no more|enough of|stop using) {_X}{_END}"),
    re.compile(rf"(?i)\b(?:drop|skip|stop)(?! {_THIS}) {_X}{_END}"),
    re.compile(rf"(?i)\b(?:dropped|ditched|scrapped|abandoned|left) {_X}{_END}"),
    re.compile(rf"(?i)\b(?:don't|do not|doesn't|does not|no longer) (?:\w+ through |{_AT}){_X} any ?more\b"),
    re.compile(rf"(?i)(?:^|[,.:] ){_X} (?:is|was|are) (?:out|off|dead|gone|history|overkill|a mistake|a no-go){_END}"),
    re.compile(rf"(?i){_X} ?(?:은 |는 |을 |를 )?(?:대신(?:에)?|말고|버리고|접고|걷어내고|빼고)(?![가-힣])"),
    re.compile(rf"(?i){_X} ?(?:쓰는 건|하는 건|로 하는 건)?(?:은|는|을|를)? "
               r"(?:빼자|빼줘|빼는|취소|철회|그만(?:하고|두고| ?쓰|하자|두자)|접자|버리자|관두|포기|없던 ?걸?로|말자)"),
    re.compile(rf"(?i){_X} ?(?:은|는|이|가)? (?:아닌 ?것 ?같|과하[다네지]|안 ?되겠|못 ?쓰겠)"),
    re.compile(rf"(?i){_X} ?(?:은|는|을|를)? (?:쓰지|사용하지|하지) (?:마|말)(?![가-힣]*[면까])"),
)  # fmt: skip
# Another thing beside: ending the whole would take that along.
_TWO = re.compile(r"[,;]|\b(?:and|but)\b|(?<=[가-힣])(?:고|며|지만) (?!했|한다|정|결정)")
_ONCE = re.compile(
    r"(?i)\b(?:this time|once|just now|right now|for now|yet|today|tonight|temporarily|for a moment)\b"
    r"|이번|지금은|일단|잠깐만|잠시|오늘|당분간|한 ?번만|아직"
)

# The new value is refused as well: "PostgreSQL 말고 MySQL로 하지는 말자".
_REFUSES = re.compile(
    r"(?i)\b(?:don't|do not|never|shouldn't|should not)\b|지(?:는|도)? ?(?:말|마|않)|안 ?(?:돼|된다|되겠)|반대"
)
_LAST_VERB = re.compile(r" [가-힣]*(?:자|줘|해|돼|라|어|아|요|다|[갈할쓸]게)[.!~]*$")


class _Drop(NamedTuple):
    """A value that is dropped, and all else of the sentence."""

    value: tuple[Word, ...]
    rest: tuple[Word, ...]


def drops(text: str) -> bool:
    """True for a sentence that drops a value for good."""
    return bool(_dropped(text))


def says_two(text: str) -> bool:
    """True for a statement of two things: a change ends one."""
    return bool(_TWO.search(normal(text)))


def reverses(older: str, newer: str) -> bool:
    """True if the newer sentence takes the older statement back."""
    old = normal(older)
    if DENIES.search(old) or says_two(older) or not (dropped := _dropped(newer)) or _dropped(older):
        return False
    words = words_of(old)
    return FEWEST <= len(words) <= MOST and any(_is_of(words, drop) for drop in dropped)


def _is_of(old: tuple[Word, ...], drop: _Drop) -> bool:
    if not all(is_among(word, old) for word in drop.value):
        return False
    added = runs_of(without(drop.rest, (*old, *drop.value)))
    return len(added) <= 1 and all(
        len(run) <= MOST_WORDS and not any(LABEL.fullmatch(word.form) for word in run) for run in added
    )


@lru_cache(maxsize=4096)
def _dropped(text: str) -> tuple[_Drop, ...]:
    said = normal(text)
    if len(said) > MAX_CHARS or is_question(said) or UNDECIDED.search(said) or _ONCE.search(said):
        return ()
    return tuple(_drops_of(said))


def _drops_of(said: str) -> Iterator[_Drop]:
    for pattern in _DROPS:
        for found in pattern.finditer(said):
            value = tuple(word for word in words_of(found["x"]) if word.form not in _signs())
            left = said[: found.start()] + " / " + said[found.end() :]
            rest = words_of(_LAST_VERB.sub("", left))
            if value and not _REFUSES.search(left):
                yield _Drop(value, tuple(word for word in rest if word.form not in _signs()))


@cache
def _signs() -> frozenset[str]:
    """The forms of words of taking back, which name nothing."""
    return frozenset(word.form for text in word_list(__package__, "reversal") for word in words_of(text))
