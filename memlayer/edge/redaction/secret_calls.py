"""Passwords in code that only their place among the arguments gives away: `new PDO(dsn, user, X)`, `auth=(user, X)`.

All patterns are for lower-case text.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.secret_values import is_ordinary_word, is_placeholder, is_reference, is_technical

_LOGIN = (
    r"\.(?:login|log_in|sign_?in|authenticate|auth)\(\s{0,9}[\\\"']{1,5}[^\"'\n]{1,80}[\"']{1,5},\s{0,9}"
    r"[\\\"']{1,5}(?P<secret>[^\"'\n]{4,80})[\"']"
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
    # with an address before them
    ("new ", r"new[ ]\\{0,2}(?:pdo|mysqli)\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    ("mysql", r"mysqli?_p?connect\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    ("mysqli_real_connect(", r"mysqli_real_connect\(" + _ANY_ARGUMENT + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    ("getconnection(", r"drivermanager\.getconnection\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET),
    (
        ".connect(",
        r"(?:pymysql|mysqldb|psycopg2?|pymssql|mysql\.connector)\.connect\(" + _ANY_ARGUMENT + _ARGUMENT + _SECRET,
    ),
)  # fmt: skip
# `auth=('kim', 'X')`, `'auth' => ['kim', 'X']`: other pairs may stand there as well.
_AUTH_PAIR = r"auth(?<![a-z]auth)[\"']?[ ]?(?:=|:|=>)[ ]?[(\[]\s{0,20}" + _ARGUMENT + _SECRET
_ORACLE_ADDRESS = r"jdbc:oracle:(?:thin|oci8?):[\w.-]{1,60}/\\{0,3}[\"']?(?P<secret>[^\s\"'@]{3,100})@"


def call_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of each secret found; low is text in lower case and of the same length."""
    cuts: list[tuple[int, int, str]] = []
    if "log" in low or "sign" in low or "auth" in low:
        cuts += _found(text, low, _LOGIN)
    if "jdbc:oracle" in low:
        cuts += _found(text, low, _ORACLE_ADDRESS)
    for literal, pattern in _USER_CALLS if "(" in low else ():
        if literal in low:
            cuts += _found(text, low, pattern)
    if "auth" in low:
        cuts += [cut for cut in _found(text, low, _AUTH_PAIR) if not text[cut[0] : cut[1]].isalpha()]
    return cuts


def _found(text: str, low: str, pattern: str) -> list[tuple[int, int, str]]:
    cuts = []
    for match in re.compile(pattern).finditer(low):
        start, end = match.span("secret")
        value = text[start:end].rstrip("\\")
        if _may_be_password(value):
            cuts.append((start, start + len(value), "password"))
    return cuts


def _may_be_password(value: str) -> bool:
    return not (is_placeholder(value) or is_reference(value) or is_technical(value) or is_ordinary_word(value))
