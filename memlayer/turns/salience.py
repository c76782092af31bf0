"""Salience: routine turns, unanswered questions, and the importance of a memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.edge.capture.noise import recallable
from memlayer.edge.redaction.privacy import without_marks
from memlayer.kinds import CATEGORIES, Category
from memlayer.text.sentences import is_question, sentences
from memlayer.turns.turn import ASSISTANT, USER

ORDER_CHARS = 60
SHORT_ANSWER_CHARS = 160
AFTERTHOUGHT_CHARS = 20
# The host's own words in the place of an answer, or of a prompt that a hook refused.
_FAILED = re.compile(
    r"(?:API Error\b|Prompt is too long|Not logged in|Please run /login|Invalid API key|Credit balance is too low"
    r"|Execution error|No response requested|\[Request interrupted|Operation stopped by hook|Request timed out)",
    re.IGNORECASE,
)
_COMMIT_ORDER = re.compile(
    r"(?:(?:ok|okay|yes|great|good|now|please|can you|could you|and|then|also|just|let'?s|go ahead|the|these|those|all"
    r"|changes|it|this|everything|to|remote|origin|main|master|again|with|a|message|in|one|individual|commits?|push|ed"
    r"|merge|rebase|amend|stage|git|pr|open|create|응|네|그럼|이제|전부|다|모두|변경|사항|변경사항|내용|그리고|한번|다시|좀"
    r"|수정된|것들|것|지금까지|작업한|정리해서|커밋|푸시|머지|올려|올리고|하고|해|해줘|해주세요|하자|줘|을|를|도|들|까지|메시지|메세지)[\s,.!&+]*)+",
    re.IGNORECASE,
)
_COMMITS = re.compile(r"commit|push|merge|rebase|stage|커밋|푸시|머지|올려|올리고", re.IGNORECASE)


def is_routine(prompt: str, answers: Sequence[str]) -> bool:
    """True if nothing in the turn is worth recalling; in doubt False.

    Cheap, by its form alone.
    """
    request = without_marks(prompt).strip()
    answer = " ".join(without_marks(span).strip() for span in answers).strip()
    if _FAILED.match(answer) or (_FAILED.match(request) and not answer):
        return True
    if len(request) <= ORDER_CHARS and _COMMITS.search(request) and _COMMIT_ORDER.fullmatch(request):
        return True
    if len(answer) > SHORT_ANSWER_CHARS or recallable(request):
        return False
    return not recallable(answer)


def is_routine_text(text: str) -> bool:
    """The same for the text of a turn (turns.turn.turn_text)."""
    said, _, answered = text.partition("\n" + ASSISTANT)
    if text.startswith(ASSISTANT):
        said, answered = "", text[len(ASSISTANT) :]
    return is_routine(said[len(USER) :] if said.startswith(USER) else said, [answered])


def is_open_question(prompt: str, answers: list[str]) -> bool:
    """True for a question that nobody has answered.

    So is an answer of "I do not know": nothing in it is worth recalling.
    """
    if not any(answer.strip() for answer in answers):
        return is_question(prompt)
    asks = is_question(prompt) or is_question(_without_afterthought(prompt))
    return asks and is_non_answer(prompt, answers)


def _without_afterthought(prompt: str) -> str:
    """The prompt without a short last sentence: "for the third time"."""
    spans = sentences(prompt)
    if len(spans) < 2 or spans[-1].end - spans[-1].start > AFTERTHOUGHT_CHARS:
        return prompt
    return prompt[: spans[-1].start]


# First sentences about a search without success, or about not knowing.
_ENGLISH_NON_ANSWER = re.compile(
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
_KOREAN_NON_ANSWER = re.compile(
    "(?:찾지|찾을 수|확인할 수|알 수|확인되지|나오지|보이지|적혀 ?있지|남아 ?있지|기록되어 ?있지|기록돼 ?있지|정해져 ?있지|있지|알지)"
    "[가-힣]{0,2} ?(?:못|없|않)"
    "|(?:중단|취소)(?:되었|됐|된)|(?:찾아보|확인하|살펴보|조사하)고 있었"
    "|(?:저장소|코드|문서|설정|기록|프로젝트|리포|대화|메모)[가-힣]{0,3}에(?:는|도|서는)? ?없"
    "|모르겠|잘 모릅니다|못 ?찾|안 ?보[이입]|기록이 없|정보가 없|내용이 없|언급이 없|흔적이 없|문서가 없|문서에 없|설정에 없|적힌 (?:게|것이|곳이|데가) 없"
    "|나와 ?있지 않|(?:물어|확인해) ?(?:보셔야|봐야|보시는|주셔야)"
)  # fmt: skip
_FIRST_SENTENCES = 3
_NON_ANSWER_CHARS = 600


def is_non_answer(prompt: str, answers: list[str]) -> bool:
    """True if the answer to a question is only that nobody knows."""
    said = " ".join(answer.strip() for answer in answers if answer.strip())
    asks = any(is_question(prompt[span.start : span.end]) for span in sentences(prompt))
    if not asks or not said or len(said) > _NON_ANSWER_CHARS:
        return False
    first = [said[span.start : span.end] for span in sentences(said)][:_FIRST_SENTENCES]
    without = sum(1 for span in first if _ENGLISH_NON_ANSWER.search(span) or _KOREAN_NON_ANSWER.search(span))
    return without * 2 >= len(first)


SIGNAL_STEP = 0.1
MAX_SIGNAL = 0.2


def _signal(english: str, korean: str) -> re.Pattern[str]:
    # Not \b: in `rule을` there is none, Hangul counts as word characters.
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{english})(?![A-Za-z0-9_])|{korean}", re.IGNORECASE)


# One pattern a signal: whoever says it twice, or in two languages, has said it once.
_SIGNALS = (
    _signal("decisions?(?! trees?)|decided?", "결정(?!론| ?트리)|기로 ?(?:했|하|한|합|결정|정)|확정"),
    _signal("always", "항상|언제나|매번|(?<![가-힣])늘(?![가-힣])"),
    _signal("never(?! mind)", "절대(?! ?(?:경로|값|좌표|위치|주소|시간))|결코"),
    _signal("(?<!not )(?<!n't )(?<!less )important", "중요(?!하지 ?않|치 ?않)"),
    _signal("critical", "치명|핵심"),
    _signal("must", "반드시|필수|(?<![가-힣])꼭(?![가-힣])"),
    _signal("requirements?", "요구 ?사항"),
    _signal("polic(?:y|ies)", "정책|방침"),
    _signal("rules?", "(?<!불)규칙|규정"),
    _signal("principles?", "원칙"),
)


def importance(category: Category, text: str) -> float:
    """Return the category's own and 0.1 a signal, at most 0.2."""
    found = sum(1 for signal in _SIGNALS if signal.search(text))
    return round(min(1.0, CATEGORIES[category].importance + min(MAX_SIGNAL, SIGNAL_STEP * found)), 2)
