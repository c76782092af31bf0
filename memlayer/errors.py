"""Every error memlayer raises on purpose.

MemlayerError
├── UserError            the person can mend it: bad input, unknown id, wrong setting
│   └── ShareError       a share cannot be reached, read or written; nothing here is lost
├── DaemonError          the daemon is absent, late, or of another version
│   └── ProtocolError    bytes on the socket that are not a frame
├── StoreError           the store cannot be opened, read or written
├── EmbedderError        the embedding model cannot be loaded or used
├── ConsolidationError   a turn could not be made into memories
├── ChatError            a language model could not be asked, or did not answer
│   └── AgentStopped     the agent ended a turn by itself: too many calls, or the same again and again
└── ToolError            a tool of the agent could not do its work; the model reads why

Each message is one line that says what happened and what to do. An expected outcome (an empty recall) is a value,
not an error.
"""


class MemlayerError(Exception):
    """The root: everything memlayer raises on purpose."""


class UserError(MemlayerError):
    """The person can mend it."""


class ShareError(UserError):
    """A share cannot be reached, read or written; nothing here is lost."""


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


class ContextTooLong(ChatError):
    """A request does not fit into the model's context."""


class AgentStopped(ChatError):
    """The agent ended a turn: too many calls, or the same again."""


class ToolError(MemlayerError):
    """A tool of the agent failed; the model reads why."""
