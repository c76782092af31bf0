"""redact, strip_own_blocks and plain: removals, survivors, time."""

import base64
import random
import time

import pytest

from memlayer.edge.capture.payload import MAX_EVENT_CHARS, clean, read_payload
from memlayer.edge.redaction.privacy import PRIVATE, plain, redact, strip_own_blocks
from tests.support.tables import tables

TABLES = tables("edge/privacy")

# --- long texts: only the kept parts are searched

_FILL = "그 줄은 그대로 둔다. keep this line. " * 30_000  # about 1,000,000 characters


@pytest.mark.parametrize("at", [0, 299_000, 299_990, 300_003, 320_000, 500_000, -100_010, -99_980, -60, -30])
def test_secret_in_long_text_goes(at: int) -> None:
    where = at % len(_FILL)
    text = "%s AKIA7LRWFVEALKXWKKXZ 비밀번호는 Zxcv!357이야 %s" % (_FILL[:where], _FILL[where:])
    out = clean(text)
    assert "AKIA7LRWFVEA" not in out and "RWFVEALKXWKKXZ" not in out
    assert "Zxcv!357" not in out
    assert len(out) <= MAX_EVENT_CHARS + 100
    assert out.startswith("그 줄은" if where else " [redacted")


def test_ends_of_long_text_stay() -> None:
    out = clean("처음 " + _FILL + " 마지막")
    assert out.startswith("처음 그 줄은")
    assert out.endswith("마지막")
    assert MAX_EVENT_CHARS - 1 <= len(out) <= MAX_EVENT_CHARS + 100
    assert " characters left out" in out


def test_private_span_crosses_the_cut() -> None:
    text = "앞 <private>SECRET%sSECRET</private> 뒤" % _FILL
    assert clean(text) == "앞 %s 뒤" % PRIVATE
    assert "SECRET" not in clean("앞 <private>%sSECRET" % _FILL)


def test_key_block_crosses_the_cut() -> None:
    rng = random.Random(5)
    body = "\n".join(base64.b64encode(rng.randbytes(48)).decode() for _ in range(700))
    block = "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----" % body
    for at in (280_000, 299_000, len(_FILL) - 101_000, len(_FILL) - 140_000):
        out = clean(_FILL[:at] + block + _FILL[at:])
        assert not any(line in out for line in body.split("\n")), at


# --- private spans


@pytest.mark.parametrize(("text", "kept"), TABLES["private_spans_go"])
def test_private_spans_go(text: str, kept: str) -> None:
    assert redact(text) == kept % PRIVATE


@pytest.mark.parametrize(("text", "kept"), TABLES["empty_span_leaves_no_marker"])
def test_empty_span_leaves_no_marker(text: str, kept: str) -> None:
    assert redact(text) == kept


def test_empty_span_is_no_event() -> None:
    payload = '{"session_id": "s", "prompt": "<private></private>", "last_assistant_message": "[private] "}'
    for hook in ("user_prompt_submit", "stop"):
        found = read_payload(hook, payload.encode(), project_dir="/p", at_ms=1)
        assert found.event is None and found.problem


@pytest.mark.parametrize("text", TABLES["word_private_is_no_span"])
def test_word_private_is_no_span(text: str) -> None:
    assert redact(text) == text


# --- invisible characters


@pytest.mark.parametrize(
    "sign", ["\u200b", "\xad", "\u2060", "\u200d", "\ufeff", "\u200b\u200c", "\x07", "\ufe0f", "\u202e", "\U000e0101"]
)
@pytest.mark.parametrize(("text", "secret"), TABLES["invisible_character_hides_nothing"])
def test_invisible_character_hides_nothing(text: str, secret: str, sign: str) -> None:
    out = clean(text.replace("|", sign))
    assert secret not in plain(out).replace(sign, "")


def test_terminal_colours_hide_nothing() -> None:
    out = clean("\x1b[1mAKIA\x1b[0m7LRWFVEALKXWKKXZ \x1b]8;;https://x\x07pass\x1b]8;;\x07word: Qw3rty77!")
    assert "7LRWFVEALKXW" not in plain(out) and "Qw3rty77!" not in plain(out)


@pytest.mark.parametrize("text", TABLES["joiners_of_scripts_and_emoji_stay"])
def test_joiners_of_scripts_and_emoji_stay(text: str) -> None:
    assert redact(text) == text


# --- own blocks

BLOCK = (
    "[Memory context]\nNotes that memlayer kept from earlier work.\n"
    "- core_3f9c: User prefers pytest -x. [mem:a7Bc3x]\n"
    "- turn_2026-11-19_81d2: 주문 이벤트를 ClickHouse로 옮겼다 [mem:x9Yz2w]"
)


DATED_BLOCK = (
    "[Memory context]\n"
    "- [mem:a7Bc3x] 2026-11-18: User prefers pytest -x.\n"
    "- [mem:x9Yz2w] 2026-11-19: (older; newer: [mem:a7Bc3x]) 주문 이벤트를 ClickHouse로 옮겼다…"
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (DATED_BLOCK, ""),
        ("before\n%s\nafter" % DATED_BLOCK, "before\nafter"),
        ("UserPromptSubmit hook additional context: %s\nafter" % DATED_BLOCK, "after"),
        ("> %s\nafter" % DATED_BLOCK.replace("\n", "\n> "), "after"),
        ("%s\n%s\nafter" % (DATED_BLOCK, BLOCK), "after"),
        ("- [mem:a7Bc3x] 2026-11-18: torn from its header\nafter", "after"),
        (BLOCK, ""),
        ("before\n%s\nafter" % BLOCK, "before\nafter"),
        ("UserPromptSubmit hook additional context: %s\nafter" % BLOCK, "after"),
        ("I was given: %s\nafter" % BLOCK, "I was given:\nafter"),
        ("> %s\nafter" % BLOCK.replace("\n", "\n> "), "after"),
        ("%s\n%s\nafter" % (BLOCK, BLOCK), "after"),
        ("- core_3f9c: torn from its header [mem:a7Bc3x]\nafter", "after"),
    ],
)
def test_own_blocks_are_stripped(text: str, kept: str) -> None:
    assert strip_own_blocks(text) == kept


@pytest.mark.parametrize("text", TABLES["talk_about_memories_stays"])
def test_talk_about_memories_stays(text: str) -> None:
    assert strip_own_blocks(text) == text


# --- plain


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b1mbold", "bold"),
        ("\x1b]unterminated\nrest", "unterminated\nrest"),
        ("a\x00b\x07c\x7fd\x85e", "abcd\ne"),
        ("a\tb\r\nc\rd\u2028e", "a b\nc\nd\ne"),
        ("abc\u202edcba\u2066x\u2069", "abcdcbax"),
        ("ig\u200bno\u200dre\ufeff", "ignore"),
        ("hi\U000e0069\U000e0067", "hi"),
        ("결제\u200b 모듈", "결제 모듈"),
        ("lone \ud83d end", "lone \ufffd end"),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        ("❤️ 그대로", "❤️ 그대로"),
        ("plain text, 한글, émoji 😀\nline", "plain text, 한글, émoji 😀\nline"),
    ],
)
def test_plain_removes_control_characters(text: str, out: str) -> None:
    assert plain(text) == out
    assert plain(out) == out


# --- time: each text is 100 kB; a quadratic pattern would take minutes

_BASE64 = base64.b64encode(random.Random(1).randbytes(750_000)).decode()


@pytest.mark.parametrize(
    "piece",
    [
        "a", "=", " ", "\n", "[", "<private>", "</private>", "<private ", '<private "', "[private", "_key", "password",
        "password=", "password: ", 'password="', "token ", "비밀번호는 ", "암호", "://a:", "postgres://a:b@h ", "eyJ",
        "eyJaaaaaaaaaa.", "sk-", "-----BEGIN PRIVATE KEY-----", "bearer ", "--token", "cookie: a=", "mysql -pa1b2 ",
        "M.",        
        "seed phrase: aaaa bbbb ", "abc1 as the password ", "Q~", "\x1b[", "\x1b]", "[mem:a", "[Memory context]\n",
        "\ud800", _BASE64,
    ],
    ids=lambda piece: repr(piece[:24]),
)  # fmt: skip
def test_time_is_linear(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    for function in (redact, strip_own_blocks, plain):
        started = time.process_time()
        function(text)
        assert time.process_time() - started < 4


@pytest.mark.parametrize("sign", ["\x8c", "\u200b", "\ufeff", "\u2060\u200b"])
@pytest.mark.parametrize("text", ["bøý", "안녕, 포트는 7481", "see port 7481"])
def test_text_behind_a_speakers_name_is_redacted_as_by_itself(sign: str, text: str) -> None:
    assert redact("User: " + redact(sign + text)) == "User: " + redact(sign + text) == "User: " + text
