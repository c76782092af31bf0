"""Finds what the user marked as private, so that it never reaches the disk.

Three spellings, in any case and with any white space in the tag: `<private>...</private>` (attributes allowed),
`[private]...[/private]` and `<!-- private -->...<!-- /private -->`. Spans nest. An opener without its end covers the
rest of the text: forgetting to close must not publish. Openers that are more likely code or a mention of the tag
(`List<Private>`, `<private key>`, `&lt;private&gt;`, the tag alone in backticks, `[private](url)`, `settings[private]`)
count only when an end follows. Brackets and letters may be full-width, as a Korean keyboard writes them.
"""

from __future__ import annotations

import re
from bisect import bisect_left

_MAX_ATTRIBUTES = 400  # characters looked at for the end of an opening tag

_PLAIN_TAG = (
    r"<!--\s{0,8}(?P<comment>/?)\s{0,8}private\s{0,8}-->"
    r"|\[[ \t]{0,8}(?P<bracket>/?)[ \t]{0,8}private[ \t]{0,8}\]"
    r"|<\s{0,8}(?P<angle>/?)\s{0,8}private(?=[\s>/,:;.])"
)
# The same in full width or escaped; looked for only where one of these signs stands, for it takes longer.
_WIDE_SIGNS = ("［", "＜", "ｐ", "Ｐ", "&lt;", "&LT;")
_WIDE_TAG = (
    r"<!--\s{0,8}(?P<comment>/?)\s{0,8}private\s{0,8}-->"
    r"|[\[［][ \t]{0,8}(?P<bracket>[/／]?)[ \t]{0,8}(?:private|ｐｒｉｖａｔｅ)[ \t]{0,8}[\]］]"
    r"|&lt;\s{0,8}(?P<escaped>/?)\s{0,8}private\s{0,8}&gt;"
    r"|[<＜]\s{0,8}(?P<angle>[/／]?)\s{0,8}(?:private|ｐｒｉｖａｔｅ)(?=[\s>/,:;.＞])"
)
_TAG_END = r"""(?:"[^"]*"|'[^']*'|[^<>＞"'])*[>＞]|[^<>＞]*[>＞]"""


def private_spans(text: str) -> list[tuple[int, int]]:
    """Half-open character ranges to remove, in order and disjoint. Linear in the text's length."""
    if "rivate" not in text and not any(word in text.lower() for word in ("rivate", "ｒｉｖａｔｅ")):
        return []
    found: list[tuple[int, int]] = []
    waiting: dict[str, list[tuple[int, bool]]] = {"comment": [], "bracket": [], "escaped": [], "angle": []}
    covered = 0  # a tag inside another tag's attributes is not a tag
    tag = _WIDE_TAG if any(sign in text for sign in _WIDE_SIGNS) else _PLAIN_TAG
    for match in re.compile(tag, re.IGNORECASE).finditer(text):
        start, end = match.span()
        if start < covered:
            continue
        shape = str(match.lastgroup)
        closing = bool(match.group(shape))
        sure = not closing
        if shape == "angle":
            end, sure, empty = _angle_tag(text, match.end(), closing)
            if empty:
                continue
        covered = end
        if closing:
            if waiting[shape]:
                found.append((waiting[shape].pop()[0], end))
        else:
            waiting[shape].append((start, sure and _opens_alone(text, start, end, shape)))
    closed = _merged(found)
    starts = [span[0] for span in closed]
    for start in sorted(start for openers in waiting.values() for start, sure in openers if sure):
        before = bisect_left(starts, start) - 1
        if before < 0 or closed[before][1] <= start:
            return _merged([*closed, (start, len(text))])
    return closed


def _angle_tag(text: str, at: int, closing: bool) -> tuple[int, bool, bool]:
    """Where the tag ends whose name ends at `at`, whether it is surely an opener, and whether it is empty."""
    if text.startswith((">", "＞"), at):
        return at + 1, True, False
    match = re.compile(_TAG_END).match(text, at, at + _MAX_ATTRIBUTES)
    if match is None:
        return at, False, False
    inside = text[at : match.end() - 1].strip()
    if closing:
        return match.end(), True, False
    if inside.endswith("/"):
        return match.end(), False, True
    return match.end(), not inside or "=" in inside, False


def _opens_alone(text: str, start: int, end: int, shape: str) -> bool:
    """False for an opener that needs an end before it is believed."""
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
    """Spans in order, overlapping ones joined."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out
