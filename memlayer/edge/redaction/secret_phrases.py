"""Secrets in sentences of their own: `use X as the password`, `IDENTIFIED BY 'X'`, seed phrases, PINs."""

from __future__ import annotations

import re

from memlayer.edge.redaction.cuts import lowered, unquoted
from memlayer.edge.redaction.secret_calls import call_cuts
from memlayer.edge.redaction.secret_given import given_cuts
from memlayer.edge.redaction.secret_hangul import hangul_cuts
from memlayer.edge.redaction.secret_values import is_placeholder, is_reference, is_technical

_SEED = (
    r"(?:seed|recovery|mnemonic|secret recovery|backup)(?: phrase| words?)?[\"']?(?: is|[ ]?[:=]|는|은)[ ]?[\"'`]?"
    r"(?P<secret>(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?![a-z])"
)
# Other sentences: trigger, pattern with the group `secret`, kind.
_PHRASES = (
    ("identified by", r"identified by[ ]+(?:password[ ]+)?['\"]{1,5}(?P<secret>[^'\"\n]{4,200})['\"]", "password"),
    ("secret set", r"secret set [^\n]{1,80}?(?:--body|-b)[ =]['\"]?(?P<secret>[^\s'\"]{8,400})", "secret"),
    ("net use", r"net use [^\n]{1,120}/user:\S{1,60}[ ]+[\\'\"]{0,5}(?P<secret>[^\s'\"/\\]{4,200})", "password"),
    (" from ", r"pass(?:word|wd|phrase)[ ]from[ ]['\"`]?(?P<secret>[^\s'\"`]{4,200})['\"`]?[ ]to[ ]", "password"),
    (
        "auth",
        r"(?:redis\S{0,20}(?:[ ]\S{1,40}){0,4}|\d>|>)[ ]{1,4}auth[ ]{1,4}(?:default[ ]{1,4})?[\"']?"
        r"(?P<secret>[^\s\"']{5,200})",
        "password",
    ),
    (
        "auth",
        r"(?:^|\n|\\n|[\"'])(?:[ ]{0,8}\d{1,6}\t)?auth[ ](?:default[ ])?(?P<secret>[^\s\\]{5,200})[ ]{0,8}"
        r"(?:\n|\\{1,15}n)(?:[ ]{0,8}\d{1,6}\t)?\+?ok",
        "password",
    ),
    ("masterauth", r"masterauth[ ]+[\"']?(?P<secret>[^\s\"']{4,200})", "password"),
    ("auth-pass", r"auth-pass[ ]+\S{1,60}[ ]+[\"']?(?P<secret>[^\s\"']{4,200})", "password"),
    (
        "user ",
        r"(?:setuser[ ]\S{1,60}|user[ ]\S{1,60}[ ](?:on|off))[ ](?:[^\n>]{0,80}[ ])?>(?P<secret>[^\s\"']{4,200})",
        "password",
    ),
    ("login ", r"login[ ]+\S{1,80}\s{1,4}password[ ]+(?P<secret>\S{4,200})", "password"),
)
# `admin / X!`, and `root/X!` where something says that one logs in there.
_LOGIN_NAMES = (
    "root", "admin", "administrator", "sa", "ubuntu", "postgres", "deploy", "guest", "test", "user", "ec2-user",
)  # fmt: skip
_AFTER_LOGIN_NAME = r"(?P<secret>(?=[^\s가-힣'\"`()/]{0,60}[!@#$%^&*])[^\s가-힣'\"`()/]{6,60})"
_PAGE = r"[a-z]{2,30}(?:[-_.#@$]v?\d{1,3}|\d{0,2})[!?.,]?$|[a-z]+[-#@$][a-z]+\d?[!?.,]?$"  # `users#42`, `stage-2!`
_LOGS_IN = r"접속|로그인|계정|비번|들어가|서버|ssh\b|log ?in|credential|connect"
# `credentials: kim@acme.io / X`, `아이디/비번: kim / X`, `계정은 admin / X`
_BOTH = r" ?[/:,|&+] ?(?:pw|pass(?:word|wd)?)"
_BOTH_KOREAN = r" ?[/,|] ?(?:비번|비밀번호|패스워드|암호|pw)"
# A pattern for each beginning: one for all would have to be tried at every other letter.
_PAIR_STARTS = (
    ("credential", "s?"),
    ("creds", ""),
    ("login", "s?"),
    ("account", "s?"),
    ("user", "(?:name)?" + _BOTH),
    ("id", "(?:%s|%s)" % (_BOTH, _BOTH_KOREAN)),
    ("아이디", _BOTH_KOREAN),
    ("계정", "(?: ?정보)?"),
    ("로그인", "(?: ?정보)?"),
)
_PAIR = (
    r"(?:[ ]?[:=：]|는|은| is| are)[ ]?[\"'`(]?(?P<user>[\w.+@-]{2,60})[\"'`]?[ ]?(?:/|:|,|\||그리고)[ ]?[\"'`]?"
    r"(?P<secret>[^\s\"'`,()가-힣]{4,80})"
)
# `계정은 admin / user2 두 종류`: two kinds of user, where no word for a password is said.
_ROLE = r"[a-z]{3,20}[-_]?\d$"
_PGPASS = r":(?:\d{4,5}|\*):[\w*-]{1,80}:[\w*.-]{1,80}:(?P<secret>[^\s:]{4,200})"
_PUTTY = (
    r"Private-Lines: ?\d+(?:\r?\n|\\+r?\\*n)"
    r"(?P<secret>(?:(?:[ ]{0,8}\d{1,6}\t)?[A-Za-z0-9+/=]{8,}(?:\r?\n|\\+n|\b)){1,200})"
)
_JWK = r"\"(?:d|p|q|dp|dq|qi|k)\\{0,7}\"\s{0,3}:\s{0,3}\\{0,7}\"(?P<secret>[\w-]{20,})"
# `the password you gave me (X)`
_IN_BRACKETS = (
    r"(?:pass(?:word|wd|code|phrase)(?:[ ][a-z']{1,12}){0,6}"
    r"|(?:비밀번호|비번|암호|패스워드)[가-힣]{0,3}(?:[ ][가-힣]{1,8}){0,3})"
    r"[ ]?\([\"'`]?(?P<secret>[^\s()\"'`]{6,80})[\"'`]?\)"
)
# Codes that stand for a second factor once it is lost.
_CODE_STARTS = ("recovery", "backup", "rescue", "2fa", "otp", "복구", "백업")
_SPARE_CODE = (
    r"(?:[ ](?:backup[ ]|recovery[ ])?codes?|[ ]?코드)"
    r"(?P<join>[ ]?[:=]|[ ]is|[ ]?(?:는|은))?[ ][\"'`]?(?P<secret>[0-9a-z]{4,6}(?:-[0-9a-z]{4,6}){1,5})(?![\w-])"
)
_USED_AS = r" as[ ](?:the |my |your |our |its |a )?(?:[a-z]{2,12} )?(?:password|passwd|passphrase)(?![\w-])"
_PIN = (
    r"(?:pin(?<![a-z]pin)(?:[ ]?(?:code|number|번호))?|핀[ ]?(?:번호|코드))[\"']?"
    r"(?:(?:[ ]is|[ ]?[:=]|[ ]?(?:는|은))[ ]?[\"']?|(?:(?<=핀번호)|(?<=핀 번호)|(?<=핀코드))[ ])"
    r"(?P<secret>\d{4,8})(?![\w.,-]|[ ]?(?:자리|개|번|회|명|건|원|초|분|일))"
)


def phrase_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of each secret found; low is text in lower case and of the same length."""
    cuts: list[tuple[int, int, str]] = []
    if any(word in low for word in ("seed", "recovery", "mnemonic", "backup")):
        cuts += [(*m.span("secret"), "seed-phrase") for m in re.compile(_SEED).finditer(low)]
    if "pin" in low or "핀" in low:
        cuts += [(*m.span("secret"), "pin") for m in re.compile(_PIN).finditer(low)]
    for trigger, pattern, kind in _PHRASES:
        if trigger in low:
            spans = [m.span("secret") for m in re.compile(pattern).finditer(low)]
            cuts += [(start, end, kind) for start, end in spans if _stands_alone(text[start:end])]
    for word, rest in _PAIR_STARTS:
        if word in low:
            pairs = re.compile(word + rest + _PAIR).finditer(low)
            vague = "pw" not in rest
            spans = [m.span("secret") for m in pairs if not (vague and re.match(_ROLE, m.group("secret")))]
            cuts += [(start, end, "password") for start, end in spans if _stands_alone(text[start:end])]
    if "/" in low and any(sign in low for sign in "!@#$%^&*"):
        cuts += _after_login_name(text, low, "/")
    if " / " in low:
        cuts += _after_login_name(text, low, " / ")
    if ":543" in low or ":*:" in low or ":330" in low:
        spans = [m.span("secret") for m in re.compile(_PGPASS).finditer(text) if _host_before(text, m.start())]
        cuts += [(start, end, "password") for start, end in spans if _stands_alone(text[start:end])]
    if "Private-Lines" in text:
        cuts += [(*m.span("secret"), "private-key") for m in re.compile(_PUTTY).finditer(text)]
    for word in _CODE_STARTS:
        if word in low:
            spans = [m.span("secret") for m in re.compile(word + _SPARE_CODE).finditer(low) if _is_code(m)]
            cuts += [(start, end, "recovery-code") for start, end in spans]
    if '"kty' in low:
        cuts += [(*m.span("secret"), "private-key") for m in re.compile(_JWK).finditer(text)]
    if "(" in low and any(word in low for word in ("pass", "비밀번호", "비번", "암호", "패스워드")):
        spans = [m.span("secret") for m in re.compile(_IN_BRACKETS).finditer(low)]
        cuts += [(start, end, "password") for start, end in spans if _is_passwordlike(text[start:end])]
    cuts += call_cuts(text, low)
    as_meant = unquoted(text)
    cuts += given_cuts(as_meant, lowered(as_meant))
    cuts += hangul_cuts(lowered(as_meant))
    if " as " in low and "pass" in low:
        cuts += _used_as_password(text, low)
    return cuts


def _after_login_name(text: str, low: str, joint: str) -> list[tuple[int, int, str]]:
    cuts = []
    value = re.compile(_AFTER_LOGIN_NAME)
    for name in _LOGIN_NAMES:
        at = low.find(name + joint)
        while at >= 0:
            match = value.match(low, at + len(name + joint))
            if match is not None and (at == 0 or re.match(r"[^\w/.-]", low[at - 1]) is not None):
                start, end = match.span("secret")
                said = re.search(_LOGS_IN, low[max(0, at - 40) : at] + low[end : end + 20]) is not None
                page = re.match(_PAGE, match.group("secret")) is not None
                if _stands_alone(text[start:end]) and (said or (joint == " / " and not page)):
                    cuts.append((start, end, "password"))
            at = low.find(name + joint, at + 1)
    return cuts


def _host_before(text: str, end: int) -> bool:
    """A line of .pgpass begins with a host; read from its end, so that no other text has to be."""
    return re.match(r"[\w.*-]{1,100}(?:[\s\"']|$)", text[max(0, end - 101) : end][::-1]) is not None


def _is_code(match: re.Match[str]) -> bool:
    """With nothing between the name and it, `backup code review-1234-abcd` is a branch or a page."""
    groups = match.group("secret").split("-")
    digits = sum(any(char.isdigit() for char in group) for group in groups)
    return digits > 0 if match.group("join") else 2 * digits > len(groups)


def _used_as_password(text: str, low: str) -> list[tuple[int, int, str]]:
    """`use X as the password`."""
    cuts = []
    for match in re.compile(_USED_AS).finditer(low):
        end = match.start()
        if end and text[end - 1] in "\"'`":
            end -= 1
        start = max(0, end - 200, *(text.rfind(sign, max(0, end - 200), end) + 1 for sign in " \n\t\"'`"))
        if end - start >= 5 and _stands_alone(text[start:end]):
            cuts.append((start, end, "password"))
    return cuts


def _is_passwordlike(value: str) -> bool:
    """Letters and digits, and a sign or both cases: nothing else looks so between brackets."""
    signs = any(not char.isalnum() and char not in ".,-" for char in value)
    return _stands_alone(value) and (signs or not (value.islower() or value.isupper()))


def _stands_alone(value: str) -> bool:
    """Whether a value that no name introduces looks like a password."""
    varied = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return varied and not (is_placeholder(value) or is_reference(value) or is_technical(value))
