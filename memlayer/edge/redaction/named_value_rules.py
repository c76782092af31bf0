"""Telling names (`password`, `API_KEY`, `비밀번호`), and rules for their values.

A join is the text between a name and its value. All patterns are for lower-case text. Groups of a match: name,
suffix (`_prod`, `_key`), other (any other rest of the name), close (quotes and brackets after it), then exactly one
join: fallback, element, attribute, typed, equal, assign (with newline), call, quoted, prose, korean, bare. The rules
judge a value by its join and its look. Match is always one of value_behind.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.value_traits import (
    LETTER,
    ORDINARY_WORDS,
    are_four_groups,
    are_joined_words,
    are_quoted_words,
    hangul_is_secret,
    has_digit_and_letter,
    is_base64,
    is_identifier,
    is_letters,
    is_mixed,
    is_no_literal,
    is_number,
    is_of_another_noun,
    is_ordinary_word,
    is_passwordlike,
    is_wordy,
    looks_random,
    says_how,
    stands_for,
)

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterator

# In other languages. What stands behind them may be any word of theirs, so a value has a digit or a sign.
_FOREIGN = (
    "passwort", "kennwort", "wachtwoord", "passord", "lösenord", "contraseña", "contrasena", "mot de passe", "senha",
    "palavra-passe", "parola d'ordine", "parola", "пароль", "hasło", "heslo", "jelszó", "şifre", "mật khẩu",
    "パスワード", "暗証番号", "密码", "密碼", "口令",
)  # fmt: skip
_FOREIGN_KEYS = ("apiキー", "トークン", "シークレット", "密钥", "密鑰", "令牌", "clé api", "clave api", "clave de api")
TRIGGERS = (
    "pass", "pwd", "pw", "psk", "_auth", "secret", "token", "key", "credential",
    "비밀번호", "비번", "패스", "암호", "토큰", "시크릿", "키", *_FOREIGN, *_FOREIGN_KEYS,
)  # fmt: skip
_KEY_OWNERS = (
    "api", "access", "account", "auth", "private", "encryption", "encrypt", "signing", "master", "service", "deploy",
    "license", "subscription", "secret", "hmac", "webhook", "admin", "rest",
    # services that name their keys
    "openai", "claude", "anthropic", "gemini", "cohere", "wandb", "google", "maps", "firebase", "kakao", "naver",
    "toss", "openweather", "weather", "tmdb", "algolia", "datadog", "mailchimp", "cloudflare", "aws", "azure", "stripe",
    "twilio", "supabase", "rapidapi",
)  # fmt: skip
_KOREAN_KEY_OWNERS = (
    "비밀", "인증", "개인", "접근", "접속", "연동", "액세스", "암호화", "서비스", "라이선스", "시크릿", "관리자", "api",
)  # fmt: skip
# Prefixes of the short names pass and pw: dbPass, ADMINPW. Not com, by, over, render, first: they make other words.
PASS_OWNERS = (
    "db", "sql", "mysql", "maria", "pg", "psql", "postgres", "mongo", "redis", "oracle", "ora", "mssql", "rabbit",
    "mq", "kafka", "elastic", "neo4j", "jdbc", "datasource", "mail", "smtp", "imap", "pop3", "gmail",
    "ldap", "ftp", "ssh", "vnc", "rdp", "wifi", "wlan", "proxy", "http", "vpn", "nas", "host", "server", "client",
    "user", "usr", "admin", "root", "sudo", "login", "auth", "app", "api", "my", "member", "account", "acct",
    "service", "svc", "prod", "stg", "store", "keystore", "truststore", "cert", "enc", "zip", "git", "docker",
    "jenkins", "nexus", "vault", "default", "old", "temp",
)  # fmt: skip
_OTHER_OWNERS = "router|guest|와이파이|공유기|서버|관리자|루트|디비|계정|로그인"
_OWNED_PASS = r"(?:^|\W)(?:%s)[ ]$" % "|".join([*PASS_OWNERS, _OTHER_OWNERS])

_HEADER_NAME = r"(?<![\w-])(?:(?P<own>x-)(?:[a-z0-9]+-)+|(?:api|auth|access)-)$"
OWNED_KEY = "(?:%s)[ _-]?key$" % "|".join(_KEY_OWNERS)

_PREPOSITION = "(?:for|of|to|on|in|at|from|de|del|du|des|do|da|für|vom|van)[ ]"
_PREPOSED = "(?:" + _PREPOSITION + r"(?:[\w.'@/-]{1,40}[ ]){1,6}?)?"

# After digits or a Korean word these mark a count or a means, not a secret.
_COUNTERS = (
    "자", "글자", "개", "번", "회", "일", "분", "초", "시간", "년", "월", "원", "명", "건",
    "토큰", "비트", "바이트", "차", "단계", "%",
)  # fmt: skip
_LIKENESS = ("처럼", "같", "보다")  # an example
_COPULAS = (
    "야", "이야", "입니다", "이에요", "예요", "에요", "이고", "임", "이다", "이니", "인데", "였",
    "이었", "라고", "이라고",
)  # fmt: skip
_FIELD = r"(?:칸|필드|입력|화면|버튼)"  # where a password is typed. A name may follow
# Takes a name and the value where it is missing.
_GETTER = (
    r"(?:getenv|get_?env\w{0,12}|env|env\w{0,8}\.(?:get|fetch|str)|environ\.(?:get|setdefault)|set_?default|fetch"
    r"|get_?(?:or_?default|property|string|value)|lookup\w{0,8}|config(?:\.get)?|option)\([\s\\]{0,20}[\"'][\w.-]*$"
)
_SETTER = r"(?:^|[ \t:(`\"'-])(?:set|setx|put|add|config|configure|create|write|update|save|\w+_header)[ :-][^\n;|&]*$"
_SETTER_CALL = r"(?:^|[^a-z])(?:set|put|add|write|save|store)_?(?!default)[a-z_]{0,30}\([\s\\]{0,20}[\"'][\w.:/-]*$"
_AGAIN = r"[_-]?(?:re)?(?:confirm|repeat|again|verif|check|typ|enter|match)[a-z]*$|s$"  # of a name's rest
_PLACE = " 안에"  # a key lies inside it
_SUFFIX = (
    r"(?:[_-]?(?:access_?key|key_?base|key|value|val|string|str|text|plain|prod(?:uction)?|dev(?:elopment)?|staging|stg"
    r"|test|live|old|new|current|root|admin|user|db|default|main|word|\d{1,3})(?![a-z])){0,3}"
)
_ASCII_NAMES = (
    r"pass(?:word|wd|phrase|code)", "requirepass", r"pass(?![a-z])",
    r"pw(?![a-z])", "pwd",
    r"psk(?<![a-z]psk)(?![a-z0-9])", "_auth(?![a-z0-9_-])", "secret(?!s?manager)(?<!:[0-9]{12}:secret)",
    r"token(?<!publickeytoken)(?<!next[_-]token)(?<!nexttoken)(?<!page[_-]token)(?<!pagetoken)(?<!locktoken)",
    "credentials?",
)  # fmt: skip
_HANGUL_NAMES = ("비밀 ?번호", "비번", "패스워드", "패스프레이즈", "암호(?![화학문])", "토큰", "시크릿")
_LAST_SYLLABLES = "호번드즈큰릿키"  # of these
_AFTER_KEY = "는은가이를을:=：\"'(（「『[<"  # and white space: `키보드` is another word
_OTHER_NAMES = "(?:%s)(?<![a-z]senha)(?<![a-z]parola)"
_KEY = "key(?![a-z])"  # of an owner: _is_owned_key
_NAMES = "|".join((*_ASCII_NAMES, _KEY, *_HANGUL_NAMES, "키", _OTHER_NAMES % "|".join((*_FOREIGN, *_FOREIGN_KEYS))))
_FOREIGN_IN_ASCII = "|".join(filter(str.isascii, _FOREIGN + _FOREIGN_KEYS))
_NAMES_IN_ASCII = "|".join((*_ASCII_NAMES, _KEY, _OTHER_NAMES % _FOREIGN_IN_ASCII))
# A run that goes on for 60 characters is no name. Looking further from each of its parts would be slow.
_NAME_START = r"\[redacted:[a-z0-9-]+\]|(?:%s)(?![a-z0-9_-]{60})"
# Looks back from a key to its owners, those of a length together.
_OWNERS = {len(one): "|".join(same for same in _KEY_OWNERS if len(same) == len(one)) for one in _KEY_OWNERS}
_OWNED = "|".join(f"(?<=(?:{same})key)|(?<=(?:{same})[ _-]key)" for same in _OWNERS.values())
_OWNED_IN_HANGUL = "|".join(f"(?<={owner}키)|(?<={owner} 키)" for owner in _KOREAN_KEY_OWNERS)
_OWNED_KEYS = (
    _KEY + "(?:%s|(?<=[_-]key)(?<!public[_-]key))" % _OWNED,
    "키(?=[\\s%s])(?:%s)" % (re.escape(_AFTER_KEY), _OWNED_IN_HANGUL),
)
# A name and nothing behind it.
SECRET_NAME = (
    "(?:(?:" + "|".join((*_ASCII_NAMES, *_OWNED_KEYS, *_HANGUL_NAMES)) + ")|"
    + _OTHER_NAMES % "|".join((*_FOREIGN, *_FOREIGN_KEYS))
    + ")" + _SUFFIX + "(?:(?<=secret)s|(?<=password)s)?(?![a-z0-9_-])"
)  # fmt: skip
_JOINS = (
    "(?P<suffix>" + _SUFFIX + r")(?P<other>[a-z0-9_-]{0,40})(?![a-z0-9_-])"
    r"(?P<close>(?:['](?!s )|[\"`\])*}\\]){0,9})(?:[ ]?[(（][^()（）\n]{1,30}[)）])?"
    r"(?:(?P<fallback>(?:[ ]?(?:\|\||\?\?|\?:|or(?![a-z]))\s{0,40}(?:[\w:.]{1,30}\()?"
    r"|\s{0,20}\.(?:unwrap_or|unwrap_or_else|or_?else|or|get_?or_?else|if_?empty|default_?value)\("
    r"(?:\|_?\|[ ]?|\(\)[ ]?[-=]>[ ]?|[\w:.]{1,30}\()?\s{0,20}|[ ]\{[ ]?)(?=\\{0,7}[\"'`]))"
    r"|(?P<element>(?:[ ][^<>\n]{0,80})?>\s{0,80})(?=[^<>\s]{1,400}\s{0,80}</)"
    r"|(?P<attribute>(?:[\s,]|\\n){1,12}[\"']?value[\"']?[ ]?[:=][ ]?)"
    r"|(?P<typed>[ ]?:[ ]?[a-z_][\w.\[\]|, ]{0,40}=[ ]?(?=\\{0,7}[\"'`])|[ ](?:string|str)[ ]=[ ]?(?=\\{0,7}[\"`]))"
    r"|(?P<equal>[ \t]{0,8}===?[ ]?(?=\\{0,7}[\"'`]))"
    r"|(?P<assign>[ \t]{0,8}(?::=|=>|->|→|=|:|：|＝|\|)(?!=)[ \t]{0,4}\*{0,2}[ ]?"
    r"(?:\{\s{0,8}\\{0,7}[\"'](?:s|string_?value|value)\\{0,7}[\"']\s{0,3}:\s{0,3}"  # DynamoDB
    r"|[(](?:\s|\\{1,7}[nt]|\d{1,6}\t){0,80}(?=[bruf]{0,2}\\{0,7}[\"'])"
    r"|(?P<newline>(?:[>|][+-]?\d?)?(?:\n[ ]{0,8}(?:\d{1,6}\t)?[ \t]{0,8}){1,2}))?)"
    r"|(?P<call>,[ ]?(?=\\{0,7}[\"']))"
    r"|(?P<quoted>[ \t]{1,4}(?=\\{0,7}[\"'`]))"
    r"|(?P<prose>['’]s[ ]|[ ]" + _PREPOSITION + r"(?:[\w.'@/-]{1,40}[ ]){0,5}?[\w.'@/-]{1,40}[ ]?[:=][ ]"
    r"|[ ]" + _PREPOSED + r"(?:is|was|will be|should be|to|became|ist|war|lautet|est|es|era|é|è|är|jest|je)[ ]?:?[ ]"
    r"(?:now[ ]|still[ ]|currently[ ]|set to[ ]|changed to[ ])?)"
)
_KOREAN = (
    r"|(?P<korean>(?:[ ]?(?P<topic>[는은가이를을도はがを是为為]|[改设設]?[成为為])|(?<=[%s]))[ ]?"
    r"(?:(?:%s|[ ()]){0,20}(?:[:=：＝→]|->)[ ]?\n?|(?:(?(topic)(?:[a-z]{2,12})?)%s{1,8}[ ]){0,3})"
    r"(?=[!-~‘“]|%s))" % (_LAST_SYLLABLES, LETTER, LETTER, LETTER)
)
_BARE = r"|(?P<bare>[ ](?=[!-~])))"
# For text of any script, and for ASCII: that one is compiled four times as fast.
_STARTS = (_NAME_START % _NAMES, _NAME_START % _NAMES_IN_ASCII)
_VALUES = (
    "(?P<name>" + _NAMES + ")" + _JOINS + _KOREAN + _BARE,
    "(?P<name>" + _NAMES_IN_ASCII + ")" + _JOINS + "|(?P<korean>(?!))" + _BARE,
)


def names_in(low: str, end: int = 0) -> Iterator[re.Match[str]]:
    """Yield names of secrets and marks of redaction, up to an end."""
    for name in re.compile(_STARTS[low.isascii()]).finditer(low, 0, end or len(low)):
        if name.group() not in ("key", "키") or _is_owned_key(low, name):
            yield name


def value_behind(low: str, at: int) -> re.Match[str] | None:
    """Return the match of a name here and its join."""
    return re.compile(_VALUES[low.isascii()]).match(low, at)


def _is_owned_key(low: str, name: re.Match[str]) -> bool:
    """True for `api key`, `DEPLOY_KEY`, `인증 키`; false for other keys."""
    before = low[max(0, name.start() - 13) : name.start()]
    owners, joint = (_KEY_OWNERS, " _-") if name.group() == "key" else (_KOREAN_KEY_OWNERS, " ")
    if before.endswith(owners) or (before[-1:] in joint and before[:-1].endswith(owners)):
        after = low[name.end() : name.end() + 1]
        return name.group() == "key" or after.isspace() or (after != "" and after in _AFTER_KEY)
    named = name.group() == "key" and before.endswith(("_", "-"))
    return named and not before.endswith(("public_", "public-"))


def kind_of(match: re.Match[str]) -> str:
    """Return the kind of secret that the name announces."""
    name = match.group("name") + match.group("suffix")
    if match.group("name") in ("key", "키"):
        name = _name_before(match) + name
    return kind_of_name(name)


def kind_of_name(name: str) -> str:
    """Return the kind of secret that a name in lower case announces."""
    for kind, signs in (
        ("password", ("pass", "pw", "psk", "비밀번호", "비밀 번호", "비번", "패스", "암호", *_FOREIGN)),
        ("token", ("token", "토큰", "トークン", "令牌")),
        ("private-key", ("private", "개인 키", "개인키")),
        ("secret", ("secret", "시크릿", "비밀")),
        ("credential", ("credential", "_auth")),
    ):
        if any(sign in name for sign in signs) and "암호화" not in name:
            return kind
    return "api-key"


def quoted_is_secret(value: str, text: str, match: re.Match[str]) -> bool:
    """True if a value in quotes is a secret."""
    kind, strict = kind_of(match), is_strict(match)
    value = value.strip()
    if len(value) < 4 or "${" in value or is_no_literal(value) or is_ordinary_word(value) or _is_talk(value, match):
        return False
    if is_verb(match) and not (match.group("assign") or _is_owned(match)):
        return False
    if " " in value:
        words = value.split()
        if is_environment_line(text, match) and are_quoted_words(value, has_digit_and_letter(value)):
            return True
        if (
            kind == "password"
            and not strict
            and (match.group("assign") or match.group("equal") or match.group("typed"))
        ):
            environment = is_environment_line(text, match)
            if are_four_groups(value, True) or are_quoted_words(value, environment):
                return True
        return "phrase" in match.group("name") and len(words) >= 3 and not any(is_ordinary_word(w) for w in words[:2])
    if match.group("call") and re.search(_GETTER, text[max(0, match.start() - 60) : match.start()].lower()):
        return is_mixed(value) and not (strict and not looks_random(value)) and not is_wordy(value)
    if match.group("call") and _is_set(match, _SETTER_CALL) and _is_argument(value, kind, ""):
        return True
    if match.group("call") and match.group("name") in ("password", "passwd", "passphrase") and not strict:
        return bool(match.group("close")) and is_mixed(value)
    if match.group("name") == "_auth":
        return is_mixed(value) and not is_wordy(value)
    if kind == "password" and _is_sibling(match) and not match.group("call"):
        return has_digit_and_letter(value) and not is_identifier(value)
    if (match.group("call") or match.group("assign")) and _is_of_header(value, match, ""):
        return True
    if strict or match.group("call"):
        return looks_random(value) and match.group("name") != "pwd"
    if match.group("korean") is not None and re.match(_FIELD, match.group("korean").lstrip()):
        return is_mixed(value)
    if match.group("korean") is not None and not match.group("korean").strip():
        return kind == "password" or is_mixed(value)
    if kind == "password":
        return not is_number(value) or len(value) >= 4
    return len(value) >= 8 and not is_number(value) and (not is_wordy(value) or any(c.isdigit() for c in value))


def bare_is_secret(value: str, whole: str, text: str, end: int, match: re.Match[str]) -> bool:
    """True for a secret without quotes; whole: with trailing signs."""
    kind = kind_of(match)
    given = match.group("bare") and _is_set(match, _SETTER)
    if given and (_is_argument(value, kind, text[end : end + 1]) or _is_of_header(value, match, "")):
        return True
    if kind != "password" and match.group("bare") and len(value) < 16:
        return False  # `token count`: the usual words behind such a name
    if value.count("=") > 20:
        return False  # a row of assignments, and slow to judge at each of them
    after = text[end : end + 60]
    if kind == "private-key" and match.group("korean") is not None and after.startswith(_PLACE):
        return False
    if len(value) < 4 or is_no_literal(value) or _is_talk(value, match):
        return False
    if whole[-1] in ":=([{":
        return _with_open_end(value, whole, text, end, match)
    if value.startswith(("-", "|", "//", "=", "!=")):
        return looks_random(value)
    hangul = "가" <= value[0] <= "힣" and not (match.group("assign") and _is_of_header(value, match, ""))
    if hangul and not hangul_is_secret(value, _rest_of_line(text, end)):
        return False
    if value[0] in "#*?@" and not (kind == "password" and match.group("assign") and has_digit_and_letter(value)):
        return False
    if match.group("bare"):
        return _unjoined_is_secret(value, kind, after, match)
    if (after[:1] >= "가" or after[1:2] >= "가") and says_how(value, after):
        return False
    if is_of_another_noun(match.group("korean") or "", value, after):
        return False
    if match.group("newline") is not None and kind == "password" and not match.group("other") and len(value) >= 6:
        alone = not _rest_of_line(text, end).strip()
        if alone and is_passwordlike(value) and re.match(r"[\w.-]+[:=]", value) is None:  # `DB_PASSWORD=`, next line
            return True
    if kind == "password" and _is_sibling(match) and match.group("assign") and match.group("newline") is None:
        return has_digit_and_letter(value) and not is_wordy(value) and re.search(r"[\[\]{}^\\]", value) is None
    if (
        is_strict(match)
        or match.group("quoted")
        or match.group("call")
        or match.group("attribute")
        or ("|" in (match.group("assign") or "") and match.group("newline") is None)
    ):
        return (
            looks_random(value)
            or (match.group("attribute") is not None and is_mixed(value))
            or _is_of_key(value, match)
        )
    if is_number(value):
        return kind == "password" and _number_is_secret(value, after, match)
    if match.group("element"):
        before = text[max(0, match.start() - 120) : match.start()]
        if match.group("close"):  # `<property name="db.password">`
            keyed = re.search(r"<[\w:-]+[ ](?:name|key)=[\"'][\w.-]*$", before) is not None
            return keyed and has_digit_and_letter(value) and not is_wordy(value)
        judged = kind == "password" or is_mixed(value)
        return re.search(r"<[\w:.-]*$", before) is not None and judged and not is_ordinary_word(value)
    alone = kind == "password" and _alone_in_line(text, end, match)
    if is_ordinary_word(value) and not (alone and is_letters(value) and value.lower() not in ORDINARY_WORDS):
        return False
    if is_verb(match):
        told = match.group("prose") and not _rest_of_line(text, end).strip(" .,!)") and is_passwordlike(value)
        return bool(match.group("assign") or told or _is_owned(match)) and len(value) >= 6 and is_mixed(value)
    if is_letters(value):
        return _word_is_secret(value, kind, text, end, match)
    return _mixed_is_secret(value, kind, text, end, match, alone)


def _unjoined_is_secret(value: str, kind: str, after: str, match: re.Match[str]) -> bool:
    """True for a secret that follows its name without a join."""
    if kind != "password" and len(value) >= 24 and not match.group("other"):
        hash_like = kind == "token" and re.match(r"[0-9a-fA-F-]+$", value)
        return looks_random(value) and not hash_like
    return (
        kind == "password"
        and not is_verb(match)
        and len(value) >= 6
        and after[:1] not in ("=", "(")
        and re.search(r"=[{\[(]", value) is None  # `minLength={8}`
        and (has_digit_and_letter(value) and not is_identifier(value) and not re.match(r"[a-z]+\d$", value))
    )


def _is_set(match: re.Match[str], setter: str) -> bool:
    """True for a name behind a setter: `aws configure set aws_secret_access_key`."""
    return re.search(setter, match.string[max(0, match.start() - 80) : match.start()]) is not None


def _is_argument(value: str, kind: str, after: str) -> bool:
    """True for a setter's last argument that no word or number is."""
    if len(value) < (6 if kind == "password" else 8) or after in ("(", "=") or is_no_literal(value):
        return False
    return has_digit_and_letter(value) and not (is_wordy(value) or re.match("[0-9A-F]+$", value))


def _number_is_secret(value: str, after: str, match: re.Match[str]) -> bool:
    """True for a numeric password; false for a count."""
    joined = match.group("assign") or match.group("prose") or match.group("korean") is not None
    counted = after.lstrip(" ").startswith(_COUNTERS + _LIKENESS) or re.match(r" [a-z]{3}", after) is not None
    return bool(joined) and len(value) >= 4 and value.isdigit() and not counted


def _mixed_is_secret(value: str, kind: str, text: str, end: int, match: re.Match[str], alone: bool) -> bool:
    """True for letters and other signs; alone: nothing else on the line."""
    if match.group("name") == "_auth":
        return is_mixed(value) and not is_wordy(value)
    if kind == "password":
        if is_mixed(value) or not is_wordy(value):
            return True
        least = 2 if is_environment_line(text, match) or alone else 3 if _fills_line(text, end, match) else 0
        said = match.group("prose") or (match.group("korean") or "").strip()
        least = least or (4 if said or match.group("assign") else 0)
        return least > 0 and are_joined_words(value, least)
    if match.group("assign") and is_environment_line(text, match):
        return len(value) >= 6
    if match.group("assign") and _is_of_header(value, match, ""):
        return True
    return (
        len(value) >= 8 and is_mixed(value) and not (is_wordy(value) and len(value) < 16) and not is_identifier(value)
    )


def _with_open_end(value: str, whole: str, text: str, end: int, match: re.Match[str]) -> bool:
    """True for a secret that ends like a name: base64's `=`."""
    sure = match.group("newline") is None and not is_strict(match) and match.group("bare") is None
    password = kind_of(match) == "password"
    named = password and not is_verb(match)
    if sure and (named or match.group("assign")) and whole[-1] == "=" and is_base64(whole):
        return True
    past = end + len(whole) - len(value)
    ends = whole[-1] in ":=" and not text[past : past + 1].strip()
    if sure and ends and is_environment_line(text, match) and has_digit_and_letter(value):
        return password or len(value) >= 8
    return looks_random(value) and whole[-1] not in ":("


def _word_is_secret(value: str, kind: str, text: str, end: int, match: re.Match[str]) -> bool:
    """True for an unquoted word where only a value can stand."""
    rest = _rest_of_line(text, end).strip()
    if match.group("assign"):
        if match.group("newline"):
            return False
        if kind != "password" and _is_of_header(value, match, _rest_of_line(text, end)):
            return True
        if is_environment_line(text, match):
            return kind == "password" or len(value) >= 8
        if "=" in match.group("assign"):
            return kind == "password" and _alone_in_line(text, end, match)
        typed = (
            re.match(r"(?:[A-Z]+[a-z]+){2,}$|[a-z]\w*(?:Pass|Token|Secret|Key|_pass|_token|_key)", value) is not None
        )
        return (
            kind == "password"
            and not typed
            and not stands_for(match.group("name"), value)
            and rest in ("", ".", ",")
            and value.lower() not in text[match.start() : match.start("close")].lower()
        )
    if match.group("prose"):
        is_set = not match.group("prose").rstrip(": ").endswith(" to") or _is_set_to(text, match)
        return kind == "password" and is_set and (not rest or rest[0] in ".,!;")
    if match.group("korean") is not None:
        return kind == "password" and (rest.startswith(_COPULAS) or not rest)
    return False


def _is_set_to(text: str, match: re.Match[str]) -> bool:
    """True for `I set the root password to X`, `reset ...`."""
    before = text[max(0, match.start() - 40) : match.start()].lower()
    return re.search(r"\b(?:re)?set |\bchang|\bupdat|\brotat", before) is not None


def is_strict(match: re.Match[str]) -> bool:
    """True where only a random value counts as a secret.

    The name is a part of a longer name (`token_type`), too general, or its value stands in the next line.
    """
    name = match.group("name")
    owned = re.search(OWNED_KEY, _name_before(match) + name) or re.search(_HEADER_NAME, _name_before(match, 40))
    general = name.startswith("credential") or (name == "key" and not owned)
    below = (match.group("newline") or "").strip(" \t\n0123456789") == ""  # `|` and `>` of YAML announce the value
    return bool(match.group("other")) or general or (match.group("newline") is not None and below)


def _name_before(match: re.Match[str], most: int = 13) -> str:
    return match.string[max(0, match.start() - most) : match.start()]


def is_verb(match: re.Match[str]) -> bool:
    """True for `pass` by itself; DB_PASS, smtp-pass and dbPass are names."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    return match.group("name") == "pass" and before not in ("_", "-") and not before.isalpha()


def _is_sibling(match: re.Match[str]) -> bool:
    """True for a field beside a password's: `password_confirmation`, `passwords`."""
    return re.match(_AGAIN, match.group("other")) is not None


def _is_owned(match: re.Match[str]) -> bool:
    """True for `wifi pass is X`: something with a password owns it."""
    joined = match.group("prose") or match.group("korean") is not None
    return bool(joined) and re.search(_OWNED_PASS, _name_before(match)) is not None


def _is_talk(value: str, match: re.Match[str]) -> bool:
    """True for a word of another language, or a count: `8文字以上`."""
    if value.lower() in _FOREIGN:
        return True
    if match.group("name") not in (*_FOREIGN, *_FOREIGN_KEYS):
        return False
    plain = not any(char.isdigit() for char in value) and not (value.isascii() and is_mixed(value[:-1]))
    return plain or re.match(r"[\d~-]+[^\x00-\x7f]", value) is not None


def _is_of_header(value: str, match: re.Match[str], rest: str) -> bool:
    """True for a header's credential, words too: `X-Api-Key: mangocat12`."""
    name = match.group("name")
    header = re.search(_HEADER_NAME, _name_before(match, 40))
    if header is None or (name == "key" and not re.search(OWNED_KEY, _name_before(match) + name)):
        return False
    alone = header.group("own") is not None and rest.strip()[:1] in ("", '"', "'", "`")
    least = 8 if value.isascii() else 5
    return len(value) >= least and (has_digit_and_letter(value) or (alone and value.isascii() and value.isalpha()))


def is_no_name(match: re.Match[str]) -> bool:
    """True for a part of another word, as in `compass`.

    For `dbPass`, `psk` and `REDIS_AUTH` only an assigned value counts.
    """
    name = match.group("name")
    if name not in ("pass", "pw", "psk", "_auth"):
        return False
    if name in ("pass", "pw"):
        before = match.string[max(0, match.start() - 12) : match.start()]
        if not ("a" <= before[-1:] <= "z" or (before[-1:].isdigit() and before.endswith(PASS_OWNERS))):
            return False
        if not before.endswith(PASS_OWNERS):
            return True
    return any(match.group(join) is not None for join in ("prose", "bare", "quoted", "call"))


def _is_of_key(value: str, match: re.Match[str]) -> bool:
    """True for `SESSION_KEY=mangotree81x`; false for columns and public keys."""
    before = _name_before(match)
    named = match.group("name") == "key" and not match.group("other") and match.group("assign") == "="
    plain = re.search(r"(?:public|primary|foreign|cache|sort|partition|hash|range|index|group|lookup)[_-]$", before)
    return named and before.endswith("_") and not plain and len(value) >= 10 and _is_argument(value, "api-key", "")


def _starts_line(text: str, match: re.Match[str]) -> bool:
    start = text.rfind("\n", max(0, match.start() - 80), match.start()) + 1
    before = text[max(start, match.start() - 80) : match.start()]
    return re.match(r"(?:export |set |[-+>] ?)?[\w.-]*$", before) is not None


def _alone_in_line(text: str, end: int, match: re.Match[str]) -> bool:
    """True for `password=X` and nothing else: a line of settings."""
    return match.group("assign") == "=" and _fills_line(text, end, match)


def _fills_line(text: str, end: int, match: re.Match[str]) -> bool:
    return bool(match.group("assign")) and not _rest_of_line(text, end).strip() and _starts_line(text, match)


def _rest_of_line(text: str, end: int) -> str:
    line_end = text.find("\n", end, end + 200)
    return text[end : line_end if line_end >= 0 else end + 200]


def is_environment_line(text: str, match: re.Match[str]) -> bool:
    """True for a line of an environment file: `API_KEY=x`, `export DB_PASSWORD=x`."""
    name = text[match.start() : match.start("close")]
    return match.group("assign") == "=" and name.isupper()
