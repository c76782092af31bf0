"""Operations on the share of one person's machines."""

from memlayer.daemon.ops.requests import Progress, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import intake
from memlayer.errors import UserError
from memlayer.wire import sharing as ops

ENCRYPTION = {"": None, "on": False, "off": True}


def setup(state: State, arguments: ops.ShareSetup, progress: Progress) -> ops.ShareState:
    """Begin to share. Raises UserError."""
    if arguments.encryption not in ENCRYPTION:
        raise UserError("encryption: on or off is expected")
    sharing = services_of(state).sharing
    if arguments.dry_run:
        sharing.present_at(arguments.address)
        return ops.ShareState()
    sharing.set_up(
        arguments.address, secret=arguments.secret.strip(), name=arguments.name,
        is_plain=ENCRYPTION[arguments.encryption], by_hand=arguments.by_hand,
    )  # fmt: skip
    state.share.is_due, state.share.next_s = True, 0.0  # not only from the next session on
    return status(state, ops.ShareStatus(), progress)


def sync(state: State, arguments: ops.ShareSync, progress: Progress) -> ops.ShareSynced:
    """Send all that is new, and take others' in. Raises ShareError."""
    sharing = services_of(state).sharing
    sharing.share()
    state.jobs.submit("take in", lambda: intake.take_in(state)).result()
    pushed, pulled = sharing.sync()
    return ops.ShareSynced(pushed=pushed, pulled=pulled)


def status(state: State, arguments: ops.ShareStatus, progress: Progress) -> ops.ShareState:
    """Return the share in numbers; asks no server."""
    return services_of(state).sharing.state()


def stop(state: State, arguments: ops.ShareStop, progress: Progress) -> ops.ShareEnded:
    """End the share. Raises ShareError."""
    return ops.ShareEnded(services_of(state).sharing.stop(is_deleting=arguments.delete))


def key(state: State, arguments: ops.ReadShareKey, progress: Progress) -> ops.ShareKey:
    """Return the key for another machine. Raises ShareError."""
    return ops.ShareKey(services_of(state).sharing.key())


def rewrite(state: State, arguments: ops.ShareRewrite, progress: Progress) -> ops.ShareRewritten:
    """Send this machine's log anew, and remove the old one. Raises ShareError."""
    done, is_purged = services_of(state).sharing.rewrite()
    return ops.ShareRewritten.of(done, is_purged=is_purged)


def drop(state: State, arguments: ops.ShareDrop, progress: Progress) -> ops.DroppedMachine:
    """Take over the log of a machine that is gone. Raises UserError."""
    return ops.DroppedMachine(services_of(state).sharing.drop_machine(arguments.machine))
