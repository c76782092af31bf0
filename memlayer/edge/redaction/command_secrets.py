"""Secrets in calls of code, URLs, `Authorization` headers and cookies."""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.typed_secrets import typed_cuts
from memlayer.edge.redaction.value_traits import (
    ORDINARY_WORDS,
    are_four_groups,
    cut_out,
    has_digit_and_letter,
    is_identifier,
    is_mixed,
    is_no_literal,
    is_ordinary_word,
    is_placeholder,
    is_reference,
    is_technical,
    is_wordy,
    looks_random,
    lowered,
    unquoted,
)

_LOGIN = (
    r"\.(?:login|log_in|sign_?in|authenticate|auth)\(\s{0,9}[\\\"']{1,5}[^\"'\n]{1,80}[\"']{1,5},\s{0,9}"
    r"[\\\"']{1,5}(?P<secret>[^\"'\n]{4,80})[\"']"
)
# `signIn("kim", "X")`, `create_user(name, mail, "X")`: nothing else says that the last literal is a password.
_ENTERS = (
    r"(?:log_?[io]n|sign_?(?:in|up|on)|authenticate|auth|(?:register|create|add|new)_?(?:super_?)?(?:user|member|account))"
    r"(?:_?(?:as|with|user|account|admin|member|by|and)\w{0,30})?\("
)
_QUOTED = r"\\{0,3}[\"'][^\"'\n]{0,80}[\"']"
_ARGUMENT = "(?:" + _QUOTED + r"|[\w.$>\[\]-]{1,60}),\s{0,20}"
_ANY_ARGUMENT = r"\s{0,20}[^,\n]{1,200},\s{0,20}"
_SECRET = r"\\{0,3}[\"'](?P<secret>[^\"'\n]{4,80})[\"']"
# The literal that must be there, and the call with its arguments: a user, then the password.
_USER_CALLS = (
    ("auth(", r"(?:http(?:basic|digest|proxy)|basic_?)auth\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("credential", r"(?:usernamepassword|network|passwordbased)credentials?\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("passwordauthentication(", r"passwordauthentication\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("plaintextauthprovider(", r"plaintextauthprovider\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("authtokens.basic(", r"authtokens\.basic\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("datasource.getconnection(", r"datasource\.getconnection\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("oracle", r"(?:cx_oracle|oracledb)\.connect\(\s{0,20}" + _ARGUMENT + _SECRET),
    ("plainauth(", r"plainauth\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    # with an address first
    ("new ", r"new[ ]\\{0,2}(?:pdo|mysqli)\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    ("mysql", r"mysqli?_p?connect\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    ("mysqli_real_connect(", r"mysqli_real_connect\(" + _ANY_ARGUMENT + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    ("getconnection(", r"drivermanager\.getconnection\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    (
        ".connect(",
        r"(?:pymysql|mysqldb|psycopg2?|pymssql|mysql\.connector)\.connect\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET,
    ),
)  # fmt: skip
_USER = r"(?:%s|[\w.$>\[\]-]{0,40}(?:user|name|mail|login|account|member)\w{0,20})" % _QUOTED
_ENTRY = _ENTERS + r"\s{0,20}(?:%s){0,2}%s,\s{0,20}%s" % (_ARGUMENT, _USER, _SECRET)
# `auth=('kim', 'X')`, `'auth' => ['kim', 'X']`: other pairs may stand there as well.
# `keyring.set_password("shop", "kim", "X")`
_VERBS = ("set", "change", "update", "put", "store")
_SETTER = r"(?:%s)_?(?:passw|secret|token|credential)[a-z_]{0,10}\((?:%s){0,3}%s(?=\))" % (
    "|".join(_VERBS),
    _ARGUMENT,
    _SECRET,
)
_AUTH_PAIR = r"auth(?<![a-z]auth)[\"']?[ ]?(?:=|:|=>)[ ]?[(\[]\s{0,20}" + _ARGUMENT + _SECRET
_ORACLE_ADDRESS = r"jdbc:oracle:(?:thin|oci8?):[\w.-]{1,60}/\\{0,3}[\"']?(?P<secret>[^\s\"'@]{3,100})@"

_URL_REST = r"://[^\s\"'`<>\\]+"
_URL_SIGNATURE = r"(?i)([?&;](?:sig|signature|x-amz-signature|x-goog-signature)=)(?=[^&#]*\d)[0-9A-Za-z%+/=_-]{16,}"
_DATABASE_SCHEME = (
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb|nats|mqtts?"
    r"|kafka|neo4j|bolt|ldaps?|smtps?|s?ftp|imaps?)(?:\+\w{1,20})?$"
)
_SURE_HOST = (
    r"(?:[\w-]+(?:\.[\w-]+)*:\d{2,5}|localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,24}|\[[0-9a-fA-F:]+\])"
    r"(?=[/?#,;)\]]|:\d|$)"
)
# Parameters that carry a credential. A vague name needs a value that looks like one.
_URL_PARAMETER = (
    r"(?i)([?&;](?:(?:[a-z0-9]{1,20}[_.-]?)?(?:api_?key|access_?key|secret_?key|client_?secret|access_?token|refresh_?token"
    r"|auth_?token|id_?token|session_?token)|service_?key|auth_?key|crtfc_?key|confm_?key|app_?id|app_?key"
    r"|subscription-key|(?P<vague>token|key|secret|auth|code|state|sid|jwt))=)(?P<value>[0-9A-Za-z%+/=_.~-]{16,})"
)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_REGISTRY_AUTH = r"\"auth\\{0,7}\"\s{0,3}:\s{0,3}\\{0,7}\"(?P<secret>[0-9A-Za-z+/]{11,}={0,2})\\{0,7}\""
_HEADER = (
    r"authorization[\"'\]]{0,2}\s{0,3}[:=,]\s{0,3}[\"'`]{0,5}"
    r"(?:(?P<scheme>bearer|basic|token|apikey|bot|key|digest|ssws|geniekey|kakaoak|oauth|splunk|api-token)[ ]?)?(?=\S)"
    r"|bearer(?<![a-z]bearer)[ ]+(?=\S)|basic(?<![a-z]basic)[ ]+(?=\S)"
)
_HEADER_VALUE = r"[^\s\"'`,;<>\\]+"
_COOKIE = r"cookie(?<![a-z]cookie)[\"']?:[ ]?[\"']{0,5}(?=[\w.-]{1,80}=)"
_COOKIE_FLAG = r"(?:-b(?<=\s-b)|--cookie)[ =]?[\"']{0,5}(?=[\w.-]{1,80}=)"


def call_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of secrets in calls; low: lower case."""
    cuts: list[tuple[int, int, str]] = []
    if "(" not in low and "[" not in low and "jdbc:oracle" not in low:
        return cuts
    if "log" in low or "sign" in low or "auth" in low:
        given = [(text[cut[0] : cut[1]], cut) for cut in _found(text, low, _LOGIN)]
        cuts += [cut for value, cut in given if " " not in value or are_four_groups(value, True)]
    if any(verb in low for verb in ("log", "sign", "auth", "user", "member", "account")):
        cuts += [cut for cut in _found(text, low, _ENTRY) if _is_alone(text[cut[0] : cut[1]])]
    if "jdbc:oracle" in low:
        cuts += _found(text, low, _ORACLE_ADDRESS)
    for literal, pattern in _USER_CALLS:
        if literal in low:
            cuts += _found(text, low, pattern)
    if any(name in low for name in ("passw", "secret", "token", "credential")) and any(verb in low for verb in _VERBS):
        cuts += [cut for cut in _found(text, low, _SETTER) if is_mixed(text[cut[0] : cut[1]])]
    if "auth" in low:
        cuts += [cut for cut in _found(text, low, _AUTH_PAIR) if not text[cut[0] : cut[1]].isalpha()]
    return cuts


def _is_alone(value: str) -> bool:
    """True for a literal that no word, path or option is."""
    return " " not in value and has_digit_and_letter(value) and not (is_wordy(value) or is_identifier(value))


def _found(text: str, low: str, pattern: str) -> list[tuple[int, int, str]]:
    """Return the password spans that a pattern finds."""
    budget.check()
    cuts = []
    for match in re.compile(pattern).finditer(low):
        start, end = match.span("secret")
        value = text[start:end].rstrip("\\ ")
        if not (is_no_literal(value) or is_ordinary_word(value)):
            cuts.append((start, start + len(value), "password"))
    return cuts


def hide_request_secrets(text: str) -> str:
    """Redact secrets in URLs, headers, cookies and command-line flags."""
    if "://" in text:
        text = re.sub(_URL_REST, _hide_in_url, text)
    low = lowered(text)
    cuts = _header_cuts(text, low) if "authorization" in low or "bearer " in low or "basic " in low else []
    if "auth" in low and ('"auth"' in low or '"auth\\' in low):
        for match in re.compile(_REGISTRY_AUTH).finditer(text):
            if _names_user_and_password(match.group("secret")):
                cuts.append((*match.span("secret"), "basic-auth"))
    if "cookie" in low:
        cuts += _cookies(text, low, _COOKIE)
    if "curl" in low:
        cuts += _cookies(text, low, _COOKIE_FLAG)
    cuts += typed_cuts(text, low)
    as_meant = unquoted(text)
    if as_meant != text:
        cuts += typed_cuts(as_meant, lowered(as_meant))
    return cut_out(text, cuts)


def _header_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    cuts = []
    value = re.compile(_HEADER_VALUE)
    for match in re.compile(_HEADER).finditer(low):
        budget.check()
        value_match = value.match(text, match.end())
        word = match.group("scheme") or match.group().strip()
        if value_match and _is_credential(value_match.group(), word, match.group("scheme") is not None):
            kind = "basic-auth" if word == "basic" else "bearer-token"
            cuts.append((value_match.start(), value_match.end(), kind))
    return cuts


def _cookies(text: str, low: str, opening: str) -> list[tuple[int, int, str]]:
    """Return cookies of which at least one may identify a session."""
    budget.check()
    cuts = []
    past = 0
    for match in re.compile(opening).finditer(low):
        if match.start() < past:
            continue
        cookie = re.compile(r"[^\n\r\"']{1,8000}").match(text, match.end())
        past = cookie.end() if cookie else past
        if cookie and re.search(r"=(?=[^\s;=]{0,400}\d)[^\s;=]{8,}", cookie.group()):
            cuts.append((cookie.start(), cookie.end(), "cookie"))
    return cuts


def _hide_in_url(match: re.Match[str]) -> str:
    """Redact each `://user:password@host` in a run of URL characters."""
    budget.check()
    pieces = match.group().split("://")
    before = match.string[max(0, match.start() - 30) : match.start()]
    for i in range(1, len(pieces)):
        scheme = before if i == 1 else pieces[i - 1][-30:]
        pieces[i] = _without_url_password(pieces[i], scheme)
        if "=" in pieces[i]:
            pieces[i] = re.sub(_URL_SIGNATURE, r"\1[redacted:url-signature]", pieces[i])
            pieces[i] = re.sub(_URL_PARAMETER, _hide_parameter, pieces[i])
    return "://".join(pieces)


def _hide_parameter(match: re.Match[str]) -> str:
    value = match.group("value")
    vague = match.group("vague") is not None and (len(value) < 20 or re.match(_UUID, value, re.IGNORECASE) is not None)
    if vague or is_placeholder(value) or not looks_random(value):
        return match.group()
    name = match.group(1).lower()
    kind = "secret" if "secret" in name else "token" if "token" in name or "jwt" in name else "api-key"
    return "%s[redacted:%s]" % (match.group(1), kind)


def _names_user_and_password(value: str) -> bool:
    """True for `user:password` in base64. Docker's configuration keeps it so."""
    from binascii import Error, a2b_base64

    try:
        user, colon, password = a2b_base64(value + "=" * (-len(value) % 4)).partition(b":")
    except Error:
        return False
    return bool(colon) and len(password) >= 3 and (user + password).isascii()


def _without_url_password(rest: str, scheme: str) -> str:
    """Redact the password of a URL.

    rest: the URL after `://`. scheme: the text before. The password may hold `@`, `/`, `?` and `#`.
    """
    if rest.startswith(("[redacted:", "[")):
        return rest
    database = re.search(_DATABASE_SCHEME, scheme, re.IGNORECASE) is not None
    authority_end = len(rest)
    for stop in "/?#":
        place = rest.find(stop)
        if 0 <= place < authority_end:
            authority_end = place
    at = rest.rfind("@", 0, authority_end)
    colon = rest.find(":", 0, authority_end)
    if colon >= 0 and rest.count("@") > (at >= 0):
        at = _end_of_password(rest, at, colon, database)
    if at < 0:
        return rest
    if 0 <= colon < at:
        password = rest[colon + 1 : at]
        called = is_reference(password) and any(sign in password for sign in "([")
        if not password or is_placeholder(password) or called or password.lower() in ORDINARY_WORDS:
            return rest
        return "%s[redacted:url-password]%s" % (rest[: colon + 1], rest[at:])
    token = scheme.lower().endswith(("http", "https")) and looks_random(rest[:at])
    return "[redacted:url-password]" + rest[at:] if token else rest


def _end_of_password(rest: str, at: int, colon: int, database: bool) -> int:
    """Return the position of the `@` before the host."""
    is_port = re.match(r"\d{2,5}(?:[/,?]|$)", rest[colon + 1 : colon + 7]) is not None
    host = re.compile(_SURE_HOST)
    if (at >= 0 and (at < colon or host.match(rest, at + 1))) or (is_port and at < 0):
        return at
    later = [match.start() for match in re.compile("@").finditer(rest, max(at, colon))]
    sure = [place for place in later if host.match(rest, place + 1)]
    if sure:
        return sure[-1]
    return later[0] if at < 0 and database and later else at


def _is_credential(value: str, word: str, in_header: bool) -> bool:
    """True for a plausible credential of a header.

    word: the scheme. Without a header around them `basic` and `bearer` are ordinary words.
    """
    digits = any(char.isdigit() for char in value)
    if in_header:
        credible = len(value) >= 6 and (digits or "=" in value or not (value.islower() or value.istitle()))
    else:
        long_enough = len(value) >= (12 if word == "basic" else 16)
        credible = long_enough and (digits or value.endswith("=")) and looks_random(value)
        if word.startswith("authorization"):
            credible = credible or (len(value) >= 8 and has_digit_and_letter(value) and not is_technical(value))
    return credible and not (is_placeholder(value) or is_reference(value))
