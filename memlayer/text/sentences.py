"""Sentences of English and Korean text, questions, and prose among code."""

import re
from typing import NamedTuple
from unicodedata import east_asian_width

# A stop counts before white space only, so `3.14`, `checkout.py`, `v1.2.` in a path and `?q=1` do not end
# anything. Korean and CJK prose is often typed without the space, and its stops cannot be anything else. A run of stops
# is looked at once: a test runner prints thousands of dots, and each of them would look at all that follow.
_END = re.compile(
    r"\n+"
    r"|(?<![.!?\u2026])[.!?\u2026]+[\"')\]\u201d\u2019*_`]*(?=\s)"
    r"|(?<=[다요죠까음함임네])[.!?]+(?=[\uac00-\ud7a3])"
    r"|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*"
)
_NO_END = re.compile(
    r"(?:(?<![A-Za-z])(?:e\.g|i\.e|etc|vs|cf|al|approx|resp|incl|no|nr|fig|eq|sec|mr|mrs|ms|dr|prof|st|jr|inc|ltd)"
    r"|(?:^|\s)[A-Z]"
    r"|(?:^|\n)[ \t>*-]*(?:\d{1,3}|[a-z]))\Z",
    re.IGNORECASE,
)
_BEFORE = 24  # characters that `_NO_END` has to see

_ENGLISH_START = re.compile(
    r"^(?:so |and |but |ok |okay |well |hey )*(?:what|which|who|whom|whose|when|where|why|how"
    r"|(?:is|are|was|were|do|does|did|can|could|should|would|will|have|has|had|am|may|shall)"
    r"(?! (?:not|nothing|no|still|already|just|also|now)\b))\b(?!.*[.!]$)",
    re.IGNORECASE,
)
_KOREAN_END = re.compile(
    r"(?:까|나요|가요|니|냐|지|죠|던가|더라|을래|ㄹ까|는데요|뭐야|뭐였|어디야|누구야|언제야|몇)[요\s?？.]*$"
)
# Asks for a yes without a mark: 되나, 맞나요, 있으려나.
_KOREAN_YES = re.compile(r"(?:되|있|없|맞|좋|했|됐|[았었였겠])(?:으?려나|나)요?[\s.~]*$")
_KOREAN_WORD = re.compile("뭐|무엇|무슨|어떤|어느|어디|언제|누가|누구|왜|어떻게|얼마|몇")

USER, ASSISTANT = "user", "assistant"
MAX_TURN_CHARS = 4000
MAX_SENTENCE_CHARS = 400  # longer ones are pasted text, not something that somebody said
_MIN_SENTENCE_CHARS = 5
_BLANKED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"  # code, fenced
    r"|<(?P<tag>[a-z][\w-]*)(?:\s[^<>]*)?>.*?</(?P=tag)>"  # blocks of the host and of tools
    r"|\[(?:image|pasted text|screenshot|video|audio|file|이미지|media)\b[^\]\n]*\]"  # media markers
    r"|^[ \t]*>[^\n]*$"  # quoted lines
    r"|^[ \t]*\|[^\n]*\|[ \t]*$"  # table rows
    r"|^[ \t]*#{1,6} [^\n]*$"  # headings
    r"|^(?: {4,}|\t)(?![-*\d])[^\n]*$"  # code, indented
    r"|^[ \t]*(?:Traceback \(most|File \"|at [\w.$<>]+\(|[+-]{3} [ab]/|@@ |\$ |>>> )[^\n]*$",  # traces, diffs, shells
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([a-z][\w-]*)(?=[\s>])", re.IGNORECASE)
_OPEN = "\ufdd0"  # no character, by Unicode's own word
_CODE_LINE = re.compile(
    r"[{};]\s*$|^\s*(?:import |from [\w.]+ import|def |class |const |let |var |return\b|function |public "
    r"|private |SELECT )"
    r"|\b(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b\s*[\]:|]|^\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^[\w./-]+:\d+:\d*"
    r"|(?:\b\w+=[\w.\"'-]+[ ,)\]]+){2,}"
)
_BULLET = re.compile(r"^(?:[-*\u2022]|\d{1,2}[.)])\s+")
_IN_ITEM = re.compile(r"^[ \t]*(?:[-*\u2022+]|\d{1,2}[.)])\s|^[ \t]{2,}")
_EMPHASIS = re.compile(r"(?<![\w*])\*\*?(?=\S)([^*\n]+?)(?<=\S)\*\*?(?![\w*])")
# A long quotation is somebody else's sentence. A short one is a name. Backticks hold names.
_QUOTED = re.compile(
    r'"[^"\n]{12,}"|"[^"\n ]+ [^"\n ]+ [^"\n]+"'
    r"|(?<![\w'])'(?=[^\s'])(?=[^'\n]+ [^'\n]+ )(?:[^'\n]|(?<=\w)'(?=\w)){8,}(?<=\S)'(?![A-Za-z0-9])"
    "|\u201c[^\u201d\n]{12,}\u201d|\u300c[^\u300d\n]{12,}\u300d|\u2018[^\u2019\n]{24,}\u2019"
)

_NAMED = re.compile(r"`[^`\n]*`")

# Opening words without content.
_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|but|well|hmm+|ugh|oh|also|actually|anyway|alright|yes|yeah|fyi|btw|by the way"
    r"|heads[ -]up|one more thing|just so you know|for the record|remember this|remember|note that|turns out"
    r"|(?:right|great|sure|no|good|i see)(?=[,:.!])"
    r"|sorry|quick one|아 ?맞다|아|그리고|참고로|그럼|그래서|그러니까|근데|네|음|어|참)(?:(?=[,:.!]"
    r"|\s)[,:.!]?)\s+)+(?=\S{2})",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """Character offsets into a text, end exclusive."""

    start: int
    end: int


def width(text: str) -> int:
    """The columns of a text, two for a sign of East Asia."""
    return len(text) if text.isascii() else len(text) + sum(east_asian_width(char) in "WF" for char in text)


def sentences(text: str) -> list[Span]:
    """Return the sentences and list items of `text`, in order, bare."""
    spans = []
    start = 0
    for end in (*_ends(text), len(text)):
        piece = text[start:end]
        bare = piece.strip()
        if bare:
            at = start + len(piece) - len(piece.lstrip())
            spans.append(Span(at, at + len(bare)))
        start = end
    return spans


def sentence_texts(text: str) -> list[str]:
    """Return the sentences of `text` as texts."""
    return [text[span.start : span.end] for span in sentences(text)]


def _ends(text: str) -> list[int]:
    ends = []
    for match in _END.finditer(text):
        at = match.start()
        if text[at] == "." and match.end() - at == 1 and _NO_END.search(text[max(0, at - _BEFORE) : at]):
            continue
        ends.append(match.end())
    return ends


def is_question(text: str) -> bool:
    """True if the last sentence asks, by more than a question word."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if not lines:
        return False
    last = lines[-1]
    if last.rstrip("\"')” ").endswith(("?", "？")):
        return True
    if _ENGLISH_START.match(last) or _KOREAN_YES.search(last):
        return True
    return bool(_KOREAN_END.search(last) and _KOREAN_WORD.search(last))


def only_asks(text: str) -> bool:
    """True if each sentence of a text asks."""
    return all(is_question(text[span.start : span.end]) for span in sentences(text))


class SpokenSentence(NamedTuple):
    """One sentence. plain: long quotations blanked, for signs. is_item: of a list."""

    text: str
    plain: str
    speaker: str
    asks: bool  # a question
    is_item: bool = False
    is_bold: bool = False  # begins in bold: a label or a heading


def candidates(text: str, speaker: str) -> list[SpokenSentence]:
    """The sentences of a message, without code, quotations, tables and media."""
    kept: list[tuple[str, bool, bool]] = []
    for span in sentences(_NAMED.sub(_without_stops, prose(text))):
        raw = _BULLET.sub("", text[span.start : span.end])
        sentence = re.sub(r"\s+", " ", _EMPHASIS.sub(r"\1", raw).strip())
        if sentence and len(sentence) <= MAX_SENTENCE_CHARS and not _looks_like_code(sentence):
            is_item = bool(_IN_ITEM.match(text[text.rfind("\n", 0, span.start) + 1 : span.end]))
            kept.append((sentence, is_item, raw.startswith("**")))
    chosen = []
    for sentence, is_item, is_bold in kept:
        if len(sentence) < _MIN_SENTENCE_CHARS:
            continue
        chosen.append(
            SpokenSentence(
                sentence,
                _QUOTED.sub(" … ", sentence),
                speaker,
                sentence.rstrip("\"')\u201d* ").endswith(("?", "？")),
                is_item,
                is_bold,
            )
        )
    return chosen


def _without_stops(name: re.Match[str]) -> str:
    """A stop inside a name (`SELECT ... FOR UPDATE`) ends no sentence."""
    return re.sub("[.!?]", "_", name.group())


def prose(text: str) -> str:
    """The text with code, quotes and tables blanked; offsets hold."""
    blanked = _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), _without_open_tags(text))
    return blanked.replace(_OPEN, "<")


def _without_open_tags(text: str) -> str:
    """The text with a sign for `<` of unclosed tags."""
    closed: set[str] = set()
    out = list(text)
    for tag in reversed(list(_TAG.finditer(text))):
        name = tag.group(2).lower()
        if tag.group(1):
            closed.add(name)
        elif name not in closed:
            out[tag.start()] = _OPEN
    return "".join(out)


def _looks_like_code(sentence: str) -> bool:
    if _CODE_LINE.search(sentence) or re.fullmatch(r"`[^`]*`[.,:;]?", sentence):
        return True
    letters = sum(char.isalpha() or char.isspace() for char in re.sub(r"`[^`]*`", "", sentence))
    bare = len(re.sub(r"`[^`]*`", "", sentence))
    return bare > 24 and letters < 0.55 * bare


def trimmed(text: str) -> str:
    """Return the sentence without its opening words."""
    rest = _OPENING.sub("", text)
    return rest if len(rest) >= 8 else text
