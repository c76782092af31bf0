"""Password hashes as crypt, passlib, Django, LDAP and databases write them: whoever has one can guess on."""

from __future__ import annotations

import re

_A = r"[A-Za-z0-9./+]"
_END = r"(?![A-Za-z0-9./+$])"
# literal that is looked for first, pattern
_HASHES = (
    ("$2", r"\$2[abxy]?\$\d\d\$[A-Za-z0-9./]{53}" + _END),
    ("$", r"\$[15689]\$(?:rounds=\d{1,9}\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{22,86}" + _END),
    ("$apr1$", r"\$apr1\$[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{22}" + _END),
    ("$", r"\$(?:y|gy|7)\$[A-Za-z0-9./]{3,40}(?:\$[A-Za-z0-9./]{6,64})?\$[A-Za-z0-9./]{43}" + _END),
    ("$argon2", r"\$argon2(?:id|[id])\$(?:v=\d{1,3}\$)?[a-z]=\d{1,9}(?:,[a-z]{1,6}=\w{1,12}){1,5}"
     r"\$" + _A + r"{8,90}\$" + _A + r"{16,180}=?"),
    ("$pbkdf2", r"\$pbkdf2(?:-sha\d{1,3})?\$\d{1,9}\$" + _A + r"{4,90}\$" + _A + "{20,120}"),
    ("pbkdf2", r"(?<![\w$])pbkdf2(?:_sha\d{1,3}\$|:sha\d{1,3}:)\d{1,9}\$[\w./+-]{4,90}\$" + _A + "{20,180}={0,2}"),
    ("$scrypt$", r"\$scrypt\$ln=\d{1,2},r=\d{1,3},p=\d{1,3}\$" + _A + r"{8,90}\$" + _A + "{20,120}=?"),
    ("scrypt:", r"(?<![\w$])scrypt:\d{1,9}:\d{1,3}:\d{1,3}\$[\w./+-]{4,64}\$[0-9a-f]{64,256}"),
    ("$", r"\$[PH]\$[A-Za-z0-9./]{31}" + _END),
    ("$S$", r"\$S\$[A-Za-z0-9./]{52}" + _END),
    ("}", r"\{(?:SSHA|SHA|SMD5|MD5)\d{0,3}\}[A-Za-z0-9+/]{20,180}={0,2}"),
    ("*", r"(?<![\w*])\*[0-9A-F]{40}(?![0-9A-Za-z])"),
    ("SCRAM-SHA-", r"SCRAM-SHA-\d{1,3}\$\d{1,9}:[A-Za-z0-9+/=]{8,90}\$[A-Za-z0-9+/=]{16,180}:[A-Za-z0-9+/=]{16,180}"),
    ("md5", r"(?<![\w-])md5[0-9a-f]{32}(?![0-9A-Za-z])"),
    (":::", r"(?<=:)[0-9a-fA-F]{32}:[0-9a-fA-F]{32}(?=:::)"),
)  # fmt: skip
_LEAST_VARIED = 10  # distinct characters


def hide_password_hashes(text: str) -> str:
    """Text with every password hash replaced by `[redacted:password-hash]`."""
    for literal, pattern in _HASHES:
        if literal in text:
            text = re.sub(pattern, _hide, text)
    return text


def _hide(match: re.Match[str]) -> str:
    return "[redacted:password-hash]" if len(set(match.group())) >= _LEAST_VARIED else match.group()
