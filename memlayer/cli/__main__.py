"""Run the command line: `python -I <root>/memlayer/cli/__main__.py`, or `python -m memlayer.cli`."""

import os
import sys

if not __package__:  # by path and isolated: neither the plugin's root nor this folder's parents are importable yet
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from memlayer.cli import main

if __name__ == "__main__":
    main()
