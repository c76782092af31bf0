"""Providers of language models and of vectors: a row for each."""

import importlib.util
import ipaddress
import os
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import urlsplit
from urllib.request import getproxies

# Variables for the way to a provider, besides the key. The daemon's environment is otherwise bare.
NETWORK_VARIABLES = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
THIS_MACHINE = ("localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback")
# As settings, the command line and the table below name them.
LanguageModel = Literal["claude-cli", "anthropic", "openai"]
VectorProvider = Literal["openai", "gemini"]  # in the order in which `auto` tries them
VECTOR_PROVIDERS: tuple[str, ...] = get_args(VectorProvider)
PROXY_SCHEMES, SOCKS = ("http", "https"), ("socks5", "socks5h")
# For a share by git or an object store: where to sign in stands in its address alone.
SHARE_VARIABLES = (
    *NETWORK_VARIABLES, "SSH_AUTH_SOCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
)  # fmt: skip
# How the host's command line signs in, where it does not use its own login under HOME.
CLAUDE_VARIABLES = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL", "AWS_PROFILE", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS",
)  # fmt: skip
PROGRAM = "claude"
# Where the host's installers put it. A background process may have a shorter PATH than the user's shell.
CLAUDE_PLACES = ("~/.local/bin", "~/.claude/local", "/usr/local/bin", "/opt/homebrew/bin")


@dataclass(frozen=True)
class Provider:
    """A provider, with all that rooms ask of it.

    title, payer: who reads sessions, and who pays for it, for a person. remedy: how they see whether it answers. url:
    of its own server, "" for a program on this machine. key_variable: the usual one of its key. package: its SDK, for
    talks. model, vectors: the default language and embedding model, "" for none. dimensions: of vectors to ask for, 0:
    the model's own. unknown: parameters that its own server is not sent. unknown_elsewhere: those that other servers of
    its interface are not. variables: of the environment, that its program needs. own_tokens: that it adds to a request.
    """

    name: str
    title: str = ""
    payer: str = "by your key"
    remedy: str = ""
    url: str = ""
    key_variable: str = ""
    package: str = ""
    model: str = ""
    vectors: str = ""
    dimensions: int = 0
    unknown: frozenset[str] = frozenset()
    unknown_elsewhere: frozenset[str] = frozenset()
    variables: tuple[str, ...] = ()
    own_tokens: int = 0

    def is_own(self, base_url: str) -> bool:
        """Return whether an address is the provider's own server; "" is."""
        return not base_url or urlsplit(base_url).hostname == urlsplit(self.url).hostname

    def key_for(self, base_url: str, named: str) -> str:
        """Return the variable with the key to send, "" for none.

        A key that lies about belongs to the provider's own server: another address is sent a key only if the person
        names its variable (named).
        """
        return (named or self.key_variable * self.is_own(base_url)) if self.key_variable else ""

    def known(self, base_url: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return those of a request's parameters that a server is sent."""
        unknown = self.unknown if self.is_own(base_url) else self.unknown_elsewhere
        return {name: value for name, value in parameters.items() if name not in unknown}


PROVIDERS = {
    row.name: row
    for row in (
        Provider(
            "claude-cli",
            title="your own `claude` command",
            payer="of your plan, or of the key that it uses",
            remedy="`claude -p hello` in a terminal says whether it is signed in, over its limit or offline",
            model="haiku",
            variables=CLAUDE_VARIABLES,
            own_tokens=1500,  # the host's own words around a turn. Up to 3,600 characters were seen
        ),
        Provider(
            "anthropic",
            title="Anthropic's API",
            remedy="look at the key, its limit and the network",
            url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            package="anthropic",
            model="claude-haiku-5-5",
        ),
        Provider(
            "openai",
            title="OpenAI's API",
            remedy="look whether the server answers, at the key and its limit",
            url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            package="openai",
            vectors="text-embedding-3-small",
            # Its newer models refuse the old name of the bound, many compatible servers know that name alone. Vectors
            # come as numbers elsewhere. The SDK asks OpenAI for a denser form.
            unknown=frozenset({"max_tokens", "encoding_format"}),
            unknown_elsewhere=frozenset({"max_completion_tokens"}),
        ),
        Provider(
            "gemini",
            url="https://generativelanguage.googleapis.com",
            key_variable="GEMINI_API_KEY",
            vectors="gemini-embedding-001",
            dimensions=768,  # its own 3,072 take four times the memory and the cache for little
        ),
    )
}
NOBODY = Provider("")  # asked by `rules`, and by an agent that is not set up
_MODELS = [PROVIDERS[name] for name in get_args(LanguageModel)]
_VECTORS = [PROVIDERS[name] for name in VECTOR_PROVIDERS]
# For the words of settings.
MODELS_TOLD = "; ".join(
    (
        ", ".join(f"`{row.model}` for {row.name}" for row in _MODELS if row.model),
        *(f"{row.name} needs a name" for row in _MODELS if not row.model),
    )
)
KEYS_TOLD = " or ".join(f"`{row.key_variable}`" for row in _MODELS if row.key_variable)
VECTORS_TOLD = ", ".join(f"`{row.vectors}` for {row.name}" for row in _VECTORS)
VECTOR_KEYS_TOLD = " or ".join(f"`{row.key_variable}`" for row in _VECTORS)


def program_path(places: Sequence[str] = CLAUDE_PLACES) -> str:
    """Return the absolute path of the host's program, "" for none.

    places: looked at after the PATH.
    """
    folders = (None, *map(os.path.expanduser, places))
    found = next((path for folder in folders if (path := shutil.which(PROGRAM, path=folder))), "")
    return os.path.abspath(found) if found else ""


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine, in any spelling.

    127.1, 0x7f.1 and 2130706433 are 127.0.0.1 for the system's resolver.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").partition("%")[0]
    except ValueError:
        return False
    if host in THIS_MACHINE or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(host))
        except (OSError, UnicodeError):
            return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def network_problem(url: str) -> str:
    """Return why nothing can be sent to an address, or ""."""
    if is_loopback(url):
        return ""  # direct: see Endpoint.http
    proxies = getproxies()
    for kind in () if "*" in proxies.get("no", "").replace(",", " ").split() else ("http", "https", "all"):
        value, variable = proxies.get(kind, ""), _variable(kind + "_proxy")
        scheme = (value.partition("://")[0] if "://" in value else "http").lower()
        try:
            has_host = not value or bool(urlsplit(value if "://" in value else "//" + value).netloc.rpartition("@")[2])
            port = urlsplit(value if "://" in value else "//" + value).port
        except ValueError:
            has_host, port = False, None
        if scheme in SOCKS and importlib.util.find_spec("socksio") is None:
            return (
                f"{variable} names a {scheme} proxy, for which a package is missing: name an http:// one, or unset it"
            )
        if scheme not in (*PROXY_SCHEMES, *SOCKS):
            return f"{variable} names a proxy of an unknown kind: name an http:// one, or unset it"
        if not has_host or port == 0:
            return f"{variable} does not hold the address of a proxy: correct it, or unset it"
    file, folder = os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", "")
    if file and not (os.path.isfile(file) and os.access(file, os.R_OK)):
        return "SSL_CERT_FILE names a file that cannot be read: correct it, or unset it"
    if folder and not file and not os.path.isdir(folder):
        return "SSL_CERT_DIR names a folder that is not there: correct it, or unset it"
    return ""


def proxy_variable(url: str) -> str:
    """Return the variable with the proxy of an address, "" for none."""
    proxies = {} if is_loopback(url) else getproxies()
    return next((_variable(kind + "_proxy") for kind in (urlsplit(url).scheme, "all") if proxies.get(kind)), "")


def _variable(name: str) -> str:
    """Return a variable as the person spelled it."""
    return name if os.environ.get(name) else name.upper()
