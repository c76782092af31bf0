"""Write the date behind relative days: `tomorrow`, `by Friday`, `다음 주 금요일`."""

import datetime
import re

from memlayer.text.word_lists import words

_DAYS = {name: at for at, name in enumerate(words("monday tuesday wednesday thursday friday saturday sunday"))}
_KOREAN_DAYS = {name: at for at, name in enumerate("월화수목금토일")}
_MONTH_NAMES = words("january february march april may june july august september october november december")
_MONTHS = {name: at for at, name in enumerate(_MONTH_NAMES, start=1)}
_MONTHS.update({name[:3]: at for name, at in list(_MONTHS.items())})
_MONTH = "(?P<month>" + "|".join([*_MONTH_NAMES, *(name[:3] for name in _MONTH_NAMES if name != "may")]) + ")"
_DAY = "(?P<weekday>" + "|".join(_DAYS) + ")"
_WEEKDAY = _DAY.replace("?P<weekday>", "?:")
# Said of every week: no date can stand for it. A day in another's place is a habit that changes.
_RECURRING = re.compile(
    r"\b(?:every|each|always|never|weekly|daily|monthly|nothing gets|no \w+ (?:on|after))\b|매주|매월|매일|마다"
    r"|항상|금지|원칙|앞으로(?:는|도)? (?!\d|남은|할)|\bfrom now on\b"
    r"|요일 ?(?:말고|대신에?) (?:[가-힣]+ )?[월화수목금토일]요일에"
    rf"|\bon {_WEEKDAY},? (?:instead|rather than|not)\b|\b(?:not|instead of|rather than) on {_WEEKDAY}\b"
    r"|요일(?: 오전| 오후)?에만|(?<![월화수목금토일])요일|\bweekdays?\b|\bday of the week\b",
    re.IGNORECASE,
)
_PAST_YEARS_DAYS = 75  # `March 24` said in May was this year's. Said in June it is next year's

_NO_YEAR = r"(?!,? 20\d\d)"
_OF_A_WEEK, _OF_A_YEAR = "of a week", "of a year"
# A pattern, and its distance from today in days, or the unit in which its groups name a day.
_RULES: tuple[tuple[str, int | str], ...] = (
    (rf"\b{_MONTH}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b{_NO_YEAR}(?![.:]\d)", _OF_A_YEAR),
    (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b{_NO_YEAR}", _OF_A_YEAR),
    (r"(?<![\d년] )(?<!\d)(?P<month>1[0-2]|[1-9])월 ?(?P<day>[12]\d|3[01]|[1-9])일", _OF_A_YEAR),
    (r"\bday after tomorrow\b|모레", 2),
    (r"\btomorrow\b|내일", 1),
    (r"\b(?:yesterday|last night)\b|어제|어젯밤", -1),
    (r"\b(?:today|tonight)\b|오늘(?!의)", 0),
    (rf"\b(?P<which>next|this|last|coming) {_DAY}\b", _OF_A_WEEK),
    (rf"\b(?:by|on|until|till|before|due|for|come|comes|end of day|eod) {_DAY}\b(?!s)", _OF_A_WEEK),
    ("(?P<which>다다음 ?주|다음 ?주|담주|이번 ?주|지난 ?주) ?(?P<weekday>[월화수목금토일])요일", _OF_A_WEEK),
    ("(?<!매주 )(?P<weekday>[월화수목금토일])요일(?=까지|에(?!만)|부터| ?전| 오전| 오후)", _OF_A_WEEK),
)


def with_dates(text: str, today: datetime.date) -> str:
    """The text with ` [2026-03-13]` behind each relative or yearless date."""
    recurring = bool(_RECURRING.search(text))
    dates: list[tuple[int, int, str]] = []
    for pattern, day in _RULES:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if day == _OF_A_WEEK and recurring and not match.groupdict().get("which"):
                continue
            if any(start < match.end() and match.start() < end for start, end, _ in dates):
                continue
            date = _date(match, day, today)
            if date:
                dates.append((match.start(), match.end(), date))
    for start, end, date in sorted(dates, reverse=True):
        if not text[end:].lstrip().startswith("["):
            # Behind a Korean particle the bracket would break the word: it goes behind the whole word.
            tail = re.match("[가-힣]*", text[end:])
            end += tail.end() if tail and start < end else 0
            text = f"{text[:end]} [{date}]{text[end:]}"
    return text


def has_date(text: str, today: datetime.date) -> bool:
    """True if the text names a day, relative or not."""
    return bool(re.search(r"\b20\d\d-\d\d(?:-\d\d)?\b", text)) or with_dates(text, today) != text


def _date(match: re.Match[str], day: int | str, today: datetime.date) -> str:
    """Return the date that a match of a rule names, or ""."""
    if isinstance(day, int):
        return (today + datetime.timedelta(days=day)).isoformat()
    return _weekday(match, today) if day == _OF_A_WEEK else _month_day(match, today)


def _iso(year: int, month: int, day: int) -> str:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return ""


def _nearest_year(today: datetime.date, month: int, day: int) -> str:
    """The date in this year, or in the next if long gone."""
    text = _iso(today.year, month, day)
    if text and (today - datetime.date.fromisoformat(text)).days > _PAST_YEARS_DAYS:
        return _iso(today.year + 1, month, day)
    return text


def _weekday(match: re.Match[str], today: datetime.date) -> str:
    name = match.group("weekday").lower()
    wanted = _DAYS[name] if name in _DAYS else _KOREAN_DAYS[name]
    which = (match.groupdict().get("which") or "").lower().replace(" ", "")
    monday = today - datetime.timedelta(days=today.weekday())
    if which in ("next", "다음주", "담주"):
        return (monday + datetime.timedelta(days=7 + wanted)).isoformat()
    if which == "다다음주":
        return (monday + datetime.timedelta(days=14 + wanted)).isoformat()
    if which in ("last", "지난주"):
        return (monday + datetime.timedelta(days=wanted - 7)).isoformat()
    if which == "이번주":
        return (monday + datetime.timedelta(days=wanted)).isoformat()
    return (today + datetime.timedelta(days=(wanted - today.weekday()) % 7)).isoformat()


def _month_day(match: re.Match[str], today: datetime.date) -> str:
    name = match.group("month").lower()
    return _nearest_year(today, _MONTHS[name] if name in _MONTHS else int(name), int(match.group("day")))
