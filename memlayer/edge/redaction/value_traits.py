"""Traits of a value: placeholder, reference, word, passphrase, random."""

from __future__ import annotations

import math
import os
import re

from memlayer.edge.redaction import session_values

_WORDS = """
a an the this that these those it its my your our their his her mine yours one two three same different other
another str string text bytes byte int integer number bool boolean float double object any unknown void never char
varchar nvarchar uuid date datetime optional list dict array map set tuple type none null nil undefined nan true
false yes no on off securestring secretstr buffer slice vec option result function callable symbol bigint blob json
email textfield charfield passwordfield username user login name root value values field fields input output key
keys token tokens password passwd passphrase pwd pass secret secrets credential credentials auth bearer basic
required missing empty blank wrong incorrect invalid valid correct right ok okay fine good bad weak strong short
long longer shorter expired revoked rejected accepted denied needed necessary mandatory default unset not also only
just too very now still then always already currently being been be is are was were has have had must should shall
can could may might will would do does did done in at by from for with without of to as and or but if when while
where why how what which who via per using used use see ask check get read write stored saved hashed salted
encrypted decrypted encoded decoded generated created rotated changed reset updated deleted removed replaced sent
passed given shown hidden masked redacted visible plain plaintext cleartext safe unsafe secure insecure leaked
exposed compromised protected public private shared global local remote internal external temporary temp permanent
random unique static dynamic inherit inherited bcrypt scrypt argon sha md hmac rsa aes jwt oauth saml ldap kerberos
sso mfa totp otp localstorage sessionstorage cookie cookies env environment vault keychain keyring dotenv config
settings database db test tests testing foo bar baz qux todo tbd na n/a omitted skip skipped disabled enabled
available unavailable stale fresh cached lost forgotten locked unlocked confirmed verified validated checked prompt
prompted hint help label placeholder title description error message warning info debug trace success failure failed
pending here there below above inside outside everywhere nowhere somewhere elsewhere nothing something anything
everything post put patch delete head options select insert update grant alter identity identified const let var def
return new old current next previous first last more less least most enough simple complex easy hard guessable
trivial
"""

ORDINARY_WORDS = frozenset(_WORDS.split())


_PLACEHOLDER = (
    r"^(?:\[redacted:|\[private|[<{]|\$[{(\[]|\$[A-Za-z_]\w*(?!\w)(?![!#%^*+?~])|\$\d?$|%[(A-Za-z]|#\{|!(?:ref|vault|secret|env|sub|getatt)\b|@\w*\{|\*\*)"
    r"|(?:^|[^a-z])(?:your|yours|changeme|change[-_ ]?(?:me|this|it)|example|placeholder|dummy|sample|redacted|masked"
    r"|hidden"
    r"|replace[-_ ]?(?:me|this|with)|todo|fixme|insert[-_ ]|here|fake|mock)(?![a-z])"
    r"|xxx|\.\.\.|…|\*\*\*|•|example(?:key)?$"
)
_REFERENCE = (
    r"^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]*)+$"  # settings.api_key
    r"|^[A-Za-z_$][\w$.:>-]*[(\[]"  # input(, environ[
    r"|^&?[A-Za-z_][\w.]*[()]"
    r"|^(?:https?|file)://"
    r"|^arn:aws[\w-]*:"
    r"|^[x*!]:\d"  # a line of /etc/passwd
    r"|^/[\^\\(\[]"  # a regular expression
    r"|^\(|^\[|^\{|^\\\w?$"
)
_PATH = (
    r"^(?:~|\.{1,2})?/[\w.@ -]|^[A-Za-z]:\\|^\.env|^[\w./-]+\.(?:py|pyi|js|jsx|ts|tsx|json|ya?ml|env|txt|toml"
    r"|ini|md|sh|cfg|conf|pem|key|crt|go|rs|java|kt|rb|php|html|css|sql|log|lock|vue|c|h|cpp)(?:[:#]\d+)?$"
)
_TECHNICAL = (
    r"^(?:sha|md|aes|3?des|rsa|dsa|base|oauth|utf|eddsa|ed|curve|argon|pbkdf|bcrypt|scrypt|http|u?int|float|double"
    r"|n?varchar|char|text|string|bytes|number|str|ec|ipv|web|python|py|node|java|tls|ssl|hmac|crc|rot|fido|secp|len|max|min"
    r"|rfc|iso|ieee|pkcs|x)[-_]?\d{1,4}(?:[-_./(\[<|][\w.()\[\]<>|=-]{0,12})?$"
    r"|^aes[-_]?(?:gcm|cbc|ctr|xts)[-_]?\d{0,3}(?![a-z0-9])"
    r"|^(?:argon2(?:id|[id])|x?chacha20|blake[23][bs]?|poly1305|ripemd160|salsa20|keccak|sm[234])(?![a-z0-9])"
    r"|^[a-z]{1,2}[-_]?\d{1,4}(?:[.-]\d+)*$"
    r"|^(?:1password|bitwarden|lastpass|k8s|i18n|auth0|s3|ec2)\b"
)
_DATE = r"^\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:T.*)?$|^\d{1,2}:\d\d(?::\d\d)?$"
_NUMBER = r"^[-+~<>=]*\d[\d.,_]*(?:[kKmMgGbB%sx]|ms|min|px|kb|mb|bits?|bytes?|chars?|h|d)?$"

_WORD_ENDINGS = (
    "ed", "ing", "able", "ible", "ful", "less", "ous", "ive", "ly", "tion", "ness", "ment", "ity",
)  # fmt: skip

# A letter beyond Latin and Greek. Compiling a range of all syllables takes twenty times as long.
LETTER = r"[^\W\x00-\u03ff]"
HANGUL_VALUE = r"[가-힣]{1,12}[0-9]+[!#-&(-;=?-_a-~]*"
FOUR_GROUPS = r"[a-z]{4}(?:[ ][a-z]{4}){3}(?![a-z0-9]|[ ][a-z])"
# Words of sentences and names about passwords, rarely of a password.
_TALK_WORDS = """
password passwords passwd passphrase pass pw pin secret secrets token tokens key keys name names file path ref env var
value type typed field page form screen reset change changed forgot forgotten hint hash hashed prompt input label
title subject text message error invalid required must should enter your please character characters letters digits
digit symbols least minimum maximum min max default none null true false config vault manager policy confirm
confirmation mismatch match expired user username email login sign again choose pick repeat wrong incorrect cannot not
is are was be been too short long weak strong empty missing set unset new current contain contains
"""
_TALK = frozenset(_TALK_WORDS.split())
_KOREAN_TALK = ("비밀번호", "비번", "암호", "입력", "이상", "확인", "자리", "글자", "하세요", "해주세요", "주세요")
_MEANS = r"(?:으로|로)? ?(?:해시|해싱|암호화|인코딩)| ?(?:화면|페이지|버튼|컴포넌트|탭|폼|필드|칸)"
_PLACE = r"에(?:서)? (?!.{0,40}로 ?(?:바|변경|교체))"  # `비밀번호 확인은 step2Form에서 해`; from one to another is none
_OWNED_BY_NOUN = " (?:테이블|컬럼|스키마|화면|페이지|클래스|함수|모듈|파일|브랜치|버전)(?:에|의|을|를|과|와|,|[.]?$)"
_RESET = r"(?![(]?으?[)]?로).{0,40}(?:초기화|재설정|분실)"
_ANOTHER_CLAUSE = r"고 [가-힣]{2,8}(?:은|는) $"  # `비번은 위에 있고 아이디는 kim77`
_ANOTHER_NOUN = r" (?!값|내용|자체|문자열)[가-힣]{2,8}(?:은|는) $"
_COPULA = r" ?(?:이?야|이?에요|예요|입니다|이다|임|이고|인데)"
_SPLIT_CHARS = 4_000
_LINE_NUMBER = r"(?m)^[ ]{0,8}\d{1,6}\t"
_BASE64 = r"(?:[0-9A-Za-z+/_-]{4})+(?:[0-9A-Za-z+/_-]{2}==|[0-9A-Za-z+/_-]{3}=)$"


def is_placeholder(value: str) -> bool:
    """True for `${DB_PASSWORD}`, `<your-key>`, `xxxx`, `changeme`, `****`, `[redacted:...]`."""
    if re.compile(_PLACEHOLDER, re.IGNORECASE).search(value[:400]):
        return True
    solid = set(value) - set("-_ ./")
    return len(solid) <= 1 or (len(solid) == 2 and not any(char.isdigit() for char in solid))


def is_reference(value: str) -> bool:
    """True for `settings.api_key`, `os.environ["X"]`, `hash(pw)`, a URL."""
    return re.match(_REFERENCE, value[:400]) is not None


def is_technical(value: str) -> bool:
    """True for `SHA-256`, `config.py`, `/run/secrets/db`, `2026-01-31`, `varchar(64)`."""
    piece = value[:400]
    return (
        re.match(_DATE, piece) is not None
        or re.match(_TECHNICAL, piece, re.IGNORECASE) is not None
        or piece.startswith(("./", "../", "~/"))
        or (re.match(_PATH, piece) is not None and not looks_random(piece))
    )


def is_no_literal(value: str) -> bool:
    """True for a placeholder, a reference or a technical term."""
    return is_placeholder(value) or is_reference(value) or is_technical(value)


def is_number(value: str) -> bool:
    """True for `4096`, `1,000`, `128k`, `30s`."""
    return re.match(_NUMBER, value[:80]) is not None


def is_ordinary_word(value: str) -> bool:
    """True for a dictionary word ("strong"), not a password."""
    low = value.lower().strip(".,;:!?*_-'")
    return low in ORDINARY_WORDS or (5 < len(low) < 15 and low.isalpha() and low.endswith(_WORD_ENDINGS))


def is_wordy(value: str) -> bool:
    """True for joined words: `my-secret-v1`, `accessTokenUrl`."""
    word = re.compile(r"(?:[a-z]{1,24}|[A-Z]{1,24}|[A-Z]?[a-z]{2,24}(?:[A-Z][a-z]{1,24}){0,8})\d{0,2}$|\d{1,4}$|v?\d+$")
    return all(word.match(part) is not None for part in re.split(r"[-_./:]+", value[:400]) if part)


def is_letters(value: str) -> bool:
    return re.match(r"^[A-Za-z_]+$", value) is not None


def is_identifier(value: str) -> bool:
    return re.match(r"^[a-z]+(?:_[a-z0-9]+)+$|^[a-z]+(?:[A-Z][a-z]+)+\d?$", value) is not None


def has_digit_and_letter(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def is_latin_mixed(word: str) -> bool:
    """True for a digit and a letter of another script than Hangul."""
    return any(map(str.isdigit, word)) and any(char.isalpha() and not "가" <= char <= "힣" for char in word)


def is_mixed(value: str) -> bool:
    """True for letters with digits or symbols, as in passwords."""
    digits = any(char.isdigit() for char in value)
    symbols = any(not char.isalnum() and char not in "-_./" for char in value)
    return any(char.isalpha() for char in value) and (digits or symbols) and not is_identifier(value)


def is_passwordlike(value: str) -> bool:
    """True for letters and digits with a sign or both cases."""
    signs = any(not char.isalnum() and char not in ".,-_/:" for char in value)
    return has_digit_and_letter(value) and (signs or not (value.islower() or value.isupper()))


def looks_random(value: str) -> bool:
    """True for a long mixed value of high entropy, as machines issue."""
    if len(value) < 16 or any(char.isspace() for char in value[:400]):
        return False
    piece = value[:400]
    digits = sum(char.isdigit() for char in piece)
    letters = sum(char.isalpha() for char in piece)
    if not letters or digits < 2 or is_wordy(piece):
        return False
    return _entropy_bits(piece) >= 3.0


def is_issued(value: str) -> bool:
    """True for a token without a name; for no host, hash, words."""
    if (
        re.search(r"[@\\]|://|\.[a-z]{2,5}(?:[:/]|$)|:\d", value)
        or re.match(r"[0-9a-f]{7,63}$", value)
        or is_wordy(value)
    ):
        return False
    return has_digit_and_letter(value) and not is_no_literal(value) and len(re.findall(r"\d+", value)) >= 2


def _entropy_bits(value: str) -> float:
    """Return the Shannon entropy per character."""
    return -sum((n / len(value)) * math.log2(n / len(value)) for n in (value.count(char) for char in set(value)))


def is_base64(value: str) -> bool:
    """True for whole groups of four with padding: `aHVudGVyMg==`."""
    if len(value) < 8 or len(value) % 4 or re.match(_BASE64, value) is None:
        return False
    return any(char.isdigit() for char in value) or not (value.islower() or value.isupper())


def are_four_groups(value: str, sure: bool) -> bool:
    """True for `abcd efgh ijkl mnop`. sure: its sentence leaves no doubt."""
    words = value.split(" ")
    unspeakable = any(not set(word) & set("aeiouy") for word in words)
    return (
        re.match(FOUR_GROUPS + "$", value) is not None
        and (sure or unspeakable)
        and not any(is_ordinary_word(word) for word in words)
    )


def are_quoted_words(value: str, environment: bool) -> bool:
    """True for `correct horse battery staple`, no sentence about passwords."""
    words = value.lower().split()
    if any(word.strip(".,!?:'") in _TALK for word in words) or any(phrase in value for phrase in _KOREAN_TALK):
        return False
    digits = any(char.isdigit() for char in value)
    if not value.isascii():
        return environment and digits
    return environment or (len(words) >= 3 and value[0].islower() and (digits or len(words) >= 4))


def are_joined_words(value: str, least: int) -> bool:
    """True for `correct-horse-battery-staple`, false for `forgot-password-page`."""
    words = value.lower().split("-")
    plain = all(re.match(r"[a-z]{1,12}\d{0,2}$|\d{1,4}$", word) for word in words)
    return plain and len(words) >= least and not any(word in _TALK for word in words)


def hangul_is_secret(value: str, rest: str) -> bool:
    """True for `사과나무12`.

    With a digit or two and no sign, `버전2` and `화면12 에서` look alike, so the sentence must end. rest: of its line.
    """
    word = re.match(r"[가-힣]+(\d+)", value)
    if word is None or len(word.group(1)) >= 3 or len(value) > word.end():
        return True
    ends = re.match(r" ?(?:이?야|입니다|이?에요|예요|이고|임|이다|인데|이?라고)|[.,!?;)\"']|$", rest.rstrip())
    return len(value) >= 5 and ends is not None


def says_how(value: str, after: str) -> bool:
    """True for a means or a place: `sha3로 해싱`, `vue3 화면`."""
    return re.match(_MEANS, after) is not None and value.isalnum() and value.islower() and is_wordy(value)


def is_of_another_noun(joint: str, value: str, after: str) -> bool:
    """True for another noun's value: `비밀번호 테이블은 users2로`, `비밀번호는 step2에서`."""
    reset = joint.strip() in ("을", "를") and re.match(_RESET, after)
    if reset or re.search(_ANOTHER_CLAUSE, joint) or re.match(_PLACE + "|" + _OWNED_BY_NOUN, after):
        return True
    if not (value.isascii() and value.islower() and value.isalnum() and is_wordy(value)):
        return False
    noun = re.match(_ANOTHER_NOUN, joint) is not None and re.match(_COPULA, after) is None
    return noun or (joint.strip() in ("는", "은") and after.startswith("에서"))


def stands_for(name: str, value: str) -> bool:
    """True for the long form of a short name: `pw: playwright`."""
    return name == "pw" and value[:1].lower() == "p" and "w" in value[1:].lower()


def is_telling(value: str) -> bool:
    """True for a value that means nothing else, as no word does.

    It has six characters, or three syllables and two.
    """
    least = 5 if sum("가" <= char <= "힣" for char in value) > 2 else 6
    if not least <= len(value) <= 400 or "[redacted:" in value or is_no_literal(value):
        return False
    is_name = re.match(r"[\w./-]{16,}$", value) is not None and sum(map(str.isdigit, value)) < 3  # `TestE2E_Basic`
    has_sign = any(not (char.isalpha() or char in "-_./: ") for char in value)
    return (has_sign and not is_name) or len(re.split("[- ]", value)) > 3


def rows(name: str, kept: list[list[str]] | None = None) -> list[list[str]]:
    """Return the cells of each row of a table beside this module."""
    kept = [] if kept is None else kept
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as table:
        kept += [line.split("\t") for line in table.read().split("\n") if line and line[0] != "#"]
    return kept


def words_of(text: str) -> list[str]:
    """Return the words of a text, or a long one as one.

    A look at each of its words would cost more than it spares.
    """
    return text.split() if len(text) < _SPLIT_CHARS else [text]


def lowered(text: str) -> str:
    """Return text in lower case and of the same length."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def unquoted(text: str) -> str:
    """Return text without line numbers and escapes, its length kept."""
    if "\\" in text:
        text = re.sub(r"\\{1,15}[\"'nrt]", _unescaped, text)
    text = text.replace("'\"'\"'", "    '")
    return re.sub(_LINE_NUMBER, lambda number: " " * len(number.group()), text) if "\t" in text else text


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
            if is_telling(text[start:end]):
                session_values.note(text[start:end], kind)
        at = max(at, end)
    return "".join(out) + text[at:] if out else text
