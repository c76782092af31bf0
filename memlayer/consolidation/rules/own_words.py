"""The sentences of a prompt that are plainly the person's own.

Form and place decide. A prompt has the form of a typed one without paragraphs, lists, quotations, code, logs and clock
times. In it a sentence is the person's own unless it has a place where texts stand that somebody hands over: behind a
label or a dash, or beside a sentence that may have it for its object, because that asks, points, works on a text, or
is too short to have an object of its own. A sentence that goes on ("and", "그리고") continues the person's words.
"""

import re
from collections.abc import Container
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from memlayer.edge.capture.noise import recallable
from memlayer.text.sentences import USER, SpokenSentence, candidates, is_question, prose, sentences
from memlayer.text.word_lists import rows

MAX_OWN_PROMPT_CHARS = 1500  # of a longer prompt only the first line and the last paragraph may be the person's
MAX_OWN_PARAGRAPH_CHARS = 400
MAX_HEADS = 8  # looked at in a sentence
FEWEST_WORDS = 4  # of a sentence with an object of its own
MOST_WORDS = 8  # of a line that hands over the next: "explain this config"
PARAGRAPHS, LINES, SENTENCES = range(3)
KOREAN_WORD = 1.6  # a Korean word says as much as that many English ones
_OF_TEXTS, _OF_OTHERS = ("handles_text", "names_text"), ("speaks", "salutation", "as_text")
# Where the sentence goes on behind it, a colon belongs to a name: "feat: 같은 prefix".
_HEAD = re.compile(
    r"[:：](?=\s|$|[\"'“”‘’「])(?! ?(?:같은|라는|이라는|처럼|말고|등|or|and|prefix\w*)(?![\w]))|\s(?:[-–—]|->|=>|→)\s"
)
_PRESENT = re.compile(r"(?i)\b(?:i|you|we|my|our|me|us)\b|(?<![가-힣])(?:내|나|제|우리|저)(?![가-힣])")
_NOT_NOW = re.compile(r"\b(?:later|done|finished|need to|has to)\b|나중에|해야|끝났|끝냈|다 ?했", re.IGNORECASE)
_JOINT = re.compile(rf"{_HEAD.pattern}|(?<=[가-힣]데),? |[;；](?=\s)")
# Before a colon, of nobody else: "actually, no: use pnpm".
_TAKES_BACK = re.compile(
    r"(?i)(?:(?:actually|no|nope|wait|hmm+|ok|sorry|changed my mind|on second thought|음|아니[야다]?|잠깐)[,.! ]*)+"
)
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)  # a document
_IMAGE = re.compile(r"\[image[^\]\n]*\]", re.IGNORECASE)  # holds no text
_STOP = re.compile(r"\n|[.!?]\s")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
# Of a log, a shell, markup, a document: "##[error] ...", "[WARN] ...", "[10:02] ...", "$ ls". Not "#12" or "[cart]".
_FOREIGN_LINE = re.compile(r"^\s*(?:[#+](?!\d)|[<$|>{}=\\]|\[(?:[A-Z]+|[^\]\n]*[\d:][^\]\n]*)\])")
_QUOTED_LINE = re.compile(r"(?:^.*[:：][ \t]*\n)?(?:^[ \t]*>.*\n?)+", re.MULTILINE)  # with the words that hand it over
_ITEM = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s")
# Not typed, or of a source: an item of a list, and "[system] ..." whatever the label says.
_LISTED = re.compile(_ITEM.pattern + r"|^\s*[\[【［〔][^\]】］〕\n]{1,40}[\]】］〕]")
_ITEM_LINES = re.compile(_ITEM.pattern + r".*", re.MULTILINE)
_CAPITAL = re.compile(r"(?<=[\w,\"'“‘] )(?:Always|Never|Don't|Do not)\b")  # begins a text within the sentence
_TABLES = ("signs.tsv", "standing.tsv", "quoted.tsv")


@lru_cache(maxsize=1)
def _signs() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(filter(None, (english, korean))), re.IGNORECASE)
        for table in _TABLES
        for name, english, korean in rows("memlayer.consolidation.rules", table)
    }


def find(name: str, text: str) -> re.Match[str] | None:
    """Return where the text first shows the sign of that name."""
    return _signs()[name].search(text)


def has(name: str, text: str) -> bool:
    """True if the text shows the sign of that name."""
    return find(name, text) is not None


class Said(NamedTuple):
    """A sentence of a prompt, or a part of one.

    line: its number. is_headed: stands behind a label or a dash.
    """

    row: SpokenSentence
    line: int
    is_headed: bool = False


class Spoken(NamedTuple):
    """A prompt's sentences. is_typed: it has no form of a paste."""

    said: list[Said]
    is_typed: bool


def spoken(prompt: str) -> Spoken:
    """Return the sentences of a prompt, without code, quotations, logs."""
    text = "\n\n".join(ends(prompt)).strip()
    bare = prose(text)
    lines = [line for line in bare.split("\n") if not (_FOREIGN_LINE.match(line) or has("log_head", line))]
    said = [Said(row, place) for place, line in enumerate(lines) for row in candidates(line, USER)]
    is_typed = (
        bare == text
        and len(lines) == text.count("\n") + 1
        and not (_PARAGRAPHS.search(text) or any(map(_LISTED.match, lines)))
        and all(one.row.text == one.row.plain for one in said)
    )
    return Spoken(said, is_typed)


def ends(prompt: str, beyond: int = MAX_OWN_PROMPT_CHARS) -> list[str]:
    """Return the parts of a prompt that may be the person's."""
    text = _IMAGE.sub("", prompt.strip()).strip()
    if len(text) <= beyond:
        return [text]
    first, _, rest = text.partition("\n")
    last = _PARAGRAPHS.split(rest)[-1]
    last = _ITEM_LINES.sub("", last) if _ITEM.match(last.rpartition("\n")[2]) else last  # a list that ends a paste
    return [part for part in (first, last) if len(part) <= MAX_OWN_PARAGRAPH_CHARS]


def joints(text: str) -> list[tuple[int, bool]]:
    """Return where a sentence's parts begin, and whether behind a label."""
    marks = islice(_JOINT.finditer(text), MAX_HEADS)
    return [
        (mark.end(), mark.group()[0] not in ";；" and not _TAKES_BACK.fullmatch(text[: mark.start()])) for mark in marks
    ]


def is_head(text: str) -> bool:
    """Return whether a sentence or its part has, or is, a label."""
    return _HEAD.search(text) is not None


def may_quote(prompt: str) -> bool:
    """Return whether a prompt has a sign of somebody else's text."""
    read = spoken(prompt)
    return not read.is_typed or any(one.is_headed or _hands(one.row) for one in read.said)


def _hands(sentence: SpokenSentence) -> bool:
    """Return whether a sentence may have somebody else's text beside it."""
    text = sentence.text
    if sentence.asks or _has_foreign_head(text) or any(has(sign, text) for sign in (*_OF_TEXTS, *_OF_OTHERS)):
        return True
    return has("points", text) and words(text) <= MOST_WORDS


def _has_foreign_head(text: str) -> bool:
    """Return whether a label stands there that speaks of nobody present.

    A longer one is a clause of the sentence: "every commit needs a scope like fix(core): and …".
    """
    head = _HEAD.search(text)
    label = text[: head.start()] if head else ""
    return head is not None and words(label) <= FEWEST_WORDS and not _PRESENT.search(label)


def is_plain(read: Spoken, at: int, own: Container[int] = ()) -> bool:
    """Return whether a sentence is plainly the person's own.

    own: places of others that are no hint that it is somebody else's, rules beside a rule.
    """
    said = read.said[at]
    text = said.row.text
    if not read.is_typed or said.is_headed or _CAPITAL.search(text) or any(has(sign, text) for sign in _OF_OTHERS):
        return False
    goes_on = has("goes_on", text)
    others = [(place, other) for place, other in enumerate(read.said) if place != at and place not in own]
    return all(_is_apart(other, place < at, other.line == said.line, goes_on) for place, other in others)


@lru_cache(maxsize=2048)  # each sentence of a prompt is held against every other one
def _is_apart(other: Said, is_before: bool, is_beside: bool, goes_on: bool) -> bool:
    """Return whether a sentence has another one surely not for its object."""
    text = other.row.text
    if not recallable(text):
        return True
    if is_head(text) or any(has(sign, text) for sign in (*_OF_TEXTS, *_OF_OTHERS)):
        return False
    if goes_on:
        return True
    if not is_beside or has("points", text) or words(text) < FEWEST_WORDS:
        return False
    return not (is_before and is_question(text)) or has("why", text)


def words(text: str) -> float:
    """Return the number of words, those of Korean for more."""
    return len(text.split()) * (KOREAN_WORD if re.search("[가-힣]", text) else 1.0)


def own_words(prompt: str) -> str:
    """Return the person's own words of a prompt, whoever else's it holds.

    Where a paragraph, a line or a sentence hands the others over, only that is the person's.
    """
    text = "\n\n".join(_HEADING.split(piece)[0] for piece in ends(prompt)).strip()
    if _QUOTED_LINE.search(text):  # the marks tell which words are another's
        return _QUOTED_LINE.sub("", text).strip()
    splits = (_PARAGRAPHS.split(text), text.split("\n"), [text[span.start : span.end] for span in sentences(text)])
    level = next((level for level, parts in enumerate(splits) if len(parts) > 1), SENTENCES)
    parts = splits[level]
    handing = next((part for part in parts if _hands_over(part, level)), None) if len(parts) > 1 else None
    if handing is not None:
        text = "\n".join(part for part in parts if part is handing or has("goes_on", part))
    lines = (line for line in text.split("\n") if not (has("salutation", line) or has("log_head", line)))
    return _unlabelled("\n".join(lines)).strip()


def _hands_over(part: str, level: int) -> bool:
    """Return whether a part has the others for its object."""
    bare = prose(part).strip()
    return (
        (has("handles_text", bare) and not _NOT_NOW.search(bare))
        or (level == PARAGRAPHS and is_question(bare))
        or (level < SENTENCES and (bare.endswith((":", "：")) or (words(bare) <= MOST_WORDS and has("points", bare))))
    )


def _unlabelled(part: str) -> str:
    """Return a part up to where another speaks behind a label."""
    for mark in islice(_HEAD.finditer(part), MAX_HEADS):
        label = _STOP.split(part[: mark.start()])[-1]
        if any(has(sign, label) for sign in ("speaks", *_OF_TEXTS)):
            return part[: mark.end()]
    return part
