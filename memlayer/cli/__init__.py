"""The command line, a file for each group of verbs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or doctor.bare's verbs if a package is lost."""
    try:
        from memlayer.cli.edge import run
    except ImportError as bad:
        from memlayer.cli.doctor import bare
        from memlayer.edge.terminal.launch import BARE

        if sys.argv[1:] and sys.argv[1] in BARE:
            sys.exit(bare.main(sys.argv[1:]))
        sys.exit("memlayer: the runtime does not work (%s): `memlayer setup` makes it anew" % bad)
    run()
