"""Secrets known by their shape: issued tokens, password hashes, key blocks.

Sources: the issuers' own documents, and what the rules of gitleaks and betterleaks say of prefix, alphabet and length
(`tests/data/README.md` names their versions; docs/decisions/0016 why the table is kept by hand). A letter or digit
before the prefix rules a match out. Order counts: an earlier shape takes a text before a later one sees it.

Every pattern starts with a literal that is first looked for in the text, so that a text without it costs a substring
search and no compilation. Each start looks at a bounded piece or consumes the text it read, so the whole is linear.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.value_traits import is_placeholder

_A = r"[A-Za-z0-9./+]"
_HASH_END = r"(?![A-Za-z0-9./+$])"
# literal that is looked for first, pattern
_HASHES = (
    ("$2", r"\$2[abxy]?\$\d\d\$[A-Za-z0-9./]{53}" + _HASH_END),
    ("$", r"\$[15689]\$(?:rounds=\d{1,9}\$)?[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{22,86}" + _HASH_END),
    ("$apr1$", r"\$apr1\$[A-Za-z0-9./]{1,8}\$[A-Za-z0-9./]{22}" + _HASH_END),
    ("$", r"\$(?:y|gy|7)\$[A-Za-z0-9./]{3,40}(?:\$[A-Za-z0-9./]{6,64})?\$[A-Za-z0-9./]{43}" + _HASH_END),
    ("$argon2", r"\$argon2(?:id|[id])\$(?:v=\d{1,3}\$)?[a-z]=\d{1,9}(?:,[a-z]{1,6}=\w{1,12}){1,5}"
     r"\$" + _A + r"{8,90}\$" + _A + r"{16,180}=?"),
    ("$pbkdf2", r"\$pbkdf2(?:-sha\d{1,3})?\$\d{1,9}\$" + _A + r"{4,90}\$" + _A + "{20,120}"),
    ("pbkdf2", r"(?<![\w$])pbkdf2(?:_sha\d{1,3}\$|:sha\d{1,3}:)\d{1,9}\$[\w./+-]{4,90}\$" + _A + "{20,180}={0,2}"),
    ("$scrypt$", r"\$scrypt\$ln=\d{1,2},r=\d{1,3},p=\d{1,3}\$" + _A + r"{8,90}\$" + _A + "{20,120}=?"),
    ("scrypt:", r"(?<![\w$])scrypt:\d{1,9}:\d{1,3}:\d{1,3}\$[\w./+-]{4,64}\$[0-9a-f]{64,256}"),
    ("$", r"\$[PH]\$[A-Za-z0-9./]{31}" + _HASH_END),
    ("$S$", r"\$S\$[A-Za-z0-9./]{52}" + _HASH_END),
    ("}", r"\{(?:SSHA|SHA|SMD5|MD5)\d{0,3}\}[A-Za-z0-9+/]{20,180}={0,2}"),
    ("*", r"(?<![\w*])\*[0-9A-F]{40}(?![0-9A-Za-z])"),
    ("SCRAM-SHA-", r"SCRAM-SHA-\d{1,3}\$\d{1,9}:[A-Za-z0-9+/=]{8,90}\$[A-Za-z0-9+/=]{16,180}:[A-Za-z0-9+/=]{16,180}"),
    ("md5", r"(?<![\w-])md5[0-9a-f]{32}(?![0-9A-Za-z])"),
    (":::", r"(?<=:)[0-9a-fA-F]{32}:[0-9a-fA-F]{32}(?=:::)"),
)  # fmt: skip
_LEAST_VARIED = 10  # distinct characters

_END = r"(?![0-9A-Za-z])"
_HEX = "[0-9a-fA-F]"
_UUID = "%s{8}-%s{4}-%s{4}-%s{4}-%s{12}" % ((_HEX,) * 5)

_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    # clouds
    ("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), "[0-9A-Z]{16}" + _END),
    ("aws-key", ("A3T",), "[0-9A-Z]{17}" + _END),
    ("aws-token", ("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "ABSKQmVkcm9ja"), "[0-9A-Za-z+/=]{60,}"),
    ("aws-token", ("ABSK",), "[0-9A-Za-z+/]{109,}"),
    ("aws-token", ("bedrock-api-key-",), "[0-9A-Za-z+/=_-]{28,}"),
    ("aws-signature", ("Signature=",), "[0-9a-f]{40,}"),
    ("gcp-key", ("AIza",), "[0-9A-Za-z_-]{33,}"),
    ("gcp-token", ("ya29.", "GOCSPX-", "1//0"), "[0-9A-Za-z_-]{20,}"),
    ("alibaba-key", ("LTAI",), "[0-9A-Za-z]{12,26}" + _END),
    ("tencent-key", ("AKID",), "[0-9A-Za-z]{32}" + _END),
    ("yandex-key", ("AQVN", "y0_"), "[0-9A-Za-z_-]{35,}"),
    ("yandex-key", ("t1.",), r"[0-9A-Za-z_-]{8,400}={0,2}\.[0-9A-Za-z_-]{86}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), _HEX + "{40,}"),
    ("heroku-key", ("HRKU-",), "[0-9A-Za-z_-]{36,}"),
    ("cloudflare-key", ("v1.0-",), "[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("fly-token", ("fo1_", "fm1_", "fm2_", "fm1a_", "fm1r_"), "[0-9A-Za-z+/=_,-]{40,}"),
    ("netlify-token", ("nfp_",), "[0-9A-Za-z]{36,}"),
    ("vercel-token", ("vcp_", "vck_", "vca_", "vci_", "vcr_"), "[0-9A-Za-z_-]{24,}"),
    ("scalingo-token", ("tk-us-",), "[0-9A-Za-z_-]{40,}"),
    ("render-key", ("rnd_",), "[0-9A-Za-z]{24,}"),
    ("supabase-key", ("sbp_", "sb_secret_"), "[0-9A-Za-z_-]{20,}"),
    ("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), "[0-9A-Za-z_=.-]{30,}"),
    ("openshift-token", ("sha256~",), "[0-9A-Za-z_-]{43}" + _END),
    # model providers
    ("anthropic-key", ("sk-ant-",), "[0-9A-Za-z_-]{16,}"),
    ("openrouter-key", ("sk-or-",), "[0-9A-Za-z_-]{32,}"),
    ("openai-key", ("sk-",), "(?:[a-z0-9]{1,12}-){0,3}[0-9A-Za-z_-]{20,}"),
    ("huggingface-token", ("hf_", "api_org_"), "[0-9A-Za-z]{30,}"),
    ("replicate-token", ("r8_",), "[0-9A-Za-z]{34,}"),
    ("groq-key", ("gsk_",), "[0-9A-Za-z]{40,}"),
    ("nvidia-key", ("nvapi-",), "[0-9A-Za-z_-]{40,}"),
    ("langsmith-key", ("lsv2_pt_", "lsv2_sk_"), "[0-9a-f]{32}(?:_[0-9a-f]{6,})?"),
    ("pinecone-key", ("pcsk_",), "[0-9A-Za-z_]{40,}"),
    ("elevenlabs-key", ("sk_",), _HEX + "{48}" + _END),
    ("ai-key", ("pplx-", "fw_", "csk-", "e2b_", "esecret_"), "[0-9A-Za-z]{24,}"),
    ("ai-key", ("xai-", "tgp_v1_", "wandb_v1_"), "[0-9A-Za-z_-]{24,}"),
    ("ai-key", ("tvly-",), "(?:dev-|prod-)?[0-9A-Za-z]{24,}"),
    ("ai-key", ("jina_", "fc-"), "[0-9a-f]{32}[0-9A-Za-z_-]*"),
    # code hosts, registries, build services
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "[0-9A-Za-z]{30,}"),
    ("github-token", ("github_pat_",), "[0-9A-Za-z_]{30,}"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"),
        "[0-9A-Za-z_.-]{18,}",
    ),
    ("gitlab-token", ("GR1348941",), "[0-9A-Za-z_-]{18,}"),
    ("gitlab-cookie", ("_gitlab_session=",), "[0-9a-z]{32}"),
    ("bitbucket-token", ("ATBB", "BBDC-"), "[0-9A-Za-z_=+/@-]{28,}"),
    ("atlassian-token", ("ATATT3", "ATCTT3", "ATSTT3"), "[0-9A-Za-z_=-]{60,}"),
    ("npm-token", ("npm_",), "[0-9A-Za-z]{30,}"),
    ("pypi-token", ("pypi-AgE",), "[0-9A-Za-z_-]{16,}"),
    ("rubygems-key", ("rubygems_",), "[0-9a-f]{40,}"),
    ("crates-token", ("cio",), "[0-9A-Za-z]{32}" + _END),
    ("nuget-key", ("oy2",), "[0-9a-z]{43}" + _END),
    ("clojars-token", ("CLOJARS_",), "[0-9A-Za-z]{50,}"),
    ("artifactory-token", ("AKCp", "cmVmd"), "[0-9A-Za-z]{56,}"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), "[0-9A-Za-z_-]{20,}"),
    ("circleci-token", ("CCIPAT_", "CCIPRJ_"), "[0-9A-Za-z_]{40,}"),
    ("buildkite-token", ("bkua_", "bkct_", "bkat_", "bkpt_"), "[0-9A-Za-z]{30,}"),
    ("sonar-token", ("squ_", "sqp_", "sqa_"), "[0-9a-f]{40}"),
    ("sourcegraph-token", ("sgp_", "sgd_"), "(?:local_)?[0-9a-fA-F_]{40,}"),
    ("pulumi-token", ("pul-",), "[0-9a-f]{40}"),
    ("octopus-key", ("API-",), "[0-9A-Z]{25,32}" + _END),
    ("endor-key", ("endr+",), "[0-9A-Za-z-]{16}" + _END),
    ("infracost-key", ("ico-",), "[0-9A-Za-z]{32}" + _END),
    ("launchdarkly-key", ("sdk-",), _UUID),
    ("prefect-key", ("pnu_",), "[0-9A-Za-z]{36}"),
    ("databricks-token", ("dapi",), "[0-9a-f]{32}(?:-[0-9])?" + _END),
    ("vault-token", ("hvs.", "hvb.", "hvr."), "[0-9A-Za-z_-]{20,}"),
    ("doppler-token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), "[0-9A-Za-z._-]{36,}"),
    ("onepassword-token", ("ops_eyJ",), "[0-9A-Za-z+/=_-]{100,}"),
    ("onepassword-key", ("A3-",), "[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}" + _END),
    ("age-key", ("AGE-SECRET-KEY-1",), "[0-9A-Z]{50,}"),
    (
        "authress-key",
        ("authress_", "scauth_", "ext_", "sc_"),
        r"[0-9A-Za-z]{5,30}\.[0-9A-Za-z]{4,6}\.acc[_-][0-9A-Za-z-]{10,32}\.[0-9A-Za-z+/_=-]{30,}",
    ),
    ("nebula-key", ("dnkey-",), "[0-9A-Za-z=_-]{60,}"),
    ("tailscale-key", ("tskey-",), "[0-9A-Za-z-]{20,}"),
    # messages, payment, shops, mail
    (
        "slack-token",
        ("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "xwfp-"),
        "[0-9A-Za-z.%-]{10,}",
    ),
    ("webhook", ("https://hooks.slack.com/", "hooks.slack.com/"), r"(?:services|workflows|triggers)/[\w/+-]{20,}"),
    (
        "webhook",
        ("https://discord.com/api/", "https://discordapp.com/api/"),
        r"(?:v\d+/)?webhooks/\d+/[\w-]{20,}",
    ),
    ("webhook", ("https://hooks.zapier.com/hooks/catch/", "https://maker.ifttt.com/"), r"[\w/-]{16,}"),
    (
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "sk_org_"),
        "[0-9A-Za-z]{10,}",
    ),
    ("webhook-secret", ("whsec_",), "[0-9A-Za-z+/=_-]{20,}"),
    ("toss-key", ("live_sk_", "test_sk_", "live_gsk_", "test_gsk_"), "[0-9A-Za-z]{20,}"),
    ("flutterwave-key", ("FLWSECK_TEST-", "FLWSECK-"), "[0-9A-Za-z]{12,40}(?:-X)?"),
    ("duffel-token", ("duffel_live_", "duffel_test_"), "[0-9A-Za-z_=-]{40,}"),
    ("razorpay-key", ("rzp_live_", "rzp_test_"), "[0-9A-Za-z]{14}"),
    ("paypal-token", ("access_token$production$", "access_token$sandbox$"), "[0-9a-z]{10,}(?:\\$[0-9a-f]{20,})?"),
    ("plaid-token", ("access-production-", "access-sandbox-", "access-development-"), _UUID),
    ("square-token", ("sq0atp-", "sq0csp-"), "[0-9A-Za-z_-]{20,}"),
    ("square-token", ("EAAA",), "[0-9A-Za-z_-]{60}(?![0-9A-Za-z_+/=-])"),
    ("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"), "[0-9a-fA-F]{30,}"),
    ("facebook-token", ("EAA",), "[0-9A-Za-z]{80,}"),
    ("twitter-token", ("AAAAAAAAAAAAAAAAAAAAA",), "[0-9A-Za-z]{5,60}%[0-9A-Za-z%]{30,}"),
    ("twilio-key", ("SK",), _HEX + "{32}" + _END),
    ("sendgrid-key", ("SG.",), r"(?:[\w-]{16,40}\.[\w-]{16,80}|[0-9A-Za-z_=.-]{66})"),
    ("mailgun-key", ("key-",), _HEX + "{32}" + _END),
    ("brevo-key", ("xkeysib-", "xsmtpsib-"), "[0-9a-f]{40,}(?:-[0-9A-Za-z]{10,})?"),
    ("resend-key", ("re_",), "[0-9A-Za-z]{6,10}_[0-9A-Za-z]{20,}"),
    ("mailersend-key", ("mlsn.",), "[0-9a-f]{60,}"),
    # work places, observation, data
    ("linear-key", ("lin_api_", "lin_oauth_"), "[0-9A-Za-z]{30,}"),
    ("notion-token", ("ntn_", "secret_"), "[0-9A-Za-z]{40,}"),
    ("adobe-key", ("p8e-",), "[0-9A-Za-z]{32}" + _END),
    ("frameio-token", ("fio-u-",), "[0-9A-Za-z_=-]{60,}"),
    ("readme-key", ("rdme_",), "[0-9a-z]{60,}"),
    ("settlemint-token", ("sm_aat_", "sm_pat_", "sm_sat_"), "[0-9A-Za-z]{16}" + _END),
    ("intra42-key", ("s-s4t2ud-", "s-s4t2af-"), _HEX + "{64}"),
    ("figma-token", ("figd_", "figo_", "figoh_", "figor_"), "[0-9A-Za-z_-]{30,}"),
    ("airtable-token", ("pat",), r"[0-9A-Za-z]{14}\.[0-9a-f]{60,}"),
    ("harness-token", ("pat.", "sat."), r"[0-9A-Za-z_-]{22}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{20}"),
    ("hubspot-key", ("pat-na", "pat-eu", "pat-ap"), r"\d-" + _UUID),
    ("contentful-token", ("CFPAT-",), "[0-9A-Za-z_-]{40,}"),
    ("typeform-token", ("tfp_",), "[0-9A-Za-z_.=-]{40,}"),
    ("clickup-token", ("pk_",), r"\d{5,12}_[0-9A-Z]{32}" + _END),
    ("dropbox-token", ("sl.",), r"(?:u\.)?[0-9A-Za-z_-]{60,}"),
    ("postman-key", ("PMAK-",), _HEX + "{24}-" + _HEX + "{30,}"),
    ("newrelic-key", ("NRAK-", "NRII-", "NRRA-", "NRSP-"), "[0-9A-Za-z_-]{24,}"),
    ("grafana-token", ("glsa_", "glc_"), "[0-9A-Za-z_+/=-]{30,}"),
    ("grafana-token", ("eyJrIjoi",), "[0-9A-Za-z+/=]{50,}"),
    ("sentry-token", ("sntrys_", "sntryu_", "sntrya_"), "[0-9A-Za-z_+/=-]{30,}"),
    ("dynatrace-token", ("dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."), r"[0-9A-Za-z]{24}\.[0-9A-Za-z]{60,}"),
    ("pagerduty-key", ("u+",), "[0-9A-Za-z_-]{18}(?![0-9A-Za-z_-])"),
    ("honeycomb-key", ("hcaik_", "hcxik_", "hcalk_"), "[0-9a-z]{26,}"),
    ("axiom-token", ("xaat-", "xapt-"), _UUID),
    ("posthog-key", ("phx_", "phs_"), "[0-9A-Za-z]{40,}"),
    ("clickhouse-key", ("4b1d",), "[0-9A-Za-z]{38}" + _END),
    ("neon-key", ("napi_",), "[0-9a-z]{40,}"),
    ("mapbox-token", ("sk.eyJ",), r"[\w-]{40,}\.[\w-]{20,}"),
    ("shipping-key", ("shippo_live_", "shippo_test_", "EZAK", "EZTK"), "[0-9A-Za-z]{40,}"),
    ("jwt", ("ZXlK",), "[0-9A-Za-z+/_-]{46,}"),  # the same in base64 once more
    ("jwt", ("eyJ",), r"[\w-]{8,}\.(?:eyJ[\w-]{8,}(?:\.[\w-]*)?|[\w-]{16,}\.[\w-]{16,}|[\w-]*(?:\.[\w-]+){3})"),
)

# kind, literal, pattern: tokens with their literal in the middle. The lookbehind keeps each start cheap.
_INFIXES: tuple[tuple[str, str, str], ...] = (
    ("azure-key", "Q~", r"(?<![\w~.-])[\w~.-]{3}[0-9]Q~[0-9A-Za-z_~.-]{30,36}"),
    ("azure-key", "JQQJ9", r"(?<![0-9A-Za-z])[0-9A-Za-z]{52}JQQJ9[0-9A-Za-z]{20,30}"),
    ("azure-key", "AZDO", r"(?<![0-9A-Za-z])[0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4}" + _END),
    ("telegram-token", ":AA", r":AA(?<=[0-9]{8}:AA)[\w-]{32,34}(?![\w-])"),
    ("terraform-token", ".atlasv1.", r"(?<![0-9A-Za-z])[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{50,}"),
    ("mailchimp-key", "-us", r"(?<![0-9A-Za-z])[0-9a-fA-F]{32}-us[0-9]{1,2}" + _END),
    ("newrelic-key", "NRAL", r"(?<![0-9A-Za-z])[0-9a-f]{36}NRAL" + _END),
    ("maxmind-key", "_mmk", r"(?<![0-9A-Za-z])[0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk" + _END),
    ("dropbox-token", "AAAAAAAAAA", "(?<![0-9A-Za-z_=-])[0-9A-Za-z]{11}AAAAAAAAAA[0-9A-Za-z_=-]{43}(?![0-9A-Za-z_=-])"),
    ("cursor-key", "key_", "key_(?<![0-9A-Za-z_-]key_)" + _HEX + "{64}" + _END),
    ("lob-key", "live_", r"live_(?<![0-9A-Za-z_-]live_)[0-9a-fA-F]{35}" + _END),
    (
        "gocardless-token",
        "live_",
        r"live_(?<![0-9A-Za-z_-]live_)(?=[A-Za-z_=-]{0,39}[0-9])(?=[0-9a-z_=-]{0,39}[A-Z])"
        "[0-9A-Za-z_=-]{40}(?![0-9A-Za-z_=-])",
    ),
    ("salesforce-token", "!A", r"(?<![0-9A-Za-z])00D[0-9A-Za-z]{12,15}!A[0-9A-Za-z._]{60,}"),
    ("asana-token", "/1", r"(?<![\w/])[0-2]/1\d{15}(?:/\d{16})?:[0-9a-f]{32}" + _END),
    ("webhook", ".webhook.office.com/", r"(?<=\.webhook\.office\.com/)webhookb2/[\w@-]{60,}(?:/[\w-]{10,}){1,4}"),
)

LEAST_TOKEN = 15  # characters of the shortest match of any shape; none holds white space
_MOST_SPLIT = 100_000  # characters; words of more would take too much memory

_FREE_PREFIXES = ("AccountKey=", "SharedAccessKey=")  # Azure connection strings
_DISCORD = r"[MNO](?<![\w-][MNO])[\w-]{22,28}\.[\w-]{6}\.[\w-]{26,40}(?![\w-])"

_PEM_MARK = r"----[- ](BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[- ]----"
_PEM_LINE = r"[A-Za-z0-9+/=]{16,}"
_MAX_PEM_CHARS = 60_000
_PEM_TRUNCATED = (
    r"(?:(?:\\+[nr]|\n[ ]{0,8}\d{1,6}\t|[\s\"'>|])*(?:"
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{0,200}|"
    + _PEM_LINE
    + r"))+(?:(?:\\+n|\n)[ \t>|]{0,20}[A-Za-z0-9+/=]{1,64}(?![^\s\\\"']))?"
)


def hide_password_hashes(text: str) -> str:
    """Return text with password hashes as `[redacted:password-hash]`."""
    for literal, pattern in _HASHES:
        if literal in text:
            text = re.sub(pattern, _hide_hash, text)
    return text


def _hide_hash(match: re.Match[str]) -> str:
    return "[redacted:password-hash]" if len(set(match.group())) >= _LEAST_VARIED else match.group()


def hide_shaped_secrets(text: str) -> str:
    """Return text with secrets of known shapes as `[redacted:<kind>]`."""
    if "---BEGIN " in text or "--- BEGIN " in text:
        text = _hide_key_blocks(text)
    searched = _long_words(text)
    for kind, prefixes, rest in _SHAPES:
        for prefix in prefixes:
            if prefix in searched:
                start = re.escape(prefix)
                # After `\\n`, a line break as JSON writes it, the n is no letter of a word.
                alone = r"(?:(?<![0-9A-Za-z]%s)|(?<=\\[nrt]%s))" % (start, start)
                text = _hide(text, kind, start + alone + rest)
    for prefix in _FREE_PREFIXES:
        if prefix in searched:
            pattern = "%s(?P<secret>[0-9A-Za-z+/=]{20,})" % prefix
            text = _hide(text, "azure-key", pattern)
    for kind, literal, pattern in _INFIXES:
        if literal in searched:
            text = _hide(text, kind, pattern)
    if text.count(".", 0, 1 << 20) >= 2:
        text = _hide(text, "discord-token", _DISCORD)
    return text


def _long_words(text: str) -> str:
    """Return the words that may hold a token."""
    if len(text) > _MOST_SPLIT:
        return text
    return " ".join([word for word in text.split() if len(word) >= LEAST_TOKEN])


def _looks_issued(token: str) -> bool:
    """True for an issued token: no `sk-your-key-here`, xxxx, hyphened words."""
    issued = "-" not in token or any(char.isdigit() for char in token) or _is_drawn(token)
    if len(token) >= 40 and len(set(token)) >= 20:
        # By chance one of three hundred such tokens holds three x in a row.
        token = re.sub("(?i)xxx", "", token, count=1)
    return issued and len(set(token)) >= 10 and not is_placeholder(token)


def _is_drawn(token: str) -> bool:
    """True if letters change their case by chance, unlike words."""
    letters = max(token.split("-"), key=len)
    pairs = [(first.isupper(), second.isupper()) for first, second in zip(letters, letters[1:])]
    either = (False, True)
    return len(letters) >= 18 and min(pairs.count((first, second)) for first in either for second in either) >= 2


def _hide(text: str, kind: str, pattern: str) -> str:
    """Replace the group `secret`, or the whole match, of every issued token."""

    def replace(match: re.Match[str]) -> str:
        group: int | str = "secret" if match.re.groupindex else 0
        if not _looks_issued(match.group(group)):
            return match.group()
        start, end = match.span(group)
        before, after = match.string[match.start() : start], match.string[end : match.end()]
        return "%s[redacted:%s]%s" % (before, kind, after)

    return re.sub(pattern, replace, text)


def _hide_key_blocks(text: str) -> str:
    """Redact private key blocks to END, else all key material."""
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
