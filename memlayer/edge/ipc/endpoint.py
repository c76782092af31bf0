"""The daemon's socket and lock: reach it, check its owner, name its process."""

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
    """Connect to the daemon of `home`, whatever the length of its path. Raises OSError.

    A unix socket's address holds about a hundred bytes. Longer ones are reached by a relative name: on Linux
    through /proc/self/fd, which disturbs nothing; elsewhere by changing into the home and back, which the
    whole process sees.
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
    """Connect by the socket's bare name from within an open folder, and go back. Raises OSError."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.fchdir(folder)
        sock.connect(paths.SOCKET_NAME)
    finally:
        os.fchdir(before)
        os.close(before)


def check_peer(sock: socket.socket) -> None:
    """Raises UserError when another user listens: it could read prompts and forge memories."""
    uid = peer_uid(sock)
    if uid != os.getuid():
        raise UserError(
            f"another user (uid {uid}) listens on memlayer's socket: set MEMLAYER_HOME to a folder of yours"
        )


def is_locked(home: str) -> bool:
    """True while a daemon runs, starts or leaves: it holds the lock."""
    return paths.is_locked(paths.lock(home))


def lock_holder(home: str) -> int:
    """The process that says it holds the lock; 0 when nobody does or it does not say."""
    if not is_locked(home):
        return 0
    first = last_line(paths.lock(home)).split(" ")[0]
    return int(first) if first.isdigit() else 0


def last_line(path: str) -> str:
    """The last line of a small text file that is not blank; "" when there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(1 << 16).split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def peer_uid(connection: socket.socket) -> int:
    """The user id of the process at the other end. Raises OSError."""
    if sys.platform == "darwin":  # struct xucred { u_int version; uid_t uid; short ngroups; gid_t groups[16]; }
        return int(struct.unpack_from("=II", connection.getsockopt(0, _LOCAL_PEERCRED, 76))[1])
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
