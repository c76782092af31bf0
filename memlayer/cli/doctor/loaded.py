"""Packages that a running daemon has loaded.

Another trial of them would take most of a second."""

from __future__ import annotations

import importlib
import os

from memlayer.daemon.trial import PACKAGES
from memlayer.edge.bootstrap.install import site_of
from memlayer.edge.ipc.client import Client
from memlayer.errors import MemlayerError


def by_daemon(client: Client, python: str) -> bool:
    """True if the daemon has loaded this python's packages of now.

    What the command line alone needs is loaded here.
    """
    try:
        status = client.status() or {}
    except MemlayerError:
        return False
    uses_all = status.get("store") == "open" and status.get("mode") != "lexical"
    is_local = (status.get("model") or {}).get("provider") == "fastembed"
    if not uses_all or not is_local or status.get("python") != python:
        return False
    try:
        for name in PACKAGES:
            importlib.import_module(name)
    except Exception:  # whatever a damaged file does: the trial says what
        return False
    return unchanged_since(site_of(os.path.dirname(os.path.dirname(python))), int(status["since_ms"]) / 1000)


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
