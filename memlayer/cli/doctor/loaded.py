"""Packages that a running daemon has loaded: no trial is due."""

from __future__ import annotations

import base64
import csv
import glob
import hashlib
import os

from memlayer.edge.bootstrap.install import site_of
from memlayer.edge.ipc.client import Client
from memlayer.errors import MemlayerError

OF_VERBS = ("click", "rich", "pydantic_settings")  # distributions that no daemon loads


def by_daemon(client: Client, python: str) -> bool:
    """True if the daemon has loaded this python's packages of now.

    With no model, as set, none of its packages is asked for. What the command line alone needs is compared with its
    wheels: to load it takes ten times as long.
    """
    try:
        status = client.status() or {}
    except MemlayerError:
        return False
    provider = (status.get("model") or {}).get("provider")
    uses_all = provider == "none" or (provider == "fastembed" and status.get("mode") != "lexical")
    if status.get("store") != "open" or not uses_all or status.get("python") != python:
        return False
    site = site_of(os.path.dirname(os.path.dirname(python)))
    return all(is_whole(site, name) for name in OF_VERBS) and unchanged_since(site, int(status["since_ms"]) / 1000)


def is_whole(site: str, distribution: str) -> bool:
    """True if a distribution's files are as its wheel had them."""
    try:
        (record,) = glob.glob(os.path.join(glob.escape(site), distribution + "-*.dist-info", "RECORD"))
        with open(record, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        return all(digest == digest_of(os.path.join(site, path)) for path, digest, _ in rows if digest)
    except (OSError, ValueError):  # no such file, several, or none of that form
        return False


def digest_of(path: str) -> str:
    """Return a file's digest as RECORD has it. Raises OSError."""
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def unchanged_since(folder: str, at_s: float) -> bool:
    """True if no file of a folder changed since, compiled modules aside."""
    if not folder:
        return False
    folders = [folder]
    try:
        while folders:
            here = folders.pop()
            if os.stat(here).st_mtime > at_s:
                return False
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders += [entry.path] if entry.name != "__pycache__" else []
                    elif entry.stat(follow_symlinks=False).st_ctime > at_s:
                        return False
    except OSError:
        return False
    return True
