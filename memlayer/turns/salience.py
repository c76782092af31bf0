"""Salience: routine turns, and the importance of a new memory."""

import re
from collections.abc import Sequence
from typing import Any

from memlayer.edge.capture.noise import recallable
from memlayer.edge.redaction.privacy import without_marks
from memlayer.kinds import CATEGORIES, Category
from memlayer.model import Memory, citation_of, memory_key
from memlayer.turns.turn import prompt_and_answer

ORDER_CHARS = 60
SHORT_ANSWER_CHARS = 160
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
    r"|수정된|것들|것|지금까지|작업한|정리해서|좋아|좋네|굿|커밋|푸시|머지|올려|올리고|하고|해|해줘|해주세요|하자|줘|을|를|도|들|까지|메시지|메세지)[\s,.!&+]*)+",
    re.IGNORECASE,
)
_COMMITS = re.compile(r"commit|push|merge|rebase|stage|커밋|푸시|머지|올려|올리고", re.IGNORECASE)

SIGNAL_STEP = 0.1
MAX_SIGNAL = 0.2


def is_routine(prompt: str, answers: Sequence[str]) -> bool:
    """True if a turn's form shows that nothing is worth recalling."""
    request = without_marks(prompt).strip()
    answer = " ".join(without_marks(span).strip() for span in answers).strip()
    if _FAILED.match(answer) or (_FAILED.match(request) and not answer):
        return True
    if len(request) <= ORDER_CHARS and _COMMITS.search(request) and _COMMIT_ORDER.fullmatch(request):
        return True
    if len(answer) > SHORT_ANSWER_CHARS or recallable(request):
        return False
    return not recallable(answer) or bool(_COMMITS.search(answer))


def is_routine_text(text: str) -> bool:
    """The same for the text of a turn (turns.turn.turn_text)."""
    prompt, answer = prompt_and_answer(text)
    return is_routine(prompt, [answer])


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
    signal_count = sum(1 for signal in _SIGNALS if signal.search(text))
    return round(min(1.0, CATEGORIES[category].importance + min(MAX_SIGNAL, SIGNAL_STEP * signal_count)), 2)


def new_memory(memory_id: str, category: Category, kind: str, text: str, at_ms: int, **fields: Any) -> Memory:
    """Make a memory with its key, citation and importance. fields: of Memory."""
    usual = {"session_id": "", "prompt_id": "", "source_ids": (), "importance": importance(category, text)}
    return Memory(
        id=memory_id, key=memory_key(category, memory_id, at_ms), citation=citation_of(memory_id), category=category,
        kind=kind, text=text, at_ms=at_ms, **{**usual, **fields},
    )  # fmt: skip
