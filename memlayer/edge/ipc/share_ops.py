"""The daemon's operations on a share, and their answers.

Hooks do not import this module.
"""

from __future__ import annotations

from typing import TypedDict

from memlayer.edge.ipc.arguments import Arguments


class SharedMachine(TypedDict):
    """Another machine of a share, as far as its log was read.

    commits: taken in. written_ms: its own time of the last one; is_ahead: that is in the future. is_former: an earlier
    name of this home.
    """

    machine: str
    name: str
    commits: int
    written_ms: int
    is_ahead: bool
    is_former: bool


class ShareState(TypedDict):
    """A home's share; address is "" without one.

    to_send: rows and tombstones that wait. to_erase: forgotten rows that own objects still hold. behind: commits of
    other machines that could not be read, and behind_why. waiting_uses: of memories that have not come yet. problem:
    of the last push or pull, "" when it went well. renamed_ms: when the home last took a new name.
    """

    address: str
    machine: str
    name: str
    is_encrypted: bool
    is_automatic: bool
    has_key: bool
    to_send: int
    to_erase: int
    behind: int
    behind_why: str
    waiting_uses: int
    objects: int
    bytes: int
    push_ms: int
    pull_ms: int
    problem: str
    problem_ms: int
    renamed_ms: int
    machines: list[SharedMachine]


class SharePushed(TypedDict):
    """Counts of a push. erased: forgotten rows taken out of own objects."""

    events: int
    memories: int
    usages: int
    tombstones: int
    erased: int
    objects: int
    bytes: int
    commits: int


class SharePulled(TypedDict):
    """Counts of a pull; see sharing.taking.Pulled."""

    events: int
    memories: int
    usages: int
    known: int
    kept_own: int
    forgotten: int
    erased: int
    skipped_lines: int
    behind: int
    commits: int
    bytes: int
    behind_why: str


class ShareEnded(TypedDict):
    """address: of the share that ended."""

    address: str


class ShareRewritten(TypedDict):
    """Counts of the new log.

    is_purged: no earlier byte is left at the place.
    """

    objects: int
    bytes: int
    is_purged: bool


class ShareKey(TypedDict):
    key: str


class DroppedMachine(TypedDict):
    machine: str


class ShareSetup(Arguments[ShareState], op="share.setup"):
    """Arguments of a setup.

    secret: the key of a share that is there. encryption: "", on or off.
    """

    address: str = ""
    secret: str = ""
    name: str = ""
    encryption: str = ""
    by_hand: bool = False


class SharePush(Arguments[SharePushed], op="share.push"):
    pass


class SharePull(Arguments[SharePulled], op="share.pull"):
    pass


class ShareStatus(Arguments[ShareState], op="share.status"):
    pass


class ShareStop(Arguments[ShareEnded], op="share.stop"):
    """delete: this machine's objects in the share as well."""

    delete: bool = False


class ShareRewrite(Arguments[ShareRewritten], op="share.rewrite"):
    pass


class ReadShareKey(Arguments[ShareKey], op="share.key"):
    pass


class ShareDrop(Arguments[DroppedMachine], op="share.drop"):
    """machine: the name, or the start of the id."""

    machine: str = ""
