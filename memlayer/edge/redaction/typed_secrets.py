"""Secrets typed into a program: flags, last arguments, input, answers.

All patterns but those of capital flags are for lower-case text. A match of a flag ends where the value begins.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.named_value_rules import PASS_OWNERS
from memlayer.edge.redaction.value_traits import (
    are_quoted_words,
    has_digit_and_letter,
    is_issued,
    is_latin_mixed,
    is_no_literal,
    is_passwordlike,
    is_placeholder,
    is_reference,
    is_wordy,
    rows,
    words_of,
)

_FLAGS: list[list[str]] = []  # word, flag, program of each row of flags.tsv, once it was read
_FLAG = (
    r"-(?:(?<=\s-)|(?<=[\"'`(\[=]-)|(?<![\w-]-)(?=-))-?(?:[a-z0-9]{1,20}-){0,4}"
    r"(?:pass(?:word|wd|phrase)?|pw|token|secret|bearer|(?:api|access|secret|auth|license)-?key"
    r"|(?P<auth>auth|credentials?))(?:[ ]+|=)[\"']{0,5}(?(auth)(?:[^\s:\"'/]{1,80}:)?)(?=[^\s\"'-])"
)
_FLAG_NAMES = ("pass", "pw", "token", "secret", "bearer", "key", "auth", "credential")
_USER_FLAG = r"-(?<=\s-)(?:[a-z]{0,6}u|-user|-proxy-user)[ =]?[\"']?[^\s:\"'/]{1,80}:"
_CAPITAL = r"-%s(?<=\s-%s)[ ]{0,8}[\"']{0,5}(?=[^\s\"'-])"
_FLAG_VALUE = r"[^\s\"'`<>]+"

# Input of a program: a here-string, a document of one line, a pipe.
_TEXT = r"(?P<secret>[^\s\"'$`|](?:[^\"'$`\\\n]{2,118}(?=[\"'])|[^\s\"'$`|]{3,119}))"  # with blanks in quotes
_HERE = r"<<<[ ]{0,8}[\"']{0,5}" + _TEXT
_DOCUMENT = (
    r"<<-?[ ]?[\"']?(?P<end>\w{2,20})[\"']?(?P<reader>[^\n\\]{0,80})(?:\n|\\n)[ \t]{0,8}"
    r"(?P<secret>[^\s\\][^\n\\]{3,119})(?:\n|\\n)[ \t]{0,8}(?P=end)"
)
_PIPED = (
    r"[ ]{1,8}(?:-n[ ])?(?:[\"']?%s(?:\\\\?n)?[\"']?[ ])?[\"']{0,5}"
    + _TEXT
    + r"[ \"']{0,9}(?P<reader>[|>][^\n|]{1,80})"
)
_PRINTS = ("echo", "printf", "yes")
# The program reads a secret for sure, or may read one.
_READS_SECRET = (
    r"-(?:password-)?stdin\b|-with-token|passphrase"
    r"|\b(?:secrets?|env|variables?)[ ](?:add|create|set|put|versions[ ]add)\b"
    r"|\bkv[ ]put|passwd|luks|\bsudo[ ](?:-[a-z]+[ ])*-[a-z]*s\b|\bpassin\b"
)
_OPENS_LOCK = r"crypt|\blog-?[io]n\b|auth|kinit|\bgpg|unlock|key\b|vault|\bsu[ ]|ssh-add|stdin"
_SECRET_FILE = (
    r"(?:>|\btee\b(?:[ ]-a)?)[ ]{0,4}[\"']?[^\s\"'|;&<>]{0,200}?"
    r"(?:secret|passw|passphrase|(?:%s)[_-]?pass|credential|token|api_?key)" % "|".join(PASS_OWNERS)
)
_DOCUMENTED = r"[^\s\"'|;&<>]*(?:readme|notes?|count|\.(?:md|log|html|example))\b"  # of a page about secrets
_FILTER = r"\|?[ ]*(?:[ef]?grep|rg|sed|awk|jq|cut|tr|sort|head|tail|cat|tee)\b"

_LOGINS = ("log", "auth", "unlock", "token", "cred", "http-basic")
_LOGIN = (
    r"(?:log-?in|log-?on|auth|(?P<sure>unlock|http-basic)|token|creds?)(?:[a-z]{1,12})?(?:[-.:/@][\w.:/@-]{1,60})?"
    r"(?<=[\w\"'])[\"']?[ ]{1,8}(?:[\w.@-]{2,40}[ ]+)?[\"'`]?(?P<secret>[^\s\"'`가-힣]{9,200})"
    r"(?=[\"'`]?(?:\s{0,3}$|[ ]*(?:[\n;&|)\"'`\\가-힣]|--?[a-z])))"
)
# `wandb login`, `composer config --global`: a program with words of its own, and no sentence.
_PROGRAM = (
    r"(?:^|[\n;&|(`\"'$#>:]|[가-힣:][ ])[ ]*(?:sudo[ ]+)?[a-z][\w./-]{1,30}[ ]+"
    r"(?:(?!(?:to|in|the|a|an|of|for|with|by|at|and|is|my|our|your|this|that)[ ])[\w:-]+[ ]+){0,3}[\w./-]{0,40}$"
)
_ANSWER = (
    r"(?:asswor|assphrase|비밀번호|비번|암호)[^\n]{0,60}(?:\n[^\n]{0,60}){0,2}?\b(?:send|type|fill|press|respond|answer|write)[a-z_]{0,14}"
    r"[ (]{1,3}(?:-- )?\\{0,3}[\"'](?P<secret>[^\s\"'\\][^\"'\n\\]{2,78}[^\s\"'\\])(?:\\+[rn]|\s)*\\{0,3}[\"']"
)


def typed_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of secrets in commands; low: lower case."""
    named = any(name in low for name in _FLAG_NAMES)
    cuts = _flag_values(text, low, _FLAG, "password", None) if named and (" -" in low or "--" in low) else []
    if "curl" in low or "wget" in low or "http" in low:
        cuts += _flag_values(text, low, _USER_FLAG, "basic-auth", re.compile(r"(?:curl|wget|https?)\b"))
    for word, flag, program in _FLAGS or rows("flags.tsv", _FLAGS):
        capital = len(flag) == 1
        if word in low and not (capital and " -" + flag not in text):
            given = (text, _CAPITAL % (flag, flag)) if capital else (low, flag)
            cuts += _flag_values(text, *given, "password", re.compile(program))
    if "<<" in low or "|" in low or ">" in low:
        cuts += _input_cuts(text, low)
    if any(word in low for word in _LOGINS) and any(len(word) > 8 and is_latin_mixed(word) for word in words_of(low)):
        cuts += _login_cuts(text, low)
    if ('"' in low or "'" in low) and any(word in low for word in ("asswor", "assphrase", "비밀번호", "비번", "암호")):
        spans = [match.span("secret") for match in re.compile(_ANSWER).finditer(low)]
        cuts += [(*span, "password") for span in spans if not is_no_literal(text[span[0] : span[1]])]
    return cuts


def _flag_values(
    text: str, low: str, flag: str, kind: str, program: re.Pattern[str] | None
) -> list[tuple[int, int, str]]:
    """Return the values of a flag that follows `program` in its line."""
    budget.check()
    cuts = []
    value = re.compile(_FLAG_VALUE)
    past = 0
    for match in re.compile(flag).finditer(low):
        budget.check()
        if match.start() < past:
            continue
        if program is not None:
            line_start = low.rfind("\n", max(0, match.start() - 200), match.start()) + 1
            if not program.search(low, max(line_start, match.start() - 200), match.start()):
                continue
        value_match = value.match(text, match.end())
        name = match.group()
        # `-u 'kim:a b!'`: the quote stands before the user
        quoted = _end_of_quoted(text, match.end(), name) if kind == "basic-auth" else 0
        if value_match is None:
            continue
        whole = text[match.end() : max(value_match.end(), quoted)]
        if len(whole) < 3 or is_placeholder(whole):
            continue
        if program is None and not _is_given(value_match.group(), match):
            continue
        # `--password options` is prose, `--token ACCESS_TOKEN` a manual's. A value of other commands is neither.
        told = name.startswith(("convertto", "net use"))
        if name.endswith(" ") and not told and re.match(r"[A-Za-z]+$|[A-Z_]+$", value_match.group()):
            continue
        if kind == "basic-auth" and value_match.group().isdigit() and len(value_match.group()) <= 5:
            continue
        past = max(value_match.end(), quoted, _end_of_quoted(text, match.end()))
        cuts.append((value_match.start(), past, "token" if "token" in name else "api-key" if "key" in name else kind))
    return cuts


def _is_given(value: str, flag: re.Match[str]) -> bool:
    """True for a literal; behind a vague flag, for a likely one."""
    if is_reference(value):
        return False
    vague = flag.group("auth") or not flag.group().startswith("--")
    return not vague or (has_digit_and_letter(value) and not is_no_literal(value) and not is_wordy(value))


def _end_of_quoted(text: str, at: int, before: str = "") -> int:
    """Return the end of a quoted value, opened before at, or 0."""
    mark = next((sign for sign in before if sign in "\"'"), text[at - 1])
    end = text.find(mark, at, at + 200) if mark in "\"'" else -1
    return 0 if end < 0 or "\n" in text[at:end] else end


def _input_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return the input of programs that read a secret."""
    found = []
    if "<<" in low:
        for match in [*re.compile(_HERE).finditer(low), *re.compile(_DOCUMENT).finditer(low)]:
            start = max(0, match.start() - 200)
            before = re.split(r"[\n;|]|&&", low[start : match.start()])[-1]
            behind = match.groupdict().get("reader", low[match.end() : match.end() + 40].partition("\n")[0])
            found.append((match.span("secret"), behind.rpartition("|")[2] if "|" in behind else before + " " + behind))
    for printed in filter(low.count, _PRINTS):
        for match in re.compile(printed + _PIPED % "%s").finditer(low):
            found.append((match.span("secret"), match.group("reader")))
    cuts = []
    for (start, end), reader in found:
        budget.check()
        value = text[start:end]
        file = re.search(_SECRET_FILE + "(?!" + _DOCUMENTED + ")", reader) is not None
        kept = file and (are_quoted_words(value, True) if " " in value else has_digit_and_letter(value))
        if is_placeholder(value) or (re.match(_FILTER + "|>", reader) and not kept):
            continue
        end = max(end, _end_of_quoted(text, start))
        word = value.split(" ")[0]
        read = re.search(_READS_SECRET, reader) or (re.search(_OPENS_LOCK, reader) and is_passwordlike(word))
        if kept or (read and len(word) >= 4):
            cuts.append((start, end, "password"))
    return cuts


def _login_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """Return the last arguments of logins: `wandb login X`."""
    cuts = []
    for match in re.compile(_LOGIN).finditer(low):
        budget.check()
        start, end = match.span("secret")
        value = text[start:end]
        given = is_issued(value) or (match.group("sure") and is_passwordlike(value) and not is_wordy(value))
        if given and re.search(_PROGRAM, low[max(0, match.start() - 120) : match.start()]):
            cuts.append((start, end, "token"))
    return cuts
