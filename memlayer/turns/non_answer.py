"""Tells an answer that says "I do not know" from one that answers: a turn with the former teaches nothing."""

from __future__ import annotations

import re

from memlayer.text.question import is_question
from memlayer.text.sentences import sentences

# What such an answer says in its first sentences, about looking and not finding, or about not knowing.
_ENGLISH = re.compile(
    r"\b(?:i )?(?:could ?n[o'’]?t|can(?:no|'|’)?t|can not|did ?n[o'’]?t|do ?n[o'’]?t|was ?n[o'’]?t able to|unable to"
    r"|have ?n[o'’]?t)\b"
    r"[^.!?\n]{0,40}\b(?:find|found|see|know|have|locate|tell|determine|recall|remember|any record|access)\b"
    r"|\b(?:i )?(?:find|found|see|have) (?:no|nothing|none)\b"
    r"|\bno (?:mention|record|trace|note|notes|information|documentation|reference|sign|such \w+|\w+ (?:mention|document|say)s?)\b"
    r"|\bnothing (?:in|about|on|there|that|says|mentions|documents|here)\b|\bnowhere (?:in|to be found)\b"
    r"|\bis ?n[o'’]?t (?:written|documented|mentioned|recorded|set|defined|specified|stated|in the)\b"
    r"|\b(?:not|never) (?:documented|mentioned|written down|recorded|specified|in (?:the|this) (?:repo|repository|code))\b"
    r"|\b(?:was|were|got|been) (?:interrupted|cut off|stopped|cancelled|canceled)\b|\b(?:i was|still) (?:just )?(?:looking|checking|searching)\b"
    r"|\b(?:i'?m|i am) not (?:sure|certain|aware)\b|\b(?:you|someone) (?:will|would|'d|'ll)? ?(?:need|have) to (?:ask|check)\b",
    re.IGNORECASE,
)
_KOREAN = re.compile(
    "(?:찾지|찾을 수|확인할 수|알 수|확인되지|나오지|보이지|적혀 ?있지|남아 ?있지|기록되어 ?있지|기록돼 ?있지|정해져 ?있지|있지|알지)"
    "[가-힣]{0,2} ?(?:못|없|않)"
    "|(?:중단|취소)(?:되었|됐|된)|(?:찾아보|확인하|살펴보|조사하)고 있었"
    "|(?:저장소|코드|문서|설정|기록|프로젝트|리포|대화|메모)[가-힣]{0,3}에(?:는|도|서는)? ?없"
    "|모르겠|잘 모릅니다|못 ?찾|안 ?보[이입]|기록이 없|정보가 없|내용이 없|언급이 없|흔적이 없|문서가 없|문서에 없|설정에 없|적힌 (?:게|것이|곳이|데가) 없"
    "|나와 ?있지 않|(?:물어|확인해) ?(?:보셔야|봐야|보시는|주셔야)"
)  # fmt: skip
_FIRST_SENTENCES = 3
_SHORT_CHARS = 600


def is_non_answer(prompt: str, answers: list[str]) -> bool:
    """True if a question was asked and all that came back is that it is not known."""
    said = " ".join(answer.strip() for answer in answers if answer.strip())
    asked = any(is_question(prompt[one.start : one.end]) for one in sentences(prompt))
    if not asked or not said or len(said) > _SHORT_CHARS:
        return False
    first = [said[span.start : span.end] for span in sentences(said)][:_FIRST_SENTENCES]
    without = sum(1 for one in first if _ENGLISH.search(one) or _KOREAN.search(one))
    return without * 2 >= len(first)
