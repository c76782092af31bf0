"""Questions of a person, and answers that state nothing."""

import re
from collections.abc import Sequence

from memlayer.text.sentences import is_question, sentences
from memlayer.turns.turn import prompt_and_answer

AFTERTHOUGHT_CHARS = 20
FACT_CHARS = 160  # a longer prompt tells more than it asks
_FIRST_SENTENCES = 3
_NON_ANSWER_CHARS = 600
# Questions in form only: they ask for work, or about the current output.
REQUESTS = re.compile(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|^(?:should|shall) (?:we|i)\b|\b(?:do|did) you\b"
    r"|^(?:is|are|does|do|would|wouldn't|couldn't) (?:this|that|it|there|these)\b|해줘|해주|줄래|주세요|할까|해도 돼",
    re.IGNORECASE,
)
# First sentences about a search without success, or about not knowing: whoever searched is the speaker, for "the cart
# does not have a currency" and "carts have no currency" are findings.
_ENGLISH_NON_ANSWER = re.compile(
    r"(?:\bi (?:really |still |just )?|^(?:sorry, |still )?)(?:could ?n[o'’]?t|can(?:no|'|’)?t|can not|did ?n[o'’]?t"
    r"|do ?n[o'’]?t|was ?n[o'’]?t able to|am unable to|unable to|have ?n[o'’]?t)\b"
    r"[^.!?\n]{0,40}\b(?:find|found|see|know|have|locate|tell|determine|recall|remember|any record|access)\b"
    r"|\b(?:i|we) (?:find|found|see|have) (?:no|nothing|none)\b|^(?:found|still) (?:no|nothing|none)\b"
    r"|\bno (?:mention|record|trace|note|notes|information|documentation|reference|sign"
    r"|\w+ (?:mention|document|say)s?)\b"
    r"|\bnothing (?:about|on|there|says|mentions|documents|here)\b|\bnowhere (?:in|to be found)\b"
    r"|\bnothing in (?:the|this|my|our) (?:repo|repository|code|docs?|notes?|memory|history|logs?|config)\b"
    r"|\bis ?n[o'’]?t (?:written|documented|mentioned|recorded|set|defined|specified|stated|in the)\b"
    r"|\b(?:not|never) (?:documented|mentioned|written down|recorded|specified"
    r"|in (?:the|this) (?:repo|repository|code))\b"
    r"|\b(?:was|were|got|been) (?:interrupted|cut off|stopped|cancelled|canceled)\b"
    r"|\b(?:i was|still) (?:just )?(?:looking|checking|searching)\b"
    r"|\b(?:i'?m|i am) not (?:sure|certain|aware)\b"
    r"|\b(?:you|someone) (?:will|would|'d|'ll)? ?(?:need|have) to (?:ask|check)\b",
    re.IGNORECASE,
)
_KOREAN_NON_ANSWER = re.compile(
    "(?:찾지|찾을 수|확인할 수|알 수|확인되지|나오지|보이지|적혀 ?있지|남아 ?있지|기록(?:되어|돼) ?있지|있지|알지)"
    "[가-힣]{0,2} ?(?:못|없|않)"
    "|(?:중단|취소)(?:되었|됐|된)|(?:찾아보|확인하|살펴보|조사하)고 있었"
    "|(?:저장소|코드|문서|설정|기록|프로젝트|리포|대화|메모)[가-힣]{0,3}에(?:는|도|서는)? ?없"
    "|모르겠|잘 모릅니다|못 ?찾|안 ?보[이입]|기록이 없|정보가 없|내용이 없|언급이 없|흔적이 없|문서[가에] 없"
    "|설정에 없|적힌 (?:게|것이|곳이|데가) 없"
    "|나와 ?있지 않|(?:물어|확인해) ?(?:보셔야|봐야|보시는|주셔야)"
)  # fmt: skip
# A cause or a deed beside it: what was not there was the trouble, and it was found.
_FINDING = re.compile(
    r"\b(?:root )?cause\b|\bbecause\b|\bfixed\b|\b(?:i|we)(?:'ve| have)? (?:now |also |just )?(?:added|set|changed"
    r"|moved|made|replaced|removed|renamed|restored|updated|wrote|patched|reverted)\b"
    r"|원인|때문|(?:고쳤|수정했|추가했|바꿨|넣었|옮겼|되돌렸|맞췄|설정했)",
    re.IGNORECASE,
)
# The beginning of a search whose end the turn does not tell.
_BEGINS = re.compile(
    r"^(?:(?:sure|ok|okay|yes|right)[,.!]? )?(?:let me|i'?ll|i will|i am going to|i'm going to)"
    r" (?:\w+ )?(?:look|check|search|see|find|read|take a look|dig|investigate)\b"
    r"|^(?:one|just a|give me a) (?:moment|second|minute)\b"
    r"|(?:찾아|확인해|살펴|알아|조사해) ?(?:보겠|볼게|드리겠|드릴게)|확인하겠|조사하겠|^(?:잠시|잠깐)만",
    re.IGNORECASE,
)


def asks_a_fact(prompt: str) -> bool:
    """True for a prompt that only asks for a fact, shortly."""
    prompt = prompt.strip()
    return len(prompt) <= FACT_CHARS and is_question(prompt) and not REQUESTS.search(prompt)


def is_open_question(prompt: str, answers: Sequence[str]) -> bool:
    """True for a question that no answer stated anything to."""
    if not any(answer.strip() for answer in answers):
        return is_question(prompt)
    asks = is_question(prompt) or is_question(_without_afterthought(prompt))
    return asks and (is_non_answer(prompt, answers) or not _states(answers))


def is_still_open(text: str) -> bool:
    """True for a turn's text whose question has no answer."""
    prompt, answer = prompt_and_answer(text)
    return is_open_question(prompt, [answer])


def _without_afterthought(prompt: str) -> str:
    """The prompt without a short last sentence: "for the third time"."""
    spans = sentences(prompt)
    if len(spans) < 2 or spans[-1].end - spans[-1].start > AFTERTHOUGHT_CHARS:
        return prompt
    return prompt[: spans[-1].start]


def is_non_answer(prompt: str, answers: Sequence[str]) -> bool:
    """True if the answer to a question is only that nobody knows."""
    reply = " ".join(answer.strip() for answer in answers if answer.strip())
    asks = any(is_question(prompt[span.start : span.end]) for span in sentences(prompt))
    if not asks or not reply or len(reply) > _NON_ANSWER_CHARS or _FINDING.search(reply):
        return False
    first = [reply[span.start : span.end] for span in sentences(reply)][:_FIRST_SENTENCES]
    without = sum(1 for span in first if _ENGLISH_NON_ANSWER.search(span) or _KOREAN_NON_ANSWER.search(span))
    return without * 2 >= len(first)


def begins(sentence: str) -> bool:
    """True for a sentence that only begins a search."""
    return bool(_BEGINS.search(sentence))


def _states(answers: Sequence[str]) -> bool:
    """True if a sentence neither asks back nor only begins a search."""
    for answer in answers:
        for span in sentences(answer):
            sentence = answer[span.start : span.end]
            if not (is_question(sentence) or begins(sentence)):
                return True
    return False
