"""Run by path with the runtime's interpreter: the daemon of MEMLAYER_HOME."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/memlayer/")[0])
    from memlayer.daemon.lifecycle import main

    main()
