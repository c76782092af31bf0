"""Who is at the other end of a unix socket."""

from __future__ import annotations

import socket
import struct
import sys

_LOCAL_PEERCRED = 1  # macOS, <sys/un.h>; level 0 is SOL_LOCAL


def peer_uid(connection: socket.socket) -> int:
    """The user id of the process at the other end. Raises OSError."""
    if sys.platform == "darwin":  # struct xucred { u_int version; uid_t uid; short ngroups; gid_t groups[16]; }
        return int(struct.unpack_from("=II", connection.getsockopt(0, _LOCAL_PEERCRED, 76))[1])
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
