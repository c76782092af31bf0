"""Pictures, dumps and minified files in a text: kind and length instead.

Nobody searches their signs, and a picture of 80 kB would make 187 vectors.
"""

from __future__ import annotations

import re

_LEAST_CHARS = 256  # of a blob
_LEAST_LINE = 1_500  # characters of minified text
_LEAST_ITEMS = 48  # numbers in a list
_SHORTEST = 32  # characters of a line that an encoder writes, but for the last
_SAMPLE = 20_000
_LEAST_VARIED = 64  # characters of a sample without its repeats
_MOST_WORD = 30  # characters of a word in prose
_SIGNS = '(){}[]<>;=:,"'  # of code

_SIGN = r"[A-Za-z0-9+/_\\-]"
_BREAK = r"={0,2}[\"'`]?[ \t]{0,4}[+\\,]?\r?\n(?:[ ]{0,8}\d{1,6}\t)?[ \t>|]{0,20}[\"'`]?"
_ENCODED = "(?<!%s)%s{%d,}(?:%s%s{%d,})*(?:%s%s{1,%d}(?==))?={0,2}" % (
    _SIGN, _SIGN, _SHORTEST, _BREAK, _SIGN, _SHORTEST, _BREAK, _SIGN, _SHORTEST - 1
)  # fmt: skip
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
_NUMBERS = r"[-0-9](?<![\w.].)%s(?:-?\d%s){%d,}" % (_REST, _REST, _LEAST_ITEMS)


def without_blobs(text: str) -> str:
    """Return text with `[… kind, length …]` for each blob in it."""
    if len(text) < _LEAST_CHARS:
        return text
    if "data:" in text:
        text = re.sub(_ADDRESS, lambda found: _told(found.group(1).replace("\\", ""), found.group()), text)
    text = re.sub(_ENCODED, lambda found: _judged(found.group()), text)
    if "\n" in text:
        text = re.sub(_DUMP, lambda found: "\n" + _dump(found.group()[1:]), "\n" + text)[1:]
    if text.count("0x") > _LEAST_ITEMS:
        text = re.sub(_BYTES, lambda found: _told("hexadecimal", found.group()), text)
    if text.count(",") + text.count(";") > _LEAST_ITEMS:
        text = re.sub(_NUMBERS, lambda found: _told("numbers", found.group()), text)
    lines = text.split("\n")
    if max(map(len, lines)) >= _LEAST_LINE:
        text = "\n".join(_without_minified(line) if len(line) >= _LEAST_LINE else line for line in lines)
    return text


def _told(kind: str, blob: str) -> str:
    end = len(blob.rstrip())
    return "[… %s, %s characters …]%s" % (kind, format(end, ","), blob[end:]) if end >= _LEAST_CHARS else blob


def _judged(run: str) -> str:
    """Tell a run of letters and digits that no words make."""
    if len(run) < _LEAST_CHARS:
        return run
    sample = run[:_SAMPLE]
    if sample.count("\\u") * 12 > len(sample) or (len(set(sample)) < 3 and run[0] != "A"):
        return run  # words as JSON escapes them; a rule of signs. Bytes of nothing are A
    if sample.count("\\x") * 5 > len(sample):
        return _told("hexadecimal", run)
    sample = re.sub(r"\\[nrt]|[^A-Za-z0-9+/]|(.)\1{3,}", "", sample)
    if len(sample) < _LEAST_VARIED and run[0].isalnum():
        return _told("base64", run)
    if re.match("(?:[0-9a-f]+|[0-9A-F]+)$", sample):
        return _told("hexadecimal", run)
    turns = len(re.findall("[a-z]+|[A-Z]+|[0-9]+|[+/]", sample)) / (len(sample) or 1)
    lower = re.search("[a-z]", sample) is not None
    digits = re.search("[0-9]", sample) is not None
    if turns >= (0.4 if lower else 0.2) and digits:
        return _told("base64" if lower else "base32", run)
    return run


def _dump(rows: str) -> str:
    """Tell rows of bytes; tables and words of a to f stay."""
    offsets = [int(offset, 16) for offset in re.findall(_OFFSET, rows[:_SAMPLE])[:3]]
    if len(offsets) == 3 and offsets[1] - offsets[0] == offsets[2] - offsets[1] in _STEPS:
        return _told("hex dump", rows)
    cells = re.findall(r"(?<![^\s|:])[0-9a-fA-F]{2,8}(?![^\s|:])", rows[:_SAMPLE])
    told = sum(re.search("[a-fA-F]", cell) is not None for cell in cells) >= 0.3 * len(cells)
    mixed = sum(re.search("[0-9]", cell) is not None for cell in cells) >= 0.5 * len(cells)
    return _told("hex dump", rows) if told and mixed else rows


def _without_minified(line: str) -> str:
    """Tell the part of a line that is code without blanks."""
    if sum(map(line.count, _SIGNS)) < 0.04 * len(line) and line.count(" ") > 0.01 * len(line):
        return line
    words = line.split(" ")
    first = next((at for at, word in enumerate(words) if _is_dense(word)), len(words))
    last = next((at for at in range(len(words), first, -1) if _is_dense(words[at - 1])), first)
    core = " ".join(words[first:last])
    blanks, signs = core.count(" "), sum(map(core.count, _SIGNS))
    is_code = blanks <= 0.08 * len(core) and signs >= 0.12 * len(core)
    is_markup = blanks <= 0.15 * len(core) and signs >= 0.3 * len(core)
    is_unbroken = blanks <= 0.01 * len(core) and core.isascii() and core.count("\\u") * 12 < len(core)
    if len(core) < _LEAST_LINE or not (is_code or is_markup or is_unbroken):
        return line
    kind = "minified JSON" if core[0] in "[{" else "minified code" if is_code or is_markup else "unbroken text"
    return " ".join([*words[:first], _told(kind, core), *words[last:]])


def _is_dense(word: str) -> bool:
    return len(word) > _MOST_WORD or sum(map(word.count, _SIGNS)) > 2
