"""SessionEnd: close the session and ask for a flush."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("session_end")
