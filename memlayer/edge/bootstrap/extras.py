"""SDKs of providers, installed again with each new runtime.

The runtime itself holds none of them. It is not larger for those who use none. Each has a lock of its own with hashes,
`requirements-<name>.lock`, which names the runtime's packages in the same versions.
"""

from __future__ import annotations

import contextlib
import glob
import os
import sys

from memlayer.edge.bootstrap import runtime
from memlayer.edge.bootstrap.install import Installer, site_of
from memlayer.edge.home import paths
from memlayer.errors import UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Iterable

# The extras of pyproject.toml, for the agent's talks: name -> requirement. `make lock` pins them.
EXTRAS = {"anthropic": "anthropic>=2.12,<3", "openai": "openai>=3.54,<4"}


def remembered(home: str) -> list[str]:
    """Return the names of the extras to install with a runtime."""
    named = paths.read_start(_file(home), 4096).decode("utf-8", "replace").split()
    return [name for name in named if name in EXTRAS]


def remember(home: str, names: Iterable[str]) -> None:
    """Add names to the remembered ones. Raises OSError."""
    before = remembered(home)
    after = list(dict.fromkeys([*before, *names]))
    if after != before:
        paths.write_whole(_file(home), ("\n".join(after) + "\n").encode())


def installed(venv: str) -> list[str]:
    """Return the extras that a venv holds, also those installed by hand."""
    site = glob.escape(site_of(venv))
    return [name for name in EXTRAS if site and glob.glob(os.path.join(site, name + "-*.dist-info"))]


def install(venv: str, names: Iterable[str], installer: Installer) -> None:
    """Install the extras that a venv lacks. Raises UserError, OSError."""
    there = installed(venv)
    locks = [os.path.join(runtime.plugin_root(), "requirements-%s.lock" % name) for name in names if name not in there]
    if locks:
        installer.install(venv, locks)


def command_for(name: str) -> str:
    """Return the command for an extra, "" outside of memlayer's runtime."""
    own = os.path.realpath(runtime.runtimes(paths.home_of()))
    is_own = os.path.realpath(sys.prefix).startswith(own + os.sep) and not os.environ.get("MEMLAYER_RUNTIME_DIR")
    return "memlayer setup --with %s" % name if is_own else ""


def install_again(home: str, previous: str, venv: str, installer: Installer) -> None:
    """Install the remembered extras, and those of the previous runtime, anew.

    A failure is reported in a line and logged. The runtime works without them.
    """
    with contextlib.suppress(OSError):
        remember(home, installed(previous))
    names = remembered(home)
    try:
        install(venv, names, installer)
    except (UserError, OSError) as bad:
        print("memlayer: %s. Again: memlayer setup --with %s" % (bad, ",".join(names)), file=sys.stderr)


def checked(names: str) -> list[str]:
    """Return the names in a comma-separated list. Raises UserError."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in EXTRAS]
    if unknown or not wanted:
        raise UserError("--with takes %s, not %r" % (", ".join(EXTRAS), (unknown or [""])[0][:40]))
    return wanted


def _file(home: str) -> str:
    return os.path.join(runtime.runtimes(home), "extras")
