"""Find and cut private spans.

`<private>...</private>`, `[private]...[/private]` and `<!-- private -->...<!-- /private -->`, in any case, with white
space or attributes in the tag, escaped (`&lt;private&gt;`, `\u003cprivate\u003e`) or in full width, as a Korean
keyboard writes it. Spans nest. An opener without its end covers the rest of the text: forgetting to close must not
publish. Openers that are more likely code or a mention of the tag (`<private/>`, `List<Private>`, `<private key>`,
`&lt;private&gt;`, `[private: note]`, the tag alone in backticks, `[private](url)`, `settings[private]`) count only when
an end follows, and then an end of any form.
"""

from __future__ import annotations

import re
from bisect import bisect_left


def lowered(text: str) -> str:
    """Return text in lower case and of the same length.

    The one character that grows when lowered is replaced first.
    """
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def unquoted(text: str) -> str:
    """Return text with escaped line breaks and quotes restored.

    JSON or a shell has escaped them; the length stays the same.
    """
    if "\\" in text:
        text = re.sub(r"\\{1,15}[\"'nrt]", _unescaped, text)
    return text.replace("'\"'\"'", "    '")


def _unescaped(match: re.Match[str]) -> str:
    sign = match.group()[-1]
    return " " * (len(match.group()) - 1) + {"n": "\n", "r": " ", "t": "\t"}.get(sign, sign)


def cut_out(text: str, cuts: list[tuple[int, int, str]]) -> str:
    """Replace each (start, end, kind) by `[redacted:<kind>]`. Overlapping cuts become one."""
    out: list[str] = []
    at = 0
    for start, end, kind in sorted(cuts):
        if start >= at:
            out += (text[at:start], "[redacted:%s]" % kind)
        at = max(at, end)
    return "".join(out) + text[at:] if out else text


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
_NARROW.update(zip(map(ord, "　〈〉【】〔〕"), map(ord, " <>[][]")))
_WIDE_LETTERS = "ｒｉｖａｔｅＲＩＶＡＴＥ"


def private_spans(text: str) -> list[tuple[int, int, bool]]:
    """Return (start, end, is empty) of each span to remove.

    In order and disjoint; linear in the text's length. Empty: nothing stands between its tags.
    """
    if not _is_named(text):
        return []
    spans, tags = _found(_narrow(text))
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


def _narrow(text: str) -> str:
    return text if text.isascii() else text.translate(_NARROW)


def _found(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the spans and every tag, each as (start, end)."""
    found: list[tuple[int, int]] = []
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
            found.append((sure[shape].pop(), end))
        else:
            # An unsure opener counts with any end that no sure opener waits for.
            latest = shape if unsure[shape] else max(_SHAPES, key=lambda each: unsure[each][-1] if unsure[each] else -1)
            if unsure[latest]:
                found.append((unsure[latest].pop(), end))
    closed = _merged(found)
    starts = [span[0] for span in closed]
    for start in sorted(start for openers in sure.values() for start in openers):
        before = bisect_left(starts, start) - 1
        if before < 0 or closed[before][1] <= start:
            return _merged([*closed, (start, len(text))]), tags
    return closed, tags


def _angle_tag(text: str, at: int, closing: bool) -> tuple[int, bool]:
    """Return a tag's end and whether it is plainly a tag.

    at: where its name ends.
    """
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
