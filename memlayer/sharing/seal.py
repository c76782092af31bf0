"""The key of a share: objects are encrypted and signed.

Encrypted with age (pyrage). A keyed hash before the ciphertext tells a forged, torn or foreign object from a whole one.
"""

import hashlib
import hmac

import pyrage

from memlayer.edge.home import paths
from memlayer.errors import ShareError, UserError

MARK_SEALED, MARK_PLAIN = b"memlayer-share-1\n", b"memlayer-open-1\n"
HASH_BYTES = 32
KEY_START = "AGE-SECRET-KEY-1"
NO_KEY = (
    "the key of this share is not on this machine. `memlayer share key` prints it on another machine; "
    "`memlayer share setup URL --key-stdin` takes it here"
)


class Damaged(ShareError):
    """An object that is torn, forged or of another key."""


class Seal:
    """Encryption with the key that a person carries. Without a key, none.

    Thread-safe. secret: an age identity, "" for a share that is not encrypted.
    """

    def __init__(self, secret: str) -> None:
        """Raises UserError for a text that is no key."""
        self.secret = secret
        self._identity = None
        if secret:
            try:
                self._identity = pyrage.x25519.Identity.from_str(secret)
            except (pyrage.IdentityError, ValueError) as bad:
                raise UserError(f"this is no key of a share. A key begins with {KEY_START}") from bad
            self._recipient = self._identity.to_public()
        self._mac = hashlib.sha256(b"memlayer share, keyed hash\0" + secret.encode()).digest()

    def close(self, data: bytes) -> bytes:
        """Return the bytes that may leave the machine."""
        body = data if self._identity is None else pyrage.encrypt(data, [self._recipient])
        return self._mark + self._hash(body) + body

    def open(self, data: bytes) -> bytes:
        """Return the bytes as they were. Raises Damaged."""
        mark = self._mark
        body = data[len(mark) + HASH_BYTES :]
        if not data.startswith(mark) or not hmac.compare_digest(data[len(mark) :][:HASH_BYTES], self._hash(body)):
            raise Damaged("an object of the share is not whole, or was written with another key")
        if self._identity is None:
            return body
        try:
            return bytes(pyrage.decrypt(body, [self._identity]))
        except pyrage.DecryptError as bad:
            raise Damaged("an object of the share cannot be decrypted") from bad

    @property
    def _mark(self) -> bytes:
        return MARK_PLAIN if self._identity is None else MARK_SEALED

    def _hash(self, body: bytes) -> bytes:
        return hmac.new(self._mac, body, hashlib.sha256).digest()


def new_secret() -> str:
    """Make a new key."""
    return str(pyrage.x25519.Identity.generate())


def read_secret(path: str) -> str:
    """Return the key in a file. Raises ShareError without it."""
    try:
        with paths.open_regular(path) as file:
            secret = file.read(1000).decode("ascii", "ignore").strip()
    except OSError as bad:
        raise ShareError(NO_KEY) from bad
    if not secret.startswith(KEY_START):
        raise ShareError(NO_KEY)
    return secret


def keep_secret(path: str, secret: str) -> None:
    """Write the key, for this user alone. Raises OSError."""
    paths.write_whole(path, secret.encode() + b"\n")
