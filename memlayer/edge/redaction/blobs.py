"""Pictures, dumps and minified files in a text: kind and length instead.

Nobody searches their signs, and a picture of 80 kB would make 187 vectors.
"""

from __future__ import annotations

import re
from itertools import groupby

_LEAST_CHARS = 256  # of a blob
_LEAST_LINE = 1_500  # characters of minified text
_LEAST_ITEMS = 48  # numbers in a list
_MOST_LIST = 2_400  # characters of a list of orders, ports or ids: a person's, no dump
_SHORTEST = 8  # characters of a row that an encoder writes, but for the last
_LEAST_ROWS = 3
_LEAST_DIGITS = 14  # of a dump: half of its cells hold one
_LONGEST_ID = 31
_LEAST_SIGNS = 12  # other than letters, in what no words make
_SAMPLE = 20_000
_LEAST_VARIED = 64  # characters of a sample without its repeats
_MOST_WORD = 30  # characters of a word in prose
_SIGNS = '(){}[]<>;=:,"'  # of code
_OF_CODE, _OF_WORD = "[%s]" % re.escape(_SIGNS), "[^ %s]*" % re.escape(_SIGNS)
_DENSE = "[^ ]{%d,}|%s" % (_MOST_WORD + 1, _OF_WORD.join([_OF_CODE] * 3))  # in a word of code

_ENCODED = r"(?<![A-Za-z0-9+/_\\-])[A-Za-z0-9+/_\\-]{%d,}={0,2}" % _LEAST_CHARS
_EDGES = r"^(?:[ ]{0,8}\d{1,6}\t)?[ \t>|\"'`]*|[\"'`]?[ \t]*[+\\,]?[ \t]*\r?$|\\n(?=[\"'])"  # of a row
_HEX = "(?:[0-9a-f]{2}[: -]?)+$|(?:[0-9A-F]{2}[: -]?)+$"
_PAIRS = r"[0-9a-fA-F]{2}[:-](?:\s{0,40}[0-9a-fA-F]{2}[:-]){%d,}[0-9a-fA-F]{0,2}" % (_LEAST_CHARS // 3)
_MAILED = r"=[0-9A-F]{2}(?:[^=]{0,8}=(?:[0-9A-F]{2}|\r?\n)){40,}"
_ADDRESS = r"data:([\w.+-]{1,40}\\?/[\w.+-]{1,60})(?:;[\w=.-]{1,40}){0,4},[^\s\"'<>()]{200,}"
_ROW = (
    r"[ \t>|]{0,20}(?:(?:0x)?[0-9a-fA-F]{4,16}[: \t]{1,4})?(?:[0-9a-fA-F]{2,8}[ \t]{1,2}){3,32}[0-9a-fA-F]{0,8}"
    r"(?:[ \t]{0,4}[^\n]{1,20})?(?=\n|\Z)"
)
# Each begins with a sign or a class of signs by itself: the engine skips all others.
_DUMP = r"\n%s(?:\n(?:\*\n)?%s){3,}(?:\n[0-9a-fA-F]{6,16}(?=\n|\Z))?" % (_ROW, _ROW)
_OFFSET = r"(?m)^[ \t>|]{0,20}(?:0x)?([0-9a-fA-F]{6,16})[: \t]"
_STEPS = (4, 8, 16, 32, 64)  # of offsets, octal ones read as hexadecimal
_BYTE = r"0x[0-9a-fA-F]{1,8}(?:[ \t]{0,4}[,;])?\s{0,20}"
_BYTES = "%s(?:%s){%d,}" % (_BYTE, _BYTE, _LEAST_ITEMS)
_REST = r"\d{0,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?(?:[ \t]{0,4}[,;]\s{0,20}|[ \t]{1,4})"
_IDS = r"[\w.#-]{1,40}(?:[,;][\w.#-]{1,40})+[,;]?$"
_NUMBERS = r"[-0-9](?<![\w.].)%s(?:-?\d%s){%d,}" % (_REST, _REST, _LEAST_ITEMS)


def without_blobs(text: str) -> str:
    """Return text with `[… kind, length …]` for each blob in it."""
    if len(text) < _LEAST_CHARS:
        return text
    if "data:" in text:
        text = re.sub(_ADDRESS, lambda found: _told(found.group(1).replace("\\", ""), found.group()), text)
    text = re.sub(_ENCODED, lambda found: _told(_encoding(found.group()), found.group()), text)
    if text.count(":") + text.count("-") > _LEAST_ITEMS:
        text = re.sub(_PAIRS, lambda found: _told("hexadecimal", found.group()), text)
    if text.count("=") > _LEAST_ITEMS:
        text = re.sub(_MAILED, lambda found: _mailed(found.group()), text)
    if "\n" in text:
        text = _without_rows(text)
    if "\n" in text and sum(map(text.count, "0123456789")) >= _LEAST_DIGITS:
        text = re.sub(_DUMP, lambda found: "\n" + _dump(found.group()[1:]), "\n" + text)[1:]
    if text.count("0x") > _LEAST_ITEMS:
        text = re.sub(_BYTES, lambda found: _told("hexadecimal", found.group()), text)
    if text.count(",") + text.count(";") > _LEAST_ITEMS:
        text = re.sub(_NUMBERS, lambda found: _numbers(found.group()), text)
    lines = text.split("\n")
    if max(map(len, lines)) >= _LEAST_LINE:
        text = "\n".join(_without_minified(line) if len(line) >= _LEAST_LINE else line for line in lines)
    return text


def _told(kind: str, blob: str) -> str:
    end = len(blob.rstrip())
    told = kind and end >= _LEAST_CHARS
    return "[… %s, %s characters …]%s" % (kind, format(end, ","), blob[end:]) if told else blob


def _numbers(row: str) -> str:
    """Tell numbers but a short list of whole ones."""
    return row if len(row) < _MOST_LIST and "." not in row else _told("numbers", row)


def _mailed(run: str) -> str:
    """Tell a text whose signs are mostly escaped for mail."""
    return _told("quoted-printable", run) if 6 * len(re.findall("=[0-9A-F]{2}", run)) > len(run) else run


def _without_rows(text: str) -> str:
    """Tell rows of one length that no words make."""
    groups = [list(rows) for _, rows in groupby(text.split("\n"), len)]
    for at, rows in enumerate(groups):
        if len(rows) < _LEAST_ROWS or len(rows[0]) < _SHORTEST or len(rows) * len(rows[0]) < _LEAST_CHARS:
            continue
        rest = groups[at + 1] if at + 1 < len(groups) and len(groups[at + 1][0]) < len(rows[0]) else [""]
        last = re.sub(_EDGES, "", rest[0])
        more = rest[1] if len(rest) > 1 else groups[at + 2][0] if at + 2 < len(groups) else ""
        is_id = re.match("[!-~]+$", re.sub(_EDGES, "", more)) is not None  # of a list, another follows it
        last = last if re.match("[!-~]+$|" + _HEX, last) else ""
        sample = rows[: _SAMPLE // len(rows[0]) + 1]
        if kind := _kind_of([re.sub(_EDGES, "", row) for row in sample], "" if is_id else last):
            rows[:] = [_told(kind, "\n".join([*rows, *(rest.pop(0) for _ in last[:1])]))]
    return "\n".join(row for rows in groups for row in rows)


def _kind_of(rows: list[str], last: str) -> str:
    """Return how rows are encoded; "" for words, tables and ids."""
    whole = "".join(rows)[:_SAMPLE]
    are_ids = not last and " " not in whole and len(rows) * (len(rows[0]) + 1) < _MOST_LIST
    if re.match(_HEX, whole):
        digits = len(re.findall("[0-9]", whole))
        return "hexadecimal" if re.search("[a-fA-F]", whole) and digits > 0.2 * len(whole) and not are_ids else ""
    if re.match("[A-Za-z0-9+/_-]+={0,2}$", whole):
        is_marked = len(rows[0]) % 4 == 0 and len(re.findall("[+/_-]", whole)) > 0.01 * len(whole)
        return _encoding(whole) if is_marked or len(rows[0]) > _LONGEST_ID else ""
    turns = len(re.findall(r"[a-z]+|[A-Z]+|[0-9]+|[^\w\s]+", whole))
    varied = len(rows[0]) > _LONGEST_ID and len(set(re.findall(r"[^\w\s]", whole))) >= _LEAST_SIGNS
    return "unbroken text" if varied and turns > 0.6 * len(whole) and whole.isascii() else ""


def _encoding(run: str) -> str:
    """Return how letters and digits are encoded; "" for words."""
    sample = run[:_SAMPLE]
    if sample.count("\\u") * 12 > len(sample) or (len(set(sample)) < 3 and run[0] != "A"):
        return ""  # words as JSON escapes them; a rule of signs. Bytes of nothing are A
    if sample.count("\\x") * 5 > len(sample):
        return "hexadecimal"
    sample = re.sub(r"\\[nrt]|[^A-Za-z0-9+/]|(.)\1{3,}", "", sample)
    if len(sample) < _LEAST_VARIED and run[0].isalnum():
        return "base64"
    if re.match("(?:[0-9a-f]+|[0-9A-F]+)$", sample):
        return "hexadecimal"
    turns = len(re.findall("[a-z]+|[A-Z]+|[0-9]+|[+/]", sample)) / (len(sample) or 1)
    lower = re.search("[a-z]", sample) is not None
    digits = re.search("[0-9]", sample) is not None
    if turns >= (0.4 if lower else 0.2) and digits:
        return "base64" if lower else "base32"
    return ""


def _dump(rows: str) -> str:
    """Tell rows of bytes; tables and words of a to f stay."""
    offsets = [int(offset, 16) for offset in re.findall(_OFFSET, rows[:_SAMPLE])[:3]]
    if len(offsets) == 3 and offsets[1] - offsets[0] == offsets[2] - offsets[1] in _STEPS:
        return _told("hex dump", rows)
    cells = re.findall(r"(?<![^\s|:])[0-9a-fA-F]{2,8}(?![^\s|:])", rows[:_SAMPLE])
    least = 0.02 if len({len(cell) for cell in cells}) == 1 else 0.3  # letters are rare in the bytes of words
    told = sum(re.search("[a-fA-F]", cell) is not None for cell in cells) > least * len(cells)
    mixed = sum(re.search("[0-9]", cell) is not None for cell in cells) >= 0.5 * len(cells)
    return _told("hex dump", rows) if told and mixed else rows


def _without_minified(line: str) -> str:
    """Tell the part of a line that is code without blanks."""
    if sum(map(line.count, _SIGNS)) < 0.04 * len(line) and line.count(" ") > 0.01 * len(line):
        return line
    first = re.search(_DENSE, line)
    if first is None:
        return line
    last = re.match(".*(?:%s)" % _DENSE, line)
    begin = line.rfind(" ", 0, first.start()) + 1
    end = line.find(" ", last.end()) if last is not None else -1
    core = line[begin : end if end >= 0 else len(line)]
    blanks, signs = core.count(" "), sum(map(core.count, _SIGNS))
    is_code = blanks <= 0.08 * len(core) and signs >= 0.12 * len(core)
    is_markup = blanks <= 0.15 * len(core) and signs >= 0.3 * len(core)
    is_unbroken = blanks <= 0.01 * len(core) and core.isascii() and core.count("\\u") * 12 < len(core)
    is_list = len(core) < _MOST_LIST and re.match(_IDS, core) is not None
    if len(core) < _LEAST_LINE or is_list or not (is_code or is_markup or is_unbroken):
        return line
    kind = "minified JSON" if core[0] in "[{" else "minified code" if is_code or is_markup else "unbroken text"
    return line[:begin] + _told(kind, core) + line[begin + len(core) :]
