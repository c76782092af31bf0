"""Passwords of Hangul and digits behind their name: `비번은 고래밥77이야`.

Talk about passwords has digits, too (`비밀번호는 8자이상`, `매월1일에 바꾼다`): a value holds other words than those of
such talk, and the sentence gives it or the line ends behind it.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.secret_values import is_placeholder, is_technical

_NAMES = ("비밀번호", "비밀 번호", "비번", "패스워드", "패스프레이즈", "암호", "password", "passwd", "pw")
_HANGUL = "가-힣ㄱ-ㅎㅏ-ㅣ"
_JOINT = (
    r"(?:[ ]?(?P<assign>[:：=]|->|→)[ ]?|(?P<said>[ ]?(?:는|은|이|가|를|을)요?[ ]|[ ](?:is|to)[ ])|[ ])"
    r"(?:(?:아마|지금|현재|이제|그냥|원래)[ ])?"
)
_NAMED = (
    r"(?:비밀 ?번호|비번|패스워드|패스프레이즈|암호(?![화학문])|passw(?:or)?d|pw(?<![a-z]pw))"
    + _JOINT
    + r"(?:[ ]{0,15}(?P<mark>[\"'`“‘])(?P<quoted>[^\"'`“”‘’\n]{4,40})[\"'`”’]|(?P<bare>[%s!#-&*-~]{4,40}))" % _HANGUL
)
_COPULA = r"(?:이?야|이?예요|이?에요|입니다|이다|이고|이며|임|인데|이니|이?라고|이?였|이었|인가|이지|이?래|이?네)"
_ENDING = r"(?:(?P<copula>%s)|(?P<means>으?로)|(?P<particle>[은는이가을를도만]))(?P<more>[가-힣]{0,3})$" % _COPULA
_GIVES = r"[ ]?(?:%s(?![가-힣]{3})|일 ?거|이거|이걸|(?:으?로)?[ ]?(?:쓰|써|썼|치면|치고|넣|입력하))" % _COPULA
_CHANGES = r"[ ]?(?:바꿨|바꿔|바꾸|바꾼|변경|설정|해[ 줘뒀놨]|했|하[면자고]|통일|맞[추춰]|접속|로그인|들어가|걸[어었])"
_MEANS = r"[ ]으?로[ ]"
_LINE_ENDS = r"[ ]{0,8}[.,;)\]]?[ \t]*(?:[\r\n\"']|$)|[,;]|[.][ ]"
# What talk about passwords is made of. Taken away, together with digits, nothing is left of `최소8자이상`.
_TALK = (
    "비밀번호|비번|암호|패스워드|특수문자|대문자|소문자|영문자|영문|한글|숫자|문자|기호|글자|자리|최소|최대|이상|이하|"
    "미만|초과|이내|연속|반복|단계|인증|로그인|화면|페이지|필드|입력|필수|항목|변경|설정|확인|재설정|정책|규칙|길이|주기|"
    "만료|사용자|관리자|계정|버전|번째|첫번째|매월|매일|매주|매년|매번|개월|주일|시간|전화번호|생년월일|생일|바이트|비트|"
    "종류|가지|까지|부터|마다|동안|이후|이전|에서|으로|보다|정도|단어|해시|조합|포함|섞어|환경|변수|설명|문서|테이블|"
    "[자개번회일분초년월원명건차층배주달호점줄칸째뒤앞약총각만씩은는이가을를도에로의와과]"
)  # fmt: skip
_SENTENCE = r"[ ].*(?:다|요|까|오|음|함|됨)[.!?]?$"


def hangul_cuts(low: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of each password found in a text in lower case."""
    if low.isascii() or not any(name in low for name in _NAMES):
        return []
    cuts = []
    for match in re.compile(_NAMED).finditer(low):
        quoted = match.group("quoted")
        if quoted is not None:
            given = " " not in quoted or bool(match.group("assign") or match.group("said"))
            if given and not re.search(_SENTENCE, quoted) and _is_password(quoted):
                start = match.start("quoted")
                cuts.append((start, start + len(quoted.rstrip()), "password"))
        else:
            core = _given(match.group("bare"), low[match.end() : match.end() + 12], bool(match.group("assign")))
            if core and _is_password(core):
                cuts.append((match.start("bare"), match.start("bare") + len(core), "password"))
    return cuts


def is_hangul_password(value: str) -> bool:
    """For a value alone in its line, below its name."""
    return re.match("[%s!-~]{4,40}$" % _HANGUL, value) is not None and _is_password(value)


def _given(value: str, rest: str, assigned: bool) -> str:
    """The value without what the sentence adds to it; "" where the sentence gives none."""
    value = value.rstrip(".,;:)]}")
    ending = re.search(_ENDING, value)
    if ending is not None and any(char.isdigit() for char in value[: ending.start()]):
        core = value[: ending.start()]
        if ending.group("copula") or (ending.group("means") and not ending.group("more") and re.match(_CHANGES, rest)):
            return core
    if re.match(_GIVES, rest) or re.match(_LINE_ENDS, rest):
        return value
    means = re.match(_MEANS, rest)
    if means and re.match(_CHANGES, rest[means.end() :]):
        return value
    return value if assigned and not rest.strip() else ""


def _is_password(value: str) -> bool:
    if not any("0" <= char <= "9" for char in value) or is_placeholder(value) or is_technical(value):
        return False
    letters = re.sub("[^%s]" % _HANGUL, "", re.sub(_TALK, "", value))
    return len(letters) >= 2
