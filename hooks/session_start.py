"""SessionStart: register the session and print where the last left off."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("session_start")
