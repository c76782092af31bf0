"""SubagentStart: give a subagent the head of the working set."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("subagent_start")
