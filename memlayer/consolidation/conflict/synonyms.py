"""Words of one thing in two languages or two spellings, brought to one form before two statements are compared."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from memlayer.text.word_lists import word_list, words

_NUMBERS = {
    word: str(at)
    for at, word in enumerate(words("zero one two three four five six seven eight nine ten eleven twelve"))
    if word != "one"
}
_NUMBER_WORD = re.compile(
    r"\b(?:" + "|".join([*_NUMBERS, "fifteen", "twenty", "thirty", "sixty", "one(?= (?:\\w+))"]) + r")\b"
)
_TENS = {"fifteen": "15", "twenty": "20", "thirty": "30", "sixty": "60", "one": "1"}
_MONTHS = words("january february march april may june july august september october november december")
_ENGLISH_DATE = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b")
_KOREAN_DATE = re.compile(r"(?<!\d)(\d{1,2})월 ?(\d{1,2})일")
_SLASH_DATE = re.compile(r"(?<![\d/.\w])(\d{1,2})/(\d{1,2})(?![\d/])")
_KOREAN_COUNT = re.compile(r"(?<![가-힣])([한두세네]) ?(명|번|개|대|건|시간|주|달|가지|장|회)")


def normal(text: str) -> str:
    """Lower case, one word for one thing, digits for numbers, `date0420` for any spelling of 20 April."""
    text = unicodedata.normalize("NFKC", text).lower().replace("`", "")
    text = re.sub(r"(?:밤 ?12시|midnight|(?<!\d)0시)", "00시", text)
    text = text.replace("감사 로그", "auditlog").replace("audit log", "auditlog")
    text = _KOREAN_COUNT.sub(lambda found: str(" 한두세네".index(found.group(1))) + found.group(2), text)
    text = _ENGLISH_DATE.sub(lambda found: _date(_MONTHS.index(found.group(1)) + 1, int(found.group(2))), text)
    for pattern in (_KOREAN_DATE, _SLASH_DATE):
        text = pattern.sub(lambda found: _date(int(found.group(1)), int(found.group(2))), text)
    text = _NUMBER_WORD.sub(lambda found: _NUMBERS.get(found.group()) or _TENS[found.group()], text)
    return _synonym_pattern().sub(lambda found: _spelt(found, text), text)


@cache
def _synonyms() -> dict[str, str]:
    """The form of each word that has another name, language or spelling."""
    return dict(pair.split("=", 1) for pair in word_list(__package__, "synonym"))


@cache
def _synonym_pattern() -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, _synonyms()), key=len, reverse=True)))


def _date(month: int, day: int) -> str:
    return f" date{month:02}{day:02} "


def _spelt(found: re.Match[str], text: str) -> str:
    """English words change whole only; Korean ones also under their particle."""
    word = found.group()
    if word.isascii():
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        if before.isalnum() or after.isalnum():
            return word
    return _synonyms()[word]
