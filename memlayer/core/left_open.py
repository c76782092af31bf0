"""What a session left undone: sentences that name a next step, and a question that nobody answered."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.core.extraction_sentences import ASSISTANT, USER, candidates
from memlayer.core.noise import recallable
from memlayer.core.turn import is_open_question

LAST_TURNS = 4  # what was left to do before them has often been done since
MAX_OPEN = 4
MIN_CHARS = 14  # "see you tomorrow", "내일 보자"
MAX_CHARS = 180

# What the person puts off. "We have to …" is what they want now, and the answer has dealt with it.
_PUT_OFF = (
    r"\b(?:todo|fixme)\b|\b(?:postponed|deferred|for later|pick (?:it|this) up)\b"
    r"|\b(?:tomorrow|later|next week|monday)\b.{0,30}\b(?:we|i|let'?s|continue|finish|do)\b"
    r"|\b(?:let'?s|we|i'?ll|will|to) (?:\w+ ){0,4}(?:tomorrow|later|next week|next time)\b"
    r"|남은 (?:작업|일|건|것|할|문제|이슈|과제|단계|부분|파일|테스트|항목)"
    r"|(?:내일|나중에|다음에|다음 ?주|이따|월요일)[^.?!]{0,25}"
    r"(?:자(?=[\s.,!]|$)|할게|하지|해줘|이어|계속|마저|할 ?것|하겠|예정|진행)|이어서 (?:하|할|진행)"
)
_LATER = re.compile(_PUT_OFF, re.IGNORECASE)
_NEXT = re.compile(
    _PUT_OFF + r"|\bnext (?:step|task|up|thing|session|time)s?\b|^next[,:]|\bnext is\b|\bwhat(?:'s| is) left\b"
    r"|\bstill (?:needs?|have|has|to do|to be|missing|open|fails?|failing|broken|todo|pending|unresolved|not)\b"
    r"|\b(?:remains?|remaining)\b (?:\w+ ){0,3}(?:to\b|open|work|step|task|issue|todo|item|for )"
    r"|\b(?:left to do|yet to|not yet|haven'?t (?:yet|been)|hasn'?t (?:yet|been)|to be done)\b"
    r"|\b(?:you(?:'ll| will)? need to|needs? to be) \w+"
    r"|\bi (?:did not|didn'?t|have not|haven'?t) (?:touch|change|run|test|deploy|fix|push|migrate|do|merge)\w*\b"
    r"|\b(?:blocked (?:on|by)|waiting (?:for|on)|follow[- ]up)\b"
    r"|(?:이|가|은|는|만|도) (?:아직 )?남(?:았|아 ?있)"
    r"|아직 (?:안|못|남|미|하지|되지|해결|고치|적용|배포|테스트|확인|구현|처리|옮기|없)"
    r"|아직(?:도)? (?:[^.?!]{0,12} )?(?:실패|깨지|깨져|오류|에러|빨간|통과)|^(?:네|좋습니다|알겠습니다)[,.] 다음은 "
    r"|다음 (?:단계|작업|할 ?일|순서|차례|세션|번)|다음(?:에는|엔|으로는)"
    r"|해야 (?:합니다|할|해요|돼|됩니다|함)|해 ?주셔야|하셔야|할 ?일(?:은|이|로|:)"
    r"|미완|보류|후속|예정입니다|못 ?했|하지 못했|안 ?했습니다",
    re.IGNORECASE,
)
_DATED = re.compile(r"\[(\d{4}-\d\d-\d\d)\]")  # what consolidation adds to "today" and "5월 2일"
_FAREWELL = re.compile(
    r"여기까지|that'?s (?:it|all)\b|call it a day|수고하|good night|see you|자자\b|퇴근", re.IGNORECASE
)
_ASKS_BACK = re.compile(r"[?？]\s*$")


def left_open(turns: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """What is left, most telling first, at most MAX_OPEN. turns: (prompt, answers), oldest first."""
    found: dict[str, None] = {}
    real = [(prompt, answers) for prompt, answers in turns if recallable(prompt)]
    if real:
        prompt, answers = real[-1]
        if not any(answer.strip() for answer in answers):
            found[_short(prompt)] = None
    for prompt, answers in reversed(real[-LAST_TURNS:]):
        said = [one for answer in answers for one in candidates(answer, ASSISTANT) if _NEXT.search(one.plain)]
        said += [one for one in candidates(prompt, USER) if _LATER.search(one.plain)]
        for one in said:
            if not one.asks and len(one.text) >= MIN_CHARS and recallable(one.text):
                found[_short(one.text)] = None
    if real:
        prompt, answers = real[-1]
        spoken = [answer for answer in answers if answer.strip()]
        asked = candidates(spoken[-1], ASSISTANT)[-1:] if spoken else []
        if asked and _ASKS_BACK.search(asked[0].text):
            found[_short(asked[0].text)] = None  # the model waits for the person
        elif spoken and is_open_question(prompt, list(answers)):
            found[_short(prompt)] = None
    return list(found)[:MAX_OPEN]


def is_farewell(text: str) -> bool:
    """True for the words with which a day's work ends."""
    return len(text) < 80 and bool(_FAREWELL.search(text))


def is_due(commitment: str, today: str) -> bool:
    """True for a commitment that still binds: not small talk, and none of its dates is over. today: YYYY-MM-DD."""
    dates = _DATED.findall(commitment)
    bare = _DATED.sub("", commitment)
    return recallable(bare) and not is_farewell(bare) and (not dates or max(dates) >= today)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1].rsplit(" ", 1)[0] + "…"
