"""The daemon's socket and lock: reach, check the owner, name the process."""

from __future__ import annotations

import os
import socket
import struct
import sys

from memlayer.edge.home import paths
from memlayer.errors import UserError

MAX_ADDRESS_BYTES = 103  # macOS: 104 with the closing zero; Linux: 108
_LOCAL_PEERCRED = 1  # macOS, <sys/un.h>; level 0 is SOL_LOCAL


def connect(sock: socket.socket, home: str) -> None:
    """Connect to the daemon of `home`, whatever the path's length.

    Raises OSError. A unix socket's address holds about a hundred bytes. Longer paths are reached by a relative name: on
    Linux through /proc/self/fd, which disturbs nothing; elsewhere by changing into the home and back, which the whole
    process sees.
    """
    address = os.fsencode(paths.socket(home))
    if len(address) <= MAX_ADDRESS_BYTES:
        sock.connect(address)
        return
    folder = os.open(home, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        through_proc = f"/proc/self/fd/{folder}"
        if os.path.isdir(through_proc):
            sock.connect(f"{through_proc}/{paths.SOCKET_NAME}")
            return
        connect_from(sock, folder)
    finally:
        os.close(folder)


def connect_from(sock: socket.socket, folder: int) -> None:
    """Connect by the socket's bare name from an open folder.

    Changes the working folder and goes back. Raises OSError.
    """
    before = os.open(".", os.O_RDONLY)
    try:
        os.fchdir(folder)
        sock.connect(paths.SOCKET_NAME)
    finally:
        os.fchdir(before)
        os.close(before)


def check_peer(sock: socket.socket) -> None:
    """Raise UserError when another user listens.

    Another user could read prompts and forge memories.
    """
    uid = peer_uid(sock)
    if uid != os.getuid():
        raise UserError(
            f"another user (uid {uid}) listens on memlayer's socket: set MEMLAYER_HOME to a folder of yours"
        )


def is_locked(home: str) -> bool:
    """True while a daemon runs, starts or leaves: it holds the lock."""
    return paths.is_locked(paths.lock(home))


def lock_holder(home: str) -> int:
    """Return the process id of the lock's holder, or 0.

    0 when nobody holds it or the file does not name a process.
    """
    if not is_locked(home):
        return 0
    first = last_line(paths.lock(home)).split(" ")[0]
    return int(first) if first.isdigit() else 0


def last_line(path: str) -> str:
    """Return the last line with text of a small file, or ""."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(1 << 16).split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the other end's process. Raises OSError."""
    if sys.platform == "darwin":  # struct xucred { u_int version; uid_t uid; short ngroups; gid_t groups[16]; }
        return int(struct.unpack_from("=II", connection.getsockopt(0, _LOCAL_PEERCRED, 76))[1])
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
