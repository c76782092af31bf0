"""PostCompact: note that the host has compacted its context."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("post_compact")
