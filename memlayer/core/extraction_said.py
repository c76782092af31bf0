"""What the user states: sentences weighed by their signs and by what they do."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from memlayer.core import extraction_english_shapes as english
from memlayer.core import extraction_korean as korean
from memlayer.core.extraction_dates import has_date
from memlayer.core.extraction_english import USER_SIGNALS
from memlayer.core.extraction_framed import unmeant
from memlayer.core.extraction_sentences import Candidate
from memlayer.core.extraction_signals import CAUSE, COMMITMENT, DECISION, FACT, KINDS, PREFERENCE, VALUE, weigh
from memlayer.core.extraction_turn import Judged, Turn, is_order
from memlayer.core.question import is_question
from memlayer.core.unasserted import says_nothing

ENOUGH = 1.0
_CERTAIN = 3.0  # the weight at which confidence is full
_VALUE_WEIGHT = 0.5
_ENDORSED = 0.8
_PENALTY = 1.0
_STRONG = 1.5
_UNANSWERED = 0.7  # for a statement that the answer does not take for one
# A prompt of more sentences has a document in it; what the person said about it stands before and behind.
_PASTED_FROM = 15
_AT_EDGE = 3


def judge_said(said: Sequence[Candidate], turn: Turn, today: datetime.date, prompt: str = "") -> list[Judged]:
    """The user's statements. prompt: what they were taken from."""
    if turn.quotes_others:
        return []
    found = []
    apart = unmeant(said, prompt)
    for at, one in enumerate(said):
        if len(said) > _PASTED_FROM and _AT_EDGE <= at < len(said) - _AT_EDGE:
            continue
        if (
            at in apart
            or one.asks
            or _asks(one, said)
            or says_nothing(one.plain)
            or any(pattern.search(one.plain) for pattern in _NO_STATEMENT)
        ):
            continue
        endorsed = at + 1 < len(said) and bool(korean.ENDORSEMENT.search(said[at + 1].plain))
        judged = _judge_said(one, turn, endorsed, today)
        if judged:
            found.append(judged)
    return found


_FRAGMENT = re.compile(
    r"(?:는|던|한|된) (?:거|것|건)[.,]?$|(?:이런|그런|저런) (?:식으로|거|것|느낌)[.,]?$|처럼[.,]?$|^이유는 "
    r"|^(?:e\.g\.|like|such as) ",
    re.IGNORECASE,
)


_NOT_MAY = re.compile(r"^May(?= \d)")
_NO_STATEMENT = (_FRAGMENT, english.UNDECIDED, korean.ENDORSEMENT, english.LEAVES, korean.LEAVES)


def _asks(one: Candidate, said: Sequence[Candidate]) -> bool:
    """True for a question without its mark, which is how most of them are typed; such a one ends the prompt."""
    asks = is_question(_NOT_MAY.sub("", one.text)) or _ASKS_LATE.search(one.text)
    return one is said[-1] and bool(asks) and not one.text.endswith((".", "!"))


_ASKS_LATE = re.compile(
    r"(?:뭐야|뭐지|뭘까|뭔가요|뭐예요|왜 이래|왜 그래)(?:[:?]|$)|, (?:is|are|does|do|did|can|could|should|would"
    r"|what|why|how|who|where|which|when)(?:'s)? \w+"
    r"|(?<![가-힣])(?:뭐|뭘|뭔|무슨|무엇|어디|언제|누가|누구|왜|얼마|몇|어떤|어느|어떻게)(?![가-힣]*(?:든|나 "
    r"|도 ))[^.]{0,24}[야어아지나냐니까데래요]$",
    re.IGNORECASE,
)


def _judge_said(one: Candidate, turn: Turn, endorsed: bool, today: datetime.date) -> Judged | None:
    text = one.plain
    weights, names = weigh(text, (*USER_SIGNALS, *korean.USER_SIGNALS))
    if not turn.lists_decisions and "결정 목록" in names:
        weights[DECISION] -= 1.2
    value = bool(VALUE.search(text))
    if value:
        _add(weights, FACT, _VALUE_WEIGHT)
    elif not _WITHOUT_VALUE & set(names):
        weights[FACT] = 0.4 if _OURS & set(names) else 0.0
    shape, shaped = _shape(text, value)
    if turn.taken and not turn.builds and _orders(text):
        shape, shaped = "order for good", max(shaped, ENOUGH + _PENALTY / 2)  # it is a request all the same
    if shape == "states" and not turn.news and (turn.builds or not is_order(one.after)):
        shaped *= _UNANSWERED
    names += [shape] if shaped else []
    _add(weights, PREFERENCE if shape == "order for good" else FACT, shaped)
    dated = has_date(text, today)
    if weights.get(COMMITMENT, 0.0) > 0 and not dated and not {"promised", "약속"} & set(names):
        weights[COMMITMENT] = 0.0
    elif weights.get(COMMITMENT, 0.0) > 0 and dated:
        weights[COMMITMENT] += 1.0 if "날짜까지" in names else 0.5
    if endorsed:
        _add(weights, max(weights, key=lambda kind: weights[kind], default=PREFERENCE), _ENDORSED)
        names.append("endorsed")
    if turn.undecided:
        weights[DECISION] = 0.0
    return _best(one, _settled(weights, names, text), names, _penalty(text, weights, turn))


_OURS = frozenset(("ours", "우리"))
# Facts that need no exact value.
_WITHOUT_VALUE = frozenset(
    ("바뀌었다", "owner", "담당", "who I am", "내 사정", "for your information", "place", "restriction", "they changed")
)


def _add(weights: dict[str, float], kind: str, weight: float) -> None:
    weights[kind] = weights.get(kind, 0.0) + weight


def _shape(text: str, value: bool) -> tuple[str, float]:
    """What the sentence does, whatever its words: an order for good, or a statement of how things are; its weight."""
    if len(_HANGUL.findall(text)) >= _KOREAN_FROM:
        return _korean_shape(text, value)
    return _english_shape(text, value)


def _orders(text: str) -> bool:
    """True for an order on how things are to be done, that names what it is about: neither a deed to do once, nor only
    about `it`, `this` or what is before both their eyes."""
    main = _BEFOREHAND.sub("", text).split(", ")[0]
    if _MANNER_ORDER.search(main) or (main != text.split(", ")[0] and english.TASK_ORDER.search(main)):
        few = len(text.split()) < _ORDER_WORDS
        return not (few or english.TASK_BOUND.search(main) or english.THIS_TASK.search(text))
    asked = korean.REQUEST.search(text) or _PROHIBITS.search(text)
    if not asked or not (_MANNER.search(text) or _PROHIBITS.search(text)) or _ONCE.search(text):
        return False
    return not (korean.TASK_BOUND.search(text) or korean.THIS_TASK.search(text))


_ORDER_WORDS = 4
_MANNER_ORDER = re.compile(
    r"^(?:\W*(?:please|also|and|but|so|then|just)[,:]? )*(?:use|keep|avoid|prefer|stop|don'?t|do not|never|always"
    r"|assume|stick|treat|reply|answer|respond|ask|follow|(?:write|name|call|format) \w+(?: \w+)?s )",
    re.IGNORECASE,
)
_MANNER = re.compile(r"[가-힣\w](?:으로|로|게|만|말고|대신|먼저|한테|에게) (?:\S+ ){0,2}\S+$")
_ONCE = re.compile(
    r"(?:추가|고쳐|수정|삭제|지워|돌려|실행|커밋|푸시|올려|배포|확인|찾아|보여|설명|바꿔|변경|옮겨|적용|설치|업데이트|정리"
    r"|리팩|구현|작성|생성|연결|띄워|켜|꺼|봐|보내|넣어)[가-힣]* ?(?:줘|주세요|봐|봐줘|라|해)?[.!~]*$"
)
_BEFOREHAND = re.compile(r"^(?:before|after|when(?:ever)?|if|unless|once) [^,.]{3,60}, ", re.IGNORECASE)


def _korean_shape(text: str, value: bool) -> tuple[str, float]:
    if korean.REQUEST.search(text) or _PROHIBITS.search(text):
        bound = korean.TASK_BOUND.search(text)
        general = 1.0 if korean.GENERAL.search(text) else 0.4 if korean.RATHER_GENERAL.search(text) else 0.0
        return "order for good", 0.3 * general if bound else general
    told = korean.STATES.search(text) and not (korean.OWN_DOINGS.search(text) or korean.EVALUATES.search(text))
    if told and not _is_symptom(text):
        if korean.GENERAL_TOPIC.search(text):
            return "states", _INFORMING if korean.INFORMS.search(text) else 1.0
        if value or korean.ANCHORED.search(text):
            if korean.INFORMS.search(text) and korean.TOPIC.search(text):
                return "states", _INFORMING
            return "states", 1.0 if korean.TOPIC.search(text) or _LATIN_NAME.search(text) else 0.6
    return "", 0.0


def _english_shape(text: str, value: bool) -> tuple[str, float]:
    if english.POLICY_ORDER.search(text):
        general = english.GENERAL.search(text)
        return "order for good", 0.8 if general and not english.TASK_BOUND.search(text) else 0.0
    if english.TASK_ORDER.search(text) or english.REQUEST.search(text):
        return "", 0.0
    if not english.STATES.search(text) and len(text.split()) < _TOLD_WORDS:
        return "", 0.0
    if any(pattern.search(_head(text)) for pattern in _NOT_TOLD) or _is_symptom(text):
        return "", 0.0
    if value or english.ANCHORED.search(text) or english.PROPER_NOUN.search(text):
        return "states", 0.5 if _PRONOUN_FIRST.search(text) else 1.0
    return "", 0.0


_TOLD_WORDS = 5  # fewer need a verb that tells
_INFORMING = 1.5
_KOREAN_FROM = 4  # syllables: with so many the grammar is Korean, however many names are not
_LATIN_NAME = re.compile(r"[A-Za-z][\w.-]{2,}")
_HANGUL = re.compile("[가-힣]")
_PROHIBITS = re.compile(r"지 ?(?:마|말)(?:세요|아|고|자| 것)?[.!~]*$")
_FIRST_PERSON = re.compile(
    r"^(?:\W*(?:and|but|so|ok|thanks|thx)[, ]+)*i(?!'?m\b| (?:usually|always|only|work|use|live|am)\b)\b", re.IGNORECASE
)
_PRONOUN_FIRST = re.compile(
    r"^(?:\W*(?:and|but|so|no|yes|ok)[, ]+)*(?:it|this|that|these|those|he|she|they|there)\b", re.IGNORECASE
)


_NOT_TOLD = (_FIRST_PERSON, english.STATUS, english.THIS_TASK, english.OWN_DOINGS, english.EVALUATES)


def _head(text: str) -> str:
    """The statement without the work that is to follow from it."""
    return _THEREFORE.split(text)[0]


_THEREFORE = re.compile(r", so (?:you|please|let'?s|just|can|we can|go ahead)\b", re.IGNORECASE)


def _settled(weights: dict[str, float], names: list[str], text: str) -> dict[str, float]:
    """The weights with the plain fact held back where the sentence is more than one, or less."""
    rival = max(weights.get(kind, 0.0) for kind in (DECISION, PREFERENCE, CAUSE, COMMITMENT))
    if rival >= ENOUGH:
        weights[FACT] = min(weights.get(FACT, 0.0), rival - 0.1)  # most decisions and rules name a value, too
    elif _is_symptom(text) and not {"for your information", "limit", "owner"} & set(names):
        weights[FACT] = 0.0
    return weights


def _is_symptom(text: str) -> bool:
    bad = english.SYMPTOM.search(text) or korean.SYMPTOM.search(text)
    return bool(bad) and not english.REGULAR.search(text)


def _penalty(text: str, weights: dict[str, float], turn: Turn) -> float:
    penalty = 0.0
    if turn.builds and english.DESCRIBES.search(text) and weights.get(FACT, 0.0) >= max(weights.values(), default=0.0):
        penalty += 0.5 * _PENALTY
    if turn.builds and (english.SPECIFIES.search(text) or korean.SPECIFIES.search(text)):
        penalty += _PENALTY
    strong = max((weights.get(kind, 0.0) for kind in KINDS if kind != FACT), default=0.0) >= _STRONG
    if _is_unsure(text, weights.get(DECISION, 0.0) >= _STRONG):
        penalty += 2 * _PENALTY
    for pattern in (english.THIS_TASK, korean.THIS_TASK, english.STATUS, korean.STATUS):
        if pattern.search(_head(text)):
            penalty += _PENALTY
    if not strong:
        for pattern in (english.OWN_DOINGS, korean.OWN_DOINGS, english.EVALUATES, korean.EVALUATES):
            if pattern.search(text):
                penalty += _PENALTY
        if any(pattern.search(text) for pattern in (english.REQUEST, korean.REQUEST, korean.REQUEST_FIRST)):
            penalty += _PENALTY if weights.get(FACT, 0.0) >= max(weights.values(), default=0.0) else 0.5 * _PENALTY
    return penalty


def _is_unsure(text: str, decided: bool) -> bool:
    """True for a guess or a supposition. What is decided outweighs one that stands behind it, in another clause: `we
    settled on Postgres; we could shard it at some point`. It does not outweigh one that it hangs on."""
    unsure = english.HYPOTHETICAL.search(text) or korean.HYPOTHETICAL.search(text)
    if not unsure or not decided:
        return bool(unsure)
    settled = min((found.start() for one in _DECISIONS if (found := one.pattern.search(text))), default=0)
    hangs = not _NEW_CLAUSE.search(text[unsure.end() : settled]) if unsure.start() < settled else False
    return hangs or bool(_SEEMS_DECIDED.search(text))


_DECISIONS = tuple(one for one in (*USER_SIGNALS, *korean.USER_SIGNALS) if one.kind == DECISION)
_NEW_CLAUSE = re.compile(r"[,;:.]|\b(?:but|so)\b|[서고만데니] ")
_SEEMS_DECIDED = re.compile(r"기로 ?(?:한|했던|된) ?(?:것|거|듯)(?: ?같|[^가-힣]|$)")


def _best(one: Candidate, weights: dict[str, float], names: list[str], penalty: float) -> Judged | None:
    kind = max(KINDS, key=lambda kind: weights.get(kind, 0.0))
    weight = weights.get(kind, 0.0) - penalty
    if weight < ENOUGH:
        return None
    return Judged(one, kind, tuple(names), round(min(1.0, 0.4 + 0.6 * weight / _CERTAIN), 2))


def without_symptoms(said: list[Judged], answered: Sequence[Judged]) -> list[Judged]:
    """The user's statements without those that an answer explained and mended: they were complaints. `the sync stops
    after 1,000 records` reads like a fact until somebody repairs it."""
    if not any("fix" in one.signals for one in answered):
        return said
    return [one for one in said if one.kind != FACT or _FIRM & set(one.signals)]


_FIRM = frozenset(
    ("for your information", "owner", "담당", "참고로", "limit", "한도", "매일", "who I am", "내 사정", "promised")
)
