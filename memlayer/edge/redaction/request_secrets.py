"""Secrets of requests: passwords in URLs, `Authorization` headers, cookies."""

from __future__ import annotations

import re

from memlayer.edge.redaction.command_secrets import flag_cuts
from memlayer.edge.redaction.private_spans import cut_out, lowered
from memlayer.edge.redaction.value_traits import ORDINARY_WORDS, is_placeholder, is_reference, looks_random

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
# Parameters that carry a credential; a vague name needs a value that looks like one.
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


def hide_request_secrets(text: str) -> str:
    """Redact secrets in URLs, headers, cookies and command-line flags."""
    if "://" in text:
        text = re.sub(_URL_REST, _hide_in_url, text)
    low = lowered(text)
    cuts: list[tuple[int, int, str]] = []
    if "authorization" in low or "bearer " in low or "basic " in low:
        value = re.compile(_HEADER_VALUE)
        for match in re.compile(_HEADER).finditer(low):
            found = value.match(text, match.end())
            word = match.group("scheme") or match.group().strip()
            if found and _is_credential(found.group(), word, match.group("scheme") is not None):
                kind = "basic-auth" if word == "basic" else "bearer-token"
                cuts.append((found.start(), found.end(), kind))
    if "auth" in low and ('"auth"' in low or '"auth\\' in low):
        for match in re.compile(_REGISTRY_AUTH).finditer(text):
            if _names_user_and_password(match.group("secret")):
                cuts.append((*match.span("secret"), "basic-auth"))
    if "cookie" in low:
        cuts += _cookies(text, low, _COOKIE)
    if "curl" in low:
        cuts += _cookies(text, low, _COOKIE_FLAG)
    cuts += flag_cuts(text, low)
    return cut_out(text, cuts)


def _cookies(text: str, low: str, opening: str) -> list[tuple[int, int, str]]:
    """Return cookies of which at least one may identify a session."""
    cuts = []
    past = 0
    for match in re.compile(opening).finditer(low):
        if match.start() < past:
            continue
        found = re.compile(r"[^\n\r\"']{1,8000}").match(text, match.end())
        past = found.end() if found else past
        if found and re.search(r"=(?=[^\s;=]{0,400}\d)[^\s;=]{8,}", found.group()):
            cuts.append((found.start(), found.end(), "cookie"))
    return cuts


def _hide_in_url(match: re.Match[str]) -> str:
    """Redact `://user:password@host` in a run of URL characters.

    The run may hold several URLs.
    """
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

    rest: the URL after `://`; scheme: the text before. The password may hold `@`, `/`, `?` and `#`.
    """
    if rest.startswith(("[redacted:", "[")):
        return rest
    database = re.search(_DATABASE_SCHEME, scheme, re.IGNORECASE) is not None
    authority_end = len(rest)
    for stop in "/?#":
        found = rest.find(stop)
        if 0 <= found < authority_end:
            authority_end = found
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
    """Return the position of the `@` before the host.

    at, unless no host follows it and one follows a later `@`.
    """
    is_port = re.match(r"\d{2,5}(?:[/,?]|$)", rest[colon + 1 : colon + 7]) is not None
    host = re.compile(_SURE_HOST)
    if (at >= 0 and (at < colon or host.match(rest, at + 1))) or (is_port and at < 0):
        return at
    later = [found.start() for found in re.compile("@").finditer(rest, max(at, colon))]
    sure = [found for found in later if host.match(rest, found + 1)]
    if sure:
        return sure[-1]
    return later[0] if at < 0 and database and later else at


def _is_credential(value: str, word: str, in_header: bool) -> bool:
    """True for a plausible credential of a header.

    word: the scheme; without a header around them `basic` and `bearer` are ordinary words.
    """
    digits = any(char.isdigit() for char in value)
    if in_header:
        credible = len(value) >= 6 and (digits or "=" in value or not (value.islower() or value.istitle()))
    else:
        long_enough = len(value) >= (12 if word == "basic" else 16)
        credible = long_enough and (digits or value.endswith("=")) and looks_random(value)
    return credible and not (is_placeholder(value) or is_reference(value))
