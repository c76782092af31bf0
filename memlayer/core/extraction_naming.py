"""Make a statement say what it is about when it is read alone."""

from __future__ import annotations

import re

from memlayer.core.extraction_sentences import ASSISTANT, USER, Candidate
from memlayer.core.extraction_signals import CAUSE, VALUE
from memlayer.core.extraction_turn import Judged
from memlayer.core.terms import index_terms, query_terms

MAX_TOPIC_CHARS = 120

# What a sentence opens with before it says anything.
_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|but|well|hmm+|ugh|oh|also|actually|anyway|alright|yes|yeah|fyi|btw|by the way"
    r"|heads[ -]up|one more thing|just so you know|for the record|remember this|remember|note that|turns out"
    r"|(?:right|great|sure|no|good|i see)(?=[,:.!])"
    r"|sorry|quick one|아 ?맞다|아|그리고|참고로|그럼|그래서|그러니까|근데|네|음|어|참)(?:(?=[,:.!]"
    r"|\s)[,:.!]?)\s+)+(?=\S{2})",
    re.IGNORECASE,
)
# A request behind the statement: `..., can you fix the tests?`
_TRAILING_REQUEST = re.compile(
    r"(?:[,;.]| -+)\s*(?:so |and |but |now |then )*(?:please |can you|could you|would you|add |write |set |put "
    r"|update |use |run |make"
    r" sure|clean up|fix |keep that in mind|i need|he'll need|she'll need|they'll need)[^.]*$",
    re.IGNORECASE,
)
# Points at something outside the sentence.
_POINTS_AWAY = re.compile(
    r"^(?:it|its|it's|that|that's|this|these|those|they|they're|their|he|she|his|her|there|failed ones|such"
    r"|the latter|both"
    r"|one of them|so|then|hence|therefore|clearing it|passing|rewriting it|the (?:first|second|third|worst|other"
    r"|same) one)\b"
    r"|\b(?:does it|did it|is it|hers|theirs|that one|these two|do that|there)\b|\bthey\b"
    r"|^(?:그건|그게|그거|그걸|그것|그|이건|이게|이거|이것|이|이는|거기|여기|그쪽|저건|해당|첫 ?번째|두 ?번째"
    r"|그다음|그 이전)(?=\s)|거기",
    re.IGNORECASE,
)
_DEMONSTRATIVE = re.compile(
    r"^(?:그|이|저|해당) [가-힣]+|\b(?:that|this|the other) (?:library|package|service|approach|tool|plugin"
    r"|one)\b"
)
_PRONOUN = re.compile(r"\b(?:it|them|those|that one)\b", re.IGNORECASE)
_NAME = re.compile(r"`([^`\n]{2,60})`")
_FILLER = re.compile(
    r"(?:좀|한번|한번만|이거|지금)\s|(?:봐줘|확인해 ?줘|알려줘|찾아줘|분석 ?좀|봐봐|왜 그런지|설명해줘)[.?]*$"
    r"|\b(?:please|can you|could you|look at|look into|check|hi|hey|ok|btw|remind me|do you remember|tell me)\b",
    re.IGNORECASE,
)


def self_contained(judged: Judged, prompt: list[Candidate], answered: list[Candidate]) -> str:
    """The statement's text; where it names too little, what the turn is about stands before it and a colon."""
    one = judged.candidate
    text = trimmed(one.text)
    if one.speaker == USER:
        return _with_user_topic(text, one, answered)
    topic = _topic(prompt)
    if judged.kind == CAUSE or _POINTS_AWAY.search(text) or _says_little(text, topic):
        before = one.before if _POINTS_AWAY.search(text) and not _POINTS_AWAY.search(one.before) else ""
        return _behind(topic, _behind_sentence(before, text) if judged.kind != CAUSE else text)
    return text


def trimmed(text: str) -> str:
    """The sentence without its opening words and without a request behind it."""
    rest = _OPENING.sub("", text)
    if len(rest) >= 8:
        text = rest
    rest = _TRAILING_REQUEST.sub("", text)
    return (rest + ".") if rest != text and len(rest) >= 24 else text


def _with_user_topic(text: str, one: Candidate, answered: list[Candidate]) -> str:
    pronoun = _PRONOUN.search(text) and not VALUE.search(text) and not _PRONOUN.search(one.before)
    if not _POINTS_AWAY.search(text) and len(query_terms(text)) > 3 and not pronoun:
        return text
    if _DEMONSTRATIVE.search(text):
        for answer in answered:
            name = _NAME.search(answer.text)
            if name and name.group(1) not in text:
                return f"{text} ({name.group(1)})"
    if one.before and not one.before.endswith("?") and len(one.before) <= MAX_TOPIC_CHARS:
        return _behind_sentence(one.before, text)
    after = one.after
    if after and not after.endswith("?") and len(after) <= MAX_TOPIC_CHARS and re.match("^첫|^두|^그", text):
        return _behind_sentence(text, after)
    return text


def _topic(prompt: list[Candidate]) -> str:
    """What the prompt is about, in its own words, cut."""
    for one in prompt:
        topic = _FILLER.sub("", trimmed(one.text)).strip(" ,.?!~")
        if len(query_terms(topic)) >= 1:
            return topic if len(topic) <= MAX_TOPIC_CHARS else topic[:MAX_TOPIC_CHARS].rsplit(" ", 1)[0] + " …"
    return ""


def _behind(topic: str, text: str) -> str:
    if not topic or _shares_most(topic, text):
        return text
    return f"{topic}: {text}"


def _behind_sentence(before: str, text: str) -> str:
    return f"{before} {text}" if before and len(before) <= 2 * MAX_TOPIC_CHARS else text


def _says_little(text: str, topic: str) -> bool:
    """True if hardly a word of the question stands in the answer: it was left out because the question said it."""
    asked = set(query_terms(topic))
    return bool(asked) and len(asked & set(index_terms(text).split())) * 4 < len(asked)


def _shares_most(topic: str, text: str) -> bool:
    asked = set(query_terms(topic))
    return len(asked & set(index_terms(text).split())) * 3 >= 2 * len(asked)


__all__ = ["ASSISTANT", "self_contained", "trimmed"]
