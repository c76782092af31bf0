"""Features of a statement for comparison: subject, values, negations, changes."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from memlayer.text.terms import query_terms
from memlayer.text.word_lists import word_list, word_set, words


class Parts(NamedTuple):
    """The features of one statement.

    subject: terms of the subject, empty if it names only `we`. terms: all content terms, values left out. values: by
    type (`port`, `time`, `date`, `name`, ...). denies: the count of negations, odd or even. changes: it says that
    something has changed. discarded: terms of a thing right beside the word that ends it.
    """

    subject: frozenset[str]
    terms: frozenset[str]
    values: dict[str, frozenset[str]]
    denies: tuple[bool, bool]
    changes: bool
    discarded: frozenset[str]


MAX_CHARS = 500  # a statement has fewer; the rest is not compared
_UNITS = {
    "time": r"ms|milliseconds?|secs?|seconds?|s|mins?|minutes?|hours?|h|days?|nights?|weeks?|months?|years?"
    r"|초|분|시간|일|박|주|개월|달|년",
    "clock": r"시(?: ?\d+분)?|:\d\d|am|pm|o'clock",
    "size": r"kb|mb|gb|tb|bytes?|바이트",
    "share": r"%|퍼센트|percent",
    "money": r"원|달러|eur|usd|krw|won|dollars?",
    "count": r"회|번|건|개|대|명|행|칸|자|장|배|rows?|requests?|users?|nodes?|workers?|replicas?|approvals?|retries"
    r"|attempts?|times|columns?|spaces?|characters?|chars",
}
_TYPED = tuple(
    (kind, re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?) ?-?(?:{unit})(?![a-z\d])")) for kind, unit in _UNITS.items()
)
UNIT = re.compile("|".join(_UNITS.values()))
_DATE = re.compile(r"date\d{4}")
_WEEKDAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?![a-z])|\b(?:every day|daily)(?![a-z])"
    r"|(?<=매주 )[월화수목금토일]\b|매일"
)
_URL = re.compile(r"https?://\S+|\b[\w-]+(?:\.[\w-]+)+\b(?:/\S*)?|\b[\w.+-]+@[\w.-]+|(?<!\w)/?[\w.-]+(?:/[\w.<>-]+)+/?")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?![\w.]*\d)")
_LANGUAGE = re.compile(
    r"\b(?:english|korean|japanese|chinese|german|french|spanish)(?![a-z])|(?:english|korean|japanese"
    r"|chinese)(?=[가-힣])"
)
# Names are told from words by their capital, or by being Latin amid Hangul.
_NAME = re.compile(r"\b[A-Z][\w+]*(?:[A-Z.]\w+)*\b|\b[a-z]+[A-Z_]\w*\b|`[^`]+`")
_LATIN = re.compile(r"[A-Za-z][\w+.-]*[\w+]")

_NEGATION = re.compile(
    r"\b(?:no|not|never|cannot|don'?t|doesn'?t|won'?t|can'?t|isn'?t|aren'?t|wasn'?t|without|forbidden|banned"
    r"|dropped?|stop|stopped"
    r"|prohibited|avoid|gone|rejected|disallowed|unsupported)\b|안 (?:쓰|써|씀|함|해|하|돼|된)|않|못|금지|없"
    r"|(?<=[지 ])말 ?것|지 ?마\b|지 ?말|폐지|폐기|삭제됐",
    re.IGNORECASE,
)
CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|moved|changed|switched|dropped|dropping|replaced|upgraded|raised"
    r"|lowered|postponed|slips?|slipped"
    r"|delayed|taking over|took over|takes over|from now on|no more|is gone|are gone|migrated|renamed|bumped"
    r"|extended|shortened|again|turned out"
    r"|deprecated|retired|removed|increased|decreased|reduced)\b"
    r"|이제|더 이상|더는|대신|말고|바뀌|바뀐|바꾸|바꿨|변경|옮기|옮겼|연기|올리|올렸|늘리|늘렸|낮추|낮췄|줄이"
    r"|줄였|교체|넘어갔|밀렸|앞당겨|안 쓰|없앴|폐지|아니라"
    r"|갈아탔|전환|으로 올라|로 내려|미뤄|미루|당겨",
    re.IGNORECASE,
)
_DISCARDED = re.compile(
    r"(\S+?)(?:은|는|이|가|을|를)? (?:말고|대신|아니라|더 이상 안|이제 안|못 쓰|안 쓰|그만|버리|폐기|없애)"
    r"|(\S+)에서 (?=\S+(?:으로|로)\b)"
    r"|\b(?:instead of|rather than|over|no more|off|from|dropped|not|no(?! longer| more)|replaces?) (?:the "
    r"|a )?([\w.-]+)"
    r"|\b([\w.-]+) (?:is|are|was) (?:gone|dropped|frozen|banned|retired|deprecated|dead|a nightmare|only a symptom)\b"
    r"|\bno longer (?:\w+ (?:the |a )?(?=\w))?([\w.-]+)"
)
_ENGLISH_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|must|may|can|cannot|should|will|now|no longer|uses?|listens?|runs?|lives?"
    r"|gets?|goes|needs?|moved|changed"
    r"|stays?|ships?|targets?|failed|fails|crashed|because|come from|comes from|talks?|slips?|writes?|reads?"
    r"|starts?|happens?|points?|belongs?|supports?|requires?|accepts?|may be|works|died|go|come|use|run|live"
    r"|cache|expire|need)\b|:|=|->|→",
)
_KOREAN_TOPIC = re.compile(r"(?<=[가-힣a-z0-9)`])(?:은|는|이|가)(?= )|(?<= )[은는](?= )|:")


@lru_cache(maxsize=1024)
def parts(text: str) -> Parts:
    """Take one statement apart. Never raises on any text."""
    text = text[:MAX_CHARS]
    names = {normal(found.group()).strip() for found in _NAME.finditer(text)}
    if re.search("[가-힣]", text):
        names |= {found.group().lower() for found in _LATIN.finditer(text)}
    plain = normal(text)
    values: dict[str, set[str]] = {}
    rest = _take(plain, values)
    subject_text, other = _subject(rest)
    subject = _content(subject_text)
    named = {name for name in names if name and not set(query_terms(name)) <= subject}
    for name in named:
        if re.search(rf"(?<![a-z0-9_-]){re.escape(name)}(?![a-z0-9_-])", other):
            values.setdefault("name", set()).update(query_terms(name)[:1])
    gone = {term for kind in values for term in values[kind]}
    terms = _content(rest)
    return Parts(
        subject - gone,
        terms,
        {kind: frozenset(found) for kind, found in values.items()},
        (_denies(_CLAUSE.split(plain)[0]), _denies(plain)),
        bool(CHANGE.search(plain)),
        frozenset(
            term for found in _DISCARDED.finditer(plain) for term in query_terms(" ".join(filter(None, found.groups())))
        ),
    )


_CLAUSE = re.compile(r"[,;](?= [a-z])|(?<=[가-힣\d])고[, ]")
_ENDED = re.compile(r"\bno longer\b|\bany ?more\b|더 이상|더는")


def _denies(clause: str) -> bool:
    return bool(_ENDED.search(clause)) or len(_NEGATION.findall(clause)) % 2 == 1


def _take(plain: str, values: dict[str, set[str]]) -> str:
    """Move the typed values of a text into `values`; returns the rest."""

    def keep(kind: str, pattern: re.Pattern[str], text: str) -> str:
        def taken(found: re.Match[str]) -> str:
            values.setdefault(kind, set()).add(re.sub(r"[\s-]|s$", "", found.group()).rstrip("/.,"))
            return " "

        return pattern.sub(taken, text)

    plain = keep("date", _DATE, plain)
    plain = keep("place", _URL, plain)
    plain = keep("language", _LANGUAGE, plain)
    for kind, pattern in _TYPED:
        plain = keep(kind, pattern, plain)
    plain = keep("weekday", _WEEKDAY, plain)
    return keep("number", _NUMBER, plain)


def _subject(rest: str) -> tuple[str, str]:
    """(subject of the statement, its predicate)."""
    korean = bool(re.search("[가-힣]", rest))
    end = _KOREAN_TOPIC.search(rest) if korean else _ENGLISH_VERB.search(rest)
    if not end or end.end() == len(rest):
        return "", rest
    return rest[: end.start()], rest[end.end() :]


def _content(text: str) -> frozenset[str]:
    return frozenset(query_terms(text)) - filler_terms()


@cache
def filler_terms() -> frozenset[str]:
    """Terms of deciding, using and doing: no statement is about them."""
    english = query_terms(" ".join(word_list(__package__, "filler")))
    return word_set(__package__, "filler_korean").union(english)


_NUMBER_WORDS = {
    word: str(at)
    for at, word in enumerate(words("zero one two three four five six seven eight nine ten eleven twelve"))
    if word != "one"
}
_NUMBER_WORD_PATTERN = re.compile(
    r"\b(?:" + "|".join([*_NUMBER_WORDS, "fifteen", "twenty", "thirty", "sixty", "one(?= (?:\\w+))"]) + r")\b"
)
_TENS = {"fifteen": "15", "twenty": "20", "thirty": "30", "sixty": "60", "one": "1"}
_KOREAN_DATE = re.compile(r"(?<!\d)(\d{1,2})월 ?(\d{1,2})일")
_SLASH_DATE = re.compile(r"(?<![\d/.\w])(\d{1,2})/(\d{1,2})(?![\d/])")
_KOREAN_COUNT = re.compile(r"(?<![가-힣])([한두세네]) ?(명|번|개|대|건|시간|주|달|가지|장|회)")


def normal(text: str) -> str:
    """Lower case, one form for each thing, number and date (`date0420`)."""
    text = unicodedata.normalize("NFKC", text).lower().replace("`", "")
    text = re.sub(r"(?:밤 ?12시|midnight|(?<!\d)0시)", "00시", text)
    text = text.replace("감사 로그", "auditlog").replace("audit log", "auditlog")
    text = _KOREAN_COUNT.sub(lambda found: str(" 한두세네".index(found.group(1))) + found.group(2), text)
    for pattern in (_KOREAN_DATE, _SLASH_DATE):
        text = pattern.sub(lambda found: _date(int(found.group(1)), int(found.group(2))), text)
    text = _NUMBER_WORD_PATTERN.sub(lambda found: _NUMBER_WORDS.get(found.group()) or _TENS[found.group()], text)
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
