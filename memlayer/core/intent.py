"""What a prompt wants of a memory: nothing (chat), only standing orders (an order), or an answer (anything else)."""

from __future__ import annotations

import re

from memlayer.core.intent_words import (
    AS_BEFORE,
    CHAT_WORDS,
    ENGLISH_ORDER,
    GENERAL,
    INFORM,
    KOREAN_CHAT,
    KOREAN_INFORM,
    KOREAN_ORDER,
    NO_ORDER,
    OURS,
    REMIND,
)
from memlayer.core.question import is_question

CHAT, ORDER, ASKING = "chat", "order", "asking"

# An order is short; what goes on for longer says what it is about, and is worth a search.
_MAX_ORDER_WORDS = 14
_DOUBLED = re.compile(r"([가-힣]{1,2})\1+")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_MAX_CHAT_WORDS = 14


def asks_anybody(prompt: str) -> bool:
    """True for a question whose answer is general knowledge by its form: a memory must fit it very well to be meant."""
    text = prompt.strip()
    return len(text) <= 300 and bool(GENERAL.search(text)) and not OURS.search(text)


def asks_to_be_reminded(prompt: str) -> bool:
    """True for a short prompt that asks a memory in so many words: `what's left?`, `그 포트 뭐였더라`."""
    text = prompt.strip()
    return len(text) <= 300 and bool(REMIND.search(text))


def intent(prompt: str) -> str:
    """CHAT, ORDER or ASKING. Cheap and by words alone; in doubt ASKING."""
    text = prompt.strip()
    words = _WORD.findall(text)
    if len(words) <= _MAX_CHAT_WORDS and all(_is_chat(word) for word in words):
        return CHAT
    if len(words) > _MAX_ORDER_WORDS or "\n" in text or KOREAN_INFORM.search(text) or AS_BEFORE.search(text):
        return ASKING
    if KOREAN_ORDER.search(text):
        return ORDER
    if NO_ORDER.match(text):
        return ASKING
    if ENGLISH_ORDER.match(text) and not INFORM.search(text) and not (is_question(text) and not _requests(text)):
        return ORDER
    return ASKING


def _requests(text: str) -> bool:
    """True for `can you run the tests?`: a question by its form only."""
    return bool(re.match(r"(?:\w+[\s,]+){0,2}(?:can|could|would|will) you\b", text, re.IGNORECASE))


def _is_chat(word: str) -> bool:
    low = word.casefold().replace("\u2019", "'").replace("'", "")
    if low in CHAT_WORDS or low.isdecimal():
        return True
    once = _DOUBLED.sub(r"\1", low)
    bare = re.sub("[ㄱ-ㅎㅏ-ㅣ]+", "", once)
    return not bare or any(KOREAN_CHAT.fullmatch(form) for form in (low, once, bare))
