"""A share in refs of a git remote, by git alone.

A ref a machine, `refs/memlayer/<machine>`: a commit without parents whose tree holds the objects, so that the ref's
history keeps nothing that was removed. What the server still keeps of older commits is up to the server's own gc.
"""

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import unquote

from memlayer.edge.home import paths
from memlayer.errors import ShareError
from memlayer.records import git
from memlayer.sharing.engine import Layout, reason_of, shown
from memlayer.sharing.ledger import SHARE, is_machine

LIMIT_S = 120.0
CONFIGURATION = {"fetch.fsckObjects": "true", "fetch.unpackLimit": "1"}  # as one file, whose length is limited
PROTOCOLS = "file:git:https:ssh"
WHO = {
    "GIT_AUTHOR_NAME": "memlayer", "GIT_AUTHOR_EMAIL": "memlayer@localhost", "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "memlayer", "GIT_COMMITTER_EMAIL": "memlayer@localhost", "GIT_COMMITTER_DATE": "@0 +0000",
}  # fmt: skip
KEPT = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSL_CAINFO")  # of the person's variables
# The other side of a remote on this machine: its configuration may be another's.
OTHER_SIDE = (
    "GIT_ALLOW_PROTOCOL= git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=false -c receive.autogc=false %s"
)
# Other users can read arguments, not the environment.
HELPER = '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$MEMLAYER_USER" "$MEMLAYER_PASSWORD"; }; f'


class GitEngine:
    """Objects as blobs below `refs/memlayer/<machine>` of a remote, or other refs."""

    def __init__(self, address: str, own_folder: str, layout: Layout = SHARE) -> None:
        """own_folder: for a bare repository of memlayer's own."""
        self._refs, self._is_object, self._max_bytes = layout.refs, layout.is_object, layout.max_bytes
        self._address, self._user, self._password = without_login(address.removeprefix("git+"))
        self._shown = shown(self._address)
        self._folder = os.path.join(own_folder, "git")
        self._known: dict[str, str] = {}  # machine -> commit

    def check(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        if not os.path.isdir(os.path.join(self._folder, "refs")):
            paths.make_folder(self._folder)
            self._git("init", "--quiet", "--bare", "--template=", self._folder, is_ours=False)
        listed = self._remote("ls-remote", "upload", "--", self._address, self._refs + "*")
        there = {
            ref.removeprefix(self._refs): commit
            for commit, _, ref in (line.partition("\t") for line in listed.decode("ascii", "replace").splitlines())
        }
        there = {machine: commit for machine, commit in there.items() if is_machine(machine)}
        here = self._known_refs()
        for machine in here.keys() - there.keys():
            self._git("update-ref", "-d", self._refs + machine)
        changed = [machine for machine, commit in there.items() if here.get(machine) != commit]
        if changed:
            refs = ["+%s%s:%s%s" % (self._refs, machine, self._refs, machine) for machine in changed]
            options = ("--quiet", "--no-tags", "--no-write-fetch-head")
            try:
                self._remote("fetch", "upload", *options, "--", self._address, *refs)
            except ShareError:
                self._clear()  # also the beginning of a pack without end
                raise
        if changed or here.keys() - there.keys():
            self._clear()
        self._known = self._known_refs()

    def machines(self) -> list[str]:
        return sorted(self._known)

    def names(self, machine: str) -> list[str]:
        return [name for name in self._tree(machine) if self._is_object(name)]

    def read(self, machine: str, names: Sequence[str]) -> dict[str, bytes]:
        tree = self._tree(machine)
        there = [name for name in names if name in tree]
        return {name: self._git("cat-file", "blob", tree[name], cut_at=self._max_bytes) for name in there}

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        tree = {name: blob for name, blob in self._tree(machine).items() if name not in remove}
        for name, data in add.items():
            tree[name] = self._git("hash-object", "-w", "--stdin", sent=data).decode().strip()
        lines = "".join("100644 blob %s\t%s\n" % (blob, name) for name, blob in sorted(tree.items()))
        made = self._git("mktree", sent=lines.encode()).decode().strip()
        commit = self._git("commit-tree", made, "-m", "memlayer").decode().strip()
        self._push(machine, commit)
        self._git("update-ref", self._refs + machine, commit)
        self._known[machine] = commit
        if remove:
            self._clear()

    def drop(self, machine: str) -> None:
        if machine in self._known:
            self._push(machine, "")
            self._git("update-ref", "-d", self._refs + machine)
            del self._known[machine]
            self._clear()

    def purge(self) -> bool:
        """Clear a repository of this machine; servers have their own gc."""
        path = self._address.removeprefix("file://")
        if not os.path.isdir(path):
            return False
        settings = {"gc.reflogExpire": "now", "safe.bareRepository": "all"}
        self._git("-C", path, "gc", "--quiet", "--prune=now", is_ours=False, configuration=settings)
        return True

    def _clear(self) -> None:
        """Erase objects that no ref holds, also those in fetched packs."""
        self._git("repack", "-a", "-d", "-q")
        self._git("prune", "--expire=now")

    def _push(self, machine: str, commit: str) -> None:
        """Set the remote's ref, if it still is as it was."""
        ref, was = self._refs + machine, self._known.get(machine, "")
        lease = "--force-with-lease=%s:%s" % (ref, was)
        self._remote("push", "receive", "--quiet", "--no-verify", lease, "--", self._address, "%s:%s" % (commit, ref))

    def _tree(self, machine: str) -> dict[str, str]:
        """Return the objects of a machine's ref: name -> blob."""
        commit = self._known.get(machine)
        if commit is None:
            return {}
        listed = self._git("ls-tree", "-z", commit).decode("utf-8", "replace")
        rows = [line.partition("\t") for line in listed.split("\0") if line]
        return {name: kind.split()[2] for kind, _, name in rows if kind.split()[1] == "blob"}

    def _known_refs(self) -> dict[str, str]:
        listed = self._git("for-each-ref", "--format=%(objectname) %(refname)", self._refs).decode("ascii", "replace")
        rows = [line.split(" ", 1) for line in listed.splitlines()]
        return {
            ref.removeprefix(self._refs): commit for commit, ref in rows if is_machine(ref.removeprefix(self._refs))
        }

    def _remote(self, verb: str, side: str, *words: str) -> bytes:
        """Run a verb that talks with the remote; side: upload or receive."""
        is_here = self._address.startswith(("/", "file:"))
        other = ["--%s-pack=%s" % (side, OTHER_SIDE % ("%s-pack" % side))] if is_here else []
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        host, configuration = self._address[8:].partition("/")[0], dict[str, str]()
        if self._password:
            configuration = {"credential.helper": "", "credential.https://%s.helper" % host: HELPER}
            environment |= {"MEMLAYER_USER": self._user, "MEMLAYER_PASSWORD": self._password}
        elif self._user:
            name = "credential.https://%s.username" % host
            environment |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": name, "GIT_CONFIG_VALUE_0": self._user}
        return self._git(
            verb, *other, *words, protocols=PROTOCOLS, environment=environment, configuration=configuration
        )

    def _git(
        self,
        *words: str,
        sent: bytes = b"",
        is_ours: bool = True,
        protocols: str = "",
        environment: Mapping[str, str] | None = None,
        configuration: Mapping[str, str] | None = None,
        cut_at: int = 0,
    ) -> bytes:
        """Return git's output. Raises ShareError with the reason."""
        where = ["--git-dir", self._folder] if is_ours else []
        try:
            done = git.run(
                [*where, *words], limit_s=LIMIT_S, sent=sent, protocols=protocols,
                environment={**WHO, **(environment or {})}, configuration={**CONFIGURATION, **(configuration or {})},
                cut_at=cut_at,
            )  # fmt: skip
        except FileNotFoundError as bad:
            raise ShareError("git is not installed; a share by git needs it") from bad
        except subprocess.TimeoutExpired as bad:
            raise ShareError(f"{self._shown}: it cannot be reached; git took longer than {LIMIT_S:.0f} s") from bad
        except OSError as bad:
            raise ShareError(f"{self._shown}: {reason_of(bad.strerror or str(bad))}") from bad
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            if "stale info" in said:
                raise ShareError(f"{self._shown}: another machine has written under this machine's name meanwhile")
            raise ShareError(f"{self._shown}: {reason_of(said)}")
        return done.stdout


def without_login(address: str) -> tuple[str, str, str]:
    """Return (address, user, password) for git, whose arguments everybody reads.

    ssh keeps the user, who is no secret there, and knows no password.
    """
    scheme, separator, rest = address.partition("://")
    netloc, slash, path = rest.partition("/")
    login, at, host = netloc.rpartition("@")
    if not separator or not at:
        return address, "", ""
    user, _, password = login.partition(":")
    if scheme != "https":
        return f"{scheme}://{user}@{host}{slash}{path}", "", ""
    return f"https://{host}{slash}{path}", unquote(user), unquote(password)
