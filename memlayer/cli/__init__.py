"""The command line: one file per group of verbs. Reaches the store only through the daemon's socket."""

from __future__ import annotations


def main() -> None:
    """Run the command line; ends the process."""
    from memlayer.cli.edge import run

    run()
