"""Secrets in command lines and in calls of code.

All patterns but the capital ones are for lower-case text; a match ends where the value begins.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.value_traits import is_no_literal, is_ordinary_word, is_placeholder, is_reference

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
# `auth=('kim', 'X')`, `'auth' => ['kim', 'X']`: other pairs may stand there as well.
_AUTH_PAIR = r"auth(?<![a-z]auth)[\"']?[ ]?(?:=|:|=>)[ ]?[(\[]\s{0,20}" + _ARGUMENT + _SECRET
_ORACLE_ADDRESS = r"jdbc:oracle:(?:thin|oci8?):[\w.-]{1,60}/\\{0,3}[\"']?(?P<secret>[^\s\"'@]{3,100})@"


def call_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of each secret in calls of code.

    low: the text in lower case, of the same length.
    """
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
    """Return the password spans that a pattern finds."""
    cuts = []
    for match in re.compile(pattern).finditer(low):
        start, end = match.span("secret")
        value = text[start:end].rstrip("\\")
        if _may_be_password(value):
            cuts.append((start, start + len(value), "password"))
    return cuts


def _may_be_password(value: str) -> bool:
    return not (is_no_literal(value) or is_ordinary_word(value))


_OPTIONS = r"(?:[ ]-[a-z0-9]{1,8}){1,5}"
_WITH_B = r"(?=(?:[ ]-[a-z0-9]{1,8}){0,4}[ ]-[a-z]{0,5}b)"
_WITH_N = _WITH_B + r"(?=(?:[ ]-[a-z0-9]{1,8}){0,4}[ ]-[a-z]{0,5}n)"
_WITHOUT_N = _WITH_B + r"(?!(?:[ ]-[a-z0-9]{1,8}){0,4}[ ]-[a-z]{0,5}n)"
_NAME = r"[a-z0-9_.@-]{1,60}"
_SPACE_AND_VALUE = r"[ ]+[\"']{0,5}(?=[^\s\"'-])"
_FLAG = (
    r"--(?<![\w-]--)(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|passphrase|pass|token|secret|api-key|apikey|access-key"
    r"|secret-key|auth-key|license-key)(?:[ ]+|=)[\"']{0,5}(?=[^\s\"'-])"
)
_USER_FLAG = r"-(?<=\s-)(?:[a-z]{0,6}u|-user|-proxy-user)[ =]?[\"']?[^\s:\"'/]{1,80}:"
# Flags by which programs take a password; after `mysql -p` and a space comes a database instead.
_PROGRAM_FLAGS = (
    ("mysql", r"-p(?<=\s-p)[\"']{0,5}(?=[^\s\"'-])", r"mysql(?:dump|admin)?\b"),
    ("mariadb", r"-p(?<=\s-p)[\"']{0,5}(?=[^\s\"'-])", r"mariadb\b"),
    ("sshpass", r"-p(?<=\s-p)[ ]?[\"']{0,5}(?=[^\s\"'-])", r"sshpass\b"),
    ("redis-cli", r"-a(?<=\s-a)[ ]?[\"']{0,5}(?=[^\s\"'-])", r"redis-cli\b"),
    ("login", r"-p(?<=\s-p)[ ]?[\"']{0,5}(?=[^\s\"'-])", r"(?:docker|podman|nerdctl|helm registry|az|oc) login\b"),
    ("mongo", r"-p(?<=\s-p)[ ]?[\"']{0,5}(?=[^\s\"'-])", r"mongo(?:sh|dump|restore|import|export)?\b"),
    ("ldap", r"-w(?<=\s-w)[ ]?[\"']{0,5}(?=[^\s\"'-])", r"ldap(?:search|add|modify|delete|whoami|passwd)\b"),
    ("7z", r"-p(?<=\s-p)[\"']{0,5}(?=[^\s\"'-])", r"\b7z\b"),
    ("rar ", r"-(?<=\s-)h?p[\"']{0,5}(?=[^\s\"'-])", r"\b(?:un)?rar\b"),
    ("twine", r"-p(?<=\s-p)[ ]?[\"']{0,5}(?=[^\s\"'-])", r"\btwine upload\b"),
    ("keytool", r"-(?:store|key)pass(?:[ ]+|=)[\"']{0,5}(?=[^\s\"'-])", r"keytool\b|jarsigner\b"),
    ("openssl", r"pass:(?<![a-z]pass:)(?=\S)", r"openssl\b"),
    ("openssl", r"-k(?<=\s-k)[ ][\"']{0,5}(?=[^\s\"'-])", r"openssl (?:enc|aes|des|camellia|chacha)\b"),
    ("http -", r"(?:-a(?<=\s-a)|--auth(?:=|(?=[ ])))[ ]?[\"']{0,5}[^\s:\"'/]{1,80}:(?=\S)", r"\bhttps?[ ](?![/:])"),
    ("smb", r"-u(?<=\s-u)[ ]?[\"']{0,5}[\w.\\/-]{1,60}%(?=[^\s\"'])", r"smb(?:client|get|cacls|tree)\b"),
    ("rpcclient", r"-u(?<=\s-u)[ ]?[\"']{0,5}[\w.\\/-]{1,60}%(?=[^\s\"'])", r"rpcclient\b"),
    ("freerdp", r"/p:(?<=\s/p:)[\"']{0,5}(?=[^\s\"'])", r"freerdp\d?\b"),
    ("net user", r"net user[ ]+[a-z0-9_.-]{1,40}[ ]+[\"']{0,5}(?=[!-~])(?=[^\s/*\"'-])", r""),
    (
        "wpa_passphrase",
        r"(?<=wpa_passphrase)[ ]+(?:\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|[^\s\"'-]\S{0,60})[ ]+[\"']{0,5}(?=[^\s\"'<>|])",
        r"",
    ),
    ("htpasswd", r"(?<=htpasswd)" + _WITH_N + _OPTIONS + r"[ ]+" + _NAME + _SPACE_AND_VALUE, r""),
    ("htpasswd", r"(?<=htpasswd)" + _WITHOUT_N + _OPTIONS + r"[ ]+[^\s-]\S{0,200}[ ]+" + _NAME + _SPACE_AND_VALUE, r""),
    (
        "--from-literal",
        r"--from-literal[= ][\"']{0,5}(?!user|host|port|url|name|region|db_?name)[\w.-]{1,60}=(?=[^\s\"']*\d)",
        r"create secret\b",
    ),
    ("password-stdin", r"--password-stdin[^\n|<]{0,80}<<<[ ]?[\"']{0,5}(?=[^\s\"'$])", r""),
    (
        "sudo -s",
        r"echo[ ](?:-n[ ])?[\"']{0,5}(?=[^\s|\"']{4,80}[\"']{0,5}[ ]?\|[ ]?sudo[ ](?:-[a-z]{1,8}[ ]){0,3}-s)",
        r"",
    ),
    ("chpasswd", r"(?:<<<|echo)[ ][\"']{0,5}[\w.-]{1,40}:(?=[^\s\"'])", r""),
    ("sqlplus", r"(?<=sqlplus)[ ](?:-[a-z]{1,4}[ ]){0,3}[\"']?[\w.-]{1,40}/(?=[^\s\"'@])", r""),
)
# Programs whose `-p` in lower case is another flag.
_CAPITAL_FLAGS = (
    ("mosquitto_", r"mosquitto_(?:pub|sub)\b"),
    ("zip", r"\b(?:un)?zip\b"),
    ("sqlcmd", r"\bsqlcmd\b"),
    ("bcp", r"\bbcp\b"),
)
_CAPITAL_P = r"-P(?<=\s-P)[ ]?[\"']{0,5}(?=[^\s\"'-])"
# A password piped to a program that reads one from stdin; each behind `echo` and `printf`.
_PIPED_TO = ("-stdin", "--with-token")
_PIPED = (
    r"[ ](?:-n[ ])?(?:[\"']?%s(?:\\\\?n)?[\"']?[ ])?[\"']{0,5}(?=[^\s|\"'$]{4,120}[\"']{0,5}[ ]?\|"
    r"[^\n|]{0,80}--(?:(?:password-)?stdin|with-token)\b)"
)
_FLAG_VALUE = r"[^\s\"'`<>]+"


def flag_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of each secret in a command line.

    low: the text in lower case, of the same length.
    """
    cuts: list[tuple[int, int, str]] = []
    if "--" in low:
        cuts += _flag_values(text, low, _FLAG, "password", None)
    if "curl" in low or "wget" in low or "http" in low:
        cuts += _flag_values(text, low, _USER_FLAG, "basic-auth", re.compile(r"(?:curl|wget|https?)\b"))
    for word, flag, program in _PROGRAM_FLAGS:
        if word in low:
            cuts += _flag_values(text, low, flag, "password", re.compile(program))
    if any(word in low for word in _PIPED_TO):
        for printed in ("echo", "printf"):
            cuts += _flag_values(text, low, printed + _PIPED, "password", re.compile(""))
    for word, program in _CAPITAL_FLAGS:
        if word in text and " -P" in text:
            cuts += _flag_values(text, text, _CAPITAL_P, "password", re.compile(program))
    return cuts


def _flag_values(
    text: str, low: str, flag: str, kind: str, program: re.Pattern[str] | None
) -> list[tuple[int, int, str]]:
    """Return the values of a command-line flag.

    program: counts only the flag that follows it in the same line.
    """
    cuts = []
    value = re.compile(_FLAG_VALUE)
    past = 0
    for match in re.compile(flag).finditer(low):
        if match.start() < past:
            continue
        if program is not None:
            line_start = low.rfind("\n", max(0, match.start() - 200), match.start()) + 1
            if not program.search(low, max(line_start, match.start() - 200), match.start()):
                continue
        found = value.match(text, match.end())
        if found is None or len(found.group()) < 3 or is_placeholder(found.group()):
            continue
        if program is None and is_reference(found.group()):
            continue
        # `--password options` is prose, `--token ACCESS_TOKEN` a manual's; a value piped to a login is neither.
        piped = match.group().startswith(("echo", "printf"))
        if match.group().endswith(" ") and not piped and re.match(r"[A-Za-z]+$|[A-Z_]+$", found.group()):
            continue
        if kind == "basic-auth" and found.group().isdigit() and len(found.group()) <= 5:
            continue
        name = match.group()
        past = max(found.end(), _end_of_quoted(text, match.end()))
        cuts.append((found.start(), past, "token" if "token" in name else "api-key" if "key" in name else kind))
    return cuts


def _end_of_quoted(text: str, at: int) -> int:
    """Return the end of a quoted value with spaces (`-p'two words'`).

    Its quote opens before at; 0 without quotes.
    """
    mark = text[at - 1]
    end = text.find(mark, at, at + 200) if mark in "\"'" else -1
    return 0 if end < 0 or "\n" in text[at:end] else end
