"""Secrets that show themselves by their shape: tokens as services issue them, and private key blocks.

Every pattern starts with a literal that is first looked for in the text, so that a text without it costs a substring
search and no compilation. Each start looks at a bounded piece or consumes what it read, so the whole is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memlayer.core.secret_values import is_placeholder

_END = r"(?![0-9A-Za-z])"

# kind, literal prefixes, what follows the prefix. A letter or digit before the prefix rules a match out.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), "[0-9A-Z]{16}" + _END),
    ("gcp-key", ("AIza",), "[0-9A-Za-z_-]{33,}"),
    ("gcp-token", ("ya29.", "GOCSPX-", "1//0"), "[0-9A-Za-z_-]{20,}"),
    ("anthropic-key", ("sk-ant-",), "[0-9A-Za-z_-]{16,}"),
    ("openai-key", ("sk-",), "(?:[a-z0-9]{1,12}-){0,3}[0-9A-Za-z_-]{20,}"),
    ("huggingface-token", ("hf_", "api_org_"), "[0-9A-Za-z]{30,}"),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "[0-9A-Za-z]{30,}"),
    ("github-token", ("github_pat_",), "[0-9A-Za-z_]{30,}"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
        "[0-9A-Za-z_.-]{18,}",
    ),
    (
        "slack-token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        "[0-9A-Za-z.-]{10,}",
    ),
    ("webhook", ("https://hooks.slack.com/",), r"(?:services|workflows|triggers)/[\w/+-]{20,}"),
    (
        "webhook",
        ("https://discord.com/api/", "https://discordapp.com/api/"),
        r"(?:v\d+/)?webhooks/\d+/[\w-]{20,}",
    ),
    ("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), "[0-9A-Za-z]{10,}"),
    ("webhook-secret", ("whsec_",), "[0-9A-Za-z+/=_-]{20,}"),
    ("twilio-key", ("SK",), "[0-9a-f]{32}" + _END),
    ("sendgrid-key", ("SG.",), r"[\w-]{16,40}\.[\w-]{16,80}"),
    ("mailgun-key", ("key-",), "[0-9a-f]{32}" + _END),
    ("aws-signature", ("Signature=",), "[0-9a-f]{40,}"),
    ("npm-token", ("npm_",), "[0-9A-Za-z]{30,}"),
    ("pypi-token", ("pypi-AgE",), "[0-9A-Za-z_-]{16,}"),
    ("rubygems-key", ("rubygems_",), "[0-9a-f]{40,}"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), "[0-9A-Za-z_-]{20,}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), "[0-9a-f]{40,}"),
    ("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), "[0-9a-fA-F]{30,}"),
    ("square-token", ("sq0atp-", "sq0csp-"), "[0-9A-Za-z_-]{20,}"),
    ("databricks-token", ("dapi",), "[0-9a-f]{32}(?:-[0-9])?" + _END),
    ("grafana-token", ("glsa_", "glc_"), "[0-9A-Za-z_+/=-]{30,}"),
    ("linear-key", ("lin_api_", "lin_oauth_"), "[0-9A-Za-z]{30,}"),
    ("notion-token", ("ntn_", "secret_"), "[0-9A-Za-z]{40,}"),
    ("figma-token", ("figd_",), "[0-9A-Za-z_-]{30,}"),
    ("airtable-token", ("pat",), r"[0-9A-Za-z]{14}\.[0-9a-f]{60,}"),
    ("postman-key", ("PMAK-",), "[0-9a-f]{24}-[0-9a-f]{30,}"),
    ("newrelic-key", ("NRAK-", "NRII-"), "[0-9A-Za-z_-]{24,}"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), "[0-9A-Za-z_-]{20,}"),
    ("replicate-token", ("r8_",), "[0-9A-Za-z]{34,}"),
    ("groq-key", ("gsk_",), "[0-9A-Za-z]{40,}"),
    ("ai-key", ("pplx-", "xai-", "fw_", "tvly-"), "[0-9A-Za-z]{24,}"),
    ("supabase-key", ("sbp_", "sb_secret_"), "[0-9A-Za-z_-]{20,}"),
    ("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), "[0-9A-Za-z_.-]{30,}"),
    ("doppler-token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."), "[0-9A-Za-z._-]{36,}"),
    ("sentry-token", ("sntrys_", "sntryu_"), "[0-9A-Za-z_+/=]{30,}"),
    ("age-key", ("AGE-SECRET-KEY-1",), "[0-9A-Z]{50,}"),
    ("jwt", ("eyJ",), r"[\w-]{8,}\.(?:eyJ[\w-]{8,}(?:\.[\w-]*)?|[\w-]*(?:\.[\w-]+){3})"),
)
_FREE_PREFIXES = ("AccountKey=", "SharedAccessKey=")  # Azure connection strings
_AZURE_SECRET = r"Q~[0-9A-Za-z_~.-]{30,36}"
_TELEGRAM = r":AA(?<=[0-9]{8}:AA)[\w-]{32,34}(?![\w-])"
_DISCORD = r"[MNO](?<![\w-][MNO])[\w-]{22,28}\.[\w-]{6}\.[\w-]{26,40}(?![\w-])"

_PEM_MARK = r"-----(BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_PEM_LINE = r"[A-Za-z0-9+/=]{16,}"
_MAX_PEM_CHARS = 60_000
_PEM_TRUNCATED = (
    r"(?:(?:\\+[nr]|[\s\"'>|])*(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{0,200}|"
    + _PEM_LINE
    + r"))+(?:(?:\\+n|\n)[ \t>|]{0,20}[A-Za-z0-9+/=]{1,64}(?![^\s\\\"']))?"
)


def hide_shaped_secrets(text: str) -> str:
    """Text with every secret of a known shape replaced by `[redacted:<kind>]`."""
    if "-----BEGIN " in text:
        text = _hide_key_blocks(text)
    for kind, prefixes, rest in _SHAPES:
        for prefix in prefixes:
            if prefix in text:
                start = re.escape(prefix)
                text = _hide(text, kind, "%s(?<![0-9A-Za-z]%s)%s" % (start, start, rest), looks_issued)
    for prefix in _FREE_PREFIXES:
        if prefix in text:
            pattern = "%s(?P<secret>[0-9A-Za-z+/=]{20,})" % prefix
            text = _hide(text, "azure-key", pattern, looks_issued)
    if "Q~" in text:
        text = _hide(text, "azure-key", r"(?<![\w~.-])[\w~.-]{3}[0-9]" + _AZURE_SECRET, looks_issued)
    if ":AA" in text:
        text = _hide(text, "telegram-token", _TELEGRAM, looks_issued)
    if text.count(".", 0, 1 << 20) >= 2:
        text = _hide(text, "discord-token", _DISCORD, looks_issued)
    return text


def looks_issued(token: str) -> bool:
    """Whether a token of the right shape can be real: not `sk-your-key-here`, not xxxx, not words with hyphens."""
    issued = "-" not in token or any(char.isdigit() for char in token)
    return issued and len(set(token)) >= 10 and not is_placeholder(token)


def _hide(text: str, kind: str, pattern: str, accept: Callable[[str], bool]) -> str:
    """Replaces the group `secret`, or the whole match, where accept agrees."""

    def replace(match: re.Match[str]) -> str:
        group: int | str = "secret" if match.re.groupindex else 0
        if not accept(match.group(group)):
            return match.group()
        start, end = match.span(group)
        before, after = match.string[match.start() : start], match.string[end : match.end()]
        return "%s[redacted:%s]%s" % (before, kind, after)

    return re.sub(pattern, replace, text)


def _hide_key_blocks(text: str) -> str:
    """Private key blocks from BEGIN to END, or as far as key material goes when END is missing or far away."""
    marks = list(re.compile(_PEM_MARK).finditer(text))
    out: list[str] = []
    at = 0
    for mark, following in zip(marks, [*marks[1:], None]):
        if mark.group(1) != "BEGIN" or mark.start() < at:
            continue
        end = 0
        if following is not None and following.group(1) == "END":
            near = following.start() - mark.end() <= _MAX_PEM_CHARS
            if near and re.compile(_PEM_LINE).search(text, mark.end(), following.start()):
                end = following.end()
        if not end:
            body = re.compile(_PEM_TRUNCATED).match(text, mark.end())
            end = body.end() if body else 0
        if end:
            out += (text[at : mark.start()], "[redacted:private-key]")
            at = end
    return "".join(out) + text[at:] if out else text
