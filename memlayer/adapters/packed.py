"""Files packed with Zstandard, unpacked while they are read."""

import errno
import io
from typing import BinaryIO

import pyarrow

MAX_BYTES = 1 << 30  # unpacked: a file of a few kilobytes may hold any number


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return a file's unpacked bytes; reading raises OSError beyond MAX_BYTES."""
    return io.BufferedReader(_Unpacked(file))


class _Unpacked(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = pyarrow.CompressedInputStream(file, "zstd")
        self._left = MAX_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self._stream.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise OSError(errno.EFBIG, "it unpacks to more than %d bytes" % MAX_BYTES)
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()
