"""Grammar of telling names (`password`, `API_KEY`, `비밀번호`) and their joins.

A join is the text between a name and its value. All patterns are for lower-case text. Groups of NAMED_VALUE: name,
suffix (`_prod`, `_key`), other (any other rest of the name), close (quotes and brackets after it), then exactly one
join: element, attribute, typed, equal, assign (with newline), call, quoted, prose, korean, bare.
"""

from __future__ import annotations

TRIGGERS = (
    "pass", "pwd", "pw", "psk", "_auth", "secret", "token", "key", "credential",
    "비밀번호", "비번", "패스", "암호", "토큰", "시크릿", "키",
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


def _owned(key: str, owners: tuple[str, ...], joint: str) -> str:
    """Return a pattern for key with an owner before it.

    The pattern starts with the literal, which lets the engine skip everything else.
    """
    return "|".join("(?<=%s%s)|(?<=%s%s%s)" % (owner, key, owner, joint, key) for owner in owners)


_NAMES = "|".join(
    [
        r"pass(?:word|wd|phrase|code)", "requirepass", r"pass(?![a-z])",
        r"pw(?![a-z])", "pwd",
        r"psk(?<![a-z]psk)(?![a-z0-9])", "_auth(?![a-z0-9_-])", "secret(?!s?manager)(?<!:[0-9]{12}:secret)",
        r"token(?<!publickeytoken)(?<!next[_-]token)(?<!nexttoken)(?<!page[_-]token)(?<!pagetoken)(?<!locktoken)",
        "credentials?",
        "key(?![a-z])(?:" + _owned("key", _KEY_OWNERS, "[ _-]") + "|(?<=[_-]key)(?<!public[_-]key))",
        "비밀 ?번호", "비번", "패스워드", "패스프레이즈", "암호(?![화학문])", "토큰", "시크릿",
        "키(?=[\\s는은가이를을:=：\"'])(?:" + _owned("키", _KOREAN_KEY_OWNERS, " ") + ")",
    ]
)  # fmt: skip
OWNED_KEY = "(?:%s)[ _-]?key$" % "|".join(_KEY_OWNERS)
# A run that goes on for 60 characters is no name; looking further from each of its parts would be slow.
NAME_START = r"\[redacted:[a-z0-9-]+\]|(?:" + _NAMES + r")(?![a-z0-9_-]{60})"
_NAME = (
    "(?P<name>" + _NAMES + ")"
    r"(?P<suffix>(?:[_-]?(?:access_?key|key_?base|key|value|val|string|str|text|plain|prod(?:uction)?|dev(?:elopment)?|staging|stg"
    r"|test|live|old|new|current|root|admin|user|db|default|main|word|\d{1,3})(?![a-z])){0,3})"
    r"(?P<other>[a-z0-9_-]{0,40})(?![a-z0-9_-])"
)
_PREPOSED = r"(?:(?:for|of|to|on|in|at|from)[ ](?:[\w.'@/-]{1,40}[ ]){1,6}?)?"
NAMED_VALUE = _NAME + (
    r"(?P<close>(?:['](?!s )|[\"`\])*}\\]){0,9})(?:[ ]?[(（][^()（）\n]{1,30}[)）])?"
    r"(?:(?P<element>(?:[ ][^<>\n]{0,80})?>)(?=[^<>\s]{1,400}</)"
    r"|(?P<attribute>(?:[\s,]|\\n){1,12}[\"']?value[\"']?[ ]?[:=][ ]?)"
    r"|(?P<typed>[ ]?:[ ]?[a-z_][\w.\[\]|, ]{0,40}=[ ]?(?=\\{0,7}[\"'`])|[ ](?:string|str)[ ]=[ ]?(?=\\{0,7}[\"`]))"
    r"|(?P<equal>[ \t]{0,8}===?[ ]?(?=\\{0,7}[\"'`]))"
    r"|(?P<assign>[ \t]{0,8}(?::=|=>|->|→|=|:|：|＝|\|)(?!=)[ \t]{0,4}\*{0,2}[ ]?"
    r"(?P<newline>(?:[>|][+-]?\d?)?(?:\n[ ]{0,8}(?:\d{1,6}\t)?[ \t]{0,8}){1,2})?)"
    r"|(?P<call>,[ ]?(?=\\{0,7}[\"']))"
    r"|(?P<quoted>[ \t]{1,4}(?=\\{0,7}[\"'`]))"
    r"|(?P<prose>['’]s[ ]|[ ](?:for|of|to|on|in|at)[ ](?:[\w.'@/-]{1,40}[ ]){0,5}?[\w.'@/-]{1,40}[ ]?[:=][ ]"
    r"|[ ]"
    + _PREPOSED
    + r"(?:is|was|will be|should be|to|became)[ ]?:?[ ](?:now[ ]|still[ ]|currently[ ]|set to[ ]|changed to[ ])?)"
    r"|(?P<korean>(?:[ ]?(?:는|은|가|이|를|을|도)|(?<=[가-힣]))[ ]?"
    r"(?:[가-힣 ()]{0,20}(?:[:=：＝→]|->)[ ]?\n?|(?:[가-힣]{1,8}[ ]){0,3})(?=[!-~‘“가-힣]))"
    r"|(?P<bare>[ ](?=[!-~])))"
)
