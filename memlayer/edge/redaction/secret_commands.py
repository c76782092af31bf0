"""Commands whose output shows a secret: nothing of it is kept.

No pattern knows a password that stands alone, as `op read`, `printenv DB_PASSWORD` or `jq -r .db.password` print it.
The command tells. One that hands the secret on (`curl -H "$(...)"`, `| docker login`, `> file`) prints none.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.named_value_rules import SECRET_NAME
from memlayer.edge.redaction.value_traits import rows

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    _Row = tuple[tuple[str, ...], str, str]

_READ: list[_Row] = []  # the table, once it was read
_MAX_CHARS = 20_000  # of a command. A longer one is not searched, and its output not kept
_SEARCHED_CHARS = 2_000  # of a part of it

_PART = r"(?:\\.|[^\\\n;&|\"']|\"(?:\\.|[^\"\\])*\"|'[^']*'|&(?!&)|\|(?!\|)|[\"'\\])+"
_CAPTURED = r"\$\((?!<)(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`"
_SAYS = r"(?:^|[|({]|\b(?:do|then|else|sudo|exec|time)\b)[ ]*(?:echo|printf|print|write-(?:host|output))\b|<<<"
_HANDED_ON = (
    r"\|[ ]*(?:sudo[ ]+)?(?:wc|(?:md5|sha\d*|cksum|b2)sum|shasum|pbcopy|xclip|xsel|wl-copy|clip(?:\.exe)?|ssh-add"
    r"|\S+[ ][^|]*--(?:password-)?stdin|\S+[ ](?:\S+[ ])?login\b|(?:kubectl|oc)[ ][^|]*(?:apply|create)|psql|mysql"
    r"|(?:docker|podman)[ ]secret|gh[ ]secret|gcloud[ ]secrets|grep[ ]+(?:-\w+[ ]+)*-\w*[cq]\w*)\b[^|]*$"
    r"|(?<![\d>&-])>>?[ ]*(?!&|/dev/(?:stdout|stderr|tty))[^\s|>&]+(?:[ ]+2>\S+)?[ ]*$"
)
_CODE = r"(?!\.(?:helper|length|[jt]sx?|py|go|md|test|spec|java|rb|rs|php|css|html|sh|cs|vue|kt)\b)"
_NAMES = (
    "(?:"
    + SECRET_NAME
    + ")"
    + _CODE
    + (
        r"|(?:database|db|redis|mongo(?:db)?|postgres(?:ql)?|mysql|amqp|broker|jdbc)_?(?:url|uri|dsn)(?![a-z0-9_])"
        r"|(?:connection_?string|mnemonic|seed_?phrase|_pat|_salt|_jwt|(?:session_?|secret_?)cookie|otp)(?![a-z0-9_])"
    )
)
_VARIABLE = (
    r"(?:\$\{?(?:env:)?!?|%|\$\{\{[ ]*)(?!(?:old)?pwd\b)[\w.]{0,60}?(?:" + _NAMES + r"|(?<=[$%{])key(?![a-z_]))(?!:?\+)"
)
_STORE = (
    r"secret|passw|credential|vault|keychain|keyring|1password|bitwarden|get_?token|access_?token"  # in a tool's name
)
_CAPTURES = r"(?:export[ ]+|local[ ]+|readonly[ ]+)?(?P<name>\w{1,60})=[\"']?(?:\$\(|`)(?P<command>[^`]*?)[)`][\"']?$"
_FILE_ENDS = r"(?=$|[\s\"'`)|;>&,\]:])"
_KEPT_IN = "(?:secret|credential|password|api[_-]?key|(?:access|auth|api|bot|refresh)[_-]?token)s?"
_FILE = (
    r"(?:^|[\s\"'=/:@<(])(?:"
    r"\.env(?!\.(?:example|sample|template|dist|schema|defaults?)\b)(?:\.[\w.-]+)?|[\w-]+\.env"
    r"|[._]?(?:netrc|pgpass|my\.cnf|npmrc|pypirc|git-credentials|htpasswd|vault-token|dockercfg|s3cfg|boto|kdbx)"
    r"|\.aws/credentials|\.docker/config\.json|\.?kube/config|kubeconfig|/?etc/shadow|\.config/gh/hosts\.ya?ml"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|\.ssh/id_[\w-]+"
    r"|\S{0,200}\.(?:pem|key|p12|pfx|jks|ppk|kdbx|keystore|tfvars|tfstate|ovpn|gpg|age|agekey)"
    r"|(?:var/)?run/secrets/\S{1,200}"
    r"|\S{0,200}?" + _KEPT_IN + r"(?:[._-]?(?:prod(?:uction)?|dev|stag(?:e|ing)|local|test|db))?"
    r"(?:\.(?:ya?ml|json|toml|ini|txt|env|cfg|conf|properties|enc|b64|csv|xml))|master\.key"
    r"|\S{0,200}/\.?(?:" + _KEPT_IN + r"|token)|(?:\S{0,200}/)?secrets?/[\w./-]{1,80}(?<!\.md)|\.token"
    r"|(?:[\w-]{0,40}service[-_]?account|client_secret|google-?credentials)[\w-]{0,40}\.json"
    r")" + _FILE_ENDS
)
_NAMED = {"name": _NAMES, "variable": _VARIABLE, "file": _FILE}  # by what a row of the table shows
_FILE_PUBLIC = r"(?:public|\bpub|ca[-_]?cert|cert|chain|\.pub)\w*\.(?:pem|key|asc)"


def shows_secret(command: str) -> bool:
    """True if a command prints a secret, or a value named so."""
    if len(command) > _MAX_CHARS:
        return True
    low = command.lower().replace("\\\n", "  ")
    rows = [row for row in _rows() if any(word in low for word in row[0])]
    parts = [part.group().strip() for part in re.finditer(_PART, low)] if rows else []
    return any(_part_shows(part, rows) or _says_captured(part, parts[at + 1 :], rows) for at, part in enumerate(parts))


def answer_shows_secret(tool: str, words: list[str]) -> bool:
    """True if a tool's answer to these words shows a secret."""
    if re.search(_STORE, tool.lower()) or shows_secret("\n".join(words)):
        return True
    low = [word.lower()[:_SEARCHED_CHARS] for word in words if not re.search(r"\s", word)]
    return any(_names(word, "name") or _names(word, "file") for word in low)


def _part_shows(part: str, rows: list[_Row]) -> bool:
    part = part if re.search(_SAYS, part) else re.sub(_CAPTURED, " ", part)
    if len(part) > _SEARCHED_CHARS:
        return True
    if re.search(_HANDED_ON, part):
        return False
    named = {shows for shows in _NAMED if _names(part, shows)} | {"-"}
    for _, shows, pattern in rows:
        program = re.search(pattern, part) if shows in named else None
        if program is not None and (shows == "-" or _names(part[program.end() :], shows)):
            return True
    return False


def _says_captured(part: str, later: list[str], rows: list[_Row]) -> bool:
    """True for `X=$(op read ...)` whose X is printed later."""
    captured = re.match(_CAPTURES, part)
    if captured is None or not _part_shows(captured.group("command").strip(), rows):
        return False
    said = r"\$\{?%s(?!\w|:?\+)" % captured.group("name")
    return any(re.search(_SAYS, part) and re.search(said, part) and not re.search(_HANDED_ON, part) for part in later)


def _names(arguments: str, shows: str) -> bool:
    """True if arguments name a secret, in the sense of a row."""
    if shows == "file":
        return any(not re.search(_FILE_PUBLIC, found.group()) for found in re.finditer(_FILE, arguments))
    return re.search(_NAMED[shows], arguments) is not None


def _rows() -> list[_Row]:
    """Return the table: (words, shows, pattern)."""
    if not _READ:
        table = rows("secret_commands.tsv")  # whole, before another thread may see a part of it
        _READ.extend([(tuple(words.split("|")), shows, pattern) for words, shows, pattern in table])
    return _READ
