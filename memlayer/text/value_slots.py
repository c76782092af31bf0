"""Values in a sentence by kind: spans of time, ports, choices."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from memlayer.text.terms import query_terms
from memlayer.text.word_lists import rows, words

MAX_CHARS = 500  # of a sentence. The rest is not looked at
FIRST_PLACE = 0xE000  # of the characters that stand for values: no words, and nobody's text
_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "밀리초": 0.001, "s": 1, "sec": 1, "second": 1, "초": 1, "m": 60, "min": 60,
    "minute": 60, "분": 60, "h": 3600, "hr": 3600, "hour": 3600, "시간": 3600, "d": 86_400, "day": 86_400, "일": 86_400,
    "week": 604_800, "주": 604_800, "month": 2_592_000, "개월": 2_592_000, "달": 2_592_000, "year": 31_536_000,
    "년": 31_536_000,
}  # fmt: skip
_BYTES = {"byte": 1, "바이트": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
_COUNTED = {
    "회": "time", "번": "time", "차례": "time", "개": "item", "건": "item", "명": "person", "사람": "person",
    "대": "machine", "칸": "space", "자": "character", "char": "character", "배": "fold", "원": "won", "krw": "won",
    "달러": "dollar", "usd": "dollar", "%": "%", "퍼센트": "%", "percent": "%", "retrie": "retry",
}  # fmt: skip
_COUNTABLE = words(
    "row request user node worker replica approval retry retrie attempt time column space character char item page"
    " thread connection won dollar percent core"
)
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_WORDS |= {"fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60}
_KOREAN_WORDS = {"두": 2, "세": 3, "네": 4, "다섯": 5, "열": 10}  # `한 번` is "once more" far more often
_NUMBER = r"(?P<number>\d{1,9}(?:\.\d{1,3})?)"
_LATIN_UNITS = sorted({*(unit for unit in (*_SECONDS, *_BYTES) if unit.isascii()), *_COUNTABLE}, key=len, reverse=True)
_KOREAN_UNITS = sorted({unit for unit in (*_SECONDS, *_BYTES, *_COUNTED) if not unit.isascii()}, key=len, reverse=True)
_UNIT = r"(?P<unit>(?:%s)s?(?![a-z\d])|%s|%%)" % ("|".join(_LATIN_UNITS), "|".join(_KOREAN_UNITS))
_QUANTITY = re.compile(rf"(?<![\w.:/#-]){_NUMBER} ?-?{_UNIT}(?!요일)(?<!번(?= [가-힣a-z]))")
_CLOCK = re.compile(
    r"(?<![\w.])(?:(?P<hour>\d{1,2}):(?P<minute>\d\d)(?!:?\d)|(?P<half>오전|오후)? ?(?P<korean>\d{1,2})시(?!간)"
    r"|(?P<english>\d{1,2}) ?(?P<noon>am|pm)(?![a-z]))"
)
_MONTHS = words("jan feb mar apr may jun jul aug sep oct nov dec")
_DATE = re.compile(
    r"(?<!\d)(?:20\d\d-)?(?P<month>\d\d)-(?P<day>\d\d)(?!\d|-\w)|(?<!\d)(?P<m>\d{1,2})월 ?(?P<d>\d{1,2})일"
    r"|\b(?P<name>%s)[a-z]{0,6} (?P<nth>\d{1,2})(?:st|nd|rd|th)?(?![\d:.])" % "|".join(_MONTHS)
)
_PORT = re.compile(
    r"(?:\bports?(?: is| to| on|:|=| number)?|포트(?:는|를|가|번호는|번호를|번호)?) ?(?P<a>\d{2,5})(?!\d|\.\d)"
    r"|(?<![\w.-])(?P<b>\d{2,5}) ?(?:번 ?)?포트|\b(?:listens?|runs?|is|now) on (?P<c>\d{4,5})\b"
    r"|(?<=\w):(?P<d>\d{4,5})\b"
)
_VERSION = re.compile(r"\bv?(?P<version>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?![\w%]|\.\d)")
_NAMED_VERSION = re.compile(
    r"\b(?P<name>python|node|java|go|ruby|php|postgres|postgresql|mysql|redis|django|rails|react|swift|android"
    r"|ubuntu) ?(?P<version>\d{1,3})(?!\d|[:%/]|\.\d)"
)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z][a-z0-9+#-]*|[가-힣]+")
_WRITTEN = re.compile(
    r"\b(?:%s)(?= [a-z])|(?<![가-힣])(?:%s)(?= ?(?:번|개|명|시간|주|달|대|건|회|배|칸|자))"
    % ("|".join(_WORDS), "|".join(_KOREAN_WORDS))
)


@dataclass(frozen=True)
class Slots:
    """A sentence's values and its other words.

    values: kind -> values in one form (spans of time in seconds). rest: the sentence with a character from FIRST_PLACE
    on in the place of each. places: kind and value of these, in turn.
    """

    values: dict[str, frozenset[str]]
    rest: str
    places: tuple[tuple[str, str], ...] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """Terms of the rest, made when values alone do not decide."""
        return frozenset(query_terms(self.rest))


@cache
def _choices() -> dict[str, tuple[str, str]]:
    """Word -> its kind and its form."""
    choices = {}
    for kind, listed in rows(__package__, "choices.tsv"):
        for word in listed.split():
            name, _, form = word.partition("=")
            choices[name] = (kind, form or name)
    return choices


def has_value(sentence: str) -> bool:
    """True if a sentence may hold a value; cheaper than slots()."""
    if _DIGIT.search(sentence):
        return True
    heads = _choice_heads()
    return any(word in heads or word[:2] in heads for word in _WORD.findall(sentence.lower()))


@cache
def _choice_heads() -> frozenset[str]:
    """Choices and written numbers; of Korean ones, which carry particles, the head."""
    return frozenset(word if word.isascii() else word[:2] for word in (*_choices(), *_WORDS, *_KOREAN_WORDS))


@lru_cache(maxsize=4096)
def slots(sentence: str) -> Slots:
    """Take a sentence apart. Never raises on any text."""
    text = unicodedata.normalize("NFKC", sentence[:MAX_CHARS]).lower().replace("`", "")
    text = _WRITTEN.sub(lambda word: str(_WORDS.get(word.group()) or _KOREAN_WORDS[word.group()]), text)
    places: list[tuple[str, str]] = []
    for pattern, take in _TAKES:
        text = pattern.sub(lambda match, take=take: _taken(take(match), match, places), text)  # type: ignore[misc]
    text = _WORD.sub(lambda word: _chosen(word.group(), places), text)
    values: dict[str, set[str]] = {}
    for kind, value in places:
        values.setdefault(kind, set()).add(value)
    return Slots({kind: frozenset(of_kind) for kind, of_kind in values.items()}, text, tuple(places))


def _taken(value: tuple[str, str] | None, match: re.Match[str], places: list[tuple[str, str]]) -> str:
    if value is None:
        return match.group()
    return (" port" if value[0] == "port" else "") + _placed(value, places)


def _placed(value: tuple[str, str], places: list[tuple[str, str]]) -> str:
    places.append(value)
    return " %s " % chr(FIRST_PLACE + len(places) - 1)


def _chosen(word: str, places: list[tuple[str, str]]) -> str:
    kind, form = _choices().get(word, ("", ""))
    if not kind and not word.isascii():  # under a particle
        kind, form = next(
            (_choices()[word[:end]] for end in range(len(word) - 1, 1, -1) if word[:end] in _choices()), ("", "")
        )
    if not kind:
        return word
    return _placed((kind, form), places)


def _quantity(match: re.Match[str]) -> tuple[str, str] | None:
    unit = match["unit"]
    unit = unit if unit in _SECONDS or unit in _BYTES else unit.removesuffix("s")
    number = float(match["number"])
    if unit in _SECONDS:
        return "time", "%g" % (number * _SECONDS[unit])
    if unit in _BYTES:
        return "size", "%g" % (number * _BYTES[unit])
    return "count of " + _COUNTED.get(unit, unit), "%g" % number


def _clock(match: re.Match[str]) -> tuple[str, str] | None:
    hour = int(match["hour"] or match["korean"] or match["english"])
    if (match["half"] == "오후" or match["noon"] == "pm") and hour < 12:
        hour += 12
    return "clock", "%02d:%s" % (hour, match["minute"] or "00")


def _date(match: re.Match[str]) -> tuple[str, str] | None:
    month = _MONTHS.index(match["name"]) + 1 if match["name"] else int(match["month"] or match["m"])
    return "date", "%02d-%02d" % (month, int(match["day"] or match["d"] or match["nth"]))


def _port(match: re.Match[str]) -> tuple[str, str] | None:
    return "port", next(filter(None, match.groups()))


def _version(match: re.Match[str]) -> tuple[str, str] | None:
    return "version", match["version"]


def _named_version(match: re.Match[str]) -> tuple[str, str] | None:
    return "version of " + match["name"], match["version"]


_TAKES = (
    (_DATE, _date),
    (_CLOCK, _clock),
    (_PORT, _port),
    (_QUANTITY, _quantity),
    (_VERSION, _version),
    (_NAMED_VERSION, _named_version),
)  # fmt: skip
