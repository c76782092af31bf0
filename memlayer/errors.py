"""Every error memlayer raises on purpose.

MemlayerError
├── UserError            the person can mend it: bad input, unknown id, wrong setting
├── DaemonError          the daemon is absent, late, or of another version
│   └── ProtocolError    bytes on the socket that are not a frame
├── StoreError           the store cannot be opened, read or written
├── EmbedderError        the embedding model cannot be loaded or used
├── ConsolidationError   a turn could not be made into memories
└── ChatError            a language model could not be asked, or did not answer

Each message is one line that says what happened and what to do. An expected outcome (an empty recall) is a value,
not an error.
"""


class MemlayerError(Exception):
    """The root: everything memlayer raises on purpose."""


class UserError(MemlayerError):
    """The person can mend it."""


class DaemonError(MemlayerError):
    """The daemon is absent, late, or of another version."""


class ProtocolError(DaemonError):
    """Bytes on the socket that are not a frame."""


class StoreError(MemlayerError):
    """The store cannot be opened, read or written."""


class EmbedderError(MemlayerError):
    """The embedding model cannot be loaded or used."""


class ConsolidationError(MemlayerError):
    """A turn could not be made into memories."""


class ChatError(MemlayerError):
    """A language model could not be asked, or did not answer."""
