"""Secrets that only the name beside them gives away: `password is X`, `비밀번호는 X`, `API_KEY=X`, `"token": "X"`.

Only the value is replaced, so the sentence still reads. How sure a value must look depends on what joins it to its
name: a quoted literal after `=` may be any word, a word in prose must look like no ordinary one.
"""

from __future__ import annotations

import re

from memlayer.core.cuts import cut_out, lowered
from memlayer.core.secret_names import NAME_START, NAMED_VALUE, OWNED_KEY, TRIGGERS
from memlayer.core.secret_phrases import phrase_cuts
from memlayer.core.secret_values import (
    is_number,
    is_ordinary_word,
    is_placeholder,
    is_reference,
    is_technical,
    is_wordy,
    looks_random,
)

_VALUE = (
    r"(?P<opener>[bru]{0,2}(?:'\"'\"'|\\{0,7}[\"'`‘“]))"
    r"|[가-힣]{1,10}[0-9]{3,}[!-~]*"
    r"|(?:[^\s\"'`<>,;&\uac00-\ud7a3\u3000-\u303f\uff01-\uff60]|[,;&](?!\s|$|[\w.-]{1,30}[ ]?[=:]))+"
)
_WORDS_TO_LINE_END = r"[a-z]+(?:[ -][a-z]+){2,11}(?=[.,!]?(?:\s*$|\n|[\"'\\]))"
_MAX_JUDGED = 300  # characters of a value looked at; an accepted value is removed to its end
_CLOSERS = {"‘": "’", "“": "”"}
# After digits or a word in Korean these say that it counts or is a means, not that it is the secret itself.
_COUNTERS = (
    "자", "글자", "개", "번", "회", "일", "분", "초", "시간", "년", "월", "원", "명", "건",
    "토큰", "비트", "바이트", "차", "단계", "%",
)  # fmt: skip
_COPULAS = (
    "야", "이야", "입니다", "이에요", "예요", "에요", "이고", "임", "이다", "이니", "인데", "였",
    "이었", "라고", "이라고",
)  # fmt: skip
_FIELD = r"(?:칸|필드|입력|화면|버튼)"  # what a password is typed into; a name may stand behind it
_PLACE = " 안에"  # where a key is kept


def hide_named_secrets(text: str) -> str:
    """Text with the value beside every telling name replaced by `[redacted:<kind>]`."""
    low = lowered(text)
    cuts = phrase_cuts(text, low)
    if any(word in low for word in TRIGGERS):
        past = 0
        joined = re.compile(NAMED_VALUE)
        for name in re.compile(NAME_START).finditer(low):
            match = joined.match(low, name.start()) if name.start() >= past else None
            found = _secret_span(text, match) if match else None
            if match is not None and found is not None:
                past = found[1]
                cuts.append((found[0], past, _kind(match)))
    return cut_out(text, cuts)


def _kind(match: re.Match[str]) -> str:
    name = match.group("name") + match.group("suffix")
    if match.group("name") in ("key", "키"):
        name = _name_before(match) + name
    for kind, signs in (
        ("password", ("pass", "pw", "비밀번호", "비밀 번호", "비번", "패스", "암호")),
        ("token", ("token", "토큰")),
        ("private-key", ("private", "개인 키", "개인키")),
        ("secret", ("secret", "시크릿", "비밀")),
        ("credential", ("credential",)),
    ):
        if any(sign in name for sign in signs) and "암호화" not in name:
            return kind
    return "api-key"


def _secret_span(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """The range of the value that follows a name and its join, or None when it is no secret."""
    value = re.compile(_VALUE).match(text, match.end(), match.end() + _MAX_JUDGED)
    if value is None or _is_product(match):
        return None
    opener = value.group("opener")
    if opener:
        start = value.end()
        mark = opener.lstrip("bruBRU")
        mark = mark[:-1] + _CLOSERS.get(mark[-1], mark[-1])
        end = text.find(mark, start, start + 8 * _MAX_JUDGED)
        line_end = text.find("\n", start, start + 8 * _MAX_JUDGED)
        if end <= start or 0 <= line_end < end:
            return None
        return (start, end) if _quoted_secret(text[start:end], match) else None
    start, end = value.span()
    whole = value.group()
    if r"\n" in whole and whole.endswith((":", "=")):  # the next line's name, in JSON
        whole = whole[: whole.index(r"\n")]
    if whole.endswith("(") and "가" <= text[end : end + 1] <= "힣":  # X(으)로
        whole = whole[:-1]
    kept = whole.rstrip(".,;:)]}*|\\")
    if kept and _bare_secret(kept, whole, text, start + len(kept), match):
        if end - start >= _MAX_JUDGED:
            rest = re.compile(r"[^\s\"'`<>]*").match(text, end)
            return start, rest.end() if rest else end
        return start, start + len(kept)
    return _passphrase(text, start, match)


def _quoted_secret(value: str, match: re.Match[str]) -> bool:
    kind, strict = _kind(match), _strict(match)
    value = value.strip()
    if len(value) < 4 or is_placeholder(value) or "${" in value:
        return False
    if is_reference(value) or is_technical(value) or is_ordinary_word(value):
        return False
    if _verb(match) and not match.group("assign"):
        return False
    if " " in value:
        words = value.split()
        return "phrase" in match.group("name") and len(words) >= 3 and not any(is_ordinary_word(w) for w in words[:2])
    if match.group("call") and match.group("name") in ("password", "passwd", "passphrase") and not strict:
        return bool(match.group("close")) and _mixed(value)
    if strict or match.group("call"):
        return looks_random(value) and match.group("name") != "pwd"
    if match.group("korean") is not None and re.match(_FIELD, match.group("korean").lstrip()):
        return _mixed(value)
    if match.group("korean") is not None and not match.group("korean").strip():
        return kind == "password" or _mixed(value)
    if kind == "password":
        return not is_number(value) or len(value) >= 4
    return len(value) >= 8 and not is_number(value) and (not is_wordy(value) or any(c.isdigit() for c in value))


def _bare_secret(value: str, whole: str, text: str, end: int, match: re.Match[str]) -> bool:
    kind = _kind(match)
    after = text[end : end + 4]
    if kind == "private-key" and match.group("korean") is not None and after.startswith(_PLACE):
        return False
    if len(value) < 16 and whole.endswith((":", "=", "(", "[", "{")):
        return False
    if len(value) < 4 or is_placeholder(value) or is_reference(value) or is_technical(value):
        return False
    if whole.endswith((":", "=", "(", "[", "{")) or value.startswith(("-", "|", "//", "=", "!=")):
        return looks_random(value) and not whole.endswith((":", "("))
    if value[0] in "#*?@" and not (kind == "password" and match.group("assign") and _digit_and_letter(value)):
        return False
    if match.group("bare"):
        if kind != "password" and len(value) >= 24 and not match.group("other"):
            hash_like = kind == "token" and re.match(r"[0-9a-fA-F-]+$", value)
            return looks_random(value) and not hash_like
        return (
            kind == "password"
            and not _verb(match)
            and len(value) >= 6
            and after[:1] not in ("=", "(")
            and (_digit_and_letter(value) and not _identifier(value) and not re.match(r"[a-z]+\d$", value))
        )
    if (
        _strict(match)
        or match.group("quoted")
        or match.group("call")
        or match.group("attribute")
        or "|" in (match.group("assign") or "")
    ):
        return looks_random(value) or (match.group("attribute") is not None and _mixed(value))
    if is_number(value):
        joined = match.group("assign") or match.group("prose") or match.group("korean") is not None
        counted = after.lstrip(" ").startswith(_COUNTERS) or re.match(r" [a-z]{3}", after) is not None
        return kind == "password" and bool(joined) and len(value) >= 4 and value.isdigit() and not counted
    if match.group("element"):
        tag = re.search(r"<[\w:.-]*$", text[max(0, match.start() - 60) : match.start()])
        judged = kind == "password" or _mixed(value)
        return tag is not None and not match.group("close") and judged and not is_ordinary_word(value)
    if is_ordinary_word(value):
        return False
    if _verb(match):
        return bool(match.group("assign")) and len(value) >= 6 and _mixed(value)
    if _letters_only(value):
        return _word_is_secret(value, kind, text, end, match)
    if kind == "password":
        return _mixed(value) or not is_wordy(value)
    if match.group("assign") and _environment_line(text, match):
        return len(value) >= 6
    return len(value) >= 8 and _mixed(value) and not (is_wordy(value) and len(value) < 16) and not _identifier(value)


def _word_is_secret(value: str, kind: str, text: str, end: int, match: re.Match[str]) -> bool:
    """A word of letters only, unquoted: a secret where nothing but a value can stand."""
    line_end = text.find("\n", end, end + 200)
    rest = text[end : line_end if line_end >= 0 else end + 200].strip()
    if match.group("assign"):
        if "newline" in match.groupdict() and match.group("newline"):
            return False
        if _environment_line(text, match):
            return kind == "password" or len(value) >= 8
        if "=" in match.group("assign"):
            return kind == "password" and not rest and match.group("assign") == "=" and _starts_line(text, match)
        typed = (
            re.match(r"(?:[A-Z]+[a-z]+){2,}$|[a-z]\w*(?:Pass|Token|Secret|Key|_pass|_token|_key)", value) is not None
        )
        return (
            kind == "password"
            and not typed
            and rest in ("", ".", ",")
            and value.lower() not in text[match.start() : match.start("close")].lower()
        )
    if match.group("prose"):
        said = not match.group("prose").rstrip(": ").endswith(" to") or _is_set_to(text, match)
        return kind == "password" and said and (not rest or rest[0] in ".,!;")
    if match.group("korean") is not None:
        return kind == "password" and (rest.startswith(_COPULAS) or not rest)
    return False


def _is_set_to(text: str, match: re.Match[str]) -> bool:
    """`I set the root password to X`, `reset the password to X`."""
    before = text[max(0, match.start() - 40) : match.start()].lower()
    return re.search(r"\b(?:re)?set |\bchang|\bupdat|\brotat", before) is not None


def _passphrase(text: str, start: int, match: re.Match[str]) -> tuple[int, int] | None:
    """`passphrase: correct horse battery staple`: three or more words up to the end of the line."""
    if "phrase" not in match.group("name") or not (match.group("assign") or match.group("prose")):
        return None
    found = re.compile(_WORDS_TO_LINE_END).match(text, start, start + _MAX_JUDGED)
    if found is None or any(is_ordinary_word(word) for word in found.group().split()):
        return None
    return found.span()


def _strict(match: re.Match[str]) -> bool:
    """The name is only part of a longer one (`token_type`), too general, or its value stands in the next line."""
    name = match.group("name")
    general = name.startswith("credential") or (name == "key" and not re.search(OWNED_KEY, _name_before(match) + name))
    return bool(match.group("other")) or general or match.group("newline") is not None


def _name_before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 13) : match.start()]


def _is_product(match: re.Match[str]) -> bool:
    """`1Password "platform"`; what 1Password is said to be, or stands behind its colon, is judged like the rest."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    joined = match.group("quoted") or match.group("bare")
    return bool(joined) and match.group("name") == "password" and re.search(r"(?:^|\W)1$", before) is not None


def _verb(match: re.Match[str]) -> bool:
    """`pass` by itself is more often a verb; DB_PASS and smtp-pass are names."""
    return match.group("name") == "pass" and match.string[max(0, match.start() - 1) : match.start()] not in ("_", "-")


def _starts_line(text: str, match: re.Match[str]) -> bool:
    start = text.rfind("\n", max(0, match.start() - 80), match.start()) + 1
    before = text[max(start, match.start() - 80) : match.start()]
    return re.match(r"(?:export |set |[-+>] ?)?[\w.-]*$", before) is not None


def _environment_line(text: str, match: re.Match[str]) -> bool:
    """`API_KEY=x`, `export DB_PASSWORD=x`: a line of an environment file or shell."""
    name = text[match.start() : match.start("close")]
    return match.group("assign") == "=" and name.isupper()


def _letters_only(value: str) -> bool:
    return re.match(r"^[A-Za-z_]+$", value) is not None


def _identifier(value: str) -> bool:
    return re.match(r"^[a-z]+(?:_[a-z0-9]+)+$|^[a-z]+(?:[A-Z][a-z]+)+\d?$", value) is not None


def _digit_and_letter(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _mixed(value: str) -> bool:
    """Letters with digits or symbols, as passwords have."""
    digits = any(char.isdigit() for char in value)
    symbols = any(not char.isalnum() and char not in "-_./" for char in value)
    return any(char.isalpha() for char in value) and (digits or symbols) and not _identifier(value)
