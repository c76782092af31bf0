"""Clean text: secrets, private spans, own blocks, hidden characters.

Standard library only, and cheap to import: a hook without a daemon runs this. Patterns are compiled on first use, and
only those whose trigger words occur in the text.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget, session_values
from memlayer.edge.redaction.blobs import without_blobs
from memlayer.edge.redaction.own_patterns import OWN

PRIVATE = "[redacted:private]"  # in the place of a private span
_MARK = r"\[redacted:[^\]\n]{0,80}\]"

SEAM_CHARS = 64_000  # longer than the longest private key block

UNSEARCHED = "[redacted:unsearched]"  # in the place of a text that took too long to search
# A text that is searched no faster is cut to this part of what is kept of others, within so many seconds.
_BUDGETS = ((1, 0.6), (8, 0.15), (64, 0.08))
_UNTIMED_CHARS = 4_000

# A text with none of these, no flag, and no word of letters and digits meets only the rules of shapes and encodings: a
# hook is spared the others. Stems of names, then words and signs of commands, sentences, addresses and calls.
_SIGNS = (
    "pass", "pw", "psk", "auth", "secret", "token", "key", "cred", "비밀", "비번", "패스", "암호", "토큰", "시크릿",
    "키", "kennwort", "wachtwoord", "contrasena", "senha", "parola", "seed", "recovery", "mnemonic", "backup", "wallet",
    "지갑", "니모닉", "시드", "복구", "bearer ", "basic ", "cookie", "://", "<<", "|", ">", "%", "\\", "/p:", "/rp",
    "/user:", "net user", "sqlplus", "alias set", "host add", "vault", "ftp ", "securestring", "identified ", "wifi:",
    "machine ", '"kty', "private-lines", "jdbc:oracle", "login(", "log_in(", "sign_in(", "signin(", "connect", "pdo(",
    "mysqli(", "[redacted:",
)  # fmt: skip
_GATED_CHARS = 4_000  # the rules cost less than the look in a longer text
_LEAST_TOKEN, _LEAST_ENCODED = 15, 24  # characters of a word

# Each removal can bring text together that was apart. The text is settled when nothing changes any more.
_MAX_ROUNDS = 4

_CHEAP_SIGNS = ("\x1b", "\x9b")
_ANSI = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    # OSC, DCS: titles, links. No other may begin inside, or a row of them would be read over and over.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_BREAK = "\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
_UNSEEN_SIGNS = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x9f"  # C0, DEL, C1
    "\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e01ef"  # tags and variation selectors that can carry hidden text
)
_UNSEEN = "[%s]" % _UNSEEN_SIGNS
# The same between characters that a name or a secret is written with. Beside others they may be needed: emoji are
# joined by U+200D and coloured by U+FE0F, Persian and the scripts of India have their letters shaped by them.
_UNSEEN_OR_SHAPING = _UNSEEN_SIGNS + "\u115f\u1160\u2800\ufe0e\ufe0f"
_PRINTABLE_UNSEEN = ("\ufe0f", "\ufe0e", "\u3164", "\uffa0", "\u115f", "\u1160", "\u034f", "\u2800")
_SELECTORS = "\U000e0100"  # the first of the selectors that pass for printable, too
_WRITTEN = "[\t\n\r -~\uac00-\ud7a3\uff01-\uff5e]"
_HIDDEN_BETWEEN = f"[{_UNSEEN_OR_SHAPING}](?<={_WRITTEN}[{_UNSEEN_OR_SHAPING}])[{_UNSEEN_OR_SHAPING}]*(?={_WRITTEN})"
_APART = "[\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\u1100-\u11ff]+"
_HIDDEN_AT_START = f"\\A[{_UNSEEN_OR_SHAPING}]+(?={_WRITTEN})"  # within words once a speaker's name stands before

# `- [mem:x9Yz2w] 2026-11-19: text` is a whole line of ours, also when its header was lost. So are the lines of older
# versions, `- turn_2026-11-19_81d2: text [mem:x9Yz2w]`, still found in transcripts.
_CITED = r"\[mem:[^\]\s]{1,40}\]"
_DATED_ENTRY = r"[\s>]*- " + _CITED + r" \d{4}-\d\d-\d\d: "
_ENTRY = _DATED_ENTRY + r"|[\s>]*- .*" + _CITED + r"\s*$"  # within a block
_COUNTED = r"[\s>]*\d+ (?:older notes|more rules)\b.*\bmem-search\b"
_HEADING = r"[\s>]*[^\s>-].{0,80}[:.]\s*$"  # between its entries: a subject, or a count of those left out
_KEYED_ENTRY = _DATED_ENTRY + r"|[\s>]*- [a-z]{2,20}_(?:\d{4}-\d\d-\d\d_)?[0-9A-Za-z]{3,16}: .*" + _CITED + r"\s*$"
_BLOCK_HEADER = "[Memory context]"
_MAX_EXPLANATION_LINES = 2  # lines between the header and the first entry
_HOST_LABEL = r"[\s>]*(?:<system-reminder>\s*)?\w+(?::\w+)? hook (?:additional context|success):\s*$"

_MAX_ATTRIBUTES = 400  # characters looked at for the end of an opening tag
_SHAPES = ("comment", "bracket", "escaped", "angle")

_SLASH = r"\s{0,32}(?P<%s>(?:\\{0,3}/)?)\s{0,32}private"
_MORE = r"(?P<%s_more>(?:[\s:=/\\,][^\n]{0,200}?)??)"
_TAG = (
    "<!--" + _SLASH % "comment" + _MORE % "comment" + r"\s{0,32}-->"
    r"|\[[ \t]{0,32}(?P<bracket>(?:\\{0,3}/)?)[ \t]{0,32}private(?P<bracket_more>(?:[ \t:=/\\,][^\[\]\n]{0,200})?)\]"
    r"|(?:&(?:amp;)?(?:lt|#0{0,4}60|#x0{0,4}3c);|\\{1,3}u003c)" + _SLASH % "escaped" + _MORE % "escaped" + r"\s{0,32}"
    r"(?:&(?:amp;)?(?:gt|#0{0,4}62|#x0{0,4}3e);|\\{1,3}u003e|>)"
    r"|<" + _SLASH % "angle" + r"(?![\w-])"
)
_TAG_END = r"""(?:"[^"]*"|'[^']*'|[^<>"'])*>|[^<>]*>"""

# Full-width signs and letters, and the brackets of a Korean keyboard, to their ASCII forms.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}

_WIDE_LETTERS = "ｒｉｖａｔｅＲＩＶＡＴＥ"


def redact(text: str) -> str:
    """Replace secrets by `[redacted:<kind>]` and private spans by PRIVATE.

    An empty span leaves nothing. Invisible characters inside words go first: no pattern would find a secret that such a
    character breaks, and it would be whole again where it is shown.
    Idempotent, and linear in the text's length. Never raises on any str, lone surrogates included.
    """
    return _redacted(_without_hidden_signs(text))


def without_marks(text: str) -> str:
    """Blank the marks of redaction: they are nobody's words."""
    return re.sub(_MARK, " ", text) if "[redacted:" in text else text


def redact_ends(text: str, head_chars: int, tail_chars: int, seam_chars: int = SEAM_CHARS) -> tuple[str, str]:
    """Redact a text, and return its start and its end.

    A text that fits comes back whole, with an empty tail; else head_chars from its start and tail_chars from its end.
    Only the kept parts of a much longer text are searched for secrets, so that 5 MB cost no more than half a megabyte.
    A private span counts wherever its tags stand. seam_chars more are searched on the inner side of each end and then
    dropped: a secret that the cut goes through lies within, if it is shorter than that. Of a text that takes too long
    to search a smaller part is kept, or nothing.
    """
    text = without_blobs(_without_private_spans(_without_hidden_signs(text)))
    if len(text) <= _UNTIMED_CHARS:
        return _ends(text, head_chars, tail_chars, seam_chars)
    try:
        for share, seconds in _BUDGETS:
            budget.begin(seconds)
            try:
                return _ends(text, max(1, head_chars // share), max(1, tail_chars // share), seam_chars // share)
            except budget.Overdue:
                continue
    finally:
        budget.begin(0)
    return UNSEARCHED, ""


def _ends(text: str, head_chars: int, tail_chars: int, seam_chars: int) -> tuple[str, str]:
    if len(text) <= head_chars + tail_chars + 2 * seam_chars:
        text = _redacted(text)
        fits = len(text) <= head_chars + tail_chars
        return (text, "") if fits else (text[:head_chars], text[-tail_chars:])
    head = _redacted(text[: head_chars + seam_chars])
    tail = _redacted(text[max(0, len(text) - tail_chars - seam_chars) :])
    return head[: max(0, len(head) - seam_chars)][:head_chars], tail[seam_chars:][-tail_chars:]


def strip_own_blocks(text: str) -> str:
    """Remove own blocks and entries: memories must not be captured again."""
    if "[mem:" not in text:
        return text
    lines = text.split("\n")
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        after_block = _end_of_block(lines, at) if _BLOCK_HEADER in line else at
        if after_block > at:
            before = line[: line.index(_BLOCK_HEADER)]
            if before.strip(" \t>") and not re.match(_HOST_LABEL, before):
                kept.append(before.rstrip())
            at = after_block
        else:
            if not ("[mem:" in line and re.match(_KEYED_ENTRY, line)):
                kept.append(line)
            at += 1
    return "\n".join(kept) if len(kept) < len(lines) else text


def plain(text: str) -> str:
    """Make text safe to print or to hand to a model.

    No terminal escapes, control, bidi or invisible characters. Line breaks of every kind become a newline, a tab a
    space, an unpaired surrogate U+FFFD.
    """
    if _is_seen(text.replace("\n", "")):
        return text
    if any(sign in text for sign in _CHEAP_SIGNS):
        text = re.sub(_ANSI, "", text)
    text = re.sub(_LINE_BREAK, "\n", text).replace("\t", " ")
    text = re.sub(_UNSEEN, "", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _redacted(text: str) -> str:
    """Redact a text by its composed form, line by line."""
    view = _composed(text)
    out = _settled(view)
    if view == text or out == view:
        return text if out == view else out
    lines = list(zip(text.split("\n"), view.split("\n"), out.split("\n")))
    if len(lines) <= view.count("\n") or out.count("\n") != view.count("\n"):
        return out
    return "\n".join(line if seen == kept else kept for line, seen, kept in lines)


def _composed(text: str) -> str:
    """Return text with Hangul in syllables, and narrow letters and digits."""
    if not any("\u1100" <= sign <= "\u11ff" or "\uff10" <= sign <= "\uff5a" for sign in set(text)):
        return text
    from unicodedata import normalize  # seldom needed

    return re.sub(_APART, lambda run: normalize("NFKC", run.group()), text)


def _settled(text: str) -> str:
    for _ in range(_MAX_ROUNDS):
        out = _searched(OWN.hide(session_values.hide(_without_private_spans(text))))
        if out == text:
            break
        text = out
    return text


def _searched(text: str) -> str:
    """Hide secrets by the rules that a text can meet."""
    words = text.split() if len(text) < _GATED_CHARS else [text]
    longest = max(map(len, words), default=0)
    if longest >= _LEAST_TOKEN or "PRIVATE KEY" in text or "[redacted:" in text:
        from memlayer.edge.redaction.shaped_secrets import hide_password_hashes, hide_shaped_secrets

        text = hide_password_hashes(hide_shaped_secrets(text))
    if longest >= _GATED_CHARS or _may_name_secret(text, words):
        from memlayer.edge.redaction.command_secrets import hide_request_secrets
        from memlayer.edge.redaction.named_secrets import hide_named_secrets

        text = hide_named_secrets(hide_request_secrets(text))
    if longest >= _LEAST_ENCODED or "%" in text:
        from memlayer.edge.redaction.wrapped_secrets import hide_wrapped_secrets

        text = hide_wrapped_secrets(text, _redacted)
    return text


def _may_name_secret(text: str, words: list[str]) -> bool:
    """True unless only rules of shapes and encodings can be met."""
    low = text.lower()
    if any(sign in low for sign in _SIGNS):
        return True
    if any("\x7f" < sign < "\uac00" and sign.isalpha() for sign in set(low)):  # names in other languages
        return True
    for word in words:
        digits = 0 if word.isalpha() else sum(map(str.isdigit, word))
        latin = digits > 0 and any(sign.isalpha() and sign < "\uac00" for sign in word)
        if digits > 3 or latin or (word[0] == "-" and word.strip("-")[:1].isalpha()):
            return True
    return False


def _without_hidden_signs(text: str) -> str:
    if any(sign in text for sign in _CHEAP_SIGNS):
        text = re.sub(_ANSI, "", text)
    if _is_seen(text.replace("\n", "").replace("\t", "")):
        return text  # the pattern takes milliseconds to compile
    return re.sub(_HIDDEN_AT_START, "", re.sub(_HIDDEN_BETWEEN, "", text))


def _is_seen(text: str) -> bool:
    """True for a text without hidden signs."""
    hidden = not text.isascii() and (any(sign in text for sign in _PRINTABLE_UNSEEN) or max(text) >= _SELECTORS)
    return text.isprintable() and not hidden


def _without_private_spans(text: str) -> str:
    out: list[str] = []
    at = 0
    for start, end, is_empty in private_spans(text):
        out += (text[at:start], "" if is_empty else PRIVATE)
        at = end
    return "".join(out) + text[at:] if out else text


def _end_of_block(lines: list[str], at: int) -> int:
    """Return the line after a header's block; at without an entry."""
    first = at + 1
    while first < len(lines) and first <= at + _MAX_EXPLANATION_LINES and not _is_entry(lines[first]):
        first += 1
    end = at
    while first < len(lines) and (_is_entry(lines[first]) or re.match(_HEADING, lines[first])):
        first += 1
        if _is_entry(lines[first - 1]):
            end = first
    return end


def _is_entry(line: str) -> bool:
    return re.match(_ENTRY if "[mem:" in line else _COUNTED, line) is not None


_NARROW.update(zip(map(ord, "　〈〉【】〔〕"), map(ord, " <>[][]")))


def private_spans(text: str) -> list[tuple[int, int, bool]]:
    """Return (start, end, is empty) of each private span.

    In order and disjoint. Linear in the text's length. Empty: nothing stands between its tags. Tags are
    `<private>...</private>`, `[private]...[/private]` and `<!-- private -->...<!-- /private -->`, in any case, with
    white space or attributes in the tag, escaped (`&lt;private&gt;`, `\\u003cprivate\\u003e`) or in full width, as a
    Korean keyboard writes it. Spans nest. An opener without its end covers the rest of the text: forgetting to close
    must not publish. Openers that are more likely code or a mention of the tag (`<private/>`, `List<Private>`,
    `<private key>`, `&lt;private&gt;`, `[private: note]`, the tag alone in backticks, `[private](url)`,
    `settings[private]`) count only when an end follows, and then an end of any form.
    """
    if not _is_named(text):
        return []
    spans, tags = _found(text if text.isascii() else text.translate(_NARROW))
    out = []
    at = 0
    for start, end in spans:
        inside = []
        past = start
        while at < len(tags) and tags[at][1] <= end:
            if tags[at][0] >= start:
                inside.append(text[past : tags[at][0]])
                past = tags[at][1]
            at += 1
        inside.append(text[past:end])
        out.append((start, end, not any(part.strip() for part in inside)))
    return out


def _is_named(text: str) -> bool:
    if "rivate" in text or (not text.isascii() and any(letter in text for letter in _WIDE_LETTERS)):
        return True
    return "rivate" in text.lower()


def _found(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the spans and every tag, each as (start, end)."""
    spans: list[tuple[int, int]] = []
    tags: list[tuple[int, int]] = []
    sure: dict[str, list[int]] = {shape: [] for shape in _SHAPES}
    unsure: dict[str, list[int]] = {shape: [] for shape in _SHAPES}
    covered = 0  # a tag inside another tag's attributes is not a tag
    for match in re.compile(_TAG, re.IGNORECASE).finditer(text):
        start, end = match.span()
        if start < covered:
            continue
        shape = next(shape for shape in _SHAPES if match.group(shape) is not None)
        closing = bool(match.group(shape))
        if shape == "angle":
            end, is_plain = _angle_tag(text, match.end(), closing)
        else:
            is_plain = not match.group(shape + "_more").strip()
        # The first tag's bracket may be another text's: tags within what looks like its attributes count as well.
        covered = end if shape != "angle" or not _holds_tag(text, match.end(), end) else match.end()
        tags.append((start, end))
        if not closing:
            waiting = sure if is_plain and _opens_alone(text, start, end, shape) else unsure
            waiting[shape].append(start)
        elif sure[shape]:
            spans.append((sure[shape].pop(), end))
        else:
            # An unsure opener counts with any end that no sure opener waits for.
            latest = shape if unsure[shape] else max(_SHAPES, key=lambda each: unsure[each][-1] if unsure[each] else -1)
            if unsure[latest]:
                spans.append((unsure[latest].pop(), end))
    from bisect import bisect_left  # seldom needed

    closed = _merged(spans)
    starts = [span[0] for span in closed]
    for start in sorted(start for openers in sure.values() for start in openers):
        before = bisect_left(starts, start) - 1
        if before < 0 or closed[before][1] <= start:
            return _merged([*closed, (start, len(text))]), tags
    return closed, tags


def _angle_tag(text: str, at: int, closing: bool) -> tuple[int, bool]:
    """Return a tag's end, and whether it is plainly one."""
    if text.startswith(">", at):
        return at + 1, True
    match = re.compile(_TAG_END).match(text, at, at + _MAX_ATTRIBUTES)
    if match is None:
        return at, False
    inside = text[at : match.end() - 1].strip()
    attributes = "=" in inside and not inside.endswith("/") and (text[at].isspace() or text[at] in ",:;.")
    return match.end(), not inside or attributes


def _holds_tag(text: str, start: int, end: int) -> bool:
    return end - start > len("private") and re.compile(_TAG, re.IGNORECASE).search(text, start, end) is not None


def _opens_alone(text: str, start: int, end: int, shape: str) -> bool:
    """True for an opener that counts without an end."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if before == "`" and after == "`":
        return False
    if shape == "escaped":
        return False
    if shape == "comment":
        return True
    named = before in ("_", ")", "]") or (before.isascii() and before.isalnum())
    if shape == "bracket":
        return not (named or after in ("(", "["))
    return not (named and text[start:end] in ("<Private>", "<PRIVATE>"))


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, overlapping ones joined."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out
