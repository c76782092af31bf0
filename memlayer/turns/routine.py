"""Tell turns that teach nothing: bare commit orders, answers that failed, greetings. They are kept, never recalled."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.edge.capture.noise import recallable
from memlayer.turns.turn import ASSISTANT, USER

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
    r"|수정된|것들|것|지금까지|작업한|정리해서|커밋|푸시|머지|올려|올리고|하고|해|해줘|해주세요|하자|줘|을|를|도|들|까지|메시지|메세지)[\s,.!&+]*)+",
    re.IGNORECASE,
)
_COMMITS = re.compile(r"commit|push|merge|rebase|stage|커밋|푸시|머지|올려|올리고", re.IGNORECASE)



def is_routine(prompt: str, answers: Sequence[str]) -> bool:
    """True if nothing in the turn is worth recalling later. Cheap, by its form alone; in doubt False."""
    asked, answer = prompt.strip(), " ".join(one.strip() for one in answers).strip()
    if _FAILED.match(answer) or (_FAILED.match(asked) and not answer):
        return True
    if len(asked) <= ORDER_CHARS and _COMMITS.search(asked) and _COMMIT_ORDER.fullmatch(asked):
        return True
    if len(answer) > SHORT_ANSWER_CHARS or recallable(asked):
        return False
    return not recallable(answer)


def is_routine_text(text: str) -> bool:
    """The same for the text of a turn (turns.turn.turn_text)."""
    said, _, answered = text.partition("\n" + ASSISTANT)
    if text.startswith(ASSISTANT):
        said, answered = "", text[len(ASSISTANT) :]
    return is_routine(said[len(USER) :] if said.startswith(USER) else said, [answered])
