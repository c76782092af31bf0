"""Secrets given in a sentence, English and Korean.

Talk about passwords has digits, too (`비밀번호는 8자이상`, `매월1일에 바꾼다`): a value holds other words than those of
such talk, and the sentence gives it or the line ends behind it.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.command_secrets import call_cuts
from memlayer.edge.redaction.named_value_rules import SECRET_NAME, TRIGGERS, kind_of_name
from memlayer.edge.redaction.value_traits import (
    has_digit_and_letter,
    is_issued,
    is_latin_mixed,
    is_no_literal,
    is_passwordlike,
    is_placeholder,
    is_technical,
    is_wordy,
    lowered,
    unquoted,
    words_of,
)

_NAMES = ("비밀번호", "비밀 번호", "비번", "패스워드", "패스프레이즈", "암호", "password", "passwd", "pw")
_HANGUL = "가-힣ㄱ-ㅎㅏ-ㅣ"
_MARKS = "\"'`“‘"
_JOINT = (
    r"(?:[ ]?(?P<assign>[:：=]|->|→)[ ]?|(?P<said>[ ]?(?:는|은|이|가|를|을)요?[ ]|[ ](?:is|to)[ ])|[ ])"
    r"(?:(?:아마|지금|현재|이제|그냥|원래)[ ])?"
)
_NAMED_IN_HANGUL = (
    r"(?:비밀 ?번호|비번|패스워드|패스프레이즈|암호(?![화학문])|passw(?:or)?d|pw(?<![a-z]pw))"
    + _JOINT
    + r"(?:[ ]{0,15}(?P<mark>[\"'`“‘])(?P<quoted>[^\"'`“”‘’\n]{4,40})[\"'`”’]|(?P<bare>[%s!#-&*-;=?-~]{4,40}))"
    % _HANGUL
)
_COPULA = r"(?:이?야|이?예요|이?에요|입니다|이다|이고|이며|임|인데|이니|이?라고|이?였|이었|인가|이지|이?래|이?네)"
_ENDING = r"(?:(?P<copula>%s)|(?P<means>으?로)|(?P<particle>[은는이가을를도만]))(?P<more>[가-힣]{0,3})$" % _COPULA
_ENDING_ALONE = r"(?:%s|으?로|[은는이가을를도만])[!.~]?$" % _COPULA
_GIVES = r"[ ]?(?:%s(?![가-힣]{3})|일 ?거|이거|이걸|(?:으?로)?[ ]?(?:쓰|써|썼|치면|치고|넣|입력하))" % _COPULA
_CHANGES = r"[ ]?(?:바꿨|바꿔|바꾸|바꾼|변경|설정|해[ 줘뒀놨]|했|하[면자고]|통일|맞[추춰]|접속|로그인|들어가|걸[어었])"
_MEANS = r"[ ]으?로[ ]"
# Hangul behind a password in Latin letters that is grammar: an ending, or a particle alone.
_HANGUL_TAIL = r"[%s][%s0-9!#$%%^&*~+_]*" % (_HANGUL, _HANGUL)
_KANJI_TAIL = r"(?![了吧的也])[\u30a0-\u30ff\u4e00-\u9fff]{1,4}(?=%s|[\s.,!?)\"'。]|$)" % _COPULA
_GRAMMAR = (
    r"(?:이(?:야|예요|에요|다|고|며|니|라고|라는|었|지|래|네|랑|더|거|걸)|예요|에요|입니다|인데|인가|라고|라는|였|으로|에서|까지|부터"
    r"|한테|처럼|보다|니까|거든|쓰|써|썼|넣|입력|치[면고]|로%s|[은는이가을를도만의에와과로야임랑고]?[!.~]*$)" % _CHANGES
)
_LINE_ENDS = r"[ ]{0,8}[.,;)\]]?[ \t]*(?:[\r\n\"']|$)|[,;]|[.][ ]"
# Words of talk about passwords: without them and without digits nothing is left of `최소8자이상`.
_TALK = (
    "비밀번호|비번|암호|패스워드|특수문자|대문자|소문자|영문자|영문|한글|숫자|문자|기호|글자|자리|최소|최대|이상|이하|"
    "미만|초과|이내|연속|반복|단계|인증|로그인|화면|페이지|필드|입력|필수|항목|변경|설정|확인|재설정|정책|규칙|길이|주기|"
    "만료|사용자|관리자|계정|버전|번째|첫번째|매월|매일|매주|매년|매번|개월|주일|시간|전화번호|생년월일|생일|바이트|비트|"
    "종류|가지|까지|부터|마다|동안|이후|이전|에서|으로|보다|정도|단어|해시|조합|포함|섞어|환경|변수|설명|문서|테이블|"
    "[자개번회일분초년월원명건차층배주달호점줄칸째뒤앞약총각만씩은는이가을를도에로의와과]"
)  # fmt: skip
_SENTENCE = r"[ ].*(?:다|요|까|오|음|함|됨)[.!?]?$"

# A row of words without grammar beside a wallet's noun.
_SEED_NAMES = ("seed", "recovery", "mnemonic", "backup", "니모닉", "시드", "복구")
_SEED = (
    r"(?:%s|(?:wallet|지갑)[^\n:=]{0,20}?(?:word|phrase|단어|문구))[^\n:=]{0,40}?"
    r"(?:[:=]|[ ](?:is|are|was)|[가-힣](?=[ \n\"'`]))\s{0,3}[\"'`]?"
    r"(?P<secret>(?!(?:[a-z]{3,8}[ ,]){0,23}(?:the|and|for|are|was|you|not|has|its|from|when|which|into|then|were)[ ,])"
    r"(?:[a-z]{3,8}(?:,[ ]?|[ \n])){11,23}[a-z]{3,8})(?![a-z])" % "|".join(_SEED_NAMES)
)
# `log in as kim with X!`, `kim 으로 로그인: X!`, `kim@shop.kr / X!`
_AS_USER = (
    r"(?:log(?:ged|ging)?|sign(?:ed|ing)?)[ -]?(?:in|on)[ ](?:as|with)[ ][\w.@-]{2,60}[ ]?(?:,|/|with|using|and)[ ]",
    r"(?<=로 )(?:로그인|접속)[가-힣]{0,6}[ ]?[,.:/][ ]",
    r"[ ]/[ ](?<=[a-z] / )",
)
_SIGNS = "!@#$%^&*"
_SIGNED = r"[\"'`]?(?P<secret>[^\s\"'`()/가-힣]{8,60})"
_MAIL_BEFORE = r"[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{2,20}){1,3}[\"'`]?$"
# Other sentences: trigger, pattern with the group `secret`, kind.
# `X 이 루트 비번이야`
_SAID_BEFORE = (
    r"(?<![!-~])[\"'`]?(?P<secret>[!-~]{6,80}?)[\"'`]?[ ]?(?:이|가|이[게건])[ ]"
    r"(?:(?:[가-힣]{1,8}|[a-z]{2,12})[ ]){0,3}"
)
_SAID_TO_BE = r"(?:(?:이?야|입니다|이?에요|예요|이다|임|이고|인데)(?![가-힣?])|[.!\"'`})\]]{0,6}(?:$|\n))"
_PHRASES = (
    (
        "identified ",
        r"identified (?:with[ ]+[\w'\"`]{1,60}[ ]+)?by[ ]+(?:password[ ]+)?['\"]{1,5}(?P<secret>[^'\"\n]{4,200})['\"]",
        "password",
    ),
    ("redacted:aws-key", r"redacted:aws-key\][ \t\n,;:/|=]{1,4}(?P<secret>[a-z0-9/+]{40})(?![a-z0-9/+])", "secret"),
    ("secret set", r"secret set [^\n]{1,80}?(?:--body|-b)[ =]['\"]?(?P<secret>[^\s'\"]{8,400})", "secret"),
    ("wifi:", r"wifi:(?:[^\n;]{0,80};){0,4}?p:\"?(?P<secret>(?:\\.|[^;\n\\\"]){4,100})", "password"),
    *((noun, _SAID_BEFORE + noun + _SAID_TO_BE, "password") for noun in ("비번", "비밀번호", "패스워드", "암호")),
    ("net use", r"net use [^\n]{1,120}/user:\S{1,60}[ ]+[\\'\"]{0,5}(?P<secret>[^\s'\"/\\]{4,200})", "password"),
    (
        " from ",
        r"(?:pass(?:word|wd|phrase|code)|pw)[ ]from[ ]['\"`]?(?P<secret>[^\s'\"`]{4,200})['\"`]?[ ]to[ ]",
        "password",
    ),
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
    ("machine ", r"machine(?:\s{1,9}\S{1,80}\s{1,9}(?:login|password)){2}\s{1,9}(?P<secret>\S{4,200})", "password"),
    ("login ", r"login[ ]+\S{1,80}\s{1,4}password[ ]+(?P<secret>\S{4,200})", "password"),
)
# `admin / X!`, and `root/X!` where the text speaks of a login.
_LOGIN_NAMES = (
    "root", "admin", "administrator", "sa", "ubuntu", "postgres", "deploy", "guest", "test", "user", "ec2-user",
)  # fmt: skip
_AFTER_LOGIN_NAME = r"(?P<secret>(?=[^\s가-힣'\"`()/]{0,60}[!@#$%^&*])[^\s가-힣'\"`()/]{6,60})"
_PAGE = r"[a-z]{2,30}(?:[-_.#@$]v?\d{1,3}|\d{0,2})[!?.,]?$|[a-z]+[-#@$][a-z]+\d?[!?.,]?$"  # `users#42`, `stage-2!`
_LOGS_IN = r"접속|로그인|계정|비번|들어가|서버|ssh\b|log ?in|credential|connect"
# `credentials: kim@acme.io / X`, `아이디/비번: kim / X`, `계정은 admin / X`
_BOTH = r" ?[/:,|&+] ?(?:pw|pass(?:word|wd)?)"
_BOTH_KOREAN = r" ?[/,|] ?(?:비번|비밀번호|패스워드|암호|pw)"
_NAMES_IN_PAIRS = ("pw", "pass", "비번", "비밀번호", "패스워드", "암호")
# A pattern for each beginning: a common one would have to be tried at every other letter.
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
_PGPASS = r":(?:\d{4,5}|\*):[\w*-]{1,80}:[\w*.-]{1,80}:(?P<secret>%s[^\s:]{4,200})"
_PUTTY = (
    r"Private-Lines: ?\d+(?:\r?\n|\\+r?\\*n)"
    r"(?P<secret>(?:(?:[ ]{0,8}\d{1,6}\t)?[A-Za-z0-9+/=]{8,}(?:\r?\n|\\+n|\b)){1,200})"
)
_JWK = r"\"(?:d|p|q|dp|dq|qi|k)\\{0,7}\"\s{0,3}:\s{0,3}\\{0,7}\"(?P<secret>[\w-]{20,})"
# `the password you gave me (X)`, `인증키(X)를`
_IN_BRACKETS = (
    r"(?P<name>" + SECRET_NAME + r")(?<!pass)(?:[ ][a-z']{1,12}){0,6}(?:[가-힣]{1,3})?(?:[ ][가-힣]{1,8}){0,3}"
    r"(?:[ ]?[(（「『]|[ ][\[<]|(?<=[가-힣])[\[<])[ ]{0,7}[\"'`]?"
    r"(?P<secret>[^\s()\"'`（）「」『』\[\]<>\\]{6,80})[ ]{0,7}[\"'`]?[)）」』\]>]"
)
# Recovery codes replace a lost second factor.
_CODE_STARTS = ("recovery", "backup", "rescue", "2fa", "otp", "복구", "백업")
_SPARE_CODE = (
    r"(?:[ ](?:backup[ ]|recovery[ ])?codes?|[ ]?코드)"
    r"(?P<join>[ ]?[:=]|[ ]is|[ ]?(?:는|은))?[ ][\"'`]?(?P<secret>[0-9a-z]{4,6}(?:-[0-9a-z]{4,6}){1,5})(?![\w-])"
)
# `X is our root password`, `use X as the password`, `X, that's the password`, `X <- wifi password`.
_USED_AS = (
    r"(?:[ ](?:works )?as[ ]|(?:,? that[' ]{0,5}i?s|[ ](?:is|was)|[ ]?(?:<-+|←)(?: this is)?|[ ]?\((?:this|that|it) is)"
    r"[ ](?=[a-z']+[ ]))"
    r"(?:[a-z']{1,12}[ ]){0,4}(?:password|passwd|passphrase|passcode|pw)(?![\w(\[-]|\.\w)"
    r"(?![ ](?!(?:for|on|of|to|in|at|now|here|today|again|and|but|since|until|please|there)(?![a-z]))[a-z])"
)
# Behind `pin` alone only where it is surely the noun: one pins an issue, and a chip has pins.
_PIN = (
    r"(?:(?P<noun>pin(?<![a-z]pin))(?:[ ]?(?:code|number|번호))?|핀[ ]?(?:번호|코드)|(?<![가-힣])핀)[\"']?"
    r"(?:(?:(?:[ ](?:for|of|on)(?:[ ][a-z']{1,12}){1,4})?[ ](?:is|to)|[ ]?[:=]|[ ]?(?:는|은|이|가|을|를))[ ]?[\"']?"
    r"|(?:(?<=번호)|(?<=코드)|(?<=code)|(?<=number)|(?P<bare>))[ ])"
    r"(?P<secret>\d{4,8})(?=[\"')!?]|[.,]?(?:\s|$)|%s|으?로|[을를])"
    r"(?![ ]?(?:자리|개|번|회|명|건|원|초|분|일(?!거))|[ ](?:of|to|in|on|bytes?|[kmg]i?b|units?|times|pins?)\b)"
    % _COPULA
)
_OWNS_PIN = r"(?:\b(?:my|your|our|card|door|phone|sim|bank|atm)|내|제|카드|통장|유심|폰|도어락|현관|계좌|은행|새)[ ]$"
_COMMAND_LINE = r"(?:\S@\S{2,60}|[ ]-{1,2}[a-z]\S{0,40}[ ]\S{1,60})(?:[ ][^\n]{0,60})?[ ,/]"
_BEHIND_COMMAND = (
    _COMMAND_LINE
    + r"(?:비밀[ ]?번호|비번|패스워드|암호|passw(?:or)?d|pw)[ ](?P<secret>[!-~]{6,80}?)(?=[.,]?(?:\s|$)|[가-힣])"
)
# A resident registration number: a date, the century with the sex, six digits.
_LIKE_RESIDENT = "[0-9]{6} ?- ?[0-9]{7}"
_RESIDENT = (
    r"(?P<secret>[0-9](?<![\w.-].)[0-9](?:(?:0[13578]|1[02])(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)(?:0[1-9]|[12]\d|30)"
    r"|02(?:0[1-9]|[12]\d))[ ]?-[ ]?[1-4]\d{6})(?![0-9a-z_-])"
)

_NAMED = (
    r"(?P<name>token|key|secret|pass(?:word|wd|code|phrase)|credential)s?[ ]?[:=]?[ ][\"'`]?"
    r"(?P<secret>[!#-&(-~]{6,200})"
)
_HANDS_OVER = (
    r"(?:^|[^a-z])(?:(?P<sure>here(?:[ ]{0,15}['’]s| is| are|s| you (?:go|are),?)|this is)|us(?:e|ing)|with|try|put|set"
    r"|got|add(?:ed)?)[ ](?:(?:the|this|that|my|your|our|its|a|an|new|old)[ ]){0,2}(?:[a-z-]{1,20}[ ]){0,2}$"
)
_MAX_LOOKBACK = 100  # characters looked back for the verb that hands a value over
_KINDS = {"token": "token", "key": "api-key", "secret": "secret", "credential": "credential"}

# A chosen password beside the word for one, in whatever order and grammar: `비번을 A에서 B로`, `X is the password`.
_NEAR_NAME = (
    r"(?:비밀[ ]?번호|비번|패스워드|패스프레이즈|암호(?![화학문])|pass(?:word|wd|phrase|code)|(?<![a-z])p/?w(?![a-z])"
    r"|credential|secret|token|시크릿|토큰|인증[ ]?키)"
)
_NEAR_CHARS = 60
_SIGNS_OF_CHOICE = "!@$^&"
_CHOSEN = r"(?<![\w@/.:=&?#%%$\\|+-])[A-Za-z0-9!@^&](?:[^\s\"'`,;()\[\]{}<>=\\/|+%s]){5,39}" % _HANGUL
_NAMES_BELOW = ("pass", "pw", "비밀", "비번", "패스", "암호")
_BELOW_NAME = r"(?:pass(?:word|wd|phrase|code)|pw(?<![a-z]pw)|비밀 ?번호|비번|패스워드|패스프레이즈|암호)"
_BELOW = (
    _BELOW_NAME
    + r"[*_`\"']{0,3}(?P<join>[ ]?(?:는|은|가|이)(?:[ ](?:아래|다음)[^\n]{0,12})?|[ ]is(?:[ ](?:below|as[ ]follows))?:?"
    + r"|[ ]?[:：=])?[*_]{0,2}[ \t]{0,8}\r?\n"
    + r"(?:[ \t]{0,8}(?:\d{1,6}\t)?[ \t]{0,8}(?:```[a-z]{0,10})?[ \t]{0,8}\r?\n){0,2}"
    + r"[ \t]{0,8}(?:\d{1,6}\t)?[ \t]{0,16}(?:[>*-][ ])?[\"'`*]{0,2}(?P<secret>[^\s\"'`]{4,80})"
    + r"[ ]{0,8}[\"'`*]{0,2}[.,]?[ \t]{0,8}(?=\r?\n|$|[\"'}\]),])"
)
_LABEL = r"[\w가-힣.-]+[:=：]|[{<#/$-]|.*[({]$"
_TAIL = r"(?:이?야|입니다|이?예요|이에요|임|이다)?[.,!]?$"


def hangul_cuts(low: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of each password in lower-case text."""
    if low.isascii() or not any(name in low for name in _NAMES):
        return []
    cuts: list[tuple[int, int, str]] = []
    # The pattern takes long to compile.
    if not any(_may_be_given(low[at.end() : at.end() + 60]) for at in re.finditer("|".join(_NAMES), low)):
        return cuts
    for match in re.compile(_NAMED_IN_HANGUL).finditer(low):
        budget.check()
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


def _may_be_given(rest: str) -> bool:
    """True if a digit or a quote is among the next words."""
    near = "".join(rest.split()[:4])
    return any(sign.isdigit() or sign in _MARKS for sign in near)


def is_hangul_password(value: str) -> bool:
    """True for a password alone in its line, below its name."""
    return re.match("[%s!-~]{4,40}$" % _HANGUL, value) is not None and _is_password(value)


def end_of_mixed(text: str, end: int) -> int:
    """Return the end of a password whose Latin part ends here: `hunter2고래밥이야`."""
    tail = re.compile(_KANJI_TAIL).match(text, end)
    if tail is not None:
        return tail.end()
    tail = re.compile(_HANGUL_TAIL).match(text, end)
    if tail is None or re.match(_GRAMMAR, tail.group()):
        return end
    ending = re.search(_ENDING_ALONE, tail.group())
    return ending.start() + end if ending else tail.end()


def _given(value: str, rest: str, assigned: bool) -> str:
    """Return the value without its sentence's ending; "" for none."""
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
    letters = re.sub("[^%sa-zA-Z]" % _HANGUL, "", re.sub(_TALK, "", value))
    return len(letters) >= 2 and not letters.isascii()


def phrase_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of secrets in sentences; low: lower case."""
    cuts: list[tuple[int, int, str]] = []
    mixed = [word for word in words_of(text) if is_latin_mixed(word)]
    signed = [word for word in mixed if any(sign in word for sign in _SIGNS)]
    if signed:
        cuts += _beside_user(text, low)
    if any(word in low for word in (*_SEED_NAMES, "wallet", "지갑")):
        cuts += [(*m.span("secret"), "seed-phrase") for m in re.compile(_SEED).finditer(low) if _is_seed(m)]
    cuts += _told_cuts(text, low)
    for trigger, pattern, kind in _PHRASES:
        named = trigger in ("wifi:", "machine ", "identified ")  # there a password has a field of its own
        if trigger in low and (mixed or named):
            budget.check()
            spans = [m.span("secret") for m in re.compile(pattern).finditer(low)]
            cuts += [
                (start, end, kind)
                for start, end in spans
                if _stands_alone(text[start:end]) or (named and not is_no_literal(text[start:end]))
            ]
    for word, rest in _PAIR_STARTS if mixed else ():
        vague = "pw" not in rest
        if word in low and (vague or any(name in low for name in _NAMES_IN_PAIRS)):
            budget.check()
            pairs = re.compile(word + rest + _PAIR).finditer(low)
            spans = [m.span("secret") for m in pairs if not (vague and re.match(_ROLE, m.group("secret")))]
            cuts += [(start, end, "password") for start, end in spans if _stands_alone(text[start:end])]
    for joint in ("/", " / ") if signed else ():
        if joint in low:
            cuts += _after_login_name(text, low, joint)
    if ":543" in low or ":*:" in low or ":330" in low:
        pattern = _PGPASS % (r"[^\s:][^\n:'\"]{3,80}(?=['\"\n])|" if "pgpass" in low else "")
        spans = [m.span("secret") for m in re.compile(pattern).finditer(text) if _host_before(text, m.start())]
        cuts += [(start, end, "password") for start, end in spans if _stands_alone(text[start:end])]
    if "Private-Lines" in text:
        cuts += [(*m.span("secret"), "private-key") for m in re.compile(_PUTTY).finditer(text)]
    for word in _CODE_STARTS:
        if word in low:
            budget.check()
            spans = [m.span("secret") for m in re.compile(word + _SPARE_CODE).finditer(low) if _is_code(m)]
            cuts += [(start, end, "recovery-code") for start, end in spans]
    if '"kty' in low:
        cuts += [(*m.span("secret"), "private-key") for m in re.compile(_JWK).finditer(text)]
    cuts += call_cuts(text, low)
    budget.check()
    as_meant = unquoted(text)
    if as_meant != text:
        cuts += call_cuts(as_meant, lowered(as_meant))
    named = (mixed or not text.isascii()) and any(word in low for word in TRIGGERS)
    if named and any(sign in low for sign in "([<（「『"):
        for match in re.compile(_IN_BRACKETS).finditer(lowered(as_meant)):
            (start, end), kind = match.span("secret"), kind_of_name(match.group("name"))
            cuts += [(start, end, kind)] if _is_in_brackets(text[start:end], kind) else []
    cuts += given_cuts(as_meant, lowered(as_meant), bool(mixed))
    cuts += _near_cuts(text, low) if signed else []
    cuts += hangul_cuts(lowered(as_meant))
    if mixed and ("pass" in low or "pw" in low):
        cuts += _used_as_password(as_meant, lowered(as_meant))
    return cuts


def _is_seed(match: re.Match[str]) -> bool:
    """True for a wallet's words: hardly any is inflected."""
    return len(re.findall(r"(?:[^s]s|ed|ing|ly)(?![a-z])", match.group("secret"))) < 3


def _told_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return the spans of PINs, resident numbers and passwords behind a command."""
    cuts: list[tuple[int, int, str]] = []
    if ("pin" in low or "핀" in low) and any(sum(map(str.isdigit, word)) > 3 for word in words_of(text)):
        cuts += [(*m.span("secret"), "pin") for m in re.compile(_PIN).finditer(low) if _is_pin(text, m)]
    if "-" in low and re.search(_LIKE_RESIDENT, low):
        cuts += [(*m.span("secret"), "resident-number") for m in re.compile(_RESIDENT).finditer(low)]
    if ("@" in low or " -" in low) and any(name in low for name in _NAMES):
        spans = [m.span("secret") for m in re.compile(_BEHIND_COMMAND).finditer(low)]
        cuts += [(start, end, "password") for start, end in spans if _is_behind_command(text[start:end])]
    return cuts


def _is_behind_command(value: str) -> bool:
    return _stands_alone(value) and (not is_wordy(value) or sum(map(str.isdigit, value)) > 2)


def _is_pin(text: str, match: re.Match[str]) -> bool:
    """True where a number behind the word alone is a PIN."""
    if match.group("bare") is None or (match.group("noun") and text[match.start() :].startswith("PIN")):
        return True
    return re.search(_OWNS_PIN, match.string[max(0, match.start() - 20) : match.start()]) is not None


def _near_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return the spans of chosen passwords beside their name."""
    cuts: dict[int, tuple[int, int, str]] = {}
    for name in re.compile(_NEAR_NAME).finditer(low):
        budget.check()
        begin = max(text.rfind("\n", 0, name.start()) + 1, name.start() - _NEAR_CHARS)
        end = text.find("\n", name.end())
        end = min(end if end >= 0 else len(text), name.end() + _NEAR_CHARS)
        for match in re.compile(_CHOSEN).finditer(text, begin, end):
            value = match.group().rstrip(".:?*_~")
            if _is_chosen(value) and match.start() not in cuts:
                cuts[match.start()] = match.start(), match.start() + len(value), "password"
    return list(cuts.values())


def _is_chosen(value: str) -> bool:
    """True for letters, digits and a sign within, as people choose them."""
    has_sign = any(sign in value[1:-1] for sign in _SIGNS_OF_CHOICE)
    is_address = re.match(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*$|[A-Za-z]+\^\d+$", value) is not None  # or `HEAD^1`
    return has_sign and has_digit_and_letter(value) and not is_address and not is_no_literal(value)


def answers_name(question: str, answer: str) -> bool:
    """True for an answer that is the secret of its question."""
    if " " in answer.strip() or not 4 <= len(answer.strip()) <= 200:
        return False
    asks = re.search(_NEAR_NAME + "|" + SECRET_NAME, lowered(question)) is not None
    return asks and has_digit_and_letter(answer) and not is_no_literal(answer) and not is_wordy(answer)


def _after_login_name(text: str, low: str, joint: str) -> list[tuple[int, int, str]]:
    cuts = []
    value = re.compile(_AFTER_LOGIN_NAME)
    for name in _LOGIN_NAMES:
        budget.check()
        at = low.find(name + joint)
        while at >= 0:
            match = value.match(low, at + len(name + joint))
            if match is not None and (at == 0 or re.match(r"[^\w/.-]", low[at - 1]) is not None):
                start, end = match.span("secret")
                logs_in = re.search(_LOGS_IN, low[max(0, at - 40) : at] + low[end : end + 20]) is not None
                page = re.match(_PAGE, match.group("secret")) is not None
                if _stands_alone(text[start:end]) and (logs_in or (joint == " / " and not page)):
                    cuts.append((start, end, "password"))
            at = low.find(name + joint, at + 1)
    return cuts


def _host_before(text: str, end: int) -> bool:
    """True if a .pgpass host ends here, read from its end."""
    return re.match(r"[\w.*-]{1,100}(?:[\s\"']|$)", text[max(0, end - 101) : end][::-1]) is not None


def _is_code(match: re.Match[str]) -> bool:
    """True for a recovery code; `backup code review-1234-abcd` is a branch."""
    groups = match.group("secret").split("-")
    digits = sum(any(char.isdigit() for char in group) for group in groups)
    return digits > 0 if match.group("join") else 2 * digits > len(groups)


def _used_as_password(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return the spans of `use X as the password`, `X is it`."""
    cuts = []
    for match in re.compile(_USED_AS).finditer(low):
        budget.check()
        end = match.start()
        if end and text[end - 1] in "\"'`":
            end -= 1
        start = max(0, end - 200, *(text.rfind(sign, max(0, end - 200), end) + 1 for sign in " \n\t\"'`"))
        value = text[start:end]
        named = match.group().startswith((" as", " works")) or not is_wordy(value)
        if end - start >= 5 and named and _stands_alone(value) and not re.match(r"[\w.-]+[:=(]", value):
            cuts.append((start, end, "password"))
    return cuts


def _is_in_brackets(value: str, kind: str) -> bool:
    if kind == "password":
        return _is_passwordlike(value) or is_hangul_password(value)
    return value.isascii() and is_issued(value) and (len(value) >= 12 or is_passwordlike(value))


def _is_passwordlike(value: str) -> bool:
    """True for letters and digits with a sign or both cases."""
    signs = any(not char.isalnum() and char not in ".,-" for char in value)
    return _stands_alone(value) and (signs or not (value.islower() or value.isupper()))


def _beside_user(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return the spans of passwords beside a user: `kim@shop.kr / X!`."""
    cuts = []
    for start in _AS_USER:
        budget.check()
        for match in re.compile(start + _SIGNED).finditer(low):
            named = low[match.start()] != " " or re.search(
                _MAIL_BEFORE, low[max(0, match.start() - 130) : match.start()]
            )
            if named and _is_signed(text[slice(*match.span("secret"))]):
                cuts.append((*match.span("secret"), "password"))
    return cuts


def _is_signed(value: str) -> bool:
    """True for letters, digits and a sign, no path or address."""
    signed = any(sign in value for sign in _SIGNS)
    return signed and _stands_alone(value) and re.match(_PAGE, value.lower()) is None


def _stands_alone(value: str) -> bool:
    """True for a plausible password that no name introduces."""
    return has_digit_and_letter(value) and not is_no_literal(value)


def given_cuts(text: str, low: str, mixed: bool) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of secrets handed over; low: lower case.

    mixed: a word has letters and digits.
    """
    cuts: list[tuple[int, int, str]] = []
    if mixed and any(name in low for name in ("token", "key", "secret", "pass", "credential")):
        for match in re.compile(_NAMED).finditer(low):
            budget.check()
            start, end = match.span("secret")
            value = text[start:end].rstrip("\"'`.,;:!?)")
            kind = _KINDS.get(match.group("name"), "password")
            if _looks_handed_over(value, kind):
                handed = re.search(_HANDS_OVER, low[max(0, match.start() - _MAX_LOOKBACK) : match.start()])
                if handed and (handed.group("sure") or _is_plainly_random(value)):
                    cuts.append((start, start + len(value), kind))
    if "\n" in low and any(name in low for name in _NAMES_BELOW) and any(map(str.isdigit, low)):
        for match in re.compile(_BELOW).finditer(low):
            budget.check()
            start, end = match.span("secret")
            value = text[start:end]
            core = value if value.isascii() else re.sub(_TAIL, "", value)
            if _stands_below(core, bool(match.group("join"))):
                cuts.append((start, start + len(core), "password"))
    return cuts


def _looks_handed_over(value: str, kind: str) -> bool:
    if len(value) < (6 if kind == "password" else 8) or not has_digit_and_letter(value) or is_wordy(value):
        return False
    named = re.match(r"[\w.-]+[:=(]", value) is not None
    return not (named or is_no_literal(value))


def _is_plainly_random(value: str) -> bool:
    return not (value.islower() or value.isupper()) or any(char in "!@#$%^&*" for char in value)


def _stands_below(value: str, joined: bool) -> bool:
    if is_no_literal(value) or re.match(_LABEL, value):
        return False
    if not value.isascii():
        return is_hangul_password(value)
    if value.isdigit():
        return joined and 4 <= len(value) <= 12
    return len(value) >= 6 and is_passwordlike(value) and not is_wordy(value)
