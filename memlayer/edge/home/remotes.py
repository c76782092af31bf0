"""Addresses of remotes: one repository, however its remote is spelt.

Reads the files that git and ssh read, and runs neither: a hook must stay cheap.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from memlayer.edge.home.paths import read_start

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_CONFIG_BYTES = 1 << 20
_MOST_FILES = 8  # that include one another
_PERSONS = ("/etc/gitconfig", "~/.config/git/config", "~/.gitconfig")
_FORGES = ("github.com", "gitlab.com", "bitbucket.org")  # meant by an alias without a dot: `github-work`
_SERVICES = ("www.", "ssh.", "altssh.", "vs-ssh.")  # one host under the name of a service
_PORTS = (":22", ":443", ":80")
_AZURE = ("dev.azure.com", "visualstudio.com")
_AZURE_WORDS = ("v3", "defaultcollection", "_optimized", "_full")


def remote_of(git_dir: str) -> str:
    """Return the normalised address of `origin`, else the first remote by name."""
    remotes = remote_urls(git_dir)
    return normalise_remote(remotes.get("origin") or remotes[min(remotes)], git_dir) if remotes else ""


def remote_urls(git_dir: str) -> dict[str, str]:
    """Return the remotes of a repository by name."""
    remotes: dict[str, str] = {}
    for section, name, key, value in _git_values(os.path.join(git_dir, "config")):
        if section == "remote" and name and key == "url":
            remotes.setdefault(name, value)
    return remotes


def normalise_remote(url: str, git_dir: str = "") -> str:
    """Return host/path of a remote, however it is spelt.

    Without scheme, user, password, usual port, capitals and `.git`, with git's `insteadOf` and ssh's aliases resolved.
    A remote that is a folder of this machine keeps its path. A relative remote is "": `../origin` is another folder
    beside each repository, and its target changes when the repository moves.
    """
    url = _instead(url.strip(), git_dir)
    scheme, separator, rest = url.partition("://")
    if separator:
        if scheme.lower() == "file":
            return _folder(rest)
        host, slash, path = rest.partition("/")
    elif url.startswith(("/", ".", "~")) or ":" not in url.partition("/")[0]:  # as git tells a path from a host
        return _folder(os.path.expanduser(url))
    else:  # scp style: user@host:path
        host, slash, path = url.partition(":")
    return known_as(host.rpartition("@")[2] + "/" + path if slash else host.rpartition("@")[2])


def known_as(address: str) -> str:
    """Return a remote's host/path, or folder, as it is known now."""
    if address.startswith("file:"):
        return address
    host, _, path = address.lower().partition("/")
    host, colon, port = host.partition(":")
    host = _host(host.rstrip("."))
    if "%" in path:
        from urllib.parse import unquote  # few have one

        path = unquote(unquote(path)).lower()
    parts = [part for part in _bare("/" + path).split("/") if part not in ("", "_git")]  # Azure's page has `_git`
    if host in _AZURE or host.endswith(".visualstudio.com"):
        host, parts = "dev.azure.com", _azure_parts(host, parts)
    return "/".join([host if colon + port in _PORTS else host + colon + port, *parts])


def _azure_parts(host: str, parts: list[str]) -> list[str]:
    """Return organisation, project and repository, however Azure spells them."""
    owner = host.removesuffix(".visualstudio.com")
    parts = [*([owner] if owner != host else []), *(part for part in parts if part not in _AZURE_WORDS)]
    return parts if len(parts) != 2 else [*parts, parts[1]]  # a project's own repository has its name alone


def _host(name: str) -> str:
    """Return the host that a name means to ssh, without its service.

    A name that may be a domain stays, but for an alias of a forge: another machine has other aliases.
    """
    name = _without_service(name)
    if name in _FORGES:
        return name
    head, dot, last = name.rpartition(".")
    is_alias = not dot or ("-" in last and not last.startswith("xn--"))  # no domain ends like `github.com-work`
    meant = _without_service(_host_name(name))
    if meant in _FORGES or (is_alias and meant != name):
        return meant
    if is_alias and dot:
        return head + dot + last.partition("-")[0]
    return next((forge for forge in _FORGES if name.startswith(forge.partition(".")[0] + "-") and not dot), name)


def _without_service(host: str) -> str:
    bare = next((host[len(label) :] for label in _SERVICES if host.startswith(label)), host)
    return bare if "." in bare else host


def _host_name(alias: str) -> str:
    """Return the `HostName` of an ssh alias, else the alias."""
    applies = False
    for key, value in _ssh_values("~/.ssh/config"):
        if key in ("host", "match"):
            patterns = value.lower().split() if key == "host" else []
            applies = any(fnmatchcase(alias, one) for one in patterns) and not any(
                fnmatchcase(alias, one[1:]) for one in patterns if one.startswith("!")
            )
        elif key == "hostname" and applies:
            return value.lower().replace("%h", alias).rstrip(".")
    return alias


def _ssh_values(path: str, left: int = _MOST_FILES) -> Iterator[tuple[str, str]]:
    for line in _lines(path):
        key, _, value = line.replace("=", " ", 1).replace("\t", " ").partition(" ")
        value = value.strip().strip('"')
        if key.lower() == "include" and left:
            from glob import glob  # few have one

            for pattern in value.split():
                for included in sorted(glob(os.path.join(os.path.expanduser("~/.ssh"), os.path.expanduser(pattern)))):
                    yield from _ssh_values(included, left - 1)
        elif key:
            yield key.lower(), value


def _instead(url: str, git_dir: str) -> str:
    """Return an address with git's longest `url.*.insteadOf` for it."""
    base = prefix = ""
    for path in (*_PERSONS, *((os.path.join(git_dir, "config"),) if git_dir else ())):
        for section, name, key, value in _git_values(path):
            if section == "url" and key == "insteadof" and url.startswith(value) and len(value) > len(prefix):
                base, prefix = name, value
    return base + url[len(prefix) :]


def _git_values(path: str, left: int = _MOST_FILES) -> Iterator[tuple[str, str, str, str]]:
    """Yield (section, subsection, key, value) of git's configuration."""
    section = name = ""
    for line in _lines(path):
        if line.startswith("["):
            head, _, line = line[1:].partition("]")
            section, _, name = head.partition(" ")
            section, name = section.strip().lower(), name.strip().strip('"')
        key, equals, value = line.partition("=")
        key, value = key.strip().lower(), value.strip().strip('"')
        if section == "include" and key == "path" and left:
            folder = os.path.dirname(os.path.expanduser(path))
            yield from _git_values(os.path.join(folder, os.path.expanduser(value)), left - 1)
        elif equals:
            yield section, name, key, value


def _lines(path: str) -> list[str]:
    text = read_start(os.path.expanduser(path), _MAX_CONFIG_BYTES).decode("utf-8", "replace")
    return [line for line in map(str.strip, text.splitlines()) if line and line[0] not in "#;"]


def _folder(path: str) -> str:
    """Return a remote on this machine; "" for a relative path."""
    return "file:" + _bare(path) if path.startswith("/") else ""


def _bare(path: str) -> str:
    """Return a whole path as servers read it, without `.git`."""
    path = os.path.normpath(path)
    return (path[:-4] if path.lower().endswith(".git") else path).rstrip("/")
