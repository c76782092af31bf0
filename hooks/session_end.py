"""SessionEnd: closes the session and asks for a flush."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.hook.main import run

run("session_end")
