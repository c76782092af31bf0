"""Tells a question from a statement, in Korean and English."""

from __future__ import annotations

import re

_ENGLISH_START = re.compile(
    r"^(?:so |and |but |ok |okay |well |hey )*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does"
    r"|did|can|could|should|would|will|have|has|had|am|may|shall)\b(?!.*[.!]$)",
    re.IGNORECASE,
)
_KOREAN_END = re.compile(
    r"(?:까|나요|가요|니|냐|지|죠|던가|더라|을래|ㄹ까|는데요|뭐야|뭐였|어디야|누구야|언제야|몇)[요\s?？.]*$"
)
_KOREAN_WORD = re.compile("뭐|무엇|무슨|어떤|어느|어디|언제|누가|누구|왜|어떻게|얼마|몇")


def is_question(text: str) -> bool:
    """True if the last sentence asks. Statements that only contain a question word are not questions."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if not lines:
        return False
    last = lines[-1]
    if last.rstrip("\"')” ").endswith(("?", "？")):
        return True
    if _ENGLISH_START.match(last):
        return True
    return bool(_KOREAN_END.search(last) and _KOREAN_WORD.search(last))
