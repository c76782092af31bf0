"""What the assistant states: causes and fixes where the prompt reported trouble, facts where it looked them up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.core import extraction_answers as answers
from memlayer.core.extraction_denied import denies_cause, takes_back_what_precedes, was_of_no_use
from memlayer.core.extraction_sentences import Candidate
from memlayer.core.extraction_signals import CAUSE, FACT, VALUE
from memlayer.core.extraction_turn import Judged, Turn
from memlayer.core.terms import index_terms


def judge_answered(messages: Sequence[Sequence[Candidate]], turn: Turn, *, told: bool) -> list[Judged]:
    """The assistant's statements: causes and fixes where the prompt reported trouble, facts where it looked them up.

    messages: the sentences of each message in order. The last one that says something goes before all others: what
    was believed on the way to it may have been wrong. told: the user stated something lasting. A prompt that neither
    does that nor orders anything describes what is wrong, whatever its words.
    """
    trouble = turn.trouble or not (told or turn.news or turn.ordered)
    for answered in reversed(messages):
        found = _causes_and_fixes(answered) if trouble else []
        if not turn.trouble and not any("fix" in one.signals for one in found):
            found = []  # nobody complained and nothing was mended: an explanation
        if turn.lookup:
            taken = {judged.candidate for judged in found}
            found += _facts([one for one in answered if one not in taken])
        if found:
            return found
    return []


def _causes_and_fixes(answered: Sequence[Candidate]) -> list[Judged]:
    """What is said to be the cause; else the best explanation in front of a fix; and the fixes behind either."""
    given_up = [at for at, one in enumerate(answered) if takes_back_what_precedes(one.plain)]
    answered = answered[given_up[-1] :] if given_up else answered
    fix_at = next((at for at, one in enumerate(answered) if _is_fix(one)), len(answered))
    fixed = fix_at < len(answered)
    stated = [at for at, one in enumerate(answered) if _states_cause(one)]
    explained = []
    if fixed and not [at for at in stated if at <= fix_at]:
        clear = {
            at: _clarity(answered[at], fix_at - at) + (_FIRST if at == 0 and fix_at == 1 else 0.0)
            for at in range(fix_at)
        }
        best = max(clear, key=lambda at: clear[at], default=-1)
        explained = [best] if best >= 0 and clear[best] >= _CLEAR else []
    found = []
    for at, one in enumerate(answered):
        if at in stated:
            found.append(Judged(one, CAUSE, ("cause stated",), 0.9 if fixed else 0.75))
        elif at in explained:
            found.append(Judged(one, CAUSE, ("explained before a fix",), 0.7))
        elif _is_fix(one) and any(before < at for before in (*stated, *explained)):
            found.append(Judged(one, CAUSE, ("fix",), 0.7))
    return found


_CLEAR = 1.8
_FIRST = 0.9  # what an answer begins with, right before its remedy
_MIN_EXPLANATION_TERMS = 5


def _clarity(one: Candidate, before_fix: int) -> float:
    """How much a sentence reads like the explanation of what was fixed `before_fix` sentences later."""
    if denies_cause(one.plain) or was_of_no_use(one.plain):
        return 0.0
    if not _sure(one) or _OWN_DEED.search(one.plain) or len(index_terms(one.plain).split()) < _MIN_EXPLANATION_TERMS:
        return 0.0
    clear = 1.5 if answers.MECHANISM.search(one.plain) else 0.0
    clear += 0.5 if VALUE.search(one.plain) else 0.0
    return clear + max(0.0, 0.6 - 0.2 * before_fix)


_OWN_DEED = re.compile(
    r"^(?:i|i'?ve|i'?m|let)\b|(?:확인|분석|비교|실행|집계)(?:했|해 ?봤|하였)습니다\.?$", re.IGNORECASE
)


def _sure(one: Candidate) -> bool:
    return not one.asks and not (answers.UNSURE.search(one.plain) and not answers.DONE_WITHOUT_DOUBT.search(one.plain))


_KOREAN_END = re.compile(r"([가-힣])(?:습니다|어요|어|다)[.!]*$")
_KOREAN_RESULT = re.compile(r"[가-힣](?:니|더니) ")


def _is_done(text: str) -> bool:
    """False for a Korean sentence in the present: it tells how things are, unless what was done stands before it."""
    if not text.rstrip(".! ").endswith("다") or _KOREAN_RESULT.search(text):
        return True
    end = _KOREAN_END.search(text)
    return end is not None and (ord(end.group(1)) - 0xAC00) % 28 == _PAST


_PAST = 20  # the final consonant of 했, 었, 꿨
_CLAUSE = re.compile(r"(?<=[고며]),? |; |, and |\. ")


def _is_fix(one: Candidate) -> bool:
    """True if a clause of it reports a remedy; a clause about a test or a document beside it does no harm."""
    if not _sure(one) or not _is_done(one.plain) or answers.OBSERVES.search(one.plain):
        return False
    if was_of_no_use(one.plain) or denies_cause(one.plain):
        return False
    clauses = _CLAUSE.split(one.plain)
    return any(answers.FIX.search(clause) and not answers.NOT_A_FIX.search(clause) for clause in clauses)


def _states_cause(one: Candidate) -> bool:
    return _sure(one) and bool(answers.CAUSE_STATED.search(one.plain)) and not denies_cause(one.plain)


def _facts(answered: Sequence[Candidate]) -> list[Judged]:
    """Sentences that name a value and where it stands, when it happens or who it belongs to. Beside one of those a
    sentence with a single sign is enough."""
    signs = [_fact_signs(one) for one in answered]
    if not any(len(names) >= 2 for names in signs):
        return []
    return [
        Judged(one, FACT, tuple(names), round(0.4 + 0.15 * len(names), 2))
        for one, names in zip(answered, signs)
        if len(names) >= 2 or names not in ([], ["source"])
    ]


def _fact_signs(one: Candidate) -> list[str]:
    text = one.plain
    if not _sure(one) and not answers.DONE_WITHOUT_DOUBT.search(text):
        return []
    if answers.PASSING.search(text):
        return []
    signs = (
        ("value", VALUE),
        ("source", answers.SOURCE),
        ("schedule, limit or owner", answers.SCHEDULE_OR_LIMIT),
    )
    return [name for name, pattern in signs if pattern.search(one.text)]
