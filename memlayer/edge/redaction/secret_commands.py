"""What command lines take a password with: flags of any program, of one, and what is piped to it.

All but the capital ones are for lower-case text; a match ends where the value begins.
"""

from __future__ import annotations

_OPTIONS = r"(?:[ ]-[a-z0-9]{1,8}){1,5}"
_WITH_B = r"(?=(?:[ ]-[a-z0-9]{1,8}){0,4}[ ]-[a-z]{0,5}b)"
_WITH_N = _WITH_B + r"(?=(?:[ ]-[a-z0-9]{1,8}){0,4}[ ]-[a-z]{0,5}n)"
_WITHOUT_N = _WITH_B + r"(?!(?:[ ]-[a-z0-9]{1,8}){0,4}[ ]-[a-z]{0,5}n)"
_NAME = r"[a-z0-9_.@-]{1,60}"
_SPACE_AND_VALUE = r"[ ]+[\"']{0,5}(?=[^\s\"'-])"
FLAG = (
    r"--(?<![\w-]--)(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|passphrase|pass|token|secret|api-key|apikey|access-key"
    r"|secret-key|auth-key|license-key)(?:[ ]+|=)[\"']{0,5}(?=[^\s\"'-])"
)
USER_FLAG = r"-(?<=\s-)(?:[a-z]{0,6}u|-user|-proxy-user)[ =]?[\"']?[^\s:\"'/]{1,80}:"
# What a program takes a password with; after `mysql -p` and a space comes a database instead.
PROGRAM_FLAGS = (
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
# These mean something else in lower case.
CAPITAL_FLAGS = (
    ("mosquitto_", r"mosquitto_(?:pub|sub)\b"),
    ("zip", r"\b(?:un)?zip\b"),
    ("sqlcmd", r"\bsqlcmd\b"),
    ("bcp", r"\bbcp\b"),
)
CAPITAL_P = r"-P(?<=\s-P)[ ]?[\"']{0,5}(?=[^\s\"'-])"
# What is piped to a program that reads a password there; each behind `echo` and `printf`.
PIPED_TO = ("-stdin", "--with-token")
PIPED = (
    r"[ ](?:-n[ ])?(?:[\"']?%s(?:\\\\?n)?[\"']?[ ])?[\"']{0,5}(?=[^\s|\"'$]{4,120}[\"']{0,5}[ ]?\|"
    r"[^\n|]{0,80}--(?:(?:password-)?stdin|with-token)\b)"
)
