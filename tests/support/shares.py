"""Places that a share may be carried through, and the bytes that they hold."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

from memlayer.sharing.log_format import Content, living, span_of, unpacked
from memlayer.sharing.sync import Sharing


def folder_address(folder: Path) -> str:
    """Make a folder that a drive or Syncthing would carry."""
    place = folder / "드라이브 (shared)"
    place.mkdir()
    return "file://%s" % place


def git_address(folder: Path) -> str:
    """Make a bare repository, as a private remote is."""
    remote = folder / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    return "git+file://%s" % remote


PLACES = {"folder": folder_address, "git": git_address}


def contents(sharing: Sharing) -> Iterator[tuple[str, str, Content]]:
    """Yield (machine, name, content) of all objects that are there, replaced ones included."""
    with sharing._open("read") as channel:
        for machine in channel.engine.machines():
            for name in channel.engine.names(machine):
                data = channel.engine.read(machine, [name])[name]
                yield machine, name, unpacked(data, machine, channel.seal)


def live_objects(sharing: Sharing, machine: str) -> list[str]:
    """Return the names of a machine's objects of rows."""
    with sharing._open("read") as channel:
        spans = [span for name in channel.engine.names(machine) if (span := span_of(name))]
        return [span.name for span in living(spans, "rows")]


def files_below(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield path, path.read_bytes()


def holding(words: str, *folders: Path) -> list[str]:
    """Return the files with these words, also inside packed git objects."""
    needle = words.encode()
    hits = []
    for path, data in files_below(*folders):
        inner = b""
        if "objects" in path.parts:
            try:
                inner = zlib.decompress(data)
            except zlib.error:
                inner = b""
        if needle in data or needle in inner:
            hits.append(str(path))
    return hits
