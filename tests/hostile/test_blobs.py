"""Pictures, fonts, dumps and minified files in a text: their kind and length in their place."""

import base64
import binascii
import itertools
import json
import quopri
import random
import re
import uuid
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import clean, read_payload

RNG = random.Random(45)
BYTES = b"\x89PNG\r\n\x1a\n" + RNG.randbytes(4_000)
B64 = base64.b64encode(BYTES).decode()
MIME = base64.encodebytes(BYTES).decode()
HEX = BYTES.hex()
SPARSE = b"".join(RNG.randbytes(2) + bytes(RNG.randrange(20)) for _ in range(300))[:3_200]  # as programs are
BEFORE, AFTER = "이 그림이 왜 깨져 보여? look at the header.", "두 번째 줄이 이상해, fix the padding."
VARIABLES = "abcdefghijklmnopqrstuvwxyz"


def xxd(data: bytes, group: int, shown: bool = True) -> str:
    rows = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        cells = " ".join(row[i : i + group].hex() for i in range(0, 16, group))
        rows.append("%08x: %s" % (at, cells) + ("  " + "".join(chr(b) if 32 <= b < 127 else "." for b in row)) * shown)
    return "\n".join(rows)


def rows(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def hex_rows(data: bytes, width: int, joint: str, end: str = "", group: int = 1) -> str:
    parts = [data[at : at + width] for at in range(0, len(data), width)]
    return "\n".join(
        joint.join(part[at : at + group].hex() for at in range(0, len(part), group)) + end for part in parts
    )


def minified_code() -> str:
    names = [RNG.choice(VARIABLES) + RNG.choice(VARIABLES) for _ in range(400)]
    return (
        "!function(e,t){"
        + "".join(
            'var %s=function(n){return n.%s("%s")||%d},' % (a, b, a * 2, len(a)) for a, b in itertools.pairwise(names)
        )
        + "}(this);"
    )


def minified_style() -> str:
    return "".join(".%s-%d{margin:%dpx;color:#%06x}" % (RNG.choice(VARIABLES) * 3, i, i, i * 999) for i in range(200))


def compact_rows() -> str:
    return json.dumps([{"id": i, "ok": True, "at": i * 7, "tag": "t%d" % i} for i in range(150)], separators=(",", ":"))


# (blob, the word its kind is told by). The first four were reported, the others written before the rule.
BLOBS: dict[str, tuple[str, str]] = {
    "picture": ("data:image/png;base64," + B64, "image/png"),
    "base64": (B64, "base64"),
    "minified code": (minified_code(), "minified"),
    "hex dump": (xxd(BYTES, 2), "hex"),
    "picture in markdown": ("![shot](data:image/jpeg;base64,%s)" % B64, "image/jpeg"),
    "picture in html": ('<img alt="x" src="data:image/gif;base64,%s">' % B64, "image/gif"),
    "font in a style": ("@font-face{src:url(data:font/woff2;base64,%s)}" % B64, "font/woff2"),
    "drawing": ("data:image/svg+xml;charset=utf8,%3Csvg%20" + "%3Cpath%20d=%27M0%200%27/%3E" * 40, "image/svg+xml"),
    "picture in JSON": ('{"type":"image","data":"%s"}' % B64, "base64"),
    "escaped slashes": ('{"src":"data:image\\/png;base64,%s"}' % B64.replace("/", "\\/"), "image/png"),
    "mail attachment": (MIME, "base64"),
    "lines in JSON": (json.dumps(MIME), "base64"),
    "quoted lines": ("\n".join("> " + line for line in MIME.splitlines()), "base64"),
    "numbered lines": ("\n".join("%6d\t%s" % pair for pair in enumerate(MIME.splitlines(), 1)), "base64"),
    "literal in lines": (" \\\n".join('"%s"' % line for line in MIME.splitlines()), "base64"),
    "url alphabet": (base64.urlsafe_b64encode(BYTES).decode(), "base64"),
    "base32": (base64.b32encode(BYTES).decode(), "base"),
    "certificate": ("-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----" % MIME, "base64"),
    "hex": (HEX, "hex"),
    "hex in lines": ("\n".join(HEX[at : at + 64] for at in range(0, len(HEX), 64)), "hex"),
    "hexdump -C": ("\n".join(line.replace(": ", "  ") + "|" for line in xxd(BYTES, 1).split("\n")), "hex"),
    "xxd -g4": (xxd(BYTES, 4, shown=False), "hex"),
    "array of C": (", ".join("0x%02x" % byte for byte in BYTES[:900]), "hex"),
    "array of C in lines": (
        ",\n".join(", ".join("0x%02x" % b for b in BYTES[at : at + 12]) for at in range(0, 900, 12)),
        "hex",
    ),
    "escaped bytes": ("b'%s'" % "".join("\\x%02x" % byte for byte in BYTES[:900]), "hex"),
    "buffer": ('{"type":"Buffer","data":%s}' % json.dumps(list(BYTES[:900])), "numbers"),
    "vector": (json.dumps([round(RNG.uniform(-1, 1), 6) for _ in range(384)]), "numbers"),
    "vector in lines": (json.dumps([round(RNG.uniform(-1, 1), 6) for _ in range(384)], indent=2), "numbers"),
    "minified style": (minified_style(), "minified"),
    "compact JSON": (compact_rows(), "minified"),
    "source map": ('{"version":3,"mappings":"%s"}' % ";".join("AAAA,IAAI,CAACA,GAAG" for _ in range(200)), "minified"),
    "markup": ("<rows>" + "".join('<r id="%d" v="%d"/>' % (i, i * 3) for i in range(150)) + "</rows>", "minified"),
    # written after the rule, on real programs
    "sparse base64": (base64.b64encode(SPARSE).decode(), "base64"),
    "sparse dump": (xxd(SPARSE, 2), "hex"),
    "empty bitmap": (base64.b64encode(bytes(3_000)).decode(), "base64"),
    "squeezed dump": (xxd(SPARSE[:800], 1) + "\n*\n" + xxd(SPARSE, 1).split("\n", 60)[-1], "hex"),
    "base85": (base64.b85encode(BYTES).decode(), "unbroken"),
    "percent signs": ("".join("%%%02X" % byte for byte in BYTES), "unbroken"),
    "path of a drawing": ("M" + " ".join("%.2f,%.2f" % (RNG.random(), RNG.random()) for _ in range(300)), "numbers"),
    "rows of SQL": (
        "INSERT INTO t VALUES " + ",".join("(%d,'a%d',NULL,%d)" % (i, i, i * 3) for i in range(200)) + ";",
        "minified",
    ),
}
UU = "".join(binascii.b2a_uu(BYTES[at : at + 45]).decode() for at in range(0, len(BYTES), 45)).rstrip("\n")
WORDS = b"The quick brown fox jumps over the lazy dog while the build is red. " * 12
# Encoders write rows of one length. The first nine were written before the rule, the others held out.
ROWS: dict[str, tuple[str, str]] = {
    "base64 of 28 signs a line": (rows(B64, 28), "base64"),
    "base64 of 12 signs a line": (rows(B64, 12), "base64"),
    "base64 numbered": ("\n".join("%6d\t%s" % pair for pair in enumerate(rows(B64, 24).split("\n"), 1)), "base64"),
    "modulus": (hex_rows(BYTES[:600], 20, ":", ":"), "hex"),
    "quoted-printable": (quopri.encodestring("고객 주문이 두 번 결제되었습니다.".encode() * 15).decode(), "quoted"),
    "quoted-printable latin": (
        quopri.encodestring("dépêche à côté élevé où ".encode("latin1") * 40).decode(),
        "quoted",
    ),
    "uuencode": (UU, "unbroken"),
    "rows of zeros": (hex_rows(b"".join(bytes(14) + BYTES[at : at + 2] for at in range(0, 100, 2)), 16, " "), "hex"),
    "rows of words": (hex_rows(WORDS, 16, " "), "hex"),
    "base64 quoted": ("\n".join("> " + line for line in rows(B64, 16).split("\n")), "base64"),
    "base64 indented": ("\n".join("      " + line for line in rows(B64, 20).split("\n")), "base64"),
    "base64 in literals": ("\n".join('    "%s\\n"' % line for line in rows(B64, 20).split("\n")), "base64"),
    "base64 in commas": (",\n".join('"%s"' % line for line in rows(B64, 16).split("\n")), "base64"),
    "url base64": (rows(base64.urlsafe_b64encode(BYTES).decode(), 28), "base64"),
    "SSH key": (rows(B64, 70), "base64"),
    "colons in a row": (hex_rows(BYTES[:300], 300, ":"), "hex"),
    "dashes": (hex_rows(BYTES[:1000], 16, "-").upper(), "hex"),
    "quoted-printable bytes": (quopri.encodestring(BYTES[:600]).decode("latin1"), "quoted"),
    "uuencode quoted": ("\n".join("> " + line for line in UU.split("\n")), "unbroken"),
    "xxd -p": (rows(HEX, 30), "hex"),
    "words in groups": (hex_rows(WORDS, 16, " ", group=2), "hex"),
    "od -t x4": (hex_rows(BYTES, 16, " ", group=4), "hex"),
    "base85 in lines": (rows(base64.b85encode(BYTES).decode(), 80), "unbroken"),
    "ascii85": (base64.a85encode(BYTES, wrapcol=76).decode(), "unbroken"),
}
BLOBS |= ROWS
# Words stand above or below rows.
DUMPS = ("hex dump", "hexdump -C", "xxd -g4", "sparse dump", "squeezed dump", *ROWS)
TOLD = re.compile(r"\[… ([^\]…]+), ([\d,]+) characters …\]")

HARMLESS: dict[str, str] = {
    "Korean on one line": "결제 모듈은 반올림을 은행식으로 하고 원화만 쓴다. 그래서 소수점이 없다. " * 80,
    "Japanese without blanks": "決済モジュールは四捨五入ではなく銀行丸めを使うので小数点以下は存在しない。" * 60,
    "English on one line": "The payment module rounds half to even, and uses won alone, so there are no decimals. "
    * 60,
    "Korean words in JSON": json.dumps(
        {"text": "결제 모듈은 반올림을 은행식으로 하고 원화만 쓴다. " * 60}, ensure_ascii=False
    ),
    "escaped Korean": json.dumps({"text": "결제 모듈은 반올림을 은행식으로 하고 원화만 쓴다. " * 8}),
    "escaped Japanese": json.dumps({"text": "決済モジュールは四捨五入ではなく銀行丸めを使う。" * 60}),
    "code": Path(__file__).read_text("utf-8").split("BLOBS: dict")[0],
    "hashes of files": "\n".join("%s  src/module_%d.py" % (RNG.randbytes(32).hex(), i) for i in range(40)),
    "long hashes": "\n".join("%s  a%d" % (RNG.randbytes(64).hex(), i) for i in range(20)),
    "commits": "\n".join("%s Fix the rounding of pay %d" % (RNG.randbytes(20).hex(), i) for i in range(60)),
    "lock file": "\n".join(
        '  "integrity": "sha512-%s",\n  "dev": true,' % base64.b64encode(RNG.randbytes(64)).decode() for _ in range(30)
    ),
    "pinned hashes": "\n".join(
        "httpx==0.2%d \\\n    --hash=sha256:%s" % (i, RNG.randbytes(32).hex()) for i in range(30)
    ),
    "ids": "\n".join("%s-%s" % (RNG.randbytes(4).hex(), RNG.randbytes(6).hex()) for _ in range(60)),
    "log": "\n".join(
        "2026-01-%02d 10:00:%02d INFO shop.pay took %d ms" % (i % 28 + 1, i % 60, i * 3) for i in range(80)
    ),
    "trace": "\n".join(
        '  File "/srv/shop/pay_%d.py", line %d, in pay\n    return total(%d)' % (i, i, i) for i in range(40)
    ),
    "paths": "\n".join("/srv/shop/src/payments/rounding/bankers/half_even_%d/test_case.py" % i for i in range(60)),
    "table": "\n".join("| %d | %.2f | %.2f | p%d |" % (i, i * 1.1, i / 3, i) for i in range(60)),
    "small numbers": "p50 12, p95 40, p99 81; " * 8,
    "CSV": "\n".join("%d,주문 %d,배송 중,서울 강남구" % (i, i) for i in range(80)),
    "link": "https://shop.example/a?" + "&".join("utm_%d=spring_campaign_%d" % (i, i) for i in range(14)),
    "small picture": "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    "small JSON": json.dumps(
        {"error": "E_ROUND", "rows": [{"id": i, "ok": i > 3} for i in range(20)]}, separators=(",", ":")
    ),
    "hex words": "add bad dead beef\nface cafe deed fade\n" * 20,
    "long name": "test_" + "a_rather_long_name_of_a_test_that_says_it_all_" * 8,
    "capitals": "SELECT ID, NAME FROM ORDERS WHERE STATE = 'OPEN' AND TOTAL > 100 ORDER BY CREATED_AT DESC; " * 15,
    "rule of signs": "=" * 300 + "\n" + "-" * 300,
    "diff": "\n".join(
        "@@ -%d,3 +%d,3 @@\n-    return round(x, %d)\n+    return bankers(x, %d)" % (i, i, i, i) for i in range(40)
    ),
    "pretty JSON": json.dumps([{"id": i, "name": "주문 %d" % i} for i in range(60)], indent=2, ensure_ascii=False),
    "orders": ", ".join(str(100_000 + 7 * i) for i in range(70)),
    "orders in a sentence": "다음 주문번호를 환불해: %s 그리고 알려줘"
    % ",".join(str(4_100_000 + i) for i in range(220)),
    "ports": "close these ports: " + ", ".join(str(3_000 + 11 * i) for i in range(60)),
    "seconds": "지연 시간(ms): " + "; ".join(str(17 * i % 900) for i in range(80)),
    "UUIDs in lines": "\n".join(str(uuid.UUID(bytes=RNG.randbytes(16))) for _ in range(60)),
    "UUIDs in a row": "이 id들을 지워: " + ",".join(str(uuid.UUID(bytes=RNG.randbytes(16))) for _ in range(60)),
    "UUIDs in quotes": "\n".join('"%s",' % uuid.UUID(bytes=RNG.randbytes(16)) for _ in range(40)),
    "hashes alone": "\n".join(RNG.randbytes(20).hex() for _ in range(40)),
    "list of files": " ".join("src/payments/module_%d.py" % i for i in range(120)),
    "import line": "from shop.payments import " + ", ".join("rounding_mode_%d" % i for i in range(40)),
    "fingerprint": "지문은 %s 이야" % hex_rows(BYTES[:32], 32, ":"),
    "fingerprints": hex_rows(RNG.randbytes(200), 20, ":").upper(),
    "MAC addresses": hex_rows(RNG.randbytes(240), 6, ":"),
    "IPv6": "\n".join(":".join("%x" % RNG.randrange(65_536) for _ in range(8)) for _ in range(20)),
    "IPv6 in full": hex_rows(RNG.randbytes(320), 16, ":", group=2),
    "short ids": "\n".join("".join(RNG.choices("ABCDEFGHabcdefgh0123456789", k=20)) for _ in range(40)),
    "ids with dashes": "\n".join("".join(RNG.choices("ABCDEFabcdef0123456789-_", k=11)) for _ in range(40)),
    "short hashes": hex_rows(RNG.randbytes(240), 4, ""),
    "ULIDs": "\n".join("01H" + "".join(RNG.choices("0123456789ABCDEFGHJKMNPQRS", k=23)) for _ in range(30)),
    "git log": "\n".join("* %s 결제 모듈 고침 %d" % (RNG.randbytes(4).hex(), i) for i in range(50)),
    "clock": "\n".join("%02d:%02d:%02d" % (i % 24, i % 60, i * 7 % 60) for i in range(60)),
    "link of Hangul": "https://shop.example/s?q=" + "%EA%B2%B0%EC%A0%9C" * 20,
    "assignments": "\n".join("A%d=BC%d" % (i, i) for i in range(80)),
    "capitals in rows": "\n".join(
        "MAKE THE ORDER %02d READY FOR THE TRUCK AND CALL THE DRIVER NOW" % i for i in range(20)
    ),
    "words in rows": "\n".join(["rounding", "payments", "checkout", "discount", "database"] * 10),
    "decimal rows": "\n".join(" ".join("%02d" % RNG.randrange(100) for _ in range(16)) for _ in range(20)),
    "serial numbers": "\n".join("-".join("".join(RNG.choices("ABCDE23456", k=5)) for _ in range(5)) for _ in range(20)),
    "Korean in rows": "\n".join("주문 %03d 는 서울 창고에서 나간다" % i for i in range(30)),
    "integrity": "\n".join("sha256-%s" % base64.b64encode(RNG.randbytes(32)).decode() for _ in range(20)),
    "long command": "docker run --rm " + " ".join("-e SHOP_OPTION_%d=value%d" % (i, i) for i in range(80)),
}


@pytest.mark.parametrize("name", BLOBS)
@pytest.mark.parametrize(
    "around", ["%s\n\n%s\n\n%s", "%s\n```\n%s\n```\n%s", "%s %s %s"], ids=["apart", "fenced", "inline"]
)
def test_blob_is_told_by_kind_and_length(name: str, around: str) -> None:
    blob, kind = BLOBS[name]
    if name in DUMPS:
        around = around.replace(" ", "\n")
    kept = clean(around % (BEFORE, blob, AFTER))
    told = TOLD.findall(kept)
    assert kept.startswith(BEFORE) and kept.endswith(AFTER), kept[:400]
    assert [each for each, _ in told if kind in each], kept[:400]
    assert len(kept) < 400 + len(BEFORE) + len(AFTER), kept[:600]
    assert 0.8 * len(blob) < sum(int(count.replace(",", "")) for _, count in told) <= len(blob) + 4


@pytest.mark.parametrize("name", HARMLESS)
def test_words_code_and_tables_stay(name: str) -> None:
    text = "%s\n%s\n%s" % (BEFORE, HARMLESS[name], AFTER)
    assert clean(text) == text


def test_reported_picture_of_80_kB_is_one_line_for_the_index() -> None:
    picture = "data:image/png;base64," + base64.b64encode(RNG.randbytes(60_000)).decode()
    raw = json.dumps({"session_id": "s", "prompt_id": "p", "prompt": "%s\n%s" % (BEFORE, picture)}).encode()
    event = read_payload("user_prompt_submit", raw, project_dir="/p", at_ms=1).event
    assert event is not None and event["text"] == "%s\n[… image/png, 80,022 characters …]" % BEFORE


def test_huge_blob_leaves_the_words_on_both_sides() -> None:
    kept = clean("%s\n%s\n%s" % (BEFORE, base64.b64encode(RNG.randbytes(3_000_000)).decode(), AFTER))
    assert kept == "%s\n[… base64, 4,000,000 characters …]\n%s" % (BEFORE, AFTER)


def test_secret_beside_a_blob_is_hidden_and_private_ones_go() -> None:
    assert (
        clean("비밀번호는 Zxcv!357이야\n" + B64)
        == "비밀번호는 [redacted:password]이야\n[… base64, %s characters …]" % f"{len(B64):,}"
    )
    assert clean("a <private>%s</private> b" % B64) == "a [redacted:private] b"
    assert clean("token " + "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6") == "token [redacted:github-token]"


def test_cleaned_again_nothing_changes() -> None:
    for blob, _ in BLOBS.values():
        once = clean("%s\n%s" % (BEFORE, blob))
        assert clean(once) == once
