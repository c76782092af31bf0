"""Clean text: redact secrets, strip own blocks, remove hidden characters.

Standard library only, and cheap to import: a hook without a daemon runs this. Patterns are compiled on first use, and
only those whose trigger words occur in the text.
"""

from __future__ import annotations

import re

PRIVATE = "[redacted:private]"  # in the place of a private span

SEAM_CHARS = 64_000  # longer than the longest private key block

# Each removal can bring text together that was apart; the text is settled when nothing changes any more.
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
_WRITTEN = "[\t\n\r -~\uac00-\ud7a3\uff01-\uff5e]"
_HIDDEN_BETWEEN = f"[{_UNSEEN_OR_SHAPING}](?<={_WRITTEN}[{_UNSEEN_OR_SHAPING}])[{_UNSEEN_OR_SHAPING}]*(?={_WRITTEN})"

# `- [mem:x9Yz2w] 2026-11-19: text` is a whole line of ours, also when its header was lost; so are the lines of older
# versions, `- turn_2026-11-19_81d2: text [mem:x9Yz2w]`, still found in transcripts.
_CITED = r"\[mem:[^\]\s]{1,40}\]"
_DATED_ENTRY = r"[\s>]*- " + _CITED + r" \d{4}-\d\d-\d\d: "
_ENTRY = _DATED_ENTRY + r"|[\s>]*- \S{1,120}: .*" + _CITED + r"\s*$"
_KEYED_ENTRY = _DATED_ENTRY + r"|[\s>]*- [a-z]{2,20}_(?:\d{4}-\d\d-\d\d_)?[0-9A-Za-z]{3,16}: .*" + _CITED + r"\s*$"
_BLOCK_HEADER = "[Memory context]"
_MAX_EXPLANATION_LINES = 2  # lines between the header and the first entry
_HOST_LABEL = r"[\s>]*(?:<system-reminder>\s*)?\w+(?::\w+)? hook (?:additional context|success):\s*$"


def redact(text: str) -> str:
    """Replace secrets by `[redacted:<kind>]` and private spans by PRIVATE.

    An empty span leaves nothing. Invisible characters inside words go first: no pattern would find a secret that such a
    character breaks, and it would be whole again where it is shown.
    Idempotent, and linear in the text's length. Never raises on any str, lone surrogates included.
    """
    return _redacted(_without_hidden_signs(text))


def redact_ends(text: str, head_chars: int, tail_chars: int, seam_chars: int = SEAM_CHARS) -> tuple[str, str]:
    """Redact a text, and return its start and its end.

    A text that fits comes back whole, with an empty tail; else head_chars from its start and tail_chars from its end.
    Only the kept parts of a much longer text are searched for secrets, so that 5 MB cost no more than half a megabyte.
    A private span counts wherever its tags stand. seam_chars more are searched on the inner side of each end and then
    dropped: a secret that the cut goes through lies within, if it is shorter than that.
    """
    text = _without_private_spans(_without_hidden_signs(text))
    if len(text) <= head_chars + tail_chars + 2 * seam_chars:
        text = _redacted(text)
        fits = len(text) <= head_chars + tail_chars
        return (text, "") if fits else (text[:head_chars], text[-tail_chars:])
    head = _redacted(text[: head_chars + seam_chars])
    tail = _redacted(text[max(0, len(text) - tail_chars - seam_chars) :])
    return head[: max(0, len(head) - seam_chars)][:head_chars], tail[seam_chars:][-tail_chars:]


def strip_own_blocks(text: str) -> str:
    """Remove memlayer's own `[Memory context]` blocks and entry lines.

    Otherwise memories would be captured again.
    """
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
    if text.isascii() and text.isprintable():
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
    from memlayer.edge.redaction.named_secrets import hide_named_secrets
    from memlayer.edge.redaction.request_secrets import hide_request_secrets
    from memlayer.edge.redaction.shaped_secrets import hide_password_hashes, hide_shaped_secrets

    for _ in range(_MAX_ROUNDS):
        out = hide_shaped_secrets(_without_private_spans(text))
        out = hide_named_secrets(hide_request_secrets(hide_password_hashes(out)))
        if out == text:
            break
        text = out
    return text


def _without_hidden_signs(text: str) -> str:
    if any(sign in text for sign in _CHEAP_SIGNS):
        text = re.sub(_ANSI, "", text)
    seen = text.replace("\n", "").replace("\t", "").isprintable()
    if seen and (text.isascii() or not any(sign in text for sign in _PRINTABLE_UNSEEN)):
        return text  # the pattern takes milliseconds to compile
    return re.sub(_HIDDEN_BETWEEN, "", text)


def _without_private_spans(text: str) -> str:
    from memlayer.edge.redaction.private_spans import private_spans

    out: list[str] = []
    at = 0
    for start, end, is_empty in private_spans(text):
        out += (text[at:start], "" if is_empty else PRIVATE)
        at = end
    return "".join(out) + text[at:] if out else text


def _end_of_block(lines: list[str], at: int) -> int:
    """Return the line after the block whose header is in line at.

    at itself when no entry follows: a mere mention.
    """
    first = at + 1
    while first < len(lines) and first <= at + _MAX_EXPLANATION_LINES and not _is_entry(lines[first]):
        first += 1
    end = first
    while end < len(lines) and _is_entry(lines[end]):
        end += 1
    return end if end > first else at


def _is_entry(line: str) -> bool:
    return "[mem:" in line and re.match(_ENTRY, line) is not None
