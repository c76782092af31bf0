"""Who is at the other end of a unix socket."""

from __future__ import annotations

import os
import socket
import struct
import sys

_LOCAL_PEERCRED = 1  # macOS, <sys/un.h>; level 0 is SOL_LOCAL


def is_same_user(connection: socket.socket) -> bool:
    """True if the process at the other end runs as this user."""
    if sys.platform == "darwin":
        raw = connection.getsockopt(0, _LOCAL_PEERCRED, 76)
        return bool(struct.unpack_from("=II", raw)[1] == os.getuid())
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return bool(struct.unpack("3i", raw)[1] == os.getuid())
