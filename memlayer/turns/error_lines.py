"""The lines of an error by which it is known again.

A signature is a telling line in lower case without quotes, paths, numbers and hashes. Lines that any failure may hold
("task failed", "exit code 1") have none.
"""

import re

from memlayer.text.sentences import width
from memlayer.text.word_lists import rows

MAX_SIGNATURES = 3  # of one error: a linter reports many lines
MAX_LINES = 400
MAX_LINE_CHARS = 500
MIN_WORDS = 2  # beyond the generic ones
MIN_CHARS = 12  # in columns
_PACKAGE = "memlayer.turns"

_QUOTED = re.compile(r"\"[^\"]*\"|`[^`]*`|‘[^’]*’|“[^”]*”|「[^」]*」|(?<!\w)'[^']*'")
_PATH = re.compile(r"[^\s:=(]*[/\\][^\s:]*|(?<!\w)[\w-]+\.[A-Za-z]{1,5}(?=[:\s),]|$)")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b")
_NUMBER = re.compile(r"\d[\d.,]*\w*")
_OTHER = re.compile(r"[^\w\s]+|_")
# What runners print about themselves: exit codes, banners, headings of tests that pass.
_BANNER = re.compile(r"exit code \d+$|\[[\w:.-]+\] \$ |=== |(?:ok|pass|\?)\s|# |\$ |> ", re.IGNORECASE)
_TOOL_ERROR = re.compile(r"</?tool_use_error>")
_TRACEBACK = "Traceback (most recent call last)"


def _phrases() -> dict[str, tuple[str, ...]]:
    lists: dict[str, tuple[str, ...]] = {}
    for name, phrase in rows(_PACKAGE, "phrases.tsv"):
        lists[name] = (*lists.get(name, ()), phrase)
    return lists


_LISTS = _phrases()
_GENERIC = frozenset(word for words in _LISTS["generic"] for word in words.split())


def is_protocol(error: str) -> bool:
    """True for the host's own rules, a refusal or an interruption."""
    start = error[:2000].lower()
    return any(phrase in start for phrase in _LISTS["protocol"])


def telling_lines(error: str) -> list[str]:
    """Return the lines that name the error, in order."""
    lines = [line.strip()[:MAX_LINE_CHARS] for line in re.split(r"[\r\n]+", _TOOL_ERROR.sub("", error))]
    lines = [line for line in lines[:MAX_LINES] if line and not _BANNER.match(line)]
    if any(line.startswith(_TRACEBACK) for line in lines):
        return lines[-1:]  # a traceback ends with its error
    telling = [line for line in lines if any(phrase in line.lower() for phrase in _LISTS["telling"])]
    return telling or lines[-1:]


def signature_of(line: str) -> str:
    """Return a line's signature, "" for one that any failure may hold."""
    bare = line.lower()
    for pattern in (_QUOTED, _PATH, _HASH, _NUMBER, _OTHER):
        bare = pattern.sub(" ", bare)
    words = bare.split()
    own = [word for word in words if word not in _GENERIC]
    is_telling = len(own) >= MIN_WORDS and sum(map(width, own)) >= MIN_CHARS
    return " ".join(words) if is_telling else ""


def signatures(error: str) -> dict[str, str]:
    """Return signature -> its line, of an error's first telling lines.

    Empty for the host's protocol, and where nothing tells.
    """
    if is_protocol(error):
        return {}
    known: dict[str, str] = {}
    for line in telling_lines(error):
        signature = signature_of(line)
        if signature:
            known.setdefault(signature, line)
        if len(known) >= MAX_SIGNATURES:
            break
    return known
