"""Redaction properties for any text.

A private span never survives, redacting is idempotent, nothing raises, plain text is printable.
"""

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from memlayer.edge.redaction.privacy import PRIVATE, plain, redact, strip_own_blocks

ANY_TEXT = st.text(alphabet=st.characters(), max_size=300) | st.text(
    alphabet=st.characters(categories=("Cs", "Cc", "Cf", "Ll", "Lo")), max_size=80
)
# Pieces that detectors react to, in any order: where their seams are, mistakes are.
_WORDS = """
<private> </private> <private/> <Private> <private ` [private] [/private] [ private ]
<!--private--> <!--/private-->
[redacted:password] [redacted:private] password passphrase token secret api_key _key
비밀번호 비번 토큰 암호는 = : == => is
was to 는 을 " ' ( ) { } [ ] < > , ; & | \\ / @ :// https://u:p4ss@h postgres:// Bearer Basic Authorization: Cookie:
--token -u -p curl mysql hunter2! Zx81qq9T a1b2c3d4e5f6a7b8c9d0 changeme your-key ${X} -----BEGIN eyJ sk-ant-api03-
AKIA2345ABCDEFGHIJKL ghp_ [mem:a7Bc3x] [Memory] as the login pin 4821 야 로 \x1b[0m
"""
_SPACED = [" ", "\n", "\t", "  ", "İ", "\ud800", "-----BEGIN PRIVATE KEY-----", "[Memory context]\n"]
PIECES = st.sampled_from([*_WORDS.split(), *_SPACED])
SEAMS = st.lists(PIECES, max_size=25).map("".join)

OPENERS = st.sampled_from(
    ["<private>", "<PRIVATE>", "< private >", '<private why="x">', "[private]", "[ Private ]", "<!-- private -->"]
)
CLOSERS = {"<": "</private>", "[": "[/private]", "<!": "<!-- /private -->"}
WIDE = {narrow: narrow + 0xFEE0 for narrow in range(0x21, 0x7F)}
BRACKETS = {
    "angle": ("<", ">"),
    "bracket": ("[", "]"),
    "comment": ("<!--", "-->"),
    "escaped": ("&lt;", "&gt;"),
    "numbered": ("&#60;", "&#62;"),
    "doubly escaped": ("&amp;lt;", "&amp;gt;"),
    "JSON": ("\\u003c", "\\u003e"),
}
GAPS = st.sampled_from(["", " ", "  ", "\t"])
ATTRIBUTES = st.sampled_from(["", ' why="x"', " note", ": 급여", "=1", "/", " /", ' a="b" /'])


@st.composite
def _tags(draw: st.DrawFn, closing: bool) -> str:
    """An opener or a closer in one of its forms."""
    left, right = BRACKETS[draw(st.sampled_from(sorted(BRACKETS)))]
    name = "".join(draw(st.sampled_from([letter, letter.upper()])) for letter in "private")
    slash = draw(st.sampled_from(["/", "\\/"])) if closing else ""
    more = "" if closing else draw(ATTRIBUTES)
    gaps = [draw(GAPS) for _ in range(3)]
    is_wide = "&" not in left and "u003c" not in left and left != "<!--" and draw(st.booleans())
    tag = left + gaps[0] + slash + gaps[1] + name + more + gaps[2] + right
    return tag.translate({at: wide for at, wide in WIDE.items() if draw(st.booleans())}) if is_wide else tag


MARK = "qzjxkvwq"  # made of letters that no other strategy brings together in this order


def _closer(opener: str) -> str:
    return CLOSERS["<!" if opener.startswith("<!") else opener[0]]


@given(before=ANY_TEXT | SEAMS, inside=ANY_TEXT, after=ANY_TEXT | SEAMS, opener=OPENERS)
@example(before="a", inside="", after="", opener="<private>")
@example(before="<PRIVATE", inside="", after=">", opener="[private]")
@example(before="<private 급여", inside="월급", after=" >", opener="<!-- private -->")
def test_closed_private_span_never_survives(before: str, inside: str, after: str, opener: str) -> None:
    inside = inside.replace("<", "").replace("[", "")
    assert MARK not in redact("%s\n%s%s%s%s%s" % (before, opener, inside, MARK, _closer(opener), after))


@given(before=ANY_TEXT, inside=ANY_TEXT, opener=OPENERS)
def test_unclosed_private_span_never_survives(before: str, inside: str, opener: str) -> None:
    inside = inside.replace("<", "").replace("[", "").replace("(", "")
    assert MARK not in redact("%s\n%s %s%s" % (before, opener, inside, MARK))


@given(before=ANY_TEXT, opener=_tags(closing=False), closer=_tags(closing=True), after=ANY_TEXT)
@example(before="", opener="<private/>", closer="</private>", after="")
@example(before="", opener="<private/>", closer="[/private]", after="뒤")
@example(before="", opener="[private/]", closer="［／ｐｒｉｖａｔｅ］", after="")
def test_all_tag_forms_count(before: str, opener: str, closer: str, after: str) -> None:
    assert MARK not in redact("%s\n%s %s 비밀 %s%s" % (before, opener, MARK, closer, after))


@given(depth=st.integers(1, 4), opener=_tags(closing=False), closer=_tags(closing=True))
def test_every_form_may_be_nested(depth: int, opener: str, closer: str) -> None:
    assert MARK not in redact("앞 " + (opener + " a ") * depth + MARK + (" b " + closer) * depth)


@given(opener=_tags(closing=False), inside=st.sampled_from(["", " ", "\n\n"]), closer=_tags(closing=True))
@example(opener="<private>", inside="", closer="</private>")
@example(opener="<private/>", inside="", closer="</private>")
def test_empty_span_leaves_nothing(opener: str, inside: str, closer: str) -> None:
    assert redact(opener + inside + closer).strip() == ""
    # An end of another form does not close an opener that counts by itself: then the rest is private, too.
    assert redact("배포는 " + opener + inside + closer + " 화요일").split()[1] in ("화요일", PRIVATE)


@given(depth=st.integers(1, 6), filler=ANY_TEXT, opener=OPENERS)
def test_nested_private_spans_never_survive(depth: int, filler: str, opener: str) -> None:
    filler = filler.replace("<", "").replace("[", "")
    inside = MARK
    for _ in range(depth):
        inside = opener + filler + inside + filler + _closer(opener)
    assert MARK not in redact("text " + inside + " more")


@given(text=ANY_TEXT | SEAMS)
@example(text="password=Xyz123 is Foo456")
@example(text="<pri<private>x</private>vate>y")
def test_redacting_is_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(text=ANY_TEXT | SEAMS)
def test_stripping_own_blocks_is_idempotent(text: str) -> None:
    once = strip_own_blocks(text)
    assert strip_own_blocks(once) == once


@given(text=ANY_TEXT | SEAMS)
def test_plain_text_is_printable(text: str) -> None:
    out = plain(text)
    out.encode("utf-8")
    assert plain(out) == out
    assert all(char == "\n" or unicodedata.category(char) not in ("Cc", "Cs") for char in out)
    assert not set(out) & set("\u200b\u200d\u202e\u2066\u2069\ufeff\x1b")
