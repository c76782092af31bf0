"""Secrets apart from their name: in tables, manifests, the lines below.

The name stands in a table's head, in a line above, or is the manifest's kind. A value is judged as if it stood beside
its name (named_secrets).
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.named_value_rules import SECRET_NAME, names_in
from memlayer.edge.redaction.sentence_secrets import is_hangul_password
from memlayer.edge.redaction.value_traits import (
    has_digit_and_letter,
    is_no_literal,
    is_placeholder,
    is_wordy,
    looks_random,
    lowered,
    unquoted,
)

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable

# Kubernetes: the parts of a text that are one manifest, and its values.
_IS_SECRET = r"\bkind[ ]{0,15}[\"']?\s{0,3}:\s{0,3}[\"']?Secret(?![A-Za-z])"
_NEXT_MANIFEST = r"(?m)^(?=---|[ \t]*```|[ \t]*- (?:apiVersion|data|kind|metadata|stringData|type)\b)"
_DATA = (
    r"(?m)^(?P<indent>[ \t]*(?:- )?)(?:data|stringData):[ \t]*\r?\n"
    r"(?P<rows>(?:(?P=indent)[ \t]+\S.*(?:\n|$)|[ \t]*\n)+)"
)
_ROW = (
    r"(?m)^(?P<deep>[ \t]+)[\"']?[\w.-]{1,253}[\"']?:[ \t]+"
    r"(?:[|>][+-]?\d?[ \t]*\n(?P<block>(?:(?P=deep)[ \t]+.*(?:\n|$)|[ \t]*\n)+)|[\"']?(?P<value>[^\s\"'#|>][^\n\"']*))"
)
_JSON_DATA = r"\"(?:data|stringData)[ ]{0,15}\"\s{0,4}:\s{0,4}\{(?P<rows>[^{}]{0,20000})\}"
_JSON_ROW = r"\"[\w.-]{1,253}[ ]{0,15}\"\s{0,4}:\s{0,20}\"(?P<value>[^\"]{1,20000}?)[ ]{0,15}\""
_JSON_KIND = r"\"kind[ ]{0,15}\"\s{0,4}:\s{0,20}\"(\w+)"
_NEAR = 4000  # characters from a manifest's values to its kind

# The name in quotes or a tag, its value in a line below, or behind a joint of its own.
_PIECE = r"[\"'`][^\"'`\n]{1,200}[\"'`]"
_PAIRS = (
    (
        "variable",
        r"variable[ ]+[\"'](?P<name>[\w.-]{1,80})[ ]{0,15}[\"'][ ]*\{[^{}]{0,600}?\bdefault\s{0,20}=\s{0,4}"
        r"[ ]{0,15}\"(?P<value>[^\"\n]{4,400}?)[ ]{0,15}\"",
    ),
    ("<key>", r"<key>(?P<name>[\w .-]{1,80})</key>\s{0,40}<string>(?P<value>[^<\n]{4,400})</string>"),
    (
        "join(",
        r"(?<![\w.-])(?P<name>[\w.-]{1,80})[\"']?\s{0,3}[:=]\s{0,3}(?:([\"'])\2\.join\(\s{0,20})?[(\[]\s{0,80}"
        r"(?P<value>(?:%s\s{0,20},\s{0,80}){1,40}(?:%s\s{0,80})?)[)\]](?:(?(2)\s{0,20}\)|\.join\(([\"'`])\4\)))"
        % (_PIECE, _PIECE),
    ),
    ("${", r"\$\{(?P<name>[\w.]{1,80})(?::[-=]?|[-=])(?P<value>[^{}\s\"'$?=:-][^{}\s\"'$]{3,200})\}"),
)  # fmt: skip

_HEAD_NAME = (
    r"[*_`\"']{0,3}(?:[\w가-힣.-]{1,20}[ _.-]?)??(?:" + SECRET_NAME + r")(?:[ ]?\([^()]{1,20}\))?[*_`\"']{0,3}[ ]?$"
)
_HEAD_CELL = r"[\w가-힣 .()*`\"'#-]{0,40}$"
_RULE = r"[ \t|+:=-]+$"
_BEFORE_HEAD = (":", "\uff1a", ">", "=")
_SEPARATORS = ("|", ",", "\t", " / ", ";")
_MOST_ROWS = 500
# Behind a hidden value: another of its kind in the same sentence, told by an equal place: `A for staging and B for
# prod`, `A (dev), B (live)`, `A에서 B로`, `스테이징 A, 운영 B야`, `the guest one is B`, `passwords: A and B`.
_FIRST = r"\[redacted:(password|token|api-key|secret|credential)\][\"'`]?"
_SENTENCE = r"(?:(?![.!?](?:\s|$))[^\n]){0,160}"
_TIE = r"[ ]?\(|[ ](?:for|on|in|at|as)[ ]|[ ][a-z]{2,12}(?=,| and | or |[.\"'}\])]{0,5}$)"
_LABELLED = r"(?:는|은|이|가|:)[ ](?:[가-힣]{1,8}|[a-z]{2,10}(?:가|는|은))[ ]$|(?:[ ,:]|^)[a-z]{2,10}=$"
_TIES = ("for", "on", "in", "at", "as")
_PLURAL = r"(?:passwords|passcodes|tokens|keys|secrets|(?:비밀번호|비번|토큰|키)(?:들|는 둘|는 두))[^\n.\[]{0,20}$"
_COORDINATED = (
    r"(?:[ ](?:and|or)|에서|[ ]?[,;/&]|[ ]?이?[고며])[ ]"
    r"(?P<label>(?:(?!아이디|계정|이메일|주소|호스트|포트)[가-힣]{1,8}[ ]|[a-z]{1,12}[ ]|[a-z]{2,12}=){0,4}?)"
    r"[\"'`]?(?P<secret>(?=[^\s]{0,80}\d)[^\s\"'`()=,;가-힣]{6,80})"
)
_GOES_ON = r"[ ](?!(?:for|on|in|at|and|or)[ ])[a-z]"  # another clause: `and gpt4o2 is the model`
_ELLIPTIC = r"(?:one|ones|other|latter)[ ](?:is|was)[ ]$"
_CLAUSE_ENDS = "이?야|입니다|이?에요|예요|이다|임"
_HTML_CELL = r"<t[hd](?:[ ][^<>]{0,200})?>\s{0,20}(?P<value>[^<>]{0,200}?)\s{0,20}</t[hd]>"


def set_apart_cuts(text: str, judge: Callable[[str, str], str]) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of the values whose name stands apart.

    judge: returns the kind of a value beside its name, "" for a harmless one.
    """
    cuts: list[tuple[int, int, str]] = []
    view = unquoted(text)
    if "Secret" in text and re.search(_IS_SECRET, view):
        cuts += _manifest_cuts(view)
    low = lowered(view)
    for literal, pattern in _PAIRS:
        if literal in low:
            budget.check()
            for pair in re.compile(pattern, re.IGNORECASE).finditer(view):
                pieces = pair.group("value")
                value = "".join(re.findall("[\"'`]([^\"'`]+)[\"'`]", pieces)) if literal == "join(" else pieces
                kind = judge(pair.group("name"), value)
                cuts += [(*pair.span("value"), kind)] if kind else []
    if "[redacted:" in low:
        cuts += _second_cuts(text)
    if "\n" in low:
        cuts += _table_cuts(view, low, judge)
    return cuts + _html_cuts(view, judge) if "<th" in low else cuts


def _second_cuts(text: str) -> list[tuple[int, int, str]]:
    """Return the values beside a hidden one in its sentence."""
    cuts = []
    for first in re.compile(_FIRST).finditer(text):
        budget.check()
        rest = re.compile(_SENTENCE).match(text, first.end())
        low = lowered(rest.group()) if rest else ""
        before = lowered(text[max(0, first.start() - 40) : first.start()])
        tie = re.match(_TIE, low)
        labelled = re.search(_LABELLED, before) is not None and re.match(_CLAUSE_ENDS, low) is None
        plural = re.search(_PLURAL, before) is not None
        for other in re.compile(_COORDINATED).finditer(low):
            start = first.end() + other.start("secret")
            value = text[start : first.end() + other.end("secret")].rstrip(".:?*_~")
            label, after = other.group("label"), low[other.end() :]
            tied = tie is not None and not label and _is_tied(tie.group(), after)
            equal = (
                tied
                or (labelled and label != "")
                or (plural and not label and not re.match(_GOES_ON, after))
                or re.search(_ELLIPTIC, label)
                or (other.group().startswith("에서") and re.match("으?로", after))
            )
            if equal and _is_second(value):
                cuts.append((start, start + len(value), first.group(1)))
    return cuts


def _is_tied(tie: str, after: str) -> bool:
    """True where a second value is followed as the first is."""
    word = tie.strip()
    return after.startswith(tie) if not word.isalpha() or word in _TIES else re.match(_TIE, after) is not None


def _is_second(value: str) -> bool:
    named = re.match(r"[\w.-]+[:=(]", value) is not None
    return len(value) >= 6 and has_digit_and_letter(value) and not (named or is_no_literal(value))


def _manifest_cuts(text: str) -> list[tuple[int, int, str]]:
    cuts = []
    starts = [0, *(match.start() for match in re.compile(_NEXT_MANIFEST).finditer(text)), len(text)]
    for start, end in zip(starts, starts[1:]):
        if re.compile(_IS_SECRET).search(text, start, end):
            for data in re.compile(_DATA).finditer(text, start, end):
                budget.check()
                cuts += [_value_of(row) for row in re.compile(_ROW).finditer(text, *data.span("rows"))]
    for data in re.compile(_JSON_DATA).finditer(text):
        before = re.findall(_JSON_KIND, text[max(0, data.start() - _NEAR) : data.start()])
        after = re.search(_JSON_KIND, text[data.end() : data.end() + _NEAR])
        if "Secret" in (before[-1:] or [""])[0] or (after and after.group(1) == "Secret"):
            cuts += [_value_of(row) for row in re.compile(_JSON_ROW).finditer(text, *data.span("rows"))]
    return [(start, end, kind) for start, end, kind in cuts if not is_placeholder(text[start:end])]


def _value_of(row: re.Match[str]) -> tuple[int, int, str]:
    group = "value" if row.group("value") else "block"
    start, end = row.span(group)
    within = row.group(group)
    return start + len(within) - len(within.lstrip()), end - len(within) + len(within.rstrip()), "secret"


def _table_cuts(text: str, low: str, judge: Callable[[str, str], str]) -> list[tuple[int, int, str]]:
    """Return the values below the names in a table's head."""
    cuts = []
    past = 0
    for name in names_in(low):
        if name.start() < past:
            continue
        budget.check()
        start = low.rfind("\n", 0, name.start()) + 1
        past = low.find("\n", name.end())
        if past < 0:
            break
        # `You said: user | password`, `"content": "user,password`: no cell of a head holds such a sign.
        start = max(start, *(low.rfind(sign, start, past) + 1 for sign in _BEFORE_HEAD))
        for separator in [sign for sign in _SEPARATORS if past - start <= 400 and low.find(sign, start, past) >= 0]:
            columns = _secret_columns(low[start:past], separator)
            if columns:
                found, past = _column_cuts(text, past + 1, separator, columns, low[start:past].count(separator), judge)
                cuts += found
                break
    return cuts


def _secret_columns(head: str, separator: str) -> dict[int, str]:
    """Return column -> name of a table's head; empty for other lines."""
    cells = [cell.strip() for cell in head.split(separator)]
    if len([cell for cell in cells if cell]) < 2 or not all(re.match(_HEAD_CELL, cell) for cell in cells):
        return {}
    return {at: cell.strip("*_`\"'") for at, cell in enumerate(cells) if re.match(_HEAD_NAME, cell + " ")}


def _column_cuts(
    text: str, at: int, separator: str, columns: dict[int, str], separators: int, judge: Callable[[str, str], str]
) -> tuple[list[tuple[int, int, str]], int]:
    """Return the cuts in a table's rows, and where the rows end."""
    cuts = []
    for _ in range(_MOST_ROWS):
        budget.check()
        end = text.find("\n", at)
        row = text[at : end if end >= 0 else len(text)]
        if not re.match(_RULE, row):
            cells = row.split(separator)
            if len(cells) != separators + 1 or len(row) > 2000:
                break
            for column, name in columns.items():
                start = at + sum(len(cell) + len(separator) for cell in cells[:column])
                cuts += _cell_cut(name, cells[column], start, judge)
        if end < 0:
            break
        at = end + 1
    return cuts, at


def _cell_cut(name: str, cell: str, start: int, judge: Callable[[str, str], str]) -> list[tuple[int, int, str]]:
    value = re.sub(r"[ ]*\"[\"})\]]*$", "", cell).strip(" \t\r*_`\"'")
    if not value or re.search(r"\s", value) or is_no_literal(value):
        return []
    kind = judge(name, value)
    if value.isascii():
        given = looks_random(value) or (has_digit_and_letter(value) and len(value) >= 6 and not is_wordy(value))
    else:
        given = is_hangul_password(value)
    start += cell.index(value)
    return [(start, start + len(value), kind)] if kind and given else []


def _html_cuts(text: str, judge: Callable[[str, str], str]) -> list[tuple[int, int, str]]:
    cuts = []
    columns: dict[int, str] = {}
    starts = [row.start() for row in re.compile(r"<tr[ >]", re.IGNORECASE).finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)]):
        budget.check()
        cells = list(re.compile(_HTML_CELL, re.IGNORECASE).finditer(text, start, min(end, start + _NEAR)))
        if "<th" in text[start : min(end, start + _NEAR)].lower():
            low = [cell.group("value").lower() for cell in cells]
            columns = {at: name for at, name in enumerate(low) if re.match(_HEAD_NAME, name + " ")}
            continue
        for at, cell in enumerate(cells):
            if at in columns:
                cuts += _cell_cut(columns[at], cell.group("value"), cell.start("value"), judge)
    return cuts
