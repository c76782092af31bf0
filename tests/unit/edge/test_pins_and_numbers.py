"""PINs, passwords behind a command line, and resident registration numbers."""

import pytest

from memlayer.edge.redaction.privacy import redact

GIVEN = (
    ("카드 PIN은 7731이야", "7731"),
    ("내 PIN 6642 기억해", "6642"),
    ("PIN 5512", "5512"),
    ("PIN 번호는 9923", "9923"),
    ("핀은 7731이야", "7731"),
    ("현관 핀 4412", "4412"),
    ("PIN을 7731로 바꿨어", "7731"),
    ("my pin 6642", "6642"),
    ("The PIN for the door is 4821.", "4821"),
    ("I changed my PIN to 482113", "482113"),
    ("도어락 핀번호 550912", "550912"),
    ("ssh root@10.0.0.4 비밀번호 dubu_4412_x", "dubu_4412_x"),
    ("scp a.txt kim@nas.local:/b 비번 dubu_4412_x", "dubu_4412_x"),
    ("mysql -u kim -h db1 암호 dubu_4412_x 로 들어가", "dubu_4412_x"),
    ("ssh kim@db1 password naru88mori", "naru88mori"),
    ("주민번호 900101-1234567 이야", "900101-1234567"),
    ("주민번호는 000229-3234567이고", "000229-3234567"),
    ("resident number: 851231-2345678.", "851231-2345678"),
)
HARMLESS = (
    "pin 13 of the GPIO",
    "pin memory:12",
    "PR pin 3",
    "pin 1234 to the top",
    "PIN 1340 of the header",
    "please pin 4412",
    "핀테크 2024 보고서",
    "PIN은 4자리야",
    "pin 번호는 6자리여야 해",
    "PIN 2040 bytes",
    "GPIO 핀은 12개",
    "issue를 핀 1234 개",
    "mail to kim@shop.kr password reset_v2",
    "git clone git@github.com:a/b password manager",
    "docker run -it app 암호 화면",
    "build-240101-1234567",
    "991340-1234567",
    "20240101-1234567",
    "230230-1234567",
    "order 240101-9123456",
)


@pytest.mark.parametrize(("text", "secret"), GIVEN)
def test_secret_goes(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_look_alike_stays(text: str) -> None:
    assert redact(text) == text
